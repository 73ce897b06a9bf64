//! Labels by a model, in audits and in runs.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod audits;
mod live;

//! The program `tlaforge-experiments` and its simulated tasks.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod documents;
mod model;
mod scale;
mod support;
mod tables;
mod trucks;

//! Approvals that were not deserved: a model server's answers play the forger, in the first revision and in a repair.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod roles;
#[path = "../support/mod.rs"]
mod support;

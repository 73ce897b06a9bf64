//! `tlaforge experiments` and its simulated tasks.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod model;
#[path = "../support/mod.rs"]
mod support;
mod tables;
mod trucks;

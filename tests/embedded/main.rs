//! The built-in checker beside TLC.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod command;
#[path = "../support/mod.rs"]
mod support;
mod truth;
mod types;

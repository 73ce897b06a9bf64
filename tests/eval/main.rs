//! `tlaforge eval`.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod carry;
mod command;
mod endless;
mod suite;
#[path = "../support/mod.rs"]
mod support;

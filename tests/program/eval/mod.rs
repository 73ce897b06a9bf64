//! `tlaforge eval`.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod carry;
mod checks;
mod command;
mod endless;
mod inspect;
mod suite;

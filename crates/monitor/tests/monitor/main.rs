//! The monitor as a library: logs, rules and witnesses.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::float_cmp,
    reason = "a test fails where its own preparation does"
)]

mod calls;
mod hidden_calls;
mod logs;
mod reading;
mod rules;
mod trac;

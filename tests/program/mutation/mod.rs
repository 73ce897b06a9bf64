//! Mutants: the operators, the command, and what TLC says of each class.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails where its own preparation does")]

mod claims;
mod command;
mod in_diff;
mod kept;
mod operators;
mod truth;

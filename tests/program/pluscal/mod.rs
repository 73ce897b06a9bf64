//! The PlusCal translator: compared with the reference in Java, on its own, and as a command.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails where its own preparation does")]

mod bad_input;
mod cases;
mod command;
mod folder;
mod fuzz;
mod pluscal_damage;
mod pluscal_expressions;
mod pluscal_random;
mod pluscal_smaller;
mod pluscal_text;
mod random;
mod reference;

//! The PlusCal translator: compared with the reference in Java, on its own, and as a command.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails where its own preparation does")]

mod bad_input;
mod cases;
mod command;
mod folder;
mod fuzz;
#[path = "../support/pluscal.rs"]
mod pluscal;
#[path = "../support/pluscal_damage.rs"]
mod pluscal_damage;
#[path = "../support/pluscal_expressions.rs"]
mod pluscal_expressions;
#[path = "../support/pluscal_random.rs"]
mod pluscal_random;
#[path = "../support/pluscal_smaller.rs"]
mod pluscal_smaller;
#[path = "../support/pluscal_text.rs"]
mod pluscal_text;
mod random;
#[path = "../support/mod.rs"]
mod support;

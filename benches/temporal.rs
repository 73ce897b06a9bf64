//! The temporal layer beside its peers, in one run.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark fails where its preparation does, and prints"
)]

#[path = "temporal/automaton.rs"]
mod automaton;
#[path = "temporal/objective.rs"]
mod objective;

fn main() {
    automaton::automaton();
    objective::objective();
}

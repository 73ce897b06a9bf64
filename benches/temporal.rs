//! The temporal layer's own figures.
#![allow(clippy::print_stdout, missing_docs, reason = "a benchmark prints")]

#[path = "temporal/causal.rs"]
mod causal;

fn main() {
    causal::causal();
}

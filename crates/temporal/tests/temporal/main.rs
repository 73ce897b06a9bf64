//! Temporal logic: its readings, automata, progression and objectives, beside oracles by the definitions.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::float_cmp,
    reason = "a test fails where its own preparation does"
)]

mod automata;
mod causal;
mod causal_oracle;
mod causal_random;
mod causal_refused;
mod finite;
mod infinite;
mod language;
#[path = "temporal_naive.rs"]
mod naive;
mod objective;
mod progression;
mod temporal_random;

//! Temporal logic: its readings, automata, progression and objectives, beside oracles by the definitions.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::float_cmp,
    reason = "a test fails where its own preparation does"
)]

mod automata;
mod causal;
#[path = "../support/causal_oracle.rs"]
mod causal_oracle;
#[path = "../support/causal_random.rs"]
mod causal_random;
mod causal_refused;
mod finite;
mod language;
#[path = "../support/temporal_naive.rs"]
mod naive;
mod objective;
mod progression;
#[path = "../support/temporal_random.rs"]
mod temporal_random;

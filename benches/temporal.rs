//! The readings of the formula language: one file a reading in `benches/temporal/`. What is timed beside a peer
//! (`mona`, and those of a Python that `TLAFORGE_PEERS` names) prints ratios of the same run; the rest is criterion's.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs,
    reason = "a benchmark fails where its preparation does, and prints; the macros of criterion are not documented"
)]

#[path = "temporal/automaton.rs"]
mod automaton;
#[path = "temporal/causal.rs"]
mod causal;
#[path = "temporal/finite.rs"]
mod finite;
#[path = "temporal/logs.rs"]
mod logs;
#[path = "temporal/objective.rs"]
mod objective;
#[path = "temporal/peers.rs"]
mod peers;
#[path = "temporal/progression.rs"]
mod progression;

use criterion::{criterion_group, criterion_main};

fn beside_peers(_: &mut criterion::Criterion) {
    automaton::automaton();
    objective::objective();
    causal::causal();
    logs::logs();
}

criterion_group!(benches, finite::bench, progression::progression, beside_peers);
criterion_main!(benches);

//! The temporal layer: `cargo bench --bench temporal`.
#![allow(clippy::print_stderr, missing_docs, reason = "a benchmark prints; the macros of criterion are not documented")]

#[path = "temporal/progression.rs"]
mod progression;

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, progression::progression);
criterion_main!(benches);

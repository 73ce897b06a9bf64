//! The readings of the formula language: one file a reading in `benches/temporal/`.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark fails where its preparation does")]

#[path = "temporal/finite.rs"]
mod finite;

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, finite::bench);
criterion_main!(benches);

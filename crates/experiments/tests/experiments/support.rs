//! The part of the project's `tests/support` that these tests need, for the program of this crate.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "these tests use a part of it")]

#[path = "../../../../tests/support/bench.rs"]
pub mod bench;
#[path = "../../../../tests/support/documented_flags.rs"]
pub mod documented_flags;
#[path = "../../../../tests/support/model_server.rs"]
pub mod model_server;
#[path = "../../../../tests/support/model_wire.rs"]
pub mod model_wire;
#[path = "../../../../tests/support/waiting.rs"]
pub mod waiting;

pub use bench::{Bench, Done};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_tlaforge-experiments");

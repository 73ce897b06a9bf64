//! `tlaforge` reads protocol documentation and produces a model-checked TLA+/PlusCal specification.
//!
//! The crate is layered into floors; a module imports only from floors below its own (`tests/floors/` enforces it).
//! `docs/architecture.md` is the map.

pub mod cli;
pub mod config;
pub mod eval;
pub mod exit;
pub mod experiment;
pub mod files;
pub mod journal;
pub mod llm;
pub mod monitor;
pub mod mutation;
pub mod nodes;
pub mod pipeline;
pub mod pluscal;
pub mod process;
pub mod prompt;
pub mod report;
pub mod temporal;
pub mod tla;
pub mod toolchain;

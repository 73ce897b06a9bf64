//! `tlaforge` reads protocol documentation and produces a model-checked TLA+/PlusCal specification.
//!
//! The crate is layered into floors; a module imports only from floors below its own (`tests/floors/` enforces it).
//! `docs/src/architecture.md` is the map.

pub mod cli;
pub mod config;
pub mod eval;
pub mod exit;
pub use tlaforge_conform as conform;
pub use tlaforge_files as files;
pub use tlaforge_journal as journal;
pub use tlaforge_llm as llm;
pub use tlaforge_monitor as monitor;
pub use tlaforge_mutation as mutation;
pub mod nodes;
pub mod pipeline;
pub use tlaforge_pluscal as pluscal;
pub use tlaforge_process as process;
pub use tlaforge_prompt as prompt;
pub mod report;
pub mod shell;
pub use tlaforge_temporal as temporal;
pub use tlaforge_tla as tla;
pub use tlaforge_toolchain as toolchain;

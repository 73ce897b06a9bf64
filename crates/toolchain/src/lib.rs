//! `translate`, `parse` and `check` behind one trait, by the Java tools or without Java. It knows nothing of nodes, models
//! or journals.

mod action_coverage;
mod actions;
mod both;
mod bounds;
mod branches;
mod check;
mod child_task;
mod contract;
mod discover;
mod embedded;
mod embedded_child;
mod embedded_explorer;
mod embedded_output;
mod embedded_process;
mod environment_failure;
mod examine;
mod explorer;
mod fallback;
mod false_conjuncts;
mod fetch;
mod further_properties;
mod installation;
mod java;
mod libraries;
mod library_toolchain;
mod lint;
mod local_modules;
mod logged;
mod past_violations;
mod past_violations_child;
mod pcal_output;
mod plan;
mod positions;
mod probe;
mod run;
mod run_folders;
mod sany_output;
mod session;
mod state_graph;
mod state_graph_child;
mod static_checks;
mod static_checks_child;
mod step_names;
mod targets;
mod temporal_limits;
mod tlc;
mod tlc_output;
mod tlc_predicates;
mod tlc_witnesses;
mod translate_pluscal;
mod vacuity;
mod witness_negations;
mod witnesses;

pub use both::{BothToolchains, Contradiction, Reporter, second_opinion};
pub use contract::{
    BoxFuture, CheckReport, CheckRequest, Detail, Limits, ParseOutcome, ProbeReport, Progress, SeparateVerdicts,
    SpecText, ToolContext, ToolError, Toolchain, ToolchainInfo, Translation, is_plain_name,
};
pub use discover::ToolPaths;
pub use embedded::EmbeddedToolchain;
pub use embedded_child::become_checker;
pub use embedded_process::{CHECKER_MARKER, memory_per_run_mib};
pub use examine::{Examination, LastStage, TranslationMode, examine};
pub use fallback::FallbackToolchain;
pub use fetch::{FETCHED_JAR_SHA256, FETCHED_PACKAGE, fetch_tools};
pub use installation::JavaToolchain;
pub use libraries::{JarKind, Libraries, LibraryError, ModulePlace, UnreadableModule};
pub use library_toolchain::LibraryToolchain;
pub use lint::{lint_cfg, lint_spec};
pub use local_modules::{local_modules, missing_modules};
pub use logged::LoggedToolchain;
pub use state_graph::{GraphEdge, GraphLimits, GraphState, MAX_PATH, StateGraph};
pub use translate_pluscal::translate_pluscal;

//! `translate`, `parse` and `check` behind one trait, by the Java tools or without Java. It knows nothing of nodes, models
//! or journals.

mod action_coverage;
mod actions;
mod both;
mod bounds;
mod branches;
mod check;
mod child_task;
mod community;
mod confirmed;
mod contract;
mod core_actions;
mod core_arithmetic;
mod core_by_name;
mod core_functions;
mod core_interpreter;
mod core_levels;
mod core_operators;
mod core_program;
mod core_steps;
mod core_syntax;
mod core_temporal;
mod core_writer;
mod discover;
mod distributed;
mod distributed_run;
mod embedded;
mod embedded_child;
mod embedded_explorer;
mod embedded_output;
mod embedded_process;
mod environment_failure;
mod examine;
mod explanation;
mod explanation_child;
mod explanation_refusals;
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
mod log_windows;
mod logged;
mod past_violations;
mod past_violations_child;
mod pcal_output;
mod plan;
mod positions;
mod probe;
mod random_walks;
mod restrictions;
mod run;
mod run_folders;
mod sany_output;
mod session;
mod state_graph;
mod state_graph_child;
mod static_checks;
mod static_checks_child;
mod step_names;
mod stepper;
mod stepper_child;
mod steps;
mod strict_values;
mod targets;
mod temporal_child;
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
pub use confirmed::ConfirmedToolchain;
pub use contract::{
    BoxFuture, CheckReport, CheckRequest, Detail, Limits, ParseOutcome, PastViolationLimits, ProbeReport, Progress,
    SeparateVerdicts, SpecText, ToolContext, ToolError, Toolchain, ToolchainInfo, Translation, is_plain_name,
};
pub use discover::ToolPaths;
pub use distributed::{DistributedRefusal, DistributedToolchain};
pub use distributed_run::{RemoteWorker, RemoteWorkers, WorkerEnd, WorkerPlacement, first_error_if_none_ended};
pub use embedded::EmbeddedToolchain;
pub use embedded_child::become_checker;
pub use embedded_process::{CHECKER_MARKER, VERSION as EMBEDDED_VERSION, memory_per_run_mib};
pub use examine::{Examination, LastStage, TranslationMode, examine};
pub use explanation::{
    Behaviour, Difference, EventKind, ExplainedStep, Explanation, FalseConjunct, FieldValue, Log, LogEvent,
    LongestPrefix, MAX_PATH_STATES, NO_VALUE, Observation, Path as ExplainedPath, PathState, RefusedEvent, RefusedStep,
    ViolatingState, Windows,
};
pub use fallback::FallbackToolchain;
pub use fetch::{FETCHED_JAR_SHA256, FETCHED_PACKAGE, fetch_tools};
pub use installation::{JavaToolchain, KnownFault, known_faults};
pub use libraries::{JarKind, Libraries, LibraryError, ModulePlace, UnreadableModule};
pub use library_toolchain::LibraryToolchain;
pub use lint::{lint_cfg, lint_spec};
pub use local_modules::{local_modules, missing_modules};
pub use logged::LoggedToolchain;
pub use state_graph::{GraphEdge, GraphLimits, GraphState, MAX_PATH, StateGraph};
pub use stepper::{
    FoundPath, PossibleStep, PossibleSteps, PreventedStep, SteppedState, Stepper, WalkFailure, WalkReport, WalkRequest,
    WalkViolation, WalkViolationKind,
};
pub use translate_pluscal::translate_pluscal;

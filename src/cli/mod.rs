//! The command line: the only place with a terminal, an environment, signals and a wall clock. It wires the parts together
//! and decides nothing about specifications.
//!
//! Layers, from the bottom: errors, environment and terminal (`snippet`, `failure`, `environment`, `secrets`, `terminal`,
//! `snippet_text`); settings, tools and progress (`settings`, `tools`, `progress`, `provider`); shared preparation (`forge`,
//! `new_run`, `evaluator`, `model_client`); one file a command; and on top `args` and `program`. `toolkit` is for other
//! programs.

mod answers;
mod args;
mod audit;
mod audit_args;
mod audit_fit;
mod audit_labels;
mod audit_log;
mod audit_page;
mod branch;
mod check;
mod checker_progress;
mod checking;
mod colored_text;
mod completions;
mod conform;
mod contradictions;
mod demo;
mod diagnostics;
mod doctor;
mod doctor_providers;
mod drift;
mod editor;
mod engine;
mod engine_args;
mod environment;
mod eval;
mod eval_args;
mod eval_suite;
mod evaluator;
mod explore;
mod failure;
mod fetch_tools;
#[cfg(feature = "restate")]
mod fleet;
mod fleet_args;
#[cfg(feature = "restate")]
mod fleet_checks;
mod fleet_command;
#[cfg(feature = "restate")]
mod fleet_limits;
#[cfg(feature = "restate")]
mod fleet_runs;
#[cfg(feature = "restate")]
mod fleet_search;
#[cfg(feature = "restate")]
mod fleet_status;
#[cfg(feature = "restate")]
mod fleet_tlc_worker;
#[cfg(feature = "restate")]
mod fleet_tools;
mod forge;
mod forge_again;
mod forge_all;
mod forge_args;
mod forge_engine;
mod forge_fleet;
#[cfg(feature = "restate")]
mod forge_job;
mod forged_run;
mod format;
mod formula;
mod formulate;
mod growing_log;
mod in_diff;
mod init;
mod inspect_log;
#[cfg(feature = "restate")]
mod job_span;
mod live;
mod man;
mod mcp;
mod merge;
mod model_client;
mod mutate;
mod new_run;
mod objective;
mod outcome_text;
mod output_file;
mod page;
mod parallel;
mod policy;
mod policy_file;
mod program;
mod progress;
mod provider;
mod report;
mod rerun;
mod resume;
mod run;
mod run_end;
mod run_failure;
mod run_folder;
mod run_place;
mod run_writing;
mod schema;
mod secrets;
mod sets;
mod settings;
#[cfg(feature = "shared-store")]
mod shared_place;
mod signals;
mod simulate;
mod snippet;
mod snippet_text;
mod spec_files;
mod swap_example;
mod telemetry;
mod terminal;
mod test;
mod tool_args;
pub mod toolkit;
mod tools;
mod trace_out;
mod translate;
mod translated;
mod trust;
mod value_parsers;
mod watch;
mod worker;

pub use program::main;

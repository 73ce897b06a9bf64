//! The program as a whole, and what needs the real tools. One test program, because each is linked with everything.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod action;
mod audit;
mod book;
mod cases;
mod check;
mod conform;
mod crashes;
mod diagnostics;
mod doctor;
mod drift;
mod embedded;
mod eval;
mod explore;
mod fetched_jars;
mod findings;
#[cfg(feature = "restate")]
mod fleet;
mod fleet_command;
mod forge_again;
mod forge_all;
mod forged;
mod installs;
mod labels;
mod layouts;
mod libraries;
mod mcp;
mod merge;
mod model_tests;
mod mutant_sample;
mod mutation;
mod page;
mod pluscal;
mod policies;
mod prompts;
mod providers_claude;
mod providers_cli;
mod providers_http;
mod rerun;
mod routing;
mod run;
mod semantic;
mod shared_store;
mod shell;
mod snippets;
mod strengthen;
#[path = "../support/mod.rs"]
mod support;
#[cfg(feature = "otel")]
mod telemetry;
mod timing;
mod toolchain_java;
mod watch;

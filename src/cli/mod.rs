//! The command line: the only place with a terminal, an environment, signals and a wall clock. One file a command; it
//! wires the parts together and decides nothing about specifications.

mod args;
mod asker;
mod audit;
mod audit_fit;
mod audit_growing;
mod branch;
mod check;
mod defects;
mod demo;
mod diagnostics;
mod doctor;
mod doctor_providers;
mod eval;
mod eval_suite;
mod experiments;
mod failure;
mod forge;
mod formula;
mod formulate;
mod labels;
mod mutate;
mod objective;
mod own_policy;
mod policy;
mod program;
mod progress;
mod provider;
mod report;
mod resume;
mod run;
mod schema;
mod surroundings;
mod translate;
mod trust;
mod values;

pub use program::main;

//! Runs from the outside: documents in, verdict and files out, and the behaviour under every kind of failure.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

pub(crate) mod ambiguity;
mod answers;
mod bad_input;
mod blind_reading;
mod branch;
mod control_characters;
mod coverage;
mod edits;
mod evaluation_errors;
mod exemplars;
mod failing_tools;
mod file_safety;
mod fixed_names;
mod flaw_claims;
mod forge;
mod forged_documents;
mod handoff;
mod interface;
mod larger_bounds;
mod misbehaving_models;
mod open_points;
mod original_defects;
mod probes;
mod process_environment;
mod process_kill;
mod report_contents;
mod review_claims;
mod review_schema;
mod run_folder;
mod sequence_chart;
mod several_flaws;
mod single_call_draft;
mod unchanged_inputs;
mod weakened_checks;

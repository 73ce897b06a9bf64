//! The main job from outside: a run, what it reads, asks, makes, tells and leaves, and what it does when something goes wrong.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod answers;
mod bad_input;
mod bad_tools;
mod branch;
mod chart;
mod claims;
mod coverage;
mod draft_whole;
mod exemplars;
mod flaws;
mod forge;
mod handoff;
mod interface;
mod killed;
mod misbehaving;
mod narrowed;
mod opened_files;
mod original_defects;
mod probes;
mod review_schema;
mod run_folder;
#[path = "../support/mod.rs"]
mod support;
mod surroundings;
mod told;

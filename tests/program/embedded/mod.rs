//! The embedded checker compared with TLC.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod assumptions;
mod bench;
mod command;
mod community;
mod constraints;
mod elaboration;
mod enabled_in_instances;
mod kinds;
mod naive;
mod neutral_names;
mod restrictions;
mod suites;
mod temporal;
mod truth;
mod types;
mod vacuity;
mod view;
mod witnesses;

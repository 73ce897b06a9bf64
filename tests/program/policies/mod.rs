//! A run under its default policy: guards, policies, interventions, candidates, objectives, and the verification of a journal.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod admission;
mod candidates;
mod formulate;
mod intervene;
mod intervene_asked;
mod live_rules;
mod objective;
mod policy;
mod received;
mod verification;

//! A run under its own laws: guards, policies, interventions, candidates, objectives, and audits that compute it again.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod admission;
mod again;
mod candidates;
mod formulate;
mod intervene;
mod intervene_asked;
mod objective;
mod policy;
mod received;
#[path = "../support/mod.rs"]
mod support;
mod watch;

//! Verifies the journal of a run: recomputes what follows from its events with the functions that decided the run.

mod altered_texts;
mod candidates;
mod contracts;
mod interventions;
mod made_from;
mod objective;
mod rules;
mod verification;
mod verify;

pub use verification::{Objection, Verification};
pub use verify::verify;

//! Sends each job to its station.

use super::desk::Desk;
use super::{
    candidates, formalize, generate_invariants, informal_spec, model_check, review, second_reading, strengthen,
    validate,
};
use crate::llm::LlmError;
use crate::pipeline::{Attempt, Errands, Halt, Job, RunView, Station, Stations, StopReason, Working};

/// All six stations and the second reader, at one desk.
pub struct Crew {
    /// What they work with.
    pub desk: Desk,
}

impl Stations for Crew {
    fn perform<'a, 'run: 'a>(
        &'run self,
        job: Job,
        view: &'a RunView,
        attempt: &'a Attempt<'run>,
        errands: &'a Errands<'run>,
    ) -> Working<'a> {
        let desk = &self.desk;
        let work: Working<'a> = match job {
            Job::At(Station::InformalSpec) => Box::pin(informal_spec::perform(desk, view, attempt)),
            Job::At(Station::Formalize) if candidates::are_due(view) => {
                Box::pin(candidates::perform(desk, view, attempt, errands))
            }
            Job::At(Station::Formalize) => Box::pin(formalize::perform(desk, view, attempt)),
            Job::At(Station::Validate) => Box::pin(validate::perform(desk, view, attempt)),
            Job::At(Station::GenerateInvariants) => Box::pin(generate_invariants::perform(desk, view, attempt)),
            Job::At(Station::ModelCheck) => Box::pin(model_check::perform(desk, view, attempt)),
            Job::At(Station::Review) => Box::pin(review::perform(desk, view, attempt)),
            Job::SecondReading => Box::pin(second_reading::perform(desk, view, attempt)),
            Job::Mutants => Box::pin(strengthen::perform(desk, view, attempt)),
        };
        Box::pin(async move {
            let Some(left) = desk.caller.left() else { return work.await };
            let late = |_| Halt { reason: StopReason::Deadline, message: LlmError::Deadline.to_string() };
            // What is durable when the time is up is recalled by a resumed run.
            tokio::time::timeout(left, work).await.map_err(late)?
        })
    }
}

//! Sends each job to its node.

use super::desk::Desk;
use super::{
    candidates, formalize, generate_invariants, informal_spec, model_check, review, second_reading, strengthen,
    validate,
};
use crate::llm::LlmError;
use crate::pipeline::{Attempt, Errands, Halt, Job, NodeName, Nodes, RunView, StopReason, Working};

/// All six nodes and the second reader, at one desk.
pub struct Crew {
    /// What they work with.
    pub desk: Desk,
}

impl Nodes for Crew {
    fn perform<'a, 'run: 'a>(
        &'run self,
        job: Job,
        view: &'a RunView,
        attempt: &'a Attempt<'run>,
        errands: &'a Errands<'run>,
    ) -> Working<'a> {
        let desk = &self.desk;
        let work: Working<'a> = match job {
            Job::At(NodeName::InformalSpec) => Box::pin(informal_spec::perform(desk, view, attempt)),
            Job::At(NodeName::Formalize) if candidates::are_due(view, attempt) => {
                Box::pin(candidates::perform(desk, view, attempt, errands))
            }
            Job::At(NodeName::Formalize) => Box::pin(formalize::perform(desk, view, attempt)),
            Job::At(NodeName::Validate) => Box::pin(validate::perform(desk, view, attempt)),
            Job::At(NodeName::GenerateInvariants) => Box::pin(generate_invariants::perform(desk, view, attempt)),
            Job::At(NodeName::ModelCheck) => Box::pin(model_check::perform(desk, view, attempt)),
            Job::At(NodeName::Review) => Box::pin(review::perform(desk, view, attempt)),
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

//! Sends each job to its node.

use super::desk::Desk;
use super::{
    candidates, formalize, generate_invariants, informal_spec, model_check, review, second_reading, strengthen,
    validate,
};
use crate::llm::LlmError;
use crate::pipeline::{Activity, Attempt, BackgroundTasks, Halt, NodeFuture, NodeName, Nodes, RunView, StopReason};

/// All six nodes and the second reader, at one desk.
pub struct Crew {
    /// What they work with.
    pub desk: Desk,
}

impl Nodes for Crew {
    fn perform<'a, 'run: 'a>(
        &'run self,
        job: Activity,
        view: &'a RunView,
        attempt: &'a Attempt<'run>,
        tasks: &'a BackgroundTasks<'run>,
    ) -> NodeFuture<'a> {
        let desk = &self.desk;
        let work: NodeFuture<'a> = match job {
            Activity::Node(NodeName::InformalSpec) => Box::pin(informal_spec::perform(desk, view, attempt)),
            Activity::Node(NodeName::Formalize) if candidates::are_due(view, attempt) => {
                Box::pin(candidates::perform(desk, view, attempt, tasks))
            }
            Activity::Node(NodeName::Formalize) => Box::pin(formalize::perform(desk, view, attempt)),
            Activity::Node(NodeName::Validate) => Box::pin(validate::perform(desk, view, attempt)),
            Activity::Node(NodeName::GenerateInvariants) => Box::pin(generate_invariants::perform(desk, view, attempt)),
            Activity::Node(NodeName::ModelCheck) => Box::pin(model_check::perform(desk, view, attempt)),
            Activity::Node(NodeName::Review) => Box::pin(review::perform(desk, view, attempt)),
            Activity::SecondReading => Box::pin(second_reading::perform(desk, view, attempt)),
            Activity::Mutants => Box::pin(strengthen::perform(desk, view, attempt)),
        };
        Box::pin(async move {
            let Some(left) = desk.caller.left() else { return work.await };
            let late = |_| Halt { reason: StopReason::Deadline, message: LlmError::Deadline.to_string() };
            // What is durable when the time is up is recalled by a resumed run.
            tokio::time::timeout(left, work).await.map_err(late)?
        })
    }
}

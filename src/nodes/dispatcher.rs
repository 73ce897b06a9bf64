//! Dispatches each job of the pipeline to its node.

use super::context::NodeContext;
use super::{
    candidates, formalize, generate_invariants, informal_spec, model_check, mutants, review, second_reading,
    step_contracts, validate,
};
use crate::llm::LlmError;
use crate::pipeline::{Activity, Attempt, BackgroundTasks, Halt, NodeFuture, NodeName, Nodes, RunView, StopReason};

/// The implementation of all nodes, sharing one context.
pub struct NodeDispatcher {
    pub context: NodeContext,
}

impl Nodes for NodeDispatcher {
    fn perform<'a, 'run: 'a>(
        &'run self,
        job: Activity,
        view: &'a RunView,
        attempt: &'a Attempt<'run>,
        tasks: &'a BackgroundTasks<'run>,
    ) -> NodeFuture<'a> {
        let context = &self.context;
        let work: NodeFuture<'a> = match job {
            Activity::Node(NodeName::InformalSpec) => Box::pin(informal_spec::perform(context, view, attempt)),
            Activity::Node(NodeName::Formalize) if candidates::should_draft_candidates(view, attempt) => {
                Box::pin(candidates::perform(context, view, attempt, tasks))
            }
            Activity::Node(NodeName::Formalize) => Box::pin(formalize::perform(context, view, attempt)),
            Activity::Node(NodeName::Validate) => Box::pin(validate::perform(context, view, attempt)),
            Activity::Node(NodeName::GenerateInvariants) => {
                Box::pin(generate_invariants::perform(context, view, attempt))
            }
            Activity::Node(NodeName::StepContracts) => Box::pin(step_contracts::perform(context, view, attempt)),
            Activity::Node(NodeName::ModelCheck) => Box::pin(model_check::perform(context, view, attempt)),
            Activity::Node(NodeName::Review) => Box::pin(review::perform(context, view, attempt)),
            Activity::SecondReading => Box::pin(second_reading::perform(context, view, attempt)),
            Activity::Mutants => Box::pin(mutants::perform(context, view, attempt)),
        };
        Box::pin(async move {
            let expired = || Halt { reason: StopReason::Deadline, message: LlmError::Deadline.to_string() };
            // Nothing is lost if the node is cut off: a resumed run recalls every step that is in the journal.
            context.caller.within_time_left(work).await.ok_or_else(expired)?
        })
    }

    fn sample_mutants<'a>(&'a self, view: &'a RunView, attempt: &'a Attempt<'_>) -> NodeFuture<'a, bool> {
        Box::pin(mutants::sample(&self.context, view, attempt))
    }
}

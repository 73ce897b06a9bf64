//! Dispatches each job of the pipeline to its node.

use super::context::NodeContext;
use super::{
    candidates, formalize, generate_invariants, informal_spec, model_check, mutants, review, second_reading, validate,
};
use crate::llm::LlmError;
use crate::pipeline::{Attempt, Errands, Halt, Job, NodeName, Nodes, RunView, StopReason, Working};

/// The implementation of all nodes, sharing one context.
pub struct NodeDispatcher {
    pub context: NodeContext,
}

impl Nodes for NodeDispatcher {
    fn perform<'a, 'run: 'a>(
        &'run self,
        job: Job,
        view: &'a RunView,
        attempt: &'a Attempt<'run>,
        errands: &'a Errands<'run>,
    ) -> Working<'a> {
        let context = &self.context;
        let work: Working<'a> = match job {
            Job::At(NodeName::InformalSpec) => Box::pin(informal_spec::perform(context, view, attempt)),
            Job::At(NodeName::Formalize) if candidates::should_draft_candidates(view, attempt) => {
                Box::pin(candidates::perform(context, view, attempt, errands))
            }
            Job::At(NodeName::Formalize) => Box::pin(formalize::perform(context, view, attempt)),
            Job::At(NodeName::Validate) => Box::pin(validate::perform(context, view, attempt)),
            Job::At(NodeName::GenerateInvariants) => Box::pin(generate_invariants::perform(context, view, attempt)),
            Job::At(NodeName::ModelCheck) => Box::pin(model_check::perform(context, view, attempt)),
            Job::At(NodeName::Review) => Box::pin(review::perform(context, view, attempt)),
            Job::SecondReading => Box::pin(second_reading::perform(context, view, attempt)),
            Job::Mutants => Box::pin(mutants::perform(context, view, attempt)),
        };
        Box::pin(async move {
            let Some(left) = context.caller.time_left() else { return work.await };
            let expired = |_| Halt { reason: StopReason::Deadline, message: LlmError::Deadline.to_string() };
            // Nothing is lost if the node is cut off: a resumed run recalls every step that is in the journal.
            tokio::time::timeout(left, work).await.map_err(expired)?
        })
    }
}

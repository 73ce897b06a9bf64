//! What a revision leaves behind when it closes.

use super::artifacts::file;
use super::metrics::ObjectiveStep;
use super::revision::Revision;
use super::spending::Spent;
use super::view::RunView;
use crate::pipeline::machine::{Position, Transition};

/// The revision that closes, with its outcome or the node that the run goes to.
pub(in crate::pipeline) fn close(before: &RunView, after: &RunView, t: &Transition, why: &str) -> Revision {
    let closed = Revision { why: why.to_owned(), ..closed(before, after) };
    match t.state.position {
        Position::Done(outcome) => Revision { outcome: outcome.name().to_owned(), ..closed },
        Position::Node(node) => Revision { routed_to: Some(node), ..closed },
        _ => closed,
    }
}

/// The revision that closes if it is to be revised.
pub(in crate::pipeline) fn closed(before: &RunView, after: &RunView) -> Revision {
    let attempts = before
        .attempts
        .iter()
        .filter(|((rev, _), _)| *rev == before.rev)
        .map(|((_, lifeline), n)| (lifeline.clone(), *n))
        .collect();
    Revision {
        revision: before.rev,
        parent: before.parent,
        branch_index: before.state.branch_index,
        outcome: "revised".to_owned(),
        routed_to: None,
        why: String::new(),
        requirements: after.covered_requirements(),
        open_points: after.specification.open_points.clone(),
        assumptions: after.specification.assumptions.clone(),
        normative_sentences: after.specification.normative_sentences.clone(),
        module: Some(after.module_name().to_owned()).filter(|name| name != file::DEFAULT_MODULE),
        decisions: after.specification.decisions.clone(),
        contracts: after.specification.contracts.clone(),
        check: after.fresh_check().cloned(),
        rank: after.reviews.rank,
        attempts,
        models: before.spending.models.clone(),
        spent: Spent::total(&before.spending.in_revision),
        spent_by_node: before.spending.in_revision.clone(),
        open_feedback: after.specification.feedback.clone(),
        edited: before.specification.edited.clone(),
        hashes: after.specification.artifacts.clone(),
        repaired: before.state.repaired,
        other_reading: before.state.other_reading,
        strengthened: after.strengthened(),
        mutant_sample: after.mutant_sample.clone(),
        objective: None,
    }
}

impl RunView {
    /// The step of the objective if the revision in work closed now; `None` without an objective.
    pub fn step_if_closed(&self) -> Option<ObjectiveStep> {
        self.objective()?;
        let mut with_this = self.clone();
        with_this.close_revision(closed(self, self));
        with_this.objective_step(self.rev)
    }
}

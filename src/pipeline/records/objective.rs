//! The objective of a run: which closed revision is the best under it, and whether it can still be reached. All of it is
//! computed from the metrics in the journal, so that a run that is resumed, branched or replayed comes to the same.

use super::metric_definitions::{growing_metrics, known_metrics};
use super::metrics::{Metrics, ObjectiveStep};
use super::product::Product;
use super::rank::RevisionRank;
use super::revision::Revision;
use super::view::RunView;
use crate::monitor::{Continuation, GoalStep, RunObjective};
use crate::pipeline::machine::Outcome;

impl RunView {
    /// The steps of the objective over the line of closed revisions that ends in this one.
    pub fn objective_line(&self, revision: u32) -> Vec<(u32, GoalStep)> {
        let step = |r: &Revision| Some((r.revision, self.objective_progress.step(r.revision)?.clone()));
        self.lineage(revision).into_iter().filter_map(step).collect()
    }

    /// The metrics and the step of a closed revision.
    pub fn objective_step(&self, revision: u32) -> Option<ObjectiveStep> {
        self.objective_progress.step_with_metrics(revision)
    }

    /// The step of a revision with these metrics that is not closed yet.
    pub(in crate::pipeline) fn objective_after(&self, parent: Option<u32>, metrics: &Metrics) -> Option<GoalStep> {
        let line = parent.map(|n| self.lineage(n)).unwrap_or_default();
        self.objective_progress.step_after(self.objective()?, &line, metrics)
    }

    /// What is still to be reached after the line that ends in this revision, or before the first; `None` without an
    /// objective.
    pub fn residual_after(&self, revision: Option<u32>) -> Option<String> {
        let steps: Vec<GoalStep> =
            revision.map(|n| self.objective_line(n)).unwrap_or_default().into_iter().map(|(_, step)| step).collect();
        self.objective().map(|objective| objective.residual(&steps))
    }

    /// The least number of revisions to the goal after that line; `None` if it cannot be reached.
    pub fn distance_after(&self, revision: Option<u32>) -> Option<u32> {
        match revision.and_then(|n| self.objective_progress.step(n)) {
            Some(step) => step.distance,
            None => self.objective()?.distance_at_start(&known_metrics()),
        }
    }

    /// The best closed revision: an approved one before all others, then the one nearer to the objective, then the
    /// larger rank, then the later one. `here` is the rank of the revision in work, for which the objective has no step
    /// yet.
    pub fn best(&self, here: Option<RevisionRank>) -> Option<(u32, RevisionRank)> {
        let nearer = |a: Option<&GoalStep>, b: Option<&GoalStep>| match (a, b) {
            (Some(a), Some(b)) => a.compare(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        self.revisions
            .iter()
            .map(|r| (r.outcome.starts_with("approved"), self.objective_progress.step(r.revision), r.revision, r.rank))
            .chain(here.map(|s| (false, None, self.rev, s)))
            .max_by(|(p, i, a, x), (q, j, b, y)| {
                p.cmp(q).then_with(|| nearer(*i, *j)).then(x.sort_key().cmp(&y.sort_key())).then(a.cmp(b))
            })
            .map(|(_, _, revision, rank)| (revision, rank))
    }

    /// Since when the objective cannot be reached on the line that ends in this revision, and why, in words. `left` is
    /// the number of revisions that may still follow: too few of them are a reason, too, except for none.
    pub fn lost(&self, revision: u32, left: Option<u32>) -> Option<String> {
        let objective = self.objective()?;
        let line = self.objective_line(revision);
        let meanings = objective.meanings();
        let meanings = if meanings.is_empty() { meanings } else { format!(", where {meanings},") };
        let goal = &objective.goal;
        if let Some((at, step)) = line.iter().find(|(_, step)| step.trap) {
            let values = self.predicates_words(*at, step);
            return Some(format!(
                "the objective `{goal}`{meanings} cannot be reached any more since rev_{at}: {values}"
            ));
        }
        let (at, _) = line.last()?;
        let left = left.filter(|left| *left > 0)?;
        let next = at.max(&self.rev) + 1;
        let values = line.last().map(|(at, step)| self.predicates_words(*at, step)).unwrap_or_default();
        let never = format!("the objective `{goal}`{meanings} cannot be reached any more in this run");
        match self.objective_ahead(objective, Some(*at), next, left) {
            None => Some(format!("{never} after rev_{at}: {values}{}", self.grown_words(objective))),
            Some(least) if least > left => {
                let (s, more) = (plural(least), plural(left));
                Some(format!(
                    "{never}: after rev_{at} it takes at least {least} more revision{s}, and {left} more \
                     revision{more} may follow: {values}"
                ))
            }
            Some(_) => None,
        }
    }

    /// The least number of further revisions that reach an objective after the line that ends with `parent`, if the
    /// next revision has the number `next` and at most `revisions` follow. 0 if it is reached; `None` if it cannot be.
    pub fn objective_ahead(
        &self,
        objective: &RunObjective,
        parent: Option<u32>,
        next: u32,
        revisions: u32,
    ) -> Option<u32> {
        self.ahead(objective, parent, next, Some(next.saturating_add(revisions).saturating_sub(1)))
    }

    /// The same, with the highest number that a revision may have; `None` if branches may follow as well.
    pub fn ahead(&self, objective: &RunObjective, parent: Option<u32>, next: u32, highest: Option<u32>) -> Option<u32> {
        let known = known_metrics();
        let line = parent.map(|n| self.lineage(n)).unwrap_or_default();
        let steps = objective.steps(&known, line.iter().filter_map(|r| self.objective_progress.metrics_of(r.revision)));
        let now = growing_metrics(next.checked_sub(1), &self.spent_total());
        objective.min_revisions(
            &known,
            &Continuation { last_step: steps.last(), current_values: &now, max_revision: highest },
        )
    }

    /// Whether the line alone excludes the objective, whatever the run has spent.
    pub fn is_lost_behind(&self, objective: &RunObjective, parent: Option<u32>) -> bool {
        let known = known_metrics();
        let line = parent.map(|n| self.lineage(n)).unwrap_or_default();
        let steps = objective.steps(&known, line.iter().filter_map(|r| self.objective_progress.metrics_of(r.revision)));
        let anew = Continuation { last_step: steps.last(), current_values: &Metrics::default(), max_revision: None };
        objective.min_revisions(&known, &anew).is_none()
    }

    /// The metrics of an objective that only grow, with their values in words; empty if there are none.
    pub fn grown_words(&self, objective: &RunObjective) -> String {
        let now = growing_metrics(Some(self.rev), &self.spent_total());
        let all: Vec<String> = objective
            .metrics_read(&known_metrics())
            .iter()
            .filter(|name| now.0.contains_key(*name))
            .map(|name| format!("{name} is {}", now.words(name)))
            .collect();
        if all.is_empty() { String::new() } else { format!(" (what only grows: {})", all.join(", ")) }
    }

    /// The predicates at a revision with the values that they saw: `` `small` is false (states is 12) ``.
    pub fn predicates_words(&self, revision: u32, step: &GoalStep) -> String {
        let Some(objective) = self.objective() else { return String::new() };
        let metrics = self.objective_progress.metrics_of(revision).cloned().unwrap_or_default();
        let each = step.predicates.iter().map(|(name, held)| {
            let formula = objective.formula_of(name);
            let is = if held.holds { "true" } else { "false" };
            let values: Vec<String> = crate::temporal::Robustness::parse(formula)
                .map(|r| r.quantities().iter().map(|q| format!("{q} is {}", metrics.words(q))).collect())
                .unwrap_or_default();
            format!("`{name}` is {is} ({})", values.join(", "))
        });
        each.collect::<Vec<_>>().join("; ")
    }

    /// What a node made, with what the objective says of the revision if it closes now, and the reason if it is lost.
    /// Approvals and flaws are decided before.
    pub(in crate::pipeline) fn steered(
        &self,
        product: Product,
        closed: impl Fn() -> Revision,
    ) -> (Product, Option<String>) {
        let Some(objective) = self.objective().filter(|_| product.event.objective_lost().is_some()) else {
            return (product, None);
        };
        let closed = closed();
        let number = closed.revision;
        let mut with_this = self.clone();
        with_this.close_revision(closed);
        let left = self.settings.routing.max_revisions.saturating_sub(self.state.branch_index);
        let lost = with_this.lost(number, Some(left));
        let best_inconclusive = with_this.best(None).is_some_and(|(_, best)| best.inconclusive);
        let event = product.event.with_objective(objective.early_end && lost.is_some(), best_inconclusive);
        (Product { event, ..product }, lost)
    }
}

fn plural(n: u32) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// Whether a run with this outcome shows its best revision.
pub(in crate::pipeline) fn ends_with_its_best(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::NotApproved | Outcome::Undecided)
}

//! The objective of a run: what its closed revisions come to under it, which of them is the best, and whether it can
//! still be reached. All of it is computed from the metrics in the journal, so that a run that is resumed, branched or
//! replayed comes to the same.

use serde::{Deserialize, Serialize};

use super::machine::{Event as Step, Outcome};
use super::metrics::{Metrics, known_metrics};
use super::records::{Product, Revision, Standing};
use super::view::RunView;
use crate::journal::Event;
use crate::monitor::{GoalStep, RunObjective};

/// What a closed revision came to under the objective (`objective` in `revision_closed`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveStep {
    /// What was measured of it.
    pub metrics: Metrics,
    /// What the automaton made of that.
    #[serde(flatten)]
    pub step: GoalStep,
}

impl RunView {
    /// The objective of the run.
    pub fn objective(&self) -> Option<&RunObjective> {
        self.settings.objective.as_ref()
    }

    /// The metrics of a closed revision: as it was closed with, or as they are told by a journal that has none.
    fn measure(&self, revision: &Revision) -> Metrics {
        match &revision.objective {
            Some(step) => step.metrics.clone(),
            None => {
                let review = self.reviews.get(&revision.revision).and_then(|all| all.last());
                Metrics::of(revision, review.map(|(review, _)| review), &self.spent_total())
            }
        }
    }

    /// Takes in a closed revision.
    pub(super) fn take_closed(&mut self, revision: Revision) {
        self.left.insert(revision.revision, (self.baseline.clone(), self.first_violated.clone()));
        self.made_by.insert(revision.revision, self.made);
        self.metrics.insert(revision.revision, self.measure(&revision));
        self.revisions.push(revision);
    }

    /// The steps of the objective over the line of closed revisions that ends in this one.
    pub fn objective_line(&self, revision: u32) -> Vec<(u32, GoalStep)> {
        let Some(objective) = self.objective() else { return Vec::new() };
        let line: Vec<u32> = self.line_of(revision).into_iter().map(|r| r.revision).collect();
        let trace = line.iter().filter_map(|n| self.metrics.get(n));
        let steps = objective.steps(&known_metrics(), trace);
        line.into_iter().zip(steps).collect()
    }

    /// What a closed revision came to.
    pub fn objective_step(&self, revision: u32) -> Option<ObjectiveStep> {
        let (_, step) = self.objective_line(revision).pop()?;
        Some(ObjectiveStep { metrics: self.metrics.get(&revision)?.clone(), step })
    }

    /// What is still owed after the line that ends in this revision, or before the first; `None` without an objective.
    pub fn owed_after(&self, revision: Option<u32>) -> Option<String> {
        let steps: Vec<GoalStep> =
            revision.map(|n| self.objective_line(n)).unwrap_or_default().into_iter().map(|(_, step)| step).collect();
        self.objective().map(|objective| objective.owed(&steps))
    }

    /// How many revisions it takes at least to reach the goal after that line; `None` where it cannot be reached.
    pub fn distance_after(&self, revision: Option<u32>) -> Option<u32> {
        match revision.and_then(|n| self.objective_line(n).pop()) {
            Some((_, step)) => step.distance,
            None => self.objective()?.distance_at_start(&known_metrics()),
        }
    }

    /// The best closed revision: an approved one before all others; then the one that is nearer to the objective, where
    /// there is one; then by its standing; then the later one. `here` stands for the revision in work, of which the
    /// objective knows nothing yet.
    pub fn best(&self, here: Option<Standing>) -> Option<(u32, Standing)> {
        let nearer = |a: Option<&GoalStep>, b: Option<&GoalStep>| match (a, b) {
            (Some(a), Some(b)) => a.compare(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        let step = |revision| self.objective_line(revision).pop().map(|(_, step)| step);
        self.revisions
            .iter()
            .map(|r| (r.outcome.starts_with("approved"), step(r.revision), r.revision, r.standing))
            .chain(here.map(|s| (false, None, self.rev, s)))
            .max_by(|(p, i, a, x), (q, j, b, y)| {
                p.cmp(q).then_with(|| nearer(i.as_ref(), j.as_ref())).then(x.rank().cmp(&y.rank())).then(a.cmp(b))
            })
            .map(|(_, _, revision, standing)| (revision, standing))
    }

    /// Where the objective was lost on the line that ends in this revision, and why, in words. With the number of revisions
    /// that the run has left, also where they are too few; where none is left, that alone is no reason.
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
        let (at, step) = line.last()?;
        let least = objective.least_after(&known_metrics(), step, self.metrics.get(at)?)?;
        let left = left.filter(|left| (1..least).contains(left))?;
        let (values, s) = (self.predicates_words(*at, step), if left == 1 { "" } else { "s" });
        Some(format!(
            "the objective `{goal}`{meanings} cannot be reached any more in this run: behind rev_{at} it takes at least \
             {least} more revisions, and {left} more revision{s} may follow: {values}"
        ))
    }

    /// What the journal says of its objective and does not follow from its metrics: steps, what ended the run, and which
    /// revision is the best. An error says why nobody knows.
    pub fn objections(&self, events: &[Event]) -> Result<Vec<String>, &'static str> {
        let changed = |event: &Event| event.name != "run_started" && !event.data["objective"]["goal"].is_null();
        if self.objective().is_none() {
            return Ok(Vec::new());
        }
        if events.iter().filter(|e| e.name != "revision_closed").any(changed) {
            return Err("it was changed on the way, so its steps are of several");
        }
        let mut all = Vec::new();
        for revision in &self.revisions {
            let number = revision.revision;
            let is_told = revision.objective.as_ref().map(|step| &step.step);
            if is_told != self.objective_step(number).map(|step| step.step).as_ref() {
                all.push(format!("the step of rev_{number} does not follow from its metrics"));
            }
        }
        let was_lost = events.iter().filter(|e| e.name == "routed" && e.data["row"] == "objective_lost");
        let left = |event: &Event| {
            let on = |name: &str| event.data["on"][name].as_u64().and_then(|n| u32::try_from(n).ok());
            Some(on("last_place")?.saturating_sub(on("place")?))
        };
        for event in was_lost.filter(|event| self.lost(event.rev, left(event)).is_none()) {
            all.push(format!("event {} ends the run for an objective that rev_{} had not lost", event.seq, event.rev));
        }
        if let Some(end) = self.finished.as_ref().filter(|end| ends_with_its_best(end.outcome)) {
            let best = self.best(None).map(|(revision, _)| revision);
            if end.best != best {
                let named = |rev: Option<u32>| rev.map_or_else(|| "none".to_owned(), |rev| format!("rev_{rev}"));
                all.push(format!(
                    "{} is said to be the best revision; by its metrics it is {}",
                    named(end.best),
                    named(best)
                ));
            }
        }
        Ok(all)
    }

    /// The predicates at a revision with the values that they saw: `` `small` is false (states is 12) ``.
    pub fn predicates_words(&self, revision: u32, step: &GoalStep) -> String {
        let Some(objective) = self.objective() else { return String::new() };
        let metrics = self.metrics.get(&revision).cloned().unwrap_or_default();
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

    /// What a station made, told what the objective says of the revision if it closes now, and why where that is lost.
    /// Approvals and flaws are decided before it is looked at.
    pub(super) fn steered(&self, product: Product, closed: impl Fn() -> Revision) -> (Product, Option<String>) {
        let Some(objective) = self.objective().filter(|_| product.event.objective_lost().is_some()) else {
            return (product, None);
        };
        let closed = closed();
        let number = closed.revision;
        let mut with_this = self.clone();
        with_this.take_closed(closed);
        let left = self.settings.rules.max_revisions.saturating_sub(self.state.place);
        let lost = with_this.lost(number, Some(left));
        let best_inconclusive = with_this.best(None).is_some_and(|(_, best)| best.inconclusive);
        let event = product.event.steered(objective.early_end && lost.is_some(), best_inconclusive);
        (Product { event, ..product }, lost)
    }
}

impl Step {
    fn steered(mut self, lost: bool, inconclusive: bool) -> Self {
        match &mut self {
            Step::Reviewed(super::machine::ReviewFacts { best_inconclusive, objective_lost, .. })
            | Step::ReviewUnreadable { best_inconclusive, objective_lost, .. }
            | Step::SecondRead { best_inconclusive, objective_lost, .. } => {
                (*best_inconclusive, *objective_lost) = (inconclusive, lost);
            }
            _ => {}
        }
        self
    }
}

/// Whether a run ended for what its best revision is, and not with an approval or a flaw.
pub(super) fn ends_with_its_best(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::NotApproved | Outcome::Undecided)
}

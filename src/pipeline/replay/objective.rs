//! The steps of the run's objective and the best revision, recomputed from the metrics in the journal.

use super::verification::Objection;
use crate::pipeline::records::{Entry, RunView, ends_with_its_best};

/// Objections to the steps of the only objective and to the best revision, which follow from the metrics in the journal.
pub(super) fn objections(view: &RunView, entries: &[Entry]) -> Vec<Objection> {
    if view.objective().is_none() {
        return Vec::new();
    }
    let objection = |event: u64, text: String| Objection { about: "objective", event, text };
    let end = entries.iter().rfind(|entry| entry.event.is_run_finished()).map_or(0, |entry| entry.seq);
    let closing = |rev: u32| {
        let closes =
            |entry: &&Entry| entry.event.try_as_revision_closed_ref().is_some_and(|closed| closed.revision == rev);
        entries.iter().find(closes).map_or(0, |entry| entry.seq)
    };
    let mut all = Vec::new();
    for revision in &view.revisions {
        let number = revision.revision;
        let journaled = revision.objective.as_ref().map(|step| &step.step);
        if journaled != view.objective_step(number).map(|step| step.step).as_ref() {
            let text = format!("the step of rev_{number} does not follow from its metrics");
            all.push(objection(closing(number), text));
        }
    }
    if let Some(finished) = view.finished.as_ref().filter(|finished| ends_with_its_best(finished.outcome)) {
        let best = view.best(None).map(|(revision, _)| revision);
        if finished.best != best {
            let named = |rev: Option<u32>| rev.map_or_else(|| "none".to_owned(), |rev| format!("rev_{rev}"));
            let text = format!(
                "{} is reported as the best revision; by its metrics it is {}",
                named(finished.best),
                named(best)
            );
            all.push(objection(end, text));
        }
    }
    all
}

//! A journal computed again: what it says of itself, held against what follows from the events before. What differs is
//! an objection. The same functions decide here that have decided while the run went on.

use serde::Serialize;

use super::objective::ends_with_its_best;
use super::view::{FoldError, RunView};
use crate::journal::Event;

/// Something that a journal says and that does not follow from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Objection {
    /// What it is about: `objective`.
    pub about: &'static str,
    /// The number of the event that says so.
    pub event: u64,
    /// What the journal says, and what follows.
    pub text: String,
}

/// What came of computing a journal again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Again {
    /// What does not follow, in the order of the journal.
    pub objections: Vec<Objection>,
    /// What could not be computed again, and why.
    pub open: Vec<String>,
}

/// Computes again what a journal says.
///
/// # Errors
/// An event that cannot be understood.
pub fn again(events: &[Event]) -> Result<Again, FoldError> {
    let view = RunView::of(events)?;
    let mut again = Again::default();
    match view.objections(events) {
        Ok(objections) => again.objections.extend(objections),
        Err(why) => again.open.push(format!("the objective: {why}")),
    }
    Ok(again)
}

impl RunView {
    /// What the journal says of its objective and does not follow from its metrics: steps, what ended the run, and which
    /// revision is the best. An error says why nobody knows.
    fn objections(&self, events: &[Event]) -> Result<Vec<Objection>, &'static str> {
        let changed = |event: &Event| event.name != "run_started" && !event.data["objective"]["goal"].is_null();
        if self.objective().is_none() {
            return Ok(Vec::new());
        }
        if events.iter().filter(|e| e.name != "revision_closed").any(changed) {
            return Err("it was changed on the way, so its steps are of several");
        }
        let objection = |event: u64, text: String| Objection { about: "objective", event, text };
        let last = |name: &str| events.iter().rfind(|e| e.name == name).map_or(0, |e| e.seq);
        let closing = |rev: u32| {
            let closes = |e: &&Event| e.name == "revision_closed" && e.data["revision"] == rev;
            events.iter().find(closes).map_or(0, |e| e.seq)
        };
        let mut all = Vec::new();
        for revision in &self.revisions {
            let number = revision.revision;
            let is_told = revision.objective.as_ref().map(|step| &step.step);
            if is_told != self.objective_step(number).map(|step| step.step).as_ref() {
                let text = format!("the step of rev_{number} does not follow from its metrics");
                all.push(objection(closing(number), text));
            }
        }
        let was_lost = events.iter().filter(|e| e.name == "routed" && e.data["row"] == "objective_lost");
        for event in was_lost.filter(|event| self.lost(event.rev).is_none()) {
            let text = format!("the run ends for an objective that rev_{} had not lost", event.rev);
            all.push(objection(event.seq, text));
        }
        if let Some(end) = self.finished.as_ref().filter(|end| ends_with_its_best(end.outcome)) {
            let best = self.best(None).map(|(revision, _)| revision);
            if end.best != best {
                let named = |rev: Option<u32>| rev.map_or_else(|| "none".to_owned(), |rev| format!("rev_{rev}"));
                let text = format!(
                    "{} is said to be the best revision; by its metrics it is {}",
                    named(end.best),
                    named(best)
                );
                all.push(objection(last("run_finished"), text));
            }
        }
        Ok(all)
    }
}

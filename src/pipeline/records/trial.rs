//! The loop from mutants back to properties: the judged mutants of the revision in work, the trial of properties that are
//! to notice more of them, and how it ends. All of it is a fold over the journal: nothing is written for a trial.

use super::check_history::{CheckHistory, SavedChecks};
use super::mutants::{Judged, Round, Strengthened, ViolatedByTrial};
use super::product::{Facts, Product};
use super::specification::Specification;
use crate::mutation::Outcome;
use crate::pipeline::machine::{Effect, Event, Row, Transition};
use crate::tla::{CheckOutcome, Verdict};

/// The mutants and the rounds of the revision in work.
#[derive(Debug, Clone, PartialEq)]
pub struct Strengthening {
    /// The mutants under the first properties.
    pub first: Judged,
    /// The mutants under the current properties, those on trial left out.
    pub now: Judged,
    /// The rounds that are over.
    pub rounds: Vec<Round>,
    trial: Option<Trial>,
}

#[derive(Debug, Clone, PartialEq)]
struct Trial {
    judged: Option<Judged>,
    specification: Specification,
    checks: SavedChecks,
}

impl Strengthening {
    pub(super) fn new(first: Judged) -> Self {
        Self { now: first.clone(), first, rounds: Vec::new(), trial: None }
    }

    /// Adds a judgement of mutants that is not the first one of its revision.
    pub(super) fn add(&mut self, judged: Judged) {
        match &mut self.trial {
            Some(trial) => trial.judged = Some(judged),
            None => *self = Self::new(judged),
        }
    }

    pub(super) fn summary(&self) -> Strengthened {
        let Self { first, now, rounds, .. } = self;
        Strengthened {
            skipped_reason: first.skipped_reason.clone(),
            generated: first.generated,
            unjudged_count: first.unjudged_count,
            unjudged_reasons: first.unjudged_reasons.clone(),
            judged: Some(first.mutants.len()),
            undecided_before: first.undecided(),
            undecided: now.undecided(),
            before: first.tally(),
            after: now.tally(),
            killed_only_by_deadlock_before: first.killed_only_by_deadlock(),
            killed_only_by_deadlock: now.killed_only_by_deadlock(),
            rounds: rounds.clone(),
            surviving: now.with_outcome(Outcome::Survived).cloned().collect(),
        }
    }

    /// The event for the machine that follows from the last judgement; `None` if a trial was not judged.
    pub(super) fn machine_event(&self, is_on_trial: bool) -> Option<Event> {
        let on_trial = self.trial.as_ref().filter(|_| is_on_trial);
        let judged = match on_trial {
            Some(trial) => trial.judged.as_ref()?,
            None => &self.now,
        };
        let survivors = judged.with_outcome(Outcome::Survived).next().is_some();
        Some(Event::Judged { survivors, kills_more: on_trial.is_some() && judged.notices_more(&self.now) })
    }

    /// The reason of a routing decision about mutants, in words; `None` for other rows.
    pub(super) fn routing_reason(
        &self,
        t: &Transition,
        product: &Product,
        check: Option<&CheckOutcome>,
    ) -> Option<String> {
        let judged = self.trial.as_ref().and_then(|trial| trial.judged.as_ref());
        let score = self.now.score();
        match t.row {
            Row::MutantsJudged => Some(match &self.now.skipped_reason {
                Some(why) => format!("the mutants were not judged: {why}"),
                None if score.survived == 0 => "no mutant survived".to_owned(),
                None => score.words(),
            }),
            Row::Strengthen => Some(format!(
                "{} of {} mutants survived: asking for properties that kill them",
                score.survived,
                score.decided()
            )),
            Row::StrongerKept => {
                // The next request quotes this text, so its words stay.
                let after = judged?.score();
                Some(format!(
                    "kept: the new properties notice {}, not {}, of the mutants",
                    after.noticed, score.noticed
                ))
            }
            Row::StrongerDropped => {
                let why = why_dropped(&self.now, judged, product, check);
                Some(format!("dropped, the former properties stand again: {why}"))
            }
            _ => None,
        }
    }

    /// Ends a trial, and begins the next, as the transition says. `why` is the reason of the routing. Unless `keeps_survivors` is
    /// set, a mutant that was not judged again is forgotten, as in journals of earlier versions.
    pub(super) fn end_trial(
        &mut self,
        t: &Transition,
        why: Option<String>,
        revision: u32,
        keeps_survivors: bool,
        (specification, checks): (&mut Specification, &mut CheckHistory),
    ) {
        if matches!(t.row, Row::StrongerKept | Row::StrongerDropped)
            && let Some(trial) = self.trial.take()
        {
            let kept = t.row == Row::StrongerKept;
            let violated = if kept { None } else { violated_by_trial(revision, specification, checks) };
            let tally = trial.judged.as_ref().filter(|judged| judged.skipped_reason.is_none()).map(Judged::tally);
            self.rounds.push(Round { kept, tally, why: why.unwrap_or_default(), violated });
            match trial.judged {
                Some(judged) if kept && keeps_survivors => self.now = judged.completed(&self.now),
                Some(judged) if kept => self.now = judged,
                _ => {}
            }
            if t.effects.contains(&Effect::Restore) {
                *specification = trial.specification;
                checks.restore(revision, trial.checks);
            }
        }
        if t.effects.contains(&Effect::SetAside) {
            let (specification, checks) = (specification.clone(), checks.save(revision));
            self.trial = Some(Trial { judged: None, specification, checks });
        }
    }
}

fn why_dropped(before: &Judged, judged: Option<&Judged>, product: &Product, check: Option<&CheckOutcome>) -> String {
    match (judged, &product.event, &product.facts) {
        (_, Event::Unreadable, _) => "two answers in a row could not be read".to_owned(),
        (_, Event::Merged(_), Facts::Rejected { diagnostics }) => {
            let first = diagnostics.first().map(ToString::to_string).unwrap_or_default();
            format!("they were rejected: {first}")
        }
        (Some(Judged { skipped_reason: Some(why), .. }), ..) => match check.map(|check| &check.verdict) {
            Some(Verdict::Violated { .. }) => format!("the specification itself does not satisfy them ({why})"),
            _ => why.clone(),
        },
        (Some(judged), ..) if !judged.lost(before).is_empty() => {
            format!("they no longer notice {}", judged.lost(before).join(", "))
        }
        (Some(judged), ..) => {
            let noticed = judged.score().noticed;
            format!("they notice no more of the mutants than before ({noticed}, before {})", before.score().noticed)
        }
        _ => "they came to nothing".to_owned(),
    }
}

/// The property on trial that the specification itself violates.
fn violated_by_trial(
    revision: u32,
    specification: &Specification,
    checks: &CheckHistory,
) -> Option<Box<ViolatedByTrial>> {
    let check = checks.fresh(revision, specification)?;
    let Verdict::Violated { violated } = &check.verdict else { return None };
    let property = violated.property()?.to_owned();
    let text = checks.last(revision).and_then(|record| record.checked.get(&property)).cloned();
    let covers = specification.covers.get(&property).cloned().unwrap_or_default();
    Some(Box::new(ViolatedByTrial { property, text, covers, check: check.clone() }))
}

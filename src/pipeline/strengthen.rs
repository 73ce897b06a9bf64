//! The loop from mutants back to properties: what became of the mutants, the trial of properties that are to notice more
//! of them, and how it ends. All of it is a fold over the journal; what was kept aside is what stood before the trial.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::machine::{Effect, Event};
use super::records::{CheckRecord, Facts, Feedback, FirstViolated, Product};
use super::routes::{Row, Transition};
use super::view::RunView;
use crate::journal::Sha;
use crate::mutation::Outcome;
use crate::tla::{Baseline, CheckOutcome, Diagnostic, Verdict, describe_unreached, verdict_sentence};

/// The lifeline that judges them, and what it is called where a run goes there.
pub(super) const MUTANTS: &str = "mutants";

/// What became of the mutants of a specification (`mutants_judged`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// How many there are in all.
    pub made: usize,
    /// What the draw among them began with.
    pub seed: u64,
    /// Those that were drawn and judged, in the order of the source.
    pub mutants: Vec<JudgedMutant>,
    /// How many more were drawn, and not judged in time.
    pub late: usize,
    /// Their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<String>,
    /// The check of the specification itself did not end in time, so none was judged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_time: bool,
    /// Why none was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedMutant {
    /// Its name: `Spec.tla:41:12 drop guard`.
    pub name: String,
    /// The definition or label that it sits in.
    pub definition: String,
    /// What it does, to be read after that name.
    pub what: String,
    /// The changed lines.
    pub diff: String,
    /// The class.
    pub outcome: Outcome,
    /// What killed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub killed_by: Vec<String>,
    /// Witnesses that it does not reach any more, where it restricts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noticed_by: Vec<String>,
    /// Requirements whose properties speak of the same variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<String>,
}

/// Killed and survived ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// A property notices them.
    pub killed: usize,
    /// They do something new, and no property notices.
    pub survived: usize,
    /// killed / (killed + survived); `None` at 0/0.
    pub score: Option<f64>,
}

impl Tally {
    /// `81 % (13 of 16 noticed)`.
    pub fn words(&self) -> String {
        match self.score {
            Some(score) => {
                format!("{:.0} % ({} of {} noticed)", score * 100.0, self.killed, self.killed + self.survived)
            }
            None => "none was killed, none survived".to_owned(),
        }
    }
}

impl Judged {
    /// None, for this reason.
    pub fn unfit(why: impl Into<String>) -> Self {
        Self { unfit: Some(why.into()), ..Self::default() }
    }

    /// Those of a class.
    pub fn of(&self, outcome: Outcome) -> impl Iterator<Item = &JudgedMutant> {
        self.mutants.iter().filter(move |mutant| mutant.outcome == outcome)
    }

    fn undecided(&self) -> usize {
        self.of(Outcome::Inconclusive).count() + self.of(Outcome::Timeout).count()
    }

    /// Counts.
    #[expect(clippy::cast_precision_loss, reason = "counts of mutants")]
    pub fn tally(&self) -> Tally {
        let (killed, survived) = (self.of(Outcome::Killed).count(), self.of(Outcome::Survived).count());
        let all = killed + survived;
        Tally { killed, survived, score: (all > 0).then(|| killed as f64 / all as f64) }
    }

    /// Whether more of the mutants that were judged `before` are killed now. One that was not judged again is not.
    pub fn kills_more(&self, before: &Judged) -> bool {
        let known = |mutant: &&JudgedMutant| before.mutants.iter().any(|m| m.name == mutant.name);
        self.of(Outcome::Killed).filter(known).count() > before.of(Outcome::Killed).count()
    }
}

/// One round: what came of asking for stronger properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Whether they stand now.
    pub kept: bool,
    /// What they notice, where it came so far.
    pub tally: Option<Tally>,
    /// In words.
    pub why: String,
    /// The one of them that the specification itself violates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violated: Option<Box<ViolatedByTrial>>,
}

/// A property on trial that the specification itself violates: it is wrong, or the specification is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ViolatedByTrial {
    /// Its name.
    pub property: String,
    /// Its text, where it has one.
    pub text: Option<String>,
    /// The requirements that it says it covers.
    pub covers: Vec<String>,
    /// The check.
    pub check: CheckOutcome,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Mutants and rounds of a closed revision, for its `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Strengthened {
    /// Why the mutants were not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
    /// Mutants in all, of which those below were drawn.
    pub made: usize,
    /// What was drawn and not judged in time.
    pub late: usize,
    /// How many were judged; journals of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<usize>,
    /// How many of them were not decided, or timed out, under the first properties; a score leaves them out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undecided_before: usize,
    /// The same under the last properties.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undecided: usize,
    /// What the first properties of the revision notice.
    pub before: Tally,
    /// What those that stand at its end notice.
    pub after: Tally,
    /// Each attempt at stronger ones.
    pub rounds: Vec<Round>,
    /// What still goes unnoticed.
    pub surviving: Vec<JudgedMutant>,
}

/// The same of the revision in work.
#[derive(Debug, Clone, PartialEq)]
pub struct Strengthening {
    /// The mutants under the first properties.
    pub first: Judged,
    /// Under those that stand.
    pub now: Judged,
    /// The rounds that are over.
    pub rounds: Vec<Round>,
    trial: Option<Trial>,
}

/// Properties on trial.
#[derive(Debug, Clone, PartialEq)]
struct Trial {
    judged: Option<Judged>,
    aside: Aside,
}

/// What stood before a trial, as the view holds it.
#[derive(Debug, Clone, PartialEq)]
struct Aside {
    current: BTreeMap<String, Sha>,
    covers: BTreeMap<String, Vec<String>>,
    rejected: Vec<Diagnostic>,
    feedback: Vec<Feedback>,
    check: Option<CheckRecord>,
    baseline: Baseline,
    first_violated: BTreeMap<String, FirstViolated>,
}

impl RunView {
    /// The mutants and the rounds of the revision in work.
    pub fn strengthened(&self) -> Option<Strengthened> {
        let Strengthening { first, now, rounds, .. } = self.strengthening.as_ref()?;
        Some(Strengthened {
            unfit: first.unfit.clone(),
            made: first.made,
            late: first.late,
            judged: Some(first.mutants.len()),
            undecided_before: first.undecided(),
            undecided: now.undecided(),
            before: first.tally(),
            after: now.tally(),
            rounds: rounds.clone(),
            surviving: now.of(Outcome::Survived).cloned().collect(),
        })
    }

    /// Takes in `mutants_judged`.
    pub(super) fn take_judged(&mut self, judged: Judged) {
        match &mut self.strengthening {
            Some(Strengthening { trial: Some(trial), .. }) => trial.judged = Some(judged),
            other => {
                let now = judged.clone();
                *other = Some(Strengthening { first: judged, now, rounds: Vec::new(), trial: None });
            }
        }
    }

    /// What the mutants that were judged last come to for the machine: whether some survive, and whether the properties on
    /// trial kill more.
    pub(super) fn judged_last(&self) -> Option<Event> {
        let Strengthening { now, trial, .. } = self.strengthening.as_ref()?;
        let on_trial = trial.as_ref().filter(|_| self.state.on_trial);
        let judged = match on_trial {
            Some(trial) => trial.judged.as_ref()?,
            None => now,
        };
        let survivors = judged.of(Outcome::Survived).next().is_some();
        Some(Event::Judged { survivors, better: on_trial.is_some() && judged.kills_more(now) })
    }

    /// Why a run goes where it goes because of mutants, in words; `None` where it does not.
    pub(super) fn of_mutants(&self, t: &Transition, product: &Product) -> Option<String> {
        let Strengthening { now, trial, .. } = self.strengthening.as_ref()?;
        let judged = trial.as_ref().and_then(|trial| trial.judged.as_ref());
        let tally = now.tally();
        match t.row {
            Row::MutantsJudged => Some(match &now.unfit {
                Some(why) => format!("the mutants were not judged: {why}"),
                None if tally.survived == 0 => "no mutant goes unnoticed".to_owned(),
                None => tally.words(),
            }),
            Row::Strengthen => Some(format!(
                "{} of {} mutants go unnoticed: asking for properties that notice them",
                tally.survived,
                tally.killed + tally.survived
            )),
            Row::StrongerKept => {
                let after = judged?.tally();
                Some(format!("kept: the new properties notice {}, not {}, of the mutants", after.killed, tally.killed))
            }
            Row::StrongerDropped => {
                Some(format!("dropped, the former properties stand again: {}", self.no_better(now, judged, product)))
            }
            _ => None,
        }
    }

    /// Why properties on trial are dropped.
    fn no_better(&self, before: &Judged, judged: Option<&Judged>, product: &Product) -> String {
        match (judged, &product.event, &product.facts) {
            (_, Event::Unreadable, _) => "two answers in a row could not be read".to_owned(),
            (_, Event::Merged(_), Facts::Rejected { diagnostics }) => {
                let first = diagnostics.first().map(ToString::to_string).unwrap_or_default();
                format!("they were rejected: {first}")
            }
            (Some(Judged { unfit: Some(why), .. }), ..) => match self.fresh_check().map(|check| &check.verdict) {
                Some(Verdict::Violated { .. }) => format!("the specification itself does not satisfy them ({why})"),
                _ => why.clone(),
            },
            (Some(judged), ..) => format!(
                "they notice no more of the mutants than before ({}, before {})",
                judged.tally().killed,
                before.tally().killed
            ),
            _ => "they came to nothing".to_owned(),
        }
    }

    /// The property on trial that the specification itself violates.
    fn violated_by_trial(&self) -> Option<Box<ViolatedByTrial>> {
        let check = self.fresh_check()?;
        let Verdict::Violated { violated } = &check.verdict else { return None };
        let property = violated.property()?.to_owned();
        let text = self.check().and_then(|record| record.checked.get(&property)).cloned();
        let covers = self.covers.get(&property).cloned().unwrap_or_default();
        Some(Box::new(ViolatedByTrial { property, text, covers, check: check.clone() }))
    }

    /// Ends a trial, and begins the next, as the transition says; `why` is [`Self::of_mutants`].
    pub(super) fn end_trial(&mut self, t: &Transition, why: Option<String>) {
        let why = why.unwrap_or_default();
        let violated = if t.row == Row::StrongerDropped { self.violated_by_trial() } else { None };
        if let Some(Strengthening { now, rounds, trial, .. }) = &mut self.strengthening
            && matches!(t.row, Row::StrongerKept | Row::StrongerDropped)
            && let Some(Trial { judged, aside }) = trial.take()
        {
            let kept = t.row == Row::StrongerKept;
            let tally = judged.as_ref().filter(|judged| judged.unfit.is_none()).map(Judged::tally);
            rounds.push(Round { kept, tally, why, violated });
            match judged {
                Some(judged) if kept => *now = judged,
                _ => {}
            }
            if t.effects.contains(&Effect::Restore) {
                self.restore(aside);
            }
        }
        if t.effects.contains(&Effect::SetAside) {
            let aside = self.aside();
            if let Some(strengthening) = &mut self.strengthening {
                strengthening.trial = Some(Trial { judged: None, aside });
            }
        }
    }

    fn aside(&self) -> Aside {
        Aside {
            current: self.current.clone(),
            covers: self.covers.clone(),
            rejected: self.rejected.clone(),
            feedback: self.feedback.clone(),
            check: self.check().cloned(),
            baseline: self.baseline.clone(),
            first_violated: self.first_violated.clone(),
        }
    }

    fn restore(&mut self, aside: Aside) {
        let Aside { current, covers, rejected, feedback, check, baseline, mut first_violated } = aside;
        let stood = |name: &String| check.as_ref().is_some_and(|record| record.checked.contains_key(name));
        // Of a property that is new with the trial, it stays known that it was violated: a flaw is not to be fitted to it.
        for (name, first) in std::mem::take(&mut self.first_violated) {
            if !stood(&name) {
                first_violated.entry(name).or_insert(first);
            }
        }
        (self.current, self.covers, self.rejected, self.feedback) = (current, covers, rejected, feedback);
        (self.baseline, self.first_violated) = (baseline, first_violated);
        match check {
            Some(check) => self.checks.insert(self.rev, check),
            None => self.checks.remove(&self.rev),
        };
    }
}

/// Why mutants cannot be judged by a check: what they are judged by has to hold.
pub fn unfit_check(check: Option<&CheckOutcome>) -> Option<String> {
    let Some(check) = check else { return Some("what stands was not checked".to_owned()) };
    match (&check.verdict, check.is_complete(), describe_unreached(check)) {
        (Verdict::Holds, true, None) => None,
        (Verdict::Holds, false, None) => Some("the check did not explore everything".to_owned()),
        _ => Some(verdict_sentence(check)),
    }
}

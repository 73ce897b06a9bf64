//! The judged mutants of a specification, and the results of strengthening its properties.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mutation::{MutationScore, Outcome};
use crate::pipeline::machine::Review;
use crate::tla::{CONTRACT, CheckOutcome, DEADLOCK, Verdict, describe_unreached, verdict_sentence};

/// The judged mutants of a specification (`mutants_judged`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// The number of mutants that the specification has.
    pub generated: usize,
    /// The seed of the sample.
    pub seed: u64,
    /// The judged mutants of the sample, in the order of the source.
    pub mutants: Vec<JudgedMutant>,
    /// How many mutants of the sample were not judged.
    pub unjudged_count: usize,
    /// The names of the mutants that were not judged, in time or because a tool failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<String>,
    /// By name of an unjudged mutant: the reason. Journals of version 0.2 have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unjudged_reasons: BTreeMap<String, String>,
    /// The check of the specification itself did not end in time, so no mutant was judged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Why no mutant was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedMutant {
    /// For example `Withdraw: drop guard`. Earlier journals have the place in it: `Spec.tla:41:12 drop guard`.
    pub name: String,
    /// For example `Spec.tla:41:12`; empty in earlier journals.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The definition or label that it changes.
    pub definition: String,
    /// The change in words, to be read after the name.
    pub what: String,
    /// The changed lines.
    pub diff: String,
    pub outcome: Outcome,
    /// The properties that kill it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub killed_by: Vec<String>,
    /// Witnesses that a restricting mutant no longer reaches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_witnesses: Vec<String>,
    /// The state in which the first of these properties notices it; `None` for a behaviour that never ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noticed_in: Option<NoticedIn>,
    /// Why it is undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Requirements whose properties mention the same variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<String>,
}

impl JudgedMutant {
    /// Why the review accepts that no property notices it; `None` if it does not. Earlier recordings use the name with its place.
    pub fn acceptance<'r>(&self, review: &'r Review) -> Option<&'r str> {
        let earlier = self.earlier_name();
        [Some(self.name.as_str()), earlier.as_deref()]
            .into_iter()
            .flatten()
            .find_map(|name| review.survivor_reason(name))
    }

    /// The name with its place, as earlier journals and recordings have it: `Spec.tla:41:12 drop guard`.
    pub fn earlier_name(&self) -> Option<String> {
        let change = self.name.strip_prefix(&self.definition)?.strip_prefix(": ")?;
        let is_number = |(_, number): &(&str, &str)| number.parse::<usize>().is_ok();
        let change = change.rsplit_once(" #").filter(is_number).map_or(change, |(change, _)| change);
        (!self.place.is_empty()).then(|| format!("{} {change}", self.place))
    }

    /// The place, or the name in an earlier journal, which contains the place.
    pub fn place_or_name(&self) -> &str {
        if self.place.is_empty() { &self.name } else { &self.place }
    }

    /// Whether a property or an assertion notices it. One that is only known to reach a deadlock says nothing about a property.
    pub fn is_noticed(&self) -> bool {
        let is_only_by_deadlock = !self.killed_by.is_empty() && self.killed_by.iter().all(|by| by == DEADLOCK);
        self.outcome == Outcome::Killed && !is_only_by_deadlock
    }
}

/// The state in which a property notices a mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoticedIn {
    /// Its number in the counterexample, from 1.
    pub step: usize,
    /// The values that the last step has changed.
    pub values: String,
}

/// An example of what a property forbids: a mutant that it notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForbiddenExample {
    pub property: String,
    /// The definition or label that the mutant changes.
    pub definition: String,
    /// The change in words, to be read after the name.
    pub what: String,
    /// The state in which the property notices it.
    pub noticed_in: NoticedIn,
}

/// Numbers of killed and surviving mutants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    pub killed: usize,
    pub survived: usize,
    /// killed / (killed + survived); `None` at 0/0.
    pub score: Option<f64>,
}

impl Judged {
    /// No mutant was judged, for this reason.
    pub fn skipped(why: impl Into<String>) -> Self {
        Self { skipped_reason: Some(why.into()), ..Self::default() }
    }

    /// The mutants of a class.
    pub fn with_outcome(&self, outcome: Outcome) -> impl Iterator<Item = &JudgedMutant> {
        self.mutants.iter().filter(move |mutant| mutant.outcome == outcome)
    }

    /// The names of the mutants of the sample, judged or not.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.mutants.iter().map(|mutant| mutant.name.as_str()).chain(self.unjudged.iter().map(String::as_str))
    }

    pub(in crate::pipeline) fn undecided(&self) -> usize {
        self.undecided_mutants().count()
    }

    /// The judged mutants without a verdict.
    pub fn undecided_mutants(&self) -> impl Iterator<Item = &JudgedMutant> {
        self.with_outcome(Outcome::Inconclusive).chain(self.with_outcome(Outcome::Timeout))
    }

    /// How many mutants are only known to reach a deadlock.
    pub fn killed_only_by_deadlock(&self) -> usize {
        self.with_outcome(Outcome::Killed).filter(|mutant| !mutant.is_noticed()).count()
    }

    /// The score; mutants that were not judged count as undecided.
    pub fn score(&self) -> MutationScore {
        let Tally { killed, survived, .. } = self.tally();
        let undecided = self.undecided() + self.unjudged_count;
        MutationScore { noticed: killed - self.killed_only_by_deadlock(), survived, undecided }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of mutants")]
    pub fn tally(&self) -> Tally {
        let (killed, survived) =
            (self.with_outcome(Outcome::Killed).count(), self.with_outcome(Outcome::Survived).count());
        let all = killed + survived;
        Tally { killed, survived, score: (all > 0).then(|| killed as f64 / all as f64) }
    }

    /// For each property that was the first to notice a mutant: the mutant that it notices in the fewest steps. A contract is
    /// about all variables, so its states are too long for an example.
    pub fn examples(&self) -> Vec<ForbiddenExample> {
        let mut shortest: BTreeMap<&str, ForbiddenExample> = BTreeMap::new();
        for mutant in self.with_outcome(Outcome::Killed) {
            let (Some(property), Some(noticed_in)) = (mutant.killed_by.first(), &mutant.noticed_in) else { continue };
            let is_contract = property.starts_with(CONTRACT);
            if is_contract
                || shortest.get(property.as_str()).is_some_and(|known| known.noticed_in.step <= noticed_in.step)
            {
                continue;
            }
            let example = ForbiddenExample {
                property: property.clone(),
                definition: mutant.definition.clone(),
                what: mutant.what.clone(),
                noticed_in: noticed_in.clone(),
            };
            shortest.insert(property, example);
        }
        shortest.into_values().collect()
    }

    /// The number of mutants by class.
    pub(in crate::pipeline) fn counts(&self) -> BTreeMap<String, usize> {
        let count = |class: Outcome| (class.key(), self.with_outcome(class).count());
        Outcome::ALL.into_iter().map(count).collect()
    }

    /// Whether the properties notice all mutants that they noticed `before`, and more of those that were judged before. A mutant
    /// that was not judged again does not count as noticed.
    pub fn notices_more(&self, before: &Judged) -> bool {
        let is_known = |mutant: &&JudgedMutant| before.mutants.iter().any(|m| m.name == mutant.name);
        self.lost(before).is_empty() && self.noticed().filter(is_known).count() > before.noticed().count()
    }

    /// The mutants that were noticed `before`, are judged now and are no longer noticed: they survive, or are not decided.
    pub fn lost<'b>(&self, before: &'b Judged) -> Vec<&'b str> {
        let is_lost = |name: &&str| self.mutants.iter().any(|mutant| mutant.name == *name && !mutant.is_noticed());
        before.noticed().map(|mutant| mutant.name.as_str()).filter(is_lost).collect()
    }

    /// The judgement with every mutant that was judged `before`. What the new properties do to one that was not decided or not
    /// judged again is not known: it stays as it was, unless it was noticed, and is undecided then.
    pub(in crate::pipeline) fn completed(self, before: &Judged) -> Judged {
        let is_decided = |mutant: &&JudgedMutant| !matches!(mutant.outcome, Outcome::Inconclusive | Outcome::Timeout);
        let complete = |known: &JudgedMutant| {
            let now = self.mutants.iter().find(|mutant| mutant.name == known.name);
            let late =
                JudgedMutant { outcome: Outcome::Inconclusive, reason: Some(NOT_IN_TIME.to_owned()), ..known.clone() };
            match now.filter(is_decided) {
                Some(now) => now.clone(),
                None if !known.is_noticed() => known.clone(),
                None => now.cloned().unwrap_or(late),
            }
        };
        let Judged { unjudged_count, unjudged, unjudged_reasons, .. } = before.clone();
        Judged {
            mutants: before.mutants.iter().map(complete).collect(),
            unjudged_count,
            unjudged,
            unjudged_reasons,
            ..self
        }
    }

    fn noticed(&self) -> impl Iterator<Item = &JudgedMutant> {
        self.mutants.iter().filter(|mutant| mutant.is_noticed())
    }
}

/// What a sample of mutants shows about the properties of an approved specification (`mutants_sampled`). Only
/// `--min-score` and the user's own policy read it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MutantSample {
    /// Why no mutant was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_reason: Option<String>,
    /// The number of mutants that the specification has.
    pub generated: usize,
    /// How many mutants were judged.
    pub sampled: usize,
    /// The seed of the sample.
    pub seed: u64,
    /// Killed and surviving mutants.
    pub tally: Tally,
    /// How many of the killed ones are only known to reach a deadlock.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub killed_only_by_deadlock: usize,
    /// How many other mutants author and reviewer have seen, which are no part of this sample.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seen: usize,
    /// The number of mutants by class.
    pub counts: BTreeMap<String, usize>,
    pub surviving: Vec<JudgedMutant>,
    /// For each property that was the first to notice a mutant: the mutant that it notices in the fewest steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ForbiddenExample>,
    /// The judged mutants that are inconclusive or timed out, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<JudgedMutant>,
    /// The names of the drawn mutants that were not judged, in time or because a tool failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<String>,
    /// By name of an unjudged mutant: the reason. Journals of version 0.2 have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unjudged_reasons: BTreeMap<String, String>,
    /// The check of the specification itself did not end in time, so no mutant was judged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub check_timed_out: bool,
}

impl From<Judged> for MutantSample {
    fn from(judged: Judged) -> Self {
        Self {
            generated: judged.generated,
            sampled: judged.mutants.len(),
            seed: judged.seed,
            tally: judged.tally(),
            killed_only_by_deadlock: judged.killed_only_by_deadlock(),
            seen: 0,
            counts: judged.counts(),
            surviving: judged.with_outcome(Outcome::Survived).cloned().collect(),
            examples: judged.examples(),
            undecided: judged.undecided_mutants().cloned().collect(),
            unjudged: judged.unjudged,
            unjudged_reasons: judged.unjudged_reasons,
            check_timed_out: judged.timed_out,
            skipped_reason: judged.skipped_reason,
        }
    }
}

impl MutantSample {
    pub fn score(&self) -> MutationScore {
        let Tally { killed, survived, .. } = self.tally;
        let undecided = self.undecided.len() + self.unjudged.len();
        MutationScore { noticed: killed.saturating_sub(self.killed_only_by_deadlock), survived, undecided }
    }
}

/// One round of stronger properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Whether the new properties were kept.
    pub kept: bool,
    /// What they kill, if they were judged.
    pub tally: Option<Tally>,
    pub why: String,
    /// The new property that the specification itself violates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violated: Option<Box<ViolatedByTrial>>,
}

/// A property on trial that the specification itself violates. Either of them is wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ViolatedByTrial {
    pub property: String,
    pub text: Option<String>,
    /// The requirements that it says it covers.
    pub covers: Vec<String>,
    pub check: CheckOutcome,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Mutants and rounds of a closed revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Strengthened {
    /// Why no mutant was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_reason: Option<String>,
    /// The number of mutants that the specification has, before sampling.
    pub generated: usize,
    /// How many mutants of the sample were not judged.
    pub unjudged_count: usize,
    /// By name of an unjudged mutant: the reason. Journals of version 0.2 have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unjudged_reasons: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<usize>,
    /// How many of the judged mutants were inconclusive or timed out under the first properties. The score leaves them
    /// out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undecided_before: usize,
    /// The same under the last properties.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undecided: usize,
    /// Under the first properties of the revision.
    pub before: Tally,
    /// Under its last properties.
    pub after: Tally,
    /// How many of the mutants killed under the first properties are only known to reach a deadlock.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub killed_only_by_deadlock_before: usize,
    /// The same under the last properties.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub killed_only_by_deadlock: usize,
    pub rounds: Vec<Round>,
    pub surviving: Vec<JudgedMutant>,
}

impl Strengthened {
    /// Under the first properties of the revision.
    pub fn score_before(&self) -> MutationScore {
        self.score_of(self.before, self.killed_only_by_deadlock_before, self.undecided_before)
    }

    /// Under its last properties.
    pub fn score(&self) -> MutationScore {
        self.score_of(self.after, self.killed_only_by_deadlock, self.undecided)
    }

    fn score_of(&self, tally: Tally, killed_only_by_deadlock: usize, undecided: usize) -> MutationScore {
        MutationScore {
            noticed: tally.killed.saturating_sub(killed_only_by_deadlock),
            survived: tally.survived,
            undecided: undecided + self.unjudged_count,
        }
    }
}

/// Why a mutant of a sample is not judged if its time was over.
pub const NOT_IN_TIME: &str = "not judged in time";

/// Why mutants are not judged, with their number: `2 not judged in time, 1 not judged (SANY broke: …)`; `None` if all are.
pub fn unjudged_words(count: usize, reasons: &BTreeMap<String, String>) -> Option<String> {
    let mut by_reason: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in reasons.values() {
        *by_reason.entry(reason.lines().next().unwrap_or_default()).or_default() += 1;
    }
    // Journals of version 0.2 have no reasons; there it was almost always the time.
    *by_reason.entry(NOT_IN_TIME).or_default() += count.saturating_sub(reasons.len());
    let words = by_reason.into_iter().filter(|(_, count)| *count > 0).map(|(reason, count)| match reason {
        NOT_IN_TIME => format!("{count} {NOT_IN_TIME}"),
        reason => format!("{count} not judged ({reason})"),
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Why mutants cannot be judged against this check; `None` if they can. The specification itself has to hold,
/// completely explored and with every witness reached.
pub fn why_not_judged(check: Option<&CheckOutcome>) -> Option<String> {
    let Some(check) = check else { return Some("the current files were not checked".to_owned()) };
    match (&check.verdict, check.is_complete(), describe_unreached(check)) {
        (Verdict::Holds, true, None) => None,
        (Verdict::Holds, false, None) => Some("the check did not explore everything".to_owned()),
        _ => Some(verdict_sentence(check)),
    }
}

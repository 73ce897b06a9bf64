//! What became of the mutants of a specification, and what strengthening its properties came to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mutation::Outcome;
use crate::tla::{CheckOutcome, Verdict, describe_unreached, verdict_sentence};

/// What became of the mutants of a specification (`mutants_judged`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// How many there are in all.
    pub generated: usize,
    /// What the draw among them began with.
    pub seed: u64,
    /// Those that were drawn and judged, in the order of the source.
    pub mutants: Vec<JudgedMutant>,
    /// How many more were drawn, and not judged in time.
    pub unjudged_count: usize,
    /// Their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<String>,
    /// The check of the specification itself did not end in time, so none was judged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_time: bool,
    /// Why none was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_reason: Option<String>,
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
    pub fn skipped(why: impl Into<String>) -> Self {
        Self { skipped_reason: Some(why.into()), ..Self::default() }
    }

    /// Those of a class.
    pub fn of(&self, outcome: Outcome) -> impl Iterator<Item = &JudgedMutant> {
        self.mutants.iter().filter(move |mutant| mutant.outcome == outcome)
    }

    pub(in crate::pipeline) fn undecided(&self) -> usize {
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
    pub skipped_reason: Option<String>,
    /// Mutants in all, of which those below were drawn.
    pub generated: usize,
    /// What was drawn and not judged in time.
    pub unjudged_count: usize,
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

/// Why mutants cannot be judged by a check: what they are judged by has to hold.
pub fn why_not_judged(check: Option<&CheckOutcome>) -> Option<String> {
    let Some(check) = check else { return Some("what stands was not checked".to_owned()) };
    match (&check.verdict, check.is_complete(), describe_unreached(check)) {
        (Verdict::Holds, true, None) => None,
        (Verdict::Holds, false, None) => Some("the check did not explore everything".to_owned()),
        _ => Some(verdict_sentence(check)),
    }
}

//! A review: its verdict, its issues, what it accepts by name, and a flaw that it claims.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accepted_item::{AcceptedItem, is_reason};
use super::guards::ALL_MUTANTS;
use super::node_name::NodeName;

/// How serious an issue is. Only the first two send a run back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The specification is wrong.
    Blocker,
    /// The specification misses something important.
    Major,
    /// A remark.
    Minor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// The documents describe behaviour that the specification lacks.
    MissingBehavior,
    /// A requirement has no property.
    MissingInvariant,
    /// A liveness requirement is not stated or not checked.
    LivenessGap,
    /// The level of abstraction is wrong, such as atomicity coarser than documented.
    Abstraction,
    /// The specification allows what the documents forbid.
    ExtraBehavior,
    /// Domains or labels make the state space explode.
    StateExplosionRisk,
    /// A counterexample needs a decision.
    CounterexampleIssue,
    /// A property does not say what its requirement says.
    WrongInvariant,
    /// `TypeOK` is missing or too weak.
    MissingTypeInvariant,
    /// The configuration does not fit the module or the requirements.
    CfgMismatch,
}

/// What causes a counterexample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    Spec,
    /// The property.
    Invariant,
    /// The requirement as the informal specification words it.
    Requirement,
    /// The contract of a step.
    Contract,
    /// The documents: they allow what the specification does and what the contract says.
    Documents,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Issue {
    pub severity: Severity,
    pub category: Category,
    /// Only for `counterexample_issue`, and for `wrong_invariant` if the requirement is wrong and not the property.
    #[serde(default)]
    pub blame: Option<Blame>,
    pub description: String,
    #[serde(default)]
    pub suggestion: String,
}

impl Issue {
    /// Whether it sends the run back.
    pub fn routes(&self) -> bool {
        self.severity != Severity::Minor
    }

    /// Whether its text has this name as a whole word, and it sends the run back or says what is to blame.
    pub fn mentions(&self, name: &str) -> bool {
        let has = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        (self.routes() || self.blame.is_some()) && (has(&self.description) || has(&self.suggestion))
    }

    /// The node that has to mend it.
    pub fn node(&self) -> NodeName {
        match (self.category, self.blame) {
            (
                Category::MissingBehavior | Category::MissingInvariant | Category::LivenessGap | Category::Abstraction,
                _,
            )
            | (Category::CounterexampleIssue | Category::WrongInvariant, Some(Blame::Requirement | Blame::Documents)) => {
                NodeName::InformalSpec
            }
            (Category::CounterexampleIssue | Category::WrongInvariant, Some(Blame::Contract)) => {
                NodeName::StepContracts
            }
            (Category::CounterexampleIssue, Some(Blame::Invariant))
            | (Category::WrongInvariant | Category::MissingTypeInvariant | Category::CfgMismatch, _) => {
                NodeName::GenerateInvariants
            }
            (Category::ExtraBehavior | Category::StateExplosionRisk | Category::CounterexampleIssue, _) => {
                NodeName::Formalize
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ReviewVerdict {
    /// The specification says what the documents say.
    Approved,
    Revise,
    /// The protocol as documented breaks one of its own requirements.
    Flaw,
}

/// A structured review. Unknown fields are refused, so that a misspelt list is not taken for an empty one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Review {
    pub verdict: ReviewVerdict,
    pub issues: Vec<Issue>,
    /// Actions that are never taken, as intended.
    #[serde(default)]
    pub intended_dead: Vec<AcceptedItem>,
    /// Properties, constants and settings whose change since the baseline is accepted.
    #[serde(default)]
    pub accepted_changes: Vec<AcceptedItem>,
    /// Requirements that need no property.
    #[serde(default)]
    pub accepted_uncovered: Vec<AcceptedItem>,
    /// Open points whose reading is accepted.
    #[serde(default)]
    pub accepted_open_points: Vec<AcceptedItem>,
    /// Assumptions that are accepted.
    #[serde(default)]
    pub accepted_assumptions: Vec<AcceptedItem>,
    /// Normative sentences that nothing needs to account for.
    #[serde(default)]
    pub accepted_sentences: Vec<AcceptedItem>,
    /// Properties whose blind reading says what their requirements say, or differs from them in a way that is accepted.
    #[serde(default)]
    pub accepted_readings: Vec<AcceptedItem>,
    /// Steps that need no contract that is checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_without_contract: Vec<AcceptedItem>,
    /// Mutants that no property notices, because the documents leave free what they change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_survivors: Vec<AcceptedItem>,
    /// Larger bounds that the review accepts although a property is violated with them, or the check did not decide them.
    #[serde(default)]
    pub accepted_bounds: Vec<AcceptedItem>,
    /// Lines of the configuration that bound the check and are accepted.
    #[serde(default)]
    pub accepted_cfg: Vec<AcceptedItem>,
    /// The fields that a corrected answer leaves as they were in the one before. Empty in a review that was read: they are filled in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchanged: Vec<String>,
    /// The claimed flaw, with the verdict `flaw`.
    #[serde(default)]
    pub flaw: Option<Flaw>,
    /// Claims that other violated properties show flaws, too; each has its own second reading.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_flaws: Vec<Flaw>,
    /// Further remarks for people.
    #[serde(default)]
    pub summary: String,
}

impl Review {
    /// Makes the further claim about this property the main one, and the main one a further claim. Returns whether there
    /// are such claims.
    pub fn make_main_claim(&mut self, property: &str) -> bool {
        let further = self.further_flaws.iter_mut().find(|flaw| flaw.property == property);
        let (Some(main), Some(further)) = (self.flaw.as_mut(), further) else { return false };
        std::mem::swap(main, further);
        true
    }
}

/// A flaw of the protocol as documented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flaw {
    /// The violated requirement.
    pub requirement: String,
    /// The violated property that covers it.
    pub property: String,
    /// Every step of the trace with the line of the documents that allows it.
    pub steps: Vec<FlawStep>,
    /// If weak fairness excludes the behaviour: the line of the documents that allows it to go on like this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfair: Option<Citation>,
    /// If the violation vanishes with a larger bound: the line of the documents that sets the bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Citation>,
}

/// A line of the documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The document.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    pub why: String,
}

/// One step of a flaw's trace, in the documents' words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlawStep {
    /// The step of the trace, from 1.
    pub step: usize,
    /// The document; empty if only an open point grants the step.
    #[serde(default)]
    pub file: String,
    /// The line, from 1.
    #[serde(default)]
    pub line: usize,
    /// The open point whose reading grants the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_point: Option<String>,
    /// Further places that allow the step: `docs/swap.md:3-5`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    pub why: String,
}

impl Review {
    /// The earliest node that an issue above minor blames.
    pub fn earliest(&self) -> Option<NodeName> {
        self.issues.iter().filter(|i| i.routes()).map(Issue::node).min()
    }

    /// The lists of accepted items, each with its name in the answer.
    pub fn accepted_lists_mut(&mut self) -> [(&'static str, &mut Vec<AcceptedItem>); 11] {
        [
            ("intended_dead", &mut self.intended_dead),
            ("accepted_changes", &mut self.accepted_changes),
            ("accepted_uncovered", &mut self.accepted_uncovered),
            ("accepted_open_points", &mut self.accepted_open_points),
            ("accepted_assumptions", &mut self.accepted_assumptions),
            ("accepted_sentences", &mut self.accepted_sentences),
            ("accepted_readings", &mut self.accepted_readings),
            ("accepted_without_contract", &mut self.accepted_without_contract),
            ("accepted_survivors", &mut self.accepted_survivors),
            ("accepted_bounds", &mut self.accepted_bounds),
            ("accepted_cfg", &mut self.accepted_cfg),
        ]
    }

    /// Whether it accepts that the action is never taken.
    pub fn accepts_dead(&self, action: &str) -> bool {
        reason_in(&self.intended_dead, action).is_some()
    }

    /// Whether it accepts the change of this name.
    pub fn accepts_change(&self, name: &str) -> bool {
        reason_in(&self.accepted_changes, name).is_some()
    }

    /// The reason why it accepts that no property covers the requirement, perhaps empty; `None` if it does not.
    pub fn uncovered_reason(&self, requirement: &str) -> Option<&str> {
        reason_in(&self.accepted_uncovered, requirement)
    }

    /// Whether it accepts the reading that the model takes of the open point.
    pub fn accepts_open_point(&self, id: &str) -> bool {
        reason_in(&self.accepted_open_points, id).is_some()
    }

    pub fn accepts_assumption(&self, id: &str) -> bool {
        reason_in(&self.accepted_assumptions, id).is_some()
    }

    /// Whether it accepts, with a reason, that nothing accounts for the normative sentence.
    pub fn accepts_sentence(&self, id: &str) -> bool {
        reason_in(&self.accepted_sentences, id).is_some_and(is_reason)
    }

    /// Whether it accepts the blind reading of the property.
    pub fn accepts_reading(&self, property: &str) -> bool {
        reason_in(&self.accepted_readings, property).is_some()
    }

    /// Whether it accepts, with a reason, that no contract of the step is checked.
    pub fn accepts_without_contract(&self, label: &str) -> bool {
        reason_in(&self.accepted_without_contract, label).is_some_and(is_reason)
    }

    /// The reason why it accepts that no property notices the mutant; `None` if it does not.
    pub fn survivor_reason(&self, mutant: &str) -> Option<&str> {
        let named = self.accepted_survivors.iter().map(AcceptedItem::parts).find(|(name, _)| *name == mutant);
        named.and_then(|(_, reason)| reason).filter(|reason| mutant == ALL_MUTANTS || settles_mutant(reason))
    }

    /// Whether it accepts, with a reason, that no property notices the mutant.
    pub fn accepts_survivor(&self, mutant: &str) -> bool {
        self.survivor_reason(mutant).is_some()
    }

    /// Whether it accepts the larger bound, with a reason.
    pub fn accepts_bound(&self, bound: &str) -> bool {
        reason_in(&self.accepted_bounds, bound).is_some_and(is_reason)
    }

    /// Whether it accepts the line of the configuration, with a reason.
    pub fn accepts_cfg(&self, line: &str) -> bool {
        reason_in(&self.accepted_cfg, line).is_some_and(is_reason)
    }
}

/// Whether a reason says that no line of the documents decides it.
pub fn says_no_line(reason: &str) -> bool {
    let words: Vec<&str> = reason.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|two| two[0].eq_ignore_ascii_case("no") && two[1].eq_ignore_ascii_case("line"))
}

/// Whether a reason has the form of one that settles a surviving mutant: it cites a line, as `docs/file.md:12`, or says that there
/// is none.
fn settles_mutant(reason: &str) -> bool {
    let is_place = |at: usize| {
        reason[..at].ends_with(char::is_alphanumeric) && reason[at + 1..].starts_with(|c: char| c.is_ascii_digit())
    };
    says_no_line(reason) || reason.match_indices(':').any(|(at, _)| is_place(at))
}

/// The reason with which a list accepts a name; `None` if it does not.
fn reason_in<'a>(accepted: &'a [AcceptedItem], name: &str) -> Option<&'a str> {
    accepted.iter().find_map(|item| item.reason_for(name))
}

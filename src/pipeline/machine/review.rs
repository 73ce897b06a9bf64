//! A review: its verdict, its issues, what it accepts by name, and a flaw that it claims.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_name::NodeName;
use crate::tla::requirement_id;

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
            | (Category::CounterexampleIssue | Category::WrongInvariant, Some(Blame::Requirement)) => {
                NodeName::InformalSpec
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
    pub intended_dead: Vec<String>,
    /// Properties, constants and settings whose change since the baseline is accepted.
    #[serde(default)]
    pub accepted_changes: Vec<String>,
    /// Requirements that need no property.
    #[serde(default)]
    pub accepted_uncovered: Vec<String>,
    /// Open points whose reading is accepted.
    #[serde(default)]
    pub accepted_open_points: Vec<String>,
    /// Assumptions that are accepted.
    #[serde(default)]
    pub accepted_assumptions: Vec<String>,
    /// Normative sentences that nothing needs to account for.
    #[serde(default)]
    pub accepted_sentences: Vec<String>,
    /// Properties whose blind reading says what their requirements say, or differs from them in a way that is accepted.
    #[serde(default)]
    pub accepted_readings: Vec<String>,
    /// Larger bounds with which a property is broken, as the documents exclude them.
    #[serde(default)]
    pub accepted_bounds: Vec<String>,
    /// Lines of the configuration that bound the check and are accepted.
    #[serde(default)]
    pub accepted_cfg: Vec<String>,
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

    /// Whether it accepts that the action is never taken.
    pub fn accepts_dead(&self, action: &str) -> bool {
        self.intended_dead.iter().any(|entry| remark_on(entry, action).is_some())
    }

    /// Whether it accepts the change of this name.
    pub fn accepts_change(&self, name: &str) -> bool {
        self.accepted_changes.iter().any(|entry| remark_on(entry, name).is_some())
    }

    /// The reason why it accepts that no property covers the requirement, perhaps empty; `None` if it does not.
    pub fn uncovered_reason(&self, requirement: &str) -> Option<&str> {
        let remark = self.accepted_uncovered.iter().find_map(|entry| remark_on(entry, requirement))?;
        Some(remark.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '-' | '\u{2013}' | '\u{2014}')))
    }

    /// Whether it accepts the reading that the model takes of the open point.
    pub fn accepts_open_point(&self, id: &str) -> bool {
        self.accepted_open_points.iter().any(|entry| remark_on(entry, id).is_some())
    }

    pub fn accepts_assumption(&self, id: &str) -> bool {
        self.accepted_assumptions.iter().any(|entry| remark_on(entry, id).is_some())
    }

    /// Whether it accepts, with a reason, that nothing accounts for the normative sentence.
    pub fn accepts_sentence(&self, id: &str) -> bool {
        self.accepted_sentences.iter().any(|entry| remark_on(entry, id).is_some_and(is_reason))
    }

    /// Whether it accepts the blind reading of the property.
    pub fn accepts_reading(&self, property: &str) -> bool {
        self.accepted_readings.iter().any(|entry| remark_on(entry, property).is_some())
    }

    /// Whether it accepts, with a reason, that the documents exclude the larger bound.
    pub fn accepts_bound(&self, bound: &str) -> bool {
        self.accepted_bounds.iter().any(|entry| remark_on(entry, bound).is_some_and(is_reason))
    }

    /// Whether it accepts the line of the configuration, with a reason.
    pub fn accepts_cfg(&self, line: &str) -> bool {
        self.accepted_cfg.iter().any(|entry| remark_on(entry, line).is_some_and(is_reason))
    }
}

fn is_reason(remark: &str) -> bool {
    remark.chars().any(char::is_alphanumeric)
}

/// The remark after an accepted name; `None` if the entry accepts another name. `R04` is `R4`, and white space makes no
/// difference.
fn remark_on<'a>(entry: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = entry.trim_start();
    for word in name.split_whitespace() {
        rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        rest = match requirement_id(&rest[..end]) {
            Some(id) if id == word => &rest[end..],
            _ => rest.strip_prefix(word)?,
        };
    }
    let ends = rest.chars().next().is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '!'));
    ends.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_accepted_word_for_word_with_or_without_a_remark() {
        for (entry, name) in [
            ("Safe", "Safe"),
            ("R7: because it is about time", "R7"),
            ("R07 (time)", "R7"),
            ("covers  Safe", "covers Safe"),
            ("CHECK_DEADLOCK  FALSE: quiescent by design", "CHECK_DEADLOCK FALSE"),
            (" CONSTRAINT Small (the queue)", "CONSTRAINT Small"),
            ("Max <- Four - enough", "Max <- Four"),
        ] {
            assert!(remark_on(entry, name).is_some(), "{entry}");
        }
        for (entry, name) in [
            ("Safer", "Safe"),
            ("Safe_2", "Safe"),
            ("Safe!C", "Safe"),
            ("R70", "R7"),
            ("not Safe", "Safe"),
            ("CONSTRAINT Smaller", "CONSTRAINT Small"),
            ("CONSTRAINT", "CONSTRAINT Small"),
            ("", "Safe"),
        ] {
            assert_eq!(remark_on(entry, name), None, "{entry}");
        }
    }

    #[test]
    fn a_line_of_the_configuration_is_accepted_with_a_reason_only() {
        let review = |entry: &str| {
            let value = serde_json::json!({"verdict": "approved", "issues": [], "accepted_cfg": [entry]});
            Review::deserialize(value).unwrap()
        };
        let line = "CONSTRAINT Small";
        assert!(review("CONSTRAINT Small: the queue is bounded").accepts_cfg(line));
        for entry in ["CONSTRAINT Small", "CONSTRAINT Small: ", "CONSTRAINT Small ...", "Small: the queue"] {
            assert!(!review(entry).accepts_cfg(line), "{entry}");
        }
    }
}

//! The six stations, and the vocabulary of a review.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A station of the pipeline, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Station {
    /// Documents to a structured informal specification with numbered requirements.
    InformalSpec,
    /// Informal specification to a module with a PlusCal algorithm.
    Formalize,
    /// PlusCal translator and SANY.
    Validate,
    /// `TypeOK`, invariants, temporal properties, witnesses and the configuration.
    GenerateInvariants,
    /// The model checker.
    ModelCheck,
    /// Semantic review.
    Review,
}

impl Station {
    /// All of them, in order.
    pub const ALL: [Station; 6] = [
        Station::InformalSpec,
        Station::Formalize,
        Station::Validate,
        Station::GenerateInvariants,
        Station::ModelCheck,
        Station::Review,
    ];

    /// Its name in the journal, in folders and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Station::InformalSpec => "informal_spec",
            Station::Formalize => "formalize",
            Station::Validate => "validate",
            Station::GenerateInvariants => "generate_invariants",
            Station::ModelCheck => "model_check",
            Station::Review => "review",
        }
    }

    /// The station of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }
}

impl fmt::Display for Station {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How much an issue matters. Only the first two send a run back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The specification is wrong.
    Blocker,
    /// The specification misses something that matters.
    Major,
    /// A remark.
    Minor,
}

/// The ten review categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// The documents describe behaviour that the specification lacks.
    MissingBehavior,
    /// A requirement has no property.
    MissingInvariant,
    /// A liveness requirement is not stated or not checked.
    LivenessGap,
    /// Wrong level of abstraction, among it atomicity coarser than documented.
    Abstraction,
    /// The specification allows what the documents forbid.
    ExtraBehavior,
    /// Domains or labels make the state space explode.
    StateExplosionRisk,
    /// A counterexample must be dealt with.
    CounterexampleIssue,
    /// A property does not say what its requirement says.
    WrongInvariant,
    /// `TypeOK` is missing or loose.
    MissingTypeInvariant,
    /// The configuration does not fit the module or the requirements.
    CfgMismatch,
}

/// What an issue blames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The specification.
    Spec,
    /// The property.
    Invariant,
}

/// One issue of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// How much it matters.
    pub severity: Severity,
    /// What kind it is.
    pub category: Category,
    /// What it blames; only `counterexample_issue` needs it.
    #[serde(default)]
    pub blame: Option<Blame>,
    /// What is wrong.
    pub description: String,
    /// What to do.
    #[serde(default)]
    pub suggestion: String,
}

impl Issue {
    /// Whether it sends the run back.
    pub fn routes(&self) -> bool {
        self.severity != Severity::Minor
    }

    /// The station that mends it (design, section 3).
    pub fn station(&self) -> Station {
        match (self.category, self.blame) {
            (
                Category::MissingBehavior | Category::MissingInvariant | Category::LivenessGap | Category::Abstraction,
                _,
            ) => Station::InformalSpec,
            (Category::CounterexampleIssue, Some(Blame::Invariant))
            | (Category::WrongInvariant | Category::MissingTypeInvariant | Category::CfgMismatch, _) => {
                Station::GenerateInvariants
            }
            (Category::ExtraBehavior | Category::StateExplosionRisk | Category::CounterexampleIssue, _) => {
                Station::Formalize
            }
        }
    }
}

/// The verdict of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewVerdict {
    /// The specification is what the documents say.
    Approved,
    /// It is not yet.
    Revise,
    /// The protocol as documented breaks one of its own requirements.
    Flaw,
}

/// A structured review (design, section 3). Unknown fields are refused, so that a misspelt list is never an empty one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// The verdict.
    pub verdict: ReviewVerdict,
    /// All issues.
    pub issues: Vec<Issue>,
    /// Actions that are never taken and need not be.
    #[serde(default)]
    pub intended_dead: Vec<String>,
    /// Properties, constants and settings whose change since their baseline is accepted.
    #[serde(default)]
    pub accepted_changes: Vec<String>,
    /// Requirements that need no property.
    #[serde(default)]
    pub accepted_uncovered: Vec<String>,
    /// Lines of the configuration that bound the check and are accepted.
    #[serde(default)]
    pub accepted_cfg: Vec<String>,
    /// The flaw, where the verdict says so.
    #[serde(default)]
    pub flaw: Option<Flaw>,
    /// Anything else the reviewer wants a person to read.
    #[serde(default)]
    pub summary: String,
}

/// A flaw of the protocol as documented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flaw {
    /// The requirement that breaks.
    pub requirement: String,
    /// The violated property that covers it.
    pub property: String,
    /// Every step of the trace with the place in the documents that grants it.
    pub steps: Vec<FlawStep>,
}

/// One step of a flaw's trace, in the documents' words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlawStep {
    /// The step of the trace, from 1.
    pub step: usize,
    /// The document.
    pub file: String,
    /// The line in it.
    pub line: usize,
    /// Why the documents grant the step.
    pub why: String,
}

impl Review {
    /// The earliest station that an issue above minor names.
    pub fn earliest(&self) -> Option<Station> {
        self.issues.iter().filter(|i| i.routes()).map(Issue::station).min()
    }
}

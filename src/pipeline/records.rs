//! What the events of a run carry: settings, what a node made, checks, revisions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::events::Entry;
use super::guard::{ApprovalFacts, FlawFacts};
use super::interface::Interface;
use super::machine::{Event as Step, Outcome, Rules, State, StopReason};
use super::node_name::{NodeName, Review};
use super::objective::ObjectiveStep;
use super::strengthen::Strengthened;
use super::watch::RuleEnd;
use crate::config::Draft;
use crate::journal::Sha;
use crate::llm::{Estimate, Usage};
use crate::monitor::RunObjective;
use crate::prompt::{Requirement, Skipped};
use crate::tla::{ASSERTION, CheckOutcome, Diagnostic, Verdict};

/// File names of the artifacts that a person sees.
pub mod file {
    /// The informal specification.
    pub const INFORMAL: &str = "informal_spec.md";
    /// The module, merged with its properties and with its translation in place.
    pub const MODULE: &str = "Spec.tla";
    /// The configuration.
    pub const CFG: &str = "Spec.cfg";
    /// The last review.
    pub const REVIEW: &str = "review.md";
    /// The checker's raw output.
    pub const OUTPUT: &str = "tlc_output.txt";
    /// All of them, in the order of the pipeline.
    pub const VISIBLE: [&str; 5] = [INFORMAL, MODULE, CFG, REVIEW, OUTPUT];
    /// The module as it was formalized, without properties and translation. Kept in the artifact store only.
    pub const SOURCE: &str = "source.tla";
    /// The validated module with its translation. Kept in the artifact store only.
    pub const VALIDATED: &str = "validated.tla";
}

/// A file kept in the artifact store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stored {
    /// Its path in the workspace.
    pub path: String,
    /// Its content.
    pub sha: Sha,
    /// Its size in bytes.
    pub bytes: u64,
}

/// What a run was started with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// Limits and options of routing.
    pub rules: Rules,
    /// How the first pass is drafted.
    #[serde(default)]
    pub draft: Draft,
    /// How many formalizations are drafted side by side; 0 and 1 are both one.
    #[serde(default, skip_serializing_if = "is_one")]
    pub candidates: u32,
    /// What its revisions are measured by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<RunObjective>,
    /// The single concern, where the user fixes it.
    pub concern: Option<String>,
    /// Variables and constants that the specification must expose, in words.
    pub interface: Option<String>,
    /// Their names.
    #[serde(default, skip_serializing_if = "Interface::is_empty")]
    pub interface_names: Interface,
    /// The documents.
    pub docs: Vec<Stored>,
    /// Files that were not taken as documents.
    pub skipped: Vec<Skipped>,
    /// The exemplars.
    pub exemplars: Vec<Stored>,
    /// The prompt templates, by name.
    #[serde(default)]
    pub prompts: BTreeMap<String, PromptInUse>,
    /// The user's own policy, as it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Stored>,
    /// What the command line needs to go on: provider, model, limits.
    pub surroundings: serde_json::Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks in this way")]
fn is_one(n: &u32) -> bool {
    *n <= 1
}

/// A prompt template as a run used it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptInUse {
    /// Its text.
    pub sha: Sha,
    /// Whether it was the user's own, and not the built-in one.
    pub own: bool,
}

/// Something that a node has to mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Feedback {
    /// The node.
    pub node: NodeName,
    /// Where it comes from: `diagnostics`, `review`, `guard`, `unreadable`, `second reading`.
    pub from: String,
    /// In words.
    pub text: String,
}

impl Feedback {
    /// Where a flaw comes from with which the second reader agreed.
    pub const CONFIRMED_FLAW: &str = "a flaw of the documented protocol, confirmed";

    /// Whether this is a flaw with which the second reader agreed.
    pub fn is_confirmed_flaw(&self) -> bool {
        self.from == Self::CONFIRMED_FLAW
    }
}

/// What a check saw and said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckRecord {
    /// The outcome.
    pub outcome: CheckOutcome,
    /// The merged module that was checked.
    pub module: Sha,
    /// The configuration that was checked.
    pub cfg: Sha,
    /// What the checker printed.
    pub output: Sha,
    /// All that the verdict rests on, by name.
    pub checked: BTreeMap<String, String>,
    /// Definitions under which an assertion stands that can fail: labels, actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asserting_definitions: Vec<String>,
}

impl CheckRecord {
    /// Whether an assertion that can fail stood where this check came: a taken action, or the violation itself.
    pub fn asserts(&self) -> bool {
        let violated =
            matches!(&self.outcome.verdict, Verdict::Violated { violated } if violated.property() == Some(ASSERTION));
        violated || self.asserting_definitions.iter().any(|action| self.outcome.was_taken(action))
    }
}

/// A property as it stood when a check first found it violated. A claim of a flaw must not be fitted to it afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstViolated {
    /// Its text; `None` where it has none (`Deadlock`).
    pub text: Option<String>,
    /// The requirements that it covered, by number with their wording.
    pub covered: BTreeMap<String, String>,
}

/// A flaw with which the second reader agreed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmedFlaw {
    /// The revision that ended in it.
    pub revision: u32,
    /// The requirement that breaks.
    pub requirement: String,
    /// The property that shows it.
    pub property: String,
}

/// How a revision compares with others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// Module and configuration were accepted.
    pub parses: bool,
    /// Properties were checked that can fail, over more than the initial states, with every witness reached.
    pub not_vacuous: bool,
    /// The check holds.
    pub holds: bool,
    /// The check is inconclusive.
    pub inconclusive: bool,
    /// Requirements covered by properties that the check decided.
    pub covered: usize,
    /// Issues of the review.
    pub blockers: usize,
    /// Issues of the review.
    pub majors: usize,
}

impl Standing {
    /// The order of the design, section 3; larger is better. Size has no part in it.
    pub fn rank(&self) -> impl Ord + use<> {
        let fewer = |n: usize| usize::MAX - n;
        (self.parses, self.not_vacuous, self.holds, self.covered, fewer(self.blockers), fewer(self.majors))
    }
}

/// Lines of the documents, trimmed, by the place that a review gives for them: `docs/swap.md, line 12`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Quotes(pub BTreeMap<String, String>);

impl Quotes {
    /// Whether nothing is quoted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place, with what stands there where that is known.
    pub fn cite(&self, file: &str, line: usize) -> String {
        let place = Self::place(file, line);
        match self.0.get(&place) {
            Some(text) => format!("{place}: \"{text}\""),
            None => place,
        }
    }

    /// How a place is written.
    pub fn place(file: &str, line: usize) -> String {
        format!("{file}, line {line}")
    }
}

/// What a node found out, for those who come after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Facts {
    /// Nothing that is not in the artifacts.
    Nothing,
    /// Of an informal specification.
    Informal {
        /// Its requirements.
        requirements: Vec<Requirement>,
        /// The concerns that were left out.
        other_concerns: Vec<String>,
    },
    /// Of a parse that failed.
    Rejected {
        /// What the tools said.
        diagnostics: Vec<Diagnostic>,
    },
    /// Of properties merged and parsed.
    Merged {
        /// Requirements by property.
        covers: BTreeMap<String, Vec<String>>,
    },
    /// Of a review.
    Reviewed {
        /// The review.
        review: Box<Review>,
        /// What the approval guard saw.
        approval: Box<ApprovalFacts>,
        /// What the flaw guard saw, where a flaw was claimed.
        flaw: Option<Box<FlawFacts>>,
        /// How this revision compares.
        standing: Standing,
        /// The lines of the documents that it cites, as they stand there.
        #[serde(default, skip_serializing_if = "Quotes::is_empty")]
        quotes: Quotes,
    },
    /// Of a review that could not be read.
    ReviewUnreadable {
        /// What the approval guard saw.
        approval: Box<ApprovalFacts>,
        /// How this revision compares.
        standing: Standing,
    },
    /// Of the second reading.
    SecondRead {
        /// Whether it agrees.
        agrees: bool,
        /// Its reason.
        why: String,
    },
}

/// What a node made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Product {
    /// What happened, for the machine.
    pub event: Step,
    /// Artifacts that are now the current ones, by file name.
    pub artifacts: BTreeMap<String, Sha>,
    /// What is to be mended, by whom.
    pub feedback: Vec<Feedback>,
    /// What was found out.
    pub facts: Facts,
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Answers received.
    pub answers: u32,
    /// Calls that brought none.
    #[serde(default)]
    pub failed: u32,
    /// Answers that were recorded for another wording of the prompt.
    pub stale: u32,
    /// Tokens, all kinds together, of those calls whose provider counts them.
    pub tokens: u64,
    /// Of these, input that the provider had in its cache.
    #[serde(default)]
    pub cached: u64,
    /// Seconds from question to answer, retries included.
    #[serde(default)]
    pub seconds: f64,
    /// US dollars, of those calls whose price is known.
    pub cost_usd: f64,
    /// Calls that used tokens, or may have, at no known price.
    pub unpriced: u32,
    /// Tokens, by an estimate, of those answers whose provider counts none. They count against a budget.
    #[serde(default)]
    pub estimated_tokens: u64,
    /// US dollars of these, where the price is known.
    #[serde(default)]
    pub estimated_usd: f64,
    /// Files outside the workspace that a model asked for.
    #[serde(default)]
    pub refused_reads: u32,
}

impl Spent {
    /// Of a call that used these tokens at this price; what nobody counted is estimated. A call without a known price is
    /// unpriced, unless it `failed` before the model began, which costs nothing.
    pub fn of_call(usage: Option<Usage>, cost_usd: Option<f64>, estimated: Option<Estimate>, failed: bool) -> Self {
        let unpriced = cost_usd.is_none() && !(failed && usage.is_none());
        Self {
            answers: u32::from(!failed),
            failed: u32::from(failed),
            tokens: usage.map_or(0, |usage| usage.total()),
            cached: usage.map_or(0, |usage| usage.cache_read),
            cost_usd: cost_usd.unwrap_or(0.0),
            unpriced: u32::from(unpriced),
            estimated_tokens: estimated.map_or(0, |estimated| estimated.usage.total()),
            estimated_usd: estimated.and_then(|estimated| estimated.cost_usd).unwrap_or(0.0),
            ..Self::default()
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, more: &Spent) -> Spent {
        Spent {
            answers: self.answers + more.answers,
            failed: self.failed + more.failed,
            stale: self.stale + more.stale,
            tokens: self.tokens.saturating_add(more.tokens),
            cached: self.cached.saturating_add(more.cached),
            seconds: self.seconds + more.seconds,
            cost_usd: self.cost_usd + more.cost_usd,
            unpriced: self.unpriced + more.unpriced,
            estimated_tokens: self.estimated_tokens.saturating_add(more.estimated_tokens),
            estimated_usd: self.estimated_usd + more.estimated_usd,
            refused_reads: self.refused_reads + more.refused_reads,
        }
    }

    /// What all nodes spent.
    pub fn total(by_node: &BTreeMap<String, Spent>) -> Spent {
        by_node.values().fold(Spent::default(), |all, one| all.plus(one))
    }
}

/// A closed revision, as in its `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// Its number, unique in the run.
    pub revision: u32,
    /// The revision it was made from.
    pub parent: Option<u32>,
    /// Its place on its branch, from 0.
    pub place: u32,
    /// `approved`, `flaw_found`, …, or `revised`.
    pub outcome: String,
    /// The node that the review sent the run to.
    pub routed_to: Option<NodeName>,
    /// Why, in words.
    pub why: String,
    /// Requirements, with the properties that cover them or claim to.
    pub requirements: Vec<CoveredRequirement>,
    /// The last check, `None` where none was made.
    pub check: Option<CheckOutcome>,
    /// How it compares.
    pub standing: Standing,
    /// Attempts by node.
    pub attempts: BTreeMap<String, u32>,
    /// Models that answered.
    pub models: Vec<String>,
    /// Tokens and money of this revision.
    pub spent: Spent,
    /// The same by node.
    #[serde(default)]
    pub spent_by_node: BTreeMap<String, Spent>,
    /// What the review left open.
    pub open: Vec<Feedback>,
    /// Files that a person edited before the branch began.
    pub edited: Vec<String>,
    /// The files in `history/rev_N/`, and the internal ones, by name.
    pub hashes: BTreeMap<String, Sha>,
    /// The protocol was changed after a flaw.
    pub repaired: bool,
    /// What became of its mutants, where the run strengthens its properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strengthened: Option<Strengthened>,
    /// What it came to under the objective, where the run has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<ObjectiveStep>,
}

/// A requirement and what covers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoveredRequirement {
    /// The requirement.
    #[serde(flatten)]
    pub requirement: Requirement,
    /// Properties that say they cover it and that the last check, of exactly this module and configuration, decided.
    pub covered_by: Vec<String>,
    /// Properties that say they cover it and that no such check decided.
    #[serde(default)]
    pub claimed_by: Vec<String>,
}

impl CoveredRequirement {
    /// All properties that say they cover it, decided or not.
    pub fn claims(&self) -> impl Iterator<Item = &String> {
        self.covered_by.iter().chain(&self.claimed_by)
    }

    /// What covers it, in words.
    pub fn words(&self) -> String {
        let claimed = format!("claimed by {}, not decided by a check of what stands now", self.claimed_by.join(", "));
        match (self.covered_by.is_empty(), self.claimed_by.is_empty()) {
            (true, true) => "NOT COVERED".to_owned(),
            (true, false) => claimed,
            (false, true) => format!("covered by {}", self.covered_by.join(", ")),
            (false, false) => format!("covered by {}; {claimed}", self.covered_by.join(", ")),
        }
    }
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finished {
    /// How.
    pub outcome: Outcome,
    /// Why it was stopped.
    #[serde(default)]
    pub reason: Option<StopReason>,
    /// In words.
    pub why: String,
    /// The revision whose files stand at the top.
    #[serde(default)]
    pub best: Option<u32>,
    /// How the rules of the user's policy stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleEnd>,
}

/// An attempt that has begun and not ended, with the events that belong to it.
#[derive(Debug, Clone, PartialEq)]
pub struct InFlight {
    /// The lifeline.
    pub lifeline: String,
    /// The attempt.
    pub attempt: u32,
    /// Its events, in order.
    pub events: Vec<Entry>,
}

/// What a branch begins with (`branch_started`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// The revision it is made from.
    pub from: u32,
    /// The machine's state at its start.
    pub state: State,
    /// Artifacts taken over, edited ones included.
    pub artifacts: BTreeMap<String, Sha>,
    /// The names of the edited ones.
    pub edited: Vec<String>,
    /// Requirements of the informal specification.
    pub requirements: Vec<Requirement>,
    /// Requirements by property.
    pub covers: BTreeMap<String, Vec<String>>,
    /// What that revision's review left open.
    pub feedback: Vec<Feedback>,
    /// What is set otherwise than before.
    #[serde(default, flatten)]
    pub changed: Changed,
}

/// Settings that flags of a `resume` changed; absent where they stayed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    /// Limits and options of routing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Rules>,
    /// How the first pass is drafted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Draft>,
    /// How many formalizations are drafted side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    /// What revisions are measured by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<RunObjective>,
    /// What the command line needs to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<serde_json::Value>,
    /// Prompt templates that are no longer as the run has used them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, PromptInUse>,
    /// The user's own policy, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Stored>,
}

impl Settings {
    /// What these are set to otherwise than they were.
    pub fn changed(
        &self,
        rules: Rules,
        draft: Draft,
        candidates: u32,
        objective: Option<RunObjective>,
        surroundings: serde_json::Value,
        mut prompts: BTreeMap<String, PromptInUse>,
    ) -> Changed {
        prompts.retain(|name, prompt| self.prompts.get(name) != Some(prompt));
        Changed {
            rules: (rules != self.rules).then_some(rules),
            draft: (draft != self.draft).then_some(draft),
            candidates: (candidates != self.candidates.max(1)).then_some(candidates),
            objective: objective.filter(|new| self.objective.as_ref() != Some(new)),
            surroundings: (surroundings != self.surroundings).then_some(surroundings),
            prompts,
            policy: None,
        }
    }
}

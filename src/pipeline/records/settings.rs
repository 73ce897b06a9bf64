//! What a run was started with, and what a `resume` or a branch changes of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ambiguity::Decision;
use super::artifacts::StoredFile;
use super::interface::Interface;
use super::made_from::MadeFrom;
use super::product::Feedback;
use crate::config::Draft;
use crate::journal::Sha;
use crate::monitor::RunObjective;
use crate::pipeline::machine::{RoutingSettings, State};
use crate::prompt::{Assumption, FixedNames, NormativeSentence, OpenPoint, Requirement, Skipped};
use crate::tla::StepContract;

/// Settings of a run (`run_started`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    pub routing: RoutingSettings,
    /// How the first revision is drafted.
    #[serde(default)]
    pub draft: Draft,
    /// How many formalizations are drafted side by side; 0 and 1 both mean one.
    #[serde(default, skip_serializing_if = "is_one")]
    pub candidates: u32,
    /// Whether properties are read blindly before an approval.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blind_reading: bool,
    /// Whether the assertions of the algorithm are read blindly, too, if they cover a requirement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_assertions: bool,
    /// What revisions are measured by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<RunObjective>,
    /// The single concern, if the user fixes it.
    pub concern: Option<String>,
    /// Variables and constants that the specification must declare, in words.
    pub interface: Option<String>,
    /// The names in `interface`.
    #[serde(default, skip_serializing_if = "Interface::is_empty")]
    pub interface_names: Interface,
    /// The name of the module, if the user fixes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The words that make a sentence of the documents normative.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub normative_words: Vec<String>,
    pub docs: Vec<StoredFile>,
    /// Files that are not used as documents.
    pub skipped: Vec<Skipped>,
    pub exemplars: Vec<StoredFile>,
    /// Prompt templates by name.
    #[serde(default)]
    pub prompts: BTreeMap<String, PromptInUse>,
    /// The user's policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<StoredFile>,
    /// The revision of an earlier run that the run was made from, if the documents have changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_from: Option<Box<MadeFrom>>,
    /// What the command line needs to continue the run: provider, model, limits.
    pub command_line: serde_json::Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks in this way")]
fn is_one(n: &u32) -> bool {
    *n <= 1
}

/// A prompt template that a run uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptInUse {
    /// The hash of its text.
    pub sha: Sha,
    /// Whether it is the user's template and not the built-in one.
    pub own: bool,
}

/// The start of a branch (`branch_started`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// The revision that the branch starts from.
    pub from: u32,
    /// The state of the machine at the start.
    pub state: State,
    /// Artifacts that the branch takes over, edited ones included.
    pub artifacts: BTreeMap<String, Sha>,
    /// The names of the artifacts that a person edited.
    pub edited: Vec<String>,
    pub requirements: Vec<Requirement>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_points: Vec<OpenPoint>,
    /// What its model takes for granted or leaves out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<Assumption>,
    /// The sentences of the documents that demand something, with their accounts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub normative_sentences: Vec<NormativeSentence>,
    /// The names that the documents fix.
    #[serde(default, skip_serializing_if = "FixedNames::is_empty")]
    pub names: FixedNames,
    /// Readings that a person decided, on this branch or before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// Requirements by property.
    pub covers: BTreeMap<String, Vec<String>>,
    /// The contracts of the module, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contracts: Option<Vec<StepContract>>,
    /// What the review of that revision left open.
    pub feedback: Vec<Feedback>,
    #[serde(default, flatten)]
    pub changed: Changed,
}

/// Settings that the flags of a `resume` change; `None` for unchanged ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingSettings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Draft>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blind_reading: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<RunObjective>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_line: Option<serde_json::Value>,
    /// Prompt templates that differ from those that the run has used.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, PromptInUse>,
    /// Another policy of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<StoredFile>,
}

impl Settings {
    /// The difference between these settings and new ones.
    pub fn changed(
        &self,
        routing: RoutingSettings,
        draft: Draft,
        candidates: u32,
        objective: Option<RunObjective>,
        command_line: serde_json::Value,
        mut prompts: BTreeMap<String, PromptInUse>,
    ) -> Changed {
        prompts.retain(|name, prompt| self.prompts.get(name) != Some(prompt));
        Changed {
            routing: (routing != self.routing).then_some(routing),
            draft: (draft != self.draft).then_some(draft),
            candidates: (candidates != self.candidates.max(1)).then_some(candidates),
            objective: objective.filter(|new| self.objective.as_ref() != Some(new)),
            command_line: (command_line != self.command_line).then_some(command_line),
            prompts,
            blind_reading: None,
            policy: None,
        }
    }
}

//! What a run was started with, and what a `resume` or a branch changes of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::artifacts::Stored;
use super::interface::Interface;
use super::product::Feedback;
use crate::config::Draft;
use crate::journal::Sha;
use crate::monitor::RunObjective;
use crate::pipeline::machine::{Rules, State};
use crate::prompt::{Requirement, Skipped};

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
    pub command_line: serde_json::Value,
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
    pub command_line: Option<serde_json::Value>,
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
        command_line: serde_json::Value,
        mut prompts: BTreeMap<String, PromptInUse>,
    ) -> Changed {
        prompts.retain(|name, prompt| self.prompts.get(name) != Some(prompt));
        Changed {
            rules: (rules != self.rules).then_some(rules),
            draft: (draft != self.draft).then_some(draft),
            candidates: (candidates != self.candidates.max(1)).then_some(candidates),
            objective: objective.filter(|new| self.objective.as_ref() != Some(new)),
            command_line: (command_line != self.command_line).then_some(command_line),
            prompts,
            policy: None,
        }
    }
}

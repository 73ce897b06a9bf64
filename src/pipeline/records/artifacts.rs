//! The files of a run: their names, and how an event refers to one that the artifact store keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::journal::Sha;

/// File names of artifacts.
pub mod file {
    pub const INFORMAL: &str = "informal_spec.md";
    /// The module, merged with its properties and with its translation. A person sees it under the name of the module.
    pub const MODULE: &str = "Spec.tla";
    pub const CFG: &str = "Spec.cfg";
    pub const REVIEW: &str = "review.md";
    /// The output of the checker.
    pub const OUTPUT: &str = "tlc_output.txt";
    /// The files that a person sees, in the order of the pipeline.
    pub const VISIBLE: [&str; 5] = [INFORMAL, MODULE, CFG, REVIEW, OUTPUT];
    /// The name of a visible file in a folder, whose module has this name.
    pub fn visible_name(name: &str, module: &str) -> String {
        match name {
            MODULE => format!("{module}.tla"),
            CFG => format!("{module}.cfg"),
            other => other.to_owned(),
        }
    }
    /// The name of the module if neither the user nor the documents choose one.
    pub const DEFAULT_MODULE: &str = "Spec";
    /// The formalized module without properties and translation; in the artifact store only.
    pub const SOURCE: &str = "source.tla";
    /// The validated module with its translation; in the artifact store only.
    pub const VALIDATED: &str = "validated.tla";
    /// The last answers of nodes, and what the current texts were made from; in the artifact store only.
    pub const FORMALIZE_ANSWER: &str = "formalize.answer";
    pub const FORMALIZE_INPUT: &str = "formalize.input";
    pub const PROPERTIES_ANSWER: &str = "generate_invariants.answer";
    pub const PROPERTIES_INPUT: &str = "generate_invariants.input";
    /// The module and the configuration with properties and without contracts.
    pub const MERGED: &str = "merged.tla";
    pub const MERGED_CFG: &str = "merged.cfg";
    pub const CONTRACTS_ANSWER: &str = "step_contracts.answer";
    /// What the current contracts were made from.
    pub const CONTRACTS_INPUT: &str = "step_contracts.input";
    /// What a run takes over from one with earlier documents. Neither the module with its properties nor the configuration:
    /// the nodes of the run make them again, so that its own tools accept them.
    pub const TAKEN_OVER: [&str; 6] =
        [INFORMAL, SOURCE, FORMALIZE_ANSWER, FORMALIZE_INPUT, PROPERTIES_ANSWER, PROPERTIES_INPUT];
}

/// A file kept in the artifact store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredFile {
    /// The path in the workspace.
    pub path: String,
    pub sha: Sha,
    pub bytes: u64,
}

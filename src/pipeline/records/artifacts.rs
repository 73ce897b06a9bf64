//! The files of a run: their names, and how an event refers to one that the artifact store keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::journal::Sha;

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

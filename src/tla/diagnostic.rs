//! Diagnostics: errors and warnings of the tools and of our own checks, with their positions.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The stage that reports a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Our own checks before any tool runs.
    Lint,
    /// The PlusCal translator.
    Translate,
    /// SANY.
    Parse,
    /// Our own static checks, which replace SANY for the embedded checker.
    Analysis,
    /// The model configuration.
    Config,
    /// Merging generated properties into the module.
    Merge,
    /// TLC.
    Check,
    /// The embedded checker.
    Embedded,
}

/// An error or warning. Lines and columns count from 1; both are 0 if the position is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    pub stage: Stage,
    /// Line in the input of the stage.
    pub line: usize,
    pub column: usize,
    /// As the tool words it.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage {
            Stage::Lint => "refused",
            Stage::Translate => "PlusCal",
            Stage::Parse => "SANY",
            Stage::Analysis => "static check",
            Stage::Config => "cfg",
            Stage::Merge => "merge",
            Stage::Check => "TLC",
            Stage::Embedded => "embedded checker",
        };
        if self.line == 0 {
            write!(f, "{stage}: {}", self.message)
        } else {
            write!(f, "{stage}: line {}, column {}: {}", self.line, self.column, self.message)
        }
    }
}

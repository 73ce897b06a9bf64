//! What a tool found wrong, and where.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The stage that spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Our own checks before any tool runs.
    Lint,
    /// The PlusCal translator.
    Translate,
    /// SANY.
    Parse,
    /// Our own static checks, in the place of SANY.
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

/// One finding. Lines and columns count from 1; 0 means that the tool did not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// Who found it.
    pub stage: Stage,
    /// Line in the text that the stage was given.
    pub line: usize,
    /// Column in that line.
    pub column: usize,
    /// In the tool's words.
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

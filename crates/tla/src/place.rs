//! A position in a checked module, as outcomes name it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A position in the module that was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
}

//! Which model answers, and with which parameters.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The model and its parameters. A node inherits missing values from the settings of all nodes, and those from the
/// provider.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelChoice {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Reasoning effort, as the provider names it (`low`, `medium`, `high`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Sampling temperature, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Maximum tokens of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<NonZeroU32>,
}

//! Settings from defaults, a file, the environment and flags, merged once. An unknown key is an error that names it.
//!
//! It reads no environment and no clock by itself: the caller hands them over.

mod layer;

pub use layer::{CheckerChoice, ConfigError, Draft, FILE_NAME, Layer, ModelChoice, Settings, seconds};

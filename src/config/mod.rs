//! Settings from defaults, a file, the environment and flags, merged once. An unknown key is an error that names it.
//!
//! It does not access the environment or the clock: the caller passes them in.

mod layer;

pub use layer::{
    CheckerChoice, ConfigError, DEFAULT_MUTANTS, Draft, FILE_NAME, FilePlace, Layer, Settings, seconds, seconds_or_off,
};

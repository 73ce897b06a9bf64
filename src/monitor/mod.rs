//! The temporal layer applied to journals, agents' logs and environments.

mod objective_config;

pub use objective_config::{ConfigError, Format, MakeVariables, ObjectiveConfig, RewardSettings};

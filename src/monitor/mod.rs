//! Policies, guards, labelers, audits, interventions and objectives: the temporal layer applied to our own journals, to any
//! agent's log and to environments.

mod audit;
mod causal_audit;
pub mod causal_json;
mod causal_witness;
pub mod consistency;
mod follow;
mod in_words;
pub mod labels;
pub mod log;
mod objective_config;
mod policy;
mod prediction;
mod reachable;
mod rules;
mod run_objective;
pub mod score;
pub mod synthetic;
pub mod trac;

pub use audit::{AuditError, Audited, Auditor, FAILING_SHOWN, RuleFinding, Verdict};
pub use causal_audit::Misfit;
pub use follow::{Fallen, Follower};
pub use in_words::{InWords, in_words};
pub use objective_config::{ConfigError, Format, MakeVariables, ObjectiveConfig, RewardSettings};
pub use policy::{Intervening, Intervention, Policy, PolicyError, PolicyRule, Scope, Severity};
pub use prediction::{How, Prediction};
pub use rules::{KINDS, Parameter, Rule, RuleError};
pub use run_objective::{Alone, GoalError, GoalStep, Held, Known, Range, RunObjective};

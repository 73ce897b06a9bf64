//! Policies, guards, labelers, audits, interventions and objectives: the temporal layer applied to our own journals and to
//! any agent's log.

mod audit;
mod causal_audit;
pub mod causal_json;
pub mod log;
mod policy;
mod rules;

pub use audit::{AuditError, Audited, Auditor, FAILING_SHOWN, RuleFinding, Verdict};
pub use causal_audit::Misfit;
//! The temporal layer applied to journals and the logs of agents: policies and what they ask for.
//!
//! Knows rules and formulas; reads no file and no log itself.

mod policy;
mod rules;

pub use policy::{Policy, PolicyError, PolicyRule, Scope, Severity};
pub use rules::{KINDS, Parameter, Rule, RuleError};
//! The temporal layer applied to journals, agents' logs and environments.

mod objective_config;

pub use objective_config::{ConfigError, Format, MakeVariables, ObjectiveConfig, RewardSettings};

//! The temporal layer applied to journals and the logs of agents: policies and what they ask for.
//!
//! Knows rules and formulas; reads no file and no log itself.

mod policy;
mod rules;

pub use policy::{Policy, PolicyError, PolicyRule, Scope, Severity};
pub use rules::{KINDS, Parameter, Rule, RuleError};

//! Policies, guards, labelers, audits, interventions and objectives: the temporal layer applied to our own journals, to any
//! agent's log and to environments.

mod audit;
mod causal_audit;
pub mod causal_json;
mod causal_witness;
mod follow;
mod in_words;
mod judged;
mod known_labels;
mod label_accuracy;
mod label_cache;
mod labelling;
pub mod labels;
pub mod log;
mod near;
mod objective_config;
mod policy;
mod policy_labels;
mod prediction;
mod propositions;
mod reachable;
mod rules;
mod run_objective;
pub mod score;
pub mod synthetic;
pub mod trac;
mod unseen;

pub use audit::{AuditError, Audited, Auditor, FAILING_SHOWN, RuleFinding, Verdict};
pub use causal_audit::Misfit;
pub use follow::{Fallen, Follower};
pub use in_words::{InWords, in_words};
pub use judged::{Judged, JudgedState};
pub use known_labels::KnownLabels;
pub use label_accuracy::{Agreement, LabelAccuracy};
pub use label_cache::{CacheError, KeptAnswer, LabelCache};
pub use labelling::{LABEL_NODE, Labelling, LabellingError, ModelLabeler, StepLabels};
pub use near::near;
pub use objective_config::{ConfigError, Format, MakeVariables, ObjectiveConfig, RewardSettings};
pub use policy::{Intervening, Intervention, Policy, PolicyError, PolicyRule, Scope, Severity};
pub use prediction::{How, Prediction};
pub use propositions::{LabelingPrompt, MODEL, Proposition, PropositionError, Propositions, StepText, asked_by};
pub use reachable::Onward;
pub use rules::{KINDS, Parameter, Rule, RuleError};
pub use run_objective::{Alone, Along, GoalError, GoalStep, Held, Known, Range, RunObjective};

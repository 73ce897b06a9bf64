//! The temporal layer applied to journals of runs, to logs of other agents and to environments: policies, audits, labelers,
//! interventions and objectives.

mod audit;
mod audit_report;
mod causal_audit;
mod causal_explanation;
pub mod causal_json;
mod finding;
mod goal_reachability;
mod goal_step;
mod known_labels;
mod label_accuracy;
mod label_cache;
mod label_plan;
mod labelling;
pub mod labels;
mod live_audit;
pub mod log;
mod metric_domain;
mod objective_config;
mod policy;
mod policy_error;
mod policy_labels;
mod prediction;
mod propositions;
mod rule_inputs;
mod rules;
mod run_objective;
pub mod score;
mod similar_names;
pub mod synthetic;
mod timeline;
pub mod trac;
mod worded_rules;

pub use audit::{AuditError, Auditor};
pub use audit_report::AuditReport;
pub use causal_audit::CausalAuditError;
pub use finding::{EVALUATED_SHOWN, FAILING_SHOWN, RuleFinding, Verdict};
pub use goal_reachability::Continuation;
pub use goal_step::{FirstStep, GoalStep, PredicateValue};
pub use known_labels::KnownLabels;
pub use label_accuracy::{Agreement, LabelAccuracy};
pub use label_cache::{CacheError, CachedAnswer, LabelCache};
pub use label_plan::{LabelPlan, LabelSource};
pub use labelling::{LABEL_NODE, Labelling, LabellingError, ModelLabeler, StepLabels};
pub use live_audit::{LiveAudit, SettledVerdict};
pub use metric_domain::{MetricDomain, Range, Trend};
pub use objective_config::{ConfigError, Format, MakeVariables, ObjectiveConfig, RewardSettings};
pub use policy::{Intervention, InterventionSettings, Policy, PolicyRule, Scope, Severity};
pub use policy_error::{PolicyError, PolicyPlace, span_in_text_value};
pub use prediction::{Prediction, PredictionMethod};
pub use propositions::{
    LabelingPrompt, MODEL, Proposition, PropositionError, Propositions, StepText, model_propositions,
};
pub use rules::{KINDS, Parameter, Rule, RuleError};
pub use run_objective::{GoalError, RunObjective};
pub use similar_names::similar_names;
pub use timeline::{RobustnessCurve, Span, Timeline};
pub use worded_rules::{WordedRule, find_worded_rules};

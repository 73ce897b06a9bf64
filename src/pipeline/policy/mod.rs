//! The rules of a run: the default policy, the user's own policy and its admission, and what each lifeline can know. It
//! reads events and decides nothing about where a run goes.

mod admission;
mod causal_view;
mod default_policy;
mod journal_mapping;
mod rule_monitor;
mod vocabulary;

pub use admission::{AdmissionError, Admitted, admit};
pub(super) use causal_view::CausalView;
pub use causal_view::Judgement;
pub use default_policy::{DefaultRule, default_policy, default_rules};
pub use journal_mapping::{journal_mapping, kept_texts};
pub(super) use rule_monitor::RuleMonitor;
pub use rule_monitor::{PredictedVerdicts, PredictedViolation, RuleMonitorError};
pub use vocabulary::{
    event_names, field_paths, has_field, is_field, is_list, journal_schema, lifelines_with_event, vocabulary_text,
};

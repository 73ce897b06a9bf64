//! The temporal layer applied to logs of agents and to our own journals.

mod labels;
mod score;
mod synthetic;
mod trac;

pub use labels::{
    FieldLabeler, LabelError, Labeler, Labelled, Labels, Observed, Part, PatternLabeler, Scope, Sticky, Together,
    WordLabeler,
};
pub use score::{Finding, Score, ScoreSummary};
pub use synthetic::{Attributes, Constraint, Event, Shape, Synthetic, Trace, Wording, Wordings, pattern_constraints};
pub use trac::{Decision, Limits, Monitor, MonitorError, Reset, RuleState, StepReport, Witness, WitnessEntry};

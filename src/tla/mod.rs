//! TLA+ text as data: modules and definitions, configurations, values, states, traces, diagnostics, and the outcome
//! of a check. Pure: no IO, no tool, no model.

mod cfg;
mod diagnostic;
mod outcome;

pub use cfg::Cfg;
pub use diagnostic::{Diagnostic, Stage};
pub use outcome::{
    ActionCoverage, Bounds, CheckOutcome, Checker, Lasso, Reached, Statistics, Step, Trace, Verdict, Violation,
    ViolationKind, WitnessOutcome,
};

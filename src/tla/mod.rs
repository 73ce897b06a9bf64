//! TLA+ text as data: modules and definitions, configurations, values, states, traces, diagnostics, and the outcome
//! of a check. Pure: no IO, no tool, no model.

mod algorithm;
mod cfg;
mod diagnostic;
mod lexer;
mod module;
mod outcome;
mod references;
mod syntax;
mod units;

pub use algorithm::{Algorithm, Label, Syntax};
pub use cfg::Cfg;
pub use diagnostic::{Diagnostic, Stage};
pub use module::{Declaration, Definition, DefinitionKind, Module, ModuleError, Statement};
pub use outcome::{
    ActionCoverage, Bounds, CheckOutcome, Checker, Lasso, Reached, Statistics, Step, Trace, Verdict, Violation,
    ViolationKind, WitnessOutcome,
};
pub use units::{Found, find_modules};

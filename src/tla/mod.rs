//! TLA+ text as data: modules and definitions, configurations, values, states, traces, diagnostics, and the outcome
//! of a check. Pure: no IO, no tool, no model.

mod actions;
mod algorithm;
mod audit;
mod behaviour;
mod cfg;
mod cfg_keyword;
mod cfg_names;
mod covers;
mod definition;
mod describe;
mod diagnostic;
mod disjuncts;
mod fairness;
mod forbidden_blocks;
mod lexer;
mod merge;
mod module;
mod outcome;
mod probe;
mod references;
mod rename;
pub mod semantic;
mod show;
mod syntax;
mod translation;
mod trivial;
mod units;
mod vacuity;
pub(crate) mod work;

pub use actions::unlisted_actions;
pub use algorithm::{Algorithm, Label, Syntax};
pub use audit::{Baseline, Change, ChangeKind, Checked, RESTRICTING, asserting, covers_key};
pub use behaviour::{Behaviour, FairAction, Fairness};
pub use cfg::Cfg;
pub use cfg_keyword::keyword_hint;
pub use cfg_names::check_cfg_names;
pub(crate) use cfg_names::check_cfg_names_of_check;
pub use covers::{coverage_of, requirement_id};
pub use definition::{Declaration, Definition, DefinitionKind};
pub use describe::{
    WITHOUT_JAVA, bounds_sentence, has_no_behaviour, never_taken, outcome_text, parsed_by, statistics_sentence,
    unreached, verdict_sentence, with_checker, witness_lines,
};
pub use diagnostic::{Diagnostic, Stage};
pub use disjuncts::{Disjunct, Disjuncts};
pub use fairness::WeakFairness;
pub use forbidden_blocks::forbidden_blocks;
pub(crate) use lexer::{Kind, Lines, Token, lex};
pub use merge::{Merged, Sections, merge};
pub use module::{Module, ModuleError, Statement};
pub(crate) use outcome::part_of;
pub use outcome::{
    ActionCoverage, Bounds, CheckOutcome, Checker, Lasso, Place, Reached, Statistics, Step, TERMINATING, Trace,
    Verdict, Violation, ViolationKind, WitnessOutcome,
};
pub use probe::{ASSERTION, Again, DEADLOCK, Larger, Probes, UnderFairness, probe_lines, unprobed};
pub(crate) use references::{References, references};
pub use show::{DEFAULT_WIDTH, UNCUT, step_lines, trace_table};
pub(crate) use syntax::{Id, MAX_DEPTH, Tree};
pub use translation::without_translation;
pub use trivial::{constantly_true, constantly_true_under};
pub use units::{Found, find_modules};
pub use vacuity::{Question, Subject, deadlock_questions, premise_questions};

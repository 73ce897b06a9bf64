//! Temporal logic: one formula language, and its evaluation on finite traces, on runs in progress, on the causal past of
//! a lifeline, as automata, and by robustness.
//!
//! A pure library: no input or output, no log formats, no knowledge of TLA+ or of language models.
#![warn(missing_docs)]

mod atom;
mod automaton;
mod bounded;
pub mod causal;
mod empty_trace;
mod english;
mod environment;
mod file_name;
mod finite;
mod formula;
mod implication;
mod integer;
mod letter;
mod lexer;
mod normal_form;
mod objective;
mod parse;
mod parse_error;
mod parse_quantified;
mod print;
mod progression;
mod readings;
mod robustness;
mod transition;

pub use atom::{Arithmetic, Atom, Comparison, Literal, Number, Quantifier, Record, Term, Value, ValueTest};
pub use automaton::{AutomatonError, Conjunction, Dfa, Edge, Guard, Limits};
pub use bounded::BoundError;
pub use environment::{
    AugmentedObservation, EarlyTermination, Environment, Info, ObjectiveReward, OnReset, Step, VariableValues,
};
pub use file_name::{file_name, replace_special_characters};
pub use finite::{
    Column, DecisionPoint, Explanation, Fact, Labels, Reason, TraceCheck, check_trace, eval_all_positions,
};
pub use formula::{AtomId, Binary, Causal, Formula, Formulas, Node, Unary};
pub use letter::Letter;
pub use objective::{
    Objective, ObjectiveError, Predicate, PredicateResult, Quantities, RewardConfig, StepResult, TieBreak,
};
pub use parse::MAX_DEPTH;
pub use parse_error::ParseError;
pub use progression::{FinalVerdict, PrefixVerdict, Progression, Residual, ResidualCost};
pub use readings::{Reading, Schema, UnsupportedError};
pub use robustness::{Robustness, RobustnessError, robustness};
pub use transition::{Transition, Transitions};

//! One formula language, and what a formula says of a trace, a run that goes on, a causal past, or a goal.
//!
//! Pure: no input or output, no formats of its own, no knowledge of TLA+ or of models.
#![warn(missing_docs)]

mod atom;
mod automaton;
mod bounded;
pub mod causal;
mod environment;
mod exact;
mod file_name;
mod finite;
mod formula;
mod implication;
mod letter;
mod lexer;
mod normal;
mod objective;
mod parse;
mod parse_each;
mod print;
mod progression;
mod readings;
mod robustness;
mod transition;
mod words;

pub use atom::{Arithmetic, Atom, Comparison, Literal, Number, Quantifier, Record, Term, Test, Value};
pub use automaton::{AutomatonError, Conjunction, Dfa, Edge, Guard, Limits};
pub use bounded::BadBound;
pub use environment::{EarlyTermination, Environment, Info, ObjectiveReward, Observed, OnReset, Step, VariableValues};
pub use file_name::{file_name, replace_special_characters};
pub use finite::{Claim, Column, Decided, Explanation, Labels, Reason, TraceCheck, check_trace, eval_all_positions};
pub use formula::{AtomId, Binary, Causal, Formula, Formulas, Node, Unary};
pub use letter::Letter;
pub use objective::{Judged, Objective, ObjectiveError, Predicate, Quantities, RewardConfig, Stepped, Ties};
pub use parse::{MAX_DEPTH, ParseError};
pub use progression::{Debt, Ending, Owed, Progression, Standing};
pub use readings::{Reading, Refused, Schema};
pub use robustness::{Robustness, RobustnessError, robustness};
pub use transition::{Transition, Transitions};

//! One formula language, and what a formula says of a trace, a run that goes on, a causal past, or a goal.
//!
//! Pure: no input or output, no formats of its own, no knowledge of TLA+ or of models.

mod atom;
mod automaton;
mod environment;
mod file_name;
mod formula;
mod lexer;
mod objective;
mod parse;
mod print;
mod readings;
mod robustness;
mod transition;

pub use atom::{Arithmetic, Atom, Comparison, Literal, Number, Record, Term, Value};
pub use automaton::{AutomatonError, Conjunction, Dfa, Edge, Guard, Limits};
pub use environment::{EarlyTermination, Environment, Info, ObjectiveReward, Observed, OnReset, Step, VariableValues};
pub use file_name::{file_name, replace_special_characters};
pub use formula::{AtomId, Binary, Causal, Formula, Formulas, Node, Unary};
pub use objective::{Objective, ObjectiveError, Predicate, Quantities, RewardConfig, Ties};
pub use parse::{MAX_DEPTH, ParseError};
pub use readings::{Reading, Refused, Schema};
pub use robustness::{Robustness, RobustnessError, robustness};
pub use transition::{Transition, Transitions};

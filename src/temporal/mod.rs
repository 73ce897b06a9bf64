//! One formula language, and what a formula says of a trace, a run that goes on, a causal past, or a goal.
//!
//! Pure: no input or output, no formats of its own, no knowledge of TLA+ or of models.

mod atom;
mod automaton;
mod formula;
mod lexer;
mod parse;
mod print;
mod readings;

pub use atom::{Arithmetic, Atom, Comparison, Literal, Number, Record, Term, Value};
pub use automaton::{AutomatonError, Conjunction, Dfa, Edge, Guard, Limits};
pub use formula::{AtomId, Binary, Causal, Formula, Formulas, Node, Unary};
pub use parse::{MAX_DEPTH, ParseError};
pub use readings::{Reading, Refused, Schema};

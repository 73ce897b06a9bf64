//! One formula language, and what a formula says of a trace, a run that goes on, a causal past, or a goal.
//!
//! Pure: no input or output, no formats of its own, no knowledge of TLA+ or of models.

mod atom;
mod bounded;
mod formula;
mod implication;
mod letter;
mod lexer;
mod normal;
mod parse;
mod print;
mod progression;
mod readings;
mod words;

pub use atom::{Arithmetic, Atom, Comparison, Literal, Number, Record, Term, Value};
pub use bounded::BadBound;
pub use formula::{AtomId, Binary, Causal, Formula, Formulas, Node, Unary};
pub use letter::Letter;
pub use parse::{MAX_DEPTH, ParseError};
pub use progression::{Debt, Ending, Owed, Progression, Standing};
pub use readings::{Reading, Refused, Schema};

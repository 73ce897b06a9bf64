//! Temporal logic: one formula language, and its evaluation on finite traces, on runs in progress, on the causal past of
//! a lifeline, as automata, and by robustness.
//!
//! A pure library: no input or output, no log formats, no knowledge of TLA+ or of language models.
//!
//! | reading | entry point | result |
//! |---|---|---|
//! | finite trace (`LTLf`) | [`check_trace`] | verdict, decision point, explanation |
//! | run in progress | [`Progression`] | what the rest of the run must satisfy |
//! | automaton | [`Dfa::build`] | the complete minimal automaton |
//! | causal past | [`causal::Monitor`] | the value of guards at an event |
//! | robustness | [`Robustness`] | by how much a predicate over quantities holds |
//!
//! A step of a trace is a [`Record`]; a formula is text in the language below, or built with [`Formulas`].
//!
//! # The formula language
//! [`Formulas::parse`] accepts the operators of all readings. Each reading refuses those that it does not support;
//! [`Reading`] lists them.
//!
//! | syntax | meaning |
//! |---|---|
//! | `true` `false` | constants, also written `TRUE` and `FALSE`, or `1` and `0` where a formula is expected |
//! | `x`, `a.b` | the field has the value `true` ([`Record::field`] gets the name as written: `"a.b"`) |
//! | `` `any name` ``, `"any name"` | the same for a name with other characters, or that of an operator: `"G"` |
//! | `kind:text`, `kind:"any text"` | a label, which the record evaluates ([`Record::label`]); no space around the colon |
//! | `p(x, "t", 3)` | a predicate of the application ([`Record::call`]) on any number of terms |
//! | `any(x, > 3)`, `every(x, contains "t")` | a test of every value that [`Record::values`] returns for `x`: a comparison without its left side, or a predicate without its first argument. Two or more further arguments need parentheses: `any(x, one_of("a", "b"))` |
//! | `=` (or `==`) `!=` `<` `<=` `>` `>=` | a comparison of two terms; comparisons do not chain |
//! | `!a` | not |
//! | `a & b`, `a \| b` | and, or; also `&&`, `\|\|` |
//! | `a -> b`, `a <-> b` | implication, equivalence; also `=>`, `<=>` |
//! | `X a`, `N a` | next: there is a next position and `a` holds there; weak next: `a` holds there if there is one |
//! | `G a`, `F a` | always, eventually: from this position on |
//! | `a U b`, `a W b`, `a R b`, `a M b` | until, weak until, release, strong release ([`Binary`]) |
//! | `Y a`, `O a`, `H a`, `a S b` | of the past: yesterday, once, historically, since |
//! | `@A(a)`, `P@A(a)`, `P(a)`, `Seen@A` | in the causal past: at the latest event of lifeline `A`; at some event of `A`; at some event; `A` has an event |
//!
//! Terms are fields (`x`, `a.b`, `` `any name` ``, and `@A.x` of another lifeline), numbers, `"texts"`, `true`, `false`,
//! `null`, and `+ - * /` of terms. In a comparison or an argument, double quotes enclose a text; alone, they enclose the
//! name of a field: `"x"` is `x`, and `y = "x"` compares with a text. Backticks always enclose a name. `@A.x` alone is
//! short for `@A.x = true`. An atom is false if one of its terms is undefined; see [`Atom`].
//!
//! No predicate is built in; `contains` and `has` are names like any other. A predicate is written before its
//! arguments, `contains(x, "t")`; only a test of `any` and `every` leaves out the first one. [`Record::has`] explains the
//! special case of `defined(x)`.
//!
//! Precedence, as in Spot, from the operators that bind tightest:
//!
//! | operators | grouping |
//! |---|---|
//! | `-t` | |
//! | `*` `/` | to the left |
//! | `+` `-` | to the left |
//! | `=` `!=` `<` `<=` `>` `>=` | none |
//! | `!` `X` `N` `G` `F` `Y` `O` `H` | |
//! | `U` `W` `R` `M` `S` | to the right |
//! | `&` | |
//! | `\|` | |
//! | `->` `<->` | to the right |
//!
//! So `G !x < 3 & b -> c` is `((G (!(x < 3))) & b) -> c`. A formula may span several lines and has no comments; it nests
//! at most [`MAX_DEPTH`] levels.
//!
//! # Examples
//! One rule on a trace that has ended, on the same run while it is in progress, and as an automaton:
//! ```
//! use tlaforge_temporal::{
//!     Dfa, Formulas, Labels, Letter, Limits, PrefixVerdict, Progression, Record, Value, check_trace,
//! };
//!
//! /// A record with the names of the propositions that are true at it.
//! struct Step(&'static [&'static str]);
//! impl Record for Step {
//!     fn field(&self, name: &str) -> Option<Value<'_>> {
//!         Some(Value::Bool(self.0.contains(&name)))
//!     }
//! }
//!
//! let mut formulas = Formulas::new();
//! let rule = formulas.parse("G (request -> F answer)")?;
//! let trace = [Step(&["request"]), Step(&["answer"]), Step(&["request"])];
//!
//! let check = check_trace(&formulas, rule, &Labels::from_records(&formulas, &[rule], &trace))?;
//! let why = check.explanation.expect("the last request has no answer");
//! assert_eq!(why.text(&formulas), "at 2 `request` holds, and from there on `answer` never holds");
//!
//! let mut progression = Progression::new();
//! let mut residual = progression.begin(&formulas, rule)?;
//! for step in &trace {
//!     let letter = Letter::from_record(progression.formulas(), step);
//!     residual = progression.step(residual, &letter);
//! }
//! assert_eq!(progression.prefix_verdict(residual), PrefixVerdict::Undecided);
//! assert_eq!(progression.text(residual), "F answer & G (request -> F answer)");
//!
//! let dfa = Dfa::build(&formulas, rule, Limits::default())?;
//! assert_eq!((dfa.states(), dfa.trap()), (2, None));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
pub mod infinite;
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
mod residual_text;
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

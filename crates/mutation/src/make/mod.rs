//! Makes mutants from the text of a specification: what each operator changes, and where. Pure: no tool runs here, and
//! nothing is judged.

mod action;
mod algorithm;
mod alignment;
mod chain;
mod define_block;
mod excerpt;
mod expression;
mod facts;
mod fairness;
mod guard;
mod infix;
mod labels;
mod mutants;
mod outline;
mod protected;
mod scope;
mod sets;
mod swap;
mod tree_mutator;
mod variable;

pub(super) use alignment::realign_lists;
pub use mutants::mutants;

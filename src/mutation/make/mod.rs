//! Mutants from the text of a specification: what each operator changes, and where.

mod action;
mod alignment;
mod all;
mod chain;
mod expression;
mod facts;
mod fairness;
mod guard;
mod infix;
mod labels;
mod outline;
mod scope;
mod sets;
mod statement;
mod swap;
mod walk;
mod wrong;

pub(super) use alignment::aligned;
pub use all::mutants;

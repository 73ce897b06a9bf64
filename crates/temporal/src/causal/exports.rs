//! What guards at one lifeline read of another: the subformulas and variables, their order, and their values at an event.

use std::sync::Arc;

use super::super::atom::Literal;
use super::errors::CausalError;

/// What guards at other lifelines read of one lifeline, and its messages therefore carry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exports {
    /// The subformulas as text of the formula language; the text identifies them across programs.
    pub formulas: Vec<Arc<str>>,
    /// The names of the variables, sorted.
    pub fields: Vec<Arc<str>>,
}

impl Exports {
    /// Whether other lifelines read nothing.
    pub fn is_empty(&self) -> bool {
        self.formulas.is_empty() && self.fields.is_empty()
    }
}

/// The lifelines and their exports in order. Sender and receiver of a message must agree on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) lifelines: Vec<Arc<str>>,
    pub(super) exports: Vec<Exports>,
}

impl Layout {
    /// The first difference that makes a stamp of another layout unreadable here, in words. A layout with fewer lifelines
    /// is readable.
    pub(super) fn find_difference(&self, other: &Self) -> Option<String> {
        for (i, theirs) in other.lifelines.iter().enumerate() {
            match self.lifelines.get(i) {
                Some(ours) if ours == theirs => {}
                Some(ours) => return Some(format!("it has the lifeline `{theirs}` where `{ours}` is expected")),
                None => return Some(format!("it has a lifeline `{theirs}`")),
            }
            let (ours, theirs_exports) = (&self.exports[i], &other.exports[i]);
            if let Some(formula) = first_difference(&ours.formulas, &theirs_exports.formulas) {
                return Some(format!("they differ in `{formula}` at `{theirs}`"));
            }
            if let Some(field) = first_difference(&ours.fields, &theirs_exports.fields) {
                return Some(format!("they differ in `@{theirs}.{field}`"));
            }
        }
        None
    }

    pub(super) fn unknown_lifeline(&self, lifeline: &str) -> CausalError {
        CausalError::Lifeline { lifeline: lifeline.to_owned(), known: self.lifelines.join(", ") }
    }

    pub(super) fn lifeline_index(&self, lifeline: &str) -> Option<usize> {
        self.lifelines.iter().position(|known| &**known == lifeline)
    }
}

/// The first entry that is missing on one side, or is at another index.
fn first_difference<'a>(ours: &'a [Arc<str>], theirs: &'a [Arc<str>]) -> Option<&'a str> {
    let only = |a: &'a [Arc<str>], b: &'a [Arc<str>]| a.iter().find(|x| !b.contains(x));
    let moved = || ours.iter().zip(theirs).find(|(a, b)| a != b).map(|(a, _)| a);
    // What one side lacks explains more than an order that differs.
    only(ours, theirs).or_else(|| only(theirs, ours)).or_else(moved).map(|text| &**text)
}

/// The exported values of one event, in the order of [`Exports`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExportedValues {
    /// The values of the subformulas at the event.
    pub values: Box<[bool]>,
    /// The values of the variables; `None` if undefined.
    pub fields: Box<[Option<Literal>]>,
}

/// What is visible of one lifeline at an event of another.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct VisibleState {
    /// The number of visible events.
    pub(super) count: u64,
    /// The values exported at the latest of them; `None` if no guard reads any, or no event is visible.
    pub(super) exported: Option<Arc<ExportedValues>>,
}

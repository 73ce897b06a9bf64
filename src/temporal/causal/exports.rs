//! What guards of one lifeline read of another: which subformulas and variables, and their values at an event.

use std::sync::Arc;

use super::super::atom::Literal;
use super::errors::CausalError;

/// What is kept of one lifeline's events because a guard asks for it elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exports {
    /// The subformulas, as text.
    pub formulas: Vec<Arc<str>>,
    /// The variables.
    pub fields: Vec<Arc<str>>,
}

impl Exports {
    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.formulas.is_empty() && self.fields.is_empty()
    }
}

/// What two lifelines must agree on to read each other's views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) lifelines: Vec<Arc<str>>,
    pub(super) exports: Vec<Exports>,
}

impl Layout {
    /// Why a stamp of another layout cannot be read here; one that is only shorter can be.
    pub(super) fn differs_from(&self, stamp: &Self) -> Option<String> {
        for (i, theirs) in stamp.lifelines.iter().enumerate() {
            match self.lifelines.get(i) {
                Some(ours) if ours == theirs => {}
                Some(ours) => return Some(format!("it has the lifeline `{theirs}` where `{ours}` is expected")),
                None => return Some(format!("it has a lifeline `{theirs}`")),
            }
            let (ours, kept) = (&self.exports[i], &stamp.exports[i]);
            if let Some(formula) = difference(&ours.formulas, &kept.formulas) {
                return Some(format!("they differ in `{formula}` at `{theirs}`"));
            }
            if let Some(field) = difference(&ours.fields, &kept.fields) {
                return Some(format!("they differ in `@{theirs}.{field}`"));
            }
        }
        None
    }

    pub(super) fn unknown_lifeline(&self, lifeline: &str) -> CausalError {
        CausalError::Lifeline { lifeline: lifeline.to_owned(), known: self.lifelines.join(", ") }
    }

    pub(super) fn find(&self, lifeline: &str) -> Option<usize> {
        self.lifelines.iter().position(|known| &**known == lifeline)
    }
}

fn difference<'a>(ours: &'a [Arc<str>], theirs: &'a [Arc<str>]) -> Option<&'a str> {
    let only = |a: &'a [Arc<str>], b: &'a [Arc<str>]| a.iter().find(|x| !b.contains(x));
    let moved = || ours.iter().zip(theirs).find(|(a, b)| a != b).map(|(a, _)| a);
    only(ours, theirs).or_else(|| only(theirs, ours)).or_else(moved).map(|text| &**text)
}

/// The values at one event that other lifelines ask for, in the order of [`Guards::kept`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExportedValues {
    /// The subformulas' values.
    pub values: Box<[bool]>,
    /// The variables' values; `None` where undefined.
    pub fields: Box<[Option<Literal>]>,
}

/// What one lifeline has seen of another.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct VisibleState {
    /// How many events.
    pub(super) count: u64,
    /// The values at the latest of them; `None` where no guard asks for any, or none was seen.
    pub(super) view: Option<Arc<ExportedValues>>,
}

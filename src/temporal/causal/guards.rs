//! Guards, compiled once for a set of lifelines.

use std::sync::Arc;

use super::super::formula::{Formula, Formulas};
use super::code::Code;
use super::compile::compile;
use super::errors::GuardError;

/// How many nodes a guard may have when it is written out.
pub const MAX_GUARD_SIZE: u64 = 100_000;

/// What is kept of one lifeline's events because a guard asks for it elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// The subformulas, as text.
    pub formulas: Vec<Arc<str>>,
    /// The variables.
    pub fields: Vec<Arc<str>>,
}

impl Kept {
    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.formulas.is_empty() && self.fields.is_empty()
    }
}

/// What two lifelines must agree on to read each other's views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) lifelines: Vec<Arc<str>>,
    pub(super) kept: Vec<Kept>,
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
            let (ours, kept) = (&self.kept[i], &stamp.kept[i]);
            if let Some(formula) = difference(&ours.formulas, &kept.formulas) {
                return Some(format!("they differ in `{formula}` at `{theirs}`"));
            }
            if let Some(field) = difference(&ours.fields, &kept.fields) {
                return Some(format!("they differ in `@{theirs}.{field}`"));
            }
        }
        None
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

/// Guards that are ready to be followed; cheap to clone.
#[derive(Debug, Clone)]
pub struct Guards {
    pub(super) code: Arc<Code>,
    pub(super) layout: Arc<Layout>,
}

impl Guards {
    /// Compiles guards over lifelines.
    ///
    /// # Errors
    /// An operator that has no meaning in the causal reading, and a lifeline that is not among `lifelines`, both also
    /// inside `@A.x`; a lifeline named twice; a guard of more than [`MAX_GUARD_SIZE`] nodes.
    pub fn new(formulas: &Formulas, guards: &[Formula], lifelines: &[&str]) -> Result<Self, GuardError> {
        let (code, layout) = compile(formulas, guards, lifelines)?;
        Ok(Self { code: Arc::new(code), layout: Arc::new(layout) })
    }

    /// The same guards where each is asked at events of one lifeline alone, its owner: the numbers of lifelines, one for each
    /// guard. Elsewhere nothing is evaluated for it but what owners ask of others, and its value there means nothing.
    #[must_use]
    pub fn owned_by(&self, owners: &[usize]) -> Self {
        let mut code = (*self.code).clone();
        code.leave_to(owners);
        Self { code: Arc::new(code), layout: self.layout.clone() }
    }

    /// The same guards with one more lifeline, which none of them names (`P` speaks of it, too). Stamps made before can
    /// still be read.
    pub fn with_lifeline(&self, name: &str) -> Result<Self, GuardError> {
        if self.lifeline(name).is_some() {
            return Err(GuardError::Twice(name.to_owned()));
        }
        let mut layout = (*self.layout).clone();
        layout.lifelines.push(name.into());
        layout.kept.push(Kept { formulas: self.code.everywhere_texts.to_vec(), fields: Vec::new() });
        Ok(Self { code: self.code.clone(), layout: Arc::new(layout) })
    }

    /// How many guards there are; they are numbered from 0, in the order in which they were given.
    pub fn len(&self) -> usize {
        self.code.guards.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.code.guards.is_empty()
    }

    /// How many values one event takes: the distinct subformulas of all guards.
    pub fn subformulas(&self) -> usize {
        self.code.ops.len()
    }

    /// The lifelines, in the order in which they were given.
    pub fn lifelines(&self) -> &[Arc<str>] {
        &self.layout.lifelines
    }

    /// The number of a lifeline.
    pub fn lifeline(&self, name: &str) -> Option<usize> {
        self.layout.find(name)
    }

    /// What is kept of each lifeline for the others, in the order of the lifelines.
    pub fn kept(&self) -> &[Kept] {
        &self.layout.kept
    }

    /// The fields that atoms read, of this lifeline or another, ascending.
    pub fn fields(&self) -> &[Arc<str>] {
        &self.code.fields
    }
}

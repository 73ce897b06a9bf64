//! Guards, compiled once for a set of lifelines.

use std::sync::Arc;

use super::super::formula::{Formula, Formulas};
use super::compile::compile;
use super::errors::GuardError;
use super::exports::{Exports, Layout};
use super::program::Program;

/// Guards that are ready to be followed; cheap to clone.
#[derive(Debug, Clone)]
pub struct Guards {
    pub(super) code: Arc<Program>,
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
    pub fn restrict_to_owners(&self, owners: &[usize]) -> Self {
        let mut code = (*self.code).clone();
        code.restrict_to_owners(owners);
        Self { code: Arc::new(code), layout: self.layout.clone() }
    }

    /// The same guards with one more lifeline, which none of them names (`P` speaks of it, too). Stamps made before can
    /// still be read.
    pub fn with_lifeline(&self, name: &str) -> Result<Self, GuardError> {
        if self.lifeline(name).is_some() {
            return Err(GuardError::DuplicateLifeline(name.to_owned()));
        }
        let mut layout = (*self.layout).clone();
        layout.lifelines.push(name.into());
        layout.exports.push(Exports { formulas: self.code.everywhere_texts.to_vec(), fields: Vec::new() });
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
    pub fn exports(&self) -> &[Exports] {
        &self.layout.exports
    }

    /// The fields that atoms read, of this lifeline or another, ascending.
    pub fn fields(&self) -> &[Arc<str>] {
        &self.code.fields
    }
}

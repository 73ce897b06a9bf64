//! Guards, compiled once for a set of lifelines and shared by all monitors.

use std::sync::Arc;

use super::super::formula::{Formula, Formulas};
use super::compile::compile;
use super::errors::GuardError;
use super::exports::{Exports, Layout};
use super::program::Program;

/// Compiled guards. Cheap to clone.
///
/// # Examples
/// ```
/// use tlaforge_temporal::Formulas;
/// use tlaforge_temporal::causal::Guards;
///
/// let mut formulas = Formulas::new();
/// let guard = formulas.parse("@b(O x) & @b.ready & P(y)")?;
/// let guards = Guards::new(&formulas, &[guard], &["a", "b"])?;
/// assert_eq!((guards.len(), guards.lifeline_index("b")), (1, Some(1)));
/// // What messages of `b` carry.
/// let exports = &guards.exports()[1];
/// assert_eq!((exports.formulas.len(), exports.fields.len()), (2, 1));
/// assert_eq!(guards.fields().len(), 3);
///
/// // Only `a` evaluates the guard; `b` evaluates what it exports.
/// let owned = guards.restrict_to_owners(&[0]);
/// assert_eq!(owned.subformula_count(), guards.subformula_count());
/// assert_eq!(guards.with_lifeline("c")?.lifelines().len(), 3);
/// assert!(Guards::new(&formulas, &[guard], &["a"]).is_err(), "the guard names `b`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Guards {
    pub(super) program: Arc<Program>,
    pub(super) layout: Arc<Layout>,
}

impl Guards {
    /// Compiles guards over these lifelines. Guards and lifelines are numbered from 0 in the given order.
    ///
    /// # Errors
    /// An operator that the causal reading does not support; an unknown lifeline, also in `@A.x`; a duplicate lifeline; a
    /// guard of more than [`MAX_GUARD_SIZE`](super::MAX_GUARD_SIZE) nodes.
    pub fn new(formulas: &Formulas, guards: &[Formula], lifelines: &[&str]) -> Result<Self, GuardError> {
        let (program, layout) = compile(formulas, guards, lifelines)?;
        Ok(Self { program: Arc::new(program), layout: Arc::new(layout) })
    }

    /// Restricts each guard to the events of its owner; `owners` has the lifeline number of each guard. This saves work:
    /// other lifelines evaluate only what owners read of them. The value of a guard at other lifelines is meaningless.
    #[must_use]
    pub fn restrict_to_owners(&self, owners: &[usize]) -> Self {
        let mut program = (*self.program).clone();
        program.restrict_to_owners(owners);
        Self { program: Arc::new(program), layout: self.layout.clone() }
    }

    /// Adds a lifeline that no guard names; `P(…)` covers it too. Earlier stamps stay readable.
    ///
    /// # Errors
    /// [`GuardError::DuplicateLifeline`].
    pub fn with_lifeline(&self, name: &str) -> Result<Self, GuardError> {
        if self.lifeline_index(name).is_some() {
            return Err(GuardError::DuplicateLifeline(name.to_owned()));
        }
        let mut layout = (*self.layout).clone();
        layout.lifelines.push(name.into());
        // `P(…)` reads every lifeline; nothing else can read one that no guard names.
        layout.exports.push(Exports { formulas: self.program.everywhere_texts.to_vec(), fields: Vec::new() });
        Ok(Self { program: self.program.clone(), layout: Arc::new(layout) })
    }

    /// The number of guards, as given to [`Guards::new`].
    pub fn len(&self) -> usize {
        self.program.guards.len()
    }

    /// Whether there is no guard.
    pub fn is_empty(&self) -> bool {
        self.program.guards.is_empty()
    }

    /// The number of distinct subformulas of all guards, which is the number of values per event.
    pub fn subformula_count(&self) -> usize {
        self.program.ops.len()
    }

    /// The lifelines in the order of their numbers.
    pub fn lifelines(&self) -> &[Arc<str>] {
        &self.layout.lifelines
    }

    /// The number of a lifeline; `None` if it does not exist.
    pub fn lifeline_index(&self, name: &str) -> Option<usize> {
        self.layout.lifeline_index(name)
    }

    /// What each lifeline exports, in the order of the lifelines.
    pub fn exports(&self) -> &[Exports] {
        &self.layout.exports
    }

    /// The names of the fields that atoms read, of any lifeline, sorted.
    pub fn fields(&self) -> &[Arc<str>] {
        &self.program.fields
    }
}

//! Questions that show if a check that holds is vacuous: could a deadlock occur at all, are the premises of the checked
//! properties ever satisfied, and does what they read ever change? Each question asks whether a reachable state, or a step
//! from one, satisfies a predicate; the toolchain asks the checker. Pure.

use super::definition::{Definition, DefinitionKind};
use super::module::Module;

/// The subject of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A step that should be disabled in some reachable state.
    Step,
    /// A premise that some reachable state, or step, should satisfy.
    Premise,
    /// `P` of `<>P`, which some initial state should violate.
    Eventuality,
    /// The variables that a property reads, of which one should change.
    Change,
}

/// Asks whether, for one of the alternatives, each of its predicates is satisfied by a reachable state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub subject: Subject,
    /// The property that the question is about; empty for a step.
    pub property: String,
    /// The step, or the property with its premise, for reports.
    pub label: String,
    /// The predicates, for a module that extends the specification's.
    pub alternatives: Vec<Vec<String>>,
    /// Whether the predicates are about the steps that change one of the variables of `subscript`.
    pub is_about_steps: bool,
    /// All variables, with commas.
    pub subscript: String,
    /// Definitions that the predicates need. No two questions define the same name in different ways.
    pub definitions: String,
}

/// Limit on the number of questions of one kind.
pub(crate) const MAX_QUESTIONS: usize = 40;

/// A prefix for names of definitions, which the module does not contain.
pub(crate) fn free_prefix(module: &Module) -> String {
    let mut prefix = "TlaforgeStep".to_owned();
    while module.source.contains(&prefix) {
        prefix.push('_');
    }
    prefix
}

/// The definition of an operator without parameters.
pub(crate) fn plain<'a>(module: &'a Module, name: &str) -> Option<&'a Definition> {
    let is_plain = |d: &&Definition| d.kind == DefinitionKind::Operator && !d.has_syntax_errors && d.params.is_empty();
    module.definition(name).filter(is_plain)
}

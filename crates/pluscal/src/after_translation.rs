//! Computes the algorithm as the reference leaves it after translation. The reference translates in place and computes the
//! checksum of an algorithm afterwards, so the same changes have to be made here.

use super::ast::{Algorithm, Body, Branch, Kind, Statement, Step};
use super::diagnostic::Diagnostic;
use super::explode::{Conjunct, ControlFlow, ExplodedBlock, Exploder, is_true};
use super::position::Position;

/// The algorithm as the reference leaves it after translation: in branches that end a step, jumps and calls have become
/// assignments, and multiple assignments are sorted in the order in which the translation lists them.
pub(super) fn algorithm_after_translation(
    algorithm: &Algorithm,
    control: ControlFlow,
) -> Result<Algorithm, Diagnostic> {
    let mut result = algorithm.clone();
    let mut exploder = Exploder::new(algorithm, control);
    for procedure in &mut result.procedures {
        exploder.current = Some(procedure.name.clone());
        exploder.rewrite_steps(&mut procedure.body, "Error", Reachability::InTranslation)?;
    }
    exploder.current = None;
    match &mut result.body {
        Body::Single(steps) => exploder.rewrite_steps(steps, "Done", Reachability::InTranslation)?,
        Body::Processes(processes) => {
            for process in processes {
                exploder.rewrite_steps(&mut process.body, "Done", Reachability::InTranslation)?;
            }
        }
    }
    Ok(result)
}

impl Exploder {
    fn rewrite_steps(&self, steps: &mut [Step], next: &str, reachability: Reachability) -> Result<(), Diagnostic> {
        // Copied, because the steps themselves are changed below.
        let labels: Vec<String> = steps.iter().skip(1).map(|step| step.label.clone()).collect();
        for (number, step) in steps.iter_mut().enumerate() {
            let next = labels.get(number).map_or(next, String::as_str);
            let Step { label, statements, .. } = step;
            let Some((first, rest)) = statements.split_first_mut() else { continue };
            if let Kind::While { test, body } = &mut first.kind {
                let into = body.labeled.first().map_or(&*label, |step| &step.label).clone();
                self.rewrite_statements(&mut body.unlabeled, &into, reachability)?;
                self.rewrite_steps(&mut body.labeled, label, reachability)?;
                self.rewrite_statements(
                    rest,
                    next,
                    if is_true(test) { Reachability::Unreachable } else { reachability },
                )?;
            } else {
                self.rewrite_statements(statements, next, reachability)?;
            }
        }
        Ok(())
    }

    /// Rewrites statements directly in a step. Only the last one changes, and only inside.
    fn rewrite_statements(
        &self,
        statements: &mut [Statement],
        next: &str,
        reachability: Reachability,
    ) -> Result<(), Diagnostic> {
        if let Some(last) = statements.last_mut() {
            match &mut last.kind {
                Kind::LabelIf { then, otherwise, .. } => {
                    self.rewrite_branch(then, next, reachability)?;
                    self.rewrite_branch(otherwise, next, reachability)?;
                }
                Kind::LabelEither(clauses) => {
                    for clause in clauses {
                        self.rewrite_branch(clause, next, reachability)?;
                    }
                }
                Kind::If { .. } | Kind::Either(_) | Kind::With { .. } => {
                    // Split like the statement in the translation; the result is a single conjunct.
                    let mut broken = ExplodedBlock::default();
                    self.last_statement(last.clone(), next, &mut broken)?;
                    if let Some(conjunct) = broken.conjuncts.pop() {
                        last.kind = conjunct.into_kind();
                    }
                }
                // From a macro, which belongs to no procedure: the reference fills in the name while it translates.
                Kind::Return { from } if from.is_empty() => from.push_str(self.current.as_deref().unwrap_or_default()),
                _ => {}
            }
        }
        reachability.apply(statements);
        Ok(())
    }

    fn rewrite_branch(&self, branch: &mut Branch, next: &str, reachability: Reachability) -> Result<(), Diagnostic> {
        let into = branch.labeled.first().map_or(next, |step| &step.label).to_owned();
        let unlabeled = std::mem::take(&mut branch.unlabeled);
        // The reference does not store the assignment to `pc` that it generates for an empty branch.
        if !unlabeled.is_empty() {
            let broken = self.block_with_goto(unlabeled, &into)?;
            branch.unlabeled = broken.conjuncts.into_iter().map(Conjunct::into_statement).collect();
            reachability.apply(&mut branch.unlabeled);
        }
        self.rewrite_steps(&mut branch.labeled, next, reachability)
    }
}

impl Conjunct {
    fn into_statement(self) -> Statement {
        Statement { position: Position::default(), macro_position: None, kind: self.into_kind() }
    }

    fn into_kind(self) -> Kind {
        let block = |conjuncts: Vec<Self>| conjuncts.into_iter().map(Self::into_statement).collect();
        match self {
            Self::Assign { assignments, .. } => Kind::Assign(assignments),
            Self::If { test, then, otherwise } => Kind::If { test, then: block(then), otherwise: block(otherwise) },
            Self::Either(clauses) => Kind::Either(clauses.into_iter().map(block).collect()),
            Self::With { variable, binding, value, body } => Kind::With { variable, binding, value, body: block(body) },
            Self::When(expr) => Kind::When(expr),
            Self::Print(expr) => Kind::Print(expr),
            Self::Assert { expr, .. } => Kind::Assert(expr),
            Self::Skip => Kind::Skip,
        }
    }
}

/// Whether statements are part of the translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reachability {
    InTranslation,
    /// They follow a `while TRUE` in its step.
    Unreachable,
}

impl Reachability {
    // Multiple assignments are sorted when their text is written, which does not happen to unreachable statements.
    fn apply(self, statements: &mut [Statement]) {
        if self == Self::InTranslation {
            statements.iter_mut().for_each(sort_assignments);
        }
    }
}

/// Sorts the parts of multiple assignments by variable, also inside statements but not inside labelled steps, which are
/// rewritten separately.
fn sort_assignments(statement: &mut Statement) {
    match &mut statement.kind {
        Kind::Assign(assignments) => assignments.sort_by(|a, b| a.variable.cmp(&b.variable)),
        Kind::If { then, otherwise, .. } => then.iter_mut().chain(otherwise).for_each(sort_assignments),
        Kind::Either(clauses) => clauses.iter_mut().flatten().for_each(sort_assignments),
        Kind::With { body, .. } => body.iter_mut().for_each(sort_assignments),
        _ => {}
    }
}

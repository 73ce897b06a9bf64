//! The algorithm as it is after translation, which its checksum is taken of: the reference translates in place.

use super::ast::{Algorithm, Body, Branch, Kind, Statement, Step};
use super::explode::{Broken, Conjunct, Control, Exploder, is_true};
use super::position::Position;
use crate::tla::Diagnostic;

/// The algorithm as the reference leaves it behind: in the branches that end a step, jumps and calls are assignments,
/// and multiple assignments are in the order in which they are written out.
pub(super) fn left_behind(algorithm: &Algorithm, control: Control) -> Result<Algorithm, Diagnostic> {
    let mut left = algorithm.clone();
    let mut exploder = Exploder::new(algorithm, control);
    for procedure in &mut left.procedures {
        exploder.current = Some(procedure.name.clone());
        exploder.leave_steps(&mut procedure.body, "Error", Fate::Written)?;
    }
    exploder.current = None;
    match &mut left.body {
        Body::Single(steps) => exploder.leave_steps(steps, "Done", Fate::Written)?,
        Body::Processes(processes) => {
            for process in processes {
                exploder.leave_steps(&mut process.body, "Done", Fate::Written)?;
            }
        }
    }
    Ok(left)
}

impl Exploder {
    fn leave_steps(&self, steps: &mut [Step], next: &str, fate: Fate) -> Result<(), Diagnostic> {
        let labels: Vec<String> = steps.iter().skip(1).map(|step| step.label.clone()).collect();
        for (number, step) in steps.iter_mut().enumerate() {
            let next = labels.get(number).map_or(next, String::as_str);
            let Step { label, statements, .. } = step;
            let Some((first, rest)) = statements.split_first_mut() else { continue };
            if let Kind::While { test, body } = &mut first.kind {
                let into = body.labeled.first().map_or(&*label, |step| &step.label).clone();
                self.leave(&mut body.unlabeled, &into, fate)?;
                self.leave_steps(&mut body.labeled, label, fate)?;
                self.leave(rest, next, if is_true(test) { Fate::Dropped } else { fate })?;
            } else {
                self.leave(statements, next, fate)?;
            }
        }
        Ok(())
    }

    /// Of statements that stand directly in a step only the last is changed, and of it only what is inside.
    fn leave(&self, statements: &mut [Statement], next: &str, fate: Fate) -> Result<(), Diagnostic> {
        if let Some(last) = statements.last_mut() {
            match &mut last.kind {
                Kind::LabelIf { then, otherwise, .. } => {
                    self.leave_branch(then, next, fate)?;
                    self.leave_branch(otherwise, next, fate)?;
                }
                Kind::LabelEither(clauses) => {
                    for clause in clauses {
                        self.leave_branch(clause, next, fate)?;
                    }
                }
                Kind::If { .. } | Kind::Either(_) | Kind::With { .. } => {
                    let mut broken = Broken::default();
                    self.last(last.clone(), next, &mut broken)?;
                    if let Some(conjunct) = broken.here.pop() {
                        last.kind = conjunct.into_kind();
                    }
                }
                Kind::Return { from } if from.is_empty() => from.push_str(self.current.as_deref().unwrap_or_default()),
                _ => {}
            }
        }
        fate.apply(statements);
        Ok(())
    }

    fn leave_branch(&self, branch: &mut Branch, next: &str, fate: Fate) -> Result<(), Diagnostic> {
        let into = branch.labeled.first().map_or(next, |step| &step.label).to_owned();
        let unlabeled = std::mem::take(&mut branch.unlabeled);
        // One without statements stays empty: what is made of it does not get into the algorithm.
        if !unlabeled.is_empty() {
            let broken = self.block_with_goto(unlabeled, &into)?;
            branch.unlabeled = broken.here.into_iter().map(Conjunct::into_statement).collect();
            fate.apply(&mut branch.unlabeled);
        }
        self.leave_steps(&mut branch.labeled, next, fate)
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

/// What becomes of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// They are in the translation.
    Written,
    /// They follow `while TRUE` in its step.
    Dropped,
}

impl Fate {
    fn apply(self, statements: &mut [Statement]) {
        if self == Self::Written {
            statements.iter_mut().for_each(sort_assignments);
        }
    }
}

/// Puts the parts of multiple assignments in the order of their variables, all the way down but not into steps, which
/// are treated by themselves.
fn sort_assignments(statement: &mut Statement) {
    match &mut statement.kind {
        Kind::Assign(assignments) => assignments.sort_by(|a, b| a.variable.cmp(&b.variable)),
        Kind::If { then, otherwise, .. } => then.iter_mut().chain(otherwise).for_each(sort_assignments),
        Kind::Either(clauses) => clauses.iter_mut().flatten().for_each(sort_assignments),
        Kind::With { body, .. } => body.iter_mut().for_each(sort_assignments),
        _ => {}
    }
}

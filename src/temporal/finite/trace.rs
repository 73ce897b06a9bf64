//! The check of one formula on one finished trace.

use super::super::formula::{Formula, Formulas};
use super::super::readings::UnsupportedError;
use super::column::{Column, Labels};
use super::decision::find_decision_point;
use super::decision_point::DecisionPoint;
use super::explanation::Explanation;
use super::sweep::{Columns, Keep, Subformulas};

/// What a finished trace says of a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceCheck {
    /// The formula's value at every position.
    pub column: Column,
    /// What decided the verdict.
    pub decision: DecisionPoint,
    /// Whether `decided` is exact. Where it is not, the verdict may have been decided earlier, never later: the formula
    /// has past operators, or too many atoms and temporal operators to follow all continuations.
    pub decision_is_exact: bool,
    /// Why it is violated; nothing where it holds.
    pub explanation: Option<Explanation>,
}

impl TraceCheck {
    /// Whether the trace satisfies the formula.
    pub fn holds(&self) -> bool {
        self.column.verdict()
    }

    /// Where a violation was decided: the position of the first record after which every continuation is a violation
    /// too, and ending there; `n` where the trace violates the formula only because it ended. `None` where it holds.
    pub fn violation_position(&self) -> Option<usize> {
        if self.holds() {
            return None;
        }
        Some(match self.decision {
            DecisionPoint::FromTheStart => 0,
            DecisionPoint::ByRecord(position) => position,
            DecisionPoint::ByTheEnd => self.column.trace_length(),
        })
    }

    /// The positions of records from which on the formula does not hold, where the trace violates it; else none.
    pub fn failing_positions(&self) -> impl Iterator<Item = usize> + '_ {
        let column = (!self.holds()).then_some(&self.column);
        column.into_iter().flat_map(Column::failing_positions)
    }

    /// How many they are.
    pub fn failing_count(&self) -> usize {
        if self.holds() { 0 } else { self.column.failing_count() }
    }
}

/// Checks a formula on a trace: its value everywhere, what decided it, and why it is violated.
///
/// Takes the time of [`eval_all_positions`](super::eval_all_positions), one reading of the trace for what decided the
/// verdict, and a bounded time to prepare that; keeps one column for each distinct subformula.
pub fn check_trace(formulas: &Formulas, formula: Formula, labels: &Labels) -> Result<TraceCheck, UnsupportedError> {
    let subformulas = Subformulas::new(formulas, &[formula], labels)?;
    let mut table = Columns::new(&subformulas, labels, Keep::All);
    table.sweep();
    let (decision, decision_is_exact) = find_decision_point(&subformulas, &table, formula, labels);
    let violated = !super::bits::bit(table.words(formula), 0);
    let explanation = violated.then(|| Explanation::of_violation(&subformulas, &table, formula, labels.len()));
    let column = Column { words: table.take(formula).into_owned(), length: labels.len() };
    Ok(TraceCheck { column, decision, decision_is_exact, explanation })
}

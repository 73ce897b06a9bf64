//! Checks one formula on one finite trace.

use super::super::formula::{Formula, Formulas};
use super::super::readings::UnsupportedError;
use super::column::{Column, Labels};
use super::decision::find_decision_point;
use super::decision_point::DecisionPoint;
use super::explanation::Explanation;
use super::sweep::{Columns, Keep, Subformulas};

/// The result of [`check_trace`] for one formula on one trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceCheck {
    /// The value of the formula at every position.
    pub column: Column,
    /// The point at which the verdict was decided.
    pub decision: DecisionPoint,
    /// Whether `decision` is exact. If not, the verdict may have been decided earlier, never later: the formula has past
    /// operators, or too many atoms and temporal operators to enumerate all continuations.
    pub decision_is_exact: bool,
    /// Why the formula is violated; `None` if it holds.
    pub explanation: Option<Explanation>,
}

impl TraceCheck {
    /// Whether the trace satisfies the formula.
    pub fn holds(&self) -> bool {
        self.column.verdict()
    }

    /// The position of the first record after which every continuation violates the formula; `n`, the number of records, if
    /// the trace violates it only because it ended. `None` if the formula holds.
    ///
    /// This is when the violation is certain, not where its reasons are: if the last request of three records has no answer,
    /// `G (request -> F answer)` is violated at 3, and its explanation begins "at 2 `request` holds".
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

    /// The positions `0..n` at which the formula is false; none if the trace satisfies it.
    ///
    /// These are not the records that are wrong: `G !error` is false at every position up to the last `error`, because each
    /// has an `error` ahead. For the records with an `error`, evaluate `!error` with
    /// [`eval_all_positions`](super::eval_all_positions); for the reason of the violation, see
    /// [`TraceCheck::explanation`].
    pub fn failing_positions(&self) -> impl Iterator<Item = usize> + '_ {
        let column = (!self.holds()).then_some(&self.column);
        column.into_iter().flat_map(Column::failing_positions)
    }

    /// The number of [`TraceCheck::failing_positions`], without listing them.
    pub fn failing_count(&self) -> usize {
        if self.holds() { 0 } else { self.column.failing_count() }
    }
}

/// Checks a formula on a labelled trace that has ended: its value at all positions, its decision point, and an explanation
/// of a violation. [`eval_all_positions`](super::eval_all_positions) defines the values, also at the end of the trace.
///
/// Takes the time of [`eval_all_positions`](super::eval_all_positions), one more pass over the trace for the decision
/// point, and a bounded preparation. Keeps one column per distinct subformula in memory.
///
/// # Errors
/// Those of [`eval_all_positions`](super::eval_all_positions).
///
/// # Examples
/// ```
/// use tlaforge_temporal::{DecisionPoint, Formulas, Labels, check_trace};
///
/// let mut formulas = Formulas::new();
/// let rule = formulas.parse("!submit W test")?;
/// let [submit, test] = formulas.atoms_of(rule)[..] else { unreachable!("two atoms") };
/// let mut labels = Labels::new(&formulas, &[rule]);
/// for holds in [None, Some(submit), Some(test)] {
///     labels.push_values(|atom| Some(atom) == holds);
/// }
/// let check = check_trace(&formulas, rule, &labels)?;
/// assert!(!check.holds());
/// // The second record decided it: no continuation could have repaired it.
/// assert_eq!((check.decision, check.decision_is_exact), (DecisionPoint::ByRecord(1), true));
/// assert_eq!(check.violation_position(), Some(1));
/// assert_eq!(check.failing_positions().collect::<Vec<_>>(), [0, 1]);
/// assert_eq!(check.failing_count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

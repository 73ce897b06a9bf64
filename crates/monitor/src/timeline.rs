//! How each rule stood after each state of a log, for a picture. The verdicts of an audit do not come from here.

use tlaforge_temporal::{Atom, FinalVerdict, Formula, Formulas, Node, Robustness, Unary};

use super::finding::Verdict;
use super::log::Step;
use super::policy::{PolicyRule, Scope};
use super::trac::{Decision, Monitor, Reset};

/// One rule over the states of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// Runs of states with the same verdict, in order. Empty for a causal rule, and for operators that no verdict at each
    /// state is defined for.
    pub spans: Vec<Span>,
    /// By how much the predicate of the rule holds, if it compares quantities.
    pub robustness: Option<RobustnessCurve>,
}

/// States with the same verdict; both numbers count from 0 and are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from: u64,
    pub to: u64,
    /// The verdict if the log ended after the state.
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RobustnessCurve {
    /// The predicate as text.
    pub predicate: String,
    /// Each state that has the quantities, with the robustness there.
    pub points: Vec<(u64, f64)>,
}

/// Follows the rules over a log.
pub(super) struct Timelines {
    monitor: Monitor,
    /// For each rule its number in the monitor, if it is monitored.
    monitored: Vec<Option<usize>>,
    predicates: Vec<Option<Robustness>>,
    followed: Vec<Timeline>,
}

impl Timelines {
    pub(super) fn new(formulas: &Formulas, rules: &[PolicyRule], reset: Reset) -> Self {
        let mut monitor = Monitor::new(reset);
        let mut monitored = Vec::new();
        let mut predicates = Vec::new();
        for rule in rules {
            let is_trace = matches!(rule.scope, Scope::Trace(_));
            let number = monitor.rules().len();
            monitored.push((is_trace && monitor.add(&rule.id, formulas, rule.formula).is_ok()).then_some(number));
            predicates.push(if is_trace { find_predicate(formulas, rule.formula) } else { None });
        }
        let curve = |predicate: &Option<Robustness>| {
            let new =
                |predicate: &Robustness| RobustnessCurve { predicate: predicate.text().to_owned(), points: Vec::new() };
            Timeline { spans: Vec::new(), robustness: predicate.as_ref().map(new) }
        };
        let followed = predicates.iter().map(curve).collect();
        Self { monitor, monitored, predicates, followed }
    }

    pub(super) fn step(&mut self, step: &Step, state: u64) {
        let reports = self.monitor.step_record(step);
        for (at, timeline) in self.followed.iter_mut().enumerate() {
            if let Some(number) = self.monitored[at] {
                let report = &reports[number];
                let verdict = match report.decision {
                    Some(Decision::Violated) => Verdict::Violated,
                    Some(Decision::Satisfied) => Verdict::Satisfied,
                    None => match self.monitor.ending(&report.rule) {
                        Some(FinalVerdict::Satisfied) => Verdict::Satisfied,
                        Some(FinalVerdict::Violated) => Verdict::Violated,
                        Some(FinalVerdict::PresumablyViolated) => Verdict::PresumablyViolated,
                        Some(FinalVerdict::PresumablySatisfied) | None => Verdict::PresumablySatisfied,
                    },
                };
                match timeline.spans.last_mut().filter(|span| span.verdict == verdict) {
                    Some(span) => span.to = state,
                    None => timeline.spans.push(Span { from: state, to: state, verdict }),
                }
            }
            // A state without the quantities is a gap in the curve.
            if let (Some(predicate), Some(curve)) = (&self.predicates[at], &mut timeline.robustness)
                && let Ok(value) = predicate.evaluate(step)
                && value.is_finite()
            {
                curve.points.push((state, value));
            }
        }
    }

    pub(super) fn finish(self) -> Vec<Timeline> {
        let without_empty = |timeline: Timeline| {
            let robustness = timeline.robustness.filter(|curve| curve.points.len() > 1);
            Timeline { robustness, ..timeline }
        };
        self.followed.into_iter().map(without_empty).collect()
    }
}

/// The state predicate over quantities that a rule demands always, at some time or at once.
fn find_predicate(formulas: &Formulas, formula: Formula) -> Option<Robustness> {
    let mut inner = formula;
    while let Node::Unary(Unary::Globally | Unary::Finally, operand) = formulas.node(inner) {
        inner = *operand;
    }
    let compares = |atom| matches!(formulas.atom(atom), Atom::Compare(..));
    if !formulas.atoms_of(inner).into_iter().any(compares) {
        return None;
    }
    Robustness::compile(formulas, inner).ok().filter(|predicate| !predicate.quantities().is_empty())
}

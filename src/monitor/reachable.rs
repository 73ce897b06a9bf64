//! Whether revisions can be such that a goal is met: which predicates can be true together, as far as that is told by
//! thresholds alone.

use std::collections::{BTreeMap, BTreeSet};

use super::run_objective::{Known, Range};
use crate::temporal::{Atom, Dfa, Formulas, Number, Objective, Record, RewardConfig, Term, Value};

/// Combinations of values that are tried; of more it is not told what can be true together.
const MOST: usize = 20_000;

/// The least number of revisions after which the goal is met; `None` where none can meet it.
pub(super) fn least_revisions(objective: &Objective, known: &[Known]) -> Option<u32> {
    let dfa = objective.dfa();
    let Some(letters) = letters(objective, known) else { return dfa.distance_to_accepting(Dfa::INITIAL) };
    let name = |atom| match objective.formulas().atom(atom) {
        Atom::Name(name) => name.to_string(),
        other => objective.formulas().atom_text(other),
    };
    let mut seen = BTreeSet::from([Dfa::INITIAL]);
    let mut here = vec![Dfa::INITIAL];
    let mut steps = 0;
    while !here.is_empty() {
        steps += 1;
        let next: BTreeSet<usize> = here
            .iter()
            .flat_map(|state| letters.iter().map(|letter| dfa.next(*state, |atom| letter.contains(&name(atom)))))
            .collect();
        if next.iter().any(|state| dfa.accepts(*state)) {
            return Some(steps);
        }
        here = next.into_iter().filter(|state| seen.insert(*state)).collect();
    }
    None
}

/// Which predicates can be true together. `None` where one of them is more than metrics compared with numbers, or there are
/// too many to try.
fn letters(objective: &Objective, known: &[Known]) -> Option<BTreeSet<BTreeSet<String>>> {
    let mut thresholds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (_, robustness) in objective.predicates() {
        let mut formulas = Formulas::new();
        let formula = formulas.parse_quantity(robustness.text()).ok()?;
        for atom in formulas.atoms_of(formula) {
            let (name, number) = threshold(formulas.atom(atom))?;
            thresholds.entry(name).or_default().push(number);
        }
    }
    let samples: Vec<(String, Vec<Option<Value<'static>>>)> = thresholds
        .into_iter()
        .map(|(name, numbers)| {
            let range = known.iter().find(|k| k.name == name)?.range;
            Some((name, values(range, numbers)))
        })
        .collect::<Option<_>>()?;
    let count = samples.iter().try_fold(1usize, |all, (_, values)| all.checked_mul(values.len()))?;
    if count > MOST {
        return None;
    }
    let tried = (0..count).map(|mut number| {
        let mut sample = Sample(BTreeMap::new());
        for (name, values) in &samples {
            if let Some(value) = &values[number % values.len()] {
                sample.0.insert(name, value.clone());
            }
            number /= values.len();
        }
        let mut fresh = objective.clone();
        let stepped = fresh.step_on_partial(&sample, &RewardConfig::default());
        stepped.predicates.into_iter().filter(|p| p.holds).map(|p| p.name.to_owned()).collect()
    });
    Some(tried.collect())
}

struct Sample<'a>(BTreeMap<&'a str, Value<'static>>);

impl Record for Sample<'_> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.0.get(name).cloned()
    }
}

/// A metric and the number that it is compared with.
fn threshold(atom: &Atom) -> Option<(String, f64)> {
    match atom {
        Atom::Compare(_, Term::Field(name), other) | Atom::Compare(_, other, Term::Field(name)) => {
            Some((name.to_string(), constant(other)?))
        }
        // A bare quantity is compared with 0.
        Atom::Name(name) | Atom::Quantity(Term::Field(name)) => Some((name.to_string(), 0.0)),
        _ => None,
    }
}

fn constant(term: &Term) -> Option<f64> {
    match term.value(&Sample(BTreeMap::new()))? {
        Value::Bool(value) => Some(if value { 1.0 } else { -1.0 }),
        value => value.as_double().and_then(Number::new).map(Number::get),
    }
}

/// Values such that each threshold is met, and each space between two that the range has a value in; and none.
fn values(range: Range, mut numbers: Vec<f64>) -> Vec<Option<Value<'static>>> {
    let most = match range {
        Range::Truth => return vec![None, Some(Value::Bool(false)), Some(Value::Bool(true))],
        Range::Share => 1.0,
        Range::Count | Range::Amount => f64::INFINITY,
    };
    numbers.extend([0.0, 1.0]);
    numbers.sort_by(f64::total_cmp);
    let last = numbers.last().copied().unwrap_or_default();
    let mut found: Vec<f64> = if range == Range::Count {
        numbers.iter().flat_map(|n| [n.floor(), n.floor() + 1.0]).collect()
    } else {
        let between = numbers.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
        numbers.iter().copied().chain(between).collect()
    };
    found.push(last.floor() + 2.0);
    found.retain(|n| (0.0..=most).contains(n));
    found.sort_by(f64::total_cmp);
    found.dedup();
    std::iter::once(None).chain(found.into_iter().map(|n| Some(Value::Number(n)))).collect()
}

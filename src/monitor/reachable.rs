//! Whether revisions can be such that a goal is met: which predicates can be true together, as far as that is told by
//! thresholds, by what the quantities mean, and by where a line of revisions stands.
//!
//! Sound in one direction: what is called unreachable is so. What is more than a quantity compared with numbers (a sum, a
//! product) may be true or false at any revision that has its quantities.

use std::collections::{BTreeMap, BTreeSet};

use super::run_objective::{Along, Known, Range};
use crate::temporal::{Atom, Dfa, Formulas, Number, Objective, Record, Robustness, Term, Value};

/// Combinations of values that are tried; of more it is not told what can be true together.
const MOST: usize = 20_000;

/// What revisions can be like, as an automaton over the predicates of an objective sees them.
#[derive(Debug, Clone)]
pub(super) struct Possible {
    /// `None`: anything can be, so far as is known.
    letters: Option<Vec<Letter>>,
}

/// One way in which a revision can be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Letter {
    /// The predicates that hold, by their numbers in the objective.
    holds: BTreeSet<usize>,
    /// The regions of the quantities that only grow.
    grown: BTreeMap<&'static str, Region>,
    /// A run ends with such a revision.
    is_last: bool,
}

/// Values that no threshold tells apart; the first stands for all. Bit patterns of numbers from 0 are in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Region {
    first: u64,
    /// Where it ends, which belongs to it or not.
    end: u64,
    with_end: bool,
}

impl Region {
    fn new(first: f64, end: f64, with_end: bool) -> Self {
        Self { first: first.to_bits(), end: end.to_bits(), with_end }
    }

    fn first(self) -> f64 {
        f64::from_bits(self.first)
    }

    /// Whether it has a value that is not less.
    fn reaches(self, least: f64) -> bool {
        let end = f64::from_bits(self.end);
        end > least || self.with_end && end >= least
    }
}

/// What a quantity may be at one revision.
#[derive(Clone, Copy)]
enum Sampled {
    Undefined,
    Truth(bool),
    Number(Region),
}

impl Possible {
    pub(super) fn of(objective: &Objective, known: &[Known]) -> Self {
        Self { letters: letters(objective, known) }
    }

    /// The least number of revisions after which the goal is met; `None` where none can meet it. With the highest number
    /// that revisions may have, those of one run: it ends with the first that ends runs.
    pub(super) fn least(&self, objective: &Objective, known: &[Known], highest: Option<u32>) -> Option<u32> {
        let is_low = |letter: &&Letter| {
            let number = known.iter().find(|k| k.along == Along::Numbers).and_then(|k| letter.grown.get(k.name));
            highest.zip(number).is_none_or(|(highest, number)| number.first() <= f64::from(highest))
        };
        self.search(objective, Dfa::INITIAL, highest.is_some(), is_low)
    }

    /// The least number of further revisions after which the goal is met, behind a line that ends with this one in this
    /// state; 0 where it is met, `None` where none can meet it.
    pub(super) fn least_after(
        &self,
        objective: &Objective,
        known: &[Known],
        state: usize,
        last: &(impl Record + ?Sized),
    ) -> Option<u32> {
        if objective.dfa().accepts(state) {
            return Some(0);
        }
        let can_follow = |letter: &&Letter| {
            letter.grown.iter().all(|(name, region)| {
                let now = last.field(name).and_then(|value| value.as_double());
                let along = known.iter().find(|k| k.name == *name).map(|k| k.along);
                now.is_none_or(|now| region.reaches(if along == Some(Along::Numbers) { now + 1.0 } else { now }))
            })
        };
        self.search(objective, state, false, can_follow)
    }

    /// Whether every line of one revision and more satisfies the goal.
    pub(super) fn always(&self, objective: &Objective) -> bool {
        let dfa = objective.dfa();
        let mut seen = BTreeSet::new();
        let mut here = vec![Dfa::INITIAL];
        while let Some(state) = here.pop() {
            let next = self.successors(objective, state, |_| true);
            if next.iter().any(|(next, _)| !dfa.accepts(*next)) {
                return false;
            }
            here.extend(next.into_iter().map(|(next, _)| next).filter(|next| seen.insert(*next)));
        }
        true
    }

    fn search(
        &self,
        objective: &Objective,
        from: usize,
        ends: bool,
        allowed: impl Fn(&&Letter) -> bool + Copy,
    ) -> Option<u32> {
        let dfa = objective.dfa();
        let mut seen = BTreeSet::from([from]);
        let mut here = vec![from];
        let mut steps = 0;
        while !here.is_empty() {
            steps += 1;
            let next: BTreeSet<(usize, bool)> =
                here.iter().flat_map(|state| self.successors(objective, *state, allowed)).collect();
            if next.iter().any(|(state, _)| dfa.accepts(*state)) {
                return Some(steps);
            }
            let goes_on = next.into_iter().filter(|(_, is_last)| !(ends && *is_last));
            here = goes_on.map(|(state, _)| state).filter(|state| seen.insert(*state)).collect();
        }
        None
    }

    /// Where one revision leads, and whether the run can only end there.
    fn successors(
        &self,
        objective: &Objective,
        state: usize,
        allowed: impl Fn(&&Letter) -> bool,
    ) -> BTreeSet<(usize, bool)> {
        let dfa = objective.dfa();
        let Some(letters) = &self.letters else {
            return dfa.successors(state).into_iter().map(|next| (next, false)).collect();
        };
        let atoms: Vec<_> = objective.atoms().collect();
        let next = |letter: &Letter| {
            let holds = |atom| atoms.iter().position(|a| *a == atom).is_some_and(|at| letter.holds.contains(&at));
            (dfa.next(state, holds), letter.is_last)
        };
        letters.iter().filter(allowed).map(next).collect()
    }
}

/// Which predicates can be true together. `None` where too many combinations are to be tried.
fn letters(objective: &Objective, known: &[Known]) -> Option<Vec<Letter>> {
    let mut compared: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut free = BTreeSet::new();
    for (number, (_, robustness)) in objective.predicates().enumerate() {
        match thresholds(robustness) {
            Some(all) => all.into_iter().for_each(|(name, value)| compared.entry(name).or_default().push(value)),
            None => _ = free.insert(number),
        }
    }
    let sampled: Vec<(&Known, Vec<Sampled>)> = compared
        .into_iter()
        .map(|(name, numbers)| {
            let known = known.iter().find(|k| k.name == name)?;
            Some((known, samples(known.range, numbers)))
        })
        .collect::<Option<_>>()?;
    let ways = u32::try_from(free.len()).ok().and_then(|free| 2usize.checked_pow(free))?;
    let count = sampled.iter().try_fold(ways, |all, (_, values)| all.checked_mul(values.len()))?;
    if count > MOST {
        return None;
    }
    let mut found = BTreeSet::new();
    for mut number in 0..count / ways {
        let mut sample = Sample(BTreeMap::new());
        for (known, values) in &sampled {
            sample.0.insert(known.name, values[number % values.len()]);
            number /= values.len();
        }
        if !sampled.iter().all(|(known, _)| sample.is_possible(known)) {
            continue;
        }
        let mut holds = BTreeSet::new();
        let mut open = Vec::new();
        for (at, (_, robustness)) in objective.predicates().enumerate() {
            if free.contains(&at) {
                open.extend(sample.may_have(robustness.quantities()).then_some(at));
            } else if robustness.is_met(&sample) {
                holds.insert(at);
            }
        }
        let grown: BTreeMap<&'static str, Region> = sampled
            .iter()
            .filter(|(known, _)| matches!(known.along, Along::Grows | Along::Numbers))
            .filter_map(|(known, _)| Some((known.name, sample.region(known.name)?)))
            .collect();
        let is_last = sampled.iter().any(|(known, _)| known.along == Along::Last && sample.is(known.name, true));
        for way in 0..1usize << open.len() {
            let chosen = open.iter().enumerate().filter(|(bit, _)| way >> bit & 1 == 1).map(|(_, at)| *at);
            found.insert(Letter {
                holds: holds.iter().copied().chain(chosen).collect(),
                grown: grown.clone(),
                is_last,
            });
        }
    }
    Some(found.into_iter().collect())
}

/// A revision that could be.
struct Sample(BTreeMap<&'static str, Sampled>);

impl Sample {
    fn is(&self, name: &str, value: bool) -> bool {
        matches!(self.0.get(name), Some(Sampled::Truth(is)) if *is == value)
    }

    fn region(&self, name: &str) -> Option<Region> {
        match self.0.get(name) {
            Some(Sampled::Number(region)) => Some(*region),
            _ => None,
        }
    }

    /// Whether this one's value leaves those of the others possible.
    fn is_possible(&self, known: &Known) -> bool {
        let fits = |(other, value): &(&str, bool)| !self.0.contains_key(other) || self.is(other, *value);
        !self.is(known.name, true) || known.implies.iter().all(fits)
    }

    fn may_have(&self, names: &[String]) -> bool {
        names.iter().all(|name| !matches!(self.0.get(name.as_str()), Some(Sampled::Undefined)))
    }
}

impl Record for Sample {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        match self.0.get(name)? {
            Sampled::Undefined => None,
            Sampled::Truth(value) => Some(Value::Bool(*value)),
            Sampled::Number(region) => Some(Value::Number(region.first())),
        }
    }
}

/// The quantities of a predicate, and the numbers that they are compared with; `None` where it asks for more.
fn thresholds(robustness: &Robustness) -> Option<Vec<(String, f64)>> {
    let mut formulas = Formulas::new();
    let formula = formulas.parse_quantity(robustness.text()).ok()?;
    formulas.atoms_of(formula).into_iter().map(|atom| threshold(formulas.atom(atom))).collect()
}

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
fn samples(range: Range, mut numbers: Vec<f64>) -> Vec<Sampled> {
    let (least, most) = match range {
        Range::Truth => return vec![Sampled::Undefined, Sampled::Truth(false), Sampled::Truth(true)],
        Range::Share => (0.0, 1.0),
        Range::Count | Range::Amount => (0.0, f64::INFINITY),
        Range::Positive => (1.0, f64::INFINITY),
    };
    let is_whole = matches!(range, Range::Count | Range::Positive);
    numbers.extend([0.0, 1.0]);
    if is_whole {
        numbers = numbers.iter().flat_map(|n| [n.floor(), n.floor() + 1.0]).collect();
    }
    numbers.retain(|n| (least..=most).contains(n));
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    let ends = numbers.iter().skip(1).copied().chain([most]);
    let regions = numbers.iter().zip(ends).flat_map(|(number, end)| {
        if is_whole {
            // Whole numbers up to the next.
            vec![Region::new(*number, end, false)]
        } else {
            let between = (end > *number).then(|| {
                let middle = if end.is_finite() { f64::midpoint(*number, end) } else { number + 1.0 };
                Region::new(middle, end, false)
            });
            std::iter::once(Region::new(*number, *number, true)).chain(between).collect()
        }
    });
    std::iter::once(Sampled::Undefined).chain(regions.map(Sampled::Number)).collect()
}

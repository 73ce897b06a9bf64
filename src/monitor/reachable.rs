//! Whether revisions can be such that a goal is met: which predicates can be true together, as far as that is told by
//! thresholds, by what the quantities mean, and by where a line of revisions stands.
//!
//! Sound in one direction: what is called unreachable is so. What is more than a quantity compared with numbers (a sum, a
//! product) may be true or false at any revision that has its quantities.

use std::collections::{BTreeMap, BTreeSet};

use super::run_objective::{Along, GoalStep, Known, Range};
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

/// Where a line of revisions goes on.
#[derive(Clone, Copy)]
pub struct Onward<'a> {
    /// The step of its last revision; `None` before the first.
    pub behind: Option<&'a GoalStep>,
    /// What the quantities that only grow have come to.
    pub now: &'a dyn Record,
    /// The highest number that a revision of the run may still have. Without one, not only a run goes on: branches may
    /// follow, and nothing ends it.
    pub highest: Option<u32>,
}

impl Possible {
    pub(super) fn of(objective: &Objective, known: &[Known]) -> Self {
        Self { letters: letters(objective, known) }
    }

    /// The least number of further revisions after which the goal is met; 0 where it is met, `None` where none can meet it.
    pub(super) fn least(&self, objective: &Objective, known: &[Known], onward: &Onward<'_>) -> Option<u32> {
        let from = onward.behind.map_or(Dfa::INITIAL, |step| step.state);
        if onward.behind.is_some() && objective.dfa().accepts(from) {
            return Some(0);
        }
        let can_follow = |letter: &&Letter| {
            letter.grown.iter().all(|(name, region)| {
                let now = onward.now.field(name).and_then(|value| value.as_double());
                if known.iter().any(|k| k.name == *name && k.along == Along::Numbers) {
                    let is_low = onward.highest.is_none_or(|highest| region.first() <= f64::from(highest));
                    is_low && now.is_none_or(|now| region.reaches(now + 1.0))
                } else {
                    now.is_none_or(|now| region.reaches(now))
                }
            })
        };
        self.search(objective, from, onward.highest.is_some(), can_follow)
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
    let mut compared: BTreeMap<&'static str, (&Known, Vec<f64>)> = BTreeMap::new();
    let mut predicates = Vec::new();
    for (number, (_, robustness)) in objective.predicates().enumerate() {
        let all = thresholds(robustness);
        predicates.push(Judged { number, robustness, is_free: all.is_none() });
        for (name, value) in all.into_iter().flatten() {
            let known = known.iter().find(|k| k.name == name)?;
            compared.entry(known.name).or_insert((known, Vec::new())).1.push(value);
        }
    }
    let sampled: Vec<Quantity<'_>> =
        compared.into_values().map(|(known, numbers)| Quantity { known, values: samples(known, numbers) }).collect();
    let mut all = vec![Letter { holds: BTreeSet::new(), grown: BTreeMap::new(), is_last: false }];
    for (quantities, predicates) in parts(&sampled, &predicates) {
        let here = letters_of(&quantities, &predicates)?;
        if all.len().checked_mul(here.len())? > MOST {
            return None;
        }
        all = all.iter().flat_map(|one| here.iter().map(|other| one.and(other))).collect();
    }
    Some(all)
}

impl Letter {
    fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.holds.extend(&other.holds);
        both.grown.extend(&other.grown);
        both.is_last |= other.is_last;
        both
    }
}

/// A predicate of the objective; a free one asks for more than quantities compared with numbers.
#[derive(Clone, Copy)]
struct Judged<'a> {
    number: usize,
    robustness: &'a Robustness,
    is_free: bool,
}

/// A quantity with the values that it is tried with.
struct Quantity<'a> {
    known: &'a Known,
    values: Vec<Sampled>,
}

impl Quantity<'_> {
    fn is_tied_to(&self, other: &Self) -> bool {
        let implies = |a: &Known, b: &Known| a.implies.iter().any(|(name, _)| *name == b.name);
        implies(self.known, other.known) || implies(other.known, self.known)
    }
}

/// What has nothing to do with each other: quantities that a predicate or a meaning ties together, and their predicates.
fn parts<'a>(sampled: &'a [Quantity<'a>], predicates: &[Judged<'a>]) -> Vec<(Vec<&'a Quantity<'a>>, Vec<Judged<'a>>)> {
    let mut parts: Vec<(Vec<&Quantity<'_>>, Vec<Judged<'_>>)> = Vec::new();
    let mut add = |quantities: Vec<&'a Quantity<'a>>, predicates: Vec<Judged<'a>>| {
        let touches = |part: &(Vec<&Quantity<'_>>, Vec<Judged<'_>>)| {
            part.0.iter().any(|a| quantities.iter().any(|b| a.known.name == b.known.name || a.is_tied_to(b)))
        };
        let (with, without): (Vec<_>, Vec<_>) = std::mem::take(&mut parts).into_iter().partition(touches);
        let mut whole = (quantities, predicates);
        for (quantities, predicates) in with {
            whole.0.extend(quantities);
            whole.1.extend(predicates);
        }
        whole.0.sort_by_key(|quantity| quantity.known.name);
        whole.0.dedup_by_key(|quantity| quantity.known.name);
        parts = without;
        parts.push(whole);
    };
    for predicate in predicates {
        let reads =
            |quantity: &&Quantity<'_>| predicate.robustness.quantities().iter().any(|q| q == quantity.known.name);
        add(sampled.iter().filter(reads).collect(), vec![*predicate]);
    }
    parts
}

fn letters_of(quantities: &[&Quantity<'_>], predicates: &[Judged<'_>]) -> Option<BTreeSet<Letter>> {
    let count = quantities.iter().try_fold(1usize, |all, quantity| all.checked_mul(quantity.values.len()))?;
    let free = predicates.iter().filter(|predicate| predicate.is_free).count();
    let ways = u32::try_from(free).ok().and_then(|free| 2usize.checked_pow(free))?;
    if count.checked_mul(ways)? > MOST {
        return None;
    }
    let mut found = BTreeSet::new();
    for mut number in 0..count {
        let mut sample = Sample(BTreeMap::new());
        for Quantity { known, values } in quantities {
            sample.0.insert(known.name, values[number % values.len()]);
            number /= values.len();
        }
        if !quantities.iter().all(|quantity| sample.is_possible(quantity.known)) {
            continue;
        }
        let mut holds = BTreeSet::new();
        let mut open = Vec::new();
        for Judged { number, robustness, is_free } in predicates {
            if *is_free {
                open.extend(sample.may_have(robustness.quantities()).then_some(*number));
            } else if robustness.is_satisfied(&sample) {
                holds.insert(*number);
            }
        }
        let only_grows = |quantity: &&&Quantity<'_>| matches!(quantity.known.along, Along::Grows | Along::Numbers);
        let grown: BTreeMap<&'static str, Region> = quantities
            .iter()
            .filter(only_grows)
            .filter_map(|quantity| Some((quantity.known.name, sample.region(quantity.known.name)?)))
            .collect();
        let ends =
            |quantity: &&Quantity<'_>| quantity.known.along == Along::Last && sample.is(quantity.known.name, true);
        let is_last = quantities.iter().any(ends);
        for way in 0..1usize << open.len() {
            let chosen = open.iter().enumerate().filter(|(bit, _)| way >> bit & 1 == 1).map(|(_, at)| *at);
            found.insert(Letter {
                holds: holds.iter().copied().chain(chosen).collect(),
                grown: grown.clone(),
                is_last,
            });
        }
    }
    Some(found)
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

/// One more, or what comes next where numbers lie farther apart.
fn above(number: f64) -> f64 {
    (number + 1.0).max(number.next_up())
}

/// Values such that each threshold is met, and each space between two that the range has a value in; and none, where a
/// revision may have none.
fn samples(known: &Known, mut numbers: Vec<f64>) -> Vec<Sampled> {
    let range = known.range;
    let (least, most) = match range {
        Range::Truth => return vec![Sampled::Undefined, Sampled::Truth(false), Sampled::Truth(true)],
        Range::Share => (0.0, 1.0),
        Range::Count | Range::Amount => (0.0, f64::INFINITY),
        Range::Positive => (1.0, f64::INFINITY),
    };
    let is_whole = matches!(range, Range::Count | Range::Positive);
    numbers.extend([0.0, 1.0]);
    if is_whole {
        numbers = numbers.iter().flat_map(|n| [n.floor(), above(n.floor())]).collect();
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
                let middle = if end.is_finite() { f64::midpoint(*number, end) } else { above(*number) };
                Region::new(middle, end, false)
            });
            std::iter::once(Region::new(*number, *number, true)).chain(between).collect()
        }
    });
    let is_always = known.along == Along::Numbers || range == Range::Positive;
    let undefined = (!is_always).then_some(Sampled::Undefined);
    undefined.into_iter().chain(regions.map(Sampled::Number)).collect()
}

//! Whether revisions can exist that meet a goal: which predicates can be true together, given their thresholds, the
//! domains of the metrics and the line of revisions so far.
//!
//! Sound in one direction: a goal that is called unreachable is unreachable. A predicate that is more than a metric
//! compared with numbers (a sum, a product) counts as possibly true and possibly false at any revision that has its
//! metrics.

use std::collections::{BTreeMap, BTreeSet};

use super::goal_step::GoalStep;
use super::metric_domain::{MetricDomain, Range, Trend};
use tlaforge_temporal::{Atom, Dfa, Formulas, Number, Objective, Record, Robustness, Term, Value};

/// Maximum number of combinations of values that are tried; beyond it, all predicates count as possible together.
const MAX_COMBINATIONS: usize = 20_000;

/// The letters that revisions can produce for the automaton of an objective.
#[derive(Debug, Clone)]
pub(super) struct Reachability {
    /// `None` if there are too many to list: then any letter counts as possible.
    letters: Option<Vec<Letter>>,
}

/// A set of predicates that hold together at some possible revision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Letter {
    /// The numbers of the predicates that hold.
    holds: BTreeSet<usize>,
    /// The regions of the metrics that never decrease.
    growing: BTreeMap<&'static str, Region>,
    /// Whether a run ends with such a revision.
    is_last: bool,
}

/// An interval of values that no threshold separates, represented by its first value. Stored as bit patterns, which are
/// ordered like the numbers for numbers from 0, so that regions can be sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Region {
    first: u64,
    end: u64,
    includes_end: bool,
}

impl Region {
    fn new(first: f64, end: f64, includes_end: bool) -> Self {
        Self { first: first.to_bits(), end: end.to_bits(), includes_end }
    }

    fn first(self) -> f64 {
        f64::from_bits(self.first)
    }

    /// Whether it has a value of at least `least`.
    fn reaches(self, least: f64) -> bool {
        let end = f64::from_bits(self.end);
        end > least || self.includes_end && end >= least
    }
}

/// A value of a metric at one revision.
#[derive(Clone, Copy)]
enum SampleValue {
    Undefined,
    Truth(bool),
    Number(Region),
}

/// The point from which a line of revisions continues.
#[derive(Clone, Copy)]
pub struct Continuation<'a> {
    /// The step of the last revision; `None` before the first.
    pub last_step: Option<&'a GoalStep>,
    /// The current values of the metrics that never decrease.
    pub current_values: &'a dyn Record,
    /// The highest number that a revision of the run can have. `None` if branches can follow, so that nothing ends the
    /// line.
    pub max_revision: Option<u32>,
}

impl Reachability {
    pub(super) fn new(objective: &Objective, metrics: &[MetricDomain]) -> Self {
        Self { letters: letters(objective, metrics) }
    }

    /// The least number of further revisions after which the goal can be met; 0 if it is met, `None` if it cannot be.
    pub(super) fn min_revisions(
        &self,
        objective: &Objective,
        metrics: &[MetricDomain],
        continuation: &Continuation<'_>,
    ) -> Option<u32> {
        let Continuation { last_step, current_values, max_revision } = continuation;
        let from = last_step.map_or(Dfa::INITIAL, |step| step.state);
        if last_step.is_some() && objective.dfa().accepts(from) {
            return Some(0);
        }
        let can_follow = |letter: &&Letter| {
            letter.growing.iter().all(|(name, region)| {
                let now = current_values.field(name).and_then(|value| value.as_double());
                if metrics.iter().any(|m| m.name == *name && m.trend == Trend::RevisionNumber) {
                    let is_low = max_revision.is_none_or(|max| region.first() <= f64::from(max));
                    is_low && now.is_none_or(|now| region.reaches(now + 1.0))
                } else {
                    now.is_none_or(|now| region.reaches(now))
                }
            })
        };
        self.search(objective, from, max_revision.is_some(), can_follow)
    }

    /// Whether every line of at least one revision satisfies the goal.
    pub(super) fn is_always_met(&self, objective: &Objective) -> bool {
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

    /// Breadth-first search for an accepting state. If `ends`, the line stops at a revision that ends the run.
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
            let continuing = next.into_iter().filter(|(_, is_last)| !(ends && *is_last));
            here = continuing.map(|(state, _)| state).filter(|state| seen.insert(*state)).collect();
        }
        None
    }

    /// The states that one revision can lead to, and whether the run ends there.
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

/// The letters that revisions can produce; `None` if there are more than [`MAX_COMBINATIONS`] to try.
fn letters(objective: &Objective, metrics: &[MetricDomain]) -> Option<Vec<Letter>> {
    let mut compared: BTreeMap<&'static str, (&MetricDomain, Vec<f64>)> = BTreeMap::new();
    let mut predicates = Vec::new();
    for (number, (_, robustness)) in objective.predicates().enumerate() {
        let all = thresholds(robustness);
        predicates.push(NumberedPredicate { number, robustness, is_free: all.is_none() });
        for (name, value) in all.into_iter().flatten() {
            let metric = metrics.iter().find(|metric| metric.name == name)?;
            compared.entry(metric.name).or_insert((metric, Vec::new())).1.push(value);
        }
    }
    let sampled: Vec<SampledMetric<'_>> = compared
        .into_values()
        .map(|(domain, numbers)| SampledMetric { domain, values: sample_values(domain, numbers) })
        .collect();
    let mut all = vec![Letter { holds: BTreeSet::new(), growing: BTreeMap::new(), is_last: false }];
    // Independent groups are enumerated apart: the product of their letters is much smaller than that of their values.
    for (metrics, predicates) in independent_groups(&sampled, &predicates) {
        let here = letters_of_group(&metrics, &predicates)?;
        if all.len().checked_mul(here.len())? > MAX_COMBINATIONS {
            return None;
        }
        all = all.iter().flat_map(|one| here.iter().map(|other| one.union(other))).collect();
    }
    Some(all)
}

impl Letter {
    fn union(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.holds.extend(&other.holds);
        both.growing.extend(&other.growing);
        both.is_last |= other.is_last;
        both
    }
}

/// A predicate of the objective. A free one is more than metrics compared with numbers.
#[derive(Clone, Copy)]
struct NumberedPredicate<'a> {
    number: usize,
    robustness: &'a Robustness,
    is_free: bool,
}

/// A metric with the values that are tried.
struct SampledMetric<'a> {
    domain: &'a MetricDomain,
    values: Vec<SampleValue>,
}

impl SampledMetric<'_> {
    fn is_tied_to(&self, other: &Self) -> bool {
        let implies = |a: &MetricDomain, b: &MetricDomain| a.implies.iter().any(|(name, _)| *name == b.name);
        implies(self.domain, other.domain) || implies(other.domain, self.domain)
    }
}

/// Splits metrics and predicates into groups: a predicate ties the metrics that it reads together, and so does one metric
/// that implies another.
fn independent_groups<'a>(
    sampled: &'a [SampledMetric<'a>],
    predicates: &[NumberedPredicate<'a>],
) -> Vec<(Vec<&'a SampledMetric<'a>>, Vec<NumberedPredicate<'a>>)> {
    let mut parts: Vec<(Vec<&SampledMetric<'_>>, Vec<NumberedPredicate<'_>>)> = Vec::new();
    let mut add = |metrics: Vec<&'a SampledMetric<'a>>, predicates: Vec<NumberedPredicate<'a>>| {
        let touches = |part: &(Vec<&SampledMetric<'_>>, Vec<NumberedPredicate<'_>>)| {
            part.0.iter().any(|a| metrics.iter().any(|b| a.domain.name == b.domain.name || a.is_tied_to(b)))
        };
        let (with, without): (Vec<_>, Vec<_>) = std::mem::take(&mut parts).into_iter().partition(touches);
        let mut whole = (metrics, predicates);
        for (metrics, predicates) in with {
            whole.0.extend(metrics);
            whole.1.extend(predicates);
        }
        whole.0.sort_by_key(|metric| metric.domain.name);
        whole.0.dedup_by_key(|metric| metric.domain.name);
        parts = without;
        parts.push(whole);
    };
    for predicate in predicates {
        let reads =
            |metric: &&SampledMetric<'_>| predicate.robustness.quantities().iter().any(|q| q == metric.domain.name);
        add(sampled.iter().filter(reads).collect(), vec![*predicate]);
    }
    parts
}

fn letters_of_group(metrics: &[&SampledMetric<'_>], predicates: &[NumberedPredicate<'_>]) -> Option<BTreeSet<Letter>> {
    let count = metrics.iter().try_fold(1usize, |all, metric| all.checked_mul(metric.values.len()))?;
    let free = predicates.iter().filter(|predicate| predicate.is_free).count();
    let ways = u32::try_from(free).ok().and_then(|free| 2usize.checked_pow(free))?;
    if count.checked_mul(ways)? > MAX_COMBINATIONS {
        return None;
    }
    let mut found = BTreeSet::new();
    for mut number in 0..count {
        let mut sample = Sample(BTreeMap::new());
        for SampledMetric { domain, values } in metrics {
            sample.0.insert(domain.name, values[number % values.len()]);
            number /= values.len();
        }
        if !metrics.iter().all(|metric| sample.is_consistent(metric.domain)) {
            continue;
        }
        let mut holds = BTreeSet::new();
        let mut open = Vec::new();
        for NumberedPredicate { number, robustness, is_free } in predicates {
            if *is_free {
                open.extend(sample.has_all(robustness.quantities()).then_some(*number));
            } else if robustness.is_satisfied(&sample) {
                holds.insert(*number);
            }
        }
        let only_grows =
            |metric: &&&SampledMetric<'_>| matches!(metric.domain.trend, Trend::NonDecreasing | Trend::RevisionNumber);
        let growing: BTreeMap<&'static str, Region> = metrics
            .iter()
            .filter(only_grows)
            .filter_map(|metric| Some((metric.domain.name, sample.region(metric.domain.name)?)))
            .collect();
        let ends = |metric: &&SampledMetric<'_>| {
            metric.domain.trend == Trend::LastRevision && sample.is(metric.domain.name, true)
        };
        let is_last = metrics.iter().any(ends);
        for way in 0..1usize << open.len() {
            let chosen = open.iter().enumerate().filter(|(bit, _)| way >> bit & 1 == 1).map(|(_, at)| *at);
            found.insert(Letter {
                holds: holds.iter().copied().chain(chosen).collect(),
                growing: growing.clone(),
                is_last,
            });
        }
    }
    Some(found)
}

/// A possible revision, by the values of its metrics.
struct Sample(BTreeMap<&'static str, SampleValue>);

impl Sample {
    fn is(&self, name: &str, value: bool) -> bool {
        matches!(self.0.get(name), Some(SampleValue::Truth(is)) if *is == value)
    }

    fn region(&self, name: &str) -> Option<Region> {
        match self.0.get(name) {
            Some(SampleValue::Number(region)) => Some(*region),
            _ => None,
        }
    }

    /// Whether the value of this metric is consistent with what it implies about the others.
    fn is_consistent(&self, domain: &MetricDomain) -> bool {
        let fits = |(other, value): &(&str, bool)| !self.0.contains_key(other) || self.is(other, *value);
        !self.is(domain.name, true) || domain.implies.iter().all(fits)
    }

    fn has_all(&self, names: &[String]) -> bool {
        names.iter().all(|name| !matches!(self.0.get(name.as_str()), Some(SampleValue::Undefined)))
    }
}

impl Record for Sample {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        match self.0.get(name)? {
            SampleValue::Undefined => None,
            SampleValue::Truth(value) => Some(Value::Bool(*value)),
            SampleValue::Number(region) => Some(Value::Number(region.first())),
        }
    }
}

/// The metrics of a predicate, and the numbers that they are compared with; `None` for a predicate that is more than
/// that.
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
        // A metric without a comparison is compared with 0.
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

/// A greater number: one more, or the next one if numbers of this size are farther apart.
fn greater(number: f64) -> f64 {
    (number + 1.0).max(number.next_up())
}

/// One value for each threshold and for each interval between two of them, as far as the range has values there, and
/// `Undefined` if a revision can lack the metric.
fn sample_values(domain: &MetricDomain, mut numbers: Vec<f64>) -> Vec<SampleValue> {
    let range = domain.range;
    let (least, most) = match range {
        Range::Truth => return vec![SampleValue::Undefined, SampleValue::Truth(false), SampleValue::Truth(true)],
        Range::Share => (0.0, 1.0),
        Range::Count | Range::Amount => (0.0, f64::INFINITY),
        Range::Positive => (1.0, f64::INFINITY),
    };
    let is_whole = matches!(range, Range::Count | Range::Positive);
    numbers.extend([0.0, 1.0]);
    if is_whole {
        numbers = numbers.iter().flat_map(|n| [n.floor(), greater(n.floor())]).collect();
    }
    numbers.retain(|n| (least..=most).contains(n));
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    let ends = numbers.iter().skip(1).copied().chain([most]);
    let regions = numbers.iter().zip(ends).flat_map(|(number, end)| {
        if is_whole {
            // The whole numbers up to the next threshold.
            vec![Region::new(*number, end, false)]
        } else {
            let between = (end > *number).then(|| {
                let middle = if end.is_finite() { f64::midpoint(*number, end) } else { greater(*number) };
                Region::new(middle, end, false)
            });
            std::iter::once(Region::new(*number, *number, true)).chain(between).collect()
        }
    });
    let is_always = domain.trend == Trend::RevisionNumber || range == Range::Positive;
    let undefined = (!is_always).then_some(SampleValue::Undefined);
    undefined.into_iter().chain(regions.map(SampleValue::Number)).collect()
}

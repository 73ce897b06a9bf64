//! Generates traces that satisfy or violate constraints as required.

use std::collections::HashSet;

use fastrand::Rng;

use super::constraint::{Constraint, Shape};
use super::trace::{ANIMALS, Attribute, COLORS, Event, MAX_RANDOM_NUMBER, Proposition, SHAPES, Trace};

/// Maximum number of constraints on one trace.
pub const MAX_CONSTRAINTS: usize = 40;
/// Maximum number of entities at a step.
pub const MAX_ENTITIES: usize = 1_000;
/// Maximum gap between events.
const MAX_GAP: usize = 100_000;
/// Minimum number of steps for each event of a constraint: with fewer, events of several constraints would collide.
const STEPS_PER_EVENT: usize = 8;

/// Number of values of each attribute that no proposition uses, so that the background can be filled with them.
const SPARE_VALUES: usize = 5;
/// Number of attempts with distracting events; later attempts leave them out, so that one succeeds.
const DISTRACTED_ATTEMPTS: usize = 50;
/// Maximum number of random places that are tried for the events of one constraint.
const MAX_PLACES: usize = 1_000;

/// A trace, constraints on it, and whether it satisfies each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synthetic {
    pub trace: Trace,
    pub constraints: Vec<Constraint>,
    /// For each constraint, whether the trace satisfies it.
    pub truths: Vec<bool>,
}

impl Synthetic {
    /// Temporal elasticity: one constraint whose events are `gap` steps apart (1 to 1000 in the paper, here at most
    /// 100,000), on a trace long enough for them.
    pub fn elasticity(shape: Shape, gap: usize, satisfied: bool, seed: u64) -> Self {
        let gap = gap.clamp(1, MAX_GAP);
        let length = path_length(shape.bounded()) * gap + 10;
        generate(shape, &[satisfied], 1, length, gap, seed)
    }

    /// Constraint scalability: `count` constraints of one shape (1 to 20 in the paper, here at most 40) over different
    /// propositions, each satisfied with probability one half. Simple shapes have 500 steps and events 10 steps apart;
    /// trees have 1000 steps and gaps as in appendix F.2 of the paper, or as large as the trace allows.
    pub fn constraints(shape: Shape, count: usize, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed ^ 0x5eed);
        let truths: Vec<bool> = (0..count.clamp(1, MAX_CONSTRAINTS)).map(|_| rng.bool()).collect();
        let (length, gap) = match (shape, count) {
            (Shape::Tree(_), 0..=1) => (1_000, 23),
            (Shape::Tree(_), 2..=5) => (1_000, 117),
            (Shape::Tree(_), 6..=10) => (1_000, 91),
            (Shape::Tree(_), _) => (1_000, 40),
            _ => (500, 10),
        };
        generate(shape, &truths, 1, length, gap, seed)
    }

    /// Proposition scalability: one constraint about some of the entities (at most 1,000), on a trace of 100 steps.
    pub fn propositions(shape: Shape, entities: usize, satisfied: bool, seed: u64) -> Self {
        generate(shape, &[satisfied], entities.clamp(1, MAX_ENTITIES), 100, 10, seed)
    }

    /// Specification language: one of the patterns of table 2, on a trace of 200 steps.
    pub fn pattern(shape: Shape, satisfied: bool, seed: u64) -> Self {
        generate(shape, &[satisfied], 1, 200, 20, seed)
    }

    /// A trace of a given length, with a constraint of the shape for each truth value and events `gap` steps apart, or less
    /// if the trace is too short for that. `None` if the trace is too short for the constraints, or there are too many
    /// constraints or entities.
    pub fn sized(
        shape: Shape,
        truths: &[bool],
        entities: usize,
        (length, gap): (usize, usize),
        seed: u64,
    ) -> Option<Self> {
        let fits = (1..=MAX_CONSTRAINTS).contains(&truths.len())
            && (1..=MAX_ENTITIES).contains(&entities)
            && length >= Self::min_length(shape, truths.len());
        fits.then(|| generate(shape, truths, entities, length, gap, seed))
    }

    /// The minimum length of a trace with this many constraints.
    pub fn min_length(shape: Shape, constraints: usize) -> usize {
        STEPS_PER_EVENT * constraints * path_length(shape.bounded())
    }
}

/// The number of events that satisfy a shape.
fn path_length(shape: Shape) -> usize {
    match shape {
        Shape::Tree(depth) => depth as usize + 2,
        Shape::Universality | Shape::Absence => 1,
        Shape::Sequence | Shape::Response => 2,
        Shape::AbsenceBetween | Shape::ConstrainedResponse => 3,
    }
}

/// Generates a trace with one constraint of the shape for each truth value.
fn generate(shape: Shape, truths: &[bool], entities: usize, length: usize, gap: usize, seed: u64) -> Synthetic {
    let mut rng = Rng::with_seed(seed);
    let shape = shape.bounded();
    let constraints = random_constraints(&mut rng, shape, truths.len(), entities);
    let used: HashSet<Proposition> = constraints.iter().flat_map(|c| c.propositions.iter().copied()).collect();
    // The events of one constraint must fit into the trace.
    let gap = gap.min((length - 1) / path_length(shape).max(1)).max(1);
    for attempt in 0.. {
        let distractions = if attempt < DISTRACTED_ATTEMPTS { 3 } else { 0 };
        let mut trace = background(&mut rng, &used, entities, length);
        for (constraint, satisfied) in constraints.iter().zip(truths) {
            plant_constraint(&mut rng, &mut trace, &used, constraint, *satisfied, (gap, distractions));
        }
        if constraints.iter().zip(truths).all(|(constraint, satisfied)| constraint.holds(&trace) == *satisfied) {
            return Synthetic { trace, constraints, truths: truths.to_vec() };
        }
    }
    unreachable!("the attempts do not end")
}

fn random_constraints(rng: &mut Rng, shape: Shape, count: usize, entities: usize) -> Vec<Constraint> {
    let mut pool: Vec<Proposition> = Vec::new();
    for entity in 0..entities {
        let mut take = |attribute, words: &[&'static str]| {
            let mut words = words.to_vec();
            rng.shuffle(&mut words);
            words.truncate(words.len() - SPARE_VALUES);
            pool.extend(words.into_iter().map(|word| Proposition { entity, attribute, word, number: 0 }));
        };
        take(Attribute::Animal, &ANIMALS);
        take(Attribute::Shape, &SHAPES);
        take(Attribute::Color, &COLORS);
    }
    rng.shuffle(&mut pool);
    let mut numbers = MAX_RANDOM_NUMBER + 1..;
    let mut constraint = || {
        // The propositions of a pattern are about different attributes, so that they can be true at the same step.
        let distinct_attributes = !matches!(shape, Shape::Sequence | Shape::Tree(_));
        let mut propositions: Vec<Proposition> = Vec::new();
        while propositions.len() < shape.proposition_count() {
            let fits = |p: &Proposition| {
                !distinct_attributes || propositions.iter().all(|other| other.attribute != p.attribute)
            };
            let proposition = match pool.iter().rposition(fits) {
                Some(at) => pool.swap_remove(at),
                None => Proposition {
                    entity: rng.usize(0..entities),
                    attribute: Attribute::Number,
                    word: "",
                    number: numbers.next().expect("there are more numbers than propositions"),
                },
            };
            propositions.push(proposition);
        }
        Constraint { shape, propositions, entities }
    };
    (0..count).map(|_| constraint()).collect()
}

/// A trace of random events in which no proposition is true.
fn background(rng: &mut Rng, used: &HashSet<Proposition>, entities: usize, length: usize) -> Trace {
    let free = |entity, attribute, words: &[&'static str]| -> Vec<&'static str> {
        let is_free = |word: &&'static str| !used.contains(&Proposition { entity, attribute, word, number: 0 });
        words.iter().copied().filter(is_free).collect()
    };
    let choices: Vec<_> = (0..entities)
        .map(|entity| {
            [
                free(entity, Attribute::Animal, &ANIMALS),
                free(entity, Attribute::Shape, &SHAPES),
                free(entity, Attribute::Color, &COLORS),
            ]
        })
        .collect();
    let mut event = |[animals, shapes, colors]: &[Vec<&'static str>; 3]| Event {
        animal: animals[rng.usize(0..animals.len())],
        shape: shapes[rng.usize(0..shapes.len())],
        color: colors[rng.usize(0..colors.len())],
        number: rng.u32(1..=MAX_RANDOM_NUMBER),
    };
    Trace { steps: (0..length).map(|_| choices.iter().map(&mut event).collect()).collect() }
}

fn plant_constraint(
    rng: &mut Rng,
    trace: &mut Trace,
    used: &HashSet<Proposition>,
    constraint: &Constraint,
    satisfied: bool,
    (gap, distractions): (usize, usize),
) {
    let p = &constraint.propositions;
    let length = trace.steps.len();
    match constraint.shape {
        Shape::Universality => {
            let exception = rng.usize(0..length);
            for (i, step) in trace.steps.iter_mut().enumerate() {
                if satisfied || i != exception {
                    p[0].make_true(step);
                }
            }
        }
        Shape::Absence => {
            if !satisfied {
                p[0].make_true(&mut trace.steps[rng.usize(0..length)]);
            }
        }
        Shape::Sequence => {
            plant_path(rng, trace, used, &[p[0], p[1]], satisfied, gap);
            add_distractions(rng, trace, p, distractions);
        }
        Shape::Tree(depth) => {
            let mut node = 0;
            let mut events = vec![p[0]];
            for _ in 0..depth {
                node = 2 * node + rng.usize(1..=2);
                events.push(p[node]);
            }
            events.push(p[p.len() - 1]);
            plant_path(rng, trace, used, &events, satisfied, gap);
            add_distractions(rng, trace, p, distractions);
        }
        Shape::Response => {
            for _ in 0..rng.usize(1..=4) {
                p[0].make_true(&mut trace.steps[rng.usize(0..length)]);
            }
            for _ in 0..rng.usize(1..=4) {
                p[1].make_true(&mut trace.steps[rng.usize(0..length)]);
            }
        }
        Shape::AbsenceBetween | Shape::ConstrainedResponse => {
            for proposition in p {
                for _ in 0..rng.usize(1..=4) {
                    proposition.make_true(&mut trace.steps[rng.usize(0..length)]);
                }
            }
        }
    }
}

/// Plants events in order, `gap` steps apart, at a random place without events of other constraints. If the constraint
/// must be violated, one event is missing or comes too early.
fn plant_path(
    rng: &mut Rng,
    trace: &mut Trace,
    used: &HashSet<Proposition>,
    events: &[Proposition],
    satisfied: bool,
    gap: usize,
) {
    let starts = trace.steps.len() - (events.len() - 1) * gap;
    let mut events = events.to_vec();
    let mut missing = None;
    if !satisfied {
        let last = events.len() - 1;
        match rng.u8(0..3) {
            0 => missing = Some(rng.usize(0..=last)),
            1 => events.swap(last - 1, last),
            _ => missing = Some(last),
        }
    }
    let mut start = rng.usize(0..starts);
    for _ in 0..MAX_PLACES {
        let free = |(i, event): (usize, &Proposition)| !used.contains(&event.actual(&trace.steps[start + i * gap]));
        if events.iter().enumerate().all(free) {
            break;
        }
        start = rng.usize(0..starts);
    }
    for (i, event) in events.iter().enumerate() {
        if missing != Some(i) {
            event.make_true(&mut trace.steps[start + i * gap]);
        }
    }
}

/// Adds events of the constraint at random places. They can change its truth; the caller checks that they do not.
fn add_distractions(rng: &mut Rng, trace: &mut Trace, propositions: &[Proposition], count: usize) {
    let length = trace.steps.len();
    for _ in 0..count {
        propositions[rng.usize(0..propositions.len())].make_true(&mut trace.steps[rng.usize(0..length)]);
    }
}

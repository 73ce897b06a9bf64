//! Making traces that satisfy what they should and nothing else.

use std::collections::HashSet;

use fastrand::Rng;

use super::{ANIMALS, Attributes, COLORS, Constraint, Event, NUMBERS, Proposition, SHAPES, Shape, Synthetic, Trace};

/// Values of each attribute that no proposition takes, so that there is something else to show.
const SPARE: usize = 5;
/// Attempts before what leads astray is left out.
const ATTEMPTS: usize = 50;
/// Places tried for the events of one constraint.
const PLACES: usize = 1_000;

/// How many events one way to satisfy a shape has.
pub(super) fn path_length(shape: Shape) -> usize {
    match shape {
        Shape::Tree(depth) => depth as usize + 2,
        Shape::Universality | Shape::Absence => 1,
        Shape::Sequence | Shape::Response => 2,
        Shape::AbsenceBetween | Shape::ConstrainedResponse => 3,
    }
}

/// A trace with one constraint of the shape for each truth.
pub(super) fn planted(
    shape: Shape,
    truths: &[bool],
    entities: usize,
    length: usize,
    gap: usize,
    seed: u64,
) -> Synthetic {
    let mut rng = Rng::with_seed(seed);
    let shape = shape.bounded();
    let constraints = constraints(&mut rng, shape, truths.len(), entities);
    let used: HashSet<Proposition> = constraints.iter().flat_map(|c| c.propositions.iter().copied()).collect();
    // A trace has no room for events further apart than this.
    let gap = gap.min((length - 1) / path_length(shape).max(1)).max(1);
    for attempt in 0.. {
        let astray = if attempt < ATTEMPTS { 3 } else { 0 };
        let mut trace = background(&mut rng, &used, entities, length);
        for (constraint, satisfied) in constraints.iter().zip(truths) {
            plant(&mut rng, &mut trace, &used, constraint, *satisfied, (gap, astray));
        }
        if constraints.iter().zip(truths).all(|(constraint, satisfied)| constraint.holds(&trace) == *satisfied) {
            return Synthetic { trace, constraints, truths: truths.to_vec() };
        }
    }
    unreachable!("the attempts do not end")
}

fn constraints(rng: &mut Rng, shape: Shape, count: usize, entities: usize) -> Vec<Constraint> {
    let mut pool: Vec<Proposition> = Vec::new();
    for entity in 0..entities {
        let mut take = |attribute, words: &[&'static str]| {
            let mut words = words.to_vec();
            rng.shuffle(&mut words);
            words.truncate(words.len() - SPARE);
            pool.extend(words.into_iter().map(|word| Proposition { entity, attribute, word, number: 0 }));
        };
        take(Attributes::Animal, &ANIMALS);
        take(Attributes::Shape, &SHAPES);
        take(Attributes::Color, &COLORS);
    }
    rng.shuffle(&mut pool);
    let mut numbers = NUMBERS + 1..;
    let mut constraint = || {
        // Propositions of the patterns are about different attributes, so that they can meet at one step.
        let apart = !matches!(shape, Shape::Sequence | Shape::Tree(_));
        let mut propositions: Vec<Proposition> = Vec::new();
        while propositions.len() < shape.propositions() {
            let fits = |p: &Proposition| !apart || propositions.iter().all(|other| other.attribute != p.attribute);
            let proposition = match pool.iter().rposition(fits) {
                Some(at) => pool.swap_remove(at),
                None => Proposition {
                    entity: rng.usize(0..entities),
                    attribute: Attributes::Number,
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

/// Random events in which no proposition is true.
fn background(rng: &mut Rng, used: &HashSet<Proposition>, entities: usize, length: usize) -> Trace {
    let free = |entity, attribute, words: &[&'static str]| -> Vec<&'static str> {
        let is_free = |word: &&'static str| !used.contains(&Proposition { entity, attribute, word, number: 0 });
        words.iter().copied().filter(is_free).collect()
    };
    let choices: Vec<_> = (0..entities)
        .map(|entity| {
            [
                free(entity, Attributes::Animal, &ANIMALS),
                free(entity, Attributes::Shape, &SHAPES),
                free(entity, Attributes::Color, &COLORS),
            ]
        })
        .collect();
    let mut event = |[animals, shapes, colors]: &[Vec<&'static str>; 3]| Event {
        animal: animals[rng.usize(0..animals.len())],
        shape: shapes[rng.usize(0..shapes.len())],
        color: colors[rng.usize(0..colors.len())],
        number: rng.u32(1..=NUMBERS),
    };
    Trace { steps: (0..length).map(|_| choices.iter().map(&mut event).collect()).collect() }
}

fn plant(
    rng: &mut Rng,
    trace: &mut Trace,
    used: &HashSet<Proposition>,
    constraint: &Constraint,
    satisfied: bool,
    (gap, astray): (usize, usize),
) {
    let p = &constraint.propositions;
    let length = trace.steps.len();
    match constraint.shape {
        Shape::Universality => {
            let exception = rng.usize(0..length);
            for (i, step) in trace.steps.iter_mut().enumerate() {
                if satisfied || i != exception {
                    p[0].make(step);
                }
            }
        }
        Shape::Absence => {
            if !satisfied {
                p[0].make(&mut trace.steps[rng.usize(0..length)]);
            }
        }
        Shape::Sequence => {
            path(rng, trace, used, &[p[0], p[1]], satisfied, gap);
            lead_astray(rng, trace, p, astray);
        }
        Shape::Tree(depth) => {
            let mut node = 0;
            let mut events = vec![p[0]];
            for _ in 0..depth {
                node = 2 * node + rng.usize(1..=2);
                events.push(p[node]);
            }
            events.push(p[p.len() - 1]);
            path(rng, trace, used, &events, satisfied, gap);
            lead_astray(rng, trace, p, astray);
        }
        Shape::Response => {
            for _ in 0..rng.usize(1..=4) {
                p[0].make(&mut trace.steps[rng.usize(0..length)]);
            }
            for _ in 0..rng.usize(1..=4) {
                p[1].make(&mut trace.steps[rng.usize(0..length)]);
            }
        }
        Shape::AbsenceBetween | Shape::ConstrainedResponse => {
            for proposition in p {
                for _ in 0..rng.usize(1..=4) {
                    proposition.make(&mut trace.steps[rng.usize(0..length)]);
                }
            }
        }
    }
}

/// Events in their order, so many steps apart, where no other constraint has put anything; where it must not be
/// satisfied, one is missing or comes too early.
fn path(
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
    for _ in 0..PLACES {
        let free = |(i, event): (usize, &Proposition)| !used.contains(&event.shown(&trace.steps[start + i * gap]));
        if events.iter().enumerate().all(free) {
            break;
        }
        start = rng.usize(0..starts);
    }
    for (i, event) in events.iter().enumerate() {
        if missing != Some(i) {
            event.make(&mut trace.steps[start + i * gap]);
        }
    }
}

/// Puts in events of the constraint that may or may not matter.
fn lead_astray(rng: &mut Rng, trace: &mut Trace, all: &[Proposition], times: usize) {
    let length = trace.steps.len();
    for _ in 0..times {
        all[rng.usize(0..all.len())].make(&mut trace.steps[rng.usize(0..length)]);
    }
}

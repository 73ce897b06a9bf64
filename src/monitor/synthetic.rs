//! Synthetic traces on which the truth of temporal constraints is known: those of section 5.2 of the TRAC paper.
//!
//! Each step shows one or more entities with an animal, a shape, a colour and a number, drawn at random and unrelated,
//! so that nothing but the order of events decides. The constraints are one sequence, one tree of alternatives (its
//! appendix D), and the seven patterns of its table 2. The same seed makes the same traces.

mod plant;
mod wordings;

use crate::temporal::{Formula, Formulas, ParseError, Record, Value};

pub use wordings::{Wording, Wordings};

/// The animals that appear.
const ANIMALS: [&str; 40] = [
    "owl", "fox", "deer", "crane", "pelican", "toucan", "hawk", "parrot", "wolf", "falcon", "salmon", "otter",
    "badger", "lynx", "heron", "beaver", "moose", "rabbit", "turtle", "lizard", "cobra", "panda", "koala", "tiger",
    "lion", "zebra", "camel", "llama", "goat", "sheep", "horse", "mouse", "bat", "whale", "shark", "squid", "crab",
    "beetle", "spider", "moth",
];
/// The shapes.
const SHAPES: [&str; 16] = [
    "triangle", "square", "circle", "star", "oval", "heart", "arrow", "hexagon", "pentagon", "octagon", "diamond",
    "cross", "crescent", "spiral", "cube", "cone",
];
/// The colours.
const COLORS: [&str; 16] = [
    "red", "blue", "green", "yellow", "orange", "purple", "black", "white", "silver", "gold", "olive", "pink", "brown",
    "grey", "teal", "navy",
];
/// Numbers up to this are drawn at random; propositions have greater ones.
const NUMBERS: u32 = 100;
/// The deepest tree.
const LEVELS: u32 = 8;
/// The most constraints on one trace.
pub const MOST_CONSTRAINTS: usize = 40;
/// The most entities at a step.
pub const MOST_ENTITIES: usize = 1_000;
/// The longest gap.
const GAP: usize = 100_000;
/// Steps for each event of a constraint: with fewer, events of several constraints would stand in each other's way.
const STEPS_PER_EVENT: usize = 8;

/// A kind of attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Attributes {
    /// `animal`
    Animal,
    /// `shape`
    Shape,
    /// `color`
    Color,
    /// `number`
    Number,
}

/// One entity at one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Its animal.
    pub animal: &'static str,
    /// Its shape.
    pub shape: &'static str,
    /// Its colour.
    pub color: &'static str,
    /// Its number.
    pub number: u32,
}

/// One attribute of one entity has one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Proposition {
    /// From 0.
    pub(super) entity: usize,
    pub(super) attribute: Attributes,
    pub(super) word: &'static str,
    pub(super) number: u32,
}

impl Proposition {
    fn holds(&self, step: &[Event]) -> bool {
        step.get(self.entity).is_some_and(|event| match self.attribute {
            Attributes::Animal => event.animal == self.word,
            Attributes::Shape => event.shape == self.word,
            Attributes::Color => event.color == self.word,
            Attributes::Number => event.number == self.number,
        })
    }

    fn make(&self, step: &mut [Event]) {
        let event = &mut step[self.entity];
        match self.attribute {
            Attributes::Animal => event.animal = self.word,
            Attributes::Shape => event.shape = self.word,
            Attributes::Color => event.color = self.word,
            Attributes::Number => event.number = self.number,
        }
    }

    /// What a step shows in its place.
    fn shown(&self, step: &[Event]) -> Self {
        let event = &step[self.entity];
        match self.attribute {
            Attributes::Animal => Self { word: event.animal, ..*self },
            Attributes::Shape => Self { word: event.shape, ..*self },
            Attributes::Color => Self { word: event.color, ..*self },
            Attributes::Number => Self { number: event.number, ..*self },
        }
    }

    /// As the formulas have it.
    fn text(&self, entities: usize) -> String {
        let field = match self.attribute {
            Attributes::Animal => "animal",
            Attributes::Shape => "shape",
            Attributes::Color => "color",
            Attributes::Number => "number",
        };
        let prefix = if entities > 1 { format!("entity{}.", self.entity + 1) } else { String::new() };
        match self.attribute {
            Attributes::Number => format!("{prefix}{field} = {}", self.number),
            _ => format!("{prefix}{field} = \"{}\"", self.word),
        }
    }
}

/// What a constraint asks, over its propositions in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `F (A & X F B)`
    Sequence,
    /// `F (a & X F (… | …))`, alternating `& X F` and two alternatives, so many levels of them (8 at most), each path
    /// ending alike.
    Tree(u32),
    /// `G P`
    Universality,
    /// `G !P`
    Absence,
    /// `G (P -> F S)`
    Response,
    /// `G ((Q & !R & F R) -> (!P U R))`
    AbsenceBetween,
    /// `G (P -> (!Q U R))`
    ConstrainedResponse,
}

impl Shape {
    fn bounded(self) -> Self {
        match self {
            Self::Tree(depth) => Self::Tree(depth.min(LEVELS)),
            other => other,
        }
    }

    /// How many propositions it is made of.
    fn propositions(self) -> usize {
        match self.bounded() {
            Self::Universality | Self::Absence => 1,
            Self::Sequence | Self::Response => 2,
            Self::AbsenceBetween | Self::ConstrainedResponse => 3,
            Self::Tree(depth) => 1 << (depth + 1),
        }
    }
}

/// The seven patterns of table 2.
pub fn pattern_constraints() -> [Shape; 7] {
    [
        Shape::Universality,
        Shape::Absence,
        Shape::Response,
        Shape::AbsenceBetween,
        Shape::ConstrainedResponse,
        Shape::Tree(1),
        Shape::Tree(4),
    ]
}

/// A constraint on traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    shape: Shape,
    propositions: Vec<Proposition>,
    entities: usize,
}

impl Constraint {
    /// What it asks.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Its formula over the fields of the steps: `animal`, `shape`, `color`, `number`, with `entity1.` before them where
    /// there are several.
    pub fn formula(&self) -> String {
        let p: Vec<String> = self.propositions.iter().map(|p| p.text(self.entities)).collect();
        self.formula_over(&p)
    }

    /// Its formula over other names of its propositions, in their order.
    pub fn formula_over(&self, p: &[String]) -> String {
        match self.shape {
            Shape::Sequence => format!("F ({} & X F {})", p[0], p[1]),
            Shape::Tree(depth) => format!("F {}", tree(p, 0, depth)),
            Shape::Universality => format!("G {}", p[0]),
            Shape::Absence => format!("G !({})", p[0]),
            Shape::Response => format!("G ({} -> F {})", p[0], p[1]),
            Shape::AbsenceBetween => format!("G (({q} & !({r}) & F {r}) -> (!({}) U {r}))", p[2], q = p[0], r = p[1]),
            Shape::ConstrainedResponse => format!("G ({} -> (!({}) U {}))", p[0], p[1], p[2]),
        }
    }

    /// Which of its propositions are true at a step, in their order.
    pub fn true_at(&self, step: &[Event]) -> Vec<bool> {
        self.propositions.iter().map(|p| p.holds(step)).collect()
    }

    /// The formula, read.
    pub fn parse(&self, formulas: &mut Formulas) -> Result<Formula, ParseError> {
        formulas.parse(&self.formula())
    }

    /// Whether a trace satisfies it, found out by going through the trace, with no formula in between.
    pub fn holds(&self, trace: &Trace) -> bool {
        let p = &self.propositions;
        let at = |i: usize, p: &Proposition| p.holds(&trace.steps[i]);
        let n = trace.steps.len();
        let first = |p: &Proposition, from: usize| (from..n).find(|i| at(*i, p));
        match self.shape {
            Shape::Sequence => first(&p[0], 0).is_some_and(|i| first(&p[1], i + 1).is_some()),
            Shape::Tree(depth) => {
                // Each node with the earliest step at which its path can have come to it.
                let mut open = vec![(0, 0, 0)];
                while let Some((node, level, from)) = open.pop() {
                    let Some(i) = first(&p[node], from) else { continue };
                    if level < depth {
                        open.extend([(2 * node + 1, level + 1, i + 1), (2 * node + 2, level + 1, i + 1)]);
                    } else if first(&p[p.len() - 1], i + 1).is_some() {
                        return true;
                    }
                }
                false
            }
            Shape::Universality => (0..n).all(|i| at(i, &p[0])),
            Shape::Absence => !(0..n).any(|i| at(i, &p[0])),
            Shape::Response => (0..n).all(|i| !at(i, &p[0]) || first(&p[1], i).is_some()),
            Shape::AbsenceBetween => (0..n).all(|i| {
                let opens = at(i, &p[0]) && !at(i, &p[1]);
                !opens || first(&p[1], i).is_none_or(|end| !(i..end).any(|j| at(j, &p[2])))
            }),
            Shape::ConstrainedResponse => {
                (0..n).all(|i| !at(i, &p[0]) || first(&p[2], i).is_some_and(|end| !(i..end).any(|j| at(j, &p[1]))))
            }
        }
    }
}

/// A node of the tree: its proposition, and then its alternatives or the end.
fn tree(p: &[String], node: usize, depth: u32) -> String {
    let rest = if depth == 0 {
        p[p.len() - 1].clone()
    } else {
        format!("({} | {})", tree(p, 2 * node + 1, depth - 1), tree(p, 2 * node + 2, depth - 1))
    };
    format!("({} & X F {rest})", p[node])
}

/// Steps, each with the same number of entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The entities at each step.
    pub steps: Vec<Vec<Event>>,
}

impl Trace {
    /// The steps as records, for formulas to read.
    pub fn records(&self) -> impl ExactSizeIterator<Item = impl Record> {
        self.steps.iter().map(|step| Scene { step })
    }

    /// The steps as sentences, from "Step 1: …".
    pub fn sentences(&self) -> Vec<String> {
        self.steps.iter().enumerate().map(|(i, step)| wordings::sentence(i, step)).collect()
    }

    /// The steps as lines of JSON, with the fields that the formulas name.
    pub fn json_lines(&self) -> String {
        let mut lines = String::new();
        for step in &self.steps {
            let event = |event: &Event| {
                let Event { animal, shape, color, number } = event;
                serde_json::json!({ "animal": animal, "shape": shape, "color": color, "number": number })
            };
            let line = match step.as_slice() {
                [one] => event(one),
                several => {
                    let named = several.iter().enumerate().map(|(i, e)| (format!("entity{}", i + 1), event(e)));
                    serde_json::Value::Object(named.collect())
                }
            };
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
        lines
    }
}

struct Scene<'a> {
    step: &'a [Event],
}

impl Record for Scene<'_> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        let (event, field) = match (name.strip_prefix("entity").and_then(|rest| rest.split_once('.')), self.step) {
            (Some((entity, field)), several) if several.len() > 1 => {
                (several.get(entity.parse::<usize>().ok()?.checked_sub(1)?)?, field)
            }
            (None, [one]) => (one, name),
            _ => return None,
        };
        Some(match field {
            "animal" => Value::Text(event.animal.into()),
            "shape" => Value::Text(event.shape.into()),
            "color" => Value::Text(event.color.into()),
            "number" => Value::Number(f64::from(event.number)),
            _ => return None,
        })
    }
}

/// A trace, constraints on it, and whether it satisfies each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synthetic {
    /// The trace.
    pub trace: Trace,
    /// The constraints, in an order that says nothing.
    pub constraints: Vec<Constraint>,
    /// Whether the trace satisfies each of them.
    pub truths: Vec<bool>,
}

impl Synthetic {
    /// Temporal elasticity: one constraint whose events are `gap` steps apart (1 to 1000 in the paper, here at most
    /// 100,000), on a trace long enough for them.
    pub fn elasticity(shape: Shape, gap: usize, satisfied: bool, seed: u64) -> Self {
        let gap = gap.clamp(1, GAP);
        let length = plant::path_length(shape.bounded()) * gap + 10;
        plant::planted(shape, &[satisfied], 1, length, gap, seed)
    }

    /// Constraint scalability: so many constraints of one shape (1 to 20 in the paper, here at most 40) over different
    /// propositions, each satisfied with probability one half. The simple shape has 500 steps and events 10 apart, the tree 1000 steps and
    /// events as far apart as in the paper's appendix F.2, or as the trace has room for.
    pub fn constraints(shape: Shape, count: usize, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed ^ 0x5eed);
        let truths: Vec<bool> = (0..count.clamp(1, MOST_CONSTRAINTS)).map(|_| rng.bool()).collect();
        let (length, gap) = match (shape, count) {
            (Shape::Tree(_), 0..=1) => (1_000, 23),
            (Shape::Tree(_), 2..=5) => (1_000, 117),
            (Shape::Tree(_), 6..=10) => (1_000, 91),
            (Shape::Tree(_), _) => (1_000, 40),
            _ => (500, 10),
        };
        plant::planted(shape, &truths, 1, length, gap, seed)
    }

    /// Proposition scalability: one constraint that speaks of some of so many entities (1,000 at most), on a trace of 100
    /// steps.
    pub fn propositions(shape: Shape, entities: usize, satisfied: bool, seed: u64) -> Self {
        plant::planted(shape, &[satisfied], entities.clamp(1, MOST_ENTITIES), 100, 10, seed)
    }

    /// Specification language: one of the patterns of table 2, on a trace of 200 steps.
    pub fn pattern(shape: Shape, satisfied: bool, seed: u64) -> Self {
        plant::planted(shape, &[satisfied], 1, 200, 20, seed)
    }

    /// Constraints of one shape that a trace of so many steps satisfies or not, its events `gap` apart where it has room;
    /// `None` where the trace is too short for the constraints, or there are more of them or of entities than there can be.
    pub fn sized(
        shape: Shape,
        truths: &[bool],
        entities: usize,
        (length, gap): (usize, usize),
        seed: u64,
    ) -> Option<Self> {
        let fits = (1..=MOST_CONSTRAINTS).contains(&truths.len())
            && (1..=MOST_ENTITIES).contains(&entities)
            && length >= Self::least_length(shape, truths.len());
        fits.then(|| plant::planted(shape, truths, entities, length, gap, seed))
    }

    /// The shortest trace with room for so many constraints.
    pub fn least_length(shape: Shape, constraints: usize) -> usize {
        STEPS_PER_EVENT * constraints * plant::path_length(shape.bounded())
    }
}

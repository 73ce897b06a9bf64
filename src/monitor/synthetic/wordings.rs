//! Events and constraints in words.

use super::{Attributes, Constraint, Event, Proposition, Shape};

/// How exactly a constraint is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// As people say it.
    Informal,
    /// With every step told apart.
    Precise,
    /// The same with the formula.
    PreciseWithFormula,
}

/// A constraint in its three wordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wordings {
    /// As people say it.
    pub informal: String,
    /// With every step told apart.
    pub precise: String,
    /// The same with the formula.
    pub precise_with_formula: String,
}

impl Constraint {
    /// The constraint in all wordings.
    pub fn wordings(&self) -> Wordings {
        Wordings {
            informal: self.wording(Wording::Informal),
            precise: self.wording(Wording::Precise),
            precise_with_formula: self.wording(Wording::PreciseWithFormula),
        }
    }

    /// The constraint in words.
    pub fn wording(&self, wording: Wording) -> String {
        match wording {
            Wording::Informal => self.informal(),
            Wording::Precise => self.precise(),
            Wording::PreciseWithFormula => format!("{} In linear temporal logic: {}", self.precise(), self.formula()),
        }
    }

    /// Its propositions as sentences about a step, in their order.
    pub fn propositions_in_words(&self) -> Vec<String> {
        self.propositions.iter().map(|p| p.said(self.entities)).collect()
    }

    fn informal(&self) -> String {
        let p: Vec<String> = self.propositions.iter().map(|p| p.thing(self.entities)).collect();
        match self.shape {
            Shape::Sequence => format!("At some point {} should appear, and later {}.", p[0], p[1]),
            Shape::Universality => format!("There is always {}.", p[0]),
            Shape::Absence => format!("There is never {}.", p[0]),
            Shape::Response => format!("Whenever {} appears, {} should eventually appear too.", p[0], p[1]),
            Shape::AbsenceBetween => format!("There should not be {} between {} and {}.", p[2], p[0], p[1]),
            Shape::ConstrainedResponse => {
                format!("Whenever {} appears, {} should not appear until {} does.", p[0], p[1], p[2])
            }
            Shape::Tree(depth) => {
                let first = format!("At some point {} should appear", p[0]);
                if depth == 1 {
                    return format!("{first}, followed by either {} or {}, and then {}.", p[1], p[2], p[3]);
                }
                let mut said = vec![first];
                if depth > 0 {
                    said[0] = format!("{}, followed by either {} or {}", said[0], p[1], p[2]);
                }
                for node in 1..(1usize << depth) - 1 {
                    said.push(format!("After {}, either {} or {}", p[node], p[2 * node + 1], p[2 * node + 2]));
                }
                said.push(format!("Everything ends with {}.", p[p.len() - 1]));
                said.join(". ")
            }
        }
    }

    fn precise(&self) -> String {
        let p: Vec<String> = self.propositions.iter().map(|p| p.said(self.entities)).collect();
        match self.shape {
            Shape::Sequence => {
                format!("At some step, {}; and at some strictly later step, {}.", p[0], p[1])
            }
            Shape::Universality => format!("At every step of the trace, {}.", p[0]),
            Shape::Absence => format!("At no step of the trace is it so that {}.", p[0]),
            Shape::Response => {
                format!("For every step at which {}, it must be so at that step or a later one that {}.", p[0], p[1])
            }
            Shape::AbsenceBetween => format!(
                "For every step at which {q} and not {r}, and after which it comes that {r}: from that step until the \
                 first step at which {r}, there must be no step at which {}.",
                p[2],
                q = p[0],
                r = p[1]
            ),
            Shape::ConstrainedResponse => format!(
                "For every step at which {}: it must be so at that step or a later one that {r}, and from that step \
                 until the first at which {r} there must be no step at which {}.",
                p[0],
                p[1],
                r = p[2]
            ),
            Shape::Tree(depth) => format!("At some step, {}.", branch(&p, 0, depth)),
        }
    }
}

fn branch(p: &[String], node: usize, depth: u32) -> String {
    if depth == 0 {
        return format!("{}, and then at some strictly later step, {}", p[node], p[p.len() - 1]);
    }
    let (left, right) = (branch(p, 2 * node + 1, depth - 1), branch(p, 2 * node + 2, depth - 1));
    format!("{}, and then at some strictly later step, either: ({left}) or: ({right})", p[node])
}

impl Proposition {
    /// As a thing that appears.
    fn thing(&self, entities: usize) -> String {
        let thing = match self.attribute {
            Attributes::Animal | Attributes::Shape => with_article(self.word),
            Attributes::Color => format!("{} item", with_article(self.word)),
            Attributes::Number => format!("the number {}", self.number),
        };
        if entities > 1 { format!("{thing} on Entity {}", self.entity + 1) } else { thing }
    }

    /// As a sentence about a step.
    fn said(&self, entities: usize) -> String {
        let whose = if entities > 1 { format!("Entity {}'s ", self.entity + 1) } else { "the ".to_owned() };
        match self.attribute {
            Attributes::Animal => format!("{whose}animal is \"{}\"", self.word),
            Attributes::Shape => format!("{whose}shape is \"{}\"", self.word),
            Attributes::Color => format!("{whose}color is \"{}\"", self.word),
            Attributes::Number => format!("{whose}number is {}", self.number),
        }
    }
}

fn with_article(word: &str) -> String {
    let article = if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {word}")
}

/// One step, in one of a few ways that say the same.
pub(super) fn sentence(at: usize, step: &[Event]) -> String {
    let said = |event: &Event, way: usize| {
        let (color, animal) = (with_article(event.color), with_article(event.animal));
        let Event { shape, number, .. } = event;
        match way % 3 {
            0 => format!("Observed {color} {shape} (number {number}) alongside {animal}"),
            1 => format!("{color} {shape} (number {number}) beside {animal}"),
            _ => format!("Observed {color} {shape} (number {number}) and {animal}"),
        }
    };
    match step {
        [one] => format!("Step {}: {}.", at + 1, said(one, 2 * (at % 2))),
        several => {
            let each = several.iter().enumerate().map(|(i, e)| format!("Entity {}: {}.", i + 1, said(e, at + i + 1)));
            format!("Step {}: {}", at + 1, each.collect::<Vec<_>>().join(" "))
        }
    }
}

//! Synthetic events and constraints in words. These texts are sent to models, and recordings depend on them.

use super::constraint::{Constraint, Shape};
use super::trace::{Attribute, Event, Proposition, Trace};

/// How exactly a constraint is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// As people say it.
    Informal,
    /// Which steps are meant is explicit.
    Precise,
    /// The precise wording followed by the formula.
    PreciseWithFormula,
}

/// A constraint in its three wordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wordings {
    pub informal: String,
    pub precise: String,
    pub precise_with_formula: String,
}

impl Constraint {
    pub fn wordings(&self) -> Wordings {
        Wordings {
            informal: self.wording(Wording::Informal),
            precise: self.wording(Wording::Precise),
            precise_with_formula: self.wording(Wording::PreciseWithFormula),
        }
    }

    pub fn wording(&self, wording: Wording) -> String {
        match wording {
            Wording::Informal => self.informal(),
            Wording::Precise => self.precise(),
            Wording::PreciseWithFormula => format!("{} In linear temporal logic: {}", self.precise(), self.formula()),
        }
    }

    /// The propositions as sentences about a step, in order.
    pub fn propositions_in_words(&self) -> Vec<String> {
        self.propositions.iter().map(|p| p.sentence(self.entities)).collect()
    }

    fn informal(&self) -> String {
        let p: Vec<String> = self.propositions.iter().map(|p| p.noun_phrase(self.entities)).collect();
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
                let mut sentences = vec![first];
                if depth > 0 {
                    sentences[0] = format!("{}, followed by either {} or {}", sentences[0], p[1], p[2]);
                }
                for node in 1..(1usize << depth) - 1 {
                    sentences.push(format!("After {}, either {} or {}", p[node], p[2 * node + 1], p[2 * node + 2]));
                }
                sentences.push(format!("Everything ends with {}.", p[p.len() - 1]));
                sentences.join(". ")
            }
        }
    }

    fn precise(&self) -> String {
        let p: Vec<String> = self.propositions.iter().map(|p| p.sentence(self.entities)).collect();
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
            Shape::Tree(depth) => format!("At some step, {}.", precise_tree(&p, 0, depth)),
        }
    }
}

fn precise_tree(p: &[String], node: usize, depth: u32) -> String {
    if depth == 0 {
        return format!("{}, and then at some strictly later step, {}", p[node], p[p.len() - 1]);
    }
    let (left, right) = (precise_tree(p, 2 * node + 1, depth - 1), precise_tree(p, 2 * node + 2, depth - 1));
    format!("{}, and then at some strictly later step, either: ({left}) or: ({right})", p[node])
}

impl Proposition {
    /// As a noun phrase.
    fn noun_phrase(&self, entities: usize) -> String {
        let thing = match self.attribute {
            Attribute::Animal | Attribute::Shape => with_article(self.word),
            Attribute::Color => format!("{} item", with_article(self.word)),
            Attribute::Number => format!("the number {}", self.number),
        };
        if entities > 1 { format!("{thing} on Entity {}", self.entity + 1) } else { thing }
    }

    /// As a sentence about a step.
    fn sentence(&self, entities: usize) -> String {
        let owner = if entities > 1 { format!("Entity {}'s ", self.entity + 1) } else { "the ".to_owned() };
        match self.attribute {
            Attribute::Animal => format!("{owner}animal is \"{}\"", self.word),
            Attribute::Shape => format!("{owner}shape is \"{}\"", self.word),
            Attribute::Color => format!("{owner}color is \"{}\"", self.word),
            Attribute::Number => format!("{owner}number is {}", self.number),
        }
    }
}

fn with_article(word: &str) -> String {
    let article = if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {word}")
}

impl Trace {
    /// The steps as sentences, beginning with "Step 1: …".
    pub fn sentences(&self) -> Vec<String> {
        self.steps.iter().enumerate().map(|(i, step)| step_sentence(i, step)).collect()
    }
}

/// One step in words. The wording varies from step to step.
fn step_sentence(at: usize, step: &[Event]) -> String {
    let describe = |event: &Event, variant: usize| {
        let (color, animal) = (with_article(event.color), with_article(event.animal));
        let Event { shape, number, .. } = event;
        match variant % 3 {
            0 => format!("Observed {color} {shape} (number {number}) alongside {animal}"),
            1 => format!("{color} {shape} (number {number}) beside {animal}"),
            _ => format!("Observed {color} {shape} (number {number}) and {animal}"),
        }
    };
    match step {
        [one] => format!("Step {}: {}.", at + 1, describe(one, 2 * (at % 2))),
        several => {
            let each =
                several.iter().enumerate().map(|(i, e)| format!("Entity {}: {}.", i + 1, describe(e, at + i + 1)));
            format!("Step {}: {}", at + 1, each.collect::<Vec<_>>().join(" "))
        }
    }
}

//! Synthetic traces: steps with entities that have an animal, a shape, a colour and a number, and propositions about
//! these attributes.

use tlaforge_temporal::{Record, Value};

pub(super) const ANIMALS: [&str; 40] = [
    "owl", "fox", "deer", "crane", "pelican", "toucan", "hawk", "parrot", "wolf", "falcon", "salmon", "otter",
    "badger", "lynx", "heron", "beaver", "moose", "rabbit", "turtle", "lizard", "cobra", "panda", "koala", "tiger",
    "lion", "zebra", "camel", "llama", "goat", "sheep", "horse", "mouse", "bat", "whale", "shark", "squid", "crab",
    "beetle", "spider", "moth",
];
pub(super) const SHAPES: [&str; 16] = [
    "triangle", "square", "circle", "star", "oval", "heart", "arrow", "hexagon", "pentagon", "octagon", "diamond",
    "cross", "crescent", "spiral", "cube", "cone",
];
pub(super) const COLORS: [&str; 16] = [
    "red", "blue", "green", "yellow", "orange", "purple", "black", "white", "silver", "gold", "olive", "pink", "brown",
    "grey", "teal", "navy",
];
/// The maximum of random numbers; numbers in propositions are greater, so that they do not occur by chance.
pub(super) const MAX_RANDOM_NUMBER: u32 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Attribute {
    Animal,
    Shape,
    Color,
    Number,
}

/// One entity at one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub animal: &'static str,
    pub shape: &'static str,
    pub color: &'static str,
    pub number: u32,
}

/// That an attribute of an entity has a value: `word`, or `number` for the attribute of this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Proposition {
    /// From 0.
    pub(super) entity: usize,
    pub(super) attribute: Attribute,
    pub(super) word: &'static str,
    pub(super) number: u32,
}

impl Proposition {
    pub(super) fn holds(&self, step: &[Event]) -> bool {
        step.get(self.entity).is_some_and(|event| match self.attribute {
            Attribute::Animal => event.animal == self.word,
            Attribute::Shape => event.shape == self.word,
            Attribute::Color => event.color == self.word,
            Attribute::Number => event.number == self.number,
        })
    }

    pub(super) fn make_true(&self, step: &mut [Event]) {
        let event = &mut step[self.entity];
        match self.attribute {
            Attribute::Animal => event.animal = self.word,
            Attribute::Shape => event.shape = self.word,
            Attribute::Color => event.color = self.word,
            Attribute::Number => event.number = self.number,
        }
    }

    /// The proposition about the same attribute that is true at a step.
    pub(super) fn actual(&self, step: &[Event]) -> Self {
        let event = &step[self.entity];
        match self.attribute {
            Attribute::Animal => Self { word: event.animal, ..*self },
            Attribute::Shape => Self { word: event.shape, ..*self },
            Attribute::Color => Self { word: event.color, ..*self },
            Attribute::Number => Self { number: event.number, ..*self },
        }
    }

    /// The atom of formulas.
    pub(super) fn atom_text(&self, entities: usize) -> String {
        let field = match self.attribute {
            Attribute::Animal => "animal",
            Attribute::Shape => "shape",
            Attribute::Color => "color",
            Attribute::Number => "number",
        };
        let prefix = if entities > 1 { format!("entity{}.", self.entity + 1) } else { String::new() };
        match self.attribute {
            Attribute::Number => format!("{prefix}{field} = {}", self.number),
            _ => format!("{prefix}{field} = \"{}\"", self.word),
        }
    }
}

/// A trace; all steps have the same number of entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The entities at each step.
    pub steps: Vec<Vec<Event>>,
}

impl Trace {
    /// The steps as records, to evaluate formulas on.
    pub fn records(&self) -> impl ExactSizeIterator<Item = impl Record> {
        self.steps.iter().map(|step| StepRecord { step })
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

struct StepRecord<'a> {
    step: &'a [Event],
}

impl Record for StepRecord<'_> {
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

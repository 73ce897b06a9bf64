//! Reading of one JSON record: what the formulas ask for is taken, all else is skipped without being kept.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::block::{Block, read_block};
use super::json::Reader;
use super::kept::{KeptTexts, RecordError};
use super::mapping::Mapping;
use super::step::{FoundTrue, Scalar, Step};
use crate::monitor::known_labels::KnownLabels;
use crate::monitor::propositions::{MODEL, asked_by};
use crate::temporal::{Atom, Formula, Formulas};

/// What is done with the value at a place of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// The value of the field of this number; lower ranks go first.
    Field(usize, u8),
    /// A tool's name, or blocks with some.
    Tool,
    /// What such tools were called with.
    Arguments,
    /// Text, or blocks with some.
    Text,
    /// Where the text is kept.
    TextKept,
    /// Propositions that a model has found true.
    Labels,
    /// Why the turn ended.
    Stop(u8),
}

/// Where to look in a record.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub(super) takes: Vec<Take>,
    children: Vec<(String, Node)>,
}

impl Node {
    fn insert(&mut self, path: &str, take: Take) {
        let mut node = self;
        for key in path.split('.') {
            let at = node.children.iter().position(|(k, _)| k == key).unwrap_or_else(|| {
                node.children.push((key.to_owned(), Self::default()));
                node.children.len() - 1
            });
            node = &mut node.children[at].1;
        }
        if !node.takes.contains(&take) {
            node.takes.push(take);
        }
    }

    fn child(&self, key: &[u8]) -> Option<&Self> {
        // The first byte tells most of them apart.
        let same = |k: &str| k.as_bytes().first() == key.first() && k.as_bytes() == key;
        self.children.iter().find(|(k, _)| same(k)).map(|(_, node)| node)
    }

    fn blocks(&self) -> bool {
        self.takes.iter().any(|take| matches!(take, Take::Tool | Take::Text))
    }
}

/// What is read of each record of a log.
#[derive(Debug, Clone)]
pub struct Plan {
    root: Node,
    names: Arc<[String]>,
    only: Option<(usize, Vec<String>)>,
    kept: Option<KeptTexts>,
    model: Option<ModelPlan>,
    known: KnownLabels,
}

/// Where a record tells the labels that a model gave.
#[derive(Debug, Clone)]
struct ModelPlan {
    /// Each proposition that formulas speak of.
    propositions: Vec<Arc<str>>,
    /// The number of the field that says which propositions were asked.
    asked: Option<usize>,
    /// The number of the field that says who was.
    by: Option<usize>,
}

impl Plan {
    /// A plan for the fields and labels that some formulas read, and for the fields named besides.
    pub fn new(mapping: &Mapping, formulas: &Formulas, wanted: &[Formula], besides: &[&str]) -> Self {
        let mut names: BTreeSet<String> = besides.iter().map(|name| (*name).to_owned()).collect();
        let mut extras = BTreeSet::new();
        names.extend(mapping.only.clone());
        for formula in wanted {
            for atom in formulas.atoms_of(*formula) {
                match formulas.atom(atom) {
                    Atom::Name(name) => _ = names.insert(name.to_string()),
                    Atom::Label { kind, text } if &**kind == "extra" => {
                        extras.extend(text.split_once('=').map(|(key, _)| key.to_owned()));
                    }
                    atom => names
                        .extend(atom.terms().iter().flat_map(|term| term.fields()).map(|(_, name)| name.to_owned())),
                }
            }
        }
        let propositions: BTreeSet<Arc<str>> = wanted.iter().flat_map(|f| asked_by(formulas, *f)).collect();
        let told = mapping.model_asked.as_ref().filter(|_| !propositions.is_empty());
        names.extend(told.into_iter().flatten().cloned());
        let names: Arc<[String]> = names.union(&extras).cloned().collect();
        let number = |field: &String| names.iter().position(|name| name == field);
        let model = (!propositions.is_empty()).then(|| ModelPlan {
            asked: told.and_then(|[asked, _]| number(asked)),
            by: told.and_then(|[_, by]| number(by)),
            propositions: propositions.into_iter().collect(),
        });
        let mut root = Node::default();
        for (number, name) in names.iter().enumerate() {
            if extras.contains(name) {
                root.insert(&format!("extra.{name}"), Take::Field(number, 0));
            }
            root.insert(name, Take::Field(number, 1));
            if let Some(within) = &mapping.within {
                root.insert(&format!("{within}.{name}"), Take::Field(number, 2));
            }
        }
        for path in mapping.tool_call.iter().flatten() {
            root.insert(path, Take::Tool);
            if model.is_some() {
                root.insert(path, Take::Arguments);
            }
        }
        for path in mapping.text.iter().flatten() {
            root.insert(path, Take::Text);
        }
        let is_text =
            |atom: &Atom| matches!(atom, Atom::Label { kind, .. } if matches!(&**kind, "text_contains" | MODEL));
        let asks = |formula: &Formula| formulas.atoms_of(*formula).iter().any(|atom| is_text(formulas.atom(*atom)));
        if let Some(path) = mapping.text_kept.as_ref().filter(|_| wanted.iter().any(asks)) {
            root.insert(path, Take::TextKept);
        }
        if let Some(path) = mapping.model_labels.as_ref().filter(|_| model.is_some()) {
            root.insert(path, Take::Labels);
        }
        for (rank, path) in (0..).zip(mapping.stop_reason.iter().flatten()) {
            root.insert(path, Take::Stop(rank));
        }
        let only = mapping
            .only
            .as_ref()
            .and_then(|name| names.iter().position(|n| n == name).map(|number| (number, mapping.values.clone())));
        Self { root, names, only, kept: None, model, known: KnownLabels::default() }
    }

    /// The same, with the labels that a model gave. Without them every proposition is false that a model has to judge.
    #[must_use]
    pub fn with_labels(self, known: KnownLabels) -> Self {
        Self { known, ..self }
    }

    /// The same, for a log beside which texts are kept. Without it nothing is known of them.
    #[must_use]
    pub fn with_texts(self, kept: KeptTexts) -> Self {
        Self { kept: Some(kept), ..self }
    }

    /// A state with nothing in it, to be read into.
    pub fn step(&self) -> Step {
        Step::new(&self.names)
    }

    /// The fields that are looked for.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads one record; `false` where it is no state.
    pub fn read(&self, json: &[u8], step: &mut Step) -> Result<bool, RecordError> {
        step.clear();
        let mut reader = Reader::new(json);
        let is_state = if reader.peek() == Some(b'{')
            && (At { node: &self.root, step }).deserialize(&mut reader).and_then(|()| reader.end()).is_ok()
        {
            self.is_state(step)
        } else {
            self.read_again(json, step)?
        };
        if let Some(kept) = &self.kept
            && let Some(name) = step.text_kept.take()
        {
            let text = kept.fetch(&name).map_err(RecordError::Text)?;
            add_line(&mut step.text, &text);
        }
        self.label(step);
        Ok(is_state)
    }

    /// Joins the labels that a model gave: those that the record tells itself, where they are of the same words, else those
    /// that are known of a step which reads like this one.
    fn label(&self, step: &mut Step) {
        let Some(model) = &self.model else { return };
        let text = |at: Option<usize>| match step.values[at?].as_ref() {
            Some((_, Scalar::Text(text))) => Some(text.as_str()),
            _ => None,
        };
        let those =
            |holds: &dyn Fn(&str) -> bool| model.propositions.iter().filter(|name| holds(name)).cloned().collect();
        step.model = if text(model.asked).is_some_and(|asked| self.known.are_of(asked)) {
            let by = text(model.by).map(str::to_owned);
            Some(FoundTrue { names: those(&|name| step.told_labels.iter().any(|told| told == name)), by })
        } else if self.known.is_empty() {
            None
        } else {
            let labels = self.known.of(&step.judged());
            labels.map(|labels| FoundTrue { names: those(&|name| labels.holds(name)), by: None })
        };
    }

    /// What the fast reader gives up on: anything unusual, and everything wrong.
    #[cold]
    fn read_again(&self, json: &[u8], step: &mut Step) -> Result<bool, serde_json::Error> {
        step.clear();
        if json.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
            // Not JSON at all, or JSON that is no object; the former says so itself.
            serde_json::from_slice::<IgnoredAny>(json)?;
            return Err(serde::de::Error::custom("a record is an object"));
        }
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        At { node: &self.root, step }.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(self.is_state(step))
    }

    /// Reads the next element of a list.
    pub(super) fn element<'de, A: SeqAccess<'de>>(
        &self,
        list: &mut A,
        step: &mut Step,
    ) -> Result<Option<bool>, A::Error> {
        step.clear();
        let there = list.next_element_seed(At { node: &self.root, step })?;
        self.label(step);
        Ok(there.map(|()| self.is_state(step)))
    }

    fn is_state(&self, step: &Step) -> bool {
        self.only.as_ref().is_none_or(|(number, values)| match &step.values[*number] {
            Some((_, Scalar::Text(text))) => values.contains(text),
            Some((_, Scalar::Null)) | None => false,
            Some((_, scalar)) => values.iter().any(|value| scalar.is_written(value)),
        })
    }
}

/// The value at one place.
pub(super) struct At<'p, 's> {
    pub(super) node: &'p Node,
    pub(super) step: &'s mut Step,
}

impl At<'_, '_> {
    fn scalar(self, scalar: &Scalar) {
        for take in &self.node.takes {
            if let Take::Field(number, rank) = take {
                let slot = &mut self.step.values[*number];
                if slot.as_ref().is_none_or(|(before, _)| rank <= before) {
                    *slot = Some((*rank, scalar.clone()));
                }
            }
        }
    }

    pub(super) fn text(self, text: &str) {
        for take in &self.node.takes {
            match take {
                Take::Field(number, rank) => {
                    let slot = &mut self.step.values[*number];
                    if slot.as_ref().is_none_or(|(before, _)| rank <= before) {
                        *slot = Some((*rank, Scalar::Text(text.to_owned())));
                    }
                }
                // What may be a text is one: a message that says `rm` has called nothing.
                Take::Tool if self.node.takes.contains(&Take::Text) => {}
                Take::Tool => self.step.tools.push(text.to_owned()),
                Take::Arguments | Take::Labels => {}
                Take::Text => add_line(&mut self.step.text, text),
                Take::TextKept => self.step.text_kept = Some(text.to_owned()),
                Take::Stop(rank) => {
                    if self.step.stop.as_ref().is_none_or(|(before, _)| rank <= before) {
                        self.step.stop = Some((*rank, text.to_owned()));
                    }
                }
            }
        }
    }

    fn compound(&mut self) {
        for take in &self.node.takes {
            if let Take::Field(number, _) = take {
                self.step.compound[*number] = true;
            }
        }
    }
}

pub(super) fn add_line(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

impl<'de> DeserializeSeed<'de> for At<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.node.takes.is_empty() && self.node.children.is_empty() {
            return IgnoredAny::visit_ignored(deserializer);
        }
        deserializer.deserialize_any(self)
    }
}

/// Skips a value.
trait Skip<'de> {
    fn visit_ignored<D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error>;
}

impl<'de> Skip<'de> for IgnoredAny {
    fn visit_ignored<D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_ignored_any(IgnoredAny).map(|_| ())
    }
}

impl<'de> Visitor<'de> for At<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.scalar(&Scalar::Null);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.scalar(&Scalar::Bool(value));
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.scalar(&Scalar::Number(value));
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.scalar(&Scalar::integer(value.into()));
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.scalar(&Scalar::integer(value.into()));
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.text(value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        self.compound();
        if self.node.takes.contains(&Take::Labels) {
            while let Some(name) = list.next_element()? {
                self.step.told_labels.push(name);
            }
        } else if self.node.blocks() && self.node.children.is_empty() {
            while list.next_element_seed(Block { node: self.node, step: &mut *self.step })?.is_some() {}
        } else if self.node.children.is_empty() {
            while list.next_element::<IgnoredAny>()?.is_some() {}
        } else {
            // A list on the way is looked through: `choices.message` is the message of each choice.
            while list.next_element_seed(At { node: self.node, step: &mut *self.step })?.is_some() {}
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.compound();
        if !self.node.blocks() {
            return self.below(map);
        }
        if self.node.children.is_empty() {
            return read_block(self.node, self.step, map);
        }
        // It tells of a tool, and rules speak of its fields besides.
        let fields: serde_json::Map<String, serde_json::Value> =
            serde::Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        let again = || MapDeserializer::new(fields.iter().map(|(name, value)| (name.as_str(), value)));
        read_block(self.node, self.step, again()).map_err(|e: serde_json::Error| A::Error::custom(e))?;
        self.below(again()).map_err(|e: serde_json::Error| A::Error::custom(e))
    }
}

impl At<'_, '_> {
    /// What stands below an object.
    fn below<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(child) = map.next_key_seed(Child(self.node))? {
            match child {
                Some(node) => map.next_value_seed(At { node, step: &mut *self.step })?,
                None => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }
}

/// A key: the place it leads to, where there is one.
struct Child<'p>(&'p Node);

impl<'de, 'p> DeserializeSeed<'de> for Child<'p> {
    type Value = Option<&'p Node>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'p> Visitor<'_> for Child<'p> {
    type Value = Option<&'p Node>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.child(key.as_bytes()))
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.child(key))
    }
}

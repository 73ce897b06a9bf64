//! Reading of one JSON record: what the formulas ask for is taken, all else is skipped without being kept.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::block::{Block, read_block};
use super::calls::Calls;
use super::elsewhere::Elsewhere;
use super::json::Reader;
use super::kept::{KeptTexts, RecordError};
use super::mapping::{Mapping, Shape};
use super::reads::{FieldReads, Reads};
use super::states::States;
use super::step::{FoundTrue, Scalar, Step};
use crate::monitor::known_labels::KnownLabels;
use crate::monitor::propositions::{MODEL, asked_by};
use crate::temporal::{Atom, Formula, Formulas};

/// What is done with the value at a place of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// The value of the field of this number; lower ranks go first.
    Field(usize, u8),
    /// All values of it, also those in lists.
    Values(usize, u8),
    /// What stands beside the name of a tool.
    Beside,
    /// The name of a tool if parameters stand beside it.
    Name,
    /// Such parameters.
    NamedWith,
    /// A tool's name, or blocks with some; the number of the path.
    Tool(usize),
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
    /// The number of a field that must not lead through a list here.
    single: Option<usize>,
    children: Vec<(String, Node)>,
}

impl Node {
    fn insert(&mut self, path: &str, take: Take) {
        let mut node = self;
        for key in path.split('.') {
            node = node.at(key);
        }
        if !node.takes.contains(&take) {
            node.takes.push(take);
        }
    }

    fn at(&mut self, key: &str) -> &mut Self {
        let at = self.children.iter().position(|(k, _)| k == key).unwrap_or_else(|| {
            self.children.push((key.to_owned(), Self::default()));
            self.children.len() - 1
        });
        &mut self.children[at].1
    }

    /// Makes it an error that a list is on this path or, unless only that the field is there counts, at its end.
    fn keep_single(&mut self, path: &str, number: usize, end: bool) {
        let mut node = self;
        let mut keys = path.split('.').peekable();
        while let Some(key) = keys.next() {
            node = node.at(key);
            if end || keys.peek().is_some() {
                node.single.get_or_insert(number);
            }
        }
    }

    /// Inserts a field at a path, in each way in which it is read.
    fn insert_field(&mut self, path: &str, number: usize, rank: u8, read: Reads) {
        self.insert(path, Take::Field(number, rank));
        if read.all {
            self.insert(path, Take::Values(number, rank));
        }
        if read.one || read.there {
            self.keep_single(path, number, read.one);
        }
    }

    fn child(&self, key: &[u8]) -> Option<&Self> {
        // The first byte tells most of them apart.
        let same = |k: &str| k.as_bytes().first() == key.first() && k.as_bytes() == key;
        self.children.iter().find(|(k, _)| same(k)).map(|(_, node)| node)
    }

    /// The number of the path of calls that leads here.
    pub(super) fn calls(&self) -> Option<usize> {
        self.takes.iter().find_map(|take| if let Take::Tool(path) = take { Some(*path) } else { None })
    }

    fn blocks(&self) -> bool {
        self.takes.iter().any(|take| matches!(take, Take::Tool(_) | Take::Text))
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
    /// What rules read of each call, and whether each call of a record is a state.
    pub(super) calls: Calls,
    /// By the number of a field, what to write if a list leads to it.
    spellings: Vec<String>,
    tolerates_lists: bool,
    /// Where else a record may tell calls, if that is looked at.
    pub(super) elsewhere: Option<Arc<Elsewhere>>,
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
        names.extend(mapping.only.clone());
        let read = FieldReads::of(formulas, wanted);
        names.extend(read.names().map(str::to_owned));
        let extras = read.extras().clone();
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
        let calls = Calls::new(mapping, &names, &read);
        let spellings = names.iter().map(|name| read.spelling(name, mapping)).collect();
        let mut root = Node::default();
        for (number, name) in names.iter().enumerate() {
            let is_of_call = calls.reads(number);
            let mut read = read.of_name(name);
            if is_of_call {
                // Each call has its own: what the record itself has under this name counts only without a call.
                (read.one, read.there) = (false, false);
            }
            if extras.contains(name) {
                root.insert_field(&format!("extra.{name}"), number, 0, read);
            }
            root.insert_field(name, number, 1, read);
            if let Some(within) = &mapping.within {
                root.insert_field(&format!("{within}.{name}"), number, 2, read);
            }
        }
        for path in mapping.tool_call.iter().flatten().filter(|_| calls.read_input()) {
            let parent = path.rsplit_once('.').map_or(String::new(), |(parent, _)| format!("{parent}."));
            for beside in ["input", "arguments", "args", "parameters"] {
                root.insert(&format!("{parent}{beside}"), Take::Beside);
            }
        }
        if mapping.shape == Some(Shape::Jsonl) && mapping.tool_call == Mapping::default().over(Shape::Jsonl).tool_call {
            root.insert("name", Take::Name);
            for beside in ["parameters", "arguments"] {
                root.insert(beside, Take::NamedWith);
            }
        }
        // A call that a record tells in two places is known by its arguments.
        let several_paths = mapping.tool_call.as_ref().is_some_and(|paths| paths.len() > 1);
        for (number, path) in mapping.tool_call.iter().flatten().enumerate() {
            root.insert(path, Take::Tool(number));
            if model.is_some() || calls.read_input() || several_paths {
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
        Self {
            root,
            names,
            only,
            kept: None,
            model,
            known: KnownLabels::default(),
            calls,
            spellings,
            tolerates_lists: false,
            elsewhere: None,
        }
    }

    /// The same, with the labels that a model gave. Without them every proposition is false that a model has to judge.
    #[must_use]
    pub fn with_labels(self, known: KnownLabels) -> Self {
        Self { known, ..self }
    }

    /// The same, which notes calls where the shape of a log of this mapping has none.
    #[must_use]
    pub fn noting_missed_calls(self, mapping: &Mapping) -> Self {
        Self { elsewhere: Elsewhere::new(mapping).map(Arc::new), ..self }
    }

    /// The same, but a field that a list leads to is undefined, and no error.
    #[must_use]
    pub fn tolerating_lists(self) -> Self {
        Self { tolerates_lists: true, ..self }
    }

    /// The same, for a log beside which texts are kept. Without it nothing is known of them.
    #[must_use]
    pub fn with_texts(self, kept: KeptTexts) -> Self {
        Self { kept: Some(kept), ..self }
    }

    /// States with nothing in them, to be read into.
    pub fn states(&self) -> States {
        States::new(Step::new(&self.names))
    }

    /// The fields that are looked for.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads one record; `false` if it is no state.
    pub fn read(&self, json: &[u8], states: &mut States) -> Result<bool, RecordError> {
        let step = states.begin();
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
            step.write(&text);
        }
        self.finish(states, is_state)?;
        Ok(is_state)
    }

    /// Divides a record that was read into its states, and labels them.
    fn finish(&self, states: &mut States, is_state: bool) -> Result<(), RecordError> {
        if !is_state {
            return Ok(());
        }
        states.add_named_call();
        if let Some(number) = states.divide(&self.calls)
            && !self.tolerates_lists
        {
            return Err(RecordError::List(self.spellings[number].clone()));
        }
        if self.model.is_some() {
            states.label(|step| self.label(step));
        }
        Ok(())
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
        states: &mut States,
    ) -> Result<Option<Result<bool, RecordError>>, A::Error> {
        let step = states.begin();
        if list.next_element_seed(At { node: &self.root, step })?.is_none() {
            return Ok(None);
        }
        let is_state = self.is_state(step);
        Ok(Some(self.finish(states, is_state).map(|()| is_state)))
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
            match take {
                Take::Field(number, rank) => {
                    let slot = &mut self.step.values[*number];
                    if slot.as_ref().is_none_or(|(before, _)| rank <= before) {
                        *slot = Some((*rank, scalar.clone()));
                    }
                }
                Take::Values(number, rank) => self.step.add_value(*number, *rank, Some(scalar.clone())),
                _ => {}
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
                Take::Values(number, rank) => {
                    self.step.add_value(*number, *rank, Some(Scalar::Text(text.to_owned())));
                }
                // What may be a text is one: a message that says `rm` has called nothing.
                Take::Tool(_) if self.node.takes.contains(&Take::Text) => {}
                Take::Tool(path) => self.step.add_call(text.to_owned(), *path, None),
                Take::Name => self.step.named = Some(text.to_owned()),
                Take::Arguments | Take::Beside | Take::NamedWith | Take::Labels => {}
                Take::Text => self.step.write(text),
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

    /// Reads the elements of a list with texts and calls: a text belongs to the call that follows it, but to none in
    /// particular if the list has no call.
    fn in_blocks<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.step.in_blocks, true);
        let (calls, parts) = (self.step.tools.len(), self.step.parts.len());
        let done = read(self);
        if self.step.tools.len() == calls {
            self.step.parts[parts..].iter_mut().for_each(|(call, _)| *call = 0);
        }
        self.step.in_blocks = before;
        done
    }
}

impl<'de> DeserializeSeed<'de> for At<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.node.takes.is_empty() && self.node.children.is_empty() {
            return IgnoredAny::visit_ignored(deserializer);
        }
        let takes = |take| self.node.takes.contains(&take);
        if takes(Take::Beside) || takes(Take::NamedWith) {
            let value: serde_json::Value = serde::Deserialize::deserialize(deserializer)?;
            if takes(Take::NamedWith) && !value.is_null() {
                self.step.named_with.get_or_insert_with(|| value.clone());
            }
            if takes(Take::Beside) {
                self.step.beside.get_or_insert_with(|| value.clone());
            }
            return value.deserialize_any(self).map_err(D::Error::custom);
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
        self.step.crosses = self.step.crosses.or(self.node.single);
        let node = self.node;
        let goes_on = !node.children.is_empty() || node.takes.iter().any(|take| matches!(take, Take::Values(..)));
        if node.takes.contains(&Take::Labels) {
            while let Some(name) = list.next_element()? {
                self.step.told_labels.push(name);
            }
        } else if node.blocks() {
            return self.in_blocks(|at| {
                if goes_on {
                    while list.next_element_seed(At { node, step: &mut *at.step })?.is_some() {}
                } else {
                    while list.next_element_seed(Block { node, step: &mut *at.step })?.is_some() {}
                }
                Ok(())
            });
        } else if goes_on {
            // A list on the way is looked through: `choices.message` is the message of each choice.
            while list.next_element_seed(At { node, step: &mut *self.step })?.is_some() {}
        } else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.compound();
        for take in &self.node.takes {
            if let Take::Values(number, rank) = take {
                self.step.add_value(*number, *rank, None);
            }
        }
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

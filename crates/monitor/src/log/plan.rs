//! What is read of each record of a log: compiled once from the formulas and the mapping of the log, so that everything
//! else in a record is skipped without being kept.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde::de::{DeserializeSeed as _, Error as _, IgnoredAny};

use super::call_fields::CallFields;
use super::call_search::{find_calls, may_have_calls};
use super::error::RecordError;
use super::field_reads::FieldReads;
use super::mapping::{Mapping, OtherCalls, Shape};
use super::path_tree::{Extract, PathNode};
use super::record_visitor::RecordVisitor;
use super::simple_calls::simple_calls;
use super::states::States;
use super::step::{ModelLabels, Scalar, Step};
use super::surrogates::repair_surrogates;
use super::text_store::TextStore;
use crate::known_labels::KnownLabels;
use crate::propositions::{MODEL, model_propositions};
use tlaforge_temporal::{Atom, Formula, Formulas};

/// What is read of each record of a log.
#[derive(Debug, Clone)]
pub struct Plan {
    root: PathNode,
    names: Arc<[String]>,
    /// Only records whose field with this number has one of these values are states.
    only: Option<(usize, Vec<String>)>,
    text_store: Option<TextStore>,
    model_labels: Option<ModelLabelPlan>,
    known_labels: KnownLabels,
    call_fields: CallFields,
    /// By the number of a field, the message if a list leads to it.
    list_messages: Vec<String>,
    tolerates_lists: bool,
    /// What is done with calls in other places; `None` if rules do not use calls, or the user said where they are.
    other_calls: Option<OtherCalls>,
    /// Whether the arguments of calls are read.
    reads_arguments: bool,
    /// The texts that formulas look for.
    texts: Vec<Arc<str>>,
}

/// Where records hold the labels that a model gave.
#[derive(Debug, Clone)]
struct ModelLabelPlan {
    /// The propositions that formulas use.
    propositions: Vec<Arc<str>>,
    /// The number of the field that says which propositions were asked.
    asked: Option<usize>,
    /// The number of the field that names the model.
    model: Option<usize>,
}

impl Plan {
    /// A plan for the fields and labels that the formulas read, and for `extra_fields`.
    pub fn new(mapping: &Mapping, formulas: &Formulas, read: &[Formula], extra_fields: &[&str]) -> Self {
        let mut names: BTreeSet<String> = extra_fields.iter().map(|name| (*name).to_owned()).collect();
        names.extend(mapping.only.clone());
        let reads = FieldReads::new(formulas, read);
        names.extend(reads.names().map(str::to_owned));
        let extras = reads.extras().clone();
        let propositions: BTreeSet<Arc<str>> = read.iter().flat_map(|f| model_propositions(formulas, *f)).collect();
        let label_source = mapping.model_label_source.as_ref().filter(|_| !propositions.is_empty());
        names.extend(label_source.into_iter().flatten().cloned());
        let names: Arc<[String]> = names.union(&extras).cloned().collect();
        let number = |field: &String| names.iter().position(|name| name == field);
        let model_labels = (!propositions.is_empty()).then(|| ModelLabelPlan {
            asked: label_source.and_then(|[asked, _]| number(asked)),
            model: label_source.and_then(|[_, model]| number(model)),
            propositions: propositions.into_iter().collect(),
        });
        let call_fields = CallFields::new(mapping, &names, &reads);
        let list_messages = names.iter().map(|name| reads.list_message(name, mapping)).collect();
        let mut root = PathNode::default();
        for (number, name) in names.iter().enumerate() {
            let mut field_use = reads.use_of(name);
            if call_fields.contains(number) {
                // Each call has its own value: a field of the record with this name counts only if it has no call.
                (field_use.single, field_use.defined) = (false, false);
            }
            if extras.contains(name) {
                root.insert_field(&format!("extra.{name}"), number, 0, field_use);
            }
            root.insert_field(name, number, 1, field_use);
            if let Some(within) = &mapping.within {
                root.insert_field(&format!("{within}.{name}"), number, 2, field_use);
            }
        }
        for path in mapping.tool_call.iter().flatten().filter(|_| call_fields.read_input()) {
            let parent = path.rsplit_once('.').map_or(String::new(), |(parent, _)| format!("{parent}."));
            for sibling in ["input", "arguments", "args", "parameters"] {
                root.insert(&format!("{parent}{sibling}"), Extract::SiblingArguments);
            }
        }
        let jsonl_defaults = Mapping::default().with_shape_defaults(Shape::Jsonl);
        if mapping.shape == Some(Shape::Jsonl) && mapping.tool_call == jsonl_defaults.tool_call {
            root.insert("name", Extract::PlainName);
            for parameters in ["parameters", "arguments"] {
                root.insert(parameters, Extract::PlainParameters);
            }
        }
        // A call that a record states in two places is recognized by its arguments.
        let several_paths = mapping.tool_call.as_ref().is_some_and(|paths| paths.len() > 1);
        let reads_arguments = model_labels.is_some() || call_fields.read_input() || several_paths;
        for (number, path) in mapping.tool_call.iter().flatten().enumerate() {
            root.insert(path, Extract::ToolCall(number));
            if reads_arguments {
                root.insert(path, Extract::CallArguments);
            }
        }
        for path in mapping.text.iter().flatten() {
            root.insert(path, Extract::Text);
        }
        let is_text =
            |atom: &Atom| matches!(atom, Atom::Label { kind, .. } if matches!(&**kind, "text_contains" | MODEL));
        let reads_text =
            |formula: &Formula| formulas.atoms_of(*formula).iter().any(|atom| is_text(formulas.atom(*atom)));
        if let Some(path) = mapping.stored_text.as_ref().filter(|_| read.iter().any(reads_text)) {
            root.insert(path, Extract::StoredText);
        }
        if let Some(path) = mapping.model_labels.as_ref().filter(|_| model_labels.is_some()) {
            root.insert(path, Extract::ModelLabels);
        }
        for (rank, path) in (0..).zip(mapping.stop_reason.iter().flatten()) {
            root.insert(path, Extract::StopReason(rank));
        }
        let texts = texts_looked_for(formulas, read);
        let only = mapping
            .only
            .as_ref()
            .and_then(|name| names.iter().position(|n| n == name).map(|number| (number, mapping.values.clone())));
        Self {
            root,
            names,
            only,
            text_store: None,
            model_labels,
            known_labels: KnownLabels::default(),
            call_fields,
            list_messages,
            tolerates_lists: false,
            other_calls: None,
            reads_arguments,
            texts,
        }
    }

    /// Uses these labels of a model. Without them, every proposition that a model has to judge is false.
    #[must_use]
    pub fn with_labels(self, known_labels: KnownLabels) -> Self {
        Self { known_labels, ..self }
    }

    /// Searches the whole record for calls, and compares them with those in the places of the shape.
    #[must_use]
    pub(crate) fn searching_calls(self, other_calls: Option<OtherCalls>) -> Self {
        Self { other_calls, ..self }
    }

    /// Whether records are searched for calls in other places.
    pub(crate) fn searches_calls(&self) -> bool {
        self.other_calls.is_some()
    }

    /// Makes a field undefined if a list leads to it, instead of an error.
    #[must_use]
    pub fn tolerating_lists(self) -> Self {
        Self { tolerates_lists: true, ..self }
    }

    /// Fetches the texts that records name from this store. Without it, these texts are missing.
    #[must_use]
    pub fn with_text_store(self, text_store: TextStore) -> Self {
        Self { text_store: Some(text_store), ..self }
    }

    /// An empty buffer for [`Plan::read`].
    pub fn new_states(&self) -> States {
        States::new(Step::new(&self.names))
    }

    /// The fields that are read; their positions are the numbers of the fields.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The texts that formulas look for.
    pub(crate) fn texts(&self) -> &[Arc<str>] {
        &self.texts
    }

    /// Reads one record into `states`; returns whether it is a state.
    pub fn read(&self, json: &[u8], states: &mut States) -> Result<bool, RecordError> {
        self.read_without(json, states, &[])
    }

    /// [`Plan::read`] without the calls of these numbers, which repeat calls of earlier records.
    pub(super) fn read_without(
        &self,
        json: &[u8],
        states: &mut States,
        repeated: &[usize],
    ) -> Result<bool, RecordError> {
        match self.read_exactly(json, states, repeated) {
            Err(RecordError::Json(error)) => match repair_surrogates(json) {
                Cow::Owned(json) => self.read_exactly(&json, states, repeated),
                Cow::Borrowed(_) => Err(error.into()),
            },
            read => read,
        }
    }

    fn read_exactly(&self, json: &[u8], states: &mut States, repeated: &[usize]) -> Result<bool, RecordError> {
        let step = states.clear();
        if json.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
            // Report a syntax error first; only valid JSON is "not an object".
            serde_json::from_slice::<IgnoredAny>(json)?;
            return Err(serde_json::Error::custom("a record is an object").into());
        }
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        RecordVisitor { node: &self.root, step }.deserialize(&mut deserializer)?;
        deserializer.end()?;
        let is_state = self.is_state(step);
        if let Some(store) = &self.text_store
            && let Some(name) = step.stored_text.take()
        {
            let text = store.fetch(&name).map_err(RecordError::Text)?;
            step.add_text(&text);
        }
        if is_state {
            states.add_plain_call();
        }
        self.search_calls(json, states, is_state)?;
        if !repeated.is_empty() {
            states.remove_calls(repeated);
        }
        self.finish(states, is_state)?;
        Ok(is_state)
    }

    /// Looks for calls in the whole record, and compares them with those that were read.
    fn search_calls(&self, json: &[u8], states: &mut States, is_state: bool) -> Result<(), serde_json::Error> {
        let Some(other_calls) = self.other_calls.filter(|_| may_have_calls(json)) else { return Ok(()) };
        if simple_calls(json).is_some_and(|calls| {
            if is_state { states.are_all_calls(&calls, self.reads_arguments) } else { calls.is_empty() }
        }) {
            return Ok(());
        }
        // A half of a character that the plan has skipped may stand in a call.
        let record: serde_json::Value =
            serde_json::from_slice(json).or_else(|_| serde_json::from_slice(&repair_surrogates(json)))?;
        let found = find_calls(&record);
        if is_state {
            states.add_found(found, other_calls, record.get("uuid").and_then(serde_json::Value::as_str));
        } else if other_calls != OtherCalls::Ignore {
            states.note_unread(found);
        }
        Ok(())
    }

    /// Divides a record that was read into its states, and labels them.
    fn finish(&self, states: &mut States, is_state: bool) -> Result<(), RecordError> {
        if !is_state {
            return Ok(());
        }
        if let Some(number) = states.divide(&self.call_fields)
            && !self.tolerates_lists
        {
            return Err(RecordError::List(self.list_messages[number].clone()));
        }
        if self.model_labels.is_some() {
            states.label(|step| self.label(step));
        }
        Ok(())
    }

    /// Adds the labels that a model gave: those in the record if they answer the same propositions, else the known
    /// labels of a step with the same text.
    fn label(&self, step: &mut Step) {
        let Some(plan) = &self.model_labels else { return };
        let text = |number: Option<usize>| match step.values[number?].as_ref() {
            Some((_, Scalar::Text(text))) => Some(text.as_str()),
            _ => None,
        };
        let select =
            |holds: &dyn Fn(&str) -> bool| plan.propositions.iter().filter(|name| holds(name)).cloned().collect();
        step.model_labels = if text(plan.asked).is_some_and(|asked| self.known_labels.answer(asked)) {
            let model = text(plan.model).map(str::to_owned);
            let names = select(&|name| step.recorded_labels.iter().any(|label| label == name));
            Some(ModelLabels { names, model })
        } else if self.known_labels.is_empty() {
            None
        } else {
            let labels = self.known_labels.get(&step.text_to_judge());
            labels.map(|labels| ModelLabels { names: select(&|name| labels.holds(name)), model: None })
        };
    }

    fn is_state(&self, step: &Step) -> bool {
        self.only.as_ref().is_none_or(|(number, values)| match &step.values[*number] {
            Some((_, Scalar::Text(text))) => values.contains(text),
            Some((_, Scalar::Null)) | None => false,
            Some((_, scalar)) => values.iter().any(|value| scalar.equals_text(value)),
        })
    }
}

/// The texts that formulas look for in the text of a state.
fn texts_looked_for(formulas: &Formulas, read: &[Formula]) -> Vec<Arc<str>> {
    let atoms = read.iter().flat_map(|formula| formulas.atoms_of(*formula)).map(|atom| formulas.atom(atom));
    let texts: BTreeSet<Arc<str>> = atoms
        .filter_map(|atom| match atom {
            Atom::Label { kind, text } if &**kind == "text_contains" => Some(text.clone()),
            _ => None,
        })
        .collect();
    texts.into_iter().collect()
}

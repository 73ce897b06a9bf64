//! Labelers: they determine which propositions are true of a step of an agent.
//!
//! The labeling function of the TRAC paper. A labeler is called once for each step, in order, and may remember earlier
//! steps. Labels are true or false; there is no third value.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use regex::Regex;

use tlaforge_temporal::{Formula, Formulas, Node, ParseError, Record, Unary, Value};

/// One step of an agent.
#[derive(Clone, Copy)]
pub struct Observed<'a> {
    /// The input of the agent.
    pub input: &'a str,
    /// The output of the agent.
    pub output: &'a str,
    /// The fields of the step.
    pub record: &'a dyn Record,
}

/// Why a step cannot be labelled.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    #[error("`{proposition}`: a label must be true or false, found {found}")]
    NotTruth { proposition: String, found: String },
    /// Labels that are neither an object nor a list of names.
    #[error("labels must be an object of truth values or a list of names, found {0}")]
    Shape(String),
    /// Such a proposition would be true of everything.
    #[error("the proposition `{0}` contains no word")]
    NoWord(String),
    #[error("the pattern of `{proposition}`: {source}")]
    Pattern { proposition: String, source: Box<regex::Error> },
    #[error("the definition of `{proposition}`: {source}")]
    Definition { proposition: String, source: ParseError },
    /// A definition with a temporal operator.
    #[error("the definition of `{proposition}` must be about one step, but has `{operator}`")]
    Temporal { proposition: String, operator: String },
    /// An error of a labeler outside this module.
    #[error("{0}")]
    Other(String),
}

/// Truth values of propositions. Propositions without a value are false.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    truths: BTreeMap<Arc<str>, bool>,
}

impl Labels {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn set(&mut self, proposition: impl Into<Arc<str>>, value: bool) {
        self.truths.insert(proposition.into(), value);
    }

    pub fn holds(&self, proposition: &str) -> bool {
        self.truths.get(proposition).copied().unwrap_or(false)
    }

    /// The true propositions, sorted.
    pub fn truths(&self) -> impl Iterator<Item = &str> {
        self.truths.iter().filter(|(_, value)| **value).map(|(name, _)| &**name)
    }

    /// Adds the labels of `other`; a proposition is true if it is true in either.
    pub fn merge(&mut self, other: Self) {
        for (name, value) in other.truths {
            *self.truths.entry(name).or_insert(false) |= value;
        }
    }

    /// Reads labels as logs and other programs write them: an object of values, or a list of the true propositions. Zero
    /// and empty values are false, all other numbers, texts, lists and objects are true. `null` is an error, because it
    /// may mean "unknown".
    pub fn from_json(json: &serde_json::Value) -> Result<Self, LabelError> {
        use serde_json::Value as Json;
        let mut labels = Self::new();
        match json {
            Json::Object(values) => {
                for (name, value) in values {
                    let value = match value {
                        Json::Bool(value) => *value,
                        Json::Number(number) => number.as_f64() != Some(0.0),
                        Json::String(text) => !text.is_empty(),
                        Json::Array(items) => !items.is_empty(),
                        Json::Object(fields) => !fields.is_empty(),
                        Json::Null => {
                            let (proposition, found) = (name.clone(), "null".to_owned());
                            return Err(LabelError::NotTruth { proposition, found });
                        }
                    };
                    labels.set(name.as_str(), value);
                }
            }
            Json::Array(names) => {
                for name in names {
                    let name = name.as_str().ok_or_else(|| LabelError::Shape(format!("{name} in the list")))?;
                    labels.set(name, true);
                }
            }
            other => return Err(LabelError::Shape(other.to_string())),
        }
        Ok(labels)
    }
}

impl<N: Into<Arc<str>>> FromIterator<N> for Labels {
    /// The labels that make these propositions true.
    fn from_iter<T: IntoIterator<Item = N>>(names: T) -> Self {
        Self { truths: names.into_iter().map(|name| (name.into(), true)).collect() }
    }
}

impl Record for Labels {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.truths.get(name).map(|value| Value::Bool(*value))
    }

    /// An atom `kind:text` is labelled under this whole name.
    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        self.truths.get(format!("{kind}:{text}").as_str()).copied()
    }
}

/// A record with labels; a label takes precedence over a field of the same name.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    pub labels: &'a Labels,
    /// The fields of the step.
    pub record: &'a dyn Record,
}

impl Record for Labelled<'_> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.labels.field(name).or_else(|| self.record.field(name))
    }

    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        self.labels.label(kind, text).or_else(|| self.record.label(kind, text))
    }

    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        self.record.call(name, arguments)
    }

    fn field_at(&self, lifeline: &str, name: &str) -> Option<Value<'_>> {
        self.record.field_at(lifeline, name)
    }

    fn values(&self, name: &str) -> Vec<Option<Value<'_>>> {
        match self.labels.field(name) {
            Some(label) => vec![Some(label)],
            None => self.record.values(name),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.labels.has(name) || self.record.has(name)
    }
}

/// Determines which propositions are true of each step.
pub trait Labeler {
    /// The labels of the next step.
    fn label(&mut self, step: &Observed<'_>) -> Result<Labels, LabelError>;

    /// Forgets all steps, because another run begins.
    fn restart(&mut self);
}

/// Which text of a step a labeler reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextPart {
    Input,
    #[default]
    Output,
    /// The input and then the output, on separate lines.
    Both,
}

impl TextPart {
    fn text(self, step: &Observed<'_>) -> String {
        match self {
            Self::Input => step.input.to_owned(),
            Self::Output => step.output.to_owned(),
            Self::Both => format!("{}\n{}", step.input, step.output),
        }
    }
}

/// Which steps a labeler reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    #[default]
    LastStep,
    /// All steps up to the last.
    History,
}

/// A proposition is true if all its words occur, in any order and in upper or lower case.
///
/// A word is a longest sequence of letters, digits and `_`. So `living room` is true of "the living-room" and of "room for
/// living", and `go` of "GO." but not of "good morning". With [`Scope::History`], the words may come from different
/// steps.
#[derive(Debug, Clone)]
pub struct WordLabeler {
    propositions: Vec<(Arc<str>, Vec<String>)>,
    part: TextPart,
    scope: Scope,
    seen: BTreeSet<String>,
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

impl WordLabeler {
    /// Each proposition must contain a word.
    pub fn new<'a>(
        propositions: impl IntoIterator<Item = &'a str>,
        part: TextPart,
        scope: Scope,
    ) -> Result<Self, LabelError> {
        let named = |name: &'a str| {
            let words: Vec<String> = words(name).collect();
            if words.is_empty() { Err(LabelError::NoWord(name.to_owned())) } else { Ok((name.into(), words)) }
        };
        let propositions = propositions.into_iter().map(named).collect::<Result<_, _>>()?;
        Ok(Self { propositions, part, scope, seen: BTreeSet::new() })
    }
}

impl Labeler for WordLabeler {
    fn label(&mut self, step: &Observed<'_>) -> Result<Labels, LabelError> {
        if self.scope == Scope::LastStep {
            self.seen.clear();
        }
        self.seen.extend(words(&self.part.text(step)));
        let mut labels = Labels::new();
        for (name, words) in &self.propositions {
            labels.set(Arc::clone(name), words.iter().all(|word| self.seen.contains(word)));
        }
        Ok(labels)
    }

    fn restart(&mut self) {
        self.seen.clear();
    }
}

/// A proposition is true if its regular expression matches.
///
/// With [`Scope::History`], each step searches all texts so far, joined by line breaks.
#[derive(Debug, Clone)]
pub struct PatternLabeler {
    propositions: Vec<(Arc<str>, Regex)>,
    part: TextPart,
    scope: Scope,
    text: String,
}

impl PatternLabeler {
    /// Takes propositions with their patterns, in the syntax of the `regex` crate.
    pub fn new<'a>(
        propositions: impl IntoIterator<Item = (&'a str, &'a str)>,
        part: TextPart,
        scope: Scope,
    ) -> Result<Self, LabelError> {
        let named = |(name, pattern): (&'a str, &'a str)| match Regex::new(pattern) {
            Ok(pattern) => Ok((name.into(), pattern)),
            Err(source) => Err(LabelError::Pattern { proposition: name.to_owned(), source: Box::new(source) }),
        };
        let propositions = propositions.into_iter().map(named).collect::<Result<_, _>>()?;
        Ok(Self { propositions, part, scope, text: String::new() })
    }
}

impl Labeler for PatternLabeler {
    fn label(&mut self, step: &Observed<'_>) -> Result<Labels, LabelError> {
        match self.scope {
            Scope::LastStep => self.text = self.part.text(step),
            Scope::History => {
                if !self.text.is_empty() {
                    self.text.push('\n');
                }
                self.text.push_str(&self.part.text(step));
            }
        }
        let mut labels = Labels::new();
        for (name, pattern) in &self.propositions {
            labels.set(Arc::clone(name), pattern.is_match(&self.text));
        }
        Ok(labels)
    }

    fn restart(&mut self) {
        self.text.clear();
    }
}

/// A proposition is defined by a formula over the fields of a step: `passed` as `status = "passed" & errors = 0`.
#[derive(Debug, Clone)]
pub struct FieldLabeler {
    formulas: Formulas,
    propositions: Vec<(Arc<str>, Formula)>,
}

impl FieldLabeler {
    /// Takes propositions with their definitions, which must not have temporal operators.
    pub fn new<'a>(propositions: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, LabelError> {
        let mut formulas = Formulas::new();
        let mut defined = Vec::new();
        for (name, text) in propositions {
            let formula = formulas
                .parse(text)
                .map_err(|source| LabelError::Definition { proposition: name.to_owned(), source })?;
            if let Some(operator) = temporal_operator(&formulas, formula) {
                return Err(LabelError::Temporal { proposition: name.to_owned(), operator });
            }
            defined.push((name.into(), formula));
        }
        Ok(Self { formulas, propositions: defined })
    }
}

fn temporal_operator(formulas: &Formulas, formula: Formula) -> Option<String> {
    use tlaforge_temporal::Binary;
    formulas.subformulas(formula).into_iter().find_map(|part| match formulas.node(part) {
        Node::Unary(Unary::Past, _) => Some("P(…)".to_owned()),
        Node::Unary(operator, _) => Some(operator.symbol().to_owned()),
        Node::Binary(Binary::Implies | Binary::Iff, _) => None,
        Node::Binary(operator, _) => Some(operator.symbol().to_owned()),
        Node::Causal(..) | Node::Seen(_) => Some("@".to_owned()),
        _ => None,
    })
}

impl Labeler for FieldLabeler {
    fn label(&mut self, step: &Observed<'_>) -> Result<Labels, LabelError> {
        let all: Vec<Formula> = self.propositions.iter().map(|(_, formula)| *formula).collect();
        let mut values = vec![false; self.formulas.len()];
        for part in self.formulas.subformulas_of(&all) {
            let of = |f: &Formula| values[f.index()];
            values[part.index()] = match self.formulas.node(part) {
                Node::True => true,
                Node::Atom(atom) => self.formulas.atom(*atom).holds(step.record),
                Node::Not(a) => !of(a),
                Node::And(all) => all.iter().all(of),
                Node::Or(all) => all.iter().any(of),
                Node::Binary(tlaforge_temporal::Binary::Implies, [a, b]) => !of(a) || of(b),
                Node::Binary(_, [a, b]) => of(a) == of(b),
                _ => false,
            };
        }
        let mut labels = Labels::new();
        for (name, formula) in &self.propositions {
            labels.set(Arc::clone(name), values[formula.index()]);
        }
        Ok(labels)
    }

    fn restart(&mut self) {}
}

/// A labeler with some propositions that stay true once they are true.
#[derive(Debug, Clone)]
pub struct StickyLabeler<L> {
    inner: L,
    lasting: BTreeSet<String>,
    /// The lasting propositions that have been true.
    held: BTreeSet<String>,
}

impl<L> StickyLabeler<L> {
    /// The `lasting` propositions of the inner labeler stay true.
    pub fn new<'a>(inner: L, lasting: impl IntoIterator<Item = &'a str>) -> Self {
        Self { inner, lasting: lasting.into_iter().map(str::to_owned).collect(), held: BTreeSet::new() }
    }
}

impl<L: Labeler> Labeler for StickyLabeler<L> {
    fn label(&mut self, step: &Observed<'_>) -> Result<Labels, LabelError> {
        let mut labels = self.inner.label(step)?;
        for name in &self.lasting {
            if labels.holds(name) {
                self.held.insert(name.clone());
            }
        }
        for name in &self.held {
            labels.set(name.as_str(), true);
        }
        Ok(labels)
    }

    fn restart(&mut self) {
        self.held.clear();
        self.inner.restart();
    }
}

/// Several labelers; a proposition is true if one of them says so.
#[derive(Default)]
pub struct CombinedLabeler(pub Vec<Box<dyn Labeler>>);

impl Labeler for CombinedLabeler {
    fn label(&mut self, step: &Observed<'_>) -> Result<Labels, LabelError> {
        let mut labels = Labels::new();
        for labeler in &mut self.0 {
            labels.merge(labeler.label(step)?);
        }
        Ok(labels)
    }

    fn restart(&mut self) {
        for labeler in &mut self.0 {
            labeler.restart();
        }
    }
}

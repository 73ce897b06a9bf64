//! Labelers: from what an agent was given and answered to the propositions that are true.
//!
//! The labeling function of the TRAC paper. A labeler is asked once for each step, in order, and may remember what came
//! before. What it is asked for, it answers by yes or no; there is no third value.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use regex::Regex;

use crate::temporal::{Formula, Formulas, Node, ParseError, Record, Unary, Value};

/// One step as a labeler and a monitor see it.
#[derive(Clone, Copy)]
pub struct Observed<'a> {
    /// What was put to the agent.
    pub input: &'a str,
    /// What it answered.
    pub output: &'a str,
    /// The step's fields.
    pub record: &'a dyn Record,
}

/// Why there are no labels.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    /// A label that is neither true nor false.
    #[error("`{proposition}`: a label must be true or false, found {found}")]
    NotTruth {
        /// What was labelled.
        proposition: String,
        /// What it was given.
        found: String,
    },
    /// Labels that are neither an object nor a list of names.
    #[error("labels must be an object of truth values or a list of names, found {0}")]
    Shape(String),
    /// A proposition without a word in it is true of everything.
    #[error("the proposition `{0}` has no word in it")]
    NoWord(String),
    /// A pattern that does not compile.
    #[error("the pattern of `{proposition}`: {source}")]
    Pattern {
        /// Whose it is.
        proposition: String,
        /// What is wrong.
        source: Box<regex::Error>,
    },
    /// A definition that does not read.
    #[error("the definition of `{proposition}`: {source}")]
    Definition {
        /// Whose it is.
        proposition: String,
        /// What is wrong.
        source: ParseError,
    },
    /// A definition that speaks of more than one step.
    #[error("the definition of `{proposition}` must speak of one step, but has `{operator}`")]
    Temporal {
        /// Whose it is.
        proposition: String,
        /// The operator.
        operator: String,
    },
    /// A labeler of another kind failed.
    #[error("{0}")]
    Other(String),
}

/// Truth values of propositions; those not named are false.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    truths: BTreeMap<Arc<str>, bool>,
}

impl Labels {
    /// Nothing is true.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a proposition its value.
    pub fn set(&mut self, proposition: impl Into<Arc<str>>, value: bool) {
        self.truths.insert(proposition.into(), value);
    }

    /// Whether a proposition is true.
    pub fn holds(&self, proposition: &str) -> bool {
        self.truths.get(proposition).copied().unwrap_or(false)
    }

    /// The true propositions, sorted.
    pub fn truths(&self) -> impl Iterator<Item = &str> {
        self.truths.iter().filter(|(_, value)| **value).map(|(name, _)| &**name)
    }

    /// Makes true what is true in `other`, and names what only `other` names.
    pub fn merge(&mut self, other: Self) {
        for (name, value) in other.truths {
            *self.truths.entry(name).or_insert(false) |= value;
        }
    }

    /// Labels as a log or another program writes them: an object of values, or the list of those that are true. Zero and
    /// what is empty is false, every other number, text, list and object true; `null` is an error, for it may mean
    /// "unknown".
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

    /// A proposition written `kind:text` is labelled under that whole name.
    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        self.truths.get(format!("{kind}:{text}").as_str()).copied()
    }
}

/// A record with labels beside its own fields; a label goes before a field of its name.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    /// What was labelled.
    pub labels: &'a Labels,
    /// The step's own fields.
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

/// What finds out which propositions are true.
pub trait Labeler {
    /// The labels of the next step.
    fn label(&mut self, step: &Observed<'_>) -> Result<Labels, LabelError>;

    /// Forgets the steps so far: another run begins.
    fn restart(&mut self);
}

/// Which text of a step is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part {
    /// What was put to the agent.
    Input,
    /// What it answered.
    #[default]
    Output,
    /// Both, the input first, on lines of their own.
    Both,
}

impl Part {
    fn of(self, step: &Observed<'_>) -> String {
        match self {
            Self::Input => step.input.to_owned(),
            Self::Output => step.output.to_owned(),
            Self::Both => format!("{}\n{}", step.input, step.output),
        }
    }
}

/// How far back is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// The last step alone.
    #[default]
    LastStep,
    /// All steps so far.
    History,
}

/// Propositions that are true where all their words occur, in any order and whatever their case.
///
/// A word is a longest run of letters, digits and `_`; everything else stands between words. So `living room` is true of
/// "the living-room" and of "room for living", and `go` of "GO." but not of "good morning". Over the history, the words
/// may come from different steps.
#[derive(Debug, Clone)]
pub struct WordLabeler {
    propositions: Vec<(Arc<str>, Vec<String>)>,
    part: Part,
    scope: Scope,
    seen: BTreeSet<String>,
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

impl WordLabeler {
    /// A labeler for these propositions, each of which has a word in it.
    pub fn new<'a>(
        propositions: impl IntoIterator<Item = &'a str>,
        part: Part,
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
        self.seen.extend(words(&self.part.of(step)));
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

/// Propositions that are true where a regular expression finds something.
///
/// Over the history, all texts so far are searched as one, each on lines of its own: a search of the whole at each step.
#[derive(Debug, Clone)]
pub struct PatternLabeler {
    propositions: Vec<(Arc<str>, Regex)>,
    part: Part,
    scope: Scope,
    text: String,
}

impl PatternLabeler {
    /// A labeler for propositions and their patterns, in the syntax of the `regex` crate.
    pub fn new<'a>(
        propositions: impl IntoIterator<Item = (&'a str, &'a str)>,
        part: Part,
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
            Scope::LastStep => self.text = self.part.of(step),
            Scope::History => {
                if !self.text.is_empty() {
                    self.text.push('\n');
                }
                self.text.push_str(&self.part.of(step));
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

/// Propositions defined over the fields of the step: `passed` as `status = "passed" & errors = 0`.
#[derive(Debug, Clone)]
pub struct FieldLabeler {
    formulas: Formulas,
    propositions: Vec<(Arc<str>, Formula)>,
}

impl FieldLabeler {
    /// A labeler for propositions and their definitions, formulas without temporal operators.
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
    use crate::temporal::Binary;
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
                Node::Binary(crate::temporal::Binary::Implies, [a, b]) => !of(a) || of(b),
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

/// A labeler some of whose propositions stay true once they are.
#[derive(Debug, Clone)]
pub struct Sticky<L> {
    inner: L,
    lasting: BTreeSet<String>,
    held: BTreeSet<String>,
}

impl<L> Sticky<L> {
    /// These propositions of a labeler stay true.
    pub fn new<'a>(inner: L, lasting: impl IntoIterator<Item = &'a str>) -> Self {
        Self { inner, lasting: lasting.into_iter().map(str::to_owned).collect(), held: BTreeSet::new() }
    }
}

impl<L: Labeler> Labeler for Sticky<L> {
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

/// Several labelers; a proposition is true where one of them says so.
#[derive(Default)]
pub struct Together(pub Vec<Box<dyn Labeler>>);

impl Labeler for Together {
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

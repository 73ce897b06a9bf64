//! The policy file: a TOML list of rules.
//!
//! ```toml
//! [[rule]]
//! id = "no-deletion"                  # unique in the file
//! kind = "no_call"                    # one of the kinds of `Rule`
//! params = { tool = "rm" }            # all parameters of the kind, and no others
//! severity = "warning"                # "info", "warning" or "error"; "error" where nothing is said
//! description = "files are never deleted"
//!
//! [[rule]]
//! id = "tests-before-submission"
//! formula = '!tool_call:submit W tool_call:test'   # short for kind = "ltl_formula"
//!
//! [[rule]]
//! id = "reviewed-what-was-checked"
//! owner = "review"                    # a causal rule: over the causal past of this lifeline's events
//! when = 'name = "approved"'          # the events at which it is evaluated; all, where nothing is said
//! formula = '@model_check.spec = spec'
//!
//! [[rule]]
//! id = "asked-in-words"
//! words = "every request is answered"                  # a rule in plain words is watched by the formula that a model
//! formula = 'G (name = "request_sent" -> F name = "answer_received")' # made of it (`tlaforge policy formulate`),
//! confirmed = true                                     # and only where somebody has confirmed that
//!
//! intervention = "resample"                            # an answer that would violate it is met by this
//!
//! [intervening]                                        # how; these are the defaults
//! samples = 5
//! temperature = 0.8
//! fallback_model = "another-model"                     # for "switch"; nobody by default
//!
//! [prediction]                                         # what is met before it comes, too; these are the defaults
//! pattern = "F violated"
//! samples = 5
//! steps = 3
//! threshold = 0.5
//! temperature = 0.8
//! how = "sampling"
//!
//! [[label]]                           # a proposition that only a model can judge: the atom `model:polite`
//! name = "polite"
//! asks = "the answer greets the customer"
//!
//! [[rule]]
//! id = "greets"
//! formula = 'F model:polite'
//!
//! [log]                               # where records keep what rules speak of; only what differs from the shape's own
//! shape = "jsonl"
//! tool_call = ["call.tool"]
//! lifeline = "agent"                  # for causal rules: whose event it is,
//! event = "kind"                      # act, choice, send or recv,
//! message = "msg"                     # and which message is sent or received
//! fields = ["status", "call.tool"]    # all there are, where a misspelt one is to be an error
//! ```
//!
//! TOML, because a literal string in single quotes takes a formula as it is, and because an error can name its line.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use toml::de::{DeArray, DeTable, DeValue};

use super::log::Mapping;
use super::policy_labels::{are_used, labels};
use super::prediction::Prediction;
use super::propositions::{Propositions, asked_by};
use super::rules::{Parameter, Rule, RuleError, formula_for};
use crate::temporal::{Formula, Formulas, Reading};

/// The keys of a rule.
const KEYS: [&str; 11] = [
    "id",
    "kind",
    "params",
    "formula",
    "owner",
    "when",
    "severity",
    "description",
    "words",
    "confirmed",
    "intervention",
];

/// How much a violation of a rule weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Worth a look.
    Warning,
    /// Not acceptable.
    #[default]
    Error,
}

impl Severity {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// How an answer that would violate a rule is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Intervention {
    /// Further samples of the same request; the one that owes least is taken.
    Resample,
    /// The request once more, with what the rules still ask for in words.
    Inject,
    /// The request once more, to another model.
    Switch,
}

impl Intervention {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Resample, Self::Inject, Self::Switch];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resample => "resample",
            Self::Inject => "inject",
            Self::Switch => "switch",
        }
    }
}

/// How interventions go: the `[intervening]` table. The defaults are those of the TRAC paper.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Intervening {
    /// Samples of one request in all, with `resample`.
    pub samples: u32,
    /// The temperature of those after the first.
    pub temperature: f64,
    /// Who answers with `switch`; where nobody is named, the same model answers with the rules before it.
    pub fallback_model: Option<String>,
    /// How it is predicted that a rule will be violated; nothing is, where the file does not say.
    #[serde(skip)]
    pub prediction: Option<Prediction>,
}

impl Default for Intervening {
    fn default() -> Self {
        Self { samples: 5, temperature: 0.8, fallback_model: None, prediction: None }
    }
}

impl Intervening {
    /// More samples of one request than anybody can want to pay for.
    const MOST: u32 = 100;

    fn read(text: &str) -> Result<Self, String> {
        #[derive(serde::Deserialize)]
        struct File {
            intervening: Intervening,
        }
        let Self { samples, temperature, fallback_model, prediction } =
            toml::from_str(text).map(|file: File| file.intervening).map_err(|e| e.message().to_owned())?;
        match () {
            () if !(2..=Self::MOST).contains(&samples) => Err(format!(
                "`samples` is {samples}; it counts the first answer, too, and must be from 2 to {}",
                Self::MOST
            )),
            () if !(0.0..=2.0).contains(&temperature) => {
                Err(format!("`temperature` is {temperature}; it must be from 0 to 2"))
            }
            () if fallback_model.as_ref().is_some_and(String::is_empty) => Err("`fallback_model` is empty".to_owned()),
            () => Ok(Self { samples, temperature, fallback_model, prediction }),
        }
    }
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The whole trace.
    Trace(Rule),
    /// The causal past of each event of a lifeline.
    Causal {
        /// The lifeline.
        owner: String,
        /// Which of its events; `None`: all.
        when: Option<Formula>,
    },
}

/// One rule of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRule {
    /// Its name, unique in the policy.
    pub id: String,
    /// What it is for.
    pub description: Option<String>,
    /// How much a violation weighs.
    pub severity: Severity,
    /// What it is about.
    pub scope: Scope,
    /// What has to hold.
    pub formula: Formula,
    /// How an answer that would violate it is met, in a run that is watched by it.
    pub intervention: Option<Intervention>,
    /// The line where it begins, from 1.
    pub line: usize,
}

impl PolicyRule {
    /// The propositions that a model labels and that the rule's verdict rests on, sorted; of a causal rule also those of
    /// its `when`.
    pub fn rests_on(&self, formulas: &Formulas) -> Vec<Arc<str>> {
        let mut names = asked_by(formulas, self.formula);
        if let Scope::Causal { when: Some(when), .. } = self.scope {
            names.extend(asked_by(formulas, when));
            names.sort();
            names.dedup();
        }
        names
    }
}

/// The rules of a policy file, in its order; at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The rules.
    pub rules: Vec<PolicyRule>,
    /// What the file says of the log: where its records keep what the rules speak of.
    pub log: Mapping,
    /// How interventions go.
    pub intervening: Intervening,
    /// What a model has to judge; the rules speak of each.
    pub labels: Propositions,
}

/// What is wrong with a policy, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// It is not TOML.
    #[error("line {line}: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// It has no rule.
    #[error("the policy has no rule (a rule begins with `[[rule]]`)")]
    Empty,
    /// The table that says where the log keeps things is wrong.
    #[error("line {line}: [log]: {message}")]
    Log {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A key outside all rules that a policy does not have.
    #[error("line {line}: unknown key `{key}` (rules stand under `[[rule]]`, what is said of the log under `[log]`)")]
    Key {
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
    },
    /// The table that says how interventions go is wrong.
    #[error("line {line}: [intervening]: {message}")]
    Intervening {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The table that says what is predicted is wrong.
    #[error("line {line}: [prediction]: {message}")]
    Prediction {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A proposition that a model is to judge is wrong.
    #[error("line {line}: [[label]]: {message}")]
    Label {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// Two rules have the same name.
    #[error("line {line}: a second rule `{id}` (the first begins in line {first})")]
    Duplicate {
        /// The line of the second, from 1.
        line: usize,
        /// The name.
        id: String,
        /// The line of the first.
        first: usize,
    },
    /// A rule's own keys are wrong.
    #[error("line {line}: rule {rule}: {message}")]
    Rule {
        /// The line, from 1.
        line: usize,
        /// The rule's name in quotes, or its number from 1 where it has none.
        rule: String,
        /// What is wrong.
        message: String,
    },
    /// A rule's kind or a parameter is wrong.
    #[error("line {line}: rule {rule}: {source}")]
    Parameter {
        /// The line, from 1.
        line: usize,
        /// The rule's name in quotes.
        rule: String,
        /// What is wrong.
        source: RuleError,
    },
}

impl Policy {
    /// Reads a policy file's text and puts its formulas among others.
    ///
    /// That the log has the atoms and lifelines that the rules speak of is asked later, with
    /// [`Formulas::known_to`], when the log is known.
    pub fn read(text: &str, formulas: &mut Formulas) -> Result<Self, PolicyError> {
        let file = DeTable::parse(text).map_err(|e| PolicyError::Syntax {
            line: e.span().map_or(1, |span| line(text, &span)),
            message: e.message().to_owned(),
        })?;
        let mut policy = Self {
            rules: Vec::new(),
            log: Mapping::default(),
            intervening: Intervening::default(),
            labels: Propositions::default(),
        };
        let mut lines = BTreeMap::new();
        for (key, value) in file.get_ref() {
            if key.get_ref() == "label" {
                (policy.labels, lines) = labels(text, key.span(), value.get_ref())?;
                continue;
            }
            if key.get_ref() == "log" {
                policy.log =
                    mapping(text).map_err(|message| PolicyError::Log { line: line(text, &key.span()), message })?;
                continue;
            }
            if key.get_ref() == "intervening" {
                policy.intervening = Intervening::read(text)
                    .map_err(|message| PolicyError::Intervening { line: line(text, &key.span()), message })?;
                continue;
            }
            if key.get_ref() == "prediction" {
                continue;
            }
            let unknown = || PolicyError::Key { line: line(text, &key.span()), key: key.get_ref().to_string() };
            if key.get_ref() != "rule" {
                return Err(unknown());
            }
            for (number, rule) in value.get_ref().as_array().ok_or_else(unknown)?.iter().enumerate() {
                let keys = rule.get_ref().as_table().ok_or_else(unknown)?;
                let reader = RuleReader { text, keys, rule: format!("{}", number + 1), line: line(text, &rule.span()) };
                policy.add(reader.read(formulas)?)?;
            }
        }
        if policy.rules.is_empty() {
            return Err(PolicyError::Empty);
        }
        are_used(&policy.rules, formulas, &lines)?;
        if let Some(key) = file.get_ref().iter().map(|(key, _)| key).find(|key| key.get_ref() == "prediction") {
            let wrong = |message| PolicyError::Prediction { line: line(text, &key.span()), message };
            policy.intervening.prediction = Some(Prediction::read(text).map_err(wrong)?);
            if policy.rules.iter().all(|rule| rule.intervention.is_none()) {
                return Err(wrong("nothing would follow from it: no rule has an `intervention`".to_owned()));
            }
        }
        Ok(policy)
    }

    fn add(&mut self, rule: PolicyRule) -> Result<(), PolicyError> {
        if let Some(first) = self.rules.iter().find(|first| first.id == rule.id) {
            return Err(PolicyError::Duplicate { line: rule.line, id: rule.id, first: first.line });
        }
        self.rules.push(rule);
        Ok(())
    }
}

/// The `[log]` table of a policy that is TOML.
fn mapping(text: &str) -> Result<Mapping, String> {
    #[derive(serde::Deserialize)]
    struct File {
        log: Mapping,
    }
    toml::from_str(text).map(|file: File| file.log).map_err(|e| e.message().to_owned())
}

pub(super) fn line(text: &str, span: &Range<usize>) -> usize {
    text.get(..span.start).unwrap_or(text).matches('\n').count() + 1
}

/// One rule while it is read.
struct RuleReader<'a> {
    text: &'a str,
    keys: &'a DeTable<'a>,
    /// Its name in quotes, or its number.
    rule: String,
    line: usize,
}

impl RuleReader<'_> {
    fn read(mut self, formulas: &mut Formulas) -> Result<PolicyRule, PolicyError> {
        let id = self.string("id")?.ok_or_else(|| self.wrong(None, "it has no `id`"))?;
        if id.is_empty() {
            return Err(self.wrong(Some("id"), "its `id` is empty"));
        }
        self.rule = format!("`{id}`");
        let known: BTreeSet<&str> = KEYS.into_iter().collect();
        if let Some((key, _)) = self.keys.iter().find(|(key, _)| !known.contains(&**key.get_ref())) {
            let message = format!("unknown key `{}` (known: {})", key.get_ref(), KEYS.join(", "));
            return Err(PolicyError::Rule { line: line(self.text, &key.span()), rule: self.rule, message });
        }
        self.confirmed()?;
        let severity = match self.string("severity")?.as_deref() {
            None | Some("error") => Severity::Error,
            Some("warning") => Severity::Warning,
            Some("info") => Severity::Info,
            Some(other) => {
                let message = format!("unknown severity `{other}` (known: info, warning, error)");
                return Err(self.wrong(Some("severity"), &message));
            }
        };
        let (scope, formula) = match self.string("owner")? {
            Some(owner) => self.causal(owner, formulas)?,
            None => self.trace(formulas)?,
        };
        let description = self.string("description")?;
        let intervention = self.intervention(&scope)?;
        Ok(PolicyRule { id, description, severity, scope, formula, intervention, line: self.line })
    }

    fn intervention(&self, scope: &Scope) -> Result<Option<Intervention>, PolicyError> {
        let Some(name) = self.string("intervention")? else { return Ok(None) };
        let wrong = |message: &str| Err(self.wrong(Some("intervention"), message));
        let Some(known) = Intervention::ALL.into_iter().find(|known| known.name() == name) else {
            return wrong(&format!("unknown intervention `{name}` (known: resample, inject, switch)"));
        };
        match scope {
            Scope::Trace(_) => Ok(Some(known)),
            Scope::Causal { .. } => {
                wrong("a causal rule is asked of what has happened, and owes nothing that an answer could still give")
            }
        }
    }

    /// That a rule which was said in words has a formula, and that somebody has confirmed it.
    fn confirmed(&self) -> Result<(), PolicyError> {
        let confirmed = match self.keys.get("confirmed").map(toml::Spanned::get_ref) {
            None => None,
            Some(DeValue::Boolean(confirmed)) => Some(*confirmed),
            Some(other) => {
                let message = format!("`confirmed` must be a truth value, not {}", type_name(other));
                return Err(self.wrong(Some("confirmed"), &message));
            }
        };
        match (self.string("words")?, confirmed) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(self.wrong(Some("confirmed"), "`confirmed` belongs to a rule that has `words`")),
            (Some(_), _) if !self.keys.contains_key("formula") => Err(self.wrong(
                Some("words"),
                "it has only `words`, by which nothing is watched: `tlaforge policy formulate FILE` asks a model for its \
                 formula, which you confirm",
            )),
            (Some(_), Some(true)) => Ok(()),
            (Some(_), _) => Err(self.wrong(
                Some("words"),
                "nobody has confirmed that its formula says what its `words` say: `tlaforge policy formulate FILE` shows \
                 both; or write `confirmed = true`",
            )),
        }
    }

    fn causal(&self, owner: String, formulas: &mut Formulas) -> Result<(Scope, Formula), PolicyError> {
        if owner.is_empty() {
            return Err(self.wrong(Some("owner"), "its `owner` is empty"));
        }
        for key in ["kind", "params"] {
            if self.keys.contains_key(key) {
                let message = format!("a causal rule has a `formula`, and no `{key}`");
                return Err(self.wrong(Some(key), &message));
            }
        }
        let guard = self.string("formula")?.ok_or_else(|| self.wrong(None, "a causal rule needs a `formula`"))?;
        let formula = self.checked(formula_for(formulas, "formula", &guard, Reading::Causal))?;
        let when = match self.string("when")? {
            Some(when) => Some(self.checked(formula_for(formulas, "when", &when, Reading::Causal))?),
            None => None,
        };
        Ok((Scope::Causal { owner, when }, formula))
    }

    fn trace(&self, formulas: &mut Formulas) -> Result<(Scope, Formula), PolicyError> {
        if self.keys.contains_key("when") {
            return Err(self.wrong(Some("when"), "`when` belongs to a causal rule, which has an `owner`"));
        }
        let rule = match (self.string("kind")?, self.string("formula")?) {
            (None, None) => return Err(self.wrong(None, "it has neither a `kind` nor a `formula`")),
            (Some(_), Some(_)) => {
                return Err(self.wrong(Some("formula"), "`formula` stands for a kind; write one of them"));
            }
            (None, Some(formula)) => {
                if self.keys.contains_key("params") {
                    return Err(self.wrong(Some("params"), "`formula` takes no `params`"));
                }
                let parameters = BTreeMap::from([("formula".to_owned(), Parameter::Text(formula))]);
                self.checked(Rule::new("ltl_formula", parameters))?
            }
            (Some(kind), None) => self.checked(Rule::new(&kind, self.parameters()?))?,
        };
        let formula = self.checked(rule.formula(formulas))?;
        Ok((Scope::Trace(rule), formula))
    }

    fn parameters(&self) -> Result<BTreeMap<String, Parameter>, PolicyError> {
        let Some(params) = self.keys.get("params") else { return Ok(BTreeMap::new()) };
        let table = params.get_ref().as_table();
        let table = table.ok_or_else(|| self.wrong(Some("params"), "`params` must be a table"))?;
        Ok(table.iter().map(|(key, value)| (key.get_ref().to_string(), parameter(value.get_ref()))).collect())
    }

    fn string(&self, key: &'static str) -> Result<Option<String>, PolicyError> {
        match self.keys.get(key).map(toml::Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::String(text)) => Ok(Some(text.to_string())),
            Some(other) => Err(self.wrong(Some(key), &format!("`{key}` must be a text, not {}", type_name(other)))),
        }
    }

    /// An error at the place of a key, or where the rule begins.
    fn wrong(&self, key: Option<&str>, message: &str) -> PolicyError {
        PolicyError::Rule { line: self.line_of(key), rule: self.rule.clone(), message: message.to_owned() }
    }

    fn checked<T>(&self, result: Result<T, RuleError>) -> Result<T, PolicyError> {
        result.map_err(|source| {
            let key = if matches!(source, RuleError::Kind { .. }) { Some("kind") } else { source.parameter() };
            PolicyError::Parameter { line: self.line_of(key), rule: self.rule.clone(), source }
        })
    }

    fn line_of(&self, key: Option<&str>) -> usize {
        let params = || self.keys.get("params").and_then(|params| params.get_ref().as_table());
        let value = key.and_then(|key| self.keys.get(key).or_else(|| params().and_then(|params| params.get(key))));
        value.map_or(self.line, |value| line(self.text, &value.span()))
    }
}

fn parameter(value: &DeValue<'_>) -> Parameter {
    match value {
        DeValue::String(text) => Parameter::Text(text.to_string()),
        DeValue::Array(list) => texts(list).map_or(Parameter::Other("a list of other things"), Parameter::Texts),
        other => Parameter::Other(type_name(other)),
    }
}

fn texts(list: &DeArray<'_>) -> Option<Vec<String>> {
    list.iter().map(|value| value.get_ref().as_str().map(str::to_owned)).collect()
}

pub(super) fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

//! The policy file: a TOML list of rules.
//!
//! ```toml
//! [[rule]]
//! id = "no-deletion"                  # unique in the file
//! kind = "no_call"                    # one of the kinds of `Rule`
//! params = { tool = "rm" }            # all parameters of the kind, and no others
//! severity = "warning"                # "info", "warning" or "error" (default)
//! description = "files are never deleted"
//!
//! [[rule]]
//! id = "tests-before-submission"
//! formula = '!tool_call:submit W tool_call:test'   # short for kind = "ltl_formula"
//!
//! [[rule]]
//! id = "reviewed-what-was-checked"
//! owner = "review"                    # a causal rule: over the causal past of this lifeline's events
//! when = 'name = "approved"'          # the events at which it is evaluated; all by default
//! formula = '@model_check.spec = spec'
//!
//! [[rule]]
//! id = "asked-in-words"
//! words = "every request is answered"                  # a rule in plain words; a model writes its formula
//! formula = 'G (name = "request_sent" -> F name = "answer_received")' # (`tlaforge policy formulate`), which is
//! confirmed = true                                     # evaluated only after a person has confirmed it
//!
//! intervention = "resample"                            # what happens before an answer that would violate the rule
//!
//! [intervening]                                        # settings of interventions, with their defaults
//! samples = 5
//! temperature = 0.8
//! fallback_model = "another-model"                     # for "switch"; none by default
//!
//! [prediction]                                         # also intervene before a predicted violation; the defaults
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
//! [log]                               # where records hold what rules read, if it differs from the defaults of the shape
//! shape = "jsonl"
//! tool_call = ["call.tool"]
//! lifeline = "agent"                  # for causal rules: the field with the lifeline of an event,
//! event = "kind"                      # with its kind (act, choice, send or recv),
//! message = "msg"                     # and with the message that is sent or received
//! fields = ["status", "call.tool"]    # all fields, to make a misspelt one an error
//! ```
//!
//! The format is TOML because a literal string in single quotes holds a formula without escapes, and because errors can
//! name their line.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::log::Mapping;
use super::policy_error::{PolicyError, PolicyPlace, span_in_value, type_name};
use super::policy_labels::{check_labels_used, read_labels};
use super::prediction::Prediction;
use super::propositions::{Propositions, model_propositions};
use super::rules::{Parameter, Rule, RuleError, parse_formula};
use tlaforge_temporal::{Formula, Formulas, Reading};

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

/// The severity of a violation of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Severity {
    Info,
    Warning,
    #[default]
    Error,
}

impl Severity {
    /// The name in policy files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What happens before an answer that would violate a rule is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Intervention {
    /// Sample the same request several times, and take the answer with the smallest residual.
    Resample,
    /// Repeat the request with what the rules still require, in words.
    Inject,
    /// Repeat the request with another model.
    Switch,
}

impl Intervention {
    pub const ALL: [Self; 3] = [Self::Resample, Self::Inject, Self::Switch];

    /// The name in policy files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resample => "resample",
            Self::Inject => "inject",
            Self::Switch => "switch",
        }
    }
}

/// The `[intervening]` table: settings of interventions. The defaults are those of the TRAC paper.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InterventionSettings {
    /// The total number of samples of one request, for `resample`.
    pub samples: u32,
    /// The temperature of the samples after the first.
    pub temperature: f64,
    /// The model for `switch`; without one, the same model answers with the rules in its prompt.
    pub fallback_model: Option<String>,
    /// The `[prediction]` table, if the file has one.
    #[serde(skip)]
    pub prediction: Option<Prediction>,
}

impl Default for InterventionSettings {
    fn default() -> Self {
        Self { samples: 5, temperature: 0.8, fallback_model: None, prediction: None }
    }
}

impl InterventionSettings {
    /// A bound on the costs that a typing error can cause.
    const MAX_SAMPLES: u32 = 100;

    fn read(text: &str, key: Range<usize>) -> Result<Self, PolicyError> {
        #[derive(serde::Deserialize)]
        struct File {
            intervening: InterventionSettings,
        }
        let Self { samples, temperature, fallback_model, prediction } =
            toml::from_str(text).map(|file: File| file.intervening).map_err(|e| PolicyError::Intervening {
                place: PolicyPlace::new(text, e.span().unwrap_or(key.clone())),
                message: e.message().to_owned(),
            })?;
        let message = match () {
            () if !(2..=Self::MAX_SAMPLES).contains(&samples) => format!(
                "`samples` is {samples}; it must be from 2 to {}, including the first answer",
                Self::MAX_SAMPLES
            ),
            () if !(0.0..=2.0).contains(&temperature) => {
                format!("`temperature` is {temperature}; it must be from 0 to 2")
            }
            () if fallback_model.as_ref().is_some_and(String::is_empty) => "`fallback_model` is empty".to_owned(),
            () => return Ok(Self { samples, temperature, fallback_model, prediction }),
        };
        Err(PolicyError::Intervening { place: PolicyPlace::new(text, key), message })
    }
}

/// The scope of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The whole trace.
    Trace(Rule),
    /// The causal past of each event of a lifeline.
    Causal {
        /// The lifeline.
        owner: String,
        /// Selects the events at which the rule is evaluated; `None` selects all.
        when: Option<Formula>,
    },
}

/// One rule of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRule {
    /// Unique in the policy.
    pub id: String,
    pub description: Option<String>,
    pub severity: Severity,
    pub scope: Scope,
    pub formula: Formula,
    /// Used only in runs, not in audits.
    pub intervention: Option<Intervention>,
    /// The line where the rule begins, from 1.
    pub line: usize,
    /// The byte range of the formula, or of the kind, in the file; empty if the rule is not from a file.
    pub span: Range<usize>,
}

impl PolicyRule {
    /// The propositions that a model labels and the verdict rests on, sorted; including those in `when` of a causal rule.
    pub fn model_propositions(&self, formulas: &Formulas) -> Vec<Arc<str>> {
        let mut names = model_propositions(formulas, self.formula);
        if let Scope::Causal { when: Some(when), .. } = self.scope {
            names.extend(model_propositions(formulas, when));
            names.sort();
            names.dedup();
        }
        names
    }
}

/// A policy file.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// At least one, in the order of the file.
    pub rules: Vec<PolicyRule>,
    /// The `[log]` table: where records hold what the rules read.
    pub log: Mapping,
    pub intervening: InterventionSettings,
    /// What a model has to judge; each is used by a rule.
    pub labels: Propositions,
}

impl Policy {
    /// Reads the text of a policy file and adds its formulas to `formulas`.
    ///
    /// Whether the log has the atoms and lifelines of the rules is checked later, with [`Formulas::check_schema`], when the
    /// log is known.
    pub fn read(text: &str, formulas: &mut Formulas) -> Result<Self, PolicyError> {
        let file = DeTable::parse(text).map_err(|e| PolicyError::syntax(text, &e))?;
        let mut policy = Self {
            rules: Vec::new(),
            log: Mapping::default(),
            intervening: InterventionSettings::default(),
            labels: Propositions::default(),
        };
        let mut places = BTreeMap::new();
        for (key, value) in file.get_ref() {
            if key.get_ref() == "label" {
                (policy.labels, places) = read_labels(text, key.span(), value.get_ref())?;
                continue;
            }
            if key.get_ref() == "log" {
                policy.log = read_mapping(text).map_err(|e| PolicyError::Log {
                    place: PolicyPlace::new(text, e.span().unwrap_or(key.span())),
                    message: e.message().to_owned(),
                })?;
                continue;
            }
            if key.get_ref() == "intervening" {
                policy.intervening = InterventionSettings::read(text, key.span())?;
                continue;
            }
            // Read below, when it is known whether a rule has an intervention.
            if key.get_ref() == "prediction" {
                continue;
            }
            let unknown =
                || PolicyError::Key { place: PolicyPlace::new(text, key.span()), key: key.get_ref().to_string() };
            if key.get_ref() != "rule" {
                return Err(unknown());
            }
            for (number, rule) in value.get_ref().as_array().ok_or_else(unknown)?.iter().enumerate() {
                let keys = rule.get_ref().as_table().ok_or_else(unknown)?;
                let reader = RuleReader {
                    text,
                    keys,
                    rule: format!("{}", number + 1),
                    place: PolicyPlace::new(text, rule.span()),
                };
                let place = reader.place.clone();
                policy.add(reader.read(formulas)?, place)?;
            }
        }
        if policy.rules.is_empty() {
            return Err(PolicyError::Empty);
        }
        let used = policy.rules.iter().map(|rule| {
            let place = PolicyPlace { line: rule.line, span: rule.span.clone() };
            (rule.id.as_str(), place, rule.model_propositions(formulas))
        });
        check_labels_used(text, used, &places)?;
        if let Some(key) = file.get_ref().iter().map(|(key, _)| key).find(|key| key.get_ref() == "prediction") {
            let error = |message| PolicyError::Prediction { place: PolicyPlace::new(text, key.span()), message };
            policy.intervening.prediction = Some(Prediction::read(text).map_err(error)?);
            if policy.rules.iter().all(|rule| rule.intervention.is_none()) {
                return Err(error("it has no effect: no rule has an `intervention`".to_owned()));
            }
        }
        Ok(policy)
    }

    fn add(&mut self, rule: PolicyRule, place: PolicyPlace) -> Result<(), PolicyError> {
        if let Some(first) = self.rules.iter().find(|first| first.id == rule.id) {
            return Err(PolicyError::Duplicate { place, id: rule.id, first: first.line });
        }
        self.rules.push(rule);
        Ok(())
    }
}

/// Reads the `[log]` table. The text is known to be TOML.
fn read_mapping(text: &str) -> Result<Mapping, toml::de::Error> {
    #[derive(serde::Deserialize)]
    struct File {
        log: Mapping,
    }
    toml::from_str(text).map(|file: File| file.log)
}

/// Reads one `[[rule]]` table.
struct RuleReader<'a> {
    text: &'a str,
    keys: &'a DeTable<'a>,
    /// The id in quotes, or the number of the rule if it has no id.
    rule: String,
    /// Where the rule begins.
    place: PolicyPlace,
}

impl RuleReader<'_> {
    fn read(mut self, formulas: &mut Formulas) -> Result<PolicyRule, PolicyError> {
        let id = self.string("id")?.ok_or_else(|| self.error(None, "it has no `id`"))?;
        if id.is_empty() {
            return Err(self.error(Some("id"), "its `id` is empty"));
        }
        self.rule = format!("`{id}`");
        let known: BTreeSet<&str> = KEYS.into_iter().collect();
        if let Some((key, _)) = self.keys.iter().find(|(key, _)| !known.contains(&**key.get_ref())) {
            let message = format!("unknown key `{}` (known: {})", key.get_ref(), KEYS.join(", "));
            return Err(PolicyError::Rule { place: PolicyPlace::new(self.text, key.span()), rule: self.rule, message });
        }
        self.check_confirmed()?;
        let severity = match self.string("severity")?.as_deref() {
            None | Some("error") => Severity::Error,
            Some("warning") => Severity::Warning,
            Some("info") => Severity::Info,
            Some(other) => {
                let message = format!("unknown severity `{other}` (known: info, warning, error)");
                return Err(self.error(Some("severity"), &message));
            }
        };
        let (scope, formula) = match self.string("owner")? {
            Some(owner) => self.read_causal(owner, formulas)?,
            None => self.read_trace(formulas)?,
        };
        let description = self.string("description")?;
        let intervention = self.read_intervention(&scope)?;
        let (line, span) =
            (self.place.line, self.place_of(self.value("formula").map_or(Some("kind"), |_| Some("formula"))).span);
        Ok(PolicyRule { id, description, severity, scope, formula, intervention, line, span })
    }

    fn read_intervention(&self, scope: &Scope) -> Result<Option<Intervention>, PolicyError> {
        let Some(name) = self.string("intervention")? else { return Ok(None) };
        let error = |message: &str| Err(self.error(Some("intervention"), message));
        let Some(known) = Intervention::ALL.into_iter().find(|known| known.name() == name) else {
            return error(&format!("unknown intervention `{name}` (known: resample, inject, switch)"));
        };
        match scope {
            Scope::Trace(_) => Ok(Some(known)),
            Scope::Causal { .. } => error(
                "a causal rule judges past events, so no other answer can satisfy it; only rules without `owner` have one",
            ),
        }
    }

    /// Checks that a rule with `words` has a formula, and that a person has confirmed it.
    fn check_confirmed(&self) -> Result<(), PolicyError> {
        let confirmed = match self.keys.get("confirmed").map(Spanned::get_ref) {
            None => None,
            Some(DeValue::Boolean(confirmed)) => Some(*confirmed),
            Some(other) => {
                let message = format!("`confirmed` must be a truth value, not {}", type_name(other));
                return Err(self.error(Some("confirmed"), &message));
            }
        };
        match (self.string("words")?, confirmed) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(self.error(Some("confirmed"), "`confirmed` belongs to a rule that has `words`")),
            (Some(_), _) if !self.keys.contains_key("formula") => Err(self.error(
                Some("words"),
                "it has only `words`, which cannot be evaluated: `tlaforge policy formulate FILE` asks a model for its \
                 formula, which you confirm",
            )),
            (Some(_), Some(true)) => Ok(()),
            (Some(_), _) => Err(self.error(
                Some("words"),
                "its formula is not confirmed to mean what its `words` say: compare both (`tlaforge policy formulate FILE` \
                 shows them), then write `confirmed = true`",
            )),
        }
    }

    fn read_causal(&self, owner: String, formulas: &mut Formulas) -> Result<(Scope, Formula), PolicyError> {
        if owner.is_empty() {
            return Err(self.error(Some("owner"), "its `owner` is empty"));
        }
        for key in ["kind", "params"] {
            if self.keys.contains_key(key) {
                let message = format!("a causal rule has a `formula`, and no `{key}`");
                return Err(self.error(Some(key), &message));
            }
        }
        let guard = self.string("formula")?.ok_or_else(|| self.error(None, "a causal rule needs a `formula`"))?;
        let formula = self.with_place(parse_formula(formulas, "formula", &guard, Reading::Causal))?;
        let when = match self.string("when")? {
            Some(when) => Some(self.with_place(parse_formula(formulas, "when", &when, Reading::Causal))?),
            None => None,
        };
        Ok((Scope::Causal { owner, when }, formula))
    }

    fn read_trace(&self, formulas: &mut Formulas) -> Result<(Scope, Formula), PolicyError> {
        if self.keys.contains_key("when") {
            return Err(self.error(Some("when"), "`when` belongs to a causal rule, which has an `owner`"));
        }
        let rule = match (self.string("kind")?, self.string("formula")?) {
            (None, None) => return Err(self.error(None, "it has neither a `kind` nor a `formula`")),
            (Some(_), Some(_)) => {
                return Err(self.error(Some("formula"), "a rule has either a `kind` or a `formula`, not both"));
            }
            (None, Some(formula)) => {
                if self.keys.contains_key("params") {
                    return Err(self.error(Some("params"), "`formula` takes no `params`"));
                }
                let parameters = BTreeMap::from([("formula".to_owned(), Parameter::Text(formula))]);
                self.with_place(Rule::new("ltl_formula", parameters))?
            }
            (Some(kind), None) => self.with_place(Rule::new(&kind, self.read_parameters()?))?,
        };
        let formula = self.with_place(rule.formula(formulas))?;
        Ok((Scope::Trace(rule), formula))
    }

    fn read_parameters(&self) -> Result<BTreeMap<String, Parameter>, PolicyError> {
        let Some(params) = self.keys.get("params") else { return Ok(BTreeMap::new()) };
        let table = params.get_ref().as_table();
        let table = table.ok_or_else(|| self.error(Some("params"), "`params` must be a table"))?;
        Ok(table.iter().map(|(key, value)| (key.get_ref().to_string(), parameter(value.get_ref()))).collect())
    }

    fn string(&self, key: &'static str) -> Result<Option<String>, PolicyError> {
        match self.keys.get(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::String(text)) => Ok(Some(text.to_string())),
            Some(other) => Err(self.error(Some(key), &format!("`{key}` must be a text, not {}", type_name(other)))),
        }
    }

    /// An error at a key, or where the rule begins.
    fn error(&self, key: Option<&str>, message: &str) -> PolicyError {
        PolicyError::Rule { place: self.place_of(key), rule: self.rule.clone(), message: message.to_owned() }
    }

    fn with_place<T>(&self, result: Result<T, RuleError>) -> Result<T, PolicyError> {
        result.map_err(|source| {
            let key = if matches!(source, RuleError::Kind { .. }) { Some("kind") } else { source.parameter() };
            let place = match (&source, key.and_then(|key| self.value(key))) {
                (RuleError::Formula { source, .. }, Some(value)) => {
                    let text = value.get_ref().as_str().unwrap_or_default();
                    PolicyPlace::new(self.text, span_in_value(self.text, &value.span(), text, &source.span))
                }
                _ => self.place_of(key),
            };
            PolicyError::Parameter { place, rule: self.rule.clone(), source }
        })
    }

    /// The value of a key of the rule, or of a parameter.
    fn value(&self, key: &str) -> Option<&Spanned<DeValue<'_>>> {
        let params = || self.keys.get("params").and_then(|params| params.get_ref().as_table());
        self.keys.get(key).or_else(|| params().and_then(|params| params.get(key)))
    }

    fn place_of(&self, key: Option<&str>) -> PolicyPlace {
        let value = key.and_then(|key| self.value(key));
        value.map_or_else(|| self.place.clone(), |value| PolicyPlace::new(self.text, value.span()))
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

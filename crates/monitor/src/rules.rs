//! The kinds of policy rules. Each kind is short for one finite-trace formula, and the formula alone defines what the rule
//! means: there is no second implementation that could disagree.

use std::collections::BTreeMap;

use tlaforge_temporal::{Atom, Binary, Formula, Formulas, ParseError, Reading, Unary, UnsupportedError};

/// The kinds of rules, each with its parameters.
pub const KINDS: [(&str, &[&str]); 7] = [
    ("no_call", &["tool"]),
    ("must_call_before", &["first", "then"]),
    ("must_call_once", &["tool"]),
    ("required_stop_reason", &["allowed"]),
    ("forbidden_text", &["text"]),
    ("must_include_text", &["text"]),
    ("ltl_formula", &["formula"]),
];

/// A rule about a finished trace. The kinds and their formulas are the usual ones of LTL policies for agents, with one
/// repair: `must_call_once` uses the weak next `N` instead of `X`, because with `X` a single call in the last turn would
/// violate it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// `G !tool_call:TOOL`
    NoCall { tool: String },
    /// `!tool_call:THEN W tool_call:FIRST`; satisfied if neither is called, or both in one turn.
    MustCallBefore { first: String, then: String },
    /// `F tool_call:TOOL & G (tool_call:TOOL -> N G !tool_call:TOOL)`: called in exactly one turn.
    MustCallOnce { tool: String },
    /// `F (stop_reason:R1 | stop_reason:R2 | …)`: some turn stops for one of these reasons.
    RequiredStopReason {
        /// At least one.
        allowed: Vec<String>,
    },
    /// `G !text_contains:"TEXT"`
    ForbiddenText { text: String },
    /// `F text_contains:"TEXT"`
    MustIncludeText { text: String },
    /// Any formula.
    LtlFormula { formula: String },
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    Text(String),
    Texts(Vec<String>),
    /// A value of a type that no rule takes; the name of the type.
    Other(&'static str),
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("unknown kind `{kind}` (known: {})", quoted_names(KINDS.iter().map(|(name, _)| *name)))]
    Kind { kind: String },
    #[error("`{kind}` needs the parameter `{parameter}`")]
    Missing { kind: &'static str, parameter: &'static str },
    #[error("`{kind}` has no parameter `{parameter}` (it has {})", quoted_names(known.iter().copied()))]
    Unknown {
        kind: &'static str,
        parameter: String,
        /// The parameters of the kind.
        known: &'static [&'static str],
    },
    #[error("the parameter `{parameter}` must be {expected}, not {found}")]
    Type { parameter: &'static str, expected: &'static str, found: &'static str },
    /// An empty text or list would make the rule trivial.
    #[error("the parameter `{parameter}` is empty")]
    Empty { parameter: &'static str },
    #[error("the parameter `{parameter}` is not a formula: {source}")]
    Formula { parameter: &'static str, source: ParseError },
    /// A formula with an operator that the reading of the rule does not have.
    #[error("the parameter `{parameter}`: {source}")]
    Refused { parameter: &'static str, source: UnsupportedError },
}

impl RuleError {
    /// The parameter that is wrong; `None` for an unknown kind.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Self::Kind { .. } => None,
            Self::Unknown { parameter, .. } => Some(parameter),
            Self::Missing { parameter, .. }
            | Self::Type { parameter, .. }
            | Self::Empty { parameter }
            | Self::Formula { parameter, .. }
            | Self::Refused { parameter, .. } => Some(parameter),
        }
    }
}

fn quoted_names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    all.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The parameters of one rule.
struct Parameters {
    kind: &'static str,
    values: BTreeMap<String, Parameter>,
}

impl Parameters {
    fn take(&mut self, parameter: &'static str) -> Result<Parameter, RuleError> {
        self.values.remove(parameter).ok_or(RuleError::Missing { kind: self.kind, parameter })
    }

    fn text(&mut self, parameter: &'static str) -> Result<String, RuleError> {
        match self.take(parameter)? {
            Parameter::Text(text) if text.is_empty() => Err(RuleError::Empty { parameter }),
            Parameter::Text(text) => Ok(text),
            other => Err(RuleError::Type { parameter, expected: "a text", found: other.type_name() }),
        }
    }

    /// A text or a list of texts.
    fn texts(&mut self, parameter: &'static str) -> Result<Vec<String>, RuleError> {
        let texts = match self.take(parameter)? {
            Parameter::Text(text) => vec![text],
            Parameter::Texts(texts) => texts,
            Parameter::Other(found) => {
                return Err(RuleError::Type { parameter, expected: "a text or a list of texts", found });
            }
        };
        if texts.is_empty() || texts.iter().any(String::is_empty) {
            return Err(RuleError::Empty { parameter });
        }
        Ok(texts)
    }
}

impl Parameter {
    fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Texts(_) => "a list",
            Self::Other(name) => name,
        }
    }
}

impl Rule {
    /// A rule of a kind. All parameters of the kind are required, and no others are allowed.
    pub fn new(kind: &str, parameters: BTreeMap<String, Parameter>) -> Result<Self, RuleError> {
        let Some((kind, known)) = KINDS.into_iter().find(|(name, _)| *name == kind) else {
            return Err(RuleError::Kind { kind: kind.to_owned() });
        };
        if let Some(parameter) = parameters.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(RuleError::Unknown { kind, parameter: parameter.clone(), known });
        }
        let mut parameters = Parameters { kind, values: parameters };
        Ok(match kind {
            "no_call" => Self::NoCall { tool: parameters.text("tool")? },
            "must_call_before" => {
                Self::MustCallBefore { first: parameters.text("first")?, then: parameters.text("then")? }
            }
            "must_call_once" => Self::MustCallOnce { tool: parameters.text("tool")? },
            "required_stop_reason" => Self::RequiredStopReason { allowed: parameters.texts("allowed")? },
            "forbidden_text" => Self::ForbiddenText { text: parameters.text("text")? },
            "must_include_text" => Self::MustIncludeText { text: parameters.text("text")? },
            "ltl_formula" => Self::LtlFormula { formula: parameters.text("formula")? },
            _ => unreachable!("`KINDS` lists `{kind}`, which `Rule::new` does not handle"),
        })
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoCall { .. } => "no_call",
            Self::MustCallBefore { .. } => "must_call_before",
            Self::MustCallOnce { .. } => "must_call_once",
            Self::RequiredStopReason { .. } => "required_stop_reason",
            Self::ForbiddenText { .. } => "forbidden_text",
            Self::MustIncludeText { .. } => "must_include_text",
            Self::LtlFormula { .. } => "ltl_formula",
        }
    }

    /// The formula of the rule. Fails only for an `ltl_formula` whose text is not a finite-trace formula.
    pub fn formula(&self, formulas: &mut Formulas) -> Result<Formula, RuleError> {
        let mut label = |kind: &str, text: &str| formulas.atomic(Atom::Label { kind: kind.into(), text: text.into() });
        Ok(match self {
            Self::NoCall { tool } => {
                let call = label("tool_call", tool);
                never(formulas, call)
            }
            Self::MustCallBefore { first, then } => {
                let (first, then) = (label("tool_call", first), label("tool_call", then));
                let not_then = formulas.not(then);
                formulas.binary(Binary::WeakUntil, not_then, first)
            }
            Self::MustCallOnce { tool } => {
                let call = label("tool_call", tool);
                let called = formulas.unary(Unary::Finally, call);
                let never_again = never(formulas, call);
                let afterwards = formulas.unary(Unary::WeakNext, never_again);
                let last = formulas.implies(call, afterwards);
                let once = formulas.unary(Unary::Globally, last);
                formulas.and([called, once])
            }
            Self::RequiredStopReason { allowed } => {
                let reasons: Vec<Formula> = allowed.iter().map(|reason| label("stop_reason", reason)).collect();
                let some = formulas.or(reasons);
                formulas.unary(Unary::Finally, some)
            }
            Self::ForbiddenText { text } => {
                let text = label("text_contains", text);
                never(formulas, text)
            }
            Self::MustIncludeText { text } => {
                let text = label("text_contains", text);
                formulas.unary(Unary::Finally, text)
            }
            Self::LtlFormula { formula } => parse_formula(formulas, "formula", formula, Reading::Finite)?,
        })
    }
}

fn never(formulas: &mut Formulas, a: Formula) -> Formula {
    let not = formulas.not(a);
    formulas.unary(Unary::Globally, not)
}

/// Parses the formula of a parameter, and checks that the reading supports its operators.
pub(super) fn parse_formula(
    formulas: &mut Formulas,
    parameter: &'static str,
    text: &str,
    reading: Reading,
) -> Result<Formula, RuleError> {
    let formula = formulas.parse(text).map_err(|source| RuleError::Formula { parameter, source })?;
    formulas.check_reading(formula, reading).map_err(|source| RuleError::Refused { parameter, source })?;
    Ok(formula)
}

//! The kinds of policy rules. Each is one formula of the finite-trace language and nothing else: what a rule means is what
//! its formula means, in every reading.

use std::collections::BTreeMap;

use crate::temporal::{Atom, Binary, Formula, Formulas, ParseError, Reading, Unary, UnsupportedError};

/// The names of the kinds, each with its parameters.
pub const KINDS: [(&str, &[&str]); 7] = [
    ("no_call", &["tool"]),
    ("must_call_before", &["first", "then"]),
    ("must_call_once", &["tool"]),
    ("required_stop_reason", &["allowed"]),
    ("forbidden_text", &["text"]),
    ("must_include_text", &["text"]),
    ("ltl_formula", &["formula"]),
];

/// What a rule asks of a finished trace. The formulas are those of the seed's table of rule kinds, with one repair: the
/// `X` of `must_call_once` is the weak `N`, so that a call in the last turn satisfies it, as the seed says it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// `G !tool_call:TOOL`
    NoCall {
        /// The tool that is never called.
        tool: String,
    },
    /// `!tool_call:THEN W tool_call:FIRST`; calling neither is fine, and so is calling both in one turn.
    MustCallBefore {
        /// The tool to be called first.
        first: String,
        /// The tool that waits for it.
        then: String,
    },
    /// `F tool_call:TOOL & G (tool_call:TOOL -> N G !tool_call:TOOL)`: in exactly one turn.
    MustCallOnce {
        /// The tool.
        tool: String,
    },
    /// `F (stop_reason:R1 | stop_reason:R2 | …)`: some turn stops for one of these reasons.
    RequiredStopReason {
        /// The reasons; at least one.
        allowed: Vec<String>,
    },
    /// `G !text_contains:"TEXT"`
    ForbiddenText {
        /// The text that occurs in no turn.
        text: String,
    },
    /// `F text_contains:"TEXT"`
    MustIncludeText {
        /// The text that occurs in some turn.
        text: String,
    },
    /// Any formula.
    LtlFormula {
        /// Its text.
        formula: String,
    },
}

/// The value of a rule's parameter, as far as rules have a use for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// Something else; what it is called.
    Other(&'static str),
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// There is no such kind.
    #[error("unknown kind `{kind}` (known: {})", names(KINDS.iter().map(|(name, _)| *name)))]
    Kind {
        /// As it is written.
        kind: String,
    },
    /// A parameter that the kind needs is not there.
    #[error("`{kind}` needs the parameter `{parameter}`")]
    Missing {
        /// The kind of the rule.
        kind: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// A parameter that the kind does not have.
    #[error("`{kind}` has no parameter `{parameter}` (it has {})", names(known.iter().copied()))]
    Unknown {
        /// The kind of the rule.
        kind: &'static str,
        /// As it is written.
        parameter: String,
        /// What the kind has.
        known: &'static [&'static str],
    },
    /// A value of the wrong type.
    #[error("the parameter `{parameter}` must be {expected}, not {found}")]
    Type {
        /// The parameter.
        parameter: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// An empty text or list, which would be about nothing.
    #[error("the parameter `{parameter}` is empty")]
    Empty {
        /// The parameter.
        parameter: &'static str,
    },
    /// A formula that cannot be read.
    #[error("the parameter `{parameter}` is no formula: {source}")]
    Formula {
        /// The parameter.
        parameter: &'static str,
        /// What is wrong, and where.
        source: ParseError,
    },
    /// A formula with an operator that the rule's reading does not have.
    #[error("the parameter `{parameter}`: {source}")]
    Refused {
        /// The parameter.
        parameter: &'static str,
        /// The operator.
        source: UnsupportedError,
    },
}

impl RuleError {
    /// The parameter that is wrong, where it is one.
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

fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
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
            other => Err(RuleError::Type { parameter, expected: "a text", found: other.name() }),
        }
    }

    /// One text or a list of them.
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
    fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Texts(_) => "a list",
            Self::Other(name) => name,
        }
    }
}

impl Rule {
    /// A rule of a kind with its parameters, all of them and no others.
    pub fn new(kind: &str, parameters: BTreeMap<String, Parameter>) -> Result<Self, RuleError> {
        let Some((kind, known)) = KINDS.into_iter().find(|(name, _)| *name == kind) else {
            return Err(RuleError::Kind { kind: kind.to_owned() });
        };
        if let Some(parameter) = parameters.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(RuleError::Unknown { kind, parameter: parameter.clone(), known });
        }
        let mut given = Parameters { kind, values: parameters };
        Ok(match kind {
            "no_call" => Self::NoCall { tool: given.text("tool")? },
            "must_call_before" => Self::MustCallBefore { first: given.text("first")?, then: given.text("then")? },
            "must_call_once" => Self::MustCallOnce { tool: given.text("tool")? },
            "required_stop_reason" => Self::RequiredStopReason { allowed: given.texts("allowed")? },
            "forbidden_text" => Self::ForbiddenText { text: given.text("text")? },
            "must_include_text" => Self::MustIncludeText { text: given.text("text")? },
            _ => Self::LtlFormula { formula: given.text("formula")? },
        })
    }

    /// The name of its kind.
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

    /// The formula that the rule is. Fails for an `ltl_formula` whose text is none, or none about a finite trace.
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
            Self::LtlFormula { formula } => formula_for(formulas, "formula", formula, Reading::Finite)?,
        })
    }
}

fn never(formulas: &mut Formulas, a: Formula) -> Formula {
    let not = formulas.not(a);
    formulas.unary(Unary::Globally, not)
}

/// The formula of a parameter, which a reading has to give a meaning.
pub(super) fn formula_for(
    formulas: &mut Formulas,
    parameter: &'static str,
    text: &str,
    reading: Reading,
) -> Result<Formula, RuleError> {
    let formula = formulas.parse(text).map_err(|source| RuleError::Formula { parameter, source })?;
    formulas.check_reading(formula, reading).map_err(|source| RuleError::Refused { parameter, source })?;
    Ok(formula)
}

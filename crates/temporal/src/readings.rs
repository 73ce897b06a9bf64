//! Checks that a reading supports every operator of a formula, and that a log has every atom and lifeline of it. The
//! error names the first one that is not supported.

use std::collections::BTreeSet;

use super::atom::{Atom, Term, ValueTest};
use super::formula::{Binary, Causal, Formula, Formulas, Node, Unary};

/// A reading: a way to evaluate a formula. All support constants, atoms without lifelines, and `! & | -> <->`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The value at every position of a finite trace, `LTLf` ([`check_trace`](super::check_trace)): future operators
    /// `X N G F U W R M` and those of the past, `Y O H S`.
    Finite,
    /// The residual after each step of a run ([`Progression`](super::Progression)): future operators.
    Progression,
    /// The value at an event of a lifeline, computed from its causal past ([`causal::Monitor`](super::causal::Monitor)):
    /// operators of the past, and `@A(…) @A.x P@A(…) P(…) Seen@A`.
    Causal,
    /// A deterministic finite automaton over finite traces ([`Dfa`](super::Dfa)): future operators.
    Automaton,
    /// The robustness of a predicate over quantities ([`Robustness`](super::Robustness)): no temporal operator, label,
    /// predicate of the application, `any` or `every`.
    Robustness,
}

impl Reading {
    fn name(self) -> &'static str {
        match self {
            Self::Finite => "the finite-trace reading",
            Self::Progression => "progression",
            Self::Causal => "the causal reading",
            Self::Automaton => "the automaton",
            Self::Robustness => "robustness",
        }
    }

    fn allows_future(self) -> bool {
        matches!(self, Self::Finite | Self::Progression | Self::Automaton)
    }

    fn allows_past(self) -> bool {
        matches!(self, Self::Finite | Self::Causal)
    }
}

/// A formula contains an operator that its reading does not support, or an atom or lifeline that its log does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedError {
    /// The reading gives the operator no meaning.
    #[error("`{operator}` has no meaning in {reading}{hint}")]
    Operator {
        /// The operator as it is written.
        operator: String,
        /// The name of the reading.
        reading: &'static str,
        /// The reason or an alternative; may be empty.
        hint: &'static str,
    },
    /// The log does not have the atom.
    #[error("unknown atom `{atom}`{}", list_known(.known))]
    Atom {
        /// The atom as it is written.
        atom: String,
        /// The atoms of the same kind that the log has, separated by commas; may be empty.
        known: String,
    },
    /// The lifeline does not exist.
    #[error("unknown lifeline `{lifeline}`{}", list_known(.known))]
    Lifeline {
        /// The name in the formula.
        lifeline: String,
        /// The existing lifelines, separated by commas.
        known: String,
    },
}

fn list_known(known: &str) -> String {
    if known.is_empty() { String::new() } else { format!(" (known: {known})") }
}

/// The fields, labels, predicates and lifelines of a log, so that a misspelt atom is an error instead of always false.
///
/// # Examples
/// A schema with the fields that occur in a log, read once before its rules are checked:
/// ```
/// use tlaforge_temporal::{Formulas, Schema};
///
/// let log = ["tool=search ok=true", "tool=submit ok=false"];
/// let fields = log.iter().flat_map(|line| line.split(' ')).filter_map(|pair| Some(pair.split_once('=')?.0.to_owned()));
/// let schema = Schema {
///     fields: Some(fields.collect()),
///     calls: ["contains".to_owned()].into(),
///     ..Schema::default()
/// };
///
/// let mut formulas = Formulas::new();
/// let rule = formulas.parse(r#"G (contains(tool, "submit") -> ok)"#)?;
/// assert_eq!(formulas.check_schema(rule, &schema), Ok(()));
/// let rule = formulas.parse("G tool.name = 3")?;
/// let refused = formulas.check_schema(rule, &schema).expect_err("a nested field needs an entry of its own");
/// assert_eq!(refused.to_string(), "unknown atom `tool.name = 3` (known: ok, tool)");
/// # Ok::<(), tlaforge_temporal::ParseError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schema {
    /// Field names as formulas write them, nested ones as a whole (`a.b`); `None` if any name may occur.
    pub fields: Option<BTreeSet<String>>,
    /// Kinds of labels, such as `tool_call`. Always complete: a kind that is not listed is an error.
    pub labels: BTreeSet<String>,
    /// Names of the predicates of the application, also complete: `defined` too, if formulas may use it.
    pub calls: BTreeSet<String>,
    /// Lifeline names; `None` if any name may occur.
    pub lifelines: Option<BTreeSet<String>>,
}

impl Schema {
    /// Checks that a lifeline exists.
    pub(super) fn check_lifeline(&self, lifeline: &str) -> Result<(), UnsupportedError> {
        match &self.lifelines {
            Some(known) if !known.contains(lifeline) => Err(UnsupportedError::Lifeline {
                lifeline: lifeline.to_owned(),
                known: known.iter().cloned().collect::<Vec<_>>().join(", "),
            }),
            _ => Ok(()),
        }
    }
}

impl Formulas {
    /// Checks that a reading supports every operator of the formula.
    ///
    /// # Errors
    /// [`UnsupportedError::Operator`] for the first operator, bottom-up, that it does not support.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Formulas, Reading};
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("G (b -> O a)")?;
    /// assert!(formulas.check_reading(rule, Reading::Finite).is_ok());
    /// let refused = formulas.check_reading(rule, Reading::Automaton).expect_err("automata read the future only");
    /// assert_eq!(refused.to_string(), "`O` has no meaning in the automaton");
    /// # Ok::<(), tlaforge_temporal::ParseError>(())
    /// ```
    pub fn check_reading(&self, formula: Formula, reading: Reading) -> Result<(), UnsupportedError> {
        self.subformulas(formula).into_iter().try_for_each(|part| self.check_node_reading(part, reading))
    }

    /// Checks that a reading supports the outermost operator of the formula.
    pub(super) fn check_node_reading(&self, part: Formula, reading: Reading) -> Result<(), UnsupportedError> {
        match self.unsupported_operator(part, reading) {
            Some((operator, hint)) => Err(UnsupportedError::Operator { operator, reading: reading.name(), hint }),
            None => Ok(()),
        }
    }

    fn unsupported_operator(&self, part: Formula, reading: Reading) -> Option<(String, &'static str)> {
        let is_causal = reading == Reading::Causal;
        let (symbol, known) = match self.node(part) {
            Node::True | Node::False | Node::Not(_) | Node::And(_) | Node::Or(_) => return None,
            Node::Binary(Binary::Implies | Binary::Iff, _) => return None,
            Node::Atom(atom) => {
                let atom = self.atom(*atom);
                let foreign_lifeline = atom.terms().iter().flat_map(|t| t.fields()).find_map(|(lifeline, _)| lifeline);
                return match (atom, foreign_lifeline) {
                    // First, because it concerns every kind of atom: `@A.x` needs a causal past in which the event of
                    // `A` is.
                    (_, Some(lifeline)) if !is_causal => Some((format!("@{lifeline}.…"), "")),
                    (Atom::Label { kind, .. }, _) if reading == Reading::Robustness => Some((format!("{kind}:"), "")),
                    (Atom::Call(name, _), _) if reading == Reading::Robustness => Some((format!("{name}(…)"), "")),
                    (Atom::Quantified(quantifier, ..), _) if reading == Reading::Robustness => {
                        Some((format!("{}(…)", quantifier.name()), ""))
                    }
                    (Atom::Quantity(term), _) if reading != Reading::Robustness && !matches!(term, Term::Field(_)) => {
                        Some((self.atom_text(atom), ": it is a quantity, not true or false"))
                    }
                    _ => None,
                };
            }
            Node::Unary(operator @ (Unary::Yesterday | Unary::Once | Unary::Historically), _) => {
                (operator.symbol(), reading.allows_past())
            }
            Node::Unary(Unary::Past, _) => ("P(…)", is_causal),
            Node::Unary(operator, _) => (operator.symbol(), reading.allows_future()),
            Node::Binary(Binary::Since, _) => ("S", reading.allows_past()),
            Node::Binary(operator, _) => (operator.symbol(), reading.allows_future()),
            Node::Causal(Causal::At, ..) => ("@", is_causal),
            Node::Causal(Causal::PastAt, ..) => ("P@", is_causal),
            Node::Seen(_) => ("Seen@", is_causal),
        };
        let hint = match reading {
            _ if known => return None,
            Reading::Causal => ": a guard sees only the past (`Y S O H P @`)",
            Reading::Finite => ": it refers to lifelines, which need a causal rule",
            _ => "",
        };
        Some((symbol.to_owned(), hint))
    }

    /// Checks that a log has every atom and lifeline of the formula.
    ///
    /// # Errors
    /// [`UnsupportedError::Atom`] or [`UnsupportedError::Lifeline`] for the first one that is missing.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Formulas, Schema};
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("G !eror")?;
    /// let schema = Schema { fields: Some(["error".to_owned()].into()), ..Schema::default() };
    /// let refused = formulas.check_schema(rule, &schema).expect_err("a misspelt field");
    /// assert_eq!(refused.to_string(), "unknown atom `eror` (known: error)");
    /// # Ok::<(), tlaforge_temporal::ParseError>(())
    /// ```
    pub fn check_schema(&self, formula: Formula, schema: &Schema) -> Result<(), UnsupportedError> {
        for part in self.subformulas(formula) {
            match self.node(part) {
                Node::Atom(atom) => self.check_atom(self.atom(*atom), schema)?,
                Node::Causal(_, lifeline, _) | Node::Seen(lifeline) => schema.check_lifeline(lifeline)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn check_atom(&self, atom: &Atom, schema: &Schema) -> Result<(), UnsupportedError> {
        let unknown = |known: &BTreeSet<String>, suffix: &str| UnsupportedError::Atom {
            atom: self.atom_text(atom),
            known: known.iter().map(|k| format!("{k}{suffix}")).collect::<Vec<_>>().join(", "),
        };
        match atom {
            Atom::Label { kind, .. } if !schema.labels.contains(&**kind) => return Err(unknown(&schema.labels, ":…")),
            Atom::Call(name, _) | Atom::Quantified(_, _, ValueTest::Call(name, _))
                if !schema.calls.contains(&**name) =>
            {
                return Err(unknown(&schema.calls, "(…)"));
            }
            Atom::Name(name) => {
                if let Some(fields) = schema.fields.as_ref().filter(|fields| !fields.contains(&**name)) {
                    return Err(unknown(fields, ""));
                }
            }
            _ => {}
        }
        for (lifeline, name) in atom.terms().iter().flat_map(|t| t.fields()) {
            if let Some(lifeline) = lifeline {
                schema.check_lifeline(lifeline)?;
            }
            if let Some(fields) = schema.fields.as_ref().filter(|fields| !fields.contains(name)) {
                return Err(unknown(fields, ""));
            }
        }
        Ok(())
    }
}

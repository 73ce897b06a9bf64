//! Which operators and atoms a reading and a log give a meaning to; what they do not is refused by name.

use std::collections::BTreeSet;

use super::atom::{Atom, Term, ValueTest};
use super::formula::{Binary, Causal, Formula, Formulas, Node, Unary};

/// The ways to read a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Values at every position of a finite trace.
    Finite,
    /// What is still owed after each step.
    Progression,
    /// The causal past of one lifeline's event.
    Causal,
    /// A deterministic automaton.
    Automaton,
    /// Robustness of a predicate over quantities.
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

    fn future(self) -> bool {
        matches!(self, Self::Finite | Self::Progression | Self::Automaton)
    }

    fn past(self) -> bool {
        matches!(self, Self::Finite | Self::Causal)
    }
}

/// A formula uses what its reading or its log does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedError {
    /// An operator without a meaning there.
    #[error("`{operator}` has no meaning in {reading}{hint}")]
    Operator {
        /// As it is written.
        operator: String,
        /// The reading's name.
        reading: &'static str,
        /// What would do, or nothing.
        hint: &'static str,
    },
    /// An atom that the log does not have.
    #[error("unknown atom `{atom}`{}", advice(.known))]
    Atom {
        /// As it is written.
        atom: String,
        /// What the log has.
        known: String,
    },
    /// A lifeline that does not exist.
    #[error("unknown lifeline `{lifeline}`{}", advice(.known))]
    Lifeline {
        /// Its name.
        lifeline: String,
        /// Those that exist.
        known: String,
    },
}

fn advice(known: &str) -> String {
    if known.is_empty() { String::new() } else { format!(" (known: {known})") }
}

/// What a log has, so that a misspelt atom is an error rather than false for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schema {
    /// Fields by name; `None`: any name may occur.
    pub fields: Option<BTreeSet<String>>,
    /// Kinds of labels: `tool_call`, …
    pub labels: BTreeSet<String>,
    /// Application predicates.
    pub calls: BTreeSet<String>,
    /// Lifelines; `None`: any name may occur.
    pub lifelines: Option<BTreeSet<String>>,
}

impl Schema {
    /// That a lifeline exists.
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
    /// That a reading gives every operator of the formula a meaning.
    pub fn check_reading(&self, formula: Formula, reading: Reading) -> Result<(), UnsupportedError> {
        self.subformulas(formula).into_iter().try_for_each(|part| self.check_node_reading(part, reading))
    }

    /// That a reading gives the outermost operator of the formula a meaning.
    pub(super) fn check_node_reading(&self, part: Formula, reading: Reading) -> Result<(), UnsupportedError> {
        match self.strange(part, reading) {
            Some((operator, hint)) => Err(UnsupportedError::Operator { operator, reading: reading.name(), hint }),
            None => Ok(()),
        }
    }

    fn strange(&self, part: Formula, reading: Reading) -> Option<(String, &'static str)> {
        let causal = reading == Reading::Causal;
        let (symbol, known) = match self.node(part) {
            Node::True | Node::False | Node::Not(_) | Node::And(_) | Node::Or(_) => return None,
            Node::Binary(Binary::Implies | Binary::Iff, _) => return None,
            Node::Atom(atom) => {
                let atom = self.atom(*atom);
                let remote = atom.terms().iter().flat_map(|t| t.fields()).find_map(|(lifeline, _)| lifeline);
                return match (atom, remote) {
                    (_, Some(lifeline)) if !causal => Some((format!("@{lifeline}.…"), "")),
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
                (operator.symbol(), reading.past())
            }
            Node::Unary(Unary::Past, _) => ("P(…)", causal),
            Node::Unary(operator, _) => (operator.symbol(), reading.future()),
            Node::Binary(Binary::Since, _) => ("S", reading.past()),
            Node::Binary(operator, _) => (operator.symbol(), reading.future()),
            Node::Causal(Causal::At, ..) => ("@", causal),
            Node::Causal(Causal::PastAt, ..) => ("P@", causal),
            Node::Seen(_) => ("Seen@", causal),
        };
        let hint = match reading {
            _ if known => return None,
            Reading::Causal => ": a guard sees only the past (`Y S O H P @`)",
            Reading::Finite => ": it speaks of lifelines, which need a causal rule",
            _ => "",
        };
        Some((symbol.to_owned(), hint))
    }

    /// That a log has every atom and lifeline of the formula.
    pub fn check_schema(&self, formula: Formula, schema: &Schema) -> Result<(), UnsupportedError> {
        for part in self.subformulas(formula) {
            match self.node(part) {
                Node::Atom(atom) => self.atom_known(self.atom(*atom), schema)?,
                Node::Causal(_, lifeline, _) | Node::Seen(lifeline) => schema.check_lifeline(lifeline)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn atom_known(&self, atom: &Atom, schema: &Schema) -> Result<(), UnsupportedError> {
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

//! Robustness: by how much a predicate over quantities holds, as a number.
//!
//! `a < b` and `a <= b` have `b - a`, `a = b` has `-|a - b|`, `!` changes the sign, `&` takes the least and `|` the
//! greatest (Donzé and Maler 2010, of one position). Positive: it holds; negative: it does not; 0: on the border.

use super::atom::{Arithmetic, Atom, Comparison, Literal, Record, Term, Value};
use super::formula::{Binary, Formula, Formulas, Node};
use super::parse_error::ParseError;
use super::readings::{Reading, UnsupportedError};

/// Why a predicate has no robustness.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RobustnessError {
    /// The text is no formula.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The formula uses what has no robustness, such as a temporal operator.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedError),
    /// A text or `null` where a quantity is asked for.
    #[error("`{constant}` is not a quantity")]
    Constant {
        /// As it is written.
        constant: String,
    },
    /// A predicate of more parts than this has no use.
    #[error("a predicate of more than {limit} parts")]
    TooLarge {
        /// How many are allowed.
        limit: usize,
    },
    /// The record has no such quantity.
    #[error("unknown quantity `{name}`")]
    Unknown {
        /// Its name.
        name: String,
    },
    /// The quantity is a text, null, or NaN.
    #[error("`{name}` is not a number here")]
    NotANumber {
        /// Its name.
        name: String,
    },
    /// The values have no result: `0 / 0`, the difference of two infinities.
    #[error("`{predicate}` is undefined here")]
    Undefined {
        /// As it was written.
        predicate: String,
    },
}

/// Parts of one predicate; each is a slot of its evaluation.
const MOST_PARTS: usize = 10_000;

/// A predicate over quantities, ready to be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Robustness {
    text: String,
    quantities: Vec<String>,
    parts: Vec<Part>,
}

/// What a slot is made of; operands are earlier slots.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Constant(f64),
    Quantity(usize),
    Negate(usize),
    Not(usize),
    Arithmetic(Arithmetic, usize, usize),
    Compare(Comparison, usize, usize),
    Least(Vec<usize>),
    Greatest(Vec<usize>),
    Implies(usize, usize),
    Iff(usize, usize),
}

/// The robustness of `predicate` over the fields of `record`, as [`Robustness::parse`] and [`Robustness::evaluate`] together.
///
/// # Errors
/// As of both.
pub fn robustness(predicate: &str, record: &(impl Record + ?Sized)) -> Result<f64, RobustnessError> {
    Robustness::parse(predicate)?.evaluate(record)
}

impl Robustness {
    /// Reads a predicate: `d_goal < 5 & !(speed > 2 * limit)`. A bare quantity is its own robustness.
    ///
    /// # Errors
    /// No formula; a temporal operator, a label or an application predicate; a text constant.
    pub fn parse(text: &str) -> Result<Self, RobustnessError> {
        let mut formulas = Formulas::new();
        let formula = formulas.parse_quantity(text)?;
        Self::compile(&formulas, formula)
    }

    /// A predicate from a formula read by [`Formulas::parse_quantity`], or of comparisons alone.
    ///
    /// # Errors
    /// As [`Robustness::parse`], but for the text.
    pub fn compile(formulas: &Formulas, formula: Formula) -> Result<Self, RobustnessError> {
        formulas.check_reading(formula, Reading::Robustness)?;
        let mut this = Self { text: formulas.text(formula), quantities: Vec::new(), parts: Vec::new() };
        let all = formulas.subformulas(formula);
        let mut slots = vec![0; formula.index() + 1];
        for f in all {
            let of = |child: &Formula| slots[child.index()];
            let part = match formulas.node(f) {
                Node::True => Part::Constant(f64::INFINITY),
                Node::False => Part::Constant(f64::NEG_INFINITY),
                Node::Not(a) => Part::Not(of(a)),
                Node::And(all) => Part::Least(all.iter().map(of).collect()),
                Node::Or(all) => Part::Greatest(all.iter().map(of).collect()),
                Node::Binary(Binary::Implies, [a, b]) => Part::Implies(of(a), of(b)),
                Node::Binary(Binary::Iff, [a, b]) => Part::Iff(of(a), of(b)),
                Node::Atom(atom) => {
                    let slot = this.atom(formulas.atom(*atom))?;
                    slots[f.index()] = slot;
                    continue;
                }
                Node::Unary(..) | Node::Binary(..) | Node::Causal(..) | Node::Seen(_) => {
                    unreachable!("refused above: no meaning in robustness")
                }
            };
            slots[f.index()] = this.slot(part)?;
        }
        // The formula's own slot is the last, also where it is an atom seen before.
        let own = slots[formula.index()];
        if own + 1 != this.parts.len() {
            this.slot(Part::Least(vec![own]))?;
        }
        Ok(this)
    }

    fn atom(&mut self, atom: &Atom) -> Result<usize, RobustnessError> {
        match atom {
            Atom::Name(name) => self.quantity(name),
            Atom::Quantity(term) => self.term(term),
            Atom::Compare(comparison, a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                self.slot(Part::Compare(*comparison, a, b))
            }
            Atom::Label { .. } | Atom::Call(..) | Atom::Quantified(..) => {
                unreachable!("refused above: no meaning in robustness")
            }
        }
    }

    fn term(&mut self, term: &Term) -> Result<usize, RobustnessError> {
        match term {
            Term::Field(name) => self.quantity(name),
            Term::FieldAt(..) => unreachable!("refused above: no meaning in robustness"),
            Term::Literal(Literal::Number(number)) => self.slot(Part::Constant(number.get())),
            // Robustness is a distance, and those are doubles.
            Term::Literal(literal @ Literal::Integer(_)) => {
                self.slot(Part::Constant(literal.value().as_double().expect("a number")))
            }
            Term::Literal(Literal::Bool(value)) => self.slot(Part::Constant(if *value { 1.0 } else { -1.0 })),
            Term::Literal(Literal::Text(text)) => Err(RobustnessError::Constant { constant: format!("{text:?}") }),
            Term::Literal(Literal::Null) => Err(RobustnessError::Constant { constant: "null".to_owned() }),
            Term::Negate(a) => {
                let a = self.term(a)?;
                self.slot(Part::Negate(a))
            }
            Term::Arithmetic(operator, a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                self.slot(Part::Arithmetic(*operator, a, b))
            }
        }
    }

    fn quantity(&mut self, name: &str) -> Result<usize, RobustnessError> {
        let known = self.quantities.iter().position(|q| q == name);
        let number = known.unwrap_or_else(|| {
            self.quantities.push(name.to_owned());
            self.quantities.len() - 1
        });
        self.slot(Part::Quantity(number))
    }

    fn slot(&mut self, part: Part) -> Result<usize, RobustnessError> {
        if self.parts.len() == MOST_PARTS {
            return Err(RobustnessError::TooLarge { limit: MOST_PARTS });
        }
        self.parts.push(part);
        Ok(self.parts.len() - 1)
    }

    /// The predicate as text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The quantities that it reads, in the order of their first use.
    pub fn quantities(&self) -> &[String] {
        &self.quantities
    }

    /// The robustness at one record. A truth value as a quantity is 1 or -1.
    ///
    /// # Errors
    /// A quantity that the record does not have, or that is no number; a result that is undefined.
    pub fn evaluate(&self, record: &(impl Record + ?Sized)) -> Result<f64, RobustnessError> {
        Ok(self.evaluate_with_truth(record)?.0)
    }

    /// The robustness at one record, and whether the predicate counts as satisfied there: its sign, where it has one.
    ///
    /// On the border, an order (`<` and its kin) and a bare quantity count as satisfied, `=` and `!=` are what they
    /// are, and the negation of what is satisfied is not.
    ///
    /// # Errors
    /// As [`Robustness::evaluate`].
    pub fn evaluate_with_truth(&self, record: &(impl Record + ?Sized)) -> Result<(f64, bool), RobustnessError> {
        self.evaluate_all(record, Border::Satisfied)
    }

    /// The same, but that on the border too a comparison is what it is: `1 < 1` does not hold.
    ///
    /// # Errors
    /// As [`Robustness::evaluate`].
    pub fn evaluate_exactly(&self, record: &(impl Record + ?Sized)) -> Result<(f64, bool), RobustnessError> {
        self.evaluate_all(record, Border::Exact)
    }

    /// Whether it holds of a record that may lack quantities: exactly, and not where it asks for one that is lacking.
    pub fn is_satisfied(&self, record: &(impl Record + ?Sized)) -> bool {
        self.evaluate_exactly(record).is_ok_and(|(value, holds)| if value == 0.0 { holds } else { value > 0.0 })
    }

    fn evaluate_all(&self, record: &(impl Record + ?Sized), border: Border) -> Result<(f64, bool), RobustnessError> {
        let read = |name: &String| match record.field(name) {
            None => Err(RobustnessError::Unknown { name: name.clone() }),
            Some(Value::Number(number)) if !number.is_nan() => Ok(number),
            Some(Value::Bool(value)) => Ok(if value { 1.0 } else { -1.0 }),
            Some(value @ Value::Integer(_)) => Ok(value.as_double().expect("a number")),
            Some(_) => Err(RobustnessError::NotANumber { name: name.clone() }),
        };
        let quantities = self.quantities.iter().map(read).collect::<Result<Vec<f64>, _>>()?;
        let mut slots: Vec<(f64, bool)> = Vec::with_capacity(self.parts.len());
        let not = |(value, holds): (f64, bool)| (-value, !holds);
        let and = |(a, a_holds): (f64, bool), (b, b_holds): (f64, bool)| (a.min(b), a_holds && b_holds);
        let or = |(a, a_holds): (f64, bool), (b, b_holds): (f64, bool)| (a.max(b), a_holds || b_holds);
        let quantity = |value: f64| (value, value >= 0.0);
        for part in &self.parts {
            let slot = match part {
                Part::Constant(value) => quantity(*value),
                Part::Quantity(number) => quantity(quantities[*number]),
                Part::Negate(a) => quantity(-slots[*a].0),
                Part::Not(a) => not(slots[*a]),
                Part::Arithmetic(operator, a, b) => quantity(operator.apply(slots[*a].0, slots[*b].0)),
                Part::Compare(comparison, a, b) => {
                    let value = comparison.robustness(slots[*a].0, slots[*b].0);
                    let strict = matches!(comparison, Comparison::Less | Comparison::Greater);
                    let border = *comparison != Comparison::NotEqual && !(strict && border == Border::Exact);
                    (value, value > 0.0 || (value == 0.0 && border))
                }
                Part::Least(all) => all.iter().map(|a| slots[*a]).fold((f64::INFINITY, true), and),
                Part::Greatest(all) => all.iter().map(|a| slots[*a]).fold((f64::NEG_INFINITY, false), or),
                Part::Implies(a, b) => or(not(slots[*a]), slots[*b]),
                Part::Iff(a, b) => and(or(not(slots[*a]), slots[*b]), or(slots[*a], not(slots[*b]))),
            };
            if slot.0.is_nan() {
                return Err(RobustnessError::Undefined { predicate: self.text.clone() });
            }
            slots.push(slot);
        }
        Ok(*slots.last().expect("a predicate has a part"))
    }
}

/// What an order of equal numbers counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Border {
    /// Satisfied, strict or not.
    Satisfied,
    /// What it is.
    Exact,
}

impl Comparison {
    /// By how much it holds of two numbers; strictness makes no difference.
    pub fn robustness(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Less | Self::LessOrEqual => b - a,
            Self::Greater | Self::GreaterOrEqual => a - b,
            Self::Equal => -(a - b).abs(),
            Self::NotEqual => (a - b).abs(),
        }
    }
}

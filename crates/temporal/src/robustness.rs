//! Robustness: a number that says by how much a predicate over quantities holds.

use super::atom::{Arithmetic, Atom, Comparison, Literal, Record, Term, Value};
use super::formula::{Binary, Formula, Formulas, Node};
use super::parse_error::ParseError;
use super::readings::{Reading, UnsupportedError};

/// Why a predicate cannot be compiled or evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RobustnessError {
    /// The text cannot be parsed.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The formula contains an operator without robustness, such as a temporal one.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedError),
    /// A text or `null` is used as a quantity.
    #[error("`{constant}` is not a quantity")]
    Constant {
        /// The constant as it is written.
        constant: String,
    },
    /// The predicate has too many operations.
    #[error("a predicate of more than {limit} parts")]
    TooLarge {
        /// The maximum number of operations.
        limit: usize,
    },
    /// The record has no such quantity.
    #[error("unknown quantity `{name}`")]
    Unknown {
        /// The name of the quantity.
        name: String,
    },
    /// The quantity is a text, null, or NaN.
    #[error("`{name}` is not a number here")]
    NotANumber {
        /// The name of the quantity.
        name: String,
    },
    /// The result is NaN, as for `0 / 0` or the difference of two infinities.
    #[error("`{predicate}` is undefined here")]
    Undefined {
        /// The predicate as text in the formula language.
        predicate: String,
    },
}

/// Maximum number of operations of one predicate; each is a slot of its evaluation.
const MAX_PARTS: usize = 10_000;

/// A predicate over quantities, compiled for repeated evaluation of its robustness: a number, in the unit of the
/// quantities, that says by how much the predicate holds.
///
/// The robustness of `a < b` and `a <= b` is `b - a`, that of `a = b` is `-|a - b|`; `!` changes the sign, `&` takes the
/// minimum and `|` the maximum (Donzé and Maler 2010, for one position). A truth value counts as 1 or -1. Positive: the
/// predicate holds; negative: it does not; 0: on the boundary.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Quantities, Robustness};
///
/// let slow = Robustness::parse("speed < limit")?;
/// assert_eq!(slow.text(), "speed < limit");
/// assert_eq!(slow.quantities(), ["speed", "limit"]);
/// assert_eq!(slow.evaluate(&Quantities::from_iter([("speed", 2.0), ("limit", 3.0)]))?, 1.0);
///
/// // On the boundary, `<` counts as satisfied unless comparisons are exact.
/// let tie = Quantities::from_iter([("speed", 3.0), ("limit", 3.0)]);
/// assert_eq!(slow.evaluate_with_truth(&tie)?, (0.0, true));
/// assert_eq!(slow.evaluate_exactly(&tie)?, (0.0, false));
/// assert!(!slow.is_satisfied(&tie));
/// # Ok::<(), tlaforge_temporal::RobustnessError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Robustness {
    text: String,
    quantities: Vec<String>,
    operations: Vec<Operation>,
}

/// An operation; operands are the numbers of earlier operations.
#[derive(Debug, Clone, PartialEq)]
enum Operation {
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

/// The robustness of the text `predicate` at a record: [`Robustness::parse`], then [`Robustness::evaluate`].
///
/// # Errors
/// Those of the two functions.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Quantities, robustness};
///
/// let record = Quantities::from_iter([("d_goal", 3.0), ("speed", 1.5)]);
/// assert_eq!(robustness("d_goal < 5 & speed <= 2", &record), Ok(0.5));
/// assert_eq!(robustness("!(d_goal < 5)", &record), Ok(-2.0));
/// assert!(robustness("height > 0", &record).is_err(), "the record has no `height`");
/// ```
pub fn robustness(predicate: &str, record: &(impl Record + ?Sized)) -> Result<f64, RobustnessError> {
    Robustness::parse(predicate)?.evaluate(record)
}

impl Robustness {
    /// Parses and compiles a predicate such as `d_goal < 5 & !(speed > 2 * limit)`. A quantity that stands alone is its own
    /// robustness.
    ///
    /// # Errors
    /// A syntax error; a temporal operator, a label or a predicate of the application; a text constant; more than 10,000
    /// operations.
    pub fn parse(text: &str) -> Result<Self, RobustnessError> {
        let mut formulas = Formulas::new();
        let formula = formulas.parse_quantity(text)?;
        Self::compile(&formulas, formula)
    }

    /// Compiles a formula from [`Formulas::parse_quantity`], or one whose atoms are comparisons.
    ///
    /// # Errors
    /// Those of [`Robustness::parse`], except syntax errors.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Formulas, Quantities, Robustness};
    ///
    /// let mut formulas = Formulas::new();
    /// let formula = formulas.parse("x < 1 | y < 1")?;
    /// let either = Robustness::compile(&formulas, formula)?;
    /// assert_eq!(either.evaluate(&Quantities::from_iter([("x", 3.0), ("y", 0.5)]))?, 0.5);
    /// let temporal = formulas.parse("F x < 1")?;
    /// assert!(Robustness::compile(&formulas, temporal).is_err());
    /// # Ok::<(), tlaforge_temporal::RobustnessError>(())
    /// ```
    pub fn compile(formulas: &Formulas, formula: Formula) -> Result<Self, RobustnessError> {
        formulas.check_reading(formula, Reading::Robustness)?;
        let mut compiled = Self { text: formulas.text(formula), quantities: Vec::new(), operations: Vec::new() };
        let all = formulas.subformulas(formula);
        let mut slots = vec![0; formula.index() + 1];
        for f in all {
            let of = |child: &Formula| slots[child.index()];
            let part = match formulas.node(f) {
                // No change of a quantity makes a constant false.
                Node::True => Operation::Constant(f64::INFINITY),
                Node::False => Operation::Constant(f64::NEG_INFINITY),
                Node::Not(a) => Operation::Not(of(a)),
                Node::And(all) => Operation::Least(all.iter().map(of).collect()),
                Node::Or(all) => Operation::Greatest(all.iter().map(of).collect()),
                Node::Binary(Binary::Implies, [a, b]) => Operation::Implies(of(a), of(b)),
                Node::Binary(Binary::Iff, [a, b]) => Operation::Iff(of(a), of(b)),
                Node::Atom(atom) => {
                    let slot = compiled.compile_atom(formulas.atom(*atom))?;
                    slots[f.index()] = slot;
                    continue;
                }
                Node::Unary(..) | Node::Binary(..) | Node::Causal(..) | Node::Seen(_) => {
                    unreachable!("refused above: no meaning in robustness")
                }
            };
            slots[f.index()] = compiled.push(part)?;
        }
        // Evaluation returns the last slot, so the formula itself must be last, even if it is an atom compiled before.
        let own = slots[formula.index()];
        if own + 1 != compiled.operations.len() {
            compiled.push(Operation::Least(vec![own]))?;
        }
        Ok(compiled)
    }

    fn compile_atom(&mut self, atom: &Atom) -> Result<usize, RobustnessError> {
        match atom {
            Atom::Name(name) => self.compile_quantity(name),
            Atom::Quantity(term) => self.compile_term(term),
            Atom::Compare(comparison, a, b) => {
                let (a, b) = (self.compile_term(a)?, self.compile_term(b)?);
                self.push(Operation::Compare(*comparison, a, b))
            }
            Atom::Label { .. } | Atom::Call(..) | Atom::Quantified(..) => {
                unreachable!("refused above: no meaning in robustness")
            }
        }
    }

    fn compile_term(&mut self, term: &Term) -> Result<usize, RobustnessError> {
        match term {
            Term::Field(name) => self.compile_quantity(name),
            Term::FieldAt(..) => unreachable!("refused above: no meaning in robustness"),
            Term::Literal(Literal::Number(number)) => self.push(Operation::Constant(number.get())),
            // Robustness is a distance and therefore a double.
            Term::Literal(literal @ Literal::Integer(_)) => {
                self.push(Operation::Constant(literal.value().as_double().expect("a number")))
            }
            // The same numbers as for a field that is a truth value.
            Term::Literal(Literal::Bool(value)) => self.push(Operation::Constant(if *value { 1.0 } else { -1.0 })),
            Term::Literal(Literal::Text(text)) => Err(RobustnessError::Constant { constant: format!("{text:?}") }),
            Term::Literal(Literal::Null) => Err(RobustnessError::Constant { constant: "null".to_owned() }),
            Term::Negate(a) => {
                let a = self.compile_term(a)?;
                self.push(Operation::Negate(a))
            }
            Term::Arithmetic(operator, a, b) => {
                let (a, b) = (self.compile_term(a)?, self.compile_term(b)?);
                self.push(Operation::Arithmetic(*operator, a, b))
            }
        }
    }

    fn compile_quantity(&mut self, name: &str) -> Result<usize, RobustnessError> {
        let known = self.quantities.iter().position(|q| q == name);
        let number = known.unwrap_or_else(|| {
            self.quantities.push(name.to_owned());
            self.quantities.len() - 1
        });
        self.push(Operation::Quantity(number))
    }

    fn push(&mut self, part: Operation) -> Result<usize, RobustnessError> {
        if self.operations.len() == MAX_PARTS {
            return Err(RobustnessError::TooLarge { limit: MAX_PARTS });
        }
        self.operations.push(part);
        Ok(self.operations.len() - 1)
    }

    /// The predicate as text in the formula language.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of the quantities that the predicate reads, in the order of their first use.
    pub fn quantities(&self) -> &[String] {
        &self.quantities
    }

    /// The robustness at a record. A truth value counts as the quantity 1 or -1.
    ///
    /// # Errors
    /// A quantity is missing or not a number; the result is NaN.
    pub fn evaluate(&self, record: &(impl Record + ?Sized)) -> Result<f64, RobustnessError> {
        Ok(self.evaluate_with_truth(record)?.0)
    }

    /// The robustness at a record, and whether the predicate counts as satisfied there, which its sign decides unless it
    /// is 0.
    ///
    /// At 0, an ordering (`<`, `<=`, `>`, `>=`) and a quantity that stands alone count as satisfied, `=` and `!=` are exact,
    /// and `!` inverts.
    ///
    /// # Errors
    /// Those of [`Robustness::evaluate`].
    pub fn evaluate_with_truth(&self, record: &(impl Record + ?Sized)) -> Result<(f64, bool), RobustnessError> {
        self.evaluate_all(record, TieRule::Satisfied)
    }

    /// As [`Robustness::evaluate_with_truth`], but comparisons are exact at 0 too: `1 < 1` does not hold.
    ///
    /// # Errors
    /// Those of [`Robustness::evaluate`].
    pub fn evaluate_exactly(&self, record: &(impl Record + ?Sized)) -> Result<(f64, bool), RobustnessError> {
        self.evaluate_all(record, TieRule::Exact)
    }

    /// Whether the predicate holds at a record, with exact comparisons; false if the evaluation is an error, such as a
    /// missing quantity.
    pub fn is_satisfied(&self, record: &(impl Record + ?Sized)) -> bool {
        self.evaluate_exactly(record).is_ok_and(|(value, holds)| if value == 0.0 { holds } else { value > 0.0 })
    }

    fn evaluate_all(&self, record: &(impl Record + ?Sized), tie_rule: TieRule) -> Result<(f64, bool), RobustnessError> {
        let read = |name: &String| match record.field(name) {
            None => Err(RobustnessError::Unknown { name: name.clone() }),
            Some(Value::Number(number)) if !number.is_nan() => Ok(number),
            Some(Value::Bool(value)) => Ok(if value { 1.0 } else { -1.0 }),
            Some(value @ Value::Integer(_)) => Ok(value.as_double().expect("a number")),
            Some(_) => Err(RobustnessError::NotANumber { name: name.clone() }),
        };
        let quantities = self.quantities.iter().map(read).collect::<Result<Vec<f64>, _>>()?;
        let mut slots: Vec<(f64, bool)> = Vec::with_capacity(self.operations.len());
        let not = |(value, holds): (f64, bool)| (-value, !holds);
        let and = |(a, a_holds): (f64, bool), (b, b_holds): (f64, bool)| (a.min(b), a_holds && b_holds);
        let or = |(a, a_holds): (f64, bool), (b, b_holds): (f64, bool)| (a.max(b), a_holds || b_holds);
        let quantity = |value: f64| (value, value >= 0.0);
        for part in &self.operations {
            let slot = match part {
                Operation::Constant(value) => quantity(*value),
                Operation::Quantity(number) => quantity(quantities[*number]),
                Operation::Negate(a) => quantity(-slots[*a].0),
                Operation::Not(a) => not(slots[*a]),
                Operation::Arithmetic(operator, a, b) => quantity(operator.apply(slots[*a].0, slots[*b].0)),
                Operation::Compare(comparison, a, b) => {
                    let value = comparison.robustness(slots[*a].0, slots[*b].0);
                    let strict = matches!(comparison, Comparison::Less | Comparison::Greater);
                    let holds_at_zero = *comparison != Comparison::NotEqual && !(strict && tie_rule == TieRule::Exact);
                    (value, value > 0.0 || (value == 0.0 && holds_at_zero))
                }
                Operation::Least(all) => all.iter().map(|a| slots[*a]).fold((f64::INFINITY, true), and),
                Operation::Greatest(all) => all.iter().map(|a| slots[*a]).fold((f64::NEG_INFINITY, false), or),
                Operation::Implies(a, b) => or(not(slots[*a]), slots[*b]),
                // As `(a -> b) & (b -> a)`, which has the same robustness.
                Operation::Iff(a, b) => and(or(not(slots[*a]), slots[*b]), or(slots[*a], not(slots[*b]))),
            };
            // At each part, because `min` and `max` drop a NaN.
            if slot.0.is_nan() {
                return Err(RobustnessError::Undefined { predicate: self.text.clone() });
            }
            slots.push(slot);
        }
        Ok(*slots.last().expect("a predicate has a part"))
    }
}

/// Whether a strict ordering of equal numbers counts as satisfied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TieRule {
    /// Yes, like `<=` and `>=`.
    Satisfied,
    /// No: `1 < 1` does not hold.
    Exact,
}

impl Comparison {
    /// The robustness of the comparison for two numbers; the same for strict and non-strict orderings.
    pub fn robustness(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Less | Self::LessOrEqual => b - a,
            Self::Greater | Self::GreaterOrEqual => a - b,
            Self::Equal => -(a - b).abs(),
            Self::NotEqual => (a - b).abs(),
        }
    }
}

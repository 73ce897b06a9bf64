//! Atoms: propositions about one position, and their evaluation on a [`Record`].
//!
//! An atom is false, whatever its comparison, if a term of it is undefined or the compared values are of different kinds.
//! Knows no log format: a record answers for its fields.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A proposition about one position.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Atom {
    /// `x`: the field is the truth value `true`.
    Name(Arc<str>),
    /// `tool_call:NAME` and other labels, which the record evaluates by their kind ([`Record::label`]).
    Label {
        /// The part before the colon.
        kind: Arc<str>,
        /// The part after the colon.
        text: Arc<str>,
    },
    /// `t1 < t2` and the other comparisons.
    Compare(Comparison, Term, Term),
    /// `p(t1, …)`: a predicate of the application ([`Record::call`]).
    Call(Arc<str>, Box<[Term]>),
    /// `any(x, contains "t")`, `every(x, > 3)`: a test of all values of a path that crosses lists. The term is a field.
    Quantified(Quantifier, Term, ValueTest),
    /// A bare term in a predicate of an objective, where it is a quantity rather than a truth value.
    Quantity(Term),
}

/// How many of the values must pass a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// At least one.
    Any,
    /// All; true if there is no value.
    Every,
}

impl Quantifier {
    /// The word in the language: `any` or `every`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Every => "every",
        }
    }

    /// The quantifier with this word.
    pub(super) fn from_name(word: &str) -> Option<Self> {
        [Self::Any, Self::Every].into_iter().find(|quantifier| quantifier.name() == word)
    }
}

/// A test of one value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ValueTest {
    /// `< t`: the value is the left side.
    Compare(Comparison, Term),
    /// `contains "t"`: the value is the first argument.
    Call(Arc<str>, Box<[Term]>),
}

impl ValueTest {
    fn passes(&self, value: &Value<'_>, record: &(impl Record + ?Sized)) -> bool {
        match self {
            Self::Compare(comparison, term) => term.value(record).is_some_and(|term| comparison.holds(value, &term)),
            Self::Call(name, terms) => {
                let rest = terms.iter().map(|t| t.value(record));
                let values: Option<Vec<Value<'_>>> = std::iter::once(Some(value.clone())).chain(rest).collect();
                values.and_then(|values| record.call(name, &values)) == Some(true)
            }
        }
    }

    fn terms(&self) -> &[Term] {
        match self {
            Self::Compare(_, term) => std::slice::from_ref(term),
            Self::Call(_, terms) => terms,
        }
    }
}

/// A side of a comparison, or an argument of a predicate.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Term {
    /// `x`, `a.b`: a field of the record at this position.
    Field(Arc<str>),
    /// `@A.x`: the lifeline and a field, read at the latest visible event of the lifeline.
    FieldAt(Arc<str>, Arc<str>),
    /// A constant.
    Literal(Literal),
    /// `-t`
    Negate(Box<Term>),
    /// `t1 + t2`
    Arithmetic(Arithmetic, Box<Term>, Box<Term>),
}

/// A constant of the language.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number that a double represents exactly.
    Number(Number),
    /// An integer that no double represents exactly.
    Integer(i128),
    /// `"text"`
    Text(Arc<str>),
}

impl Literal {
    /// The constant as the value of a term.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => Value::Number(number.get()),
            Self::Integer(integer) => Value::Integer(*integer),
            Self::Text(text) => Value::Text(Cow::Borrowed(text)),
        }
    }
}

/// A finite double, which can be hashed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(f64);

impl Number {
    /// `None` for NaN and the infinities, for which the language has no notation.
    pub fn new(value: f64) -> Option<Self> {
        // -0 becomes 0, so that equal numbers have equal hashes.
        value.is_finite().then_some(Self(if value == 0.0 { 0.0 } else { value }))
    }

    /// For constants of this program; the caller guarantees a finite value other than -0.
    pub(super) const fn from_finite(value: f64) -> Self {
        Self(value)
    }

    /// The number as a double.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// `= != < <= > >=`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`, also written `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// `+ - * /`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

impl Arithmetic {
    /// The result on doubles. `0 / 0` and `1 / 0` give a value that is not finite; as a term that is undefined.
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            // -0 counts as 0, as in `Number`: otherwise `1 / -0` and `1 / 0` would differ.
            Self::Divide => a / (b + 0.0),
        }
    }
}

/// The value of a term.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`: the field is present and has no value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// An integer that no double represents exactly; build it with [`Value::integer`].
    Integer(i128),
    /// A text.
    Text(Cow<'a, str>),
}

/// One position of a trace as atoms read it, such as a record of a log or an event. Only [`Record::field`] is required.
pub trait Record {
    /// The value of a field; `None` if it is missing, or is a list or an object.
    fn field(&self, name: &str) -> Option<Value<'_>>;

    /// Whether `kind:text` is true here; `None` for an unknown kind, which makes the atom false.
    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        let _ = (kind, text);
        None
    }

    /// The value of a predicate of the application; `None` if it is unknown or undefined for these arguments, which makes
    /// the atom false.
    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        let _ = (name, arguments);
        None
    }

    /// A field at the latest visible event of a lifeline; `None` outside the causal reading.
    fn field_at(&self, lifeline: &str, name: &str) -> Option<Value<'_>> {
        let _ = (lifeline, name);
        None
    }

    /// All values of a path, each element of the lists that it crosses; `None` for an element that is an object.
    fn values(&self, name: &str) -> Vec<Option<Value<'_>>> {
        self.field(name).map(Some).into_iter().collect()
    }

    /// Whether the field is present, a list or an object included.
    fn has(&self, name: &str) -> bool {
        self.field(name).is_some()
    }
}

impl<R: Record + ?Sized> Record for &R {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        (**self).field(name)
    }

    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        (**self).label(kind, text)
    }

    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        (**self).call(name, arguments)
    }

    fn field_at(&self, lifeline: &str, name: &str) -> Option<Value<'_>> {
        (**self).field_at(lifeline, name)
    }

    fn values(&self, name: &str) -> Vec<Option<Value<'_>>> {
        (**self).values(name)
    }

    fn has(&self, name: &str) -> bool {
        (**self).has(name)
    }
}

impl Atom {
    /// Whether the atom is true at a record.
    pub fn holds(&self, record: &(impl Record + ?Sized)) -> bool {
        match self {
            Self::Name(name) => record.field(name) == Some(Value::Bool(true)),
            Self::Label { kind, text } => record.label(kind, text) == Some(true),
            Self::Compare(comparison, a, b) => match (a.value(record), b.value(record)) {
                (Some(a), Some(b)) => comparison.holds(&a, &b),
                _ => false,
            },
            Self::Call(name, terms) => {
                if let ("defined", [Term::Field(field)]) = (&**name, &**terms)
                    && record.field(field).is_none()
                {
                    return record.has(field);
                }
                let values: Option<Vec<Value<'_>>> = terms.iter().map(|t| t.value(record)).collect();
                values.and_then(|values| record.call(name, &values)) == Some(true)
            }
            Self::Quantified(quantifier, path, test) => {
                let Term::Field(name) = path else { return false };
                let passes = |value: &Option<Value<'_>>| value.as_ref().is_some_and(|value| test.passes(value, record));
                let values = record.values(name);
                match quantifier {
                    Quantifier::Any => values.iter().any(passes),
                    Quantifier::Every => values.iter().all(passes),
                }
            }
            Self::Quantity(term) => term.value(record) == Some(Value::Bool(true)),
        }
    }

    /// The terms of the atom, in the order in which they are written.
    pub fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Name(_) | Self::Label { .. } => Vec::new(),
            Self::Compare(_, a, b) => vec![a, b],
            Self::Call(_, terms) => terms.iter().collect(),
            Self::Quantified(_, path, test) => std::iter::once(path).chain(test.terms()).collect(),
            Self::Quantity(term) => vec![term],
        }
    }

    /// The fields that the atom reads: name, and the lifeline for `@A.x`.
    pub fn fields(&self) -> Vec<(Option<&str>, &str)> {
        match self {
            Self::Name(name) => vec![(None, name)],
            _ => self.terms().into_iter().flat_map(Term::fields).collect(),
        }
    }
}

impl Comparison {
    /// The symbols, longer ones first because the lexer takes the first match. The printer uses the last symbol of a
    /// comparison.
    pub(super) const SYMBOLS: [(&str, Self); 7] = [
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("=", Self::Equal),
        ("<", Self::Less),
        (">", Self::Greater),
    ];

    /// Whether the comparison holds; false for values of different kinds. Texts are ordered by their bytes, `false` comes
    /// before `true`.
    pub fn holds(self, a: &Value<'_>, b: &Value<'_>) -> bool {
        let order = match (a, b) {
            (Value::Null, Value::Null) => Some(std::cmp::Ordering::Equal),
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (a, b) => a.order(b),
        };
        order.is_some_and(|order| match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        })
    }
}

impl Term {
    /// The value of the term; `None` if a part of it is undefined or not a number where one is needed.
    pub fn value<'a>(&'a self, record: &'a (impl Record + ?Sized)) -> Option<Value<'a>> {
        Some(match self {
            Self::Field(name) => return record.field(name),
            Self::FieldAt(lifeline, name) => return record.field_at(lifeline, name),
            Self::Literal(literal) => literal.value(),
            Self::Negate(term) => return term.value(record)?.negated(),
            Self::Arithmetic(operator, a, b) => return operator.evaluate(&a.value(record)?, &b.value(record)?),
        })
    }

    /// The fields that the term reads: name, and the lifeline for `@A.x`.
    pub fn fields(&self) -> Vec<(Option<&str>, &str)> {
        match self {
            Self::Field(name) => vec![(None, name)],
            Self::FieldAt(lifeline, name) => vec![(Some(lifeline), name)],
            Self::Literal(_) => Vec::new(),
            Self::Negate(term) => term.fields(),
            Self::Arithmetic(_, a, b) => [a.fields(), b.fields()].concat(),
        }
    }
}

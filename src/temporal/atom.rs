//! Atoms: what a formula reads off one position, and how it is read.
//!
//! An undefined term, and a comparison of values of different kinds, make their atom false, whatever the comparison.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What is true or false at one position.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Atom {
    /// `x`: the field is true.
    Name(Arc<str>),
    /// `tool_call:NAME` and its kin: what the log's reader knows by its kind.
    Label {
        /// Before the colon.
        kind: Arc<str>,
        /// After it.
        text: Arc<str>,
    },
    /// `t1 < t2`
    Compare(Comparison, Term, Term),
    /// `p(t1, …)`
    Call(Arc<str>, Box<[Term]>),
    /// `any(x, contains "t")`, `every(x, > 3)`: a test of all values of a field that lists lead to; the term is a field.
    Each(Quantifier, Term, Test),
    /// A bare term where a quantity is asked for (the predicates of an objective).
    Quantity(Term),
}

/// How many of the values have to pass a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// At least one.
    Any,
    /// All of them; true if there is no value.
    Every,
}

impl Quantifier {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Every => "every",
        }
    }

    /// Whether a word is one of them.
    pub(super) fn named(word: &str) -> Option<Self> {
        [Self::Any, Self::Every].into_iter().find(|quantifier| quantifier.name() == word)
    }
}

/// A test of one value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Test {
    /// `< t`: the value stands on the left.
    Compare(Comparison, Term),
    /// `contains "t"`: the value is the first argument.
    Call(Arc<str>, Box<[Term]>),
}

impl Test {
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

/// What a comparison compares.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Term {
    /// `x`, `a.b`: a field of this position.
    Field(Arc<str>),
    /// `@A.x`: a field at the latest visible event of a lifeline.
    FieldAt(Arc<str>, Arc<str>),
    /// A constant.
    Literal(Literal),
    /// `-t`
    Negate(Box<Term>),
    /// `t1 + t2`
    Arithmetic(Arithmetic, Box<Term>, Box<Term>),
}

/// A constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// An integer that no double holds.
    Integer(i128),
    /// `"text"`
    Text(Arc<str>),
}

impl Literal {
    /// The constant as a term's value.
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

/// A finite number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(f64);

impl Number {
    /// `None` for NaN and the infinities, which the language has no text for.
    pub fn new(value: f64) -> Option<Self> {
        // Zero has one representation, so that equal numbers hash alike.
        value.is_finite().then_some(Self(if value == 0.0 { 0.0 } else { value }))
    }

    /// A constant of the program, which is finite and no negative zero.
    pub(super) const fn of(value: f64) -> Self {
        Self(value)
    }

    /// The number.
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
    /// The result; what it has no number for (`0 / 0`, `1 / 0`) is not finite, and undefined as a term.
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            // Zero has one representation: what is kept of a negative one divides as it does.
            Self::Divide => a / (b + 0.0),
        }
    }
}

/// The value of a term.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Nothing, said to be so.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(f64),
    /// An integer that no double holds; [`Value::integer`] tells which those are.
    Integer(i128),
    /// A text.
    Text(Cow<'a, str>),
}

/// One position as atoms read it: a record of a log, an event, a letter.
pub trait Record {
    /// The value of a field; `None` where it is undefined, or is neither a truth value, a number, a text nor null.
    fn field(&self, name: &str) -> Option<Value<'_>>;

    /// Whether `kind:text` is true here; `None` where the kind is not known.
    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        let _ = (kind, text);
        None
    }

    /// The value of an application predicate; `None` where it is not known or not defined for these values.
    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        let _ = (name, arguments);
        None
    }

    /// A field at the latest visible event of a lifeline.
    fn field_at(&self, lifeline: &str, name: &str) -> Option<Value<'_>> {
        let _ = (lifeline, name);
        None
    }

    /// All values of a field, also those that lists lead to; `None` stands for a value that is an object.
    fn values(&self, name: &str) -> Vec<Option<Value<'_>>> {
        self.field(name).map(Some).into_iter().collect()
    }

    /// Whether the field is there, be it a list or an object.
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
    /// Whether the atom is true of a record.
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
            Self::Each(quantifier, path, test) => {
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

    /// The terms it is made of.
    pub fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Name(_) | Self::Label { .. } => Vec::new(),
            Self::Compare(_, a, b) => vec![a, b],
            Self::Call(_, terms) => terms.iter().collect(),
            Self::Each(_, path, test) => std::iter::once(path).chain(test.terms()).collect(),
            Self::Quantity(term) => vec![term],
        }
    }

    /// The fields it reads: the lifeline, if it names one, and the name.
    pub fn fields(&self) -> Vec<(Option<&str>, &str)> {
        match self {
            Self::Name(name) => vec![(None, name)],
            _ => self.terms().into_iter().flat_map(Term::fields).collect(),
        }
    }
}

impl Comparison {
    /// How they are written, longer ones first; of two for one comparison, the last is how it is printed.
    pub(super) const SYMBOLS: [(&str, Self); 7] = [
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("=", Self::Equal),
        ("<", Self::Less),
        (">", Self::Greater),
    ];

    /// Whether it holds; between values of different kinds, none does.
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
    /// The value of the term; `None` where a part of it is undefined or of the wrong kind.
    pub fn value<'a>(&'a self, record: &'a (impl Record + ?Sized)) -> Option<Value<'a>> {
        Some(match self {
            Self::Field(name) => return record.field(name),
            Self::FieldAt(lifeline, name) => return record.field_at(lifeline, name),
            Self::Literal(literal) => literal.value(),
            Self::Negate(term) => return term.value(record)?.negated(),
            Self::Arithmetic(operator, a, b) => return operator.of(&a.value(record)?, &b.value(record)?),
        })
    }

    /// The fields it reads: the lifeline, where it names one, and the name.
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

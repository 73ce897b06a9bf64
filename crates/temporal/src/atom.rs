//! Atoms: propositions about one position, and their evaluation on a [`Record`]. Knows no log format.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A proposition about one position.
///
/// An atom is false, whatever its comparison, if a term of it is undefined or the compared values are of different kinds:
/// `x != 1` is false if there is no `x`, and if `x` is a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Atom {
    /// `x`: the field is the truth value `true`.
    Name(Arc<str>),
    /// `tool_call:NAME` and other labels, which the record evaluates by their kind ([`Record::label`]). Not to be confused
    /// with [`Labels`](super::Labels), which has the truth values of all kinds of atoms.
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
///
/// # Examples
/// ```
/// use tlaforge_temporal::Quantifier;
///
/// assert_eq!([Quantifier::Any, Quantifier::Every].map(Quantifier::name), ["any", "every"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// At least one; false if there is no value.
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
                // The value is the first argument: `any(x, contains "t")` tests `contains(value, "t")`.
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
    /// A constant: it is defined at every record.
    Literal(Literal),
    /// `-t` of a term that is not a literal number; `-3` is a literal.
    Negate(Box<Term>),
    /// `t1 + t2` and the other operators; undefined if a side is not a number, or the result not finite.
    Arithmetic(Arithmetic, Box<Term>, Box<Term>),
}

/// A constant of the language.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Literal, Number, Value};
///
/// let three = Literal::from_value(&Value::Number(3.0));
/// assert_eq!(three, Number::new(3.0).map(Literal::Number));
/// assert_eq!(Literal::from_value(&Value::Number(f64::NAN)), None);
/// assert_eq!(Literal::Integer((1 << 53) + 1).value(), Value::integer((1 << 53) + 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Literal {
    /// `null`: equal to itself only.
    Null,
    /// `true` or `false`, as the side of a comparison.
    Bool(bool),
    /// A number that a double represents exactly.
    Number(Number),
    /// An integer that no double represents exactly.
    Integer(i128),
    /// `"text"`, without the quotes and with its escapes resolved.
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
///
/// # Examples
/// ```
/// use tlaforge_temporal::Number;
///
/// assert_eq!(Number::new(1.5).map(Number::get), Some(1.5));
/// assert_eq!(Number::new(f64::INFINITY), None);
/// assert_eq!(Number::new(-0.0), Number::new(0.0));
/// ```
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

// Equality is reflexive, because `new` refuses NaN.
impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Numbers that are equal have the same bits, because `new` refuses NaN and makes -0 to 0.
        self.0.to_bits().hash(state);
    }
}

/// The comparisons of two values. Values of different kinds have no order, which makes every comparison false, `!=`
/// included. Symbols: `= != < <= > >=`.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Comparison, Value};
///
/// let (one, two) = (Value::Number(1.0), Value::Number(2.0));
/// assert!(Comparison::Less.holds(&one, &two));
/// assert!(!Comparison::NotEqual.holds(&one, &Value::Text("1".into())));
/// assert_eq!(Comparison::LessOrEqual.symbol(), "<=");
/// // By how much `1 <= 2` holds.
/// assert_eq!(Comparison::LessOrEqual.robustness(1.0, 2.0), 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`, also written `==`
    Equal,
    /// `!=`, false as well if the values are of different kinds
    NotEqual,
    /// `<`, for texts the order of their bytes
    Less,
    /// `<=`, the smaller or an equal value
    LessOrEqual,
    /// `>`, true if `<` holds with the sides exchanged
    Greater,
    /// `>=`, true if `<=` holds with the sides exchanged
    GreaterOrEqual,
}

/// The operators of arithmetic: `+ - * /`.
///
/// # Examples
/// ```
/// use tlaforge_temporal::Arithmetic;
///
/// assert_eq!(Arithmetic::Divide.apply(7.0, 2.0), 3.5);
/// assert!(Arithmetic::Divide.apply(1.0, 0.0).is_infinite());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// `+` of two numbers
    Add,
    /// `-` between two numbers
    Subtract,
    /// `*` of two numbers
    Multiply,
    /// `/`, on doubles also for integers: `7 / 2` is 3.5
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
///
/// # Examples
/// ```
/// use tlaforge_temporal::Value;
///
/// assert_eq!(Value::integer(3), Value::Number(3.0));
/// let id = (1 << 53) + 1;
/// assert_eq!(Value::integer(id), Value::Integer(id), "no double represents it");
/// assert_eq!(Value::integer(id).as_double(), Some(9_007_199_254_740_992.0), "the nearest one");
/// assert_eq!(Value::Null.as_double(), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`: the field is present and has no value.
    Null,
    /// `true` or `false`; ordered, `false` first.
    Bool(bool),
    /// A double. Integers that a double represents are kept here too, so that each number has one representation.
    Number(f64),
    /// An integer that no double represents exactly; build it with [`Value::integer`].
    Integer(i128),
    /// A text, borrowed from the record if that holds it; compared byte by byte.
    Text(Cow<'a, str>),
}

/// One position of a trace as atoms read it, such as a record of a log or an event. Only [`Record::field`] is required.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Formulas, Record, Value};
///
/// struct Point {
///     x: f64,
/// }
///
/// impl Record for Point {
///     fn field(&self, name: &str) -> Option<Value<'_>> {
///         (name == "x").then_some(Value::Number(self.x))
///     }
/// }
///
/// let mut formulas = Formulas::new();
/// formulas.parse("x + 1 < 3 & y != 0")?;
/// let values: Vec<bool> = formulas.atoms().map(|(_, atom)| atom.holds(&Point { x: 1.5 })).collect();
/// assert_eq!(values, [true, false], "there is no `y`, so every comparison of it is false");
/// # Ok::<(), tlaforge_temporal::ParseError>(())
/// ```
/// A record with a list, a kind of label, and a predicate:
/// ```
/// use tlaforge_temporal::{Formulas, Record, Value};
///
/// struct Reply {
///     model: &'static str,
///     tools: Vec<&'static str>,
/// }
///
/// impl Record for Reply {
///     fn field(&self, name: &str) -> Option<Value<'_>> {
///         (name == "model").then(|| Value::Text(self.model.into()))
///     }
///
///     // `tool_call:search`
///     fn label(&self, kind: &str, text: &str) -> Option<bool> {
///         (kind == "tool_call").then(|| self.tools.contains(&text))
///     }
///
///     // `contains(model, "pro")`, and the test of `any(tools, contains "sea")`
///     fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
///         match (name, arguments) {
///             ("contains", [Value::Text(text), Value::Text(part)]) => Some(text.contains(&**part)),
///             ("defined", [_]) => Some(true),
///             _ => None,
///         }
///     }
///
///     // `any(tools, …)`, `every(tools, …)`: one value for each element
///     fn values(&self, name: &str) -> Vec<Option<Value<'_>>> {
///         match name {
///             "tools" => self.tools.iter().map(|tool| Some(Value::Text((*tool).into()))).collect(),
///             _ => self.field(name).map(Some).into_iter().collect(),
///         }
///     }
///
///     // `defined(tools)`: a list has no value, and yet is present
///     fn has(&self, name: &str) -> bool {
///         name == "tools" || self.field(name).is_some()
///     }
/// }
///
/// let reply = Reply { model: "m-pro", tools: vec!["search", "submit"] };
/// for (text, value) in [
///     ("tool_call:search", true),
///     (r#"contains(model, "pro")"#, true),
///     (r#"any(tools, contains "sea")"#, true),
///     (r#"every(tools, contains "sea")"#, false),
///     ("defined(tools)", true),
///     ("defined(model)", true),
///     (r#"tools = "search""#, false),
/// ] {
///     let mut formulas = Formulas::new();
///     formulas.parse(text)?;
///     let (_, atom) = formulas.atoms().next().expect("one atom");
///     assert_eq!(atom.holds(&reply), value, "{text}");
/// }
/// # Ok::<(), tlaforge_temporal::ParseError>(())
/// ```
pub trait Record {
    /// The value of a field; `None` if it is missing, or is a list or an object.
    ///
    /// `name` is the whole name as the formula writes it: `a.b` arrives as `"a.b"`, and the record decides whether that is
    /// a field with a dot or the field `b` of the object `a`.
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

    /// All values of a path, each element of the lists that it crosses, for `any(…)` and `every(…)`; `None` for an element
    /// that is an object, which passes no test.
    ///
    /// Override it if fields can be lists. By default a list has no values, so every `every(…)` of it is true.
    fn values(&self, name: &str) -> Vec<Option<Value<'_>>> {
        self.field(name).map(Some).into_iter().collect()
    }

    /// Whether the field is present, a list or an object included. Override it if fields can be lists or objects.
    ///
    /// Only the atom `defined(x)` calls it, if `x` has no value. If `x` has one, `defined` is a predicate as any other: the
    /// atom is the value of [`Record::call`], which therefore has to return `Some(true)`.
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
    /// Whether the atom is true at a record; never an error, see [`Atom`] for what is undefined.
    pub fn holds(&self, record: &(impl Record + ?Sized)) -> bool {
        match self {
            Self::Name(name) => record.field(name) == Some(Value::Bool(true)),
            Self::Label { kind, text } => record.label(kind, text) == Some(true),
            Self::Compare(comparison, a, b) => match (a.value(record), b.value(record)) {
                (Some(a), Some(b)) => comparison.holds(&a, &b),
                _ => false,
            },
            Self::Call(name, terms) => {
                // `defined(x)` must also hold for a list or an object. These have no value, so the record cannot be
                // asked by value.
                if let ("defined", [Term::Field(field)]) = (&**name, &**terms)
                    && record.field(field).is_none()
                {
                    return record.has(field);
                }
                let values: Option<Vec<Value<'_>>> = terms.iter().map(|t| t.value(record)).collect();
                values.and_then(|values| record.call(name, &values)) == Some(true)
            }
            Self::Quantified(quantifier, path, test) => {
                // The parser produces fields only.
                let Term::Field(name) = path else { return false };
                // An element that is an object has no value and passes no test.
                let passes = |value: &Option<Value<'_>>| value.as_ref().is_some_and(|value| test.passes(value, record));
                let values = record.values(name);
                match quantifier {
                    Quantifier::Any => values.iter().any(passes),
                    Quantifier::Every => values.iter().all(passes),
                }
            }
            // `Formulas::check_reading` admits bare fields only; outside of robustness they mean what `Name` means.
            Self::Quantity(term) => term.value(record) == Some(Value::Bool(true)),
        }
    }

    /// The terms of the atom, in the order in which they are written.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Formulas, Term};
    ///
    /// let mut formulas = Formulas::new();
    /// formulas.parse("x < @server.limit")?;
    /// let (_, atom) = formulas.atoms().next().expect("one atom");
    /// assert_eq!(atom.terms()[0], &Term::Field("x".into()));
    /// assert_eq!(atom.fields(), [(None, "x"), (Some("server"), "limit")]);
    /// # Ok::<(), tlaforge_temporal::ParseError>(())
    /// ```
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
        // Without an order every comparison is false, `!=` included.
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
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Arithmetic, Quantities, Term, Value};
    ///
    /// let record = Quantities::from_iter([("x", 2.0)]);
    /// let x = || Box::new(Term::Field("x".into()));
    /// let product = Term::Arithmetic(Arithmetic::Multiply, x(), x());
    /// assert_eq!(product.value(&record), Some(Value::Number(4.0)));
    /// assert_eq!(product.fields(), [(None, "x"), (None, "x")]);
    /// assert_eq!(Term::Field("y".into()).value(&record), None);
    /// ```
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

//! Comparisons of values as TLC makes them: values of different kinds cannot be compared, which is an error, whereas the
//! checker takes them for different.
//! Source: the classes below `tlc2/value/impl` of TLC.

use tla_mc::value::{Lazy, Value};
use tlaforge_tla::semantic::model_value_type;

/// Two values that TLC cannot compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mixed {
    pub(super) one: String,
    pub(super) other: String,
    /// Whether TLC reports it, whatever it evaluates first.
    pub(super) is_certain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Number,
    Text,
    Model,
    Set,
    Function,
}

fn kind(value: &Value) -> Kind {
    match value {
        Value::Bool(_) => Kind::Boolean,
        Value::Int(_) => Kind::Number,
        Value::Str(_) => Kind::Text,
        Value::Model(_) => Kind::Model,
        Value::Set(_) | Value::Lazy(_) => Kind::Set,
        Value::Seq(_) | Value::Func(_) => Kind::Function,
    }
}

fn is_scalar(kind: Kind) -> bool {
    matches!(kind, Kind::Boolean | Kind::Number | Kind::Text)
}

/// The type of a typed model value.
fn type_of(value: &Value) -> Option<char> {
    if kind(value) == Kind::Model { model_value_type(&value.to_string()) } else { None }
}

/// Whether a value is a function whose domain is a set of strings and not empty.
fn is_record(value: &Value) -> bool {
    matches!(value, Value::Func(function)
        if !function.keys.is_empty() && function.keys.iter().all(|key| matches!(key, Value::Str(_))))
}

/// Whether TLC cannot take a function for a record. The function without arguments is of every kind.
fn is_no_record(value: &Value) -> bool {
    match value {
        Value::Seq(elements) => !elements.is_empty(),
        Value::Func(function) => function.keys.iter().any(|key| !matches!(key, Value::Str(_))),
        _ => false,
    }
}

/// Whether a value is a function of numbers.
fn is_of_numbers(value: &Value) -> bool {
    matches!(value, Value::Seq(_))
        || matches!(value, Value::Func(function) if function.keys.iter().all(|key| matches!(key, Value::Int(_))))
}

fn mixed(one: &Value, other: &Value) -> Mixed {
    let is_certain = is_scalar(kind(one)) || is_scalar(kind(other));
    Mixed { one: one.to_string(), other: other.to_string(), is_certain }
}

fn uncertain(mixed: Mixed) -> Mixed {
    Mixed { is_certain: false, ..mixed }
}

/// Why two values were not compared.
#[derive(Debug)]
pub(super) enum NotCompared {
    Mixed(Mixed),
    /// A message of the checker, such as that a set is infinite.
    Failed(String),
}

impl From<String> for NotCompared {
    fn from(what: String) -> Self {
        Self::Failed(what)
    }
}

/// Whether two values are equal.
pub(super) fn equal(one: &Value, other: &Value) -> Result<bool, NotCompared> {
    let kinds = (kind(one), kind(other));
    match (one, other) {
        // A model value differs from every other value, but a typed one is not compared with values of another type.
        (Value::Model(_), Value::Model(_)) => match (type_of(one), type_of(other)) {
            (Some(one_type), Some(other_type)) if one_type != other_type => Err(NotCompared::Mixed(mixed(one, other))),
            _ => Ok(one == other),
        },
        _ if type_of(one).or(type_of(other)).is_some() => Err(NotCompared::Mixed(mixed(one, other))),
        _ if kinds.0 == Kind::Model || kinds.1 == Kind::Model => Ok(one == other),
        _ if kinds.0 != kinds.1 => Err(NotCompared::Mixed(mixed(one, other))),
        _ if is_scalar(kinds.0) => Ok(one == other),
        _ if is_record(one) && is_no_record(other) || is_no_record(one) && is_record(other) => {
            Err(NotCompared::Mixed(uncertain(mixed(one, other))))
        }
        (Value::Seq(ones), Value::Seq(others)) => {
            Ok(ones.len() == others.len() && all_equal(ones.iter().zip(others.iter()))?)
        }
        (Value::Func(ones), Value::Func(others)) => Ok(ones.keys.len() == others.keys.len()
            && all_equal(ones.keys.iter().zip(others.keys.iter()))?
            && all_equal(ones.vals.iter().zip(others.vals.iter()))?),
        _ if kinds.0 == Kind::Function && !(is_of_numbers(one) && is_of_numbers(other)) => {
            Err(NotCompared::Mixed(uncertain(mixed(one, other))))
        }
        _ if kinds.0 == Kind::Function => {
            let (ones, others) = (one.domain()?.elems()?, other.domain()?.elems()?);
            // A sequence and a function with another domain.
            if ones.len() == others.len() { all_equal(ones.iter().zip(others.iter())) } else { Ok(false) }
        }
        _ => {
            let (ones, others) = (one.elems()?, other.elems()?);
            if ones.len() != others.len() {
                return Ok(false);
            }
            // TLC compares in an order of its own, so any two that cannot be compared count.
            let mut is_equal = true;
            for (one, other) in ones.iter().zip(others.iter()) {
                is_equal &= equal(one, other).map_err(inner)?;
            }
            Ok(is_equal)
        }
    }
}

fn inner(why: NotCompared) -> NotCompared {
    match why {
        NotCompared::Mixed(values) => NotCompared::Mixed(uncertain(values)),
        failed @ NotCompared::Failed(_) => failed,
    }
}

fn all_equal<'v>(pairs: impl Iterator<Item = (&'v Value, &'v Value)>) -> Result<bool, NotCompared> {
    for (one, other) in pairs {
        if !equal(one, other).map_err(inner)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether all values are scalars of one kind, which can always be compared.
fn are_scalars<'v>(values: impl IntoIterator<Item = &'v Value>) -> bool {
    let mut kinds = values.into_iter().map(kind);
    kinds.next().is_none_or(|first| is_scalar(first) && kinds.all(|other| other == first))
}

/// Checks that any two of these can be compared, as the elements of a set must.
pub(super) fn check_elements(values: &[Value]) -> Result<(), NotCompared> {
    if are_scalars(values) {
        return Ok(());
    }
    for (at, one) in values.iter().enumerate() {
        for other in &values[at + 1..] {
            equal(one, other).map_err(inner)?;
        }
    }
    Ok(())
}

/// Checks that the elements of two sets can be compared.
pub(super) fn check_sets(one: &Value, other: &Value) -> Result<(), NotCompared> {
    // Elements are not compared with an infinite set, but looked up in it.
    let (Value::Set(ones), Value::Set(others)) = (one, other) else { return Ok(()) };
    if are_scalars(ones.iter().chain(others.iter())) {
        return Ok(());
    }
    for one in ones.iter() {
        for other in others.iter() {
            equal(one, other).map_err(inner)?;
        }
    }
    Ok(())
}

/// Whether a value is an element of a set.
pub(super) fn contains(set: &Value, element: &Value) -> Result<bool, NotCompared> {
    let elements = match set {
        Value::Set(elements) => elements,
        Value::Lazy(lazy) => return contains_lazily(lazy, element),
        // The checker says that it is no set.
        _ => return Ok(set.contains(element)?),
    };
    if are_scalars(elements.iter().chain([element])) {
        return Ok(set.contains(element)?);
    }
    let mut found = false;
    for one in elements.iter() {
        found |= equal(one, element).map_err(inner)?;
    }
    Ok(found)
}

fn contains_lazily(lazy: &Lazy, element: &Value) -> Result<bool, NotCompared> {
    let refused = |what: &str, is_certain: bool| {
        Err(NotCompared::Mixed(Mixed { one: element.to_string(), other: what.to_owned(), is_certain }))
    };
    let is_scalar = is_scalar(kind(element));
    let all = |set: &Value, elements: &[Value]| {
        for one in elements {
            if !contains(set, one)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    if kind(element) == Kind::Model && type_of(element).is_none() && !matches!(lazy, Lazy::Subset(_)) {
        return Ok(false);
    }
    match (lazy, element) {
        (Lazy::Nat, Value::Int(number)) => Ok(*number >= 0),
        (Lazy::Int, Value::Int(_)) | (Lazy::Strings, Value::Str(_)) => Ok(true),
        (Lazy::Nat | Lazy::Int, _) => refused("the numbers", is_scalar),
        (Lazy::Strings, _) => refused("the strings", is_scalar),
        (Lazy::Subset(set), Value::Set(_) | Value::Lazy(_)) => all(set, &element.elems()?),
        (Lazy::Subset(_), _) => refused("sets", false),
        (Lazy::SeqOf(set), Value::Seq(elements)) => all(set, elements),
        (Lazy::Product(sets), Value::Seq(elements)) => {
            if sets.len() != elements.len() {
                return Ok(false);
            }
            for (set, one) in sets.iter().zip(elements.iter()) {
                if !contains(set, one)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Lazy::FuncSet(domain, range), Value::Seq(_) | Value::Func(_)) => {
            let own = element.domain()?;
            let values: Vec<Value> = element.pairs()?.into_iter().map(|(_, value)| value).collect();
            Ok(equal(&own, domain)? && all(range, &values)?)
        }
        (Lazy::Product(_), Value::Func(_)) if is_of_numbers(element) => Ok(false),
        (Lazy::RecSet(fields), Value::Func(function)) if is_record(element) => {
            let names = fields.iter().map(|(name, _)| Value::Str(*name));
            if function.keys.len() != fields.len() || !names.eq(function.keys.iter().cloned()) {
                return Ok(false);
            }
            for ((_, set), value) in fields.iter().zip(function.vals.iter()) {
                if !contains(set, value)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Lazy::SeqOf(_) | Lazy::Product(_) | Lazy::FuncSet(..) | Lazy::RecSet(_), _) => refused("functions", false),
    }
}

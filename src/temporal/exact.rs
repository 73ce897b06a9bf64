//! Integers that no double holds: compared, and reckoned with, exactly.

use std::cmp::Ordering;
use std::fmt;

use super::atom::{Arithmetic, Literal, Number, Value};

/// Integers are exact below it.
const BOUND: u128 = 1 << 126;

/// Up to here, every integer has a double of its own.
const DENSE: f64 = 9_007_199_254_740_992.0;

#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
fn nearest(integer: i128) -> f64 {
    integer as f64
}

#[expect(clippy::cast_possible_truncation, reason = "a double of less than 2^126 without a fraction")]
fn integral(number: f64) -> Option<i128> {
    (number.fract() == 0.0 && number.abs() < nearest(1 << 126)).then_some(number as i128)
}

impl Value<'_> {
    /// An integer: a number where a double holds it, so that equal values are written alike. From 2^126 on, the nearest
    /// double.
    pub fn integer(value: i128) -> Self {
        let number = nearest(value);
        if value.unsigned_abs() < BOUND && integral(number) != Some(value) {
            return Self::Integer(value);
        }
        Self::Number(number)
    }

    /// The number, as the nearest double; `None` for what is none.
    pub fn as_double(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Integer(integer) => Some(nearest(*integer)),
            Self::Null | Self::Bool(_) | Self::Text(_) => None,
        }
    }

    fn as_integer(&self) -> Option<i128> {
        match self {
            Self::Number(number) => integral(*number),
            Self::Integer(integer) => Some(*integer),
            Self::Null | Self::Bool(_) | Self::Text(_) => None,
        }
    }

    /// How two numbers are ordered; `None` where one of them is none.
    pub(super) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Number(b)) => order(*a, *b),
            (Self::Number(a), Self::Integer(b)) => order(*b, *a).map(Ordering::reverse),
            _ => self.as_double()?.partial_cmp(&other.as_double()?),
        }
    }

    /// `-a`; `None` for what is no number.
    pub(super) fn negated(&self) -> Option<Value<'static>> {
        match self {
            Self::Number(number) => Some(Value::Number(-number)),
            Self::Integer(integer) => Some(Value::integer(-integer)),
            Self::Null | Self::Bool(_) | Self::Text(_) => None,
        }
    }
}

impl fmt::Display for Value<'_> {
    /// The value as a person writes it; integers with all their digits, texts without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            // Of a larger one, only the first digits mean something.
            Self::Number(number) if (DENSE..nearest(1 << 64)).contains(&number.abs()) => match integral(*number) {
                Some(integer) => write!(f, "{integer}"),
                None => write!(f, "{number}"),
            },
            Self::Number(number) => write!(f, "{number}"),
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// An integer beside a double, which is never equal to it.
fn order(integer: i128, number: f64) -> Option<Ordering> {
    match integral(number) {
        Some(number) => Some(integer.cmp(&number)),
        // With a fraction it is small, and otherwise it is beyond all integers.
        None => nearest(integer).partial_cmp(&number),
    }
}

impl Arithmetic {
    /// The result for two values: exact for integers whose result is one, else that of doubles. `None` where it is
    /// undefined.
    pub(super) fn of(self, a: &Value<'_>, b: &Value<'_>) -> Option<Value<'static>> {
        let rough = self.apply(a.as_double()?, b.as_double()?);
        let small = matches!((a, b), (Value::Number(_), Value::Number(_))) && rough.abs() < DENSE;
        if !small
            && let (Some(a), Some(b)) = (a.as_integer(), b.as_integer())
            && let Some(result) = self.exactly(a, b)
        {
            return Some(Value::integer(result));
        }
        // Numbers are finite, so that what is kept of a value is the value.
        rough.is_finite().then_some(Value::Number(rough))
    }

    fn exactly(self, a: i128, b: i128) -> Option<i128> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Subtract => a.checked_sub(b),
            Self::Multiply => a.checked_mul(b),
            Self::Divide => a.checked_rem(b).filter(|rest| *rest == 0).and_then(|_| a.checked_div(b)),
        }
        .filter(|result| result.unsigned_abs() < BOUND)
    }
}

impl Literal {
    /// A value to keep; `None` for not a number.
    pub fn of(value: &Value<'_>) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(value) => Self::Number(Number::new(*value)?),
            Value::Integer(value) => Self::Integer(*value),
            Value::Text(text) => Self::Text(text.as_ref().into()),
        })
    }
}

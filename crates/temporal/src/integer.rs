//! Exact comparison and arithmetic for integers that no double represents, such as 64-bit identifiers in logs.

use std::cmp::Ordering;
use std::fmt;

use super::atom::{Arithmetic, Literal, Number, Value};

/// Integers are exact below 2^126: sums and differences of two of them fit an `i128`.
const BOUND: u128 = 1 << 126;

/// 2^53: up to here, every integer is a double.
const EXACT_DOUBLES: f64 = 9_007_199_254_740_992.0;

#[expect(clippy::cast_precision_loss, reason = "the nearest double is intended")]
fn nearest_double(integer: i128) -> f64 {
    integer as f64
}

#[expect(clippy::cast_possible_truncation, reason = "a double of less than 2^126 without a fraction")]
fn exact_integer(number: f64) -> Option<i128> {
    (number.fract() == 0.0 && number.abs() < nearest_double(1 << 126)).then_some(number as i128)
}

impl Value<'_> {
    /// An integer as a value: [`Value::Number`] if a double represents it, so that each value has one representation;
    /// the nearest double from 2^126 on.
    pub fn integer(value: i128) -> Self {
        let number = nearest_double(value);
        if value.unsigned_abs() < BOUND && exact_integer(number) != Some(value) {
            return Self::Integer(value);
        }
        Self::Number(number)
    }

    /// The number as the nearest double; `None` if the value is not a number.
    pub fn as_double(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Integer(integer) => Some(nearest_double(*integer)),
            Self::Null | Self::Bool(_) | Self::Text(_) => None,
        }
    }

    fn as_integer(&self) -> Option<i128> {
        match self {
            Self::Number(number) => exact_integer(*number),
            Self::Integer(integer) => Some(*integer),
            Self::Null | Self::Bool(_) | Self::Text(_) => None,
        }
    }

    /// The order of two numbers; `None` if one of the values is not a number.
    pub(super) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Number(b)) => compare(*a, *b),
            (Self::Number(a), Self::Integer(b)) => compare(*b, *a).map(Ordering::reverse),
            _ => self.as_double()?.partial_cmp(&other.as_double()?),
        }
    }

    /// `-a`; `None` if the value is not a number.
    pub(super) fn negated(&self) -> Option<Value<'static>> {
        match self {
            Self::Number(number) => Some(Value::Number(-number)),
            Self::Integer(integer) => Some(Value::integer(-integer)),
            Self::Null | Self::Bool(_) | Self::Text(_) => None,
        }
    }
}

impl fmt::Display for Value<'_> {
    /// Integers with all their digits, texts without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            // From 2^64 on, only the first digits of a double are significant, so it prints as a double.
            Self::Number(number) if (EXACT_DOUBLES..nearest_double(1 << 64)).contains(&number.abs()) => {
                match exact_integer(*number) {
                    Some(integer) => write!(f, "{integer}"),
                    None => write!(f, "{number}"),
                }
            }
            Self::Number(number) => write!(f, "{number}"),
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Compares an integer that no double represents with a double. The two are never equal.
fn compare(integer: i128, number: f64) -> Option<Ordering> {
    match exact_integer(number) {
        Some(number) => Some(integer.cmp(&number)),
        // A double with a fraction is below 2^53, where rounding changes no order; the others are beyond 2^126.
        None => nearest_double(integer).partial_cmp(&number),
    }
}

impl Arithmetic {
    /// The result for two values: exact if operands and result are integers, else the result on doubles. `None` if it is
    /// undefined.
    pub(super) fn evaluate(self, a: &Value<'_>, b: &Value<'_>) -> Option<Value<'static>> {
        let approximate = self.apply(a.as_double()?, b.as_double()?);
        // A result on doubles below 2^53 is exact if it is an integer at all, so the slower way is not needed.
        let is_exact_in_doubles =
            matches!((a, b), (Value::Number(_), Value::Number(_))) && approximate.abs() < EXACT_DOUBLES;
        if !is_exact_in_doubles
            && let (Some(a), Some(b)) = (a.as_integer(), b.as_integer())
            && let Some(result) = self.apply_exact(a, b)
        {
            return Some(Value::integer(result));
        }
        // Values are finite, so that every value has a `Literal`.
        approximate.is_finite().then_some(Value::Number(approximate))
    }

    fn apply_exact(self, a: i128, b: i128) -> Option<i128> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Subtract => a.checked_sub(b),
            Self::Multiply => a.checked_mul(b),
            // A quotient with a rest, or by zero, is left to the doubles.
            Self::Divide => a.checked_rem(b).filter(|rest| *rest == 0).and_then(|_| a.checked_div(b)),
        }
        .filter(|result| result.unsigned_abs() < BOUND)
    }
}

impl Literal {
    /// The constant for a value; `None` for NaN and the infinities.
    pub fn from_value(value: &Value<'_>) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(value) => Self::Number(Number::new(*value)?),
            Value::Integer(value) => Self::Integer(*value),
            Value::Text(text) => Self::Text(text.as_ref().into()),
        })
    }
}

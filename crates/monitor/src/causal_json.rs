//! Vector clocks and views as JSON, the form in which messages carry them:
//! `{"vc":{"A":3},"views":{"A":{"holds":{"x = 1":true},"fields":{"v":"c1"}}}}`.
//!
//! Subformulas are keyed by their text and variables by their name, so that a stamp that was made for other guards is
//! refused with the name of what differs. An undefined variable is left out; `null` is a value.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use tlaforge_temporal::causal::{CausalError, ExportedValues, Exports, Guards, Stamp, VectorClock};
use tlaforge_temporal::{self as temporal, Literal, Number};

/// Why a stamp cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StampError {
    /// The JSON does not have the form of a stamp.
    #[error("a stamp is damaged: {0}")]
    Damaged(String),
    #[error("a stamp names an unknown lifeline `{0}`")]
    Lifeline(String),
    #[error("a stamp was made for other guards: it {what} `{name}` of `{lifeline}`")]
    OtherGuards {
        /// `lacks` or `has`.
        what: &'static str,
        /// The subformula or variable.
        name: String,
        lifeline: String,
    },
    #[error(transparent)]
    Causal(#[from] CausalError),
}

/// A clock as `{"A":3,"B":1}`; lifelines without visible events are left out.
pub fn clock_json(lifelines: &[Arc<str>], clock: &VectorClock) -> Value {
    let seen = lifelines.iter().enumerate().map(|(i, name)| (name.to_string(), clock.get(i)));
    Value::Object(seen.filter(|(_, count)| *count > 0).map(|(name, count)| (name, count.into())).collect())
}

/// Reads a clock; lifelines that it does not name have count 0.
pub fn clock_from_json(lifelines: &[Arc<str>], value: &Value) -> Result<VectorClock, StampError> {
    let counts = value.as_object().ok_or_else(|| StampError::Damaged("its clock is no object".to_owned()))?;
    let mut clock = VectorClock(vec![0; lifelines.len()]);
    for (name, count) in counts {
        let own = lifelines.iter().position(|known| **known == **name);
        let own = own.ok_or_else(|| StampError::Lifeline(name.clone()))?;
        clock.0[own] =
            count.as_u64().ok_or_else(|| StampError::Damaged(format!("its clock has no count of `{name}`")))?;
    }
    Ok(clock)
}

/// The stamp of a message: the clock and views of its sender.
pub fn stamp_json(guards: &Guards, stamp: &Stamp) -> Value {
    let mut views = Map::new();
    // A stamp may have been made before the last lifeline was added.
    for (i, (name, kept)) in stamp.lifelines().iter().zip(guards.exports()).enumerate() {
        if let Some(view) = stamp.exported(i) {
            views.insert(name.to_string(), view_json(kept, view));
        }
    }
    json!({"vc": clock_json(stamp.lifelines(), &stamp.clock()), "views": views})
}

fn view_json(kept: &Exports, view: &ExportedValues) -> Value {
    let values = kept.formulas.iter().zip(&view.values);
    let holds: Map<String, Value> = values.map(|(text, value)| (text.to_string(), (*value).into())).collect();
    let fields = kept.fields.iter().zip(&view.fields);
    let fields: Map<String, Value> =
        fields.filter_map(|(name, value)| Some((name.to_string(), literal_json(value.as_ref()?)))).collect();
    json!({"holds": holds, "fields": fields})
}

/// Reads the stamp of a message.
///
/// # Errors
/// JSON that [`stamp_json`] does not write, an unknown lifeline, and a stamp that was made for other guards.
pub fn stamp_from_json(guards: &Guards, value: &Value) -> Result<Stamp, StampError> {
    let damaged = |what: &str| StampError::Damaged(what.to_owned());
    let clock = clock_from_json(guards.lifelines(), value.get("vc").ok_or_else(|| damaged("it has no clock"))?)?;
    let written = value.get("views").and_then(Value::as_object).ok_or_else(|| damaged("it has no views"))?;
    if let Some(name) = written.keys().find(|name| guards.lifeline_index(name).is_none()) {
        return Err(StampError::Lifeline(name.clone()));
    }
    let mut views = Vec::new();
    for (i, (name, kept)) in guards.lifelines().iter().zip(guards.exports()).enumerate() {
        views.push(match written.get(&**name) {
            Some(view) => Some(view_from_json(name, kept, view)?),
            None if clock.get(i) > 0 && !kept.is_empty() => {
                let missing = kept.formulas.iter().chain(&kept.fields).next().map_or("", |text| text);
                return Err(other_guards("lacks", missing, name));
            }
            None => None,
        });
    }
    Ok(Stamp::new(guards, &clock, views)?)
}

fn other_guards(what: &'static str, name: &str, lifeline: &str) -> StampError {
    StampError::OtherGuards { what, name: name.to_owned(), lifeline: lifeline.to_owned() }
}

fn view_from_json(lifeline: &str, kept: &Exports, value: &Value) -> Result<ExportedValues, StampError> {
    let part = |name: &str| {
        let part = value.get(name).and_then(Value::as_object);
        part.ok_or_else(|| StampError::Damaged(format!("its view of `{lifeline}` has no `{name}`")))
    };
    let (holds, fields) = (part("holds")?, part("fields")?);
    let unknown = |written: &Map<String, Value>, known: &[Arc<str>]| {
        written.keys().find(|name| !known.iter().any(|k| **k == ***name)).cloned()
    };
    if let Some(name) = unknown(holds, &kept.formulas).or_else(|| unknown(fields, &kept.fields)) {
        return Err(other_guards("has", &name, lifeline));
    }
    let mut values = Vec::new();
    for text in &kept.formulas {
        let value = holds.get(&**text).ok_or_else(|| other_guards("lacks", text, lifeline))?;
        values.push(value.as_bool().ok_or_else(|| StampError::Damaged(format!("`{text}` is neither true nor false")))?);
    }
    let read = |name: &Arc<str>| fields.get(&**name).map(|value| literal(name, value)).transpose();
    let fields: Result<Vec<Option<Literal>>, StampError> = kept.fields.iter().map(read).collect();
    Ok(ExportedValues { values: values.into(), fields: fields?.into() })
}

/// A value. A number that JSON would not preserve exactly is written as its bits.
pub fn literal_json(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => (*value).into(),
        Literal::Text(text) => (**text).into(),
        Literal::Integer(integer) => match serde_json::Number::from_i128(*integer) {
            Some(number) => Value::Number(number),
            None => json!({"integer": integer.to_string()}),
        },
        Literal::Number(number) => {
            let value = Value::from(number.get());
            let read: Result<f64, _> = serde_json::from_str(&value.to_string());
            if read.is_ok_and(|read| read.to_bits() == number.get().to_bits()) {
                return value;
            }
            json!({"bits": format!("{:016x}", number.get().to_bits())})
        }
    }
}

fn literal(name: &str, value: &Value) -> Result<Literal, StampError> {
    let number = |value: f64| Number::new(value).map(Literal::Number);
    let read = match value {
        Value::Null => Some(Literal::Null),
        Value::Bool(value) => Some(Literal::Bool(*value)),
        Value::String(text) => Some(Literal::Text(text.as_str().into())),
        Value::Number(value) => match value.as_i128() {
            Some(integer) => Literal::from_value(&temporal::Value::integer(integer)),
            None => value.as_f64().and_then(number),
        },
        Value::Object(object) if object.contains_key("integer") => value["integer"]
            .as_str()
            .and_then(|text| text.parse().ok())
            .and_then(|integer| Literal::from_value(&temporal::Value::integer(integer))),
        Value::Object(_) => value["bits"]
            .as_str()
            .and_then(|bits| u64::from_str_radix(bits, 16).ok())
            .and_then(|bits| number(f64::from_bits(bits))),
        Value::Array(_) => None,
    };
    read.ok_or_else(|| StampError::Damaged(format!("`{name}` has no readable value")))
}

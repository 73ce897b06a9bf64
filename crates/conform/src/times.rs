//! When a line was written: vector clocks and times.

use std::collections::BTreeMap;

use serde_json::Value;

/// A vector clock: processes and numbers of their lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clock(pub(super) BTreeMap<String, u64>);

impl Clock {
    pub(super) fn parse(value: &Value) -> Result<Self, String> {
        let shape =
            || format!("not a vector clock, which is an object or a list of pairs of a process and a number: {value}");
        let number = |value: &Value| value.as_u64().ok_or_else(shape);
        match value {
            Value::Object(all) => {
                let entries = all.iter().map(|(process, count)| Ok((process.clone(), number(count)?)));
                Ok(Self(entries.collect::<Result<_, String>>()?))
            }
            Value::Array(all) => {
                let mut clock = BTreeMap::new();
                for pair in all {
                    let [process, count] = pair.as_array().map_or(&[][..], Vec::as_slice) else { return Err(shape()) };
                    if clock.insert(process_name(process), number(count)?).is_some() {
                        return Err(format!("the vector clock names {} twice", process_name(process)));
                    }
                }
                Ok(Self(clock))
            }
            _ => Err(shape()),
        }
    }
}

/// Start and end of a step, in nanoseconds, or in billionths of the numbers of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) start: i128,
    pub(super) end: i128,
}

impl Times {
    pub(super) fn parse(start: &Value, end: &Value) -> Result<Self, String> {
        let times = Self { start: time(start)?, end: time(end)? };
        if times.end < times.start {
            Err(format!("the step ends ({end}) before it starts ({start})"))
        } else {
            Ok(times)
        }
    }
}

fn time(value: &Value) -> Result<i128, String> {
    match value {
        Value::String(text) => {
            let parsed: Result<jiff::Timestamp, _> = text.parse();
            parsed
                .map(jiff::Timestamp::as_nanosecond)
                .map_err(|_| format!("{text:?} is not a time such as 2025-03-09T10:23:08.8Z"))
        }
        Value::Number(number) => number
            .as_i64()
            .map(|whole| i128::from(whole) * 1_000_000_000)
            .or_else(|| billionths(&number.to_string()))
            .ok_or_else(|| format!("{number} is not a time")),
        _ => Err(format!("{value} is not a time")),
    }
}

/// A decimal number in billionths: 1741515788.25.
fn billionths(text: &str) -> Option<i128> {
    let (whole, part) = text.split_once('.')?;
    let part: String = part.chars().chain("000000000".chars()).take(9).collect();
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    Some(whole.parse::<i128>().ok()?.checked_mul(1_000_000_000)? + sign * part.parse::<i128>().ok()?)
}

/// A text as it is, and anything else as JSON.
pub(super) fn process_name(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

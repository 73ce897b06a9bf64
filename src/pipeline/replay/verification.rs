//! The result of verifying a journal, and the comparison of an event with what follows.

use std::fmt::Display;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::pipeline::records::Entry;

/// A difference between what a journal says and what follows from its earlier events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Objection {
    /// The subject: `attempt`, `routing`, `guard`, `policy`, `objective`, …
    pub about: &'static str,
    /// The number of the event.
    pub event: u64,
    /// What the journal says, and what follows.
    pub text: String,
}

/// The result of verifying a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// In the order of the journal.
    pub objections: Vec<Objection>,
    /// What could not be verified, and why.
    pub unverified: Vec<String>,
}

impl Verification {
    pub(super) fn object(&mut self, about: &'static str, event: u64, text: impl Display) {
        self.objections.push(Objection { about, event, text: text.to_string() });
    }

    /// Objects to each of these fields of an event that differs from what follows.
    pub(super) fn compare(&mut self, about: &'static str, entry: &Entry, fields: &[&str], follows: &Value) {
        let data = entry.event.data();
        for field in fields {
            let mut differing = Vec::new();
            differ(&mut differing, field, &data[*field], &follows[*field]);
            let more = differing.len().saturating_sub(SHOWN);
            for (path, told, follows) in differing.into_iter().take(SHOWN) {
                let text = format!("`{path}` of {} is {told}; recomputed: {follows}", entry.event.name());
                self.object(about, entry.seq, text);
            }
            if more > 0 {
                self.object(about, entry.seq, format!("{more} further fields below `{field}` differ"));
            }
        }
    }
}

/// Maximum number of differences listed per field.
const SHOWN: usize = 4;

/// Collects the differences between two values. Absent, null and false are equal: the journal omits all three.
fn differ(all: &mut Vec<(String, String, String)>, path: &str, told: &Value, follows: &Value) {
    let nothing = |value: &Value| matches!(value, Value::Null | Value::Bool(false));
    match (told, follows) {
        (Value::Object(told), Value::Object(follows)) => {
            let names = told.keys().chain(follows.keys().filter(|name| !told.contains_key(*name)));
            for name in names {
                let of = |fields: &Map<String, Value>| fields.get(name).cloned().unwrap_or(Value::Null);
                differ(all, &format!("{path}.{name}"), &of(told), &of(follows));
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                differ(all, &format!("{path}[{at}]"), a, b);
            }
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| near(a, b)) => {}
        _ if nothing(told) && nothing(follows) => {}
        _ if told == follows => {}
        _ => all.push((path.to_owned(), short(told), short(follows))),
    }
}

/// Whether two sums are equal up to the order in which their terms were added.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// A value in one line.
pub(super) fn short(value: &Value) -> String {
    let text = if value.is_null() { "undefined".to_owned() } else { value.to_string() };
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

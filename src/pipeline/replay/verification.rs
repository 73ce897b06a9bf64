//! The result of verifying a journal, and the comparison of an event with the recomputed one.

use std::collections::BTreeSet;
use std::fmt::Display;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::pipeline::records::{Entry, RunEvent};

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

    /// Objects to each field of an event that differs from the recomputed event. The caller copies the fields that cannot
    /// be recomputed from the journaled event, so that a new field is compared unless the caller excludes it.
    pub(super) fn compare(&mut self, about: &'static str, entry: &Entry, recomputed: &RunEvent) {
        if entry.event == *recomputed {
            return;
        }
        let (journaled, recomputed) = (entry.event.data(), recomputed.data());
        let fields = [&journaled, &recomputed].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
        for field in fields.collect::<BTreeSet<_>>() {
            let mut differing = Vec::new();
            collect_differences(&mut differing, field, &journaled[field.as_str()], &recomputed[field.as_str()]);
            let more = differing.len().saturating_sub(SHOWN);
            for (path, journaled, recomputed) in differing.into_iter().take(SHOWN) {
                let text = format!("`{path}` of {} is {journaled}; recomputed: {recomputed}", entry.event.name());
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
fn collect_differences(all: &mut Vec<(String, String, String)>, path: &str, journaled: &Value, recomputed: &Value) {
    let is_omitted = |value: &Value| matches!(value, Value::Null | Value::Bool(false));
    match (journaled, recomputed) {
        (Value::Object(journaled), Value::Object(recomputed)) => {
            let names = journaled.keys().chain(recomputed.keys().filter(|name| !journaled.contains_key(*name)));
            for name in names {
                let field = |fields: &Map<String, Value>| fields.get(name).cloned().unwrap_or(Value::Null);
                collect_differences(all, &format!("{path}.{name}"), &field(journaled), &field(recomputed));
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                collect_differences(all, &format!("{path}[{at}]"), a, b);
            }
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| is_same_sum(a, b)) => {}
        _ if is_omitted(journaled) && is_omitted(recomputed) => {}
        _ if journaled == recomputed => {}
        _ => all.push((path.to_owned(), shorten(journaled), shorten(recomputed))),
    }
}

/// Whether two sums are equal up to the order in which their terms were added.
fn is_same_sum(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// A value in one line.
pub(super) fn shorten(value: &Value) -> String {
    let text = if value.is_null() { "undefined".to_owned() } else { value.to_string() };
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

//! Reading of a log that is one JSON document: a list of messages, an object that contains one, or objects over several lines.
//! The document becomes JSON lines, so that everything else reads one kind of log.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::call_search::find_calls;
use super::error::LogError;
use super::json_lines::{ScanOptions, scan_lines};
use super::log_summary::LogSummary;
use super::plan::Plan;
use super::repeated_calls::CallRegister;
use super::sighting::Sighting;
use super::states::States;
use super::surrogates::repair_surrogates;

/// Keys of lists whose elements are records.
const RECORD_LISTS: [&str; 8] =
    ["messages", "trajectory", "history", "contents", "spans", "logRecords", "output", "steps"];
/// Keys of lists whose elements contain such lists.
const WRAPPERS: [&str; 7] =
    ["samples", "resourceSpans", "scopeSpans", "instrumentationLibrarySpans", "resourceLogs", "scopeLogs", "batches"];
/// How deep lists and wrappers are taken apart.
const MAX_DEPTH: u8 = 6;

/// Whether a log that begins like this is one document. A log that has more after `beginning` is not `whole`.
pub fn is_document(beginning: &[u8], whole: bool) -> bool {
    let text = without_mark(beginning);
    if text.starts_with(b"[") {
        return true;
    }
    let (first, rest) = text.split_at(memchr::memchr(b'\n', text).unwrap_or(text.len()));
    match serde_json::from_slice::<Fields<'_>>(&repair_surrogates(first)) {
        // A line of its own, unless it is the only one.
        Ok(fields) => whole && rest.trim_ascii().is_empty() && fields.0.iter().any(|(key, value)| is_list(key, value)),
        Err(error) => error.is_eof() && text.starts_with(b"{") && !rest.trim_ascii().is_empty(),
    }
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text).trim_ascii_start()
}

fn is_list(key: &str, value: &RawValue) -> bool {
    (RECORD_LISTS.contains(&key) || WRAPPERS.contains(&key)) && value.get().starts_with('[')
}

/// The records of a document as JSON lines.
pub fn document_lines(text: &[u8]) -> Result<Vec<u8>, LogError> {
    let text = repair_surrogates(without_mark(text));
    let mut lines = Lines::default();
    let mut values = serde_json::Deserializer::from_slice(&text).into_iter::<&RawValue>();
    for value in &mut values {
        let read = value.and_then(|value| lines.split(value, MAX_DEPTH, true));
        read.map_err(|error| LogError::Line {
            line: error.line() as u64,
            message: format!("the log is one JSON value over several lines, and not valid: {error}"),
        })?;
    }
    Ok(lines.out)
}

/// Reads the records of a document. `each` gets the states of each record with its number, from 1.
pub fn scan_list(text: &[u8], plan: &Plan, each: impl FnMut(&States, u64)) -> Result<LogSummary, LogError> {
    scan_records(&document_lines(text)?, plan, each)
}

/// Reads the records of a document, which are JSON lines already.
pub fn scan_records(lines: &[u8], plan: &Plan, mut each: impl FnMut(&States, u64)) -> Result<LogSummary, LogError> {
    let options = ScanOptions { skip_invalid: false, threads: 1 };
    let fold = |part: &mut Vec<(States, u64)>, states: &States, number: u64| part.push((states.clone(), number));
    let take = |part: Vec<(States, u64)>| part.iter().for_each(|(states, number)| each(states, *number));
    let mut summary = scan_lines(&mut { lines }, plan, options, fold, take).map_err(LogError::of_list)?;
    summary.places.is_list = true;
    Ok(summary)
}

#[derive(Default)]
struct Lines {
    out: Vec<u8>,
    /// The calls of the lines, to see which of the rest of a document are further ones.
    calls: CallRegister,
}

impl Lines {
    /// Adds the records of a value; `is_outer` if it is not an element of a list of records.
    fn split(&mut self, value: &RawValue, depth: u8, is_outer: bool) -> Result<(), serde_json::Error> {
        let text = value.get();
        if text.starts_with('[') && depth > 0 {
            let elements: Vec<&RawValue> = serde_json::from_str(text)?;
            return elements.into_iter().try_for_each(|element| self.split(element, depth - 1, is_outer));
        }
        if !(text.starts_with('{') && is_outer && depth > 0) {
            self.add(text);
            return Ok(());
        }
        let Fields(fields) = serde_json::from_str(text)?;
        let has = |wanted: &str| fields.iter().any(|(key, value)| key == wanted && value.get().starts_with("[{"));
        // A list of messages that the steps were made with repeats them.
        let repeats = |key: &str| key == "history" && has("trajectory");
        // A plain record may have such a key as well.
        let is_message =
            fields.iter().any(|(key, _)| matches!(key.as_str(), "role" | "choices" | "candidates" | "action"));
        let (lists, rest): (Vec<_>, Vec<_>) =
            fields.iter().partition(|(key, value)| !is_message && is_list(key, value) && !repeats(key));
        if lists.is_empty() {
            self.add(text);
            return Ok(());
        }
        for (key, list) in lists {
            self.split(list, depth - 1, WRAPPERS.contains(&key.as_str()))?;
        }
        self.add_rest(&rest)
    }

    /// Adds what a document has besides its lists, if it has calls that the lists do not have.
    fn add_rest(&mut self, rest: &[&(String, &RawValue)]) -> Result<(), serde_json::Error> {
        let fields: Vec<String> = rest
            .iter()
            .map(|(key, value)| Ok(format!("{}:{}", serde_json::to_string(key)?, value.get())))
            .collect::<Result<_, serde_json::Error>>()?;
        let text = format!("{{{}}}", fields.join(","));
        if self.register(&text) {
            self.add(&text);
        }
        Ok(())
    }

    /// Notes the calls of a record; returns whether it has a new one.
    fn register(&mut self, text: &str) -> bool {
        let value = serde_json::from_str(text).unwrap_or_default();
        let sightings: Vec<Sighting> = find_calls(&value).iter().map(|call| Sighting::new(call, None)).collect();
        let sightings: Vec<Sighting> = (0..).zip(sightings).map(|(number, one)| one.numbered(0, number)).collect();
        self.calls.add(&sightings, &mut LogSummary::default()).len() < sightings.len()
    }

    fn add(&mut self, text: &str) {
        let start = self.out.len();
        if text.starts_with('{') {
            self.out.extend_from_slice(text.as_bytes());
            self.register(text);
        } else {
            self.out.extend_from_slice(format!("{{\"value\":{text}}}").as_bytes());
        }
        // Between the parts of a value, an end of line is a space; within a text it cannot occur.
        self.out[start..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        self.out.push(b'\n');
    }
}

/// The fields of an object, each with the text of its value.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

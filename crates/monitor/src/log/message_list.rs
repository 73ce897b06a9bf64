//! Reading of a log that is one JSON document: a list of messages.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::error::LogError;
use super::log_summary::LogSummary;
use super::plan::Plan;
use super::states::States;

/// Reads a list of messages: an array, or an object with one under `messages`. `each` gets the states of each message
/// with its number, from 1.
pub fn scan_list(text: &[u8], plan: &Plan, mut each: impl FnMut(&States, u64)) -> Result<LogSummary, LogError> {
    let mut summary = LogSummary::new(plan.names().len());
    summary.places.is_list = true;
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let mut message_error = None;
    let list = ListVisitor { plan, summary: &mut summary, each: &mut each, message_error: &mut message_error };
    let read = list.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    if let Some(error) = message_error {
        return Err(error);
    }
    read.map_err(|error| LogError::Line {
        line: error.line() as u64,
        message: format!("not a list of messages: {error}"),
    })?;
    Ok(summary)
}

struct ListVisitor<'a, F> {
    plan: &'a Plan,
    summary: &'a mut LogSummary,
    each: &'a mut F,
    /// The error of a message that is valid JSON; serde's own error type would lose it.
    message_error: &'a mut Option<LogError>,
}

impl<'de, F: FnMut(&States, u64)> DeserializeSeed<'de> for ListVisitor<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(&States, u64)> Visitor<'de> for ListVisitor<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of messages, or an object with `messages`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut states = self.plan.new_states();
        while let Some(read) = self.plan.read_element(&mut list, &mut states)? {
            self.summary.records += 1;
            match read {
                Ok(true) => {
                    self.summary.add(&states, self.summary.records);
                    (self.each)(&states, self.summary.records);
                }
                Ok(false) => {}
                Err(error) => {
                    let place = format!("message {}", self.summary.records);
                    *self.message_error = Some(LogError::List { place, message: error.to_string() });
                    return Err(serde::de::Error::custom(error));
                }
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { plan, summary, each, message_error } = self;
        let mut found = false;
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if key == "messages" && !found {
                found = true;
                map.next_value_seed(ListVisitor {
                    plan,
                    summary: &mut *summary,
                    each: &mut *each,
                    message_error: &mut *message_error,
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if found { Ok(()) } else { Err(serde::de::Error::custom("the object has no `messages`")) }
    }
}

//! Reduces a call in a record to hashes, so that equal calls of a log are recognized without keeping their records.

use std::hash::Hash as _;

use serde::de::DeserializeSeed as _;
use serde_json::Value;

use super::call_form::Certainty;
use super::call_search::FoundCall;
use super::simple_calls::SimpleCall;
use super::value_hash::{ValueHash, hash};

/// A call in a record, reduced to what tells it from others.
#[derive(Debug, Clone)]
pub(super) struct Sighting {
    pub(super) line: u64,
    /// The number of the call among those that were read of its record; `None` if it was not read.
    pub(super) number: Option<usize>,
    /// A hash of its identifier.
    pub(super) id: Option<u64>,
    /// A hash of its name.
    pub(super) name: u64,
    /// A hash of its name and arguments.
    pub(super) content: u64,
    pub(super) has_arguments: bool,
    pub(super) is_history: bool,
    /// Whether it only may be a call, or may have more than was read of it.
    pub(super) is_doubtful: bool,
    pub(super) is_named: bool,
    /// The JSON path of a call that was not read.
    pub(super) place: Option<String>,
}

impl Sighting {
    /// The sighting of a call. `record_id` stands for the identifier of a call that has none.
    pub(super) fn new(call: &FoundCall, record_id: Option<&str>) -> Self {
        let id = match (&call.id, record_id) {
            (Some(id), _) => Some(hash(|state| id.hash(state))),
            (None, Some(record)) => Some(hash(|state| (record, &call.place).hash(state))),
            (None, None) => None,
        };
        let name = hash(|state| call.name.hash(state));
        let content = hash_of_content(name, call.arguments.as_ref().map(hash_of_value));
        let has_arguments = call.arguments.is_some();
        let is_doubtful = call.certainty == Certainty::Possible;
        let is_history = call.is_history;
        Self {
            line: 0,
            number: None,
            id,
            name,
            content,
            has_arguments,
            is_history,
            is_doubtful,
            is_named: !call.name.is_empty(),
            place: None,
        }
    }

    /// The sighting of a call that was read without keeping its record; it is the same as that of the call itself.
    pub(super) fn of_simple(call: &SimpleCall<'_>, number: usize) -> Self {
        let (name, id) = (hash(|state| call.name.hash(state)), hash(|state| call.id.hash(state)));
        let content = hash_of_content(name, Some(call.arguments));
        let (id, number) = (Some(id), Some(number));
        let (is_history, is_doubtful, is_named) = (false, false, true);
        Self { line: 0, number, id, name, content, has_arguments: true, is_history, is_doubtful, is_named, place: None }
    }

    /// This sighting, of the call with this number that was read at a line.
    pub(super) fn numbered(self, line: u64, number: usize) -> Self {
        Self { line, number: Some(number), ..self }
    }

    /// This sighting, of a call at a JSON path that was not read.
    pub(super) fn unread(self, place: String) -> Self {
        Self { place: Some(place), ..self }
    }

    /// A call that only counts if no earlier record has it.
    pub(super) fn into_history(self) -> Self {
        Self { is_history: true, ..self }
    }
}

/// The hash of a name and of the hash of arguments.
fn hash_of_content(name: u64, arguments: Option<u64>) -> u64 {
    hash(|state| (name, arguments).hash(state))
}

fn hash_of_value(value: &Value) -> u64 {
    ValueHash::default().deserialize(value).expect("hashing a value cannot fail")
}

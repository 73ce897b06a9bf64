//! Recognizes calls that a log holds more than once: transcripts write a record again, requests repeat all earlier messages,
//! and partial records precede the whole one. Such a call counts once.

use std::collections::{HashMap, HashSet};
use std::hash::Hash as _;

use serde::de::DeserializeSeed as _;
use serde_json::Value;

use super::call_search::FoundCall;
use super::log_summary::LogSummary;
use super::simple_calls::SimpleCall;
use super::value_hash::{ValueHash, hash};

/// A call in a record, reduced to what tells it from others.
#[derive(Debug, Clone)]
pub(super) struct Sighting {
    pub(super) line: u64,
    /// The number of the call among those that were read of its record; `None` if it was not read.
    pub(super) number: Option<usize>,
    /// A hash of its identifier.
    id: Option<u64>,
    /// A hash of its name.
    name: u64,
    /// A hash of its name and arguments.
    content: u64,
    has_arguments: bool,
    is_history: bool,
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
        Self { line: 0, number: None, id, name, content, has_arguments, is_history: call.is_history, place: None }
    }

    /// The sighting of a call that was read without keeping its record; it is the same as that of the call itself.
    pub(super) fn of_simple(call: &SimpleCall<'_>, number: usize) -> Self {
        let (name, id) = (hash(|state| call.name.hash(state)), hash(|state| call.id.hash(state)));
        let content = hash_of_content(name, Some(call.arguments));
        let (id, number) = (Some(id), Some(number));
        Self { line: 0, number, id, name, content, has_arguments: true, is_history: false, place: None }
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
    pub(super) fn as_history(self) -> Self {
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

/// An earlier call with the same identifier.
#[derive(Debug, Clone, Copy)]
struct EarlierCall {
    name: u64,
    content: u64,
    has_arguments: bool,
}

/// The calls of the log so far.
#[derive(Debug, Clone, Default)]
pub(super) struct CallRegister {
    by_id: HashMap<u64, Vec<EarlierCall>>,
    contents: HashSet<u64>,
}

impl CallRegister {
    /// Adds the calls of some records, in order; returns those that repeat an earlier one, by line and number, and notes in
    /// `summary` the calls that were not read.
    pub(super) fn add(&mut self, sightings: &[Sighting], summary: &mut LogSummary) -> Vec<(u64, usize)> {
        let mut repeated = Vec::new();
        for sighting in sightings {
            let is_repeated = self.is_repeated(sighting, summary);
            // The history of a request repeats what was read; two equal calls that were not read are two.
            if sighting.number.is_some() {
                self.contents.insert(sighting.content);
            }
            match (is_repeated, sighting.number, &sighting.place) {
                (true, Some(number), _) => {
                    summary.repeated_calls += 1;
                    repeated.push((sighting.line, number));
                }
                (false, None, Some(place)) => summary.missed_calls.add(sighting.line, place),
                _ => {}
            }
        }
        repeated
    }

    fn is_repeated(&mut self, sighting: &Sighting, summary: &mut LogSummary) -> bool {
        let Some(id) = sighting.id else { return sighting.is_history && self.contents.contains(&sighting.content) };
        let Sighting { name, content, has_arguments, .. } = *sighting;
        let seen = self.by_id.entry(id).or_default();
        // A record without arguments, such as the span of a tool, repeats one that has them, but not the other way round.
        if seen.iter().any(|known| known.content == content || known.name == name && !has_arguments) {
            return true;
        }
        if seen.iter().any(|known| known.has_arguments || known.name != name) {
            summary.conflicting_calls.get_or_insert(sighting.line);
        }
        seen.push(EarlierCall { name, content, has_arguments });
        false
    }
}

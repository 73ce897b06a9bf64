//! One line of the journal: what every event has, whatever its type.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, forward_to_deserialize_any};
use serde_json::value::RawValue;

use super::checksum::BEGINNING;

/// Gives the current time as RFC 3339 in UTC. Injected, so that nothing below the command line reads a clock.
pub type Clock = Arc<dyn Fn() -> String + Send + Sync>;

/// A vector clock: how many events of each lifeline an event could know of, itself included.
pub type VectorClock = BTreeMap<String, u64>;

/// A type of events that a journal can hold: an enum that serde tags with `name` and whose content is `data`.
pub trait Event: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {}

impl<E: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> Event for E {}

/// What an event is to its lifeline, in the words of message sequence charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A local action.
    Act,
    /// A message leaves.
    Send,
    /// A message arrives.
    Recv,
    /// The lifeline decides.
    Choice,
}

/// What an event could know of when it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Past {
    /// Its own lifeline's events, and what those knew of.
    Lifeline,
    /// All events of the journal so far, except those of numbered lifelines ([`is_apart`]) whose messages nobody has
    /// received yet.
    Journal,
    /// Its own lifeline's events, and those of one more, whose message it receives.
    Received(String),
}

/// Whether a lifeline is one of several that work side by side. They are named like their node with a number
/// (`formalize_2`), and the others learn what they did only from their messages.
pub fn is_apart(lifeline: &str) -> bool {
    lifeline
        .rsplit_once('_')
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// An event as the caller writes it; the journal adds number, time and clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Record<E> {
    /// The lifeline that the event belongs to.
    pub lifeline: String,
    /// What it is to the lifeline.
    pub kind: Kind,
    /// The revision that it belongs to.
    pub rev: u32,
    /// The attempt that it belongs to, from 1; 0 if it belongs to none.
    pub attempt: u32,
    /// What it could know of.
    pub past: Past,
    /// The event.
    pub event: E,
}

impl<E> Record<E> {
    /// The same record, following from the run as a whole: what the driver does, and the attempts that it begins.
    #[must_use]
    pub fn after_all(mut self) -> Self {
        self.past = Past::Journal;
        self
    }

    /// The same record, receiving the latest message of another lifeline.
    #[must_use]
    pub fn received_from(mut self, lifeline: &str) -> Self {
        self.past = Past::Received(lifeline.to_owned());
        self
    }
}

/// A durable event with its envelope.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Entry<E> {
    /// Version of the format.
    pub v: u32,
    /// Number in the journal, from 1, without gaps.
    pub seq: u64,
    /// When it was written.
    pub at: String,
    /// The lifeline that the event belongs to.
    pub lifeline: String,
    /// What it is to the lifeline.
    pub kind: Kind,
    /// The revision that it belongs to.
    pub rev: u32,
    /// The attempt that it belongs to, from 1; 0 if it belongs to none.
    pub attempt: u32,
    /// How many events of the same group follow; a group is durable as a whole or not at all.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u32,
    /// Its vector clock.
    pub vc: VectorClock,
    /// The event: its `name` and `data`.
    #[serde(flatten)]
    pub event: E,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// An entry as it is read, before its event is: the version decides whether that can be understood.
#[derive(Deserialize)]
struct Envelope<'a> {
    v: u32,
    seq: u64,
    at: String,
    lifeline: String,
    kind: Kind,
    #[serde(borrow)]
    name: Cow<'a, str>,
    rev: u32,
    attempt: u32,
    #[serde(default)]
    more: u32,
    vc: VectorClock,
    #[serde(borrow)]
    data: &'a RawValue,
}

#[derive(Deserialize)]
struct Version {
    v: u32,
}

/// The format of the lines that are written, and the only one that is read. Format 3 has typed events; the formats 1 and
/// 2 were those of tlaforge 0.1.
pub(super) const FORMAT: u32 = 3;
/// The last format of tlaforge 0.1.
const LAST_OF_0_1: u32 = 2;

/// Why a line of this format version is not read; `None` for the version that is.
pub(super) fn wrong_version(v: u32) -> Option<String> {
    let this = env!("CARGO_PKG_VERSION");
    match v {
        FORMAT => None,
        1..=LAST_OF_0_1 => Some(format!(
            "its format is version {v}, which tlaforge 0.1 reads; this is tlaforge {this}, which reads version {FORMAT}"
        )),
        _ => Some(format!(
            "its format is version {v}, which a newer tlaforge wrote; this is tlaforge {this}, which reads version \
             {FORMAT}"
        )),
    }
}

/// Why a line is not read.
pub(super) enum Unreadable {
    /// Another version of tlaforge wrote it.
    Version(String),
    /// It is not JSON, or a field is missing or of another type.
    Damaged(String),
}

/// The same of a line that begins as every format's lines do.
pub fn wrong_version_of(line: &[u8]) -> Option<String> {
    let digits = line.strip_prefix(BEGINNING)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok().and_then(wrong_version)
}

impl<E: Event> Entry<E> {
    /// Reads a line.
    pub(super) fn read(line: &[u8]) -> Result<Self, Unreadable> {
        let damaged = |e: serde_json::Error| Unreadable::Damaged(e.to_string());
        let envelope = serde_json::from_slice::<Envelope<'_>>(line);
        // Another version may have other fields, so its number is what counts.
        let v = match &envelope {
            Ok(envelope) => envelope.v,
            Err(_) => serde_json::from_slice::<Version>(line).map_err(damaged)?.v,
        };
        if let Some(why) = wrong_version(v) {
            return Err(Unreadable::Version(why));
        }
        let Envelope { v, seq, at, lifeline, kind, name, rev, attempt, more, vc, data } = envelope.map_err(damaged)?;
        let event = E::deserialize(Tagged { name: &name, data, part: Part::Name })
            .map_err(|e| Unreadable::Damaged(format!("{name} cannot be understood: {e}")))?;
        Ok(Self { v, seq, at, lifeline, kind, rev, attempt, more, vc, event })
    }
}

/// Presents a name and its data to the deserializer that serde derives for `#[serde(tag = "name", content = "data")]`.
/// With the name first, serde reads the data without keeping a copy of it, which `#[serde(flatten)]` would.
struct Tagged<'n, 'de> {
    name: &'n str,
    data: &'de RawValue,
    part: Part,
}

enum Part {
    Name,
    Data,
    End,
}

impl<'de> Deserializer<'de> for Tagged<'_, 'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Tagged<'_, 'de> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Self::Error> {
        let key = match self.part {
            Part::Name => "name",
            Part::Data => "data",
            Part::End => return Ok(None),
        };
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        match std::mem::replace(&mut self.part, Part::End) {
            Part::Name => {
                self.part = Part::Data;
                seed.deserialize(StrDeserializer::new(self.name))
            }
            Part::Data | Part::End => seed.deserialize(self.data),
        }
    }
}

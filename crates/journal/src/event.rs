//! One line of the journal: the envelope that every event has, independent of the event type.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, forward_to_deserialize_any};
use serde_json::value::RawValue;

use super::format::wrong_version;

/// Returns the current time as RFC 3339 in UTC. It is injected, so that only the command line reads the clock.
pub type Clock = Arc<dyn Fn() -> String + Send + Sync>;

/// A vector clock: the number of events of each lifeline in the causal past of an event, including itself.
pub type VectorClock = BTreeMap<String, u64>;

/// An event type of a journal: an enum that serde tags with `name` and whose content is `data`.
pub trait Event: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {}

impl<E: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> Event for E {}

/// The kind of an event, in the terms of message sequence charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A local action.
    Act,
    /// The lifeline sends a message.
    Send,
    /// The lifeline receives a message.
    Recv,
    /// The lifeline makes a decision.
    Choice,
}

/// The causal past of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Past {
    /// The events of its own lifeline, and their causal past.
    Lifeline,
    /// All events of the journal so far, except those of numbered lifelines ([`is_parallel_lifeline`]) whose messages were not received
    /// yet.
    Journal,
    /// The events of its own lifeline, and those of one other lifeline whose message it receives.
    Received(String),
}

/// Whether a lifeline is one of several that work in parallel. Their names are the node's name with a number
/// (`formalize_2`). Other lifelines learn about their events only through messages.
pub fn is_parallel_lifeline(lifeline: &str) -> bool {
    lifeline
        .rsplit_once('_')
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a text can be the name of a lifeline. Names are shown, and some of them are in the names of files.
pub(crate) fn is_lifeline_name(name: &str) -> bool {
    (1..=100).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// An event as the caller writes it. The journal adds number, time and vector clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Record<E> {
    /// The lifeline that the event belongs to.
    pub lifeline: String,
    pub kind: Kind,
    /// The revision that it belongs to.
    pub rev: u32,
    /// The attempt that it belongs to, from 1; 0 if it belongs to none.
    pub attempt: u32,
    pub past: Past,
    pub event: E,
}

impl<E> Record<E> {
    /// The same record with the whole journal as its past, for the driver's actions and the attempts that it begins.
    #[must_use]
    pub fn with_journal_past(mut self) -> Self {
        self.past = Past::Journal;
        self
    }

    /// The same record, as the receipt of the latest message of another lifeline.
    #[must_use]
    pub fn received_from(mut self, lifeline: &str) -> Self {
        self.past = Past::Received(lifeline.to_owned());
        self
    }
}

/// A durable event with its envelope.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Entry<E> {
    /// Format version.
    pub v: u32,
    /// Number in the journal, from 1, without gaps.
    pub seq: u64,
    /// Time of writing, RFC 3339 in UTC.
    pub at: String,
    /// The lifeline that the event belongs to.
    pub lifeline: String,
    pub kind: Kind,
    /// The revision that it belongs to.
    pub rev: u32,
    /// The attempt that it belongs to, from 1; 0 if it belongs to none.
    pub attempt: u32,
    /// Number of further events in the same group. A group is durable as a whole or not at all.
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

/// An entry whose event is not parsed yet, because the version decides whether it can be.
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

/// A line that cannot be read.
pub(super) enum Unreadable {
    /// Another version of tlaforge wrote it.
    Version(String),
    /// It is not JSON, or a field is missing or has the wrong type.
    Damaged(String),
}

impl<E: Event> Entry<E> {
    /// Parses a line of the current format version.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Unreadable> {
        let damaged = |e: serde_json::Error| Unreadable::Damaged(e.to_string());
        let envelope = serde_json::from_slice::<Envelope<'_>>(line);
        // Other versions can have other fields, so the version is checked before the rest.
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

//! One line of the journal.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Gives the current time as RFC 3339 in UTC. Injected, so that nothing below the command line reads a clock.
pub type Clock = Arc<dyn Fn() -> String + Send + Sync>;

/// What an event is to its lifeline, in the words of message sequence charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// All that the journal holds: it follows from the run as a whole. What a line apart ([`is_apart`]) did is not among
    /// it before somebody received it.
    Journal,
    /// Its own lifeline's events, and those of one more, whose message it receives.
    Received(String),
}

/// Whether a lifeline stands apart: one of several that work side by side, named like their station with a number
/// (`formalize_2`). The others learn what it did by its messages alone.
pub fn is_apart(lifeline: &str) -> bool {
    lifeline
        .rsplit_once('_')
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// What the caller writes; the journal adds number, time and clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Whose event it is.
    pub lifeline: String,
    /// What it is to the lifeline.
    pub kind: Kind,
    /// Its name.
    pub name: &'static str,
    /// The revision it belongs to.
    pub rev: u32,
    /// The attempt it belongs to, from 1; 0 where there is none.
    pub attempt: u32,
    /// What it could know of.
    pub past: Past,
    /// All else.
    pub data: Value,
}

impl Record {
    /// The same, as following from the run as a whole: what the driver does, and an attempt that it begins.
    #[must_use]
    pub fn after_all(mut self) -> Self {
        self.past = Past::Journal;
        self
    }

    /// The same, as receiving what another lifeline did last.
    #[must_use]
    pub fn received_from(mut self, lifeline: &str) -> Self {
        self.past = Past::Received(lifeline.to_owned());
        self
    }
}

/// A durable event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Version of the format.
    pub v: u32,
    /// Number in the journal, from 1, without gaps.
    pub seq: u64,
    /// When it was written.
    pub at: String,
    /// Whose event it is.
    pub lifeline: String,
    /// What it is to the lifeline.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The revision it belongs to.
    pub rev: u32,
    /// The attempt it belongs to, from 1; 0 where there is none.
    pub attempt: u32,
    /// How many events of the same group follow; a group is durable as a whole or not at all.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u32,
    /// Vector clock: how many events of each lifeline this one could know of, itself included. Journals from before there
    /// were clocks have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vc: Option<Value>,
    /// All else.
    pub data: Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

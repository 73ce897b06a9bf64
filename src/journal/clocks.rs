//! Vector clocks of the events: how many events of each lifeline an event could know of, itself included.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::event::{Event, Past, Record, is_apart};

type Counts = BTreeMap<String, u64>;

/// The clock of each lifeline's latest event.
#[derive(Debug, Clone, Default)]
pub(super) struct Clocks(BTreeMap<String, Counts>);

impl Clocks {
    /// As a journal left them. An event from before there were clocks has seen all that stands before it: such a journal
    /// was written by one thing after another.
    ///
    /// # Errors
    /// The place of an event, from 0, whose clock cannot be read.
    pub(super) fn of(events: &[Event]) -> Result<Self, usize> {
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        for (i, event) in events.iter().enumerate() {
            match last.get_mut(event.lifeline.as_str()) {
                Some(at) => *at = i,
                None => _ = last.insert(&event.lifeline, i),
            }
        }
        let clock = |(name, at): (&str, usize)| {
            let counts = match &events[at].vc {
                Some(vc) => read(vc).filter(|counts| counts.contains_key(name)).ok_or(at)?,
                None => counted(&events[..=at]),
            };
            Ok((name.to_owned(), counts))
        };
        Ok(Self(last.into_iter().map(clock).collect::<Result<_, usize>>()?))
    }

    /// The clock of the next event.
    pub(super) fn tick(&mut self, record: &Record) -> Value {
        let mut counts = self.0.remove(&record.lifeline).unwrap_or_default();
        let seen = |lifeline: &str| match &record.past {
            Past::Lifeline => false,
            Past::Journal => !is_apart(lifeline),
            Past::Received(from) => from == lifeline,
        };
        for (name, count) in self.0.iter().filter(|(lifeline, _)| seen(lifeline)).flat_map(|(_, counts)| counts) {
            match counts.get_mut(name) {
                Some(known) => *known = (*known).max(*count),
                None => _ = counts.insert(name.clone(), *count),
            }
        }
        *counts.entry(record.lifeline.clone()).or_default() += 1;
        let clock = json!(counts);
        self.0.insert(record.lifeline.clone(), counts);
        clock
    }
}

fn read(vc: &Value) -> Option<Counts> {
    vc.as_object()?.iter().map(|(name, count)| Some((name.clone(), count.as_u64()?))).collect()
}

fn counted(events: &[Event]) -> Counts {
    let mut counts = Counts::new();
    for event in events {
        *counts.entry(event.lifeline.clone()).or_default() += 1;
    }
    counts
}

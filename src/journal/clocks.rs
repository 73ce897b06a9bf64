//! Vector clocks of the events: how many events of each lifeline an event could know of, itself included.

use std::collections::BTreeMap;

use super::event::{Entry, Past, Record, VectorClock, is_apart};

/// The clock of each lifeline's latest event.
#[derive(Debug, Clone, Default)]
pub(super) struct Clocks(BTreeMap<String, VectorClock>);

impl Clocks {
    /// The clocks after these events.
    ///
    /// # Errors
    /// The place of an event, from 0, whose clock does not count its own lifeline.
    pub(super) fn of<E>(entries: &[Entry<E>]) -> Result<Self, usize> {
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        for (i, entry) in entries.iter().enumerate() {
            match last.get_mut(entry.lifeline.as_str()) {
                Some(at) => *at = i,
                None => _ = last.insert(&entry.lifeline, i),
            }
        }
        let clock = |(name, at): (&str, usize)| {
            let counts = &entries[at].vc;
            if counts.contains_key(name) { Ok((name.to_owned(), counts.clone())) } else { Err(at) }
        };
        Ok(Self(last.into_iter().map(clock).collect::<Result<_, usize>>()?))
    }

    /// The clock of the next event.
    pub(super) fn tick<E>(&mut self, record: &Record<E>) -> VectorClock {
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
        self.0.insert(record.lifeline.clone(), counts.clone());
        counts
    }
}

//! Computes the vector clocks of events.

use std::collections::BTreeMap;

use super::event::{Entry, Past, Record, VectorClock, is_parallel_lifeline};

/// The clock of each lifeline's latest event.
#[derive(Debug, Clone, Default)]
pub(super) struct Clocks(BTreeMap<String, VectorClock>);

impl Clocks {
    /// The clocks after these events.
    ///
    /// # Errors
    /// The index of an event, from 0, whose clock does not count its own lifeline.
    pub(super) fn read<E>(entries: &[Entry<E>]) -> Result<Self, usize> {
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        for (i, entry) in entries.iter().enumerate() {
            match last.get_mut(entry.lifeline.as_str()) {
                Some(index) => *index = i,
                None => _ = last.insert(&entry.lifeline, i),
            }
        }
        let clock = |(name, index): (&str, usize)| {
            let counts = &entries[index].vc;
            if counts.contains_key(name) { Ok((name.to_owned(), counts.clone())) } else { Err(index) }
        };
        Ok(Self(last.into_iter().map(clock).collect::<Result<_, usize>>()?))
    }

    /// The clock of the next event. It becomes the latest clock of its lifeline.
    pub(super) fn tick<E>(&mut self, record: &Record<E>) -> VectorClock {
        let mut counts = self.0.remove(&record.lifeline).unwrap_or_default();
        let is_in_past = |lifeline: &str| match &record.past {
            Past::Lifeline => false,
            // Numbered lifelines work side by side: which of their events come first in the file depends on the
            // machine.
            Past::Journal => !is_parallel_lifeline(lifeline),
            Past::Received(from) => from == lifeline,
        };
        for (name, count) in self.0.iter().filter(|(lifeline, _)| is_in_past(lifeline)).flat_map(|(_, counts)| counts) {
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

//! Recognizes calls that a log holds more than once: transcripts write a record again, requests repeat all earlier messages,
//! and partial records precede the whole one. Such a call counts once.

use std::collections::{HashMap, HashSet};

use super::log_summary::LogSummary;
use super::sighting::Sighting;
use super::streamed_calls::STREAMED_KEY;

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
                (false, None, Some(place)) => summary.missed_calls.add(sighting.line, place, sighting.is_named),
                _ => {}
            }
        }
        repeated
    }

    fn is_repeated(&mut self, sighting: &Sighting, summary: &mut LogSummary) -> bool {
        let Some(id) = sighting.id else { return sighting.is_history && self.contents.contains(&sighting.content) };
        let Sighting { name, content, has_arguments, is_doubtful, .. } = *sighting;
        let is_streamed = sighting.place.as_deref().is_some_and(|place| place.starts_with(STREAMED_KEY));
        let seen = self.by_id.entry(id).or_default();
        // A record without arguments, such as the span of a tool, repeats one that has them, but not the other way round.
        // Of a stream, an entry that was not read says only that a call lacks its arguments.
        let is_incomplete = |known: &EarlierCall| {
            !has_arguments && (known.name == name && !is_doubtful || known.has_arguments && is_streamed)
        };
        if seen.iter().any(|known| known.content == content || is_incomplete(known)) {
            return true;
        }
        if seen.iter().any(|known| known.has_arguments || known.name != name) {
            summary.conflicting_calls.get_or_insert(sighting.line);
        }
        seen.push(EarlierCall { name, content, has_arguments });
        false
    }
}

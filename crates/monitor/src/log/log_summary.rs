//! What a scan of a log finds out besides its states.

use std::collections::BTreeSet;

use super::states::States;
use super::step::{OBSERVATIONS, Step};

/// Number of invalid lines that are reported one by one.
pub(super) const INVALID_SHOWN: usize = 10;

/// Which line, or which message of a list, each state came from.
#[derive(Debug, Clone, Default)]
pub struct StatePlaces {
    states: u64,
    /// (state, line) at each state whose line is not one after the line of the state before; most logs have a single
    /// entry.
    jumps: Vec<(u64, u64)>,
    pub(super) is_list: bool,
}

impl StatePlaces {
    fn push(&mut self, number: u64) {
        if self.number(self.states) != Some(number) {
            self.jumps.push((self.states, number));
        }
        self.states += 1;
    }

    fn append(&mut self, other: &Self) {
        for (state, number) in &other.jumps {
            let at = self.states + state;
            if self.number(at) != Some(*number) {
                self.jumps.push((at, *number));
            }
        }
        self.states += other.states;
    }

    /// How many states there are.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// The line of a state, from 1; states count from 0. `None` for the messages of a list.
    pub fn line(&self, state: u64) -> Option<u64> {
        self.number(state).filter(|_| !self.is_list)
    }

    /// Whether the records are the messages of a list, which have no lines.
    pub fn is_list(&self) -> bool {
        self.is_list
    }

    /// The line of a state or, in a list, the number of its message, from 1.
    pub fn number(&self, state: u64) -> Option<u64> {
        let before = self.jumps.partition_point(|(from, _)| *from <= state);
        let (from, number) = self.jumps.get(before.checked_sub(1)?)?;
        Some(number + (state - from))
    }
}

/// Records with tool calls in places where the shape of their log has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissedCalls {
    pub records: u64,
    /// The line or message of the first such record.
    pub first: Option<u64>,
    /// The paths of these calls.
    pub paths: BTreeSet<String>,
}

impl MissedCalls {
    pub(super) fn add(&mut self, place: u64, paths: BTreeSet<String>) {
        self.records += 1;
        self.first = Some(self.first.map_or(place, |first| first.min(place)));
        self.paths.extend(paths);
    }

    fn append(&mut self, other: Self) {
        self.records += other.records;
        self.first = self.first.or(other.first);
        self.paths.extend(other.paths);
    }
}

/// What a scan of a log found out besides its states.
#[derive(Debug, Clone, Default)]
pub struct LogSummary {
    /// Lines, or messages of a list.
    pub records: u64,
    pub places: StatePlaces,
    /// The first invalid lines, at most ten, each with the reason.
    pub invalid: Vec<(u64, String)>,
    pub invalid_count: u64,
    /// The last line, if it is incomplete.
    pub torn: Option<u64>,
    observed: [bool; 3],
    /// For each field of the plan, whether any state has it.
    pub defined: Vec<bool>,
    /// For each field of the plan, whether any state has a value of it, which a list or an object is not.
    pub valued: Vec<bool>,
    /// Looked for only if rules use tool calls.
    pub missed_calls: MissedCalls,
}

impl LogSummary {
    /// A summary for a plan that reads this many fields.
    pub(crate) fn new(fields: usize) -> Self {
        Self { defined: vec![false; fields], valued: vec![false; fields], ..Self::default() }
    }

    /// Which of `tool_call`, `text` and `stop_reason` some state has.
    pub fn observations(&self) -> impl Iterator<Item = &'static str> + use<> {
        OBSERVATIONS.into_iter().zip(self.observed).filter(|(_, observed)| *observed).map(|(kind, _)| kind)
    }

    pub(super) fn append(&mut self, other: Self) {
        self.records += other.records;
        self.places.append(&other.places);
        let room = INVALID_SHOWN.saturating_sub(self.invalid.len());
        self.invalid.extend(other.invalid.into_iter().take(room));
        self.invalid_count += other.invalid_count;
        self.torn = self.torn.or(other.torn);
        self.missed_calls.append(other.missed_calls);
        or_each(&mut self.observed, other.observed);
        or_each(&mut self.defined, other.defined);
        or_each(&mut self.valued, other.valued);
    }

    /// Adds the states of one record, which is at this line or message.
    pub(crate) fn add(&mut self, states: &States, place: u64) {
        for step in states.each() {
            self.add_state(step, place);
        }
    }

    fn add_state(&mut self, step: &Step, place: u64) {
        self.places.push(place);
        or_each(&mut self.observed, step.observations());
        or_each(&mut self.defined, step.defined());
        or_each(&mut self.valued, step.valued());
    }
}

fn or_each(all: &mut [bool], more: impl IntoIterator<Item = bool>) {
    for (one, more) in all.iter_mut().zip(more) {
        *one |= more;
    }
}

//! What a scan of a log finds out besides its states.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::plan::Plan;
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

/// Number of places of calls that are reported.
const PLACES_SHOWN: usize = 3;

/// Records with tool calls in places where the shape of their log has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissedCalls {
    pub records: u64,
    /// The line or message of the first such record.
    pub first: Option<u64>,
    last: Option<u64>,
    /// Whether one of them has the name of a tool.
    pub is_named: bool,
    /// JSON paths of such calls, at most three.
    pub paths: BTreeSet<String>,
}

impl MissedCalls {
    pub(super) fn add(&mut self, record: u64, path: &str, is_named: bool) {
        self.is_named |= is_named;
        self.records += u64::from(self.last != Some(record));
        self.last = Some(record);
        self.first = self.first.or(Some(record));
        if self.paths.len() < PLACES_SHOWN {
            self.paths.insert(path.to_owned());
        }
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
    /// How many calls repeat an earlier one, and count once.
    pub repeated_calls: u64,
    /// The first record with a call that has the identifier of another call.
    pub conflicting_calls: Option<u64>,
    /// How many calls the end of the log cuts off.
    pub cut_off_calls: u64,
    /// How often each tool is called, and each stop reason occurs.
    pub tools: NameCounts,
    pub stop_reasons: NameCounts,
    /// For each text that rules look for, whether any state has it.
    pub(super) texts: Vec<(Arc<str>, bool)>,
}

impl LogSummary {
    /// A summary for what a plan reads.
    pub(crate) fn new(plan: &Plan) -> Self {
        let fields = plan.names().len();
        let texts = plan.texts().iter().map(|text| (text.clone(), false)).collect();
        Self { defined: vec![false; fields], valued: vec![false; fields], texts, ..Self::default() }
    }

    /// Whether the log has texts, and none of them contains this one.
    pub(crate) fn lacks_text(&self, text: &str) -> bool {
        let is_absent = self.texts.iter().any(|(other, found)| **other == *text && !found);
        is_absent && self.observations().any(|kind| kind == "text")
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
        // Calls are compared with those of the whole log, so only the caller knows which are missed or repeated.
        self.cut_off_calls += other.cut_off_calls;
        self.tools.append(other.tools);
        self.stop_reasons.append(other.stop_reasons);
        for ((_, found), (_, more)) in self.texts.iter_mut().zip(other.texts) {
            *found |= more;
        }
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
        step.tools.iter().for_each(|tool| self.tools.count(tool));
        if let Some((_, stop)) = &step.stop_reason {
            self.stop_reasons.count(stop);
        }
        for (text, found) in self.texts.iter_mut().filter(|(_, found)| !*found) {
            *found = step.text.contains(&**text);
        }
        or_each(&mut self.observed, step.observations());
        or_each(&mut self.defined, step.defined());
        or_each(&mut self.valued, step.valued());
    }
}

/// How often names occur.
#[derive(Debug, Clone, Default)]
pub struct NameCounts(HashMap<String, u64>);

impl NameCounts {
    fn count(&mut self, name: &str) {
        match self.0.get_mut(name) {
            Some(count) => *count += 1,
            None => _ = self.0.insert(name.to_owned(), 1),
        }
    }

    fn append(&mut self, other: Self) {
        for (name, count) in other.0 {
            *self.0.entry(name).or_default() += count;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How often a name occurs.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

fn or_each(all: &mut [bool], more: impl IntoIterator<Item = bool>) {
    for (one, more) in all.iter_mut().zip(more) {
        *one |= more;
    }
}

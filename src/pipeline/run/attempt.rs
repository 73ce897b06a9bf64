//! One attempt at a node: the events that it appends, and those that it recalls after a crash.

use std::path::PathBuf;

use tokio::sync::watch;

use super::open_run::{Run, RunError};
use crate::journal::{Kind, Sha};
use crate::pipeline::machine::{MAX_CANDIDATES, NodeName, candidate_lifeline};
use crate::pipeline::records::{AttemptStarted, Entry, Record, RunEvent, Stage, record};

/// One attempt at a node. Durable steps are recalled after a crash, not done again.
pub struct Attempt<'a> {
    pub run: &'a Run,
    /// The lifeline of its events: the name of the node, or of a candidate.
    pub lifeline: &'static str,
    pub rev: u32,
    /// How many revisions precede this one on its branch. A part of the request keys in recordings.
    pub branch_index: u32,
    /// The number, from 1.
    pub attempt: u32,
    /// The number of the candidate, from 1; 0 for the node itself.
    pub candidate: u32,
    /// The lifeline that accepts an answer: for a candidate, the node that it drafts for.
    pub accepting_lifeline: &'static str,
    /// Events before the acceptance of an answer of this attempt: for a candidate's properties, the acceptance of its
    /// draft.
    pub accepted_before: Vec<Record>,
    /// For a candidate: `true` once its result is no longer needed; closed when the run stops.
    pub decided: Option<watch::Receiver<bool>>,
    recalled: Vec<Entry>,
}

impl<'a> Attempt<'a> {
    /// Begins an attempt, or continues the one in flight.
    pub(in crate::pipeline) fn begin(run: &'a Run, lifeline: &'static str) -> Result<Self, RunError> {
        let view = run.view();
        let (rev, branch_index) = (view.rev, view.state.branch_index);
        if let Some(in_flight) = view.in_flight.as_ref().filter(|f| f.lifeline == lifeline) {
            let recalled = in_flight.events.clone();
            return Ok(Self::own(run, lifeline, (rev, branch_index, in_flight.attempt), recalled));
        }
        let attempt = view.attempts.get(&(rev, lifeline.to_owned())).copied().unwrap_or(0) + 1;
        let started = RunEvent::AttemptStarted(AttemptStarted {});
        run.append(vec![record(lifeline, Kind::Act, rev, attempt, started).with_journal_past()])?;
        Ok(Self::own(run, lifeline, (rev, branch_index, attempt), Vec::new()))
    }

    fn own(run: &'a Run, lifeline: &'static str, at: (u32, u32, u32), recalled: Vec<Entry>) -> Self {
        let ((rev, branch_index, attempt), accepting_lifeline) = (at, lifeline);
        Self {
            run,
            lifeline,
            rev,
            branch_index,
            attempt,
            candidate: 0,
            accepting_lifeline,
            accepted_before: Vec::new(),
            decided: None,
            recalled,
        }
    }

    /// The part of a candidate in this attempt. It recalls the events of one stage, or of all.
    #[must_use]
    pub fn for_candidate(&self, candidate: u32, stage: Option<Stage>) -> Self {
        let Self { run, rev, branch_index, attempt, .. } = *self;
        let lifeline = candidate_lifeline(candidate);
        let own = || self.recalled.iter().filter(|entry| entry.lifeline == lifeline);
        let drafted = own().position(|entry| entry.event.is_candidate_finished()).map_or(usize::MAX, |at| at + 1);
        let recalled = match stage {
            None => own().cloned().collect(),
            Some(Stage::Formalization) => own().take(drafted).cloned().collect(),
            Some(Stage::Properties) => own().skip(drafted).cloned().collect(),
        };
        let accepting_lifeline = match stage {
            Some(Stage::Properties) => NodeName::GenerateInvariants.name(),
            _ => NodeName::Formalize.name(),
        };
        Self { candidate, accepting_lifeline, ..Self::own(run, lifeline, (rev, branch_index, attempt), recalled) }
    }

    /// The distance between the numbers of further samples: each candidate has its own number for the same purpose.
    pub fn sample_stride(&self) -> u32 {
        if self.candidate == 0 { 1 } else { MAX_CANDIDATES }
    }

    /// The only folder that a model may read. Each candidate has its own.
    pub fn workspace(&self) -> PathBuf {
        match self.candidate {
            0 => self.run.workspace(),
            number => self.run.candidates().join(number.to_string()),
        }
    }

    /// The last result of `find` over the events of this attempt from before a crash.
    pub fn recall<'s, T>(&'s self, find: impl Fn(&'s RunEvent) -> Option<T>) -> Option<T> {
        self.recall_entry(|entry| find(&entry.event))
    }

    /// The same for events with their envelopes.
    pub fn recall_entry<'s, T>(&'s self, find: impl Fn(&'s Entry) -> Option<T>) -> Option<T> {
        self.recalled.iter().rev().filter(|entry| entry.lifeline == self.lifeline).find_map(find)
    }

    /// Whether this attempt has such an event from before a crash.
    pub fn has(&self, is_it: impl Fn(&RunEvent) -> bool) -> bool {
        self.recall(|event| is_it(event).then_some(())).is_some()
    }

    pub fn event(&self, kind: Kind, event: RunEvent) -> Record {
        record(self.lifeline, kind, self.rev, self.attempt, event)
    }

    /// Appends an event of this attempt.
    pub fn record(&self, kind: Kind, event: RunEvent) -> Result<Entry, RunError> {
        let entries = self.run.append(vec![self.event(kind, event)])?;
        Ok(entries.into_iter().next().expect("a record gives an event"))
    }

    pub fn keep(&self, text: &str) -> Result<Sha, RunError> {
        Ok(self.run.store().put(text)?)
    }
}

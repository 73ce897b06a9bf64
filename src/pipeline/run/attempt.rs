//! One attempt at a node: the events that it appends, and those that it recalls after a crash.

use std::path::PathBuf;

use tokio::sync::watch;

use super::open_run::{Run, RunError};
use crate::journal::{Kind, Sha};
use crate::pipeline::machine::{MAX_CANDIDATES, NodeName, lifeline_of};
use crate::pipeline::records::{AttemptStarted, Entry, Record, RunEvent, Stage, record};

/// One attempt at a node. Steps that are durable are recalled, not done again.
pub struct Attempt<'a> {
    /// The run.
    pub run: &'a Run,
    /// The lifeline: the node's name.
    pub lifeline: &'static str,
    /// The revision.
    pub rev: u32,
    /// Its place on the branch.
    pub place: u32,
    /// The attempt's number, from 1.
    pub attempt: u32,
    /// The number of the candidate that it is about, from 1; 0 where there are none beside it.
    pub candidate: u32,
    /// The lifeline at which an answer is taken: of a candidate, the node's for which it drafts.
    pub taker: &'static str,
    /// What is taken before an answer of this attempt, if that is: a candidate's draft, before its properties.
    pub taken_before: Vec<Record>,
    /// Of a candidate: told when what it is asked for has been decided, and closed when the run stops.
    pub over: Option<watch::Receiver<bool>>,
    recalled: Vec<Entry>,
}

impl<'a> Attempt<'a> {
    /// Begins an attempt, or takes up the one in flight.
    pub(in crate::pipeline) fn begin(run: &'a Run, lifeline: &'static str) -> Result<Self, RunError> {
        let view = run.view();
        let (rev, place) = (view.rev, view.state.branch_index);
        if let Some(in_flight) = view.in_flight.as_ref().filter(|f| f.lifeline == lifeline) {
            let recalled = in_flight.events.clone();
            return Ok(Self::own(run, lifeline, (rev, place, in_flight.attempt), recalled));
        }
        let attempt = view.attempts.get(&(rev, lifeline.to_owned())).copied().unwrap_or(0) + 1;
        let started = RunEvent::AttemptStarted(AttemptStarted {});
        run.append(vec![record(lifeline, Kind::Act, rev, attempt, started).after_all()])?;
        Ok(Self::own(run, lifeline, (rev, place, attempt), Vec::new()))
    }

    fn own(run: &'a Run, lifeline: &'static str, at: (u32, u32, u32), recalled: Vec<Entry>) -> Self {
        let ((rev, place, attempt), taker) = (at, lifeline);
        Self { run, lifeline, rev, place, attempt, candidate: 0, taker, taken_before: Vec::new(), over: None, recalled }
    }

    /// The part of a candidate in this attempt; what it recalls is of one stage, or of all.
    #[must_use]
    pub fn apart(&self, candidate: u32, stage: Option<Stage>) -> Self {
        let Self { run, rev, place, attempt, .. } = *self;
        let lifeline = lifeline_of(candidate);
        let own = || self.recalled.iter().filter(|entry| entry.lifeline == lifeline);
        let drafted = own().position(|entry| entry.event.is_candidate_finished()).map_or(usize::MAX, |at| at + 1);
        let recalled = match stage {
            None => own().cloned().collect(),
            Some(Stage::Formalization) => own().take(drafted).cloned().collect(),
            Some(Stage::Properties) => own().skip(drafted).cloned().collect(),
        };
        let taker = match stage {
            Some(Stage::Properties) => NodeName::GenerateInvariants.name(),
            _ => NodeName::Formalize.name(),
        };
        Self { candidate, taker, ..Self::own(run, lifeline, (rev, place, attempt), recalled) }
    }

    /// How many requests for one purpose there can be side by side: the numbers of further samples keep that distance.
    pub fn of(&self) -> u32 {
        if self.candidate == 0 { 1 } else { MAX_CANDIDATES }
    }

    /// The only folder that a model may read: candidates do not share theirs.
    pub fn workspace(&self) -> PathBuf {
        match self.candidate {
            0 => self.run.workspace(),
            number => self.run.candidates().join(number.to_string()),
        }
    }

    /// The last event of this attempt from before a crash for which `find` gives something.
    pub fn recall<'s, T>(&'s self, find: impl Fn(&'s RunEvent) -> Option<T>) -> Option<T> {
        self.recall_entry(|entry| find(&entry.event))
    }

    /// The same, where the envelope counts as well.
    pub fn recall_entry<'s, T>(&'s self, find: impl Fn(&'s Entry) -> Option<T>) -> Option<T> {
        self.recalled.iter().rev().filter(|entry| entry.lifeline == self.lifeline).find_map(find)
    }

    /// Whether there is such an event of this attempt from before a crash.
    pub fn has(&self, is_it: impl Fn(&RunEvent) -> bool) -> bool {
        self.recall(|event| is_it(event).then_some(())).is_some()
    }

    /// A record of this attempt.
    pub fn event(&self, kind: Kind, event: RunEvent) -> Record {
        record(self.lifeline, kind, self.rev, self.attempt, event)
    }

    /// Appends an event of this attempt.
    pub fn record(&self, kind: Kind, event: RunEvent) -> Result<Entry, RunError> {
        let entries = self.run.append(vec![self.event(kind, event)])?;
        Ok(entries.into_iter().next().expect("a record gives an event"))
    }

    /// Keeps a text in the artifact store.
    pub fn keep(&self, text: &str) -> Result<Sha, RunError> {
        Ok(self.run.store().put(text)?)
    }
}

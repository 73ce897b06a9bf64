//! What a run does now, as the live page shows it.

use std::path::Path;

use serde::Serialize;

use super::run_snapshot::RunSnapshot;
use crate::pipeline::{Entry, Outcome, RunEvent, RunView};
use crate::report::{heading, progress_line};
use crate::toolchain::Progress;

/// The last lines of progress that are shown.
const LINES: usize = 200;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(in crate::cli) struct Status {
    /// The outcome, or where the run is.
    heading: String,
    finished: bool,
    #[serde(skip)]
    stopped: bool,
    /// Whether a process works on the run in this folder.
    running: bool,
    /// No process works on the run in this folder, and it has no outcome. But it is in a shared store, so a process that cannot be
    /// seen from here may work on it.
    may_run_elsewhere: bool,
    /// The node at work, with revision and attempt. If the run may go on elsewhere, the last attempt that has not finished.
    work: Option<Work>,
    check: Option<Check>,
    closed_revisions: usize,
    answers: u32,
    tokens: u64,
    cost_usd: f64,
    /// Calls of unknown price.
    unpriced: u32,
    /// The limits of the run, by name; null if there is none.
    max_tokens: serde_json::Value,
    max_cost: serde_json::Value,
    max_time: serde_json::Value,
    /// When the run was started or resumed last, RFC 3339.
    started: Option<String>,
    /// When the last event was journaled, if no process works on the run in this folder, RFC 3339.
    ended: Option<String>,
    /// The latest lines of progress, oldest first.
    lines: Vec<String>,
    /// Why the journal cannot be read or brought up to date; the rest is as it was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// An attempt that has begun and not finished.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Work {
    node: String,
    rev: u32,
    attempt: u32,
    /// When it began, RFC 3339.
    since: String,
}

/// How far the checker is.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Check {
    run: String,
    generated: u64,
    distinct: u64,
    queue: u64,
}

impl Status {
    /// What the journal says of the run in `folder`.
    pub(super) fn new(folder: &Path, snapshot: &RunSnapshot) -> Self {
        Self::from_view(folder, &snapshot.view, &snapshot.entries)
    }

    pub(in crate::cli) fn from_view(folder: &Path, view: &RunView, entries: &[Entry]) -> Self {
        let spent = view.spent_total();
        let limit = |name: &str| view.settings.command_line[name].clone();
        let begins = |entry: &&Entry| {
            matches!(entry.event, RunEvent::RunStarted(_) | RunEvent::RunResumed(_) | RunEvent::BranchStarted(_))
        };
        Self {
            heading: heading(view),
            finished: view.finished.is_some(),
            stopped: view.finished.as_ref().is_some_and(|finished| finished.outcome == Outcome::Stopped),
            running: false,
            may_run_elsewhere: false,
            work: work(entries),
            check: None,
            closed_revisions: view.revisions.len(),
            answers: spent.answers,
            tokens: spent.tokens,
            cost_usd: spent.cost_usd,
            unpriced: spent.unpriced,
            max_tokens: limit("max_tokens"),
            max_cost: limit("max_cost"),
            max_time: limit("max_time"),
            started: entries.iter().rev().find(begins).map(|entry| entry.at.clone()),
            ended: entries.last().map(|entry| entry.at.clone()),
            lines: lines(entries, folder),
            error: None,
        }
    }

    /// Adds the progress of the process that works on the run in this folder, if there is one. `is_shared`: others can work on it
    /// elsewhere, and continue it after it has stopped.
    pub(in crate::cli) fn with_process(&self, is_running: bool, is_shared: bool, check: Option<Progress>) -> Self {
        let is_at_work = is_running && !self.finished;
        let finished = self.finished && !(is_shared && self.stopped);
        let may_run_elsewhere = is_shared && !is_running && !finished;
        let work = self.work.clone().filter(|_| is_at_work || may_run_elsewhere);
        let check = check.filter(|_| is_at_work && work.is_some());
        let heading = match (may_run_elsewhere, self.stopped) {
            (true, true) => "stopped; a process elsewhere may continue it".to_owned(),
            (true, false) => "not finished; a process elsewhere may be working on it".to_owned(),
            (false, _) => self.heading.clone(),
        };
        Self {
            heading,
            finished,
            running: is_running,
            may_run_elsewhere,
            ended: self.ended.clone().filter(|_| !is_at_work),
            check: check.map(|Progress { run, generated, distinct, queue }| Check { run, generated, distinct, queue }),
            work,
            ..self.clone()
        }
    }

    /// The outcome, or where the run is.
    pub(in crate::cli) fn heading(&self) -> &str {
        &self.heading
    }

    /// The node at work, its revision, and when it began.
    pub(in crate::cli) fn work(&self) -> Option<(&str, u32, &str)> {
        self.work.as_ref().map(|work| (work.node.as_str(), work.rev, work.since.as_str()))
    }

    /// How far the checker is, if it has reported that.
    pub(in crate::cli) fn check_words(&self) -> Option<String> {
        let Check { run, generated, distinct, queue } = self.check.as_ref()?;
        Some(format!(
            "the checker ({run}) has found {distinct} distinct states of {generated}, with {queue} on the queue"
        ))
    }

    pub(super) fn with_error(self, error: Option<String>) -> Self {
        Self { error, ..self }
    }

    /// Whether the run has an outcome.
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }
}

/// The last attempt that began, unless it has finished.
fn work(entries: &[Entry]) -> Option<Work> {
    let ended = |entry: &Entry| matches!(entry.event, RunEvent::AttemptFinished(_) | RunEvent::RunFinished(_));
    let last = entries.iter().rev().find(|entry| entry.event.is_attempt_started() || ended(entry))?;
    last.event.is_attempt_started().then(|| Work {
        node: last.lifeline.clone(),
        rev: last.rev,
        attempt: last.attempt,
        since: last.at.clone(),
    })
}

fn lines(entries: &[Entry], folder: &Path) -> Vec<String> {
    let seconds = |at: &str| at.parse::<jiff::Timestamp>().map_or(0.0, |at| at.as_duration().as_secs_f64());
    let mut lines = Vec::new();
    for at in (0..entries.len()).rev() {
        let entry = &entries[at];
        let before = &entries[at.saturating_sub(1)];
        lines.extend(progress_line(entry, (seconds(&entry.at) - seconds(&before.at)).max(0.0), folder));
        if lines.len() == LINES {
            break;
        }
    }
    lines.reverse();
    lines
}

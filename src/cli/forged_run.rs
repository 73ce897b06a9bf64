//! The results of `forge-all`: a line for each run, appended when it ends, and in the order of the table at the end. The
//! journals hold the same; the file is written again from them by the next call.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::failure::Failure;
use super::sets::{PlannedRun, RESULTS};
use crate::exit::Exit;
use crate::files;
use crate::journal::write_atomically;
use crate::pipeline::{Outcome, RunView, StopReason};
use crate::report::counted;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunState {
    /// With an outcome. It is not begun again.
    Ended,
    /// By a limit, a signal or a failing provider; the next call continues it.
    Stopped,
    /// It could not begin, or its files cannot be used.
    Failed,
    /// Because of the limit for all runs, or of a signal. A run of an earlier call is `Stopped`.
    NotStarted,
}

/// The result of one run; a line of `results.jsonl`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ForgedRun {
    /// Its name: that of its folder below the folder of all runs.
    pub run: String,
    set: String,
    model: Option<String>,
    settings: Option<String>,
    folder: PathBuf,
    state: RunState,
    outcome: Option<&'static str>,
    /// Why it stopped.
    reason: Option<StopReason>,
    why: String,
    hints: Vec<String>,
    /// Closed revisions.
    revisions: usize,
    answers: u32,
    tokens: u64,
    /// US dollars, with the estimate of what no server counted.
    cost_usd: f64,
    /// Calls at an unknown price.
    unpriced: u32,
    /// The exit status that `tlaforge run` has for it.
    status: u8,
    #[serde(skip)]
    pub exit: Exit,
}

impl ForgedRun {
    /// A run that has ended or stopped.
    pub(super) fn of_view(planned: &PlannedRun, folder: &Path, view: &RunView, exit: Exit) -> Self {
        let finished = view.finished.as_ref();
        let outcome = finished.map_or(Outcome::Stopped, |finished| finished.outcome);
        let state = if outcome == Outcome::Stopped { RunState::Stopped } else { RunState::Ended };
        let why = finished.map(|finished| finished.why.clone()).unwrap_or_default();
        let reason = finished.and_then(|finished| finished.reason);
        Self { state, outcome: Some(outcome.name()), reason, ..Self::new(planned, folder, Some(view), why, exit) }
    }

    pub(super) fn failed(planned: &PlannedRun, folder: &Path, view: Option<&RunView>, failure: Failure) -> Self {
        let (why, exit) = (failure.one_line(), failure.exit);
        Self { hints: failure.hints, ..Self::new(planned, folder, view, why, exit) }
    }

    /// A run that this call does not begin. `view` is what an earlier call left of it, and paid for.
    pub(super) fn not_reached(
        planned: &PlannedRun,
        folder: &Path,
        view: Option<&RunView>,
        why: String,
        exit: Exit,
    ) -> Self {
        match view {
            Some(view) => Self { why, ..Self::of_view(planned, folder, view, exit) },
            None => Self { state: RunState::NotStarted, ..Self::new(planned, folder, None, why, exit) },
        }
    }

    fn new(planned: &PlannedRun, folder: &Path, view: Option<&RunView>, why: String, exit: Exit) -> Self {
        let spent = view.map(RunView::spent_total).unwrap_or_default();
        let PlannedRun { id, set, model, settings, .. } = planned.clone();
        Self {
            run: id,
            set,
            model,
            settings,
            folder: folder.to_owned(),
            state: RunState::Failed,
            outcome: None,
            reason: None,
            why,
            hints: Vec::new(),
            revisions: view.map_or(0, |view| view.revisions.len()),
            answers: spent.answers,
            tokens: spent.tokens.saturating_add(spent.estimated_tokens),
            cost_usd: spent.cost_usd + spent.estimated_usd,
            unpriced: spent.unpriced,
            status: exit.code(),
            exit,
        }
    }

    pub(super) fn is_not_started(&self) -> bool {
        self.state == RunState::NotStarted
    }

    /// Why it stopped or failed.
    pub(super) fn why(&self) -> &str {
        &self.why
    }

    /// The words of its state, and of its outcome if it has one.
    fn words(&self) -> &'static str {
        match self.state {
            RunState::Failed => "failed",
            RunState::NotStarted => "not started",
            RunState::Ended | RunState::Stopped => self.outcome.unwrap_or_default(),
        }
    }

    /// The line for a reader.
    pub(super) fn line(&self) -> String {
        let Self { run, revisions, answers, why, .. } = self;
        let mut line = format!("{:<18}{run}", self.words());
        if matches!(self.state, RunState::Ended | RunState::Stopped) {
            let (revisions, answers) = (counted(*revisions, "revision"), counted(*answers as usize, "answer"));
            let _ = write!(line, "  {revisions}, {answers}, {}", self.cost());
        }
        if self.state != RunState::Ended && !why.is_empty() {
            let _ = write!(line, ": {}", why.lines().next().unwrap_or_default());
        }
        for hint in self.hints.iter().filter(|_| self.state == RunState::Failed) {
            let _ = write!(line, "\n  {}", hint.replace('\n', "\n  "));
        }
        line + "\n"
    }

    fn cost(&self) -> String {
        match (self.cost_usd, self.unpriced) {
            (0.0, 0) => "no cost".to_owned(),
            (0.0, _) => "cost unknown".to_owned(),
            (cost, 0) => format!("${cost:.4}"),
            (cost, _) => format!("${cost:.4} and unknown costs"),
        }
    }
}

/// The counts by outcome, and the cost. `before` is the number of runs that an earlier call had ended.
pub(super) fn summarize(results: &[ForgedRun], before: usize, limit_usd: Option<f64>) -> String {
    let mut counts: BTreeMap<(RunState, &str), usize> = BTreeMap::new();
    for run in results {
        *counts.entry((run.state, run.words())).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|((_, words), count)| format!("{count} {words}")).collect();
    let earlier = if before == 0 { String::new() } else { format!(" ({before} of them earlier)") };
    let (cost, unpriced) =
        (results.iter().map(|run| run.cost_usd).sum::<f64>(), results.iter().any(|run| run.unpriced > 0));
    let limit = limit_usd.map_or_else(String::new, |limit| format!(" of ${limit}"));
    let unknown = if unpriced { ", and calls at an unknown price" } else { "" };
    format!("\n{}{earlier}: {}\nCost: ${cost:.4}{limit}{unknown}\n", counted(results.len(), "run"), counts.join(", "))
}

/// `results.jsonl` in the folder of all runs.
pub(super) struct ResultsFile {
    path: PathBuf,
    file: File,
}

impl ResultsFile {
    /// Begins the file with the runs that are known to have ended. It replaces only a file of its own kind.
    pub(super) fn begin(out: &Path, known: &[ForgedRun]) -> Result<Self, Failure> {
        let path = std::path::absolute(out.join(RESULTS)).unwrap_or_else(|_| out.join(RESULTS));
        refuse_foreign_file(&path)?;
        let written = write_atomically(&path, lines(known).as_bytes())
            .and_then(|()| files::open_with(&path, OpenOptions::new().append(true)));
        let file = written.map_err(|e| cannot_write(&path, &e))?;
        Ok(Self { path, file })
    }

    /// Appends a run. It is on the disk when this returns.
    pub(super) fn append(&mut self, run: &ForgedRun) -> Result<(), Failure> {
        let line = lines(std::slice::from_ref(run));
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|e| cannot_write(&self.path, &e))
    }

    /// Writes all runs in their order.
    pub(super) fn finish(&self, all: &[ForgedRun]) -> Result<(), Failure> {
        write_atomically(&self.path, lines(all).as_bytes()).map_err(|e| cannot_write(&self.path, &e))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Refuses a file that `forge-all` did not write.
fn refuse_foreign_file(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let foreign = |what: String| {
        Err(Failure::usage(what).hint("move the file away, or choose another folder for all runs: --out DIR"))
    };
    let text = match files::read_text(path, files::LOG) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return foreign(format!("cannot read {shown}: {e}")),
    };
    let Some(first) = text.lines().next() else { return Ok(()) };
    let is_result =
        |line: &serde_json::Value| ["run", "set", "state", "folder"].iter().all(|key| line[key].is_string());
    // A first line without its end: an earlier call was killed while it wrote the line.
    let is_torn = !text.contains('\n') && text.starts_with("{\"run\":");
    if is_torn || serde_json::from_str(first).is_ok_and(|line| is_result(&line)) {
        return Ok(());
    }
    foreign(format!("{shown} is not a list of results of forge-all, and would be overwritten"))
}

fn lines(runs: &[ForgedRun]) -> String {
    runs.iter().map(|run| serde_json::to_string(run).unwrap_or_default() + "\n").collect()
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write {}: {error}", path.display()))
        .hint("the runs themselves are not affected: make the file writable, and the same command continues")
}

//! What the journal and the lock of a run folder say. Nothing else is remembered, so a new server finds the runs of earlier
//! ones.

use std::path::Path;

use serde_json::{Value, json};
use walkdir::WalkDir;

use super::allowed_folders::{AllowedFolders, AllowedPath};
use super::pending_requests::{Pending, pending_requests};
use crate::cli::checker_progress::read_progress;
use crate::cli::failure::{Fails, Failure};
use crate::cli::live::Status;
use crate::cli::run_failure::run_failure;
use crate::exit::Exit;
use crate::journal::RunLock;
use crate::pipeline::{Entry, Outcome, Position, Run, RunError, RunView};

/// Depth below an allowed folder at which runs are looked for, and entries that are looked at.
const MAX_DEPTH: usize = 4;
const MAX_ENTRIES: usize = 20_000;
/// Lines of progress in a status.
const LINES: usize = 6;

pub(super) struct RunState {
    pub entries: Vec<Entry>,
    pub view: RunView,
    pub is_running: bool,
}

impl RunState {
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        if !Run::exists(folder) {
            return Err(run_failure(&RunError::NoRun { folder: folder.to_owned() }));
        }
        // The lock first: a run that ends in between is then shown as running, and the next look shows its end.
        let is_running = RunLock::holder(folder).is_some();
        let entries: Vec<Entry> = crate::journal::read(&folder.join("journal.jsonl")).fails(Exit::Usage)?;
        let view = RunView::from_entries(&entries);
        Ok(Self { entries, view, is_running })
    }

    pub(super) fn pending(&self, folder: &Path) -> Vec<Pending> {
        pending_requests(&self.entries, folder)
    }

    /// `running`, `waiting_for_answer`, `stopped`, `interrupted`, or the outcome.
    pub(super) fn name(&self, folder: &Path) -> &'static str {
        match (&self.view.finished, self.is_running) {
            (Some(finished), _) if finished.outcome != Outcome::Stopped => finished.outcome.name(),
            (_, true) if !self.pending(folder).is_empty() => "waiting_for_answer",
            (_, true) => "running",
            (Some(_), false) => "stopped",
            (None, false) => "interrupted",
        }
    }

    /// Whether nothing more happens by itself.
    pub(super) fn is_at_rest(&self, folder: &Path) -> bool {
        !matches!(self.name(folder), "running" | "waiting_for_answer")
    }

    fn status(&self, run: &AllowedPath) -> Status {
        let status = Status::from_view(&run.path, &self.view, &self.entries);
        let progress = status.work().and_then(|(_, _, since)| read_progress(&run.path, since));
        status.with_process(self.is_running, false, progress)
    }

    /// The status as data.
    pub(super) fn json(&self, run: &AllowedPath) -> Value {
        let status = self.status(run);
        let mut data = serde_json::to_value(&status).unwrap_or_default();
        if self.is_running && self.view.finished.is_none() {
            data["heading"] = json!(self.place_of_work(&status));
        }
        if let Some(lines) = data["lines"].as_array_mut() {
            // They name a file in which only a person answers.
            lines.retain(|line| !line.as_str().is_some_and(|line| line.contains("answer.md")));
            let surplus = lines.len().saturating_sub(LINES);
            lines.drain(..surplus);
        }
        data["job"] = json!(run.relative());
        data["folder"] = json!(run.path);
        data["state"] = json!(self.name(&run.path));
        data["finished"] = json!(self.view.finished.as_ref().is_some_and(|f| f.outcome != Outcome::Stopped));
        let pending = self.pending(&run.path);
        if let Some(first) = pending.first() {
            data["pending_request"] = json!({ "request": first.seq, "node": first.node });
            data["open_requests"] = pending.iter().map(|request| request.seq).collect();
        }
        if self.view.finished.is_some() {
            data["question"] = json!(self.view.open_question());
        }
        data
    }

    fn place_of_work(&self, status: &Status) -> String {
        match (status.work(), self.view.state.position) {
            (Some((node, rev, since)), _) => format!("running: at work on {node} of rev_{rev} since {since}"),
            (None, Position::Node(node)) => format!("running: at {node}"),
            (None, _) => "running".to_owned(),
        }
    }

    /// One line for a person, with how far the checker is.
    pub(super) fn line_with_progress(&self, run: &AllowedPath) -> String {
        let check = self.status(run).check_words().map(|words| format!("; {words}"));
        self.line(run) + &check.unwrap_or_default()
    }

    /// One line for a person. It changes only with the journal and the process.
    pub(super) fn line(&self, run: &AllowedPath) -> String {
        let status = self.status(run);
        let heading = if self.is_running && self.view.finished.is_none() {
            self.place_of_work(&status)
        } else {
            status.heading().to_owned()
        };
        let next = match self.name(&run.path) {
            "waiting_for_answer" => match self.pending(&run.path).as_slice() {
                [one] => format!("; request {} waits: next_request", one.seq),
                several => format!("; {} requests wait: next_request", several.len()),
            },
            "stopped" | "interrupted" => "; forge_resume continues it".to_owned(),
            "ambiguity_found" => "; answer_question continues it".to_owned(),
            "running" => String::new(),
            _ => "; see forge_result".to_owned(),
        };
        format!("{}: {heading}{next}", run.relative())
    }
}

/// The run folders below the allowed folders, in alphabetical order.
pub(super) fn find_runs(folders: &AllowedFolders) -> Vec<AllowedPath> {
    let mut runs = Vec::new();
    for root in folders.iter() {
        let is_of_interest = |entry: &walkdir::DirEntry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0 || !(name.starts_with('.') || ["node_modules", "target"].contains(&name.as_ref()))
        };
        let entries = WalkDir::new(root).max_depth(MAX_DEPTH).sort_by_file_name().into_iter();
        let found = entries.filter_entry(is_of_interest).take(MAX_ENTRIES).flatten();
        runs.extend(
            found
                .filter(|entry| entry.file_type().is_dir() && Run::exists(entry.path()))
                .map(|entry| folders.allowed(entry.into_path(), root.to_owned())),
        );
    }
    runs
}

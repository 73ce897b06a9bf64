//! Lays out the files that a model can read with a request, and writes the texts in them: documents, current artifacts,
//! open feedback, diagnostics.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::files;
use crate::llm::Offered;
use crate::pipeline::{Attempt, Feedback, NodeError, RunError, RunView, file};
use crate::prompt::{Document, index_path, marked_changes, render_index, show_control};
use crate::tla::{Diagnostic, UNLIMITED_WIDTH, outcome_text};

/// Sections of the informal specification that say nothing about the model.
pub(super) const NOT_FOR_THE_MODEL: [&str; 2] = ["other concerns", "out of scope"];
/// Sections left out of the request for properties: the module has the steps.
pub(super) const NOT_FOR_PROPERTIES: [&str; 3] = ["other concerns", "out of scope", "steps"];

/// Writes the files of a request into the workspace and removes all others. `docs` and `exemplars` add the run's documents
/// and exemplars.
pub(super) fn lay_out(
    view: &RunView,
    attempt: &Attempt<'_>,
    mut files: Vec<(String, String)>,
    docs: bool,
    exemplars: bool,
) -> Result<Vec<Offered>, NodeError> {
    let mut index = None;
    if docs {
        let documents = documents(view, attempt)?;
        let path = index.insert(index_path(documents.iter().map(|d| d.path.as_str())));
        files.push((path.clone(), render_index(&documents)));
        files.extend(documents.into_iter().map(|d| (format!("docs/{}", d.path), d.text)));
    }
    if exemplars {
        for exemplar in &view.settings.exemplars {
            let text = attempt.run.store().text(&exemplar.sha).map_err(RunError::from)?;
            files.push((format!("exemplars/{}", exemplar.path), text));
        }
    }
    let root = attempt.workspace();
    // `workspace`, or `candidates` above it, could be a link to a folder of the user, whose files would be removed.
    files::check_below(attempt.run.root(), &root).map_err(|source| io_error("clear", &root, source))?;
    let wanted: BTreeSet<PathBuf> = files.iter().map(|(path, _)| root.join(path)).collect();
    clear(&root, &wanted).map_err(|source| io_error("clear", &root, source))?;
    files
        .iter()
        .map(|(path, text)| Ok(Offered { is_index: index.as_ref() == Some(path), ..offer(attempt, path, text)? }))
        .collect()
}

/// Writes a file into the workspace, unless it already has this content.
pub(super) fn offer(attempt: &Attempt<'_>, path: &str, text: &str) -> Result<Offered, NodeError> {
    let root = attempt.workspace();
    // Names of documents and exemplars are in the journal, which may come from another person.
    if !files::stays_below(path) {
        return Err(RunError::UnsafeName { name: path.to_owned() }.into());
    }
    let target = root.join(path);
    // Many servers refuse a request with a NUL, and then the run could never go on.
    let text = &*show_control(text);
    let sha = attempt.keep(text)?;
    if !files::read_below(&root, &target, files::LARGE).is_ok_and(|bytes| bytes == text.as_bytes()) {
        let dir = target.parent().unwrap_or(&root);
        files::create_folder_below(&root, dir).map_err(|source| io_error("create the folder", dir, source))?;
        files::check_below(&root, &target)
            .and_then(|()| std::fs::write(&target, text))
            .map_err(|source| io_error("write", &target, source))?;
    }
    // These are the same for all requests of a run; everything else changes with the specification.
    let shared = path.starts_with("docs/") || path.starts_with("exemplars/");
    Ok(Offered { path: path.to_owned(), sha, bytes: text.len() as u64, shared, is_index: false })
}

/// Removes a file from the workspace.
pub(super) fn withdraw(attempt: &Attempt<'_>, path: &str) -> Result<(), NodeError> {
    let target = attempt.workspace().join(path);
    match std::fs::remove_file(&target) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(io_error("remove", &target, source).into()),
        _ => Ok(()),
    }
}

/// The documents of the run.
pub(super) fn documents(view: &RunView, attempt: &Attempt<'_>) -> Result<Vec<Document>, NodeError> {
    let mut documents = Vec::new();
    for stored in &view.settings.docs {
        let text = attempt.run.store().text(&stored.sha).map_err(RunError::from)?;
        documents.push(Document { path: stored.path.clone(), text });
    }
    Ok(documents)
}

/// The modules among the exemplars.
pub(super) fn exemplar_modules(view: &RunView) -> Vec<&str> {
    let paths = view.settings.exemplars.iter().map(|e| e.path.as_str());
    paths.filter(|p| Path::new(p).extension().is_some_and(|e| e == "tla")).collect()
}

/// The text of a current artifact; `None` if the run has none of this name.
pub(super) fn current(view: &RunView, attempt: &Attempt<'_>, name: &str) -> Result<Option<String>, NodeError> {
    Ok(attempt.run.current_text(view, name)?)
}

/// The text with line numbers, for repair prompts.
pub(super) fn number_lines(text: &str) -> String {
    let width = text.lines().count().to_string().len();
    text.lines().enumerate().fold(String::new(), |mut out, (i, line)| {
        let _ = writeln!(out, "{:>width$} | {line}", i + 1);
        out
    })
}

/// The text of `feedback.md`: the open feedback, or `if_none`.
pub(super) fn feedback_file<'a>(open: impl Iterator<Item = &'a Feedback>, if_none: &str) -> String {
    let mut text = String::from("# Still open\n");
    let mut any = false;
    for item in open {
        any = true;
        let _ = writeln!(text, "\n## From: {}\n\n{}", item.from, item.text.trim());
    }
    if !any {
        let _ = writeln!(text, "\n{if_none}");
    }
    text
}

/// Adds to `feedback.md` what changed in a file since the model last read it, as a unified diff.
pub(super) fn append_changes(feedback: &mut String, file: &str, before: &str, now: &str) {
    let diff = similar::TextDiff::from_lines(before, now).unified_diff().context_radius(2).to_string();
    if !diff.is_empty() {
        let _ =
            write!(feedback, "\n## What changed in {file} since you read it for `previous.md`\n\n```diff\n{diff}```\n");
    }
}

/// Adds the last check as `check.md`. Sets `has_check` and `check_is_older` in the prompt's data.
pub(super) fn offer_check(view: &RunView, data: &mut Value, files: &mut Vec<(String, String)>) {
    let fresh = view.fresh_check();
    data["has_check"] = json!(view.check().is_some());
    data["check_is_older"] = json!(view.check().is_some() && fresh.is_none());
    let text = match (fresh, view.check()) {
        (Some(outcome), _) => outcome_text(outcome, UNLIMITED_WIDTH),
        (None, Some(check)) => format!(
            "This check was of an earlier version: the module, its properties or the configuration have changed since, \
             and that was not checked.\n\n{}",
            outcome_text(&check.outcome, UNLIMITED_WIDTH)
        ),
        (None, None) => return,
    };
    files.push(("check.md".to_owned(), text));
}

/// Whether the current informal specification marks steps of the protocol as changed after a flaw.
pub(super) fn has_marked_changes(view: &RunView, attempt: &Attempt<'_>) -> Result<bool, NodeError> {
    let informal = current(view, attempt, file::INFORMAL)?.unwrap_or_default();
    Ok(view.state.repaired && !marked_changes(&informal).is_empty())
}

/// Diagnostics as a Markdown list, one a line.
pub(super) fn diagnostics_text(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().fold(String::new(), |mut out, diagnostic| {
        let _ = writeln!(out, "- {diagnostic}");
        out
    })
}

fn io_error(what: &'static str, path: &Path, source: std::io::Error) -> RunError {
    RunError::Io { what, path: path.to_owned(), source }
}

/// Removes everything below `root` that is not wanted.
fn clear(root: &Path, wanted: &BTreeSet<PathBuf>) -> std::io::Result<()> {
    if std::fs::symlink_metadata(root).is_ok_and(|m| !m.is_dir()) {
        return Err(std::io::Error::other("it is not a folder"));
    }
    std::fs::create_dir_all(root)?;
    for entry in walkdir::WalkDir::new(root).contents_first(true).min_depth(1) {
        let entry = entry.map_err(std::io::Error::other)?;
        if entry.file_type().is_dir() {
            // Fails for a folder that is not empty, because that one holds a wanted file.
            let _ = std::fs::remove_dir(entry.path());
        } else if !entry.file_type().is_file() || !wanted.contains(entry.path()) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

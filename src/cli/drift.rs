//! `tlaforge drift`: compares the documents of a run with newer ones. Changes nothing but the file of accepted changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::completions::{requirements, run_folders};
use super::environment::clock;
use super::failure::{Fails, Failure};
use super::format::{FindingsFiles, FindingsFormat, Format};
use super::page::read_artifact;
use super::run_failure::{RESTORE, accepted_drift_failure, run_failure};
use super::run_place::RunPlace;
use super::secrets::refuse_secrets;
use super::telemetry::name_run_in;
use super::terminal::{print_json_line, print_message, print_result};
use crate::exit::Exit;
use crate::journal::Sha;
use crate::pipeline::{
    AcceptedChange, AcceptedDrift, Revision, RunView, append_accepted_drift, file, informal_of, read_accepted_drift,
};
use crate::prompt::{
    CitingKind, DEFAULT_NORMATIVE_WORDS, Document, Documents, Drift, TextChange, compare_documents, read_documents,
};
use crate::report::{DriftReport, decisive_revision, drift_findings, drift_json, drift_text};
use crate::shell::shell_word;

#[derive(Debug, ClapArgs)]
pub(super) struct DriftArgs {
    /// Run whose documents are compared: its folder, or its address in a shared store.
    #[arg(default_value = "specs", add = run_folders())]
    pub folder: PathBuf,
    /// Document, or folder of documents, as it is now.
    #[arg(long, value_name = "DOCS")]
    pub docs: PathBuf,
    /// Requirement whose changed text you have read and for which the specification is still right, e.g. `R3`; for text that
    /// no requirement cites, the step or other part that does. Counts for exactly this text; can be repeated.
    #[arg(long, value_name = "ID", requires = "because", add = requirements())]
    pub accept: Vec<String>,
    /// Reason why the specification is still right; the report of the run shows it.
    #[arg(long, value_name = "TEXT", requires = "accept")]
    pub because: Option<String>,
    /// Output format: `text`, `json` (one object), or each change beside its line in the new documents, as `sarif`, `github`
    /// (annotations) or `markdown`.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "FORMAT")]
    pub format: FindingsFormat,
    #[command(flatten)]
    pub findings: FindingsFiles,
}

pub(super) fn drift(args: &DriftArgs) -> Result<Exit, Failure> {
    let place = RunPlace::find_existing(&args.folder)?;
    name_run_in(place.folder());
    if place.is_shared() && !args.accept.is_empty() {
        return Err(Failure::usage("--accept takes a run folder: a shared store keeps no accepted changes")
            .hint("begin a new run on the changed documents instead: tlaforge run DOCS --out ADDRESS"));
    }
    let folder = place.folder();
    let events = crate::journal::read(&folder.join("journal.jsonl")).fails(Exit::Usage)?;
    let view = RunView::from_entries(&events);
    let Some(revision) = decisive_revision(&view) else { return Err(no_revision(&args.folder)) };
    let RunDocuments { drift, .. } = RunDocuments::compare(folder, &args.docs, &view, revision)?;
    let path = |document: &str| path_of_document(&args.docs, document);
    let mut accepted = read_accepted_drift(folder).map_err(|error| accepted_drift_failure(&error))?;
    if let Some(because) = &args.because {
        let report = DriftReport { revision, drift: &drift, accepted: &accepted, file: &path };
        let added = accept(&report, &args.accept, because)?;
        append_accepted_drift(folder, &added, &added[0].time).map_err(|error| run_failure(&error))?;
        accepted.extend(added);
    }
    let report = DriftReport { revision, drift: &drift, accepted: &accepted, file: &path };
    let exit = print_drift(&report, args.format, &args.findings)?;
    if exit != Exit::Negative {
        return Ok(exit);
    }
    for line in next_commands(args, &report) {
        print_message(&line);
    }
    Ok(exit)
}

/// Prints the result, and returns its status.
pub(super) fn print_drift(
    report: &DriftReport<'_>,
    format: FindingsFormat,
    findings: &FindingsFiles,
) -> Result<Exit, Failure> {
    if !format.print(findings, || drift_findings(report))? {
        match format.plain() {
            Format::Text => print_result(&drift_text(report)),
            Format::Json => print_json_line(&drift_json(report)),
        }
    }
    if report.has_drift() {
        return Ok(Exit::Negative);
    }
    // Whether the text of a requirement that was not compared has changed is not known.
    Ok(if report.drift.not_compared.is_empty() { Exit::Ok } else { Exit::Undecided })
}

pub(super) fn no_revision(folder: &Path) -> Failure {
    let why = format!("{} has no revision yet, so there is nothing to compare", folder.display());
    Failure::new(Exit::Undecided, why).hint(format!("go on with the run: tlaforge resume {}", shell_word(folder)))
}

/// The path of a new document, from its path below the folder of documents.
pub(super) fn path_of_document(docs: &Path, document: &str) -> String {
    let path = if docs.is_file() { docs.to_owned() } else { docs.join(document) };
    path.display().to_string()
}

/// The informal specification and the documents of a run, the documents as they are now, and how they differ.
pub(super) struct RunDocuments {
    pub old: Vec<Document>,
    pub new: Documents,
    pub drift: Drift,
}

/// A text of the run.
pub(super) fn read_own(folder: &Path, what: &str, sha: &Sha) -> Result<String, Failure> {
    let missing = || Failure::usage(format!("{what} of the run is missing or was changed")).hint(RESTORE);
    read_artifact(folder, sha).ok_or_else(missing)
}

impl RunDocuments {
    /// Compares the documents that the run keeps with the new ones. It is an error if no requirement cites text.
    pub(super) fn compare(folder: &Path, docs: &Path, view: &RunView, revision: &Revision) -> Result<Self, Failure> {
        let mut old = Vec::new();
        for stored in &view.settings.docs {
            let text = read_own(folder, &format!("the document {}", stored.path), &stored.sha)?;
            old.push(Document { path: stored.path.clone(), text });
        }
        let new = read_documents(docs).fails(Exit::Usage)?;
        // Without a text, it would look as if its sentences were removed. An empty document has none.
        let is_unread =
        // Also if a folder above it is skipped.
        |path: &String| {
            let is_of = |skipped: &str| path == skipped || path.strip_prefix(skipped).is_some_and(|rest| rest.starts_with('/'));
            new.skipped.iter().find(|skipped| is_of(&skipped.path) && skipped.reason != "empty")
        };
        if let Some(skipped) = old.iter().find_map(|document| is_unread(&document.path)) {
            let path = docs.join(&skipped.path);
            let why = format!("{}, a document of the run, cannot be read: {}", path.display(), skipped.reason);
            return Err(Failure::usage(why).hint("restore it, or remove it if its text is elsewhere now"));
        }
        for skipped in new.skipped.iter().filter(|skipped| skipped.reason != "empty") {
            print_message(&format!("not compared: {}: {}", docs.join(&skipped.path).display(), skipped.reason));
        }
        Self { old, new, drift: Drift::default() }.of_revision(folder, view, revision)
    }

    /// The same documents, compared for this revision.
    pub(super) fn of_revision(self, folder: &Path, view: &RunView, revision: &Revision) -> Result<Self, Failure> {
        let number = revision.revision;
        let informal = match revision.hashes.get(file::INFORMAL) {
            Some(sha) => read_own(folder, &format!("{} of rev_{number}", file::INFORMAL), sha)?,
            None => String::new(),
        };
        // A run of an earlier version has no normative words.
        let chosen = Some(view.settings.normative_words.clone()).filter(|words| !words.is_empty());
        let words = chosen.unwrap_or_else(|| DEFAULT_NORMATIVE_WORDS.map(str::to_owned).to_vec());
        let drift = compare_documents(&informal, &self.old, &self.new.files, &words);
        if drift.compared.is_empty() {
            let why = format!("no requirement of rev_{number} cites text of its documents, so drift is not decided");
            return Err(Failure::new(Exit::Undecided, why)
                .hint(format!("see their places: tlaforge report {}", shell_word(folder))));
        }
        Ok(Self { drift, ..self })
    }
}

/// What the user accepts, or why that cannot be accepted. Writes nothing.
fn accept(report: &DriftReport<'_>, names: &[String], because: &str) -> Result<Vec<AcceptedDrift>, Failure> {
    let because = because.trim();
    if because.is_empty() {
        return Err(Failure::usage("--because is empty")
            .hint("say why the specification is still right: --because \"read, still right\""));
    }
    if because.contains(char::is_control) {
        return Err(Failure::usage("--because has a line break or another control character")
            .hint("give the reason on one line"));
    }
    refuse_secrets("--because", because)?;
    let changes = &report.drift.cited;
    let open: BTreeSet<&(CitingKind, String)> = changes.iter().flat_map(|change| report.open(change)).collect();
    let time = clock()();
    let mut accepted: Vec<AcceptedDrift> = Vec::new();
    for name in names {
        let Some(cites @ (kind, item)) = open.iter().find(|(_, open)| open == name) else {
            return Err(not_open(report, name, &open));
        };
        if accepted.iter().any(|known| known.item == *item) {
            continue;
        }
        let changes =
            changes.iter().filter(|change| report.open(change).contains(cites)).map(|change| AcceptedChange {
                change: change.kind,
                before: change.before.clone(),
                now: change.now.clone(),
                beside: change.beside.clone(),
            });
        accepted.push(AcceptedDrift {
            time: time.clone(),
            revision: report.revision.revision,
            informal: informal_of(report.revision),
            kind: *kind,
            item: item.clone(),
            because: because.to_owned(),
            changes: changes.collect(),
        });
    }
    Ok(accepted)
}

/// Why a name cannot be accepted.
fn not_open(report: &DriftReport<'_>, name: &str, open: &BTreeSet<&(CitingKind, String)>) -> Failure {
    let changes = &report.drift.cited;
    let is_concerned = |change| DriftReport::concerned(change).iter().any(|(_, item)| item == name);
    let is_cited_by = |change: &TextChange| change.cited_by.iter().any(|(_, item)| item == name);
    let why = if changes.iter().any(is_concerned) {
        format!("the changed text of {name} is accepted already")
    } else if changes.iter().any(is_cited_by) {
        format!("every change that {name} cites is cited by requirements, too; accept it for those")
    } else if report.drift.compared.iter().any(|id| id == name) {
        format!("the text that {name} cites has not changed")
    } else if report.drift.not_compared.iter().any(|(id, _)| id == name) {
        format!("{name} cites no text of the documents, so it is not compared")
    } else {
        format!("rev_{} has no requirement and no changed part {name}", report.revision.revision)
    };
    let names: Vec<&str> = open.iter().map(|(_, name)| name.as_str()).collect();
    let hint = if names.is_empty() {
        "nothing is left to accept".to_owned()
    } else {
        format!("to accept: {}", names.join(", "))
    };
    Failure::usage(why).hint(hint)
}

/// What a person can do about drift, as commands.
fn next_commands(args: &DriftArgs, report: &DriftReport<'_>) -> Vec<String> {
    let (folder, docs) = (shell_word(&args.folder), shell_word(&args.docs));
    let first = report.drift.cited.iter().map(|change| report.open(change)).find(|open| !open.is_empty());
    let items = first.into_iter().flatten().map(|(_, item)| format!(" --accept {}", shell_word(item)));
    let accept = format!(
        "note: if the specification is still right: tlaforge drift {folder} --docs {docs}{} --because \"read, still right\"",
        items.collect::<String>()
    );
    let forge = format!("note: otherwise forge again what it concerns: tlaforge resume {folder} --drift --docs {docs}");
    vec![accept, forge]
}

/// A folder beside the run folder that does not exist.
pub(super) fn new_folder(folder: &Path) -> PathBuf {
    let name = folder.components().next_back().map(|name| name.as_os_str().to_string_lossy().into_owned());
    let name = name.filter(|name| !name.starts_with('.')).unwrap_or_else(|| "specs".to_owned());
    let beside = folder.parent().unwrap_or(Path::new(""));
    let mut number = 2;
    loop {
        let path = beside.join(format!("{name}-{number}"));
        if !path.exists() {
            return path;
        }
        number += 1;
    }
}

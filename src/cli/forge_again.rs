//! `tlaforge resume --drift`: begins a run on changed documents from a revision of an earlier run. The earlier run stays as
//! it is, and nothing of it counts as evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::drift::{RunDocuments, new_folder, no_revision, path_of_document, print_drift, read_own};
use super::failure::{Fails, Failure};
use super::forge::drive_and_report;
use super::new_run::{DocumentSource, Earlier, NewRun, create_run, refuse_folder_of_documents};
use super::objective::read_objective;
use super::policy_file::PolicyFile;
use super::progress::Display;
use super::provider::{AnswerSource, check_provider_name};
use super::resume::{ResumeArgs, merge_settings, parse_recorded_settings};
use super::run_failure::{RESTORE, accepted_drift_failure};
use super::run_folder::name_of_run;
use super::run_place::RunPlace;
use super::secrets::refuse_secrets;
use super::signals::cancel_on_signals;
use super::telemetry::name_run_in;
use super::trust::{make_paths_absolute, refuse_untrusted_journal};
use crate::exit::Exit;
use crate::files;
use crate::journal::{RunLock, Sha};
use crate::pipeline::{Decision, MadeFrom, Revision, RunView, StoredFile, file, read_accepted_drift};
use crate::prompt::{Document, EARLIER, MovedCitations, compare_documents, parse_requirements};
use crate::report::{DriftReport, decisive_revision, drift_feedback};
use crate::shell::shell_word;

pub(super) async fn forge_again(args: &ResumeArgs, docs: &Path) -> Result<Exit, Failure> {
    let earlier_run = RunPlace::find_existing(&args.folder)?;
    let folder = earlier_run.folder();
    // Until the new run begins, which then gives the command its name.
    name_run_in(folder);
    // Its last revision may still change.
    if let Some(held) = RunLock::holder(folder) {
        return Err(Failure::usage(held.to_string()).hint("forge again once it has ended"));
    }
    let out = match &args.out {
        Some(out) => out.clone(),
        None if earlier_run.is_shared() => {
            return Err(Failure::usage("a run at an address needs --out for the new one")
                .hint("name another address, or a folder: --out DIR"));
        }
        None => new_folder(&args.folder),
    };
    let new_run = RunPlace::find(&out)?;
    args.pages.page.check(Some(new_run.folder()))?;
    let events = crate::journal::read(&folder.join("journal.jsonl")).fails(Exit::Usage)?;
    let view = RunView::from_entries(&events);
    let decisive = decisive_revision(&view).ok_or_else(|| no_revision(&args.folder))?;
    let documents = RunDocuments::compare(folder, docs, &view, decisive)?;
    let accepted = read_accepted_drift(folder).map_err(|error| accepted_drift_failure(&error))?;
    let path = |document: &str| path_of_document(docs, document);
    // As `drift` does, so that both agree whether there is drift.
    let of_decisive = DriftReport { revision: decisive, drift: &documents.drift, accepted: &accepted, file: &path };
    if !of_decisive.has_drift() {
        return print_drift(&of_decisive, args.output.format, &args.output.findings);
    }
    let summary = of_decisive.summary();
    let revision = documented_revision(&view, decisive).ok_or_else(|| no_documented_revision(&args.folder, docs))?;
    let documents = if revision.revision == decisive.revision {
        documents
    } else {
        documents.of_revision(folder, &view, revision)?
    };
    let report = DriftReport { revision, drift: &documents.drift, accepted: &accepted, file: &path };
    refuse_folder_of_documents(new_run.folder(), docs)?;
    refuse_reserved_folder(&documents.new.files)?;
    // The recording of the earlier run has no answers for changed documents, and must not be overwritten.
    let mut recorded = parse_recorded_settings(&view.settings.command_line)?;
    (recorded.recording, recorded.record, recorded.strict_replay) = (None, None, None);
    let flags = args.forge.layer();
    if recorded.provider.as_deref() == Some("replay") && flags.provider.is_none() && flags.recording.is_none() {
        let why = format!(
            "{} was replayed from a recording, which has no answers for changed documents",
            args.folder.display()
        );
        return Err(Failure::usage(why)
            .hint("choose who answers: --provider claude, anthropic, openai or handoff, or --recording FILE"));
    }
    let mut settings = merge_settings(&recorded, &flags)?;
    check_provider_name(&settings.provider)?;
    make_paths_absolute(&mut settings);
    refuse_untrusted_journal(&recorded, &flags, &settings)?;
    let objective = read_objective(args.forge.objective.as_deref())?.or_else(|| view.objective().cloned());
    let display = Arc::new(Display::new(args.output.format.plain()));
    if revision.revision != decisive.revision {
        display.note(&format!(
            "rev_{} changes the protocol or takes another reading; rev_{} is the last one before it that models the documents as \
             they are",
            decisive.revision, revision.revision
        ));
        if accepted.iter().any(|accepted| accepted.revision == decisive.revision) {
            display.note(&format!(
                "changes that were accepted for rev_{} count as open, because the new run starts from rev_{}",
                decisive.revision, revision.revision
            ));
        }
    }
    display.note(&format!("{summary}; forging it again in {}", shell_word(&out)));
    let mut earlier = Earlier {
        exemplars: stored_texts(folder, "the exemplar", &view.settings.exemplars)?,
        ..take_over(folder, &view, &report, &documents)?
    };
    if settings.provider == "handoff" {
        // It sees only the reads that are listed for it, so without a list every document counts, as in any run.
        earlier.made_from.read_documents.clear();
    }
    let policy = choose_policy(args, folder, &view)?;
    let job = NewRun {
        out: new_run,
        interface: view.settings.interface_names.clone(),
        docs: DocumentSource::Loaded(documents.new),
        answers: AnswerSource::Configured,
        objective,
        policy,
        earlier: Some(earlier),
    };
    let (run, prepared) = create_run(job, &settings, &display, cancel_on_signals()).await?;
    drive_and_report(&run, prepared, docs, &display, (args.output.format, &args.output.findings), &args.pages).await
}

/// The last revision on the way to this one that models the documents as they are: what the run changed afterwards, to
/// repair a flaw or to try another reading, may be decided otherwise by the new documents.
fn documented_revision<'a>(view: &'a RunView, decisive: &Revision) -> Option<&'a Revision> {
    view.lineage(decisive.revision).into_iter().rev().find(|revision| !revision.repaired && !revision.other_reading)
}

fn no_documented_revision(folder: &Path, docs: &Path) -> Failure {
    let why = format!(
        "no revision of {} models the documents as they are: each changes the protocol or takes another reading",
        folder.display()
    );
    Failure::new(Exit::Undecided, why).hint(format!("begin anew: tlaforge run {}", shell_word(docs)))
}

/// A new document must not look like one of the earlier ones.
fn refuse_reserved_folder(new: &[Document]) -> Result<(), Failure> {
    match new.iter().find(|document| document.path.contains(EARLIER)) {
        Some(document) => {
            Err(Failure::usage(format!("{}: {EARLIER} marks places of the earlier documents", document.path))
                .hint("rename the folder of the document"))
        }
        None => Ok(()),
    }
}

/// What the new run starts from.
fn take_over(
    folder: &Path,
    view: &RunView,
    report: &DriftReport<'_>,
    documents: &RunDocuments,
) -> Result<Earlier, Failure> {
    let (revision, RunDocuments { old, new, .. }) = (report.revision, documents);
    let mut texts = BTreeMap::new();
    for name in file::TAKEN_OVER {
        if let Some(sha) = revision.hashes.get(name) {
            texts.insert(name.to_owned(), read_own(folder, &format!("{name} of rev_{}", revision.revision), sha)?);
        }
    }
    let moved = MadeFrom::move_citations(&texts, old, &new.files);
    let digests = |texts: &BTreeMap<String, String>| -> BTreeMap<String, Sha> {
        texts.iter().map(|(name, text)| (name.clone(), Sha::digest(text))).collect()
    };
    let (decisions, undecided) = move_decisions(&revision.decisions, old, &new.files);
    let feedback = drift_feedback(report, &undecided);
    refuse_secrets("the changed text", &feedback)?;
    let requirements = moved.get(file::INFORMAL).map(|text| parse_requirements(text)).unwrap_or_default();
    let made_from = MadeFrom {
        folder: folder_name(&name_of_run(folder)),
        run: digest_of_first_line(folder)?,
        revision: revision.revision,
        outcome: revision.outcome.clone(),
        docs: view.settings.docs.clone(),
        texts: digests(&texts),
        artifacts: digests(&moved),
        concerned: report.concerned_parts(),
        requirements,
        read_documents: documents_read(view, old, &new.files),
        decisions,
        feedback,
    };
    let old = old.iter().map(|document| document.text.clone());
    let texts = texts.into_values().chain(moved.into_values()).chain(old).collect();
    let normative_words = view.settings.normative_words.clone();
    Ok(Earlier { made_from: Box::new(made_from), texts, exemplars: Vec::new(), normative_words })
}

/// The decisions about text that has not changed, with their new places, and the others. A decided question is no open point
/// any more, so the drift of the specification does not show it.
fn move_decisions<'a>(all: &'a [Decision], old: &[Document], new: &[Document]) -> (Vec<Decision>, Vec<&'a Decision>) {
    let place = |decision: &Decision| {
        let place = decision.open_point.place.as_deref().unwrap_or_default();
        place.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // As requirements, so that they are compared in the same way: text that is new beside theirs counts, too.
    let requirement = |(number, decision)| format!("R{} [{}] It was decided.\n", number + 1, place(decision));
    let drift = compare_documents(&all.iter().enumerate().map(requirement).collect::<String>(), old, new, &[]);
    let citations = MovedCitations::new(old, new);
    let (mut kept, mut undecided) = (Vec::new(), Vec::new());
    for (number, decision) in all.iter().enumerate() {
        let id = format!("R{}", number + 1);
        let is_same = drift.compared.contains(&id)
            && !drift.cited.iter().any(|change| change.cited_by.iter().any(|(_, item)| *item == id));
        let mut moved = decision.clone();
        let place = citations.move_in(&format!("R1 [{}]", place(decision)));
        moved.open_point.place = place.strip_prefix("R1 [").and_then(|rest| rest.strip_suffix(']')).map(str::to_owned);
        moved.open_point.misplaced = None;
        if is_same && MadeFrom::cites_lines(&moved, new) {
            kept.push(moved);
        } else {
            undecided.push(decision);
        }
    }
    (kept, undecided)
}

/// The new documents whose normative sentences have to be accounted for: those that the earlier run read, and those that
/// are new or have changed.
fn documents_read(view: &RunView, old: &[Document], new: &[Document]) -> BTreeSet<String> {
    let read = &view.specification.read_documents;
    if read.is_empty() {
        return BTreeSet::new();
    }
    let counts = |document: &&Document| read.contains(&document.path) || !old.contains(document);
    new.iter().filter(counts).map(|document| document.path.clone()).collect()
}

fn stored_texts(folder: &Path, what: &str, stored: &[StoredFile]) -> Result<Vec<(String, String)>, Failure> {
    let text = |one: &StoredFile| read_own(folder, &format!("{what} {}", one.path), &one.sha);
    stored.iter().map(|one| Ok((one.path.clone(), text(one)?))).collect()
}

/// The policy of the earlier run, unless the user chooses another one.
fn choose_policy(args: &ResumeArgs, folder: &Path, view: &RunView) -> Result<Option<PolicyFile>, Failure> {
    if let Some(path) = &args.forge.policy {
        return PolicyFile::read(path).map(Some);
    }
    let stored: Vec<StoredFile> = view.settings.policy.iter().cloned().collect();
    let policy = stored_texts(folder, "the policy", &stored)?.pop();
    policy.map(|(name, text)| PolicyFile::check(name, text)).transpose()
}

fn folder_name(folder: &Path) -> String {
    let path: PathBuf = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Identifies a run: its first event has its settings, the digests of its documents and the time of its start.
fn digest_of_first_line(folder: &Path) -> Result<Sha, Failure> {
    let path = folder.join("journal.jsonl");
    let text = files::read_below(folder, &path, files::LOG)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())).hint(RESTORE))?;
    Ok(Sha::digest(text.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::OpenPoint;

    #[test]
    fn only_decisions_about_unchanged_lines_are_kept() {
        let documents = |all: &[(&str, &str)]| -> Vec<Document> {
            all.iter().map(|(path, text)| Document { path: (*path).to_owned(), text: (*text).to_owned() }).collect()
        };
        let old = documents(&[("a.md", "One.\nTwo.\n\nThree.\n\nFour.\n"), ("b.md", "Five.\n")]);
        let new = documents(&[("a.md", "New.\n\nOne.\nTwo.\n\nThree.\nAdded.\n\nOther.\n")]);
        let decision = |place: Option<&str>| Decision {
            open_point: OpenPoint {
                id: "O1".to_owned(),
                place: place.map(str::to_owned),
                question: "Which?".to_owned(),
                taken: "this".to_owned(),
                otherwise: "that".to_owned(),
                affects: Vec::new(),
                misplaced: None,
                origin: None,
            },
            reading: "this".to_owned(),
        };
        for (place, kept) in [
            (Some("docs/a.md:1"), Some("docs/a.md:3")),
            (Some("a.md, lines 1-2"), Some("docs/a.md:3-4")),
            // New beside it; changed; gone with its document.
            (Some("docs/a.md:4"), None),
            (Some("docs/a.md:1, 6"), None),
            (Some("docs/b.md:1"), None),
            // Nothing to compare.
            (Some("docs/a.md"), None),
            (Some("\u{a7}3"), None),
            (Some("docs/a.md:1; docs/missing.md:2"), None),
            (None, None),
        ] {
            let all = [decision(place)];
            let (moved, undecided) = move_decisions(&all, &old, &new);
            assert_eq!(moved.first().and_then(|one| one.open_point.place.as_deref()), kept, "{place:?}");
            assert_eq!(undecided.len(), usize::from(kept.is_none()), "{place:?}");
        }
    }
}

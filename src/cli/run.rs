//! `tlaforge run`: documentation in, specification out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::args::{Format, RunArgs};
use super::failure::{Fails, Failure};
use super::forge::{Answers, Equipment, desk, forge, open, prompts_in_use, run_failure, settings};
use super::objective;
use super::own_policy::OwnPolicy;
use super::progress::Display;
use super::provider::refuse_secrets;
use super::surroundings::cancel_on_signals;
use super::trust::{begin_recording, folder_here, make_absolute};
use crate::config::{Layer, Settings};
use crate::eval::Checklist;
use crate::exit::Exit;
use crate::files;
use crate::journal::RunLock;
use crate::monitor::RunObjective;
use crate::pipeline::{self, Interface, Outcome, Rules, Run, RunView};
use crate::process::Cancel;
use crate::prompt::{Documents, Exemplar, read_documents, read_exemplars};
use crate::report::skipped_lines;

/// Exemplars that the program carries.
const EXEMPLARS: &[(&str, &str)] = &[
    ("Escrow.tla", include_str!("../../exemplars/Escrow.tla")),
    ("Escrow.cfg", include_str!("../../exemplars/Escrow.cfg")),
    ("FencedLease.tla", include_str!("../../exemplars/FencedLease.tla")),
    ("FencedLease.cfg", include_str!("../../exemplars/FencedLease.cfg")),
    ("OrderedForks.tla", include_str!("../../exemplars/OrderedForks.tla")),
    ("OrderedForks.cfg", include_str!("../../exemplars/OrderedForks.cfg")),
    ("QuorumVote.tla", include_str!("../../exemplars/QuorumVote.tla")),
    ("QuorumVote.cfg", include_str!("../../exemplars/QuorumVote.cfg")),
    ("RetryKey.tla", include_str!("../../exemplars/RetryKey.tla")),
    ("RetryKey.cfg", include_str!("../../exemplars/RetryKey.cfg")),
    ("TicketLock.tla", include_str!("../../exemplars/TicketLock.tla")),
    ("TicketLock.cfg", include_str!("../../exemplars/TicketLock.cfg")),
];

pub(super) async fn run(args: RunArgs) -> Result<Exit, Failure> {
    let (docs, interface, concern) = match (&args.docs, &args.case) {
        (Some(docs), _) => (docs.clone(), Interface::default(), None),
        (None, Some(case)) => {
            let checklist = Checklist::read(case).map_err(|e| Failure::usage(e.to_string()).hint(e.remedy.clone()))?;
            let docs = case.join("docs");
            if docs.exists() && !files::is_within(case, Path::new("docs")) {
                return Err(Failure::usage(format!("{} is a link that leads out of the case", docs.display()))
                    .hint("give the documents themselves: tlaforge run DOCS"));
            }
            (docs, checklist.interface, checklist.concern)
        }
        (None, None) => return Err(Failure::usage("nothing to read: give a document or a folder")),
    };
    let concern = args.concern.clone().or(concern);
    let objective = objective::read(args.forge.objective.as_deref())?;
    let flags = Layer { exemplars: args.exemplars.clone(), concern, ..args.forge.layer() };
    let mut settings = settings(flags)?;
    make_absolute(&mut settings);
    let policy = args.forge.policy.clone();
    let job = NewRun { out: args.out, docs: Docs::At(docs), interface, answers: Answers::AsSet, objective, policy };
    begin(job, settings, args.forge.format()).await
}

/// Where the documents come from.
pub(super) enum Docs {
    /// A file or a folder.
    At(PathBuf),
    /// Already read.
    Read(Documents),
}

/// What a new run is made of.
pub(super) struct NewRun {
    pub out: PathBuf,
    pub docs: Docs,
    pub interface: Interface,
    pub answers: Answers,
    pub objective: Option<RunObjective>,
    /// A policy file of the user's own.
    pub policy: Option<PathBuf>,
}

/// Makes a run and drives it to its end.
pub(super) async fn begin(job: NewRun, settings: Settings, format: Format) -> Result<Exit, Failure> {
    let display = Arc::new(Display::new(format));
    let (run, equipment) = set_up(job, &settings, &display, cancel_on_signals()).await?;
    forge(&run, equipment, &display, format).await
}

/// Makes a run. Nothing is written before everything that can be known to be wrong has been looked at.
pub(super) async fn set_up(
    job: NewRun,
    settings: &Settings,
    display: &Arc<Display>,
    cancel: Cancel,
) -> Result<(Run, Equipment), Failure> {
    refuse_existing(&job.out)?;
    let policy = job.policy.as_deref().map(|path| OwnPolicy::read(path)).transpose()?;
    let documents = match job.docs {
        Docs::At(path) if is_folder_of(&job.out, &path) => {
            return Err(Failure::usage(format!(
                "{} is where the documents are, and a run keeps its own files in its folder",
                job.out.display()
            ))
            .hint("forge into another folder: --out DIR"));
        }
        Docs::At(path) => read_documents(&path).fails(Exit::Usage)?,
        Docs::Read(documents) => documents,
    };
    // Everything that comes into the journal, into the store or before a model.
    let names = documents.files.iter().map(|d| &d.path).chain(documents.skipped.iter().map(|s| &s.path));
    for name in names {
        refuse_secrets("the name of a document", name)?;
    }
    for document in &documents.files {
        refuse_secrets(&document.path, &document.text)?;
    }
    let exemplars = exemplars(settings)?;
    for (name, text) in &exemplars {
        refuse_secrets("the name of an exemplar", name)?;
        refuse_secrets(&format!("the exemplar {name}"), text)?;
    }
    refuse_secrets("the interface of the case", &serde_json::to_string(&job.interface).unwrap_or_default())?;
    let equipment = desk(settings, job.answers, &job.out, display, cancel).await?;
    let desk = &equipment.desk;
    if let Some(objective) = &job.objective {
        objective::refuse_impossible(objective, settings, desk.caller.name())?;
        let revisions = settings.max_revisions.saturating_add(1);
        let ahead = objective::Ahead { view: &RunView::default(), parent: None, next: 0, revisions };
        objective::refuse_too_far(objective, settings, ahead)?;
    }
    for line in skipped_lines(&documents.skipped) {
        display.note(&line);
    }
    let own: Vec<&str> = desk.prompts.templates().iter().filter(|t| t.own).map(|t| t.name).collect();
    if !own.is_empty() {
        display.note(&format!("prompts of your own: {}", own.join(", ")));
    }
    let run = open(&job.out, display)?;
    // Between the look above and the lock another process may have begun a run here.
    if !run.entries().is_empty() {
        return Err(occupied(&job.out, &run.view()));
    }
    let keep = |path: &str, text: &str| run.keep(path, text).map_err(|e| run_failure(&e));
    let mut started = pipeline::Settings {
        rules: Rules {
            max_revisions: settings.max_revisions,
            repair: settings.repair,
            strengthen: settings.strengthen,
            ..Rules::default()
        },
        draft: settings.draft,
        candidates: settings.candidates,
        objective: job.objective,
        concern: settings.given.concern.clone(),
        interface: job.interface.words(),
        interface_names: job.interface,
        docs: Vec::new(),
        skipped: documents.skipped.clone(),
        exemplars: Vec::new(),
        prompts: prompts_in_use(&desk.prompts),
        policy: None,
        command_line: surroundings(settings, &equipment),
    };
    for document in &documents.files {
        started.docs.push(keep(&document.path, &document.text)?);
    }
    for (name, text) in &exemplars {
        started.exemplars.push(keep(name, text)?);
    }
    started.policy = policy.map(|policy| policy.govern(&run)).transpose()?;
    if let Some(path) = &settings.given.record {
        begin_recording(path)?;
    }
    run.start(&started).map_err(|e| run_failure(&e))?;
    Ok((run, equipment))
}

/// What a resumed run needs to find again. Who was chosen goes on: another one would be paid by somebody else.
pub(super) fn surroundings(settings: &Settings, equipment: &Equipment) -> Value {
    let mut value = serde_json::to_value(&settings.given).unwrap_or_else(|_| json!({}));
    value["provider"] = json!(equipment.desk.caller.name());
    value["checker"] = json!(equipment.checker);
    value
}

fn refuse_existing(out: &Path) -> Result<(), Failure> {
    if out.exists() && !out.is_dir() {
        return Err(Failure::usage(format!("{} is a file; --out takes a folder", out.display())));
    }
    if !Run::exists(out) {
        return refuse_strangers(out);
    }
    if let Some(held) = RunLock::holder(out) {
        return Err(Failure::usage(held.to_string()).hint("or forge into another folder: --out DIR"));
    }
    let events = crate::journal::read(&out.join("journal.jsonl")).fails(Exit::Usage)?;
    if events.is_empty() {
        // Killed within its first line: nothing was begun.
        return refuse_strangers(out);
    }
    let view = RunView::from_entries(&events);
    Err(occupied(out, &view))
}

/// Whether documents (a folder, or one file) stand right in a folder.
fn is_folder_of(out: &Path, docs: &Path) -> bool {
    let (Ok(out), Ok(docs)) = (out.canonicalize(), docs.canonicalize()) else { return false };
    out == docs || (docs.is_file() && docs.parent() == Some(&out))
}

/// Refuses a folder that holds files of the user's own under the names that a run uses. A run clears its `workspace/`, and
/// a `Spec.tla` that is not the run's would look approved in the end.
fn refuse_strangers(out: &Path) -> Result<(), Failure> {
    // StoredFile artifacts alone are left by a run that was killed before its first event.
    let is_there =
        |name: &&str| std::fs::symlink_metadata(out.join(name)).is_ok_and(|meta| meta.is_dir() || meta.len() > 0);
    let own: Vec<&str> = pipeline::file::VISIBLE.into_iter().filter(is_there).collect();
    if !own.is_empty() {
        let (shown, them) = (out.display(), if own.len() == 1 { "it" } else { "them" });
        return Err(Failure::usage(format!(
            "{shown} holds {}, which no run of tlaforge put there, and a run would write {them}",
            own.join(", ")
        ))
        .hint("forge into a folder of its own: --out DIR")
        .hint(format!("or move {them} away first")));
    }
    for name in ["workspace", "history", "handoff", "candidates"] {
        let dir = out.join(name);
        if dir.is_file() {
            return Err(Failure::usage(format!("{} is a file, and a run would make a folder there", dir.display()))
                .hint("forge into a folder of its own: --out DIR"));
        }
        if std::fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Failure::usage(format!(
                "{} holds files that are not of a run, and a run would use that folder",
                dir.display()
            ))
            .hint("forge into a folder of its own: --out DIR"));
        }
    }
    Ok(())
}

fn occupied(out: &Path, view: &RunView) -> Failure {
    let shown = out.display();
    match view.finished.as_ref().map(|f| f.outcome) {
        Some(outcome) if outcome != Outcome::Stopped => {
            Failure::usage(format!("{shown} holds a finished run ({})", outcome.name()))
                .hint("forge into another folder: --out DIR")
                .hint(format!(
                    "branch off from one of its revisions: tlaforge resume {shown} --from rev_0 --at formalize"
                ))
                .hint(format!("read it: tlaforge report {shown}"))
        }
        _ => Failure::usage(format!("{shown} holds an unfinished run"))
            .hint(format!("go on with it: tlaforge resume {shown}"))
            .hint("or forge into another folder: --out DIR"),
    }
}

/// The exemplars: named, or in `./exemplars`, or those that the program carries.
fn exemplars(settings: &Settings) -> Result<Vec<(String, String)>, Failure> {
    let dir = match &settings.given.exemplars {
        Some(dir) => Some(dir.clone()),
        None => folder_here("exemplars")?,
    };
    let Some(dir) = dir else {
        return Ok(EXEMPLARS.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect());
    };
    let read = read_exemplars(&dir).fails(Exit::Usage)?;
    let files = |e: Exemplar| {
        let cfg = e.cfg.map(|cfg| (format!("{}.cfg", e.name), cfg));
        std::iter::once((format!("{}.tla", e.name), e.module)).chain(cfg)
    };
    Ok(read.into_iter().flat_map(files).collect())
}

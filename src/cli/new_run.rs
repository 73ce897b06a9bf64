//! Creates a run folder from documents and settings: shared by `run`, `demo` and `eval --suite`. Writes nothing before
//! everything has been checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::failure::{Fails, Failure};
use super::forge::{
    Preparation, draft, drive_and_report, has_contracts, prepare, prompts_in_use, reads_blindly, routing_settings,
    settings_to_journal, strengthening_rounds,
};
use super::format::{FindingsFiles, FindingsFormat};
use super::objective::{Continuation, refuse_impossible, refuse_unreachable};
use super::page::RunPageArgs;
use super::policy_file::PolicyFile;
use super::progress::Display;
use super::provider::AnswerSource;
use super::run_failure::run_failure;
use super::run_folder::{FOLDERS, name_of_run, open_run, refuse_files_for_folders};
use super::run_place::RunPlace;
use super::secrets::refuse_secrets;
use super::signals::cancel_on_signals;
use super::trust::{create_recording, default_folder};
use crate::config::{Draft, Settings};
use crate::exit::Exit;
use crate::journal::RunLock;
use crate::monitor::RunObjective;
use crate::nodes::NodeContext;
use crate::pipeline::{self, Interface, MadeFrom, Outcome, RoutingSettings, Run, RunView};
use crate::process::Cancel;
use crate::prompt::{
    DEFAULT_NORMATIVE_WORDS, Documents, EARLIER_NORMATIVE_WORD_COUNT, Exemplar, read_documents, read_exemplars,
};
use crate::report::skipped_lines;
use crate::shell::shell_word;
use crate::tla::is_module_name;

// Compiled in, so that an installed program needs no file of the repository.
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

/// Maximum number of skipped files with the same reason that get a line each at the start of a run; the report lists all.
const MAX_LISTED_SKIPPED: usize = 5;

pub(super) enum DocumentSource {
    /// A file or a folder.
    Path(PathBuf),
    Loaded(Documents),
}

pub(super) struct NewRun {
    pub out: RunPlace,
    pub docs: DocumentSource,
    pub interface: Interface,
    pub answers: AnswerSource,
    pub objective: Option<RunObjective>,
    pub policy: Option<PolicyFile>,
    /// What it takes over from an earlier run.
    pub earlier: Option<Earlier>,
}

/// What a run takes over from an earlier one with earlier documents.
pub(super) struct Earlier {
    pub made_from: Box<MadeFrom>,
    /// The texts that `made_from` names.
    pub texts: Vec<String>,
    pub exemplars: Vec<(String, String)>,
    /// The words that made a sentence normative in it.
    pub normative_words: Vec<String>,
}

/// Creates a run and drives it to its end.
pub(super) async fn start_and_drive(
    job: NewRun,
    settings: Settings,
    outputs: (FindingsFormat, &FindingsFiles),
    pages: &RunPageArgs,
) -> Result<Exit, Failure> {
    pages.page.check(Some(job.out.folder()))?;
    let display = Arc::new(Display::new(outputs.0.plain()));
    let docs = match &job.docs {
        DocumentSource::Path(path) => path.clone(),
        DocumentSource::Loaded(_) => PathBuf::new(),
    };
    let (run, prepared) = create_run(job, &settings, &display, cancel_on_signals()).await?;
    drive_and_report(&run, prepared, &docs, &display, outputs, pages).await
}

/// Creates a run. Checks everything that can be checked before it writes anything.
pub(super) async fn create_run(
    job: NewRun,
    settings: &Settings,
    display: &Arc<Display>,
    cancel: Cancel,
) -> Result<(Run, Preparation), Failure> {
    let out = job.out.folder();
    refuse_existing(out)?;
    let documents = match job.docs {
        DocumentSource::Path(path) => {
            refuse_folder_of_documents(out, &path)?;
            read_documents(&path).fails(Exit::Usage)?
        }
        DocumentSource::Loaded(documents) => documents,
    };
    // Everything that is written to the journal or the store, or sent to a model.
    let names = documents.files.iter().map(|d| &d.path).chain(documents.skipped.iter().map(|s| &s.path));
    for name in names {
        refuse_secrets("the name of a document", name)?;
    }
    for document in &documents.files {
        refuse_secrets(&document.path, &document.text)?;
    }
    let exemplars = match &job.earlier {
        Some(earlier) => earlier.exemplars.clone(),
        None => exemplars(settings)?,
    };
    for (name, text) in &exemplars {
        refuse_secrets("the name of an exemplar", name)?;
        refuse_secrets(&format!("the exemplar {name}"), text)?;
    }
    refuse_secrets("the interface of the case", &serde_json::to_string(&job.interface).unwrap_or_default())?;
    let prepared = prepare(settings, job.answers, out, display, cancel).await?;
    let context = &prepared.context;
    // After `prepare`, because the provider that was chosen decides whether costs are known.
    if let Some(objective) = &job.objective {
        refuse_impossible(objective, settings, context.caller.name())?;
        // `max_revisions` does not count the first revision.
        let revisions = settings.max_revisions.saturating_add(1);
        let ahead = Continuation { view: &RunView::default(), parent: None, next: 0, revisions };
        refuse_unreachable(objective, settings, ahead)?;
    }
    for line in skipped_lines(&documents.skipped, MAX_LISTED_SKIPPED) {
        display.note(&line);
    }
    let own: Vec<&str> = context.prompts.templates().iter().filter(|t| t.own).map(|t| t.name).collect();
    if !own.is_empty() {
        display.note(&format!("using your own prompts: {}", own.join(", ")));
    }
    let module = module_name(settings.given.module.as_deref())?;
    let run = open_run(&job.out, display)?;
    // Another process may have started a run here between the check above and the lock.
    if !run.entries().is_empty() {
        return Err(occupied_failure(out, &run.view()));
    }
    let keep = |path: &str, text: &str| run.keep(path, text).map_err(|e| run_failure(&e));
    let mut started = pipeline::Settings {
        routing: RoutingSettings {
            contracts: has_contracts(settings, &prepared.context),
            strengthen: strengthening_rounds(settings, &prepared.context),
            judges_mutants: settings.mutants > 0,
            requires_bounds_accepted: true,
            ..routing_settings(settings, RoutingSettings::default())
        },
        draft: draft(settings, context, documents.files.iter().map(|document| document.text.len()).sum()),
        candidates: settings.candidates,
        blind_reading: reads_blindly(settings, &prepared.context),
        reads_assertions: !context.replays_earlier_version(),
        objective: job.objective,
        concern: settings.given.concern.clone(),
        normative_words: normative_words(&settings.given.normative_words, context),
        module,
        interface: job.interface.words(),
        interface_names: job.interface,
        docs: Vec::new(),
        skipped: documents.skipped.clone(),
        exemplars: Vec::new(),
        prompts: prompts_in_use(&context.prompts),
        policy: None,
        made_from: None,
        command_line: settings_to_journal(settings, &prepared),
    };
    for document in &documents.files {
        started.docs.push(keep(&document.path, &document.text)?);
    }
    for (name, text) in &exemplars {
        started.exemplars.push(keep(name, text)?);
    }
    if let Some(Earlier { made_from, texts, normative_words, .. }) = job.earlier {
        // The specification accounts for those sentences. A run of version 0.1 has no words.
        if settings.given.normative_words.is_empty() && !normative_words.is_empty() {
            started.normative_words = normative_words;
        }
        for text in &texts {
            run.store().put(text).map_err(|e| run_failure(&e.into()))?;
        }
        started.made_from = Some(made_from);
        // The first request asks for another version of the informal specification.
        started.draft = Draft::Nodes;
    }
    started.policy = job.policy.map(|policy| policy.apply_to(&run)).transpose()?;
    // Before `run_started`: `resume` accepts the recorded path only if a recording is there.
    if let Some(path) = &settings.given.record {
        create_recording(path)?;
    }
    // Last: the run exists once this event is durable, and everything that it names must be in the store by then.
    run.start(&started).map_err(|e| run_failure(&e))?;
    Ok((run, prepared))
}

/// The name that the user chose for the module.
fn module_name(given: Option<&str>) -> Result<Option<String>, Failure> {
    match given {
        Some(name) if !is_module_name(name) => Err(Failure::usage(format!("no module can be called {name:?}"))
            .hint("--module takes letters, digits and _, with a letter among them, and no name of a standard module")),
        name => Ok(name.map(str::to_owned)),
    }
}

/// The words that make a sentence normative: those given; else those of the recording, which has no answers about other sentences; else
/// the default ones. An empty word looks for nothing.
fn normative_words(given: &[String], context: &NodeContext) -> Vec<String> {
    if given.is_empty() {
        let recorded = context.caller.normative_words().map(<[String]>::to_vec);
        let count = if context.is_replay() { EARLIER_NORMATIVE_WORD_COUNT } else { DEFAULT_NORMATIVE_WORDS.len() };
        let default = || DEFAULT_NORMATIVE_WORDS[..count].iter().map(|word| (*word).to_owned()).collect();
        return recorded.unwrap_or_else(default);
    }
    given.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

fn refuse_existing(out: &Path) -> Result<(), Failure> {
    if out.exists() && !out.is_dir() {
        return Err(Failure::usage(format!("{} is a file; --out takes a folder", out.display())));
    }
    if !Run::exists(out) {
        return refuse_foreign_files(out);
    }
    // Before the journal is read: a process that has just started holds the lock before its first event.
    if let Some(held) = RunLock::holder(out) {
        return Err(Failure::usage(held.to_string()).hint("or choose another folder: --out DIR"));
    }
    let events = crate::journal::read(&out.join("journal.jsonl")).fails(Exit::Usage)?;
    if events.is_empty() {
        // The process was killed within the first line, so no run has begun.
        return refuse_foreign_files(out);
    }
    let view = RunView::from_entries(&events);
    Err(occupied_failure(out, &view))
}

pub(super) fn refuse_folder_of_documents(out: &Path, docs: &Path) -> Result<(), Failure> {
    if contains_documents(out, docs) {
        let why = format!("{} contains the documents, and a run needs a folder of its own", out.display());
        return Err(Failure::usage(why).hint("choose another folder: --out DIR"));
    }
    Ok(())
}

/// Whether `out` is the folder of the documents.
fn contains_documents(out: &Path, docs: &Path) -> bool {
    // Canonical paths, because `.` or a link can name the same folder. A folder that does not exist yet contains
    // nothing.
    let (Ok(out), Ok(docs)) = (out.canonicalize(), docs.canonicalize()) else { return false };
    out == docs || (docs.is_file() && docs.parent() == Some(&out))
}

/// Refuses a folder that contains other files under the names that a run uses. A run clears its `workspace/`, and a
/// foreign `Spec.tla` would look approved at the end.
fn refuse_foreign_files(out: &Path) -> Result<(), Failure> {
    // A run that was killed before its first event leaves only stored artifacts, which are not in `VISIBLE`.
    let is_there =
        |name: &&str| std::fs::symlink_metadata(out.join(name)).is_ok_and(|meta| meta.is_dir() || meta.len() > 0);
    let own: Vec<&str> = pipeline::file::VISIBLE.into_iter().filter(is_there).collect();
    if !own.is_empty() {
        let (shown, them) = (out.display(), if own.len() == 1 { "it" } else { "them" });
        return Err(Failure::usage(format!(
            "{shown} contains {}: not written by a run of tlaforge, and a run would overwrite {them}",
            own.join(", ")
        ))
        .hint("choose another folder: --out DIR")
        .hint(format!("or move {them} away first")));
    }
    refuse_files_for_folders(out)?;
    for name in FOLDERS {
        let dir = out.join(name);
        if std::fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Failure::usage(format!(
                "{} contains files that were not written by a run, and a run would use that folder",
                dir.display()
            ))
            .hint("choose another folder: --out DIR"));
        }
    }
    Ok(())
}

fn occupied_failure(out: &Path, view: &RunView) -> Failure {
    let name = name_of_run(out);
    let (shown, word) = (name.display(), shell_word(&name));
    match view.finished.as_ref().map(|f| f.outcome) {
        Some(outcome) if outcome != Outcome::Stopped => {
            Failure::usage(format!("{shown} contains a finished run ({})", outcome.name()))
                .hint("choose another folder: --out DIR")
                .hint(format!(
                    "start a branch from one of its revisions: tlaforge resume {word} --from rev_0 --at formalize"
                ))
                .hint(format!("read it: tlaforge report {word}"))
        }
        _ => Failure::usage(format!("{shown} contains an unfinished run"))
            .hint(format!("continue it: tlaforge resume {word}"))
            .hint("or choose another folder: --out DIR"),
    }
}

/// The exemplars of `--exemplars`, or of `./exemplars`, or the built-in ones.
fn exemplars(settings: &Settings) -> Result<Vec<(String, String)>, Failure> {
    let dir = match &settings.given.exemplars {
        Some(dir) => Some(dir.clone()),
        None => default_folder("exemplars")?,
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

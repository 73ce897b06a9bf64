//! What `run`, `demo` and `resume` share: a desk, a run, a display, and an end with its status.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tracing::debug;

use super::args::Format;
use super::failure::{Fails, Failure};
use super::progress::{Display, result};
use super::provider::{caller, refuse_secrets};
use super::surroundings::{Defects, Tools, clock, crash_point, env, limits, quicker, toolchain};
use super::trust::{folder_here, may_record, trust_file};
use crate::config::{CheckerChoice, FILE_NAME, Layer, Settings};
use crate::exit::Exit;
use crate::journal::{JournalError, LockError, Sha, StoreError};
use crate::llm::Recording;
use crate::nodes::{Crew, Desk, Shelf};
use crate::pipeline::{
    self, MAX_CANDIDATES, Outcome, PromptInUse, RuleMonitorError, Run, RunEnvironment, RunError, StopReason, drive,
};
use crate::process::Cancel;
use crate::prompt::{PromptLibrary, Template};
use crate::report::summary;

/// Flags over the environment over the file.
pub(super) fn settings(flags: Layer) -> Result<Settings, Failure> {
    let here = std::env::current_dir().fails(Exit::Usage)?;
    let file = Layer::from_file(&here).fails(Exit::Usage)?;
    refuse_secrets(FILE_NAME, &serde_json::to_string(&file).unwrap_or_default())?;
    let provider = flags.provider.as_deref().or(file.provider.as_deref());
    let environment = environment(provider)?;
    trust_file(&file, &flags, provider.unwrap_or_default())?;
    debug!(flags = ?flags.names(), environment = ?environment.names(), file = ?file.names(), "settings");
    Ok(flags.over(environment).over(file).settle())
}

/// What the environment says to a provider. `CLAUDE_MODEL` names a model that others do not have.
pub(super) fn environment(provider: Option<&str>) -> Result<Layer, Failure> {
    let all = Layer::from_env(&env).fails(Exit::Usage)?;
    Ok(match provider {
        None | Some("auto" | "claude" | "anthropic") => all,
        Some(_) => Layer { model: None, ..all },
    })
}

/// Where answers come from.
pub(super) enum Answers {
    /// As the settings say.
    AsSet,
    /// From this recording.
    Built(Recording),
}

/// A desk, and what the command has to know of its tools.
pub(super) struct Equipment {
    pub desk: Desk,
    /// What was chosen; never `auto`.
    pub checker: CheckerChoice,
    /// Contradictions between two checkers.
    pub defects: Arc<Defects>,
}

/// Builds the desk. Everything that can be wrong is found out here, before a folder is made or a model is asked.
pub(super) async fn desk(
    settings: &Settings,
    answers: Answers,
    out: &Path,
    display: &Arc<Display>,
    cancel: Cancel,
) -> Result<Equipment, Failure> {
    let given = serde_json::to_string(&settings.given).unwrap_or_default();
    refuse_secrets("a setting (a flag, the environment or the journal)", &given)?;
    if !(1..=MAX_CANDIDATES).contains(&settings.candidates) {
        return Err(Failure::usage(format!(
            "candidates = {}: it must be from 1 to {MAX_CANDIDATES}",
            settings.candidates
        ))
        .hint("set it with --candidates, or in tlaforge.toml"));
    }
    let caller = caller(settings, answers, out, &cancel).await?;
    let prompts_dir = match &settings.given.prompts {
        Some(dir) => Some(dir.clone()),
        None => folder_here("prompts")?,
    };
    let prompts = PromptLibrary::load(prompts_dir.as_deref()).fails(Exit::Usage)?;
    for template in prompts.templates() {
        refuse_secrets(&format!("the prompt {}", template.name), &template.text)?;
    }
    if let Some(path) = &settings.given.record {
        may_record(path)?;
    }
    let Tools { toolchain, choice, defects } = toolchain(settings, &out.join("defects"))?;
    let quick = if settings.strengthen > 0 { quicker(settings, choice)? } else { None };
    let watcher = display.clone();
    let desk = Desk {
        caller,
        toolchain,
        quick,
        prompts,
        limits: limits(settings),
        cancel,
        progress: Box::new(move |p| watcher.checking(&p)),
        record: settings.given.record.clone(),
        shelf: Shelf::default(),
    };
    Ok(Equipment { desk, checker: choice, defects })
}

/// The prompts, as they are journaled.
pub(super) fn prompts_in_use(prompts: &PromptLibrary) -> BTreeMap<String, PromptInUse> {
    let in_use = |t: &Template| (t.name.to_owned(), PromptInUse { sha: Sha::of(&t.text), own: t.own });
    prompts.templates().iter().map(in_use).collect()
}

/// Opens the run folder with everything that watches it.
pub(super) fn open(out: &Path, display: &Arc<Display>) -> Result<Run, Failure> {
    let watcher = display.clone();
    let surroundings = RunEnvironment {
        clock: clock(),
        observer: Some(Box::new(move |event| watcher.event(event))),
        crash: crash_point()?,
    };
    let run = Run::open(out, surroundings).map_err(|e| run_failure(&e))?;
    let torn = run.recovery().torn_bytes;
    if torn > 0 {
        display.note(&format!("the journal ended within a line; {torn} bytes that were never acted on were cut off"));
    }
    Ok(run)
}

/// Trouble with the run's own files: nothing that the program has to answer for, so it says what a person can do.
pub(super) fn run_failure(error: &RunError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        RunError::Lock(LockError::Held { .. })
        | RunError::NoRun { .. }
        | RunError::Journal(JournalError::Damaged { .. } | JournalError::Version { .. })
        | RunError::RuleMonitor(RuleMonitorError::Unlabelled { .. }) => failure,
        RunError::Store(StoreError::Altered { .. } | StoreError::NotText { .. }) => failure.hint(RESTORE),
        RunError::Store(StoreError::Io { what: "read", .. }) => failure.hint(RESTORE),
        _ if no_room(error) => Failure { exit: Exit::Tool, ..failure }.hint(
            "the disk is full or a limit is reached: make room, or raise the limit; a run that had begun goes on with \
             `tlaforge resume`",
        ),
        _ => failure.hint(
            "if the disk is full or the folder not writable, mend that; a run that had begun goes on with `tlaforge \
             resume`",
        ),
    }
}

/// Whether the operating system had no room for what was to be written.
fn no_room(error: &RunError) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let (what, source) = match error {
        RunError::Io { what, source, .. }
        | RunError::Journal(JournalError::Io { what, source, .. })
        | RunError::Store(StoreError::Io { what, source, .. }) => (*what, source),
        RunError::Lock(LockError::Io { source, .. }) => ("lock", source),
        _ => return false,
    };
    // A file that is too large to be read is no matter of room.
    what != "read" && matches!(source.kind(), FileTooLarge | QuotaExceeded | StorageFull)
}

const RESTORE: &str = "what the run rests on is not as it was written: restore the file, or forge again into another \
                       folder with --out DIR";

/// Drives the run to its end and prints how it ended.
pub(super) async fn forge(
    run: &Run,
    equipment: Equipment,
    display: &Arc<Display>,
    format: Format,
) -> Result<Exit, Failure> {
    let crew = Crew { desk: equipment.desk };
    let finished = drive(run, &crew).await.map_err(|e| run_failure(&e));
    display.finish();
    let finished = finished?;
    show_files(run, display)?;
    let view = run.view();
    if format == Format::Text {
        result(&summary(&view, display.width()));
        result(&format!("Files: {}\n", run.root().display()));
    }
    // The outcome rests on the reference; that another checker contradicts it must not go unseen.
    let exit = if equipment.defects.any() { Exit::Defect } else { status(finished.outcome, finished.reason) };
    if finished.outcome == Outcome::Stopped {
        display.note(&format!("go on with: tlaforge resume {}", run.root().display()));
    }
    Ok(exit)
}

/// Brings the visible files in line with the journal, and tells which of them are not what the run made.
pub(super) fn show_files(run: &Run, display: &Display) -> Result<(), Failure> {
    let approved = run
        .view()
        .finished
        .as_ref()
        .is_some_and(|f| matches!(f.outcome, Outcome::Approved | Outcome::ApprovedRepaired));
    let not_this = if approved { "; it is not what was approved" } else { "" };
    for path in pipeline::reconcile(run).map_err(|e| run_failure(&e))? {
        display.note(&format!("{} was edited by hand and was left as it is{not_this}", path.display()));
    }
    Ok(())
}

/// The exit status of an outcome.
pub(super) fn status(outcome: Outcome, reason: Option<StopReason>) -> Exit {
    match (outcome, reason) {
        (Outcome::Approved | Outcome::ApprovedRepaired, _) => Exit::Ok,
        (Outcome::FlawFound | Outcome::NotApproved, _) => Exit::Negative,
        (Outcome::Undecided, _) | (Outcome::Stopped, Some(StopReason::Budget | StopReason::Deadline) | None) => {
            Exit::Undecided
        }
        (Outcome::Stopped, Some(StopReason::Interrupted)) => Exit::Interrupted,
        (Outcome::Stopped, Some(StopReason::Provider)) => Exit::Provider,
        (Outcome::Stopped, Some(StopReason::Settings)) => Exit::Usage,
        (Outcome::Stopped, Some(StopReason::Tool)) => Exit::Tool,
    }
}

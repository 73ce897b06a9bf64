//! Prepares and drives a run: shared by `run`, `demo`, `resume` and `eval --suite`. Problems of settings, provider,
//! prompts and tools are found here, before a folder is created or a model is called.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::checker_progress::{remove_progress, write_progress};
use super::contradictions::ContradictionReports;
use super::failure::{Fails, Failure};
use super::format::{FindingsFiles, FindingsFormat};
use super::live::{LiveServer, WatchedRun};
use super::page::RunPageArgs;
use super::progress::Display;
use super::provider::{AnswerSource, create_caller};
use super::run_failure::run_failure;
use super::run_folder::{findings_of_run, name_of_run, update_visible_files};
use super::secrets::refuse_secrets;
use super::telemetry::name_run;
use super::terminal::print_result;
use super::tools::{Tools, create_mutant_sampling, create_side_toolchain, create_toolchain, tool_limits};
use super::trust::{check_recording_target, default_folder};
use crate::config::{CheckerChoice, Draft, Settings};
use crate::exit::Exit;
use crate::journal::Sha;
use crate::nodes::{BLIND_READING, ModuleCache, NodeContext, NodeDispatcher, SINGLE_CALL, STEP_CONTRACTS, STRENGTHEN};
use crate::pipeline::{MAX_CANDIDATES, Outcome, PromptInUse, Question, RoutingSettings, Run, StopReason, drive};
use crate::process::Cancel;
use crate::prompt::{PromptLibrary, Template};
use crate::report::{answer_commands, brief_summary, interrupted_summary, summary};
use crate::shell::shell_word;

/// What a run needs besides its folder.
pub(super) struct Preparation {
    pub context: NodeContext,
    /// The checker in use; `auto` only if the reference tools confirm what the embedded checker decides.
    pub checker: CheckerChoice,
    pub contradictions: Arc<ContradictionReports>,
    /// The folder as the user named it, if the result of an approved run is printed on one screen, without the rest of the report.
    pub brief_for: Option<PathBuf>,
}

/// Creates provider, prompts and tools. Everything that can be wrong with them fails here, before a folder is created or
/// a model is called.
pub(super) async fn prepare(
    settings: &Settings,
    answers: AnswerSource,
    out: &Path,
    display: &Arc<Display>,
    cancel: Cancel,
) -> Result<Preparation, Failure> {
    // The settings are written to the journal.
    let given = serde_json::to_string(&settings.given).unwrap_or_default();
    refuse_secrets("a setting (a flag, the environment or the journal)", &given)?;
    // The parser of `--candidates` has checked the flag; this checks the settings file and the journal of a resumed
    // run.
    if !(1..=MAX_CANDIDATES).contains(&settings.candidates) {
        return Err(Failure::usage(format!(
            "candidates = {}: must be from 1 to {MAX_CANDIDATES}",
            settings.candidates
        ))
        .hint("set it with --candidates, or in tlaforge.toml"));
    }
    check_min_score(settings)?;
    let caller = create_caller(settings, answers, out, &cancel).await?;
    let prompts_dir = match &settings.given.prompts {
        Some(dir) => Some(dir.clone()),
        None => default_folder("prompts")?,
    };
    let prompts = PromptLibrary::load(prompts_dir.as_deref()).fails(Exit::Usage)?;
    for template in prompts.templates() {
        refuse_secrets(&format!("the prompt {}", template.name), &template.text)?;
    }
    if let Some(path) = &settings.given.record {
        check_recording_target(path)?;
    }
    let Tools { toolchain, choice, contradictions } = create_toolchain(settings, &out.join("defects"))?;
    // Mutants and larger bounds need many short checks, and starting a JVM takes longer than most of them.
    let is_needed = settings.strengthen > 0 || settings.mutants > 0 || settings.bounds_budget > 0;
    let side_toolchain = if is_needed { create_side_toolchain(settings, choice)? } else { None };
    let mutant_sample = create_mutant_sampling(settings)?;
    let (watcher, folder) = (display.clone(), out.to_owned());
    let context = NodeContext {
        caller,
        toolchain,
        side_toolchain,
        mutant_sample,
        bounds_budget: Duration::from_secs(settings.bounds_budget),
        prompts,
        limits: tool_limits(settings)?,
        cancel,
        progress: Box::new(move |p| {
            watcher.show_check_progress(&p);
            write_progress(&folder, &p);
        }),
        recording_path: settings.given.record.clone(),
        modules: ModuleCache::default(),
    };
    Ok(Preparation { context, checker: choice, contradictions, brief_for: None })
}

/// The settings of the state machine. `kept` has those that no flag changes: its defaults for a new run, those of the
/// journal for a resumed one.
pub(super) fn routing_settings(settings: &Settings, kept: RoutingSettings) -> RoutingSettings {
    let Settings { max_revisions, repair, .. } = *settings;
    let strengthen = settings.given.strengthen.unwrap_or(kept.strengthen);
    let judges_mutants = settings.given.mutants.map_or(kept.judges_mutants, |size| size > 0);
    let contracts = settings.given.contracts.unwrap_or(kept.contracts);
    let min_score = settings.given.min_score.map_or(kept.min_score, thousandths);
    RoutingSettings { max_revisions, repair, strengthen, contracts, judges_mutants, min_score, ..kept }
}

/// A share from 0 to 1 in thousandths. The routing settings are compared, so they have no floating-point numbers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the share was checked")]
fn thousandths(share: f64) -> u32 {
    (share * 1000.0).round() as u32
}

/// Checks that the least mutation score can be reached at all.
fn check_min_score(settings: &Settings) -> Result<(), Failure> {
    match settings.given.min_score {
        Some(score) if !(0.0..=1.0).contains(&score) => {
            Err(Failure::usage(format!("min_score is {score}; it must be from 0 to 1")))
        }
        Some(score) if (f64::from(thousandths(score)) / 1000.0 - score).abs() > 1e-9 => {
            Err(Failure::usage(format!("min_score is {score}; give at most three decimals")))
        }
        Some(score) if score > 0.0 && settings.mutants == 0 => {
            Err(Failure::usage("--min-score asks for mutants, and `--mutants off` judges none".to_owned())
                .hint("leave out one of the two"))
        }
        _ => Ok(()),
    }
}

/// Whether the run reads properties blindly. A recording that has no such answer is of a run that read none.
pub(super) fn reads_blindly(settings: &Settings, context: &NodeContext) -> bool {
    settings.blind_reading && context.caller.answers(BLIND_READING)
}

/// How many rounds of stronger properties a new run may have in a revision. A recording without such answers is replayed without
/// them, unless the settings ask for rounds.
pub(super) fn strengthening_rounds(settings: &Settings, context: &NodeContext) -> u32 {
    let is_answered = settings.given.strengthen.is_some() || context.caller.answers(STRENGTHEN);
    if is_answered { settings.strengthen } else { 0 }
}

/// Whether contracts of the steps are written. A recording without such answers is replayed without contracts.
pub(super) fn has_contracts(settings: &Settings, context: &NodeContext) -> bool {
    settings.contracts && context.caller.answers(STEP_CONTRACTS)
}

/// How the first revision is drafted: as the user chooses; otherwise as recorded in a replay, or in a single call if the
/// documents have at most this many bytes together.
pub(super) fn draft(settings: &Settings, context: &NodeContext, bytes: usize) -> Draft {
    const SMALL: usize = 32 * 1024;
    let may_be_single = || context.is_replay() || bytes <= SMALL && settings.candidates <= 1;
    let is_single = || context.caller.answers(SINGLE_CALL) && may_be_single();
    settings.draft.unwrap_or_else(|| if is_single() { Draft::SingleCall } else { Draft::Nodes })
}

/// The prompts as the journal records them.
pub(super) fn prompts_in_use(prompts: &PromptLibrary) -> BTreeMap<String, PromptInUse> {
    let in_use = |t: &Template| (t.name.to_owned(), PromptInUse { sha: Sha::digest(&t.text), own: t.own });
    prompts.templates().iter().map(in_use).collect()
}

/// Drives the run to its end and prints its outcome. `docs` is where the user has the documents.
pub(super) async fn drive_and_report(
    run: &Run,
    prepared: Preparation,
    docs: &Path,
    display: &Arc<Display>,
    (format, files): (FindingsFormat, &FindingsFiles),
    pages: &RunPageArgs,
) -> Result<Exit, Failure> {
    name_run(&run.id());
    let server = pages.watch.then(|| serve(run, &prepared, display)).transpose()?;
    let cancel = prepared.context.cancel.clone();
    let nodes = NodeDispatcher { context: prepared.context };
    // A killed process may have left its last report.
    remove_progress(run.root());
    let finished = drive(run, &nodes).await.map_err(|e| run_failure(&e));
    nodes.context.caller.flush_limits().await;
    remove_progress(run.root());
    // Before the error is returned: the spinner would overwrite its message.
    display.finish();
    let finished = finished?;
    update_visible_files(run, display)?;
    let view = run.view();
    // With `json`, each event was printed when it was written, the outcome among them.
    let findings = || findings_of_run(run, docs).with_contradiction(prepared.contradictions.has_any());
    if !format.print(files, findings)? && format == FindingsFormat::Text {
        // After Ctrl-C nobody wants 50 lines, and the outcome would scroll away.
        let is_interrupted = finished.reason == Some(StopReason::Interrupted);
        let brief = prepared.brief_for.and_then(|folder| brief_summary(&view, &folder.display().to_string()));
        let text = match brief {
            _ if is_interrupted => interrupted_summary(&view),
            Some(brief) => brief,
            None => summary(&view, display.width()),
        };
        print_result(&text);
        print_result(&format!("Files: {}\n", run.root().display()));
    }
    pages.page.write_run_until(&cancel, run.root(), &view, &run.entries()).await?;
    // With `both`, the outcome is that of the reference checker, so only the exit status shows the contradiction.
    let exit =
        if prepared.contradictions.has_any() { Exit::Defect } else { exit_status(finished.outcome, finished.reason) };
    if let Some(question) = run.view().open_question().filter(|_| finished.outcome == Outcome::AmbiguityFound) {
        display.note(&format!("answer it with: {}", answer_command(&question, &name_of_run(run.root()))));
    }
    if finished.outcome == Outcome::Stopped {
        display.note(&format!("continue with: tlaforge resume {}", shell_word(&name_of_run(run.root()))));
    }
    if let Some(server) = server {
        server.wait_for_pages().await;
    }
    Ok(exit)
}

/// The commands that answer a question.
pub(super) fn answer_command(question: &Question, folder: &Path) -> String {
    answer_commands(question, &folder.display().to_string()).join("\nor with: ")
}

/// Serves the page of the run while it goes on.
fn serve(run: &Run, prepared: &Preparation, display: &Display) -> Result<LiveServer, Failure> {
    let cancel = prepared.context.cancel.clone();
    let stop = Box::new(move || {
        cancel.cancel();
        Ok(())
    });
    let check = Some(display.check_progress());
    // This process works on it, and the page ends with this process.
    let watched =
        WatchedRun { folder: run.root().to_owned(), is_shared: false, update_error: Arc::default(), check, stop };
    let server = LiveServer::start(watched, 0)?;
    display.note(&format!("watch it in a browser: {}", server.address()));
    Ok(server)
}

pub(super) fn exit_status(outcome: Outcome, reason: Option<StopReason>) -> Exit {
    match (outcome, reason) {
        (Outcome::Approved | Outcome::ApprovedRepaired, _) => Exit::Ok,
        (Outcome::FlawFound | Outcome::AmbiguityFound | Outcome::NotApproved, _) => Exit::Negative,
        // A limit says nothing about the specification, so it is undecided like an inconclusive check.
        (Outcome::Undecided, _) | (Outcome::Stopped, Some(StopReason::Budget | StopReason::Deadline) | None) => {
            Exit::Undecided
        }
        (Outcome::Stopped, Some(StopReason::Interrupted)) => Exit::Interrupted,
        (Outcome::Stopped, Some(StopReason::Provider)) => Exit::Provider,
        // For example, the provider does not have the model.
        (Outcome::Stopped, Some(StopReason::Settings)) => Exit::Usage,
        (Outcome::Stopped, Some(StopReason::Tool)) => Exit::Tool,
    }
}

/// The settings that a resumed run starts from. They name the provider that was chosen, never `auto`: another provider
/// may bill another account.
pub(super) fn settings_to_journal(settings: &Settings, prepared: &Preparation) -> Value {
    let mut value = serde_json::to_value(&settings.given).unwrap_or_else(|_| json!({}));
    value["provider"] = json!(prepared.context.caller.name());
    value["checker"] = json!(prepared.checker);
    value
}

//! `tlaforge resume`: continues a run at the end of its journal, or starts a branch from a revision. The journal is the
//! only source for what happened before; no state is kept elsewhere.

use clap::Args as ClapArgs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::answers::{Answered, resolve_answers};
use super::branch::{find_revision, note_ignored_edits, start_branch};
use super::completions::{revisions, run_folders};
use super::failure::Failure;
use super::forge::{
    Preparation, drive_and_report, exit_status, prepare, prompts_in_use, reads_blindly, routing_settings,
    settings_to_journal,
};
use super::forge_args::{ForgeArgs, ForgeOutput};
use super::format::Format;
use super::objective::{Continuation, read_objective, refuse_impossible, refuse_unreachable, why_unreachable};
use super::page::RunPageArgs;
use super::policy_file::PolicyFile;
use super::progress::Display;
use super::provider::{AnswerSource, check_provider_name};
use super::run_failure::run_failure;
use super::run_folder::{findings_of_run, name_of_run, open_run, update_visible_files};
use super::run_place::RunPlace;
use super::settings::environment_layer;
use super::signals::cancel_on_signals;
use super::swap_example::example_recording;
use super::telemetry::name_run;
use super::terminal::{print_json_line, print_result};
use super::tools::{discover_java_tools, tool_failure};
use super::trust::{make_paths_absolute, refuse_untrusted_journal};
use crate::config::{CheckerChoice, Layer, Settings};
use crate::exit::Exit;
use crate::journal::Sha;
use crate::monitor::RunObjective;
use crate::pipeline::{self, Changed, Decision, Finished, Outcome, PromptInUse, RoutingSettings, Run, RunView};
use crate::process::Cancel;
use crate::prompt::read_documents;
use crate::report::summary;
use crate::shell::shell_word;

#[derive(Debug, ClapArgs)]
pub(super) struct ResumeArgs {
    /// Run to continue: its folder, or its address in a shared store.
    #[arg(default_value = "specs", add = run_folders())]
    pub folder: PathBuf,
    /// Revision to start a branch from, e.g. `rev_1`. Your edits of files in `history/rev_1/` are used [default: continue
    /// the run].
    #[arg(long, value_name = "REV", add = revisions())]
    pub from: Option<String>,
    /// Node to start the branch at [default: the node that the review of that revision chose].
    #[arg(long, value_name = "NODE", requires = "from")]
    pub at: Option<String>,
    /// Your answer to an open point: `O1=a` for the reading that the report lists as a (without a question: the one that the
    /// model takes), `O1=b` for the other one, or `O1="…"` with the reading in your words. Starts a branch that takes it; can
    /// be repeated.
    #[arg(long, value_name = "POINT=READING", conflicts_with = "at")]
    pub answer: Vec<String>,
    /// Begin a new run on the changed documents of `--docs` instead, which starts from the specification of this run and
    /// forges again only what the changes concern. This run stays as it is. Without drift, nothing begins.
    #[arg(long, requires = "docs", conflicts_with_all = ["from", "answer"])]
    pub drift: bool,
    /// Document, or folder of documents, as it is now; for `--drift`.
    #[arg(long, value_name = "DOCS", requires = "drift")]
    pub docs: Option<PathBuf>,
    /// Run folder to create, or address of the run in a shared store, for `--drift` [default: the name of this one with a number, beside it].
    #[arg(long, value_name = "DIR", requires = "drift")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub forge: ForgeArgs,
    #[command(flatten)]
    pub output: ForgeOutput,
    #[command(flatten)]
    pub pages: RunPageArgs,
}

pub(super) async fn resume(args: ResumeArgs) -> Result<Exit, Failure> {
    let place = RunPlace::find(&args.folder)?
        .require_run(&args.folder)
        .map_err(|failure| failure.hint("start one: tlaforge run DOCS --out DIR"))?;
    args.pages.page.check(None)?;
    let outputs = (args.output.format, &args.output.findings);
    let display = Arc::new(Display::new(args.output.format.plain()));
    let run = open_run(&place, &display)?;
    name_run(&run.id());
    let view = run.view();
    // The process was killed before `run_started` was complete; a run that started has at least one document.
    if view.events == 0 || view.settings.docs.is_empty() {
        return Err(Failure::usage(format!("{} contains a run that never started", args.folder.display()))
            .hint("remove its journal.jsonl and start again: tlaforge run DOCS --out DIR"));
    }
    let StartOfBranch { from, at, answers: decided } = choose_start_of_branch(&args, &view)?;
    let objective = read_objective(args.forge.objective.as_deref())?;
    let (recorded, flags) = (parse_recorded_settings(&view.settings.command_line)?, args.forge.layer());
    let mut settings = merge_settings(&recorded, &flags)?;
    // Also for a finished run, which calls no provider: a misspelled name must not go unnoticed.
    check_provider_name(&settings.provider)?;
    make_paths_absolute(&mut settings);
    let routing = routing_settings(&settings, view.settings.routing);
    let policy = args.forge.policy.as_deref().map(PolicyFile::read).transpose()?;
    // Candidates are only drafted if there is no module yet.
    let drafted = view.artifact(pipeline::file::SOURCE).is_some();
    if args.forge.candidates.is_some_and(|n| n > 1) && drafted {
        display.note(
            "--candidates has no effect here: the run has a module already, which is repaired instead of drafted",
        );
    }
    let continued = ContinuedRun { view: &view, recorded, flags, settings, routing, objective };
    if let Some(from) = &from {
        let prepared = continued.prepare(&run, &display, cancel_on_signals()).await?;
        let mut changed = continued.describe_changes(Some(from), &prepared, &display)?;
        // After `prepare` and the checks of the objective, because this writes to the run folder.
        changed.policy = policy.map(|policy| policy.apply_to(&run)).transpose()?;
        note_ignored_edits(&run, from, &display)?;
        let is_straight = start_branch(&run, &prepared.context, from, at.as_deref(), decided, changed).await?;
        if let Some(path) = prepared.context.recording_path.as_ref().filter(|_| !is_straight) {
            display.note(&format!(
                "{} will contain the answers of this branch, but replaying it gives another result: a recording contains \
                 neither your edits nor the node that you chose",
                path.display()
            ));
        }
        return drive_and_report(&run, prepared, Path::new(DOCS), &display, outputs, &args.pages).await;
    }
    if let Some(finished) = view.finished.as_ref().filter(|f| f.outcome != Outcome::Stopped) {
        return show_finished(&run, finished, &args, &display).await;
    }
    let prepared = continued.start(&run, policy, &display, cancel_on_signals()).await?;
    note_changed_documents(&view, &args.folder, &display);
    drive_and_report(&run, prepared, Path::new(DOCS), &display, outputs, &args.pages).await
}

/// Continues a stopped run for `forge-all`, whose table has all settings of the run.
pub(super) async fn continue_run(
    run: &Run,
    table: &Layer,
    display: &Arc<Display>,
    cancel: Cancel,
) -> Result<Preparation, Failure> {
    let view = run.view();
    // The limits of an earlier call do not apply to this one, and it may be on another machine.
    let recorded = parse_recorded_settings(&view.settings.command_line)?;
    let recorded = Layer { max_cost: None, max_tokens: None, max_time: None, ..recorded };
    let recorded = Layer {
        base_url: None,
        tla_tools: None,
        claude_path: None,
        workers: None,
        heap_mib: None,
        library: Vec::new(),
        ..recorded
    };
    let mut settings = merge_settings(&recorded, table)?;
    make_paths_absolute(&mut settings);
    let routing = routing_settings(&settings, view.settings.routing);
    let continued = ContinuedRun { view: &view, recorded, flags: table.clone(), settings, routing, objective: None };
    continued.start(run, None, display, cancel).await
}

/// A run that continues, with the settings of its journal and the flags over them.
struct ContinuedRun<'a> {
    view: &'a RunView,
    recorded: Layer,
    flags: Layer,
    settings: Settings,
    routing: RoutingSettings,
    /// The objective of this command; without one, the run keeps its own.
    objective: Option<RunObjective>,
}

impl ContinuedRun<'_> {
    /// Not for a finished run, which uses none of the programs, servers and files that its journal names.
    async fn prepare(&self, run: &Run, display: &Arc<Display>, cancel: Cancel) -> Result<Preparation, Failure> {
        refuse_untrusted_journal(&self.recorded, &self.flags, &self.settings)?;
        self.require_confirmation()?;
        let answers = answer_source(&self.settings, &self.view.settings.command_line)?;
        prepare(&self.settings, answers, run.root(), display, cancel).await
    }

    /// A journal names `auto` only if the reference tools confirm the verdicts of the run.
    ///
    /// # Errors
    /// Status 4 if they are missing now, and no other checker was chosen.
    fn require_confirmation(&self) -> Result<(), Failure> {
        if self.flags.checker.is_none() && self.recorded.checker == Some(CheckerChoice::Auto) {
            discover_java_tools(&self.settings).map_err(|missing| {
                let hint = "the Java tools confirm the verdicts of this run; --checker embedded continues without them";
                tool_failure(&missing).hint(hint)
            })?;
        }
        Ok(())
    }

    /// Journals that the run continues at the end of its journal.
    async fn start(
        &self,
        run: &Run,
        policy: Option<PolicyFile>,
        display: &Arc<Display>,
        cancel: Cancel,
    ) -> Result<Preparation, Failure> {
        let prepared = self.prepare(run, display, cancel).await?;
        let mut changed = self.describe_changes(None, &prepared, display)?;
        changed.policy = policy.map(|policy| policy.apply_to(run)).transpose()?;
        pipeline::resume(run, &changed).map_err(|e| run_failure(&e))?;
        Ok(prepared)
    }

    /// What differs from the recorded settings. `from` is the revision that a branch starts from.
    fn describe_changes(
        &self,
        from: Option<&str>,
        prepared: &Preparation,
        display: &Display,
    ) -> Result<Changed, Failure> {
        let Self { view, settings, routing, objective, .. } = self;
        if let Some(objective) = objective.as_ref().or(view.objective()) {
            refuse_impossible(objective, settings, prepared.context.caller.name())?;
        }
        let ahead = find_continuation(view, from, settings.max_revisions)?;
        match (objective, view.objective()) {
            (Some(objective), _) => refuse_unreachable(objective, settings, ahead)?,
            // The run can still be approved, so this is not an error.
            (None, Some(kept)) => {
                if let Some((why, hint)) = why_unreachable(kept, settings, ahead) {
                    display.note(&format!("{why}; the run can still be approved. To reach it: {hint}"));
                }
            }
            (None, None) => {}
        }
        let prompts = prompts_in_use(&prepared.context.prompts);
        let mut changed = view.settings.changed(
            *routing,
            settings.draft.unwrap_or(view.settings.draft),
            settings.candidates,
            objective.clone(),
            settings_to_journal(settings, prepared),
            prompts,
        );
        let blindly = Some(reads_blindly(settings, &prepared.context));
        changed.blind_reading = blindly.filter(|blindly| *blindly != view.settings.blind_reading);
        note_changed_prompts(&view.settings.prompts, &changed.prompts, display);
        Ok(changed)
    }
}

/// Where documents usually are. The journal does not say where they were.
const DOCS: &str = "docs";

/// Names the documents in `docs` whose text differs from the run's copies. Missing and new files are not named.
fn note_changed_documents(view: &RunView, run: &Path, display: &Display) {
    let Ok(now) = read_documents(Path::new(DOCS)) else { return };
    let mut changed = Vec::new();
    for stored in &view.settings.docs {
        let same = now.files.iter().find(|document| document.path == stored.path);
        if same.is_some_and(|document| Sha::digest(&document.text) != stored.sha) {
            changed.push(format!("{DOCS}/{}", stored.path));
        }
    }
    if !changed.is_empty() {
        display.note(&format!(
            "documents that differ from this run's copies: {}; the run continues with its copies; to compare: tlaforge \
             drift {} --docs {DOCS}",
            changed.join(", "),
            shell_word(run)
        ));
    }
}

/// Prints the outcome of a finished run, which has nothing to continue.
async fn show_finished(run: &Run, finished: &Finished, args: &ResumeArgs, display: &Display) -> Result<Exit, Failure> {
    let view = run.view();
    update_visible_files(run, display)?;
    let printed = args.output.format.print(&args.output.findings, || findings_of_run(run, Path::new(DOCS)))?;
    match args.output.format.plain() {
        _ if printed => {}
        Format::Text => print_result(&summary(&view, display.width())),
        Format::Json => {
            run.entries().iter().rfind(|entry| entry.event.is_run_finished()).into_iter().for_each(print_json_line);
        }
    }
    args.pages.page.write_run(run.root(), &view, &run.entries()).await?;
    if let Some(policy) = &args.forge.policy {
        let (folder, policy) = (shell_word(&args.folder), shell_word(policy));
        display.note(&format!("the run is finished, so the policy is not applied; check the run with: tlaforge audit {folder} --policy {policy}"));
    }
    if args.forge.objective.is_some() {
        display.note("the run is finished, so the objective has no effect; set it for a branch: --from rev_N");
    }
    if name_of_run(run.root()) != run.root() {
        display.note(&format!("its files are in {}", run.root().display()));
    }
    display.note(&format!(
        "the run is finished; start a branch with: tlaforge resume {} --from rev_N --at NODE",
        shell_word(&args.folder)
    ));
    Ok(exit_status(finished.outcome, finished.reason))
}

/// Where a branch begins, and the answers that it takes.
struct StartOfBranch {
    from: Option<String>,
    at: Option<String>,
    answers: Vec<Decision>,
}

fn choose_start_of_branch(args: &ResumeArgs, view: &RunView) -> Result<StartOfBranch, Failure> {
    if args.answer.is_empty() {
        return Ok(StartOfBranch { from: args.from.clone(), at: args.at.clone(), answers: Vec::new() });
    }
    let parent = args.from.as_deref().map(|from| find_revision(view, from)).transpose()?;
    let Answered { answers, from, at } = resolve_answers(view, &args.answer, parent)?;
    Ok(StartOfBranch { from: Some(from), at: Some(at.name().to_owned()), answers })
}

/// The point where the run, or the branch from revision `from`, continues.
fn find_continuation<'a>(
    view: &'a RunView,
    from: Option<&str>,
    max_revisions: u32,
) -> Result<Continuation<'a>, Failure> {
    let budget = max_revisions.saturating_add(1);
    Ok(match from {
        Some(from) => {
            let parent = Some(find_revision(view, from)?.revision);
            Continuation { view, parent, next: view.next_revision(), revisions: budget }
        }
        None => Continuation {
            view,
            parent: view.parent,
            next: view.rev,
            revisions: budget.saturating_sub(view.state.branch_index),
        },
    })
}

/// Reports prompts that have changed. They are used, because the user may have edited them on purpose.
fn note_changed_prompts(
    before: &BTreeMap<String, PromptInUse>,
    changed: &BTreeMap<String, PromptInUse>,
    display: &Display,
) {
    // Journals of earlier versions do not record prompts, and lack those added since.
    let changed: Vec<_> = changed.iter().filter(|(name, _)| before.contains_key(*name)).collect();
    if changed.is_empty() {
        return;
    }
    let now = |prompt: &PromptInUse| if prompt.own { "now your own" } else { "now the built-in one" };
    let list: Vec<String> = changed.into_iter().map(|(name, prompt)| format!("{name} ({})", now(prompt))).collect();
    display.note(&format!("these prompts have changed since the run started: {}", list.join(", ")));
}

/// A run that replays without a recording file is the demo, and continues with the built-in recording.
fn answer_source(settings: &Settings, recorded: &Value) -> Result<AnswerSource, Failure> {
    let began_as_demo = recorded["provider"] == "replay" && recorded["recording"].is_null();
    if began_as_demo && settings.provider == "replay" && settings.given.recording.is_none() {
        return Ok(AnswerSource::Recorded(example_recording()?));
    }
    Ok(AnswerSource::Configured)
}

pub(super) fn parse_recorded_settings(command_line: &Value) -> Result<Layer, Failure> {
    Layer::deserialize(command_line).map_err(|e| Failure::usage(format!("the settings of the run cannot be read: {e}")))
}

/// The recorded settings of the run with the flags of this command over them. The environment only fills gaps.
pub(super) fn merge_settings(recorded: &Layer, flags: &Layer) -> Result<Settings, Failure> {
    // Below the journal, so that a variable that was changed in the meantime does not change the run.
    let environment = environment_layer(flags.provider.as_deref().or(recorded.provider.as_deref()))?;
    let mut recorded = recorded.clone();
    // Lists of libraries are joined, and one that has moved must not stay in the list.
    if !flags.library.is_empty() {
        recorded.library.clear();
    }
    Ok(flags.clone().merge_over(recorded).merge_over(environment).settle())
}

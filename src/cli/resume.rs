//! `tlaforge resume`: go on where the journal ends, or branch off from a revision.

use clap::Args as ClapArgs;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::branch::{find_revision, start_branch};
use super::failure::Failure;
use super::forge::{Preparation, drive_and_report, exit_status, prepare, prompts_in_use, settings_to_journal};
use super::forge_args::ForgeArgs;
use super::format::Format;
use super::objective::{Continuation, read_objective, refuse_impossible, refuse_unreachable, why_unreachable};
use super::policy_file::PolicyFile;
use super::progress::Display;
use super::provider::{AnswerSource, check_provider_name};
use super::run_folder::{open_run, run_failure, update_visible_files};
use super::settings::environment_layer;
use super::signals::cancel_on_signals;
use super::swap_example::example_recording;
use super::terminal::{print_json_line, print_result};
use super::trust::{make_paths_absolute, refuse_untrusted_journal};
use crate::config::{self, Layer, Settings};
use crate::exit::Exit;
use crate::pipeline::{self, Outcome, PromptInUse, Rules, Run, RunError, RunView};
use crate::report::summary;

#[derive(Debug, ClapArgs)]
pub(super) struct ResumeArgs {
    /// The run folder.
    #[arg(default_value = "specs")]
    pub folder: PathBuf,
    /// Branch off from this revision, e.g. `rev_1`; files in `history/rev_1/` that you edited are taken as they stand.
    #[arg(long, value_name = "REV")]
    pub from: Option<String>,
    /// The node to begin at [default: where that revision's review sent the run].
    #[arg(long, value_name = "NODE", requires = "from")]
    pub at: Option<String>,
    #[command(flatten)]
    pub forge: ForgeArgs,
}

pub(super) async fn resume(args: ResumeArgs) -> Result<Exit, Failure> {
    if !Run::exists(&args.folder) {
        return Err(run_failure(&RunError::NoRun { folder: args.folder.clone() })
            .hint("begin one: tlaforge run DOCS --out DIR"));
    }
    let format = args.forge.format();
    let display = Arc::new(Display::new(format));
    let run = open_run(&args.folder, &display)?;
    let view = run.view();
    if view.events == 0 || view.settings.docs.is_empty() {
        return Err(Failure::usage(format!("{} holds a run that never began", args.folder.display()))
            .hint("remove its journal.jsonl and begin again: tlaforge run DOCS --out DIR"));
    }
    let objective = read_objective(args.forge.objective.as_deref())?;
    let (recorded, flags) = (recorded(&view.settings.command_line)?, args.forge.layer());
    let mut settings = settings_of(&recorded, &flags)?;
    check_provider_name(&settings.provider)?;
    make_paths_absolute(&mut settings);
    let config::Settings { max_revisions, repair, strengthen, .. } = settings;
    let rules = Rules { max_revisions, repair, strengthen, ..view.settings.rules };
    let policy = args.forge.policy.as_deref().map(|path| PolicyFile::read(path)).transpose()?;
    let drafted = view.artifact(pipeline::file::SOURCE).is_some();
    if args.forge.candidates.is_some_and(|n| n > 1) && drafted {
        display.note(
            "candidates are drafted side by side only where nothing was formalized yet: here a module is repaired",
        );
    }
    let changed = |prepared: &Preparation| -> Result<_, Failure> {
        if let Some(objective) = objective.as_ref().or(view.objective()) {
            refuse_impossible(objective, &settings, prepared.context.caller.name())?;
        }
        let ahead = ahead(&view, args.from.as_deref(), settings.max_revisions)?;
        match (&objective, view.objective()) {
            (Some(objective), _) => refuse_unreachable(objective, &settings, ahead)?,
            // It may be approved all the same.
            (None, Some(kept)) => {
                if let Some((why, hint)) = why_unreachable(kept, &settings, ahead) {
                    display.note(&format!("{why}; it may be approved all the same. To reach it: {hint}"));
                }
            }
            (None, None) => {}
        }
        let prompts = prompts_in_use(&prepared.context.prompts);
        let surroundings = settings_to_journal(&settings, prepared);
        let changed =
            view.settings.changed(rules, settings.draft, settings.candidates, objective.clone(), surroundings, prompts);
        say_of_prompts(&view.settings.prompts, &changed.prompts, &display);
        Ok(changed)
    };
    if let Some(from) = &args.from {
        refuse_untrusted_journal(&recorded, &flags, &settings)?;
        let answers = answers(&settings, &view.settings.command_line)?;
        let prepared = prepare(&settings, answers, run.root(), &display, cancel_on_signals()).await?;
        let mut changed = changed(&prepared)?;
        changed.policy = policy.map(|policy| policy.apply_to(&run)).transpose()?;
        let is_straight = start_branch(&run, &prepared.context, from, args.at.as_deref(), changed).await?;
        if let Some(path) = prepared.context.recording_path.as_ref().filter(|_| !is_straight) {
            display.note(&format!(
                "{} will hold the answers that led here, but a replay of it does not end as this branch ends: no \
                 recording holds what a person edited, or that a branch began elsewhere than the review sent it",
                path.display()
            ));
        }
        return drive_and_report(&run, prepared, &display, format).await;
    }
    if let Some(finished) = view.finished.as_ref().filter(|f| f.outcome != Outcome::Stopped) {
        update_visible_files(&run, &display)?;
        match format {
            Format::Text => print_result(&summary(&view, display.width())),
            Format::Json => {
                run.entries().iter().rfind(|entry| entry.event.is_run_finished()).into_iter().for_each(print_json_line);
            }
        }
        if let Some(policy) = &args.forge.policy {
            let (folder, policy) = (args.folder.display(), policy.display());
            display.note(&format!("nothing is left to watch; ask the run: tlaforge audit {folder} --policy {policy}"));
        }
        if args.forge.objective.is_some() {
            display.note("the run is finished, so the objective measures nothing; a branch takes it: --from rev_N");
        }
        display.note(&format!(
            "the run is finished; branch off with: tlaforge resume {} --from rev_N --at NODE",
            args.folder.display()
        ));
        return Ok(exit_status(finished.outcome, finished.reason));
    }
    refuse_untrusted_journal(&recorded, &flags, &settings)?;
    let answers = answers(&settings, &view.settings.command_line)?;
    let prepared = prepare(&settings, answers, run.root(), &display, cancel_on_signals()).await?;
    let mut changed = changed(&prepared)?;
    changed.policy = policy.map(|policy| policy.apply_to(&run)).transpose()?;
    pipeline::resume(&run, &changed).map_err(|e| run_failure(&e))?;
    drive_and_report(&run, prepared, &display, format).await
}

/// Where the run goes on, or the branch from this revision.
fn ahead<'a>(view: &'a RunView, from: Option<&str>, max_revisions: u32) -> Result<Continuation<'a>, Failure> {
    let whole = max_revisions.saturating_add(1);
    Ok(match from {
        Some(from) => {
            let parent = Some(find_revision(view, from)?.revision);
            Continuation { view, parent, next: view.next_revision(), revisions: whole }
        }
        None => Continuation {
            view,
            parent: view.parent,
            next: view.rev,
            revisions: whole.saturating_sub(view.state.branch_index),
        },
    })
}

/// A person may have edited prompts on purpose, so they are used; but never in silence.
fn say_of_prompts(before: &BTreeMap<String, PromptInUse>, changed: &BTreeMap<String, PromptInUse>, display: &Display) {
    // A journal of an earlier version does not tell which were used.
    // Nor did it use a prompt that it did not know.
    let changed: Vec<_> = changed.iter().filter(|(name, _)| before.contains_key(*name)).collect();
    if changed.is_empty() {
        return;
    }
    let now = |prompt: &PromptInUse| if prompt.own { "now your own" } else { "now the built-in one" };
    let list: Vec<String> = changed.into_iter().map(|(name, prompt)| format!("{name} ({})", now(prompt))).collect();
    display.note(&format!("these prompts differ from those that the run has used so far: {}", list.join(", ")));
}

/// The demo's recording is built in: a run that began by replaying none goes on with it. Every other is a file.
fn answers(settings: &Settings, recorded: &Value) -> Result<AnswerSource, Failure> {
    let began_as_demo = recorded["provider"] == "replay" && recorded["recording"].is_null();
    if began_as_demo && settings.provider == "replay" && settings.given.recording.is_none() {
        return Ok(AnswerSource::Recorded(example_recording()?));
    }
    Ok(AnswerSource::Configured)
}

/// The settings that the run keeps.
fn recorded(surroundings: &Value) -> Result<Layer, Failure> {
    Layer::deserialize(surroundings).map_err(|e| Failure::usage(format!("the settings of the run cannot be read: {e}")))
}

/// The settings of the run, with today's flags over them. The environment of today counts where the run said nothing.
fn settings_of(recorded: &Layer, flags: &Layer) -> Result<Settings, Failure> {
    let environment = environment_layer(flags.provider.as_deref().or(recorded.provider.as_deref()))?;
    Ok(flags.clone().over(recorded.clone()).over(environment).settle())
}

//! `--objective FILE`: what a run's revisions are measured by. All that can be wrong with it is found out before a folder
//! is made or a model is asked.

use std::path::Path;

use super::failure::{Fails, Failure};
use super::provider::find_unpriced_model;
use super::secrets::refuse_secrets;
use super::swap_example::example_recording;
use crate::config::Settings;
use crate::exit::Exit;
use crate::files;
use crate::llm::{Recorded, Recording};
use crate::monitor::{ConfigError, Format, GoalError, RunObjective};
use crate::pipeline::{METRICS, Metric, RunView, known_metrics};
use crate::temporal::ObjectiveError;

/// Reads the file, where one is named.
pub(super) fn read_objective(path: Option<&Path>) -> Result<Option<RunObjective>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let shown = path.display();
    let format = Format::from_path(path).map_err(|_| {
        Failure::usage(format!("the objective {shown} is neither .toml nor .json"))
            .hint("--objective takes a file whose name ends in one of them")
    })?;
    let text = files::read_text(path, files::SMALL).map_err(|e| {
        Failure::usage(format!("cannot read the objective {shown}: {e}"))
            .hint("--objective takes a TOML or JSON file: see docs/objectives.md")
    })?;
    refuse_secrets(&format!("the objective {shown}"), &text)?;
    RunObjective::from_text(&text, format, &known_metrics()).map(Some).map_err(|e| wrong(path, &e))
}

fn wrong(path: &Path, error: &GoalError) -> Failure {
    let what = match error {
        GoalError::Config(ConfigError::Toml(e)) => e.to_string(),
        GoalError::Config(ConfigError::Json(e)) => e.to_string(),
        GoalError::Config(ConfigError::Objective(ObjectiveError::Specification(e))) => format!("goal: {e}"),
        GoalError::Config(ConfigError::Objective(ObjectiveError::Automaton(e))) => format!("goal: {e}"),
        other => other.to_string(),
    };
    let failure = Failure::usage(format!("the objective {}: {}", path.display(), what.trim_end()));
    match error {
        GoalError::Metric { .. } | GoalError::Shadows { .. } => failure.hint(metrics(|_| true)),
        GoalError::Config(ConfigError::Objective(ObjectiveError::Unknown { name })) => {
            let failure = failure
                .hint(format!("define it: {name} = \"…\" in the table [predicates], or write the comparison out"))
                .hint(format!("truth values need no predicate: {}", metrics(Metric::is_truth)));
            if METRICS.iter().any(|m| m.name == name) { failure.hint(format!("such as {name} > 0")) } else { failure }
        }
        GoalError::Config(ConfigError::Reward { .. }) => failure.hint("rewards are finite numbers"),
        GoalError::Config(ConfigError::Objective(ObjectiveError::Predicate { .. })) | GoalError::Constant { .. } => {
            failure.hint("a predicate compares metrics with finite numbers: states < 10000")
        }
        GoalError::Unreachable { .. } => failure
            .hint("what metrics can be together is told by docs/objectives.md")
            .hint("the goal by itself: tlaforge formula 'GOAL' --dfa table"),
        GoalError::Trivial { .. } => failure.hint("leave --objective out, or ask for what not every run gives"),
        GoalError::Config(_) => failure.hint("the format is described in docs/objectives.md"),
    }
}

fn metrics(which: fn(&Metric) -> bool) -> String {
    let names: Vec<&str> = METRICS.iter().filter(|m| which(m)).map(|m| m.name).collect();
    format!("a run tells {}", names.join(", "))
}

/// Refuses an objective that asks for what a run with these settings never has. `provider` is the one that answers.
pub(super) fn refuse_impossible(objective: &RunObjective, settings: &Settings, provider: &str) -> Result<(), Failure> {
    let never = |name: &str, why: String| Failure::usage(format!("the objective asks for `{name}`: {why}"));
    for name in objective.metrics_read(&known_metrics()) {
        match name.as_str() {
            "mutation_score" if settings.strengthen == 0 => {
                return Err(never(&name, "this run judges no mutants, so it has none".to_owned())
                    .hint("add --strengthen, or leave that predicate out"));
            }
            "cost" | "tokens" if provider == "handoff" => {
                return Err(never(&name, "what answers by handoff take is not known".to_owned())
                    .hint("leave that predicate out, or count answers"));
            }
            "cost" | "tokens" if provider == "replay" => {
                let tells = |r: &Recorded| r.usage.is_some() || (name == "cost" && r.cost_usd.is_some());
                if !replayed_recording(settings)?.answers.iter().all(tells) {
                    return Err(never(&name, "the recording does not tell what each of its answers took".to_owned())
                        .hint("leave that predicate out, or count answers"));
                }
            }
            "cost" => {
                if let Some(model) = find_unpriced_model(settings, provider)? {
                    return Err(never(&name, format!("the price of {model} is not known"))
                        .hint("give it in a table of your own (--prices FILE), or count tokens"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Where a run, a resumed one or a branch goes on.
#[derive(Clone, Copy)]
pub(super) struct Continuation<'a> {
    pub(super) view: &'a RunView,
    /// The revision behind which it goes on.
    pub(super) parent: Option<u32>,
    /// The number of the revision that is closed next.
    pub(super) next: u32,
    /// How many revisions it closes at most.
    pub(super) revisions: u32,
}

/// Why an objective cannot be reached from there, and what to do; `None` where it can be.
pub(super) fn why_unreachable(
    objective: &RunObjective,
    settings: &Settings,
    ahead: Continuation<'_>,
) -> Option<(String, String)> {
    let Continuation { view, parent, next, revisions } = ahead;
    let highest = next.saturating_add(revisions).saturating_sub(1);
    let behind = parent.map_or_else(String::new, |parent| format!("behind rev_{parent} "));
    let reached = |highest| view.ahead(objective, parent, next, highest).is_some();
    let (why, hint) = match view.objective_ahead(objective, parent, next, revisions) {
        Some(least) if least > revisions => {
            let more = settings.max_revisions.saturating_add(least - revisions);
            (
                format!("{behind}it takes at least {least} revisions, and this run closes at most {revisions}"),
                format!("add --max-revisions {more}, or ask for less"),
            )
        }
        Some(_) => return None,
        None if reached(Some(u32::MAX)) => (
            format!("this run closes revisions {next} to {highest}, and no numbers like that satisfy it"),
            "add --max-revisions, or ask for less".to_owned(),
        ),
        None if reached(None) => (
            "a run ends with the revision that is approved, and none follows it".to_owned(),
            "a branch may follow it (resume DIR --from rev_N --objective FILE); ask for what one run can give"
                .to_owned(),
        ),
        None if view.is_lost_behind(objective, parent) => (
            format!("{behind}nothing that can follow reaches it"),
            "branch from an earlier revision, or give another objective: --objective FILE".to_owned(),
        ),
        None => (
            format!("{behind}nothing that can follow reaches it{}", view.grown_words(objective)),
            "give another objective: --objective FILE".to_owned(),
        ),
    };
    Some((format!("the objective `{}` can never be reached: {why}", objective.goal), hint))
}

/// Refuses an objective that cannot be reached from there: that is told before anything is paid for it.
pub(super) fn refuse_unreachable(
    objective: &RunObjective,
    settings: &Settings,
    ahead: Continuation<'_>,
) -> Result<(), Failure> {
    match why_unreachable(objective, settings, ahead) {
        Some((why, hint)) => Err(Failure::usage(why).hint(hint)),
        None => Ok(()),
    }
}

/// Where `replay` answers from; the demo's is built in.
fn replayed_recording(settings: &Settings) -> Result<Recording, Failure> {
    match &settings.given.recording {
        Some(path) => Recording::load(path).fails(Exit::Usage),
        None => example_recording(),
    }
}

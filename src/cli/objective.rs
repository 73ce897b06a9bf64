//! `--objective FILE`: reads the objective of a run, and refuses one that the run cannot reach before anything is created
//! or paid for.

use std::path::Path;

use super::failure::{Fails, Failure};
use super::provider::find_unpriced_model;
use super::secrets::refuse_secrets;
use super::snippet::Snippet;
use super::swap_example::example_recording;
use crate::config::Settings;
use crate::exit::Exit;
use crate::files;
use crate::llm::{Recorded, Recording};
use crate::monitor::{ConfigError, Format, GoalError, RunObjective, span_in_text_value};
use crate::pipeline::{METRICS, Metric, RunView, known_metrics};
use crate::temporal::ObjectiveError;

/// Reads the objective file, if there is one.
pub(super) fn read_objective(path: Option<&Path>) -> Result<Option<RunObjective>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let shown = path.display();
    let format = Format::from_path(path).map_err(|_| {
        Failure::usage(format!("the objective {shown} is neither .toml nor .json"))
            .hint("--objective takes a file whose name ends in one of them")
    })?;
    let text = files::read_text(path, files::SMALL).map_err(|e| {
        Failure::usage(format!("cannot read the objective {shown}: {e}"))
            .hint("--objective takes a TOML or JSON file: see docs/src/objectives.md")
    })?;
    refuse_secrets(&format!("the objective {shown}"), &text)?;
    RunObjective::from_text(&text, format, &known_metrics()).map(Some).map_err(|e| goal_failure(path, &text, &e))
}

fn goal_failure(path: &Path, text: &str, error: &GoalError) -> Failure {
    let snippet = |span| Snippet::new(path.display().to_string(), text, span);
    let format = "docs/src/objectives.md describes the format";
    match error {
        GoalError::Config(ConfigError::Toml(e)) => {
            let span = e.span().unwrap_or_default();
            return Failure::usage(e.message()).at(snippet(span)).hint(format);
        }
        GoalError::Config(ConfigError::Objective(ObjectiveError::Specification(e))) => {
            if let Some(span) = span_in_text_value(text, "goal", &e.span) {
                let failure = Failure::usage(format!("goal: {}", e.message)).at(snippet(span));
                return e.hint.iter().fold(failure, Failure::hint).hint(format);
            }
        }
        _ => {}
    }
    let what = match error {
        GoalError::Config(ConfigError::Json(e)) => e.to_string(),
        GoalError::Config(ConfigError::Objective(ObjectiveError::Specification(e))) => format!("goal: {e}"),
        GoalError::Config(ConfigError::Objective(ObjectiveError::Automaton(e))) => format!("goal: {e}"),
        other => other.to_string(),
    };
    let failure = Failure::usage(format!("the objective {}: {}", path.display(), what.trim_end()));
    match error {
        GoalError::Metric { .. } | GoalError::Shadows { .. } => failure.hint(metrics_hint(|_| true)),
        GoalError::Config(ConfigError::Objective(ObjectiveError::Unknown { name })) => {
            let failure = failure
                .hint(format!("define it: {name} = \"…\" in the table [predicates], or write the comparison out"))
                .hint(format!("truth values need no predicate: {}", metrics_hint(Metric::is_truth)));
            if METRICS.iter().any(|m| m.name == name) { failure.hint(format!("such as {name} > 0")) } else { failure }
        }
        GoalError::Config(ConfigError::Reward { .. }) => failure.hint("rewards are finite numbers"),
        GoalError::Config(ConfigError::Objective(ObjectiveError::Predicate { .. })) | GoalError::Constant { .. } => {
            failure.hint("a predicate compares metrics with finite numbers: states < 10000")
        }
        GoalError::Unreachable { .. } => failure
            .hint("docs/src/objectives.md says which metrics can have which values together")
            .hint("to inspect the goal: tlaforge formula 'GOAL' --dfa table"),
        GoalError::Trivial { .. } => failure.hint("remove --objective, or choose a goal that not every run satisfies"),
        GoalError::Config(_) => failure.hint(format),
    }
}

fn metrics_hint(which: fn(&Metric) -> bool) -> String {
    let names: Vec<&str> = METRICS.iter().filter(|m| which(m)).map(|m| m.name).collect();
    format!("the metrics of a run are {}", names.join(", "))
}

/// Refuses an objective that uses a metric which a run with these settings never has.
pub(super) fn refuse_impossible(objective: &RunObjective, settings: &Settings, provider: &str) -> Result<(), Failure> {
    let never = |name: &str, why: String| Failure::usage(format!("the objective uses `{name}`: {why}"));
    for name in objective.metrics_read(&known_metrics()) {
        match name.as_str() {
            "mutation_score" if settings.strengthen == 0 && settings.mutants == 0 => {
                return Err(never(&name, "this run judges no mutants".to_owned())
                    .hint("judge mutants (`--mutants 40`), or remove that predicate"));
            }
            "cost" | "tokens" if provider == "handoff" => {
                return Err(never(&name, "the cost of answers by handoff is unknown".to_owned())
                    .hint("remove that predicate, or count answers"));
            }
            "cost" | "tokens" if provider == "replay" => {
                // A cost is recorded itself, or follows from the tokens and the price table.
                let is_known = |r: &Recorded| r.usage.is_some() || (name == "cost" && r.cost_usd.is_some());
                if !replayed_recording(settings)?.answers.iter().all(is_known) {
                    return Err(never(&name, "the recording does not contain the cost of each answer".to_owned())
                        .hint("remove that predicate, or count answers"));
                }
            }
            "cost" => {
                if let Some(model) = find_unpriced_model(settings, provider)? {
                    return Err(never(&name, format!("the price of {model} is not known"))
                        .hint("add it to a price table (--prices FILE), or count tokens"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The point from which a new run, a resumed run or a branch continues.
#[derive(Clone, Copy)]
pub(super) struct Continuation<'a> {
    pub(super) view: &'a RunView,
    /// The revision that it continues after.
    pub(super) parent: Option<u32>,
    /// The number of the next revision.
    pub(super) next: u32,
    /// Maximum number of revisions from here.
    pub(super) revisions: u32,
}

/// Returns why an objective cannot be reached from there and what to do about it; `None` if it can be reached.
pub(super) fn why_unreachable(
    objective: &RunObjective,
    settings: &Settings,
    ahead: Continuation<'_>,
) -> Option<(String, String)> {
    let Continuation { view, parent, next, revisions } = ahead;
    let highest = next.saturating_add(revisions).saturating_sub(1);
    let after = parent.map_or_else(String::new, |parent| format!("after rev_{parent} "));
    let reached = |highest| view.ahead(objective, parent, next, highest).is_some();
    let (why, hint) = match view.objective_ahead(objective, parent, next, revisions) {
        Some(least) if least > revisions => {
            let more = settings.max_revisions.saturating_add(least - revisions);
            (
                format!("{after}it takes at least {least} revisions, and this run has at most {revisions}"),
                format!("add --max-revisions {more}, or choose a weaker objective"),
            )
        }
        Some(_) => return None,
        // The objective is out of reach. The remaining cases look for the restriction to name: the limit of revisions,
        // the end of the run at an approval, what the run has spent, or the revisions so far.
        None if reached(Some(u32::MAX)) => (
            format!("this run has revisions {next} to {highest}, and no revision number in that range satisfies it"),
            "add --max-revisions, or choose a weaker objective".to_owned(),
        ),
        None if reached(None) => (
            "a run ends with its approved revision, and the objective needs a later one".to_owned(),
            "choose an objective for one run, or set this one for a later branch (resume DIR --from rev_N --objective FILE)"
                .to_owned(),
        ),
        None if view.is_lost_behind(objective, parent) => (
            format!("{after}no continuation reaches it"),
            "branch from an earlier revision, or set another objective: --objective FILE".to_owned(),
        ),
        None => (
            format!("{after}no continuation reaches it{}", view.grown_words(objective)),
            "set another objective: --objective FILE".to_owned(),
        ),
    };
    Some((format!("the objective `{}` can never be reached: {why}", objective.goal), hint))
}

/// Refuses an objective that cannot be reached from there, before anything is paid for.
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

/// The recording that `replay` answers from; without a file it is the built-in example.
fn replayed_recording(settings: &Settings) -> Result<Recording, Failure> {
    match &settings.given.recording {
        Some(path) => Recording::load(path).fails(Exit::Usage),
        None => example_recording(),
    }
}

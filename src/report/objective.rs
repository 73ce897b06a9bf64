//! What a run came to under its objective, in words.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::counted;
use crate::monitor::GoalStep;
use crate::pipeline::RunView;

/// How far the line has come with a revision: `1 revision from its goal, reward 0.5 (in all 1.5), state 1`.
pub fn step_words(step: &GoalStep) -> String {
    let stands = match step.distance {
        _ if step.trap => "lost: the goal cannot be reached any more".to_owned(),
        Some(0) if step.goal => "the goal is reached".to_owned(),
        Some(0) => "the goal is met so far".to_owned(),
        Some(far) => format!("{} from the goal", counted(far, "revision")),
        None => "the goal is not met".to_owned(),
    };
    let number = |n: f64| (n * 1_000.0).round() / 1_000.0 + 0.0;
    let (reward, total) = (number(step.reward), number(step.total_reward));
    format!("{stands}; state {}, reward {reward}, {total} in all", step.state)
}

/// The same as one object: what it is, what each revision came to under it, and what is owed after the best one.
pub fn objective_json(view: &RunView) -> Value {
    let Some(objective) = view.objective() else { return Value::Null };
    let decisive = view.finished.as_ref().and_then(|finished| finished.best);
    let best = decisive.or_else(|| view.best(None).map(|(n, _)| n));
    let step = |n: u32| Some(json!({"revision": n, "step": view.objective_step(n)?}));
    json!({
        "set": objective,
        "revisions": view.revisions.iter().filter_map(|r| step(r.revision)).collect::<Vec<_>>(),
        "best": best,
        "owed": view.owed_after(best),
    })
}

/// A section of the summary; `decisive` is the revision that the outcome rests on. Empty without an objective.
pub(super) fn objective_text(view: &RunView, decisive: u32) -> String {
    let Some(objective) = view.objective() else { return String::new() };
    let mut text = format!("\nObjective: {}\n", objective.goal);
    let meanings = objective.meanings();
    if !meanings.is_empty() {
        let _ = writeln!(text, "  where {meanings}");
    }
    for revision in &view.revisions {
        let n = revision.revision;
        let Some(step) = view.objective_step(n) else { continue };
        let mark = if n == decisive { " (this one)" } else { "" };
        let _ = writeln!(text, "  rev_{n}{mark}: {}", step_words(&step.step));
        let _ = writeln!(text, "      {}", view.predicates_words(n, &step.step));
    }
    if let Some(owed) = view.owed_after(Some(decisive)) {
        let _ = writeln!(text, "  still owed after rev_{decisive} (a step is a revision): {owed}");
    }
    text
}

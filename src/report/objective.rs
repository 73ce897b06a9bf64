//! Renders the progress of a run towards its objective.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::count::counted;
use super::lines::writeln;
use crate::monitor::GoalStep;
use crate::pipeline::RunView;

/// The progress after a revision: `1 revision from the goal; state 1, reward 0.5, 1.5 in all`.
pub fn step_words(step: &GoalStep) -> String {
    let progress = match step.distance {
        _ if step.trap => "lost: the goal can no longer be reached".to_owned(),
        Some(0) if step.goal => "the goal is reached".to_owned(),
        Some(0) => "the goal is met so far".to_owned(),
        Some(far) => format!("{} from the goal", counted(far, "revision")),
        None => "the goal is not met".to_owned(),
    };
    // Adding 0.0 turns -0 into 0.
    let number = |n: f64| (n * 1_000.0).round() / 1_000.0 + 0.0;
    let (reward, total) = (number(step.reward), number(step.total_reward));
    format!("{progress}; state {}, reward {reward}, {total} in all", step.state)
}

/// The objective, the progress after each revision, and the residual after the best one.
pub fn objective_json(view: &RunView) -> Value {
    let Some(objective) = view.objective() else { return Value::Null };
    let decisive = view.finished.as_ref().and_then(|finished| finished.best);
    let best = decisive.or_else(|| view.best(None).map(|(n, _)| n));
    let step = |n: u32| Some(json!({"revision": n, "step": view.objective_step(n)?}));
    json!({
        "objective": objective,
        "revisions": view.revisions.iter().filter_map(|r| step(r.revision)).collect::<Vec<_>>(),
        "best": best,
        "residual": view.residual_after(best),
    })
}

/// A section of the summary; `decisive` is the revision that decides the outcome. Empty without an objective.
pub(super) fn objective_text(view: &RunView, decisive: u32) -> String {
    let Some(objective) = view.objective() else { return String::new() };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\nObjective: {}", objective.goal);
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
    if let Some(residual) = view.residual_after(Some(decisive)) {
        let _ = writeln!(text, "  residual after rev_{decisive} (a step is a revision): {residual}");
    }
    text
}

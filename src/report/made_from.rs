//! What a run has taken over from an earlier one whose documents have changed since.

use super::count::counted;
use crate::pipeline::{RequirementChanges, Revision, RunView};
use crate::prompt::Requirement;

/// The revision that a run was made from, and what became of its requirements; empty for any other run.
pub(super) fn made_from_lines(view: &RunView, decisive: Option<&Revision>) -> Vec<String> {
    let Some(made_from) = &view.settings.made_from else { return Vec::new() };
    let outcome = made_from.outcome.replace('_', " ");
    let from = format!(
        "rev_{} ({outcome}) of {}, whose documents have changed since; the changes concern {}",
        made_from.revision,
        made_from.folder,
        made_from.concerned.join(", ")
    );
    let Some(revision) = decisive else { return vec![from] };
    let now: Vec<&Requirement> = revision.requirements.iter().map(|covered| &covered.requirement).collect();
    let RequirementChanges { kept, reworded, gone, new } = made_from.compare(&now);
    let mut parts = vec![format!("{} kept word for word", kept.len())];
    for (ids, words) in [(reworded, "forged again"), (gone, "gone"), (new, "new")] {
        if !ids.is_empty() {
            parts.push(format!("{} {words} ({})", ids.len(), ids.join(", ")));
        }
    }
    let all = counted(made_from.requirements.len(), "requirement");
    vec![from, format!("its {all} in rev_{} of this run: {}", revision.revision, parts.join(", "))]
}

//! The revision of an earlier run that a run was made from, and what became of its requirements.

use super::count::counted;
use super::cut::on_one_line;
use crate::pipeline::{MadeFrom, RequirementChanges, Revision, RunView};
use crate::prompt::Requirement;

/// Empty for a run that was not made from another one.
pub(super) fn made_from_lines(view: &RunView, decisive: Option<&Revision>) -> Vec<String> {
    let Some(made_from) = &view.settings.made_from else { return Vec::new() };
    // A journal may come from someone else: no part of it may look like a line of the report.
    lines(made_from, decisive).iter().map(|line| on_one_line(line)).collect()
}

fn lines(made_from: &MadeFrom, decisive: Option<&Revision>) -> Vec<String> {
    let outcome = made_from.outcome.replace('_', " ");
    let mut from =
        format!("rev_{} ({outcome}) of {}, whose documents have changed since", made_from.revision, made_from.folder);
    // They may concern only a later revision.
    if !made_from.concerned.is_empty() {
        from.push_str("; the changes concern ");
        from.push_str(&made_from.concerned.join(", "));
    }
    let Some(revision) = decisive else { return vec![from] };
    let now: Vec<&Requirement> = revision.requirements.iter().map(|covered| &covered.requirement).collect();
    let RequirementChanges { kept, kept_on_changed_text, reworded, gone, new } = made_from.compare(&now);
    let mut parts = vec![format!("{} kept word for word", kept.len())];
    let although = "kept, although the text that they cite has changed";
    for (ids, words) in [(kept_on_changed_text, although), (reworded, "forged again"), (gone, "gone"), (new, "new")] {
        if !ids.is_empty() {
            parts.push(format!("{} {words} ({})", ids.len(), ids.join(", ")));
        }
    }
    let all = counted(made_from.requirements.len(), "requirement");
    vec![from, format!("its {all} in rev_{} of this run: {}", revision.revision, parts.join(", "))]
}

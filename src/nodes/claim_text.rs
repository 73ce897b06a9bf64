//! Writes `claim.md`: the claim of a flaw, so that a reader who knows neither the module nor the review can follow it.

use std::fmt::Write as _;

use super::larger_bounds::compare_larger_constants;
use crate::pipeline::{Flaw, RunView, Specification};
use crate::prompt::{Document, OpenPoint, Requirement, quote};
use crate::tla::{Bounds, CheckOutcome, Module, UNLIMITED_WIDTH, probe_lines, trace_table, variable_legend};

/// The text of the claim. `changes` are the steps of the protocol that differ from the documents.
pub(super) fn claim_text(
    view: &RunView,
    flaw: &Flaw,
    module: Option<&Module>,
    documents: &[Document],
    changes: &[String],
) -> String {
    let requirement = view.specification.requirements.iter().find(|r| r.id == flaw.requirement);
    let outcome = claimed_outcome(view, flaw);
    let outcome = outcome.as_ref();
    let (which, listed) = if changes.is_empty() {
        ("as documented", String::new())
    } else {
        let list = changes.join("\n");
        ("as documented and then changed", format!("\n# Changes, in place of what the documents say\n\n{list}\n"))
    };
    let mut text = format!(
        "# Claim\n\nThe protocol, {which}, breaks this requirement:\n\n{}{listed}",
        requirement.map(|r| requirement_text(r, documents)).unwrap_or_default()
    );
    append_context(&mut text, view);
    if let Some(outcome) = outcome {
        text.push_str(&constants(&outcome.bounds));
    }
    text.push_str(&module.map(variables).unwrap_or_default());
    text.push_str("\n# Trace\n\nThe first state in full, then what each step changes.\n\n```\n");
    text.push_str(
        &outcome
            .and_then(|outcome| outcome.trace.as_ref())
            .map(|trace| trace_table(trace, UNLIMITED_WIDTH))
            .unwrap_or_default(),
    );
    text.push_str("```\n");
    text.push_str(&recheck_section(flaw, outcome));
    text
}

/// The check as if the claimed property had been found violated first.
fn claimed_outcome(view: &RunView, flaw: &Flaw) -> Option<CheckOutcome> {
    let outcome = &view.check()?.outcome;
    outcome.violated_name(&flaw.property).and_then(|name| outcome.focused_on(name)).or_else(|| Some(outcome.clone()))
}

fn requirement_text(requirement: &Requirement, documents: &[Document]) -> String {
    let mut text = format!("{} [{}] {}\n", requirement.id, requirement.place_words(), requirement.text);
    if let Some(quoted) = requirement.place.as_ref().and_then(|place| quote(documents, place, &requirement.text)) {
        let _ = writeln!(text, "\nThe documents: \"{quoted}\"");
    }
    text
}

/// What the model assumes, and the readings that it takes for open points. Those that the owner of the protocol decided count as documented.
fn append_context(text: &mut String, view: &RunView) {
    let Specification { decisions, open_points, assumptions, .. } = &view.specification;
    if !decisions.is_empty() {
        text.push_str("\n# Decided by the owner of the protocol (counts as documented)\n\n");
    }
    for decision in decisions {
        let _ = writeln!(text, "- {}", decision.words());
    }
    if !assumptions.is_empty() {
        text.push_str("\n# Assumptions of the model\n\n");
    }
    for assumption in assumptions {
        let _ = writeln!(text, "- {}", assumption.words());
    }
    let open: Vec<&OpenPoint> =
        open_points.iter().filter(|point| view.undecided_open_point(&point.id).is_some()).collect();
    if !open.is_empty() {
        text.push_str("\n# Open points, with the reading that the model takes\n\n");
    }
    for point in open {
        let OpenPoint { id, place, question, taken, otherwise, .. } = point;
        let (place, mark) = (place.as_deref().unwrap_or("no place"), point.mark());
        let _ = writeln!(text, "- {id} [{place}] {mark}{question} Taken: {taken} Otherwise: {otherwise}");
    }
}

fn constants(bounds: &Bounds) -> String {
    let mut text = "\n# Constants\n\n".to_owned();
    for (name, value) in &bounds.constants {
        let sign = if value.starts_with("<-") { "" } else { "= " };
        let _ = writeln!(text, "- {name} {sign}{value}");
    }
    if bounds.constants.is_empty() {
        text.push_str("- none\n");
    }
    text
}

fn variables(module: &Module) -> String {
    let mut text = "\n# Variables\n\n".to_owned();
    for (name, meaning) in variable_legend(module) {
        let _ = match meaning {
            Some(meaning) if meaning.starts_with('\\') => writeln!(text, "- {name} {meaning}"),
            Some(meaning) => writeln!(text, "- {name}: {meaning}"),
            None => writeln!(text, "- {name}"),
        };
    }
    text
}

/// The results of further checks of the violation, and the lines that the claim cites.
fn recheck_section(flaw: &Flaw, check: Option<&CheckOutcome>) -> String {
    let mut lines = check.map(probe_lines).unwrap_or_default();
    let open = check.map(|check| compare_larger_constants(check, true).open).unwrap_or_default();
    // `probe_lines` already has one line for all sets and numbers of the module.
    let missing = |line: &String| !lines.contains(line) && !line.ends_with(": not checked with more");
    let open: Vec<String> = open.into_iter().filter(missing).collect();
    lines.extend(open);
    for (what, cited) in [
        ("that the behaviour may go on like this", flaw.unfair.as_ref()),
        ("that the documents grant the bound", flaw.bound.as_ref()),
    ] {
        lines.extend(cited.map(|c| format!("the claim cites {}, line {}, {what}: {}", c.file, c.line, c.why.trim())));
    }
    if lines.is_empty() {
        return String::new();
    }
    lines.into_iter().fold("\n# The violation, checked again\n\n".to_owned(), |text, line| text + "- " + &line + "\n")
}

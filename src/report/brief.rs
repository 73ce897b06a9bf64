//! The result of an approved run on one screen. The report has the rest.

use std::fmt::Write as _;

use super::count::counted;
use super::lines::writeln;
use super::next_step::next_steps;
use super::objective::objective_text;
use super::policy::policy_text;
use super::strengthen::{mutants_line, survivor_sentences};
use super::text::{decisive_revision, heading, undecided_open_points};
use crate::pipeline::{Outcome, RequirementStatus, Revision, RunView, agreement_line};
use crate::shell::shell_word;
use crate::tla::{bounds_sentence, larger_bounds_lines};

/// Longest line, in characters.
const MAX_LINE: usize = 160;
/// How many survivors and how many open points are listed.
const MAX_LISTED: usize = 4;

/// The summary of an approved run, or `None` for another outcome, which needs its trace or its reasons. `folder` is in the commands.
pub fn brief_summary(view: &RunView, folder: &str) -> Option<String> {
    let outcome = view.finished.as_ref()?.outcome;
    let revision = decisive_revision(view)?;
    if !matches!(outcome, Outcome::Approved | Outcome::ApprovedRepaired) {
        return None;
    }
    let mut text = format!("Outcome: {}\n", heading(view));
    let _ = writeln!(text, "{}", requirements_line(view, revision));
    if let Some(check) = &revision.check {
        let states = check.statistics.distinct.map_or_else(String::new, |n| format!(" in {}", counted(n, "state")));
        // Whole, because what weakens the check is at its end.
        let _ = writeln!(text, "Check: holds{states}, within {}", bounds_sentence(&check.bounds));
        for line in larger_bounds_lines(&check.larger_bounds) {
            write_line(&mut text, &format!("  larger bounds: {line}"));
        }
    }
    if let Some(steps) = revision.step_agreements().filter(|steps| !steps.is_empty()) {
        write_line(&mut text, &format!("What each step does: {}", agreement_line(&steps)));
    }
    if let Some(line) = mutants_line(revision) {
        let _ = writeln!(text, "Mutants: {line}");
    }
    write_list(&mut text, &survivor_sentences(revision, None), "in the report or meta.json");
    let open = undecided_open_points(revision);
    if !open.is_empty() {
        text.push_str("Open points, with the reading taken:\n");
    }
    let open: Vec<String> =
        open.into_iter().map(|point| format!("{} {} {}", point.id, point.question, point.taken)).collect();
    write_list(&mut text, &open, "the report lists them");
    let accepted = view
        .reviews
        .last_of(revision.revision)
        .map_or(0, |review| review.clone().accepted_lists_mut().iter().map(|(_, items)| items.len()).sum());
    if accepted > 0 {
        let _ = writeln!(text, "The reviewer accepted {} by name, which no tool confirms", counted(accepted, "item"));
    }
    text.push_str(objective_text(view, revision.revision).trim_start());
    text.push_str(policy_text(view).trim_start());
    text.push_str("Next:\n");
    let _ = writeln!(text, "  Full report: tlaforge report {}", shell_word(folder));
    for step in next_steps(view, folder) {
        let _ = writeln!(text, "  {} {}", step.why, step.command);
    }
    Some(text)
}

/// For example `Requirements: 10 of 10 hold`, with the ids of the others.
fn requirements_line(view: &RunView, revision: &Revision) -> String {
    let results = view.results_of(revision);
    let others: Vec<String> = results
        .iter()
        .filter(|result| !matches!(result.status, RequirementStatus::Holds { .. }))
        .map(|result| format!("{} {}", result.requirement.id, result.status.words()))
        .collect();
    let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    let holding =
        results.len() - results.iter().filter(|r| !matches!(r.status, RequirementStatus::Holds { .. })).count();
    format!("Requirements: {holding} of {} hold{others}", results.len())
}

fn write_line(text: &mut String, line: &str) {
    let cut = if line.chars().count() > MAX_LINE { "…" } else { "" };
    let _ = writeln!(text, "{}{cut}", line.chars().take(MAX_LINE).collect::<String>());
}

fn write_list(text: &mut String, lines: &[String], rest: &str) {
    for line in lines.iter().take(MAX_LISTED) {
        write_line(text, &format!("  {line}"));
    }
    if lines.len() > MAX_LISTED {
        let _ = writeln!(text, "  and {} more: {rest}", lines.len() - MAX_LISTED);
    }
}

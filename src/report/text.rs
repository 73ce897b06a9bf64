//! The report of a run for a person.

use std::fmt::Write as _;

use crate::pipeline::{Feedback, Outcome, Position, Revision, RunView};
use crate::prompt::Skipped;
use crate::tla::{
    Verdict, bounds_sentence, probe_lines, statistics_sentence, step_lines, trace_table, verdict_sentence,
};

/// One line: how the run stands.
pub fn heading(view: &RunView) -> String {
    match (&view.finished, view.state.position) {
        (Some(finished), _) => match finished.outcome {
            Outcome::Approved => "approved".into(),
            Outcome::ApprovedRepaired => "approved as repaired: the protocol was changed after a flaw".into(),
            Outcome::FlawFound => match decisive(view).filter(|r| r.repaired) {
                None => "flaw found: the protocol as documented breaks one of its own requirements".into(),
                Some(revision) => format!(
                    "flaw found: the protocol as repaired still breaks one of its own requirements{}",
                    first_flaw(view, revision)
                ),
            },
            Outcome::NotApproved => "not approved".into(),
            Outcome::Undecided => "undecided".into(),
            Outcome::Stopped => "stopped, can be resumed".into(),
        },
        (None, Position::At(station)) => format!("not finished: at {station}, can be resumed"),
        (None, _) => "not finished, can be resumed".into(),
    }
}

/// The revision that the run's outcome rests on.
fn decisive(view: &RunView) -> Option<&Revision> {
    let best = view.finished.as_ref().and_then(|f| f.best);
    best.and_then(|best| view.revisions.iter().find(|r| r.revision == best)).or(view.revisions.last())
}

/// The flaw that the first repair on the way to this revision was for.
fn first_flaw(view: &RunView, revision: &Revision) -> String {
    let parent = |r: &Revision| view.revisions.iter().find(|p| Some(p.revision) == r.parent);
    let before = std::iter::successors(parent(revision), |r| parent(r));
    let flawed = before.filter(|r| r.open.iter().any(Feedback::is_confirmed_flaw)).last();
    let Some(flawed) = flawed else { return String::new() };
    let violated = flawed.check.as_ref().and_then(|check| match &check.verdict {
        Verdict::Violated { violated } => violated.property(),
        _ => None,
    });
    let named = violated.map_or_else(String::new, |property| {
        let broken = flawed.requirements.iter().filter(|r| r.claims().any(|name| name == property));
        let ids: Vec<&str> = broken.map(|r| r.requirement.id.as_str()).collect();
        format!(": {property} ({})", ids.join(", "))
    });
    format!("; the first flaw, of the protocol as documented, is in rev_{}{named}", flawed.revision)
}

/// What is printed when a run ends.
pub fn summary(view: &RunView, width: usize) -> String {
    let mut text = format!("Outcome: {}\n", heading(view));
    if let Some(finished) = &view.finished {
        let _ = writeln!(text, "Why: {}", finished.why);
        if matches!(finished.outcome, Outcome::NotApproved | Outcome::Undecided)
            && let Some(best) = finished.best
        {
            let _ = writeln!(
                text,
                "Best revision: rev_{best}, whose files stand at the top of the folder (order: parses, not vacuous, \
                 holds, requirements covered, fewer blockers, fewer majors; the later of equals; an approved one before all others)"
            );
        }
    }
    if let Some(revision) = decisive(view) {
        check(&mut text, revision);
        requirements(&mut text, revision);
        flaw(&mut text, view, revision, width);
    }
    if !view.other_concerns.is_empty() {
        text.push_str("\nOther concerns in the documents, each ready to be forged with --concern:\n");
        for concern in &view.other_concerns {
            let _ = writeln!(text, "  - {concern}");
        }
    }
    let _ = writeln!(text, "\n{}", cost(view));
    text
}

/// The whole report.
pub fn report(view: &RunView, width: usize) -> String {
    let mut text = summary(view, width);
    if !view.revisions.is_empty() {
        text.push_str("\nRevisions:\n");
    }
    for r in &view.revisions {
        let parent = r.parent.map_or_else(String::new, |p| format!(", from rev_{p}"));
        let attempts: Vec<String> = r.attempts.iter().map(|(station, n)| format!("{station} {n}")).collect();
        let to = r.routed_to.map_or_else(String::new, |s| format!(" -> {s}"));
        let _ = writeln!(text, "  rev_{}{parent}: {}{to}", r.revision, r.outcome);
        if !r.why.is_empty() {
            let _ = writeln!(text, "      why: {}", first_line(&r.why));
        }
        let verdict = r.check.as_ref().map_or_else(|| "not checked".into(), verdict_sentence);
        let _ = writeln!(text, "      check: {verdict}");
        let _ = writeln!(text, "      attempts: {}", attempts.join(", "));
        if !r.edited.is_empty() {
            let _ = writeln!(text, "      edited by hand: {}", r.edited.join(", "));
        }
    }
    text.push_str("\nAnswers by station:\n");
    for (station, spent) in &view.spent {
        let _ = writeln!(
            text,
            "  {station}: {} answers, {} tokens, {}",
            spent.answers,
            spent.tokens,
            dollars(spent.cost_usd, spent.unpriced, spent.answers)
        );
    }
    let docs = &view.settings.docs;
    let bytes: u64 = docs.iter().map(|d| d.bytes).sum();
    let _ = writeln!(text, "\nDocuments: {} files, {bytes} bytes", docs.len());
    for line in skipped_lines(&view.settings.skipped) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// What was left out of the documents, a line each; many files of one reason are one line.
pub fn skipped_lines(skipped: &[Skipped]) -> Vec<String> {
    const FEW: usize = 5;
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for Skipped { path, reason } in skipped {
        match by_reason.iter_mut().find(|(known, _)| known == reason) {
            Some((_, paths)) => paths.push(path),
            None => by_reason.push((reason, vec![path])),
        }
    }
    let line = |(reason, paths): (&str, Vec<&str>)| match paths.as_slice() {
        many if many.len() > FEW => {
            vec![format!("skipped {} files, {reason}: {}, …", many.len(), many[..FEW].join(", "))]
        }
        few => few.iter().map(|path| format!("skipped {path}: {reason}")).collect(),
    };
    by_reason.into_iter().flat_map(line).collect()
}

fn check(text: &mut String, revision: &Revision) {
    match &revision.check {
        Some(outcome) => {
            let _ = writeln!(text, "\nCheck ({}): {}", outcome.version.trim(), verdict_sentence(outcome));
            let _ = writeln!(text, "  {}", statistics_sentence(&outcome.statistics));
            let _ = writeln!(text, "  within: {}", bounds_sentence(&outcome.bounds));
        }
        None => text.push_str("\nCheck: none was made of this revision as it stands\n"),
    }
}

fn requirements(text: &mut String, revision: &Revision) {
    if revision.requirements.is_empty() {
        return;
    }
    text.push_str("\nRequirements:\n");
    for r in &revision.requirements {
        let place = r.requirement.place.as_deref().map_or_else(String::new, |p| format!(" [{p}]"));
        let _ = writeln!(text, "  {}{place} {}", r.requirement.id, r.requirement.text);
        let _ = writeln!(text, "      {}", r.words());
    }
}

/// The counterexample; of a flaw, in the documents' words.
fn flaw(text: &mut String, view: &RunView, revision: &Revision, width: usize) {
    let Some(check) = &revision.check else { return };
    let Some(trace) = &check.trace else { return };
    let probes = probe_lines(check).into_iter().fold(String::new(), |text, line| text + "  - " + &line + "\n");
    let probes = if probes.is_empty() { probes } else { format!("\nThe violation, checked again:\n{probes}") };
    let told = view.review.as_ref().and_then(|r| r.flaw.as_ref()).filter(|_| revision.outcome == "flaw_found");
    let Some(flaw) = told else {
        let _ = writeln!(text, "\nCounterexample:\n\n{}\n{probes}", trace_table(trace, width).trim_end());
        return;
    };
    let requirement = revision.requirements.iter().find(|r| r.requirement.id == flaw.requirement);
    let said = requirement.map_or("", |r| &r.requirement.text);
    let _ = writeln!(text, "\nFlaw: {} breaks ({said}), shown by {}", flaw.requirement, flaw.property);
    let mut previous = None;
    for step in &trace.steps {
        let _ = write!(text, "\n{}", step_lines(previous, step, width));
        previous = Some(step);
        for told in flaw.steps.iter().filter(|s| s.step == step.step) {
            let _ = writeln!(text, "     documents: {}, line {}: {}", told.file, told.line, told.why.trim());
        }
    }
    text.push_str(&probes);
    if let Some((agrees, why)) = &view.second_reading {
        let _ = writeln!(text, "\nThe second reader {}: {why}", if *agrees { "agrees" } else { "disagrees" });
    }
}

fn cost(view: &RunView) -> String {
    let spent = view.spent_total();
    let stale = match spent.stale {
        0 => String::new(),
        n => format!("; {n} of them recorded for another wording of the prompt (stale)"),
    };
    format!(
        "Cost: {} answers, {} tokens, {}{stale}",
        spent.answers,
        spent.tokens,
        dollars(spent.cost_usd, spent.unpriced, spent.answers)
    )
}

fn dollars(cost: f64, unpriced: u32, answers: u32) -> String {
    match unpriced {
        0 => format!("{cost:.2} USD"),
        n if n == answers => "price unknown".to_owned(),
        n => format!("{cost:.2} USD and {n} answers of unknown price"),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or("");
    let short: String = line.chars().take(160).collect();
    if short.len() < text.trim_end().len() { format!("{short}…") } else { short }
}

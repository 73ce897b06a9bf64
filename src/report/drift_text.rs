//! The drift of a run's documents for reading, and what was accepted of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::count::counted;
use super::drift::{Cites, DriftReport, below_words, kind_words, lines_words, words_of};
use super::lines::writeln;
use crate::pipeline::{AcceptedChange, AcceptedDrift};
use crate::prompt::{ChangeKind, CitingKind, Drift, Quoted, TextChange};

/// Maximum number of passages to list in each part of the text that is only for information.
const MOST_LISTED: usize = 10;

pub fn drift_text(report: &DriftReport<'_>) -> String {
    let Drift { cited, uncited, new_normative, other_new, unchanged, moved, .. } = report.drift;
    let Drift { moved_cited, not_compared, .. } = report.drift;
    let summary = report.summary();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}{}", summary[..1].to_uppercase(), &summary[1..]);
    let (open, accepted): (Vec<&TextChange>, Vec<&TextChange>) =
        cited.iter().partition(|change| !report.open(change).is_empty());
    for change in open {
        let _ = std::writeln!(text, "\n{}", change_text(report, change).trim_end());
    }
    if !accepted.is_empty() {
        text.push_str("\nAccepted:\n");
    }
    for change in accepted {
        let _ = writeln!(text, "  {}", place_words(report, change));
        append_texts(&mut text, "      ", change);
        for one in report.acceptances(change) {
            let _ = writeln!(text, "      for {}: {} ({})", one.item, one.because, one.time);
        }
    }
    if !not_compared.is_empty() {
        text.push_str("\nNot compared, because they cite no text:\n");
    }
    for (id, why) in not_compared {
        let _ = writeln!(text, "  {id}: {why}");
    }
    append_uncited(&mut text, report, uncited);
    if !new_normative.is_empty() {
        let _ = writeln!(
            text,
            "\n{}, which no specification accounts for:",
            counted(new_normative.len(), "new normative sentence")
        );
    }
    append_shortened(&mut text, new_normative, |quoted| {
        format!("{}:{} \"{}\"", (report.file)(&quoted.document), lines_words(quoted), quoted.text)
    });
    if !moved_cited.is_empty() {
        text.push_str("\nCited, unchanged, and now elsewhere:\n");
    }
    append_shortened(&mut text, moved_cited, |(before, now)| {
        let place = format!("{}:{}", (report.file)(&now.document), lines_words(now));
        format!("{place} \"{}\" (in the run: docs/{}:{})", now.text, before.document, lines_words(before))
    });
    if !other_new.is_empty() {
        text.push_str("\nNew, without normative words:\n");
    }
    append_shortened(&mut text, other_new, |quoted| {
        format!("{}:{} \"{}\"", (report.file)(&quoted.document), lines_words(quoted), quoted.text)
    });
    let _ = writeln!(
        text,
        "\nPassages: {unchanged} in place, {moved} moved, {} new",
        new_normative.len() + other_new.len()
    );
    text
}

/// The texts before and now; a block of code on several lines.
fn append_texts(text: &mut String, indent: &str, change: &TextChange) {
    if change.kind == ChangeKind::Heading {
        let cited = change.beside.as_ref().map_or("", |beside| &beside.text);
        let (before, now) = (below_words(change.before.as_ref()), below_words(change.now.as_ref()));
        let _ = writeln!(text, "{indent}text: {cited}\n{indent}was: {before}\n{indent}now: {now}");
        return;
    }
    for (word, quoted) in [("was", &change.before), ("now", &change.now)] {
        if let Some(quoted) = quoted {
            let lines = quoted.text.replace('\n', &format!("\n{indent}     "));
            let _ = std::writeln!(text, "{indent}{word}: {lines}");
        }
    }
}

fn change_text(report: &DriftReport<'_>, change: &TextChange) -> String {
    let mut text = place_words(report, change) + "\n";
    append_texts(&mut text, "  ", change);
    let open = report.open(change);
    let of_kind = |wanted: CitingKind| -> BTreeSet<Cites> {
        change.cited_by.iter().filter(|(kind, _)| *kind == wanted).cloned().collect()
    };
    for id in crate::prompt::names_of_kind(&change.cited_by, CitingKind::Requirement) {
        let requirement = report.revision.requirements.iter().find(|covered| covered.requirement.id == id);
        let words = requirement.map_or("", |covered| &covered.requirement.text);
        let checked = match report.properties(id).as_slice() {
            [] => "no property checks it".to_owned(),
            names => format!("checked by {}", names.join(", ")),
        };
        let accepted = match report.acceptance(change, &(CitingKind::Requirement, id.to_owned())) {
            Some(one) => format!("; accepted: {}", one.because),
            None => String::new(),
        };
        let _ = writeln!(text, "  {id} {words}\n     {checked}{accepted}");
    }
    let mut others: BTreeSet<Cites> = BTreeSet::new();
    for kind in [CitingKind::Step, CitingKind::Assumption, CitingKind::OpenPoint, CitingKind::Description] {
        others.extend(of_kind(kind));
    }
    if !others.is_empty() {
        let is_only = open.iter().all(|(kind, _)| *kind != CitingKind::Requirement);
        let also = if is_only { "cited by" } else { "also cited by" };
        let _ = writeln!(text, "  {also} {}", words_of(&others));
    }
    text
}

/// The place in the new documents, and what happened there.
fn place_words(report: &DriftReport<'_>, change: &TextChange) -> String {
    let what = kind_words(change.kind);
    let of_run = |quoted: &Quoted| format!("docs/{}:{}", quoted.document, lines_words(quoted));
    if let (ChangeKind::Heading, Some((document, line)), Some(beside)) = (change.kind, &change.at, &change.beside) {
        return format!("{}:{line} {what} (in the run: {})", (report.file)(document), of_run(beside));
    }
    let before = change.before.as_ref().map(of_run);
    match (&change.now, &change.at, before) {
        (Some(now), _, before) => {
            let place = format!("{}:{}", (report.file)(&now.document), lines_words(now));
            let is_same =
                |before: &Quoted| (&before.document, before.from, before.to) == (&now.document, now.from, now.to);
            let before = before.filter(|_| !change.before.as_ref().is_some_and(is_same));
            let before = before.map_or_else(String::new, |before| format!(" (in the run: {before})"));
            format!("{place} {what}{before}")
        }
        (None, Some((document, line)), Some(before)) => {
            format!("{before} of the run {what}, after {}:{line}", (report.file)(document))
        }
        (None, _, before) => format!("{} of the run {what}, with its document", before.unwrap_or_default()),
    }
}

fn append_uncited(text: &mut String, report: &DriftReport<'_>, uncited: &[TextChange]) {
    if uncited.is_empty() {
        return;
    }
    let normative = uncited.iter().filter(|change| change.is_normative).count();
    let normative = if normative == 0 { String::new() } else { format!(", {normative} of them normative") };
    let _ = writeln!(text, "\n{} cited by no requirement and no step{normative}:", counted(uncited.len(), "change"));
    append_shortened(text, uncited, |change| {
        let out_of_scope = change.cited_by.iter().map(|(_, why)| format!("; out of scope: {why}"));
        place_words(report, change) + &out_of_scope.collect::<String>()
    });
}

fn append_shortened<T>(text: &mut String, all: &[T], line: impl Fn(&T) -> String) {
    for one in all.iter().take(MOST_LISTED) {
        let _ = writeln!(text, "  {}", line(one));
    }
    if all.len() > MOST_LISTED {
        let _ = writeln!(text, "  and {} more, in --format json", all.len() - MOST_LISTED);
    }
}

/// The lines about everything that was accepted in a run, for its report; empty if nothing was.
pub fn accepted_drift_lines(accepted: &[AcceptedDrift]) -> Vec<String> {
    let texts = |change: &AcceptedChange| {
        let text = |quoted: &Option<Quoted>| quoted.as_ref().map(|quoted| format!("\"{}\"", quoted.text));
        match (text(&change.before), text(&change.now)) {
            (Some(before), Some(now)) => format!("{before} is now {now}"),
            (Some(before), None) => format!("{before} is gone"),
            (None, now) => format!("{} is new", now.unwrap_or_default()),
        }
    };
    let line = |one: &AcceptedDrift| {
        let changes: Vec<String> = one.changes.iter().map(texts).collect();
        format!("rev_{}, {}: {} ({}; {})", one.revision, one.item, one.because, changes.join("; "), one.time)
    };
    accepted.iter().map(line).collect()
}

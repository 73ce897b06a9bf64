//! The drift of a run's documents as a task for a model: what to bring in line with the new documents.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::drift::{Cites, DriftReport, below_words, kind_words, lines_words, words_of};
use crate::pipeline::Decision;
use crate::prompt::{ChangeKind, CitingKind, EARLIER, Quoted, TextChange, names_of_kind};

/// The task. `undecided` are readings that a person decided for text that has changed, or that could not be compared.
pub fn drift_feedback(report: &DriftReport<'_>, undecided: &[&Decision]) -> String {
    let (open, accepted): (Vec<&TextChange>, Vec<&TextChange>) =
        report.drift.cited.iter().partition(|change| !report.open(change).is_empty());
    let mut text = format!(
        "In `previous.md`, a place that begins with `{EARLIER}` has lines of the earlier documents whose text has changed or is \
         gone. Replace each with the lines of the new documents that say so, or take out what rests on it; your answer has no \
         such place.\n"
    );
    if !open.is_empty() {
        text.push_str("\n### Bring in line with the new documents\n");
    }
    for change in open {
        append_change(&mut text, report, change);
    }
    if !undecided.is_empty() {
        text.push_str(
            "\n### Decided earlier by the owner of the protocol, about text that has changed or could not be compared\n\nIf the new \
             text answers the question, it counts; otherwise the question is an open point again.\n\n",
        );
    }
    for decision in undecided {
        let _ = writeln!(text, "- {}", decision.words());
    }
    if !accepted.is_empty() {
        text.push_str(
            "\n### Changed, and still right as it is\n\nA person has read these changes: move only the citations to the new \
             lines.\n",
        );
    }
    for change in accepted {
        append_change(&mut text, report, change);
    }
    let uncited = || report.drift.uncited.iter();
    if uncited().any(|change| !change.cited_by.is_empty()) {
        text.push_str("\n### Left out of scope, and changed\n\nMove the citation if the reason still holds.\n");
    }
    for change in uncited().filter(|change| !change.cited_by.is_empty()) {
        append_change(&mut text, report, change);
    }
    // A sentence that is a change of an uncited one is as new to the specification.
    let reworded = uncited().filter(|change| change.cited_by.is_empty() && change.is_normative);
    let new: Vec<&Quoted> =
        report.drift.new_normative.iter().chain(reworded.filter_map(|change| change.now.as_ref())).collect();
    if !new.is_empty() {
        text.push_str(
            "\n### New sentences that demand something\n\nCite each where it belongs: in a requirement, a step, an assumption or \
             an open point, or below `## Out of scope` with the reason.\n\n",
        );
    }
    for quoted in new {
        let _ = writeln!(text, "- {}: {}", place(quoted), quoted.text);
    }
    text
}

fn place(quoted: &Quoted) -> String {
    format!("docs/{}:{}", quoted.document, lines_words(quoted))
}

fn append_change(text: &mut String, report: &DriftReport<'_>, change: &TextChange) {
    let earlier = change.before.as_ref().map(|before| format!("{EARLIER}{}:{}", before.document, lines_words(before)));
    let what = kind_words(change.kind);
    let heading = match (&change.now, earlier) {
        _ if change.kind == ChangeKind::Heading => {
            let (document, line) = change.at.as_ref().map_or(("", 0), |(document, line)| (document.as_str(), *line));
            let (before, now) = (below_words(change.before.as_ref()), below_words(change.now.as_ref()));
            format!("docs/{document}:{line} {what}: it is {now} and was {before}, so it may not say the same any more")
        }
        (Some(now), Some(earlier)) => format!("{} {what} (before: {earlier})", place(now)),
        (Some(now), None) => format!("{} {what}", place(now)),
        (None, earlier) => format!("{} {what}", earlier.unwrap_or_default()),
    };
    let _ = writeln!(text, "\n- {heading}");
    for (word, quoted) in [("was", &change.before), ("now", &change.now), ("beside", &change.beside)] {
        let is_heading = change.kind == ChangeKind::Heading && word != "beside";
        if let Some(quoted) = quoted.as_ref().filter(|_| !is_heading) {
            let word = if change.kind == ChangeKind::Heading { "text" } else { word };
            let _ = writeln!(text, "  {word}: {}", quoted.text.replace('\n', "\n       "));
        }
    }
    let requirements = names_of_kind(&change.cited_by, CitingKind::Requirement).into_iter().map(|id| {
        match report.properties(id).as_slice() {
            [] => id.to_owned(),
            names => format!("{id} (checked by {})", names.join(", ")),
        }
    });
    let others: BTreeSet<Cites> =
        change.cited_by.iter().filter(|(kind, _)| *kind != CitingKind::Requirement).cloned().collect();
    let others = Some(words_of(&others)).filter(|words| !words.is_empty());
    let scope = change.cited_by.iter().filter(|(kind, _)| *kind == CitingKind::OutOfScope);
    let scope = scope.map(|(_, why)| format!("out of scope: {why}"));
    let concerned: Vec<String> = requirements.chain(others).chain(scope).collect();
    let _ = writeln!(text, "  concerns: {}", concerned.join(", "));
}

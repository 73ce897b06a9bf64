//! How newer documents differ from those that a run was made from: the requirements, properties and steps concerned, and what
//! a person accepted. As an object for programs and as findings; `drift_text` writes it for reading.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::count::counted;
use super::findings::{FileLine, Finding, Findings, Level};
use crate::pipeline::{AcceptedDrift, Revision};
use crate::prompt::{ChangeKind, CitingKind, Drift, Quoted, TextChange, names_of_kind};

/// The drift of one revision.
pub struct DriftReport<'a> {
    pub revision: &'a Revision,
    pub drift: &'a Drift,
    pub accepted: &'a [AcceptedDrift],
    /// The path of a new document, from its path below the folder of documents.
    pub file: &'a dyn Fn(&str) -> String,
}

/// A part of the specification, by kind and name.
pub(super) type Cites = (CitingKind, String);

impl DriftReport<'_> {
    /// The parts that a person has to read again because of a change: the requirements, or, if none cites the text, whatever
    /// else does.
    pub fn concerned(change: &TextChange) -> BTreeSet<&(CitingKind, String)> {
        let of_kind = |is_meant: &dyn Fn(CitingKind) -> bool| -> BTreeSet<&Cites> {
            change.cited_by.iter().filter(|(kind, _)| is_meant(*kind)).collect()
        };
        let requirements = of_kind(&|kind| kind == CitingKind::Requirement);
        if requirements.is_empty() { of_kind(&|kind| kind != CitingKind::OutOfScope) } else { requirements }
    }

    /// The parts that cite the changed text and for which the change is not accepted.
    pub fn open<'c>(&self, change: &'c TextChange) -> BTreeSet<&'c (CitingKind, String)> {
        let mut concerned = Self::concerned(change);
        concerned.retain(|cites| self.acceptance(change, cites).is_none());
        concerned
    }

    /// The last acceptance of the change for this part.
    pub(super) fn acceptance(&self, change: &TextChange, cites: &Cites) -> Option<&AcceptedDrift> {
        self.accepted.iter().rfind(|accepted| accepted.covers(self.revision, cites, change))
    }

    /// The acceptances of a change, each once.
    pub(super) fn acceptances(&self, change: &TextChange) -> Vec<&AcceptedDrift> {
        Self::concerned(change).into_iter().filter_map(|cites| self.acceptance(change, cites)).collect()
    }

    /// The parts that a change concerns for which it is not accepted, in words: `R1`, `step CarryOut`.
    pub fn concerned_parts(&self) -> Vec<String> {
        let open = self.drift.cited.iter().flat_map(|change| self.open(change));
        words_by_kind(&open.cloned().collect())
    }

    pub fn has_drift(&self) -> bool {
        self.drift.cited.iter().any(|change| !self.open(change).is_empty())
    }

    /// The result in one sentence.
    pub fn summary(&self) -> String {
        let Drift { cited, compared, moved, .. } = self.drift;
        let open: Vec<&TextChange> = cited.iter().filter(|change| !self.open(change).is_empty()).collect();
        let (number, outcome) = (self.revision.revision, self.revision.outcome.replace('_', " "));
        if open.is_empty() {
            let accepted = if cited.is_empty() { "" } else { ", or the change was accepted" };
            let moved = if *moved == 0 { String::new() } else { format!("; {} moved", counted(*moved, "passage")) };
            let what = counted(compared.len(), "requirement");
            return format!(
                "no drift: the text that {what} of rev_{number} ({outcome}) cite is unchanged{accepted}{moved}"
            );
        }
        let parts = self.concerned_parts().join(", ");
        let concern = if open.len() == 1 { "concerns" } else { "concern" };
        let changes = counted(open.len(), "change");
        format!("drift: {changes} of the documents {concern} rev_{number} ({outcome}): {parts}")
    }

    /// The properties that say that they cover a requirement.
    pub(super) fn properties(&self, requirement: &str) -> Vec<&str> {
        let all = self.revision.requirements.iter().filter(|covered| covered.requirement.id == requirement);
        let names: BTreeSet<&str> = all.flat_map(|covered| covered.claims().map(String::as_str)).collect();
        names.into_iter().collect()
    }

    fn place(&self, change: &TextChange) -> Option<FileLine> {
        change.at.as_ref().map(|(document, line)| FileLine::new((self.file)(document), *line))
    }
}

/// The parts in one line, by kind: `R1, R2, step CarryOut`.
pub(super) fn words_of(parts: &BTreeSet<Cites>) -> String {
    words_by_kind(parts).join(", ")
}

fn words_by_kind(parts: &BTreeSet<Cites>) -> Vec<String> {
    let of = |kind, word: &str| -> Vec<String> {
        names_of_kind(parts, kind).into_iter().map(|name| format!("{word}{name}")).collect()
    };
    let mut words = of(CitingKind::Requirement, "");
    words.extend(of(CitingKind::Assumption, ""));
    words.extend(of(CitingKind::OpenPoint, ""));
    words.extend(of(CitingKind::Step, "step "));
    words.extend(of(CitingKind::Description, "section "));
    words
}

/// What happened to a text, after its place.
pub(super) fn kind_words(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Changed => "has changed",
        ChangeKind::Removed => "is gone",
        ChangeKind::Added => "is new beside cited text",
        ChangeKind::Reordered => "is a line of code in another order",
        ChangeKind::Heading => "is below another heading",
    }
}

/// `below "Fees"`.
pub(super) fn below_words(heading: Option<&Quoted>) -> String {
    heading.map_or_else(|| "above the first heading".to_owned(), |heading| format!("below \"{}\"", heading.text))
}

/// `12` or `12-14`.
pub(super) fn lines_words(quoted: &Quoted) -> String {
    if quoted.from == quoted.to { quoted.from.to_string() } else { format!("{}-{}", quoted.from, quoted.to) }
}

/// One object.
pub fn drift_json(report: &DriftReport<'_>) -> Value {
    let quoted =
        |text: &Quoted| json!({"document": text.document, "from": text.from, "to": text.to, "text": text.text});
    let change = |change: &TextChange| {
        let cited_by: Vec<Value> = change
            .cited_by
            .iter()
            .map(|cites| {
                let acceptance = report.acceptance(change, cites);
                json!({
                    "kind": cites.0,
                    "name": cites.1,
                    "properties": report.properties(&cites.1),
                    "accepted": acceptance.map(|accepted| json!({"because": accepted.because, "time": accepted.time})),
                })
            })
            .collect();
        let place = report.place(change);
        json!({
            "change": change.kind,
            "before": change.before.as_ref().map(quoted),
            "now": change.now.as_ref().map(quoted),
            "beside": change.beside.as_ref().map(quoted),
            "file": place.as_ref().map(|place| &place.file),
            "line": place.as_ref().and_then(|place| place.line),
            "is_normative": change.is_normative,
            "cited_by": cited_by,
            "open": report.open(change).into_iter().map(|(_, name)| name).collect::<Vec<_>>(),
        })
    };
    let Drift { cited, uncited, new_normative, other_new, unchanged, moved, .. } = report.drift;
    let Drift { moved_cited, compared, not_compared, .. } = report.drift;
    let not_compared: Vec<Value> =
        not_compared.iter().map(|(id, why)| json!({"requirement": id, "why": why})).collect();
    json!({
        "schema": 1,
        "drift": report.has_drift(),
        "summary": report.summary(),
        "revision": report.revision.revision,
        "changes": cited.iter().map(change).collect::<Vec<_>>(),
        "not_cited": uncited.iter().map(change).collect::<Vec<_>>(),
        "new_normative": new_normative.iter().map(quoted).collect::<Vec<_>>(),
        "other_new": other_new.iter().map(quoted).collect::<Vec<_>>(),
        "moved_cited": moved_cited
            .iter()
            .map(|(before, now)| json!({ "before": quoted(before), "now": quoted(now) }))
            .collect::<Vec<_>>(),
        "unchanged": unchanged,
        "moved": moved,
        "compared": compared,
        "not_compared": not_compared,
    })
}

/// Each change at its line in the new documents.
pub fn drift_findings(report: &DriftReport<'_>) -> Findings {
    let mut list = Vec::new();
    for change in &report.drift.cited {
        let open: BTreeSet<Cites> = report.open(change).into_iter().cloned().collect();
        let (rule, level, of) = if open.is_empty() {
            ("drift-accepted", Level::Note, Vec::new())
        } else {
            ("drift", Level::Error, vec![format!("cited by {}", words_of(&change.cited_by))])
        };
        let properties: BTreeSet<&str> = open.iter().flat_map(|(_, name)| report.properties(name)).collect();
        let checked = (!properties.is_empty())
            .then(|| format!("checked by {}", properties.into_iter().collect::<Vec<_>>().join(", ")));
        let accepted =
            report.acceptances(change).into_iter().map(|a| format!("accepted for {}: {}", a.item, a.because));
        let parts: Vec<String> = of.into_iter().chain(checked).chain(accepted).collect();
        let message = format!("{} ({})", change_words(change), parts.join("; "));
        list.push(finding(rule, level, message, report.place(change)));
    }
    for (id, why) in &report.drift.not_compared {
        list.push(Finding::new("not-compared", Level::Warning, format!("{id} is not compared: {why}")));
    }
    for text in &report.drift.new_normative {
        let place = FileLine::new((report.file)(&text.document), text.from);
        let message = format!("new, and no specification accounts for it: \"{}\"", text.text);
        list.push(Finding::new("new-sentence", Level::Warning, message).at(place));
    }
    for change in &report.drift.uncited {
        let level = if change.is_normative { Level::Warning } else { Level::Note };
        let message = format!("{} (no requirement and no step cites it)", change_words(change));
        list.push(finding("not-cited", level, message, report.place(change)));
    }
    list.sort_by_key(|finding| finding.level);
    Findings { command: "tlaforge drift".to_owned(), summary: report.summary(), list }
}

fn finding(rule: &str, level: Level, message: String, place: Option<FileLine>) -> Finding {
    let finding = Finding::new(rule, level, message);
    match place {
        Some(place) => finding.at(place),
        None => finding,
    }
}

/// The change in one sentence, with the texts.
fn change_words(change: &TextChange) -> String {
    let text = |quoted: &Option<Quoted>| quoted.as_ref().map(|quoted| quoted.text.clone()).unwrap_or_default();
    let (before, now) = (text(&change.before), text(&change.now));
    match change.kind {
        ChangeKind::Changed => format!("\"{before}\" has changed to \"{now}\""),
        ChangeKind::Removed => format!("\"{before}\" is gone"),
        ChangeKind::Added => format!("\"{now}\" is new beside cited text"),
        ChangeKind::Reordered => format!("\"{now}\" is a line of code in another order"),
        ChangeKind::Heading => format!(
            "\"{}\" is now {}, before {}",
            text(&change.beside),
            below_words(change.now.as_ref()),
            below_words(change.before.as_ref())
        ),
    }
}

//! The rules of an audit in order of importance, each over the states of the log, with its reasons and records folded.

use std::collections::BTreeMap;

use serde::Serialize;

use super::audit_source::{AuditSource, place, states_of};
use super::audit_timeline::{Bar, Curve, Scale, Sign, in_words, runs};
use super::frame::{Section, Tone, render};
use crate::monitor::{RuleFinding, Severity, Verdict};
use crate::report::audit::verdict_words;
use crate::report::counted;

/// Number of characters of a record that are shown.
const RECORD_LENGTH: usize = 2_000;
/// Number of states that the line of a rule lists.
const LISTED: usize = 5;
/// A longer formula is folded; about three lines.
const FORMULA_LENGTH: usize = 300;
/// Groups of rules are headed by the prefixes of their ids only if there are more rules.
const UNGROUPED: usize = 8;

/// How a rule stands, most important first. What was never evaluated is never called kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    Violated,
    /// It held, and reads something that no record has.
    Warned,
    Held,
    NeverApplied,
}

impl Standing {
    const ALL: [Self; 4] = [Self::Violated, Self::Warned, Self::Held, Self::NeverApplied];

    pub(super) fn of(finding: &RuleFinding) -> Self {
        match () {
            () if !finding.verdict.holds() => Self::Violated,
            () if finding.never_applied() => Self::NeverApplied,
            () if !finding.warnings.is_empty() => Self::Warned,
            () => Self::Held,
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Violated => Tone::Bad,
            Self::Warned => Tone::Open,
            Self::Held => Tone::Good,
            Self::NeverApplied => Tone::Plain,
        }
    }

    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Violated => "violated",
            Self::Warned => "held-with-missing-data",
            Self::Held => "held",
            Self::NeverApplied => "never-applied",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Violated => "Violated",
            Self::Warned => "Held, but they read what no record has",
            Self::Held => "Evaluated, and held",
            Self::NeverApplied => "Never applied: not tested by this log",
        }
    }
}

/// The verdict in words that need no colour.
fn tag(finding: &RuleFinding) -> String {
    match (Standing::of(finding), finding.evaluated) {
        (Standing::Violated, _) => match finding.verdict {
            Verdict::PresumablyViolated => "not satisfied at the end".to_owned(),
            _ => "violated".to_owned(),
        },
        (Standing::NeverApplied, _) => "never applied".to_owned(),
        (Standing::Warned, _) if !finding.missing_fields.is_empty() => "held, a field is missing".to_owned(),
        (Standing::Warned, _) => "held, data is missing".to_owned(),
        (Standing::Held, Some(times)) => format!("held {times}\u{d7}"),
        (Standing::Held, None) => verdict_words(finding.verdict).to_owned(),
    }
}

/// Rules are grouped by what their ids begin with.
fn prefix(id: &str) -> &str {
    id.find(['/', '.']).map_or("", |end| &id[..end])
}

#[derive(Serialize)]
struct Record {
    title: String,
    text: String,
}

#[derive(Serialize)]
struct Row<'a> {
    at: usize,
    id: &'a str,
    tag: String,
    tone: Tone,
    severity: Option<&'static str>,
    description: Option<&'a str>,
    /// How often it was evaluated, and where.
    seen: String,
    when: Option<&'a str>,
    formula: &'a str,
    long_formula: Option<usize>,
    lines: Vec<String>,
    because: &'a [String],
    records: Vec<Record>,
    words: String,
    /// Of a causal rule, `seen` has said it.
    shows_words: bool,
    bars: Vec<Bar>,
    curve: Option<Curve>,
}

#[derive(Serialize)]
struct Group<'a> {
    prefix: &'a str,
    count: usize,
    rows: Vec<Row<'a>>,
}

pub(super) fn rules(source: &AuditSource<'_>) -> Option<Section> {
    let audited = source.audited;
    let states = audited.log.places.states();
    if audited.findings.is_empty() || states == 0 {
        return None;
    }
    let scale = Scale { states };
    let mut signs = Vec::new();
    let mut standings: BTreeMap<Standing, BTreeMap<&str, Vec<Row<'_>>>> = BTreeMap::new();
    for (at, finding) in audited.findings.iter().enumerate() {
        let row = row(source, &scale, &mut signs, at, finding);
        let id = &finding.rule.id;
        standings.entry(Standing::of(finding)).or_default().entry(prefix(id)).or_default().push(row);
    }
    let standings = Standing::ALL.into_iter().filter_map(|standing| Some((standing, standings.remove(&standing)?)));
    let standings: Vec<_> = standings
        .map(|(standing, groups)| {
            let count: usize = groups.values().map(Vec::len).sum();
            let is_grouped = groups.len() > 1 && count > UNGROUPED;
            let groups: Vec<Group<'_>> = groups
                .into_iter()
                .map(|(prefix, rows)| {
                    let prefix = if is_grouped { prefix } else { "" };
                    Group { prefix, count: rows.len(), rows }
                })
                .collect();
            minijinja::context! {
                id => standing.id(), title => standing.title(), count, groups,
                folded => standing == Standing::NeverApplied,
            }
        })
        .collect();
    let used = Sign::ALL.into_iter().filter(|sign| signs.contains(sign));
    let legend: Vec<_> = used
        .map(|sign| minijinja::context! { class => sign.class(), height => sign.height(), words => sign.words() })
        .collect();
    let (first, last) = (place(audited, 0), place(audited, states - 1));
    Some(Section {
        id: "rules",
        title: "The rules over the log".to_owned(),
        note: Some(audited.findings.len().to_string()),
        body: render("audited_rules", minijinja::context! { legend, standings, first, last, width => scale.width() }),
    })
}

fn row<'a>(
    source: &AuditSource<'a>,
    scale: &Scale,
    signs: &mut Vec<Sign>,
    at: usize,
    finding: &'a RuleFinding,
) -> Row<'a> {
    let audited = source.audited;
    let timeline = audited.timelines.get(at).cloned().unwrap_or_default();
    let runs = runs(&timeline, finding);
    signs.extend(runs.iter().map(|(_, _, sign)| *sign));
    let record = |state: u64| {
        let line = audited.log.places.line(state)?;
        let text = source.records.get(&line)?;
        Some(Record { title: format!("Line {line} of the log, state {state}"), text: shown_record(text, line) })
    };
    let is_long = finding.formula.chars().count() > FORMULA_LENGTH || finding.formula.lines().count() > 3;
    Row {
        at,
        id: &finding.rule.id,
        tag: tag(finding),
        tone: Standing::of(finding).tone(),
        severity: (finding.rule.severity != Severity::Error).then(|| finding.rule.severity.name()),
        description: finding.rule.description.as_deref(),
        seen: seen(source, finding),
        when: finding.when.as_deref(),
        formula: &finding.formula,
        long_formula: is_long.then(|| finding.formula.chars().count()),
        lines: lines(source, finding),
        // That it was never evaluated is what its tag says.
        because: if finding.never_applied() { &[] } else { &finding.explanation },
        records: states_of(finding).into_iter().filter_map(record).collect(),
        words: in_words(&runs, finding, scale.states),
        shows_words: finding.evaluated.is_none(),
        bars: scale.bars(&runs),
        curve: timeline.robustness.as_ref().map(|curve| scale.curve(curve, audited)),
    }
}

/// How often a causal rule was evaluated, with the lines; where another rule was decided.
fn seen(source: &AuditSource<'_>, finding: &RuleFinding) -> String {
    let places = &source.audited.log.places;
    let unit = if places.is_list() { "message" } else { "line" };
    let numbers = |states: &[u64], all: u64| {
        let shown: Vec<String> =
            states.iter().take(LISTED).filter_map(|state| places.number(*state)).map(|n| n.to_string()).collect();
        let more = match all.saturating_sub(shown.len() as u64) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let plural = if shown.len() == 1 && more.is_empty() { "" } else { "s" };
        if shown.is_empty() { String::new() } else { format!("{unit}{plural} {}{more}", shown.join(", ")) }
    };
    match finding.evaluated {
        Some(0) => String::new(),
        Some(times) if finding.verdict.holds() => {
            format!("evaluated {}: {}", counted(times, "time"), numbers(&finding.evaluated_at, times))
        }
        Some(times) => format!(
            "fails {} of {}: {}",
            counted(finding.failing_count, "time"),
            times,
            numbers(&finding.failing, finding.failing_count)
        ),
        None => finding.decided_at.map_or_else(
            || format!("evaluated over all {}", counted(places.states(), "state")),
            |state| format!("decided at {}", numbers(&[state], 1)),
        ),
    }
}

fn lines(source: &AuditSource<'_>, finding: &RuleFinding) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(state) = finding.decided_at {
        let decided = if finding.verdict == Verdict::PresumablyViolated {
            "Decided at the end of the log, after"
        } else {
            "Decided at"
        };
        lines.push(format!("{decided} {}.", place(source.audited, state)));
    }
    if finding.violations > 1 {
        lines.push(format!("Violated {}.", counted(finding.violations, "time")));
    }
    lines.extend(finding.residual.iter().map(|residual| format!("Still owed: {residual}")));
    lines.extend(finding.note.iter().map(|note| format!("Note: {note}")));
    if !finding.never_applied() {
        lines.extend(finding.warnings.iter().map(|warning| format!("Warning: {warning}")));
    }
    if !finding.untrusted.is_empty() {
        lines.push(format!("It rests on labels by a model: {}.", finding.untrusted.join(", ")));
    }
    lines
}

/// A record as indented JSON, if it is JSON. `line` is where the log has all of it.
fn shown_record(text: &str, line: u64) -> String {
    let value = serde_json::from_str::<serde_json::Value>(text).ok();
    let text = value.map_or_else(|| text.trim_end().to_owned(), |value| format!("{value:#}"));
    match text.char_indices().nth(RECORD_LENGTH) {
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{}\u{2026}\n({more} more characters: line {line} of the log has the whole record)", &text[..end])
        }
        None => text,
    }
}

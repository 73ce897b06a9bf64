//! The page of an audit: each rule over the states of the log, why it has its verdict, and the records that decided it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::frame::{Page, Section, Tone, render};
use super::mutation_page::Fact;
use crate::monitor::{AuditReport, RobustnessCurve, RuleFinding, Severity, Timeline, Verdict};
use crate::pipeline::Verification;
use crate::report::audit::verdict_words;
use crate::report::counted;

/// Width of the charts in units; a longer log has several states to a unit.
const WIDTH: u64 = 1000;
/// Number of records shown for one rule.
const RECORDS: usize = 3;
/// Number of characters of a record that are shown.
const RECORD_LENGTH: usize = 2_000;

/// What an audit page is made from.
pub struct AuditSource<'a> {
    /// The log as the user named it, and its shape.
    pub log: &'a str,
    pub shape: &'a str,
    pub audited: &'a AuditReport,
    pub verification: &'a Verification,
    /// The text of lines of the log, by number from 1; lines that could not be read again are missing.
    pub records: BTreeMap<u64, String>,
}

/// The states whose records a page shows: where rules were decided and the first ones that violate them.
pub fn cited_states(audited: &AuditReport) -> Vec<u64> {
    audited.findings.iter().flat_map(states_of).collect()
}

fn states_of(finding: &RuleFinding) -> Vec<u64> {
    if finding.verdict.holds() {
        return Vec::new();
    }
    let decided = finding.decided_at.filter(|_| finding.verdict == Verdict::Violated);
    // A rule about the whole trace fails from every position before its violation, which says nothing.
    let failing = if finding.explained_at.is_empty() { finding.failing.as_slice() } else { &[] };
    let mut states: Vec<u64> = finding.explained_at.iter().chain(failing).copied().chain(decided).collect();
    states.sort_unstable();
    states.dedup();
    states.truncate(RECORDS);
    states
}

/// The page of an audit.
pub fn audit_page(source: &AuditSource<'_>) -> Page {
    let AuditSource { log, audited, verification, .. } = source;
    let findings = &audited.findings;
    let broken = findings.iter().filter(|finding| !finding.verdict.holds()).count();
    let unseen = findings.iter().filter(|finding| !finding.warnings.is_empty()).count();
    let rules = counted(findings.len() as u64, "rule");
    let objections = verification.objections.len();
    let (tone, heading) = match (broken, objections) {
        (0, 0) if unseen > 0 => {
            (Tone::Open, format!("Every rule holds, but {unseen} of {rules} use data that no record has"))
        }
        (0, 0) => (
            Tone::Good,
            format!(
                "The log keeps {}",
                if findings.len() == 1 { "the rule".to_owned() } else { format!("all {rules}") }
            ),
        ),
        (0, _) => (Tone::Bad, format!("The log contradicts itself in {}", counted(objections as u64, "place"))),
        (1, _) => (Tone::Bad, format!("The log violates 1 of {rules}")),
        (_, _) => (Tone::Bad, format!("The log violates {broken} of {rules}")),
    };
    let mut facts = vec![Fact::new(
        "Log",
        format!("{log}: {}, read as {}", counted(audited.log.places.states(), "state"), source.shape),
    )];
    for finding in findings.iter().filter(|finding| !finding.verdict.holds()).take(5) {
        let place = finding.decided_at.map(|state| format!(", at {}", place(audited, state))).unwrap_or_default();
        let what = finding.rule.description.as_ref().map_or_else(String::new, |text| format!(": {text}"));
        facts.push(Fact::new("Broken", format!("{}{place}{what}", finding.rule.id)));
    }
    for warning in audited.all_warnings() {
        facts.push(Fact::new("Warning", warning));
    }
    for objection in &verification.objections {
        facts.push(Fact::new(
            "Objection",
            format!("{}, event {}: {}", objection.about, objection.event, objection.text),
        ));
    }
    for what in &verification.unverified {
        facts.push(Fact::new("Not verified", what.as_str()));
    }
    if findings.iter().any(|finding| !finding.untrusted.is_empty()) {
        facts.push(Fact::new("Rests on", "labels by a model: verdicts that use them are only as good as these labels"));
    }
    let lead = render("facts", minijinja::context! { found => None::<String>, facts });
    let sections = timelines(source).into_iter().chain(rule_cards(source)).collect();
    Page {
        kind: format!("Audit of {log}"),
        title: format!("Audit \u{2013} {log}"),
        heading,
        tone,
        lead,
        sections,
        data: serde_json::json!({}),
    }
}

fn tone(finding: &RuleFinding) -> Tone {
    match finding.verdict {
        _ if !finding.warnings.is_empty() && finding.verdict.holds() => Tone::Open,
        Verdict::Satisfied | Verdict::PresumablySatisfied => Tone::Good,
        Verdict::Violated => Tone::Bad,
        Verdict::PresumablyViolated => Tone::Bad,
    }
}

/// A state in words, with its line.
fn place(audited: &AuditReport, state: u64) -> String {
    let places = &audited.log.places;
    match places.number(state) {
        Some(number) if places.is_list() => format!("state {state} (message {number})"),
        Some(line) => format!("state {state} (line {line})"),
        None => format!("state {state}"),
    }
}

/// How a verdict at a state is drawn: with a height as well as a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    HoldsSoFar,
    Satisfied,
    Pending,
    /// A position that violates the rule, of a rule without a verdict at each state.
    Failing,
    Violated,
}

impl Sign {
    const ALL: [Self; 5] = [Self::HoldsSoFar, Self::Pending, Self::Satisfied, Self::Violated, Self::Failing];

    fn new(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Satisfied => Self::Satisfied,
            Verdict::Violated => Self::Violated,
            Verdict::PresumablySatisfied => Self::HoldsSoFar,
            Verdict::PresumablyViolated => Self::Pending,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::HoldsSoFar => "so-far",
            Self::Satisfied => "satisfied",
            Self::Pending => "pending",
            Self::Failing | Self::Violated => "violated",
        }
    }

    fn height(self) -> u64 {
        match self {
            Self::HoldsSoFar => 3,
            Self::Satisfied => 6,
            Self::Pending => 10,
            Self::Failing | Self::Violated => 14,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::HoldsSoFar => "holds so far",
            Self::Satisfied => "satisfied for good",
            Self::Pending => "pending: something is still owed",
            Self::Failing => "fails here",
            Self::Violated => "violated",
        }
    }
}

#[derive(Serialize)]
struct Bar {
    x: u64,
    width: u64,
    height: u64,
    class: &'static str,
    words: String,
}

#[derive(Serialize)]
struct Curve {
    paths: Vec<String>,
    /// Where the curve is zero, from the top.
    zero: String,
    words: String,
}

fn timelines(source: &AuditSource<'_>) -> Option<Section> {
    #[derive(Serialize)]
    struct Row<'a> {
        at: usize,
        id: &'a str,
        verdict: &'static str,
        tone: Tone,
        words: String,
        bars: Vec<Bar>,
        curve: Option<Curve>,
    }
    let audited = source.audited;
    let states = audited.log.places.states();
    if audited.findings.is_empty() || states == 0 {
        return None;
    }
    let scale = Scale { states };
    let mut signs = Vec::new();
    let mut rows = Vec::new();
    for (at, finding) in audited.findings.iter().enumerate() {
        let timeline = audited.timelines.get(at).cloned().unwrap_or_default();
        let runs = runs(&timeline, finding);
        signs.extend(runs.iter().map(|(_, _, sign)| *sign));
        rows.push(Row {
            at,
            id: &finding.rule.id,
            verdict: verdict_words(finding.verdict),
            tone: tone(finding),
            words: in_words(&runs, finding, states),
            bars: scale.bars(&runs),
            curve: timeline.robustness.as_ref().map(|curve| scale.curve(curve, audited)),
        });
    }
    let used = Sign::ALL.into_iter().filter(|sign| signs.contains(sign));
    let legend: Vec<_> = used
        .map(|sign| minijinja::context! { class => sign.class(), height => sign.height(), words => sign.words() })
        .collect();
    let (first, last) = (place(audited, 0), place(audited, states - 1));
    Some(Section {
        id: "timeline",
        title: "The rules over the log".to_owned(),
        note: None,
        body: render("timelines", minijinja::context! { legend, rows, first, last, width => scale.width() }),
    })
}

/// The states of a rule as runs with the same sign; both numbers are included.
fn runs(timeline: &Timeline, finding: &RuleFinding) -> Vec<(u64, u64, Sign)> {
    if timeline.spans.is_empty() {
        return finding.failing.iter().map(|state| (*state, *state, Sign::Failing)).collect();
    }
    timeline.spans.iter().map(|span| (span.from, span.to, Sign::new(span.verdict))).collect()
}

fn in_words(runs: &[(u64, u64, Sign)], finding: &RuleFinding, states: u64) -> String {
    const LISTED: usize = 6;
    if runs.first().is_none_or(|(.., sign)| *sign == Sign::Failing) {
        let evaluated =
            finding.evaluated.map_or_else(String::new, |times| format!("evaluated {}; ", counted(times, "time")));
        let failing = match finding.failing_count {
            0 => "fails nowhere".to_owned(),
            count => format!("fails at {}", counted(count, "state")),
        };
        return format!("{evaluated}{failing}");
    }
    let span = |(from, to, sign): &(u64, u64, Sign)| match (from, to) {
        (0, to) if to + 1 == states => format!("{} throughout", sign.words()),
        (from, to) if from == to => format!("{} at {from}", sign.words()),
        (from, to) => format!("{} from {from} to {to}", sign.words()),
    };
    let mut words: Vec<String> = runs.iter().take(LISTED).map(span).collect();
    if runs.len() > LISTED {
        words.push(format!("{} more changes", runs.len() - LISTED));
    }
    words.join(", ")
}

/// States to units of a chart.
struct Scale {
    states: u64,
}

impl Scale {
    /// A unit is one state of a short log.
    fn width(&self) -> u64 {
        self.states.min(WIDTH)
    }

    fn unit(&self, state: u64) -> u64 {
        if self.states <= WIDTH {
            state
        } else {
            u64::try_from(u128::from(state) * u128::from(WIDTH) / u128::from(self.states)).unwrap_or(0)
        }
    }

    /// A rectangle for each run. Of several states in one unit the worst is shown.
    fn bars(&self, runs: &[(u64, u64, Sign)]) -> Vec<Bar> {
        let mut worst: BTreeMap<u64, Sign> = BTreeMap::new();
        for (from, to, sign) in runs {
            for unit in self.unit(*from)..=self.unit(*to) {
                let known = worst.entry(unit).or_insert(*sign);
                *known = (*known).max(*sign);
            }
        }
        let mut bars: Vec<(u64, u64, Sign)> = Vec::new();
        for (unit, sign) in worst {
            match bars.last_mut().filter(|(from, width, last)| from + width == unit && *last == sign) {
                Some((_, width, _)) => *width += 1,
                None => bars.push((unit, 1, sign)),
            }
        }
        let state = |unit: u64| if self.states <= WIDTH { unit } else { unit * self.states / WIDTH };
        let bar = |(x, width, sign): (u64, u64, Sign)| Bar {
            x,
            width,
            height: sign.height(),
            class: sign.class(),
            words: format!("{}: states {} to {}", sign.words(), state(x), state(x + width) - 1),
        };
        bars.into_iter().map(bar).collect()
    }

    fn curve(&self, curve: &RobustnessCurve, audited: &AuditReport) -> Curve {
        let values = || curve.points.iter().map(|(_, value)| *value);
        let (least, most) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
        let height = (most - least).max(f64::MIN_POSITIVE);
        // Between 4 and 96, so that the line is not cut at the edges.
        let y = |value: f64| format!("{:.1}", 96.0 - (value - least) / height * 92.0);
        // The smallest value of a unit: a short violation must not disappear.
        let mut by_unit: BTreeMap<u64, f64> = BTreeMap::new();
        for (state, value) in &curve.points {
            let known = by_unit.entry(self.unit(*state)).or_insert(*value);
            *known = known.min(*value);
        }
        let mut lines: Vec<String> = Vec::new();
        let mut before = None;
        for (unit, value) in by_unit {
            let is_next = before.is_some_and(|before| before + 1 == unit);
            let level = y(value);
            match lines.last_mut().filter(|_| is_next) {
                // Writing to a string cannot fail.
                Some(path) => drop(write!(path, " H{unit} V{level} H{}", unit + 1)),
                None => lines.push(format!("M{unit} {level} H{}", unit + 1)),
            }
            before = Some(unit);
        }
        let lowest = curve.points.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
        let words = lowest.map_or_else(String::new, |(state, value)| {
            let (_, end) = curve.points.last().unwrap_or(&(0, 0.0));
            format!(
                "Robustness of {}: at least {}, at {}; at most {}; {} at the end. It holds above the line.",
                curve.predicate,
                number(*value),
                place(audited, *state),
                number(values().fold(f64::MIN, f64::max)),
                number(*end)
            )
        });
        Curve { paths: lines, zero: y(0.0), words }
    }
}

fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn rule_cards(source: &AuditSource<'_>) -> Option<Section> {
    #[derive(Serialize)]
    struct Record {
        title: String,
        text: String,
    }
    #[derive(Serialize)]
    struct Card<'a> {
        at: usize,
        id: &'a str,
        verdict: &'static str,
        tone: Tone,
        severity: Option<&'static str>,
        description: Option<&'a str>,
        formula: &'a str,
        lines: Vec<String>,
        because: &'a [String],
        records: Vec<Record>,
    }
    let audited = source.audited;
    let record = |state: u64| {
        let line = audited.log.places.line(state)?;
        let text = source.records.get(&line)?;
        Some(Record { title: format!("Line {line} of the log, state {state}"), text: shown_record(text) })
    };
    let mut rules = Vec::new();
    for (at, finding) in audited.findings.iter().enumerate() {
        let mut lines = Vec::new();
        if let Some(state) = finding.decided_at {
            let decided = if finding.verdict == Verdict::PresumablyViolated {
                "Decided at the end of the log, after"
            } else {
                "Decided at"
            };
            lines.push(format!("{decided} {}.", place(audited, state)));
        }
        if finding.violations > 1 {
            lines.push(format!("Violated {}.", counted(finding.violations, "time")));
        }
        lines.extend(finding.residual.iter().map(|residual| format!("Still owed: {residual}")));
        lines.extend(finding.note.iter().map(|note| format!("Note: {note}")));
        lines.extend(finding.warnings.iter().map(|warning| format!("Warning: {warning}")));
        if !finding.untrusted.is_empty() {
            lines.push(format!("It rests on labels by a model: {}.", finding.untrusted.join(", ")));
        }
        rules.push(Card {
            at,
            id: &finding.rule.id,
            verdict: verdict_words(finding.verdict),
            tone: tone(finding),
            severity: (finding.rule.severity != Severity::Error).then(|| finding.rule.severity.name()),
            description: finding.rule.description.as_deref(),
            formula: &finding.formula,
            lines,
            because: &finding.explanation,
            records: states_of(finding).into_iter().filter_map(record).collect(),
        });
    }
    (!rules.is_empty()).then(|| Section {
        id: "rules",
        title: "Rules".to_owned(),
        note: Some(rules.len().to_string()),
        body: render("audited_rules", minijinja::context! { rules }),
    })
}

/// A record as indented JSON, if it is JSON.
fn shown_record(text: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(text).ok();
    let text = value.map_or_else(|| text.trim_end().to_owned(), |value| format!("{value:#}"));
    match text.char_indices().nth(RECORD_LENGTH) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_state_of_a_unit_is_shown() {
        let scale = Scale { states: 10_000 };
        let bars = scale.bars(&[
            (0, 4_998, Sign::HoldsSoFar),
            (4_999, 4_999, Sign::Violated),
            (5_000, 9_999, Sign::Satisfied),
        ]);
        let shown: Vec<(u64, u64, &str)> = bars.iter().map(|bar| (bar.x, bar.width, bar.class)).collect();
        assert_eq!(shown, [(0, 499, "so-far"), (499, 1, "violated"), (500, 500, "satisfied")]);
    }
}

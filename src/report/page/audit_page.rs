//! The page of an audit: what is broken, what was not tested, each rule over the log, and the records that decided it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::audit_rules::{Standing, rules};
use super::audit_source::{AuditSource, place};
use super::frame::{Html, Page, Section, Tone, render};
use super::mutation_page::Fact;
use crate::monitor::{AuditReport, RuleFinding, Verdict};
use crate::report::counted;

/// The page of an audit.
pub fn audit_page(source: &AuditSource<'_>) -> Page {
    let log = source.log;
    let (tone, heading) = heading(source);
    let sections = [rules(source), missing_fields(source.audited), Some(limits(source))];
    Page {
        kind: format!("Audit of {log}"),
        title: format!("Audit \u{2013} {log}"),
        heading,
        tone,
        lead: lead(source),
        sections: sections.into_iter().flatten().collect(),
        data: serde_json::json!({}),
    }
}

fn count(audited: &AuditReport, standing: Standing) -> usize {
    audited.findings.iter().filter(|finding| Standing::of(finding) == standing).count()
}

fn heading(source: &AuditSource<'_>) -> (Tone, String) {
    let AuditSource { audited, verification, .. } = source;
    let all = audited.findings.len();
    let (broken, never) = (count(audited, Standing::Violated), count(audited, Standing::NeverApplied));
    let warned = count(audited, Standing::Warned);
    let rules = counted(all as u64, "rule");
    let objections = counted(verification.objections.len() as u64, "place");
    let verb = if broken == 1 { "is" } else { "are" };
    match (broken, verification.objections.len()) {
        (0, 0) if all == 0 => (Tone::Open, "No rule was evaluated: the log has no state".to_owned()),
        (0, 0) => {
            let tone = match (warned, never) {
                (0, 0) => Tone::Good,
                (0, _) => Tone::Plain,
                _ => Tone::Open,
            };
            let evaluated = match (all, never) {
                (1, 0) => "the rule was evaluated".to_owned(),
                (_, 0) => format!("all {rules} were evaluated"),
                _ => format!("{} of {rules} were evaluated, {never} never", all - never),
            };
            let missing = match warned {
                0 => String::new(),
                warned => format!("; {warned} of those that held read what no record has"),
            };
            (tone, format!("No rule is broken: {evaluated}{missing}"))
        }
        (0, _) => (Tone::Bad, format!("No rule is broken, but the log contradicts itself in {objections}")),
        (_, 0) => (Tone::Bad, format!("{} {verb} broken, of {all}", counted(broken as u64, "rule"))),
        _ => (
            Tone::Bad,
            format!("{} {verb} broken, and the log contradicts itself in {objections}", counted(broken as u64, "rule")),
        ),
    }
}

fn lead(source: &AuditSource<'_>) -> Html {
    let AuditSource { log, audited, verification, .. } = source;
    let mut facts = vec![Fact::new(
        "Log",
        format!(
            "{log}: {}, read as {}, {}",
            counted(audited.log.records, "record"),
            source.shape,
            counted(audited.log.places.states(), "state")
        ),
    )];
    facts.extend(source.outcome.as_ref().map(|outcome| Fact::new("Run", outcome.as_str())));
    let broken = || audited.findings.iter().filter(|finding| Standing::of(finding) == Standing::Violated);
    for finding in broken().take(5) {
        let place = finding.decided_at.map(|state| format!(", at {}", place(audited, state))).unwrap_or_default();
        let what = finding.rule.description.as_ref().map_or_else(String::new, |text| format!(": {text}"));
        facts.push(Fact::new("Broken", format!("{}{place}{what}", finding.rule.id)));
    }
    for warning in &audited.warnings {
        facts.push(Fact::new("Warning", warning.as_str()));
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
    if audited.findings.iter().any(|finding| !finding.untrusted.is_empty()) {
        facts.push(Fact::new("Rests on", "labels by a model: verdicts that use them are only as good as these labels"));
    }
    facts.push(Fact::new("Next", next_step(source)));
    let standing = |standing: Standing, words: &'static str| {
        let count = count(audited, standing);
        (count > 0).then(|| minijinja::context! { id => standing.id(), words => format!("{count} {words}") })
    };
    let links = [
        standing(Standing::Violated, "violated"),
        standing(Standing::Warned, "held, data is missing"),
        standing(Standing::Held, "held"),
        standing(Standing::NeverApplied, "never applied"),
    ];
    let links: Vec<_> = links.into_iter().flatten().filter(|_| audited.log.places.states() > 0).collect();
    render(
        "audit_lead",
        minijinja::context! { facts => render("facts", minijinja::context! { found => None::<String>, facts }), links },
    )
}

fn next_step(source: &AuditSource<'_>) -> &'static str {
    let audited = source.audited;
    match () {
        () if count(audited, Standing::Violated) > 0 => {
            "Open the first violated rule below and read its record: either the log shows a real fault, or the rule says more \
             than it should."
        }
        () if !source.verification.objections.is_empty() => {
            "Read the objections: the log, or a file that it names, was changed after it was written."
        }
        () if count(audited, Standing::Warned) > 0 => {
            "Look at the missing fields below: is a name misspelt in a rule or in the mapping of the log, or does the log not \
             record it?"
        }
        () if count(audited, Standing::NeverApplied) > 0 => {
            "Audit logs in which the rules that never applied do apply, for example of runs that ended otherwise."
        }
        () => "Audit the next log with the same rules; `--junit FILE` writes the result for a build server.",
    }
}

#[derive(Serialize)]
struct MissingField<'a> {
    name: &'a str,
    rules: Vec<(usize, &'a str)>,
}

/// The fields that rules read and no record has: a warning only if a rule that was evaluated reads them.
fn missing_fields(audited: &AuditReport) -> Option<Section> {
    let read_by = |is_wanted: &dyn Fn(&RuleFinding) -> bool| {
        let mut by: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
        for (at, finding) in audited.findings.iter().enumerate().filter(|(_, finding)| is_wanted(finding)) {
            for field in &finding.missing_fields {
                by.entry(field).or_default().push((at, &finding.rule.id));
            }
        }
        by
    };
    let warned = read_by(&|finding| !finding.never_applied());
    let others = read_by(&RuleFinding::never_applied);
    let quiet: Vec<&str> = others.keys().copied().filter(|field| !warned.contains_key(field)).collect();
    if warned.is_empty() && quiet.is_empty() {
        return None;
    }
    let summary = (!warned.is_empty()).then(|| fields_sentence(&warned.keys().copied().collect::<Vec<_>>()));
    let note = Some(warned.len().to_string()).filter(|_| !warned.is_empty());
    let fields: Vec<_> = warned.into_iter().map(|(name, rules)| MissingField { name, rules }).collect();
    let quiet = (!quiet.is_empty()).then(|| {
        format!(
            "{} Only rules that never applied read {}.",
            fields_sentence(&quiet),
            if quiet.len() == 1 { "it" } else { "them" }
        )
    });
    Some(Section {
        id: "missing",
        title: "Missing fields".to_owned(),
        note,
        body: render("missing_fields", minijinja::context! { summary, fields, quiet }),
    })
}

/// `3 fields are in no record: `claims.flaw.*` (2), `note`.`
fn fields_sentence(names: &[&str]) -> String {
    const SHOWN: usize = 6;
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in names {
        groups.entry(name.rsplit_once('.').map_or(*name, |(parent, _)| parent)).or_default().push(name);
    }
    let mut groups: Vec<(&str, Vec<&str>)> = groups.into_iter().collect();
    groups.sort_by_key(|(parent, fields)| (std::cmp::Reverse(fields.len()), *parent));
    let mut words: Vec<String> = groups
        .iter()
        .take(SHOWN)
        .map(|(parent, fields)| match fields.as_slice() {
            [only] => format!("`{only}`"),
            fields => format!("`{parent}.*` ({})", fields.len()),
        })
        .collect();
    let left: BTreeSet<&str> = groups.iter().skip(SHOWN).flat_map(|(_, fields)| fields.iter().copied()).collect();
    if !left.is_empty() {
        words.push(format!("{} more", left.len()));
    }
    let (fields, verb) = (counted(names.len() as u64, "field"), if names.len() == 1 { "is" } else { "are" });
    format!("{fields} {verb} in no record: {}.", words.join(", "))
}

fn limits(source: &AuditSource<'_>) -> Section {
    let audited = source.audited;
    let mut lines = vec!["This is one log: another one can break a rule that this one does not break.".to_owned()];
    let never = count(audited, Standing::NeverApplied);
    if never > 0 {
        lines.push(format!(
            "{} never evaluated, so this log did not test {}.",
            was_counted(never),
            if never == 1 { "it" } else { "them" }
        ));
    }
    if audited
        .findings
        .iter()
        .any(|finding| finding.verdict == Verdict::PresumablySatisfied && !finding.never_applied())
    {
        lines.push(
            "A rule that holds so far, or held at each event, could be broken by what comes after the end of the log."
                .to_owned(),
        );
    }
    lines.push(
        "A rule about what the log claims, such as a verdict or a count, compares claims with each other. It does not show \
         that a claim is true."
            .to_owned(),
    );
    Section {
        id: "limits",
        title: "What this does not show".to_owned(),
        note: None,
        body: render("limits", minijinja::context! { lines }),
    }
}

fn was_counted(rules: usize) -> String {
    format!("{} {}", counted(rules as u64, "rule"), if rules == 1 { "was" } else { "were" })
}

//! The page of an evaluation: the scores of the cases, and which property found each known bug. Computes no score.

use std::collections::BTreeMap;

use serde::Serialize;

use super::frame::{Page, Section, Tone, render};
use super::mutation_page::Fact;
use crate::eval::{BugOutcome, Comparison, Criterion, Evaluation, Row, Status, WEIGHTS, mean};
use crate::report::counted;
use crate::report::eval::{Entry, Outcome, kill_words, number, status, tools};

/// Width of the bar of a full score in pixels.
const BAR: f64 = 120.0;

/// The page of one case, or of a suite with its comparison.
pub fn eval_page(entries: &[Entry], comparison: Option<&Comparison>, what: &str) -> Page {
    let evaluations: Vec<&Evaluation> = entries.iter().filter_map(evaluation).collect();
    let rows: Vec<Row> = evaluations.iter().map(|evaluation| Row::summarize(evaluation)).collect();
    let (found, all) = evaluations
        .iter()
        .fold((0, 0), |(found, all), evaluation| (found + evaluation.tier3.detected, all + evaluation.tier3.total));
    let score = mean(&rows);
    let regressions = comparison.map_or(0, |comparison| comparison.regressions.len());
    let failed = entries.iter().filter(|entry| matches!(entry.outcome, Outcome::Failed { .. })).count();
    let skipped = entries.len() - evaluations.len() - failed;
    let tone = match score {
        _ if regressions > 0 || failed > 0 => Tone::Bad,
        Some(score) if score.least >= 0.8 => Tone::Good,
        Some(_) => Tone::Open,
        None => Tone::Plain,
    };
    let cases = counted(evaluations.len() as u64, "case");
    let heading = match score {
        Some(score) => format!("Score {} over {cases}: {found} of {all} known bugs found", score.words(2)),
        None => format!("No score over {cases}: {found} of {all} known bugs found"),
    };
    let heading = if failed > 0 { format!("{heading}; {failed} could not be evaluated") } else { heading };
    let heading = if skipped > 0 { format!("{heading}; {skipped} skipped") } else { heading };
    let [sound, size, bugs] = WEIGHTS.map(|weight| format!("{:.0} %", weight * 100.0));
    let mut facts = vec![Fact::new(
        "Score",
        format!(
            "{sound} whether the specification is sound, {size} its size, {bugs} the known bugs that its properties find"
        ),
    )];
    let mut checkers: Vec<String> = evaluations.iter().map(|evaluation| tools(evaluation)).collect();
    checkers.sort();
    checkers.dedup();
    facts.extend(checkers.into_iter().map(|tools| Fact::new("Tools", tools)));
    if let Some(comparison) = comparison {
        facts.extend(comparison.regressions.iter().map(|line| Fact::new("Got worse", line.as_str())));
        facts.extend(comparison.undecided.iter().map(|line| Fact::new("Not decided", line.as_str())));
        facts.extend(comparison.changes.iter().map(|line| Fact::new("Changed", line.as_str())));
    }
    let mut sections = vec![cases_section(entries)];
    sections.extend(killers(&evaluations));
    sections.extend(details(entries));
    Page {
        kind: format!("Evaluation of {what}"),
        title: format!("Evaluation \u{2013} {what}"),
        heading,
        tone,
        lead: render("facts", minijinja::context! { found => None::<String>, facts }),
        sections,
        data: serde_json::json!({}),
    }
}

fn evaluation(entry: &Entry) -> Option<&Evaluation> {
    match &entry.outcome {
        Outcome::Evaluated(evaluation) => Some(evaluation),
        _ => None,
    }
}

/// Whether the first tier is passed, in a word.
fn soundness(evaluation: &Evaluation) -> (Tone, &'static str) {
    let tier1 = &evaluation.tier1;
    match () {
        () if !tier1.vacuous.is_empty() => (Tone::Bad, "vacuous"),
        () if tier1.passed() => (Tone::Good, "passed"),
        () if tier1.undecided() => (Tone::Open, "undecided"),
        () => (Tone::Bad, "failed"),
    }
}

fn size(evaluation: &Evaluation) -> String {
    let tier2 = &evaluation.tier2;
    let count = |n: Option<u64>| n.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    let plural = if tier2.properties == 1 { "property" } else { "properties" };
    let kinds = format!("{}, {} temporal {plural}", counted(tier2.invariants as u64, "invariant"), tier2.properties);
    format!("{} states, depth {}; {kinds}", count(tier2.distinct_states), count(tier2.depth))
}

fn cases_section(entries: &[Entry]) -> Section {
    #[derive(Default, Serialize)]
    struct CaseRow<'a> {
        at: usize,
        case: &'a str,
        score: String,
        width: Option<String>,
        tone: Option<Tone>,
        word: &'static str,
        size: String,
        bugs: String,
        reason: Option<&'a str>,
    }
    let mut rows = Vec::new();
    for (at, Entry { case, outcome }) in entries.iter().enumerate() {
        let row = CaseRow { at, case, ..CaseRow::default() };
        rows.push(match outcome {
            Outcome::Skipped(why) => CaseRow { tone: Some(Tone::Plain), word: "skipped", reason: Some(why), ..row },
            Outcome::Failed { what, .. } => {
                CaseRow { tone: Some(Tone::Bad), word: "failed", reason: Some(what), ..row }
            }
            Outcome::Evaluated(evaluation) => {
                let (tone, word) = soundness(evaluation);
                let tier3 = &evaluation.tier3;
                let bugs = if tier3.inapplicable {
                    "not applicable".to_owned()
                } else {
                    let undecided = tier3.undecided;
                    let open = if undecided == 0 { String::new() } else { format!(", {undecided} undecided") };
                    format!("{} of {}{open}", tier3.detected, tier3.total)
                };
                let width = evaluation.score.filter(|score| *score > 0.0).map(|score| format!("{:.0}", score * BAR));
                CaseRow {
                    score: number(evaluation.range()),
                    width,
                    tone: Some(tone),
                    word,
                    size: size(evaluation),
                    bugs,
                    ..row
                }
            }
        });
    }
    let note = Some(rows.len().to_string());
    Section {
        id: "cases",
        title: "Cases".to_owned(),
        note,
        body: render("evaluated_cases", minijinja::context! { rows }),
    }
}

/// The known bugs by the property that finds them.
fn killers(evaluations: &[&Evaluation]) -> Option<Section> {
    #[derive(Serialize)]
    struct Killer {
        name: String,
        killed: usize,
        only: usize,
        width: usize,
    }
    let mut by: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for evaluation in evaluations {
        for bug in &evaluation.tier3.known_bugs {
            for name in &bug.killed_by {
                let name = if evaluations.len() == 1 { name.clone() } else { format!("{}: {name}", evaluation.case) };
                let known = by.entry(name).or_default();
                known.0 += 1;
                known.1 += usize::from(bug.killed_by.len() == 1);
            }
        }
    }
    let most = by.values().map(|(killed, _)| *killed).max()?;
    let is_folded = evaluations.len() > 1;
    let mut rows: Vec<Killer> = by
        .into_iter()
        .map(|(name, (killed, only))| Killer { name, killed, only, width: killed * 160 / most })
        .collect();
    rows.sort_by(|a, b| b.killed.cmp(&a.killed).then_with(|| a.name.cmp(&b.name)));
    Some(Section {
        id: "killers",
        title: "Known bugs by killer".to_owned(),
        note: Some(rows.len().to_string()),
        body: render(
            "killers",
            minijinja::context! {
                count => rows.len(), rows, note => None::<String>, idle => 0, deadlock => None::<Killer>, has_requirements => false, is_folded,
            },
        ),
    })
}

fn details(entries: &[Entry]) -> Option<Section> {
    #[derive(Serialize)]
    struct CriterionRow {
        tone: Tone,
        status: &'static str,
        name: String,
        reason: Option<String>,
    }
    #[derive(Serialize)]
    struct Bug<'a> {
        file: &'a str,
        description: &'a str,
        tone: Tone,
        outcome: &'static str,
        by: String,
    }
    #[derive(Serialize)]
    struct Case<'a> {
        at: usize,
        name: &'a str,
        tone: Tone,
        score: String,
        criteria: Vec<CriterionRow>,
        size: String,
        bugs: Vec<Bug<'a>>,
        notes: Vec<String>,
    }
    let criterion = |(name, criterion): (String, &Criterion)| CriterionRow {
        tone: match criterion.status {
            Status::Passed => Tone::Good,
            Status::Failed => Tone::Bad,
            Status::Undecided => Tone::Open,
            Status::NotApplicable => Tone::Plain,
        },
        status: status(criterion),
        name,
        reason: criterion.reason.clone(),
    };
    let mut cases = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let Some(evaluation) = evaluation(entry) else { continue };
        let tier3 = &evaluation.tier3;
        let mut bugs = Vec::new();
        for bug in &tier3.known_bugs {
            let tone = match bug.outcome {
                BugOutcome::Killed => Tone::Good,
                BugOutcome::Survived => Tone::Bad,
                BugOutcome::Inconclusive => Tone::Open,
                BugOutcome::NotApplicable => Tone::Plain,
            };
            bugs.push(Bug {
                file: &bug.file,
                description: &bug.description,
                tone,
                outcome: bug.outcome.words(),
                by: kill_words(bug),
            });
        }
        let wrong = tier3.wrong_properties.iter();
        let wrong = wrong.map(|wrong| {
            format!("Wrong: {} is violated by {}; its kills do not count.", wrong.property, wrong.reference)
        });
        let vacuous = evaluation.tier1.vacuous.iter().map(|reason| format!("Vacuous: {reason}"));
        let lost = tier3.not_applicable.iter();
        let lost = lost.map(|lost| {
            format!(
                "Not carried over: {} to {}: no {}.",
                lost.property,
                lost.files.join(", "),
                lost.missing.join(", no ")
            )
        });
        cases.push(Case {
            at,
            name: &entry.case,
            tone: soundness(evaluation).0,
            score: evaluation
                .range()
                .map_or_else(|| "no score".to_owned(), |score| format!("score {}", score.words(2))),
            criteria: evaluation.criteria().into_iter().map(criterion).collect(),
            size: size(evaluation),
            bugs,
            notes: vacuous.chain(wrong).chain(lost).chain(evaluation.remarks.iter().cloned()).collect(),
        });
    }
    (!cases.is_empty()).then(|| Section {
        id: "details",
        title: "Each case".to_owned(),
        note: None,
        body: render("evaluated_case", minijinja::context! { cases }),
    })
}

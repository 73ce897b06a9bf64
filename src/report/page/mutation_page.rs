//! The page of a mutation run: what no property notices, the source coloured by what happened to its mutants, and which
//! property notices how many.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::frame::{Html, Page, Section, Tone, render};
use super::trace::{TraceSource, trace_view};
use crate::mutation::{Judgement, Outcome, Subject, Summary, requirements_touched};
use crate::report::counted;
use crate::report::mutation::{
    deadlock_note, has_no_requirement, judges, list_requirements, outcome_meaning, score_sentence, shown_name,
};
use crate::tla::{CheckOutcome, Lines, Statistics, Trace, bounds_sentence, statistics_sentence};

/// Width of the longest bar in pixels.
const BAR: usize = 160;

/// A line of the summary below a heading.
#[derive(Serialize)]
pub(super) struct Fact {
    pub term: &'static str,
    pub words: String,
    pub command: Option<String>,
}

impl Fact {
    pub(super) fn new(term: &'static str, words: impl Into<String>) -> Self {
        Self { term, words: words.into(), command: None }
    }
}

/// The counts of a check without its time, so that the same input gives the same page.
pub(super) fn counts_sentence(statistics: &Statistics) -> String {
    let words = statistics_sentence(statistics);
    words.rsplit_once(", ").map_or(words.clone(), |(counts, _)| counts.to_owned())
}

/// The page. `made` is the number of mutants before selection, `spec` the path that the user gave.
pub fn mutation_page(
    subject: &Subject,
    baseline: &CheckOutcome,
    judgements: &[Judgement],
    made: usize,
    spec: &str,
) -> Page {
    let summary = Summary::from_judgements(judgements, &subject.cfg);
    let (tone, heading) = heading(&summary, judgements.len());
    let mut facts = vec![
        Fact::new("Score", score_sentence(&summary, made.saturating_sub(judgements.len())).replacen("Score: ", "", 1)),
        Fact::new("Checked", counts_sentence(&baseline.statistics)),
        Fact::new("Within", bounds_sentence(&baseline.bounds)),
        Fact::new("Judged by", judges(baseline, judgements)),
    ];
    facts.push(next_step(&summary, spec));
    let mut sections = Vec::new();
    let mut traces = Map::new();
    sections.extend(survivors(subject, judgements, &mut traces));
    sections.push(source(subject, judgements));
    sections.extend(killers(&summary, judgements));
    sections.extend(all_mutants(judgements));
    Page {
        kind: format!("Mutation testing of {spec}"),
        title: format!("Mutants \u{2013} {}", subject.file),
        heading,
        tone,
        lead: render("facts", minijinja::context! { found => None::<String>, facts }),
        sections,
        data: serde_json::json!({ "traces": Value::Object(traces) }),
    }
}

fn heading(summary: &Summary, all: usize) -> (Tone, String) {
    let decided = summary.killed + summary.survived;
    let undecided = summary.inconclusive + summary.timeout;
    match (summary.survived, undecided) {
        (0, 0) if decided == 0 => {
            (Tone::Plain, format!("None of {} was killed or survived", counted(all as u64, "mutant")))
        }
        (0, 0) => (
            Tone::Good,
            format!("The properties notice each of {} that do something new", counted(decided as u64, "mutant")),
        ),
        (0, _) => (Tone::Open, format!("No mutant is known to survive; {undecided} of {all} are not decided")),
        (survived, _) => (
            Tone::Bad,
            format!(
                "{survived} of {} {}: the specification could do something new, and no property would notice",
                counted(decided as u64, "mutant"),
                if survived == 1 { "survives" } else { "survive" }
            ),
        ),
    }
}

fn next_step(summary: &Summary, spec: &str) -> Fact {
    let words = if summary.survived > 0 {
        "Read the first survivor: is its new behaviour allowed by the documents? If not, write a property that forbids it, \
         and judge the mutants again:"
    } else if summary.inconclusive + summary.timeout > 0 {
        "Give the undecided mutants more time:"
    } else {
        "Judge the mutants again after each change of the specification:"
    };
    let more_time = if summary.survived == 0 && summary.timeout > 0 { " --timeout 60" } else { "" };
    Fact { term: "Next", words: words.to_owned(), command: Some(format!("tlaforge mutate {spec}{more_time}")) }
}

fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Killed => Tone::Good,
        Outcome::Survived => Tone::Bad,
        Outcome::Inconclusive | Outcome::Timeout => Tone::Open,
        Outcome::Restricting | Outcome::Equivalent | Outcome::FairnessOnly | Outcome::Invalid => Tone::Plain,
    }
}

/// Who noticed it, or why its outcome is what it is.
fn reason(judgement: &Judgement) -> Option<String> {
    if judgement.outcome == Outcome::Killed {
        return Some(format!("by {}", judgement.killed_by.join(", ")));
    }
    if judgement.outcome == Outcome::Restricting && !judgement.lost_witnesses.is_empty() {
        return Some(format!("no longer reaches {}", judgement.lost_witnesses.join(", ")));
    }
    judgement.reason.as_deref().and_then(|reason| reason.lines().next()).map(str::to_owned)
}

#[derive(Serialize)]
struct Survivor<'a> {
    id: String,
    name: String,
    definition: &'a str,
    what: &'a str,
    touched: String,
    diff: Vec<DiffLine<'a>>,
    lost: String,
    trace_title: String,
    trace: Option<Html>,
}

#[derive(Serialize)]
struct DiffLine<'a> {
    kind: &'static str,
    text: &'a str,
}

/// The id of the card of a survivor, by its place among all mutants.
fn survivor_id(at: usize) -> String {
    format!("survivor-{at}")
}

fn trace_title(trace: Option<&Trace>) -> String {
    match trace.map_or(0, |trace| trace.steps.len()) {
        1 => "A new initial state".to_owned(),
        _ => "A shortest behaviour that only the mutant has: its last step is new".to_owned(),
    }
}

/// The behaviour that only a survivor has, with its data for the script.
fn new_behaviour(subject: &Subject, id: String, trace: &Trace, traces: &mut Map<String, Value>) -> Html {
    let (html, data) = trace_view(&TraceSource {
        id: id.clone(),
        what: "the new behaviour".to_owned(),
        trace,
        module: Some(&subject.module),
        listing: "source-text".to_owned(),
        citations: BTreeMap::new(),
    });
    traces.insert(id, data);
    html
}

fn survivors(subject: &Subject, judgements: &[Judgement], traces: &mut Map<String, Value>) -> Option<Section> {
    let mut survivor = |at: usize| {
        let judgement = &judgements[at];
        let touched = requirements_touched(&subject.module, &subject.cfg, &judgement.definition);
        let kind = |line: &str| if line.starts_with('-') { "old" } else { "new" };
        Survivor {
            id: survivor_id(at),
            name: shown_name(judgement),
            definition: &judgement.definition,
            what: &judgement.what,
            touched: match touched.is_empty() {
                false => list_requirements(touched).replacen("touches", "It touches", 1),
                true if has_no_requirement(subject) => String::new(),
                true => "No covered requirement mentions its variables".to_owned(),
            },
            diff: judgement.diff.lines().map(|text| DiffLine { kind: kind(text), text }).collect(),
            lost: judgement.lost_witnesses.join(", "),
            trace_title: trace_title(judgement.trace.as_ref()),
            trace: judgement.trace.as_ref().map(|trace| new_behaviour(subject, format!("trace-{at}"), trace, traces)),
        }
    };
    let survived = (0..judgements.len()).filter(|at| judgements[*at].outcome == Outcome::Survived);
    let survivors: Vec<Survivor<'_>> = survived.map(&mut survivor).collect();
    (!survivors.is_empty()).then(|| Section {
        id: "survivors",
        title: "What no property notices".to_owned(),
        note: Some(survivors.len().to_string()),
        body: render("survivors", minijinja::context! { survivors }),
    })
}

#[derive(Default, Serialize)]
struct SourceRow<'a> {
    number: usize,
    text: &'a str,
    gap: Option<String>,
    tone: Option<Tone>,
    counts: Vec<Count>,
    mutants: Vec<LineMutant<'a>>,
}

#[derive(Serialize)]
struct Count {
    tone: Tone,
    words: String,
}

#[derive(Serialize)]
struct LineMutant<'a> {
    tone: Tone,
    outcome: &'static str,
    what: String,
    by: Option<String>,
    target: Option<String>,
    #[serde(skip)]
    judgement: &'a Judgement,
}

fn source(subject: &Subject, judgements: &[Judgement]) -> Section {
    let mut by_line: BTreeMap<usize, Vec<LineMutant<'_>>> = BTreeMap::new();
    for (at, judgement) in judgements.iter().enumerate() {
        by_line.entry(judgement.line).or_default().push(LineMutant {
            tone: tone(judgement.outcome),
            outcome: judgement.outcome.words(),
            what: format!("`{}` {}", judgement.definition, judgement.what),
            by: reason(judgement),
            target: (judgement.outcome == Outcome::Survived).then(|| survivor_id(at)),
            judgement,
        });
    }
    let lines = Lines::new(&subject.source);
    let module = crate::tla::Module::parse(&subject.source).ok();
    let hidden = module
        .and_then(|module| module.translation)
        .map(|translation| lines.line(translation.start)..=lines.line(translation.end.saturating_sub(1)));
    let is_hidden = |line: usize| hidden.as_ref().is_some_and(|hidden| hidden.contains(&line));
    let mut rows = Vec::new();
    for (number, text) in subject.source.lines().enumerate().map(|(at, text)| (at + 1, text)) {
        if is_hidden(number) && !by_line.contains_key(&number) {
            if !is_hidden(number - 1) {
                let gap = Some("the translation is not shown".to_owned());
                rows.push(SourceRow { gap, ..SourceRow::default() });
            }
            continue;
        }
        let mutants = by_line.remove(&number).unwrap_or_default();
        let outcomes = || mutants.iter().map(|mutant| mutant.judgement.outcome);
        let worst =
            [Tone::Bad, Tone::Open, Tone::Good].into_iter().find(|wanted| outcomes().any(|o| tone(o) == *wanted));
        let row_tone = worst.or((!mutants.is_empty()).then_some(Tone::Plain));
        rows.push(SourceRow { number, text, gap: None, tone: row_tone, counts: counts(outcomes()), mutants });
    }
    let title = "The source by its mutants".to_owned();
    let body = render("mutated_source", minijinja::context! { file => subject.file, rows });
    Section { id: "source", title, note: None, body }
}

/// How many of a line were killed, survived and are undecided; the rest together.
fn counts(outcomes: impl Iterator<Item = Outcome>) -> Vec<Count> {
    let mut by: BTreeMap<(usize, &str), (Tone, usize)> = BTreeMap::new();
    for outcome in outcomes {
        let (key, words) = match outcome {
            Outcome::Survived => (0, "survived"),
            Outcome::Inconclusive | Outcome::Timeout => (1, "undecided"),
            Outcome::Killed => (2, "killed"),
            _ => (3, "not counted"),
        };
        by.entry((key, words)).or_insert((tone(outcome), 0)).1 += 1;
    }
    by.into_iter().map(|((_, words), (tone, count))| Count { tone, words: format!("{count} {words}") }).collect()
}

fn killers(summary: &Summary, judgements: &[Judgement]) -> Option<Section> {
    #[derive(Serialize)]
    struct Row<'a> {
        name: &'a str,
        killed: usize,
        only: usize,
        width: usize,
    }
    let mut by: BTreeMap<&str, usize> = BTreeMap::new();
    for name in judgements.iter().flat_map(|judgement| &judgement.killed_by) {
        *by.entry(name).or_default() += 1;
    }
    let most = by.values().copied().max()?;
    let mut rows: Vec<Row<'_>> = by
        .into_iter()
        .map(|(name, killed)| {
            let only = summary.noticed_only_by.get(name).copied().unwrap_or(0);
            Row { name, killed, only, width: (killed * BAR / most).max(2) }
        })
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.killed), row.name));
    let is_incomplete = |judgement: &&Judgement| judgement.outcome == Outcome::Killed && !judgement.has_all_killers;
    let incomplete = judgements.iter().filter(is_incomplete).count();
    let mut notes = Vec::new();
    if incomplete > 0 {
        let mutants = counted(incomplete as u64, "mutant");
        notes.push(format!(
            "Other properties may notice {mutants}, too: the checker did not decide every property there."
        ));
    }
    if summary.killed_by_deadlock > 0 {
        notes.push(deadlock_note(summary.killed_by_deadlock));
    }
    Some(Section {
        id: "killers",
        title: "Killed by".to_owned(),
        note: Some(rows.len().to_string()),
        body: render("killers", minijinja::context! { rows, notes }),
    })
}

fn all_mutants(judgements: &[Judgement]) -> Option<Section> {
    #[derive(Serialize)]
    struct Row<'a> {
        status: String,
        line: usize,
        column: usize,
        definition: &'a str,
        what: &'a str,
        operator: &'a str,
        tone: Tone,
        outcome: &'static str,
        by: Option<String>,
    }
    #[derive(Serialize)]
    struct Filter {
        status: String,
        words: String,
        count: usize,
        meaning: &'static str,
    }
    let status = |outcome: Outcome| outcome.words().replace(' ', "-");
    let rows: Vec<Row<'_>> = judgements
        .iter()
        .map(|judgement| Row {
            status: status(judgement.outcome),
            line: judgement.line,
            column: judgement.column,
            definition: &judgement.definition,
            what: &judgement.what,
            operator: judgement.operator.id(),
            tone: tone(judgement.outcome),
            outcome: judgement.outcome.words(),
            by: reason(judgement),
        })
        .collect();
    let filter = |outcome: Outcome| {
        let count = judgements.iter().filter(|judgement| judgement.outcome == outcome).count();
        let words = outcome.words();
        let words = words[..1].to_uppercase() + &words[1..];
        (count > 0).then(|| Filter { status: status(outcome), words, count, meaning: outcome_meaning(outcome) })
    };
    let filters: Vec<Filter> = Outcome::ALL.into_iter().filter_map(filter).collect();
    (!rows.is_empty()).then(|| Section {
        id: "mutants",
        title: "All mutants".to_owned(),
        note: Some(rows.len().to_string()),
        body: render("mutants", minijinja::context! { count => rows.len(), rows, filters }),
    })
}

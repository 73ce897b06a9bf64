//! The page of a mutation run: what no property notices, the source coloured by what happened to its mutants, and which
//! property notices how many.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::frame::{Page, Section, Tone, render};
use super::mutation_killers::killers;
use super::survivors::{survivor_id, survivors};
use crate::mutation::{Judgement, Outcome, Subject, Summary};
use crate::report::counted;
use crate::report::mutation::{judges, notices_nothing, outcome_meaning, score_sentence};
use crate::tla::{CheckOutcome, Lines, Statistics, bounds_sentence, statistics_sentence};

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

/// The page. `made` is the number of mutants before selection, `spec` the path that the user gave, and `command` judges all
/// mutants.
pub fn mutation_page(
    subject: &Subject,
    baseline: &CheckOutcome,
    judgements: &[Judgement],
    made: usize,
    spec: &str,
    command: &str,
) -> Page {
    let summary = Summary::from_judgements(judgements, &subject.cfg);
    let (tone, heading) = heading(&summary, judgements.len());
    let mut facts = vec![
        Fact::new("Score", score_sentence(&summary, 0).replacen("Score: ", "", 1)),
        Fact::new("Unchanged", format!("the specification as it is holds: {}", counts_sentence(&baseline.statistics))),
        Fact::new("Within", bounds_sentence(&baseline.bounds)),
        Fact::new("Judged by", judges(baseline, judgements)),
    ];
    facts.extend(baseline.warnings.iter().map(|warning| Fact::new("Warning", warning.clone())));
    let unselected = made.saturating_sub(judgements.len());
    if unselected > 0 {
        facts.push(Fact {
            term: "Not selected",
            words: format!("{}; judge all:", counted(unselected as u64, "mutant")),
            command: Some(command.to_owned()),
        });
    }
    facts.push(next_step(&summary, command));
    let mut sections = Vec::new();
    let mut traces = Map::new();
    sections.extend(survivors(subject, judgements, &mut traces));
    sections.push(source(subject, judgements));
    sections.extend(killers(subject, &summary, judgements));
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
    let decided = summary.killed_by_property + summary.survived;
    let undecided = summary.inconclusive + summary.timeout;
    match (summary.survived, undecided) {
        _ if notices_nothing(summary) => (Tone::Bad, "No property notices any mutant".to_owned()),
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

fn next_step(summary: &Summary, command: &str) -> Fact {
    let words = if summary.survived > 0 {
        "Is the new behaviour of each survivor allowed by the documents? If not, write a property that forbids it, and judge the \
         mutants again:"
    } else if summary.inconclusive > 0 {
        "Judge the undecided mutants with TLC, which evaluates more than the embedded checker:"
    } else if summary.timeout > 0 {
        "Give the mutants that timed out more time:"
    } else {
        "Judge the mutants again after each change of the specification:"
    };
    let more_time = match summary {
        Summary { survived: 0, inconclusive: 1.., .. } => " --checker tlc",
        Summary { survived: 0, timeout: 1.., .. } => " --timeout 60",
        _ => "",
    };
    Fact { term: "Next", words: words.to_owned(), command: Some(format!("{command}{more_time}")) }
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

//! The result of a run in one sentence, what it rests on and what to do next; and the question of an ambiguity.

use serde::Serialize;

use super::bounds::{Clause, clauses};
use super::frame::{Html, Section, Tone, render};
use super::listing::{Cited, cited_lines};
use super::run_context::RunContext;
use crate::pipeline::{Outcome, Reading, RequirementResult, RequirementStatus, Revision, agreement_line};
use crate::prompt::Requirement;
use crate::report::counted;
use crate::report::next_step::{answer_commands, next_steps};
use crate::report::strengthen::mutants_line;
use crate::report::text::{known_words, status, undecided_open_points};
use crate::tla::{CheckOutcome, Checker, Confirmation, FurtherVerdict, Verdict};

pub(super) fn heading_sentence(context: &RunContext<'_>) -> String {
    let sentence = status(context.view);
    let broken = subject(context).map_or(0, |revision| broken(context, revision).len());
    let sentence = match broken {
        0 | 1 => sentence,
        n => sentence
            .replace("one of its own requirements", &format!("{n} of its own requirements"))
            .replace("a requirement breaks", &format!("{n} requirements break")),
    };
    let mut characters = sentence.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + characters.as_str()
}

#[derive(Serialize)]
struct Link {
    target: String,
    words: String,
}

/// A line of the head: the term, and the lines of its description; a formula is set as code.
#[derive(Serialize)]
struct Fact {
    term: String,
    lines: Vec<Clause>,
}

/// Below the heading: what was found, within which bounds, what it rests on, what is next.
pub(super) fn lead(context: &RunContext<'_>) -> Html {
    let Some(revision) = context.decisive else {
        return render(
            "lead",
            minijinja::context! {
                sentences => Vec::<Link>::new(), found => "No revision was closed, so nothing is known yet.",
                why => None::<String>, facts => Vec::<Fact>::new(), grounds => Vec::<Link>::new(), of => "",
                grounds_words => None::<String>, is_question => false, next => next_steps(context.view, context.source.folder),
            },
        );
    };
    let is_question = context.view.open_question().is_some();
    let why =
        context.view.finished.as_ref().filter(|finished| {
            matches!(finished.outcome, Outcome::NotApproved | Outcome::Undecided | Outcome::Stopped)
        });
    let broken = subject(context).map(|subject| (subject, broken(context, subject)));
    let sentence = |(subject, broken): (&Revision, Vec<(Requirement, String)>)| {
        let quoted = broken.into_iter().filter_map(|(requirement, _)| {
            Some(Link { words: context.sentence(subject, &requirement)?, target: requirement.id })
        });
        quoted.collect::<Vec<_>>()
    };
    let sentences = broken.map(sentence).unwrap_or_default();
    render(
        "lead",
        minijinja::context! {
            found => found(context, revision, !sentences.is_empty()),
            sentences,
            why => why.map(|finished| finished.why.clone()),
            facts => facts(context, revision),
            of => if is_question { format!(", as taken in {}", context.revision_words(revision)) } else { String::new() },
            grounds => ground_links(context, revision),
            grounds_words => dependence(context),
            is_question,
            next => if is_question { Vec::new() } else { next_steps(context.view, context.source.folder) },
        },
    )
}

/// Whether a claimed flaw rests on open points.
fn dependence(context: &RunContext<'_>) -> Option<String> {
    let granted = context.granted_by_open_points()?;
    let names: Vec<&str> = granted.keys().copied().collect();
    Some(match names.as_slice() {
        [] => "The finding rests on no open point.".to_owned(),
        names => format!("The finding rests on the reading taken for {}.", names.join(", ")),
    })
}

fn facts(context: &RunContext<'_>, revision: &Revision) -> Vec<Fact> {
    let fact = |term: String, words: String| Fact { term, lines: vec![Clause { words, is_code: false }] };
    let mut facts = Vec::new();
    for shown in context.shown_revisions().into_iter().rev() {
        let Some(check) = &shown.check else { continue };
        let term =
            if context.view.open_question().is_some() { context.revision_words(shown) } else { "Checked".to_owned() };
        facts.push(fact(term, check_words(context, shown, check)));
    }
    let Some(check) = &revision.check else { return facts };
    facts.push(fact("Checked by".to_owned(), checked_by(check)));
    let mut within = clauses(&check.bounds);
    let unprobed = check.probes.iter().flat_map(|probes| &probes.unprobed_bounds).cloned().collect::<Vec<_>>();
    if !unprobed.is_empty() {
        within
            .push(Clause { words: format!("larger numbers were not tried: {}", unprobed.join("; ")), is_code: false });
    }
    facts.push(Fact { term: "Within".to_owned(), lines: within });
    if let Some(steps) = revision.step_agreements().filter(|steps| !steps.is_empty()) {
        facts.push(fact("What each step does".to_owned(), agreement_line(&steps)));
    }
    if let Some(line) = mutants_words(revision) {
        facts.push(fact("Mutants".to_owned(), line));
    }
    facts
}

/// What changes of the specification on purpose showed, if they were tried or were to be tried.
fn mutants_words(revision: &Revision) -> Option<String> {
    let shown = revision.strengthened.as_ref();
    let why = shown.and_then(|shown| shown.skipped_reason.as_deref());
    let sampled = revision.mutant_sample.as_ref();
    match (sampled.and_then(|sample| sample.skipped_reason.as_deref()), why) {
        (Some(why), _) if shown.is_none_or(|shown| shown.skipped_reason.is_some()) => {
            Some(format!("none measured, because {why}"))
        }
        (None, Some(why)) if sampled.is_none() => Some(format!("none measured, because {why}")),
        _ => mutants_line(revision),
    }
}

fn checked_by(check: &CheckOutcome) -> String {
    let version = check.version.trim();
    match (check.checker, &check.confirmation) {
        (Checker::Tlc, _) => version.to_owned(),
        (Checker::Embedded, None) => {
            format!("the embedded checker ({version}); SANY and TLC, the reference tools, did not run")
        }
        (Checker::Embedded, Some(Confirmation::By(reference))) => {
            format!("the embedded checker ({version}), and confirmed by SANY and TLC ({})", reference.trim())
        }
        (Checker::Embedded, Some(Confirmation::Missing(why))) => {
            format!("the embedded checker ({version}); SANY and TLC, the reference tools, did not confirm it: {why}")
        }
    }
}

/// What the check of a revision found, and how far it searched.
fn check_words(context: &RunContext<'_>, revision: &Revision, check: &CheckOutcome) -> String {
    let broken: Vec<String> = broken(context, revision).into_iter().map(|(requirement, _)| requirement.id).collect();
    let states =
        check.statistics.distinct.map_or_else(|| "an unknown number of states".to_owned(), |n| counted(n, "state"));
    let found =
        if broken.is_empty() { check.verdict.name().to_owned() } else { format!("{} violated", join_names(&broken)) };
    match &check.verdict {
        Verdict::Holds if check.is_complete() => format!("{found}; all {states} that can be reached were searched"),
        Verdict::Violated { .. } => {
            let undecided =
                check.further.iter().filter(|f| matches!(f.verdict, FurtherVerdict::Undecided { .. })).count();
            let further = match (check.further.len(), undecided) {
                (0, _) => "what else is not violated is so in the states searched".to_owned(),
                (_, 0) => "every other property was then checked in a search of its own".to_owned(),
                (_, n) => format!("the other properties were then checked on their own, {n} without a result"),
            };
            format!("{found}; the search stopped at a violation, after {states}; {further}")
        }
        Verdict::Inconclusive { reason, .. } => format!("not decided: {reason}; {states} searched"),
        _ => format!("{found}; {states} searched"),
    }
}

fn join_names(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// The revision that is violated: of a question, that of the first reading.
fn subject<'a>(context: &RunContext<'a>) -> Option<&'a Revision> {
    let asked = context.view.open_question().and_then(|question| question.readings[0].revision);
    let of_question = asked.and_then(|n| context.view.revisions.iter().find(|r| r.revision == n));
    of_question.or(context.decisive)
}

/// The broken requirements of a revision, each with a property that shows it.
fn broken(context: &RunContext<'_>, revision: &Revision) -> Vec<(Requirement, String)> {
    let results = context.view.results_of(revision).into_iter();
    let broken = results.filter_map(|RequirementResult { requirement, status }| match status {
        RequirementStatus::Broken { by } => Some((requirement, by.into_iter().next()?)),
        _ => None,
    });
    broken.collect()
}

/// What is known of the requirements: the broken ones in the words of the informal specification, otherwise how many hold.
fn found(context: &RunContext<'_>, revision: &Revision, is_quoted: bool) -> String {
    let subject = subject(context).unwrap_or(revision);
    let results = context.view.results_of(subject);
    let broken = broken(context, subject);
    if let Some((_, property)) = broken.first() {
        let trace = subject.check.as_ref().and_then(|check| check.counterexample_to(property));
        let length = trace.map_or_else(String::new, |trace| {
            format!(", shown by a behaviour of {}", counted(trace.steps.len(), "state"))
        });
        let reading = if context.view.open_question().is_some() { " under one reading" } else { "" };
        let names: Vec<String> = broken.iter().map(|(requirement, _)| requirement.id.clone()).collect();
        let texts: Vec<String> =
            broken.iter().map(|(requirement, _)| format!("\u{201c}{}\u{201d}", requirement.text.trim())).collect();
        let verb = if broken.len() == 1 { "is" } else { "are" };
        // The documents' own words are above, and the requirement has its section.
        let texts = if is_quoted { ".".to_owned() } else { format!(": {}", texts.join("; ")) };
        return format!("{} {verb} violated{reading}{length}{texts}", join_names(&names));
    }
    let count =
        |is_meant: fn(&RequirementStatus) -> bool| results.iter().filter(|result| is_meant(&result.status)).count();
    let holds = count(|status| matches!(status, RequirementStatus::Holds { .. }));
    let parts = [
        (count(|status| matches!(status, RequirementStatus::Undecided { .. })), "undecided"),
        (count(|status| matches!(status, RequirementStatus::NotChecked { .. })), "not checked"),
        (count(|status| matches!(status, RequirementStatus::Uncovered)), "not covered by any property"),
        (
            count(|status| matches!(status, RequirementStatus::AcceptedUncovered { .. })),
            "not covered, as the review accepts",
        ),
    ];
    let others: Vec<String> =
        parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("; {n} {words}")).collect();
    let others = others.concat();
    let verb = if holds == 1 { "holds" } else { "hold" };
    match results.len() {
        0 => "The specification has no requirements.".to_owned(),
        all => format!("{holds} of {} {verb} within the bounds below{others}.", counted(all, "requirement")),
    }
}

fn ground_links(context: &RunContext<'_>, revision: &Revision) -> Vec<Link> {
    let lineage = context.view.lineage(revision.revision);
    let edited = lineage.iter().flat_map(|r| &r.edited).count();
    let count = |target: &str, n: usize, noun: &str| {
        (n > 0).then(|| Link { target: target.to_owned(), words: counted(n, noun) })
    };
    let left_open = Link {
        target: format!("revision-{}", revision.revision),
        words: format!("{} left open by the review", counted(revision.open_feedback.len(), "remark")),
    };
    let links = [
        count("open-points", undecided_open_points(revision).len(), "open point"),
        count("decisions", revision.decisions.len(), "decision"),
        count("assumptions", revision.assumptions.len(), "assumption"),
        count("accepted", crate::report::accepted::accepted_lines(context.view, &lineage).len(), "acceptance"),
        (!revision.open_feedback.is_empty()).then_some(left_open),
        (edited > 0).then(|| Link {
            target: "accepted".to_owned(),
            words: format!("{} edited by hand", counted(edited, "file")),
        }),
    ];
    links.into_iter().flatten().collect()
}

#[derive(Serialize)]
struct Answer {
    choice: char,
    reading: String,
    /// How the revision that takes this reading words it, if otherwise.
    taken: Option<String>,
    known: String,
    tone: Tone,
    command: String,
    finding: Option<String>,
}

/// The reading of an open point in the words of a revision. The question's text can name several possibilities; the revision
/// takes one of them.
fn taken_words(context: &RunContext<'_>, revision: u32, id: &str, reading: &str) -> Option<String> {
    let revision = context.view.revisions.iter().find(|other| other.revision == revision)?;
    let point = revision.open_points.iter().find(|point| point.id == id)?;
    (point.taken.trim() != reading.trim()).then(|| format!("rev_{} takes: {}", revision.revision, point.taken.trim()))
}

/// Number of cited lines that are quoted beside a question.
const MOST_QUOTED: usize = 12;

/// The question of an ambiguity with both answers side by side.
pub(super) fn question(context: &RunContext<'_>) -> Option<Section> {
    let question = context.view.open_question()?;
    let commands = answer_commands(&question, context.source.folder);
    let requirement = &question.requirement;
    let answers = question.readings.iter().zip(commands).map(|(reading_of_question, command)| {
        let Reading { choice, reading, revision, status, states } = reading_of_question;
        let tone = match status {
            Some(RequirementStatus::Broken { .. }) => Tone::Bad,
            // Nothing is well before the question is decided.
            _ => Tone::Open,
        };
        Answer {
            choice: *choice,
            reading: reading.clone(),
            taken: revision.and_then(|number| taken_words(context, number, &question.open_point.id, reading)),
            known: known_words(requirement, reading_of_question),
            tone,
            command,
            finding: revision.filter(|_| states.is_some()).map(|rev| format!("findings-{rev}")),
        }
    });
    let answers: Vec<Answer> = answers.collect();
    let text = |cited: &Cited| {
        let document = context.documents.iter().find(|document| document.path == cited.path);
        let lines = document.map_or("", |document| &document.text).lines();
        lines.skip(cited.from - 1).take((cited.to + 1 - cited.from).min(MOST_QUOTED)).collect::<Vec<_>>().join("\n")
    };
    let place = question.open_point.place.as_deref().unwrap_or_default();
    let cited: Vec<(Cited, String)> =
        cited_lines(place, &context.documents).into_iter().map(|cited| (cited.clone(), text(&cited))).collect();
    Some(Section {
        id: "question",
        title: "Question".to_owned(),
        note: None,
        body: render(
            "question",
            minijinja::context! { point => question.open_point, place => question.open_point.place_words(), answers, cited },
        ),
    })
}

//! The result of a run in one sentence, what it rests on and what to do next; and the question of an ambiguity.

use serde::Serialize;

use super::frame::{Html, Section, Tone, render};
use super::run_context::RunContext;
use crate::pipeline::{Outcome, Reading, RequirementResult, RequirementStatus, Revision};
use crate::report::counted;
use crate::report::next_step::{answer_commands, next_steps};
use crate::report::text::{heading, known_words, undecided_open_points};
use crate::tla::{bounds_sentence, statistics_sentence};

pub(super) fn heading_sentence(context: &RunContext<'_>) -> String {
    let sentence = heading(context.view);
    let mut characters = sentence.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + characters.as_str()
}

#[derive(Serialize)]
struct Ground {
    target: &'static str,
    words: String,
}

/// Below the heading: what was found, within which bounds, what it rests on, what is next.
pub(super) fn lead(context: &RunContext<'_>) -> Html {
    let Some(revision) = context.decisive else {
        return render(
            "lead",
            minijinja::context! {
                found => "No revision was closed, so nothing is known yet.", why => None::<String>, checked => None::<String>, within => None::<String>,
                grounds => Vec::<Ground>::new(), next => next_steps(context.view, context.source.folder),
            },
        );
    };
    let check = revision.check.as_ref();
    // With a question, another revision is violated.
    let of =
        if context.view.open_question().is_some() { format!("rev_{}: ", revision.revision) } else { String::new() };
    let why =
        context.view.finished.as_ref().filter(|finished| {
            matches!(finished.outcome, Outcome::NotApproved | Outcome::Undecided | Outcome::Stopped)
        });
    render(
        "lead",
        minijinja::context! {
            found => found(context, revision),
            why => why.map(|finished| finished.why.clone()),
            checked => check.map(|check| format!("{of}{}, {}", check.verdict.name(), statistics_sentence(&check.statistics))),
            within => check.map(|check| bounds_sentence(&check.bounds)),
            grounds => ground_links(context, revision),
            next => next_steps(context.view, context.source.folder),
        },
    )
}

/// What is known of the requirements: the broken ones in their words, otherwise how many hold.
fn found(context: &RunContext<'_>, revision: &Revision) -> String {
    let question = context.view.open_question();
    let asked = question.as_ref().and_then(|question| question.readings[0].revision);
    let subject = asked.and_then(|n| context.view.revisions.iter().find(|r| r.revision == n)).unwrap_or(revision);
    let results = context.view.results_of(subject);
    let broken = results.iter().find_map(|RequirementResult { requirement, status }| match status {
        RequirementStatus::Broken { by } => Some((requirement, by.first()?)),
        _ => None,
    });
    if let Some((requirement, property)) = broken {
        let trace = subject.check.as_ref().and_then(|check| check.counterexample_to(property));
        let length = trace.map_or_else(String::new, |trace| {
            format!(", shown by a behaviour of {}", counted(trace.steps.len(), "state"))
        });
        let reading = if question.is_some() { " under one reading" } else { "" };
        return format!("{} is violated{reading}{length}: \u{201c}{}\u{201d}", requirement.id, requirement.text.trim());
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

fn ground_links(context: &RunContext<'_>, revision: &Revision) -> Vec<Ground> {
    let lineage = context.view.lineage(revision.revision);
    let edited = lineage.iter().flat_map(|r| &r.edited).count();
    let count = |target, n: usize, noun: &str| (n > 0).then(|| Ground { target, words: counted(n, noun) });
    let links = [
        count("open-points", undecided_open_points(revision).len(), "open point"),
        count("decisions", revision.decisions.len(), "decision"),
        count("assumptions", revision.assumptions.len(), "assumption"),
        count("accepted", crate::report::accepted::accepted_lines(context.view, &lineage).len(), "acceptance"),
        (edited > 0)
            .then(|| Ground { target: "accepted", words: format!("{} edited by hand", counted(edited, "file")) }),
    ];
    links.into_iter().flatten().collect()
}

#[derive(Serialize)]
struct Answer {
    choice: char,
    reading: String,
    known: String,
    tone: Tone,
    command: String,
    finding: Option<String>,
}

/// The question of an ambiguity with both answers side by side.
pub(super) fn question(context: &RunContext<'_>) -> Option<Section> {
    let question = context.view.open_question()?;
    let commands = answer_commands(&question, context.source.folder);
    let requirement = &question.requirement;
    let answers = question.readings.iter().zip(commands).map(|(reading_of_question, command)| {
        let Reading { choice, reading, revision, status, states } = reading_of_question;
        let tone = match status {
            Some(RequirementStatus::Broken { .. }) => Tone::Bad,
            Some(RequirementStatus::Holds { .. }) => Tone::Good,
            _ => Tone::Open,
        };
        Answer {
            choice: *choice,
            reading: reading.clone(),
            known: known_words(requirement, reading_of_question),
            tone,
            command,
            finding: revision.filter(|_| states.is_some()).map(|rev| format!("findings-{rev}")),
        }
    });
    let answers: Vec<Answer> = answers.collect();
    Some(Section {
        id: "question",
        title: "Question".to_owned(),
        note: None,
        body: render(
            "question",
            minijinja::context! { point => question.open_point, place => question.open_point.place_words(), answers },
        ),
    })
}

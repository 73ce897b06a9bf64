//! Renders an event as a line of progress. Holds no state: the caller measures the time.

use std::path::Path;

use super::candidates::chosen_words;
use super::count::counted;
use super::cut::{cut, on_one_line};
use super::labelling::labels_words;
use super::objective::step_words;
use super::policy::intervened_words;
use super::strengthen::{mutants_sentence, sample_line};
use super::text::LONGEST_WHY;
use crate::llm::{ChangedDocument, FailedCall, changed_documents_words};
use crate::pipeline::{CallFailed, Entry, ModelSwitched, Outcome, RequestPartOmitted, Row, RunEvent};
use crate::tla::{statistics_sentence, verdict_sentence};

/// Maximum number of characters of a text in one line.
const LINE: usize = 160;

/// The line of progress for an event; `None` for events that are not shown. `elapsed` is the number of seconds since the
/// previous event, `folder` the run folder as the user names it.
pub fn progress_line(entry: &Entry, elapsed: f64, folder: &Path) -> Option<String> {
    let lines = event_lines(entry, elapsed, folder)?;
    // Our own further lines are indented. Any other line break is one of a model, a server or a journal from elsewhere.
    let indent = " ".repeat(20);
    let is_own = |rest: &str| rest.starts_with(&indent);
    let mut parts = lines.split('\n');
    let first = parts.next().unwrap_or_default().to_owned();
    Some(parts.fold(first, |text, rest| text + if is_own(rest) { "\n" } else { " " } + rest))
}

#[expect(clippy::too_many_lines, reason = "one arm for each event")]
fn event_lines(entry: &Entry, elapsed: f64, folder: &Path) -> Option<String> {
    let node = format!("{:<20}", entry.lifeline);
    let run = format!("{:<20}", "run");
    Some(match &entry.event {
        RunEvent::RunStarted(settings) => {
            let skipped = match settings.skipped.len() {
                0 => String::new(),
                n => format!(", {} skipped", counted(n, "file")),
            };
            format!("{run}{}{skipped}", counted(settings.docs.len(), "document"))
        }
        RunEvent::BranchStarted(branch) => {
            let edited = &branch.edited;
            let with = if edited.is_empty() { String::new() } else { format!(", with your {}", edited.join(", ")) };
            format!("{run}branch from rev_{} as rev_{}{with}", branch.from, entry.rev)
        }
        RunEvent::RunResumed(_) => format!("{run}continues"),
        // Only for a person, who has to know which file to write.
        RunEvent::RequestSent(sent) if sent.provider == "handoff" => {
            let answer = folder.join(format!("handoff/{:04}-{}/answer.md", entry.seq, sent.key.node));
            format!("{node}{}: waiting for {}", sent.purpose, answer.display())
        }
        RunEvent::AnswerReceived(answer) => {
            let stale = if answer.stale { ", recorded for an older prompt, used anyway" } else { "" };
            let answered = format!("{node}{} answered ({:.1} s{stale})", answer.provider, answer.seconds);
            if answer.changed_documents.iter().any(ChangedDocument::is_known) {
                let words = start(&changed_documents_words(&answer.changed_documents), LINE);
                format!("{answered}\n{:<20}recorded for other documents, accepts nothing: {words}", "")
            } else {
                answered
            }
        }
        RunEvent::CallFailed(CallFailed { failure, .. }) => format!("{node}{}", describe_failed_call(failure)),
        RunEvent::ModelSwitched(ModelSwitched { models, .. }) => format!("{node}asking {} instead", models.to),
        RunEvent::RequestPartOmitted(RequestPartOmitted { left_out, .. }) => {
            format!("{node}asking without {}: {}", left_out.part, start(&left_out.said, LINE))
        }
        RunEvent::ReadRefused(refused) => format!("{node}read refused: {}", start(&refused.path, LINE)),
        RunEvent::ToolFinished(finished) => {
            let what = match (finished.accepted, finished.diagnostics.first()) {
                (true, _) => "accepted".to_owned(),
                (false, Some(first)) => format!("rejected: line {}: {}", first.line, start(&first.message, LINE)),
                (false, None) => "rejected".to_owned(),
            };
            format!("{node}{}: {what} ({elapsed:.1} s)", finished.tool)
        }
        RunEvent::CheckFinished(check) => {
            let verdict = start(&verdict_sentence(&check.outcome), LINE);
            format!("{node}{verdict}\n{:<20}{}", "", statistics_sentence(&check.outcome.statistics))
        }
        RunEvent::CandidateFinished(finished) => format!("{node}{}", start(&finished.candidate.words(), LINE)),
        RunEvent::CandidateAbandoned(one) => {
            format!("{node}{}", start(&format!("candidate {} is abandoned: {}", one.candidate, one.why), LINE))
        }
        RunEvent::LeadersSelected(named) => {
            let leaders: Vec<String> = named.leaders.iter().map(ToString::to_string).collect();
            format!("{node}properties for candidates {}", leaders.join(", "))
        }
        RunEvent::CandidateChosen(chosen) => format!("{node}{}", start(&chosen_words(chosen), LINE)),
        RunEvent::MutantsJudged(mutants) => match &mutants.judged.skipped_reason {
            Some(why) => format!("{node}not judged: {}", start(why, LINE)),
            None => format!("{node}{}", mutants_sentence(&mutants.judged)),
        },
        RunEvent::PropertiesRead(reading) => format!("{node}{}", start(&reading.words(), LINE)),
        RunEvent::MutantsSampled(sample) => format!("{node}mutants: {}", start(&sample_line(sample), LINE)),
        RunEvent::Routed(routed) => {
            if is_plain_progress(routed.row) {
                return None;
            }
            let why = &routed.why;
            let why = if why.is_empty() { String::new() } else { format!(": {}", start(why, LONGEST_WHY)) };
            format!("{node}-> {}{why}", routed.to)
        }
        RunEvent::Labelled(labelled) => format!("{node}{}", labels_words(&labelled.given)),
        RunEvent::Predicted(predicted) => {
            let estimate = |(rule, estimate): (&String, &f64)| format!("{rule} {estimate:.2}");
            let estimates: Vec<String> = predicted.estimates.iter().map(estimate).collect();
            format!("{node}predicted to be violated: {}", start(&estimates.join(", "), LINE))
        }
        RunEvent::Intervened(intervened) => format!("{node}{}", start(&intervened_words(intervened), LINE)),
        RunEvent::RuleViolated(violation) => {
            let means = violation.description.as_ref().unwrap_or(&violation.meaning);
            format!(
                "{:<20}rule {} is violated by event {} [{}]: {}",
                "policy",
                violation.rule,
                violation.decided_at,
                violation.severity,
                start(means, LINE)
            )
        }
        RunEvent::RevisionClosed(revision) => {
            let step = revision.objective.as_ref();
            let step = step.map_or_else(String::new, |step| format!("; objective: {}", step_words(&step.step)));
            format!("{run}rev_{} written to history/{step}", entry.rev)
        }
        RunEvent::RunFinished(finished) if finished.outcome == Outcome::Stopped => {
            format!("{run}stopped: {}", finished.why)
        }
        RunEvent::AttemptStarted(_)
        | RunEvent::RequestSent(_)
        | RunEvent::AnswerAccepted(_)
        | RunEvent::AnswerOffered(_)
        | RunEvent::AnswerNormalised(_)
        | RunEvent::PartTaken(_)
        | RunEvent::PartMissing(_)
        | RunEvent::AnswerUnreadable(_)
        | RunEvent::CandidateStarted(_)
        | RunEvent::QuickCheckFinished(_)
        | RunEvent::CandidateReceived(_)
        | RunEvent::LeaderNotified(_)
        | RunEvent::AttemptFinished(_)
        | RunEvent::GuardEvaluated(_)
        | RunEvent::ClaimsRestored(_)
        | RunEvent::RunFinished(_) => return None,
    })
}

/// Whether the run just continues with the next node, whose work is shown anyway.
fn is_plain_progress(row: Row) -> bool {
    matches!(
        row,
        Row::InformalAnswered | Row::FormalizeAnswered | Row::Validated | Row::Merged | Row::Checked | Row::MutantsDue
    )
}

/// A failed call, and when it is retried.
fn describe_failed_call(failure: &FailedCall) -> String {
    let then = match failure.wait_seconds {
        Some(wait) => format!("retry in {wait:.0} s"),
        None => "no retry".to_owned(),
    };
    format!("call {} failed: {}; {then}", failure.tries, start(&failure.message, LINE))
}

/// The first characters of a text on one line.
fn start(text: &str, most: usize) -> String {
    cut(&on_one_line(text), most)
}

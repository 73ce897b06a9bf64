//! Describes an event of a run in words, for charts.

use crate::llm::ChangedDocument;
use crate::pipeline::{
    AnswerReceived, CallFailed, Entry, GuardEvaluated, ModelSwitched, RequestPartOmitted, Routed, RunEvent,
    ToolFinished,
};
use crate::report::candidates::chosen_words;
use crate::report::count::counted;
use crate::report::labelling::labels_words;
use crate::report::lines::in_one_line;
use crate::report::policy::intervened_words;
use crate::report::strengthen::{mutants_sentence, sample_line};
use crate::tla::verdict_sentence;

/// In one line, whatever a model, a server or a journal from elsewhere says.
pub(super) fn describe(entry: &Entry) -> String {
    in_one_line(&words_of(entry))
}

fn words_of(entry: &Entry) -> String {
    match &entry.event {
        RunEvent::RunStarted(settings) => format!("starts with {}", counted(settings.docs.len(), "document")),
        RunEvent::RunResumed(_) => "continues".to_owned(),
        RunEvent::BranchStarted(branch) => {
            let edited = &branch.edited;
            let with = if edited.is_empty() { String::new() } else { format!(", with your {}", edited.join(", ")) };
            format!("branch from rev_{} as rev_{}{with}", branch.from, entry.rev)
        }
        RunEvent::AttemptStarted(_) => "begins".to_owned(),
        RunEvent::RequestSent(sent) => {
            format!("{}: asks {}", sent.purpose, sent.choice.model.as_ref().unwrap_or(&sent.provider))
        }
        RunEvent::AnswerReceived(received) => describe_answer(received),
        RunEvent::CallFailed(CallFailed { failure, .. }) => {
            let then = match failure.wait_seconds {
                Some(wait) => format!("retry in {wait:.0} s"),
                None => "no retry".to_owned(),
            };
            format!("call {} failed, {then}: {}", failure.tries, failure.message)
        }
        RunEvent::ModelSwitched(ModelSwitched { models, .. }) => format!("asks {} instead", models.to),
        RunEvent::RequestPartOmitted(RequestPartOmitted { left_out, .. }) => {
            format!("asks without {}: {}", left_out.part, left_out.said)
        }
        RunEvent::ReadRefused(refused) => format!("read refused: {}", refused.path),
        RunEvent::AnswerUnreadable(unreadable) => format!("unreadable: {}", unreadable.why),
        RunEvent::PartMissing(missing) => format!("its part of one answer for all is missing: {}", missing.why),
        RunEvent::PartTaken(_) => "takes its part of one answer for all".to_owned(),
        RunEvent::AnswerNormalised(_) => "answer repaired before it was parsed".to_owned(),
        RunEvent::AttemptFinished(_) => "finishes".to_owned(),
        RunEvent::ClaimsRestored(_) => "earlier state restored".to_owned(),
        RunEvent::ToolFinished(finished) => describe_tool(finished),
        RunEvent::CheckFinished(check) => {
            let distinct =
                check.outcome.statistics.distinct.map_or_else(String::new, |n| format!(", {n} distinct states"));
            format!("check{distinct}: {}", verdict_sentence(&check.outcome))
        }
        RunEvent::CandidateStarted(started) => format!("candidate {} begins", started.candidate),
        RunEvent::LeaderNotified(told) => format!("candidate {} leads: properties for it", told.candidate),
        RunEvent::QuickCheckFinished(quick) => format!("quick check: {}", quick.verdict),
        RunEvent::CandidateFinished(finished) => finished.candidate.words(),
        RunEvent::CandidateReceived(received) => {
            format!("receives candidate {} ({} points)", received.candidate, received.points)
        }
        RunEvent::CandidateAbandoned(one) => format!("candidate {} is abandoned: {}", one.candidate, one.why),
        RunEvent::LeadersSelected(named) => {
            let leaders: Vec<String> = named.leaders.iter().map(ToString::to_string).collect();
            format!("properties for candidates {}", leaders.join(", "))
        }
        RunEvent::CandidateChosen(chosen) => chosen_words(chosen),
        RunEvent::MutantsJudged(mutants) => match &mutants.judged.skipped_reason {
            Some(why) => format!("mutants not judged: {why}"),
            None => mutants_sentence(&mutants.judged),
        },
        RunEvent::PropertiesRead(reading) => reading.words(),
        RunEvent::MutantsSampled(sample) => format!("mutants: {}", sample_line(sample)),
        RunEvent::GuardEvaluated(evaluated) => describe_guard(evaluated),
        RunEvent::Routed(routed) => with_reason(&routed.row.name(), &routed.why),
        RunEvent::Predicted(predicted) => {
            let estimate = |(rule, estimate): (&String, &f64)| format!("{rule} {estimate:.2}");
            let estimates: Vec<String> = predicted.estimates.iter().map(estimate).collect();
            format!("predicted to be violated: {}", estimates.join(", "))
        }
        RunEvent::Labelled(labelled) => labels_words(&labelled.given),
        RunEvent::AnswerAccepted(accepted) => format!("accepts answer {}", accepted.sample + 1),
        RunEvent::AnswerOffered(offered) => format!("offers answer {}", offered.sample + 1),
        RunEvent::Intervened(intervened) => intervened_words(intervened),
        RunEvent::RuleViolated(violation) => {
            format!("rule {} is violated by event {}", violation.rule, violation.decided_at)
        }
        RunEvent::RevisionClosed(revision) => format!("rev_{} ends: {}", entry.rev, revision.outcome),
        RunEvent::RunFinished(finished) => format!("ends: {}", with_reason(finished.outcome.name(), &finished.why)),
    }
}

/// The name of the chosen row of the routing table.
pub(super) fn row_name(routed: &Routed) -> String {
    routed.row.name()
}

/// The number of the attempt, from the second on.
pub(super) fn attempt_suffix(entry: &Entry) -> String {
    if entry.attempt > 1 { format!(" (attempt {})", entry.attempt) } else { String::new() }
}

/// Joins a name and a reason, unless the reason begins with the name.
fn with_reason(what: &str, why: &str) -> String {
    match why {
        "" => what.to_owned(),
        why if why.starts_with(what) => why.to_owned(),
        why => format!("{what}: {why}"),
    }
}

fn describe_answer(received: &AnswerReceived) -> String {
    let mut words = format!("{} answers", received.model.as_ref().unwrap_or(&received.provider));
    if let Some(usage) = &received.usage {
        words = format!("{words}, {}", counted(usage.total(), "token"));
    }
    let stale = match (received.changed_documents.iter().any(ChangedDocument::is_known), received.stale) {
        (true, _) => " (recorded for other documents)",
        (false, true) => " (recorded for an older prompt)",
        (false, false) => "",
    };
    format!("{words}, {:.1} s{stale}", received.seconds)
}

fn describe_tool(ToolFinished { tool, accepted, diagnostics, .. }: &ToolFinished) -> String {
    match (accepted, diagnostics.first()) {
        (true, _) => format!("{tool}: accepted"),
        (false, Some(first)) => format!("{tool}: rejected, line {}: {}", first.line, first.message),
        (false, None) => format!("{tool}: rejected"),
    }
}

fn describe_guard(evaluated: &GuardEvaluated) -> String {
    let guard = evaluated.guard();
    match evaluated.failing() {
        Some((clause, why)) => with_reason(&format!("{guard} guard: {clause} fails"), why),
        None => format!("{guard} guard: every clause holds"),
    }
}

//! Accepted answers: each must be one that was received, and the one that an intervention chose must be the best of its
//! samples. What each sample would have led to is taken from the journal: it depends on when the run evaluated its rules.

use serde_json::json;

use super::verification::Verification;
use crate::journal::{Sha, is_apart};
use crate::pipeline::records::{AnswerFacts, Entry, RunEvent, Sampled, to_value};

/// An answer that a journal accepts, or would accept if its candidate is chosen.
struct Accepted<'a> {
    purpose: &'a str,
    candidate: u32,
    artifact: &'a Sha,
    facts: &'a AnswerFacts,
    /// The field that holds the facts.
    field: &'static str,
}

impl<'a> Accepted<'a> {
    fn from_event(event: &'a RunEvent) -> Option<Self> {
        match event {
            RunEvent::AnswerAccepted(a) => Some(Self {
                purpose: &a.purpose,
                candidate: a.candidate,
                artifact: &a.artifact,
                facts: &a.answer,
                field: "answer",
            }),
            RunEvent::AnswerOffered(a) => Some(Self {
                purpose: &a.purpose,
                candidate: a.candidate,
                artifact: &a.artifact,
                facts: &a.pending_answer,
                field: "pending_answer",
            }),
            _ => None,
        }
    }

    /// The facts of the received answer that this one was. Answers of a candidate are accepted by the node.
    fn received(&self, entry: &Entry, before: &'a [Entry]) -> Option<&'a AnswerFacts> {
        before.iter().rev().find_map(|from| {
            let answer = from.event.try_as_answer_received_ref()?;
            let facts = answer.pending_answer.as_ref()?;
            let is_it = from.rev == entry.rev
                && (from.lifeline == entry.lifeline || is_apart(&from.lifeline))
                && (answer.purpose.as_str(), answer.candidate, &answer.artifact)
                    == (self.purpose, self.candidate, self.artifact);
            is_it.then_some(facts)
        })
    }
}

/// Compares each accepted answer with the answer that was received. Labels are the word of a model and not compared.
pub(super) fn check_accepted(verification: &mut Verification, before: &[Entry], group: &[Entry]) {
    for entry in group {
        let Some(accepted) = Accepted::from_event(&entry.event) else { continue };
        let Some(received) = accepted.received(entry, before) else {
            verification.object("intervention", entry.seq, "an answer is accepted that was not received");
            continue;
        };
        let mut data = json!({});
        data[accepted.field] = to_value(&AnswerFacts { labels: accepted.facts.labels.clone(), ..received.clone() });
        verification.compare("intervention", entry, &[accepted.field], &data);
    }
}

/// Compares the choice of an intervention with its samples.
pub(super) fn check_choice(verification: &mut Verification, group: &[Entry]) {
    let Some((entry, intervened)) = group.iter().find_map(|e| Some((e, e.event.try_as_intervened_ref()?))) else {
        return;
    };
    let accepted = group.iter().find_map(|entry| Accepted::from_event(&entry.event));
    if accepted.is_none_or(|accepted| accepted.candidate != intervened.candidate) {
        verification.object("intervention", entry.seq, "the answer that is accepted with it is another");
    }
    let Some(best) = Sampled::best(&intervened.samples) else {
        verification.object("intervention", entry.seq, "`samples` of intervened is empty");
        return;
    };
    let (first, best) = (&intervened.samples[0], &intervened.samples[best]);
    let broken_by = |sample: &Sampled| [sample.violated.clone(), sample.predicted.clone()].concat();
    let left = broken_by(best);
    let prevented: Vec<String> = broken_by(first).into_iter().filter(|rule| !left.contains(rule)).collect();
    let follows = json!({
        "candidate": best.candidate, "calls": intervened.samples.len() - 1, "violated": best.violated,
        "prevented": prevented,
    });
    verification.compare("intervention", entry, &["candidate", "calls", "violated", "prevented"], &follows);
}

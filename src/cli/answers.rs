//! `tlaforge resume --answer O1=b`: which open point is answered with which reading, and from which revision the run goes
//! on.

use super::failure::Failure;
use crate::pipeline::{Decision, NodeName, Question, Revision, RunView};
use crate::prompt::OpenPoint;

/// Answers, and the point where a branch that takes them begins.
pub(super) struct Answered {
    pub answers: Vec<Decision>,
    /// `rev_1`
    pub from: String,
    pub at: NodeName,
}

/// `from` is the revision that the user chose.
pub(super) fn resolve_answers(view: &RunView, given: &[String], from: Option<&Revision>) -> Result<Answered, Failure> {
    let shown = from.or_else(|| latest(view)).ok_or_else(|| Failure::usage("the run has no closed revision yet"))?;
    let question = view.question(shown.revision);
    let mut answers: Vec<Decision> = Vec::new();
    for given in given {
        let answer = resolve(shown, question.as_ref(), given)?;
        if answers.iter().any(|other| other.is_about(&answer.open_point)) {
            return Err(Failure::usage(format!("{} is answered twice", answer.open_point.id)).hint("answer it once"));
        }
        answers.push(answer);
    }
    let begin = from.unwrap_or_else(|| choose_start(view, shown, question.as_ref(), &answers));
    let is_taken = |answer: &Decision| begin.open_points.iter().any(|point| answer.is_followed_by(point));
    let all_taken = answers.iter().all(is_taken);
    if all_taken && question.is_none() {
        return Err(Failure::usage(format!("rev_{} takes this reading already", begin.revision))
            .hint("answer a point with the reading that is not taken: b, or a text of your own"));
    }
    // Only the review judges anew what was made and checked under the reading that holds.
    let at = if all_taken && begin.rank.parses { NodeName::Review } else { NodeName::InformalSpec };
    Ok(Answered { answers, from: format!("rev_{}", begin.revision), at })
}

/// The revision that the report is about.
fn latest(view: &RunView) -> Option<&Revision> {
    let best = view.finished.as_ref().and_then(|finished| finished.best);
    best.and_then(|n| view.revisions.iter().find(|r| r.revision == n)).or_else(|| view.revisions.last())
}

/// If the question is answered: the revision that takes the answered reading, or the one that raised the question.
fn choose_start<'a>(
    view: &'a RunView,
    shown: &'a Revision,
    question: Option<&Question>,
    answers: &[Decision],
) -> &'a Revision {
    let Some(question) = question else { return shown };
    let Some(answer) = answers.iter().find(|answer| answer.is_about(&question.open_point)) else { return shown };
    let taking = question.readings.iter().find(|reading| reading.reading == answer.reading);
    let number = taking.and_then(|reading| reading.revision).or(question.readings[0].revision);
    number.and_then(|n| view.revisions.iter().find(|r| r.revision == n)).unwrap_or(shown)
}

/// `O1=a`, `O1=b`, or `O1=` with the reading in words.
fn resolve(shown: &Revision, question: Option<&Question>, given: &str) -> Result<Decision, Failure> {
    let malformed = || {
        Failure::usage(format!("{given:?} is no answer to an open point"))
            .hint("write O1=a for the reading taken, O1=b for the other one, or O1=\"the reading in your words\"")
    };
    let (id, reading) = given.split_once('=').ok_or_else(malformed)?;
    let (id, reading) = (id.trim().to_uppercase(), reading.trim());
    let known: Vec<&OpenPoint> = question.map(|q| &q.open_point).into_iter().chain(&shown.open_points).collect();
    let Some(point) = known.iter().find(|point| point.id == id) else {
        let asked = question.map(|question| &question.open_point.id);
        let others = shown.open_points.iter().map(|point| &point.id).filter(|id| Some(*id) != asked);
        let ids: Vec<&str> = asked.into_iter().chain(others).map(String::as_str).collect();
        let list = if ids.is_empty() { "it has none".to_owned() } else { format!("it has {}", ids.join(", ")) };
        return Err(Failure::usage(format!("rev_{} has no open point {id}", shown.revision)).hint(list));
    };
    let reading = match reading {
        "" => return Err(malformed()),
        "a" | "A" => &point.taken,
        "b" | "B" => &point.otherwise,
        words => words,
    };
    if reading.is_empty() {
        return Err(Failure::usage(format!("{id} does not say what this reading is"))
            .hint(format!("write it yourself: --answer {id}=\"…\"")));
    }
    Ok(Decision { open_point: (*point).clone(), reading: reading.to_owned() })
}

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
    let all_taken = answers.iter().all(|answer| view.takes_decision(begin, answer));
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

/// The reading that an answer chooses: `a`, `b.`, `b: the reading`, or the words of the reading.
fn chosen_reading<'a>(point: &'a OpenPoint, answer: &str) -> Option<&'a str> {
    let words = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let is_text_of =
        |reading: &str, text: &str| words(text.trim()).trim_end_matches('.') == words(reading).trim_end_matches('.');
    [('a', &point.taken), ('b', &point.otherwise)].into_iter().find_map(|(letter, reading)| {
        let rest = answer.strip_prefix([letter, letter.to_ascii_uppercase()]);
        let is_chosen = match rest.map(|rest| rest.trim_start_matches(['.', ':', ')'])) {
            Some("") => true,
            Some(text) if rest.is_some_and(|rest| rest.len() > text.len()) => is_text_of(reading, text),
            _ => is_text_of(reading, answer),
        };
        is_chosen.then_some(reading.as_str())
    })
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
    let reading = match chosen_reading(point, reading) {
        Some(reading) => reading,
        // A letter, but none of the two.
        None if reading.chars().count() < 2 => return Err(malformed()),
        None => reading,
    };
    if reading.is_empty() {
        return Err(Failure::usage(format!("{id} does not say what this reading is"))
            .hint(format!("write it yourself: --answer {id}=\"…\"")));
    }
    Ok(Decision { open_point: (*point).clone(), reading: reading.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_chosen_by_its_letter_or_its_words() {
        let point: OpenPoint = serde_json::from_value(serde_json::json!({
            "id": "O1", "question": "One step?", "taken": "Two steps.", "otherwise": "One step.",
            "place": null, "affects": [],
        }))
        .unwrap();
        for (answer, reading) in [
            ("a", Some("Two steps.")),
            ("B", Some("One step.")),
            ("b.", Some("One step.")),
            ("b: one  step", Some("One step.")),
            ("One step", Some("One step.")),
            ("two steps.", Some("Two steps.")),
            ("c", None),
            ("b: two steps", None),
            ("be careful", None),
            ("a step and a half", None),
        ] {
            assert_eq!(chosen_reading(&point, answer), reading, "{answer}");
        }
    }
}

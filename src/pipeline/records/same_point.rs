//! Whether two open points of different informal specifications are the same one, and which reading the later one takes.
//! Models reword a question and its readings, so neither their wording nor their number alone identifies a point.

use std::collections::BTreeSet;

use crate::prompt::{OpenPoint, places_overlap};

/// How much of their words two questions must share to be the same question in other words.
const SAME_QUESTION: f64 = 0.6;

/// Whether two texts are the same but for white space, case, marks of Markdown, and punctuation at the end, which models
/// change when they repeat a text. Signs inside count: `n < Max` and `n <= Max` are different readings.
pub(super) fn is_same_text(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        let text = text.replace("**", "").replace('`', "").to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ").trim_end_matches(['.', ',', ';', ':', '?', '!']).to_owned()
    };
    plain(one) == plain(other)
}

/// Whether two open points ask about the same thing: they have the same number and their places overlap, or their
/// questions are the same. A number that was given to a question about another place is another point.
pub(super) fn is_same_point(one: &OpenPoint, other: &OpenPoint) -> bool {
    let overlap = one.place.as_deref().zip(other.place.as_deref()).map(|(one, other)| places_overlap(one, other));
    let is_same_number = one.id == other.id;
    if is_same_text(&one.question, &other.question) {
        return is_same_number || overlap != Some(false);
    }
    // Without a place, or with one that has moved, only the words can show it.
    is_same_number && (overlap == Some(true) || similarity(&one.question, &other.question) >= SAME_QUESTION)
}

/// Whether a point takes the reading that `first`, the same point in an earlier specification, does not take. False if
/// the wording does not show it.
pub(super) fn takes_other_reading(point: &OpenPoint, first: &OpenPoint) -> bool {
    if is_same_text(&point.taken, &first.taken) {
        return false;
    }
    if is_same_text(&point.taken, &first.otherwise) {
        return true;
    }
    let (taken, otherwise) = (lead_words(&first.taken), lead_words(&first.otherwise));
    // How close a reading is to the two earlier ones, by the words that only one of them has: from -1 (`own`) to 1 (`other`).
    let leaning = |reading: &str, own: &BTreeSet<String>, other: &BTreeSet<String>| {
        let words = lead_words(reading);
        let of_own = words.intersection(own).filter(|word| !other.contains(*word)).count();
        let of_other = words.intersection(other).filter(|word| !own.contains(*word)).count();
        share(of_other, of_own + of_other) - share(of_own, of_own + of_other)
    };
    let exchanged = leaning(&point.taken, &taken, &otherwise) + leaning(&point.otherwise, &otherwise, &taken);
    exchanged > 0.0
}

/// The words of the first sentence of a reading; what follows are remarks.
fn lead_words(text: &str) -> BTreeSet<String> {
    words(text.split_once(". ").map_or(text, |(lead, _)| lead))
}

fn words(text: &str) -> BTreeSet<String> {
    let plain = |word: &str| word.trim_matches(['.', ',', ';', ':', '?', '!', '`', '*', '"', '(', ')']).to_lowercase();
    text.split_whitespace().map(plain).filter(|word| !word.is_empty()).collect()
}

/// `part` divided by `whole`; 0 if `whole` is 0.
fn share(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "texts have far fewer words than a float counts exactly")]
    let share = part as f64 / whole.max(1) as f64;
    share
}

/// How many of their words two texts share, from 0 to 1 (the coefficient of Dice).
fn similarity(one: &str, other: &str) -> f64 {
    let (one, other) = (words(one), words(other));
    share(2 * one.intersection(&other).count(), one.len() + other.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(id: &str, place: Option<&str>, question: &str, taken: &str, otherwise: &str) -> OpenPoint {
        let (question, taken, otherwise) = (question.to_owned(), taken.to_owned(), otherwise.to_owned());
        let place = place.map(str::to_owned);
        OpenPoint {
            id: id.to_owned(),
            place,
            question,
            taken,
            otherwise,
            affects: Vec::new(),
            misplaced: None,
            origin: None,
        }
    }

    #[test]
    fn readings_that_differ_in_a_sign_are_different() {
        assert!(is_same_text("Yes, `n`  below **Max**.", "yes, n below Max"));
        for (one, other) in [("n < Max", "n <= Max"), ("n < Max", "n > Max"), ("-1", "1"), ("{1, 2}", "12"), ("no", "")]
        {
            assert!(!is_same_text(one, other), "{one}, {other}");
        }
    }

    #[test]
    fn a_point_is_known_by_number_and_place_however_it_is_worded() {
        let first = point("O1", Some("docs/a.md:3-4"), "What becomes of a waiting call whose lease ends?", "a", "b");
        let same = |id: &str, place: Option<&str>, question: &str| {
            let other = point(id, place, question, "a", "b");
            assert_eq!(is_same_point(&first, &other), is_same_point(&other, &first));
            is_same_point(&first, &other)
        };
        let (worded, near) =
            ("May a lease expire under a caller?", "What becomes of a waiting Lock call whose lease ends early?");
        assert!(same("O1", Some("docs/a.md:4"), worded));
        assert!(same("O1", Some("docs/a.md:3-4"), &first.question));
        assert!(same("O2", Some("docs/a.md:3-4"), &first.question));
        assert!(same("O1", Some("docs/a.md:40"), near));
        assert!(same("O1", None, near));
        // A number that was used again, and another question at the same place.
        assert!(!same("O1", Some("docs/a.md:40"), worded));
        assert!(!same("O1", Some("docs/b.md:3-4"), worded));
        assert!(!same("O2", Some("docs/a.md:3-4"), worded));
        assert!(!same("O2", Some("docs/b.md:9"), &first.question));
        assert!(!same("O1", None, worded));
    }

    #[test]
    fn exchanged_readings_are_known_in_other_words() {
        let pairs = [
            ("yes", "no"),
            ("The worker may add at the limit.", "The worker may not add at the limit."),
            (
                "A waiting call gets the lock although its lease has ended.",
                "A waiting call whose lease ends is refused.",
            ),
            ("n < Max", "n <= Max"),
        ];
        let reworded = |text: &str| {
            [
                text.to_owned(),
                text.to_uppercase(),
                format!("In this reading, {text}"),
                text.replace("waiting call", "caller that waits").replace("The worker", "It"),
            ]
        };
        for (taken, otherwise) in pairs {
            let first = point("O1", Some("docs/a.md:3"), "Which?", taken, otherwise);
            for one in reworded(taken) {
                for other in reworded(otherwise) {
                    let kept = point("O1", Some("docs/a.md:3"), "Which one?", &one, &other);
                    assert!(!takes_other_reading(&kept, &first), "{kept:?}");
                    let exchanged = point("O1", Some("docs/a.md:3"), "Which one?", &other, &one);
                    assert!(takes_other_reading(&exchanged, &first), "{exchanged:?}");
                }
            }
        }
        // Remarks after the readings are not compared.
        let first = point(
            "O1",
            None,
            "Which?",
            "it may, but need not",
            "it must in the end. R3 turns on this: it may never end.",
        );
        let exchanged = point(
            "O1",
            None,
            "Which?",
            "it may at any time, and it must in the end",
            "it need not, but can. R3 turns on this",
        );
        assert!(takes_other_reading(&exchanged, &first));
        let unknown = point("O1", None, "Which?", "something else entirely", "");
        assert!(!takes_other_reading(&unknown, &point("O1", None, "Which?", "yes", "no")));
    }
}

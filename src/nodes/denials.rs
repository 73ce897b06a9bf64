//! Recognizes texts that contradict the fields of a review: an approval, or the acceptance of an item. A text that is
//! wrongly recognized costs one more answer; one that is missed lets an approval pass that the text denies.

/// The words of a text in lower case.
fn words_of(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('\u{2019}', "'");
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.contains(&word)
}

fn is_negation(word: &str) -> bool {
    is_one_of(word, &["not", "never", "cannot", "refuse", "no", "nothing", "unable", "without"])
        || word.ends_with("n't")
}

/// Words between a negation and what it negates: "cannot yet be fully approved".
fn is_filler(word: &str) -> bool {
    const FILLERS: [&str; 19] = [
        "to", "be", "been", "yet", "an", "a", "this", "it", "is", "fully", "the", "really", "at", "all", "me", "i",
        "of", "for", "that",
    ];
    is_one_of(word, &FILLERS)
}

/// Whether one of the words that begin with a stem is negated.
fn is_negated(words: &[String], stems: &[&str]) -> bool {
    let is_stem = |word: &str| stems.iter().any(|stem| word.starts_with(stem));
    let is_negated_at = |at: usize| {
        let before = words[..at].iter().rev().take(4).find(|word| !is_filler(word));
        before.is_some_and(|word| is_negation(word))
    };
    (0..words.len()).any(|at| is_stem(&words[at]) && is_negated_at(at))
}

/// Whether the writer refuses something: "I must therefore reject it".
fn refuses(words: &[String]) -> bool {
    const REFUSALS: [&str; 9] =
        ["reject", "refuse", "disagree", "object", "decline", "veto", "oppose", "disapprove", "withhold"];
    const BETWEEN: [&str; 14] = [
        "would",
        "must",
        "have",
        "to",
        "hereby",
        "do",
        "strongly",
        "therefore",
        "still",
        "also",
        "will",
        "should",
        "had",
        "am",
    ];
    words.iter().enumerate().filter(|(_, word)| is_one_of(word, &REFUSALS)).any(|(at, _)| {
        let before = words[..at].iter().rev().find(|word| !is_one_of(word, &BETWEEN));
        before.is_none_or(|word| is_one_of(word, &["i", "we"]))
    })
}

/// Whether a text says that something is bad: "the specification is wrong".
fn condemns(words: &[String], subjects: &[&str]) -> bool {
    const BAD: [&str; 11] = [
        "wrong",
        "incorrect",
        "broken",
        "unsound",
        "invalid",
        "unacceptable",
        "flawed",
        "false",
        "mistaken",
        "rejected",
        "refused",
    ];
    words.windows(3).any(|three| {
        is_one_of(&three[0], subjects)
            && is_one_of(&three[1], &["is", "are", "was", "remains", "seems", "looks"])
            && is_one_of(&three[2], &BAD)
    })
}

/// Whether a text about a whole review says that it does not approve.
pub(super) fn denies_approval(text: &str) -> bool {
    let words = words_of(text);
    is_negated(&words, &["approv", "accept", "endors", "sign", "recommend"])
        || refuses(&words)
        || condemns(&words, &["specification", "spec", "module", "this", "it"])
}

/// Whether a reason says that the item is not accepted.
pub(super) fn denies_acceptance(reason: &str) -> bool {
    const BAD: [&str; 9] =
        ["wrong", "incorrect", "invalid", "unsound", "bad", "mistaken", "reject", "refuse", "disagree"];
    let words = words_of(reason);
    let first = words.first().map_or("", String::as_str);
    let is_no = words.len() == 1 && is_one_of(first, &["no", "none", "not", "never", "false"]);
    let is_short = is_no || words.len() <= 4 && words.iter().any(|word| is_one_of(word, &BAD));
    let is_double = words.windows(2).any(|two| is_negation(&two[0]) && is_one_of(&two[1], &BAD));
    let demands_change = words.windows(3).any(|three| {
        is_one_of(&three[0], &["must", "should", "to"])
            && three[1] == "be"
            && is_one_of(&three[2], &["removed", "undone", "fixed", "reverted", "mended"])
    });
    is_one_of(first, &["reject", "rejected", "refuse", "refused", "denied", "wrong", "incorrect"])
        || is_short && !is_double
        || demands_change
        || is_negated(&words, &["accept", "approv", "justif", "agree"])
        || words.iter().any(|word| is_one_of(word, &["unacceptable", "unjustified"]))
        || refuses(&words)
        || condemns(&words, &["this", "it", "that"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denied_approval_is_known_by_its_words() {
        for text in [
            "I do NOT approve.",
            "It cannot yet be approved",
            "This isn\u{2019}t approved",
            "I don't approve this",
            "I reject this specification.",
            "I must therefore reject it.",
            "The tools agree, but I disagree.",
            "This must not be accepted.",
            "The specification is wrong: two clients hold the lock.",
            "Do not accept it",
            "I object.",
        ] {
            assert!(denies_approval(text), "{text}");
        }
        for text in [
            "Approved.",
            "The gap is not blocking; approved",
            "Nothing is open, so I approve it",
            "",
            "The server rejects late requests, and refused requests change nothing.",
            "An object is written once. Clients refuse it if the lease is over.",
            "Both readings are sound; what is wrong in the comment loses nothing.",
        ] {
            assert!(!denies_approval(text), "{text}");
        }
    }

    #[test]
    fn a_denied_acceptance_is_known_by_its_words() {
        for reason in [
            "No.",
            "wrong",
            "I disagree",
            "this is wrong",
            "not acceptable, must be removed",
            "it cannot be accepted",
            "Rejected: the documents forbid it",
            "I would not accept this",
            "the documents do not justify it",
            "it has to be removed first",
            "unjustified weakening",
            "I don't agree with it",
        ] {
            assert!(denies_acceptance(reason), "{reason}");
        }
        for reason in [
            "the documents say so",
            "not wrong",
            "the reader is wrong: the formula bounds both",
            "docs/a.md:3 says that no client waits",
            "it loses nothing, because a refused request changes nothing",
            "no difference to the concern of the documents",
            "two processes show every interaction",
        ] {
            assert!(!denies_acceptance(reason), "{reason}");
        }
    }
}

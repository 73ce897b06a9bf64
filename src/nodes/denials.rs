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
    is_one_of(word, &["not", "never", "cannot", "refuse", "unable"]) || word.ends_with("n't")
}

/// Words between a negation and what it negates: "cannot yet be fully approved".
fn is_filler(word: &str) -> bool {
    const FILLERS: [&str; 23] = [
        "to", "be", "been", "yet", "an", "a", "this", "it", "is", "fully", "the", "really", "at", "all", "me", "i",
        "of", "for", "that", "consider", "find", "think", "deem",
    ];
    is_one_of(word, &FILLERS)
}

/// Words for an approval or an acceptance.
const ACTIVE: [&str; 12] = [
    "approve",
    "approving",
    "approval",
    "accept",
    "accepting",
    "acceptable",
    "acceptance",
    "endorse",
    "sign",
    "recommend",
    "justify",
    "agree",
];
/// The same of what is approved: only of the whole, "cannot be accepted", and not "a call that was not accepted waits".
const PASSIVE: [&str; 6] = ["approved", "accepted", "endorsed", "signed", "recommended", "justified"];

/// Whether an approval or an acceptance is negated.
fn is_negated(words: &[String]) -> bool {
    let is_negated_at = |at: usize| {
        let before = words[..at].iter().rev().take(5).find(|word| !is_filler(word));
        before.is_some_and(|word| is_negation(word))
    };
    (0..words.len()).any(|at| {
        let is_named = is_one_of(&words[at], &ACTIVE)
            || is_one_of(&words[at], &PASSIVE)
                && words[at.saturating_sub(3)..at].iter().any(|word| is_one_of(word, &["be", "is", "isn't", "been"]));
        is_named && is_negated_at(at)
    })
}

/// Whether the writer refuses something: "I must therefore reject it", "Verdict: reject", "approval denied".
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
    let is_refused_at = |at: usize| {
        let before = words[..at].iter().rev().find(|word| !is_one_of(word, &BETWEEN));
        match before {
            None => words[at] != "object",
            Some(word) => is_one_of(word, &["i", "we", "verdict", "decision", "conclusion"]),
        }
    };
    let denied = ["denied", "withheld", "refused", "rejected"];
    (0..words.len()).any(|at| is_one_of(&words[at], &REFUSALS) && is_refused_at(at))
        || words.windows(2).any(|two| two[0] == "approval" && is_one_of(&two[1], &denied))
}

/// Whether a text says that something is bad or has to be refused: "the specification is wrong", "this must be rejected".
fn condemns(words: &[String], subjects: &[&str]) -> bool {
    const BAD: [&str; 9] =
        ["wrong", "incorrect", "broken", "unsound", "unacceptable", "flawed", "mistaken", "rejected", "refused"];
    let is_subject = |word: &String| is_one_of(word, subjects);
    words.windows(3).any(|three| {
        is_subject(&three[0])
            && is_one_of(&three[1], &["is", "are", "was", "remains", "seems", "looks"])
            && is_one_of(&three[2], &BAD)
    }) || words.windows(4).any(|four| {
        (is_subject(&four[0]) || four[0] == "this")
            && is_one_of(&four[1], &["must", "should"])
            && four[2] == "be"
            && is_one_of(&four[3], &["rejected", "refused"])
    })
}

/// Whether a text about a whole review says that it does not approve.
pub(super) fn denies_approval(text: &str) -> bool {
    let words = words_of(text);
    is_negated(&words) || refuses(&words) || condemns(&words, &["specification", "spec", "module"])
}

/// Whether a reason says that the item is not accepted.
pub(super) fn denies_acceptance(reason: &str) -> bool {
    const BAD: [&str; 7] = ["wrong", "incorrect", "unsound", "mistaken", "reject", "refuse", "disagree"];
    let words = words_of(reason);
    let first = words.first().map_or("", String::as_str);
    let is_no = words.len() == 1 && is_one_of(first, &["no", "none", "not", "never", "false", "bad", "invalid"]);
    let is_short = is_no || words.len() <= 4 && words.iter().any(|word| is_one_of(word, &BAD));
    let is_double = words.windows(2).any(|two| is_negation(&two[0]) && is_one_of(&two[1], &BAD));
    let demands_change = words.windows(3).any(|three| {
        is_one_of(&three[0], &["must", "should", "to"])
            && three[1] == "be"
            && is_one_of(&three[2], &["removed", "undone", "reverted", "mended", "rejected"])
    });
    // "Rejected: the documents forbid it", but not "Rejected requests change nothing".
    let plain = reason.trim().to_lowercase();
    let is_verdict =
        ["rejected", "refused", "denied", "not accepted", "not granted", "not approved"].iter().any(|word| {
            plain
                .strip_prefix(word)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_whitespace() || c.is_alphanumeric()))
        });
    let starts_with_no =
        ["no:", "no,", "no.", "no;", "no \u{2013}", "no \u{2014}", "no -"].iter().any(|start| plain.starts_with(start));
    // "The documents do not grant it", but not "they do not grant a second lease".
    let is_not_granted = words.iter().enumerate().any(|(at, word)| {
        let grants = ["grant", "support", "allow", "permit", "justify", "back"];
        let is_about_it = match words.get(at + 1).map(String::as_str) {
            None => true,
            Some("it" | "this") => words.get(at + 2).is_none_or(|next| next != "to"),
            Some("that" | "them") => words.len() == at + 2,
            Some(_) => false,
        };
        is_about_it && is_one_of(word, &grants) && words[..at].last().is_some_and(|before| is_negation(before))
    });
    let is_sent = |word: &str| is_one_of(word, &["send", "sending", "sent"]);
    let sends_back =
        words.windows(3).any(|three| is_sent(&three[0]) && is_one_of(&three[1], &["it", "this"]) && three[2] == "back")
            || is_sent(first) && words.iter().take(4).any(|word| word == "back");
    is_verdict
        || starts_with_no
        || is_not_granted
        || sends_back
        || is_short && !is_double
        || demands_change
        || is_negated(&words)
        || words.iter().any(|word| is_one_of(word, &["unacceptable", "unjustified"]))
        || refuses(&words)
        || words.len() > 2 && condemns(&words[..3], &["this", "it", "that"])
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
            "This must be rejected.",
            "The specification should be rejected.",
            "Verdict: reject",
            "Approval denied.",
            "I do not consider this acceptable",
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
            "No significant issue remains.",
            "No accepted request is lost.",
            "A client drops its token when it is invalid, and a request is retried after it was rejected.",
            "I have no recommendations.",
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
            "not accepted: the documents do not grant it",
            "the documents do not grant it",
            "no: send it back",
            "sending it back, it loses a client",
            "the documents don't support this, so it weakens R1",
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
            "The number of processes must be fixed, two show every interaction",
            "Rejected requests change nothing",
            "Object creation is not part of the concern",
            "drops invalid messages only",
            "without agreement no leader acts",
            "a node that has not accepted the lease waits",
            "the documents do not grant a second lease",
            "a refused request is sent back to its client, which waits for the next term and its leader",
            "No client needs it",
            "The request is sent back to the client",
            "Not accepted requests change nothing",
            "The guard does not permit that two clients hold it",
            "the lease does not allow it to write",
        ] {
            assert!(!denies_acceptance(reason), "{reason}");
        }
    }
}

//! Finds words that make a sentence of the documents strong, and that the requirement made from it lacks: `the next caller is woken`
//! is more than `some caller is woken`.

/// Strong words and phrases of one meaning, and others by which a requirement says the same. Words that deny are left out,
/// because a requirement often says the same without them.
const MEANINGS: [(&[&str], &[&str]); 12] = [
    (
        &["each", "every", "all", "any", "both", "whoever", "whichever"],
        &["whatever", "anyone", "anybody", "no", "never"],
    ),
    (&["next"], &[]),
    (&["first", "oldest", "earliest", "fifo", "in order", "in the order"], &["order", "before"]),
    (&["last", "latest", "newest"], &[]),
    (&["same", "identical"], &["equal", "equals", "="]),
    (&["only", "except"], &["other", "others", "alone", "no", "unless", "if"]),
    (&["exactly"], &["precisely", "="]),
    (&["at most", "no more than", "not more than"], &["never more than", "one at a time", "<=", "\u{2264}", "limit"]),
    (&["at least", "no fewer than", "no less than"], &["never fewer than", ">=", "\u{2265}"]),
    (&["before", "until"], &["not yet", "already", "after", "while", "once"]),
    (
        &["immediately", "at once", "right away", "instantly", "atomically"],
        &["directly", "one step", "same step", "next"],
    ),
    (&["always", "at all times", "permanently"], &["for ever", "forever", "never", "every", "at any time"]),
];

/// The words of the sentence, in lower case, of a meaning that the requirement lacks; one for each meaning.
pub fn missing_strength_words(sentence: &str, requirement: &str) -> Vec<&'static str> {
    let (sentence, requirement) = (words_of(sentence), words_of(requirement));
    let has = |text: &str, phrase: &str| text.contains(&format!(" {phrase} "));
    let missing = |(strong, others): &(&[&'static str], &[&str])| {
        let found = strong.iter().copied().find(|phrase| has(&sentence, phrase))?;
        (!strong.iter().chain(*others).any(|phrase| has(&requirement, phrase))).then_some(found)
    };
    MEANINGS.iter().filter_map(missing).collect()
}

/// The words of a text in lower case, each between blanks.
fn words_of(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '<' | '>' | '=' | '\u{2264}' | '\u{2265}');
    let words: Vec<String> =
        text.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_that_is_weaker_lacks_a_strong_word_of_its_sentence() {
        for (sentence, requirement, expected) in [
            ("The next caller will be woken.", "Some caller is served.", vec!["next"]),
            ("Every request is answered at most once.", "A request is answered.", vec!["every", "at most"]),
            ("Every request is answered.", "Whoever asks, all of them, has an answer.", vec![]),
            ("It must never exceed N.", "It is <= N always.", vec![]),
            (
                "Messages arrive in order, *exactly* once.",
                "Messages arrive in the order of sending, exactly once.",
                vec![],
            ),
            ("Nextcloud is allied.", "It is.", vec![]),
            ("", "", vec![]),
        ] {
            assert_eq!(missing_strength_words(sentence, requirement), expected, "{sentence}");
        }
    }
}

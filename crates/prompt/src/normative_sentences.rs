//! Finds the sentences of a document that promise or demand something. Pure.

use unicode_security::skeleton;

use super::sentences::{is_heading, lines_of_items, sentences};

/// The words of a heading below which every item of a list is normative.
const GUARANTEE_HEADINGS: [&str; 8] =
    ["guarantee", "guarantees", "invariant", "invariants", "property", "properties", "promise", "promises"];

/// The normative sentences of a document: those with one of the words, the items of a list that such a sentence introduces
/// ("The following must hold:"), and the items below a heading for guarantees ("Guarantees"). Without words there are none.
pub(super) fn normative_sentences(document: &str, words: &[String]) -> Vec<(usize, usize, String)> {
    let items = lines_of_items(document);
    let lines: Vec<&str> = document.lines().collect();
    let mut found = Vec::new();
    // Whether the paragraph above the list demands its items, and the columns of the items above that do.
    let (mut is_demanded, mut demanding) = (false, Vec::new());
    let mut last = 0;
    // The level of the heading for guarantees above, if there is one.
    let mut guarantee: Option<usize> = None;
    for (from, to, text) in sentences(document) {
        let is_own = is_normative(&text, words);
        let introduces = is_own && text.trim_end().trim_end_matches(['*', '_']).ends_with(':');
        let column = lines[from - 1].len() - lines[from - 1].trim_start().len();
        for heading in lines.get(last..from - 1).unwrap_or_default().iter().filter(|line| is_heading(line)) {
            (is_demanded, demanding) = (false, Vec::new());
            let level = heading_level(heading);
            guarantee = guarantee
                .filter(|above| *above < level)
                .or_else(|| is_guarantee_heading(heading, words).then_some(level));
        }
        last = to;
        if items.contains(&from) {
            demanding.retain(|above| *above < column);
        } else {
            (is_demanded, demanding) = (introduces, Vec::new());
        }
        let is_item = items.contains(&from);
        let is_normative = is_own || is_item && (is_demanded || !demanding.is_empty());
        found.push(ClassifiedSentence {
            from,
            to,
            text,
            is_normative,
            is_in_guarantees: is_item && guarantee.is_some(),
        });
        if items.contains(&from) && introduces {
            demanding.push(column);
        }
    }
    add_guarantee_items(found, &lines)
}

/// Returns the normative sentences, with each item below a heading for guarantees that has none, as one sentence.
fn add_guarantee_items(all: Vec<ClassifiedSentence>, lines: &[&str]) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    // The item in progress: its lines and text, and whether one of its sentences is normative.
    let mut item: Option<(usize, usize, String, bool)> = None;
    let finish = |item: Option<(usize, usize, String, bool)>, found: &mut Vec<_>| {
        found.extend(item.filter(|item| !item.3).map(|(from, to, text, _)| (from, to, text)));
    };
    for ClassifiedSentence { from, to, text, is_normative, is_in_guarantees } in all {
        let is_first = starts_item(lines[from - 1]) && item.as_ref().is_none_or(|(first, ..)| *first != from);
        if !is_in_guarantees || is_first {
            finish(item.take(), &mut found);
        }
        if is_in_guarantees {
            let (_, end, whole, has_own) = item.get_or_insert_with(|| (from, to, String::new(), false));
            *end = to;
            if !whole.is_empty() {
                whole.push(' ');
            }
            whole.push_str(&text);
            *has_own |= is_normative;
        }
        if is_normative {
            found.push((from, to, text));
        }
    }
    finish(item, &mut found);
    found
}

struct ClassifiedSentence {
    from: usize,
    to: usize,
    text: String,
    is_normative: bool,
    /// It is in an item below a heading for guarantees.
    is_in_guarantees: bool,
}

/// Whether an item of a list begins on the line.
fn starts_item(line: &str) -> bool {
    let line = line.trim_start();
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let marked = if after_number.len() < line.len() {
        after_number.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '+', '\u{2022}'])
    };
    marked.is_some_and(|rest| rest.starts_with([' ', '\t']))
}

fn heading_level(line: &str) -> usize {
    let line = line.trim();
    line.len() - line.trim_start_matches(['#', '=']).len()
}

/// Whether the items below this heading are guarantees.
fn is_guarantee_heading(heading: &str, words: &[String]) -> bool {
    !words.iter().all(String::is_empty) && is_normative(heading, &GUARANTEE_HEADINGS.map(str::to_owned))
}

/// Whether a sentence has one of the words, as a reader sees it.
pub(super) fn is_normative(sentence: &str, words: &[String]) -> bool {
    let seen = as_seen(sentence);
    words.iter().any(|word| {
        holds_word(sentence, word) || holds_word(&seen, &skeleton(&word.to_lowercase()).collect::<String>())
    })
}

/// Returns the text as it is compared: in lower case, without marks of emphasis, tags and invisible characters. It decodes
/// numeric entities of HTML and replaces other entities by a blank. Letters that look alike become the same letter. Source:
/// Unicode Technical Standard 39, section 4.
fn as_seen(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let tag = rest.strip_prefix('<').filter(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/'));
        let entity = rest.strip_prefix('&').and_then(|entity| split_within(entity, b';', 20));
        if let Some((_, after)) = tag.and_then(|tag| split_within(tag, b'>', MAX_TAG_BYTES)) {
            rest = after;
            continue;
        }
        if let Some((name, after)) = entity {
            plain.push(character_of(name).unwrap_or(' '));
            rest = after;
            continue;
        }
        plain.push(c);
        rest = &rest[c.len_utf8()..];
    }
    let is_seen = |c: &char| !(matches!(c, '*' | '_' | '`' | '~') || is_default_ignorable(*c));
    skeleton(&plain.chars().filter(is_seen).collect::<String>().to_lowercase()).collect()
}

/// The longest HTML tag, in bytes, that is removed. Without a limit, many `<` would take quadratic time.
const MAX_TAG_BYTES: usize = 4_096;

/// Splits a text at an ASCII mark, if it is within the first `limit` bytes.
fn split_within(text: &str, mark: u8, limit: usize) -> Option<(&str, &str)> {
    let at = text.bytes().take(limit).position(|byte| byte == mark)?;
    Some((&text[..at], &text[at + 1..]))
}

/// Decodes a numeric entity of HTML, or a named one of an invisible character, as U+00AD.
fn character_of(name: &str) -> Option<char> {
    let number = match name.strip_prefix('#') {
        Some(number) => {
            number.strip_prefix(['x', 'X']).map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok())
        }
        None => matches!(name, "shy" | "zwj" | "zwnj" | "ZeroWidthSpace" | "NoBreak").then_some(0xad),
    };
    number.and_then(char::from_u32)
}

/// Whether a character is not shown. Source: the property `Default_Ignorable_Code_Point` of Unicode.
fn is_default_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether the text holds the word or phrase, in any case. In a script with upper and lower case, it has to begin and end
/// where words do; other scripts need not separate words.
fn holds_word(text: &str, word: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let word = word.to_lowercase();
    let has_case = word.chars().any(char::is_lowercase);
    let is_inside = |c: Option<char>| has_case && c.is_some_and(char::is_alphanumeric);
    !word.is_empty()
        && text.match_indices(&word).any(|(at, _)| {
            !is_inside(text[..at].chars().next_back()) && !is_inside(text[at + word.len()..].chars().next())
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DEFAULT_NORMATIVE_WORDS, Document, account_for};

    fn words() -> Vec<String> {
        DEFAULT_NORMATIVE_WORDS.map(str::to_owned).to_vec()
    }

    #[test]
    fn a_word_is_found_as_a_reader_sees_it() {
        for text in [
            "It mu\u{200b}st wait.",
            "It mu**st** wait.",
            "It m\u{443}st wait, n\u{435}v\u{435}r.",
            "It mu<b>st</b> wait.",
            "It m&shy;ust wait.",
            "It m&#117;st wait.",
            "It \u{ff4d}\u{ff55}\u{ff53}\u{ff54} wait.",
            "It **must** wait.",
            "It \u{1d426}\u{1d42e}\u{1d42c}\u{1d42d} wait.",
        ] {
            assert!(is_normative(text, &words()), "{text}");
        }
        for text in ["It mustered.", "A < b and c > d.", "It mu st wait."] {
            assert!(!is_normative(text, &words()), "{text}");
        }
        let document = |text: &str| [Document { path: "a.md".into(), text: text.to_owned() }];
        let count = |text: &str| account_for("", &document(text), |_| true, &words()).len();
        assert_eq!(count("A must b.\n\n```\nx\n\nIt must end.\n"), 2, "an open fence hides nothing");
        assert_eq!(count("A must b.\n\n```\nx\n```\n\nIt must end.\n~~~~\nmust\n~~~\n"), 3);
    }

    #[test]
    fn an_item_below_a_heading_for_guarantees_is_normative_as_a_whole_unless_one_of_its_sentences_is() {
        let document = "# Lock\n\n- Clients take turns.\n\n## Guarantees of the lock\n\nIn short:\n\n- One holder. All others\n  wait.\n\
                        - Fairness. It must be fair. Clients wait in line.\n\n### Safety\n\n1. The token grows.\n\nThat is all.\n\n\
                        ## Files\n\n- lock.c\n";
        let found = normative_sentences(document, &words());
        let found: Vec<(usize, usize, &str)> =
            found.iter().map(|(from, to, text)| (*from, *to, text.as_str())).collect();
        assert_eq!(
            found,
            [(9, 10, "- One holder. All others wait."), (11, 11, "It must be fair."), (15, 15, "1. The token grows.")]
        );
        assert!(normative_sentences(document, &[String::new()]).is_empty());
    }
}

//! Quotes what a citation refers to: the whole sentences that its lines are part of. In a paragraph on one physical line,
//! as Markdown editors write it, one line has many sentences. Then those are quoted that share most words with the
//! reason for the citation.

use std::collections::BTreeSet;

use super::cited_places::{LineRange, cited_ranges, cited_text, has_quote, quoted_words};
use super::content_words::content_words;
use super::documents::Document;
use super::sentences::Passage;

/// Several sentences up to this length, in characters, are quoted whole, without a choice among them.
const SHORT: usize = 240;
/// So many words of a sentence show that it was looked at.
const MIN_QUOTED_WORDS: usize = 4;
/// Shows where sentences were left out.
const GAP: &str = "[\u{2026}]";

/// The sentences at a place such as `docs/a.md:3-5, docs/b.md:9`. `reason` says what is cited for. If the place quotes words, as
/// in `docs/a.md:3 "at most once"`, the sentences that contain them are quoted. `None` if the place names no text, or a document
/// or line that does not exist.
pub fn quote(documents: &[Document], place: &str, reason: &str) -> Option<String> {
    let named = quoted_words(place);
    let quotes: Vec<String> = cited_ranges(place, documents)?
        .iter()
        .map(|range| quote_range(range, &named, reason))
        .filter(|quote| !quote.is_empty())
        .collect();
    (!quotes.is_empty()).then(|| quotes.join(&format!(" {GAP} ")))
}

/// Whether a text repeats words of the sentences at a place: a part of it, between gaps such as `…`, stands there word for word and
/// has four words, two content words, or half of the sentence. `None` if nothing can be cited at the place.
pub fn repeats_words_of(documents: &[Document], place: &str, text: &str) -> Option<bool> {
    let ranges = cited_ranges(place, documents)?;
    let sentences = |range: &LineRange<'_>| -> Vec<String> {
        let passage = Passage::around(&range.document.text, range.from, range.to);
        passage.cited_sentences().into_iter().map(str::to_owned).collect()
    };
    // A quotation may go on from one sentence to the next.
    let cited: Vec<String> = ranges.iter().map(cited_text).chain(ranges.iter().flat_map(sentences)).collect();
    if cited.iter().all(|sentences| content_words(sentences).is_empty()) {
        return None;
    }
    let text = text.replace(GAP, "\u{2026}").replace("...", "\u{2026}");
    let trimmed = |c: char| c.is_whitespace() || matches!(c, '"' | '\u{201c}' | '\u{201d}' | ',' | ';' | '.');
    let mut parts = text.split('\u{2026}').map(|part| part.trim_matches(trimmed));
    Some(parts.any(|part| {
        let is_long = part.split_whitespace().count() >= MIN_QUOTED_WORDS || content_words(part).len() >= 2;
        let says_enough = |text: &String| is_long || 2 * part.len() > text.len();
        cited.iter().any(|text| has_quote(text, part) && says_enough(text))
    }))
}

/// Whether a text has a content word in common with the sentences at a place. `None` if one of the two has no content word, or the
/// place does not exist.
pub fn shares_words_with(documents: &[Document], place: &str, text: &str) -> Option<bool> {
    let cited = cited_ranges(place, documents)?.iter().map(cited_text).collect::<Vec<_>>().join(" ");
    let (cited, own) = (content_words(&cited), content_words(text));
    (!cited.is_empty() && !own.is_empty()).then(|| !cited.is_disjoint(&own))
}

fn quote_range(range: &LineRange<'_>, named: &[String], reason: &str) -> String {
    let passage = Passage::around(&range.document.text, range.from, range.to);
    let cited: Vec<&str> = passage.cited_sentences();
    let is_named = |sentence: &&str| named.iter().any(|words| has_quote(sentence, words));
    if cited.iter().any(&is_named) {
        return cited.into_iter().filter(is_named).collect::<Vec<_>>().join(" ");
    }
    if cited.iter().map(|sentence| sentence.chars().count()).sum::<usize>() <= SHORT {
        return cited.join(" ");
    }
    let wanted = stems(reason);
    let scores: Vec<usize> = cited.iter().map(|sentence| stems(sentence).intersection(&wanted).count()).collect();
    let best = scores.iter().copied().max().unwrap_or(0);
    let mut parts: Vec<&str> = Vec::new();
    for (sentence, score) in cited.iter().zip(scores) {
        if score == best {
            parts.push(sentence);
        } else if parts.last() != Some(&GAP) {
            parts.push(GAP);
        }
    }
    parts.join(" ")
}

/// Words of at least four letters, cut to five: `withdraws` and `withdrawal` share a stem.
fn stems(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 4)
        .map(|word| word.to_lowercase().chars().take(5).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str, place: &str, reason: &str) -> Option<String> {
        quote(&[Document { path: "a.md".into(), text: text.into() }], place, reason)
    }

    #[test]
    fn a_line_is_quoted_with_the_whole_sentences_that_it_is_part_of() {
        let text = "# Title\nThe first ends here. A worker may stop\nat any time, e.g. while it\nholds the lock. The last.\n\n- One item\n  goes on.\n- Another.\n\n```\nx = 1. Y\ny = 2\n```\n| a | b. C |\n";
        for (place, expected) in [
            ("a.md:1", "# Title"),
            ("a.md:2", "The first ends here. A worker may stop at any time, e.g. while it holds the lock."),
            ("docs/a.md:3", "A worker may stop at any time, e.g. while it holds the lock."),
            ("a.md:4", "A worker may stop at any time, e.g. while it holds the lock. The last."),
            ("a.md:7", "- One item goes on."),
            ("a.md:8", "- Another."),
            ("a.md:12", "y = 2"),
            ("a.md:14", "| a | b. C |"),
            ("a.md:3, 8", "A worker may stop at any time, e.g. while it holds the lock. [\u{2026}] - Another."),
        ] {
            assert_eq!(quoted(text, place, "").as_deref(), Some(expected), "{place}");
        }
        for place in ["a.md:5", "a.md:15", "b.md:1", "a.md", "a.md:1, b.md:1"] {
            assert_eq!(quoted(text, place, ""), None, "{place}");
        }
    }

    #[test]
    fn a_citation_that_names_its_sentence_is_quoted_by_that_sentence() {
        let text = "One is short. Another must wait for it. A third stops.\n";
        assert_eq!(quoted(text, "a.md:1 \"must wait\"", "").as_deref(), Some("Another must wait for it."));
        assert_eq!(quoted(text, "a.md:1", "").as_deref(), Some(text.trim()));
    }

    #[test]
    fn words_of_the_cited_sentence_are_told_from_others() {
        let documents =
            [Document { path: "a.md".into(), text: "The *next* caller in the\nqueue is woken.\n\nIt ends.\n\n---\n\nThen it releases the lock. After that it does nothing more.\n".into() }];
        let repeats = |place: &str, text: &str| repeats_words_of(&documents, place, text);
        for (place, text, expected) in [
            ("a.md:1", "the next caller in the queue", Some(true)),
            ("docs/a.md:2", "\"The next caller \u{2026} is woken.\"", Some(true)),
            ("a.md:1", "some ... caller in the queue", Some(true)),
            ("a.md:1", "some caller is served", Some(false)),
            ("a.md:1", "caller", Some(false)),
            ("a.md:1", "in the", Some(false)),
            ("a.md:8", "After that it does nothing more.", Some(true)),
            ("a.md:8", "After that it", Some(false)),
            // The most of a short sentence.
            ("a.md:8", "Then it releases", Some(true)),
            ("a.md:1, 4", "It ends.", Some(true)),
            ("a.md:1", "", Some(false)),
            ("a.md:1, 4", "It ends", Some(true)),
            ("a.md:4", "It ends.", Some(true)),
            ("a.md:1", "It ends.", Some(false)),
            ("a.md:6", "the next caller", None),
            ("a.md:99", "the next caller", None),
            ("b.md:1", "the next caller", None),
        ] {
            assert_eq!(repeats(place, text), expected, "{place}: {text}");
        }
    }

    #[test]
    fn typographic_marks_do_not_change_a_quotation() {
        let text = "The client\u{2019}s \u{201c}lease\u{201d} \u{2013} if any \u{2013} is non\u{2011}renewable.\n";
        let documents = [Document { path: "a.md".into(), text: text.into() }];
        for quoted in ["The client's \"lease\" - if any", "is non-renewable", "client\u{2019}s \u{201c}lease\u{201d}"] {
            assert_eq!(repeats_words_of(&documents, "a.md:1", quoted), Some(true), "{quoted}");
        }
        assert_eq!(repeats_words_of(&documents, "a.md:1", "The clients lease"), Some(false));
    }

    #[test]
    fn of_a_paragraph_on_one_line_the_sentence_that_fits_the_reason_is_quoted_in_full() {
        let filler = "Here the document talks about something else for a while, and it takes its time to do so.";
        let wanted = "A withdrawal never takes more than the balance (see 4.2), whatever the client asks for.";
        let text = format!("{filler} {filler} {wanted} {filler}\n");
        let gap = "[\u{2026}]";
        assert_eq!(
            quoted(&text, "a.md:1", "No client withdraws beyond its balance.").unwrap(),
            format!("{gap} {wanted} {gap}")
        );
        // Without a word in common the whole line is quoted.
        assert_eq!(quoted(&text, "a.md:1", "").unwrap(), text.trim());
    }
}

//! Quotes what a citation refers to: the whole sentences that its lines are part of. In a paragraph on one physical line,
//! as Markdown editors write it, one line has many sentences. Then those are quoted that share most words with the
//! reason for the citation.

use std::collections::BTreeSet;

use super::cited_places::{LineRange, cited_ranges};
use super::documents::Document;

/// Several sentences up to this length, in characters, are quoted whole, without a choice among them.
const SHORT: usize = 240;
/// Shows where sentences were left out.
const GAP: &str = "[\u{2026}]";

/// The sentences at a place such as `docs/a.md:3-5, docs/b.md:9`. `reason` says what is cited for. `None` if the place names
/// no text, or a document or line that does not exist.
pub fn quote(documents: &[Document], place: &str, reason: &str) -> Option<String> {
    let quotes: Vec<String> = cited_ranges(place, documents)?
        .iter()
        .map(|range| quote_range(range, reason))
        .filter(|quote| !quote.is_empty())
        .collect();
    (!quotes.is_empty()).then(|| quotes.join(&format!(" {GAP} ")))
}

fn quote_range(range: &LineRange<'_>, reason: &str) -> String {
    let passage = Passage::around(&range.document.text, range.from, range.to);
    let cited: Vec<&str> = passage.cited_sentences();
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

/// The whole sentences that these lines are part of.
pub(super) fn sentences_around(document: &str, from: usize, to: usize) -> String {
    Passage::around(document, from, to).cited_sentences().join(" ")
}

/// Words of at least four letters, cut to five: `withdraws` and `withdrawal` share a stem.
fn stems(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 4)
        .map(|word| word.to_lowercase().chars().take(5).collect())
        .collect()
}

/// The cited lines with the rest of the paragraphs that they begin and end in. Lines of a paragraph are joined by blanks;
/// a line break separates paragraphs, list items, headings, table rows and lines of code.
struct Passage {
    text: String,
    /// The bytes of the cited lines in `text`.
    cited: std::ops::Range<usize>,
}

impl Passage {
    fn around(document: &str, from: usize, to: usize) -> Self {
        let lines: Vec<&str> = document.lines().collect();
        let kinds = line_kinds(&lines);
        // Whether line `i` continues the paragraph of the line before it.
        let continues = |i: usize| i > 0 && kinds[i] == LineKind::Text && kinds[i - 1].can_be_continued();
        let (mut first, mut last) = (from - 1, to - 1);
        while continues(first) {
            first -= 1;
        }
        while last + 1 < lines.len() && continues(last + 1) {
            last += 1;
        }
        let (mut text, mut cited) = (String::new(), 0..0);
        for (i, line) in lines.iter().enumerate().take(last + 1).skip(first) {
            if i > first {
                text.push(if continues(i) { ' ' } else { '\n' });
            }
            if i + 1 == from {
                cited.start = text.len();
            }
            text.push_str(line.trim());
            if i + 1 == to {
                cited.end = text.len();
            }
        }
        Self { text, cited }
    }

    /// The sentences that overlap the cited lines.
    fn cited_sentences(&self) -> Vec<&str> {
        let mut found = Vec::new();
        let mut start = 0;
        for end in sentence_ends(&self.text) {
            if start < self.cited.end && end > self.cited.start {
                let sentence = self.text[start..end].trim();
                let is_mark = |c: char| !c.is_alphanumeric();
                if !sentence.is_empty() && !sentence.chars().all(is_mark) {
                    found.push(sentence);
                }
            }
            start = end;
        }
        found
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Blank,
    /// A line of a paragraph; it continues the one before it, if that can be continued.
    Text,
    /// The first line of a list item, a quotation or an HTML element, which text can continue.
    Item,
    /// A heading, a table row or a rule.
    Alone,
    /// A fence or a line of code.
    Code,
}

impl LineKind {
    fn can_be_continued(self) -> bool {
        matches!(self, Self::Text | Self::Item)
    }
}

pub(super) fn line_kinds(lines: &[&str]) -> Vec<LineKind> {
    // The mark of the open fence, and its length.
    let mut fence: Option<(char, usize)> = None;
    lines
        .iter()
        .map(|line| {
            let line = line.trim();
            let mark = line.chars().next().filter(|c| matches!(c, '`' | '~')).unwrap_or(' ');
            let length = line.chars().take_while(|c| *c == mark).count();
            let is_fence = mark != ' '
                && length >= 3
                && match fence {
                    Some((open, of)) => mark == open && length >= of && line.len() == length,
                    // Three marks around words in a line are no fence.
                    None => mark == '~' || !line[length..].contains('`'),
                };
            if is_fence {
                fence = if fence.is_some() { None } else { Some((mark, length)) };
            }
            let fenced = fence.is_some();
            let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_numbered = after_number.len() < line.len() && after_number.starts_with(['.', ')']);
            let is_bullet = ["- ", "* ", "+ ", "> "].iter().any(|mark| line.starts_with(mark));
            // A rule, or the underline of a heading.
            let is_rule = line.len() >= 3
                && line.starts_with(|c| "=-~^*+_".contains(c))
                && line.bytes().all(|b| b == line.as_bytes()[0]);
            match line.chars().next() {
                _ if fenced || is_fence => LineKind::Code,
                _ if is_rule => LineKind::Alone,
                None => LineKind::Blank,
                Some('#' | '|' | '=') => LineKind::Alone,
                Some('<') => LineKind::Item,
                _ if is_bullet || is_numbered => LineKind::Item,
                _ => LineKind::Text,
            }
        })
        .collect()
}

/// The sentences of a document outside of code and headings, each with its first and last line, from 1.
pub(super) fn sentences(document: &str) -> Vec<(usize, usize, String)> {
    let lines: Vec<&str> = document.lines().collect();
    let kinds = line_kinds(&lines);
    let is_left_out = |first: usize| kinds[first] == LineKind::Code || is_heading(lines[first]);
    let paragraphs = paragraphs(&kinds).into_iter().filter(|paragraph| !is_left_out(paragraph.start));
    paragraphs.flat_map(|paragraph| paragraph_sentences(&lines, paragraph)).collect()
}

pub(super) fn is_heading(line: &str) -> bool {
    line.trim_start().starts_with(['#', '='])
}

/// The lines of each paragraph, list item, heading, table row and line of code, from 0.
pub(super) fn paragraphs(kinds: &[LineKind]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut next = 0;
    while next < kinds.len() {
        let first = next;
        next += 1;
        if kinds[first] == LineKind::Blank {
            continue;
        }
        while next < kinds.len() && kinds[next] == LineKind::Text && kinds[next - 1].can_be_continued() {
            next += 1;
        }
        found.push(first..next);
    }
    found
}

/// The sentences of these lines of a paragraph, each with its first and last line, from 1.
pub(super) fn paragraph_sentences(lines: &[&str], paragraph: std::ops::Range<usize>) -> Vec<(usize, usize, String)> {
    let mut text = String::new();
    // The offset at which each line of the paragraph begins.
    let mut starts = Vec::new();
    for line in &lines[paragraph.clone()] {
        if !starts.is_empty() {
            text.push(' ');
        }
        starts.push(text.len());
        text.push_str(line.trim());
    }
    let line_at = |offset: usize| paragraph.start + starts.partition_point(|start| *start <= offset);
    let mut found = Vec::new();
    let mut start = 0;
    for end in sentence_ends(&text) {
        let sentence = text[start..end].trim();
        if sentence.chars().any(char::is_alphanumeric) {
            let begin = end - text[start..end].trim_start().len();
            found.push((line_at(begin), line_at(begin + sentence.len() - 1), sentence.to_owned()));
        }
        start = end;
    }
    found
}

/// The end of each sentence, in bytes: after a full stop, question or exclamation mark with its closing marks, if white space
/// and no lower-case letter follows; and at each line break.
fn sentence_ends(text: &str) -> Vec<usize> {
    const ABBREVIATIONS: [&str; 9] = ["e.g.", "i.e.", "cf.", "vs.", "resp.", "no.", "sec.", "fig.", "approx."];
    let mut ends = Vec::new();
    let mut line = 0;
    for (at, c) in text.char_indices() {
        if c == '\n' {
            ends.push(at + 1);
            line = at + 1;
            continue;
        }
        if !matches!(c, '.' | '?' | '!') {
            continue;
        }
        let rest = text[at + 1..].trim_start_matches(['"', '\'', ')', ']', '*', '_', '`', '\u{201d}', '\u{2019}']);
        let end = text.len() - rest.len();
        if !rest.starts_with([' ', '\t']) {
            continue;
        }
        let word = text[line..=at].rsplit(char::is_whitespace).next().unwrap_or("");
        let word = word.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        // The number of a list item, or of a section.
        let is_number = word.trim_end_matches('.').bytes().all(|b| b.is_ascii_digit());
        let goes_on = rest.trim_start().chars().next().is_some_and(char::is_lowercase);
        if !goes_on && !is_number && !ABBREVIATIONS.contains(&word.as_str()) {
            ends.push(end);
        }
    }
    ends.push(text.len());
    ends
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

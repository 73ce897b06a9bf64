//! Divides documents into lines of code, headings, paragraphs and sentences. It must not know why they are cited.

use std::collections::BTreeSet;

/// The whole sentences that these lines are part of.
pub(super) fn sentences_around(document: &str, from: usize, to: usize) -> String {
    Passage::around(document, from, to).cited_sentences().join(" ")
}

/// The cited lines with the rest of the paragraphs that they begin and end in. Lines of a paragraph are joined by blanks;
/// a line break separates paragraphs, list items, headings, table rows and lines of code.
pub(super) struct Passage {
    text: String,
    /// The bytes of the cited lines in `text`.
    cited: std::ops::Range<usize>,
}

impl Passage {
    pub(super) fn around(document: &str, from: usize, to: usize) -> Self {
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
    pub(super) fn cited_sentences(&self) -> Vec<&str> {
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
    let closing =
        |line: &str| Some(fence_mark(line)).filter(|(mark, length)| *mark != ' ' && line.trim().len() == *length);
    // For each line, the length of the longest mark that can close a fence below it, by character.
    let mut longest = vec![[0, 0]; lines.len() + 1];
    for (number, line) in lines.iter().enumerate().rev() {
        longest[number] = longest[number + 1];
        if let Some((mark, length)) = closing(line) {
            let known = &mut longest[number][usize::from(mark == '~')];
            *known = length.max(*known);
        }
    }
    lines
        .iter()
        .enumerate()
        .map(|(number, line)| {
            let line = line.trim();
            let (mark, length) = fence_mark(line);
            let is_fence = mark != ' '
                && length >= 3
                && match fence {
                    Some((open, least)) => closing(line).is_some_and(|(mark, length)| mark == open && length >= least),
                    // Three marks around words in a line are no fence, and a fence that nothing closes would hide the rest
                    // of the document.
                    None => {
                        (mark == '~' || !line[length..].contains('`'))
                            && longest[number + 1][usize::from(mark == '~')] >= length
                    }
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
                Some('|') => LineKind::Alone,
                Some('#' | '=') if is_heading(line) => LineKind::Alone,
                Some('<') => LineKind::Item,
                _ if is_bullet || is_numbered => LineKind::Item,
                _ => LineKind::Text,
            }
        })
        .collect()
}

/// The mark with which a line may begin or end code, and how often it has it; a blank for other lines.
fn fence_mark(line: &str) -> (char, usize) {
    let line = line.trim();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~')).unwrap_or(' ');
    (mark, line.chars().take_while(|c| *c == mark).count())
}

/// The sentences of a document outside of code and of headings without a full stop at the end, each with its first and last line, from 1.
pub(super) fn sentences(document: &str) -> Vec<(usize, usize, String)> {
    let lines: Vec<&str> = document.lines().collect();
    let kinds = line_kinds(&lines);
    // A heading that is a whole sentence says something. In a text file, its mark may begin a comment.
    let is_title = |line: &str| is_heading(line) && !line.trim_end().ends_with('.');
    let is_left_out = |first: usize| kinds[first] == LineKind::Code || is_title(lines[first]);
    let paragraphs = paragraphs(&kinds).into_iter().filter(|paragraph| !is_left_out(paragraph.start));
    paragraphs.flat_map(|paragraph| paragraph_sentences(&lines, paragraph)).collect()
}

/// Whether a line is a heading: one to six `#` (`CommonMark`, section 4.2) or `=` (AsciiDoc), then a blank or the end.
pub(super) fn is_heading(line: &str) -> bool {
    let line = line.trim();
    ['#', '='].into_iter().any(|mark| {
        let rest = line.trim_start_matches(mark);
        let count = line.len() - rest.len();
        (1..=6).contains(&count) && (rest.is_empty() || rest.starts_with([' ', '\t']))
    })
}

/// Returns all lines, from 1, of items of lists and of the indented paragraphs below them.
pub(super) fn lines_of_items(document: &str) -> BTreeSet<usize> {
    let lines: Vec<&str> = document.lines().collect();
    let kinds = line_kinds(&lines);
    let mut is_in_list = false;
    let mut found = BTreeSet::new();
    for paragraph in paragraphs(&kinds) {
        let is_item = kinds[paragraph.start] == LineKind::Item && !lines[paragraph.start].trim_start().starts_with('>');
        is_in_list = is_item || is_in_list && lines[paragraph.start].starts_with([' ', '\t']);
        if is_in_list {
            found.extend(paragraph.start + 1..=paragraph.end);
        }
    }
    found
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

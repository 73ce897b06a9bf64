//! Documents as passages that can be compared: sentences, headings, table rows, lines of code and comments, without white space, line
//! breaks and marks that do not change what they say.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::comments::without_comments;
use super::document_index::headings;
use super::documents::Document;
use super::sentences::{LineKind, is_heading, line_kinds, paragraph_sentences, paragraphs};

/// A sentence, heading, table row, line of code or comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage<'a> {
    pub document: &'a Document,
    /// From 1.
    pub from: usize,
    pub to: usize,
    /// With single spaces, and without the mark of a heading, of an item of a list or of a quotation.
    pub text: String,
    /// The passages of its paragraph, or of its block of code, by their index in the list of all.
    pub paragraph: Range<usize>,
    /// The index of the heading above it; its own, if it is one.
    pub heading: Option<usize>,
    /// The heading around it, if it is a heading.
    pub outer: Option<usize>,
    pub is_code: bool,
    /// Whether it is an HTML comment, with its marks.
    pub is_comment: bool,
}

/// The headings above a passage, the outermost first.
fn heading_chain(all: &[Passage<'_>], at: usize) -> Vec<usize> {
    let mut chain: Vec<usize> = std::iter::successors(all[at].heading, |heading| all[*heading].outer).collect();
    // The text of a heading that is cited itself is compared as text.
    chain.retain(|heading| *heading != at);
    chain.reverse();
    chain
}

/// The outermost headings that differ above an earlier passage and above a new one, whatever their numbers; `None` if both
/// are below the same headings.
pub(super) fn differing_heading(
    (old, at): (&[Passage<'_>], usize),
    (new, now): (&[Passage<'_>], usize),
) -> Option<(Option<usize>, Option<usize>)> {
    let (before, after) = (heading_chain(old, at), heading_chain(new, now));
    let words = |all: &[Passage<'_>], at: Option<&usize>| at.map(|at| heading_words(&all[*at].text));
    (0..before.len().max(after.len()))
        .find(|level| words(old, before.get(*level)) != words(new, after.get(*level)))
        .map(|level| (before.get(level).copied(), after.get(level).copied()))
}

static HEADING_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    let word = r"(?:§+\s*|(?i:section|chapter|part|appendix|annex|abschnitt|kapitel|teil)\s+)";
    let number = r"(?:\d+(?:\.\d+)+|\d+|[A-Z](?:\.\d+)*|[IVXLC]+)";
    Regex::new(&format!(
        r"^(?:{word}{number}[.):]?(?:\s+|$)|(?:\d+(?:\.\d+)+[.):]?|(?:\d+|[IVXLC]+)[.):]|[A-Z](?:\.\d+)+[.):]?|[A-Z][.)])\s+|\d+\s+(?:\p{{Lu}}|\p{{Lo}}))"
    ))
    .expect("a valid pattern")
});
static HEADING_MARKUP: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"<[^>]*>|\{#[^}]*\}|[*_`#=]+").expect("a valid pattern"));

/// What a heading says: without its number, its marks and its case.
fn heading_words(text: &str) -> String {
    let plain = HEADING_MARKUP.replace_all(text, "");
    let plain = plain.trim().trim_end_matches(':');
    let rest = match HEADING_NUMBER.find(plain) {
        // The first letter of the title belongs to a number without a full stop.
        Some(number) if number.as_str().ends_with(char::is_whitespace) => &plain[number.end()..],
        Some(number) => {
            plain[..number.end()].rfind(char::is_whitespace).map_or(plain, |blank| plain[blank..].trim_start())
        }
        None => plain,
    };
    let rest = if rest.is_empty() { plain } else { rest };
    rest.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// All passages of the documents, in their order.
pub(super) fn passages(documents: &[Document]) -> Vec<Passage<'_>> {
    documents.iter().fold(Vec::new(), |mut all, document| {
        add_passages(document, &mut all);
        all
    })
}

fn add_passages<'a>(document: &'a Document, all: &mut Vec<Passage<'a>>) {
    // A comment is a passage of its own, and the text around it is the same without it.
    let (text, comments) = without_comments(&document.text);
    let mut comments = comments.into_iter().peekable();
    // The numbers of the lines, because a line with nothing but a comment is left out.
    let (numbers, lines): (Vec<usize>, Vec<&str>) = text.iter().map(|(number, line)| (*number, line.as_str())).unzip();
    // Lines of a quotation all begin with its mark, and would be a paragraph each.
    let unquoted = lines.iter().zip(line_kinds(&lines)).map(|(line, kind)| match kind {
        LineKind::Code => line,
        _ => without_quotation_marks(line),
    });
    let lines: Vec<&str> = unquoted.collect();
    let kinds = line_kinds(&lines);
    let levels: HashMap<usize, usize> =
        headings(&document.text).into_iter().map(|(line, level, _)| (line, level)).collect();
    let mut heading = None;
    let mut is_in_list = false;
    let is_markdown = [".md", ".mdx"].iter().any(|ending| document.path.to_lowercase().ends_with(ending));
    // The open headings with their levels, the outermost first.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let blocks = blocks(&lines, &kinds);
    for (number, block) in blocks.iter().enumerate() {
        let block = block.clone();
        while let Some(before) = comments.next_if(|(from, ..)| *from < numbers[block.start]) {
            all.push(comment_passage(document, before, all.len(), heading));
        }
        let start = all.len();
        let is_code = kinds[block.start] == LineKind::Code;
        let line = lines[block.start];
        let marks =
            || is_heading(line).then(|| line.trim_start().chars().take_while(|c| ['#', '='].contains(c)).count());
        let title = || (block.len() == 1 && is_title(line)).then_some(TITLE_LEVEL);
        let level = levels.get(&numbers[block.start]).copied().or_else(marks).or_else(title).filter(|_| !is_code);
        let found = if is_code {
            let code = block.clone().filter(|line| !lines[*line].trim().is_empty());
            // A block that is indented as a whole says the same.
            let least = code.clone().map(|line| indent(lines[line])).min().unwrap_or(0);
            let text = |line: usize| " ".repeat(indent(lines[line]) - least) + lines[line].trim();
            code.map(|line| (line + 1, line + 1, text(line))).collect()
        } else if is_row_of_marks(&lines, block.start) {
            vec![(block.start + 1, block.start + 1, lines[block.start].trim().to_owned())]
        } else if level.is_some() {
            // The full stop of its number ends no sentence.
            joined(paragraph_sentences(&lines, block.clone()))
        } else {
            paragraph_sentences(&lines, block.clone())
        };
        let paragraph = start..start + found.len();
        let is_plain = level.is_none() && kinds[block.start] == LineKind::Text;
        let margin = indent(&text[block.start].1);
        if is_plain && margin == 0 {
            // What a sentence introduces ends with the next paragraph at the margin.
            open.retain(|(_, above)| *above < LEAD_IN_LEVEL);
            heading = open.last().map(|(at, _)| *at);
            is_in_list = false;
        }
        if level.is_some() {
            is_in_list = false;
        }
        let is_item = level.is_none() && kinds[block.start] == LineKind::Item;
        let is_indented_code = is_markdown && is_plain && margin >= 4 && !is_in_list;
        is_in_list |= is_item;
        if is_item {
            open.retain(|(_, above)| *above <= LEAD_IN_LEVEL + margin);
            heading = open.last().map(|(at, _)| *at);
        }
        let last_text = found.last().map_or("", |(_, _, text)| text.trim_end());
        let is_lead_in = is_plain && last_text.ends_with(':');
        // An item that is not a sentence is a heading of the items below it.
        let has_items_below = || {
            let next = blocks.get(number + 1).filter(|next| kinds[next.start] == LineKind::Item);
            next.is_some_and(|next| indent(&text[next.start].1) > margin)
        };
        let is_group = is_item && !last_text.ends_with(['.', '!', '?']) && has_items_below();
        let level =
            level.or(is_lead_in.then_some(LEAD_IN_LEVEL)).or_else(|| is_group.then_some(LEAD_IN_LEVEL + 1 + margin));
        let last = start + found.len().saturating_sub(1);
        for (from, to, text) in found {
            let mut outer = None;
            // A heading is one passage; of a paragraph, the last sentence introduces what follows.
            if let Some(level) = level.filter(|_| all.len() == last) {
                open.retain(|(_, above)| *above < level);
                outer = open.last().map(|(at, _)| *at);
                open.push((last, level));
                heading = Some(last);
            }
            all.push(Passage {
                document,
                from: numbers[from - 1],
                to: numbers[to - 1],
                text: normalised(&text, is_code),
                paragraph: paragraph.clone(),
                heading,
                outer,
                is_code: is_code || is_indented_code,
                is_comment: false,
            });
        }
    }
    for after in comments {
        all.push(comment_passage(document, after, all.len(), heading));
    }
}

/// A comment as a passage, with its lines and its text.
fn comment_passage(
    document: &Document,
    (from, to, text): (usize, usize, String),
    at: usize,
    heading: Option<usize>,
) -> Passage<'_> {
    Passage { document, from, to, text, paragraph: at..at + 1, heading, outer: None, is_code: false, is_comment: true }
}

/// The level of a title that is no heading of Markdown, and of a sentence that introduces what follows it: below those of
/// all headings.
const TITLE_LEVEL: usize = 7;
const LEAD_IN_LEVEL: usize = 8;

static TITLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)^(?:\*\*|__)[^*_]+(?:\*\*|__):?$",
        r"|^<(?:summary|b|strong|h[1-6])\b[^>]*>[^<]*</(?:summary|b|strong|h[1-6])>$"
    ))
    .expect("a valid pattern")
});

/// Whether a line is a title in bold or in HTML.
fn is_title(line: &str) -> bool {
    TITLE.is_match(line.trim())
}

/// All sentences as one.
fn joined(sentences: Vec<(usize, usize, String)>) -> Vec<(usize, usize, String)> {
    let whole = sentences.into_iter().reduce(|(from, _, text), (_, to, more)| (from, to, format!("{text} {more}")));
    whole.into_iter().collect()
}

/// Whether a line is a row of a table that says something by marks alone, such as `| \u{2713} | - |`. The second row, of
/// dashes, only separates the head.
fn is_row_of_marks(lines: &[&str], at: usize) -> bool {
    let is_row = |at: usize| lines[at].trim().starts_with('|');
    let is_second = at > 0 && is_row(at - 1) && !(at > 1 && is_row(at - 2));
    let line = lines[at].trim();
    let is_delimiter = is_second && line.contains('-') && line.chars().all(|c| "|-: ".contains(c));
    is_row(at)
        && !is_delimiter
        && line.chars().any(|c| c != '|' && !c.is_whitespace())
        && !line.contains(char::is_alphanumeric)
}

/// The lines of each paragraph; lines of code that follow each other are one block, without the lines of its fence.
fn blocks(lines: &[&str], kinds: &[LineKind]) -> Vec<Range<usize>> {
    let is_fence =
        |line: usize| lines[line].trim_start().starts_with("```") || lines[line].trim_start().starts_with("~~~");
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for paragraph in paragraphs(kinds) {
        let line = paragraph.start;
        match blocks.last_mut() {
            _ if kinds[line] == LineKind::Code && is_fence(line) => {}
            Some(last) if kinds[line] == LineKind::Code && kinds[last.start] == LineKind::Code && last.end == line => {
                last.end = paragraph.end;
            }
            _ => blocks.push(paragraph),
        }
    }
    blocks
}

/// Columns before the text of a line; a tab counts as four.
fn indent(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| [' ', '\t'].contains(c));
    blanks.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// `>= 0` at the begin of a line is no quotation.
fn without_quotation_marks(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some(quoted) = rest.strip_prefix('>').filter(|quoted| quoted.is_empty() || quoted.starts_with(['>', ' ']))
    {
        rest = quoted.trim_start();
    }
    rest
}

fn normalised(text: &str, is_code: bool) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if is_code {
        let indent = &text[..text.len() - text.trim_start().len()];
        return format!("{indent}{words}");
    }
    if text.starts_with('|') {
        // The width of a column is no text.
        return words.split('|').map(str::trim).collect::<Vec<_>>().join(" | ").trim().to_owned();
    }
    let text = words;
    let unmarked = ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(&text);
    unmarked.trim_start_matches('#').trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let documents = [Document { path: "a.md".to_owned(), text: text.to_owned() }];
        passages(&documents).into_iter().map(|p| format!("{}-{} {}", p.from, p.to, p.text)).collect()
    }

    #[test]
    fn the_number_of_a_heading_is_no_word_of_it() {
        for (one, other) in [
            ("2.1 Guarantees", "2.2 Guarantees"),
            ("2. Guarantees", "Guarantees"),
            ("2 Guarantees", "3 Guarantees"),
            ("\u{a7}4 Guarantees", "Section 5: Guarantees"),
            ("A.1 **Guarantees**", "B. guarantees"),
            ("IV. Guarantees", "Guarantees {#g}"),
        ] {
            assert_eq!(heading_words(one), heading_words(other), "{one}, {other}");
        }
        for (one, other) in [
            ("Guarantees", "Not guaranteed"),
            ("3 replicas are enough", "2 replicas are enough"),
            ("Guarantees", "Guarantees (withdrawn)"),
            ("Version 1", "Version 2"),
            ("2024", "2025"),
            ("A lock", "The lock"),
        ] {
            assert_ne!(heading_words(one), heading_words(other), "{one}, {other}");
        }
    }

    #[test]
    fn a_title_in_bold_or_html_and_a_sentence_that_introduces_a_list_are_headings() {
        let text = "# A\nIt grew. These hold:\n\n- One lock.\n\n  It ends.\n\nMore.\n\n**Withdrawn:**\n\nNo longer:\n\n- Two.\n\n\
                    <summary>Old</summary>\n\nThree.\n\n## B\nFour.\n";
        let documents = [Document { path: "a.md".to_owned(), text: text.to_owned() }];
        let all = passages(&documents);
        let found: Vec<String> = (0..all.len())
            .map(|at| {
                let above: Vec<&str> = heading_chain(&all, at).into_iter().map(|at| all[at].text.as_str()).collect();
                format!("{} < {}", all[at].text, above.join(" < "))
            })
            .collect();
        assert_eq!(
            found,
            [
                "A < ",
                "It grew. < A",
                "These hold: < A",
                "One lock. < A < These hold:",
                "It ends. < A < These hold:",
                "More. < A",
                "**Withdrawn:** < A",
                "No longer: < A < **Withdrawn:**",
                "Two. < A < **Withdrawn:** < No longer:",
                "<summary>Old</summary> < A",
                "Three. < A < <summary>Old</summary>",
                "B < A",
                "Four. < A < B",
            ]
        );
    }

    #[test]
    fn an_item_that_is_no_sentence_is_a_heading_of_the_items_below_it() {
        let text = "# A\n1. In the default mode:\n   - One lock.\n     It ends.\n   - Two.\n2. It waits.\n   - Three.\n- Wanted\n  - Four.\n\nFive.\n";
        let documents = [Document { path: "a.md".to_owned(), text: text.to_owned() }];
        let all = passages(&documents);
        let above = |text: &str| {
            let at = all.iter().position(|passage| passage.text == text).unwrap();
            heading_chain(&all, at).into_iter().map(|at| all[at].text.clone()).collect::<Vec<_>>()
        };
        for text in ["One lock.", "It ends.", "Two."] {
            assert_eq!(above(text), ["A", "1. In the default mode:"], "{text}");
        }
        for text in ["2. It waits.", "Three.", "Wanted", "Five."] {
            assert_eq!(above(text), ["A"], "{text}");
        }
        assert_eq!(above("Four."), ["A", "Wanted"]);
        assert_ne!(heading_words("~~Guarantees~~"), heading_words("Guarantees"));
    }

    #[test]
    fn wrapping_and_marks_are_no_text() {
        let one = "# A lock\nIt ends.\tNever\ntwice\n- Item one\n  goes on.\n\n> A quote\n> that goes on.\n\n```\nx = 1\ny = 2\n```\n|a|\n";
        assert_eq!(
            texts(one),
            [
                "1-1 A lock",
                "2-2 It ends.",
                "2-3 Never twice",
                "4-5 Item one goes on.",
                "7-8 A quote that goes on.",
                "11-11 x = 1",
                "12-12 y = 2",
                "14-14 | a |"
            ]
        );
        let other = "### A lock\n\nIt\nends.\nNever twice\n\n* Item one goes on.\n\n> A\n> quote that\n> goes on.\n\n~~~tla\n  x = 1\n\n  y =  2\n~~~\n";
        let words = |texts: Vec<String>| -> Vec<String> {
            texts.iter().map(|text| text.split_once(' ').unwrap().1.to_owned()).collect()
        };
        assert_eq!(words(texts(other)), words(texts(one))[..7]);
    }

    #[test]
    fn rows_of_marks_are_text_and_the_line_below_the_head_of_a_table_is_not() {
        assert_eq!(
            texts("| a | b |\n|---|:-:|\n| \u{2713} | |\n  | - | - |\n|   |   |\n\n|  x|\n"),
            ["1-1 | a | b |", "3-3 | \u{2713} |  |", "4-4 | - | - |", "7-7 | x |"]
        );
    }

    #[test]
    fn a_comment_is_a_passage_of_its_own_and_leaves_its_neighbours_as_they_are() {
        let plain = "# A\nIt ends here\nat last. It is\nnever above.\n- One\n  goes on.\n";
        let words = |text: &str| -> Vec<String> {
            let texts = texts(text).into_iter().filter(|text| !text.contains("<!--"));
            texts.map(|text| text.split_once(' ').unwrap().1.to_owned()).collect()
        };
        let commented = "# A <!-- toc -->\n<!--\nOwner: B.\n\n-->\nIt ends <!-- really? --> here\n<!-- now -->\nat last. \
                         <!-- C. --> It is\nnever above.<!-- D -->\n<!-- E. -->\n- One\n  <!-- F -->\n  goes on.\n<!-- G -->\n";
        assert_eq!(words(commented), words(plain));
        let comments: Vec<String> = texts(commented).into_iter().filter(|text| text.contains("<!--")).collect();
        assert_eq!(comments.len(), 9, "{comments:?}");
        assert!(comments.contains(&"2-5 <!-- Owner: B. -->".to_owned()), "{comments:?}");
        // A fence within a comment begins no code.
        let fenced =
            "<!-- off:\n```\n-->\n# A\nIt ends here\nat last. It <!-- b --> is\nnever above.\n- One\n  goes on.\n";
        assert_eq!(words(fenced), words(plain));
        // No comments: in code, and without an end.
        for text in ["```\n<!-- a -->\n```\nb\n", "A `<!--` mark. `-->`\n", "It <!-- goes on.\nTo the end.\n"] {
            let documents = [Document { path: "a.md".to_owned(), text: text.to_owned() }];
            assert!(passages(&documents).iter().all(|passage| !passage.is_comment), "{text}");
        }
    }

    #[test]
    fn a_block_of_code_is_one_paragraph() {
        let documents = [Document { path: "a.md".to_owned(), text: "```\na. B\n\nc\n```\n```\nd\n```\n".to_owned() }];
        let found = passages(&documents);
        let found: Vec<_> = found.iter().map(|p| (p.text.as_str(), p.paragraph.clone())).collect();
        assert_eq!(found, [("a. B", 0..2), ("c", 0..2), ("d", 2..3)]);
    }
}

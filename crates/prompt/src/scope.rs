//! The lists of an informal specification without numbers: other concerns, names, and what is out of scope.

use std::sync::LazyLock;

use regex::Regex;

use super::content_words::content_words;
use super::list_items::{CONTINUES_ERROR, error, has_place, is_none, is_rule, list_mark_end, strange_start};
use super::outline::{Kind, OutlineLine, Section, outline};

/// An item of a list, with the number of its first line.
#[derive(Debug)]
pub(super) struct ListItem {
    pub number: usize,
    /// Its lines joined, without its mark.
    pub text: String,
    /// Whether it begins with the mark of a list.
    pub is_marked: bool,
}

/// The items of all sections of a kind, and the errors. A line that begins with a mark or names a place begins an item, and
/// so does any line that does not continue one.
pub(super) fn list_items(text: &str, section: Section) -> (Vec<ListItem>, Vec<String>) {
    let (mut items, mut errors) = (Vec::<ListItem>::new(), Vec::new());
    let mut is_open = false;
    let mut is_after_error = false;
    for line in outline(text).iter().filter(|line| line.section == Some(section)) {
        let text = line.text.trim();
        let was_open = std::mem::take(&mut is_open);
        if let Some(why) = hidden_item(line) {
            errors.push(error(line.number, text, why));
            continue;
        }
        if line.kind == Kind::Heading || text.is_empty() || is_none(text) || is_rule(text) {
            continue;
        }
        let continues = list_mark_end(text) == 0 && line.text.starts_with([' ', '\t']);
        let lost = (is_after_error && continues).then(|| CONTINUES_ERROR.to_owned());
        is_after_error = true;
        let numbered =
            NUMBERED.is_match(text).then(|| "write it below the heading of the items with this letter".to_owned());
        // A line with a mark of its own is at least an item of this list.
        let of_kind = (KIND.is_match(text) && list_mark_end(text) == 0).then(|| {
            "it reads like a requirement, an assumption or an open point; write it, with a number, below the heading of its list"
                .to_owned()
        });
        if let Some(why) = strange_start(text).or(numbered).or(of_kind).or(lost) {
            errors.push(error(line.number, text, why));
            continue;
        }
        is_after_error = false;
        let marked = list_mark_end(text);
        let is_indented = line.text.starts_with([' ', '\t']);
        is_open = true;
        match items.last_mut() {
            Some(item) if marked == 0 && ((was_open && !has_place(text)) || is_indented) => {
                // The mark can be alone on its line.
                if !item.text.is_empty() {
                    item.text.push(' ');
                }
                item.text.push_str(text);
            }
            _ => {
                let text = text[marked..].trim().trim_end_matches('|').trim().to_owned();
                items.push(ListItem { number: line.number, text, is_marked: marked > 0 });
            }
        }
    }
    (items, errors)
}

/// The kind with which a requirement ends or an assumption begins, or the readings of an open point.
static KIND: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\((?:safety|liveness)\)[.*_`]*$|^[\s\-*+]*\((?:fairness|bound|narrowed|left out|interface)\)\s|\btaken:\s.*\botherwise:\s")
        .expect("a valid pattern")
});

/// The start of an item that belongs to another list. "beyond R2." can be wrapped before the number.
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\s\-*+|#>_`•]*(?:\d+[.)]\s*)?[*_`(\[]*[ROA]\d{1,4}(?:[*_`\])]*:?\s|[*_`\])]*:?$)")
        .expect("a valid pattern")
});

/// Why a line counts for nothing, although it may hold an item.
fn hidden_item(line: &OutlineLine<'_>) -> Option<&'static str> {
    match line.kind {
        Kind::Code => Some("it is in a code fence, where it counts for nothing; write it as a plain line"),
        Kind::Comment => Some("it is in an HTML comment, where it counts for nothing; write it as a plain line"),
        Kind::Heading if has_place(line.text) => Some("it is a heading; write what it says as a line of its own"),
        Kind::Text | Kind::Heading => None,
    }
}

static PLACES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\[[^\]]*\]|<[^>]*>|\(?`?(?:docs/\S+|[\w./-]+\.[A-Za-z]{1,5}:\S+)").expect("a valid pattern")
});

/// Words that give no reason.
const NO_REASON: [&str; 14] = [
    "scope",
    "none",
    "na",
    "tbd",
    "todo",
    "see",
    "line",
    "lines",
    "reason",
    "why",
    "irrelevant",
    "doc",
    "document",
    "etc",
];

/// Whether a line says why something is out of scope: it has a word besides the places.
pub(super) fn has_reason(item: &str) -> bool {
    let rest = PLACES.replace_all(item, " ");
    let no_reason: Vec<String> = NO_REASON.iter().flat_map(|word| content_words(word)).collect();
    let is_word = |word: &String| word.chars().any(char::is_alphabetic) && (word.len() > 1 || !word.is_ascii());
    content_words(&rest).iter().any(|word| is_word(word) && !no_reason.contains(word))
}

/// The errors below "Out of scope".
pub(super) fn out_of_scope_errors(text: &str) -> Vec<String> {
    let (items, mut errors) = list_items(text, Section::OutOfScope);
    for item in items.iter().filter(|item| !has_reason(&item.text)) {
        let why = "it gives no reason; write `- [docs/file.md:30-80] <why it does not matter for the concern>`";
        errors.push(error(item.number, &item.text, why));
    }
    errors
}

/// The lines that declare something out of scope, without their marks.
pub fn out_of_scope_lines(informal: &str) -> Vec<String> {
    list_items(informal, Section::OutOfScope).0.into_iter().map(|item| item.text).collect()
}

/// The list below the heading "Other concerns".
pub fn other_concerns(informal: &str) -> Vec<String> {
    list_items(informal, Section::OtherConcerns).0.into_iter().map(|item| item.text).collect()
}

/// The errors below "Other concerns".
pub(super) fn other_concern_errors(text: &str) -> Vec<String> {
    let (items, mut errors) = list_items(text, Section::OtherConcerns);
    for item in items.iter().filter(|item| !item.is_marked || item.text.starts_with('[')) {
        let why =
            "write it as `- <name>: <where in the documents>; <why it deserves its own specification>`, or `- none`";
        errors.push(error(item.number, &item.text, why));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_out_of_scope_needs_a_reason_that_a_reader_sees() {
        for line in [
            "- [docs/a.md:1-17]",
            "- [docs/a.md:1-17] -",
            "[docs/a.md:1-17].",
            "- [docs/a.md:1-17] out of scope",
            "- docs/a.md:1-17",
            "- [docs/a.md:1-17] n/a",
            "<!-- - [docs/a.md:1-17] fees -->",
            "<!--\n- [docs/a.md:1-17] fees\n-->",
            "```\n- [docs/a.md:1-17] fees\n```",
            "### [docs/a.md:1-17] fees",
            "- [docs/a.md:1] <why these sentences do not matter>",
        ] {
            assert!(!out_of_scope_errors(&format!("## Out of scope\n{line}\n")).is_empty(), "{line}");
        }
        for line in [
            "- [docs/a.md:1] fees",
            "- [docs/a.md:1-17]\n  another team",
            "* docs/a.md:3: a metric.",
            "- none",
            "[docs/a.md:1] 费用",
            "### Fees\n- [docs/a.md:1] tests.",
            "- Nothing about fees.",
        ] {
            assert_eq!(out_of_scope_errors(&format!("## Out of scope\n{line}\n")), [""; 0], "{line}");
        }
    }

    #[test]
    fn other_concerns_are_read_with_any_mark_and_nothing_else_is_dropped() {
        let text =
            "## Other concerns\n- Fees: docs/a.md:3;\n  fixed\n* Keys: docs/a.md:4\n1. Logs: docs/a.md:5\n- none\n";
        assert_eq!(other_concerns(text), ["Fees: docs/a.md:3; fixed", "Keys: docs/a.md:4", "Logs: docs/a.md:5"]);
        assert_eq!(other_concern_errors(text), [""; 0]);
        for line in ["Fees: docs/a.md:3", "- [docs/a.md:3] fees", "<!-- - Fees: docs/a.md:3 -->"] {
            assert_eq!(other_concern_errors(&format!("## Other concerns\n{line}\n")).len(), 1, "{line}");
        }
    }
}

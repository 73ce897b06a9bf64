//! Parses the numbered requirements of an informal specification, and the steps that it marks as changed.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_items::{Form, ReadItems, checked, distinct, has_place, read_items};
use super::numbered::{NumberedStart, begins_with_words};
use super::outline::Section;

/// A requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    /// `R1`, `R2`, …
    pub id: String,
    /// The cited place in the documents, as written: `docs/swap.md:12-14`.
    pub place: Option<String>,
    pub text: String,
    /// The error in the place, if it was looked up and is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misplaced: Option<String>,
}

impl Requirement {
    /// The place, with its error if it has one.
    pub fn place_words(&self) -> String {
        place_words(self.place.as_deref(), self.misplaced.as_deref())
    }
}

/// A cited place, with its error if it has one.
pub(super) fn place_words(place: Option<&str>, misplaced: Option<&str>) -> String {
    match (place, misplaced) {
        (None, _) => "no place given".to_owned(),
        (Some(place), None) => place.to_owned(),
        (Some(place), Some(what)) => format!("{place}: {what}"),
    }
}

static START: LazyLock<NumberedStart> = LazyLock::new(|| NumberedStart::new('R', r".#-"));

static KIND: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)[(\[][*_`]*(?:safety|liveness)[*_`]*[)\]]").expect("a valid pattern"));

const FORM: Form = Form {
    section: Section::Requirements,
    start: &START,
    mark: &KIND,
    part: None,
    example: "`R1 [docs/file.md:12-14] <the requirement>. (safety|liveness)`",
};

/// Parses items such as `R1 [docs/swap.md:12-14] The product never decreases.` below each heading "Requirements". Accepts a
/// bullet, bold marks, a table bar or a colon around the number, and further lines below it. If several items have the same
/// number, the first one counts.
pub fn parse_requirements(text: &str) -> Vec<Requirement> {
    // A text of an earlier version can lack the heading.
    distinct(&read_items(text, &FORM, true), parse_requirement, |requirement| &requirement.id)
}

/// Whether a line ends with the kind of a requirement.
pub(super) fn ends_with_kind(line: &str) -> bool {
    let line = line.trim_end_matches(|c: char| c.is_whitespace() || ".*_`|".contains(c));
    KIND.find_iter(line).last().is_some_and(|kind| kind.end() == line.len())
}

/// Whether a line outside of the section looks like a requirement, and not like a sentence about one.
pub(super) fn is_requirement(line: &str) -> bool {
    let has_kind = || KIND.is_match(line);
    match START.split(line) {
        Some((_, rest)) => (rest.starts_with(['[', '(']) && has_place(rest)) || has_kind(),
        None => has_kind() && LIST_PLACE.is_match(line),
    }
}

/// A place at the start of a line.
static LIST_PLACE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\s\-*+•|>_`]*[\[(][^\])]*:\d").expect("a valid pattern"));

/// What is below the headings "Requirements".
pub(super) fn read_requirements(text: &str) -> ReadItems {
    let read = read_items(text, &FORM, false);
    checked(read, parse_requirement, |requirement| &requirement.id)
}

/// The text without the sections whose headings, below the first level, begin with these words.
pub fn without_sections(text: &str, words: &[&str]) -> String {
    let level = |line: &str| line.chars().take_while(|c| *c == '#').count();
    let mut left_out = None;
    let mut kept = String::new();
    for line in text.lines() {
        let own = level(line);
        if own > 0 && left_out.is_none_or(|depth| own <= depth) {
            // The title of the whole text begins no section.
            let is_named = own > 1 && words.iter().any(|words| begins_with_words(line[own..].trim(), words));
            left_out = is_named.then_some(own);
        }
        if left_out.is_none() {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The text below the heading, of the second level or deeper, that begins with these words; `None` if there is none.
pub fn section_text(text: &str, words: &str) -> Option<String> {
    let level = |line: &str| line.chars().take_while(|c| *c == '#').count();
    let mut lines = text.lines();
    let heading = lines.find(|line| level(line) > 1 && begins_with_words(line[level(line)..].trim(), words))?;
    let is_below = |line: &&str| level(line) == 0 || level(line) > level(heading);
    Some(lines.take_while(is_below).collect::<Vec<_>>().join("\n"))
}

/// The passages with the mark `CHANGED:`: whole list items or paragraphs, with their continuation lines.
pub fn marked_changes(text: &str) -> Vec<String> {
    let mut passages: Vec<String> = Vec::new();
    let mut continues = false;
    for line in text.lines() {
        let line = line.trim_end();
        match passages.last_mut() {
            _ if line.is_empty() => {}
            Some(passage) if continues && !starts_item(line) => {
                passage.push('\n');
                passage.push_str(line);
            }
            _ => passages.push(line.to_owned()),
        }
        continues = !line.is_empty();
    }
    passages.retain(|passage| passage.contains("CHANGED:"));
    passages
}

/// Whether a line starts a list item, a table row or a heading.
fn starts_item(line: &str) -> bool {
    let line = line.trim_start();
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(['-', '*', '+', '#', '|'])
        || (after_number.len() < line.len() && after_number.starts_with(['.', ')']))
}

fn parse_requirement(passage: &str) -> Option<Requirement> {
    let (number, rest) = START.split(passage)?;
    let (number, place, text) = parse_numbered_line(&format!("R{number} {rest}"), 'R')?;
    Some(Requirement { id: format!("R{number}"), place, text, misplaced: None })
}

/// Number, place and text of a line such as `R1 [docs/swap.md:12-14] The product never decreases.`, for the letter `R`.
pub(super) fn parse_numbered_line(line: &str, letter: char) -> Option<(u32, Option<String>, String)> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "-*+|#>_`".contains(c));
    let digits = line.strip_prefix(letter)?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 || end > 4 {
        return None;
    }
    let number = digits[..end].parse::<u32>().ok()?;
    let marks = |c: char| c.is_whitespace() || "*_|:.)-–—".contains(c);
    let rest = digits[end..].trim_start_matches(marks);
    if digits[end..].len() == rest.len() && !rest.starts_with(['[', '(']) {
        return None; // `R1b`, `R1,` and the like refer to a requirement, they do not define one
    }
    let (place, text) = match rest.strip_prefix('[').map(|r| (r, ']')).or(rest.strip_prefix('(').map(|r| (r, ')'))) {
        Some((inner, close)) => match inner.split_once(close) {
            Some((place, text)) => (Some(place.trim().trim_matches('`').to_owned()), text),
            None => (None, rest),
        },
        None => (None, rest),
    };
    let text = text
        .trim_start_matches(|c: char| c.is_whitespace() || "*|:.)-–—".contains(c))
        .trim()
        .trim_end_matches('|')
        .trim()
        .to_owned();
    (!text.is_empty()).then_some((number, place, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        read_requirements(text).errors
    }

    #[test]
    fn requirements_are_parsed_in_all_notations_of_models() {
        let text = "# Requirements\n\
            R1 [docs/swap.md:12-14] The product never decreases.\n\
            - **R2** (`docs/swap.md:20`): No balance is negative.\n\
            | R3 | [docs/a.md:3] | Tokens are conserved. |\n\
            * R04: Eventually done.\n\
            1. R5: `x` is small\n  for ever, as [docs/a.md:4] says. (safety)\n\
            ### R6 [docs/a.md:5]\nGoes on below.\n\
            R1, R2 and R3 together are safety.\n";
        let found = parse_requirements(text);
        let ids: Vec<&str> = found.iter().map(|r| r.id.as_str()).collect();
        assert_eq!(ids, ["R1", "R2", "R3", "R4", "R5", "R6"]);
        assert_eq!(found[0].place.as_deref(), Some("docs/swap.md:12-14"));
        assert_eq!(found[0].text, "The product never decreases.");
        assert_eq!(found[1].place.as_deref(), Some("docs/swap.md:20"));
        assert_eq!(found[1].text, "No balance is negative.");
        assert_eq!(found[2].text, "Tokens are conserved.");
        assert_eq!(found[3].place, None);
        assert_eq!(found[4].text, "`x` is small for ever, as [docs/a.md:4] says. (safety)");
        assert_eq!(found[5].text, "Goes on below.");
        assert_eq!(errors(text), [""; 0]);
        assert_eq!(read_requirements(text).prose, ["R1, R2 and R3 together are safety."]);
        assert_eq!(parse_requirement("R1 [a.md:1] `holders` is small.").unwrap().text, "`holders` is small.");
        let text = "## Requirements\nR1 and R5 to R7 are conditions on every state.\n\nR1 [docs/a.md:1] It holds.\n";
        assert_eq!(parse_requirements(text)[0].text, "It holds.");
        assert_eq!(errors(text), [""; 0]);
        for first in ["R1: It never falls.", "R1 It never falls."] {
            let text = format!("## Requirements\n{first}\nR1 (safety) is a condition.\nR1 [docs/a.md:1] It grows.\n");
            assert_eq!(parse_requirements(&text)[0].text, "It never falls.");
            assert_eq!(errors(&text).len(), 2);
        }
    }

    #[test]
    fn a_line_that_is_no_requirement_is_an_error() {
        let good = "R1 [docs/a.md:1] One. (safety)\nR2 [docs/a.md:2] Two. (safety)\n";
        for (line, word) in [
            ("L1 [docs/a.md:5] Every client is served. (liveness)", "another number"),
            ("- [docs/a.md:5] Every client is served. (liveness)", "without its number"),
            ("R3a [docs/a.md:5] Every client is served. (liveness)", "another number"),
            ("(3) [docs/a.md:5] Every client is served. (liveness)", "without its number"),
            ("R2 [docs/a.md:5] Every client is served. (liveness)", "taken"),
            ("R 3 [docs/a.md:5] Every client is served.", "another number"),
            ("Req4: Every client is served.", "another number"),
            ("Requirement 4: every client is served.", "another number"),
            ("R_3 every client is served.", "another number"),
            ("R3, every client is served. (liveness)", "another number"),
            ("R3 is that every client is served.", "no item has this number"),
            ("R12345 [docs/a.md:5] Every client is served.", "another number"),
            ("R3", "no text"),
            ("\u{420}3 [docs/a.md:5] Every client is served.", "the Cyrillic letter \u{420} (U+0420)"),
            ("\u{ff32}3 [docs/a.md:5] Every client is served.", "fullwidth letter"),
            ("R\u{ff13} [docs/a.md:5] Every client is served.", "fullwidth digit"),
            ("R\u{b3} every client is served.", "raised or lowered digit"),
            ("\u{24c7}3 every client is served.", "enclosed"),
            ("\u{1d411}3 every client is served.", "mathematical"),
            ("R\u{200b}3 [docs/a.md:5] Every client is served.", "U+200B"),
            ("\u{200b}R3 [docs/a.md:5] Every client is served.", "U+200B"),
            ("[docs/a.md:5] Every client is served. (liveness)", "begins with a place"),
            ("(docs/a.md:5) Every client is served. (liveness)", "begins with a place"),
            ("Every client is served. (liveness)", "looks like an item"),
            ("Every client is served.", "it is no item in the required form"),
            ("None of the clients waits.", "it is no item in the required form"),
            ("It is never above the limit, and these are served.", "it is no item in the required form"),
            ("A further requirement is that every client is served.", "it is no item in the required form"),
            ("Furthermore: R3 holds and every client is served. (liveness)", "looks like an item"),
            ("Every client is served [docs/a.md:5].", "without its number"),
            ("(liveness) Every client is served.", "kind"),
            ("• Every client is served.", "without its number"),
            ("a) Every client is served.", "without its number"),
            ("<li>R3 [docs/a.md:5] Every client is served.</li>", "markup"),
            ("\\- Every client is served.", "markup"),
            ("<!-- R3 [docs/a.md:5] Every client is served. -->", "comment"),
            ("```\nR3 [docs/a.md:5] Every client is served.\n```", "fence"),
            ("### Every client is served [docs/a.md:5]", "heading"),
            ("R3 [docs/a.md:5] Three. R4 [docs/a.md:6] Four.", "another item in it"),
            ("| [docs/a.md:5] | Every client is served. |", "without its number"),
            ("  - Every client is served.", "without its number"),
            ("O1 [docs/a.md:5] Is every client served?", "another number"),
        ] {
            for text in
                [format!("# T\n## Requirements\n{good}{line}\n"), format!("# T\n## Requirements\n{line}\n\n{good}")]
            {
                assert!(!errors(&text).is_empty(), "{line}");
                if text.ends_with(good) && word == "taken" {
                    continue;
                }
                assert!(errors(&text)[0].contains(word), "{line}: {:?}", errors(&text));
            }
        }
        // Prose names no item, and the reviewer sees it.
        let prose = "All of them hold in every state.";
        let read = read_requirements(&format!("## Requirements\n{prose}\n\n{good}"));
        assert_eq!((read.prose, read.errors.len()), (vec![prose.to_owned()], 0));
        let elsewhere = format!("## Requirements\n{good}\n## Guarantees\n- Every client is served. (liveness)\n");
        assert!(
            super::super::unread_lines::unread_lines(&elsewhere)[0].contains("below the heading `## Requirements`")
        );
        for table in [
            "**Liveness**\n",
            "**Bounds**\n",
            "There are none.\n",
            "None; see below.\n",
            "N/A\n",
            "- None identified.\n",
            "| No | Place | What |\n|---|---|---|\n",
            "---\n",
            "### Safety\n",
        ] {
            assert_eq!(errors(&format!("## Requirements\n{table}{good}")), [""; 0], "{table}");
        }
    }

    #[test]
    fn sections_are_left_out_with_their_subsections() {
        let text = "# T\n## State\nx\n## Out of scope\n- a\n### More\nb\n## Steps\ny\n## 9. Other concerns\nz\n";
        assert_eq!(without_sections(text, &["out of scope", "other concerns"]), "# T\n## State\nx\n## Steps\ny\n");
        assert_eq!(without_sections(text, &[]), text);
    }

    #[test]
    fn marked_changes_are_whole_passages() {
        let text = "## Steps\n- Add: CHANGED: by two;\n  it replaces\n\n- Stop: as it was\n1. Go: CHANGED: new.\n2. Stay.\n\n\
            Some words\nCHANGED: here.\n\nMore.\n";
        assert_eq!(
            marked_changes(text),
            ["- Add: CHANGED: by two;\n  it replaces", "1. Go: CHANGED: new.", "Some words\nCHANGED: here."]
        );
        assert!(marked_changes("What was changed? Nothing.").is_empty());
    }

    #[test]
    fn a_reference_elsewhere_is_not_a_requirement() {
        let text = "# T\n## Steps\nR9: not here\n## Requirements\nR1 [a.md:1] One.\n### More\nR2 [a.md:2] Two.\n\
            ## Open points\n- R3 was dropped: the documents do not demand it.\n";
        let ids: Vec<String> = parse_requirements(text).into_iter().map(|r| r.id).collect();
        assert_eq!(ids, ["R1", "R2"]);
    }
}

//! Parses the numbered requirements of an informal specification, and the steps that it marks as changed.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::numbered::begins_with_words;

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

/// Parses lines such as `R1 [docs/swap.md:12-14] The product never decreases.`. Accepts a bullet, bold marks, a table bar or
/// a colon around the number. If several lines define the same number, the first one counts, unless it only refers to
/// requirements, as in "R1 and R2 are conditions on every state".
pub fn parse_requirements(text: &str) -> Vec<Requirement> {
    let mut found: Vec<Requirement> = Vec::new();
    for requirement in requirement_lines(text).into_iter().filter_map(parse_requirement) {
        match found.iter_mut().find(|r| r.id == requirement.id) {
            Some(first) if refers_only(first) && requirement.place.is_some() => *first = requirement,
            Some(_) => {}
            None => found.push(requirement),
        }
    }
    found
}

/// Whether the line is the beginning of a sentence about requirements.
fn refers_only(line: &Requirement) -> bool {
    let first_word = line.text.split(|c: char| !c.is_alphanumeric()).next();
    line.place.is_none() && first_word.is_some_and(|word| ["and", "or", "to", "is", "are"].contains(&word))
}

/// Lines that look like a requirement but are not read by [`parse_requirements`], each with the reason: the number is taken
/// by another text, or it is not in the required form.
pub fn malformed_requirements(text: &str) -> Vec<String> {
    let found = parse_requirements(text);
    let mut lost = Vec::new();
    for line in requirement_lines(text) {
        let written = REQUIREMENT_LIKE.captures(line).and_then(|number| number[1].parse::<u32>().ok());
        let Some(id) = written.map(|number| format!("R{number}")) else { continue };
        let reason = match (found.iter().find(|r| r.id == id), parse_requirement(line)) {
            (None, _) => "write the number as `R1 [docs/file.md:12-14] text`",
            // A line with the same place or text refers to the same requirement again.
            (Some(first), Some(again))
                if again.place.is_some() && again.place != first.place && again.text != first.text =>
            {
                "its number is taken by another requirement"
            }
            _ => continue,
        };
        lost.push(format!("`{}`: {reason}", line.trim()));
    }
    lost
}

/// The start of a line that looks like a requirement: `R 3`, `Req4`, `1. R5`, `R2,`.
static REQUIREMENT_LIKE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\s\-*+|#>_`]*(?:\d+[.)]\s*)?[\s*_`]*R(?:eq(?:uirement)?)?[.\s#-]*(\d{1,4})\b")
        .expect("a valid pattern")
});

/// The lines below each heading "Requirements", or all lines if there is no such heading. Elsewhere `R3` only refers to a
/// requirement.
fn requirement_lines(text: &str) -> Vec<&str> {
    let is_requirements = |title: &str| title.eq_ignore_ascii_case("requirements");
    section_lines(text, is_requirements).unwrap_or_else(|| text.lines().collect())
}

/// The lines below each heading of such a title; `None` if there is no such heading.
pub(super) fn section_lines(text: &str, is_title: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
    let level = |line: &str| line.chars().take_while(|c| *c == '#').count();
    let is_heading = |line: &str| level(line) > 0 && is_title(line.trim_start_matches('#').trim());
    if !text.lines().any(is_heading) {
        return None;
    }
    let mut lines = Vec::new();
    // The level of the open heading.
    let mut depth = None;
    for line in text.lines() {
        if is_heading(line) {
            depth = Some(level(line));
        } else if depth.is_some_and(|depth| level(line) > 0 && level(line) <= depth) {
            depth = None;
        } else if depth.is_some() {
            lines.push(line);
        }
    }
    Some(lines)
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

fn parse_requirement(line: &str) -> Option<Requirement> {
    let (number, place, text) = parse_numbered_line(line, 'R')?;
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

    #[test]
    fn requirements_are_parsed_in_all_notations_of_models() {
        let text = "# Requirements\n\
            R1 [docs/swap.md:12-14] The product never decreases.\n\
            - **R2** (`docs/swap.md:20`): No balance is negative.\n\
            | R3 | [docs/a.md:3] | Tokens are conserved. |\n\
            * R04: Eventually done.\n\
            R1, R2 and R3 together are safety.\n\
            R2 again [docs/x.md:1] is not a second one.\n\
            Rx is none, R12b is none, Router is none.\n";
        let found = parse_requirements(text);
        let ids: Vec<&str> = found.iter().map(|r| r.id.as_str()).collect();
        assert_eq!(ids, ["R1", "R2", "R3", "R4"]);
        assert_eq!(found[0].place.as_deref(), Some("docs/swap.md:12-14"));
        assert_eq!(found[0].text, "The product never decreases.");
        assert_eq!(found[1].place.as_deref(), Some("docs/swap.md:20"));
        assert_eq!(found[1].text, "No balance is negative.");
        assert_eq!(found[2].text, "Tokens are conserved.");
        assert_eq!(found[3].place, None);
        assert_eq!(parse_requirement("R1 [a.md:1] `holders` is small.").unwrap().text, "`holders` is small.");
        let text = "## Requirements\nR1 and R5 to R7 are conditions on every state.\n\nR1 [docs/a.md:1] It holds.\n";
        assert_eq!(parse_requirements(text)[0].text, "It holds.");
        assert_eq!(malformed_requirements(text), [""; 0]);
        for first in ["R1: It never falls.", "R1 It never falls."] {
            let text = format!("## Requirements\n{first}\nR1 (safety) is a condition.\nR1 [docs/a.md:1] It grows.\n");
            assert_eq!(parse_requirements(&text)[0].text, "It never falls.");
            assert!(!malformed_requirements(&text).is_empty());
        }
        assert_eq!(parse_requirement("R5: `x` is small.").unwrap().text, "`x` is small.");
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
    fn lines_that_only_look_like_requirements_are_reported() {
        let text = "# T\n## Requirements\nR1 [a.md:1] One.\nR1 [a.md:2] Another.\nR2, [a.md:3] two.\nR 3 [a.md:4] Three.\n\
            Req4: Four.\n1. R5 [a.md:6] Five.\nR1, R6 and more.\nR1 again.\nRouter 7 is none.\n## Other\nR9, no.\n\
            ## Requirements\nR6 [a.md:7] Six.\n";
        let ids: Vec<String> = parse_requirements(text).into_iter().map(|r| r.id).collect();
        assert_eq!(ids, ["R1", "R6"]);
        let lost = malformed_requirements(text);
        assert_eq!(lost.len(), 5, "{lost:#?}");
        assert!(lost[0].contains("R1 [a.md:2] Another.") && lost[0].contains("taken"), "{lost:#?}");
        for (line, start) in lost[1..].iter().zip(["`R2,", "`R 3", "`Req4", "`1. R5"]) {
            assert!(line.starts_with(start), "{line}");
        }
    }

    #[test]
    fn a_reference_elsewhere_is_not_a_requirement() {
        let text = "# T\n## Steps\nR9: not here\n## Requirements\nR1 [a.md:1] One.\n### More\nR2 [a.md:2] Two.\n\
            ## Open points\n- R3 was dropped: the documents do not demand it.\n";
        let ids: Vec<String> = parse_requirements(text).into_iter().map(|r| r.id).collect();
        assert_eq!(ids, ["R1", "R2"]);
    }
}

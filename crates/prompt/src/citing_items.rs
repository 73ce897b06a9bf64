//! What an informal specification cites the documents for: requirements, assumptions, open points, steps and other parts of
//! the model, and what it leaves out of scope.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cited_places::{LineRange, cited_ranges, places_in};
use super::documents::Document;
use super::numbered::begins_with_words;
use super::{parse_assumptions, parse_open_points, parse_requirements};

/// A part of an informal specification that cites lines of the documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CitingItem<'a> {
    pub kind: CitingKind,
    /// `R1`, `A2`, the name of a step, the title of another section, or the line that says why something is out of scope.
    pub id: String,
    /// What it says; empty for steps and other parts.
    pub text: String,
    /// The place as written, if it is an item with a number.
    pub place: Option<String>,
    /// Empty if the place is wrong.
    pub ranges: Vec<LineRange<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CitingKind {
    Requirement,
    Assumption,
    OpenPoint,
    /// A step below a heading such as "Steps".
    Step,
    /// Another description of the model: its state, its processes, its fairness.
    Description,
    OutOfScope,
}

/// Every part that cites lines. Several lines about one step are several items.
pub(super) fn citing_items<'a>(informal: &str, documents: &'a [Document]) -> Vec<CitingItem<'a>> {
    // A wrong place cites nothing.
    let cited = |place: Option<&str>| cited_ranges(place.unwrap_or_default(), documents).unwrap_or_default();
    let numbered = |kind, id, text, place: Option<String>| {
        let ranges = cited(place.as_deref());
        CitingItem { kind, id, text, place, ranges }
    };
    let mut items: Vec<CitingItem<'a>> = Vec::new();
    let requirements = parse_requirements(informal).into_iter();
    items.extend(requirements.map(|r| numbered(CitingKind::Requirement, r.id, r.text, r.place)));
    let assumptions = parse_assumptions(informal).into_iter();
    items.extend(assumptions.map(|a| numbered(CitingKind::Assumption, a.id, a.text, a.place)));
    let open_points = parse_open_points(informal).into_iter();
    items.extend(open_points.map(|p| numbered(CitingKind::OpenPoint, p.id, p.question, p.place)));
    let mut step: Option<String> = None;
    let mut title = "";
    for SectionLine { section, heading, line } in lines_by_section(informal) {
        if heading != title {
            (title, step) = (heading, None);
        }
        let unnumbered = |kind, id, ranges| CitingItem { kind, id, text: String::new(), place: None, ranges };
        match section {
            Some("other concerns") => {
                let ranges = places_in(line, documents, false);
                items.push(unnumbered(CitingKind::OutOfScope, scope_words(line), ranges));
            }
            // A whole document only as a place in brackets.
            Some("out of scope") => {
                let whole = BRACKETS
                    .captures_iter(line)
                    .flat_map(|inside| places_in(inside.get(1).map_or("", |inside| inside.as_str()), documents, true));
                let ranges = whole.chain(places_in(line, documents, false)).collect();
                items.push(unnumbered(CitingKind::OutOfScope, scope_words(line), ranges));
            }
            Some(_) => {}
            None => {
                // Deeper items and further lines belong to the step above.
                if let Some(item) = OUTER_ITEM.captures(line) {
                    step = item.get(1).map(|name| name.as_str().to_owned());
                }
                let is_steps = begins_with_words(title, "steps") || begins_with_words(title, "actions");
                let (kind, id) = match &step {
                    Some(step) if is_steps => (CitingKind::Step, step.clone()),
                    _ => (CitingKind::Description, title.trim().to_owned()),
                };
                items.push(unnumbered(kind, id, places_in(line, documents, false)));
            }
        }
    }
    items
}

/// Words of a heading below which no behaviour of the model is described.
const NO_BEHAVIOUR: [&str; 5] = ["requirements", "assumptions", "open points", "other concerns", "out of scope"];

static BRACKETS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([^\]]*)\]").expect("a valid pattern"));
/// A list item that is in no other one, and the name that it begins with, if it has one.
static OUTER_ITEM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:[-*+]|\d+[.)])\s+(?:[*_`]*([A-Za-z]\w*))?").expect("a valid pattern"));

/// A line of a text, with its section and the heading above it.
pub(super) struct SectionLine<'a> {
    /// The section of [`NO_BEHAVIOUR`].
    pub section: Option<&'static str>,
    /// The title of the last heading below the first level.
    pub heading: &'a str,
    pub line: &'a str,
}

/// Each line with the section that it is in. The title of the whole text, at the first level, begins none.
pub(super) fn lines_by_section(informal: &str) -> Vec<SectionLine<'_>> {
    let mut section = None;
    let mut heading = "";
    let mut lines = Vec::new();
    for line in informal.lines() {
        let level = line.chars().take_while(|c| *c == '#').count();
        if level > 1 {
            let title = line[level..].trim();
            let begun = NO_BEHAVIOUR.into_iter().find(|words| begins_with_words(title, words));
            heading = title;
            // A deeper heading stays in its section.
            section = match section {
                Some((open, words)) if level > open => Some((open, words)),
                _ => begun.map(|words| (level, words)),
            };
        }
        lines.push(SectionLine { section: section.map(|(_, words)| words), heading, line });
    }
    lines
}

/// A line of a list without its mark.
pub(super) fn scope_words(line: &str) -> String {
    line.trim().trim_start_matches(['-', '*', '+', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_named_by_what_a_reader_would_call_it() {
        use CitingKind::{Assumption, Description, OutOfScope, Requirement, Step};
        let informal = "# T\n## Concern\nx [docs/a.md:1]\n## State\n- `lock`: free [docs/a.md:2]\n\
            ## Steps\nThe client [docs/a.md:9]:\n- `Acquire(c)`: enabled [docs/a.md:3]\n  - refused: no [docs/a.md:4]\n\
            - **Release**: [docs/a.md:5]\nSteps of time:\n1. Tick: [docs/a.md:6]\n\
            ## Requirements\nR1 [docs/a.md:7] One.\n## Assumptions\nA1 [docs/a.md:8] (bound) Few.\n\
            ## Out of scope\n- [docs/a.md:10] Fees.\n";
        let documents = [Document { path: "a.md".to_owned(), text: "x\n".repeat(10) }];
        let items = citing_items(informal, &documents);
        let found = |line: usize| {
            let items = items.iter().filter(|item| item.ranges.iter().any(|range| range.from == line));
            items.map(|item| (item.kind, item.id.as_str())).collect::<Vec<_>>()
        };
        for (line, kind, id) in [
            (1, Description, "Concern"),
            (2, Description, "State"),
            (3, Step, "Acquire"),
            (4, Step, "Acquire"),
            (5, Step, "Release"),
            (6, Step, "Tick"),
            (7, Requirement, "R1"),
            (8, Assumption, "A1"),
            (9, Description, "Steps"),
            (10, OutOfScope, "[docs/a.md:10] Fees."),
        ] {
            assert_eq!(found(line).first(), Some(&(kind, id)), "{line}");
        }
    }
}

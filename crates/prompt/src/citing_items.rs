//! What an informal specification cites the documents for: requirements, assumptions, open points, steps and other parts of
//! the model, and what it leaves out of scope.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cited_places::{LineRange, cited_ranges, places_in, quoted_words};
use super::documents::Document;
use super::list_items::has_place;
use super::numbered::begins_with_words;
use super::outline::{Kind, Section, outline};
use super::scope::{has_reason, list_items};
use super::{parse_assumptions, parse_open_points, parse_requirements};

/// A part of an informal specification that cites lines of the documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CitingItem<'a> {
    pub kind: CitingKind,
    /// `R1`, `A2`, the name of a step, the title of another section, or the line that says why something is out of scope.
    pub id: String,
    /// What it says; of a step, all of its lines.
    pub text: String,
    /// The place as written, if it is an item with a number.
    pub place: Option<String>,
    /// Empty if the place is wrong.
    pub ranges: Vec<LineRange<'a>>,
    /// The words that it quotes with its places.
    pub quotes: Vec<String>,
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
        let quotes = place.as_deref().map(quoted_words).unwrap_or_default();
        CitingItem { kind, id, text, place, ranges, quotes }
    };
    let mut items: Vec<CitingItem<'a>> = Vec::new();
    let requirements = parse_requirements(informal).into_iter();
    items.extend(requirements.map(|r| numbered(CitingKind::Requirement, r.id, r.text, r.place)));
    let assumptions = parse_assumptions(informal).into_iter();
    items.extend(assumptions.map(|a| numbered(CitingKind::Assumption, a.id, a.text, a.place)));
    for point in parse_open_points(informal) {
        let text = format!("{} {} {}", point.question, point.taken, point.otherwise);
        items.push(numbered(CitingKind::OpenPoint, point.id, text, point.place));
    }
    let unnumbered = |kind, id, text: String, ranges| {
        let quotes = quoted_places(&text);
        CitingItem { kind, id, text, place: None, ranges, quotes }
    };
    for item in list_items(informal, Section::OtherConcerns).0 {
        let ranges = places_in(&item.text, documents, false);
        items.push(unnumbered(CitingKind::OutOfScope, item.text.clone(), item.text, ranges));
    }
    for item in list_items(informal, Section::OutOfScope).0.into_iter().filter(|item| has_reason(&item.text)) {
        // A whole document only as a place in brackets.
        let whole = BRACKETS
            .captures_iter(&item.text)
            .flat_map(|inside| places_in(inside.get(1).map_or("", |inside| inside.as_str()), documents, true));
        let ranges = whole.chain(places_in(&item.text, documents, false)).collect();
        items.push(unnumbered(CitingKind::OutOfScope, item.text.clone(), item.text, ranges));
    }
    for part in described_parts(informal) {
        for line in part.lines {
            items.push(unnumbered(part.kind, part.id.clone(), part.text.clone(), places_in(line, documents, false)));
        }
    }
    items
}

/// A step with its lines, or a line of another description.
struct DescribedPart<'a> {
    kind: CitingKind,
    id: String,
    text: String,
    lines: Vec<&'a str>,
}

/// The parts of the sections that describe the model. What a reader of the page does not see as text describes nothing.
fn described_parts(informal: &str) -> Vec<DescribedPart<'_>> {
    let mut parts: Vec<DescribedPart<'_>> = Vec::new();
    let mut step: Option<String> = None;
    let mut title = "";
    for line in outline(informal) {
        if line.heading != title {
            (title, step) = (line.heading, None);
        }
        let describes = line.section.is_none_or(|section| section == Section::Names);
        if !describes || line.kind != Kind::Text {
            continue;
        }
        // Deeper items and further lines belong to the step above.
        let begun = OUTER_ITEM.captures(line.text);
        if let Some(item) = &begun {
            step = item.get(1).map(|name| name.as_str().to_owned());
        }
        let is_steps = begins_with_words(title, "steps") || begins_with_words(title, "actions");
        let (kind, id) = match &step {
            Some(step) if is_steps => (CitingKind::Step, step.clone()),
            _ => (CitingKind::Description, title.to_owned()),
        };
        match parts.last_mut() {
            Some(last) if kind == CitingKind::Step && begun.is_none() && last.id == id && last.kind == kind => {
                last.text.push(' ');
                last.text.push_str(line.text.trim());
                last.lines.push(line.text);
            }
            _ => parts.push(DescribedPart { kind, id, text: line.text.trim().to_owned(), lines: vec![line.text] }),
        }
    }
    parts
}

/// The documented steps by name, each with the places that the informal specification cites for it, as written. The words
/// about what a step does are left out.
pub fn documented_steps(informal: &str) -> Vec<(String, Vec<String>)> {
    let mut steps: Vec<(String, Vec<String>)> = Vec::new();
    for part in described_parts(informal).into_iter().filter(|part| part.kind == CitingKind::Step) {
        let inside =
            BRACKETS.captures_iter(&part.text).filter_map(|inside| inside.get(1).map(|inside| inside.as_str()));
        let places = inside.filter(|place| has_place(place)).map(str::to_owned);
        match steps.iter_mut().find(|(name, _)| *name == part.id) {
            Some((_, known)) => known.extend(places),
            None => steps.push((part.id, places.collect())),
        }
    }
    steps
}

static BRACKETS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([^\]]*)\]").expect("a valid pattern"));
/// A list item that is in no other one, and the name that it begins with, if it has one.
static OUTER_ITEM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:[-*+]|\d+[.)])\s+(?:[*_`]*([A-Za-z]\w*))?").expect("a valid pattern"));

/// The words that places in brackets quote, such as `[docs/a.md:3 "at most once"]`.
fn quoted_places(text: &str) -> Vec<String> {
    let places = BRACKETS.captures_iter(text).filter_map(|inside| inside.get(1).map(|inside| inside.as_str()));
    places.filter(|place| has_place(place)).flat_map(quoted_words).collect()
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

//! Parses the open points of an informal specification: questions that the documents leave open, each with the reading that
//! the model takes.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_items::{Form, ReadItems, checked, distinct, has_place, read_items};
use super::numbered::NumberedStart;
use super::outline::Section;
use super::requirements::{parse_numbered_line, place_words};

/// A question that the documents leave open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenPoint {
    /// `O1`, `O2`, …
    pub id: String,
    /// The cited place in the documents, as written: `docs/swap.md:12-14`.
    pub place: Option<String>,
    pub question: String,
    /// The reading that the model takes; empty if none is given.
    pub taken: String,
    /// The other readings; empty if none is given.
    pub otherwise: String,
    /// Requirements and steps that depend on the reading.
    pub affects: Vec<String>,
    /// The error in the place, if it was looked up and is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misplaced: Option<String>,
    /// What raised it; `None` if the documents are silent or ambiguous, as one author says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// The mark of an open point on which two authors disagreed.
pub const DISAGREEMENT: &str = "(disagreement)";

/// What raised an open point, beyond one author's doubt, from the strongest to the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Two authors read the documents differently, and the review and a second reader found both readings allowed.
    Disagreement,
    /// Two sentences of the documents contradict each other, as the author of the informal specification says.
    Contradiction,
}

impl Origin {
    /// The origin as a part of a sentence about the documents.
    pub fn words(self) -> &'static str {
        match self {
            Self::Disagreement => {
                "two authors read the documents differently, and a second reader confirms that both readings are allowed"
            }
            Self::Contradiction => "the cited lines contradict each other, as its author says",
        }
    }
}

impl OpenPoint {
    /// The place, with its error if it has one.
    pub fn place_words(&self) -> String {
        place_words(self.place.as_deref(), self.misplaced.as_deref())
    }

    /// Drops the claim that two authors disagreed, which only a review can make.
    pub fn without_disagreement(&mut self) {
        self.origin = self.origin.filter(|origin| *origin != Origin::Disagreement);
    }

    /// What raised it, in the form that a model writes and reads: `(contradiction) `; empty if nothing special did.
    pub fn mark(&self) -> &'static str {
        match self.origin {
            Some(Origin::Disagreement) => "(disagreement) ",
            Some(Origin::Contradiction) => "(contradiction) ",
            None => "",
        }
    }

    /// The parts that are missing, by their labels.
    pub fn missing_parts(&self) -> Vec<&'static str> {
        let parts = [("Taken:", self.taken.is_empty()), ("Otherwise:", self.otherwise.is_empty())];
        parts.into_iter().filter(|(_, is_missing)| *is_missing).map(|(label, _)| label).collect()
    }
}

static LABEL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)[*_]*\b(taken|otherwise|affects)[*_]*\s*:[*_]*").expect("a valid pattern"));

static ORIGIN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)^[\s*_:]*\((disagreement|contradiction)\)[\s*_:]*").expect("a valid pattern"));

static START: LazyLock<NumberedStart> = LazyLock::new(|| NumberedStart::new('O', r".\s#-"));

static TAKEN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?i)\btaken[*_]*\s*:").expect("a valid pattern"));

const FORM: Form = Form {
    section: Section::OpenPoints,
    start: &START,
    mark: &TAKEN,
    part: Some(&NESTED),
    example: "`O1 [docs/file.md:12-14] <the question>? Taken: …. Otherwise: …. Affects: …`",
};

/// The start of a nested line of an open point.
static NESTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^[*_]*\b(?:question|taken|otherwise|affects)[*_]*\s*:").expect("a valid pattern")
});

/// Parses items such as `O1 [docs/swap.md:12] May a swap be zero? Taken: yes. Otherwise: no. Affects: R2, Swap.` below each
/// heading that begins with "Open points". An open point may continue on the lines below it. If several have the same
/// number, the first one counts.
pub fn parse_open_points(text: &str) -> Vec<OpenPoint> {
    distinct(&read_items(text, &FORM, false), parse_open_point, |point| &point.id)
}

/// Whether a line outside of the section looks like an open point, and not like a sentence about one.
pub(super) fn is_open_point(line: &str) -> bool {
    let has_number = || START.split(line).is_some_and(|(_, rest)| rest.starts_with(['[', '(']) && has_place(rest));
    (TAKEN.is_match(line) && line.to_lowercase().contains("otherwise")) || has_number()
}

/// What is below the headings "Open points".
pub(super) fn read_open_points(text: &str) -> ReadItems {
    checked(read_items(text, &FORM, false), parse_open_point, |point| &point.id)
}

fn parse_open_point(line: &str) -> Option<OpenPoint> {
    let (number, rest) = START.split(line)?;
    // Read like a requirement. A point without text is kept, so that its missing parts can be asked for.
    let (_, place, text) =
        parse_numbered_line(&format!("O{number} {rest}"), 'O').unwrap_or((number, None, String::new()));
    let labels: Vec<_> = LABEL.captures_iter(&text).collect();
    let part = |label: &str| {
        let at = labels.iter().position(|found| found[1].eq_ignore_ascii_case(label))?;
        let end = labels.get(at + 1).map_or(text.len(), |next| next.get(0).map_or(text.len(), |m| m.start()));
        let start = labels[at].get(0)?.end();
        Some(text[start..end].trim().to_owned())
    };
    let question = labels.first().and_then(|first| first.get(0)).map_or(text.as_str(), |m| &text[..m.start()]);
    let affects = part("affects").unwrap_or_default();
    let mark = ORIGIN.captures(question);
    let origin = mark.as_ref().map(|mark| {
        if mark[1].eq_ignore_ascii_case("contradiction") { Origin::Contradiction } else { Origin::Disagreement }
    });
    let question = &question[mark.map_or(0, |mark| mark[0].len())..];
    Some(OpenPoint {
        id: format!("O{number}"),
        place,
        question: question.trim().to_owned(),
        taken: part("taken").unwrap_or_default(),
        otherwise: part("otherwise").unwrap_or_default(),
        affects: affects
            .trim_end_matches('.')
            .split([',', ';'])
            .map(|name| name.trim().trim_matches('`').to_owned())
            .filter(|name| !name.is_empty())
            .collect(),
        misplaced: None,
        origin,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unread_lines;

    #[test]
    fn the_mark_of_an_open_point_is_its_origin_and_no_part_of_the_question() {
        for (mark, origin) in [
            ("(contradiction) ", Some(Origin::Contradiction)),
            ("**(Contradiction)** ", Some(Origin::Contradiction)),
            ("(disagreement): ", Some(Origin::Disagreement)),
            ("", None),
        ] {
            let text = format!(
                "## Open points\nO1 [a.md:1, b.md:2] {mark}Is it (disagreement) lost? Taken: yes. Otherwise: no.\n"
            );
            let found = &parse_open_points(&text)[0];
            assert_eq!((found.origin, found.question.as_str()), (origin, "Is it (disagreement) lost?"), "{mark}");
            assert_eq!(found.place.as_deref(), Some("a.md:1, b.md:2"), "{mark}");
        }
        assert!(Origin::Disagreement < Origin::Contradiction);
    }

    #[test]
    fn no_notation_of_an_open_point_loses_it() {
        let complete = "[a.md:1] Lost? Taken: yes. Otherwise: no. Affects: R1.";
        for heading in ["## Open points", "## Open points (silences):", "## 9. **Open points**", "# OPEN POINTS"] {
            for start in
                ["O1", "- **O1**", "1. O1", "2) **O1**:", "- [O1]", "(O1)", "• O1", "O 1", "O-1:", "| O1 |", "### O1:"]
            {
                let found = parse_open_points(&format!("{heading}\n{start} {complete}\n"));
                assert_eq!(found.len(), 1, "{heading}, {start}");
                assert_eq!((found[0].id.as_str(), found[0].missing_parts().len()), ("O1", 0), "{start}: {found:?}");
            }
        }
        // Nested items, a question on the next line, and a point without any text.
        let text = "## Open points\n- **O1** [a.md:1]\n  - Question: lost?\n  - Taken: yes.\n  - Otherwise: no.\nO2 [a.md:2]\nIs it? \
                    Taken: a. Otherwise: b.\nO3\n";
        let found = parse_open_points(text);
        assert_eq!(found.iter().map(|p| p.id.as_str()).collect::<Vec<_>>(), ["O1", "O2", "O3"], "{found:#?}");
        assert_eq!(found[1].missing_parts().len(), 0, "{:?}", found[1]);
        assert_eq!(found[2].missing_parts(), ["Taken:", "Otherwise:"]);
        let lost = format!(
            "# T\nO4 {complete}\n## Open points\nO1 {complete}\nO1 [b.md:2] Another? Taken: c. Otherwise: d.\n"
        );
        let lost = unread_lines(&format!("{lost}## Requirements\n"));
        assert_eq!(lost.len(), 2, "{lost:#?}");
        assert!(lost[0].contains("below the heading") && lost[1].contains("taken by another"), "{lost:#?}");
        let text = "## Requirements\n## Steps\nO1 and O2 matter here. Only 3 [a.md:1].\n## Open points\n- none\n";
        assert_eq!(unread_lines(text), [""; 0]);
        for line in [
            "- Is a reply lost? Taken: yes. Otherwise: no.",
            "Is a reply lost? Taken: yes. Otherwise: no.",
            "- A silence: taken as allowed.",
            "O1a [a.md:1] Lost?",
        ] {
            let text = format!("## Open points\nO1 {complete}\n{line}\n");
            assert_eq!(read_open_points(&text).errors.len(), 1, "{line}");
        }
    }

    #[test]
    fn open_points_are_parsed_in_the_notations_of_models() {
        let text = "# T\n## Requirements\nR1 [a.md:1] One.\n## Open points\n\
            O1 [docs/a.md:3-4] May `Pay` be repeated? Taken: yes, any number of times. Otherwise: once. Affects: R1, `Pay`.\n\
            - **O2** [docs/b.md:7]: Is a reply ever lost?\n  **Taken:** it may be lost.\n  **Otherwise:** never; affects: R3; Send\n\
            - O3 Which clock? Taken: none.\n\
            O1 [docs/a.md:9] Again? Taken: no. Otherwise: yes. Affects: R1.\n\
            - What the bounds leave out: a third client.\n## Notes\nO4 [a.md:1] Not here? Taken: a. Otherwise: b.\n";
        let found = parse_open_points(text);
        assert_eq!(found.iter().map(|p| p.id.as_str()).collect::<Vec<_>>(), ["O1", "O2", "O3"]);
        assert_eq!(found[0].place.as_deref(), Some("docs/a.md:3-4"));
        assert_eq!(found[0].question, "May `Pay` be repeated?");
        assert_eq!(found[0].taken, "yes, any number of times.");
        assert_eq!(found[0].otherwise, "once.");
        assert_eq!(found[0].affects, ["R1", "Pay"]);
        assert_eq!(found[1].question, "Is a reply ever lost?");
        assert_eq!((found[1].taken.as_str(), found[1].otherwise.as_str()), ("it may be lost.", "never;"));
        assert_eq!(found[1].affects, ["R3", "Send"]);
        assert_eq!(found[2].missing_parts(), ["Otherwise:"]);
        assert!(found[0].missing_parts().is_empty());
        assert!(parse_open_points("## Open points\n- none\n- A silence: taken as allowed.\n").is_empty());
        assert!(parse_open_points("O1 [a.md:1] Without the heading? Taken: a. Otherwise: b.\n").is_empty());
    }
}

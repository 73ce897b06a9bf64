//! Parses the assumptions of an informal specification: what its model takes for granted or leaves out although the documents
//! say otherwise or nothing.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_items::{Form, ReadItems, checked, distinct, has_place, read_items};
use super::numbered::NumberedStart;
use super::outline::Section;
use super::requirements::{parse_numbered_line, place_words};

/// What the model assumes or leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assumption {
    /// `A1`, `A2`, …
    pub id: String,
    /// The cited place in the documents, as written; `None` if no line says anything about it.
    pub place: Option<String>,
    /// `None` if the text does not begin with a kind.
    pub kind: Option<AssumptionKind>,
    pub text: String,
    /// The error in the place, if it was looked up and is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misplaced: Option<String>,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr, strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
pub enum AssumptionKind {
    /// A step happens eventually.
    #[strum(serialize = "fairness")]
    Fairness,
    /// A bound beyond the constants, such as one attempt for each user.
    #[strum(serialize = "bound")]
    Bound,
    /// A promise of the documents that the model keeps only in part.
    #[strum(serialize = "narrowed")]
    Narrowed,
    /// A promise of the documents that is no requirement of the model.
    #[strum(serialize = "left out")]
    LeftOut,
    /// A documented interface that the model does not follow.
    #[strum(serialize = "interface")]
    Interface,
}

impl Assumption {
    /// For models and readers, in one line.
    pub fn words(&self) -> String {
        let kind = self.kind.map_or("", Into::into);
        let place = match &self.place {
            Some(place) => place_words(Some(place), self.misplaced.as_deref()),
            None => "no line of the documents".to_owned(),
        };
        let kind = if kind.is_empty() { String::new() } else { format!("({kind}) ") };
        format!("{} [{place}] {kind}{}", self.id, self.text)
    }
}

// No blank: "A 2-phase commit" is no assumption.
static START: LazyLock<NumberedStart> = LazyLock::new(|| NumberedStart::new('A', r".#-"));

static KIND: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\((fairness|bound|narrowed|left[ _-]out|interface)\)").expect("a valid pattern"));

const FORM: Form = Form {
    section: Section::Assumptions,
    start: &START,
    mark: &KIND,
    part: None,
    example: "`A1 [docs/file.md:12-14] (fairness) <what>`, or `A1 (bound) <what>` without a line of the documents",
};

/// Parses items such as `A1 [docs/swap.md:12] (fairness) Every client takes its next step.` below each heading with the word
/// "assumptions". An assumption may continue on the lines below it. If several have the same number, the first one counts.
pub fn parse_assumptions(text: &str) -> Vec<Assumption> {
    distinct(&read_items(text, &FORM, false), parse_assumption, |assumption| &assumption.id)
}

/// Whether a line outside of the section looks like an assumption, and not like a sentence about one.
pub(super) fn is_assumption(line: &str) -> bool {
    let is_numbered = START.split(line).is_some_and(|(_, rest)| rest.starts_with('[') && has_place(rest));
    is_numbered || parse_assumption(line).is_some_and(|found| found.kind.is_some()) || UNNUMBERED.is_match(line)
}

/// A kind in parentheses at the start of a line, also after a place.
static UNNUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^[\s\-*+•|>_`]*(?:\[[^\]]*\]\s*)?\((?:fairness|bound|narrowed|left[ _-]out|interface)\)\s")
        .expect("a valid pattern")
});

/// What is below the headings with the word "assumptions".
pub(super) fn read_assumptions(text: &str) -> ReadItems {
    checked(read_items(text, &FORM, false), parse_assumption, |assumption| &assumption.id)
}

fn parse_assumption(line: &str) -> Option<Assumption> {
    let (number, rest) = START.split(line)?;
    let (_, mut place, mut text) = parse_numbered_line(&format!("A{number} {rest}"), 'A')?;
    // The kind in parentheses can be where the place would be; then the place may follow it.
    let mut kind = place.as_deref().and_then(parse_kind);
    if kind.is_some() {
        place = None;
        if let Some((after, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
            (place, text) = (Some(after.trim().to_owned()), rest.trim_start_matches([':', '.', ' ']).to_owned());
        }
    } else if let Some((word, rest)) = text.trim_start_matches(['*', '_', '(']).split_once([')', ':', '*'])
        && let Some(found) = parse_kind(word)
    {
        kind = Some(found);
        text = rest.trim_start_matches(['*', '_', ')', ':', ' ']).to_owned();
    }
    Some(Assumption { id: format!("A{number}"), place, kind, text, misplaced: None })
}

fn parse_kind(word: &str) -> Option<AssumptionKind> {
    use strum::VariantArray as _;
    let word = word.trim().replace(['_', '-'], " ").to_lowercase();
    AssumptionKind::VARIANTS.iter().copied().find(|kind| <&str>::from(kind) == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unread_lines;

    #[test]
    fn assumptions_are_parsed_in_the_notations_of_models() {
        let text = "# T\n## Assumptions\nA1 [docs/a.md:3-4] (fairness) Every client goes on,\n  also after an error.\n\
                    - **A2** (bound) One attempt for each user.\n3. [A3] [docs/b.md:7] (left out) Fees.\n\
                    A4: narrowed: R2 holds only for one shard.\nA5 [docs/c.md:1] Something else.\n\
                    A1 (bound) Again.\n## Notes\nA6 (bound) Not here.\n";
        let found = parse_assumptions(text);
        let kinds: Vec<_> = found.iter().map(|a| (a.id.as_str(), a.kind.map(<&str>::from))).collect();
        let expected = [
            ("A1", Some("fairness")),
            ("A2", Some("bound")),
            ("A3", Some("left out")),
            ("A4", Some("narrowed")),
            ("A5", None),
        ];
        assert_eq!(kinds, expected, "{found:#?}");
        assert_eq!(found[0].words(), "A1 [docs/a.md:3-4] (fairness) Every client goes on, also after an error.");
        assert_eq!(found[1].words(), "A2 [no line of the documents] (bound) One attempt for each user.");
        let lost = unread_lines(&format!("## Requirements\n{text}"));
        assert_eq!(lost.len(), 2, "{lost:#?}");
        assert!(lost[0].contains("below the heading") && lost[1].contains("taken"), "{lost:#?}");
    }

    #[test]
    fn no_notation_of_an_assumption_loses_it() {
        for line in [
            "A1 (bound) One.",
            "- **A1** (bound): One.",
            "| A1 | (bound) One. |",
            "**A1 (bound)** One.",
            "[A1] (bound) One.",
        ] {
            for heading in ["## Assumptions", "## 9. **Assumptions**", "# Modelling assumptions"] {
                let found = parse_assumptions(&format!("{heading}\n{line}\n"));
                assert_eq!(found.len(), 1, "{line}");
                assert_eq!(
                    (found[0].kind, found[0].place.as_deref()),
                    (Some(AssumptionKind::Bound), None),
                    "{found:?}"
                );
            }
        }
        let found = parse_assumptions(
            "## Assumptions\nA1 (fairness) [docs/a.md:3] It goes on.\nA 2-phase commit goes on, too.\n",
        );
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].words(), "A1 [docs/a.md:3] (fairness) It goes on. A 2-phase commit goes on, too.");
        for line in [
            "- (bound) One.",
            "1. [docs/a.md:3] (fairness) One.",
            "Assumption 1 (bound) One.",
            "A1a (bound) One.",
            "- One.",
        ] {
            let errors = read_assumptions(&format!("## Assumptions\n{line}\n")).errors;
            assert_eq!(errors.len(), 1, "{line}: {errors:?}");
        }
        for none in ["- none", "none", "- None.", ""] {
            assert_eq!(read_assumptions(&format!("## Assumptions\n{none}\n")).errors, [""; 0], "{none}");
        }
    }
}

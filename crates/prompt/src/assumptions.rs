//! Parses the assumptions of an informal specification: what its model takes for granted or leaves out although the documents
//! say otherwise or nothing.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::numbered::{numbered_start, passages};
use super::requirements::{parse_numbered_line, place_words, section_lines};

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
static START: LazyLock<Regex> = LazyLock::new(|| numbered_start('A', r".#-"));

/// No part of an assumption has a label.
static NO_LABEL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\z.").expect("a valid pattern"));

static NUMBERED_ITEM: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\s*\d+[.)]\s").expect("a valid pattern"));

static KIND_IN_PARENTHESES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\((fairness|bound|narrowed|left[ _-]out|interface)\)").expect("a valid pattern"));

/// Parses lines such as `A1 [docs/swap.md:12] (fairness) Every client takes its next step.` below each heading with the word
/// "assumptions". If several define the same number, the first one counts.
pub fn parse_assumptions(text: &str) -> Vec<Assumption> {
    let mut found: Vec<Assumption> = Vec::new();
    let lines = section_lines(text, is_assumptions).unwrap_or_default();
    for passage in passages(lines, &START, &NO_LABEL) {
        let Some(assumption) = parse_assumption(&passage) else { continue };
        if !found.iter().any(|known| known.id == assumption.id) {
            found.push(assumption);
        }
    }
    found
}

/// Lines that are no assumption and look like one, each with the reason: outside of the section, with a number that is
/// taken, or in the section without a number.
pub fn malformed_assumptions(text: &str) -> Vec<String> {
    let found = parse_assumptions(text);
    let lines = text.lines().filter_map(|line| parse_assumption(line).map(|assumption| (line.trim(), assumption)));
    let misplaced = lines.filter_map(|(line, own)| match found.iter().find(|known| known.id == own.id) {
        None => own.kind.map(|_| format!("`{line}`: write it below the heading `## Assumptions`")),
        Some(first) if !first.text.starts_with(&own.text) => {
            Some(format!("`{line}`: its number is taken by another assumption"))
        }
        Some(_) => None,
    });
    let in_section = section_lines(text, is_assumptions).unwrap_or_default();
    let is_item = |passage: &&String| {
        let item = passage.trim_start().trim_start_matches(['-', '*', '+', '•', ' ']);
        let begins_item = item.len() < passage.trim_start().len() || NUMBERED_ITEM.is_match(passage);
        let is_none = item.trim_end_matches('.').eq_ignore_ascii_case("none");
        (begins_item || KIND_IN_PARENTHESES.is_match(passage)) && !is_none && parse_assumption(passage).is_none()
    };
    let passages = passages(in_section, &START, &NO_LABEL);
    let unnumbered = passages.iter().filter(is_item);
    let unnumbered = unnumbered.map(|item| format!("`{}`: begin it with its number, as `A1 (bound) …`", item.trim()));
    misplaced.chain(unnumbered).collect()
}

fn is_assumptions(title: &str) -> bool {
    title.to_lowercase().contains("assumption")
}

fn parse_assumption(line: &str) -> Option<Assumption> {
    let start = START.captures(line)?;
    let number: u32 = start[1].parse().ok()?;
    let (_, mut place, mut text) = parse_numbered_line(&format!("A{number} {}", &start[2]), 'A')?;
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
        let malformed = malformed_assumptions(text);
        assert_eq!(malformed.len(), 2, "{malformed:#?}");
        assert!(malformed[0].contains("taken") && malformed[1].contains("below the heading"), "{malformed:#?}");
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
            let malformed = malformed_assumptions(&format!("## Assumptions\n{line}\n"));
            assert_eq!(malformed.len(), 1, "{line}: {malformed:?}");
        }
        for none in ["- none", "none", "- None.", ""] {
            assert!(malformed_assumptions(&format!("## Assumptions\n{none}\n")).is_empty(), "{none}");
        }
    }
}

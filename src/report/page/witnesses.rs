//! The situations that the model must be able to reach. The journal has the length of the path to each, not its states.

use serde::Serialize;

use super::frame::{Section, Tone, render};
use super::run_context::RunContext;
use crate::report::counted;
use crate::tla::{Reached, WitnessOutcome};

#[derive(Serialize)]
struct WitnessRow {
    name: String,
    tone: Tone,
    words: String,
    formula: Option<String>,
    /// `W6`, if the comment above the definition begins with it.
    number: Option<String>,
    /// The comment above the definition.
    sentence: String,
}

/// Number of witnesses that are shown before the fold.
const MOST_SHOWN: usize = 8;

/// A comment without its marks, and the number that it begins with.
fn comment_parts(comment: &str) -> (Option<String>, String) {
    let lines = comment.lines().map(|line| line.trim().trim_start_matches("\\*").trim_matches(['(', ')', '*', ' ']));
    let text = lines.collect::<Vec<_>>().join(" ").trim().to_owned();
    let first = text.split([' ', ':', '.', ',']).next().unwrap_or_default().to_owned();
    let is_number =
        first.strip_prefix('W').is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_number {
        return (None, text);
    }
    let sentence = text[first.len()..].trim_start_matches([':', '.', ',', ' ']).to_owned();
    (Some(first), sentence)
}

pub(super) fn witnesses(context: &RunContext<'_>) -> Option<Section> {
    let revision = context.decisive?;
    let check = revision.check.as_ref().filter(|check| !check.witnesses.is_empty())?;
    let module = context.module(revision);
    let row = |witness: &WitnessOutcome| {
        let (tone, words) = match &witness.reached {
            Reached::Yes { depth } => (Tone::Plain, format!("reached after {}", counted(*depth, "state"))),
            Reached::No => (Tone::Bad, "never reached".to_owned()),
            Reached::Unknown(why) => (Tone::Open, format!("not decided: {why}")),
        };
        let definition = module.as_ref().and_then(|module| module.definition(&witness.name));
        let formula = definition
            .zip(module.as_ref())
            .map(|(definition, module)| module.source[definition.code.clone()].to_owned());
        let (number, sentence) = comment_parts(definition.map_or("", |definition| &definition.comment));
        WitnessRow { name: witness.name.clone(), tone, words, formula, number, sentence }
    };
    let mut rows: Vec<WitnessRow> = check.witnesses.iter().map(row).collect();
    let mut numbers = std::collections::BTreeSet::new();
    for row in &mut rows {
        row.number = row.number.take().filter(|number| numbers.insert(number.clone()));
    }
    Some(Section {
        id: "witnesses",
        title: "Witnesses".to_owned(),
        note: Some(rows.len().to_string()),
        body: render(
            "witnesses",
            minijinja::context! { count => rows.len(), most => MOST_SHOWN, has_numbers => !numbers.is_empty(), rows },
        ),
    })
}

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
}

pub(super) fn witnesses(context: &RunContext<'_>) -> Option<Section> {
    let revision = context.decisive?;
    let check = revision.check.as_ref().filter(|check| !check.witnesses.is_empty())?;
    let module = context.module(revision);
    let row = |witness: &WitnessOutcome| {
        let (tone, words) = match &witness.reached {
            Reached::Yes { depth } => (Tone::Good, format!("reached after {}", counted(*depth, "state"))),
            Reached::No => (Tone::Bad, "never reached".to_owned()),
            Reached::Unknown(why) => (Tone::Open, format!("not decided: {why}")),
        };
        let formula = module.as_ref().and_then(|module| Some(module.definition(&witness.name)?.text.clone()));
        WitnessRow { name: witness.name.clone(), tone, words, formula }
    };
    let rows: Vec<WitnessRow> = check.witnesses.iter().map(row).collect();
    Some(Section {
        id: "witnesses",
        title: "Witnesses".to_owned(),
        note: Some(rows.len().to_string()),
        body: render("witnesses", minijinja::context! { rows }),
    })
}

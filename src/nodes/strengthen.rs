//! The mutants of the specification, judged by its own properties, so that those which go unnoticed can be told to the
//! model that writes the properties.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use serde::Deserialize;

use super::desk::{Desk, current, defect, to_json, tool_trouble};
use crate::journal::Kind;
use crate::mutation::{
    BaselineError, Judge, Mutant, Outcome, Selection, Subject, limits_of_one, mutants, requirements_touched,
};
use crate::pipeline::{Attempt, Event, Facts, Judged, JudgedMutant, Product, RunView, StationError, file, unfit_check};
use crate::tla::{Cfg, Module, without_translation};
use crate::toolchain::{Limits, SpecText, ToolContext, ToolError};

/// So many mutants at most are drawn: a run waits for them.
const SAMPLE: usize = 60;
/// What the draw begins with: the same mutants in every run of the same text.
const SEED: u64 = 0;
/// No mutant is begun after so long.
const TIME: Duration = Duration::from_secs(180);
/// The name of the file, for the names of mutants.
const FILE: &str = "Spec.tla";

pub(super) async fn perform(desk: &Desk, view: &RunView, attempt: &Attempt<'_>) -> Result<Product, StationError> {
    // Properties on trial are measured by the mutants that were judged before them.
    let before = view.strengthening.as_ref().filter(|_| view.state.on_trial).map(|s| &s.now);
    let judged = match attempt.recall("mutants_judged", |_| true) {
        Some(event) => Judged::deserialize(&event.data).map_err(|e| defect(&e))?,
        None => {
            let judged = match unfit_check(view.fresh_check()) {
                Some(why) => Judged::unfit(why),
                None => judge(desk, view, attempt, before).await?,
            };
            attempt.record(Kind::Act, "mutants_judged", with_counts(&judged))?;
            judged
        }
    };
    let survivors = judged.of(Outcome::Survived).next().is_some();
    let better = before.is_some_and(|before| judged.kills_more(before));
    Ok(Product {
        event: Event::Judged { survivors, better },
        artifacts: BTreeMap::new(),
        feedback: Vec::new(),
        facts: Facts::Nothing,
    })
}

/// As it is journaled: with what a reader would have to count.
fn with_counts(judged: &Judged) -> serde_json::Value {
    let mut data = to_json(judged);
    data["tally"] = to_json(&judged.tally());
    for outcome in Outcome::ALL {
        data["counts"][outcome.words().replace(' ', "_")] = to_json(&judged.of(outcome).count());
    }
    data
}

/// A mutant that is to be judged, or what is known of it.
enum Wanted {
    Judge(Mutant),
    Known(JudgedMutant),
}

async fn judge(
    desk: &Desk,
    view: &RunView,
    attempt: &Attempt<'_>,
    before: Option<&Judged>,
) -> Result<Judged, StationError> {
    let began = Instant::now();
    let source = without_translation(&current(view, attempt, file::MODULE)?.unwrap_or_default());
    let cfg_text = current(view, attempt, file::CFG)?.unwrap_or_default();
    let (module, cfg) = match (Module::parse(&source), Cfg::parse(&cfg_text)) {
        (Ok(module), Ok(cfg)) => (module, cfg),
        (Err(why), _) => return Ok(Judged::unfit(why.to_string())),
        (_, Err(why)) => return Ok(Judged::unfit(why.to_string())),
    };
    let all = mutants(&module, &cfg);
    let (made, wanted) = match before {
        Some(before) => (before.made, again(before, all)),
        None => {
            let made = all.len();
            let selection = Selection { sample: Some(SAMPLE), seed: SEED, ..Selection::default() };
            (made, selection.of(all, &source).into_iter().map(Wanted::Judge).collect())
        }
    };

    let tools = desk.quick.as_deref().unwrap_or(&*desk.toolchain);
    let limits = Limits { check: desk.limits.check.min(TIME), ..desk.limits.clone() };
    let cx = ToolContext { limits: &limits, cancel: &desk.cancel, progress: &|_| {} };
    let spec = SpecText { name: module.name.clone(), text: source, beside: Vec::new() };
    let (subject, baseline) = match Subject::prepare(tools, FILE.to_owned(), spec, cfg_text, &cx).await {
        Ok(prepared) => prepared,
        Err(BaselineError::Tool(error)) if error.is_fatal() => return Err(tool_trouble(&error).into()),
        // The run does not rest on its mutants: what cannot judge them says why, and the run goes on.
        Err(why) => return Ok(Judged::unfit(why.to_string())),
    };
    let judge = Judge { tools, subject: &subject, version: env!("CARGO_PKG_VERSION") };
    let limits = limits_of_one(&limits, Subject::deadline(&baseline).min(TIME));
    let cx = ToolContext { limits: &limits, cancel: &desk.cancel, progress: &|_| {} };
    let (judge, cx) = (&judge, &cx);
    let one = |(place, wanted): (usize, Wanted)| async move {
        match wanted {
            Wanted::Known(known) => (place, Some(Ok(known))),
            Wanted::Judge(_) if began.elapsed() > TIME && !desk.replays() => (place, None),
            Wanted::Judge(mutant) => (place, Some(judged(judge, &mutant, cx).await)),
        }
    };
    // Drawn once more, so that where the time is up it is not always the end of the module that is left out.
    let mut wanted: Vec<(usize, Wanted)> = wanted.into_iter().enumerate().collect();
    fastrand::Rng::with_seed(SEED).shuffle(&mut wanted);
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut runs = stream::iter(wanted.into_iter().map(one)).buffer_unordered(jobs);
    let (mut found, mut late) = (BTreeMap::new(), 0);
    while let Some((place, judged)) = runs.next().await {
        match judged {
            Some(Ok(judged)) => {
                found.insert(place, judged);
            }
            Some(Err(error)) if error.is_fatal() => return Err(tool_trouble(&error).into()),
            // A tool that breaks on a mutant has shown nothing about it.
            Some(Err(_)) | None => late += 1,
        }
    }
    Ok(Judged { made, seed: SEED, mutants: found.into_values().collect(), late, unfit: None })
}

/// The mutants of before, to be judged by other properties. What is invalid or equivalent stays so.
fn again(before: &Judged, all: Vec<Mutant>) -> Vec<Wanted> {
    let mut by_name: BTreeMap<String, Mutant> = all.into_iter().map(|mutant| (mutant.name(FILE), mutant)).collect();
    let wanted = |known: &JudgedMutant| match (known.outcome, by_name.remove(&known.name)) {
        (Outcome::Equivalent | Outcome::Invalid, _) => Wanted::Known(known.clone()),
        (_, Some(mutant)) => Wanted::Judge(mutant),
        // The properties depend on the place of the flaw now: they would change with it.
        (_, None) => Wanted::Known(JudgedMutant { outcome: Outcome::Inconclusive, ..known.clone() }),
    };
    before.mutants.iter().map(wanted).collect()
}

async fn judged(judge: &Judge<'_>, mutant: &Mutant, cx: &ToolContext<'_>) -> Result<JudgedMutant, ToolError> {
    let judged = judge.judge(mutant, cx).await?;
    let touches = requirements_touched(&judge.subject.module, &judge.subject.cfg, &judged.definition);
    Ok(JudgedMutant {
        touches: touches.into_iter().collect(),
        name: judged.name,
        definition: judged.definition,
        what: judged.what,
        diff: judged.diff,
        outcome: judged.outcome,
        killed_by: judged.killed_by,
        noticed_by: judged.noticed_by,
    })
}

//! The mutants of the specification, judged by its own properties, so that those which go unnoticed can be told to the
//! model that writes the properties.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};

use super::desk::{Desk, tool_trouble};
use super::workspace::current;
use crate::journal::Kind;
use crate::mutation::{
    BaselineError, Judge, Mutant, Outcome, Selection, Subject, limits_of_one, mutants, requirements_touched,
};
use crate::pipeline::{
    Attempt, Event, Facts, Judged, JudgedMutant, NodeError, Product, RunEvent, RunView, file, why_not_judged,
};
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

pub(super) async fn perform(desk: &Desk, view: &RunView, attempt: &Attempt<'_>) -> Result<Product, NodeError> {
    // Properties on trial are measured by the mutants that were judged before them.
    let before = view.strengthening.as_ref().filter(|_| view.state.on_trial).map(|s| &s.now);
    let judged = match attempt.recall(RunEvent::try_as_mutants_judged_ref) {
        Some(known) => known.judged.clone(),
        None => {
            let judged = match why_not_judged(view.fresh_check()) {
                Some(why) => Judged::skipped(why),
                None => judge(desk, view, attempt, before).await?,
            };
            attempt.record(Kind::Act, RunEvent::MutantsJudged(judged.clone().into()))?;
            desk.write_record(attempt)?;
            judged
        }
    };
    let survivors = judged.with_outcome(Outcome::Survived).next().is_some();
    let kills_more = before.is_some_and(|before| judged.kills_more(before));
    Ok(Product {
        event: Event::Judged { survivors, kills_more },
        artifacts: BTreeMap::new(),
        feedback: Vec::new(),
        facts: Facts::Nothing,
    })
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
) -> Result<Judged, NodeError> {
    let began = Instant::now();
    let timing = desk.timing(attempt);
    if timing.is_some_and(|timing| timing.out_of_time) {
        let why = "the specification was not decided in time when this was recorded";
        return Ok(Judged { out_of_time: true, ..Judged::skipped(why) });
    }
    let source = without_translation(&current(view, attempt, file::MODULE)?.unwrap_or_default());
    let cfg_text = current(view, attempt, file::CFG)?.unwrap_or_default();
    let (module, cfg) = match (Module::parse(&source), Cfg::parse(&cfg_text)) {
        (Ok(module), Ok(cfg)) => (module, cfg),
        (Err(why), _) => return Ok(Judged::skipped(why.to_string())),
        (_, Err(why)) => return Ok(Judged::skipped(why.to_string())),
    };
    let all = mutants(&module, &cfg);
    let (made, wanted) = match before {
        Some(before) => (before.generated, again(before, all)),
        None => {
            let made = all.len();
            let selection = Selection { sample: Some(SAMPLE), seed: SEED, ..Selection::default() };
            (made, selection.of(all, &source).into_iter().map(Wanted::Judge).collect())
        }
    };

    let tools = desk.quick.as_deref().unwrap_or(&*desk.toolchain);
    let time = if timing.is_some() { desk.replay_limit() } else { desk.limits.check.min(TIME) };
    let limits = Limits { check: time, ..desk.limits.clone() };
    let cx = ToolContext { limits: &limits, cancel: &desk.cancel, progress: &|_| {} };
    let spec = SpecText { name: module.name.clone(), text: source, beside: Vec::new() };
    let (subject, baseline) = match Subject::prepare(tools, FILE.to_owned(), spec, cfg_text, &cx).await {
        Ok(prepared) => prepared,
        Err(BaselineError::Tool(error)) if error.is_fatal() => return Err(tool_trouble(&error).into()),
        // The run does not rest on its mutants: what cannot judge them says why, and the run goes on.
        Err(why) => {
            let outcome = if let BaselineError::Bad { outcome, .. } = &why { outcome.as_ref() } else { None };
            let out_of_time = outcome.is_some_and(|outcome| outcome.verdict.is_out_of_time());
            return Ok(Judged { out_of_time, ..Judged::skipped(why.to_string()) });
        }
    };
    let judge = Judge { tools, subject: &subject, version: env!("CARGO_PKG_VERSION") };
    let time = if timing.is_some() { time } else { Subject::deadline(&baseline).min(TIME) };
    let limits = limits_of_one(&limits, time);
    let cx = ToolContext { limits: &limits, cancel: &desk.cancel, progress: &|_| {} };
    let (judge, cx) = (&judge, &cx);
    let one = |(place, wanted): (usize, Wanted)| async move {
        let mutant = match wanted {
            Wanted::Known(known) => return (place, Ok(known)),
            Wanted::Judge(mutant) => mutant,
        };
        let name = mutant.name(FILE);
        let is_late = match timing {
            Some(timing) => timing.unjudged.contains(&name),
            None => began.elapsed() > TIME && !desk.replays(),
        };
        if is_late {
            return (place, Err((name, None)));
        }
        if timing.is_some_and(|timing| timing.timed_out.contains(&name)) {
            return (place, Ok(timed_out(judge.subject, &mutant)));
        }
        (place, judged(judge, &mutant, cx).await.map_err(|error| (name, Some(error))))
    };
    // Drawn once more, so that where the time is up it is not always the end of the module that is left out.
    let mut wanted: Vec<(usize, Wanted)> = wanted.into_iter().enumerate().collect();
    fastrand::Rng::with_seed(SEED).shuffle(&mut wanted);
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut runs = stream::iter(wanted.into_iter().map(one)).buffer_unordered(jobs);
    let (mut found, mut unjudged) = (BTreeMap::new(), BTreeMap::new());
    while let Some((place, judged)) = runs.next().await {
        match judged {
            Ok(judged) => {
                found.insert(place, judged);
            }
            Err((_, Some(error))) if error.is_fatal() => return Err(tool_trouble(&error).into()),
            // A tool that breaks on a mutant has shown nothing about it.
            Err((name, _)) => {
                unjudged.insert(place, name);
            }
        }
    }
    let (mutants, unjudged) = (found.into_values().collect(), unjudged.into_values().collect::<Vec<_>>());
    Ok(Judged { generated: made, seed: SEED, mutants, unjudged_count: unjudged.len(), unjudged, ..Judged::default() })
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
    Ok(JudgedMutant {
        outcome: judged.outcome,
        killed_by: judged.killed_by,
        noticed_by: judged.noticed_by,
        ..timed_out(judge.subject, mutant)
    })
}

/// A mutant that was not judged to the end in time.
fn timed_out(subject: &Subject, mutant: &Mutant) -> JudgedMutant {
    let touches = requirements_touched(&subject.module, &subject.cfg, &mutant.definition);
    JudgedMutant {
        name: mutant.name(FILE),
        definition: mutant.definition.clone(),
        what: mutant.what.clone(),
        diff: mutant.diff(&subject.source),
        outcome: Outcome::Timeout,
        killed_by: Vec::new(),
        noticed_by: Vec::new(),
        touches: touches.into_iter().collect(),
    }
}

//! Tests the properties with mutants of the specification, so that the model that writes the properties can be shown the
//! mutants that survive.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, stream};

use super::context::{NodeContext, halt_for_tool};
use super::workspace::current;
use crate::journal::Kind;
use crate::mutation::{
    BaselineError, Judge, Mutant, Outcome, Selection, Subject, limits_per_mutant, mutants, requirements_touched,
};
use crate::pipeline::{
    Attempt, Event, Facts, Judged, JudgedMutant, NodeError, Product, RunEvent, RunView, file, why_not_judged,
};
use crate::tla::{Cfg, Module, without_translation};
use crate::toolchain::{Limits, SpecText, ToolContext, ToolError};

/// Maximum number of mutants in the sample. The run waits until all are judged.
const SAMPLE: usize = 60;
/// Seed of the sample: the same text always gives the same mutants.
const SEED: u64 = 0;
/// No mutant is started after this time.
const TIME_LIMIT: Duration = Duration::from_secs(180);
/// The file name in the names of mutants.
const FILE: &str = "Spec.tla";

pub(super) async fn perform(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
) -> Result<Product, NodeError> {
    // Properties on trial are judged on the same mutants as before, so that the kills can be compared.
    let before = view.strengthening.as_ref().filter(|_| view.state.on_trial).map(|s| &s.now);
    let judged = match attempt.recall(RunEvent::try_as_mutants_judged_ref) {
        Some(known) => known.judged.clone(),
        None => {
            let judged = match why_not_judged(view.fresh_check()) {
                Some(why) => Judged::skipped(why),
                None => judge(context, view, attempt, before).await?,
            };
            attempt.record(Kind::Act, RunEvent::MutantsJudged(judged.clone().into()))?;
            context.write_recording(attempt)?;
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

/// A mutant to judge, or one whose outcome is known.
enum SampledMutant {
    Judge(Mutant),
    Known(JudgedMutant),
}

async fn judge(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
    before: Option<&Judged>,
) -> Result<Judged, NodeError> {
    // The time for the original specification counts as well.
    let mut time_limit = context.wait_unless_replay(TIME_LIMIT);
    let timing = context.timing(attempt);
    if timing.is_some_and(|timing| timing.check_timed_out) {
        let why = "the specification was not decided in time when this was recorded";
        return Ok(Judged { timed_out: true, ..Judged::skipped(why) });
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
        Some(before) => (before.generated, same_mutants(before, all)),
        None => {
            let made = all.len();
            let selection = Selection { sample: Some(SAMPLE), seed: SEED, ..Selection::default() };
            (made, selection.select(all, &source).into_iter().map(SampledMutant::Judge).collect())
        }
    };

    let tools = context.mutant_toolchain.as_deref().unwrap_or(&*context.toolchain);
    let time = if timing.is_some() { context.replay_limit() } else { context.limits.check.min(TIME_LIMIT) };
    let limits = Limits { check: time, ..context.limits.clone() };
    let cx = ToolContext { limits: &limits, cancel: &context.cancel, progress: &|_| {} };
    let spec = SpecText { name: module.name.clone(), text: source, local_modules: Vec::new() };
    let (subject, baseline) = match Subject::prepare(tools, FILE.to_owned(), spec, cfg_text, &cx).await {
        Ok(prepared) => prepared,
        Err(BaselineError::Tool(error)) if error.is_fatal() => return Err(halt_for_tool(&error).into()),
        // No result of the run depends on mutants: the event says why there are none, and the run continues.
        Err(why) => {
            let outcome = if let BaselineError::Bad { outcome, .. } = &why { outcome.as_ref() } else { None };
            let timed_out = outcome.is_some_and(|outcome| outcome.verdict.is_timed_out());
            return Ok(Judged { timed_out, ..Judged::skipped(why.to_string()) });
        }
    };
    let judge = Judge { tools, subject: &subject, version: env!("CARGO_PKG_VERSION") };
    let time = if timing.is_some() { time } else { Subject::deadline(&baseline).min(TIME_LIMIT) };
    let limits = limits_per_mutant(&limits, time);
    let cx = ToolContext { limits: &limits, cancel: &context.cancel, progress: &|_| {} };
    let (judge, cx, time_is_over) = (&judge, &cx, &AtomicBool::new(false));
    let one = |(place, wanted): (usize, SampledMutant)| async move {
        let mutant = match wanted {
            SampledMutant::Known(known) => return (place, Ok(known)),
            SampledMutant::Judge(mutant) => mutant,
        };
        let name = mutant.name(FILE);
        let is_late = match timing {
            Some(timing) => timing.unjudged.contains(&name),
            None => time_is_over.load(Ordering::Relaxed),
        };
        if is_late {
            return (place, Err((name, None)));
        }
        if timing.is_some_and(|timing| timing.timed_out.contains(&name)) {
            return (place, Ok(timed_out(judge.subject, &mutant)));
        }
        (place, judge_mutant(judge, &mutant, cx).await.map_err(|error| (name, Some(error))))
    };
    // In random order, so that a time limit does not always leave out the end of the module.
    let mut wanted: Vec<(usize, SampledMutant)> = wanted.into_iter().enumerate().collect();
    fastrand::Rng::with_seed(SEED).shuffle(&mut wanted);
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut runs = stream::iter(wanted.into_iter().map(one)).buffer_unordered(jobs);
    let (mut found, mut unjudged) = (BTreeMap::new(), BTreeMap::new());
    loop {
        let next = tokio::select! {
            // The limit first: the next poll of `runs` can start mutants.
            biased;
            () = &mut time_limit, if !time_is_over.load(Ordering::Relaxed) => {
                time_is_over.store(true, Ordering::Relaxed);
                continue;
            }
            next = runs.next() => next,
        };
        let Some((place, judged)) = next else { break };
        match judged {
            Ok(judged) => {
                found.insert(place, judged);
            }
            Err((_, Some(error))) if error.is_fatal() => return Err(halt_for_tool(&error).into()),
            // A tool that fails on a mutant shows nothing about it.
            Err((name, _)) => {
                unjudged.insert(place, name);
            }
        }
    }
    let (mutants, unjudged) = (found.into_values().collect(), unjudged.into_values().collect::<Vec<_>>());
    Ok(Judged { generated: made, seed: SEED, mutants, unjudged_count: unjudged.len(), unjudged, ..Judged::default() })
}

/// The mutants of an earlier judgement, to be judged with other properties. Invalid and equivalent ones stay so, whatever
/// the properties.
fn same_mutants(before: &Judged, all: Vec<Mutant>) -> Vec<SampledMutant> {
    let mut by_name: BTreeMap<String, Mutant> = all.into_iter().map(|mutant| (mutant.name(FILE), mutant)).collect();
    let wanted = |known: &JudgedMutant| match (known.outcome, by_name.remove(&known.name)) {
        (Outcome::Equivalent | Outcome::Invalid, _) => SampledMutant::Known(known.clone()),
        (_, Some(mutant)) => SampledMutant::Judge(mutant),
        // The mutant is gone because its change would now alter the properties as well.
        (_, None) => SampledMutant::Known(JudgedMutant { outcome: Outcome::Inconclusive, ..known.clone() }),
    };
    before.mutants.iter().map(wanted).collect()
}

async fn judge_mutant(judge: &Judge<'_>, mutant: &Mutant, cx: &ToolContext<'_>) -> Result<JudgedMutant, ToolError> {
    let judged = judge.judge(mutant, cx).await?;
    Ok(JudgedMutant {
        outcome: judged.outcome,
        killed_by: judged.killed_by,
        lost_witnesses: judged.lost_witnesses,
        ..timed_out(judge.subject, mutant)
    })
}

/// A mutant whose check did not end in time.
fn timed_out(subject: &Subject, mutant: &Mutant) -> JudgedMutant {
    let touches = requirements_touched(&subject.module, &subject.cfg, &mutant.definition);
    JudgedMutant {
        name: mutant.name(FILE),
        definition: mutant.definition.clone(),
        what: mutant.what.clone(),
        diff: mutant.diff(&subject.source),
        outcome: Outcome::Timeout,
        killed_by: Vec::new(),
        lost_witnesses: Vec::new(),
        touches: touches.into_iter().collect(),
    }
}

//! Tests the properties with mutants of the specification. A first sample is judged before the review, so that the model that
//! writes the properties and the reviewer are shown the mutants that survive. Before an approval, other mutants are judged for
//! the score, because a score on mutants that a model has seen proves little.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::{StreamExt, stream};

use super::context::{NodeContext, halt_for_tool};
use super::timing::Wait;
use super::workspace::current;
use crate::journal::Kind;
use crate::mutation::{
    BaselineError, Judge, MIN_DEADLINE, Mutant, Outcome, Selection, Subject, limits_per_mutant, mutants,
    requirements_touched,
};
use crate::pipeline::{
    Attempt, Event, Facts, Halt, Judged, JudgedMutant, MutantSample, NOT_IN_TIME, NodeError, NoticedIn, Product,
    RunEvent, RunView, StopReason, file, why_not_judged,
};
use crate::tla::{Cfg, Module, Trace, without_translation};
use crate::toolchain::{Limits, SpecText, ToolContext, ToolError, Toolchain};

/// Maximum number of mutants in the first sample of a run with `--mutants off` that strengthens its properties.
const SAMPLE_WITH_MUTANTS_OFF: usize = 60;
/// Seed of the samples: the same text always gives the same mutants.
const SEED: u64 = 0;
/// Mutants of the first sample that are not judged by then are left out.
const TIME_LIMIT: Duration = Duration::from_secs(180);
/// The same for the sample before an approval.
const SECOND_SAMPLE_TIME_LIMIT: Duration = Duration::from_secs(60);
/// Maximum number of characters of the values in a state.
const MAX_VALUES: usize = 200;
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
                None => {
                    let judging = Judging {
                        tools: context.side_toolchain.as_deref().unwrap_or(&*context.toolchain),
                        sample: context
                            .mutant_sample
                            .as_ref()
                            .map_or(SAMPLE_WITH_MUTANTS_OFF, |sampling| sampling.size),
                        time_limit: TIME_LIMIT,
                        is_over: context.wait_unless_replay(TIME_LIMIT),
                        thorough: view.settings.routing.judges_mutants,
                        before,
                        excluded: &[],
                    };
                    judge(context, view, attempt, judging).await?
                }
            };
            attempt.record(Kind::Act, RunEvent::MutantsJudged(judged.clone().into()))?;
            context.write_recording(attempt)?;
            judged
        }
    };
    let survivors = judged.with_outcome(Outcome::Survived).next().is_some();
    let kills_more = before.is_some_and(|before| judged.notices_more(before));
    Ok(Product {
        event: Event::Judged { survivors, kills_more },
        artifacts: BTreeMap::new(),
        feedback: Vec::new(),
        facts: Facts::Nothing,
    })
}

/// Judges a sample of the mutants before the approval by `attempt`, without those that author and reviewer have seen. Only an
/// interruption prevents the approval. Returns whether a sample was journaled now: there is none if no other mutants are left.
pub(super) async fn sample(context: &NodeContext, view: &RunView, attempt: &Attempt<'_>) -> Result<bool, NodeError> {
    let Some(sampling) = &context.mutant_sample else { return Ok(false) };
    let seen = view.strengthening.as_ref().map(|mutants| &mutants.first).filter(|first| first.skipped_reason.is_none());
    let is_all = seen.is_some_and(|seen| seen.generated <= seen.names().count());
    let known: Vec<&str> = view.seen_mutants().collect();
    if attempt.has(RunEvent::is_mutants_sampled) || is_all {
        return Ok(false);
    }
    let is_over = match context.timing(attempt) {
        Some(_) => Box::pin(std::future::pending()),
        None => context.caller.pause(SECOND_SAMPLE_TIME_LIMIT),
    };
    let judging = Judging {
        tools: &*sampling.toolchain,
        sample: sampling.size,
        time_limit: SECOND_SAMPLE_TIME_LIMIT,
        is_over,
        thorough: false,
        before: None,
        excluded: &known,
    };
    let judged = match why_not_judged(view.fresh_check()) {
        Some(why) => Judged::skipped(why),
        None => match context.caller.within_time_left(Box::pin(judge(context, view, attempt, judging))).await {
            Some(Ok(judged)) => judged,
            Some(Err(NodeError::Halt(Halt { reason: StopReason::Tool, message }))) => Judged::skipped(message),
            Some(Err(error)) => return Err(error),
            None => Judged { timed_out: true, ..Judged::skipped("the time limit of the run is reached") },
        },
    };
    let sample = MutantSample { seen: known.len(), ..judged.into() };
    attempt.record(Kind::Act, RunEvent::MutantsSampled(Box::new(sample)))?;
    context.write_recording(attempt)?;
    Ok(true)
}

/// How mutants are judged.
struct Judging<'a> {
    tools: &'a dyn Toolchain,
    /// Maximum number of mutants.
    sample: usize,
    /// Time limit of each run of the checker.
    time_limit: Duration,
    /// Ends when the time for all of them is over.
    is_over: Wait<'a>,
    /// Whether all properties that notice a mutant are searched for, not only the first one.
    thorough: bool,
    /// Under the properties before those on trial: the same mutants are judged again.
    before: Option<&'a Judged>,
    /// The names of mutants that are not drawn, because they were drawn before.
    excluded: &'a [&'a str],
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
    judging: Judging<'_>,
) -> Result<Judged, NodeError> {
    // The time for the original specification counts as well.
    let Judging { tools, sample, time_limit, mut is_over, thorough, before, excluded } = judging;
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
    let made = before.map_or(all.len(), |before| before.generated);
    let wanted = draw(all, before, sample, excluded, &source);

    let time = if timing.is_some() { context.replay_limit() } else { context.limits.check.min(time_limit) };
    let limits = Limits { check: time, ..context.limits.clone() };
    let cx = ToolContext { limits: &limits, cancel: &context.cancel, progress: &|_| {} };
    let spec = SpecText { name: module.name.clone(), text: source, local_modules: Vec::new() };
    let prepared = tokio::select! {
        biased;
        prepared = Subject::prepare(tools, FILE.to_owned(), spec, cfg_text, &cx) => prepared,
        () = &mut is_over => {
            let why = format!("the check of the specification itself did not end within {} s", time_limit.as_secs());
            return Ok(Judged { timed_out: true, ..Judged::skipped(why) });
        }
    };
    let (subject, baseline) = match prepared {
        Ok(prepared) => prepared,
        Err(BaselineError::Tool(error)) if error.is_fatal() => return Err(halt_for_tool(&error).into()),
        // No result of the run depends on mutants: the event says why there are none, and the run continues.
        Err(why) => {
            let outcome = if let BaselineError::Bad { outcome, .. } = &why { outcome.as_ref() } else { None };
            let timed_out = outcome.is_some_and(|outcome| outcome.verdict.is_timed_out());
            return Ok(Judged { timed_out, ..Judged::skipped(why.to_string()) });
        }
    };
    // In a replay only the number of states limits it, so that a slower machine finds the same properties.
    let further_time = if timing.is_some() { time } else { MIN_DEADLINE };
    let judge = Judge { tools, subject: &subject, version: env!("CARGO_PKG_VERSION"), thorough, further_time };
    let time = if timing.is_some() { time } else { Subject::deadline(&baseline).min(time_limit) };
    let limits = limits_per_mutant(&limits, time);
    let cx = ToolContext { limits: &limits, cancel: &context.cancel, progress: &|_| {} };
    let (judge, cx) = (&judge, &cx);
    let one = |(place, wanted): (usize, SampledMutant)| async move {
        let mutant = match wanted {
            SampledMutant::Known(known) => return (place, Ok(Sampled::Judged(known))),
            SampledMutant::Judge(mutant) => mutant,
        };
        if timing.is_some_and(|timing| mutant.is_named(FILE, &timing.timed_out)) {
            return (place, Ok(Sampled::Judged(timed_out(judge.subject, &mutant))));
        }
        (place, judge_mutant(judge, &mutant, cx).await)
    };
    // By place: the name, and the reason.
    let late = |mutant: &SampledMutant| (mutant.name(), NOT_IN_TIME.to_owned());
    let mut unjudged: BTreeMap<usize, (String, String)> = wanted.iter().map(late).enumerate().collect();
    // In random order, so that a time limit does not always leave out the end of the module.
    let mut wanted: Vec<(usize, SampledMutant)> = wanted.into_iter().enumerate().collect();
    fastrand::Rng::with_seed(SEED).shuffle(&mut wanted);
    let is_late = |wanted: &SampledMutant| timing.is_some_and(|timing| wanted.is_named(&timing.unjudged));
    wanted.retain(|(_, wanted)| !is_late(wanted));
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut runs = stream::iter(wanted.into_iter().map(one)).buffer_unordered(jobs);
    let mut found = BTreeMap::new();
    loop {
        let next = tokio::select! {
            // The limit first: the next poll of `runs` can start mutants.
            biased;
            () = &mut is_over => break,
            next = runs.next() => next,
        };
        let Some((place, judged)) = next else { break };
        match judged {
            Ok(Sampled::Judged(judged)) => {
                found.insert(place, judged);
                unjudged.remove(&place);
            }
            // A tool that fails shows nothing about the mutant, and not even that it cannot be decided.
            Ok(Sampled::ToolFailed(why)) => {
                if let Some((_, reason)) = unjudged.get_mut(&place) {
                    *reason = why;
                }
            }
            Err(error) => return Err(halt_for_tool(&error).into()),
        }
    }
    let mutants = found.into_values().collect();
    let names: Vec<String> = unjudged.values().map(|(name, _)| name.clone()).collect();
    Ok(Judged {
        generated: made,
        seed: SEED,
        mutants,
        unjudged_count: names.len(),
        unjudged: names,
        unjudged_reasons: unjudged.into_values().collect(),
        ..Judged::default()
    })
}

/// The mutants to judge: those that were judged `before`, or else a sample without the `excluded` ones.
fn draw(
    all: Vec<Mutant>,
    before: Option<&Judged>,
    sample: usize,
    excluded: &[&str],
    source: &str,
) -> Vec<SampledMutant> {
    if let Some(before) = before {
        return same_mutants(before, &all);
    }
    let all = all.into_iter().filter(|mutant| !mutant.is_named(FILE, excluded)).collect();
    let selection = Selection { sample: Some(sample), seed: SEED, ..Selection::default() };
    selection.select(all, source).into_iter().map(SampledMutant::Judge).collect()
}

impl SampledMutant {
    fn name(&self) -> String {
        match self {
            Self::Judge(mutant) => mutant.name(),
            Self::Known(known) => known.name.clone(),
        }
    }

    fn is_named(&self, names: &[String]) -> bool {
        match self {
            Self::Judge(mutant) => mutant.is_named(FILE, names),
            Self::Known(known) => {
                let earlier = known.earlier_name();
                names.iter().any(|name| *name == known.name || Some(name) == earlier.as_ref())
            }
        }
    }
}

/// The mutants of an earlier judgement, to be judged with other properties. Invalid and equivalent ones stay so, whatever
/// the properties.
fn same_mutants(before: &Judged, all: &[Mutant]) -> Vec<SampledMutant> {
    let find = |known: &JudgedMutant| all.iter().find(|mutant| mutant.is_named(FILE, &[&known.name]));
    let wanted = |known: &JudgedMutant| match (known.outcome, find(known)) {
        (Outcome::Equivalent | Outcome::Invalid, _) => SampledMutant::Known(known.clone()),
        (_, Some(mutant)) => SampledMutant::Judge(mutant.clone()),
        // The mutant is gone because its change would now alter the properties as well. One that was not noticed stays so.
        (Outcome::Killed, None) => {
            SampledMutant::Known(JudgedMutant { outcome: Outcome::Inconclusive, ..known.clone() })
        }
        (_, None) => SampledMutant::Known(known.clone()),
    };
    before.mutants.iter().map(wanted).collect()
}

/// What became of a mutant of the sample.
#[expect(clippy::large_enum_variant, reason = "a sample has few mutants")]
enum Sampled {
    Judged(JudgedMutant),
    /// A tool failed for a reason outside of the mutant.
    ToolFailed(String),
}

async fn judge_mutant(judge: &Judge<'_>, mutant: &Mutant, cx: &ToolContext<'_>) -> Result<Sampled, ToolError> {
    let judged = judge.judge(mutant, cx).await?;
    if judged.is_transient && judged.outcome == Outcome::Inconclusive {
        return Ok(Sampled::ToolFailed(judged.reason.unwrap_or_default()));
    }
    let module = &judge.subject.module;
    let is_used = |variable: &str| match judged.killed_by.as_slice() {
        [property] if module.definition(property).is_some() => {
            // As a subscript, the tuple of all variables says nothing of each.
            module.variables_of(property, |name| name != "vars").contains(variable)
        }
        _ => true,
    };
    let noticed_in = judged.trace.as_ref().and_then(|trace| noticed_in(trace, is_used));
    Ok(Sampled::Judged(JudgedMutant {
        outcome: judged.outcome,
        killed_by: judged.killed_by,
        noticed_in,
        lost_witnesses: judged.lost_witnesses,
        reason: judged.reason.filter(|_| matches!(judged.outcome, Outcome::Inconclusive | Outcome::Timeout)),
        ..timed_out(judge.subject, mutant)
    }))
}

/// The last state of a counterexample: the values of the variables that the property mentions.
fn noticed_in(trace: &Trace, is_used: impl Fn(&str) -> bool) -> Option<NoticedIn> {
    let last = trace.steps.last().filter(|_| trace.lasso.is_none())?;
    let is_shown = |name: &String| last.changed.contains(name) && is_used(name);
    let is_any_shown = last.state.keys().any(is_shown);
    let changed = last.state.iter().filter(|(name, _)| is_shown(name) || !is_any_shown && last.changed.contains(name));
    let values =
        changed.map(|(name, value)| format!("{name} = {}", value.split_whitespace().collect::<Vec<_>>().join(" ")));
    let values: String = values.collect::<Vec<_>>().join(", ").chars().take(MAX_VALUES).collect();
    Some(NoticedIn { step: last.step, values })
}

/// A mutant whose check did not end in time.
fn timed_out(subject: &Subject, mutant: &Mutant) -> JudgedMutant {
    let touches = requirements_touched(&subject.module, &subject.cfg, &mutant.definition);
    JudgedMutant {
        name: mutant.name(),
        place: mutant.place(FILE),
        definition: mutant.definition.clone(),
        what: mutant.what.clone(),
        diff: mutant.diff(&subject.source),
        outcome: Outcome::Timeout,
        killed_by: Vec::new(),
        noticed_in: None,
        lost_witnesses: Vec::new(),
        reason: None,
        touches: touches.into_iter().collect(),
    }
}

//! Runs the model checker, and further runs that probe a violation. It asks no model and does not know what follows from
//! the outcome.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::context::{NodeContext, halt_for_tool};
use super::timing::late_in_replay;
use super::workspace::current;
use crate::journal::{Kind, Sha};
use crate::pipeline::{
    Attempt, CheckRecord, Event, Facts, Halt, NodeError, NodeName, Product, RunEvent, RunView, StopReason, file,
};
use crate::tla::{Cfg, FurtherVerdict, Reached, WitnessOutcome, asserting_definitions, checked_texts};
use crate::toolchain::{CheckReport, CheckRequest, Limits, SpecText, ToolContext};

/// The time for further runs on each violation but the first, for all of them together.
const MAX_PROBE_TIME: Duration = Duration::from_secs(120);

/// Probes every violation but the first.
async fn probe_further(
    context: &NodeContext,
    request: &CheckRequest,
    checked: &mut CheckReport,
    cx: &ToolContext<'_>,
) -> Result<(), NodeError> {
    let CheckReport { outcome, output, .. } = checked;
    let mut left = cx.limits.check.min(MAX_PROBE_TIME);
    for name in outcome.violated_names().skip(1).map(str::to_owned).collect::<Vec<_>>() {
        let Some(focused) = outcome.focused_on(&name) else { continue };
        let began = Instant::now();
        let limits = Limits { check: left, ..cx.limits.clone() };
        let in_time = ToolContext { limits: &limits, ..*cx };
        let probed = context.toolchain.probe(request, &focused, &in_time).await.map_err(|e| halt_for_tool(&e))?;
        left = left.saturating_sub(began.elapsed());
        let Some(probed) = probed else { continue };
        output.push_str(&probed.output);
        for further in outcome.further.iter_mut().filter(|further| further.name == name) {
            if let FurtherVerdict::Violated { probes, .. } = &mut further.verdict {
                *probes = Some(probed.probes.clone());
            }
        }
    }
    Ok(())
}

/// Why a witness or property has no verdict in a replay.
const LATE_IN_RECORDING: &str = "its run did not end in time when this was recorded";

pub(super) async fn perform(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
) -> Result<Product, NodeError> {
    let output = match attempt.recall(RunEvent::try_as_check_finished_ref) {
        Some(check) => check.output.clone(),
        None => check(context, view, attempt).await?,
    };
    Ok(Product {
        event: Event::Checked,
        artifacts: BTreeMap::from([(file::OUTPUT.to_owned(), output)]),
        feedback: Vec::new(),
        facts: Facts::Nothing,
    })
}

async fn check(context: &NodeContext, view: &RunView, attempt: &Attempt<'_>) -> Result<Sha, NodeError> {
    let (Some(module_sha), Some(cfg_sha)) = (view.artifact(file::MODULE), view.artifact(file::CFG)) else {
        return Err(Halt {
            reason: StopReason::Tool,
            message: "there is no module with a configuration to check; resume with `--from` and `--at formalize`"
                .into(),
        }
        .into());
    };
    let text = current(view, attempt, file::MODULE)?.unwrap_or_default();
    let cfg_text = current(view, attempt, file::CFG)?.unwrap_or_default();
    let unreadable = |what: String| Halt {
        reason: StopReason::Tool,
        message: format!("the accepted module cannot be read back: {what}"),
    };
    let cfg = Cfg::parse(&cfg_text).map_err(|d| unreadable(d.to_string()))?;
    let module = context.modules.parse(&text).map_err(|e| unreadable(e.to_string()))?;
    let checked_names = checked_texts(&module, &cfg);
    let asserting_definitions = asserting_definitions(&module, &cfg);
    let timing = context.timing(attempt);
    // Witnesses that were not decided in time when the run was recorded are not tried in the replay.
    let is_late = |name: &String| timing.is_some_and(|timing| timing.timed_out.contains(name));
    let all_witnesses = cfg.witnesses.clone();
    let witnesses = all_witnesses.iter().filter(|name| !is_late(name)).cloned().collect();
    let cfg = Cfg { witnesses, ..cfg };
    let request =
        CheckRequest { spec: SpecText { name: module.name.clone(), text, local_modules: Vec::new() }, cfg_text, cfg };
    let limits = context.check_limits(attempt, NodeName::GenerateInvariants);
    let cx = ToolContext { limits: &limits, ..context.tool_context() };
    let began = Instant::now();
    let mut checked = context.toolchain.check(&request, &cx).await.map_err(|e| halt_for_tool(&e))?;
    let outcome = &mut checked.outcome;
    // Properties that timed out in the recording stay undecided. None of the further runs ends a replay: they have little
    // time, and the verdict does not depend on them.
    for further in outcome.further.iter_mut().filter(|further| is_late(&further.name)) {
        let reason = LATE_IN_RECORDING.to_owned();
        further.verdict = FurtherVerdict::Undecided { reason, timed_out: true };
    }
    let timed_out = outcome.verdict.is_timed_out() || outcome.witnesses.iter().any(|w| w.timed_out);
    // A replay must not decide otherwise than the recorded run only because this machine is slower.
    if timed_out && timing.is_some_and(|timing| !timing.check_timed_out) {
        return Err(late_in_replay("the check", limits.check).into());
    }
    for (place, name) in all_witnesses.into_iter().enumerate().filter(|(_, name)| is_late(name)) {
        let reached = Reached::Unknown(LATE_IN_RECORDING.to_owned());
        // Back to its place in the configuration, so that the outcome equals the recorded one.
        let place = place.min(outcome.witnesses.len());
        outcome.witnesses.insert(place, WitnessOutcome { name, reached, timed_out: true });
    }
    let open_point_searches = context.avoid_open_points(view, attempt, &request, &module, &mut checked).await?;
    let probed = context.toolchain.probe(&request, &checked.outcome, &cx).await.map_err(|e| halt_for_tool(&e))?;
    if let Some(probed) = probed {
        checked.outcome.probes = Some(probed.probes);
        checked.output.push_str(&probed.output);
    }
    probe_further(context, &request, &mut checked, &cx).await?;
    let took = began.elapsed();
    checked.outcome.statistics.total_seconds = Some(took.as_secs_f64());
    context.check_larger_bounds(attempt, &request, &mut checked, took).await?;
    let output = attempt.keep(&checked.output)?;
    let record = CheckRecord {
        outcome: checked.outcome,
        module: module_sha.clone(),
        cfg: cfg_sha.clone(),
        output: output.clone(),
        checked: checked_names,
        asserting_definitions,
        open_point_searches,
    };
    attempt.record(Kind::Act, RunEvent::CheckFinished(Box::new(record)))?;
    context.write_recording(attempt)?;
    Ok(output)
}

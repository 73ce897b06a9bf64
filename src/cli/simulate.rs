//! `tlaforge check --simulate`: random walks through a specification that is too large to search. They can find a violation, and never
//! show that there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use clap::Args as ClapArgs;

use super::failure::Failure;
use super::tools::{embedded_tools, tool_failure};
use crate::report::counted;
use crate::tla::{
    ActionCoverage, Bounds, CheckOutcome, Checker, Module, Statistics, Trace, Verdict, Violation, ViolationKind,
};
use crate::toolchain::{
    CheckRequest, EMBEDDED_VERSION, PossibleStep, SteppedState, ToolContext, WalkReport, WalkRequest, WalkViolationKind,
};

/// How the message of a failed assertion begins.
const ASSERT: &str = "Assert failed: ";

/// Walks between two looks at the time and at Ctrl-C.
const BATCH: u64 = 50;

#[derive(Debug, Clone, ClapArgs)]
pub(super) struct SimulateArgs {
    /// Take N random walks instead of searching all states, with the embedded tools; rarely taken actions are preferred. It reports violated
    /// invariants, deadlocks and failed assertions, and never that a property holds (status 3) [N: 1000 if it is left out].
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000", conflicts_with_all = ["distributed", "watch", "keep_translation"])]
    pub simulate: Option<u64>,
    /// Largest number of steps of a walk.
    #[arg(long, value_name = "D", default_value = "100", requires = "simulate")]
    pub depth: u64,
    /// Seed of the random numbers: the same seed takes the same walks.
    #[arg(long, value_name = "S", default_value = "1", requires = "simulate")]
    pub seed: u64,
}

/// Takes the walks.
pub(super) async fn simulate(
    args: &SimulateArgs,
    request: &CheckRequest,
    cx: &ToolContext<'_>,
) -> Result<CheckOutcome, Failure> {
    let begin = Instant::now();
    let wanted = args.simulate.unwrap_or(0);
    let cfg = &request.cfg;
    let mut outcome = CheckOutcome::rejected(Checker::Embedded, bounds(request), Vec::new());
    EMBEDDED_VERSION.clone_into(&mut outcome.version);
    for (what, names) in [("PROPERTY", &cfg.properties), ("ACTION_CONSTRAINT", &cfg.action_constraints)] {
        if !names.is_empty() {
            outcome.warnings.push(format!(
                "{what} {} was not checked: walks check invariants, deadlocks and assertions",
                names.join(", ")
            ));
        }
    }
    let started = embedded_tools()?.step_through(request, &[], true, cx).await.map_err(|error| tool_failure(&error))?;
    let mut total = WalkReport::default();
    let mut why_ended = None;
    match started {
        Err(why) => why_ended = Some(why),
        Ok((mut stepper, _)) => {
            while total.walks < wanted && total.violation.is_none() && total.failed.is_none() {
                if begin.elapsed() > cx.limits.check || cx.cancel.is_cancelled() {
                    break;
                }
                let walk = WalkRequest {
                    first: total.walks,
                    count: BATCH.min(wanted - total.walks),
                    depth: args.depth,
                    seed: args.seed,
                    deadlock: cfg.check_deadlock != Some(false),
                };
                match stepper.walk(walk).await {
                    Ok(report) => add(&mut total, report),
                    Err(why) => {
                        why_ended = Some(why);
                        break;
                    }
                }
            }
        }
    }
    outcome.statistics = Statistics {
        generated: Some(total.steps + total.walks),
        seconds: begin.elapsed().as_secs_f64(),
        ..Statistics::default()
    };
    outcome.coverage = Some(coverage(request, &total.taken));
    outcome.verdict = match (&total.violation, &total.failed, why_ended) {
        (Some(violation), ..) => {
            outcome.warnings.push(format!("walk {} (seed {}) found the violation", violation.walk + 1, args.seed));
            outcome.trace = Some(trace(&violation.start, &violation.path));
            let violated = match &violation.what {
                WalkViolationKind::Invariant(name) => {
                    Violation { kind: ViolationKind::Invariant, name: Some(name.clone()) }
                }
                WalkViolationKind::Deadlock => Violation { kind: ViolationKind::Deadlock, name: None },
            };
            Verdict::Violated { violated }
        }
        (None, Some(failure), _) => {
            outcome.trace = Some(trace(&failure.start, &failure.path));
            outcome.warnings.push(format!("the evaluation failed in walk {} (seed {})", failure.walk + 1, args.seed));
            match failure.why.strip_prefix(ASSERT) {
                Some(text) => {
                    // The message, in quotation marks and before its place.
                    let name = text.rsplit_once(" (line ").map_or(text, |(text, _)| text).trim_matches('"').to_owned();
                    let name = Some(name).filter(|name| !name.is_empty());
                    Verdict::Violated { violated: Violation { kind: ViolationKind::Assertion, name } }
                }
                None => Verdict::inconclusive(format!(
                    "{} could not be evaluated after {}: {}",
                    failure.what,
                    counted(failure.path.len() as u64, "step"),
                    failure.why
                )),
            }
        }
        (None, None, _) if cx.cancel.is_cancelled() => Verdict::inconclusive(format!(
            "interrupted after {} of {wanted} walks without a violation (seed {})",
            total.walks, args.seed
        )),
        (None, None, Some(why)) => Verdict::inconclusive(why),
        (None, None, None) => {
            let ended = if total.walks < wanted {
                let limit = cx.limits.check.as_secs();
                format!(", of {wanted} that were asked for: the time limit of {limit} s ended them")
            } else {
                String::new()
            };
            Verdict::inconclusive(format!(
                "no violation in {} of at most {}{ended} (seed {}; {} in all)",
                counted(total.walks, "walk"),
                counted(args.depth, "step"),
                args.seed,
                counted(total.steps, "step")
            ))
        }
    };
    Ok(outcome)
}

fn bounds(request: &CheckRequest) -> Bounds {
    let cfg = &request.cfg;
    Bounds {
        constants: cfg.constants.clone(),
        constraints: cfg.constraints.clone(),
        deadlock_checked: cfg.check_deadlock != Some(false),
        ..Bounds::default()
    }
}

fn add(total: &mut WalkReport, report: WalkReport) {
    total.walks += report.walks;
    total.steps += report.steps;
    for (action, count) in report.taken {
        *total.taken.entry(action).or_default() += count;
    }
    total.violation = report.violation;
    total.failed = report.failed;
}

/// How often each action was taken; labels that no walk took are there with 0.
fn coverage(request: &CheckRequest, taken: &BTreeMap<String, u64>) -> Vec<ActionCoverage> {
    let module = Module::parse(&request.spec.text).ok();
    let labels = module.iter().flat_map(|module| &module.algorithm).flat_map(|algorithm| &algorithm.labels);
    let names: BTreeSet<&str> = labels.map(|label| &*label.name).chain(taken.keys().map(String::as_str)).collect();
    let entry = |name: &str| ActionCoverage {
        action: name.to_owned(),
        taken: taken.get(name).copied().unwrap_or(0),
        distinct: 0,
        place: None,
        is_lower_bound: false,
        is_own_terminating: false,
    };
    names.into_iter().filter(|name| !name.is_empty()).map(entry).collect()
}

fn trace(start: &SteppedState, path: &[PossibleStep]) -> Trace {
    let mut trace = Trace::default();
    trace.push(1, None, start.values.iter().cloned().collect());
    for (number, PossibleStep { action, arguments, to }) in (2..).zip(path) {
        let name = Some(action.clone()).filter(|name| !name.is_empty());
        trace.push(number, name, to.values.iter().cloned().collect());
        if let Some(last) = trace.steps.last_mut() {
            last.arguments = (!arguments.is_empty()).then(|| arguments.join(", "));
        }
    }
    trace
}

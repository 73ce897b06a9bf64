//! Evaluates one specification against one case, for `eval` and for each case of a suite.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::contradictions::{CONTRADICTIONS_DIR, ContradictionReports};
use super::engine::{EngineTools, check_engine};
use super::eval_args::EvalArgs;
use super::failure::Failure;
use super::progress::{Display, format_progress, with_status};
use super::tools::{Tools, create_quick_toolchain, create_toolchain, tool_failure, tool_limits};
use crate::config::Settings;
use crate::eval::{
    Case, CaseError, CheckerSlots, Evaluation, EvaluationContext, JudgingProgress, Score, Specs, SpecsError, evaluate,
};
use crate::process::Cancel;
use crate::report::counted;
use crate::toolchain::ToolContext;

pub(super) struct Evaluator {
    tools: Tools,
    /// For known bugs and references.
    quick: EngineTools,
    quick_contradictions: Arc<ContradictionReports>,
    slots: CheckerSlots,
    /// With `--engine`: how many checks are sent at a time.
    remote_slots: Option<CheckerSlots>,
}

impl Evaluator {
    pub(super) fn new(args: &EvalArgs, settings: &Settings) -> Result<Self, Failure> {
        check_engine(&args.engine, settings)?;
        let folder = Path::new(CONTRADICTIONS_DIR);
        let Tools { toolchain, contradictions, .. } = create_quick_toolchain(settings, folder)?;
        let sent = args.engine.default_jobs().map(|default| args.jobs.map_or(default, usize::from));
        Ok(Self {
            tools: create_toolchain(settings, folder)?,
            quick: EngineTools::new(&args.engine, settings.checker, &tool_limits(settings)?, toolchain)?,
            quick_contradictions: contradictions,
            slots: CheckerSlots::new(job_count(args)),
            remote_slots: sent.map(CheckerSlots::elsewhere),
        })
    }

    pub(super) async fn evaluate(
        &self,
        specs: &Specs,
        case: &Case,
        settings: &Settings,
        cancel: &Cancel,
        display: &Display,
    ) -> Result<Evaluation, Failure> {
        let (began, latest) = (Instant::now(), Mutex::new(None));
        // The estimate must not count the time of the specification's own check, which is over.
        let judging_began = OnceLock::new();
        let judging = |now: JudgingProgress| {
            judging_began.get_or_init(Instant::now);
            let before = latest.lock().ok().and_then(|mut latest| latest.replace(now));
            if let Some(words) = describe_judging(before, now) {
                display.announce(&words);
            }
        };
        let bench = EvaluationContext {
            tools: &*self.tools.toolchain,
            quick_tools: &*self.quick.toolchain,
            limits: tool_limits(settings)?,
            cancel,
            progress: &|p| display.show_check_progress(&p),
            on_progress: &judging,
            slots: &self.slots,
            bug_slots: self.remote_slots.as_ref().unwrap_or(&self.slots),
        };
        let status = || {
            let now: Option<JudgingProgress> = latest.lock().ok().and_then(|latest| *latest);
            let words = now.map_or_else(
                || format!("checking the specification itself ({:.1} s)", began.elapsed().as_secs_f64()),
                |now| {
                    let what = format!("judged in {}", counted(now.checks, "check"));
                    format_progress(
                        now.judged,
                        now.bugs + now.references,
                        &what,
                        *judging_began.get_or_init(Instant::now),
                    )
                },
            );
            display.show_status(&format!("{}: {words}", case.name));
        };
        with_status(Box::pin(evaluate(specs, case, &bench)), display.status_interval(), status)
            .await
            .map_err(|e| tool_failure(&e))
    }

    /// The versions of the checkers that can judge.
    pub(super) async fn checker_versions(&self, settings: &Settings, cancel: &Cancel) -> Result<Vec<String>, Failure> {
        let limits = tool_limits(settings)?;
        let cx = ToolContext { limits: &limits, cancel, progress: &|_| {} };
        let mut versions = Vec::new();
        for toolchain in [&self.tools.toolchain, &self.quick.toolchain] {
            versions.push(toolchain.info(&cx).await.map_err(|e| tool_failure(&e))?.version);
        }
        Ok(versions)
    }

    pub(super) fn slots(&self) -> &CheckerSlots {
        &self.slots
    }

    /// Whether two checkers contradicted each other.
    pub(super) fn has_contradictions(&self) -> bool {
        self.tools.contradictions.has_any() || self.quick_contradictions.has_any()
    }

    /// Ends the checks on other machines that are no longer needed.
    pub(super) async fn cancel_submitted(&self) {
        self.quick.cancel_submitted().await;
    }
}

/// Describes what is judged next, and the time limit of each run once it is known.
fn describe_judging(before: Option<JudgingProgress>, now: JudgingProgress) -> Option<String> {
    let JudgingProgress { bugs, references, judged, limit, .. } = now;
    match (before, limit) {
        (None, _) => Some(format!("judging {} and {}", counted(bugs, "known bug"), counted(references, "reference"))),
        (Some(JudgingProgress { limit: None, .. }), Some(limit)) if bugs > 0 => Some(format!(
            "{judged} of {} judged; the time limit of a run on a known bug is {:.0} s",
            bugs + references,
            limit.as_secs_f64()
        )),
        _ => None,
    }
}

pub(super) fn job_count(args: &EvalArgs) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    args.jobs.map_or_else(processors, usize::from)
}

/// Why a score misses `--fail-under`, if it does: with how it was counted, or why there is none.
pub(super) fn explain_low_score(least: f64, score: Option<f64>, counted: &str, no_score: &str) -> Option<String> {
    match score {
        Some(score) if score >= least => None,
        Some(score) => Some(format!("--fail-under: the score{counted} is {score:.4}, below {least}")),
        None => Some(format!("--fail-under: there is no score{no_score}")),
    }
}

/// What `--fail-under` says of a score.
#[derive(Default)]
pub(super) struct Threshold {
    /// Why the score misses it, if it certainly does.
    pub too_low: Option<String>,
    /// Whether it depends on what was not decided.
    pub is_open: bool,
}

pub(super) fn compare_with_threshold(least: Option<f64>, score: Option<Score>) -> Threshold {
    let Some(least) = least else { return Threshold::default() };
    let too_low = explain_low_score(least, score.map(|score| score.most), "", "");
    let is_open = too_low.is_none() && score.is_some_and(|score| score.least < least);
    Threshold { too_low, is_open }
}

pub(super) fn case_failure(error: &CaseError) -> Failure {
    Failure::usage(error.to_string()).hint(error.remedy.clone())
}

pub(super) fn specs_failure(error: &SpecsError) -> Failure {
    Failure::usage(error.to_string()).hint(error.remedy)
}

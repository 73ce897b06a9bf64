//! Evaluates one specification against one case.

use std::time::{Duration, Instant};

use super::case::Case;
use super::expected_violation::{check_expected_violation, expected_violation};
use super::known_bugs::{JudgingProgress, KnownBugJudge, ProgressReport, all_missed};
use super::outcome::{Evaluation, KnownBugResult, Tools};
use super::slots::CheckerSlots;
use super::specs::Specs;
use super::tiers::check_specification;
use crate::process::Cancel;
use crate::toolchain::{Limits, Progress, ToolContext, ToolError, Toolchain};

/// Tools, limits and callbacks of an evaluation.
pub struct EvaluationContext<'a> {
    /// Tools for the specification itself.
    pub tools: &'a dyn Toolchain,
    /// Tools for known bugs and references, which need many small checks.
    pub quick_tools: &'a dyn Toolchain,
    /// Limits of each run; a case can set lower ones.
    pub limits: Limits,
    pub cancel: &'a Cancel,
    /// Called with the progress of a checker.
    pub progress: &'a (dyn Fn(Progress) + Send + Sync),
    /// Called before each check of a known bug or reference, and after each one that is judged.
    pub on_progress: &'a (dyn Fn(JudgingProgress) + Send + Sync),
    /// Shared by all cases that are evaluated at the same time.
    pub slots: &'a CheckerSlots,
    /// The same for known bugs and references.
    pub bug_slots: &'a CheckerSlots,
}

pub async fn evaluate(specs: &Specs, case: &Case, context: &EvaluationContext<'_>) -> Result<Evaluation, ToolError> {
    let began = Instant::now();
    let mut limits = context.limits.clone();
    if let Some(time) = case.checklist.tlc_constraints.time_limit() {
        // A case can shorten the limit of the user, not extend it.
        limits.check = limits.check.min(time);
    }
    let cx = ToolContext { limits: &limits, cancel: context.cancel, progress: context.progress };
    let checked = context.slots.occupy(check_specification(specs, case, context.tools, &cx)).await?;
    let tier3 = match &checked.parsed {
        Some((module, cfg)) => {
            // Several checkers run in parallel, so each gets a part of the memory.
            let limits = context.bug_slots.share(&limits);
            let cx = ToolContext { limits: &limits, ..cx };
            let EvaluationContext { quick_tools: tools, bug_slots: slots, on_progress, .. } = *context;
            let progress = ProgressReport::new(case, on_progress);
            let own_time = checked.tier2.complete.then(|| Duration::from_secs_f64(checked.tier2.seconds));
            KnownBugJudge { module, cfg, case, tools, cx: &cx, own_time, slots, progress }.judge().await?
        }
        None => all_missed(case, "the generated module is rejected, so no property can be carried over"),
    };
    let mut checked = checked;
    if let Some(expected) = expected_violation(specs, case, &checked.tier1) {
        let check = check_expected_violation(expected, specs, case, &checked, &tier3, context.tools, &cx);
        let criterion = context.slots.occupy(check).await?;
        checked.replace_invariants(criterion);
    }
    let (tier1, tier2) = (checked.tier1, checked.tier2);
    let score = Evaluation::score_of(&tier1, &tier2, &tier3);
    let mut remarks = case.remarks();
    remarks.extend(tier3.known_bugs.iter().filter_map(KnownBugResult::unbounded_remark));
    if tier3.inapplicable {
        remarks.push(case.interface_advice());
    }
    Ok(Evaluation {
        schema: 3,
        case: case.name.clone(),
        score: score.map(|score| score.least),
        score_at_most: score.map(|score| score.most),
        tier1,
        tier2,
        tier3,
        outcome: specs.run.as_ref().and_then(|run| run.outcome),
        stale_answers: specs.run.as_ref().map(|run| run.stale_answers),
        models: specs.run.as_ref().map(|run| run.models.clone()).unwrap_or_default(),
        verdict: checked.verdict,
        checker: checked.checker,
        tools: Tools::new(checked.checker, checked.version, checked.second),
        seconds: began.elapsed().as_secs_f64(),
        remarks,
    })
}

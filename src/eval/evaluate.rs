//! One specification against one case.

use std::time::{Duration, Instant};

use super::case::Case;
use super::kills::{Court, Judging, missed};
use super::outcome::{Evaluation, Mutant, Tools};
use super::specs::Specs;
use super::tiers::look;
use crate::process::Cancel;
use crate::toolchain::{Limits, Progress, ToolContext, ToolError, Toolchain, memory_per_run_mib};

/// What decides.
pub struct Bench<'a> {
    /// Of the specification itself.
    pub tools: &'a dyn Toolchain,
    /// Of mutants and references, of which there are many.
    pub quick: &'a dyn Toolchain,
    /// Limits of each run; a case may set narrower ones.
    pub limits: Limits,
    /// Ends everything early.
    pub cancel: &'a Cancel,
    /// Called as a checker reports.
    pub progress: &'a (dyn Fn(Progress) + Send + Sync),
    /// Called as known bugs and references are judged.
    pub judging: &'a (dyn Fn(Judging) + Send + Sync),
    /// Mutants at a time.
    pub jobs: usize,
    /// Runs of a checker at a time, those of other cases included; they share the memory.
    pub at_a_time: usize,
}

/// Evaluates a specification.
pub async fn evaluate(specs: &Specs, case: &Case, bench: &Bench<'_>) -> Result<Evaluation, ToolError> {
    let began = Instant::now();
    let mut limits = bench.limits.clone();
    if let Some(time) = case.checklist.tlc_constraints.time() {
        limits.check = limits.check.min(time);
    }
    let cx = ToolContext { limits: &limits, cancel: bench.cancel, progress: bench.progress };
    let looked = look(specs, case, bench.tools, &cx).await?;
    let tier3 = match &looked.read {
        Some((module, cfg)) => {
            // Several run at a time, so each gets a part of the memory.
            let limits = Limits { heap_mib: Some(memory_per_run_mib(&limits, bench.at_a_time)), ..limits.clone() };
            let cx = ToolContext { limits: &limits, ..cx };
            let Bench { quick: tools, jobs, judging, .. } = *bench;
            let own_time = looked.tier2.complete.then(|| Duration::from_secs_f64(looked.tier2.seconds));
            Court { module, cfg, case, tools, cx: &cx, own_time, jobs, judging }.judge().await?
        }
        None => missed(case, "the generated module is rejected, so that nothing can be carried over"),
    };
    let (tier1, tier2) = (looked.tier1, looked.tier2);
    let mut remarks = case.remarks();
    remarks.extend(tier3.mutants.iter().filter_map(Mutant::without_end));
    if tier3.inapplicable {
        remarks.push(case.names_to_use());
    }
    Ok(Evaluation {
        schema: 2,
        case: case.name.clone(),
        score: Evaluation::score_of(&tier1, &tier2, tier3.rate),
        tier1,
        tier2,
        tier3,
        outcome: specs.told.as_ref().and_then(|told| told.outcome),
        stale_answers: specs.told.as_ref().map(|told| told.stale),
        checker: bench.tools.checker(),
        tools: Tools::of(bench.tools.checker(), looked.version, looked.second),
        seconds: began.elapsed().as_secs_f64(),
        remarks,
    })
}

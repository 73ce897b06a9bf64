//! Which witnesses of a configuration are reached: all of them in one run if the checker can, and those that such a run
//! left open in a run each.

use futures_util::{StreamExt, TryStreamExt, stream};

use tlaforge_tla::{BranchCoverage, Cfg, Reached, Verdict, WitnessOutcome};

use super::branches::Branches;
use super::plan::{self, Symmetry, processors};
use super::restrictions::restrictions;
use super::session::{Session, reached_verdict};
use super::targets::Targets;
use super::{BoxFuture, ToolError};

/// States up to which a check with SYMMETRY makes a further run without, which may have many times as many.
const MAX_SYMMETRIC_STATES: u64 = 2_000;

/// Whether one run can decide several witnesses. With SYMMETRY or VIEW, which states a run meets depends on what it
/// evaluates and in which order, so each witness keeps its own run.
pub(super) fn can_share_a_run(cfg: &Cfg) -> bool {
    cfg.symmetry.is_empty() && cfg.view.is_none()
}

/// What a run that searched for a witness with others showed of it; `None` if it needs a run of its own. `depth` is the
/// length of the path to it, if the run reached it, and `rest` is the verdict of the run about all that it did not reach.
pub(super) fn shared_outcome(name: &str, depth: Option<usize>, rest: Option<&Verdict>) -> Option<WitnessOutcome> {
    let reached = match (depth, rest) {
        (Some(depth), _) => Reached::Yes { depth },
        (None, Some(Verdict::Holds)) => Reached::No,
        // Also after a timeout: another witness may have taken the time.
        (None, _) => return None,
    };
    Some(WitnessOutcome { name: name.to_owned(), reached, timed_out: false })
}

impl Session<'_> {
    /// `decided` are the witnesses that the main run decided.
    pub(super) async fn check_witnesses(
        &mut self,
        safety: &Verdict,
        decided: &[WitnessOutcome],
    ) -> Result<Vec<WitnessOutcome>, ToolError> {
        let names = &self.request.cfg.witnesses;
        let mut decided = decided.to_vec();
        if matches!(safety, Verdict::Invalid { .. }) {
            let undecided = |name: &String| WitnessOutcome::undecided(name, "the specification is invalid");
            return Ok(names.iter().map(undecided).collect());
        }
        let open = open_names(names, &decided);
        if open.len() > 1 && can_share_a_run(&self.request.cfg) {
            let targets = Targets::new(self.request, &open, None);
            let search = self.explorer.search_witnesses(self.request, &targets, self.cx).await?;
            decided.extend(self.add_further_runs(search, &mut Vec::new()));
        }
        // Each run takes one thread and mostly the start of a JVM, so they run in parallel.
        let jobs = self.cx.limits.workers.map_or_else(processors, |workers| workers.max(1));
        let open = open_names(names, &decided);
        let this = &*self;
        let runs: Vec<BoxFuture<'_, _>> = open.iter().map(|name| Box::pin(this.check_witness(name)) as _).collect();
        let runs: Vec<(WitnessOutcome, String)> = stream::iter(runs).buffered(jobs).try_collect().await?;
        for (outcome, output) in runs {
            self.output.push_str(&output);
            decided.push(outcome);
        }
        if decided.iter().any(|outcome| matches!(outcome.reached, Reached::Yes { .. })) {
            let restrictions = restrictions(self.request);
            if !restrictions.is_empty() {
                for outcome in &mut decided {
                    if let Reached::Yes { depth } = outcome.reached {
                        *outcome = self.confirm_witness(&outcome.name, depth, &restrictions).await?;
                    }
                }
            }
        }
        // In the order of the configuration.
        Ok(names.iter().filter_map(|name| decided.iter().find(|outcome| outcome.name == *name).cloned()).collect())
    }

    /// Which branches some step takes, after a complete search of this many states. `decided` is what the main run
    /// decided.
    pub(super) async fn check_branches(
        &mut self,
        branches: &Branches,
        states: Option<u64>,
        decided: &[WitnessOutcome],
    ) -> Result<Result<BranchCoverage, String>, ToolError> {
        let mut decided = decided.to_vec();
        let cfg = &self.request.cfg;
        let predicates: Vec<String> = branches.predicates().collect();
        if open_names(&predicates, &decided).is_empty() {
            return Ok(Ok(branches.coverage(&decided)));
        }
        if cfg.view.is_some() {
            return Ok(Err("the configuration has a VIEW".to_owned()));
        }
        if !cfg.symmetry.is_empty() && states.is_none_or(|states| states > MAX_SYMMETRIC_STATES) {
            return Ok(Err(format!("with SYMMETRY only up to {MAX_SYMMETRIC_STATES} states are searched for them")));
        }
        // A run for several predicates has no SYMMETRY.
        let mut request = self.request.clone();
        request.cfg.symmetry.clear();
        let targets = Targets::new(&request, &[], Some(branches));
        let search = self.explorer.search_witnesses(&request, &targets, self.cx).await?;
        decided.extend(self.add_further_runs(search, &mut Vec::new()));
        Ok(Ok(branches.coverage(&decided)))
    }

    async fn check_witness(&self, name: &str) -> Result<(WitnessOutcome, String), ToolError> {
        let (mut outcome, mut output) = self.run_witness(name, Symmetry::Kept).await?;
        if outcome.reached == Reached::No && !self.request.cfg.symmetry.is_empty() {
            // With SYMMETRY "not reached" decides nothing, so it is tried again without; "reached" needs no second
            // run.
            let (full, more) = self.run_witness(name, Symmetry::LeftOut).await?;
            outcome = full;
            output += &more;
        }
        Ok((outcome, output))
    }

    async fn run_witness(&self, name: &str, symmetry: Symmetry) -> Result<(WitnessOutcome, String), ToolError> {
        let Some(plan) = plan::witness(&self.request.spec, &self.request.cfg, name, symmetry) else {
            let why = format!("`{name}` is not the name of an operator");
            return Ok((WitnessOutcome::undecided(name, why), String::new()));
        };
        let (run, output) = self.execute(&plan).await?;
        let timed_out = run.verdict.is_timed_out();
        Ok((WitnessOutcome { name: name.to_owned(), reached: reached_verdict(run), timed_out }, output))
    }
}

fn open_names(names: &[String], decided: &[WitnessOutcome]) -> Vec<String> {
    names.iter().filter(|name| !decided.iter().any(|outcome| outcome.name == **name)).cloned().collect()
}

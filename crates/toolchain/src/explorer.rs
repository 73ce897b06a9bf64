//! The interface to a checker: one run of a plan, and the information that some checkers need further runs for. `plan`
//! decides the runs and `check` combines their results; neither knows which checker runs.

use async_trait::async_trait;
use tlaforge_process::{Ended, Status};
use tlaforge_tla::{ActionCoverage, Checker, Diagnostic, Statistics, Trace, Verdict, WitnessOutcome};

use super::plan::RunPlan;
use super::targets::Targets;
use super::{CheckRequest, Detail, SpecText, ToolContext, ToolError};

/// The parsed output of one run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ParsedOutput {
    /// The checker's version in its own words.
    pub(crate) version: Option<String>,
    /// The first error; later ones are consequences of it.
    pub(crate) finding: Option<Finding>,
    pub(crate) trace: Option<Trace>,
    /// Counts; those of the last progress report if the run did not finish.
    pub statistics: Statistics,
    /// The last complete coverage report.
    pub coverage: Option<Vec<ActionCoverage>>,
    /// Probability of a fingerprint collision: the larger of TLC's two estimates.
    pub collision: Option<f64>,
    pub warnings: Vec<String>,
    /// Whether the output has "No error has been found". That alone is no verdict.
    pub no_error: bool,
    /// Whether the run checked formulas about infinite behaviours, not only about states and steps.
    pub liveness: bool,
    /// Whether the constraints are true in every state that a step leads to.
    pub nothing_cut_off: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Finding {
    /// `Violated` or `Invalid`.
    Verdict(Verdict),
    /// The checker ran out of memory or stack.
    Exhausted(String),
    /// Nothing is decided, for this reason.
    Undecided(String),
    /// An error that is not about the specification.
    Broke(String),
}

/// The result of one run.
pub(crate) struct Run {
    pub verdict: Verdict,
    pub parsed: ParsedOutput,
    pub seconds: f64,
    /// Threads: with several, which error is found first varies.
    pub workers: usize,
}

/// The result of a single run that did a whole check, or all of it but temporal properties and witnesses.
pub(crate) struct SingleRunCheck {
    pub safety: Run,
    /// The temporal properties, if the run checked them too.
    pub temporal: Option<Run>,
    /// The witnesses and predicates that the run decided.
    pub witnesses: Vec<WitnessOutcome>,
    pub output: String,
}

/// The result of a run that continued after violations.
pub(crate) struct PastViolations {
    /// Invariants and action properties that are violated, in the order in which the run met the violations.
    pub(crate) violated: Vec<String>,
    /// The result for everything else.
    pub(crate) run: Run,
    pub(crate) output: String,
}

/// The result of further runs, with their output.
pub(crate) struct FurtherRuns<T> {
    pub result: T,
    pub warnings: Vec<String>,
    pub output: String,
}

impl<T> FurtherRuns<T> {
    pub(crate) fn nothing(result: T) -> Self {
        Self { result, warnings: Vec::new(), output: String::new() }
    }
}

/// A checker, ready to run the plans of one check.
#[async_trait]
pub(crate) trait Explorer: Send + Sync {
    fn checker(&self) -> Checker;

    /// The checker's name and version in its own words.
    fn version(&self) -> String;

    /// Keywords of the configuration that this checker does not know and would misread.
    fn unknown_keywords(&self, _request: &CheckRequest) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Runs a plan; returns the result, and the output under a heading.
    async fn run(&self, spec: &SpecText, plan: &RunPlan, cx: &ToolContext<'_>) -> Result<(Run, String), ToolError>;

    /// Runs a plan with one thread, and continues after a violated invariant or action property: the run no longer evaluates
    /// that property, as if the configuration did not list it. `None` if the checker cannot do so for this plan.
    async fn run_past_violations(
        &self,
        _spec: &SpecText,
        _plan: &RunPlan,
        _cx: &ToolContext<'_>,
    ) -> Result<Option<PastViolations>, ToolError> {
        Ok(None)
    }

    /// Another checker, which starts faster, for questions about vacuity.
    fn quick(&self) -> Option<Box<dyn Explorer + '_>> {
        None
    }

    /// Searches for several witnesses in one run. The result lacks those that the run did not decide; each of them then
    /// gets a run of its own.
    async fn search_witnesses(
        &self,
        _request: &CheckRequest,
        _targets: &Targets,
        _cx: &ToolContext<'_>,
    ) -> Result<FurtherRuns<Vec<WitnessOutcome>>, ToolError> {
        Ok(FurtherRuns::nothing(Vec::new()))
    }

    /// Does the whole check, or more of it than the plans need, in one run that also searches for these targets. `None`
    /// says nothing.
    async fn check_in_one_run(
        &self,
        _request: &CheckRequest,
        _targets: &Targets,
        _detail: Detail,
        _cx: &ToolContext<'_>,
    ) -> Result<Option<SingleRunCheck>, ToolError> {
        Ok(None)
    }

    /// How often each action is taken, by further runs, if the main run does not report it.
    async fn coverage(
        &self,
        _request: &CheckRequest,
        _cx: &ToolContext<'_>,
    ) -> Result<FurtherRuns<Option<Vec<ActionCoverage>>>, ToolError> {
        Ok(FurtherRuns::nothing(None))
    }

    /// Names the actions of a trace that has only states.
    async fn name_steps(
        &self,
        _request: &CheckRequest,
        trace: Trace,
        _cx: &ToolContext<'_>,
    ) -> Result<FurtherRuns<Trace>, ToolError> {
        Ok(FurtherRuns::nothing(trace))
    }
}

/// The verdict of one run. A violation that the checker showed counts, however the run ended afterwards; a success
/// counts only if no state was left to explore. `broke` makes the error for an end that says nothing about the
/// specification.
pub(crate) fn judge(
    name: &str,
    ended: &Ended,
    parsed: &ParsedOutput,
    cx: &ToolContext<'_>,
    broke: impl FnOnce(Option<&str>) -> ToolError,
) -> Result<Verdict, ToolError> {
    let inconclusive = |reason: String| Ok(Verdict::inconclusive(reason));
    let words = match &parsed.finding {
        Some(Finding::Verdict(verdict)) => return Ok(verdict.clone()),
        Some(Finding::Exhausted(words)) => {
            return inconclusive(format!("{name} ran out of memory or stack: {words}"));
        }
        Some(Finding::Undecided(words)) => return inconclusive(words.clone()),
        Some(Finding::Broke(words)) => Some(words.as_str()),
        None => None,
    };
    match ended.status {
        Status::DeadlineExceeded => {
            // "At least": the count is that of the last progress report.
            let seen = parsed.statistics.distinct.map(|seen| format!(": {seen} distinct states seen, at least"));
            // The limit of a mutant is a multiple of a measured time.
            let limit = (cx.limits.check.as_secs_f64() * 10.0).round() / 10.0;
            let seen = seen.unwrap_or_default();
            let reason = format!("{name} did not end within {limit} s{seen}");
            Ok(Verdict::Inconclusive { reason, timed_out: true })
        }
        Status::OutputFlood => inconclusive(format!("{name} wrote more than {} bytes", cx.limits.output)),
        // "No error has been found" with status 0 is not enough: TLC also reports it if `TLCSet("exit", TRUE)`
        // stopped it before a violation (measured with 2.15 and current sources).
        Status::Exited(0) if words.is_none() && parsed.no_error => match parsed.statistics.left_on_queue {
            Some(0) => Ok(Verdict::Holds),
            Some(left) => inconclusive(format!("{name} stopped with {left} states left to explore")),
            None => inconclusive(format!("{name} did not say whether states were left to explore")),
        },
        Status::Exited(_) | Status::Signalled(_) => Err(broke(words)),
        Status::Cancelled => Err(ToolError::Cancelled),
    }
}

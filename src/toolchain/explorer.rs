//! What a check asks of a checker, whichever it is: one run of a plan, and what the checker does not tell by itself.
//! The plan of runs is in `plan`, what they add up to in `check`; neither knows which checker answers.

use crate::process::{Ended, Status};
use crate::tla::{ActionCoverage, Checker, Diagnostic, Statistics, Trace, Verdict};

use super::plan::RunPlan;
use super::{BoxFuture, CheckRequest, SpecText, ToolContext, ToolError};

/// All that one run said.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// The checker's version, in its own words.
    pub(crate) version: Option<String>,
    /// The first thing that it found wrong.
    pub(crate) finding: Option<Finding>,
    /// The states that it showed.
    pub(crate) trace: Option<Trace>,
    /// Counts, those of the last progress report where it did not come to its end.
    pub(crate) statistics: Statistics,
    /// The last complete coverage report.
    pub(crate) coverage: Option<Vec<ActionCoverage>>,
    /// The larger of the estimates of a fingerprint collision.
    pub(crate) collision: Option<f64>,
    /// Its warnings.
    pub(crate) warnings: Vec<String>,
    /// Whether it printed "No error has been found". That alone is not a verdict.
    pub(crate) no_error: bool,
    /// Whether it checked formulas that speak of infinite behaviours, not only of states and steps.
    pub(crate) liveness: bool,
}

/// What a run found wrong.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Finding {
    /// `Violated` or `Invalid`.
    Verdict(Verdict),
    /// It ran out of memory or stack.
    Exhausted(String),
    /// Nothing is decided, for this reason.
    Undecided(String),
    /// Something that is not about the specification.
    Broke(String),
}

/// What one run came to.
pub(crate) struct Run {
    pub(crate) verdict: Verdict,
    pub(crate) read: Reading,
    pub(crate) seconds: f64,
    /// Threads that explored: with several it varies what is found first.
    pub(crate) workers: usize,
}

/// What one run decided of a whole check. Everything holds in it.
pub(crate) struct AtOnce {
    pub(crate) safety: Run,
    /// Where the temporal properties were checked with the rest.
    pub(crate) temporal: Option<Run>,
    pub(crate) output: String,
}

/// Something learned by further runs, with what they printed.
pub(crate) struct Learned<T> {
    pub(crate) what: T,
    pub(crate) warnings: Vec<String>,
    pub(crate) output: String,
}

/// A checker, ready to run the plans of one check.
pub(crate) trait Explorer: Send + Sync {
    /// Which it is.
    fn checker(&self) -> Checker;

    /// Its name and version, in its own words.
    fn version(&self) -> String;

    /// Keywords of the configuration that it takes for something else.
    fn unknown_keywords(&self, _request: &CheckRequest) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// One run, and what it printed under a heading.
    fn run<'a>(
        &'a self,
        spec: &'a SpecText,
        plan: &'a RunPlan,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<(Run, String), ToolError>>;

    /// Everything that the configuration asks for in one run, where the checker can do so and all of it holds; `None` says
    /// nothing.
    fn at_once<'a>(
        &'a self,
        _request: &'a CheckRequest,
        _cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<AtOnce>, ToolError>> {
        Box::pin(async { Ok(None) })
    }

    /// How often each action is taken, by runs of their own, where the main run does not tell.
    fn coverage<'a>(
        &'a self,
        _request: &'a CheckRequest,
        _cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Learned<Option<Vec<ActionCoverage>>>, ToolError>> {
        Box::pin(async { Ok(Learned { what: None, warnings: Vec::new(), output: String::new() }) })
    }

    /// Names the actions of a trace whose states alone it shows.
    fn name_steps<'a>(
        &'a self,
        _request: &'a CheckRequest,
        trace: Trace,
        _cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Learned<Trace>, ToolError>> {
        Box::pin(async { Ok(Learned { what: trace, warnings: Vec::new(), output: String::new() }) })
    }
}

/// The verdict of one run. What a checker showed counts, however it ended afterwards; success counts only when nothing
/// was left to explore. `broke` is the error for an end that says nothing about the specification.
pub(crate) fn judge(
    name: &str,
    ended: &Ended,
    read: &Reading,
    cx: &ToolContext<'_>,
    broke: impl FnOnce(Option<&str>) -> ToolError,
) -> Result<Verdict, ToolError> {
    let inconclusive = |reason: String| Ok(Verdict::inconclusive(reason));
    let words = match &read.finding {
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
            let seen = read.statistics.distinct.map(|seen| format!(": {seen} distinct states seen, at least"));
            let (limit, seen) = (cx.limits.check.as_secs_f64(), seen.unwrap_or_default());
            let reason = format!("{name} did not end within {limit} s{seen}");
            Ok(Verdict::Inconclusive { reason, timed_out: true })
        }
        Status::OutputFlood => inconclusive(format!("{name} wrote more than {} bytes", cx.limits.output)),
        Status::Exited(0) if words.is_none() && read.no_error => match read.statistics.left_on_queue {
            Some(0) => Ok(Verdict::Holds),
            Some(left) => inconclusive(format!("{name} stopped with {left} states left to explore")),
            None => inconclusive(format!("{name} did not say whether states were left to explore")),
        },
        Status::Exited(_) | Status::Signalled(_) => Err(broke(words)),
        Status::Cancelled => Err(ToolError::Cancelled),
    }
}

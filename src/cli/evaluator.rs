//! Evaluates one specification against one case, for `eval` and for each case of a suite.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use super::contradictions::CONTRADICTIONS_DIR;
use super::eval_args::EvalArgs;
use super::failure::Failure;
use super::progress::{Display, so_far, with_status};
use super::tools::{Tools, create_quick_toolchain, create_toolchain, tool_failure, tool_limits};
use crate::config::Settings;
use crate::eval::{Bench, Case, CaseError, Evaluation, Judging, Specs, SpecsError, evaluate};
use crate::journal::write_atomically;
use crate::process::Cancel;
use crate::report::counted;

/// What runs at the same time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parallelism {
    /// Known bugs of one case.
    pub jobs: usize,
    /// Runs of a checker over all cases.
    pub at_a_time: usize,
}

/// What decides evaluations.
pub(super) struct Evaluator {
    tools: Tools,
    quick: Tools,
}

impl Evaluator {
    pub(super) fn new(settings: &Settings) -> Result<Self, Failure> {
        let contradictions = Path::new(CONTRADICTIONS_DIR);
        Ok(Self {
            tools: create_toolchain(settings, contradictions)?,
            quick: create_quick_toolchain(settings, contradictions)?,
        })
    }

    pub(super) async fn evaluate(
        &self,
        specs: &Specs,
        case: &Case,
        settings: &Settings,
        cancel: &Cancel,
        display: &Display,
        Parallelism { jobs, at_a_time }: Parallelism,
    ) -> Result<Evaluation, Failure> {
        let (began, latest) = (Instant::now(), Mutex::new(None));
        let judging = |now: Judging| {
            let before = latest.lock().ok().and_then(|mut latest| latest.replace(now));
            if let Some(words) = begun_words(before, now) {
                display.begins(&words);
            }
        };
        let bench = Bench {
            tools: &*self.tools.toolchain,
            quick: &*self.quick.toolchain,
            limits: tool_limits(settings),
            cancel,
            progress: &|p| display.checking(&p),
            judging: &judging,
            jobs,
            at_a_time,
        };
        let status = || {
            let now: Option<Judging> = latest.lock().ok().and_then(|latest| *latest);
            let words = now.map_or_else(
                || format!("checking the specification itself ({:.1} s)", began.elapsed().as_secs_f64()),
                |now| so_far(now.judged, now.bugs + now.references, "judged", began),
            );
            display.status(&format!("{}: {words}", case.name));
        };
        with_status(evaluate(specs, case, &bench), status).await.map_err(|e| tool_failure(&e))
    }

    /// Whether two checkers contradicted each other.
    pub(super) fn contradicted(&self) -> bool {
        self.tools.contradictions.any() || self.quick.contradictions.any()
    }
}

/// What is about to be judged, and the limit of each run once it is known.
fn begun_words(before: Option<Judging>, now: Judging) -> Option<String> {
    let Judging { bugs, references, judged, limit } = now;
    match (before, limit) {
        (None, _) => Some(format!("judging {} and {}", counted(bugs, "known bug"), counted(references, "reference"))),
        (Some(Judging { limit: None, .. }), Some(limit)) if bugs > 0 => Some(format!(
            "{judged} of {} judged; a run on a known bug ends after {:.0} s at the latest",
            bugs + references,
            limit.as_secs_f64()
        )),
        _ => None,
    }
}

/// How many at a time.
pub(super) fn job_count(args: &EvalArgs) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    args.jobs.map_or_else(processors, usize::from)
}

pub(super) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let file = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    write_atomically(&file, text.as_bytes()).map_err(|e| {
        Failure::usage(format!("cannot write {}: {e}", path.display())).hint("name a file in a folder that exists")
    })
}

pub(super) fn case_failure(error: &CaseError) -> Failure {
    Failure::usage(error.to_string()).hint(error.remedy.clone())
}

pub(super) fn specs_failure(error: &SpecsError) -> Failure {
    Failure::usage(error.to_string()).hint(error.remedy)
}

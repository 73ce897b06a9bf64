//! `tlaforge eval`: a specification against a case of known bugs.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use serde::Serialize;

use super::args::{EvalArgs, Format};
use super::eval_suite;
use super::failure::Failure;
use super::forge::settings;
use super::progress::{Display, json_line, result, so_far, with_status};
use super::surroundings::{DEFECTS, Tools, cancel_on_signals, limits, quick_toolchain, tool_failure, toolchain};
use crate::config::Settings;
use crate::eval::{Bench, Case, CaseError, Evaluation, Judging, Specs, SpecsError, evaluate};
use crate::exit::Exit;
use crate::journal::write_atomically;
use crate::process::Cancel;
use crate::report::{self, Entry, Outcome, counted};

/// The report in a run folder.
const REPORT: &str = "eval_report.json";

pub(super) async fn eval(args: EvalArgs) -> Result<Exit, Failure> {
    if let Some(score) = args.fail_under.filter(|score| !(0.0..=1.0).contains(score)) {
        return Err(Failure::usage(format!("--fail-under is {score}; a score is from 0 to 1")));
    }
    if let Some(suite) = args.suite.clone() {
        return eval_suite::eval_suite(&suite, args).await;
    }
    let (Some(specs), Some(case)) = (&args.specs, &args.case) else {
        return Err(Failure::usage("what is evaluated?").hint("give a run folder and a case, or --suite DIR"));
    };
    let of_suites = [("--runs", args.runs.is_some()), ("--compare", args.compare.is_some())];
    let of_suites = of_suites.into_iter().chain([("--results", args.results.is_some())]);
    if let Some((flag, _)) = of_suites.into_iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!("{flag} is for suites of cases")).hint("give --suite DIR, or leave it out"));
    }
    let case = Case::load(case).map_err(|e| case_failure(&e))?;
    let specs = Specs::load(specs).map_err(|e| specs_failure(&e))?;
    let settings = settings(args.tools.layer())?;
    let tools = Judges::of(&settings)?;
    let cancel = cancel_on_signals();
    let display = Display::new(args.format);
    display.begins(&format!("evaluating {} against {}", specs.root.display(), case.name));
    let jobs = jobs(&args);
    let evaluated =
        tools.evaluate(&specs, &case, &settings, &cancel, &display, Parallel { jobs, at_a_time: jobs }).await;
    display.finish();
    let evaluation = evaluated?;
    write_report(&specs.root, &evaluation)?;
    match args.format {
        Format::Text => result(&report::evaluation(&evaluation)),
        Format::Json => json_line(&evaluation),
    }
    let exit = exit(&evaluation, args.fail_under);
    if let Some(path) = &args.junit {
        let outcome = Outcome::Evaluated(Box::new(evaluation));
        write(path, &report::junit(&[Entry { case: case.name, outcome }]))?;
    }
    Ok(if tools.contradicted() { Exit::Defect } else { exit })
}

/// What runs at the same time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parallel {
    /// Known bugs of one case.
    pub jobs: usize,
    /// Runs of a checker over all cases.
    pub at_a_time: usize,
}

/// What decides evaluations.
pub(super) struct Judges {
    tools: Tools,
    quick: Tools,
}

impl Judges {
    pub(super) fn of(settings: &Settings) -> Result<Self, Failure> {
        let defects = Path::new(DEFECTS);
        Ok(Self { tools: toolchain(settings, defects)?, quick: quick_toolchain(settings, defects)? })
    }

    pub(super) async fn evaluate(
        &self,
        specs: &Specs,
        case: &Case,
        settings: &Settings,
        cancel: &Cancel,
        display: &Display,
        Parallel { jobs, at_a_time }: Parallel,
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
            limits: limits(settings),
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
        self.tools.defects.any() || self.quick.defects.any()
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
pub(super) fn jobs(args: &EvalArgs) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    args.jobs.map_or_else(processors, usize::from)
}

/// The status of one evaluation.
fn exit(evaluation: &Evaluation, fail_under: Option<f64>) -> Exit {
    let tier1 = &evaluation.tier1;
    let below = fail_under.is_some_and(|least| evaluation.score.is_none_or(|score| score < least));
    match () {
        () if tier1.passed() && !below && evaluation.inapplicable() => Exit::Undecided,
        () if tier1.passed() && !below => Exit::Ok,
        () if tier1.undecided() => Exit::Undecided,
        () => Exit::Negative,
    }
}

fn write_report(root: &Path, evaluation: &impl Serialize) -> Result<(), Failure> {
    let path = root.join(REPORT);
    let text = serde_json::to_string_pretty(evaluation).unwrap_or_default() + "\n";
    write_atomically(&path, text.as_bytes())
        .map_err(|e| Failure::usage(format!("cannot write {}: {e}", path.display())))
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
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

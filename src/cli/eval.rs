//! `tlaforge eval`: evaluates a specification against a case of known bugs, or a suite of cases. The score comes from
//! `eval`; this file has the flags, the files and the exit status.

use std::path::Path;

use serde::Serialize;

use super::eval_args::EvalArgs;
use super::eval_suite::eval_suite;
use super::evaluator::{Evaluator, Threshold, case_failure, compare_with_threshold, specs_failure};
use super::failure::Failure;
use super::format::Format;
use super::output_file::write_file;
use super::page::write_page;
use super::progress::Display;
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::telemetry::name_run_in;
use super::terminal::{print_json_line, print_message, print_result};
use crate::eval::{Case, Evaluation, Specs};
use crate::exit::Exit;
use crate::journal::write_atomically;
use crate::report::{self, Entry, Outcome};

const REPORT: &str = "eval_report.json";

pub(super) async fn eval(args: EvalArgs) -> Result<Exit, Failure> {
    if let Some(suite) = args.suite.clone() {
        return eval_suite(&suite, args).await;
    }
    let (Some(specs), Some(case)) = (&args.specs, &args.case) else {
        return Err(Failure::usage("nothing to evaluate").hint("name a run folder and a case, or use --suite DIR"));
    };
    // clap does not ask for `--suite` here: it conflicts with `SPECS`, which is given.
    let suite_flags = [("--runs", args.runs.is_some()), ("--compare", args.compare.is_some())];
    let more_flags = [
        ("--results", args.results.is_some()),
        ("--inspect-log", args.inspect_log.is_some()),
        ("--shard", args.shard.is_some()),
    ];
    let suite_flags = suite_flags.into_iter().chain(more_flags);
    if let Some((flag, _)) = suite_flags.into_iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!("{flag} needs --suite")).hint("add --suite DIR, or remove the flag"));
    }
    args.page.check(None)?;
    let case = Case::load(case).map_err(|e| case_failure(&e))?;
    let specs = Specs::load(specs).map_err(|e| specs_failure(&e))?;
    name_run_in(&specs.root);
    let settings = load_settings(args.tools.layer())?;
    let evaluator = Evaluator::new(&args, &settings)?;
    let cancel = cancel_on_signals();
    let display = Display::new(args.format.plain());
    display.announce(&format!("evaluating {} against {}", specs.root.display(), case.name));
    let evaluated = evaluator.evaluate(&specs, &case, &settings, &cancel, &display).await;
    display.finish();
    evaluator.cancel_submitted().await;
    let evaluation = evaluated?;
    write_report(&specs.root, &evaluation)?;
    let exit = exit_status(&evaluation, args.fail_under);
    let Threshold { too_low, .. } = compare_with_threshold(args.fail_under, evaluation.range());
    let entries = [Entry { case: case.name, outcome: Outcome::Evaluated(Box::new(evaluation)) }];
    let printed = args.format.print(&args.findings, || {
        report::eval_findings(&entries).with_errors("score", too_low).with_contradiction(evaluator.has_contradictions())
    })?;
    if let (false, Outcome::Evaluated(evaluation)) = (printed, &entries[0].outcome) {
        match args.format.plain() {
            Format::Text => print_result(&report::evaluation(evaluation)),
            Format::Json => print_json_line(evaluation),
        }
    }
    if let Some(path) = &args.junit {
        write_file(path, &report::junit(&entries))?;
    }
    if let Some(path) = &args.page.html {
        write_page(path, &report::eval_page(&entries, None, &specs.root.display().to_string()))?;
    }
    Ok(if evaluator.has_contradictions() { Exit::Defect } else { exit })
}

fn exit_status(evaluation: &Evaluation, fail_under: Option<f64>) -> Exit {
    let tier1 = &evaluation.tier1;
    let Threshold { too_low, is_open } = compare_with_threshold(fail_under, evaluation.range());
    let below = too_low.is_some();
    match () {
        () if tier1.passed() && is_open => Exit::Undecided,
        // No known bug was applicable, so there is no score; success would claim that there was one.
        () if tier1.passed() && !below && evaluation.inapplicable() => Exit::Undecided,
        () if tier1.passed() && !below => Exit::Ok,
        () if tier1.undecided() => Exit::Undecided,
        () => Exit::Negative,
    }
}

fn write_report(root: &Path, evaluation: &impl Serialize) -> Result<(), Failure> {
    let path = root.join(REPORT);
    if path.exists() {
        print_message(&format!("{} of an earlier evaluation is replaced", path.display()));
    }
    let text = serde_json::to_string_pretty(evaluation).unwrap_or_default() + "\n";
    write_atomically(&path, text.as_bytes())
        .map_err(|e| Failure::usage(format!("cannot write {}: {e}", path.display())))
}

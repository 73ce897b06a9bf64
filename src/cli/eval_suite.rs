//! `tlaforge eval --suite`: evaluates every case that has a run or a recording.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use super::eval_args::EvalArgs;
use super::evaluator::{Evaluator, case_failure, compare_with_threshold, job_count, specs_failure};
use super::failure::{Fails, Failure};
use super::format::Format;
use super::inspect_log::PreparedLog;
use super::new_run::{DocumentSource, NewRun, create_run};
use super::output_file::write_file;
use super::page::write_page;
use super::parallel::{do_in_parallel, worst_exit};
use super::progress::{Display, format_progress, with_status};
use super::provider::AnswerSource;
use super::run_failure::run_failure;
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::terminal::{print_json_line, print_result};
use super::tools::tool_limits;
use super::trust::make_paths_absolute;
use crate::config::{DEFAULT_MUTANTS, Layer, Settings};
use crate::eval::{
    Case, CaseError, Comparison, Evaluation, Row, Specs, SuiteEntry, SuiteShard, compare, digest_case, load_suite,
    mean, read_results, results,
};
use crate::exit::Exit;
use crate::files::{self, Sha};
use crate::llm::Recording;
use crate::mutation::Shard;
use crate::nodes::{NodeDispatcher, STRENGTHEN};
use crate::pipeline::{self, Outcome as RunOutcome, drive};
use crate::process::{Cancel, Scratch};
use crate::report::{self, Entry, Outcome, evaluations};
use crate::shell::shell_word;

/// The result of a case, and the exit status for this case alone.
type CaseResult = (Entry, Exit);

#[expect(clippy::too_many_lines, reason = "what a suite does, in its order")]
pub(super) async fn eval_suite(dir: &Path, args: EvalArgs) -> Result<Exit, Failure> {
    if let Some(runs) = args.runs.as_ref().filter(|runs| !runs.is_dir()) {
        return Err(Failure::usage(format!("the folder {} does not exist", runs.display()))
            .hint("--runs takes a folder with one run per case, in a subfolder with the name of the case"));
    }
    args.page.check(None)?;
    // Before the cases are evaluated: it fails at once, and --results may name the same file.
    let before = args.compare.as_deref().map(read_results_file).transpose()?;
    let mut cases = load_suite(dir).map_err(|e| case_failure(&e))?;
    if let Some(one) = &args.show_one {
        let names: Vec<String> = cases.iter().map(|(name, _)| name.clone()).collect();
        cases.retain(|(name, _)| name == one);
        if cases.is_empty() {
            return Err(Failure::usage(format!("{} has no case {one}", dir.display()))
                .hint(format!("its cases are {}", names.join(", "))));
        }
    }
    let whole_suite = args.shard.map(|_| digest_suite(dir, &cases)).transpose()?;
    if let Some(shard) = args.shard {
        cases = shard.select(cases);
    }
    let inspect_log = args.inspect_log.as_deref().map(|file| PreparedLog::new(file, dir, &cases)).transpose()?;
    let evaluator = Evaluator::new(&args, &load_settings(args.tools.layer())?)?;
    let cancel = cancel_on_signals();
    let display = Display::new(args.format.plain());
    let count = report::counted(cases.len(), "case");
    display.announce(&format!("evaluating {count} of {}", dir.display()));
    let (began, all, finished) = (Instant::now(), cases.len(), AtomicUsize::new(0));
    let suite = Suite { args: &args, evaluator: &evaluator, cancel: &cancel, display: &display };
    let note_end = |(entry, exit): &CaseResult, count: usize| {
        finished.store(count, Ordering::Relaxed);
        if *exit != Exit::Interrupted {
            display.note_without_spinner(&format!("{} ({count} of {all})", report::case_end(entry)));
        }
    };
    let work = cases.into_iter().map(|(name, case)| suite.evaluate_case(name, case));
    let work = do_in_parallel(work, job_count(&args), note_end);
    let status =
        || display.show_status(&format_progress(finished.load(Ordering::Relaxed), all, "cases evaluated", began));
    let mut case_results: Vec<CaseResult> = with_status(work, display.status_interval(), status).await;
    display.finish();
    evaluator.cancel_submitted().await;
    case_results.sort_by(|(a, _), (b, _)| a.case.cmp(&b.case));
    let worst = worst_exit(case_results.iter().map(|(_, exit)| *exit));
    if worst == Exit::Interrupted {
        let evaluated = case_results.iter().filter(|(_, exit)| *exit != Exit::Interrupted).count();
        let what = format!("interrupted after {evaluated} of {count}; no file was written");
        return Err(Failure::new(Exit::Interrupted, what));
    }
    let entries: Vec<Entry> = case_results.into_iter().map(|(entry, _)| entry).collect();
    let rows: Vec<Row> = evaluations(&entries).map(Row::summarize).collect();
    let comparison = before.map(|before| {
        // With --show-one, the other cases are not evaluated, so they have not got worse; nor have those of other shards.
        let is_of_another_shard = |row: &Row| {
            whole_suite.as_ref().is_some_and(|suite| suite.contains_key(&row.case))
                && !entries.iter().any(|entry| entry.case == row.case)
        };
        let is_evaluated =
            |row: &Row| args.show_one.as_ref().is_none_or(|one| *one == row.case) && !is_of_another_shard(row);
        compare(&before.into_iter().filter(is_evaluated).collect::<Vec<_>>(), &rows)
    });
    let threshold = compare_with_threshold(args.fail_under, mean(&rows));
    let is_contradicted = evaluator.has_contradictions();
    // Kept apart from the cases: tools are shared, so a contradiction belongs to no single case.
    let defect = if is_contradicted { Exit::Defect } else { Exit::Ok };
    let printed = args.format.print(&args.findings, || {
        report::eval_findings(&entries)
            .with_errors("worse", comparison.iter().flat_map(|comparison| comparison.regressions.clone()))
            .with_errors("score", threshold.too_low.clone())
            .with_warnings("undecided", comparison.iter().flat_map(|comparison| comparison.undecided.clone()))
            .with_contradiction(is_contradicted)
    })?;
    if !printed {
        print(&entries, &rows, comparison.as_ref(), &args);
    }
    if let Some(path) = &args.results {
        let table = match (args.shard, whole_suite) {
            (Some(shard), Some(suite)) => {
                let made_from = (shard, suite);
                suite_shard(made_from, worst_exit([worst, defect]), &args, &evaluator, &entries, &cancel)
                    .await?
                    .results(&rows)
            }
            _ => results(&rows),
        };
        write_file(path, &table)?;
    }
    if let Some(path) = &args.junit {
        write_file(path, &report::junit(&entries))?;
    }
    if let Some(log) = inspect_log {
        log.write(&entries, evaluator.has_contradictions())?;
    }
    if let Some(path) = &args.page.html {
        write_page(path, &report::eval_page(&entries, comparison.as_ref(), &dir.display().to_string()))?;
    }
    let got_worse = comparison.as_ref().is_some_and(|comparison| !comparison.regressions.is_empty());
    let is_open = threshold.is_open || comparison.is_some_and(|comparison| !comparison.undecided.is_empty());
    let overall = match () {
        () if got_worse || threshold.too_low.is_some() => Exit::Negative,
        () if is_open => Exit::Undecided,
        () => Exit::Ok,
    };
    Ok(worst_exit([worst, overall, defect]))
}

struct Suite<'a> {
    args: &'a EvalArgs,
    evaluator: &'a Evaluator,
    cancel: &'a Cancel,
    display: &'a Display,
}

impl Suite<'_> {
    async fn evaluate_case(&self, name: String, case: Result<Case, CaseError>) -> CaseResult {
        let done = match case {
            Ok(case) => self.evaluate_loaded(&case).await,
            Err(error) => Err(case_failure(&error)),
        };
        match done {
            Ok(outcome) => {
                let inapplicable = matches!(&outcome, Outcome::Evaluated(evaluation) if evaluation.inapplicable());
                let exit = if inapplicable { Exit::Undecided } else { Exit::Ok };
                (Entry { case: name, outcome }, exit)
            }
            Err(failure) => {
                let (exit, what) = (failure.exit, failure.one_line());
                (Entry { case: name, outcome: Outcome::Failed { what, remedies: failure.hints } }, exit)
            }
        }
    }

    async fn evaluate_loaded(&self, case: &Case) -> Result<Outcome, Failure> {
        if self.cancel.is_cancelled() {
            return Err(Failure::new(Exit::Interrupted, "interrupted"));
        }
        self.display.show_task(&format!("evaluating {}", case.name));
        let run = self.args.runs.as_ref().map(|runs| runs.join(&case.name)).filter(|run| run.is_dir());
        let evaluation = match (run, &case.recording) {
            (Some(run), _) => self.evaluate(&run, case).await?,
            (None, Some(recording)) => {
                // The folder is removed even if this process is killed.
                let scratch = Scratch::new(&std::env::temp_dir(), "tlaforge-eval-").fails(Exit::Usage)?;
                let run = scratch.path().join("run");
                self.evaluator.slots().occupy(self.replay(case, recording, &run)).await?;
                self.evaluate(&run, case).await?
            }
            (None, None) => return Ok(Outcome::Skipped(nothing_to_evaluate(self.args))),
        };
        Ok(Outcome::Evaluated(Box::new(evaluation)))
    }

    /// Replays a recording as a run in `out`.
    async fn replay(&self, case: &Case, recording: &Path, out: &Path) -> Result<(), Failure> {
        let concern = case.checklist.concern.clone();
        let recording = Recording::load(recording).fails(Exit::Usage)?;
        // Recordings of cases have answers for one candidate, whatever the settings file says. Mutants only for stronger
        // properties, because the evaluation itself scores the properties.
        let is_strengthened = recording.answers.iter().any(|answer| answer.key.purpose == STRENGTHEN);
        let flags = Layer {
            provider: Some("replay".into()),
            concern,
            strengthen: Some(u32::from(is_strengthened)),
            mutants: Some(if is_strengthened { DEFAULT_MUTANTS } else { 0 }),
            candidates: Some(1),
            ..self.args.tools.layer()
        };
        let mut settings = load_settings(flags)?;
        make_paths_absolute(&mut settings);
        let job = NewRun {
            out: out.to_owned().into(),
            docs: DocumentSource::Path(case.root.join("docs")),
            interface: case.checklist.interface.clone(),
            answers: AnswerSource::Recorded(recording),
            objective: None,
            policy: None,
            earlier: None,
        };
        let display = Arc::new(Display::silent());
        let (run, prepared) = create_run(job, &settings, &display, self.cancel.clone()).await?;
        let nodes = NodeDispatcher { context: prepared.context };
        let finished = drive(&run, &nodes).await.map_err(|e| run_failure(&e))?;
        pipeline::reconcile(&run).map_err(|e| run_failure(&e))?;
        if finished.outcome == RunOutcome::Stopped {
            // A replay stops if the recording has no answer to a request, which counts as a failed request.
            let exit = if self.cancel.is_cancelled() { Exit::Interrupted } else { Exit::Provider };
            return Err(Failure::new(exit, format!("the replay of its recording stopped: {}", finished.why))
                .hint(format!("record it again: tlaforge run --case {} --record FILE", shell_word(&case.root))));
        }
        Ok(())
    }

    async fn evaluate(&self, run: &Path, case: &Case) -> Result<Evaluation, Failure> {
        let specs = Specs::load(run).map_err(|e| specs_failure(&e))?;
        let settings = load_settings(self.args.tools.layer())?;
        // The suite shows its own progress; that of a case is shown only if it is the only one.
        let silent = Display::silent();
        let display = if self.args.show_one.is_some() { self.display } else { &silent };
        self.evaluator.evaluate(&specs, case, &settings, self.cancel, display).await
    }
}

/// The checksum of each case of the suite.
fn digest_suite(dir: &Path, cases: &[SuiteEntry]) -> Result<BTreeMap<String, Sha>, Failure> {
    let digest = |(name, _): &SuiteEntry| {
        let root = dir.join(name);
        let sha = digest_case(&root).map_err(|e| {
            Failure::usage(format!("the case {} cannot be read: {e}", root.display()))
                .hint("--shard computes a checksum of every case, so that `tlaforge merge` can compare the shards")
        })?;
        Ok((name.clone(), sha))
    };
    cases.iter().map(digest).collect()
}

/// What `tlaforge merge` compares of the shards.
async fn suite_shard(
    (shard, suite): (Shard, BTreeMap<String, Sha>),
    exit: Exit,
    args: &EvalArgs,
    evaluator: &Evaluator,
    entries: &[Entry],
    cancel: &Cancel,
) -> Result<SuiteShard, Failure> {
    let settings = load_settings(args.tools.layer())?;
    let versions = json!({
        "tlaforge": env!("CARGO_PKG_VERSION"),
        "checkers": evaluator.checker_versions(&settings, cancel).await?,
    });
    let options = json!({
        "runs": args.runs.is_some(),
        "checker": settings.checker,
        "tlc_timeout": settings.tlc_timeout,
        "settings": comparable_settings(&settings)?,
        "jars": tool_limits(&settings)?.libraries.jar_checksums().collect::<Vec<_>>(),
    });
    let (mut skipped, mut failed) = (BTreeMap::new(), BTreeMap::new());
    for Entry { case, outcome } in entries {
        match outcome {
            Outcome::Evaluated(_) => None,
            Outcome::Skipped(why) => skipped.insert(case.clone(), why.clone()),
            Outcome::Failed { what, .. } => failed.insert(case.clone(), what.clone()),
        };
    }
    Ok(SuiteShard { shard, versions, options, suite, skipped, failed, status: exit.code() })
}

/// The settings that have to be the same on all machines: without paths, the resources of a machine, and the server, which no
/// evaluation calls.
fn comparable_settings(settings: &Settings) -> Result<Value, Failure> {
    const LEFT_OUT: [&str; 15] = [
        "base_url",
        "checker",
        "claude_path",
        "exemplars",
        "heap_mib",
        "library",
        "model",
        "prices",
        "prompts",
        "provider",
        "record",
        "recording",
        "tla_tools",
        "tlc_timeout",
        "workers",
    ];
    let mut all = serde_json::to_value(&settings.given).fails(Exit::Defect)?;
    if let Some(all) = all.as_object_mut() {
        all.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
    }
    Ok(all)
}

fn nothing_to_evaluate(args: &EvalArgs) -> String {
    match &args.runs {
        Some(runs) => format!("it has no recording, and {} has no run of it", runs.display()),
        None => "it has no recording (recording/run.jsonl), and --runs is not given".to_owned(),
    }
}

fn read_results_file(path: &Path) -> Result<Vec<Row>, Failure> {
    let hint = "--compare takes a file written by --results";
    let text = files::read_text(path, files::MEDIUM)
        .map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())).hint(hint))?;
    read_results(&text).map_err(|e| Failure::usage(format!("{}: {e}", path.display())).hint(hint))
}

fn print(entries: &[Entry], rows: &[Row], comparison: Option<&Comparison>, args: &EvalArgs) {
    if args.format.plain() == Format::Json {
        return print_json_line(&suite_json(entries, rows, comparison));
    }
    if args.show_one.is_some() {
        evaluations(entries).for_each(|evaluation| print_result(&(report::evaluation(evaluation) + "\n")));
    }
    print_result(&report::suite(entries, comparison));
}

fn suite_json(entries: &[Entry], rows: &[Row], comparison: Option<&Comparison>) -> Value {
    let mut skipped = Vec::new();
    let mut failed = Vec::new();
    for Entry { case, outcome } in entries {
        match outcome {
            Outcome::Evaluated(_) => {}
            Outcome::Skipped(why) => skipped.push(json!({"case": case, "reason": why})),
            Outcome::Failed { what, remedies } => {
                failed.push(json!({"case": case, "error": what, "hints": remedies}));
            }
        }
    }
    json!({
        "schema": 2,
        "score": mean(rows).map(|score| score.least),
        "score_at_most": mean(rows).map(|score| score.most),
        "cases": evaluations(entries).collect::<Vec<_>>(),
        "skipped": skipped,
        "failed": failed,
        "regressions": comparison.map(|comparison| &comparison.regressions),
        "undecided": comparison.map(|comparison| &comparison.undecided),
        "changes": comparison.map(|comparison| &comparison.changes),
    })
}

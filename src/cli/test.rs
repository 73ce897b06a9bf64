//! `tlaforge test`: a folder of models as a test suite. Each configuration is a test; its comment `\* EXPECT …` says what
//! its check must find.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use futures_util::{StreamExt, stream};
use walkdir::WalkDir;

use super::checking::{LoadedSpec, exit_status};
use super::contradictions::CONTRADICTIONS_DIR;
use super::engine::{EngineArgs, EngineTools, check_engine};
use super::failure::Failure;
use super::format::{FindingsFiles, FindingsFormat, Format};
use super::output_file::write_file;
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::spec_files::read_spec;
use super::terminal::{is_colored, print_json_line, print_message, print_painted, print_result};
use super::tool_args::ToolArgs;
use super::tools::{Tools, create_quick_toolchain, tool_failure, tool_limits};
use super::value_parsers::parse_positive;
use crate::exit::Exit;
use crate::report::{ModelTest, TestResult, counted, test_findings, test_json, test_junit, test_line, test_summary};
use crate::tla::{CheckOutcome, ExpectedVerdict, PropertyStatus, Verdict, describe_unreached, verdict_sentence};
use crate::toolchain::{Limits, ToolContext, Toolchain, TranslationMode, memory_per_run_mib};

#[derive(Debug, ClapArgs)]
pub(super) struct TestArgs {
    /// Folder of models, with its subfolders. `M.cfg` and `M.….cfg` are configurations of `M.tla`. A comment of the
    /// configuration says what is expected: `\* EXPECT holds` (the default), `\* EXPECT violated NAME`,
    /// `\* EXPECT deadlock` or `\* EXPECT error`.
    pub folder: PathBuf,
    /// Only run tests whose name (the path of the configuration in the folder) contains this text; can be repeated
    /// [default: all].
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Number of tests to run in parallel [default: one per processor; with `--engine`, 32].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub jobs: Option<NonZeroUsize>,
    /// Write the results as `JUnit` XML to this file [default: none].
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Output format: `text`, `json` (one object), or what was found beside its lines, as `sarif`, `github` (annotations)
    /// or `markdown`.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "FORMAT")]
    pub format: FindingsFormat,
    #[command(flatten)]
    pub findings: FindingsFiles,
}

pub(super) async fn test(args: TestArgs) -> Result<Exit, Failure> {
    let all = configurations(&args.folder)?;
    let found = all.len();
    let is_selected = |name: &String| args.names.is_empty() || args.names.iter().any(|part| name.contains(part));
    let chosen: Vec<String> = all.into_iter().filter(is_selected).collect();
    if chosen.is_empty() {
        let what = if found == 0 { "it has no configuration (.cfg)" } else { "no configuration has such a name" };
        return Err(Failure::usage(format!("no test in {}: {what}", args.folder.display())));
    }
    let settings = load_settings(args.tools.layer())?;
    check_engine(&args.engine, &settings)?;
    let Tools { toolchain, contradictions, .. } = create_quick_toolchain(&settings, Path::new(CONTRADICTIONS_DIR))?;
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let default_jobs = args.engine.default_jobs();
    let jobs = args.jobs.map_or(default_jobs.unwrap_or(processors), NonZeroUsize::get).min(chosen.len());
    let limits = tool_limits(&settings)?;
    let limits = Limits {
        workers: limits.workers.or(Some((processors / jobs).max(1))),
        heap_mib: match default_jobs {
            None if jobs > 1 => Some(memory_per_run_mib(&limits, jobs)),
            // On other machines, the checks do not share the memory of this one.
            _ => limits.heap_mib,
        },
        ..limits
    };
    let tools = EngineTools::new(&args.engine, settings.checker, &limits, toolchain)?;
    let cancel = cancel_on_signals();
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|_| {} };
    let (cx, toolchain) = (&cx, &*tools.toolchain);
    print_message(&format!("{} in {}, {jobs} in parallel", counted(chosen.len(), "test"), args.folder.display()));
    let began = Instant::now();
    let runs = chosen.into_iter().map(|name| run_test(&args.folder, name, toolchain, cx));
    let mut runs = stream::iter(runs).buffer_unordered(jobs);
    let mut tests = Vec::new();
    while let Some((test, details)) = runs.next().await {
        // A test that was interrupted has no result.
        if cancel.is_cancelled() {
            tools.cancel_submitted().await;
            return Err(Failure::new(Exit::Interrupted, "interrupted"));
        }
        if args.format == FindingsFormat::Text {
            print_result(&format!("{}\n", test_line(&test)));
            print_painted(&details);
        }
        tests.push(test);
    }
    // A test that failed may have left its job behind.
    tools.cancel_submitted().await;
    tests.sort_by(|a, b| a.name.cmp(&b.name));
    let skipped = found - tests.len();
    let findings = || test_findings(&tests, skipped, began.elapsed()).with_contradiction(contradictions.has_any());
    let printed = args.format.print(&args.findings, findings)?;
    match args.format.plain() {
        _ if printed => {}
        Format::Text => print_result(&test_summary(&tests, skipped, began.elapsed())),
        Format::Json => print_json_line(&test_json(&tests, skipped, began.elapsed())),
    }
    if let Some(path) = &args.junit {
        write_file(path, &test_junit(&args.folder.display().to_string(), &tests))?;
    }
    Ok(if contradictions.has_any() { Exit::Defect } else { suite_status(&tests) })
}

/// A failed test first, because it is a result whatever the others would have shown.
fn suite_status(tests: &[ModelTest]) -> Exit {
    let any = |wanted: &dyn Fn(&TestResult) -> bool| tests.iter().any(|test| wanted(&test.result));
    if any(&|result| *result == TestResult::Failed) {
        return Exit::Negative;
    }
    let errors = [Exit::Defect, Exit::Tool, Exit::Usage].map(TestResult::Error);
    if let Some(TestResult::Error(exit)) = errors.into_iter().find(|error| any(&|result| result == error)) {
        return exit;
    }
    if any(&|result| *result != TestResult::Passed) { Exit::Undecided } else { Exit::Ok }
}

/// The paths of all configurations in a folder and its subfolders, without hidden ones, in the order of their names.
fn configurations(folder: &Path) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    let is_visible =
        |entry: &walkdir::DirEntry| entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".");
    for entry in WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_visible) {
        let entry = entry.map_err(|e| Failure::usage(format!("cannot read {}: {e}", folder.display())))?;
        if entry.depth() == 0 && !entry.file_type().is_dir() {
            return Err(Failure::usage(format!("{} is no folder", folder.display()))
                .hint("tlaforge check checks one specification"));
        }
        if entry.file_type().is_file() && entry.path().extension().is_some_and(|extension| extension == "cfg") {
            let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            let name =
                path.to_str().ok_or_else(|| Failure::usage(format!("{}: the name is not UTF-8", path.display())))?;
            found.push(name.to_owned());
        }
    }
    Ok(found)
}

/// The module of `M.cfg` and `M.small.cfg`: `M.tla` in the same folder.
fn module_of(config: &Path) -> PathBuf {
    let same_name = config.with_extension("tla");
    let name = config.file_name().unwrap_or_default().to_string_lossy();
    match name.split_once('.') {
        Some((stem, _)) if !same_name.is_file() => config.with_file_name(format!("{stem}.tla")),
        _ => same_name,
    }
}

/// Runs one test; also returns what to print after its line.
async fn run_test(folder: &Path, name: String, tools: &dyn Toolchain, cx: &ToolContext<'_>) -> (ModelTest, String) {
    let began = Instant::now();
    let config = folder.join(&name);
    let mut test = ModelTest {
        name,
        module: module_of(&config),
        config,
        expected: ExpectedVerdict::Holds,
        line: 1,
        result: TestResult::Passed,
        reason: None,
        time: Duration::ZERO,
        outcome: None,
    };
    let checked = check_model(&mut test, tools, cx).await;
    test.time = began.elapsed();
    match checked {
        Ok(details) => (test, details),
        Err(failure) => {
            test.result = TestResult::Error(failure.exit);
            let hints = failure.hints.iter().map(|hint| format!("; {hint}")).collect::<Vec<_>>().concat();
            test.reason = Some(failure.one_line() + &hints);
            (test, String::new())
        }
    }
}

async fn check_model(test: &mut ModelTest, tools: &dyn Toolchain, cx: &ToolContext<'_>) -> Result<String, Failure> {
    let cfg = read_spec(&test.config)?;
    (test.line, test.expected) = ExpectedVerdict::parse(&cfg)
        .map_err(|(line, what)| Failure::usage(format!("{}:{line}: {what}", test.config.display())))?;
    let loaded = LoadedSpec::read(&test.module, Some(&test.config), &cx.limits.libraries)?;
    let examined = loaded.examine(tools, TranslationMode::Translate, cx).await.map_err(|e| tool_failure(&e))?;
    let outcome = examined.checked.outcome;
    (test.result, test.reason) = compare(&test.expected, &outcome);
    let is_shown = matches!(test.result, TestResult::Failed);
    let details = is_shown.then(|| {
        let note = loaded.missing_modules_note(&outcome).map(|note| note + "\n").unwrap_or_default();
        loaded.files().outcome_text(&outcome, is_colored(&std::io::stdout())) + &note + "\n"
    });
    test.outcome = Some(outcome);
    Ok(details.unwrap_or_default())
}

/// Whether a check found what was expected, and if not, what it found.
fn compare(expected: &ExpectedVerdict, outcome: &CheckOutcome) -> (TestResult, Option<String>) {
    let found = || Some(verdict_sentence(outcome));
    if let Verdict::Inconclusive { timed_out, .. } = outcome.verdict {
        return (if timed_out { TestResult::TimedOut } else { TestResult::Undecided }, found());
    }
    match expected {
        ExpectedVerdict::Holds => match exit_status(outcome) {
            Exit::Ok => (TestResult::Passed, None),
            Exit::Undecided => (TestResult::Undecided, describe_unreached(outcome)),
            _ => (TestResult::Failed, found()),
        },
        // The reason is shown: it could be another error than the one that is meant.
        ExpectedVerdict::Error if matches!(outcome.verdict, Verdict::Invalid { .. }) => (TestResult::Passed, found()),
        ExpectedVerdict::Violated(names) if matches!(outcome.verdict, Verdict::Violated { .. }) => {
            compare_violated(names, outcome)
        }
        ExpectedVerdict::Error | ExpectedVerdict::Violated(_) => (TestResult::Failed, found()),
    }
}

/// Whether exactly the named properties are violated. A property that is not named may be undecided: after the first
/// violation, a checker cannot always decide the others.
fn compare_violated(names: &[String], outcome: &CheckOutcome) -> (TestResult, Option<String>) {
    if let Some(other) = outcome.violated_names().find(|violated| !names.iter().any(|name| name == violated)) {
        return (TestResult::Failed, Some(format!("{other} is violated, too or instead")));
    }
    let mut undecided = None;
    for name in names {
        match outcome.property_status(name) {
            PropertyStatus::Violated => {}
            PropertyStatus::Undecided(why) => undecided = Some(format!("{name} is not decided: {why}")),
            PropertyStatus::Holds => return (TestResult::Failed, Some(format!("{name} holds"))),
            PropertyStatus::NotChecked => return (TestResult::Failed, Some(format!("{name} is not checked"))),
        }
    }
    match undecided {
        // Nothing is violated by name: an assumption, or no behaviour.
        None if outcome.violated_names().next().is_none() => (TestResult::Failed, Some(verdict_sentence(outcome))),
        None => (TestResult::Passed, None),
        Some(why) => (TestResult::Undecided, Some(why)),
    }
}

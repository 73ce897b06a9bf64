//! `tlaforge mutate`: mutation testing of a specification and its properties. `mutation` makes and judges the mutants;
//! this file runs them in parallel and keeps their results.

use clap::Args as ClapArgs;
use std::cell::RefCell;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::checking::{config_path, missing_modules_note, specification_arguments};
use super::completions::operators;
use super::contradictions::CONTRADICTIONS_DIR;
use super::engine::{EngineArgs, check_engine, create_engine};
use super::environment::clock;
use super::evaluator::explain_low_score;
use super::failure::{Fails, Failure};
use super::format::{FindingsFiles, FindingsFormat, Format};
use super::in_diff::lines_in_diff;
use super::outcome_text::CheckedFiles;
use super::page::{PageArgs, write_page};
use super::progress::format_progress;
use super::rerun::{WatchedSpec, repeat_on_change};
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::snippet::Snippet;
use super::spec_files::read_spec;
use super::terminal::{
    is_colored, is_interactive, print_json_line, print_message, print_result, trace_width, write_stderr,
};
use super::tool_args::ToolArgs;
use super::tools::{Tools, create_toolchain, discover_java_tools, tool_failure, tool_limits};
use super::value_parsers::{parse_positive, parse_share};
use crate::config::{CheckerChoice, Settings};
use crate::exit::Exit;
use crate::journal::{RunLock, Sha, write_atomically};
use crate::mutation::{
    BaselineError, Engine, Judge, Judgement, LimitSource, Mutant, Operator, Outcome, Results, Selection, Shard,
    Subject, Summary, limits_per_mutant, mutant_json, mutants,
};
use crate::process::Cancel;
use crate::report::{
    Findings, check_json, counted, judged_by, mutant_line, mutation_findings, mutation_json, mutation_page,
    mutation_text, stryker,
};
use crate::tla::{Cfg, CheckOutcome, Checker, Module, Verdict, outcome_text};
use crate::toolchain::{
    EMBEDDED_VERSION, Libraries, Limits, SpecText, ToolContext, ToolError, Toolchain, local_modules,
};

#[derive(Debug, ClapArgs)]
pub(super) struct MutateArgs {
    /// Module to mutate. The file is never edited.
    pub spec: PathBuf,
    /// Configuration file [default: the .cfg file with the name of the module, in the same folder].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder of the results. Mutants that it already has results for are not judged again.
    #[arg(long, value_name = "DIR", default_value = "mutants.out")]
    pub out: PathBuf,
    /// Number of mutants to judge in parallel [default: one per processor; with `--engine`, 32].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub jobs: Option<NonZeroUsize>,
    /// List the mutants without judging them.
    #[arg(long)]
    pub list: bool,
    /// Only use this mutation operator; can be repeated [default: all operators].
    #[arg(long, value_name = "OPERATOR", add = operators())]
    pub operator: Vec<String>,
    /// Only judge mutants on lines that this unified diff adds or changes; `-` reads it from stdin [default: all lines].
    #[arg(long, value_name = "FILE")]
    pub in_diff: Option<PathBuf>,
    /// Only judge K mutants, chosen at random [default: all].
    #[arg(long, value_name = "K", value_parser = parse_positive::<NonZeroUsize>)]
    pub sample: Option<NonZeroUsize>,
    /// Seed of the random choice; the same seed chooses the same mutants [default: 0].
    #[arg(long, value_name = "N", requires = "sample")]
    pub seed: Option<u64>,
    /// Only judge the K-th of N parts of the mutants, to distribute them over several machines; `tlaforge merge` puts their
    /// results together [default: all].
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
    /// Time limit in seconds for each run on a mutant [default: ten times the time of the specification itself, at least 5].
    #[arg(long, value_name = "SECONDS", value_parser = parse_positive::<NonZeroU64>)]
    pub timeout: Option<NonZeroU64>,
    /// Write the results as a mutation testing elements report (Stryker schema), for report viewers.
    #[arg(long, value_name = "FILE")]
    pub stryker: Option<PathBuf>,
    /// Exit with status 1 if there is no score, or if it is below SCORE (0 to 1); undecided mutants count as survived
    /// [default: never].
    #[arg(long, value_name = "SCORE", value_parser = parse_share)]
    pub fail_under: Option<f64>,
    /// Test the mutants again after each save of the module, its configuration, a module that it needs, a jar or
    /// `tlaforge.toml`, until Ctrl-C, and print how the score changed. A save cancels a run that is not finished.
    #[arg(long, conflicts_with = "list")]
    pub watch: bool,
    #[command(flatten)]
    pub page: PageArgs,
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

pub(super) async fn mutate(args: MutateArgs) -> Result<Exit, Failure> {
    if !args.watch {
        return mutate_once(&args, None, &RefCell::default()).await;
    }
    if args.in_diff.as_deref() == Some(Path::new("-")) {
        return Err(Failure::usage("--watch cannot read the diff from stdin again")
            .hint("write the diff to a file: --in-diff FILE"));
    }
    // Wrong settings are an error at once.
    tool_limits(&load_settings(args.tools.layer())?)?;
    let cfg = config_path(&args.spec, args.config.as_deref());
    let watched = WatchedSpec { spec: &args.spec, cfg: &cfg, tools: &args.tools };
    let work = async |cancel: Cancel, printed: &RefCell<_>| mutate_once(&args, Some(cancel), printed).await.map(|_| ());
    repeat_on_change(&watched, work, describe_change).await
}

/// How the score changed.
fn describe_change(before: &Summary, now: &Summary) -> String {
    let killed = |summary: &Summary| {
        let noticed = summary.killed_by_property;
        format!("{noticed} of {} noticed by properties", noticed + summary.survived)
    };
    match (killed(before), killed(now)) {
        (before, now) if before == now => "same score as before".to_owned(),
        (before, now) => format!("now {now} (before: {before})"),
    }
}

/// Without `cancel`, signals cancel it; only once the checker is needed, because a list is soon done. Writes the summary into
/// `printed` as soon as it is printed.
async fn mutate_once(
    args: &MutateArgs,
    cancel: Option<Cancel>,
    printed: &RefCell<Option<Summary>>,
) -> Result<Exit, Failure> {
    let text = read_spec(&args.spec)?;
    let module = Module::parse(&text)
        .map_err(|e| Failure::usage(format!("{}: {e}", args.spec.display())).hint("give a file with a TLA+ module"))?;
    let cfg_path = config_path(&args.spec, args.config.as_deref());
    let cfg_text = read_spec(&cfg_path).map_err(|f| f.hint("name the configuration with --config FILE"))?;
    let cfg = Cfg::parse(&cfg_text).map_err(|d| {
        let span = d.span(&cfg_text).unwrap_or_default();
        Failure::usage(d.without_position()).at(Snippet::new(cfg_path.display().to_string(), &cfg_text, span))
    })?;
    let file = args.spec.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let all = mutants(&module, &cfg);
    let made = all.len();
    let (selection, note) = selection(args)?;
    let selected = selection.select(all, &text);
    let selection = identify_selection(&selected);
    let chosen = args.shard.map_or_else(|| selected.clone(), |shard| shard.select(selected.clone()));
    for line in note.into_iter().chain(missing_mutants_notes(&module, made, chosen.len())) {
        print_message(&line);
    }
    // Before the tools are looked for: a list needs no checker.
    if args.list {
        list(args, &chosen, &file, &text);
        return Ok(Exit::Ok);
    }
    // Of a shard, the results are needed to merge them.
    let is_untouched = args.in_diff.is_some() && selected.is_empty();
    if is_untouched && args.shard.is_none() {
        return print_nothing_to_do(args);
    }
    args.page.check(Some(&args.out))?;
    let began = Instant::now();
    let settings = load_settings(args.tools.layer())?;
    check_engine(&args.engine, &settings)?;
    let Tools { toolchain, contradictions, .. } = create_toolchain(&settings, Path::new(CONTRADICTIONS_DIR))?;
    let limits = tool_limits(&settings)?;
    let cancel = cancel.unwrap_or_else(cancel_on_signals);
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|_| {} };
    let local_modules = local_modules(&args.spec, &module, &limits.libraries).fails(Exit::Usage)?;
    let spec = SpecText { name: module.name.clone(), local_modules, text: text.clone() };

    let files = CheckedFiles::new(&args.spec, &spec, &cfg_path, &cfg_text, &limits.libraries);
    print_message(&format!("checking {} itself \u{2026}", args.spec.display()));
    let prepared = Subject::prepare(&*toolchain, file.clone(), spec.clone(), cfg_text, &cx).await;
    let (subject, baseline) = prepared.map_err(|error| {
        let failure = defect_if(contradictions.has_any(), baseline_failure(&error, &files, args, &settings));
        let note = missing_modules_note(&args.spec, &spec, &limits.libraries, &failure.message);
        note.filter(|_| failure.exit == Exit::Baseline).into_iter().fold(failure, Failure::hint)
    })?;

    // Only now, so that a specification that cannot be judged leaves no folder.
    std::fs::create_dir_all(&args.out).map_err(|e| Failure::usage(format!("{}: {e}", args.out.display())))?;
    let _lock = RunLock::take(&args.out, &clock()()).fails(Exit::Usage)?;
    let mut results = Results::open(&args.out).fails(Exit::Usage)?;
    results.plan(&file, &text, &chosen).fails(Exit::Usage)?;
    let deadline = args.timeout.map_or_else(|| Subject::deadline(&baseline), |s| Duration::from_secs(s.get()));
    let version = identify_tools(&settings, &limits).fails(Exit::Usage)?;
    let judge = Judge::thorough(&*toolchain, &subject, &version);
    let limits = limits_per_mutant(&limits, deadline);
    let local = ToolContext { limits: &limits, cancel: &cancel, progress: &|_| {} };
    let engine = create_engine(&args.engine, &judge, settings.checker, &local)?;
    let judgements = judge_mutants(&*engine, &judge, &chosen, &mut results, &limits, args).await?;

    let mut report = mutation_json(&check_json(&baseline), &judgements, &subject.cfg);
    report["run"] = run_json(args, made, &judgements, &*toolchain, &cx).await;
    report["run"]["checker"] = json!(settings.checker);
    report["run"]["specification"] = identify_specification(&subject, &limits.libraries);
    report["run"]["selection"] = selection;
    // Measured here because `run_json` can start the checker once more, for its version.
    let waited = began.elapsed();
    report["run"]["total_seconds"] = json!(waited.as_secs_f64());
    results.finish(&report, &judgements).fails(Exit::Usage)?;
    if let Some(path) = &args.stryker {
        let text = format!("{:#}\n", stryker(&subject, &judgements));
        let file = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        write_atomically(&file, text.as_bytes())
            .map_err(|e| Failure::usage(format!("cannot write {}: {e}", path.display())))?;
    }
    let summary = Summary::from_judgements(&judgements, &subject.cfg);
    let least = args.fail_under.filter(|_| !is_untouched);
    let too_low = least.and_then(|least| explain_low_mutation_score(least, &summary));
    let is_printed = args.format.print(&args.findings, || {
        mutation_findings(&args.spec.display().to_string(), &subject, &baseline, &judgements)
            .with_errors("score", too_low.clone())
            .with_contradiction(contradictions.has_any())
    })?;
    match args.format.plain() {
        _ if is_printed => {}
        Format::Text => print_result(&mutation_text(&subject, &baseline, &judgements, made, waited)),
        Format::Json => print_json_line(&report),
    }
    printed.replace(Some(summary));
    print_message(&format!("results: {}", args.out.display()));
    if let Some(path) = &args.page.html {
        let spec = args.spec.display().to_string();
        let command = format!("tlaforge mutate {}", suggested_arguments(args));
        write_page(path, &mutation_page(&subject, &baseline, &judgements, made, &spec, &command))?;
    }
    // Before the threshold: if two checkers disagree, the score itself is in doubt.
    if contradictions.has_any() {
        return Ok(Exit::Defect);
    }
    let Some(why) = too_low else {
        return Ok(Exit::Ok);
    };
    print_message(&why);
    Ok(Exit::Negative)
}

fn suggested_arguments(args: &MutateArgs) -> String {
    specification_arguments(&args.spec, args.config.as_deref(), &args.tools)
}

/// Explains why there may be fewer mutants than expected.
fn missing_mutants_notes(module: &Module, made: usize, chosen: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(first) = module.syntax_errors.first() {
        lines.push(format!("warning: the unreadable parts of the module have no mutants: {first}"));
    }
    if made > 0 && chosen == 0 {
        lines.push(format!("none of {} is selected", counted(made, "mutant")));
    }
    if made == 0 {
        lines.push(
            "there is nothing to mutate: mutants are made of the module's own algorithm and definitions, except those that \
             its properties depend on"
                .to_owned(),
        );
    }
    lines
}

/// Options and versions: everything that is needed to repeat this run.
async fn run_json(
    args: &MutateArgs,
    made: usize,
    judgements: &[Judgement],
    tools: &dyn Toolchain,
    cx: &ToolContext<'_>,
) -> Value {
    let operators = if args.operator.is_empty() {
        Operator::ALL.iter().map(|operator| operator.id().to_owned()).collect()
    } else {
        args.operator.clone()
    };
    let checkers = tools.info(cx).await.map(|info| info.version).unwrap_or_default();
    json!({
        "mutants": made,
        "selected": judgements.len(),
        "operators": operators,
        "seed": args.seed.unwrap_or(0),
        "sample": args.sample,
        "shard": args.shard.map(|shard| shard.to_string()),
        "timeout": args.timeout,
        "judged_by": judged_by(judgements),
        "versions": {"tlaforge": env!("CARGO_PKG_VERSION"), "checkers": checkers},
    })
}

/// Why the score misses the threshold, if it does. An undecided mutant counts as survived, because it was not killed.
fn explain_low_mutation_score(least: f64, summary: &Summary) -> Option<String> {
    let counted = match summary.inconclusive + summary.timeout {
        0 => String::new(),
        undecided => format!(", counting its {undecided} undecided mutants as survived,"),
    };
    let no_score = ": no property notices a mutant, and none survived or is undecided";
    explain_low_score(least, summary.score_at_least, &counted, no_score)
}

/// The result if a diff changes no line with a mutant. The specification is not checked.
fn print_nothing_to_do(args: &MutateArgs) -> Result<Exit, Failure> {
    let reason = "the diff changes no line that has a mutant";
    let is_printed = args.format.print(&args.findings, || Findings {
        command: "tlaforge mutate".to_owned(),
        summary: format!("nothing to do: {reason}"),
        list: Vec::new(),
    })?;
    if !is_printed && args.format.plain() == Format::Json {
        let summary = Summary::default();
        print_json_line(&json!({"schema": 2, "baseline": null, "reason": reason, "summary": summary, "mutants": []}));
    }
    Ok(Exit::Ok)
}

/// What selects the mutants, and a remark about a diff that does not name the specification.
fn selection(args: &MutateArgs) -> Result<(Selection, Option<String>), Failure> {
    let mut operators = Vec::new();
    for id in &args.operator {
        operators.push(Operator::from_id(id).ok_or_else(|| {
            let known: Vec<&str> = Operator::ALL.iter().map(|operator| operator.id()).collect();
            Failure::usage(format!("unknown mutation operator {id:?}")).hint(format!("one of: {}", known.join(", ")))
        })?);
    }
    let diff = args.in_diff.as_ref().map(|path| lines_in_diff(path, &args.spec)).transpose()?;
    let (lines, note) = diff.map_or((None, None), |diff| (Some(diff.lines), diff.note));
    let seed = args.seed.unwrap_or(0);
    Ok((Selection { operators, lines, sample: args.sample.map(NonZeroUsize::get), seed }, note))
}

/// What `merge` compares of the selected mutants, before a shard is taken of them.
fn identify_selection(selected: &[Mutant]) -> Value {
    let names: String = selected.iter().map(|mutant| mutant.name() + "\n").collect();
    json!({"mutants": selected.len(), "sha256": Sha::digest(names)})
}

/// The part of the key of each judgement that stands for the tools, and for all settings that can change what they decide. A
/// time limit is none of them: it can only leave a mutant undecided.
fn identify_tools(settings: &Settings, limits: &Limits) -> std::io::Result<String> {
    let java = match settings.checker {
        CheckerChoice::Embedded => None,
        _ => discover_java_tools(settings).ok().map(|java| java.checksum()).transpose()?,
    };
    let parts = json!({
        "tlaforge": env!("CARGO_PKG_VERSION"),
        "embedded": EMBEDDED_VERSION,
        "checker": settings.checker,
        "java": java,
        "libraries": limits.libraries.jar_checksums().collect::<Vec<_>>(),
        "allowed_modules": limits.allowed_modules,
        "heap_mib": limits.heap_mib,
    });
    Ok(parts.to_string())
}

/// What `merge` compares of the files that the mutants are made from.
fn identify_specification(subject: &Subject, libraries: &Libraries) -> Value {
    let modules: String =
        subject.local_modules.iter().flat_map(|(name, text)| [name.as_str(), "\0", text, "\0"]).collect();
    json!({
        "file": subject.file,
        "module": Sha::digest(&subject.source),
        "configuration": Sha::digest(&subject.cfg_text),
        "local_modules": Sha::digest(modules),
        "jars": libraries.jar_checksums().collect::<Vec<_>>(),
    })
}

fn list(args: &MutateArgs, chosen: &[Mutant], file: &str, source: &str) {
    match args.format.plain() {
        Format::Json => {
            let all: Vec<_> = chosen.iter().map(|mutant| mutant_json(mutant, file, source)).collect();
            print_json_line(&json!({"schema": 1, "mutants": all}));
        }
        Format::Text => {
            let lines = chosen.iter().map(|m| {
                format!("{} {}: `{}` {}\n", m.place(file), m.operator.name_with_id(&m.name()), m.definition, m.what)
            });
            print_result(&lines.collect::<String>());
        }
    }
}

/// The failure as that of a checker, if two checkers contradict each other: no hint about the specification helps then.
fn defect_if(is_contradicted: bool, failure: Failure) -> Failure {
    if is_contradicted { Failure::new(Exit::Defect, failure.message) } else { failure }
}

fn baseline_failure(error: &BaselineError, files: &CheckedFiles, args: &MutateArgs, settings: &Settings) -> Failure {
    let spec = &args.spec;
    match error {
        BaselineError::Tool(error) => tool_failure(error),
        BaselineError::Bad { reason, outcome, diagnostic } => {
            match (outcome, args.format.plain()) {
                // Its positions refer to the translation.
                (Some(outcome), Format::Text) if files.has_algorithm() => {
                    print_message(&outcome_text(outcome, trace_width()));
                }
                (Some(outcome), Format::Text) => {
                    write_stderr(&files.outcome_text(outcome, is_colored(&std::io::stderr())));
                }
                // A program that reads JSON gets an object in any case.
                (outcome, Format::Json) => {
                    let baseline = outcome.as_ref().map_or_else(|| json!(null), |outcome| check_json(outcome));
                    print_json_line(
                        &json!({"schema": 2, "baseline": baseline, "reason": reason, "summary": null, "mutants": []}),
                    );
                }
                (None, Format::Text) => {}
            }
            let undecided = |outcome: &&CheckOutcome| matches!(outcome.verdict, Verdict::Inconclusive { .. });
            if let Some(outcome) = outcome.as_deref().filter(undecided) {
                let failure = Failure::new(Exit::Undecided, format!("{}: {reason}", spec.display()));
                let failure = failure
                    .hint("if the time limit was reached, raise it with --tlc-timeout, or use smaller constants");
                return match outcome.checker {
                    Checker::Tlc => failure,
                    Checker::Embedded if discover_java_tools(settings).is_ok() => {
                        failure.hint("if the embedded checker refuses it, TLC may decide it: --checker tlc")
                    }
                    Checker::Embedded => failure.hint(
                        "if the embedded checker refuses it, TLC may decide it: install Java and tla2tools.jar (tlaforge \
                         doctor), then --checker tlc",
                    ),
                };
            }
            let failure = match diagnostic.as_ref().and_then(|d| Some((d, files.snippet(d)?))) {
                Some((diagnostic, snippet)) => Failure::new(Exit::Baseline, diagnostic.without_position()).at(snippet),
                None => Failure::new(Exit::Baseline, format!("{}: {reason}", spec.display())),
            };
            failure.hint(format!(
                "mutation testing needs a specification that holds: correct it first (tlaforge check {})",
                suggested_arguments(args)
            ))
        }
    }
}

/// Judges the mutants without a result, several in parallel. Each result is on disk before the next one is shown.
async fn judge_mutants(
    engine: &dyn Engine,
    judge: &Judge<'_>,
    chosen: &[Mutant],
    results: &mut Results,
    limits: &Limits,
    args: &MutateArgs,
) -> Result<Vec<Judgement>, Failure> {
    let bar = progress_bar(chosen.len());
    let source = if args.timeout.is_some() { LimitSource::Given } else { LimitSource::Measured };
    let mut all: Vec<Option<Judgement>> = Vec::new();
    for mutant in chosen {
        let known = results.known(&judge.key(mutant)).filter(|old| old.is_reusable(limits.check, source));
        // An earlier version may have written it under another name.
        let named = |old: &Judgement| Judgement {
            name: mutant.name(),
            place: mutant.place(&judge.subject.file),
            ..old.clone()
        };
        all.push(known.map(named));
    }
    let known = all.iter().flatten().count();
    if known > 0 {
        print_message(&format!("{} of {} have results already", known, counted(chosen.len(), "mutant")));
        bar.inc(known as u64);
    }
    let open: Vec<usize> = (0..chosen.len()).filter(|at| all[*at].is_none()).collect();
    let jobs = args.jobs.map_or_else(|| args.engine.default_jobs().unwrap_or_else(processors), NonZeroUsize::get);
    let runs = open.into_iter().map(|at| async move { (at, engine.judge(&chosen[at]).await) });
    let mut runs = stream::iter(runs).buffer_unordered(jobs);
    let began = Instant::now();
    let mut last_line = Instant::now();
    while let Some((at, judged)) = runs.next().await {
        let judgement = match judged {
            Ok(judgement) => judgement,
            Err(error) => {
                bar.finish_and_clear();
                engine.cancel_submitted().await;
                let go_on =
                    format!("the results so far are in {}; run the same command again to continue", args.out.display());
                let failure = tool_failure(&error);
                return Err(match error {
                    ToolError::Cancelled | ToolError::Unavailable(_) | ToolError::WorkerFailed(_) => {
                        failure.hint(go_on)
                    }
                    _ => failure,
                });
            }
        };
        if let Err(failure) = results.append(&judgement).fails(Exit::Usage) {
            engine.cancel_submitted().await;
            return Err(failure);
        }
        bar.inc(1);
        if judgement.outcome == Outcome::Survived {
            bar.suspend(|| print_message(&mutant_line(&judgement)));
        }
        all[at] = Some(judgement);
        let done = all.iter().flatten().count();
        // Without a progress bar, print a line for the first result and then every 10 seconds.
        if bar.is_hidden() && (done == known + 1 || last_line.elapsed() > Duration::from_secs(10)) {
            last_line = Instant::now();
            let words = format_progress(done - known, chosen.len() - known, "judged", began);
            print_message(&words);
        }
    }
    bar.finish_and_clear();
    Ok(all.into_iter().flatten().collect())
}

fn progress_bar(mutants: usize) -> ProgressBar {
    if !is_interactive() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(mutants as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} mutants, {elapsed} so far, about {eta} to go");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undecided_mutants_count_as_survived_for_the_threshold() {
        let summary = |undecided, least| Summary {
            killed: 8,
            survived: 2,
            inconclusive: undecided,
            score: Some(0.8),
            score_at_least: Some(least),
            ..Summary::default()
        };
        assert_eq!(explain_low_mutation_score(0.8, &summary(0, 0.8)), None);
        let why = explain_low_mutation_score(0.8, &summary(6, 0.5)).unwrap();
        assert_eq!(why, "--fail-under: the score, counting its 6 undecided mutants as survived, is 0.5000, below 0.8");
        assert!(explain_low_mutation_score(0.0, &Summary::default()).is_some());
    }
}

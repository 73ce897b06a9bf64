//! `tlaforge check`: checks one specification. Never edits the file; the verdict comes from `toolchain`.

use clap::Args as ClapArgs;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU16, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use super::checking::{LoadedSpec, config_path, exit_status, specification_arguments};
use super::contradictions::CONTRADICTIONS_DIR;
use super::editor::Editor;
use super::engine::{EngineArgs, SearchWorkers};
use super::failure::Failure;
use super::format::{FindingsFiles, FindingsFormat, Format};
use super::outcome_text::CheckedFiles;
use super::page::{PageArgs, list_states, write_page};
use super::progress::Display;
use super::rerun::{WatchedSpec, repeat_on_change};
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::simulate::{SimulateArgs, simulate};
use super::terminal::{is_colored, print_json_line, print_message, print_painted, print_result, set_trace_width};
use super::tool_args::ToolArgs;
use super::tools::{
    Tools, create_distributed_toolchain, create_quick_toolchain, embedded_tools, tool_failure, tool_limits,
};
use super::trace_out::TraceFile;
use super::translated::{require_parsed, translate};
use super::value_parsers::parse_positive;
use crate::config::Settings;
use crate::exit::Exit;
use crate::process::Cancel;
use crate::report::{CheckSource, check_json, check_page, explain};
use crate::tla::{
    Cfg, CheckOutcome, Checker, DEADLOCK, PropertyStatus, UNLIMITED_WIDTH, Verdict, bounds_sentence, has_no_behaviour,
    verdict_sentence,
};
use crate::toolchain::{
    CheckReport, CheckRequest, GraphLimits, LastStage, Limits, SpecText, ToolContext, ToolError, Toolchain,
    TranslationMode, WorkerPlacement, second_opinion,
};

#[derive(Debug, ClapArgs)]
pub(super) struct CheckArgs {
    /// Module to check. The file is never edited: a PlusCal algorithm is translated in a copy.
    pub spec: PathBuf,
    /// Configuration file [default: the .cfg file with the name of the module, in the same folder].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Check the translation in the file instead of translating the algorithm again.
    #[arg(long)]
    pub keep_translation: bool,
    /// Never shorten values [default: shorten them to the width of the terminal; in a file or a pipe they are whole].
    #[arg(long, conflicts_with = "width")]
    pub full: bool,
    /// Shorten values to lines of N columns, at least 40 [default: the width of the terminal].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroU16>)]
    pub width: Option<NonZeroU16>,
    /// Print the counterexample in sentences instead of states.
    #[arg(long, conflicts_with = "format")]
    pub explain: bool,
    /// Write the counterexample to this file: Apalache's format (.itf.json), .json, a module that replays it in TLC (.tla,
    /// and a .cfg beside it), .md, or a sequence diagram with a lane for each process (.mmd for Mermaid, .puml for
    /// `PlantUML`) [default: none].
    #[arg(long, value_name = "FILE", value_parser = TraceFile::parse)]
    pub trace_out: Option<TraceFile>,
    /// Open the module in the editor of `$VISUAL` or `$EDITOR` at the line of the last step. Only in a terminal.
    #[arg(long, conflicts_with = "format")]
    pub open: bool,
    /// Check again after each save of the module, its configuration, a module that it needs, a jar or `tlaforge.toml`, until
    /// Ctrl-C, and print what differs from the check before. A save cancels a check that is not finished.
    #[arg(long, conflicts_with = "open")]
    pub watch: bool,
    /// Check with TLC's distributed mode: with N worker processes here, or with workers on other machines, which connect to
    /// HOST, an address of this machine (port 10997 unless it is HOST:PORT). It checks invariants and deadlock only, and is
    /// useful only if one machine is too slow. Everyone who reaches HOST can connect: read docs/src/distributed-tlc.md first.
    #[arg(long, value_name = "N|HOST", conflicts_with_all = ["watch", "explain", "trace_out", "open"])]
    pub distributed: Option<WorkerPlacement>,
    /// With `--distributed HOST`: let workers (`tlaforge worker --tlc-host`) of this Restate server take part in the search: the
    /// address of its admin API, such as `http://127.0.0.1:9070` [default: you start the workers].
    #[arg(long, value_name = "URL", requires = "distributed")]
    pub engine: Option<String>,
    /// Number of workers of the engine that take part [default: 2].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>, requires = "engine")]
    pub engine_workers: Option<NonZeroUsize>,
    /// Maximum time in seconds without progress while no engine or no worker answers [default: 600].
    #[arg(long, value_name = "SECONDS", value_parser = parse_positive::<NonZeroU64>, requires = "engine")]
    pub engine_wait: Option<NonZeroU64>,
    #[command(flatten)]
    pub simulate: SimulateArgs,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// Output format: `text`, `json` (one object), or what was found beside its lines, as `sarif`, `github` (annotations)
    /// or `markdown`.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "FORMAT")]
    pub format: FindingsFormat,
    #[command(flatten)]
    pub findings: FindingsFiles,
}

/// Up to so many states are drawn one by one, and so many are explored to count them.
const GRAPH_LIMITS: GraphLimits = GraphLimits { shown: 300, explored: 20_000, ends_with_witnesses: false };

pub(super) async fn check(args: CheckArgs) -> Result<Exit, Failure> {
    match args.width {
        Some(width) => set_trace_width(width.get().into()),
        None if args.full => set_trace_width(UNLIMITED_WIDTH),
        None => {}
    }
    if !args.watch {
        return check_once(&args, &cancel_on_signals(), &RefCell::default()).await;
    }
    // Wrong settings are an error at once.
    tool_limits(&load_settings(args.tools.layer())?)?;
    let cfg = config_path(&args.spec, args.config.as_deref());
    let watched = WatchedSpec { spec: &args.spec, cfg: &cfg, tools: &args.tools };
    let work = async |cancel: Cancel, printed: &RefCell<_>| check_once(&args, &cancel, printed).await.map(|_| ());
    repeat_on_change(&watched, work, describe_change).await
}

/// The result of the check, and the specification that was checked.
async fn examine_loaded(
    loaded: &LoadedSpec,
    toolchain: &dyn Toolchain,
    algorithm: TranslationMode,
    cx: &ToolContext<'_>,
) -> (Result<CheckReport, ToolError>, Option<SpecText>) {
    match loaded.examine(toolchain, algorithm, cx).await {
        Ok(examined) => (Ok(examined.checked), (examined.last_stage == LastStage::Check).then_some(examined.spec)),
        Err(error) => (Err(error), None),
    }
}

/// Random walks through the specification, after its translation.
async fn simulate_loaded(
    args: &SimulateArgs,
    loaded: &LoadedSpec,
    cx: &ToolContext<'_>,
) -> Result<CheckOutcome, Failure> {
    let cfg = loaded.behaviour_cfg()?;
    let tools = embedded_tools()?;
    let mut loaded = loaded.clone();
    translate(&mut loaded, &tools, cx).await?;
    require_parsed(&loaded, &tools, cx).await?;
    let LoadedSpec { spec, cfg_text, .. } = loaded;
    simulate(args, &CheckRequest { spec, cfg_text, cfg }, cx).await
}

/// Writes the outcome into `printed` as soon as it is printed.
async fn check_once(
    args: &CheckArgs,
    cancel: &Cancel,
    printed: &RefCell<Option<CheckOutcome>>,
) -> Result<Exit, Failure> {
    args.page.check(None)?;
    args.trace_out.as_ref().map_or(Ok(()), TraceFile::check)?;
    let editor = args.open.then(Editor::from_environment).transpose()?;
    let settings = load_settings(args.tools.layer())?;
    let limits = tool_limits(&settings)?;
    let loaded = LoadedSpec::read(&args.spec, args.config.as_deref(), &limits.libraries)?;
    let files = loaded.files();
    let mut search = search_workers(args, &settings, &limits)?;
    let Tools { toolchain, contradictions, .. } = match &args.distributed {
        Some(workers) => create_distributed_toolchain(&settings, workers, search.remote.take(), &loaded)?,
        None => create_quick_toolchain(&settings, Path::new(CONTRADICTIONS_DIR))?,
    };
    let display = Display::new(args.format.plain());
    let cx = ToolContext { limits: &limits, cancel, progress: &|p| display.show_check_progress(&p) };

    let algorithm = if args.keep_translation { TranslationMode::KeepExisting } else { TranslationMode::Translate };
    display.announce(&format!("checking {} with {}", args.spec.display(), loaded.cfg_path.display()));
    if args.engine.is_none()
        && let Some(command) = args.distributed.as_ref().and_then(WorkerPlacement::remote_command)
    {
        print_message(&format!("start a worker on each other machine, at any time: {command}"));
    }
    let simulated = match args.simulate.simulate {
        Some(_) => Some(simulate_loaded(&args.simulate, &loaded, &cx).await?),
        None => None,
    };
    let (checked, checked_spec) = if let Some(outcome) = simulated {
        (Ok(CheckReport { outcome, output: String::new(), second_outcome: None }), None)
    } else {
        examine_loaded(&loaded, &*toolchain, algorithm, &cx).await
    };
    search.cancel_submitted().await;
    display.finish();
    let CheckReport { outcome, second_outcome: second, .. } = checked.map_err(|e| tool_failure(&e))?;
    let findings = || loaded.findings(&outcome).with_contradiction(contradictions.has_any());
    if !args.format.print(&args.findings, findings)? {
        print_outcome(args, &files, &outcome, second.as_deref());
    }
    printed.replace(Some(outcome.clone()));
    if let Some(note) = loaded.missing_modules_note(&outcome) {
        print_message(&note);
    }
    if let Some(file) = &args.trace_out {
        let written = file.write(&outcome, &loaded.module, &loaded.cfg_text)?;
        for path in &written {
            print_message(&format!("wrote {}", path.display()));
        }
        if written.is_empty() {
            print_message("there is no counterexample to write");
        }
    }
    if let Some(editor) = editor {
        open_last_step(&editor, &args.spec, &outcome)?;
    }
    let next = next_command(args, &outcome, &limits);
    // After the verdict, because it may take a while.
    if let Some(path) = &args.page.html {
        let graph = match checked_spec {
            Some(spec) => match Cfg::parse(&loaded.cfg_text) {
                Ok(cfg) => {
                    let request = CheckRequest { spec, cfg_text: loaded.cfg_text.clone(), cfg };
                    Some(list_states(&request, GRAPH_LIMITS, &cx).await?)
                }
                Err(_) => None,
            },
            None => None,
        };
        let page = check_page(&CheckSource {
            spec: &args.spec.display().to_string(),
            text: &loaded.spec.text,
            outcome: &outcome,
            second: second.as_deref().map(|second| second_opinion(&outcome, second)),
            is_contradicted: contradictions.has_any(),
            next: next.as_ref().map(|(command, _)| command.as_str()),
            graph: graph.as_ref(),
        });
        write_page(path, &page)?;
    }
    if let (Format::Text, Some((command, note))) = (args.format.plain(), next) {
        print_message(&format!("next: {command}"));
        note.into_iter().for_each(print_message);
    }
    Ok(if contradictions.has_any() { Exit::Defect } else { exit_status(&outcome) })
}

/// The workers of an engine that take part in a distributed check.
fn search_workers(args: &CheckArgs, settings: &Settings, limits: &Limits) -> Result<SearchWorkers, Failure> {
    let (Some(server), Some(_)) = (&args.distributed, &args.engine) else { return Ok(SearchWorkers::default()) };
    if matches!(server, WorkerPlacement::Local(_)) {
        return Err(Failure::usage(
            "--engine needs --distributed HOST: the address of this machine that workers reach",
        ));
    }
    let engine = EngineArgs { engine: args.engine.clone(), engine_wait: args.engine_wait };
    let count = args.engine_workers.or(NonZeroUsize::new(2)).unwrap_or(NonZeroUsize::MIN);
    SearchWorkers::new(&engine, count, server, settings, limits)
}

/// What differs between two checks of a specification: each property whose status is another one.
fn describe_change(before: &CheckOutcome, now: &CheckOutcome) -> String {
    let is_invalid = |outcome: &CheckOutcome| matches!(outcome.verdict, Verdict::Invalid { .. });
    // Its properties are undecided for one reason.
    if is_invalid(now) && !is_invalid(before) {
        return "now invalid".to_owned();
    }
    let names: BTreeSet<&str> = [before, now]
        .into_iter()
        .flat_map(|outcome| {
            let listed = outcome.invariants.iter().chain(&outcome.properties).map(String::as_str);
            listed.chain(outcome.violated_names())
        })
        .collect();
    let mut changed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in names.into_iter().filter(|name| status_words(before, name) != status_words(now, name)) {
        changed.entry(status_words(now, name)).or_default().push(name);
    }
    let parts = changed.iter().map(|(words, names)| format!("{words}: {}", names.join(", ")));
    match parts.collect::<Vec<_>>() {
        parts if !parts.is_empty() => parts.join("; "),
        _ if std::mem::discriminant(&before.verdict) != std::mem::discriminant(&now.verdict) => {
            format!("now {}", verdict_sentence(now))
        }
        _ => "same verdicts as before".to_owned(),
    }
}

fn status_words(outcome: &CheckOutcome, name: &str) -> &'static str {
    let is_listed = outcome.invariants.iter().chain(&outcome.properties).any(|listed| listed == name);
    match outcome.property_status(name) {
        PropertyStatus::Holds => "now holds",
        PropertyStatus::Violated => "now violated",
        PropertyStatus::Undecided(_) => "now undecided",
        // A step is possible in every state.
        PropertyStatus::NotChecked if name == DEADLOCK && !outcome.bounds.always_enabled.is_empty() => "now holds",
        PropertyStatus::NotChecked if is_listed => "now checked in the initial states only",
        PropertyStatus::NotChecked => "no longer checked",
    }
}

fn print_outcome(args: &CheckArgs, files: &CheckedFiles, outcome: &CheckOutcome, second: Option<&CheckOutcome>) {
    match args.format.plain() {
        Format::Text if args.explain && outcome.trace.is_some() => {
            let story = explain(outcome).unwrap_or_default();
            let bounds = bounds_sentence(&outcome.bounds);
            print_result(&format!("{}\nBounds: {bounds}\n\n{story}", verdict_sentence(outcome)));
        }
        Format::Text => {
            print_painted(&files.outcome_text(outcome, is_colored(&std::io::stdout())));
            if let Some(second) = second {
                print_result(&(second_opinion(outcome, second) + "\n"));
            }
        }
        Format::Json => {
            let mut object = check_json(outcome);
            if let Some(second) = second {
                object["second_check"] = check_json(second);
            }
            print_json_line(&object);
        }
    }
}

/// Opens the module at the line of the last step.
fn open_last_step(editor: &Editor, spec: &Path, outcome: &CheckOutcome) -> Result<(), Failure> {
    let Some(trace) = &outcome.trace else {
        print_message("there is no counterexample to open");
        return Ok(());
    };
    let source = trace.steps.last().and_then(|step| step.source.as_ref());
    editor.open(spec, source.map_or(1, |source| source.place.line))
}

/// The command that helps most after this outcome, and what else to know about it.
fn next_command(args: &CheckArgs, outcome: &CheckOutcome, limits: &Limits) -> Option<(String, Option<&'static str>)> {
    let spec = specification_arguments(&args.spec, args.config.as_deref(), &args.tools);
    match outcome.verdict {
        Verdict::Violated { .. } if args.explain || args.simulate.simulate.is_some() || outcome.trace.is_none() => None,
        Verdict::Violated { .. } => Some((format!("tlaforge check {spec} --explain"), None)),
        Verdict::Holds if outcome.is_complete() && !has_no_behaviour(outcome) => {
            Some((format!("tlaforge mutate {spec}"), None))
        }
        Verdict::Inconclusive { timed_out: true, .. } => {
            let longer = limits.check.as_secs().saturating_mul(10);
            let given =
                |flag: &str, value: Option<String>| value.map_or_else(String::new, |value| format!(" {flag} {value}"));
            let distributed = [
                given("--distributed", args.distributed.as_ref().map(ToString::to_string)),
                given("--engine", args.engine.clone()),
                given("--engine-workers", args.engine_workers.map(|count| count.to_string())),
            ];
            let command = format!("tlaforge check {spec}{} --tlc-timeout {longer}", distributed.concat());
            Some((command, Some("the limit is for each run of the checker; smaller constants help, too")))
        }
        Verdict::Inconclusive { .. } if args.simulate.simulate.is_some() => None,
        Verdict::Inconclusive { .. } if outcome.checker == Checker::Embedded => {
            Some((format!("tlaforge check {spec} --checker tlc"), Some("it needs Java: see tlaforge doctor")))
        }
        _ => None,
    }
}

//! `tlaforge conform`: compares logs of a real system with a specification.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::checking::{LoadedSpec, config_path};
use super::failure::{Fails as _, Failure};
use super::format::{FindingsFiles, FindingsFormat, Format};
use super::output_file::{unwritable_reason, write_file};
use super::page::{PageArgs, write_page};
use super::progress::Display;
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::terminal::{print_json_line, print_result};
use super::tool_args::ToolArgs;
use super::tools::{embedded_tools, tool_failure, tool_limits};
use super::translated::translate;
use crate::conform::{
    ComparedSpec, ConformError, ConformLog, ConformMap, Conformance, Verdict, conformance, window_conformance,
};
use crate::exit::Exit;
use crate::files::{LARGE, read_text_below};
use crate::pipeline::{RunView, StoredFile};
use crate::prompt::{Document, documented_steps, quote};
use crate::report::{ConformSource, conform_findings, conform_junit, conform_page, counted};
use crate::tla::{Cfg, Module};
use crate::toolchain::{CheckRequest, ToolContext};

#[derive(Debug, ClapArgs)]
pub(super) struct ConformArgs {
    /// Module of the specification, or a run, whose documents are then quoted.
    #[arg(value_name = "SPEC|RUN")]
    pub spec: PathBuf,
    /// Logs of one system: JSON lines, a JSON list, spans of OpenTelemetry (OTLP), or text that the map describes; plain or
    /// compressed with gzip. `-` is standard input.
    #[arg(required = true, value_name = "LOG")]
    pub logs: Vec<PathBuf>,
    /// The map, which says which lines are which steps.
    #[arg(long, value_name = "FILE", default_value = "conform.toml")]
    pub map: PathBuf,
    /// Configuration file, whose invariants are checked in the states that explain the logs, except with --windows [default: the .cfg file with the name
    /// of the module, in the same folder].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Compare each event on its own. The state before it comes from its own `before`, or from the `after` of the event before it.
    /// Invariants are not checked.
    #[arg(long)]
    pub windows: bool,
    /// The search ends undecided after N pairs of a state and the events before it.
    #[arg(long, value_name = "N", default_value = "2000000")]
    pub max_searched: u64,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// Write the verdict to this file as `JUnit` XML.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub page: PageArgs,
    /// Output format: `text`, `json` (one object), or what was found beside its line, as `sarif`, `github` (annotations) or
    /// `markdown`.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "FORMAT")]
    pub format: FindingsFormat,
    #[command(flatten)]
    pub findings: FindingsFiles,
}

/// The largest number of sentences of the documents that are quoted for a step.
const MAX_SENTENCES: usize = 3;

/// What the documents of a run say about its steps, by their names.
fn documented(folder: &Path) -> Result<BTreeMap<String, Vec<String>>, Failure> {
    let events = crate::journal::read(&folder.join("journal.jsonl")).fails(Exit::Usage)?;
    let view = RunView::from_entries(&events);
    let text = |name: &str| read_text_below(folder, &folder.join(name), LARGE).unwrap_or_default();
    let document =
        |stored: &StoredFile| Document { path: stored.path.clone(), text: text(&format!("artifacts/{}", stored.sha)) };
    let documents: Vec<Document> = view.settings.docs.iter().map(document).collect();
    let mut documented = BTreeMap::new();
    for (step, places) in documented_steps(&text("informal_spec.md")) {
        let quoted = places.iter().take(MAX_SENTENCES).map(|place| match quote(&documents, place, &step) {
            Some(sentence) => format!("\"{sentence}\" [{place}]"),
            None => format!("[{place}]"),
        });
        let mut sentences: Vec<String> = quoted.collect();
        let further: Vec<String> = places.iter().skip(MAX_SENTENCES).map(|place| format!("[{place}]")).collect();
        if !further.is_empty() {
            sentences.push(format!("further at {}", further.join(", ")));
        }
        documented.insert(step, sentences);
    }
    Ok(documented)
}

/// Gives constants of the specification the values that the logs say.
fn take_constants(
    args: &ConformArgs,
    read: &ConformLog,
    loaded: &mut LoadedSpec,
    cfg: &mut Cfg,
) -> Result<(), Failure> {
    for (name, value) in &read.constants {
        let is_declared = |text: &String| {
            Module::parse(text).is_ok_and(|module| module.constants.iter().any(|constant| constant.name == *name))
        };
        let modules = loaded.spec.local_modules.iter().map(|(_, text)| text).chain([&loaded.spec.text]);
        if !modules.into_iter().any(is_declared) {
            let what = format!("[constants] has {name}, and the specification declares no such constant");
            return Err(Failure::usage(format!("{}: {what}", args.map.display())));
        }
        cfg.constants.insert(name.clone(), value.clone());
    }
    if !read.constants.is_empty() {
        loaded.cfg_text = cfg.render();
    }
    Ok(())
}

/// Refuses a file for the verdict that cannot be written, or that is an input.
fn check_junit(args: &ConformArgs) -> Result<(), Failure> {
    let Some(path) = &args.junit else { return Ok(()) };
    let is_input = |input: &PathBuf| same_file(input, path);
    let configuration = config_path(&args.spec, args.config.as_deref());
    if args.logs.iter().chain([&args.map, &args.spec, &configuration]).any(is_input) {
        return Err(Failure::usage(format!("--junit would overwrite {}", path.display())));
    }
    unwritable_reason(path).map_or(Ok(()), |why| Err(Failure::usage(format!("--junit: {why}"))))
}

/// Writes the verdict as `JUnit` XML, if a file is named.
fn write_junit(args: &ConformArgs, logs: &str, result: &Conformance) -> Result<(), Failure> {
    let Some(path) = &args.junit else { return Ok(()) };
    let spec = args.spec.display().to_string();
    write_file(path, &conform_junit(&spec, logs, result))
}

pub(super) async fn conform(args: ConformArgs) -> Result<Exit, Failure> {
    let settings = load_settings(args.tools.layer())?;
    let limits = tool_limits(&settings)?;
    args.page.check(None)?;
    check_junit(&args)?;
    let map = ConformMap::read(&args.map).map_err(|error| input_failure(&error))?;
    let (mut loaded, run) = LoadedSpec::read_with_run(&args.spec, args.config.as_deref(), &limits.libraries)?;
    let documented = run.map(|folder| documented(&folder)).transpose()?.unwrap_or_default();
    let mut cfg = loaded.behaviour_cfg()?;
    let read = ConformLog::read(&args.logs, &map).map_err(|error| input_failure(&error))?;
    take_constants(&args, &read, &mut loaded, &mut cfg)?;
    let cancel = cancel_on_signals();
    let display = Display::new(args.format.plain());
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|p| display.show_check_progress(&p) };
    let tools = embedded_tools()?;
    translate(&mut loaded, &tools, &cx).await?;
    display.announce(&format!("comparing {} with {}", counted(read.log.events.len(), "event"), args.spec.display()));
    let request = CheckRequest { spec: loaded.spec.clone(), cfg_text: loaded.cfg_text.clone(), cfg };
    // The translation declares the variables of an algorithm.
    let translated = Module::parse(&loaded.spec.text);
    let spec = ComparedSpec { module: translated.as_ref().unwrap_or(&loaded.module), documented };
    let found = if args.windows {
        let found = tools.check_windows(&request, &read.log, &cx).await;
        found.map(|found| found.map(|windows| window_conformance(&windows, &read, &spec)))
    } else {
        let found = tools.explain_log(&request, &read.log, args.max_searched, &cx).await;
        found.map(|found| found.map(|explanation| conformance(&explanation, &read, &spec)))
    };
    display.finish();
    let result = found.map_err(|error| tool_failure(&error))?;
    let result = result.map_err(|why| Failure::usage(format!("nothing was compared: {why}")))?;
    if !args.format.print(&args.findings, || conform_findings(&result))? {
        match args.format.plain() {
            Format::Json => print_json_line(&result),
            Format::Text => print_result(&result.text()),
        }
    }
    let logs: Vec<String> = args.logs.iter().map(|log| log.display().to_string()).collect();
    let logs = logs.join(", ");
    write_junit(&args, &logs, &result)?;
    if let Some(path) = &args.page.html {
        let spec = loaded.path.display().to_string();
        let text = &loaded.spec.text;
        write_page(path, &conform_page(&ConformSource { spec: &spec, text, logs: &logs, result: &result }))?;
    }
    Ok(match result.verdict {
        Verdict::Conforms => Exit::Ok,
        Verdict::Deviates | Verdict::BreaksRequirement => Exit::Negative,
        Verdict::Undecided => Exit::Undecided,
    })
}

fn same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

fn input_failure(error: &ConformError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match &error.hint {
        Some(hint) => failure.hint(hint.clone()),
        None => failure,
    }
}

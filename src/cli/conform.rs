//! `tlaforge conform`: compares logs of a real system with a specification.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::checking::LoadedSpec;
use super::failure::Failure;
use super::format::Format;
use super::progress::Display;
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::terminal::{print_json_line, print_result};
use super::tool_args::ToolArgs;
use super::tools::{embedded_tools, tool_failure, tool_limits};
use crate::conform::{ConformError, ConformLog, ConformMap, Verdict, conformance};
use crate::exit::Exit;
use crate::report::counted;
use crate::tla::{Cfg, Module};
use crate::toolchain::{CheckRequest, ToolContext, Toolchain as _, Translation};

#[derive(Debug, ClapArgs)]
pub(super) struct ConformArgs {
    /// Module of the specification.
    pub spec: PathBuf,
    /// Logs of one system: files of JSON lines, or of one JSON list.
    #[arg(required = true, value_name = "LOG")]
    pub logs: Vec<PathBuf>,
    /// The map: which lines are which steps.
    #[arg(long, value_name = "FILE", default_value = "conform.toml")]
    pub map: PathBuf,
    /// Configuration file, whose invariants are checked in the states that explain the logs [default: the .cfg file with the name
    /// of the module, in the same folder].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The search ends undecided after N pairs of a state and the events before it.
    #[arg(long, value_name = "N", default_value = "2000000")]
    pub max_searched: u64,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub format: Format,
}

pub(super) async fn conform(args: ConformArgs) -> Result<Exit, Failure> {
    let settings = load_settings(args.tools.layer())?;
    let limits = tool_limits(&settings)?;
    let map = ConformMap::read(&args.map).map_err(|error| input_failure(&error))?;
    let mut loaded = LoadedSpec::read(&args.spec, args.config.as_deref(), &limits.libraries)?;
    let cfg = Cfg::parse(&loaded.cfg_text).map_err(|error| cfg_failure(&loaded.cfg_path, &error.to_string()))?;
    if cfg.gives_no_behaviour() {
        let what = "it names neither SPECIFICATION nor INIT and NEXT, so there is no behaviour to compare with";
        return Err(cfg_failure(&loaded.cfg_path, what));
    }
    let read = ConformLog::read(&args.logs, &map).map_err(|error| input_failure(&error))?;
    let cancel = cancel_on_signals();
    let display = Display::new(args.format);
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|p| display.show_check_progress(&p) };
    let tools = embedded_tools()?;
    if loaded.module.algorithm.is_some() {
        match tools.translate(&loaded.spec, &cx).await.map_err(|error| tool_failure(&error))? {
            Translation::Translated(text) => loaded.spec.text = text,
            Translation::NoAlgorithm => {}
            Translation::Rejected(diagnostics) => {
                let what = diagnostics.first().map_or_else(|| "it is not translated".to_owned(), ToString::to_string);
                return Err(Failure::usage(format!("{}: {what}", args.spec.display())));
            }
        }
    }
    display.announce(&format!("comparing {} with {}", counted(read.log.events.len(), "event"), args.spec.display()));
    let request = CheckRequest { spec: loaded.spec.clone(), cfg_text: loaded.cfg_text.clone(), cfg };
    let found = tools.explain_log(&request, &read.log, args.max_searched, &cx).await;
    display.finish();
    let found = found.map_err(|error| tool_failure(&error))?;
    let found = found.map_err(|why| Failure::usage(format!("nothing was compared: {why}")))?;
    // The translation declares the variables of an algorithm.
    let translated = Module::parse(&loaded.spec.text);
    let result = conformance(&found, &read, translated.as_ref().unwrap_or(&loaded.module));
    match args.format {
        Format::Json => print_json_line(&result),
        Format::Text => print_result(&result.text()),
    }
    Ok(match result.verdict {
        Verdict::Conforms => Exit::Ok,
        Verdict::Deviates | Verdict::BreaksRequirement => Exit::Negative,
        Verdict::Undecided => Exit::Undecided,
    })
}

fn cfg_failure(path: &Path, what: &str) -> Failure {
    Failure::usage(format!("{}: {what}", path.display()))
}

fn input_failure(error: &ConformError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match &error.hint {
        Some(hint) => failure.hint(hint.clone()),
        None => failure,
    }
}

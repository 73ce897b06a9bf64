//! Static checks in a child of this program, with limits of time and memory like the checker, and stopped by Ctrl-C. A
//! short module is handled in this process, which is faster than starting a child.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use tlaforge_process::{Command, Status};
use tlaforge_tla::{Cfg, CheckOutcome};

use super::child_task::{read_task, with_length};
use super::embedded_process::{CHECKER_MARKER, CHECKER_NAME, memory_limit, process_error};
use super::run::killed_message;
use super::{
    CheckRequest, ParseOutcome, SpecText, ToolContext, ToolError, Translation, environment_failure, static_checks,
};

/// Prefix of the marker's value if the child does static checks instead of being the checker.
pub(super) const STATIC_CHECKS_PREFIX: &str = "static-checks:";

/// Modules up to this total length are handled in this process: they take milliseconds.
const MAX_INLINE_BYTES: usize = 64 << 10;
/// Bytes: a translation can be very long, and JSON escapes it.
const MAX_REPLY: u64 = 256 << 20;
/// Minimum time of a child: the limit of a check may be shorter than the child's start.
const MIN_TIME: Duration = Duration::from_secs(1);

#[derive(Serialize, Deserialize)]
enum Task {
    Translate { spec: SpecText, allowed_modules: Vec<String> },
    Parse { spec: SpecText, allowed_modules: Vec<String> },
    FindUnsupported { spec: SpecText, cfg_text: String },
}

/// The parser's outcome, or what it cannot decide.
type Parsed = Result<ParseOutcome, String>;

pub(super) async fn translate(program: &Path, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
    let allowed_modules = &cx.limits.allowed_modules;
    if is_short(spec) {
        return Ok(static_checks::translate(spec, allowed_modules));
    }
    let task = Task::Translate { spec: spec.clone(), allowed_modules: allowed_modules.clone() };
    run_in_child(program, &task, cx).await
}

/// Parses and analyses a module that contains its translation.
pub(super) async fn parse(program: &Path, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
    let allowed_modules = &cx.limits.allowed_modules;
    let parsed: Parsed = if is_short(spec) {
        static_checks::parse(spec, allowed_modules)
    } else {
        let task = Task::Parse { spec: spec.clone(), allowed_modules: allowed_modules.clone() };
        run_in_child(program, &task, cx).await?
    };
    parsed.map_err(|what| ToolError::NotAnalysed { what })
}

/// The outcome if the checker must not run on this request: see [`static_checks::find_unsupported`].
pub(super) async fn find_unsupported(
    program: &Path,
    request: &CheckRequest,
    cx: &ToolContext<'_>,
) -> Result<Option<CheckOutcome>, ToolError> {
    if is_short(&request.spec) {
        return Ok(static_checks::find_unsupported(request));
    }
    let (spec, cfg_text) = (request.spec.clone(), request.cfg_text.clone());
    run_in_child(program, &Task::FindUnsupported { spec, cfg_text }, cx).await
}

async fn run_in_child<T: DeserializeOwned>(program: &Path, task: &Task, cx: &ToolContext<'_>) -> Result<T, ToolError> {
    let tool = || CHECKER_NAME.to_owned();
    let broke = |what: String| ToolError::Broke { tool: tool(), what };
    let task = serde_json::to_vec(task).map_err(|e| broke(e.to_string()))?;
    let time = cx.limits.parse.min(cx.limits.check).max(MIN_TIME);
    let command = Command::new(program)
        .env(CHECKER_MARKER, format!("{STATIC_CHECKS_PREFIX}{}", memory_limit(cx.limits)))
        .stdin(with_length(&task))
        .ends_with_parent()
        .deadline(time)
        .output_cap(MAX_REPLY);
    let ended = command.run(cx.cancel, &mut |_| {}).await.map_err(process_error)?;
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let breaks_on_input = |what: String| Err(ToolError::BreaksOnInput { tool: tool(), what });
    // Not the fault of the module, unlike the other signals: those are a stack overflow or an abort.
    if let Some(what) = killed_message(ended.status) {
        return Err(broke(what));
    }
    match ended.status {
        Status::Exited(0) => serde_json::from_slice(&ended.stdout).map_err(|e| broke(e.to_string())),
        Status::Cancelled => Err(ToolError::Cancelled),
        Status::DeadlineExceeded => breaks_on_input(format!(
            "its static checks, which come before the check, do not end within {} s; make the module shorter, or give \
             a larger --tlc-timeout",
            time.as_secs_f64()
        )),
        Status::OutputFlood => breaks_on_input(format!("its translation is longer than {} MiB", MAX_REPLY >> 20)),
        Status::Exited(_) | Status::Signalled(_) => match environment_failure::find(&stderr) {
            Some(what) => Err(ToolError::Environment { tool: tool(), what }),
            None => breaks_on_input(format!("its static checks ended with {:?}: {}", ended.status, stderr.trim())),
        },
    }
}

fn is_short(spec: &SpecText) -> bool {
    spec.text.len() + spec.local_modules.iter().map(|(_, text)| text.len()).sum::<usize>() <= MAX_INLINE_BYTES
}

/// The child's side: reads a task from standard input, and writes the result to standard output.
pub(super) fn serve_task() -> ExitCode {
    let Some(reply) = read_task().ok().and_then(|task| perform_task(&task).ok()) else { return ExitCode::FAILURE };
    match std::io::stdout().lock().write_all(&reply) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn perform_task(task: &[u8]) -> serde_json::Result<Vec<u8>> {
    match serde_json::from_slice(task)? {
        Task::Translate { spec, allowed_modules } => {
            serde_json::to_vec(&static_checks::translate(&spec, &allowed_modules))
        }
        Task::Parse { spec, allowed_modules } => serde_json::to_vec(&static_checks::parse(&spec, &allowed_modules)),
        Task::FindUnsupported { spec, cfg_text } => {
            let cfg = Cfg::parse(&cfg_text).unwrap_or_default();
            serde_json::to_vec(&static_checks::find_unsupported(&CheckRequest { spec, cfg_text, cfg }))
        }
    }
}

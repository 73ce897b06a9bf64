//! Our own translator, parser and type inference. On a long module they run in a child of this program, like the checker:
//! bounded in time and memory, and ended by Ctrl-C. A short module is done before a child would have started.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::process::{Command, Status};
use crate::tla::{Cfg, CheckOutcome};

use super::embedded::{EmbeddedToolchain, parse_now, translate_now, unfit};
use super::embedded_run::{NAME, failed, memory};
use super::run::{KILLED, KILLED_IN_WORDS};
use super::{CHECKER_MARKER, CheckRequest, ParseOutcome, SpecText, ToolContext, ToolError, Translation, trouble};

/// What stands before the memory in the marker's value if the child does static checks and is not the checker.
pub(super) const PREFIX: &str = "static-checks:";

/// Modules up to this length together are handled in this process: they take milliseconds.
const SHORT: usize = 64 << 10;
/// A translation can be as long as this, and JSON escapes it.
const LONGEST_REPLY: u64 = 256 << 20;
/// No child has less time than this: the limit of a check may be less than its start takes.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// What is to be done.
#[derive(Serialize, Deserialize)]
enum Task {
    Translate { spec: SpecText, allowed_modules: Vec<String> },
    Parse { spec: SpecText, allowed_modules: Vec<String> },
    Unfit { spec: SpecText, cfg_text: String },
}

/// What the parser came to: an outcome, or what it cannot decide.
type Parsed = Result<ParseOutcome, String>;

impl EmbeddedToolchain {
    pub(super) async fn translated(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        if is_short(spec) {
            return Ok(translate_now(spec, &cx.limits.allowed_modules));
        }
        let allowed_modules = cx.limits.allowed_modules.clone();
        self.in_child(&Task::Translate { spec: spec.clone(), allowed_modules }, cx).await
    }

    pub(super) async fn parsed(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        let parsed: Parsed = if is_short(spec) {
            parse_now(spec, &cx.limits.allowed_modules)
        } else {
            let allowed_modules = cx.limits.allowed_modules.clone();
            self.in_child(&Task::Parse { spec: spec.clone(), allowed_modules }, cx).await?
        };
        parsed.map_err(|what| ToolError::NotAnalysed { what })
    }

    /// The outcome of a check that the checker is not to be asked for.
    pub(super) async fn unfit(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<Option<CheckOutcome>, ToolError> {
        if is_short(&request.spec) {
            return Ok(unfit(request));
        }
        let (spec, cfg_text) = (request.spec.clone(), request.cfg_text.clone());
        self.in_child(&Task::Unfit { spec, cfg_text }, cx).await
    }

    async fn in_child<T: DeserializeOwned>(&self, task: &Task, cx: &ToolContext<'_>) -> Result<T, ToolError> {
        let tool = || NAME.to_owned();
        let broke = |what: String| ToolError::Broke { tool: tool(), what };
        let task = serde_json::to_vec(task).map_err(|e| broke(e.to_string()))?;
        let time = cx.limits.parse.min(cx.limits.check).max(LEAST_TIME);
        let command = Command::new(&self.program)
            .env(CHECKER_MARKER, format!("{PREFIX}{}", memory(cx.limits)))
            .stdin(task)
            .deadline(time)
            .output_cap(LONGEST_REPLY);
        let ended = command.run(cx.cancel, &mut |_| {}).await.map_err(failed)?;
        let stderr = String::from_utf8_lossy(&ended.stderr);
        let of_the_module = |what: String| Err(ToolError::BreaksOnInput { tool: tool(), what });
        match ended.status {
            Status::Exited(0) => serde_json::from_slice(&ended.stdout).map_err(|e| broke(e.to_string())),
            Status::Cancelled => Err(ToolError::Cancelled),
            KILLED => Err(broke(KILLED_IN_WORDS.to_owned())),
            Status::DeadlineExceeded => of_the_module(format!(
                "its static checks, which come before the check, do not end within {} s; make the module shorter, or give \
                 a larger --tlc-timeout",
                time.as_secs_f64()
            )),
            Status::OutputFlood => of_the_module(format!("its translation is longer than {} MiB", LONGEST_REPLY >> 20)),
            Status::Exited(_) | Status::Signalled(_) => match trouble::in_output(&stderr) {
                Some(what) => Err(ToolError::Environment { tool: tool(), what }),
                None => of_the_module(format!("its static checks ended with {:?}: {}", ended.status, stderr.trim())),
            },
        }
    }
}

fn is_short(spec: &SpecText) -> bool {
    spec.text.len() + spec.beside.iter().map(|(_, text)| text.len()).sum::<usize>() <= SHORT
}

/// The child: reads a task from standard input, and writes what came of it to standard output.
pub(super) fn serve() -> ExitCode {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    let Some(reply) = read.ok().and_then(|_| perform(&bytes).ok()) else { return ExitCode::FAILURE };
    match std::io::stdout().lock().write_all(&reply) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn perform(task: &[u8]) -> serde_json::Result<Vec<u8>> {
    match serde_json::from_slice(task)? {
        Task::Translate { spec, allowed_modules } => serde_json::to_vec(&translate_now(&spec, &allowed_modules)),
        Task::Parse { spec, allowed_modules } => serde_json::to_vec(&parse_now(&spec, &allowed_modules)),
        Task::Unfit { spec, cfg_text } => {
            let cfg = Cfg::parse(&cfg_text).unwrap_or_default();
            serde_json::to_vec(&unfit(&CheckRequest { spec, cfg_text, cfg }))
        }
    }
}

//! Mutants on many machines, by Restate: what `mutate --engine` sends, and what a worker does with it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::contradictions::CONTRADICTIONS_DIR;
use super::engine::EngineArgs;
use super::failure::{Fails, Failure};
use super::terminal::print_message;
use super::tools::{create_quick_toolchain, tool_failure};
use crate::config::{CheckerChoice, Settings};
use crate::exit::Exit;
use crate::files::Sha;
use crate::mutation::{Engine, EngineError, Judge, Judgement, Mutant, MutantJob};
use crate::process::Cancel;
use crate::toolchain::{BoxFuture, Limits, ToolContext, ToolError, Toolchain};
use tlaforge_restate::{CallError, Client, EngineAddress};

pub(super) const PROGRAM: &str = "tlaforge";
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(super) const JOB: &str = "judge_mutant";

/// Time without progress after which `mutate` gives up.
const PATIENCE: Duration = Duration::from_secs(600);
/// A judgement takes several runs. All of them fit into the time after which the engine begins a job again.
const MAX_CHECK: Duration = Duration::from_secs(2 * 60 * 60);

/// A job, as a worker gets it.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    /// The version of the program.
    tlaforge: String,
    checker: CheckerChoice,
    /// The versions of the tools: others may judge differently.
    tools: String,
    mutant: MutantJob,
}

pub(super) fn check(args: &EngineArgs) -> Result<(), Failure> {
    args.engine.as_deref().map(parse_address).transpose().map(|_| ())
}

pub(super) fn parse_address(text: &str) -> Result<EngineAddress, Failure> {
    text.parse::<EngineAddress>().fails(Exit::Usage)
}

pub(super) async fn connect<'a>(
    args: &EngineArgs,
    judge: &'a Judge<'a>,
    checker: CheckerChoice,
    cx: &'a ToolContext<'a>,
) -> Result<Box<dyn Engine + 'a>, Failure> {
    let address = parse_address(args.engine.as_deref().unwrap_or_default())?;
    if let Some(jar) = cx.limits.libraries.jars().next() {
        return Err(Failure::usage(format!("the library {} cannot be used with --engine", jar.display()))
            .hint("TLC may use Java code of a jar, which workers do not have; unpack its modules into a folder"));
    }
    if cx.limits.check > MAX_CHECK {
        let (given, most) = (cx.limits.check.as_secs(), MAX_CHECK.as_secs());
        return Err(Failure::usage(format!("the time limit of {given} s is too long for --engine: at most {most} s"))
            .hint("set a shorter one with --timeout"));
    }
    let patience = args.engine_wait.map_or(PATIENCE, |seconds| Duration::from_secs(seconds.get()));
    let tools = judge.tools.info(cx).await.map_err(|error| tool_failure(&error))?.version;
    let client = Client::new(address, PROGRAM, VERSION, JOB, patience, print_message);
    Ok(Box::new(RestateEngine { client: client.fails(Exit::Tool)?, judge, checker, tools, cx }))
}

/// Judges mutants on the workers of an engine.
struct RestateEngine<'a> {
    client: Client,
    judge: &'a Judge<'a>,
    checker: CheckerChoice,
    tools: String,
    cx: &'a ToolContext<'a>,
}

impl RestateEngine<'_> {
    async fn call(&self, mutant: &Mutant) -> Result<Judgement, EngineError> {
        let name = mutant.name(&self.judge.subject.file);
        let failed = |what: String| EngineError::Failed(format!("{name}: {what}"));
        let request = Request {
            tlaforge: VERSION.to_owned(),
            checker: self.checker,
            tools: self.tools.clone(),
            mutant: MutantJob::new(self.judge, mutant, self.cx.limits),
        };
        let request = serde_json::to_vec(&request).expect("a request is plain data");
        // Of everything that determines the judgement.
        let key = Sha::digest(&request);
        let answer = self.client.call(key.as_str(), &request).await.map_err(|error| match error {
            CallError::Unavailable { .. } => EngineError::Unavailable(error.to_string()),
            CallError::TooLarge { .. } => failed(format!("{error}; judge this specification without --engine")),
            CallError::Failed(what) => failed(what),
        })?;
        let judgement: Judgement = serde_json::from_str(answer.get()).map_err(|e| failed(e.to_string()))?;
        if (&judgement.name, &judgement.key) != (&name, &self.judge.key(mutant)) {
            return Err(failed("a worker answered with the judgement of another mutant".to_owned()));
        }
        Ok(judgement)
    }
}

impl Engine for RestateEngine<'_> {
    fn judge<'a>(&'a self, mutant: &'a Mutant) -> BoxFuture<'a, Result<Judgement, EngineError>> {
        Box::pin(async move {
            tokio::select! {
                biased;
                () = self.cx.cancel.cancelled() => Err(ToolError::Cancelled.into()),
                judged = self.call(mutant) => judged,
            }
        })
    }

    fn cancel_submitted(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.client.cancel_submitted())
    }
}

/// What a worker has: its settings, and tools for each checker, created when a job first needs them.
pub(super) struct MutantWorker {
    settings: Settings,
    prepared: tokio::sync::Mutex<Vec<(CheckerChoice, Arc<PreparedTools>)>>,
}

struct PreparedTools {
    toolchain: Box<dyn Toolchain>,
    version: String,
}

impl MutantWorker {
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, prepared: tokio::sync::Mutex::default() }
    }

    /// The judgement as JSON, or why this machine cannot judge: an answer that says nothing about the mutant.
    pub(super) async fn judge(&self, request: &[u8]) -> Result<String, String> {
        // First the version alone: another one may have other fields.
        #[derive(Deserialize)]
        struct Version {
            tlaforge: String,
        }
        let Version { tlaforge } =
            serde_json::from_slice(request).map_err(|e| format!("not a job of tlaforge: {e}"))?;
        if tlaforge != VERSION {
            return Err(format!("this worker has tlaforge {VERSION}, and the job is of {tlaforge}"));
        }
        let Request { checker, tools, mutant, .. } =
            serde_json::from_slice(request).map_err(|e| format!("not a job of tlaforge {VERSION}: {e}"))?;
        if mutant.check > MAX_CHECK {
            return Err(format!("a time limit of {} s is too long", mutant.check.as_secs()));
        }
        let allowed = &self.settings.given.allow_modules;
        if let Some(module) = mutant.allowed_modules.iter().find(|module| !allowed.contains(module)) {
            return Err(format!(
                "this worker does not allow the module {module}; start it with --allow-module {module}"
            ));
        }
        let prepared = self.tools(checker).await?;
        if prepared.version != tools {
            return Err(format!("this worker has other tools: {}; the job needs {tools}", prepared.version));
        }
        // Dropped with this future if the engine ends the job.
        let judgement = mutant.judge(&*prepared.toolchain, &Cancel::new()).await?;
        serde_json::to_string(&judgement).map_err(|e| e.to_string())
    }

    async fn tools(&self, checker: CheckerChoice) -> Result<Arc<PreparedTools>, String> {
        let mut all = self.prepared.lock().await;
        if let Some((_, prepared)) = all.iter().find(|(of, _)| *of == checker) {
            return Ok(prepared.clone());
        }
        let settings = Settings { checker, ..self.settings.clone() };
        let toolchain =
            create_quick_toolchain(&settings, Path::new(CONTRADICTIONS_DIR)).map_err(|f| f.message)?.toolchain;
        let cx = ToolContext { limits: &Limits::default(), cancel: &Cancel::new(), progress: &|_| {} };
        let version = toolchain.info(&cx).await.map_err(|e| e.to_string())?.version;
        let prepared = Arc::new(PreparedTools { toolchain, version });
        all.push((checker, prepared.clone()));
        Ok(prepared)
    }
}

//! A run in the process of the test, so that the test controls its clock and sees the requests to the tools.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test program uses a part of it")]

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tlaforge::llm::{
    Budget, CallTimer, Caller, HttpSettings, ModelChoice, Models, OpenAi, OpenAiSettings, Prices, Provider, Recording,
    Replay, RetryPolicy, Secret,
};
use tlaforge::nodes::{ModuleCache, NodeContext, NodeDispatcher};
use tlaforge::pipeline::{Finished, Run, RunEnvironment, Settings, drive};
use tlaforge::process::Cancel;
use tlaforge::prompt::{PromptLibrary, read_documents};
use tlaforge::tla::{CheckOutcome, Checker};
use tlaforge::toolchain::{
    BoxFuture, CheckReport, CheckRequest, EmbeddedToolchain, Limits, ParseOutcome, ProbeReport, SpecText, ToolContext,
    ToolError, ToolPaths, Toolchain, ToolchainInfo, Translation,
};

use crate::support::Bench;
use crate::support::model_server::ModelServer;
use crate::support::waiting::wait_until_async;

/// How many results of candidates the run with this journal has received.
pub(crate) fn count_received(journal: &Path) -> usize {
    std::fs::read_to_string(journal).unwrap_or_default().matches("\"name\":\"candidate_received\"").count()
}

/// A clock for which the time of a wait is over once something has happened: wait n ends when the run has received
/// `received[n]` results of candidates.
pub(crate) struct EventClock {
    journal: PathBuf,
    received: Vec<usize>,
    waits: AtomicUsize,
}

impl EventClock {
    pub(crate) fn new(bench: &Bench, received: &[usize]) -> Arc<Self> {
        let journal = bench.path("specs/journal.jsonl");
        Arc::new(Self { journal, received: received.to_vec(), waits: AtomicUsize::new(0) })
    }

    /// How often the run has waited.
    pub(crate) fn waits(&self) -> usize {
        self.waits.load(Ordering::SeqCst)
    }
}

impl CallTimer for EventClock {
    fn pause(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let number = self.waits.fetch_add(1, Ordering::SeqCst);
        let wanted = *self.received.get(number).unwrap_or_else(|| panic!("wait {number} is not expected"));
        let received = move || count_received(&self.journal) >= wanted;
        Box::pin(wait_until_async("the results are received", received))
    }

    fn jitter(&self) -> f64 {
        0.0
    }

    fn time_left(&self) -> Option<Duration> {
        None
    }
}

/// What a run in this process is made of.
pub(crate) struct InProcess {
    pub(crate) provider: Box<dyn Provider>,
    pub(crate) timer: Arc<dyn CallTimer>,
    pub(crate) toolchain: Box<dyn Toolchain>,
    pub(crate) candidates: u32,
    pub(crate) concurrent_calls: usize,
    /// File in the bench that the answers are recorded in.
    pub(crate) record: Option<&'static str>,
    pub(crate) limits: Limits,
    /// Time for larger bounds; zero tries none.
    pub(crate) bounds_budget: Duration,
}

impl InProcess {
    pub(crate) fn new(provider: Box<dyn Provider>, timer: Arc<dyn CallTimer>, candidates: u32) -> Self {
        let (toolchain, limits) = (Box::new(embedded()), Limits::default());
        let bounds_budget = Duration::ZERO;
        Self { provider, timer, toolchain, candidates, concurrent_calls: 8, record: None, limits, bounds_budget }
    }

    /// Runs `docs/` into `specs/`.
    pub(crate) fn run(self, bench: &Bench) -> Finished {
        let model = Some("m".to_owned());
        let caller = Caller::new(
            self.provider,
            Models { all: ModelChoice { model, ..ModelChoice::default() }, ..Models::default() },
            RetryPolicy::default(),
            Budget::default(),
            Prices::load(None).unwrap(),
            self.concurrent_calls,
            self.timer,
        );
        let context = NodeContext {
            caller,
            toolchain: self.toolchain,
            side_toolchain: None,
            mutant_sample: None,
            bounds_budget: self.bounds_budget,
            prompts: PromptLibrary::load(None).unwrap(),
            limits: self.limits,
            cancel: Cancel::new(),
            progress: Box::new(|_| {}),
            recording_path: self.record.map(|name| bench.path(name)),
            modules: ModuleCache::default(),
        };
        let nodes = NodeDispatcher { context };
        let clock: tlaforge::journal::Clock = Arc::new(|| "2026-01-01T00:00:00.000Z".to_owned());
        let run = Run::open(&bench.path("specs"), RunEnvironment { clock, observer: None, crash: None, replica: None })
            .unwrap();
        let documents = read_documents(&bench.path("docs")).unwrap();
        let docs = documents.files.iter().map(|d| run.keep(&d.path, &d.text).unwrap()).collect();
        let candidates = self.candidates;
        run.start(&Settings { docs, candidates, command_line: json!({}), ..Settings::default() }).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(drive(&run, &nodes)).unwrap()
    }
}

/// A provider whose answers come from this server.
pub(crate) fn served_by(server: &ModelServer) -> Box<dyn Provider> {
    let key = Secret::new("OPENAI_API_KEY", "k").unwrap();
    Box::new(OpenAi::new(HttpSettings::new(server.url(), Some(key)), OpenAiSettings::default()).unwrap())
}

/// A provider whose answers come from this recording of the bench.
pub(crate) fn recorded_in(bench: &Bench, name: &str) -> Box<dyn Provider> {
    Box::new(Replay::new(Recording::load(&bench.path(name)).unwrap(), false))
}

pub(crate) fn embedded() -> EmbeddedToolchain {
    let env = |name: &str| std::env::var_os(name);
    let paths = ToolPaths { jar: None, java: None, env: &env };
    EmbeddedToolchain::new(PathBuf::from(env!("CARGO_BIN_EXE_tlaforge")), &paths)
}

pub(crate) type Hook<T> = Box<dyn for<'a> Fn(&'a T, &'a ToolContext<'a>) -> BoxFuture<'a, ()> + Send + Sync>;

/// The time limits of the checks so far.
pub(crate) type CheckLimits = Arc<Mutex<Vec<Duration>>>;

/// Records the time limit of each check.
pub(crate) fn record_limits(limits: &CheckLimits) -> Hook<CheckRequest> {
    let limits = limits.clone();
    Box::new(move |_, cx| {
        limits.lock().unwrap().push(cx.limits.check);
        Box::pin(std::future::ready(()))
    })
}

/// Tools that call a test before they translate and before they check.
pub(crate) struct ObservedTools {
    pub(crate) tools: EmbeddedToolchain,
    pub(crate) before_translation: Hook<SpecText>,
    pub(crate) before_check: Hook<CheckRequest>,
}

impl ObservedTools {
    pub(crate) fn new() -> Self {
        Self {
            tools: embedded(),
            before_translation: Box::new(|_, _| Box::pin(std::future::ready(()))),
            before_check: Box::new(|_, _| Box::pin(std::future::ready(()))),
        }
    }
}

#[async_trait]
impl Toolchain for ObservedTools {
    fn checker(&self) -> Checker {
        self.tools.checker()
    }

    async fn translate(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        (self.before_translation)(spec, cx).await;
        self.tools.translate(spec, cx).await
    }

    async fn parse(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        self.tools.parse(spec, cx).await
    }

    async fn check(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        (self.before_check)(request, cx).await;
        self.tools.check(request, cx).await
    }

    async fn probe(
        &self,
        request: &CheckRequest,
        outcome: &CheckOutcome,
        cx: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError> {
        self.tools.probe(request, outcome, cx).await
    }

    async fn info(&self, cx: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError> {
        self.tools.info(cx).await
    }
}

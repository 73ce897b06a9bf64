//! The interface of every toolchain. It knows nothing of nodes, models or journals.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use tlaforge_process::Cancel;
use tlaforge_tla::{Cfg, CheckOutcome, Checker, Diagnostic, Probes, module_name};

use super::libraries::{Libraries, UnreadableModule};

/// A boxed future, so that the traits can be used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A module with the local modules that it extends or instantiates.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SpecText {
    /// Without `.tla`.
    pub name: String,
    pub text: String,
    /// Modules in the same folder or in libraries: name and text.
    pub local_modules: Vec<(String, String)>,
}

/// Whether the name of a module can be the name of a file, and not a path to another folder.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl SpecText {
    /// A module without other modules in its folder. Its name is that of its header.
    pub fn alone(text: String) -> Self {
        let name = module_name(&text).unwrap_or("Spec").to_owned();
        Self { name, text, local_modules: Vec::new() }
    }
}

/// The result of translating a PlusCal algorithm.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Translation {
    /// There is no algorithm; the module is used as it is.
    NoAlgorithm,
    /// The module with the translation in place.
    Translated(String),
    /// The translator, or a lint before it, rejects the algorithm.
    Rejected(Vec<Diagnostic>),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ParseOutcome {
    /// A correct module, perhaps with warnings.
    Accepted {
        warnings: Vec<Diagnostic>,
    },
    Rejected(Vec<Diagnostic>),
}

/// Limits of one tool run.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Wall time of each run of the checker.
    pub check: Duration,
    /// Wall time of the translator and of the parser.
    pub parse: Duration,
    /// Bytes of output; a process that writes more is stopped.
    pub output: u64,
    /// Worker threads; `None` lets the checker choose.
    pub workers: Option<usize>,
    /// Memory of the checker in MiB: the heap of a JVM, or all memory of the embedded checker. `None` leaves it to the
    /// JVM; the embedded checker then takes a quarter of the machine's memory, as a JVM does.
    pub heap_mib: Option<u64>,
    /// Modules such as `IOUtils` that the user allows by name.
    pub allowed_modules: Vec<String>,
    /// Where modules are looked up that are not beside the specification.
    pub libraries: Libraries,
    /// The limits of a run that continues after violations.
    pub past_violations: PastViolationLimits,
}

/// The limits at which a run that continues after violations stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PastViolationLimits {
    /// Number of distinct states.
    pub states: Option<u64>,
    /// Number of steps from an initial state.
    pub depth: Option<u64>,
    /// The run stops as soon as every invariant and every property about steps is violated.
    pub ends_after_all: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            check: Duration::from_secs(300),
            parse: Duration::from_secs(60),
            output: 64 << 20,
            workers: None,
            heap_mib: None,
            allowed_modules: Vec::new(),
            libraries: Libraries::default(),
            past_violations: PastViolationLimits::default(),
        }
    }
}

/// Progress of one run of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The label of the run: `safety`, `temporal`, `witness WitnessPaid`, `trace`.
    pub run: String,
    pub generated: u64,
    pub distinct: u64,
    /// States left to explore.
    pub queue: u64,
}

/// What a tool run gets from its caller.
pub struct ToolContext<'a> {
    pub limits: &'a Limits,
    pub cancel: &'a Cancel,
    /// Called with each progress report of the checker.
    pub progress: &'a (dyn Fn(Progress) + Send + Sync),
}

/// A request to check a module, which already contains its translation.
#[derive(Debug, Clone)]
pub struct CheckRequest {
    pub spec: SpecText,
    /// The configuration's text as the tool will get it.
    pub cfg_text: String,
    pub cfg: Cfg,
}

/// A checker's outcome with its output.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CheckReport {
    pub outcome: CheckOutcome,
    /// The output of each run under a heading line.
    pub output: String,
    /// The outcome of the second checker, if two ran side by side.
    pub second_outcome: Option<Box<CheckOutcome>>,
}

/// How much a check finds out besides its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Also what explains the verdict: see [`Toolchain::check`].
    Explained,
    /// See [`Toolchain::check_without_details`].
    VerdictOnly,
}

/// What one check decided of several properties.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SeparateVerdicts {
    /// Invariants and action properties that are violated, in the order in which the exploration met the violations.
    pub violated: Vec<String>,
    /// The result for everything else.
    pub rest: CheckReport,
}

/// The further runs on a violation, with their output.
#[derive(Debug, Clone)]
pub struct ProbeReport {
    pub probes: Probes,
    /// The output of each run under a heading line.
    pub output: String,
}

/// The tools found on this machine.
#[derive(Debug, Clone)]
pub struct ToolchainInfo {
    /// Name and version of the Java runtime, or of its replacement.
    pub runtime: String,
    pub location: String,
    /// The checker's version in its own words.
    pub version: String,
}

fn not_found(tool: &str) -> String {
    format!("{tool} was not found")
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
pub enum ToolError {
    /// A tool is not installed.
    #[error("{}: {advice}", not_found(tool))]
    Missing {
        tool: String,
        /// What to install or to set.
        advice: String,
    },
    /// No `tla2tools.jar` was named, and none is in the usual places.
    #[error("{}: {advice}", not_found("tla2tools.jar"))]
    NoJar {
        /// What to install or to set.
        advice: String,
    },
    /// A tool ended in a way that says nothing about the specification.
    #[error("{tool} broke: {what}")]
    Broke {
        tool: String,
        /// The observation, with the end of the tool's output.
        what: String,
    },
    /// The static checks met something that they do not support: they neither accept nor reject the module.
    #[error("the static checks cannot decide whether this is TLA+: {what}; with Java, SANY decides it")]
    NotAnalysed {
        /// The construct and its position.
        what: String,
    },
    /// The tool did not end in time. Only the translator and the parser report it; a check becomes inconclusive
    /// instead.
    #[error("{tool} did not end within {seconds} s")]
    Deadline {
        tool: String,
        /// The time limit.
        seconds: u64,
    },
    /// This machine kept a tool from working: a full disk, missing permissions, too little memory.
    #[error("{tool} could not work on this machine: {what}")]
    Environment {
        tool: String,
        /// The line of the tool's output that says so.
        what: String,
    },
    /// The tool fails on this module and works on a trivial one, so the module is at fault, not the machine.
    #[error("{tool} breaks on this module: {what}")]
    BreaksOnInput {
        tool: String,
        /// What happened, with the end of the tool's output.
        what: String,
    },
    #[error("cancelled")]
    Cancelled,
    /// The operating system refused an operation.
    #[error("{what}: {source}")]
    #[serde(skip)]
    Io { what: String, source: std::io::Error },
    /// Other machines gave no result in time.
    #[error("{0}")]
    Unavailable(String),
    /// Other machines could not check it.
    #[error("{0}")]
    WorkerFailed(String),
}

impl From<UnreadableModule> for ToolError {
    fn from(error: UnreadableModule) -> Self {
        let what = format!("cannot read the module {}", error.path.display());
        Self::Io { what, source: error.source }
    }
}

impl ToolError {
    /// What is not installed, in a sentence, and what to install or to set; `None` if nothing is missing.
    pub fn missing(&self) -> Option<(String, &str)> {
        match self {
            Self::Missing { tool, advice } => Some((not_found(tool), advice)),
            Self::NoJar { advice } => Some((not_found("tla2tools.jar"), advice)),
            _ => None,
        }
    }

    /// Whether the error concerns this one module: its author can change it, and other modules can still be checked.
    pub fn is_caused_by_input(&self) -> bool {
        matches!(self, Self::NotAnalysed { .. } | Self::BreaksOnInput { .. })
    }

    /// Whether further checks are pointless: the caller cancelled, or this machine has to be fixed first. Any other
    /// error leaves one check undecided.
    pub fn is_fatal(&self) -> bool {
        use ToolError::{Cancelled, Environment, Io, Missing, NoJar, Unavailable, WorkerFailed};
        matches!(
            self,
            Cancelled
                | Environment { .. }
                | Io { .. }
                | Missing { .. }
                | NoJar { .. }
                | Unavailable(_)
                | WorkerFailed(_)
        )
    }
}

/// Translates, parses and checks modules.
#[async_trait]
pub trait Toolchain: Send + Sync {
    fn checker(&self) -> Checker;

    /// Translates the PlusCal algorithm of a module, if it has one.
    async fn translate(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError>;

    /// Parses and analyses a module that contains its translation.
    async fn parse(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError>;

    /// Checks a module against its configuration.
    async fn check(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError>;

    /// Decides only the verdict, in as few single-threaded runs as possible: no witnesses, no coverage, and names of
    /// steps only if the checker reports them by itself.
    async fn decide(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.check(request, cx).await
    }

    /// Like [`Toolchain::decide`], but a checker that can do so continues after a violation, so that one exploration decides
    /// all invariants and action properties.
    async fn decide_each(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<SeparateVerdicts, ToolError> {
        Ok(SeparateVerdicts { violated: Vec::new(), rest: self.decide(request, cx).await? })
    }

    /// Like [`Toolchain::check`], without the runs that only explain a verdict: no names of steps, no coverage, and no
    /// search for vacuous premises, unless the checker reports them by itself.
    async fn check_without_details(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<CheckReport, ToolError> {
        self.check(request, cx).await
    }

    /// Why the checker refuses the request, if that is known without a run; `None` if it accepts it.
    async fn find_refusal(&self, _request: &CheckRequest, _cx: &ToolContext<'_>) -> Result<Option<String>, ToolError> {
        Ok(None)
    }

    /// Checks a violation again: under weak fairness of every action if the trace is infinite, and with each numeric
    /// constant plus one. All runs together get the time of one run; what does not finish is undecided. Returns `None`
    /// if nothing is violated that could be checked again.
    async fn probe(
        &self,
        request: &CheckRequest,
        outcome: &CheckOutcome,
        cx: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError>;

    /// The versions of all tools that can decide a check. Two machines with the same versions decide alike.
    async fn versions(&self, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        Ok(self.info(cx).await?.version)
    }

    /// The tools that were found, for `doctor` and for reports.
    async fn info(&self, cx: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError>;
}

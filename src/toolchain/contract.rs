//! What every toolchain offers. It knows nothing of nodes, models or journals.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::Cancel;
use crate::tla::{Cfg, CheckOutcome, Checker, Diagnostic, Probes};

/// A future on the heap, so that the trait can be used as an object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A module with its name and the local modules that it extends or instantiates.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SpecText {
    /// The module's name, without `.tla`.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Other modules beside it, name and text.
    pub local_modules: Vec<(String, String)>,
}

/// The translation of a PlusCal algorithm.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Translation {
    /// There is no algorithm: the text stands as it is.
    NoAlgorithm,
    /// The module with the translation in place.
    Translated(String),
    /// What the translator (or a lint before it) rejects.
    Rejected(Vec<Diagnostic>),
}

/// What the parser says of a module.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ParseOutcome {
    /// It is a correct module; warnings may remain.
    Accepted {
        /// The parser's warnings.
        warnings: Vec<Diagnostic>,
    },
    /// It is not.
    Rejected(Vec<Diagnostic>),
}

/// Bounds of one tool run.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Wall time for each run of the checker.
    pub check: Duration,
    /// Wall time for translator and parser.
    pub parse: Duration,
    /// Bytes of output kept of one run; a child that writes more is ended.
    pub output: u64,
    /// Worker threads; `None` lets the checker choose.
    pub workers: Option<usize>,
    /// Memory of the checker in MiB: the heap of a JVM, all that the embedded one may take. `None` leaves it to the JVM;
    /// the embedded one then takes a quarter of what the machine has, as a JVM does.
    pub heap_mib: Option<u64>,
    /// Modules such as `IOUtils` that the user allows by name.
    pub allowed_modules: Vec<String>,
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
        }
    }
}

/// How far a check is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Which run: `safety`, `temporal`, `witness WitnessPaid`, `trace`.
    pub run: String,
    /// States generated so far.
    pub generated: u64,
    /// Distinct states so far.
    pub distinct: u64,
    /// States waiting.
    pub queue: u64,
}

/// What a tool run needs from its surroundings.
pub struct ToolContext<'a> {
    /// Limits of each run.
    pub limits: &'a Limits,
    /// Ends the run early.
    pub cancel: &'a Cancel,
    /// Called as the checker reports.
    pub progress: &'a (dyn Fn(Progress) + Send + Sync),
}

/// A request to check a module. The module holds its translation already.
#[derive(Debug, Clone)]
pub struct CheckRequest {
    /// The module.
    pub spec: SpecText,
    /// The configuration's text as it will be given to the tool.
    pub cfg_text: String,
    /// Its reading.
    pub cfg: Cfg,
}

/// A checker's outcome with its raw output, run by run.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// The verdict and all that belongs to it.
    pub outcome: CheckOutcome,
    /// What the tool printed, each run under a heading line.
    pub output: String,
    /// What the second checker came to, where two ran side by side.
    pub second_outcome: Option<Box<CheckOutcome>>,
}

/// Further runs on a violation, with their raw output.
#[derive(Debug, Clone)]
pub struct ProbeReport {
    /// What they showed.
    pub probes: Probes,
    /// What the tool printed, each run under a heading line.
    pub output: String,
}

/// What was found on this machine.
#[derive(Debug, Clone)]
pub struct ToolchainInfo {
    /// Name and version of the Java runtime, or of what stands in for it.
    pub runtime: String,
    /// Where the tools are.
    pub location: String,
    /// The checker's version in its own words.
    pub version: String,
}

/// The absence of a verdict.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[non_exhaustive]
pub enum ToolError {
    /// A tool is not on this machine.
    #[error("{tool} was not found: {advice}")]
    Missing {
        /// Which.
        tool: String,
        /// How to get it.
        advice: String,
    },
    /// No tla2tools.jar was named, and none is where it could be.
    #[error("tla2tools.jar was not found: {advice}")]
    NoJar {
        /// How to get it.
        advice: String,
    },
    /// A tool ended in a way that says nothing about the specification.
    #[error("{tool} broke: {what}")]
    Broke {
        /// Which.
        tool: String,
        /// What was seen, with the end of its output.
        what: String,
    },
    /// The static checks met something that they do not know: they neither accept the module nor reject it.
    #[error("the static checks cannot decide whether this is TLA+: {what}; with Java, SANY decides it")]
    NotAnalysed {
        /// What, and where.
        what: String,
    },
    /// The tool did not end within its time; only translator and parser report it so (a check is inconclusive).
    #[error("{tool} did not end within {seconds} s")]
    Deadline {
        /// Which.
        tool: String,
        /// Its limit.
        seconds: u64,
    },
    /// This machine kept a tool from working: a full disk, missing permissions, no memory.
    #[error("{tool} could not work on this machine: {what}")]
    Environment {
        /// Which.
        tool: String,
        /// What it said.
        what: String,
    },
    /// A tool breaks on this module, and works on a trivial one: the module is at fault, not the machine.
    #[error("{tool} breaks on this module: {what}")]
    BreaksOnInput {
        /// Which.
        tool: String,
        /// What was seen.
        what: String,
    },
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The operating system refused.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why not.
        source: std::io::Error,
    },
}

impl ToolError {
    /// Whether it is about this one module, so that its author can mend it and other modules can still be judged.
    pub fn is_caused_by_input(&self) -> bool {
        matches!(self, Self::NotAnalysed { .. } | Self::BreaksOnInput { .. })
    }

    /// Whether further checks are of no use: the caller cancelled, or this machine has to be mended first. Any other error
    /// leaves one check undecided.
    pub fn is_fatal(&self) -> bool {
        use ToolError::{Cancelled, Environment, Io, Missing, NoJar};
        matches!(self, Cancelled | Environment { .. } | Io { .. } | Missing { .. } | NoJar { .. })
    }
}

/// Translate, parse, check.
pub trait Toolchain: Send + Sync {
    /// What explores the states.
    fn checker(&self) -> Checker;

    /// Translates the PlusCal algorithm of a module, if it has one.
    fn translate<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Translation, ToolError>>;

    /// Parses and analyses a module that holds its translation.
    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>>;

    /// Checks a module against its configuration: see the design, section 6.
    fn check<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>>;

    /// The verdict alone, in as few runs of one thread as it takes: no witnesses, no coverage, and the steps of a trace
    /// have names only where the checker gives them by itself.
    fn decide<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        self.check(request, cx)
    }

    /// Checks again what an outcome says is violated: under weak fairness of every action where the trace is an infinite
    /// behaviour, and with each numeric constant plus one. All runs together take the time of one run of the checker;
    /// what does not end within it is undecided. `None` where nothing is violated that could be checked again.
    fn probe<'a>(
        &'a self,
        request: &'a CheckRequest,
        outcome: &'a CheckOutcome,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<ProbeReport>, ToolError>>;

    /// What was found, for `doctor` and for reports.
    fn info<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>>;
}

//! Flags of every command that translates, parses or checks a specification.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use crate::config::{CheckerChoice, Layer};

/// What translates, parses and checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CheckerArg {
    /// The Java tools where they are found, else what the program carries.
    Auto,
    /// The Java tools.
    Tlc,
    /// What the program carries: no Java needed.
    Embedded,
    /// Both side by side.
    Both,
}

impl From<CheckerArg> for CheckerChoice {
    fn from(arg: CheckerArg) -> Self {
        match arg {
            CheckerArg::Auto => Self::Auto,
            CheckerArg::Tlc => Self::Tlc,
            CheckerArg::Embedded => Self::Embedded,
            CheckerArg::Both => Self::Both,
        }
    }
}

/// Flags of everything that runs tools.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(super) struct ToolArgs {
    /// What translates, parses and checks: `auto` is the Java tools where they are found, else what the program carries
    /// (`embedded`); `both` runs them side by side, takes the Java tools' word, and reports every contradiction. `mutate`
    /// and `eval` begin with what the program carries, and ask the Java tools for what that refuses [default: auto].
    #[arg(long, value_enum, value_name = "WHICH")]
    pub checker: Option<CheckerArg>,
    /// The path of tla2tools.jar [default: `TLA_TOOLS_JAR`, `TLA_JAR`, `CLASSPATH`, the usual places].
    #[arg(long, value_name = "JAR")]
    pub tla_tools: Option<PathBuf>,
    /// Seconds for each run of the checker; one check can take several [env: `TLC_TIMEOUT`] [default: 300].
    #[arg(long, value_name = "SECONDS")]
    pub tlc_timeout: Option<NonZeroU64>,
    /// Worker threads of the checker [default: one for each processor].
    #[arg(long, value_name = "N")]
    pub workers: Option<NonZeroUsize>,
    /// Memory of the checker in MiB: the heap of the JVM, or all that the embedded checker may take, which is never less
    /// than 256 [default: the JVM's own choice; for the embedded checker a quarter of the machine's].
    #[arg(long, value_name = "MIB")]
    pub heap_mib: Option<NonZeroU64>,
    /// Allow a module that can reach outside, such as `IOUtils`: it can run programs. May be given several times. Its file
    /// must be beside the specification.
    #[arg(long, value_name = "NAME")]
    pub allow_module: Vec<String>,
}

impl ToolArgs {
    pub(super) fn layer(&self) -> Layer {
        Layer {
            checker: self.checker.map(CheckerChoice::from),
            tla_tools: self.tla_tools.clone(),
            tlc_timeout: self.tlc_timeout,
            workers: self.workers,
            heap_mib: self.heap_mib,
            allow_modules: self.allow_module.clone(),
            ..Layer::default()
        }
    }
}

//! Flags of every command that translates, parses or checks a specification.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::value_parsers::parse_positive;
use crate::config::{CheckerChoice, Layer};

/// Tools that translate, parse and check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CheckerArg {
    /// The embedded tools. The Java tools, if they are found, decide what those leave undecided, and confirm what a run, `mutate`
    /// and `eval` find about the specification itself.
    Auto,
    /// The Java tools (SANY, TLC, pcal).
    Tlc,
    /// The tools embedded in this program; no Java needed.
    Embedded,
    /// Both side by side, with every contradiction reported.
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

#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Tools")]
pub(super) struct ToolArgs {
    /// Tools that translate, parse and check. With `both`, the verdict is that of the Java tools [default: auto].
    #[arg(long, value_enum, value_name = "WHICH")]
    pub checker: Option<CheckerArg>,
    /// Path of tla2tools.jar [env: `TLA_TOOLS_JAR`, `TLA_JAR`] [default: found on the `CLASSPATH` or in the usual places].
    #[arg(long, value_name = "JAR")]
    pub tla_tools: Option<PathBuf>,
    /// Time limit in seconds for each run of the checker; one check can take several runs [env: `TLC_TIMEOUT`] [default:
    /// 300].
    #[arg(long, value_name = "SECONDS", value_parser = parse_positive::<NonZeroU64>)]
    pub tlc_timeout: Option<NonZeroU64>,
    /// Number of worker threads of the checker [default: one per processor].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub workers: Option<NonZeroUsize>,
    /// Memory limit of the checker in MiB: the heap of the JVM, or the total of the embedded checker (at least 256)
    /// [default: the JVM's own default; for the embedded checker, a quarter of the machine's memory].
    #[arg(long, value_name = "MIB", value_parser = parse_positive::<NonZeroU64>)]
    pub heap_mib: Option<NonZeroU64>,
    /// Allow a module with effects outside the checker, such as `IOUtils`, which can run programs. The file of the module
    /// must be beside the specification, or in a `--library`. Can be repeated.
    #[arg(long, value_name = "NAME")]
    pub allow_module: Vec<String>,
    /// Also look for modules in this folder, or in this jar (such as `CommunityModules.jar`), after the folder of the
    /// specification. TLC also uses what a jar overrides in Java. Can be repeated [env: `TLA_PATH`, `TLA-Library`].
    #[arg(long, value_name = "DIR|JAR")]
    pub library: Vec<PathBuf>,
}

impl ToolArgs {
    /// The same flags as words of a command line.
    #[cfg(feature = "restate")]
    pub(super) fn to_flags(&self) -> Vec<std::ffi::OsString> {
        let Self { checker, tla_tools, tlc_timeout, workers, heap_mib, allow_module, library } = self;
        let checker = checker.and_then(|checker| Some(checker.to_possible_value()?.get_name().to_owned()));
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone()).into_os_string();
        let single = [
            ("--checker", checker.map(Into::into)),
            ("--tla-tools", tla_tools.as_ref().map(absolute)),
            ("--tlc-timeout", tlc_timeout.map(|n| n.to_string().into())),
            ("--workers", workers.map(|n| n.to_string().into())),
            ("--heap-mib", heap_mib.map(|n| n.to_string().into())),
        ];
        let single = single.into_iter().filter_map(|(flag, value)| Some((flag, value?)));
        let modules = allow_module.iter().map(|module| ("--allow-module", module.into()));
        let libraries = library.iter().map(|library| ("--library", absolute(library)));
        single.chain(modules).chain(libraries).flat_map(|(flag, value)| [flag.into(), value]).collect()
    }

    pub(super) fn layer(&self) -> Layer {
        Layer {
            checker: self.checker.map(CheckerChoice::from),
            tla_tools: self.tla_tools.clone(),
            tlc_timeout: self.tlc_timeout,
            workers: self.workers,
            heap_mib: self.heap_mib,
            allow_modules: self.allow_module.clone(),
            library: self.library.clone(),
            ..Layer::default()
        }
    }
}

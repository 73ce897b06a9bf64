//! `--engine`: where mutants are judged. In this process by default; a build with the feature `restate` can also send them
//! to workers (`fleet`).

use std::num::NonZeroU64;

use clap::Args as ClapArgs;

use super::failure::Failure;
use super::value_parsers::parse_positive;
use crate::config::{CheckerChoice, Settings};
use crate::mutation::{Engine, Judge, LocalEngine};
use crate::toolchain::ToolContext;

/// Mutants that are submitted at a time: more than a small fleet judges at once, few enough to be in memory.
const SUBMITTED: usize = 32;

#[derive(Debug, Clone, ClapArgs)]
#[command(next_help_heading = "Engine")]
pub(super) struct EngineArgs {
    /// Judge the mutants on workers (`tlaforge worker`) of this Restate server: the address of its admin API, such as
    /// http://127.0.0.1:9070 [default: in this process].
    #[arg(long, value_name = "URL")]
    pub engine: Option<String>,
    /// Maximum time in seconds without progress while no engine or no worker answers [default: 600].
    #[arg(long, value_name = "SECONDS", value_parser = parse_positive::<NonZeroU64>, requires = "engine")]
    pub engine_wait: Option<NonZeroU64>,
}

impl EngineArgs {
    /// How many mutants are judged in parallel if `--jobs` says nothing; `None` for one per processor.
    pub(super) fn default_jobs(&self) -> Option<usize> {
        self.engine.as_ref().map(|_| SUBMITTED)
    }
}

/// Refuses what cannot work with the engine, before anything is checked.
pub(super) fn check_engine(args: &EngineArgs, settings: &Settings) -> Result<(), Failure> {
    if args.engine.is_some() && settings.checker == CheckerChoice::Both {
        return Err(Failure::usage("--checker both cannot be used with --engine")
            .hint("a contradiction between two checkers is reported on the machine that found it: use --checker tlc"));
    }
    connect::check(args)
}

pub(super) async fn create_engine<'a>(
    args: &EngineArgs,
    judge: &'a Judge<'a>,
    checker: CheckerChoice,
    cx: &'a ToolContext<'a>,
) -> Result<Box<dyn Engine + 'a>, Failure> {
    match &args.engine {
        None => Ok(Box::new(LocalEngine { judge, cx })),
        Some(_) => connect::connect(args, judge, checker, cx).await,
    }
}

#[cfg(feature = "restate")]
use super::fleet as connect;

/// The same functions in a build without the feature.
#[cfg(not(feature = "restate"))]
mod connect {
    use super::{CheckerChoice, Engine, EngineArgs, Failure, Judge, ToolContext, missing_feature};

    pub(super) fn check(args: &EngineArgs) -> Result<(), Failure> {
        if args.engine.is_some() { Err(missing_feature("--engine")) } else { Ok(()) }
    }

    #[expect(clippy::unused_async, reason = "as in a build with the feature")]
    pub(super) async fn connect<'a>(
        _: &EngineArgs,
        _: &Judge<'a>,
        _: CheckerChoice,
        _: &ToolContext<'a>,
    ) -> Result<Box<dyn Engine + 'a>, Failure> {
        Err(missing_feature("--engine"))
    }
}

#[cfg(not(feature = "restate"))]
pub(super) fn missing_feature(what: &str) -> Failure {
    Failure::usage(format!("this build of tlaforge has no {what}"))
        .hint("build it with the feature `restate`: cargo install --path . --features restate")
}

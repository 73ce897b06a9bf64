//! The flags of `--engine`.

use std::num::NonZeroU64;

use clap::Args as ClapArgs;

use super::failure::Failure;
use super::value_parsers::parse_positive;
use crate::config::CheckerChoice;

/// Jobs that are submitted at a time: more than a small fleet does at once, few enough to be in memory.
const SUBMITTED: usize = 32;

#[derive(Debug, Clone, ClapArgs)]
#[command(next_help_heading = "Engine")]
pub(super) struct EngineArgs {
    /// Send the checks to the workers (`tlaforge worker`) of this Restate server: the address of its admin API, such as
    /// `http://127.0.0.1:9070` [default: check in this process].
    #[arg(long, value_name = "URL")]
    pub engine: Option<String>,
    /// Maximum time in seconds without progress while no engine or no worker answers [default: 600].
    #[arg(long, value_name = "SECONDS", value_parser = parse_positive::<NonZeroU64>, requires = "engine")]
    pub engine_wait: Option<NonZeroU64>,
}

impl EngineArgs {
    /// How many checks are sent at a time if `--jobs` says nothing; `None` without an engine.
    pub(super) fn default_jobs(&self) -> Option<usize> {
        self.engine.as_ref().map(|_| SUBMITTED)
    }
}

/// Refuses two checkers: a contradiction between them would be reported on the machine of a worker, and not here.
pub(super) fn refuse_both(checker: Option<CheckerChoice>) -> Result<(), Failure> {
    if checker != Some(CheckerChoice::Both) {
        return Ok(());
    }
    Err(Failure::usage("--checker both cannot be used with --engine")
        .hint("a contradiction between two checkers is reported on the machine that found it: use --checker tlc"))
}

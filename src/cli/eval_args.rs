//! Flags of `tlaforge eval`, for one case and for a suite.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs};

use super::completions::{cases, cases_of_suite, run_folders};
use super::engine_args::EngineArgs;
use super::format::{FindingsFiles, FindingsFormat};
use super::page::PageArgs;
use super::tool_args::ToolArgs;
use super::value_parsers::{parse_positive, parse_share};
use crate::mutation::Shard;

#[derive(Debug, ClapArgs)]
// A group, so that the error for missing arguments names the flag, too.
#[command(group(ArgGroup::new("evaluated").args(["specs", "suite"]).required(true)))]
pub(super) struct EvalArgs {
    /// Run folder, or any folder with a module and its configuration (Spec.tla and Spec.cfg). Writes `eval_report.json` into it.
    #[arg(requires = "case", add = run_folders())]
    pub specs: Option<PathBuf>,
    /// Folder of the case.
    #[arg(add = cases())]
    pub case: Option<PathBuf>,
    /// Folder of cases to evaluate: each case uses its run from --runs, or else replays its recording.
    #[arg(long, value_name = "DIR")]
    pub suite: Option<PathBuf>,
    /// Folder of runs, each in a subfolder with the name of its case [default: replay the recordings].
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub runs: Option<PathBuf>,
    /// Only evaluate this case of the suite, and show it in full [default: all cases].
    #[arg(long, value_name = "CASE", requires = "suite", add = cases_of_suite())]
    pub show_one: Option<String>,
    /// Only evaluate the K-th of N parts of the suite, to distribute it over several machines; `tlaforge merge` puts their
    /// `--results` together [default: all].
    #[arg(long, value_name = "K/N", requires = "suite", conflicts_with = "show_one")]
    pub shard: Option<Shard>,
    /// Number of cases and known bugs to judge in parallel; together they use the memory of one run [default: one per
    /// processor; with `--engine`, 32 known bugs, with the memory that a worker gives each job].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub jobs: Option<NonZeroUsize>,
    /// Exit with status 1 if there is no score, or if it is below SCORE (0 to 1). The score of a suite is the mean of its
    /// cases [default: never].
    #[arg(long, value_name = "SCORE", value_parser = parse_share)]
    pub fail_under: Option<f64>,
    /// Compare a suite with an earlier results file: list everything that got worse, and exit with status 1 if anything did
    /// [default: no comparison].
    #[arg(long, value_name = "FILE", requires = "suite")]
    pub compare: Option<PathBuf>,
    /// Write the results of a suite to this file (CSV, sorted by case, without times).
    #[arg(long, value_name = "FILE", requires = "suite", conflicts_with = "show_one")]
    pub results: Option<PathBuf>,
    /// Write the results to this file as `JUnit` XML.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the results of a suite to this `.json` file as a log of Inspect AI; in a folder, the log gets a name that
    /// `inspect view` lists.
    #[arg(long, value_name = "FILE", requires = "suite")]
    pub inspect_log: Option<PathBuf>,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub tools: ToolArgs,
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Output format: `text`, `json` (one object), or what was found beside its lines, as `sarif`, `github` (annotations)
    /// or `markdown`.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "FORMAT")]
    pub format: FindingsFormat,
    #[command(flatten)]
    pub findings: FindingsFiles,
}

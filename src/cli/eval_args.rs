//! Flags of `tlaforge eval`, for one case and for a suite.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::format::Format;
use super::tool_args::ToolArgs;

#[derive(Debug, ClapArgs)]
pub(super) struct EvalArgs {
    /// A run folder, or any folder with Spec.tla and Spec.cfg; `eval_report.json` is written into it.
    #[arg(required_unless_present = "suite", conflicts_with = "suite", requires = "case")]
    pub specs: Option<PathBuf>,
    /// The case.
    pub case: Option<PathBuf>,
    /// A folder of cases: each that has a recording is replayed, or its run is taken from --runs.
    #[arg(long, value_name = "DIR")]
    pub suite: Option<PathBuf>,
    /// A folder of runs, each in a folder of its case's name.
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub runs: Option<PathBuf>,
    /// This case of the suite alone, in full.
    #[arg(long, value_name = "CASE", requires = "suite")]
    pub show_one: Option<String>,
    /// Cases (of one case: known bugs) at a time; together they take the memory of one run [default: one for each
    /// processor].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// The score, from 0 to 1, below which the command fails; of a suite, the mean of its scores. A specification that
    /// no known bug applies to has no score and fails too.
    #[arg(long, value_name = "SCORE")]
    pub fail_under: Option<f64>,
    /// Compare a suite with an earlier file of --results; list everything that got worse and end with status 1.
    #[arg(long, value_name = "FILE", requires = "suite")]
    pub compare: Option<PathBuf>,
    /// Write the results of a suite as a table (CSV, sorted by case, without times).
    #[arg(long, value_name = "FILE", requires = "suite", conflicts_with = "show_one")]
    pub results: Option<PathBuf>,
    /// Write the results as `JUnit` XML.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// How results are printed.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

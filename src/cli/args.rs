//! The command line as a whole: every command with its arguments. Declares them only; `program` runs them.

use std::fmt::Write as _;

use clap::{Parser, Subcommand};
use strum::IntoStaticStr;

use super::audit_args::AuditArgs;
use super::check::CheckArgs;
use super::completions::CompletionsArgs;
use super::conform::ConformArgs;
use super::demo::DemoArgs;
use super::diagnostics::DiagnosticsArgs;
use super::doctor::DoctorArgs;
use super::drift::DriftArgs;
use super::eval_args::EvalArgs;
use super::explore::ExploreArgs;
use super::fleet_args::FleetArgs;
use super::forge_all::ForgeAllArgs;
#[cfg(feature = "restate")]
use super::forge_job::ForgeJobArgs;
use super::formula::FormulaArgs;
use super::init::InitArgs;
use super::man::ManArgs;
use super::mcp::McpArgs;
use super::merge::MergeArgs;
use super::mutate::MutateArgs;
use super::policy::PolicyArgs;
use super::report::ReportArgs;
use super::resume::ResumeArgs;
use super::run::RunArgs;
use super::schema::SchemaArgs;
use super::test::TestArgs;
use super::translate::TranslateArgs;
use super::watch::WatchArgs;
use super::worker::WorkerArgs;
use crate::exit::Exit;

fn exit_statuses() -> String {
    let mut text = String::from("Exit status:");
    for (exit, what) in Exit::ALL {
        let _ = write!(text, "\n  {:<4} {what}", exit.code());
    }
    text
}

/// Forges a model-checked TLA+/PlusCal specification from protocol documentation.
#[derive(Debug, Parser)]
#[command(version, about, after_help = exit_statuses())]
pub(super) struct Args {
    #[command(flatten)]
    pub diagnostics: DiagnosticsArgs,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Command {
    /// Draft and check a specification from a document or a folder of documents.
    Run(RunArgs),
    /// Run the built-in token swap example from a recording, without a model. Downloads tla2tools.jar once if Java is
    /// installed and the jar is not.
    Demo(DemoArgs),
    /// Draft and check many specifications: sets of documents × models × settings, several runs at a time, with one cost limit
    /// for all. The same command continues what was interrupted.
    ForgeAll(ForgeAllArgs),
    /// Continue a run, or start a branch from one of its revisions.
    Resume(ResumeArgs),
    /// Translate, parse and check one specification.
    Check(CheckArgs),
    /// Check a folder of models as a test suite: each configuration is a test with an expected verdict.
    Test(TestArgs),
    /// Translate the `PlusCal` algorithm of a module to TLA+.
    Translate(TranslateArgs),
    /// Test the properties of a specification by mutation: which deliberate changes do they notice?
    Mutate(MutateArgs),
    /// Compare logs of the real system with a specification: does a behaviour of it explain them?
    Conform(ConformArgs),
    /// Step through a specification: what can happen, what would change, and what prevents an action.
    Explore(ExploreArgs),
    /// Score a specification against a case of known bugs, or score a whole suite of cases.
    Eval(EvalArgs),
    /// Merge the results of shards (`mutate --shard`, `eval --suite --shard`) into the file that one machine would have written.
    Merge(MergeArgs),
    /// Check the journal of a run, or the log of any agent, against the rules of a policy.
    Audit(AuditArgs),
    /// Show the default policy (the guards and routes of a run, as formulas), or turn your own rules into formulas.
    Policy(PolicyArgs),
    /// Parse a formula, evaluate it on a trace, or print its automaton.
    Formula(FormulaArgs),
    /// Compare the documents of a run with newer ones: which requirements, properties and steps rest on changed text?
    Drift(DriftArgs),
    /// Print the report of a run.
    Report(ReportArgs),
    /// Show a run in a browser while it goes on: the node at work, the cost, and the report of the revisions so far. Or the runs,
    /// keys and workers of a fleet.
    Watch(WatchArgs),
    /// Work on the checks and runs that other machines submit (`--engine`), until SIGTERM. Needs a build with the feature `restate`.
    Worker(WorkerArgs),
    /// Show the runs, the workers and the shared limits of a Restate server, or change the limits. Needs a build with the feature
    /// `restate`.
    Fleet(FleetArgs),
    /// Serve these commands to an agent over the Model Context Protocol, on standard input and output.
    Mcp(McpArgs),
    /// Print the JSON Schema of a journal event.
    Schema(SchemaArgs),
    /// Show which tools and providers were found, and how to get the missing ones.
    Doctor(DoctorArgs),
    /// Write files for a project: settings and a policy with comments, lines for `.gitignore`, and a job for GitHub Actions.
    /// Never replaces a file.
    Init(InitArgs),
    /// Print the script that completes commands, flags and their values in a shell.
    Completions(CompletionsArgs),
    /// The process of one run of a worker.
    #[cfg(feature = "restate")]
    #[command(hide = true)]
    ForgeJob(ForgeJobArgs),
    /// Write manual pages, one for each command.
    Man(ManArgs),
}

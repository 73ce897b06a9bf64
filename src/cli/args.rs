//! What can be typed.

use std::fmt::Write as _;

use clap::{Parser, Subcommand};

use super::audit_args::AuditArgs;
use super::check::CheckArgs;
use super::demo::DemoArgs;
use super::diagnostics::DiagnosticsArgs;
use super::doctor::DoctorArgs;
use super::eval_args::EvalArgs;
use super::experiments::ExperimentsArgs;
use super::formula::FormulaArgs;
use super::mutate::MutateArgs;
use super::policy::PolicyArgs;
use super::report::ReportArgs;
use super::resume::ResumeArgs;
use super::run::RunArgs;
use super::schema::SchemaArgs;
use super::translate::TranslateArgs;
use crate::exit::Exit;

/// The page of exit statuses, from their one home.
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

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Forge a specification from a document or a folder of documents.
    Run(RunArgs),
    /// Forge the built-in swap example from its recording: no model. Fetches tla2tools.jar once if there is Java without it.
    Demo(DemoArgs),
    /// Go on with a run, or branch off from one of its revisions.
    Resume(ResumeArgs),
    /// Translate, parse and check one specification.
    Check(CheckArgs),
    /// Translate the `PlusCal` algorithm of a module to TLA+.
    Translate(TranslateArgs),
    /// Make deliberate flaws in a specification, and see whether its properties notice them.
    Mutate(MutateArgs),
    /// Score a specification against a case of known bugs, or a whole suite of cases.
    Eval(EvalArgs),
    /// Check a run's journal, or the log of any agent, against the rules of a policy.
    Audit(AuditArgs),
    /// Show the laws of a run: the guards that its decisions rest on, as formulas. Or formulate rules of your own.
    Policy(PolicyArgs),
    /// Try a formula: what it says, on a trace, and as an automaton.
    Formula(FormulaArgs),
    /// Print the report of a run.
    Report(ReportArgs),
    /// Print the JSON Schema of a line of a run's journal.
    Schema(SchemaArgs),
    /// Show which tools were found, and how to get what is missing.
    Doctor(DoctorArgs),
    /// Compare judges with monitors, and interventions with each other, with any model (scripts/experiments).
    #[command(hide = true)]
    Experiments(Box<ExperimentsArgs>),
}

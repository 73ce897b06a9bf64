//! The program `tlaforge-experiments`, which `scripts/experiments` runs: its arguments, and the frame that it shares with
//! `tlaforge`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tlaforge::cli::toolkit::{DiagnosticsArgs, run_program};

use super::command::{ExperimentsArgs, experiments};
use super::scale_command::{ScaleArgs, scale};

/// Compare model judges with monitors, and interventions with each other (used by scripts/experiments).
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Program {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    experiments: ExperimentsArgs,
    #[command(flatten)]
    diagnostics: DiagnosticsArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate many runs on a fleet: their time, their cost, and which resource limits them. Asks no model.
    Scale(ScaleArgs),
}

/// Runs the program.
pub fn main() -> ExitCode {
    run_program(
        |program: &Program| program.diagnostics,
        async |program: Program| match program.command {
            Some(Command::Scale(args)) => Ok(scale(&args)),
            // Boxed, because its future is large.
            None => Box::pin(experiments(program.experiments)).await,
        },
    )
}

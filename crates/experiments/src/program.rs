//! The program `tlaforge-experiments`, which `scripts/experiments` runs: its arguments, and the frame that it shares with
//! `tlaforge`.

use std::process::ExitCode;

use clap::Parser;
use tlaforge::cli::toolkit::{DiagnosticsArgs, run_program};

use super::command::{ExperimentsArgs, experiments};

/// Compare model judges with monitors, and interventions with each other (used by scripts/experiments).
#[derive(Debug, Parser)]
struct Program {
    #[command(flatten)]
    experiments: ExperimentsArgs,
    #[command(flatten)]
    diagnostics: DiagnosticsArgs,
}

/// Runs the program.
pub fn main() -> ExitCode {
    run_program(
        |program: &Program| program.diagnostics,
        // Boxed, because its future is large.
        async |program: Program| Box::pin(experiments(program.experiments)).await,
    )
}

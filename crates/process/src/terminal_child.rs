//! Runs a program that the user works with, such as an editor. Unlike every other child it keeps the terminal and our process
//! group, because a program in a background group cannot read the terminal, and has no deadline.

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus};

use tracing::info;

/// Runs a program, found on the search path, until it ends. It inherits standard input, output and error; its environment has
/// only these variables.
pub fn run_in_terminal(
    program: &str,
    args: &[OsString],
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> io::Result<ExitStatus> {
    info!(program, arguments = args.len(), "process started in the terminal");
    Command::new(program).args(args).env_clear().envs(environment).status()
}

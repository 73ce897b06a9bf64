//! Starts a child that outlives this process: the one exception to the rule of this crate. The caller decides how it is
//! found and ended later, and removes what it leaves.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tracing::info;

/// Starts a program that goes on after our own process has ended. It leads its own process group, so signals to our group do
/// not reach it, has only these variables, no standard input and no standard output, and writes its errors to `errors`.
///
/// Dropping the returned child does not end it.
pub fn start_detached(
    program: &Path,
    args: &[OsString],
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    folder: &Path,
    errors: File,
) -> io::Result<Child> {
    let child = Command::new(program)
        .args(args)
        .env_clear()
        .envs(environment)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors)
        .process_group(0)
        .spawn()?;
    info!(program = %program.display(), pid = child.id(), arguments = args.len(), "process started, detached");
    Ok(child)
}

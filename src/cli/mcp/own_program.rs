//! Commands of this program as children, each with a fixed list of arguments. No argument names a program, and no value can
//! be taken for a flag.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::failure::{Fails, Failure};
use crate::cli::secrets::{collector_keys, environment_without_keys};
use crate::exit::Exit;
use crate::process::{Cancel, Command, Ended, start_detached};

/// Most output of a child, in bytes.
pub(super) const MAX_OUTPUT: u64 = 16 << 20;

/// A command of this program.
#[derive(Debug, Clone)]
pub(super) struct OwnCommand {
    args: Vec<OsString>,
    folder: PathBuf,
}

impl OwnCommand {
    /// `folder` is the working folder; its `tlaforge.toml` applies, which cannot name programs.
    pub(super) fn new(subcommand: &str, folder: &Path) -> Self {
        Self { args: vec![subcommand.into()], folder: folder.to_owned() }
    }

    pub(super) fn switch(mut self, flag: &str, on: Option<bool>) -> Self {
        if on == Some(true) {
            self.args.push(flag.into());
        }
        self
    }

    /// A flag with a value, as one argument: a value that begins with `-` is no flag then.
    pub(super) fn value(mut self, flag: &str, value: Option<impl Into<OsString>>) -> Self {
        if let Some(value) = value {
            let mut argument = OsString::from(flag);
            argument.push("=");
            argument.push(value.into());
            self.args.push(argument);
        }
        self
    }

    /// A flag that can be repeated.
    pub(super) fn values(self, flag: &str, values: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        values.into_iter().fold(self, |command, value| command.value(flag, Some(value)))
    }

    /// The operand, after all flags.
    pub(super) fn operand(mut self, operand: impl Into<OsString>) -> Self {
        self.args.extend(["--".into(), operand.into()]);
        self
    }

    /// Another argument after the operand.
    pub(super) fn further_operand(mut self, operand: impl Into<OsString>) -> Self {
        self.args.push(operand.into());
        self
    }

    /// Runs it to its end.
    pub(super) async fn run(&self, limit: Duration, cancel: &Cancel) -> Result<Ended, Failure> {
        let mut command =
            Command::new(own_path()?).args(&self.args).cwd(&self.folder).deadline(limit).output_cap(MAX_OUTPUT);
        for (name, value) in environment_without_keys().chain(collector_keys()) {
            command = command.env(name, value);
        }
        command.run(cancel, &mut |_| {}).await.fails(Exit::Tool)
    }

    /// Starts it so that it outlives this server. Its messages go to `messages`.
    pub(super) fn start(&self, messages: std::fs::File) -> Result<std::process::Child, Failure> {
        // The agent or a recording answers: no model needs a key.
        let needs_no_key = self.args.iter().any(|arg| arg == "--provider=handoff" || arg == "--provider=replay");
        let environment: Vec<_> = if needs_no_key {
            environment_without_keys().chain(collector_keys()).collect()
        } else {
            std::env::vars_os().collect()
        };
        start_detached(&own_path()?, &self.args, environment, &self.folder, messages)
            .map_err(|e| Failure::new(Exit::Tool, format!("cannot start a run: {e}")))
    }
}

fn own_path() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|e| Failure::new(Exit::Defect, format!("cannot find this program: {e}")))
}

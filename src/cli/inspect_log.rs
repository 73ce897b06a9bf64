//! `--inspect-log`: the results of a suite as a log of Inspect AI.

use std::path::{Path, PathBuf};

use super::environment::clock;
use super::failure::Failure;
use super::output_file::{unwritable_reason, write_file};
use super::terminal::print_message;
use crate::eval::SuiteEntry;
use crate::report::{Entry, InspectLog, InspectTask};

/// A log whose file can be written.
pub(super) struct PreparedLog {
    path: PathBuf,
    log: InspectLog,
}

impl PreparedLog {
    /// Refuses a file that cannot be written or read, before the suite starts. In a folder, the log gets a name of its own.
    pub(super) fn new(file: &Path, suite: &Path, cases: &[SuiteEntry]) -> Result<Self, Failure> {
        let loaded =
            cases.iter().filter_map(|(name, case)| Some((name.clone(), InspectTask::new(case.as_ref().ok()?))));
        let log = InspectLog { suite: suite.display().to_string(), started: clock()(), tasks: loaded.collect() };
        let path = if file.is_dir() { file.join(log.file_name()) } else { file.to_owned() };
        let refused = |why: &str| {
            let hint = "--inspect-log takes a .json file in an existing folder, or an existing folder";
            Err(Failure::usage(format!("cannot write the log {}: {why}", path.display())).hint(hint))
        };
        if path.extension().is_none_or(|extension| extension != "json") {
            return refused("Inspect knows the format by the ending, which must be .json");
        }
        if let Some(why) = unwritable_reason(&path) {
            return refused(&why);
        }
        Ok(Self { path, log })
    }

    pub(super) fn write(&self, entries: &[Entry], contradicted: bool) -> Result<(), Failure> {
        write_file(&self.path, &self.log.render(entries, &clock()(), contradicted))?;
        print_message(&format!("note: the log is {}", self.path.display()));
        Ok(())
    }
}

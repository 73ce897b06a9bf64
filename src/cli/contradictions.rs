//! Reports of contradictions between two checkers, on disk. With `both`, the verdict is that of the reference checker, with
//! `auto` it is inconclusive. A contradiction is a defect of one of the two, so the command ends with the exit status of a defect.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::terminal::print_message;
use crate::toolchain::Contradiction;

/// Folder for the reports of commands without a run folder.
pub(super) const CONTRADICTIONS_DIR: &str = "tlaforge-defects";

#[derive(Debug)]
pub(super) struct ContradictionReports {
    folder: PathBuf,
    any: AtomicBool,
}

impl ContradictionReports {
    /// Reports go below `folder`, which is created with the first report.
    pub(super) fn new(folder: &Path) -> Self {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Self { folder, any: AtomicBool::new(false) }
    }

    pub(super) fn has_any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Writes a report, and a line on stderr that names it.
    pub(super) fn write(&self, contradiction: &Contradiction) {
        self.any.store(true, Ordering::Relaxed);
        let what = contradiction.lines.join("; ");
        match self.write_files(contradiction) {
            Ok(folder) => {
                print_message(&format!("defect: the checkers contradict each other: {what}; see {}", folder.display()));
            }
            Err(error) => print_message(&format!(
                "defect: the checkers contradict each other: {what}; the report could not be written to {}: {error}",
                self.folder.display()
            )),
        }
    }

    fn write_files(&self, contradiction: &Contradiction) -> std::io::Result<PathBuf> {
        // In a run folder from elsewhere it could be a link to another folder.
        crate::files::create_folder_below(self.folder.parent().unwrap_or(Path::new("")), &self.folder)?;
        let mut number = 1_u32;
        let folder = loop {
            let folder = self.folder.join(format!("{}-{number}", contradiction.module));
            // `create_dir` fails if the folder exists, so checks that run in parallel never share one.
            match std::fs::create_dir(&folder) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                made => break made.map(|()| folder)?,
            }
        };
        for (name, text) in &contradiction.files {
            std::fs::write(folder.join(name), text)?;
        }
        Ok(folder)
    }
}

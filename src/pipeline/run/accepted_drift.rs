//! Changes of the documents that a person accepted without a new run. They are not part of the journal, because they come
//! after the run and decide nothing of it: a file of their own, to which lines are only added.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::open_run::RunError;
use crate::files;
use crate::journal::RunLock;
use crate::prompt::{ChangeKind, CitingKind, Quoted, TextChange};

/// The file in the run folder.
const ACCEPTED_DRIFT: &str = "accepted_drift.jsonl";

/// A person read what changed in the text that one part of a specification cites, and found the specification still right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedDrift {
    /// UTC.
    pub time: String,
    /// The revision that it is about.
    pub revision: u32,
    pub kind: CitingKind,
    /// `R3`, or the name of a step.
    pub item: String,
    pub because: String,
    pub changes: Vec<AcceptedChange>,
}

/// The texts before and after the change. Any other text is another change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedChange {
    pub change: ChangeKind,
    pub before: Option<Quoted>,
    pub now: Option<Quoted>,
}

impl AcceptedDrift {
    /// Whether it accepts this change for the part of this kind and name.
    pub fn covers(&self, revision: u32, (kind, item): &(CitingKind, String), change: &TextChange) -> bool {
        let text = |quoted: &Option<Quoted>| quoted.as_ref().map(|quoted| quoted.text.clone());
        let is_same = |known: &AcceptedChange| {
            known.change == change.kind
                && text(&known.before) == text(&change.before)
                && text(&known.now) == text(&change.now)
        };
        (self.revision, self.kind, &self.item) == (revision, *kind, item) && self.changes.iter().any(is_same)
    }
}

/// What was accepted so far, the oldest first. A last line that was not written completely does not count.
pub fn read_accepted_drift(root: &Path) -> Result<Vec<AcceptedDrift>, RunError> {
    let path = root.join(ACCEPTED_DRIFT);
    let failed = |source| RunError::Io { what: "read", path: path.clone(), source };
    // The folder may come from someone else.
    if path.is_symlink() {
        return Err(failed(std::io::Error::other("it is a link")));
    }
    let bytes = match files::read(&path, files::LARGE) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let lines = bytes[..complete(&bytes)].split_inclusive(|byte| *byte == b'\n');
    let parsed = lines.enumerate().map(|(n, line)| {
        serde_json::from_slice(line).map_err(|error| std::io::Error::other(format!("line {}: {error}", n + 1)))
    });
    parsed.collect::<Result<_, _>>().map_err(failed)
}

/// Adds accepted changes; they are on the disk when this returns.
pub fn append_accepted_drift(root: &Path, accepted: &[AcceptedDrift], time: &str) -> Result<(), RunError> {
    let _lock = RunLock::take(root, time)?;
    let path = root.join(ACCEPTED_DRIFT);
    let mut lines = Vec::new();
    for one in accepted {
        serde_json::to_writer(&mut lines, one).map_err(|error| RunError::Io {
            what: "write",
            path: path.clone(),
            source: error.into(),
        })?;
        lines.push(b'\n');
    }
    let write = || -> std::io::Result<()> {
        let mut file = files::open_own(&path)?;
        let end = complete(&files::read_file(&mut file, files::LARGE)?) as u64;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(&lines)?;
        file.sync_all()?;
        File::open(root)?.sync_all()
    };
    write().map_err(|source| RunError::Io { what: "write", path: path.clone(), source })
}

/// The length of the complete lines.
fn complete(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_replaced_by_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let one = |item: &str| AcceptedDrift {
            time: String::new(),
            revision: 0,
            kind: CitingKind::Requirement,
            item: item.to_owned(),
            because: "read".to_owned(),
            changes: Vec::new(),
        };
        append_accepted_drift(dir.path(), &[one("R1")], "").unwrap();
        let path = dir.path().join(ACCEPTED_DRIFT);
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"time\":");
        std::fs::write(&path, &text).unwrap();
        assert_eq!(read_accepted_drift(dir.path()).unwrap(), [one("R1")]);
        append_accepted_drift(dir.path(), &[one("R2")], "").unwrap();
        assert_eq!(read_accepted_drift(dir.path()).unwrap(), [one("R1"), one("R2")]);
        std::fs::write(&path, text + "\n").unwrap();
        assert!(read_accepted_drift(dir.path()).unwrap_err().to_string().contains("line 2: "));
    }
}

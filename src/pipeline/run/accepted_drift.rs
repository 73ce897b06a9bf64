//! Changes of the documents that a person accepted without a new run. They are not part of the journal, because they come
//! after the run and decide nothing of it: a file of their own, to which lines are only added.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::Revision;
use super::super::file;
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
    /// The SHA-256 of its informal specification: another run has another one.
    #[serde(default)]
    pub informal: String,
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
    /// The cited text beside which text was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Quoted>,
}

impl AcceptedDrift {
    /// Whether it accepts this change for the part of this kind and name.
    pub fn covers(&self, revision: &Revision, (kind, item): &(CitingKind, String), change: &TextChange) -> bool {
        let text = |quoted: &Option<Quoted>| quoted.as_ref().map(|quoted| quoted.text.clone());
        let is_same = |known: &AcceptedChange| {
            // The same place in the run's own documents, which never change; the new text may move.
            known.change == change.kind
                && known.before == change.before
                && known.beside == change.beside
                && text(&known.now) == text(&change.now)
        };
        (self.revision, self.kind, &self.item) == (revision.revision, *kind, item)
            && self.informal == informal_of(revision)
            && self.changes.iter().any(is_same)
    }
}

/// The SHA-256 of the informal specification of a revision; empty if it has none.
pub fn informal_of(revision: &Revision) -> String {
    revision.hashes.get(file::INFORMAL).map(ToString::to_string).unwrap_or_default()
}

/// What was accepted so far, the oldest first. A last line that was not written completely does not count.
pub fn read_accepted_drift(root: &Path) -> Result<Vec<AcceptedDrift>, RunError> {
    let path = root.join(ACCEPTED_DRIFT);
    let failed = |source| RunError::Io { what: "read", path: path.clone(), source };
    let bytes = match files::read_below(root, &path, files::LARGE) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let lines = bytes[..complete(&bytes)].split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace));
    let parsed = lines.map(|(n, line)| {
        let one = serde_json::from_slice::<AcceptedDrift>(line);
        one.map(without_line_ends).map_err(|error| std::io::Error::other(format!("line {}: {error}", n + 1)))
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
        let bytes = files::read_file(&mut file, files::LARGE)?;
        let end = complete(&bytes);
        file.set_len(end as u64)?;
        file.seek(SeekFrom::Start(end as u64))?;
        if bytes[..end].last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n")?;
        }
        file.write_all(&lines)?;
        file.sync_all()?;
        File::open(root)?.sync_all()
    };
    write().map_err(|source| RunError::Io { what: "write", path: path.clone(), source })
}

/// The length of the complete lines. An editor may have left out the end of the last one.
fn complete(bytes: &[u8]) -> usize {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if serde_json::from_slice::<AcceptedDrift>(&bytes[end..]).is_ok() { bytes.len() } else { end }
}

/// The file may come from someone else: no part of it may look like a line of ours.
fn without_line_ends(mut one: AcceptedDrift) -> AcceptedDrift {
    for text in [&mut one.time, &mut one.item, &mut one.because] {
        *text = on_one_line(text);
    }
    one
}

/// The words of a text on one line, without control characters.
pub fn on_one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
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
            informal: String::new(),
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
        // A complete line counts without its end, and stays when another one is added.
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, whole.trim_end()).unwrap();
        assert_eq!(read_accepted_drift(dir.path()).unwrap(), [one("R1"), one("R2")]);
        append_accepted_drift(dir.path(), &[one("R3")], "").unwrap();
        assert_eq!(read_accepted_drift(dir.path()).unwrap(), [one("R1"), one("R2"), one("R3")]);
        std::fs::write(&path, text + "\n").unwrap();
        assert!(read_accepted_drift(dir.path()).unwrap_err().to_string().contains("line 2: "));
    }
}

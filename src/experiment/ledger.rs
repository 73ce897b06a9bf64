//! The answers of an experiment, in the format of a recording: each is appended and durable before anyone reads it, so
//! that an experiment that was ended goes on where it was.

use std::fs::{File, TryLockError};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::files;
use crate::llm::{Recorded, Recording, RecordingError};

/// What a recording is before its first answer; `run --record` begins its own the same way.
const BEGUN: &str = "\n";

/// Why answers cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The operating system refused.
    #[error("cannot {what} the recording {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Another process writes there.
    #[error("another experiment records into {0} right now; wait for it, or record into another file")]
    Taken(PathBuf),
    /// It is somebody's file, or damaged.
    #[error("{0}; an experiment records into a new file, or goes on with its own")]
    Foreign(#[from] RecordingError),
    /// Answers of one model and of another would come into the same figures.
    #[error("{path} holds answers of {held}, and {asked} would be asked now; record into another file")]
    Other {
        /// The file.
        path: PathBuf,
        /// Provider and model of an answer in it.
        held: String,
        /// Provider and model of today.
        asked: String,
    },
}

/// The file of answers, for one process at a time.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: File,
}

impl Ledger {
    /// Opens a file, or begins it, and hands over what it holds. A last line that was never finished is cut off.
    pub fn open(path: &Path) -> Result<(Self, Vec<Recorded>), LedgerError> {
        let io = |what| move |source| LedgerError::Io { what, path: path.to_owned(), source };
        let mut file = files::open_own(path).map_err(io("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LedgerError::Taken(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(io("lock")(source)),
        }
        let bytes = files::read_file(&mut file, files::LOG).map_err(io("read"))?;
        if bytes.is_empty() {
            file.write_all(BEGUN.as_bytes()).and_then(|()| file.sync_all()).map_err(io("begin"))?;
            return Ok((Self { path: path.to_owned(), file }, Vec::new()));
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let name = path.display().to_string();
        let text = String::from_utf8_lossy(&bytes[..whole]);
        let held = if text == BEGUN { Vec::new() } else { Recording::parse(&name, &text)?.answers };
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(io("mend"))?;
        }
        file.seek(SeekFrom::End(0)).map_err(io("read"))?;
        Ok((Self { path: path.to_owned(), file }, held))
    }

    /// Refuses to go on with answers that somebody else gave.
    pub fn same(&self, held: &[Recorded], provider: &str, model: Option<&str>) -> Result<(), LedgerError> {
        let name = |provider: &str, model: Option<&str>| match model {
            Some(model) => format!("{provider} ({model})"),
            None => provider.to_owned(),
        };
        let differs = |answer: &&Recorded| {
            answer.provider != provider || model.is_some_and(|model| answer.model.as_deref() != Some(model))
        };
        match held.iter().find(differs) {
            None => Ok(()),
            Some(other) => Err(LedgerError::Other {
                path: self.path.clone(),
                held: name(&other.provider, other.model.as_deref()),
                asked: name(provider, model),
            }),
        }
    }

    /// Keeps an answer; it is durable when this returns.
    pub fn append(&mut self, answer: &Recorded) -> Result<(), LedgerError> {
        let io = |source| LedgerError::Io { what: "write", path: self.path.clone(), source };
        let one = Recording { name: String::new(), answers: vec![answer.clone()] };
        self.file.write_all(one.render().as_bytes()).and_then(|()| self.file.sync_data()).map_err(io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Sha;
    use crate::llm::RequestKey;

    fn answer(attempt: u32) -> Recorded {
        Recorded {
            v: 1,
            key: RequestKey { node: "act".into(), place: 0, attempt, purpose: "p".into(), candidate: 0 },
            wording: Sha::of("w"),
            prompt_start: "p".into(),
            reads: Vec::new(),
            usage: None,
            cost_usd: None,
            model: Some("m".into()),
            stop_reason: None,
            provider: "handoff".into(),
            late: false,
            check_timed_out: false,
            timing: Vec::new(),
            answer: "yes\nno".into(),
        }
    }

    #[test]
    fn what_was_kept_is_there_again_and_a_torn_line_is_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("answers.jsonl");
        let (mut ledger, held) = Ledger::open(&path).unwrap();
        assert!(held.is_empty());
        assert!(matches!(Ledger::open(&path), Err(LedgerError::Taken(_))), "two at once");
        ledger.append(&answer(1)).unwrap();
        ledger.append(&answer(2)).unwrap();
        drop(ledger);
        let whole = std::fs::read(&path).unwrap();
        for cut in 1..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut ledger, held) = Ledger::open(&path).unwrap();
            let complete = whole[..cut].split(|b| *b == b'\n').count() - 2;
            assert_eq!(held.len(), complete, "cut at {cut}");
            ledger.append(&answer(3)).unwrap();
            drop(ledger);
            assert_eq!(Ledger::open(&path).unwrap().1.len(), complete + 1, "cut at {cut}");
        }
        assert_eq!(Recording::load(&path).unwrap().answers.last(), Some(&answer(3)));
    }

    #[test]
    fn a_file_of_somebody_is_left_as_it_is_and_answers_of_two_models_are_not_mixed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes.txt");
        for text in ["my notes", "my notes\n", "\nmy notes\nmore", "{}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(Ledger::open(&path), Err(LedgerError::Foreign(_))), "{text:?}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let (ledger, _) = Ledger::open(&dir.path().join("a.jsonl")).unwrap();
        assert!(ledger.same(&[answer(1)], "handoff", Some("m")).is_ok());
        assert!(ledger.same(&[answer(1)], "handoff", None).is_ok());
        for (provider, model) in [("claude", Some("m")), ("handoff", Some("n"))] {
            let refused = ledger.same(&[answer(1)], provider, model).unwrap_err().to_string();
            assert!(refused.contains("handoff (m)") && refused.contains("another file"), "{refused}");
        }
    }
}

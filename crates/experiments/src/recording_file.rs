//! The recording of an experiment: each answer is appended durably before it is used, so that an interrupted experiment
//! continues where it stopped.

use std::fs::{File, TryLockError};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use tlaforge_files as files;
use tlaforge_llm::{Recorded, Recording, RecordingError};

/// The content of a recording without answers, as `run --record` writes it too.
const EMPTY_RECORDING: &str = "\n";

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingFileError {
    #[error("cannot {what} the recording {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    /// Another process has locked the file.
    #[error("another experiment is recording into {0}; wait for it to end, or record into another file")]
    Locked(PathBuf),
    /// The file is damaged, or not a recording.
    #[error("{0}; an experiment records into a new file, or continues its own recording")]
    Foreign(#[from] RecordingError),
    /// Results must not mix the answers of two models.
    #[error("{path} contains answers of {held}, and this experiment uses {asked}; record into another file")]
    OtherModel {
        path: PathBuf,
        /// Provider and model of a recorded answer.
        held: String,
        /// Provider and model of this run.
        asked: String,
    },
}

/// An open recording, locked for this process.
#[derive(Debug)]
pub struct RecordingFile {
    path: PathBuf,
    file: File,
}

impl RecordingFile {
    /// Opens or creates a recording, and returns its answers. An incomplete last line is cut off.
    pub fn open(path: &Path) -> Result<(Self, Vec<Recorded>), RecordingFileError> {
        let io = |what| move |source| RecordingFileError::Io { what, path: path.to_owned(), source };
        let mut file = files::open_own(path).map_err(io("open"))?;
        // Two processes would mix their lines, and ask the same questions.
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RecordingFileError::Locked(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(io("lock")(source)),
        }
        let bytes = files::read_file(&mut file, files::LOG).map_err(io("read"))?;
        if bytes.is_empty() {
            file.write_all(EMPTY_RECORDING.as_bytes()).and_then(|()| file.sync_all()).map_err(io("begin"))?;
            return Ok((Self { path: path.to_owned(), file }, Vec::new()));
        }
        // A kill can leave the beginning of a line.
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let name = path.display().to_string();
        let text = String::from_utf8_lossy(&bytes[..complete]);
        let answers = if text == EMPTY_RECORDING { Vec::new() } else { Recording::parse(&name, &text)?.answers };
        if complete < bytes.len() {
            file.set_len(complete as u64).map_err(io("repair"))?;
        }
        file.seek(SeekFrom::End(0)).map_err(io("read"))?;
        Ok((Self { path: path.to_owned(), file }, answers))
    }

    /// Checks that the recorded answers are of this provider and model.
    pub fn check_model(
        &self,
        answers: &[Recorded],
        provider: &str,
        model: Option<&str>,
    ) -> Result<(), RecordingFileError> {
        let name = |provider: &str, model: Option<&str>| match model {
            Some(model) => format!("{provider} ({model})"),
            None => provider.to_owned(),
        };
        let differs = |answer: &&Recorded| {
            answer.provider != provider || model.is_some_and(|model| answer.model.as_deref() != Some(model))
        };
        match answers.iter().find(differs) {
            None => Ok(()),
            Some(other) => Err(RecordingFileError::OtherModel {
                path: self.path.clone(),
                held: name(&other.provider, other.model.as_deref()),
                asked: name(provider, model),
            }),
        }
    }

    /// Appends an answer durably.
    pub fn append(&mut self, answer: &Recorded) -> Result<(), RecordingFileError> {
        let io = |source| RecordingFileError::Io { what: "write", path: self.path.clone(), source };
        let one = Recording { name: String::new(), answers: vec![answer.clone()] };
        self.file.write_all(one.render().as_bytes()).and_then(|()| self.file.sync_data()).map_err(io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tlaforge_journal::Sha;
    use tlaforge_llm::RequestKey;

    fn answer(attempt: u32) -> Recorded {
        Recorded {
            v: 1,
            key: RequestKey { node: "act".into(), branch_index: 0, attempt, purpose: "p".into(), sample: 0 },
            wording: Sha::digest("w"),
            prompt_start: "p".into(),
            reads: Vec::new(),
            documents: None,
            usage: None,
            cost_usd: None,
            model: Some("m".into()),
            stop_reason: None,
            provider: "handoff".into(),
            late: false,
            check_timed_out: false,
            timing: Vec::new(),
            normative_words: None,
            answer: "yes\nno".into(),
        }
    }

    #[test]
    fn answers_survive_and_an_incomplete_line_is_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("answers.jsonl");
        let (mut recording, held) = RecordingFile::open(&path).unwrap();
        assert!(held.is_empty());
        assert!(matches!(RecordingFile::open(&path), Err(RecordingFileError::Locked(_))), "two at once");
        recording.append(&answer(1)).unwrap();
        recording.append(&answer(2)).unwrap();
        drop(recording);
        let whole = std::fs::read(&path).unwrap();
        for cut in 1..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut recording, held) = RecordingFile::open(&path).unwrap();
            let complete = whole[..cut].split(|b| *b == b'\n').count() - 2;
            assert_eq!(held.len(), complete, "cut at {cut}");
            recording.append(&answer(3)).unwrap();
            drop(recording);
            assert_eq!(RecordingFile::open(&path).unwrap().1.len(), complete + 1, "cut at {cut}");
        }
        assert_eq!(Recording::load(&path).unwrap().answers.last(), Some(&answer(3)));
    }

    #[test]
    fn refuses_foreign_files_and_answers_of_another_model() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes.txt");
        for text in ["my notes", "my notes\n", "\nmy notes\nmore", "{}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(RecordingFile::open(&path), Err(RecordingFileError::Foreign(_))), "{text:?}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let (recording, _) = RecordingFile::open(&dir.path().join("a.jsonl")).unwrap();
        assert!(recording.check_model(&[answer(1)], "handoff", Some("m")).is_ok());
        assert!(recording.check_model(&[answer(1)], "handoff", None).is_ok());
        for (provider, model) in [("claude", Some("m")), ("handoff", Some("n"))] {
            let refused = recording.check_model(&[answer(1)], provider, model).unwrap_err().to_string();
            assert!(refused.contains("handoff (m)") && refused.contains("another file"), "{refused}");
        }
    }
}

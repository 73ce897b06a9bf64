//! Recordings: the answers of a run, one JSON object per line, in the order of their arrival. It does not know how a journal
//! is turned into one.

use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::provider::{Answer, FileRead, MAX_ANSWER_BYTES, Offered, Request, RequestKey, Timing};
use super::usage::Usage;
use tlaforge_files as files;
use tlaforge_files::Sha;

/// Longest line, in bytes. JSON needs six bytes for a control character, and the other fields need room as well.
const MAX_LINE_BYTES: u64 = 8 * MAX_ANSWER_BYTES;

fn too_long() -> String {
    format!("an answer of more than {} MiB, the limit for an answer", MAX_ANSWER_BYTES >> 20)
}

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Version of the format.
    pub v: u32,
    #[serde(flatten)]
    pub key: RequestKey,
    /// SHA-256 of role and prompt; see [`Request::wording`].
    pub wording: Sha,
    /// The beginning of the prompt, so that people can find a request.
    pub prompt_start: String,
    /// The files that the model read.
    pub reads: Vec<FileRead>,
    /// The documents that the request offered, read or not. Recordings of version 0.2 do not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents: Option<Vec<RecordedDocument>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Cost in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The provider that gave the answer.
    pub provider: String,
    /// Whether it arrived after the decision that it was meant for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// Whether the quick check of its content ran out of time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub check_timed_out: bool,
    /// Decisions by the clock at nodes that ask no model. The first answer holds them for the whole run; older recordings
    /// have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timing: Vec<Timing>,
    /// The words that made a sentence of the documents normative in the recorded run. The first answer holds them; older recordings have
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normative_words: Option<Vec<String>>,
    pub answer: String,
}

/// A document of the recorded run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedDocument {
    /// Its path below the workspace.
    pub path: String,
    pub sha: Sha,
}

impl RecordedDocument {
    /// The documents among the offered files. `None` if no file is marked as their index, as in a journal of version 0.2,
    /// because then the index cannot be distinguished from a document.
    pub fn from_offered(offered: &[Offered]) -> Option<Vec<Self>> {
        let documents: Vec<&Offered> = offered.iter().filter(|file| file.is_document()).collect();
        let is_known = documents.is_empty() || offered.iter().any(|file| file.is_index);
        let document = |file: &Offered| Self { path: file.path.clone(), sha: file.sha.clone() };
        is_known.then(|| documents.into_iter().map(document).collect())
    }
}

impl Recorded {
    /// The record of a provider's answer to a request.
    pub fn new(request: &Request, answer: &Answer, provider: &str) -> Self {
        Self {
            v: 1,
            key: request.key.clone(),
            wording: request.wording(),
            prompt_start: request.prompt.chars().take(80).collect(),
            reads: answer.reads.clone(),
            documents: RecordedDocument::from_offered(&request.offered),
            usage: answer.usage,
            cost_usd: answer.cost_usd,
            model: answer.model.clone(),
            stop_reason: answer.stop_reason.clone(),
            provider: provider.to_owned(),
            late: false,
            check_timed_out: false,
            timing: Vec::new(),
            normative_words: None,
            answer: answer.text.clone(),
        }
    }
}

/// A recording that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("{what} the recording {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    /// A line cannot be read.
    #[error("the recording {name}, line {line}, cannot be read: {what}")]
    Line {
        name: String,
        /// The line, from 1.
        line: usize,
        what: String,
    },
    /// The recording has two answers to the same request.
    #[error("the recording {name} answers the same request twice ({key})")]
    Twice { name: String, key: String },
}

/// All answers of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// Its file name, for messages.
    pub name: String,
    pub answers: Vec<Recorded>,
}

impl Recording {
    /// Parses the text of a recording. `name` is used in messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, RecordingError> {
        Self::read(name, text.as_bytes())
    }

    fn read(name: &str, mut from: impl BufRead) -> Result<Self, RecordingError> {
        let io = |source| RecordingError::Io { what: "read", path: name.into(), source };
        let mut answers: Vec<Recorded> = Vec::new();
        for number in 1.. {
            let bad = |what: String| RecordingError::Line { name: name.to_owned(), line: number, what };
            let mut line = Vec::new();
            if from.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line).map_err(io)? == 0 {
                break;
            }
            if line.len() as u64 > MAX_LINE_BYTES {
                return Err(bad(too_long()));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let recorded: Recorded = serde_json::from_slice(&line).map_err(|e| bad(e.to_string()))?;
            if recorded.v != 1 {
                return Err(bad(format!("format version {} is not 1", recorded.v)));
            }
            if recorded.answer.len() as u64 > MAX_ANSWER_BYTES {
                return Err(bad(too_long()));
            }
            // A replay looks answers up by key, so the second one would never be used.
            if answers.iter().any(|a| a.key == recorded.key) {
                return Err(RecordingError::Twice { name: name.to_owned(), key: recorded.key.to_string() });
            }
            answers.push(recorded);
        }
        if answers.is_empty() {
            return Err(RecordingError::Line { name: name.to_owned(), line: 1, what: "it contains no answer".into() });
        }
        Ok(Self { name: name.to_owned(), answers })
    }

    /// Reads a recording from a file.
    pub fn load(path: &Path) -> Result<Self, RecordingError> {
        let io = |source| RecordingError::Io { what: "read", path: path.to_owned(), source };
        let file = files::open(path).map_err(io)?;
        Self::read(&path.display().to_string(), BufReader::new(file))
    }

    /// The text of the recording.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for answer in &self.answers {
            text.push_str(&serde_json::to_string(answer).expect("strings and numbers only"));
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_that_is_accepted_can_be_loaded_from_its_recording() {
        let key = RequestKey { node: "review".into(), branch_index: 0, attempt: 1, purpose: "draft".into(), sample: 0 };
        let recorded = |answer: String| Recorded {
            v: 1,
            key: key.clone(),
            wording: Sha::digest("p"),
            prompt_start: "p".into(),
            reads: Vec::new(),
            documents: None,
            usage: None,
            cost_usd: None,
            model: None,
            stop_reason: None,
            provider: "handoff".into(),
            late: false,
            check_timed_out: false,
            timing: Vec::new(),
            normative_words: None,
            answer,
        };
        let recording = |length: u64| {
            let answer = "\u{1}".repeat(usize::try_from(length).expect("it fits"));
            Recording { name: "r".into(), answers: vec![recorded(answer)] }
        };
        let longest = recording(MAX_ANSWER_BYTES);
        assert!(Recording::parse("r", &longest.render()).expect("it is read") == longest);
        let longer = Recording::parse("r", &recording(MAX_ANSWER_BYTES + 1).render()).expect_err("it is refused");
        assert!(longer.to_string().contains("line 1"), "{longer}");
    }
}

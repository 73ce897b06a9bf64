//! A recording: the answers of a run, one JSON object a line, in the order in which they came.

use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::contract::{Answer, FileRead, LONGEST_ANSWER, Request, RequestKey, Timing, Usage};
use crate::files;
use crate::journal::Sha;

/// The longest line: JSON writes a control character with six, and the other fields have room beside the answer.
const LONGEST_LINE: u64 = 8 * LONGEST_ANSWER;

fn too_long() -> String {
    format!("an answer of more than {} MiB, which no answer needs", LONGEST_ANSWER >> 20)
}

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Version of the format.
    pub v: u32,
    /// Which request.
    #[serde(flatten)]
    pub key: RequestKey,
    /// The wording that was answered.
    pub wording: Sha,
    /// The beginning of the prompt, for people who look for a request.
    pub prompt_start: String,
    /// What the model read.
    pub reads: Vec<FileRead>,
    /// Tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The provider that gave the answer.
    pub provider: String,
    /// It came when the decision that it was asked for had been made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// The quick check of what it holds did not end in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub check_timed_out: bool,
    /// What the clock decided at the nodes that ask no model. The first answer of a recording carries it for the whole
    /// run; an older recording does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timing: Vec<Timing>,
    /// The answer.
    pub answer: String,
}

impl Recorded {
    /// What a provider answered to a request.
    pub fn of(request: &Request, answer: &Answer, provider: &str) -> Self {
        Self {
            v: 1,
            key: request.key.clone(),
            wording: request.wording(),
            prompt_start: request.prompt.chars().take(80).collect(),
            reads: answer.reads.clone(),
            usage: answer.usage,
            cost_usd: answer.cost_usd,
            model: answer.model.clone(),
            stop_reason: answer.stop_reason.clone(),
            provider: provider.to_owned(),
            late: false,
            check_timed_out: false,
            timing: Vec::new(),
            answer: answer.text.clone(),
        }
    }
}

/// Why a recording cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The operating system refused.
    #[error("{what} the recording {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A line cannot be read.
    #[error("the recording {name}, line {line}, cannot be read: {what}")]
    Line {
        /// The recording.
        name: String,
        /// The line, from 1.
        line: usize,
        /// Why.
        what: String,
    },
    /// The same request stands twice.
    #[error("the recording {name} answers the same request twice ({key})")]
    Twice {
        /// The recording.
        name: String,
        /// The request.
        key: String,
    },
}

/// All answers of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// Where it came from, for messages.
    pub name: String,
    /// The answers.
    pub answers: Vec<Recorded>,
}

impl Recording {
    /// Reads a recording's text.
    pub fn parse(name: &str, text: &str) -> Result<Self, RecordingError> {
        Self::read(name, text.as_bytes())
    }

    fn read(name: &str, mut from: impl BufRead) -> Result<Self, RecordingError> {
        let io = |source| RecordingError::Io { what: "read", path: name.into(), source };
        let mut answers: Vec<Recorded> = Vec::new();
        for number in 1.. {
            let bad = |what: String| RecordingError::Line { name: name.to_owned(), line: number, what };
            let mut line = Vec::new();
            if from.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line).map_err(io)? == 0 {
                break;
            }
            if line.len() as u64 > LONGEST_LINE {
                return Err(bad(too_long()));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let recorded: Recorded = serde_json::from_slice(&line).map_err(|e| bad(e.to_string()))?;
            if recorded.v != 1 {
                return Err(bad(format!("format version {} is not 1", recorded.v)));
            }
            if recorded.answer.len() as u64 > LONGEST_ANSWER {
                return Err(bad(too_long()));
            }
            if answers.iter().any(|a| a.key == recorded.key) {
                return Err(RecordingError::Twice { name: name.to_owned(), key: recorded.key.to_string() });
            }
            answers.push(recorded);
        }
        if answers.is_empty() {
            return Err(RecordingError::Line { name: name.to_owned(), line: 1, what: "it holds no answer".into() });
        }
        Ok(Self { name: name.to_owned(), answers })
    }

    /// Reads a recording from a file.
    pub fn load(path: &Path) -> Result<Self, RecordingError> {
        let io = |source| RecordingError::Io { what: "read", path: path.to_owned(), source };
        let file = files::open(path).map_err(io)?;
        Self::read(&path.display().to_string(), BufReader::new(file))
    }

    /// Its text.
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
        let key = RequestKey { node: "review".into(), place: 0, attempt: 1, purpose: "draft".into(), candidate: 0 };
        let recorded = |answer: String| Recorded {
            v: 1,
            key: key.clone(),
            wording: Sha::of("p"),
            prompt_start: "p".into(),
            reads: Vec::new(),
            usage: None,
            cost_usd: None,
            model: None,
            stop_reason: None,
            provider: "handoff".into(),
            late: false,
            check_timed_out: false,
            timing: Vec::new(),
            answer,
        };
        let of = |length: u64| {
            let answer = "\u{1}".repeat(usize::try_from(length).expect("it fits"));
            Recording { name: "r".into(), answers: vec![recorded(answer)] }
        };
        let longest = of(LONGEST_ANSWER);
        assert!(Recording::parse("r", &longest.render()).expect("it is read") == longest);
        let longer = Recording::parse("r", &of(LONGEST_ANSWER + 1).render()).expect_err("it is refused");
        assert!(longer.to_string().contains("line 1"), "{longer}");
    }
}

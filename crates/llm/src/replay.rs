//! Answers from a recording. Replay is deterministic; a missing answer is an error that names the most similar request.

use super::provider::{Answer, AnswerFuture, LlmError, Provider, Request, RequestKey, Timing};
use super::recording::{Recorded, Recording};
use tlaforge_process::Cancel;

/// A recording as a provider.
#[derive(Debug, Clone)]
pub struct Replay {
    recording: Recording,
    strict: bool,
}

impl Replay {
    /// Replays a recording. `strict` refuses answers to another wording of the prompt.
    pub fn new(recording: Recording, strict: bool) -> Self {
        Self { recording, strict }
    }

    fn find(&self, request: &Request) -> Result<Answer, LlmError> {
        let Some(found) = self.recording.answers.iter().find(|a| a.key == request.key) else {
            return Err(LlmError::ReplayMiss {
                recording: self.recording.name.clone(),
                wanted: request.key.to_string(),
                nearest: self
                    .nearest(request)
                    .map_or_else(|| "nothing".into(), |r| format!("{} (\"{}…\")", r.key, r.prompt_start.trim())),
            });
        };
        // The key alone decides which answer fits: a prompt whose wording was improved can still be replayed.
        let stale = found.wording != request.wording();
        if stale && self.strict {
            return Err(LlmError::ReplayStale { wanted: request.key.to_string() });
        }
        Ok(Answer {
            text: found.answer.clone(),
            reads: found.reads.clone(),
            refused_reads: Vec::new(),
            usage: found.usage,
            estimated: None,
            cost_usd: found.cost_usd,
            model: found.model.clone(),
            stale,
            request_ids: Vec::new(),
            stop_reason: found.stop_reason.clone(),
        })
    }

    /// The recorded request with the most similar key. The same node counts more than all other fields together.
    fn nearest(&self, request: &Request) -> Option<&Recorded> {
        self.recording.answers.iter().max_by_key(|a| {
            let same = |x: bool, weight: u32| if x { weight } else { 0 };
            same(a.key.node == request.key.node, 8)
                + same(a.key.purpose == request.key.purpose, 3)
                + same(a.key.branch_index == request.key.branch_index, 2)
                + same(a.key.attempt == request.key.attempt, 1)
                + same(a.key.sample == request.key.sample, 1)
        })
    }
}

impl Provider for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn comes_late(&self, key: &RequestKey) -> bool {
        self.recording.answers.iter().any(|answer| answer.late && answer.key == *key)
    }

    fn check_timed_out(&self, key: &RequestKey) -> bool {
        self.recording.answers.iter().any(|answer| answer.check_timed_out && answer.key == *key)
    }

    fn answers(&self, purpose: &str) -> bool {
        self.recording.answers.iter().any(|answer| answer.key.purpose == purpose)
    }

    fn timing(&self, node: &str, branch_index: u32, attempt: u32) -> Option<&Timing> {
        let mut all = self.recording.answers.iter().flat_map(|answer| &answer.timing);
        all.find(|timing| (timing.node.as_str(), timing.branch_index, timing.attempt) == (node, branch_index, attempt))
    }

    fn ask<'a>(&'a self, request: &'a Request, _: &'a Cancel) -> AnswerFuture<'a> {
        Box::pin(async move { self.find(request) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelChoice;
    use tlaforge_files::Sha;

    fn key(node: &str, branch_index: u32, attempt: u32, purpose: &str) -> RequestKey {
        RequestKey { node: node.into(), branch_index, attempt, purpose: purpose.into(), sample: 0 }
    }

    fn request(key: RequestKey) -> Request {
        Request {
            key,
            seq: 1,
            role: "r".into(),
            prompt: "p".into(),
            workspace: "w".into(),
            offered: Vec::new(),
            choice: ModelChoice::default(),
            schema: None,
        }
    }

    fn recording() -> Recording {
        let answer = |key: RequestKey, wording: Sha, text: &str| Recorded {
            v: 1,
            key,
            wording,
            prompt_start: "Read the documents".into(),
            reads: Vec::new(),
            usage: None,
            cost_usd: None,
            model: None,
            stop_reason: None,
            provider: "handoff".into(),
            late: false,
            check_timed_out: false,
            timing: Vec::new(),
            answer: text.into(),
        };
        let wording = request(key("formalize", 0, 1, "draft")).wording();
        Recording {
            name: "swap.jsonl".into(),
            answers: vec![
                answer(key("formalize", 0, 1, "draft"), wording, "one"),
                answer(key("formalize", 1, 1, "repair"), Sha::digest("another wording"), "two"),
                answer(key("review", 1, 1, "draft"), Sha::digest("x"), "three"),
            ],
        }
    }

    #[test]
    fn a_recording_round_trips_and_answers_by_key() {
        let parsed = Recording::parse("swap.jsonl", &recording().render()).unwrap();
        assert_eq!(parsed, recording());
        let replay = Replay::new(parsed, false);
        let fresh = replay.find(&request(key("formalize", 0, 1, "draft"))).unwrap();
        assert_eq!((fresh.text.as_str(), fresh.stale), ("one", false));
        let stale = replay.find(&request(key("formalize", 1, 1, "repair"))).unwrap();
        assert_eq!((stale.text.as_str(), stale.stale), ("two", true));
    }

    #[test]
    fn a_miss_names_the_nearest_request_and_strictness_refuses_stale_answers() {
        let replay = Replay::new(recording(), true);
        let miss = replay.find(&request(key("formalize", 1, 2, "repair"))).unwrap_err().to_string();
        assert!(miss.contains("repair of formalize, pass 1, attempt 1"), "{miss}");
        let stale = replay.find(&request(key("formalize", 1, 1, "repair")));
        assert!(matches!(stale, Err(LlmError::ReplayStale { .. })));
    }

    #[test]
    fn a_recording_with_a_broken_line_or_a_double_answer_is_refused() {
        let text = recording().render();
        assert!(Recording::parse("r", &text.replace("\"v\":1", "\"v\":2")).unwrap_err().to_string().contains("line 1"));
        let twice = format!("{text}{}", text.lines().next().unwrap());
        assert!(Recording::parse("r", &twice).unwrap_err().to_string().contains("twice"));
        assert!(Recording::parse("r", "\n").unwrap_err().to_string().contains("no answer"));
    }
}

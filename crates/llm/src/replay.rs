//! Answers from a recording. Replay is deterministic; a missing answer is an error that names the most similar request.

use std::collections::{BTreeMap, BTreeSet};

use super::provider::{
    Answer, AnswerFuture, ChangedDocument, DocumentChange, LlmError, Provider, Request, RequestKey, Timing,
    changed_documents_words,
};
use super::recording::{Recorded, RecordedDocument, Recording};
use tlaforge_files::Sha;
use tlaforge_process::Cancel;

/// A recording as a provider.
#[derive(Debug, Clone)]
pub struct Replay {
    recording: Recording,
    strict: bool,
}

impl Replay {
    /// Replays a recording. `strict` refuses answers to another wording of the prompt, and those for other documents.
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
        let changed_documents = self.changed_documents(found, request);
        if changed_documents.iter().any(ChangedDocument::is_known) && self.strict {
            return Err(LlmError::ReplayOtherDocuments {
                wanted: request.key.to_string(),
                documents: changed_documents_words(&changed_documents),
            });
        }
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
            changed_documents,
            request_ids: Vec::new(),
            stop_reason: found.stop_reason.clone(),
        })
    }

    /// The documents of this request that are not those of the recorded one, by path. A request without documents has
    /// none.
    fn changed_documents(&self, found: &Recorded, request: &Request) -> Vec<ChangedDocument> {
        let offered = request.offered.iter().filter(|file| file.is_document());
        let now: BTreeMap<&str, &Sha> = offered.map(|file| (file.path.as_str(), &file.sha)).collect();
        if now.is_empty() {
            return Vec::new();
        }
        let index = request.offered.iter().find(|file| file.is_index);
        let is_index = |path: &str| index.is_some_and(|index| index.path == path);
        let read = |recorded: &'_ Recorded| {
            let reads = recorded.reads.iter().filter(|read| read.path.starts_with("docs/") && !is_index(&read.path));
            reads.map(|read| (read.path.clone(), read.sha.clone())).collect::<BTreeSet<_>>()
        };
        let mut changed = BTreeMap::new();
        let offered_then = found.documents.iter().flatten().map(|then| (then.path.clone(), then.sha.clone()));
        for (path, sha) in read(found).into_iter().chain(offered_then) {
            match now.get(path.as_str()) {
                None => changed.insert(path, DocumentChange::Missing),
                Some(other) if **other != sha => changed.insert(path, DocumentChange::Changed),
                Some(_) => None,
            };
        }
        let known: BTreeSet<(String, Sha)> = match &found.documents {
            Some(documents) => {
                documents.iter().map(|RecordedDocument { path, sha }| (path.clone(), sha.clone())).collect()
            }
            // What another answer of the recording read was there, too.
            None => self.recording.answers.iter().flat_map(read).collect(),
        };
        let indices: Vec<&Sha> = index.into_iter().flat_map(|index| self.read_as(&index.path)).collect();
        let has_read_index = !indices.is_empty();
        let has_same_index = found.documents.is_none() && index.is_some_and(|index| indices.contains(&&index.sha));
        for (path, sha) in now {
            let is_path_known = known.iter().any(|(known, _)| known == path);
            // An unchanged index lists the same documents, also those that no answer read.
            if known.contains(&(path.to_owned(), sha.clone())) || (!is_path_known && has_same_index) {
                continue;
            }
            let change = match () {
                () if is_path_known => DocumentChange::Changed,
                () if found.documents.is_some() || has_read_index => DocumentChange::Added,
                () => DocumentChange::Unknown,
            };
            changed.entry(path.to_owned()).or_insert(change);
        }
        changed.into_iter().map(|(path, change)| ChangedDocument { path, change }).collect()
    }

    /// The contents of a file that answers of the recording have read.
    fn read_as(&self, path: &str) -> impl Iterator<Item = &Sha> {
        let reads = self.recording.answers.iter().flat_map(|answer| &answer.reads);
        reads.filter(move |read| read.path == path).map(|read| &read.sha)
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

    fn has_answer(&self, key: &RequestKey) -> bool {
        self.recording.answers.iter().any(|answer| answer.key == *key)
    }

    fn normative_words(&self) -> Option<&[String]> {
        self.recording.answers.iter().find_map(|answer| answer.normative_words.as_deref())
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
    use crate::{FileRead, ModelChoice, Offered};

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

    /// A request that offers these documents and their index.
    fn offering(documents: &[(&str, &str)]) -> Request {
        let offer = |path: &str, text: &str, is_index| Offered {
            path: path.to_owned(),
            sha: Sha::digest(text),
            bytes: text.len() as u64,
            shared: true,
            is_index,
        };
        let names = documents.iter().map(|(path, _)| *path).collect::<Vec<_>>().join("\n");
        let mut offered = vec![offer("docs/INDEX.md", &names, true), offer("Spec.tla", "module", false)];
        offered.extend(documents.iter().map(|(path, text)| offer(path, text, false)));
        Request { offered, ..request(key("review", 0, 1, "draft")) }
    }

    /// The recording of an answer to `request` that read the first `read` of the offered files, in the old format or the
    /// new one.
    fn recorded_answer(request: &Request, read: usize, is_old: bool) -> Recording {
        let mut answer = recording().answers.remove(0);
        answer.key = request.key.clone();
        let reads = request.offered.iter().take(read);
        answer.reads =
            reads.map(|file| FileRead { path: file.path.clone(), sha: file.sha.clone(), whole: true }).collect();
        answer.documents = RecordedDocument::from_offered(&request.offered).filter(|_| !is_old);
        Recording { name: "r".into(), answers: vec![answer] }
    }

    #[test]
    fn an_answer_is_stale_if_any_document_changed_is_missing_or_was_added() {
        const BEFORE: [(&str, &str); 3] = [("docs/a.md", "a"), ("docs/b.md", "b"), ("docs/sub/c.md", "c")];
        let words = |recorded: &Recording, now: &[(&str, &str)]| {
            let answer = Replay::new(recorded.clone(), false).find(&offering(now)).unwrap();
            changed_documents_words(&answer.changed_documents)
        };
        let (changed, missing) = ("its text has changed", "it is missing now");
        let added = "it was not there when the answer was recorded";
        let unknown = "the recording does not say whether it was there";
        let cases: [(&[(&str, &str)], String); 6] = [
            (&BEFORE, String::new()),
            (&[("docs/a.md", "A"), BEFORE[1], BEFORE[2]], format!("docs/a.md ({changed})")),
            (&BEFORE[1..], format!("docs/a.md ({missing})")),
            (&[BEFORE[0], BEFORE[1], BEFORE[2], ("docs/d.md", "d")], format!("docs/d.md ({added})")),
            (&[("docs/A.md", "a"), BEFORE[1], BEFORE[2]], format!("docs/A.md ({added}), docs/a.md ({missing})")),
            // Two documents that exchanged their texts.
            (
                &[("docs/a.md", "b"), ("docs/b.md", "a"), BEFORE[2]],
                format!("docs/a.md ({changed}), docs/b.md ({changed})"),
            ),
        ];
        for is_old in [true, false] {
            // All files were read.
            let recorded = recorded_answer(&offering(&BEFORE), 5, is_old);
            for (now, expected) in &cases {
                assert_eq!(words(&recorded, now), *expected, "{now:?}, old: {is_old}");
                let strict = Replay::new(recorded.clone(), true).find(&offering(now));
                let documents = strict.map_or_else(|error| error.to_string(), |_| String::new());
                assert_eq!(documents.contains("recorded for other documents"), !expected.is_empty(), "{documents}");
                assert!(documents.contains(expected.as_str()), "{documents}");
            }
        }
        // Only a.md was read; of the others, the new format knows the texts, and the old one those that the index lists.
        let recorded = recorded_answer(&offering(&BEFORE), 3, false);
        assert_eq!(words(&recorded, &BEFORE), "");
        assert_eq!(words(&recorded, &[BEFORE[0], ("docs/b.md", "B"), BEFORE[2]]), format!("docs/b.md ({changed})"));
        let recorded = recorded_answer(&offering(&BEFORE), 3, true);
        assert_eq!(words(&recorded, &BEFORE), "");
        let more = [BEFORE[0], BEFORE[1], BEFORE[2], ("docs/d.md", "d")];
        for path in ["docs/b.md", "docs/d.md", "docs/sub/c.md"] {
            assert!(words(&recorded, &more).contains(&format!("{path} ({added})")), "{}", words(&recorded, &more));
        }
        let read_nothing = recorded_answer(&offering(&BEFORE), 0, true);
        assert!(words(&read_nothing, &BEFORE).contains(&format!("docs/a.md ({unknown})")));
        assert!(Replay::new(read_nothing, true).find(&offering(&BEFORE)).is_ok(), "nothing is known to have changed");
        // A document that has the name which the index had.
        let recorded = recorded_answer(&offering(&BEFORE), 5, true);
        let mut now = offering(&BEFORE);
        now.offered[0].path = "docs/INDEX-2.md".into();
        now.offered.push(Offered { path: "docs/INDEX.md".into(), is_index: false, ..now.offered[0].clone() });
        now.offered[5].sha = Sha::digest("a document");
        let answer = Replay::new(recorded, false).find(&now).unwrap();
        assert_eq!(changed_documents_words(&answer.changed_documents), format!("docs/INDEX.md ({changed})"));
        // Requests without documents.
        let none = Request { offered: now.offered[1..2].to_vec(), ..now };
        assert!(Replay::new(recorded_answer(&none, 1, true), true).find(&none).is_ok());
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

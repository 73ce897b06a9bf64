//! The informal specifications of all recordings are read without an error, and no citation of them is asked about.

#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use tlaforge_prompt::{
    DEFAULT_NORMATIVE_WORDS, Document, EARLIER_NORMATIVE_WORD_COUNT, NormativeSentence, account_for, apply_edits,
    prose_among_items, read_documents, split_answer, unread_lines, unrelated_citations,
};

/// The recordings of a folder, with its documents.
fn recordings() -> Vec<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = |path: &str| -> Vec<PathBuf> {
        std::fs::read_dir(root.join(path))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
            .collect()
    };
    let mut found = Vec::new();
    for case in folders("evals").into_iter().chain(folders("tests/data/forged")) {
        for name in ["recording/run.jsonl", "recording/repair.jsonl", "recording/strengthen.jsonl", "run.jsonl"] {
            if case.join(name).is_file() {
                found.push((case.join(name), case.join("docs")));
            }
        }
    }
    assert!(found.len() > 12, "{found:?}");
    found
}

/// The informal specifications of a recording, after their edits.
fn specifications(recording: &Path) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in std::fs::read_to_string(recording).unwrap().lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        if answer["node"] != "informal_spec" {
            continue;
        }
        let text = answer["answer"].as_str().unwrap();
        let edited = found.last().and_then(|previous| apply_edits(previous, None, text));
        found.push(match edited {
            Some(edited) => edited.unwrap().text,
            None if answer["purpose"] == "whole" => split_answer(text).informal.unwrap(),
            None => text.to_owned(),
        });
    }
    found
}

#[test]
fn recorded_specifications_are_read_as_they_are() {
    let all = DEFAULT_NORMATIVE_WORDS.map(str::to_owned);
    for (recording, docs) in recordings() {
        let documents: Vec<Document> = read_documents(&docs).unwrap().files;
        for text in specifications(&recording) {
            let recording = recording.display();
            assert_eq!(unread_lines(&text), [""; 0], "{recording}");
            assert_eq!(prose_among_items(&text), [""; 0], "{recording}");
            assert_eq!(unrelated_citations(&text, &documents), [], "{recording}");
        }
        // An earlier one may have been sent back.
        let last = specifications(&recording).pop().unwrap();
        let sentences = account_for(&last, &documents, |_| true, &all[..EARLIER_NORMATIVE_WORD_COUNT]);
        let open: Vec<String> =
            sentences.iter().filter(|one| one.account.is_none()).map(NormativeSentence::words).collect();
        assert_eq!(open, [""; 0], "{}", recording.display());
    }
}

//! A run's answers as a recording, read from its journal.

use serde::Deserialize;

use crate::journal::{ArtifactStore, Event, Sha, StoreError};
use crate::llm::{FileRead, Recorded, Recording, RequestKey, Usage};

#[derive(Deserialize)]
struct Sent {
    key: RequestKey,
    wording: Sha,
    prompt_start: String,
}

#[derive(Deserialize)]
struct Received {
    request: u64,
    artifact: Sha,
    provider: String,
    reads: Vec<FileRead>,
    model: Option<String>,
    usage: Option<Usage>,
    cost_usd: Option<f64>,
}

/// Every answer of the journal. Where a branch asks again for what an earlier one asked, the later answer counts.
pub fn recording_of(events: &[Event], store: &ArtifactStore) -> Result<Recording, StoreError> {
    let mut recording = Recording::default();
    for event in events.iter().filter(|e| e.name == "answer_received") {
        let Ok(received) = Received::deserialize(&event.data) else { continue };
        let sent = events.iter().find(|e| e.seq == received.request);
        let Some(sent) = sent.and_then(|e| Sent::deserialize(&e.data).ok()) else { continue };
        let recorded = Recorded {
            v: 1,
            key: sent.key,
            wording: sent.wording,
            prompt_start: sent.prompt_start,
            reads: received.reads,
            usage: received.usage,
            cost_usd: received.cost_usd,
            model: received.model,
            provider: received.provider,
            answer: store.text(&received.artifact)?,
        };
        match recording.answers.iter_mut().find(|a| a.key == recorded.key) {
            Some(earlier) => *earlier = recorded,
            None => recording.answers.push(recorded),
        }
    }
    Ok(recording)
}

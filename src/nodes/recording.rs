//! A run's answers as a recording, read from its journal.

use serde::Deserialize;
use serde_json::Value;

use crate::journal::{ArtifactStore, Event, Sha, StoreError, is_apart};
use crate::llm::{FileRead, Recorded, Recording, RequestKey, Timing, Usage};
use crate::pipeline::{MAX_CANDIDATES, Stage, Station, lifeline_of};

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
    #[serde(default)]
    told: Told,
    #[serde(default)]
    held: Told,
    usage: Option<Usage>,
    cost_usd: Option<f64>,
}

#[derive(Default, Deserialize)]
struct Told {
    stop_reason: Option<String>,
}

/// The answers of the line of revisions that led to where the run stands. Each revision of it is one pass, as in a run
/// without branches: a branch counts its passes from 0, and would overwrite what it came from.
pub fn recording_of(events: &[Event], store: &ArtifactStore) -> Result<Recording, StoreError> {
    let mut recording = Recording::default();
    let line = line(events);
    for event in events.iter().filter(|e| e.name == "answer_received") {
        let Some(pass) = line.iter().position(|rev| *rev == event.rev) else { continue };
        let Ok(received) = Received::deserialize(&event.data) else { continue };
        let sent = events.iter().find(|e| e.seq == received.request);
        let Some(sent) = sent.and_then(|e| Sent::deserialize(&e.data).ok()) else { continue };
        let recorded = Recorded {
            v: 1,
            key: RequestKey { place: u32::try_from(pass).unwrap_or(sent.key.place), ..sent.key.clone() },
            wording: sent.wording,
            prompt_start: sent.prompt_start,
            reads: received.reads,
            usage: received.usage,
            cost_usd: received.cost_usd,
            model: received.model,
            stop_reason: received.told.stop_reason.or(received.held.stop_reason),
            provider: received.provider,
            late: is_late(event, &sent.key.node, events),
            check_timed_out: timed_out(event, &sent.key.node, events),
            timing: Vec::new(),
            answer: store.text(&received.artifact)?,
        };
        match recording.answers.iter_mut().find(|a| a.key == recorded.key) {
            Some(earlier) => *earlier = recorded,
            None => recording.answers.push(recorded),
        }
    }
    if let Some(first) = recording.answers.first_mut() {
        first.timing = events.iter().filter_map(|event| timing_of(event, &line)).collect();
    }
    Ok(recording)
}

/// What the clock decided in an attempt of a node that asks no model.
fn timing_of(event: &Event, line: &[u32]) -> Option<Timing> {
    let place = line.iter().position(|rev| *rev == event.rev)?;
    let (decided, names) = match (event.name.as_str(), event.lifeline.as_str()) {
        ("check_finished", "model_check") => (
            &event.data["outcome"],
            names(&event.data["outcome"]["witnesses"], |witness| witness["out_of_time"] == true),
        ),
        ("mutants_judged", _) => (&event.data, names(&event.data["mutants"], |mutant| mutant["outcome"] == "timeout")),
        _ => return None,
    };
    Some(Timing {
        node: event.lifeline.clone(),
        place: u32::try_from(place).ok()?,
        attempt: event.attempt,
        out_of_time: decided["out_of_time"] == true,
        timed_out: names,
        unjudged: Vec::deserialize(&event.data["unjudged"]).unwrap_or_default(),
    })
}

fn names(all: &Value, is_wanted: impl Fn(&&Value) -> bool) -> Vec<String> {
    let wanted = all.as_array().into_iter().flatten().filter(is_wanted);
    wanted.filter_map(|one| one["name"].as_str().map(str::to_owned)).collect()
}

/// Whether the choice that a candidate's answer was drafted for was made without it: it came later, or what followed
/// from it did.
fn is_late(answer: &Event, node: &str, events: &[Event]) -> bool {
    let stage = stage_of(node);
    let here = || events.iter().filter(|event| event.rev == answer.rev);
    let was_received = || {
        here().any(|event| {
            let number = event.data["candidate"].as_u64().and_then(|n| u32::try_from(n).ok());
            event.name == "candidate_received"
                && number.is_some_and(|n| (1..=MAX_CANDIDATES).contains(&n) && lifeline_of(n) == answer.lifeline)
                && Stage::deserialize(&event.data["stage"]).ok() == Some(stage)
        })
    };
    is_apart(&answer.lifeline) && here().any(|event| event.name == "candidate_chosen") && !was_received()
}

fn stage_of(node: &str) -> Stage {
    match Station::by_name(node) {
        Some(Station::Formalize) => Stage::Formalization,
        _ => Stage::Properties,
    }
}

/// Whether the quick check of a candidate's answer ended for want of time.
fn timed_out(answer: &Event, node: &str, events: &[Event]) -> bool {
    let mut here = events.iter().filter(|event| event.rev == answer.rev && event.lifeline == answer.lifeline);
    is_apart(&answer.lifeline)
        && match stage_of(node) {
            Stage::Formalization => here.any(|e| e.name == "quickly_checked" && e.data["out_of_time"] == true),
            Stage::Properties => here.any(|e| e.name == "check_finished" && e.data["outcome"]["out_of_time"] == true),
        }
}

/// The revisions that led to the last one, itself included. A revision is made from the one before it, or from the one
/// that its branch names.
fn line(events: &[Event]) -> Vec<u32> {
    let mut line: Vec<u32> = Vec::new();
    let mut known: Vec<Vec<u32>> = Vec::new();
    for event in events {
        if event.name == "branch_started" {
            let from = event.data["from"].as_u64().and_then(|n| u32::try_from(n).ok());
            let parent = known.iter().find(|line| line.last().copied() == from);
            line = parent.cloned().unwrap_or_default();
        }
        if line.last() != Some(&event.rev) {
            line.push(event.rev);
            known.push(line.clone());
        }
    }
    line
}

//! Builds a recording of a run's answers from its journal. It is made anew from the whole journal each time, so a crash
//! cannot leave the two apart.

use crate::journal::{ArtifactStore, StoreError, is_parallel_lifeline};
use crate::llm::{Recorded, RecordedDocument, Recording, RequestKey, Timing};
use crate::mutation::Outcome;
use crate::pipeline::{
    AnswerFacts, Entry, MAX_CANDIDATES, NodeName, OpenPointSearch, RunEvent, Stage, candidate_lifeline,
};
use crate::tla::{LargerBound, LargerBoundResult};

/// The answers of the revisions that led to the current one. They are numbered as in a run without branches: a branch
/// counts its revisions from 0, so its own numbers would overwrite the answers of the revision that it started from.
pub fn build_recording(entries: &[Entry], store: &ArtifactStore) -> Result<Recording, StoreError> {
    let mut recording = Recording::default();
    let lineage = lineage(entries);
    let received = entries.iter().filter_map(|entry| Some((entry, entry.event.try_as_answer_received_ref()?)));
    for (entry, answer) in received {
        // Answers of revisions that the current one does not descend from are left out.
        let Some(branch_index) = lineage.iter().position(|rev| *rev == entry.rev) else { continue };
        let sent = entries.iter().find(|e| e.seq == answer.request);
        let Some(sent) = sent.and_then(|entry| entry.event.try_as_request_sent_ref()) else { continue };
        let stop_reason = |facts: &Option<AnswerFacts>| facts.as_ref().and_then(|facts| facts.stop_reason.clone());
        let recorded = Recorded {
            v: 1,
            key: RequestKey {
                branch_index: u32::try_from(branch_index).unwrap_or(sent.key.branch_index),
                ..sent.key.clone()
            },
            wording: sent.wording.clone(),
            prompt_start: sent.prompt_start.clone(),
            reads: answer.reads.clone(),
            documents: RecordedDocument::from_offered(&sent.offered),
            usage: answer.usage,
            cost_usd: answer.cost_usd,
            model: answer.model.clone(),
            stop_reason: stop_reason(&answer.answer).or_else(|| stop_reason(&answer.pending_answer)),
            provider: answer.provider.clone(),
            late: is_late(entry, &sent.key.node, entries),
            check_timed_out: check_timed_out(entry, &sent.key.node, entries),
            timing: Vec::new(),
            normative_words: None,
            answer: store.text(&answer.artifact)?,
        };
        match recording.answers.iter_mut().find(|a| a.key == recorded.key) {
            // A request that was sent again has the same key, and the run used the later answer.
            Some(earlier) => *earlier = recorded,
            None => recording.answers.push(recorded),
        }
    }
    // Most of these attempts have no answer of their own, and the format has one line an answer.
    if let Some(first) = recording.answers.first_mut() {
        let started = entries.iter().find_map(|entry| entry.event.try_as_run_started_ref());
        first.normative_words = started.map(|settings| settings.normative_words.clone());
        first.timing = entries.iter().filter_map(|entry| timing_of(entry, &lineage)).collect();
    }
    Ok(recording)
}

/// The clock's decisions in an attempt of a node about checks and mutants.
fn timing_of(entry: &Entry, lineage: &[u32]) -> Option<Timing> {
    let branch_index = lineage.iter().position(|rev| *rev == entry.rev)?;
    let (mut larger_bounds, mut open_points, mut too_many_states) = (false, false, Vec::new());
    let (check_timed_out, timed_out, unjudged) = match &entry.event {
        RunEvent::CheckFinished(check) if entry.lifeline == NodeName::ModelCheck.name() => {
            let outcome = &check.outcome;
            larger_bounds = !outcome.larger_bounds.is_empty();
            open_points = check.open_point_searches.is_some();
            let searches = check.open_point_searches.iter().flatten().filter(|search| search.timed_out);
            let bounds = |result: LargerBoundResult| {
                let those = outcome.larger_bounds.iter().filter(move |bound| bound.result == result);
                those.map(LargerBound::name)
            };
            let is_limited = |bound: &&LargerBound| matches!(bound.result, LargerBoundResult::TooManyStates { .. });
            too_many_states.extend(outcome.larger_bounds.iter().filter(is_limited).map(LargerBound::name));
            let witnesses = outcome.witnesses.iter().filter(|witness| witness.timed_out).map(|w| w.name.clone());
            let properties = outcome.further.iter().filter(|further| further.is_timed_out()).map(|f| f.name.clone());
            let late = witnesses.chain(properties).chain(bounds(LargerBoundResult::TooLarge));
            let late = late.chain(searches.map(OpenPointSearch::name)).collect();
            (outcome.verdict.is_timed_out(), late, bounds(LargerBoundResult::NotTried).collect())
        }
        RunEvent::MutantsJudged(mutants) => {
            let judged = &mutants.judged;
            let late = judged.with_outcome(Outcome::Timeout).map(|mutant| mutant.name.clone());
            (judged.timed_out, late.collect(), judged.unjudged.clone())
        }
        RunEvent::MutantsSampled(sample) => {
            let late = sample.undecided.iter().filter(|mutant| mutant.outcome == Outcome::Timeout);
            (sample.check_timed_out, late.map(|mutant| mutant.name.clone()).collect(), sample.unjudged.clone())
        }
        _ => return None,
    };
    Some(Timing {
        node: entry.lifeline.clone(),
        branch_index: u32::try_from(branch_index).ok()?,
        attempt: entry.attempt,
        check_timed_out,
        timed_out,
        unjudged,
        open_points,
        too_many_states,
        larger_bounds,
    })
}

/// Whether the choice among the candidates was made without this answer, because it or the check of it came too late.
fn is_late(answer: &Entry, node: &str, entries: &[Entry]) -> bool {
    let stage = stage_of(node);
    let here = || entries.iter().filter(|entry| entry.rev == answer.rev);
    let was_received = || {
        here().filter_map(|entry| entry.event.try_as_candidate_received_ref()).any(|received| {
            (1..=MAX_CANDIDATES).contains(&received.candidate)
                && candidate_lifeline(received.candidate) == answer.lifeline
                && received.stage == stage
        })
    };
    is_parallel_lifeline(&answer.lifeline) && here().any(|entry| entry.event.is_candidate_chosen()) && !was_received()
}

fn stage_of(node: &str) -> Stage {
    match NodeName::parse(node) {
        Some(NodeName::Formalize) => Stage::Formalization,
        _ => Stage::Properties,
    }
}

/// Whether the quick check of a candidate's answer ran out of time.
fn check_timed_out(answer: &Entry, node: &str, entries: &[Entry]) -> bool {
    let here = entries.iter().filter(|entry| entry.rev == answer.rev && entry.lifeline == answer.lifeline);
    let stage = stage_of(node);
    let is_timed_out = |event: &RunEvent| match event {
        RunEvent::QuickCheckFinished(quick) => stage == Stage::Formalization && quick.timed_out,
        RunEvent::CheckFinished(check) => stage == Stage::Properties && check.outcome.verdict.is_timed_out(),
        _ => false,
    };
    is_parallel_lifeline(&answer.lifeline) && here.map(|entry| &entry.event).any(is_timed_out)
}

/// The revisions that led to the last one, including it. A revision follows the one before it, or the one that its branch
/// starts from.
fn lineage(entries: &[Entry]) -> Vec<u32> {
    let mut line: Vec<u32> = Vec::new();
    let mut known: Vec<Vec<u32>> = Vec::new();
    for entry in entries {
        if let RunEvent::BranchStarted(branch) = &entry.event {
            let parent = known.iter().find(|line| line.last() == Some(&branch.from));
            line = parent.cloned().unwrap_or_default();
        }
        if line.last() != Some(&entry.rev) {
            line.push(entry.rev);
            known.push(line.clone());
        }
    }
    line
}

//! Asks a model: each question once, and each answer is stored durably before it is used.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use tokio::sync::{OnceCell, Semaphore};

use super::recording_file::{RecordingFile, RecordingFileError};
use tlaforge_llm::{
    Answer, CallEvent, CallFailure, Caller, FailedCall, FailureKind, LlmError, Recorded, Request, RequestKey, Used,
};
use tlaforge_process::Cancel;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    #[error(transparent)]
    Llm(#[from] LlmError),
    #[error(transparent)]
    RecordingFile(#[from] RecordingFileError),
    /// An earlier question of the experiment failed, so this one was not asked.
    #[error("not asked: another question failed")]
    Halted,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The kind of the question: `judge`, `label`, `act` or `ahead`.
    pub node: &'static str,
    /// The number of the trace or episode, from 0.
    pub place: u32,
    /// The number of the part of the trace, or of the step of the episode, from 1.
    pub attempt: u32,
    /// The number of the sample, from 0, if the same question is asked several times.
    pub sample: u32,
    /// The purpose. It is a part of the key in recordings, so the words must not change.
    pub about: String,
    pub role: String,
    pub prompt: String,
    /// Used if the settings name no temperature.
    pub temperature: f64,
}

impl Question {
    /// The purpose without the setting: `about` up to the first comma.
    fn kind(&self) -> &str {
        self.about.split(',').next().unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub text: String,
    pub costs: Costs,
}

/// The costs of answers. A sum with an unknown part is unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    pub calls: usize,
    /// Tokens of all kinds; `None` if unknown.
    pub tokens: Option<u64>,
    /// `None` if unknown.
    pub cost_usd: Option<f64>,
}

impl Default for Costs {
    fn default() -> Self {
        Self { calls: 0, tokens: Some(0), cost_usd: Some(0.0) }
    }
}

impl Costs {
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            calls: self.calls + more.calls,
            tokens: self.tokens.zip(more.tokens).map(|(a, b)| a.saturating_add(b)),
            cost_usd: self.cost_usd.zip(more.cost_usd).map(|(a, b)| a + b),
        }
    }
}

pub type ReportProgress = Box<dyn Fn(&str) + Send + Sync>;

/// Asks a model, and remembers all answers.
pub struct Asker {
    caller: Caller,
    cancel: Cancel,
    workspace: PathBuf,
    recording: Option<Mutex<RecordingFile>>,
    answers: Mutex<HashMap<RequestKey, Arc<OnceCell<Reply>>>>,
    used: Mutex<Used>,
    halted: AtomicBool,
    max_concurrent: usize,
    slots: Semaphore,
    /// By kind of question: the number of answers of this process, and their total time.
    times: Mutex<BTreeMap<String, (usize, Duration)>>,
    report: ReportProgress,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Asker {
    /// Asks through `caller`, whose provider can read files in `workspace`. The `known` answers are not requested again, and
    /// count as used. New answers go to the recording, which a replay does not have. At most `max_concurrent` questions are
    /// open at the same time.
    pub fn new(
        caller: Caller,
        max_concurrent: usize,
        cancel: Cancel,
        workspace: PathBuf,
        recording: Option<RecordingFile>,
        known: Vec<Recorded>,
        report: ReportProgress,
    ) -> Self {
        let mut used = Used::default();
        let answers = known.into_iter().map(|recorded| {
            // Counted as used, so that a budget holds for an experiment that was interrupted.
            let costs = costs(recorded.usage.map(|usage| usage.total()), recorded.cost_usd);
            used.tokens = used.tokens.saturating_add(costs.tokens.unwrap_or(0));
            used.cost_usd += costs.cost_usd.unwrap_or(0.0);
            (recorded.key, Arc::new(OnceCell::new_with(Some(Reply { text: recorded.answer, costs }))))
        });
        let answers = Mutex::new(answers.collect());
        let (recording, times, halted) = (recording.map(Mutex::new), Mutex::default(), AtomicBool::new(false));
        // Shared by all experiments of a process, which run at the same time.
        let slots = Semaphore::new(max_concurrent.max(1));
        Self {
            caller,
            cancel,
            workspace,
            recording,
            answers,
            used: Mutex::new(used),
            halted,
            max_concurrent,
            slots,
            times,
            report,
        }
    }

    /// The answer to a question. Concurrent calls with the same question share one request.
    pub async fn ask(&self, question: &Question) -> Result<Reply, AskError> {
        let request = self.request(question);
        // The lock is held only to find the cell, not during the call.
        let cell = Arc::clone(locked(&self.answers).entry(request.key.clone()).or_default());
        let answered = cell.get_or_try_init(|| self.call(question, request)).await.cloned();
        if answered.is_err() {
            self.halted.store(true, Ordering::SeqCst);
        }
        answered
    }

    /// The key contains a hash of the wording, so that no answer is used for another question.
    fn request(&self, question: &Question) -> Request {
        let mut choice = self.caller.choice(question.node);
        // A temperature of the user wins over that of the paper.
        choice.temperature = choice.temperature.or(Some(question.temperature));
        let mut request = Request {
            key: RequestKey {
                node: question.node.to_owned(),
                branch_index: question.place,
                attempt: question.attempt,
                purpose: String::new(),
                sample: question.sample,
            },
            seq: 0,
            role: question.role.clone(),
            prompt: question.prompt.clone(),
            workspace: self.workspace.clone(),
            offered: Vec::new(),
            choice,
            schema: None,
        };
        let wording = request.wording().to_string();
        request.key.purpose = format!("{} #{}", question.about, &wording[..12]);
        // A handoff request has a folder with this number, so the number must depend only on the question.
        let number = tlaforge_journal::Sha::digest(request.key.to_string()).to_string();
        request.seq = u64::from_str_radix(&number[..10], 16).unwrap_or(0);
        request
    }

    async fn call(&self, question: &Question, request: Request) -> Result<Reply, AskError> {
        let _slot = self.slots.acquire().await.map_err(|_| AskError::Halted)?;
        // After the wait for a slot, because another question may have failed in the meantime.
        if self.halted.load(Ordering::SeqCst) {
            return Err(AskError::Halted);
        }
        let used = || *locked(&self.used);
        if self.caller.name() == "handoff" {
            (self.report)(&format!("waiting for handoff/{:04}-{}/answer.md", request.seq, question.node));
        }
        let mut notes = Vec::new();
        let began = Instant::now();
        let answer = {
            let mut on_note = |note: CallEvent| {
                if let CallEvent::Failed(FailedCall { message, .. }) = &note {
                    (self.report)(&format!("the call failed: {message}"));
                }
                notes.push(note);
            };
            self.caller.call(&request, &used, &self.cancel, &mut on_note).await
        };
        for note in notes {
            if let CallEvent::Failed(FailedCall { usage, cost_usd, estimated, .. }) = note {
                self.count(usage.map_or(0, |usage| usage.total()), cost_usd);
                self.count(estimated.map_or(0, |e| e.usage.total()), estimated.and_then(|e| e.cost_usd));
            }
        }
        let took = began.elapsed();
        let answer = match answer {
            Ok(answer) => {
                let estimated = self.caller.estimate(&request, &answer);
                self.count(answer.usage.map_or(0, |usage| usage.total()), answer.cost_usd);
                self.count(estimated.map_or(0, |e| e.usage.total()), estimated.and_then(|e| e.cost_usd));
                answer
            }
            Err(LlmError::Failed(failure)) if concerns_only_this_question(failure.kind) => empty_answer(&failure),
            Err(other) => return Err(other.into()),
        };
        // Before anyone uses it: an answer is paid for, and a kill must not lose it.
        self.record(&request, &answer)?;
        if self.caller.name() != "replay" {
            let mut times = locked(&self.times);
            let (calls, time) = times.entry(question.kind().to_owned()).or_default();
            (*calls, *time) = (*calls + 1, *time + took);
        }
        let costs = costs(answer.usage.map(|usage| usage.total()), answer.cost_usd);
        Ok(Reply { text: answer.text, costs })
    }

    fn count(&self, tokens: u64, cost_usd: Option<f64>) {
        let mut used = locked(&self.used);
        used.tokens = used.tokens.saturating_add(tokens);
        used.cost_usd += cost_usd.unwrap_or(0.0);
    }

    fn record(&self, request: &Request, answer: &Answer) -> Result<(), RecordingFileError> {
        let Some(recording) = &self.recording else { return Ok(()) };
        locked(recording).append(&Recorded {
            // The name in the request, because `check_model` compares it with the next request.
            model: request.choice.model.clone().or_else(|| answer.model.clone()),
            ..Recorded::new(request, answer, self.caller.name())
        })
    }

    /// By kind of question: the number of answers of this process, and their total time.
    pub fn times(&self) -> BTreeMap<String, (usize, Duration)> {
        locked(&self.times).clone()
    }
}

/// Whether a failure concerns only this question, so that others may be answered. The question then gets an empty answer,
/// which is recorded and counts as unreadable.
fn concerns_only_this_question(kind: FailureKind) -> bool {
    use FailureKind::{Empty, PromptTooLong, Refusal, ToolLoop, Truncated};
    matches!(kind, Empty | PromptTooLong | Refusal | ToolLoop | Truncated)
}

fn empty_answer(failure: &CallFailure) -> Answer {
    let why = serde_json::to_value(failure.kind).ok();
    Answer {
        text: String::new(),
        reads: Vec::new(),
        refused_reads: Vec::new(),
        usage: failure.usage,
        estimated: None,
        cost_usd: None,
        model: None,
        stale: false,
        changed_documents: Vec::new(),
        request_ids: Vec::new(),
        stop_reason: why.and_then(|why| why.as_str().map(str::to_owned)),
    }
}

fn costs(tokens: Option<u64>, cost_usd: Option<f64>) -> Costs {
    Costs { calls: 1, tokens, cost_usd }
}

impl Asker {
    /// Runs tasks concurrently, as many as questions can be open; returns their results in order. After a failure no new
    /// question is asked, but open ones are completed: they are paid for, and their answers are recorded.
    pub(super) async fn run_concurrently<T>(
        &self,
        work: impl IntoIterator<Item = impl Future<Output = Result<T, AskError>>>,
    ) -> Result<Vec<T>, AskError> {
        let numbered = work.into_iter().enumerate().map(|(i, unit)| async move { (i, unit.await) });
        let mut running = std::pin::pin!(stream::iter(numbered).buffer_unordered(self.max_concurrent.max(1)));
        let (mut done, mut failed) = (Vec::new(), None);
        while let Some((i, result)) = running.next().await {
            match result {
                Ok(value) => done.push((i, value)),
                // Report the error that halted the others, not that they were halted.
                Err(error) if matches!(failed, None | Some(AskError::Halted)) => failed = Some(error),
                Err(_) => {}
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        done.sort_by_key(|(i, _)| *i);
        Ok(done.into_iter().map(|(_, value)| value).collect())
    }
}

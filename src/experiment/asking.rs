//! Asking a model: each question once, and each answer durable before it is read.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use tokio::sync::{OnceCell, Semaphore};

use super::ledger::{Ledger, LedgerError};
use crate::llm::{
    Answer, CallEvent, CallFailure, Caller, FailedCall, FailureKind, LlmError, Recorded, Request, RequestKey, Used,
};
use crate::process::Cancel;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// Nobody answered.
    #[error(transparent)]
    Llm(#[from] LlmError),
    /// It could not be kept.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Another question of the experiment failed before, so this one was not asked.
    #[error("not asked: another question failed")]
    Halted,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// `judge`, `label`, `act`, `ahead`: what kind of question it is.
    pub node: &'static str,
    /// The trace or episode, from 0.
    pub place: u32,
    /// The part of the trace, or the step of the episode, from 1.
    pub attempt: u32,
    /// The sample, from 0, where the same is asked several times.
    pub candidate: u32,
    /// What for, in words that stay.
    pub about: String,
    /// The role instructions.
    pub role: String,
    /// The prompt.
    pub prompt: String,
    /// The temperature, where the settings name none.
    pub temperature: f64,
}

impl Question {
    /// What it is for, without the setting: the first words of `about`.
    fn kind(&self) -> &str {
        self.about.split(',').next().unwrap_or_default()
    }
}

/// What was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The text.
    pub text: String,
    /// What it took.
    pub spent: Spent,
}

/// What answers took. What nobody counted makes the sum unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    /// Answers.
    pub calls: usize,
    /// Tokens of all kinds.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

impl Default for Spent {
    fn default() -> Self {
        Self { calls: 0, tokens: Some(0), cost_usd: Some(0.0) }
    }
}

impl Spent {
    /// Both together.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        Self {
            calls: self.calls + more.calls,
            tokens: self.tokens.zip(more.tokens).map(|(a, b)| a.saturating_add(b)),
            cost_usd: self.cost_usd.zip(more.cost_usd).map(|(a, b)| a + b),
        }
    }
}

/// What is told while an experiment goes on.
pub type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// Who is asked, and what was answered so far.
pub struct Asker {
    caller: Caller,
    cancel: Cancel,
    workspace: PathBuf,
    ledger: Option<Mutex<Ledger>>,
    answers: Mutex<HashMap<RequestKey, Arc<OnceCell<Said>>>>,
    used: Mutex<Used>,
    halted: AtomicBool,
    at_a_time: usize,
    slots: Semaphore,
    /// Answers that came in this process, by kind of question, and how long they took.
    times: Mutex<BTreeMap<String, (usize, Duration)>>,
    tell: Tell,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Asker {
    /// Asks through `caller`, whose provider may read in `workspace`. `held` are answers that were given before: they are
    /// not asked for again, and count as used. New ones go to the ledger; a replay has none. At most `at_a_time` questions
    /// are open at once.
    pub fn new(
        caller: Caller,
        at_a_time: usize,
        cancel: Cancel,
        workspace: PathBuf,
        ledger: Option<Ledger>,
        held: Vec<Recorded>,
        tell: Tell,
    ) -> Self {
        let mut used = Used::default();
        let answers = held.into_iter().map(|recorded| {
            let spent = spent(recorded.usage.map(|usage| usage.total()), recorded.cost_usd);
            used.tokens = used.tokens.saturating_add(spent.tokens.unwrap_or(0));
            used.cost_usd += spent.cost_usd.unwrap_or(0.0);
            (recorded.key, Arc::new(OnceCell::new_with(Some(Said { text: recorded.answer, spent }))))
        });
        let answers = Mutex::new(answers.collect());
        let (ledger, times, halted) = (ledger.map(Mutex::new), Mutex::default(), AtomicBool::new(false));
        let slots = Semaphore::new(at_a_time.max(1));
        Self {
            caller,
            cancel,
            workspace,
            ledger,
            answers,
            used: Mutex::new(used),
            halted,
            at_a_time,
            slots,
            times,
            tell,
        }
    }

    /// The answer to a question. Who asks the same while it is being asked gets the same answer.
    pub async fn ask(&self, question: &Question) -> Result<Said, AskError> {
        let request = self.request(question);
        let cell = Arc::clone(locked(&self.answers).entry(request.key.clone()).or_default());
        let answered = cell.get_or_try_init(|| self.call(question, request)).await.cloned();
        if answered.is_err() {
            self.halted.store(true, Ordering::SeqCst);
        }
        answered
    }

    /// The key holds the wording: an answer is never taken for one to another question.
    fn request(&self, question: &Question) -> Request {
        let mut choice = self.caller.choice(question.node);
        choice.temperature = choice.temperature.or(Some(question.temperature));
        let mut request = Request {
            key: RequestKey {
                node: question.node.to_owned(),
                place: question.place,
                attempt: question.attempt,
                purpose: String::new(),
                candidate: question.candidate,
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
        // A request by handoff has a folder of this number: the same one whenever it is asked, and another for any other.
        let number = crate::journal::Sha::of(request.key.to_string()).to_string();
        request.seq = u64::from_str_radix(&number[..10], 16).unwrap_or(0);
        request
    }

    async fn call(&self, question: &Question, request: Request) -> Result<Said, AskError> {
        let _slot = self.slots.acquire().await.map_err(|_| AskError::Halted)?;
        if self.halted.load(Ordering::SeqCst) {
            return Err(AskError::Halted);
        }
        let used = || *locked(&self.used);
        if self.caller.name() == "handoff" {
            (self.tell)(&format!("waiting for handoff/{:04}-{}/answer.md", request.seq, question.node));
        }
        let mut failed = Vec::new();
        let began = Instant::now();
        let answer = {
            let mut each = |note: CallEvent| {
                if let CallEvent::Failed(FailedCall { message, .. }) = &note {
                    (self.tell)(&format!("the call failed: {message}"));
                }
                failed.push(note);
            };
            self.caller.call(&request, &used, &self.cancel, &mut each).await
        };
        for note in failed {
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
            Err(LlmError::Failed(failure)) if is_of_the_question(failure.kind) => nothing(&failure),
            Err(other) => return Err(other.into()),
        };
        self.keep(&request, &answer)?;
        if self.caller.name() != "replay" {
            let mut times = locked(&self.times);
            let (calls, time) = times.entry(question.kind().to_owned()).or_default();
            (*calls, *time) = (*calls + 1, *time + took);
        }
        let spent = spent(answer.usage.map(|usage| usage.total()), answer.cost_usd);
        Ok(Said { text: answer.text, spent })
    }

    fn count(&self, tokens: u64, cost_usd: Option<f64>) {
        let mut used = locked(&self.used);
        used.tokens = used.tokens.saturating_add(tokens);
        used.cost_usd += cost_usd.unwrap_or(0.0);
    }

    fn keep(&self, request: &Request, answer: &Answer) -> Result<(), LedgerError> {
        let Some(ledger) = &self.ledger else { return Ok(()) };
        locked(ledger).append(&Recorded {
            // By the name that it is asked for, so that nobody goes on with answers of another one.
            model: request.choice.model.clone().or_else(|| answer.model.clone()),
            ..Recorded::new(request, answer, self.caller.name())
        })
    }

    /// Answers that came in this process, by kind of question, and how long they took together.
    pub fn times(&self) -> BTreeMap<String, (usize, Duration)> {
        locked(&self.times).clone()
    }
}

/// Whether the model cannot answer this question, and may well answer others. Then it has said nothing, which is told and
/// recorded as an empty answer; whatever reads it counts it as unreadable.
fn is_of_the_question(kind: FailureKind) -> bool {
    use FailureKind::{Empty, PromptTooLong, Refusal, ToolLoop, Truncated};
    matches!(kind, Empty | PromptTooLong | Refusal | ToolLoop | Truncated)
}

fn nothing(failure: &CallFailure) -> Answer {
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
        request_ids: Vec::new(),
        stop_reason: why.and_then(|why| why.as_str().map(str::to_owned)),
    }
}

fn spent(tokens: Option<u64>, cost_usd: Option<f64>) -> Spent {
    Spent { calls: 1, tokens, cost_usd }
}

impl Asker {
    /// Does what asks, as much at a time as questions may be open; the results are in the order of the work. After a
    /// failure nothing new is asked, and what was being asked is waited for: it is paid, and will not have to be asked
    /// again.
    pub(super) async fn side_by_side<T>(
        &self,
        work: impl IntoIterator<Item = impl Future<Output = Result<T, AskError>>>,
    ) -> Result<Vec<T>, AskError> {
        let numbered = work.into_iter().enumerate().map(|(i, unit)| async move { (i, unit.await) });
        let mut going = std::pin::pin!(stream::iter(numbered).buffer_unordered(self.at_a_time.max(1)));
        let (mut done, mut failed) = (Vec::new(), None);
        while let Some((i, result)) = going.next().await {
            match result {
                Ok(value) => done.push((i, value)),
                // What halted the others tells more than that they were halted.
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

//! What the nodes share: a model to ask, tools to run, and a journal in which every answer is durable before anyone
//! reads it.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::intervene::taken;
use super::recording::recording_of;
use super::shelf::Shelf;
use super::workspace::lay_out;
use crate::journal::{Kind, Sha, write_atomically};
use crate::llm::{Answer, Caller, FailureKind, FileRead, LlmError, Note, Place, Request, RequestKey, Usage, Used};
use crate::pipeline::{
    AnswerFacts, AnswerLabels, AnswerNormalised, AnswerReceived, Attempt, CallFailed, Halt, ModelSwitched, NodeError,
    NodeName, ReadRefused, RequestPartOmitted, RequestSent, RunError, RunEvent, RunView, StopReason,
};
use crate::process::Cancel;
use crate::prompt::{PromptError, PromptLibrary, Readable, index_path};
use crate::toolchain::{Limits, Progress, ToolContext, ToolError, Toolchain};

/// Everything that a node works with.
pub struct Desk {
    /// What answers prompts.
    pub caller: Caller,
    /// What decides.
    pub toolchain: Box<dyn Toolchain>,
    /// What judges mutants, where something quicker than that is at hand.
    pub quick: Option<Box<dyn Toolchain>>,
    /// The prompts.
    pub prompts: PromptLibrary,
    /// Limits of tool runs.
    pub limits: Limits,
    /// Ends everything early.
    pub cancel: Cancel,
    /// Called as the checker reports.
    pub progress: Box<dyn Fn(Progress) + Send + Sync>,
    /// Where the answers are recorded.
    pub record: Option<PathBuf>,
    /// Modules that were read.
    pub shelf: Shelf,
}

/// A question to a model.
pub(super) struct Ask<'a> {
    /// `draft`, `repair`, `second_reading`.
    pub purpose: &'static str,
    /// The node in the request's key.
    pub node: &'static str,
    /// The template of the role.
    pub role: String,
    /// The template of the prompt.
    pub prompt: String,
    /// What the prompt is rendered with.
    pub data: Value,
    /// Files in the workspace besides the documents.
    pub files: Vec<(String, String)>,
    /// Whether the documents are offered.
    pub docs: bool,
    /// Whether the exemplars are offered.
    pub exemplars: bool,
    /// The JSON schema of the answer, for models that can be held to one.
    pub schema: Option<Value>,
    /// The attempt.
    pub attempt: &'a Attempt<'a>,
}

impl<'a> Ask<'a> {
    /// A question with the node's own role and its prompt of that purpose. Nothing is offered with it yet.
    pub(super) fn at(node: NodeName, purpose: &'static str, attempt: &'a Attempt<'a>) -> Self {
        let node = node.name();
        Self {
            purpose,
            node,
            role: format!("{node}/role"),
            prompt: format!("{node}/{purpose}"),
            data: json!({}),
            files: Vec::new(),
            docs: false,
            exemplars: false,
            schema: None,
            attempt,
        }
    }
}

/// An answer that is durable.
pub(super) struct Reply {
    /// Its text.
    pub text: String,
    /// Its artifact.
    pub sha: Sha,
    /// What the model read.
    pub reads: Vec<FileRead>,
    /// It comes from a recording.
    pub replayed: bool,
}

/// An answer, and the data of the event that made it durable.
pub(super) struct Sample {
    /// The answer.
    pub reply: Reply,
    /// The event.
    pub received: AnswerReceived,
    /// The labels that a model gave it, if rules ask for some.
    pub labels: Option<AnswerLabels>,
}

/// When rules see an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// As it comes: it is taken.
    AtOnce,
    /// If it is taken, which is decided later.
    IfTaken,
}

/// The one tool of a model.
const READ: &str = "Read";

/// The provider whose answers come from a recording.
const REPLAY: &str = "replay";

impl Desk {
    /// Asks, unless the answer is already in the journal.
    pub(super) async fn ask(&self, view: &RunView, ask: Ask<'_>) -> Result<Reply, NodeError> {
        let attempt = ask.attempt;
        let decided = attempt.recall(|event| match event {
            RunEvent::AnswerAccepted(a) if a.purpose == ask.purpose => Some((&a.artifact, &a.provider, &a.reads)),
            _ => None,
        });
        let offered = || {
            attempt.recall(|event| match event {
                RunEvent::AnswerOffered(a) if a.purpose == ask.purpose => Some((&a.artifact, &a.provider, &a.reads)),
                _ => None,
            })
        };
        let received = || {
            attempt.recall(|event| match event {
                RunEvent::AnswerReceived(a) if a.purpose == ask.purpose && a.pending_answer.is_none() => {
                    Some((&a.artifact, &a.provider, &a.reads))
                }
                _ => None,
            })
        };
        if let Some((artifact, provider, reads)) = decided.or_else(offered).or_else(received) {
            return self.recalled(artifact, provider, reads, attempt);
        }
        let request = self.request(view, ask)?;
        match attempt.run.intervention_settings() {
            // Whether it is taken is seen when the choice is made.
            None if attempt.candidate > 0 => Ok(self.sample(request, attempt, Seen::IfTaken).await?.reply),
            None => {
                let sample = self.sample(request, attempt, Seen::AtOnce).await?;
                // It came while a policy with interventions held it back, and that policy was taken away.
                attempt.run.append(taken(&sample, attempt).into_iter().collect())?;
                Ok(sample.reply)
            }
            Some(intervening) => self.ask_under_policy(request, attempt, &intervening).await,
        }
    }

    /// An answer of the journal.
    fn recalled(
        &self,
        artifact: &Sha,
        provider: &str,
        reads: &[FileRead],
        attempt: &Attempt<'_>,
    ) -> Result<Reply, NodeError> {
        // Killed between the two, the answer is in the journal and not in the recording.
        self.write_record(attempt)?;
        let text = attempt.run.store().text(artifact).map_err(RunError::from)?;
        Ok(Reply { text, sha: artifact.clone(), reads: reads.to_vec(), replayed: provider == REPLAY })
    }

    /// Lays the files out, and words the request.
    fn request(&self, view: &RunView, ask: Ask<'_>) -> Result<Request, NodeError> {
        let attempt = ask.attempt;
        let offered = lay_out(view, ask.attempt, ask.files.clone(), ask.docs, ask.exemplars)?;
        let mut data = ask.data.clone();
        if ask.docs {
            data["index"] = json!(index_path(view.settings.docs.iter().map(|d| d.path.as_str())));
        }
        let key = RequestKey {
            node: ask.node.to_owned(),
            place: attempt.place,
            attempt: attempt.attempt,
            purpose: ask.purpose.to_owned(),
            candidate: attempt.candidate,
        };
        Ok(Request {
            key,
            seq: 0,
            role: self.prompts.render(&ask.role, &json!({})).map_err(|e| prompt_trouble(&e))?,
            prompt: self.prompts.render(&ask.prompt, &data).map_err(|e| prompt_trouble(&e))?,
            workspace: attempt.workspace(),
            offered,
            choice: self.caller.choice(ask.node),
            schema: ask.schema,
        })
    }

    /// Whether a recording says that this candidate's answer came when the decision had been made.
    pub(super) fn comes_late(&self, attempt: &Attempt<'_>, node: NodeName) -> bool {
        self.caller.comes_late(&draft_key(attempt, node))
    }

    /// Whether the answers come from a recording. Every choice that depends on time is then made as the recording says,
    /// and never by the clock: another machine, or a busy one, must not choose otherwise.
    pub(super) fn replays(&self) -> bool {
        self.caller.name() == REPLAY
    }

    /// Has a request answered, unless the answer is already in the journal. `seen` says when rules see the answer.
    pub(super) async fn sample(
        &self,
        mut request: Request,
        attempt: &Attempt<'_>,
        seen: Seen,
    ) -> Result<Sample, NodeError> {
        let RequestKey { purpose, candidate, .. } = request.key.clone();
        let known = attempt.recall(|event| match event {
            RunEvent::AnswerReceived(a) if a.purpose == purpose && a.candidate == candidate => Some(a),
            _ => None,
        });
        if let Some(known) = known.filter(|known| !is_label(&purpose) || is_answer_to(known, &request, attempt)) {
            let reply = self.recalled(&known.artifact, &known.provider, &known.reads, attempt)?;
            return Ok(Sample { reply, received: known.clone(), labels: None });
        }
        let wording = request.wording();
        let place = self.place(&request, attempt).await?;
        // A request that was sent before a crash and not answered goes on under its number.
        let sent = attempt.recall_entry(|entry| match &entry.event {
            RunEvent::RequestSent(sent)
                if (sent.purpose.as_str(), sent.candidate) == (purpose.as_str(), candidate)
                    && sent.wording == wording
                    && sent.provider == self.caller.name() =>
            {
                Some(entry.seq)
            }
            _ => None,
        });
        request.seq = match sent {
            Some(seq) => seq,
            None => self.send(&request, attempt)?,
        };
        let started = std::time::Instant::now();
        let answer = self.call(place, &request, attempt).await?;
        note_refused(attempt, &answer.refused_reads)?;
        let estimated = self.caller.estimate(&request, &answer);
        let sha = attempt.keep(&answer.text)?;
        let facts = facts_of(&answer, &sha);
        let (answer_facts, pending_answer) = match seen {
            Seen::AtOnce => (Some(facts), None),
            Seen::IfTaken => (None, Some(facts)),
        };
        let received = AnswerReceived {
            purpose,
            candidate,
            request: request.seq,
            artifact: sha.clone(),
            provider: self.caller.name().to_owned(),
            model: answer.model,
            usage: answer.usage,
            cost_usd: answer.cost_usd,
            estimated,
            stale: answer.stale,
            reads: answer.reads.clone(),
            answer: answer_facts,
            pending_answer,
            seconds: started.elapsed().as_secs_f64(),
            request_ids: answer.request_ids,
        };
        attempt.record(Kind::Recv, RunEvent::AnswerReceived(received.clone()))?;
        self.write_record(attempt)?;
        let reply = Reply { text: answer.text, sha, reads: answer.reads, replayed: self.replays() };
        Ok(Sample { reply, received, labels: None })
    }

    /// A place for a call. Of a candidate, none is taken any more once what it is asked for has been decided.
    async fn place(&self, request: &Request, attempt: &Attempt<'_>) -> Result<Place<'_>, NodeError> {
        let ended = attempt.recall(|event| match event {
            RunEvent::CallFailed(CallFailed { purpose, failure, .. })
                if *purpose == request.key.purpose && failure.kind == FailureKind::Budget =>
            {
                Some(failure)
            }
            _ => None,
        });
        let before = ended.and_then(|failure| {
            let parts = [failure.usage, failure.estimated.map(|estimated| estimated.usage)];
            parts.into_iter().flatten().reduce(|a: Usage, b| a.plus(b))
        });
        let used = || {
            let spent = attempt.run.spent();
            let cost_usd = spent.cost_usd + spent.estimated_usd;
            let tokens = spent.tokens.saturating_add(spent.estimated_tokens);
            Used { cost_usd, tokens, before, ..Used::default() }
        };
        let place = self.caller.place(request, &used, &self.cancel);
        let place = match attempt.decided.clone() {
            None => place.await,
            Some(mut over) => tokio::select! {
                biased;
                over = over.wait_for(|over| *over) => return Err(not_asked(over.is_ok()).into()),
                place = place => place,
            },
        };
        Ok(place.map_err(|e| self.provider_trouble(&e))?)
    }

    /// Calls the model; what fails on the way is journaled before it is tried again.
    async fn call(&self, place: Place<'_>, request: &Request, attempt: &Attempt<'_>) -> Result<Answer, NodeError> {
        let mut trouble = None;
        let mut note = |note: Note| {
            if let Note::Failed(failure) = &note {
                trouble = trouble.take().or(note_refused(attempt, &failure.refused_reads).err());
            }
            let (purpose, request) = (request.key.purpose.clone(), request.seq);
            let (kind, event) = match note {
                Note::Failed(failure) => (Kind::Recv, RunEvent::CallFailed(CallFailed { purpose, request, failure })),
                Note::Switched(models) => {
                    (Kind::Choice, RunEvent::ModelSwitched(ModelSwitched { purpose, request, models }))
                }
                Note::LeftOut(left_out) => {
                    (Kind::Act, RunEvent::RequestPartOmitted(RequestPartOmitted { purpose, request, left_out }))
                }
            };
            trouble = trouble.take().or(attempt.record(kind, event).err());
        };
        let answer = self.caller.call_in(place, request, &self.cancel, &mut note).await;
        match trouble {
            Some(trouble) => Err(trouble.into()),
            None => Ok(answer.map_err(|e| self.provider_trouble(&e))?),
        }
    }

    /// Brings the recording up to date with the journal.
    pub(super) fn write_record(&self, attempt: &Attempt<'_>) -> Result<(), NodeError> {
        if let Some(path) = &self.record {
            let recording = recording_of(&attempt.run.entries(), attempt.run.store()).map_err(RunError::from)?;
            write_atomically(path, recording.render().as_bytes()).map_err(|source| RunError::Io {
                what: "write the recording",
                path: path.clone(),
                source,
            })?;
        }
        Ok(())
    }

    fn send(&self, request: &Request, attempt: &Attempt<'_>) -> Result<u64, NodeError> {
        let prompt = attempt.keep(&format!("{}\n\n{}", request.role, request.prompt))?;
        let sent = RequestSent {
            purpose: request.key.purpose.clone(),
            candidate: request.key.candidate,
            key: request.key.clone(),
            provider: self.caller.name().to_owned(),
            choice: request.choice.clone(),
            prompt,
            prompt_start: request.prompt.chars().take(80).collect(),
            wording: request.wording(),
            offered: request.offered.clone(),
        };
        Ok(attempt.record(Kind::Send, RunEvent::RequestSent(sent))?.seq)
    }

    /// The surroundings of a tool run.
    pub(super) fn tools(&self) -> ToolContext<'_> {
        ToolContext { limits: &self.limits, cancel: &self.cancel, progress: &*self.progress }
    }

    /// A model's failure, as a reason to stop.
    fn provider_trouble(&self, error: &LlmError) -> Halt {
        match error {
            LlmError::Cancelled => Halt::interrupted(),
            LlmError::Budget { .. } => Halt { reason: StopReason::Budget, message: error.to_string() },
            LlmError::Deadline => Halt { reason: StopReason::Deadline, message: error.to_string() },
            _ => {
                let unknown = matches!(error, LlmError::Failed(failure) if failure.kind == FailureKind::ModelNotFound);
                let reason = if unknown { StopReason::Settings } else { StopReason::Provider };
                Halt { reason, message: format!("{}: {error}", self.caller.name()) }
            }
        }
    }
}

/// The first request of a candidate at a node, as a recording names it.
pub(super) fn draft_key(attempt: &Attempt<'_>, node: NodeName) -> RequestKey {
    RequestKey {
        node: node.name().to_owned(),
        place: attempt.place,
        attempt: attempt.attempt,
        purpose: "draft".to_owned(),
        candidate: attempt.candidate,
    }
}

/// Labels are of the words and the text that were asked about, and of no others.
fn is_label(purpose: &str) -> bool {
    purpose.starts_with("label ") || purpose.starts_with("relabel ")
}

fn is_answer_to(answer: &AnswerReceived, request: &Request, attempt: &Attempt<'_>) -> bool {
    let wording = request.wording();
    let sent = attempt.recall_entry(|entry| match &entry.event {
        RunEvent::RequestSent(sent) if sent.wording == wording => Some(entry.seq),
        _ => None,
    });
    sent == Some(answer.request)
}

/// Why a candidate was not asked: the choice had been made, or the run stopped.
fn not_asked(chosen: bool) -> Halt {
    let why =
        if chosen { "the choice had been made before its turn came" } else { "the run stopped before its turn came" };
    Halt { reason: StopReason::Provider, message: why.to_owned() }
}

/// What rules can read of an answer. A model's one tool is `Read`, and whatever brought a file before it has read it.
fn facts_of(answer: &Answer, text: &Sha) -> AnswerFacts {
    let read = !answer.reads.is_empty() || !answer.refused_reads.is_empty();
    let tools = if read { vec![READ.to_owned()] } else { Vec::new() };
    AnswerFacts { text: text.clone(), tools, stop_reason: answer.stop_reason.clone(), labels: None }
}

/// Journals what the model tried to read outside the workspace.
fn note_refused(attempt: &Attempt<'_>, paths: &[String]) -> Result<(), RunError> {
    for path in paths {
        let refused = ReadRefused { path: path.clone(), why: "outside the workspace".to_owned() };
        attempt.record(Kind::Act, RunEvent::ReadRefused(refused))?;
    }
    Ok(())
}

/// What was read of an answer; what had to be set aside for that is journaled.
pub(super) fn as_read<T>(attempt: &Attempt<'_>, read: Readable<T>) -> Result<T, NodeError> {
    if !read.normalised.is_empty() && !attempt.has(RunEvent::is_answer_normalised) {
        let normalised = AnswerNormalised { removed: read.normalised };
        attempt.record(Kind::Act, RunEvent::AnswerNormalised(normalised))?;
    }
    Ok(read.value)
}

/// A tool's failure, as a reason to stop.
pub(super) fn tool_trouble(error: &ToolError) -> Halt {
    match error {
        ToolError::Cancelled => Halt::interrupted(),
        _ => Halt { reason: StopReason::Tool, message: error.to_string() },
    }
}

/// A schema that the program carries.
pub(super) fn schema_of(text: &str) -> Value {
    serde_json::from_str(text).expect("it is compiled in, and a test reads it")
}

pub(super) fn prompt_trouble(error: &PromptError) -> Halt {
    Halt { reason: StopReason::Provider, message: format!("{error}; mend the template and resume") }
}

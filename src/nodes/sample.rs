//! Gets one answer to one request: from the journal if it is already there, from the model otherwise. The journal holds
//! every answer before anything reads it, so that a resumed run does not pay for it again.

use super::context::{NodeContext, REPLAY};
use crate::journal::{Kind, Sha};
use crate::llm::{
    Answer, CallEvent, CallPermit, ChangedDocument, FailureKind, FileRead, Request, RequestKey, Usage, Used,
};
use crate::pipeline::{
    AnswerFacts, AnswerLabels, AnswerReceived, Attempt, CallFailed, Halt, ModelSwitched, NodeError, ReadRefused,
    RequestPartOmitted, RequestSent, RunError, RunEvent, StopReason,
};
use crate::prompt::show_control;

/// An answer that is durable.
pub(super) struct NodeAnswer {
    pub text: String,
    /// Its artifact.
    pub sha: Sha,
    /// The files that the model read.
    pub reads: Vec<FileRead>,
    /// Whether it comes from a recording.
    pub replayed: bool,
    /// The documents that differ from those that a recorded answer was given for.
    pub changed_documents: Vec<ChangedDocument>,
}

/// An answer, and the data of the event that made it durable.
pub(super) struct Sample {
    pub answer: NodeAnswer,
    pub received: AnswerReceived,
    /// The labels that a model gave it, if rules refer to any.
    pub labels: Option<AnswerLabels>,
}

/// When the rules of the policy see an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleVisibility {
    /// On arrival: the answer is accepted without a decision.
    OnArrival,
    /// Once it is accepted, which is decided later.
    OnceAccepted,
}

/// The only tool that a model has.
const READ: &str = "Read";

impl NodeContext {
    /// Gets the answer to a request, unless the journal holds it already.
    pub(super) async fn sample(
        &self,
        mut request: Request,
        attempt: &Attempt<'_>,
        visibility: RuleVisibility,
    ) -> Result<Sample, NodeError> {
        for text in [&mut request.role, &mut request.prompt] {
            *text = show_control(text).into_owned();
        }
        let RequestKey { purpose, sample, .. } = request.key.clone();
        let known = attempt.recall(|event| match event {
            RunEvent::AnswerReceived(a) if a.purpose == purpose && a.sample == sample => Some(a),
            _ => None,
        });
        // The purpose identifies a request, except for labels: the policy, and with it the question, can change between
        // two starts of a run.
        if let Some(known) = known.filter(|known| !is_label(&purpose) || is_answer_to(known, &request, attempt)) {
            let answer = self.recall_answer(&known.artifact, &known.provider, &known.reads, attempt)?;
            return Ok(Sample { answer, received: known.clone(), labels: None });
        }
        let wording = request.wording();
        // Before `request_sent`: a request that waits for its turn has not been sent, and may never be.
        let permit = self.acquire_permit(&request, attempt).await?;
        // A request that was sent before a crash and not answered keeps its number.
        let sent = attempt.recall_entry(|entry| match &entry.event {
            RunEvent::RequestSent(sent)
                if (sent.purpose.as_str(), sent.sample) == (purpose.as_str(), sample)
                    && sent.wording == wording
                    && sent.provider == self.caller.name() =>
            {
                Some(entry.seq)
            }
            _ => None,
        });
        request.seq = match sent {
            Some(seq) => seq,
            None => self.record_request(&request, attempt)?,
        };
        let started = std::time::Instant::now();
        let answer = self.call_model(permit, &request, attempt).await?;
        record_refused_reads(attempt, &answer.refused_reads)?;
        let estimated = self.caller.estimate(&request, &answer);
        // The artifact is stored before the event that names it.
        let sha = attempt.keep(&answer.text)?;
        let facts = answer_facts(&answer, &sha);
        let (visible, pending) = match visibility {
            RuleVisibility::OnArrival => (Some(facts), None),
            RuleVisibility::OnceAccepted => (None, Some(facts)),
        };
        let received = AnswerReceived {
            purpose,
            sample,
            request: request.seq,
            artifact: sha.clone(),
            provider: self.caller.name().to_owned(),
            model: answer.model,
            usage: answer.usage,
            cost_usd: answer.cost_usd,
            estimated,
            stale: answer.stale,
            changed_documents: answer.changed_documents.clone(),
            reads: answer.reads.clone(),
            answer: visible,
            pending_answer: pending,
            seconds: started.elapsed().as_secs_f64(),
            request_ids: answer.request_ids,
        };
        attempt.record(Kind::Recv, RunEvent::AnswerReceived(received.clone()))?;
        self.write_recording(attempt)?;
        let Answer { text, reads, changed_documents, .. } = answer;
        let answer = NodeAnswer { text, sha, reads, replayed: self.is_replay(), changed_documents };
        Ok(Sample { answer, received, labels: None })
    }

    /// An answer that the journal holds.
    pub(super) fn recall_answer(
        &self,
        artifact: &Sha,
        provider: &str,
        reads: &[FileRead],
        attempt: &Attempt<'_>,
    ) -> Result<NodeAnswer, NodeError> {
        // If the run was killed between the two writes, the journal holds the answer and the recording lacks it.
        self.write_recording(attempt)?;
        let text = attempt.run.store().text(artifact).map_err(RunError::from)?;
        let received = attempt.recall(|event| match event {
            RunEvent::AnswerReceived(received) if received.artifact == *artifact => Some(&received.changed_documents),
            _ => None,
        });
        Ok(NodeAnswer {
            text,
            sha: artifact.clone(),
            reads: reads.to_vec(),
            replayed: provider == REPLAY,
            changed_documents: received.cloned().unwrap_or_default(),
        })
    }

    /// Waits for a place among the calls under way. A candidate stops waiting as soon as another candidate is chosen.
    async fn acquire_permit(&self, request: &Request, attempt: &Attempt<'_>) -> Result<CallPermit<'_>, NodeError> {
        let over_budget = attempt.recall(|event| match event {
            RunEvent::CallFailed(CallFailed { purpose, failure, .. })
                if *purpose == request.key.purpose && failure.failure == FailureKind::Budget =>
            {
                Some(failure)
            }
            _ => None,
        });
        let before = over_budget.and_then(|failure| {
            let parts = [failure.usage, failure.estimated.map(|estimated| estimated.usage)];
            parts.into_iter().flatten().reduce(|a: Usage, b| a.plus(b))
        });
        let used = || {
            let spent = attempt.run.spent();
            let cost_usd = spent.cost_usd + spent.estimated_usd;
            let tokens = spent.tokens.saturating_add(spent.estimated_tokens);
            Used { cost_usd, tokens, before, ..Used::default() }
        };
        let permit = self.caller.acquire(request, &used, &self.cancel);
        let permit = match attempt.decided.clone() {
            None => permit.await,
            // Biased: once a candidate is chosen, no call begins that nothing would use, even if a place is free.
            Some(mut over) => tokio::select! {
                biased;
                over = over.wait_for(|over| *over) => return Err(not_called(over.is_ok()).into()),
                permit = permit => permit,
            },
        };
        Ok(permit.map_err(|e| self.halt_for_provider(&e))?)
    }

    /// Calls the model. Each failed try is in the journal before the next one begins.
    async fn call_model(
        &self,
        permit: CallPermit<'_>,
        request: &Request,
        attempt: &Attempt<'_>,
    ) -> Result<Answer, NodeError> {
        let mut trouble = None;
        let mut note = |note: CallEvent| {
            if let CallEvent::Failed(failure) = &note {
                trouble = trouble.take().or(record_refused_reads(attempt, &failure.refused_reads).err());
            }
            let (purpose, request) = (request.key.purpose.clone(), request.seq);
            let (kind, event) = match note {
                CallEvent::Failed(failure) => {
                    (Kind::Recv, RunEvent::CallFailed(CallFailed { purpose, request, failure }))
                }
                CallEvent::Switched(models) => {
                    (Kind::Choice, RunEvent::ModelSwitched(ModelSwitched { purpose, request, models }))
                }
                CallEvent::LeftOut(left_out) => {
                    (Kind::Act, RunEvent::RequestPartOmitted(RequestPartOmitted { purpose, request, left_out }))
                }
            };
            // The callback cannot fail, so the first error is kept and ends the call afterwards.
            trouble = trouble.take().or(attempt.record(kind, event).err());
        };
        let answer = self.caller.call_with_permit(permit, request, &self.cancel, &mut note).await;
        match trouble {
            Some(trouble) => Err(trouble.into()),
            None => Ok(answer.map_err(|e| self.halt_for_provider(&e))?),
        }
    }

    /// Journals `request_sent` and returns its number.
    fn record_request(&self, request: &Request, attempt: &Attempt<'_>) -> Result<u64, NodeError> {
        let prompt = attempt.keep(&format!("{}\n\n{}", request.role, request.prompt))?;
        let sent = RequestSent {
            purpose: request.key.purpose.clone(),
            sample: request.key.sample,
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
}

fn is_label(purpose: &str) -> bool {
    purpose.starts_with("label ") || purpose.starts_with("relabel ")
}

/// Whether an answer was given to exactly this wording.
fn is_answer_to(answer: &AnswerReceived, request: &Request, attempt: &Attempt<'_>) -> bool {
    let wording = request.wording();
    let sent = attempt.recall_entry(|entry| match &entry.event {
        RunEvent::RequestSent(sent) if sent.wording == wording => Some(entry.seq),
        _ => None,
    });
    sent == Some(answer.request)
}

/// Why a candidate's model was not called.
fn not_called(chosen: bool) -> Halt {
    let why = if chosen {
        "another candidate was chosen before its turn came"
    } else {
        "the run stopped before its turn came"
    };
    Halt { reason: StopReason::Provider, message: why.to_owned() }
}

/// The facts about an answer that rules can read. Reading files is a model's only tool, so any attempt to read, allowed
/// or refused, counts as its use, whichever provider carried it out.
fn answer_facts(answer: &Answer, text: &Sha) -> AnswerFacts {
    let read = !answer.reads.is_empty() || !answer.refused_reads.is_empty();
    let tools = if read { vec![READ.to_owned()] } else { Vec::new() };
    AnswerFacts { text: text.clone(), tools, stop_reason: answer.stop_reason.clone(), labels: None }
}

/// Journals the model's attempts to read outside the workspace.
fn record_refused_reads(attempt: &Attempt<'_>, paths: &[String]) -> Result<(), RunError> {
    for path in paths {
        let refused = ReadRefused { path: path.clone(), why: "outside the workspace".to_owned() };
        attempt.record(Kind::Act, RunEvent::ReadRefused(refused))?;
    }
    Ok(())
}

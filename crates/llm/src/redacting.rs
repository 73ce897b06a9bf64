//! A wrapper around a provider that redacts keys from its answers and failures, in case the server, the program or the
//! model repeats them.

use super::call_state::CallState;
use super::failure::CallFailure;
use super::provider::{Answer, AnswerFuture, LlmError, Provider, Request, RequestKey, Timing};
use super::secret::{Secret, redact_marked_keys};
use tlaforge_process::Cancel;

/// A provider that redacts secrets.
pub struct RedactingProvider {
    inner: Box<dyn Provider>,
    secrets: Vec<Secret>,
}

impl RedactingProvider {
    /// Redacts these secrets, and everything that looks like an Anthropic key.
    pub fn new(inner: Box<dyn Provider>, secrets: Vec<Secret>) -> Self {
        Self { inner, secrets }
    }

    fn redact(&self, text: &str) -> String {
        redact_marked_keys(&self.secrets.iter().fold(text.to_owned(), |text, secret| secret.redact_pieces(&text)))
    }

    fn redact_answer(&self, answer: Answer) -> Answer {
        let all = |texts: Vec<String>| texts.iter().map(|text| self.redact(text)).collect();
        Answer {
            // Only whole keys: redacting pieces could damage the text of the answer.
            text: self.secrets.iter().fold(answer.text, |text, secret| secret.redact_whole(&text)),
            refused_reads: all(answer.refused_reads),
            model: answer.model.map(|model| self.redact(&model)),
            request_ids: all(answer.request_ids),
            stop_reason: answer.stop_reason.map(|reason| self.redact(&reason)),
            ..answer
        }
    }

    fn redact_result(&self, answer: Result<Answer, LlmError>) -> Result<Answer, LlmError> {
        match answer {
            Ok(answer) => Ok(self.redact_answer(answer)),
            Err(LlmError::Failed(failure)) => Err(self.redact_failure(failure).into()),
            Err(other) => Err(other),
        }
    }

    fn redact_failure(&self, failure: CallFailure) -> CallFailure {
        CallFailure {
            message: self.redact(&failure.message),
            request_id: failure.request_id.map(|id| self.redact(&id)),
            refused_reads: failure.refused_reads.iter().map(|path| self.redact(path)).collect(),
            ..failure
        }
    }
}

impl Provider for RedactingProvider {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn key_fingerprint(&self) -> Option<String> {
        self.inner.key_fingerprint()
    }

    fn comes_late(&self, key: &RequestKey) -> bool {
        self.inner.comes_late(key)
    }

    fn check_timed_out(&self, key: &RequestKey) -> bool {
        self.inner.check_timed_out(key)
    }

    fn answers(&self, purpose: &str) -> bool {
        self.inner.answers(purpose)
    }

    fn has_answer(&self, key: &RequestKey) -> bool {
        self.inner.has_answer(key)
    }

    fn normative_words(&self) -> Option<&[String]> {
        self.inner.normative_words()
    }

    fn timing(&self, node: &str, branch_index: u32, attempt: u32) -> Option<&Timing> {
        self.inner.timing(node, branch_index, attempt)
    }

    fn ask<'a>(&'a self, request: &'a Request, cancel: &'a Cancel) -> AnswerFuture<'a> {
        Box::pin(async move { self.redact_result(self.inner.ask(request, cancel).await) })
    }

    fn ask_with<'a>(&'a self, request: &'a Request, state: &'a CallState, cancel: &'a Cancel) -> AnswerFuture<'a> {
        Box::pin(async move {
            let answer = self.inner.ask_with(request, state, cancel).await;
            state.redact(|text| self.redact(text));
            self.redact_result(answer)
        })
    }
}

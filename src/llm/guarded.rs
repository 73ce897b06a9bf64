//! A provider whose answers and failures show no key, whatever the server, the program or the model repeats.

use super::contract::{Answer, Asking, LlmError, Provider, Request, RequestKey, Timing};
use super::failure::CallFailure;
use super::secret::{Secret, without_marked};
use super::terms::Terms;
use crate::process::Cancel;

/// A provider behind which no secret comes out.
pub struct Guarded {
    inner: Box<dyn Provider>,
    secrets: Vec<Secret>,
}

impl Guarded {
    /// Keeps these secrets in, and everything that is marked as one.
    pub fn new(inner: Box<dyn Provider>, secrets: Vec<Secret>) -> Self {
        Self { inner, secrets }
    }

    fn scrub(&self, text: &str) -> String {
        without_marked(&self.secrets.iter().fold(text.to_owned(), |text, secret| secret.scrub(&text)))
    }

    fn answer(&self, answer: Answer) -> Answer {
        let all = |texts: Vec<String>| texts.iter().map(|text| self.scrub(text)).collect();
        Answer {
            text: self.secrets.iter().fold(answer.text, |text, secret| secret.hide(&text)),
            refused_reads: all(answer.refused_reads),
            model: answer.model.map(|model| self.scrub(&model)),
            request_ids: all(answer.request_ids),
            stop_reason: answer.stop_reason.map(|reason| self.scrub(&reason)),
            ..answer
        }
    }

    fn clean(&self, answer: Result<Answer, LlmError>) -> Result<Answer, LlmError> {
        match answer {
            Ok(answer) => Ok(self.answer(answer)),
            Err(LlmError::Failed(failure)) => Err(self.failure(failure).into()),
            Err(other) => Err(other),
        }
    }

    fn failure(&self, failure: CallFailure) -> CallFailure {
        CallFailure {
            message: self.scrub(&failure.message),
            request_id: failure.request_id.map(|id| self.scrub(&id)),
            refused_reads: failure.refused_reads.iter().map(|path| self.scrub(path)).collect(),
            ..failure
        }
    }
}

impl Provider for Guarded {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn comes_late(&self, key: &RequestKey) -> bool {
        self.inner.comes_late(key)
    }

    fn check_timed_out(&self, key: &RequestKey) -> bool {
        self.inner.check_timed_out(key)
    }

    fn timing(&self, node: &str, place: u32, attempt: u32) -> Option<&Timing> {
        self.inner.timing(node, place, attempt)
    }

    fn ask<'a>(&'a self, request: &'a Request, cancel: &'a Cancel) -> Asking<'a> {
        Box::pin(async move { self.clean(self.inner.ask(request, cancel).await) })
    }

    fn ask_under<'a>(&'a self, request: &'a Request, terms: &'a Terms, cancel: &'a Cancel) -> Asking<'a> {
        Box::pin(async move {
            let answer = self.inner.ask_under(request, terms, cancel).await;
            terms.clean(|text| self.scrub(text));
            self.clean(answer)
        })
    }
}

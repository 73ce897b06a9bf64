//! A span of work that may be abandoned.

use tracing::Span;

/// A span that records the error `cancelled` if this is dropped before [`UnfinishedSpan::finish`]: abandoned work is a dropped
/// future. The span needs a field `error`.
#[derive(Debug)]
pub struct UnfinishedSpan {
    span: Span,
    is_finished: bool,
}

impl UnfinishedSpan {
    pub fn new(span: Span) -> Self {
        Self { span, is_finished: false }
    }

    pub fn span(&self) -> &Span {
        &self.span
    }

    /// The work has a result, or an error of its own, which the caller records.
    pub fn finish(mut self) -> Span {
        self.is_finished = true;
        self.span.clone()
    }
}

impl Drop for UnfinishedSpan {
    fn drop(&mut self) {
        if !self.is_finished {
            self.span.record("error", "cancelled");
        }
    }
}

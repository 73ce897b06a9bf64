//! What is wrong with guards, events and messages.

use super::super::readings::UnsupportedError;

/// Why guards cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// A future operator, a quantity, or a lifeline that does not exist.
    #[error("{}{why}", .guard.as_ref().map_or_else(String::new, |guard| format!("in guard {guard}: ")))]
    Unsupported {
        /// Which guard, from 1; none where there is only one.
        guard: Option<usize>,
        /// What is wrong.
        why: UnsupportedError,
    },
    /// Two lifelines with one name.
    #[error("the lifeline `{0}` is named twice")]
    DuplicateLifeline(String),
    /// A guard larger or deeper than can be told apart by its text.
    #[error("guard {guard} is too large: {what}")]
    TooLarge {
        /// Which guard, from 1.
        guard: usize,
        /// What there is too much of.
        what: String,
    },
}

/// Why an event was refused. EmptyRecord has changed then: no clock has moved, no view and no variable was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CausalError {
    /// The event's lifeline, or the receiver of its message, does not exist.
    #[error("unknown lifeline `{lifeline}` (known: {known})")]
    Lifeline {
        /// Its name.
        lifeline: String,
        /// Those that exist.
        known: String,
    },
    /// A message that is under way is sent again.
    #[error("message `{0}` is sent while one of this name is under way")]
    SentTwice(String),
    /// A message is received that is not under way.
    #[error("message `{0}` is received, but none of this name is under way")]
    NotSent(String),
    /// A message arrives elsewhere than it was sent to.
    #[error("message `{message}` to `{to}` is received at `{at}`")]
    WrongReceiver {
        /// The message.
        message: String,
        /// Where it was sent.
        to: String,
        /// Where it arrived.
        at: String,
    },
    /// A lifeline sends to itself or receives from itself.
    #[error("`{0}` exchanges a message with itself")]
    ToItself(String),
    /// A message carries the views of other guards.
    #[error("the message was stamped for other guards: {0}")]
    OtherGuards(String),
    /// A message knows events of the receiver that the receiver does not: one of the two was not rebuilt to its end.
    #[error("the message has seen {claimed} events of `{lifeline}`, which has had {had}")]
    Ahead {
        /// The receiver.
        lifeline: String,
        /// How many of its events the message has seen.
        claimed: u64,
        /// How many it has had.
        had: u64,
    },
    /// An event's clock does not follow from those before it.
    #[error("the clock of an event of `{lifeline}` counts {claimed} of `{of}`, where {expected} was expected")]
    Clock {
        /// Whose event it is.
        lifeline: String,
        /// Whose count is wrong.
        of: String,
        /// What it says.
        claimed: u64,
        /// What it could say.
        expected: String,
    },
}

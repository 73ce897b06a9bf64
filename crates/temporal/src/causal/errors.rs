//! Errors of guards, events and messages.

use super::super::readings::UnsupportedError;

/// Why guards cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// A guard has a future operator, a quantity, or an unknown lifeline.
    #[error("{}{why}", .guard.as_ref().map_or_else(String::new, |guard| format!("in guard {guard}: ")))]
    Unsupported {
        /// The number of the guard, from 1; `None` if there is only one.
        guard: Option<usize>,
        /// The operator or lifeline that is refused.
        why: UnsupportedError,
    },
    /// Two lifelines have the same name.
    #[error("the lifeline `{0}` is named twice")]
    DuplicateLifeline(String),
    /// A guard exceeds [`MAX_GUARD_SIZE`](super::MAX_GUARD_SIZE) or the maximum depth.
    #[error("guard {guard} is too large: {what}")]
    TooLarge {
        /// The number of the guard, from 1.
        guard: usize,
        /// The exceeded limit, as a clause: "it nests deeper than 1000".
        what: String,
    },
}

/// Why an event was refused. A refused event changes no clock, variable or exported value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CausalError {
    /// The lifeline of the event, or the receiver of its message, does not exist.
    #[error("unknown lifeline `{lifeline}` (known: {known})")]
    Lifeline {
        /// The name that the guards do not have.
        lifeline: String,
        /// The lifelines that the guards have, separated by commas.
        known: String,
    },
    /// A message is sent while one of the same name is in transit.
    #[error("message `{0}` is sent while another message of this name is in transit")]
    SentTwice(String),
    /// A message is received that is not in transit.
    #[error("message `{0}` is received, but no message of this name is in transit")]
    NotSent(String),
    /// A message is received at another lifeline than it was sent to.
    #[error("message `{message}` to `{to}` is received at `{at}`")]
    WrongReceiver {
        /// The name of the message.
        message: String,
        /// The lifeline that it was sent to.
        to: String,
        /// The lifeline that received it.
        at: String,
    },
    /// A lifeline sends a message to itself or receives its own.
    #[error("`{0}` exchanges a message with itself")]
    ToItself(String),
    /// The stamp of a message belongs to other guards.
    #[error("the message was stamped for other guards: {0}")]
    OtherGuards(String),
    /// A message has seen more events of the receiver than the receiver had. This happens if the receiver's state was
    /// rebuilt incompletely.
    #[error("the message has seen {claimed} events of `{lifeline}`, which has had {had}")]
    Ahead {
        /// The receiver of the message.
        lifeline: String,
        /// The number of its events that the message has seen.
        claimed: u64,
        /// The number of its events.
        had: u64,
    },
    /// The clock of an event is inconsistent with earlier events.
    #[error("the clock of an event of `{lifeline}` counts {claimed} events of `{counted}`, expected {expected}")]
    Clock {
        /// The lifeline of the event.
        lifeline: String,
        /// The lifeline whose count is wrong.
        counted: String,
        /// The count in the clock.
        claimed: u64,
        /// The possible counts: one number, or "2 to 5".
        expected: String,
    },
}

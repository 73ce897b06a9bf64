//! Events of a message sequence chart (Definition 1 of the paper).

use std::sync::Arc;

use super::super::atom::Literal;
use super::errors::CausalError;

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A local action: nothing is sent or received.
    Act,
    /// A choice of the lifeline, at which guards are evaluated.
    Choice,
    /// The lifeline sends a message.
    Send,
    /// The lifeline receives a message.
    Recv,
}

impl EventKind {
    /// The value of the field `kind` in formulas: `act`, `choice`, `send`, `recv`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Choice => "choice",
            Self::Send => "send",
            Self::Recv => "recv",
        }
    }
}

/// What happens at an event: its kind, and the message that it sends or receives.
///
/// # Examples
/// A message to any lifeline, and one from a lifeline that is not monitored, have no shorthand in [`Event`]:
/// ```
/// use tlaforge_temporal::Formulas;
/// use tlaforge_temporal::causal::{EmptyRecord, Event, EventAction, Guards, Monitor};
///
/// let mut formulas = Formulas::new();
/// let guard = formulas.parse("Seen@a")?;
/// let mut monitor = Monitor::new(&Guards::new(&formulas, &[guard], &["a", "b"])?);
///
/// let broadcast = EventAction::Send { to: None, message: "m".into() };
/// monitor.on_event(&Event::new("a", broadcast), &EmptyRecord)?;
/// let unmonitored = EventAction::Recv { message: None };
/// assert!(!monitor.on_event(&Event::new("b", unmonitored), &EmptyRecord)?.holds(0));
/// let received = EventAction::Recv { message: Some("m".into()) };
/// assert!(monitor.on_event(&Event::new("b", received), &EmptyRecord)?.holds(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventAction {
    /// A local action: nothing is sent or received.
    Act,
    /// A choice of the lifeline, at which guards are evaluated.
    Choice,
    /// The lifeline sends a message.
    Send {
        /// The receiver; `None` if any lifeline may receive the message.
        to: Option<Arc<str>>,
        /// The name of the message, unique among messages in transit.
        message: Arc<str>,
    },
    /// The lifeline receives a message.
    Recv {
        /// The name of the message; `None` if it comes from an unmonitored sender and so carries no knowledge.
        message: Option<Arc<str>>,
    },
}

impl EventAction {
    /// The kind of the event, without its message.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Act => EventKind::Act,
            Self::Choice => EventKind::Choice,
            Self::Send { .. } => EventKind::Send,
            Self::Recv { .. } => EventKind::Recv,
        }
    }
}

/// One event of a lifeline.
///
/// # Examples
/// ```
/// use tlaforge_temporal::Literal;
/// use tlaforge_temporal::causal::{Event, EventKind};
///
/// let event = Event::act("tester").named("passed").with("runs", Literal::Integer(3));
/// assert_eq!(event.action.kind(), EventKind::Act);
/// assert_eq!((event.action.kind().name(), event.name.as_deref()), ("act", Some("passed")));
/// assert_eq!(event.updates.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The lifeline of the event.
    pub lifeline: Arc<str>,
    /// What happens at the event.
    pub action: EventAction,
    /// The value of the field `name` at this event.
    pub name: Option<Arc<str>>,
    /// Assignments to variables of the lifeline, effective from this event on.
    pub updates: Vec<(Arc<str>, Literal)>,
}

impl Event {
    /// An event without a name and assignments.
    pub fn new(lifeline: &str, action: EventAction) -> Self {
        Self { lifeline: lifeline.into(), action, name: None, updates: Vec::new() }
    }

    /// A local action: it sends and receives nothing.
    pub fn act(lifeline: &str) -> Self {
        Self::new(lifeline, EventAction::Act)
    }

    /// A choice: the lifeline branches, or begins a round of a loop, by the values of guards.
    pub fn choice(lifeline: &str) -> Self {
        Self::new(lifeline, EventAction::Choice)
    }

    /// Sends a message to the lifeline `to`. Names are unique among the messages in transit.
    pub fn send(lifeline: &str, to: &str, message: &str) -> Self {
        Self::new(lifeline, EventAction::Send { to: Some(to.into()), message: message.into() })
    }

    /// Receives the message of this name.
    pub fn recv(lifeline: &str, message: &str) -> Self {
        Self::new(lifeline, EventAction::Recv { message: Some(message.into()) })
    }

    /// Adds an assignment to a variable of the lifeline.
    #[must_use]
    pub fn with(mut self, variable: &str, value: Literal) -> Self {
        self.updates.push((variable.into(), value));
        self
    }

    /// Sets the name of the event, which atoms read as the field `name`.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// Checks that a message from `from`, sent to `to` or to anyone, may be received at `at`.
pub(super) fn check_delivery(message: &str, from: &str, to: Option<&str>, at: &str) -> Result<(), CausalError> {
    if from == at {
        return Err(CausalError::ToItself(at.to_owned()));
    }
    match to {
        Some(to) if to != at => {
            Err(CausalError::WrongReceiver { message: message.to_owned(), to: to.to_owned(), at: at.to_owned() })
        }
        _ => Ok(()),
    }
}

//! Events of a message sequence chart (Definition 1 of the paper).

use std::sync::Arc;

use super::super::atom::Literal;
use super::errors::CausalError;

/// What an event is to its lifeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A local action.
    Act,
    /// The lifeline decides.
    Choice,
    /// A message leaves.
    Send,
    /// A message arrives.
    Recv,
}

impl EventKind {
    /// What the field `kind` tells.
    pub fn name(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Choice => "choice",
            Self::Send => "send",
            Self::Recv => "recv",
        }
    }
}

/// What an event is to its lifeline, and which message it sends or receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventAction {
    /// A local action.
    Act,
    /// The lifeline decides.
    Choice,
    /// A message leaves.
    Send {
        /// Its receiver; `None`: whoever receives it.
        to: Option<Arc<str>>,
        /// Its name, which no other message has while this one is under way.
        message: Arc<str>,
    },
    /// A message arrives.
    Recv {
        /// Its name; `None`: it came from outside, and tells nothing of other lifelines.
        message: Option<Arc<str>>,
    },
}

impl EventAction {
    /// What it is to its lifeline.
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
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Whose it is.
    pub lifeline: Arc<str>,
    /// What it is.
    pub action: EventAction,
    /// What the field `name` tells at this event.
    pub name: Option<Arc<str>>,
    /// Variables of the lifeline that have a new value from here on.
    pub updates: Vec<(Arc<str>, Literal)>,
}

impl Event {
    /// An event that changes nothing.
    pub fn new(lifeline: &str, action: EventAction) -> Self {
        Self { lifeline: lifeline.into(), action, name: None, updates: Vec::new() }
    }

    /// A local action.
    pub fn act(lifeline: &str) -> Self {
        Self::new(lifeline, EventAction::Act)
    }

    /// A decision.
    pub fn choice(lifeline: &str) -> Self {
        Self::new(lifeline, EventAction::Choice)
    }

    /// A message leaves.
    pub fn send(lifeline: &str, to: &str, message: &str) -> Self {
        Self::new(lifeline, EventAction::Send { to: Some(to.into()), message: message.into() })
    }

    /// A message arrives.
    pub fn recv(lifeline: &str, message: &str) -> Self {
        Self::new(lifeline, EventAction::Recv { message: Some(message.into()) })
    }

    /// The same event, after which the variable has this value.
    #[must_use]
    pub fn with(mut self, variable: &str, value: Literal) -> Self {
        self.updates.push((variable.into(), value));
        self
    }

    /// The same event under a name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// Whether a message may arrive at a lifeline.
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

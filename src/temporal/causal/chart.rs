//! Message sequence charts: events on lifelines, and the messages between them. Definition 1.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::atom::Literal;
use super::errors::{CausalError, GuardError};
use super::guards::Guards;
use super::monitor::{Monitor, Nothing};

/// What an event is to its lifeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A local action.
    Act,
    /// The lifeline decides.
    Choice,
    /// A message leaves.
    Send,
    /// A message arrives.
    Recv,
}

impl Kind {
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
pub enum Step {
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

impl Step {
    /// What it is to its lifeline.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Act => Kind::Act,
            Self::Choice => Kind::Choice,
            Self::Send { .. } => Kind::Send,
            Self::Recv { .. } => Kind::Recv,
        }
    }
}

/// One event of a lifeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Whose it is.
    pub lifeline: Arc<str>,
    /// What it is.
    pub step: Step,
    /// What the field `name` tells at this event.
    pub name: Option<Arc<str>>,
    /// Variables of the lifeline that have a new value from here on.
    pub updates: Vec<(Arc<str>, Literal)>,
}

impl Event {
    /// An event that changes nothing.
    pub fn new(lifeline: &str, step: Step) -> Self {
        Self { lifeline: lifeline.into(), step, name: None, updates: Vec::new() }
    }

    /// A local action.
    pub fn act(lifeline: &str) -> Self {
        Self::new(lifeline, Step::Act)
    }

    /// A decision.
    pub fn choice(lifeline: &str) -> Self {
        Self::new(lifeline, Step::Choice)
    }

    /// A message leaves.
    pub fn send(lifeline: &str, to: &str, message: &str) -> Self {
        Self::new(lifeline, Step::Send { to: Some(to.into()), message: message.into() })
    }

    /// A message arrives.
    pub fn recv(lifeline: &str, message: &str) -> Self {
        Self::new(lifeline, Step::Recv { message: Some(message.into()) })
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

/// A chart as a list of its events in an order that respects causality: a message is received after it was sent.
///
/// Messages need not arrive in the order in which they were sent, or at all.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    lifelines: Vec<Arc<str>>,
    events: Vec<Event>,
    sent: HashSet<Arc<str>>,
    under_way: HashMap<Arc<str>, Ends>,
}

/// The sender of a message and, where it is told, its receiver.
#[derive(Debug, Clone)]
struct Ends {
    from: Arc<str>,
    to: Option<Arc<str>>,
}

impl Chart {
    /// A chart without events.
    pub fn new(lifelines: &[&str]) -> Result<Self, GuardError> {
        let mut chart = Self::default();
        for name in lifelines {
            if chart.lifelines.iter().any(|known| &**known == *name) {
                return Err(GuardError::Twice((*name).to_owned()));
            }
            chart.lifelines.push((*name).into());
        }
        Ok(chart)
    }

    /// Adds an event.
    ///
    /// # Errors
    /// An unknown lifeline; a message sent twice, received before it was sent, or twice, or at another lifeline than it
    /// was sent to, or exchanged with oneself. The chart is as before then.
    pub fn push(&mut self, event: Event) -> Result<(), CausalError> {
        self.known(&event.lifeline)?;
        match &event.step {
            Step::Act | Step::Choice | Step::Recv { message: None } => {}
            Step::Send { to, message } => {
                if let Some(to) = to {
                    self.known(to)?;
                }
                if to.as_ref() == Some(&event.lifeline) {
                    return Err(CausalError::ToItself(event.lifeline.to_string()));
                }
                if !self.sent.insert(message.clone()) {
                    return Err(CausalError::SentTwice(message.to_string()));
                }
                self.under_way.insert(message.clone(), Ends { from: event.lifeline.clone(), to: to.clone() });
            }
            Step::Recv { message: Some(message) } => {
                let Some(Ends { from, to }) = self.under_way.get(message) else {
                    return Err(CausalError::NotSent(message.to_string()));
                };
                deliverable(message, from, to.as_deref(), &event.lifeline)?;
                self.under_way.remove(message);
            }
        }
        self.events.push(event);
        Ok(())
    }

    fn known(&self, lifeline: &Arc<str>) -> Result<(), CausalError> {
        if self.lifelines.contains(lifeline) {
            return Ok(());
        }
        Err(CausalError::Lifeline { lifeline: lifeline.to_string(), known: self.lifelines.join(", ") })
    }

    /// The lifelines, in order.
    pub fn lifelines(&self) -> &[Arc<str>] {
        &self.lifelines
    }

    /// The events, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The values of all guards at each event, as the lifelines find them on their own.
    pub fn values(&self, guards: &Guards) -> Result<Vec<Vec<bool>>, CausalError> {
        let mut monitor = Monitor::new(guards);
        self.events.iter().map(|event| Ok(monitor.on_event(event, &Nothing)?.all())).collect()
    }
}

/// Whether a message may arrive at a lifeline.
pub(super) fn deliverable(message: &str, from: &str, to: Option<&str>, at: &str) -> Result<(), CausalError> {
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

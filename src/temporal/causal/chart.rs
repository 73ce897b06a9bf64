//! Message sequence charts: events on lifelines, and the messages between them. Definition 1.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::errors::{CausalError, GuardError};
use super::event::{Event, EventAction, check_delivery};
use super::guards::Guards;
use super::monitor::{EmptyRecord, Monitor};

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
                return Err(GuardError::DuplicateLifeline((*name).to_owned()));
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
        match &event.action {
            EventAction::Act | EventAction::Choice | EventAction::Recv { message: None } => {}
            EventAction::Send { to, message } => {
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
            EventAction::Recv { message: Some(message) } => {
                let Some(Ends { from, to }) = self.under_way.get(message) else {
                    return Err(CausalError::NotSent(message.to_string()));
                };
                check_delivery(message, from, to.as_deref(), &event.lifeline)?;
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
        self.events.iter().map(|event| Ok(monitor.on_event(event, &EmptyRecord)?.all())).collect()
    }
}

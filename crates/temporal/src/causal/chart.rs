//! Message sequence charts (Definition 1): events on lifelines, and the messages between them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::errors::{CausalError, GuardError};
use super::event::{Event, EventAction, check_delivery};
use super::guards::Guards;
use super::monitor::{EmptyRecord, Monitor};

/// A message sequence chart, as a list of events in an order that respects causality: a message is received after it was
/// sent. Messages can overtake each other and can be lost.
///
/// # Examples
/// ```
/// use tlaforge_temporal::Formulas;
/// use tlaforge_temporal::causal::{Chart, Event, Guards};
///
/// let mut chart = Chart::new(&["a", "b"])?;
/// for event in [Event::act("a"), Event::send("a", "b", "m"), Event::recv("b", "m")] {
///     chart.push(event)?;
/// }
/// assert!(chart.push(Event::recv("b", "m")).is_err(), "received twice");
/// assert_eq!((chart.lifelines().len(), chart.events().len()), (2, 3));
///
/// let mut formulas = Formulas::new();
/// let guard = formulas.parse("Seen@a & Seen@b")?;
/// let guards = Guards::new(&formulas, &[guard], &["a", "b"])?;
/// assert_eq!(chart.values(&guards)?, [[false], [false], [true]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Chart {
    lifelines: Vec<Arc<str>>,
    events: Vec<Event>,
    sent: HashSet<Arc<str>>,
    in_transit: HashMap<Arc<str>, Endpoints>,
}

/// The sender of a message and its receiver, if the sender named one.
#[derive(Debug, Clone)]
struct Endpoints {
    from: Arc<str>,
    to: Option<Arc<str>>,
}

impl Chart {
    /// A chart without events.
    ///
    /// # Errors
    /// Two lifelines have the same name.
    pub fn new(lifelines: &[&str]) -> Result<Self, GuardError> {
        let mut chart = Self::default();
        for name in lifelines {
            if chart.lifelines.iter().any(|existing| &**existing == *name) {
                return Err(GuardError::DuplicateLifeline((*name).to_owned()));
            }
            chart.lifelines.push((*name).into());
        }
        Ok(chart)
    }

    /// Appends an event.
    ///
    /// # Errors
    /// An unknown lifeline; a message that is sent twice, received twice or before it was sent, received at another
    /// lifeline than it was sent to, or exchanged within one lifeline. The chart is unchanged.
    pub fn push(&mut self, event: Event) -> Result<(), CausalError> {
        self.check_lifeline(&event.lifeline)?;
        match &event.action {
            EventAction::Act | EventAction::Choice | EventAction::Recv { message: None } => {}
            EventAction::Send { to, message } => {
                if let Some(to) = to {
                    self.check_lifeline(to)?;
                }
                if to.as_ref() == Some(&event.lifeline) {
                    return Err(CausalError::ToItself(event.lifeline.to_string()));
                }
                // Stricter than `Monitor`: a chart names each message once, also after it was received.
                if !self.sent.insert(message.clone()) {
                    return Err(CausalError::SentTwice(message.to_string()));
                }
                self.in_transit.insert(message.clone(), Endpoints { from: event.lifeline.clone(), to: to.clone() });
            }
            EventAction::Recv { message: Some(message) } => {
                let Some(Endpoints { from, to }) = self.in_transit.get(message) else {
                    return Err(CausalError::NotSent(message.to_string()));
                };
                check_delivery(message, from, to.as_deref(), &event.lifeline)?;
                self.in_transit.remove(message);
            }
        }
        self.events.push(event);
        Ok(())
    }

    fn check_lifeline(&self, lifeline: &Arc<str>) -> Result<(), CausalError> {
        if self.lifelines.contains(lifeline) {
            return Ok(());
        }
        Err(CausalError::Lifeline { lifeline: lifeline.to_string(), known: self.lifelines.join(", ") })
    }

    /// The lifelines in the order of [`Chart::new`].
    pub fn lifelines(&self) -> &[Arc<str>] {
        &self.lifelines
    }

    /// The events in the order in which they were appended.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The values of all guards at each event, as a [`Monitor`] computes them.
    ///
    /// # Errors
    /// Those of [`Monitor::on_event`].
    pub fn values(&self, guards: &Guards) -> Result<Vec<Vec<bool>>, CausalError> {
        // Without records: the guards of a chart read names, kinds and variables only.
        let mut monitor = Monitor::new(guards);
        self.events.iter().map(|event| Ok(monitor.on_event(event, &EmptyRecord)?.all())).collect()
    }
}

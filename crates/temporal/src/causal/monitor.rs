//! A monitor for all lifelines of a system: their variables, and the messages in transit with their stamps.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::atom::{Literal, Record, Value};
use super::clock::VectorClock;
use super::errors::{CausalError, GuardError};
use super::event::{Event, EventAction, check_delivery};
use super::exports::{ExportedValues, VisibleState};
use super::guards::Guards;
use super::stamp::Stamp;
use super::tracker::{Tracker, Values};

/// A record without fields, labels and predicates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmptyRecord;

impl Record for EmptyRecord {
    fn field(&self, _: &str) -> Option<Value<'_>> {
        None
    }
}

/// A message that is sent and not yet received.
#[derive(Debug, Clone)]
struct MessageInTransit {
    from: usize,
    to: Option<Arc<str>>,
    stamp: Stamp,
}

/// Evaluates guards on the events of all lifelines, which must come in an order that respects causality.
///
/// It stores only what the guards use: the variables that they read, and messages until they are received.
///
/// # Examples
/// ```
/// use tlaforge_temporal::Formulas;
/// use tlaforge_temporal::causal::{EmptyRecord, Event, Guards, Monitor, VectorClock};
///
/// let mut formulas = Formulas::new();
/// let guard = formulas.parse(r#"@tester(O name = "passed")"#)?;
/// let guards = Guards::new(&formulas, &[guard], &["author", "tester"])?;
/// let mut monitor = Monitor::new(&guards);
///
/// // The test passes, but the author has not heard of it.
/// monitor.on_event(&Event::act("tester").named("passed"), &EmptyRecord)?;
/// assert!(!monitor.on_event(&Event::choice("author"), &EmptyRecord)?.holds(0));
/// assert!(!monitor.has_seen("author", "tester"));
///
/// monitor.on_event(&Event::send("tester", "author", "report"), &EmptyRecord)?;
/// assert!(monitor.stamp("report").is_some(), "in transit");
/// monitor.on_event(&Event::recv("author", "report"), &EmptyRecord)?;
/// assert!(monitor.values("author")?.holds(0));
/// assert_eq!(monitor.clock("author")?, VectorClock(vec![2, 2]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Monitor {
    guards: Guards,
    numbers: HashMap<Arc<str>, usize>,
    trackers: Vec<Tracker>,
    /// The variables of each lifeline, in the order of [`Guards::fields`].
    variables: Vec<Vec<Option<Literal>>>,
    in_transit: HashMap<Arc<str>, MessageInTransit>,
    histories: Vec<History>,
}

/// The exported values of one lifeline over time, run-length encoded: the last event count with these values.
type History = Vec<(u64, Option<Arc<ExportedValues>>)>;

impl Monitor {
    /// A monitor before the first event.
    pub fn new(guards: &Guards) -> Self {
        let mut monitor = Self {
            guards: guards.clone(),
            numbers: HashMap::new(),
            trackers: Vec::new(),
            variables: Vec::new(),
            in_transit: HashMap::new(),
            histories: Vec::new(),
        };
        for name in guards.lifelines() {
            monitor.start_lifeline(name);
        }
        monitor
    }

    fn start_lifeline(&mut self, name: &Arc<str>) {
        self.numbers.insert(name.clone(), self.trackers.len());
        let tracker = Tracker::new(&self.guards, name).expect("the guards have this lifeline");
        self.trackers.push(tracker);
        self.variables.push(vec![None; self.guards.fields().len()]);
        self.histories.push(Vec::new());
    }

    /// Adds a lifeline that no guard names, for logs whose lifelines are not known in advance.
    ///
    /// # Errors
    /// [`GuardError::DuplicateLifeline`].
    pub fn add_lifeline(&mut self, lifeline: &str) -> Result<(), GuardError> {
        self.guards = self.guards.with_lifeline(lifeline)?;
        for tracker in &mut self.trackers {
            tracker.add_lifeline(&self.guards);
        }
        self.start_lifeline(&lifeline.into());
        Ok(())
    }

    /// Takes one event and returns the values of the guards at it.
    ///
    /// Atoms read a field from the event (`kind`, `lifeline`, and `name` if it has one), else from `record`, else from the
    /// variables of the lifeline. Labels and predicates come from `record`.
    ///
    /// # Errors
    /// An unknown lifeline; a message that is sent while one of its name is in transit, received while none is, or received
    /// at the wrong lifeline. The monitor is unchanged.
    pub fn on_event(&mut self, event: &Event, record: &dyn Record) -> Result<Values<'_>, CausalError> {
        let own = self.lifeline_number(&event.lifeline)?;
        // On a copy, which is kept only if the event is accepted.
        let updated = self.apply_updates(own, event);
        let event_record = EventRecord {
            names: self.guards.fields(),
            values: updated.as_ref().unwrap_or(&self.variables[own]),
            name: event.name.as_deref(),
            record,
        };
        let tracker = &mut self.trackers[own];
        match &event.action {
            EventAction::Act => {
                tracker.act(&event_record);
            }
            EventAction::Choice => {
                tracker.choice(&event_record);
            }
            EventAction::Send { to, message } => {
                if let Some(to) = to {
                    if *to == event.lifeline {
                        return Err(CausalError::ToItself(to.to_string()));
                    }
                    if !self.numbers.contains_key(to) {
                        return Err(self.guards.layout.unknown_lifeline(to));
                    }
                }
                if self.in_transit.contains_key(message) {
                    return Err(CausalError::SentTwice(message.to_string()));
                }
                // After all checks: the event of the tracker cannot be taken back.
                let stamp = tracker.send(&event_record);
                self.in_transit.insert(message.clone(), MessageInTransit { from: own, to: to.clone(), stamp });
            }
            EventAction::Recv { message: None } => {
                tracker.recv(None, &event_record)?;
            }
            EventAction::Recv { message: Some(message) } => {
                let Some(sent) = self.in_transit.get(message) else {
                    return Err(CausalError::NotSent(message.to_string()));
                };
                let from = &self.guards.lifelines()[sent.from];
                check_delivery(message, from, sent.to.as_deref(), &event.lifeline)?;
                tracker.recv(Some(&sent.stamp), &event_record)?;
                self.in_transit.remove(message);
            }
        }
        if let Some(updated) = updated {
            self.variables[own] = updated;
        }
        Ok(self.trackers[own].values())
    }

    /// Takes one event with its vector clock, as in a journal: the clock says what is visible, and messages are ignored.
    /// Otherwise as [`Monitor::on_event`]. Do not mix the two methods on one monitor.
    ///
    /// # Errors
    /// An unknown lifeline; a clock that does not count this event as the next of its lifeline, counts events that were not
    /// taken, or counts fewer events than the lifeline had seen. The monitor is unchanged.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::Formulas;
    /// use tlaforge_temporal::causal::{EmptyRecord, Event, Guards, Monitor, VectorClock};
    ///
    /// let mut formulas = Formulas::new();
    /// let guard = formulas.parse("Seen@b")?;
    /// let mut monitor = Monitor::new(&Guards::new(&formulas, &[guard], &["a", "b"])?);
    /// monitor.on_event_with_clock(&Event::act("b"), &VectorClock(vec![0, 1]), &EmptyRecord)?;
    /// let concurrent = monitor.on_event_with_clock(&Event::act("a"), &VectorClock(vec![1, 0]), &EmptyRecord)?;
    /// assert!(!concurrent.holds(0));
    /// let later = monitor.on_event_with_clock(&Event::act("a"), &VectorClock(vec![2, 1]), &EmptyRecord)?;
    /// assert!(later.holds(0));
    /// let refused = monitor.on_event_with_clock(&Event::act("a"), &VectorClock(vec![3, 9]), &EmptyRecord);
    /// assert!(refused.is_err(), "`b` has had one event");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_event_with_clock(
        &mut self,
        event: &Event,
        clock: &VectorClock,
        record: &dyn Record,
    ) -> Result<Values<'_>, CausalError> {
        let own = self.lifeline_number(&event.lifeline)?;
        let seen = self.check_clock(own, clock)?;
        let updated = self.apply_updates(own, event);
        let event_record = EventRecord {
            names: self.guards.fields(),
            values: updated.as_ref().unwrap_or(&self.variables[own]),
            name: event.name.as_deref(),
            record,
        };
        let exported = self.trackers[own].take_and_export(event.action.kind(), seen, &event_record);
        let history = &mut self.histories[own];
        match history.last_mut() {
            // The tracker returns the same allocation if nothing has changed, so pointers are compared, not values.
            Some((last, same)) if same.as_ref().map(Arc::as_ptr) == exported.as_ref().map(Arc::as_ptr) => *last += 1,
            _ => history.push((clock.get(own), exported)),
        }
        if let Some(updated) = updated {
            self.variables[own] = updated;
        }
        Ok(self.trackers[own].values())
    }

    /// Checks a clock, and returns what it makes visible of the other lifelines.
    fn check_clock(&self, own: usize, clock: &VectorClock) -> Result<Arc<[VisibleState]>, CausalError> {
        let tracker = &self.trackers[own];
        let mut newly_visible: Vec<(usize, VisibleState)> = Vec::new();
        for (i, name) in self.guards.lifelines().iter().enumerate() {
            let (claimed, known) = (clock.get(i), tracker.event_count(i));
            // A clock may not forget what its lifeline had seen, nor count events that have not been taken.
            let (least, most) = match self.histories[i].last() {
                // Its own count includes this event.
                _ if i == own => (known + 1, known + 1),
                last => (known, last.map_or(0, |(count, _)| *count)),
            };
            if !(least..=most).contains(&claimed) {
                let expected = if least == most { most.to_string() } else { format!("{least} to {most}") };
                let (lifeline, counted) = (tracker.lifeline().to_owned(), name.to_string());
                return Err(CausalError::Clock { lifeline, counted, claimed, expected });
            }
            if i != own && claimed > known {
                // The first stretch that reaches to this count contains it.
                let at = self.histories[i].partition_point(|(last, _)| *last < claimed);
                newly_visible.push((i, VisibleState { count: claimed, exported: self.histories[i][at].1.clone() }));
            }
        }
        let before = tracker.seen();
        if newly_visible.is_empty() {
            return Ok(before.clone());
        }
        let mut seen = before.to_vec();
        // A lifeline may have been added since the tracker was created.
        seen.resize(self.trackers.len(), VisibleState::default());
        for (i, new) in newly_visible {
            seen[i] = new;
        }
        Ok(seen.into())
    }

    /// The values of the guards at the latest event of a lifeline.
    ///
    /// # Errors
    /// An unknown lifeline.
    pub fn values(&self, lifeline: &str) -> Result<Values<'_>, CausalError> {
        Ok(self.trackers[self.lifeline_number(lifeline)?].values())
    }

    /// The value of `@observed.name` at the latest event of `lifeline`, or of `name` if the two lifelines are the same.
    /// `None` if it is undefined, no event of `observed` is visible, or no guard reads it.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::causal::{EmptyRecord, Event, Guards, Monitor};
    /// use tlaforge_temporal::{Formulas, Literal, Value};
    ///
    /// let mut formulas = Formulas::new();
    /// let guard = formulas.parse("@b.ready")?;
    /// let mut monitor = Monitor::new(&Guards::new(&formulas, &[guard], &["a", "b"])?);
    /// monitor.add_lifeline("c")?;
    /// monitor.on_event(&Event::act("b").with("ready", Literal::Bool(true)), &EmptyRecord)?;
    /// assert_eq!(monitor.field_at("b", "b", "ready"), Some(Value::Bool(true)));
    /// assert_eq!(monitor.field_at("a", "b", "ready"), None, "not visible yet");
    /// assert_eq!(monitor.guards().lifelines().len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn field_at(&self, lifeline: &str, observed: &str, name: &str) -> Option<Value<'_>> {
        let own = self.lifeline_number(lifeline).ok()?;
        if lifeline != observed {
            return self.trackers[own].field_at(observed, name);
        }
        let index = self.guards.fields().binary_search_by(|known| (**known).cmp(name)).ok()?;
        self.variables[own][index].as_ref().map(Literal::value)
    }

    /// Whether an event of `observed` is visible at the latest event of `lifeline`.
    pub fn has_seen(&self, lifeline: &str, observed: &str) -> bool {
        match (self.lifeline_number(lifeline), self.lifeline_number(observed)) {
            (Ok(lifeline), Ok(observed)) => self.trackers[lifeline].event_count(observed) > 0,
            _ => false,
        }
    }

    /// The vector clock of the latest event of a lifeline.
    ///
    /// # Errors
    /// An unknown lifeline.
    pub fn clock(&self, lifeline: &str) -> Result<VectorClock, CausalError> {
        Ok(self.trackers[self.lifeline_number(lifeline)?].clock())
    }

    /// The stamp of a message in transit.
    pub fn stamp(&self, message: &str) -> Option<&Stamp> {
        self.in_transit.get(message).map(|sent| &sent.stamp)
    }

    /// The guards, with all lifelines added so far.
    pub fn guards(&self) -> &Guards {
        &self.guards
    }

    fn lifeline_number(&self, lifeline: &str) -> Result<usize, CausalError> {
        self.numbers.get(lifeline).copied().ok_or_else(|| self.guards.layout.unknown_lifeline(lifeline))
    }

    /// The variables of the lifeline after the event; `None` if they do not change.
    fn apply_updates(&self, own: usize, event: &Event) -> Option<Vec<Option<Literal>>> {
        let mut updated: Option<Vec<Option<Literal>>> = None;
        for (name, value) in &event.updates {
            if let Ok(index) = self.guards.fields().binary_search(name) {
                updated.get_or_insert_with(|| self.variables[own].clone())[index] = Some(value.clone());
            }
        }
        updated
    }
}

/// The record of an event for atoms: its name, the record of the caller, and the variables of the lifeline.
struct EventRecord<'a> {
    names: &'a [Arc<str>],
    values: &'a [Option<Literal>],
    name: Option<&'a str>,
    record: &'a dyn Record,
}

impl Record for EventRecord<'_> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        if name == "name"
            && let Some(own) = self.name
        {
            return Some(Value::Text(own.into()));
        }
        self.record.field(name).or_else(|| {
            let index = self.names.binary_search_by(|known| (**known).cmp(name)).ok()?;
            self.values[index].as_ref().map(Literal::value)
        })
    }

    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        self.record.label(kind, text)
    }

    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        self.record.call(name, arguments)
    }

    fn values(&self, name: &str) -> Vec<Option<Value<'_>>> {
        self.record.values(name)
    }

    fn has(&self, name: &str) -> bool {
        self.field(name).is_some() || self.record.has(name)
    }
}

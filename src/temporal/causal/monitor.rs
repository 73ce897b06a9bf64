//! All lifelines of one system in one place: their variables, and the messages under way with their stamps.

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

/// A message that has not arrived.
#[derive(Debug, Clone)]
struct UnderWay {
    from: usize,
    to: Option<Arc<str>>,
    stamp: Stamp,
}

/// Follows events of any number of lifelines, in an order that respects causality.
///
/// It keeps what the guards use and nothing else: variables that they name, and messages until they arrive.
#[derive(Debug, Clone)]
pub struct Monitor {
    guards: Guards,
    numbers: HashMap<Arc<str>, usize>,
    trackers: Vec<Tracker>,
    /// The variables of each lifeline, in the order of [`Guards::fields`].
    stores: Vec<Vec<Option<Literal>>>,
    under_way: HashMap<Arc<str>, UnderWay>,
    histories: Vec<History>,
}

/// What others may ask of the events of one lifeline; one entry for as long as it does not change.
type History = Vec<(u64, Option<Arc<ExportedValues>>)>;

impl Monitor {
    /// Before the first event.
    pub fn new(guards: &Guards) -> Self {
        let mut monitor = Self {
            guards: guards.clone(),
            numbers: HashMap::new(),
            trackers: Vec::new(),
            stores: Vec::new(),
            under_way: HashMap::new(),
            histories: Vec::new(),
        };
        for name in guards.lifelines() {
            monitor.begin(name);
        }
        monitor
    }

    fn begin(&mut self, name: &Arc<str>) {
        self.numbers.insert(name.clone(), self.trackers.len());
        let tracker = Tracker::new(&self.guards, name).expect("the lifeline is one of the guards' own");
        self.trackers.push(tracker);
        self.stores.push(vec![None; self.guards.fields().len()]);
        self.histories.push(Vec::new());
    }

    /// Adds a lifeline that no guard names, where a log shows its lifelines only as it goes on.
    pub fn add_lifeline(&mut self, lifeline: &str) -> Result<(), GuardError> {
        self.guards = self.guards.with_lifeline(lifeline)?;
        for tracker in &mut self.trackers {
            tracker.add_lifeline(&self.guards);
        }
        self.begin(&lifeline.into());
        Ok(())
    }

    /// Takes one event and tells the guards' values at it.
    ///
    /// A field is read, in this order, from the event itself (`kind`, `lifeline`, and `name` where it has one), from
    /// `record`, and from the lifeline's variables; labels and predicates are `record`'s.
    ///
    /// # Errors
    /// An unknown lifeline; a message that is sent while one of its name is under way, or received while none is, or at
    /// the wrong place. EmptyRecord has changed then.
    pub fn on_event(&mut self, event: &Event, record: &dyn Record) -> Result<Values<'_>, CausalError> {
        let own = self.number(&event.lifeline)?;
        let updated = self.updated(own, event);
        let here = Variables {
            names: self.guards.fields(),
            values: updated.as_ref().unwrap_or(&self.stores[own]),
            name: event.name.as_deref(),
            record,
        };
        let tracker = &mut self.trackers[own];
        match &event.action {
            EventAction::Act => {
                tracker.act(&here);
            }
            EventAction::Choice => {
                tracker.choice(&here);
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
                if self.under_way.contains_key(message) {
                    return Err(CausalError::SentTwice(message.to_string()));
                }
                let stamp = tracker.send(&here);
                self.under_way.insert(message.clone(), UnderWay { from: own, to: to.clone(), stamp });
            }
            EventAction::Recv { message: None } => {
                tracker.recv(None, &here)?;
            }
            EventAction::Recv { message: Some(message) } => {
                let Some(sent) = self.under_way.get(message) else {
                    return Err(CausalError::NotSent(message.to_string()));
                };
                let from = &self.guards.lifelines()[sent.from];
                check_delivery(message, from, sent.to.as_deref(), &event.lifeline)?;
                tracker.recv(Some(&sent.stamp), &here)?;
                self.under_way.remove(message);
            }
        }
        if let Some(updated) = updated {
            self.stores[own] = updated;
        }
        Ok(self.trackers[own].values())
    }

    /// Takes one event that carries its clock, as those of a journal do: the clock tells what is visible, and messages
    /// are not looked at. Fields are read as in [`Monitor::on_event`]; one monitor takes events one way or the other.
    ///
    /// # Errors
    /// An unknown lifeline; a clock that does not count this event as the lifeline's next, that counts events which have
    /// not been taken, or fewer than the lifeline had seen. EmptyRecord has changed then.
    pub fn on_event_with_clock(
        &mut self,
        event: &Event,
        clock: &VectorClock,
        record: &dyn Record,
    ) -> Result<Values<'_>, CausalError> {
        let own = self.number(&event.lifeline)?;
        let seen = self.visible(own, clock)?;
        let updated = self.updated(own, event);
        let here = Variables {
            names: self.guards.fields(),
            values: updated.as_ref().unwrap_or(&self.stores[own]),
            name: event.name.as_deref(),
            record,
        };
        let view = self.trackers[own].show(event.action.kind(), seen, &here);
        let history = &mut self.histories[own];
        match history.last_mut() {
            Some((last, same)) if same.as_ref().map(Arc::as_ptr) == view.as_ref().map(Arc::as_ptr) => *last += 1,
            _ => history.push((clock.get(own), view)),
        }
        if let Some(updated) = updated {
            self.stores[own] = updated;
        }
        Ok(self.trackers[own].values())
    }

    /// What a clock says is visible of the other lifelines.
    fn visible(&self, own: usize, clock: &VectorClock) -> Result<Arc<[VisibleState]>, CausalError> {
        let tracker = &self.trackers[own];
        let mut learned: Vec<(usize, VisibleState)> = Vec::new();
        for (i, name) in self.guards.lifelines().iter().enumerate() {
            let (claimed, known) = (clock.get(i), tracker.event_count(i));
            let (least, most) = match self.histories[i].last() {
                _ if i == own => (known + 1, known + 1),
                last => (known, last.map_or(0, |(count, _)| *count)),
            };
            if !(least..=most).contains(&claimed) {
                let expected = if least == most { most.to_string() } else { format!("{least} to {most}") };
                let (lifeline, of) = (tracker.lifeline().to_owned(), name.to_string());
                return Err(CausalError::Clock { lifeline, of, claimed, expected });
            }
            if i != own && claimed > known {
                let at = self.histories[i].partition_point(|(last, _)| *last < claimed);
                learned.push((i, VisibleState { count: claimed, view: self.histories[i][at].1.clone() }));
            }
        }
        let before = tracker.seen();
        if learned.is_empty() {
            return Ok(before.clone());
        }
        let mut seen = before.to_vec();
        seen.resize(self.trackers.len(), VisibleState::default());
        for (i, new) in learned {
            seen[i] = new;
        }
        Ok(seen.into())
    }

    /// The guards' values at the latest event of a lifeline.
    pub fn values(&self, lifeline: &str) -> Result<Values<'_>, CausalError> {
        Ok(self.trackers[self.number(lifeline)?].values())
    }

    /// A field at the latest event of `of` that is visible at the latest event of `lifeline`, of those that guards read:
    /// `@of.name`, or `name` where both are the same. `None` where it is undefined or nothing was seen.
    pub fn field_at(&self, lifeline: &str, of: &str, name: &str) -> Option<Value<'_>> {
        let own = self.number(lifeline).ok()?;
        if lifeline != of {
            return self.trackers[own].field_at(of, name);
        }
        let place = self.guards.fields().binary_search_by(|known| (**known).cmp(name)).ok()?;
        self.stores[own][place].as_ref().map(Literal::value)
    }

    /// Whether an event of `of` is visible at the latest event of `lifeline`.
    pub fn has_seen(&self, lifeline: &str, of: &str) -> bool {
        match (self.number(lifeline), self.number(of)) {
            (Ok(lifeline), Ok(of)) => self.trackers[lifeline].event_count(of) > 0,
            _ => false,
        }
    }

    /// The clock at the latest event of a lifeline.
    pub fn clock(&self, lifeline: &str) -> Result<VectorClock, CausalError> {
        Ok(self.trackers[self.number(lifeline)?].clock())
    }

    /// What travels with a message that is under way.
    pub fn stamp(&self, message: &str) -> Option<&Stamp> {
        self.under_way.get(message).map(|sent| &sent.stamp)
    }

    /// The guards, with all lifelines admitted so far.
    pub fn guards(&self) -> &Guards {
        &self.guards
    }

    fn number(&self, lifeline: &str) -> Result<usize, CausalError> {
        self.numbers.get(lifeline).copied().ok_or_else(|| self.guards.layout.unknown_lifeline(lifeline))
    }

    /// The lifeline's variables after the event, where they change.
    fn updated(&self, own: usize, event: &Event) -> Option<Vec<Option<Literal>>> {
        let mut updated: Option<Vec<Option<Literal>>> = None;
        for (name, value) in &event.updates {
            if let Ok(place) = self.guards.fields().binary_search(name) {
                updated.get_or_insert_with(|| self.stores[own].clone())[place] = Some(value.clone());
            }
        }
        updated
    }
}

/// The variables of a lifeline at an event, with what the event itself tells.
struct Variables<'a> {
    names: &'a [Arc<str>],
    values: &'a [Option<Literal>],
    name: Option<&'a str>,
    record: &'a dyn Record,
}

impl Record for Variables<'_> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        if name == "name"
            && let Some(own) = self.name
        {
            return Some(Value::Text(own.into()));
        }
        self.record.field(name).or_else(|| {
            let place = self.names.binary_search_by(|known| (**known).cmp(name)).ok()?;
            self.values[place].as_ref().map(Literal::value)
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

//! The monitor of one lifeline (Algorithm 1): it needs nothing of other lifelines except the stamps of their messages.

use std::sync::Arc;

use super::super::atom::{Record, Value};
use super::clock::VectorClock;
use super::errors::CausalError;
use super::event::EventKind;
use super::exports::{ExportedValues, Layout, VisibleState};
use super::guards::Guards;
use super::program::{EventContext, Program};
use super::stamp::Stamp;

/// The values of the guards at the latest event of a lifeline.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    program: &'a Program,
    steps: &'a [bool],
}

impl Values<'_> {
    /// Whether the guard with this number holds; false before the first event. For a loop, call it at a choice event before
    /// each round.
    pub fn holds(&self, guard: usize) -> bool {
        self.program.guards.get(guard).is_some_and(|step| self.steps[*step as usize])
    }

    /// The index in `guards` of the first guard that holds, for a branch at a choice event. `None` selects the branch
    /// without a guard.
    pub fn first_holding(&self, guards: &[usize]) -> Option<usize> {
        guards.iter().position(|guard| self.holds(*guard))
    }

    /// The values of all guards, in order.
    pub fn all(&self) -> Vec<bool> {
        (0..self.program.guards.len()).map(|guard| self.holds(guard)).collect()
    }
}

/// The state of one lifeline, for a distributed monitor: stamps travel with messages, nothing else is shared.
///
/// At each event the caller passes a record with the variables of the lifeline after the event, and the labels and
/// predicates of the application. The tracker itself provides the fields `kind` (`act`, `choice`, `send`, `recv`) and
/// `lifeline`. Events are atomic: if an event is refused or a predicate panics, the tracker is unchanged.
///
/// # Examples
/// ```
/// use tlaforge_temporal::Formulas;
/// use tlaforge_temporal::causal::{EmptyRecord, Guards, Tracker};
///
/// let mut formulas = Formulas::new();
/// let guard = formulas.parse(r#"P@server(kind = "act")"#)?;
/// // Each side compiles the same guards, on its own machine.
/// let guards = Guards::new(&formulas, &[guard], &["client", "server"])?;
/// let (mut client, mut server) = (Tracker::new(&guards, "client")?, Tracker::new(&guards, "server")?);
///
/// server.act(&EmptyRecord);
/// assert!(!client.choice(&EmptyRecord).holds(0));
/// let stamp = server.send(&EmptyRecord);
/// let values = client.recv(Some(&stamp), &EmptyRecord)?;
/// assert_eq!((values.first_holding(&[0]), values.all()), (Some(0), vec![true]));
/// assert_eq!((client.lifeline(), client.clock().get(1)), ("client", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tracker {
    program: Arc<Program>,
    layout: Arc<Layout>,
    own: usize,
    count: u64,
    now: Vec<bool>,
    /// Buffer for the values at the next event, so that a panic in a predicate leaves `now` intact.
    next: Vec<bool>,
    seen: Arc<[VisibleState]>,
    last_exported: Option<Arc<ExportedValues>>,
}

impl Tracker {
    /// A lifeline before its first event.
    ///
    /// # Errors
    /// The guards do not have this lifeline.
    pub fn new(guards: &Guards, lifeline: &str) -> Result<Self, CausalError> {
        let own = guards.lifeline_index(lifeline).ok_or_else(|| guards.layout.unknown_lifeline(lifeline))?;
        Ok(Self {
            program: guards.program.clone(),
            layout: guards.layout.clone(),
            own,
            count: 0,
            now: vec![false; guards.program.ops.len()],
            next: vec![false; guards.program.ops.len()],
            seen: vec![VisibleState::default(); guards.lifelines().len()].into(),
            last_exported: None,
        })
    }

    /// Takes a local action, and returns the values of the guards at it.
    pub fn act(&mut self, record: &dyn Record) -> Values<'_> {
        self.take(EventKind::Act, self.seen.clone(), record);
        self.values()
    }

    /// Takes a choice event. Make the choice by the returned values.
    pub fn choice(&mut self, record: &dyn Record) -> Values<'_> {
        self.take(EventKind::Choice, self.seen.clone(), record);
        self.values()
    }

    /// Takes a send event. The returned stamp must travel with the message.
    pub fn send(&mut self, record: &dyn Record) -> Stamp {
        let exported = self.take_and_export(EventKind::Send, self.seen.clone(), record);
        let own = Some((self.own, VisibleState { count: self.count, exported }));
        Stamp { layout: self.layout.clone(), own, seen: self.seen.clone() }
    }

    /// Takes a receive event. Without a stamp (from an unmonitored sender) nothing new becomes visible.
    ///
    /// # Errors
    /// The stamp belongs to other guards, comes from this lifeline, or has seen more events of it than there were.
    pub fn recv(&mut self, stamp: Option<&Stamp>, record: &dyn Record) -> Result<Values<'_>, CausalError> {
        let seen = match stamp {
            Some(stamp) => self.merge_stamp(stamp)?,
            None => self.seen.clone(),
        };
        self.take(EventKind::Recv, seen, record);
        Ok(self.values())
    }

    /// The values of the guards at the latest event.
    pub fn values(&self) -> Values<'_> {
        Values { program: &self.program, steps: &self.now }
    }

    /// A field of another lifeline at its latest visible event; `None` if it is undefined there, no event is visible, or no
    /// guard reads `@lifeline.name`.
    pub fn field_at(&self, lifeline: &str, name: &str) -> Option<Value<'_>> {
        self.program.remote(&self.seen, lifeline, name)
    }

    /// The name of the lifeline.
    pub fn lifeline(&self) -> &str {
        &self.layout.lifelines[self.own]
    }

    /// The vector clock of the latest event.
    pub fn clock(&self) -> VectorClock {
        VectorClock((0..self.layout.lifelines.len()).map(|i| self.event_count(i)).collect())
    }

    pub(super) fn event_count(&self, lifeline: usize) -> u64 {
        if lifeline == self.own { self.count } else { self.seen.get(lifeline).map_or(0, |seen| seen.count) }
    }

    /// Continues with guards to which [`Guards::with_lifeline`] has added a lifeline.
    pub(super) fn add_lifeline(&mut self, guards: &Guards) {
        // `seen` stays shorter than the layout; a missing entry counts as no visible event.
        self.layout = guards.layout.clone();
    }

    fn merge_stamp(&self, stamp: &Stamp) -> Result<Arc<[VisibleState]>, CausalError> {
        if !Arc::ptr_eq(&self.layout, &stamp.layout)
            && let Some(difference) = self.layout.find_difference(&stamp.layout)
        {
            return Err(CausalError::OtherGuards(difference));
        }
        let own_name = || self.lifeline().to_owned();
        if stamp.own.as_ref().is_some_and(|(sender, _)| *sender == self.own) {
            return Err(CausalError::ToItself(own_name()));
        }
        // The stamp is about our own past too. It cannot know more of it than there was.
        let claimed = stamp.visible(self.own).map_or(0, |seen| seen.count);
        if claimed > self.count {
            return Err(CausalError::Ahead { lifeline: own_name(), claimed, had: self.count });
        }
        // Events of one lifeline are totally ordered, so the view with more of them includes the other.
        let newer = |i: usize| {
            let theirs = stamp.visible(i).filter(|_| i != self.own)?;
            (theirs.count > self.seen.get(i).map_or(0, |seen| seen.count)).then_some(theirs)
        };
        let length = self.layout.lifelines.len();
        // Nothing new, so the views stay shared with the stamps that were sent before.
        if (0..length).all(|i| newer(i).is_none()) {
            return Ok(self.seen.clone());
        }
        Ok((0..length).map(|i| newer(i).or(self.seen.get(i)).cloned().unwrap_or_default()).collect())
    }

    /// Takes an event at which `seen` is visible of the other lifelines.
    fn take(&mut self, kind: EventKind, seen: Arc<[VisibleState]>, record: &dyn Record) {
        let context = context(&self.program, &self.layout, self.own, kind, &seen, record);
        // Into `next`: a predicate of the application may panic, and `now` must stay intact then.
        context.evaluate(self.count == 0, &self.now, &mut self.next);
        self.seen = seen;
        self.commit();
    }

    /// As `take`, and returns the exported values of the event.
    pub(super) fn take_and_export(
        &mut self,
        kind: EventKind,
        seen: Arc<[VisibleState]>,
        record: &dyn Record,
    ) -> Option<Arc<ExportedValues>> {
        let context = context(&self.program, &self.layout, self.own, kind, &seen, record);
        context.evaluate(self.count == 0, &self.now, &mut self.next);
        let exported = context.export_values(&self.next, self.last_exported.as_ref());
        // For the next event, which shares the allocation if nothing changes.
        self.last_exported.clone_from(&exported);
        self.seen = seen;
        self.commit();
        exported
    }

    pub(super) fn seen(&self) -> &Arc<[VisibleState]> {
        &self.seen
    }

    fn commit(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
        self.count += 1;
    }
}

fn context<'a>(
    program: &'a Program,
    layout: &'a Layout,
    own: usize,
    kind: EventKind,
    seen: &'a [VisibleState],
    record: &'a dyn Record,
) -> EventContext<'a> {
    EventContext { program, own, lifeline: &layout.lifelines[own], kind, record, seen }
}

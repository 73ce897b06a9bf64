//! One lifeline's part of the monitor: Algorithm 1.

use std::sync::Arc;

use super::super::atom::{Record, Value};
use super::clock::VectorClock;
use super::errors::CausalError;
use super::event::EventKind;
use super::exports::{ExportedValues, Layout, VisibleState};
use super::guards::Guards;
use super::program::{EventContext, Program};
use super::stamp::Stamp;

/// The guards' values at the latest event of a lifeline.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    code: &'a Program,
    steps: &'a [bool],
}

impl Values<'_> {
    /// Whether the guard of this number holds; before the first event none does. This is a loop's question, asked anew
    /// at a choice event before each round.
    pub fn holds(&self, guard: usize) -> bool {
        self.code.guards.get(guard).is_some_and(|step| self.steps[*step as usize])
    }

    /// The first of these guards that holds, as its place in `guards`: a branch's question, asked at a choice event.
    /// `None`: none does, which is the branch without a guard.
    pub fn first(&self, guards: &[usize]) -> Option<usize> {
        guards.iter().position(|guard| self.holds(*guard))
    }

    /// The values of all guards, in order.
    pub fn all(&self) -> Vec<bool> {
        (0..self.code.guards.len()).map(|guard| self.holds(guard)).collect()
    }
}

/// The state of one lifeline. It needs nothing of the others but the stamps of their messages.
///
/// At each event the caller hands over the lifeline's variables as they are after it (a receive and a local action may
/// have changed them), together with labels and predicates of the application. The fields `kind` (`act`, `choice`,
/// `send`, `recv`) and `lifeline` are the tracker's to tell. An event is either taken whole or, where it is refused or
/// a predicate panics, not at all.
#[derive(Debug, Clone)]
pub struct Tracker {
    code: Arc<Program>,
    layout: Arc<Layout>,
    own: usize,
    count: u64,
    now: Vec<bool>,
    /// Where the next event is evaluated.
    next: Vec<bool>,
    seen: Arc<[VisibleState]>,
    last_view: Option<Arc<ExportedValues>>,
}

impl Tracker {
    /// A lifeline before its first event.
    pub fn new(guards: &Guards, lifeline: &str) -> Result<Self, CausalError> {
        let own = guards.lifeline(lifeline).ok_or_else(|| guards.layout.unknown_lifeline(lifeline))?;
        Ok(Self {
            code: guards.code.clone(),
            layout: guards.layout.clone(),
            own,
            count: 0,
            now: vec![false; guards.code.ops.len()],
            next: vec![false; guards.code.ops.len()],
            seen: vec![VisibleState::default(); guards.lifelines().len()].into(),
            last_view: None,
        })
    }

    /// A local action.
    pub fn act(&mut self, record: &dyn Record) -> Values<'_> {
        self.take(EventKind::Act, self.seen.clone(), record);
        self.values()
    }

    /// A decision; the values are what it is made on.
    pub fn choice(&mut self, record: &dyn Record) -> Values<'_> {
        self.take(EventKind::Choice, self.seen.clone(), record);
        self.values()
    }

    /// A message leaves; the stamp travels with it.
    pub fn send(&mut self, record: &dyn Record) -> Stamp {
        let view = self.show(EventKind::Send, self.seen.clone(), record);
        let own = Some((self.own, VisibleState { count: self.count, view }));
        Stamp { layout: self.layout.clone(), own, seen: self.seen.clone() }
    }

    /// A message arrives. Without a stamp, because its sender is not monitored, it tells nothing of other lifelines.
    ///
    /// # Errors
    /// The stamp was made for other guards, comes from this lifeline, or knows more events of it than there were.
    pub fn recv(&mut self, stamp: Option<&Stamp>, record: &dyn Record) -> Result<Values<'_>, CausalError> {
        let seen = match stamp {
            Some(stamp) => self.merged(stamp)?,
            None => self.seen.clone(),
        };
        self.take(EventKind::Recv, seen, record);
        Ok(self.values())
    }

    /// The guards' values at the latest event.
    pub fn values(&self) -> Values<'_> {
        Values { code: &self.code, steps: &self.now }
    }

    /// A field of another lifeline at its latest event visible here; `None` where it is undefined there, nothing was
    /// seen, or no guard reads `@lifeline.name`.
    pub fn field_at(&self, lifeline: &str, name: &str) -> Option<Value<'_>> {
        self.code.remote(&self.seen, lifeline, name)
    }

    /// The lifeline's name.
    pub fn lifeline(&self) -> &str {
        &self.layout.lifelines[self.own]
    }

    /// How many events of each lifeline are visible at the latest event.
    pub fn clock(&self) -> VectorClock {
        VectorClock((0..self.layout.lifelines.len()).map(|i| self.event_count(i)).collect())
    }

    pub(super) fn event_count(&self, lifeline: usize) -> u64 {
        if lifeline == self.own { self.count } else { self.seen.get(lifeline).map_or(0, |seen| seen.count) }
    }

    /// Goes on with guards that have got another lifeline by [`Guards::with_lifeline`].
    pub(super) fn add_lifeline(&mut self, guards: &Guards) {
        self.layout = guards.layout.clone();
    }

    fn merged(&self, stamp: &Stamp) -> Result<Arc<[VisibleState]>, CausalError> {
        if !Arc::ptr_eq(&self.layout, &stamp.layout)
            && let Some(difference) = self.layout.differs_from(&stamp.layout)
        {
            return Err(CausalError::OtherGuards(difference));
        }
        let me = || self.lifeline().to_owned();
        if stamp.own.as_ref().is_some_and(|(sender, _)| *sender == self.own) {
            return Err(CausalError::ToItself(me()));
        }
        let claimed = stamp.of(self.own).map_or(0, |seen| seen.count);
        if claimed > self.count {
            return Err(CausalError::Ahead { lifeline: me(), claimed, had: self.count });
        }
        let newer = |i: usize| {
            let theirs = stamp.of(i).filter(|_| i != self.own)?;
            (theirs.count > self.seen.get(i).map_or(0, |seen| seen.count)).then_some(theirs)
        };
        let length = self.layout.lifelines.len();
        if (0..length).all(|i| newer(i).is_none()) {
            return Ok(self.seen.clone());
        }
        Ok((0..length).map(|i| newer(i).or(self.seen.get(i)).cloned().unwrap_or_default()).collect())
    }

    /// Takes an event after which this is visible of the other lifelines.
    fn take(&mut self, kind: EventKind, seen: Arc<[VisibleState]>, record: &dyn Record) {
        let here = here(&self.code, &self.layout, self.own, kind, &seen, record);
        here.evaluate(self.count == 0, &self.now, &mut self.next);
        self.seen = seen;
        self.commit();
    }

    /// The same, and tells what others may ask of the event.
    pub(super) fn show(
        &mut self,
        kind: EventKind,
        seen: Arc<[VisibleState]>,
        record: &dyn Record,
    ) -> Option<Arc<ExportedValues>> {
        let here = here(&self.code, &self.layout, self.own, kind, &seen, record);
        here.evaluate(self.count == 0, &self.now, &mut self.next);
        let view = here.view(&self.next, self.last_view.as_ref());
        self.last_view.clone_from(&view);
        self.seen = seen;
        self.commit();
        view
    }

    pub(super) fn seen(&self) -> &Arc<[VisibleState]> {
        &self.seen
    }

    fn commit(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
        self.count += 1;
    }
}

fn here<'a>(
    code: &'a Program,
    layout: &'a Layout,
    own: usize,
    kind: EventKind,
    seen: &'a [VisibleState],
    record: &'a dyn Record,
) -> EventContext<'a> {
    EventContext { code, own, lifeline: &layout.lifelines[own], kind, record, seen }
}

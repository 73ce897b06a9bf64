//! What a message carries: how much its sender has seen, and the latest values that guards ask for.

use std::sync::Arc;

use super::clock::VectorClock;
use super::errors::CausalError;
use super::exports::{ExportedValues, Layout, VisibleState};
use super::guards::Guards;

/// What travels with a message: the sender's clock and views just after the send. Cheap to clone: views are shared.
#[derive(Debug, Clone)]
pub struct Stamp {
    pub(super) layout: Arc<Layout>,
    /// The sender and its own latest event; `None` where that is in `seen`, too.
    pub(super) own: Option<(usize, VisibleState)>,
    pub(super) seen: Arc<[VisibleState]>,
}

impl Stamp {
    /// A stamp from its parts, as they were read from where they were kept: the clock in the order of the lifelines, and
    /// for each lifeline the view, `None` where its count is 0 or nothing is kept of it.
    pub fn new(guards: &Guards, clock: &VectorClock, views: Vec<Option<ExportedValues>>) -> Result<Self, CausalError> {
        let layout = guards.layout.clone();
        let names = &layout.lifelines;
        if clock.0.len() > names.len() || views.len() > names.len() {
            return Err(CausalError::OtherGuards("it has more lifelines".to_owned()));
        }
        let mut views = views.into_iter();
        let mut seen = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            let (count, kept, view) = (clock.get(i), &layout.exports[i], views.next().flatten());
            let fits = match &view {
                None => count == 0 || kept.is_empty(),
                Some(view) => {
                    count > 0 && view.values.len() == kept.formulas.len() && view.fields.len() == kept.fields.len()
                }
            };
            if !fits {
                return Err(CausalError::OtherGuards(format!("its view of `{name}` has other formulas or variables")));
            }
            seen.push(VisibleState { count, view: view.filter(|_| !kept.is_empty()).map(Arc::new) });
        }
        Ok(Self { layout, own: None, seen: seen.into() })
    }

    pub(super) fn of(&self, lifeline: usize) -> Option<&VisibleState> {
        match &self.own {
            Some((own, seen)) if *own == lifeline => Some(seen),
            _ => self.seen.get(lifeline),
        }
    }

    /// The lifelines, in order.
    pub fn lifelines(&self) -> &[Arc<str>] {
        &self.layout.lifelines
    }

    /// The sender's clock at the send.
    pub fn clock(&self) -> VectorClock {
        VectorClock((0..self.lifelines().len()).map(|i| self.of(i).map_or(0, |seen| seen.count)).collect())
    }

    /// The values at the latest event of a lifeline that the sender has seen; `None` where it has seen none, or no guard
    /// asks for any.
    pub fn view(&self, lifeline: usize) -> Option<&ExportedValues> {
        self.of(lifeline)?.view.as_deref()
    }
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        self.layout == other.layout && (0..self.lifelines().len()).all(|i| self.of(i) == other.of(i))
    }
}

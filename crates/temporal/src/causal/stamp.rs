//! Stamps: the vector clock and the exported values that a message carries.

use std::sync::Arc;

use super::clock::VectorClock;
use super::errors::CausalError;
use super::exports::{ExportedValues, Layout, VisibleState};
use super::guards::Guards;

/// The knowledge that a message carries: the clock of the sender and the exported values visible to it, just after the
/// send. Cheap to clone, because values are shared.
#[derive(Debug, Clone)]
pub struct Stamp {
    pub(super) layout: Arc<Layout>,
    /// The sender's number and its own latest event; `None` in a stamp from [`Stamp::new`], where `seen` contains it.
    pub(super) own: Option<(usize, VisibleState)>,
    pub(super) seen: Arc<[VisibleState]>,
}

impl Stamp {
    /// Rebuilds a stamp from stored parts: the clock, and for each lifeline its exported values, `None` if its count is 0
    /// or it exports nothing.
    ///
    /// # Errors
    /// [`CausalError::OtherGuards`]: the parts do not fit the exports of these guards.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::Formulas;
    /// use tlaforge_temporal::causal::{EmptyRecord, Guards, Stamp, Tracker};
    ///
    /// let mut formulas = Formulas::new();
    /// let guard = formulas.parse("@b(O x)")?;
    /// let guards = Guards::new(&formulas, &[guard], &["a", "b"])?;
    /// let sent = Tracker::new(&guards, "b")?.send(&EmptyRecord);
    /// // What is stored of a stamp, and the stamp that is rebuilt from it.
    /// let (clock, exported) = (sent.clock(), (0..sent.lifelines().len()).map(|i| sent.exported(i).cloned()).collect());
    /// assert_eq!(Stamp::new(&guards, &clock, exported)?, sent);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        guards: &Guards,
        clock: &VectorClock,
        exported: Vec<Option<ExportedValues>>,
    ) -> Result<Self, CausalError> {
        let layout = guards.layout.clone();
        let names = &layout.lifelines;
        if clock.0.len() > names.len() || exported.len() > names.len() {
            return Err(CausalError::OtherGuards("it has more lifelines".to_owned()));
        }
        let mut exported = exported.into_iter();
        let mut seen = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            let (count, exports, exported) = (clock.get(i), &layout.exports[i], exported.next().flatten());
            // `None` is right only if there is no event, or nothing to export; values must have the shape of the
            // exports.
            let fits = match &exported {
                None => count == 0 || exports.is_empty(),
                Some(exported) => {
                    count > 0
                        && exported.values.len() == exports.formulas.len()
                        && exported.fields.len() == exports.fields.len()
                }
            };
            if !fits {
                return Err(CausalError::OtherGuards(format!("its view of `{name}` has other formulas or variables")));
            }
            // Empty values are dropped, so that a rebuilt stamp equals the original.
            seen.push(VisibleState { count, exported: exported.filter(|_| !exports.is_empty()).map(Arc::new) });
        }
        Ok(Self { layout, own: None, seen: seen.into() })
    }

    pub(super) fn visible(&self, lifeline: usize) -> Option<&VisibleState> {
        match &self.own {
            Some((own, seen)) if *own == lifeline => Some(seen),
            _ => self.seen.get(lifeline),
        }
    }

    /// The lifelines in the order of their numbers.
    pub fn lifelines(&self) -> &[Arc<str>] {
        &self.layout.lifelines
    }

    /// The vector clock of the send event.
    pub fn clock(&self) -> VectorClock {
        VectorClock((0..self.lifelines().len()).map(|i| self.visible(i).map_or(0, |seen| seen.count)).collect())
    }

    /// The values exported at the latest event of a lifeline that was visible to the sender; `None` if no event was
    /// visible, or the lifeline exports nothing.
    pub fn exported(&self, lifeline: usize) -> Option<&ExportedValues> {
        self.visible(lifeline)?.exported.as_deref()
    }
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        self.layout == other.layout && (0..self.lifelines().len()).all(|i| self.visible(i) == other.visible(i))
    }
}

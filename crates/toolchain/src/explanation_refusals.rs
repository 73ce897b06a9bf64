//! Says why no behaviour explains a log: the state that contradicts it least, and for each event that may be next why none of its steps is
//! possible there.

use std::rc::Rc;

use tla_mc::value::Value;

use super::explanation::{EventKind, ExplainedStep, FalseConjunct, LongestPrefix, RefusedEvent, RefusedStep};
use super::explanation_child::{Search, SearchState};
use super::steps::State;

/// How many states after the longest part of a log are compared with what comes next.
const MAX_NEAREST: usize = 200;

/// How much a step that is not allowed, or not enabled, contradicts a log, in differing values.
const NOT_NEXT: usize = 1_000;
const NOT_ENABLED: usize = 10_000;

impl Search<'_, '_> {
    pub(super) fn unexplained(&self) -> LongestPrefix {
        let Some(at) = self.nearest() else {
            return LongestPrefix { searched: self.nodes.len() as u64, ..LongestPrefix::default() };
        };
        let SearchState { cut, state, .. } = &self.nodes[at];
        let before: Vec<u32> = self
            .steps_to(at)
            .into_iter()
            .filter_map(|step| match step {
                ExplainedStep::Event { event, .. } => Some(event),
                ExplainedStep::Hidden(_) => None,
            })
            .collect();
        let next = self.next_events(cut).into_iter().map(|(_, event)| self.refused(event, state)).collect();
        LongestPrefix {
            explained: cut.iter().sum(),
            before,
            next,
            state: self.shown(state),
            path: self.path_to(at),
            other_states: u32::try_from(self.furthest.len() - 1).unwrap_or(u32::MAX),
            searched: self.nodes.len() as u64,
        }
    }

    /// The node after the largest number of events that least contradicts what may come next.
    fn nearest(&self) -> Option<usize> {
        let difference = |at: &usize| {
            let SearchState { cut, state, .. } = &self.nodes[*at];
            let of_step = |step: &RefusedStep| match step {
                RefusedStep::Differs(differences) => differences.len(),
                RefusedStep::NotNext { .. } => NOT_NEXT,
                RefusedStep::Disabled { .. } | RefusedStep::Failed(_) => NOT_ENABLED,
            };
            let of_event = |event: u32| {
                let RefusedEvent { before, steps, .. } = self.refused(event, state);
                before.len() + steps.iter().map(of_step).min().unwrap_or(NOT_ENABLED)
            };
            self.next_events(cut).into_iter().map(|(_, event)| of_event(event)).min()
        };
        // The first of those that contradict it equally little.
        self.furthest.iter().take(MAX_NEAREST).copied().min_by_key(difference)
    }

    /// Why an event cannot be next in a state.
    pub(super) fn refused(&self, event: u32, state: &Rc<State>) -> RefusedEvent {
        let kind = self.log.events[event as usize].kind;
        let EventKind { before, steps, .. } = &self.log.kinds[kind];
        let before = self.differences(kind, event, before, true, &[&**state]).unwrap_or_default();
        let steps = (0..steps.len()).map(|step| self.refused_step(kind, step, event, state)).collect();
        RefusedEvent { event, before, steps }
    }

    fn refused_step(&self, kind: usize, step: usize, event: u32, state: &Rc<State>) -> RefusedStep {
        let record = match self.record(event) {
            Ok(record) => record,
            Err(what) => return RefusedStep::Failed(what),
        };
        let mut states: Vec<Rc<State>> = vec![state.clone()];
        for part in 0..self.log.kinds[kind].steps[step].len() {
            let name = self.names.step(kind, step, part);
            let mut found: Vec<(Rc<State>, State)> = Vec::new();
            for state in &states {
                match self.interpreter.successors(&name, vec![record.clone()], state) {
                    Ok(all) => found.extend(all.into_iter().map(|next| (state.clone(), next))),
                    Err(what) => return RefusedStep::Failed(what),
                }
            }
            if found.is_empty() {
                let conjunct = self.interpreter.blocking_conjunct(&name, vec![record], &states[0]);
                let own = format!(" of module {}", self.task.prefix);
                let conjunct = conjunct.map(|(place, sides)| FalseConjunct {
                    // The map's own expressions have no place in the user's files.
                    position: self.interpreter.position_of(place).filter(|position| !position.ends_with(&own)),
                    text: self.task.source.line_from(self.files, place),
                    sides,
                });
                return RefusedStep::Disabled { part, conjunct };
            }
            found.retain(|(from, to)| self.is_step(from, to).unwrap_or(true));
            if found.is_empty() {
                return RefusedStep::NotNext { part };
            }
            states = found.into_iter().map(|(_, next)| Rc::new(next)).collect();
        }
        let states: Vec<&[Value]> = states.iter().map(|state| &***state).collect();
        match self.differences(kind, event, &self.log.kinds[kind].after, false, &states) {
            Ok(differences) => RefusedStep::Differs(differences),
            Err(what) => RefusedStep::Failed(what),
        }
    }
}

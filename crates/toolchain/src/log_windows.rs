//! Compares single events of a log with a specification: for each, the state before it and the one after it are known, and one of its steps has
//! to lead from one to the other.

use std::rc::Rc;

use tla_mc::value::Value;

use super::explanation::{Observation, Windows};
use super::explanation_child::Search;
use super::steps::State;

impl Search<'_, '_> {
    /// Compares each event on its own. The state before it is what the event says, and else what the event before it says.
    pub(super) fn windows(&self) -> Result<Windows, String> {
        let mut windows = Windows::default();
        let mut known: Vec<Option<Value>> = vec![None; self.interpreter.core.variables.len()];
        for event in 0..u32::try_from(self.log.events.len()).unwrap_or(u32::MAX) {
            let kind = self.log.events[event as usize].kind;
            for (at, value) in self.observed_variables(event, &self.log.kinds[kind].before) {
                known[at] = Some(value);
            }
            let missing = known.iter().position(Option::is_none);
            let state: Option<State> = known.iter().cloned().collect();
            match (missing, state) {
                (None, Some(state)) => self.window(event, &Rc::new(state), &mut windows)?,
                (missing, _) => {
                    let name = &self.interpreter.core.variables[missing.unwrap_or(0)];
                    windows.incomplete.push((event, name.clone()));
                }
            }
            // What the event does not say of the state after it is not known.
            known.fill(None);
            for (at, value) in self.observed_variables(event, &self.log.kinds[kind].after) {
                known[at] = Some(value);
            }
        }
        Ok(windows)
    }

    /// The variables whose values an event says.
    fn observed_variables(&self, event: u32, observations: &[Observation]) -> Vec<(usize, Value)> {
        let of_variable = |observation: &Observation| {
            let at = self.interpreter.variables.get(observation.expression.trim()).copied()?;
            Some((at, self.field(event, &observation.field)?.clone()))
        };
        observations.iter().filter_map(of_variable).collect()
    }

    fn window(&self, event: u32, state: &Rc<State>, windows: &mut Windows) -> Result<(), String> {
        let kind = self.log.events[event as usize].kind;
        let record = self.record(event)?;
        let mut failed = None;
        let mut conforms = false;
        match self.differences(kind, event, &self.log.kinds[kind].before, true, &[&**state]) {
            Ok(differences) if differences.is_empty() => {
                for step in 0..self.log.kinds[kind].steps.len() {
                    let (found, what) = self.row(kind, step, &record, state);
                    failed = failed.or(what);
                    for next in found {
                        match self.differences(kind, event, &self.log.kinds[kind].after, false, &[&next.state]) {
                            Ok(differences) => conforms |= differences.is_empty(),
                            Err(what) => drop(failed.get_or_insert(what)),
                        }
                    }
                }
            }
            Ok(_) => {}
            Err(what) => failed = Some(what),
        }
        match failed {
            _ if conforms => windows.conforming.push(event),
            Some(why) => windows.undecided.push((event, why)),
            None => windows.refused.push(self.refused(event, state)),
        }
        Ok(())
    }
}

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
        for (event, is_followed) in self.in_order() {
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
            // What the event does not say of the state after it is not known, and neither is what happens before the next one, unless
            // the order says that nothing does.
            known.fill(None);
            if self.log.hidden.is_empty() && is_followed {
                for (at, value) in self.observed_variables(event, &self.log.kinds[kind].after) {
                    known[at] = Some(value);
                }
            }
        }
        Ok(windows)
    }

    /// The events in an order in which they may have happened, and for each whether the next one comes directly after it in every such order.
    fn in_order(&self) -> Vec<(u32, bool)> {
        let processes = self.log.processes.len();
        // The process of each event with its place there, and how many events of each process come before it.
        let mut events: Vec<(usize, u32, Vec<u32>, u32)> = Vec::new();
        for (process, all) in self.log.processes.iter().enumerate() {
            for (at, event) in (0_u32..).zip(all) {
                let mut before = self.log.events[*event as usize].needs.clone();
                before.resize(processes, 0);
                before[process] = before[process].max(at);
                events.push((process, at, before, *event));
            }
        }
        // What comes before an event has fewer events before it.
        let count = |before: &[u32]| before.iter().map(|number| u64::from(*number)).sum::<u64>();
        events.sort_by_key(|(_, _, before, event)| (count(before), *event));
        // Whether all later events come after each one.
        let mut least = vec![u32::MAX; processes];
        let mut is_before_later = vec![true; events.len()];
        for (at, (process, place, before, _)) in events.iter().enumerate().rev() {
            is_before_later[at] = least[*process] > *place;
            for (least, number) in least.iter_mut().zip(before) {
                *least = (*least).min(*number);
            }
        }
        let is_after_earlier = |at: usize| events.get(at).is_some_and(|(_, _, before, _)| count(before) == at as u64);
        let is_followed =
            |at: usize| is_after_earlier(at + 1) && is_before_later[at] && is_before_later.get(at + 1) == Some(&true);
        (0..events.len()).map(|at| (events[at].3, is_followed(at))).collect()
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

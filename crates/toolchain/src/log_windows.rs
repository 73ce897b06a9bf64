//! Compares single events of a log with a specification: for each, the state before it and the one after it are known, and one of its steps has
//! to lead from one to the other.

use std::rc::Rc;

use tla_mc::value::Value;

use super::explanation::{Log, Observation, Windows};
use super::explanation_child::Search;
use super::steps::State;

impl Search<'_, '_> {
    /// Compares each event on its own. The state before it is what the event says, and else what the event before it says.
    pub(super) fn windows(&self) -> Result<Windows, String> {
        let mut windows = Windows::default();
        let mut known: Vec<Option<Value>> = vec![None; self.interpreter.core.variables.len()];
        for (event, is_followed) in in_order(self.log) {
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
                    let (found, what) = self.after_sequence(kind, step, &record, state);
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

/// An event with its process, its place there, and how many events of each process come before it.
struct OrderedEvent {
    event: u32,
    process: usize,
    place: u32,
    before: Vec<u32>,
}

impl OrderedEvent {
    fn count_before(&self) -> u64 {
        self.before.iter().map(|number| u64::from(*number)).sum()
    }
}

/// The events, and for each whether the next one comes directly after it in every order in which they may have happened.
fn in_order(log: &Log) -> Vec<(u32, bool)> {
    let mut events: Vec<OrderedEvent> = Vec::new();
    for (process, all) in log.processes.iter().enumerate() {
        for (place, event) in (0_u32..).zip(all) {
            let mut before = log.events[*event as usize].needs.clone();
            before.resize(log.processes.len(), 0);
            before[process] = before[process].max(place);
            events.push(OrderedEvent { event: *event, process, place, before });
        }
    }
    events.sort_by_key(|one| (one.count_before(), one.event));
    // Whether all earlier events come before each one, and all later events after it: then it has the same place in every order.
    let mut least = vec![u32::MAX; log.processes.len()];
    let mut is_fixed = vec![false; events.len()];
    for (at, one) in events.iter().enumerate().rev() {
        is_fixed[at] = one.count_before() == at as u64 && least[one.process] > one.place;
        for (least, number) in least.iter_mut().zip(&one.before) {
            *least = (*least).min(*number);
        }
    }
    let is_followed = |at: usize| is_fixed[at] && is_fixed.get(at + 1) == Some(&true);
    (0..events.len()).map(|at| (events[at].event, is_followed(at))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::explanation::LogEvent;

    /// Events of these processes, in an order that is possible. Each needs some of the earlier events, as its clock says.
    fn log(choices: &[(usize, Vec<u32>)]) -> Log {
        let mut log = Log { processes: vec![Vec::new(); 3], ..Log::default() };
        for (event, (process, wanted)) in (0_u32..).zip(choices) {
            let known = log.processes.iter().zip(wanted);
            let mut needs: Vec<u32> =
                known.map(|(all, wanted)| (*wanted).min(u32::try_from(all.len()).unwrap())).collect();
            needs[*process] = 0;
            log.processes[*process].push(event);
            log.events.push(LogEvent { kind: 0, fields: Vec::new(), needs });
        }
        log
    }

    /// Every order of the events, by trying all of them.
    fn orders(log: &Log, done: &mut Vec<u32>, found: &mut Vec<Vec<u32>>) {
        let count = |events: &[u32]| u32::try_from(events.iter().filter(|event| done.contains(event)).count()).unwrap();
        let counts: Vec<u32> = log.processes.iter().map(|events| count(events)).collect();
        if done.len() == log.events.len() {
            found.push(done.clone());
        }
        for (process, events) in log.processes.iter().enumerate() {
            let Some(event) = events.get(counts[process] as usize) else { continue };
            if log.events[*event as usize].needs.iter().zip(&counts).all(|(needed, known)| needed <= known) {
                done.push(*event);
                orders(log, done, found);
                done.pop();
            }
        }
    }

    proptest! {
        #[test]
        fn an_event_follows_another_one_if_it_does_in_every_order(
            choices in proptest::collection::vec((0_usize..3, proptest::collection::vec(0_u32..4, 3)), 1..7),
        ) {
            let log = log(&choices);
            let mut all = Vec::new();
            orders(&log, &mut Vec::new(), &mut all);
            let pairs = |order: &Vec<u32>| order.windows(2).map(|pair| (pair[0], pair[1])).collect::<BTreeSet<_>>();
            let always = all.iter().map(pairs).reduce(|one, other| &one & &other).unwrap();
            let events = in_order(&log);
            let claimed = events.windows(2).filter(|pair| pair[0].1).map(|pair| (pair[0].0, pair[1].0));
            for pair in claimed {
                prop_assert!(always.contains(&pair), "{pair:?} in {log:?}");
            }
            // With one order alone, each event is known to follow the one before it, if the clocks say so directly.
            let has_all = (0_u32..).zip(&log.events).all(|(event, one)| one.needs.iter().sum::<u32>() + place(&log, event) == event);
            if has_all {
                prop_assert_eq!(always.len() + 1, events.len());
                prop_assert!(events.iter().rev().skip(1).all(|(_, is_followed)| *is_followed));
            }
        }
    }

    fn place(log: &Log, event: u32) -> u32 {
        let places = log.processes.iter().filter_map(|events| events.iter().position(|one| *one == event));
        places.map(|at| u32::try_from(at).unwrap()).sum()
    }
}

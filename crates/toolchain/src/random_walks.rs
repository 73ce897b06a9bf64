//! Random walks through a specification that is too large to search. An action that was taken rarely is preferred, so that rare steps
//! are not drowned by frequent ones; a path to a violation is shortened.

use std::collections::BTreeMap;

use super::core_steps::{ActionName, NamedStep};
use super::stepper::{WalkReport, WalkRequest, WalkViolation, WalkViolationKind};
use super::stepper_child::States;
use super::steps::State;

/// Numbers that look random (Vigna, splitmix64), the same for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// A walk: its states, and the action that leads to each but the first.
struct Walk {
    states: Vec<State>,
    actions: Vec<ActionName>,
}

impl States<'_, '_> {
    pub(super) fn walk(&mut self, request: WalkRequest) -> Result<WalkReport, String> {
        let initial = self.initial_states()?;
        let mut report = WalkReport::default();
        if initial.is_empty() {
            return Err("the specification has no initial state".to_owned());
        }
        for number in request.first..request.first.saturating_add(request.count) {
            let mut random = Random(request.seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
            let first = random.below(initial.len() as u64);
            let start = initial[usize::try_from(first).unwrap_or(0)].clone();
            let walk = Walk { states: vec![start], actions: Vec::new() };
            report.walks += 1;
            if let Some((what, walk)) = self.walk_on(walk, request, &mut random, &mut report)? {
                let walk = self.shortened(walk);
                let mut states = walk.states.into_iter();
                let start = states.next().map(|state| self.shown(state));
                let path = walk.actions.into_iter().zip(states).map(|(action, state)| self.possible(action, state));
                let path = path.collect();
                report.violation = start.map(|start| WalkViolation { walk: number, what, start, path });
                return Ok(report);
            }
            if report.failed.is_some() {
                return Ok(report);
            }
        }
        Ok(report)
    }

    /// Continues a walk until a violation, its end, or the largest number of steps.
    fn walk_on(
        &self,
        mut walk: Walk,
        request: WalkRequest,
        random: &mut Random,
        report: &mut WalkReport,
    ) -> Result<Option<(WalkViolationKind, Walk)>, String> {
        loop {
            let Some(state) = walk.states.last() else { return Ok(None) };
            if let Some(name) = self.violated(state)?.into_iter().next() {
                return Ok(Some((WalkViolationKind::Invariant(name), walk)));
            }
            if walk.actions.len() as u64 >= request.depth || !self.is_inside(state)? {
                return Ok(None);
            }
            let found = self.interpreter.named_steps(state);
            if let Some((action, why)) = found.failed.into_iter().next() {
                report.failed = Some((action.words(), why));
                return Ok(None);
            }
            if found.steps.is_empty() {
                return Ok(request.deadlock.then_some((WalkViolationKind::Deadlock, walk)));
            }
            let step = choose(found.steps, &report.taken, random);
            *report.taken.entry(step.action.name.clone()).or_default() += 1;
            report.steps += 1;
            walk.states.push(step.state);
            walk.actions.push(step.action);
        }
    }

    fn is_inside(&self, state: &State) -> Result<bool, String> {
        for name in &self.interpreter.core.constraints {
            if !self.interpreter.named(name, state)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The walk without detours: from each state, the latest one of the walk that a single step reaches is next.
    fn shortened(&self, walk: Walk) -> Walk {
        let Walk { states, actions } = walk;
        let last = states.len() - 1;
        let mut short = Walk { states: vec![states[0].clone()], actions: Vec::new() };
        let mut at = 0;
        while at < last {
            // The same state again, later.
            at = (at..=last).rev().find(|later| states[*later] == states[at]).unwrap_or(at);
            if at == last {
                break;
            }
            let steps = self.interpreter.named_steps(&states[at]).steps;
            let reached = (at + 1..=last)
                .rev()
                .find_map(|later| Some((later, steps.iter().find(|step| step.state == states[later])?)));
            let (next, action) = match reached {
                Some((later, step)) => (later, step.action.clone()),
                None => (at + 1, actions[at].clone()),
            };
            short.states.push(states[next].clone());
            short.actions.push(action);
            at = next;
        }
        short
    }
}

/// The weight of an action that was never taken.
const UNIT: u64 = 1 << 20;

/// First an action, with a probability that falls with how often it was taken, then one of its steps.
fn choose(steps: Vec<NamedStep>, taken: &BTreeMap<String, u64>, random: &mut Random) -> NamedStep {
    let mut names: Vec<&str> = steps.iter().map(|step| step.action.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let weight = |name: &&str| (UNIT / (1 + taken.get(*name).copied().unwrap_or(0))).max(1);
    let mut left = random.below(names.iter().map(weight).sum());
    let mut chosen = names[0];
    for name in &names {
        if left < weight(name) {
            chosen = name;
            break;
        }
        left -= weight(name);
    }
    let chosen = chosen.to_owned();
    let mut own: Vec<NamedStep> = steps.into_iter().filter(|step| step.action.name == chosen).collect();
    let at = random.below(own.len() as u64);
    own.swap_remove(usize::try_from(at).unwrap_or(0))
}

//! Random walks through a specification that is too large to search. An action that was taken rarely is preferred, so that rare steps
//! are not drowned by frequent ones; a path to a violation is shortened.

use std::collections::BTreeMap;

use super::core_steps::{ActionName, NamedStep};
use super::stepper::{
    PossibleStep, SteppedState, WalkFailure, WalkReport, WalkRequest, WalkViolation, WalkViolationKind,
};
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

/// A walk: an initial state, and each step with the state after it.
struct Walk {
    start: State,
    steps: Vec<(ActionName, State)>,
}

impl Walk {
    fn last(&self) -> &State {
        self.steps.last().map_or(&self.start, |(_, state)| state)
    }
}

/// How a walk ended.
enum WalkEnd {
    /// Without a finding.
    Over,
    Violation(WalkViolationKind, Walk),
    /// An action or an invariant could not be evaluated, and why.
    Failure(String, String, Walk),
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
            let walk = Walk { start, steps: Vec::new() };
            report.walks += 1;
            match self.walk_on(walk, request, &mut random, &mut report)? {
                WalkEnd::Over => {}
                WalkEnd::Violation(what, walk) => {
                    let (start, path) = self.shown_walk(self.shortened(walk));
                    report.violation = Some(WalkViolation { walk: number, what, start, path });
                    return Ok(report);
                }
                WalkEnd::Failure(what, why, walk) => {
                    let (start, path) = self.shown_walk(self.shortened(walk));
                    report.failed = Some(WalkFailure { what, why, walk: number, start, path });
                    return Ok(report);
                }
            }
        }
        Ok(report)
    }

    fn shown_walk(&mut self, walk: Walk) -> (SteppedState, Vec<PossibleStep>) {
        let Walk { start, steps } = walk;
        let start = self.shown(start);
        (start, steps.into_iter().map(|(action, state)| self.possible(action, state)).collect())
    }

    /// Continues a walk until a violation, its end, or the largest number of steps.
    fn walk_on(
        &self,
        mut walk: Walk,
        request: WalkRequest,
        random: &mut Random,
        report: &mut WalkReport,
    ) -> Result<WalkEnd, String> {
        loop {
            let state = walk.last();
            let (violated, failed) = self.invariants(state);
            if let Some(name) = violated.into_iter().next() {
                return Ok(WalkEnd::Violation(WalkViolationKind::Invariant(name), walk));
            }
            if let Some((name, why)) = failed.into_iter().next() {
                return Ok(WalkEnd::Failure(name, why, walk));
            }
            if walk.steps.len() as u64 >= request.depth || !self.is_inside(state)? {
                return Ok(WalkEnd::Over);
            }
            let found = self.interpreter.named_steps(state);
            if let Some((action, why)) = found.failed.into_iter().next() {
                return Ok(WalkEnd::Failure(action.words(), why, walk));
            }
            if found.steps.is_empty() {
                return Ok(if request.deadlock {
                    WalkEnd::Violation(WalkViolationKind::Deadlock, walk)
                } else {
                    WalkEnd::Over
                });
            }
            let step = choose(found.steps, &report.taken, random);
            *report.taken.entry(step.action.name.clone()).or_default() += 1;
            report.steps += 1;
            walk.steps.push((step.action, step.state));
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
        let Walk { start, steps } = walk;
        let mut short = Walk { start, steps: Vec::new() };
        // The steps before this one are dealt with.
        let mut at = 0;
        while at < steps.len() {
            let from = short.last().clone();
            // The same state again, later.
            if let Some(again) = (at..steps.len()).rev().find(|later| steps[*later].1 == from) {
                at = again + 1;
                continue;
            }
            let possible = self.interpreter.named_steps(&from).steps;
            let reached = (at..steps.len())
                .rev()
                .find_map(|later| Some((later, possible.iter().find(|step| step.state == steps[later].1)?)));
            let (next, action) = match reached {
                Some((later, step)) => (later, step.action.clone()),
                None => (at, steps[at].0.clone()),
            };
            short.steps.push((action, steps[next].1.clone()));
            at = next + 1;
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

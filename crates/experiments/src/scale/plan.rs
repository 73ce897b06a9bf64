//! What a larger fleet would change: each resource doubled by itself, and a fleet that grows until it is fast enough.

use super::deployment::{Deployment, Resource};
use super::simulation::{Outcome, simulate};
use super::workload::Workload;

/// A resource limits the runs if twice as much of it saves at least this share of the time.
const SAVES: f64 = 0.05;
/// From this share on, a resource is nearly used up.
const BUSY: f64 = 0.8;

/// A simulation, and what changes with twice as much of each resource, in the order of [`Resource::ALL`].
#[derive(Debug, Clone, PartialEq)]
pub struct Doubling {
    pub outcome: Outcome,
    pub doubled: [Outcome; 8],
}

/// Simulates `runs` runs, and again with each resource doubled by itself.
pub fn compare_doublings(fleet: &Deployment, workload: &Workload, runs: usize) -> Doubling {
    double_each(fleet, workload, simulate(fleet, workload, runs))
}

fn double_each(fleet: &Deployment, workload: &Workload, outcome: Outcome) -> Doubling {
    let doubled = Resource::ALL.map(|resource| simulate(&fleet.doubled(resource), workload, outcome.runs));
    Doubling { outcome, doubled }
}

impl Doubling {
    /// The resource that limits the runs. Its doubling decides, not its use: slots are full whatever the runs wait for.
    pub fn limit(&self) -> Option<Resource> {
        let fastest = self.doubled.iter().zip(Resource::ALL).min_by(|(a, _), (b, _)| a.seconds.total_cmp(&b.seconds));
        fastest.filter(|(fastest, _)| fastest.seconds <= self.outcome.seconds * (1.0 - SAVES)).map(|(_, name)| name)
    }

    /// The limit, or the busiest resource if several are used up: then none of them alone saves much.
    fn next_to_double(&self) -> Option<Resource> {
        let busiest = self.outcome.used.iter().zip(Resource::ALL).max_by(|(a, _), (b, _)| a.total_cmp(b));
        self.limit().or(busiest.filter(|(used, _)| **used >= BUSY).map(|(_, resource)| resource))
    }
}

/// A fleet on the way to one that is fast enough.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthStep {
    /// What was doubled last; `None` for the fleet at the beginning.
    pub doubled: Option<Resource>,
    /// The fleet with it.
    pub fleet: Deployment,
    pub outcome: Outcome,
}

/// Doubles what limits the runs until they end within `seconds`, or until no doubling helps: then the longest run decides.
pub fn grow(fleet: &Deployment, workload: &Workload, runs: usize, seconds: f64) -> Vec<GrowthStep> {
    let outcome = simulate(fleet, workload, runs);
    let mut steps = vec![GrowthStep { doubled: None, fleet: fleet.clone(), outcome }];
    while let Some(last) = steps.last().filter(|step| step.outcome.seconds > seconds) {
        let doubling = double_each(&last.fleet, workload, last.outcome.clone());
        let Some(resource) = doubling.next_to_double() else { break };
        let fleet = last.fleet.doubled(resource);
        let mut doubled = doubling.doubled.into_iter().zip(Resource::ALL);
        let (outcome, _) = doubled.find(|(_, name)| *name == resource).expect("each resource was doubled");
        steps.push(GrowthStep { doubled: Some(resource), fleet, outcome });
    }
    steps
}

//! What a larger fleet would change: each resource doubled by itself, and a fleet that grows until it is fast enough.

use super::deployment::{Deployment, Resource};
use super::simulation::{Outcome, simulate};
use super::workload::Workload;

/// A simulation, and its seconds with twice as much of each resource, in the order of [`Resource::ALL`].
#[derive(Debug, Clone, PartialEq)]
pub struct Doubling {
    pub outcome: Outcome,
    pub seconds: [f64; 8],
}

/// Doubles each resource by itself.
pub fn compare_doublings(fleet: &Deployment, workload: &Workload, outcome: Outcome) -> Doubling {
    let seconds = Resource::ALL.map(|resource| simulate(&fleet.doubled(resource), workload, outcome.runs).seconds);
    Doubling { outcome, seconds }
}

/// A fleet on the way to one that is fast enough.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthStep {
    /// What was doubled last; `None` for the fleet at the beginning.
    pub doubled: Option<Resource>,
    /// The limit of that resource now, as in [`Deployment::limit`].
    pub limit: f64,
    pub outcome: Outcome,
}

/// Doubles the busiest resource until the runs end within `seconds`, or until no resource is saturated: then the runs
/// themselves are too long, and a larger fleet does not help.
pub fn grow(fleet: &Deployment, workload: &Workload, runs: usize, seconds: f64) -> Vec<GrowthStep> {
    let mut fleet = fleet.clone();
    let mut steps = vec![GrowthStep { doubled: None, limit: 0.0, outcome: simulate(&fleet, workload, runs) }];
    while let Some(last) = steps.last().filter(|step| step.outcome.seconds > seconds) {
        let Some(resource) = last.outcome.saturated() else { break };
        fleet = fleet.doubled(resource);
        steps.push(GrowthStep {
            doubled: Some(resource),
            limit: fleet.limit(resource),
            outcome: simulate(&fleet, workload, runs),
        });
    }
    steps
}

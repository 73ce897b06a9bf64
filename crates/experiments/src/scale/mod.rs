//! A simulation of many runs on a fleet: how long they take, what they cost, and which resource limits them. Pure: the same
//! seed gives the same result. `docs/src/scale.md` describes the model and where its numbers come from.

mod deployment;
mod measured_runs;
mod plan;
mod report;
mod simulation;
mod workload;

pub use deployment::{Deployment, Resource};
pub use plan::{Doubling, GrowthStep, compare_doublings, grow};
pub use report::{doublings_table, growth_table, results_table};
pub use simulation::{Outcome, simulate};
pub use workload::{Demand, Workload};

#[cfg(test)]
mod tests;

//! Evaluation: a specification against a case with known bugs, in three tiers; suites of cases. It prints nothing.

mod carry;
mod case;
mod evaluate;
mod kills;
mod outcome;
mod specs;
mod suite;
mod tiers;
mod trial;

pub use carry::{Carrier, Put};
pub use case::{Bug, Case, CaseError, Checklist, Constraints, Expected, Target, Wanted, load_suite};
pub use evaluate::{Bench, evaluate};
pub use kills::Judging;
pub use outcome::{
    Criterion, Endless, Evaluation, Fate, Mutant, NotApplicable, Status, TARGET_STATES, Tier1, Tier2, Tier3, Tools,
    Unknown, WEIGHTS, Wrong,
};
pub use specs::{Specs, SpecsError, Told};
pub use suite::{Comparison, Row, compare, mean, read_results, results};

//! Evaluates a specification against a case with known bugs, in three tiers, and suites of cases. It prints nothing.

mod carry;
mod case;
mod evaluate;
mod expected_violation;
mod known_bugs;
mod outcome;
mod score;
mod shard;
mod slots;
mod specs;
mod suite;
mod target;
mod tiers;

pub use carry::{Carrier, ModuleWithProperties};
pub use case::{
    Bug, Case, CaseError, Checklist, ChecklistProperty, Constraints, Expected, SuiteEntry, Target, load_suite,
};
pub use evaluate::{EvaluationContext, evaluate};
pub use known_bugs::JudgingProgress;
pub use outcome::{
    BugOutcome, Criterion, Evaluation, KnownBugResult, NotApplicable, Status, TARGET_STATES, Tier1, Tier2, Tier3,
    TimedOut, Tools, Undecided, WEIGHTS, WrongProperty,
};
pub use score::Score;
pub use shard::{MergedSuite, SuiteShard, digest_case, merge_results};
pub use slots::CheckerSlots;
pub use specs::{ModelAnswers, RunInfo, Specs, SpecsError};
pub use suite::{Comparison, Row, compare, mean, read_results, results};

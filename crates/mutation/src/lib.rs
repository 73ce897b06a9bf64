//! Mutation testing: makes mutants of a specification by operators on its text, and judges each by the properties of the
//! specification. Knows nothing of runs and models.

mod diff;
mod engine;
mod inclusion;
mod judge;
mod judgement;
mod make;
mod mutant;
mod new_label;
mod operator;
mod requirements;
mod results;
mod score;
mod selection;
mod shard;
// Each crate counts its own steps: the counter works only in the unit tests of the crate that contains it.
#[path = "../../tla/src/step_counter.rs"]
mod step_counter;
mod subject;
mod unified_diff;

pub use engine::{Engine, LocalEngine, MutantJob, limits_per_mutant};
pub use judge::Judge;
pub use judgement::{Judgement, LimitSource, Outcome, Summary};
pub use make::mutants;
pub use mutant::{Edit, Mutant};
pub use operator::Operator;
pub use requirements::{requirement_sort_key, requirements_touched};
pub use results::{Results, ResultsError, mutant_json};
pub use score::MutationScore;
pub use selection::Selection;
pub use shard::{MergeError, Shard, ShardFile, arrange_shards, interleave};
pub use subject::{BaselineError, MIN_DEADLINE, Subject};
pub use unified_diff::{ChangedFile, DiffError, parse_unified_diff};

//! The lifelines of a run: the names of the sources of its events.

/// The lifeline that judges mutants.
pub(super) const MUTANTS: &str = "mutants";

/// The lifeline of the second, independent reader of a flaw.
pub(in crate::pipeline) const SECOND_READING: &str = "second_reading";

/// How many formalizations may be drafted side by side.
pub const MAX_CANDIDATES: u32 = 8;
const _: () = assert!(MAX_CANDIDATES as usize == CANDIDATE_LIFELINES.len());

/// The run itself, its nodes, the second reader, and the judging of mutants.
pub const NODE_LIFELINES: [&str; 10] = [
    "run",
    "informal_spec",
    "formalize",
    "validate",
    "generate_invariants",
    "step_contracts",
    "model_check",
    "review",
    "second_reading",
    "mutants",
];

/// The candidates, by their number from 1. Other lifelines know of their events only from messages.
pub const CANDIDATE_LIFELINES: [&str; 8] = [
    "formalize_1",
    "formalize_2",
    "formalize_3",
    "formalize_4",
    "formalize_5",
    "formalize_6",
    "formalize_7",
    "formalize_8",
];

/// The lifeline of a candidate, by its number from 1.
///
/// # Panics
/// If there is no such candidate: numbers are checked when settings are read.
pub fn candidate_lifeline(candidate: u32) -> &'static str {
    CANDIDATE_LIFELINES[candidate as usize - 1]
}

/// All lifelines, in the order of a sequence chart.
pub fn lifelines() -> impl DoubleEndedIterator<Item = &'static str> + Clone {
    NODE_LIFELINES.into_iter().chain(CANDIDATE_LIFELINES)
}

/// Whether a run has a lifeline of this name.
pub fn is_lifeline(name: &str) -> bool {
    lifelines().any(|known| known == name)
}

/// The lifelines that can have an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pipeline) enum LifelineGroup {
    One(&'static str),
    /// All nodes, the second reader and the judging of mutants.
    Activities,
    /// The nodes whose claims a branch takes over and a dropped trial restores.
    Restored,
    /// All that send requests to a model, candidates included.
    Asking,
    /// All that run translator and parser, candidates included.
    Inspecting,
    /// All that run the model checker, candidates included.
    Checking,
    Candidates,
}

impl LifelineGroup {
    pub(in crate::pipeline) fn include(self, lifeline: &str) -> bool {
        let is_candidate = CANDIDATE_LIFELINES.contains(&lifeline);
        match self {
            LifelineGroup::One(one) => lifeline == one,
            LifelineGroup::Activities => NODE_LIFELINES[1..].contains(&lifeline),
            LifelineGroup::Restored => NODE_LIFELINES[1..7].contains(&lifeline),
            LifelineGroup::Asking => {
                let others = ["run", "validate", "model_check", "mutants"];
                is_candidate || NODE_LIFELINES.contains(&lifeline) && !others.contains(&lifeline)
            }
            LifelineGroup::Inspecting => {
                is_candidate || ["validate", "generate_invariants", "step_contracts"].contains(&lifeline)
            }
            LifelineGroup::Checking => is_candidate || lifeline == "model_check",
            LifelineGroup::Candidates => is_candidate,
        }
    }

    /// For people and models.
    pub(in crate::pipeline) fn words(self) -> &'static str {
        match self {
            LifelineGroup::One(one) => one,
            LifelineGroup::Activities => "all but run, candidates",
            LifelineGroup::Restored => "informal_spec to model_check",
            LifelineGroup::Asking => "those that ask a model",
            LifelineGroup::Inspecting => "validate, generate_invariants, step_contracts, candidates",
            LifelineGroup::Checking => "model_check, candidates",
            LifelineGroup::Candidates => "candidates",
        }
    }
}

//! The lifelines of a run, by which its journal says who did what.

/// The lifeline that judges mutants.
pub(super) const MUTANTS: &str = "mutants";

/// The lifeline of the second, independent reader of a flaw.
pub(in crate::pipeline) const SECOND_READING: &str = "second_reading";

/// How many formalizations may be drafted side by side.
pub const MAX_CANDIDATES: u32 = 8;
const _: () = assert!(MAX_CANDIDATES as usize == CANDIDATE_LIFELINES.len());

/// The run itself, its nodes, the second reader, and the judging of mutants.
pub const NODE_LIFELINES: [&str; 9] = [
    "run",
    "informal_spec",
    "formalize",
    "validate",
    "generate_invariants",
    "model_check",
    "review",
    "second_reading",
    "mutants",
];

/// Formalizations that are drafted side by side, by their number from 1. The others learn what they did only from their
/// messages.
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
pub fn lifeline_of(candidate: u32) -> &'static str {
    CANDIDATE_LIFELINES[candidate as usize - 1]
}

/// All lifelines, in the order of a chart.
pub fn lifelines() -> impl DoubleEndedIterator<Item = &'static str> + Clone {
    NODE_LIFELINES.into_iter().chain(CANDIDATE_LIFELINES)
}

/// Whether a run has a lifeline of this name.
pub fn is_lifeline(name: &str) -> bool {
    lifelines().any(|known| known == name)
}

/// The lifelines that can have an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pipeline) enum Makers {
    /// This one.
    One(&'static str),
    /// All that work: every node, the second reader, the judging of mutants.
    Jobs,
    /// The nodes whose work a branch takes over and a trial may undo.
    Restored,
    /// All that ask a model, candidates among them.
    Asking,
    /// All that have a module translated and parsed, candidates among them.
    Inspecting,
    /// All that have a specification checked, candidates among them.
    Checking,
    /// The candidates.
    Candidates,
}

impl Makers {
    pub(in crate::pipeline) fn include(self, lifeline: &str) -> bool {
        let is_candidate = CANDIDATE_LIFELINES.contains(&lifeline);
        match self {
            Makers::One(one) => lifeline == one,
            Makers::Jobs => NODE_LIFELINES[1..].contains(&lifeline),
            Makers::Restored => NODE_LIFELINES[1..6].contains(&lifeline),
            Makers::Asking => {
                let asking = ["informal_spec", "formalize", "generate_invariants", "review", "second_reading"];
                is_candidate || asking.contains(&lifeline)
            }
            Makers::Inspecting => is_candidate || ["validate", "generate_invariants"].contains(&lifeline),
            Makers::Checking => is_candidate || lifeline == "model_check",
            Makers::Candidates => is_candidate,
        }
    }

    /// For people and models.
    pub(in crate::pipeline) fn words(self) -> &'static str {
        match self {
            Makers::One(one) => one,
            Makers::Jobs => "all but run, candidates",
            Makers::Restored => "informal_spec to model_check",
            Makers::Asking => "those that ask a model",
            Makers::Inspecting => "validate, generate_invariants, candidates",
            Makers::Checking => "model_check, candidates",
            Makers::Candidates => "candidates",
        }
    }
}

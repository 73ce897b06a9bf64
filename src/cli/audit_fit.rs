//! Logs that give no verdict: nothing in them is a state, or they are of another shape than was said.

use std::collections::BTreeSet;
use std::path::Path;

use super::failure::Failure;
use crate::exit::Exit;
use crate::monitor::log::{Mapping, MissedCalls, Shape, ShapeFit, best_shape, fit_shapes};

/// What was read of a log, as far as it shows whether the shape fits.
pub(super) struct ReadLog<'a> {
    pub path: &'a Path,
    pub shape: Shape,
    /// Where the log keeps things, as the user said, without what the shape adds.
    pub said: &'a Mapping,
    pub beginning: &'a [u8],
    pub records: u64,
    pub states: u64,
    /// What some state tells.
    pub told: BTreeSet<&'static str>,
    /// Records with calls that the shape does not have.
    pub missed: MissedCalls,
    /// Whether records are messages of a list, and no lines.
    pub is_list: bool,
    /// What rules ask for.
    pub asked: BTreeSet<&'static str>,
}

impl ReadLog<'_> {
    /// Why there is no verdict, if there is none.
    pub(super) fn no_verdict(&self) -> Option<Failure> {
        self.does_not_fit().or_else(|| self.misses_calls())
    }

    /// Some records have calls where the shape has none.
    fn misses_calls(&self) -> Option<Failure> {
        let first = self.missed.first?;
        let have = if self.missed.records == 1 { "record has" } else { "records have" };
        let what = format!(
            "{} {have} tool calls where the shape `{}` has none; the first is {} {first}",
            self.missed.records,
            self.shape,
            if self.is_list { "message" } else { "line" },
        );
        let hint = format!("to read them as well: {}", self.missed.flags(self.shape));
        Some(self.failure(&what).hint(hint))
    }

    fn does_not_fit(&self) -> Option<Failure> {
        if self.records == 0 {
            return Some(self.failure("the log has no record"));
        }
        if self.states == 0 {
            let records = crate::report::counted(self.records, "record");
            let what = format!("the log has {records}, and none of them is a state of the shape `{}`", self.shape);
            return Some(self.with_best(self.failure(&what)));
        }
        let said = [&self.said.tool_call, &self.said.text, &self.said.stop_reason].iter().any(|paths| paths.is_some());
        if said || (self.told.is_empty() && self.asked.is_empty() && self.shape == Shape::Jsonl) {
            return None;
        }
        let all = fit_shapes(self.beginning);
        let is_alike = all.iter().any(|fit| fit.shape == self.shape && fit.matching_records > 0);
        if is_alike && self.shape != Shape::Jsonl {
            return None;
        }
        if self.shape != Shape::Jsonl && self.told.is_empty() {
            let what =
                format!("the log is not of the shape `{}`: nothing in it is where that shape has it", self.shape);
            return Some(self.with_best(self.failure(&what)));
        }
        // Any JSON lines are of the shape `jsonl`, but another one may find what it does not.
        let missing: BTreeSet<&str> = self.asked.difference(&self.told).copied().collect();
        let finds =
            |fit: &&ShapeFit| fit.shape != self.shape && fit.observations.iter().any(|kind| missing.contains(kind));
        let best = all.iter().filter(finds).max_by_key(|fit| (fit.matching_records, fit.observations.len()))?;
        let kinds: Vec<&str> = best.observations.iter().copied().filter(|kind| missing.contains(kind)).collect();
        let what = format!(
            "rules ask for {}, which no record has where the shape `{}` has it, but some where `{}` has it",
            kinds.join(" and "),
            self.shape,
            best.shape
        );
        let hint = format!("the shape that fits best is `{0}`: --shape {0}; or say with --map where it is", best.shape);
        Some(self.failure(&what).hint(hint))
    }

    /// A log that cannot be read as this shape.
    pub(super) fn unreadable(&self, why: &str) -> Option<Failure> {
        let best = best_shape(&fit_shapes(self.beginning)).filter(|best| *best != self.shape)?;
        let what = format!("the log is not of the shape `{}`, but of `{best}`: {why}", self.shape);
        Some(self.with_best(self.failure(&what)))
    }

    fn failure(&self, what: &str) -> Failure {
        Failure::new(Exit::Undecided, format!("{}: no verdict: {what}", self.path.display()))
    }

    fn with_best(&self, failure: Failure) -> Failure {
        match best_shape(&fit_shapes(self.beginning)).filter(|best| *best != self.shape) {
            Some(best) => failure.hint(format!("the shape that fits best is `{best}`: --shape {best}")),
            None => failure.hint("the policy's [log] table or --map says where the log keeps things"),
        }
    }
}

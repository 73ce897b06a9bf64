//! Detects logs without a verdict: no record is a state, or the log has another shape than expected.

use std::collections::BTreeSet;
use std::path::Path;

use super::failure::Failure;
use super::terminal::print_message;
use crate::exit::Exit;
use crate::monitor::log::{Mapping, MissedCalls, OtherCalls, Shape, ShapeFit, best_shape, fit_shapes};
use crate::monitor::{LiveAudit, RuleFinding, Verdict};

/// What was read of a log, as evidence for or against its shape.
pub(super) struct ReadLog<'a> {
    pub path: &'a Path,
    pub shape: Shape,
    /// The mapping of the user, without the paths that the shape adds.
    pub user_mapping: &'a Mapping,
    pub beginning: &'a [u8],
    pub records: u64,
    pub states: u64,
    /// Kinds of data that some state has.
    pub found_kinds: BTreeSet<&'static str>,
    /// Records with tool calls in places that the shape does not read.
    pub missed: MissedCalls,
    /// Whether records are messages of a list instead of lines.
    pub is_list: bool,
    /// Kinds of data that rules use.
    pub wanted_kinds: BTreeSet<&'static str>,
    /// What the user has said about calls in other places.
    pub other_calls: OtherCalls,
    /// Whether a log without a call gets a verdict on rules about calls.
    pub allow_no_calls: bool,
}

impl ReadLog<'_> {
    /// Returns why rules that read calls have no verdict, if they have none.
    pub(super) fn explain_unread_calls(&self) -> Option<Failure> {
        self.explain_missed_calls().or_else(|| self.explain_no_calls())
    }

    /// Withdraws the verdicts that do not count, and returns why. Violations that are decided, and rules that do not read
    /// what is missing, keep theirs.
    pub(super) fn withdraw_verdicts(
        &self,
        findings: &mut [RuleFinding],
        reads_calls: impl Fn(&str) -> bool,
    ) -> Option<Failure> {
        let misfit = self.explain_misfit();
        let is_misfit = misfit.is_some();
        let failure = misfit.or_else(|| self.explain_unread_calls())?;
        let why = failure.message.strip_prefix(&format!("{}: ", self.path.display())).unwrap_or(&failure.message);
        for finding in findings {
            let is_decided = finding.verdict == Verdict::Violated;
            let is_in_doubt = if is_misfit {
                // A violation that rests on data of another shape is none.
                !is_decided || !finding.warnings.is_empty()
            } else {
                !is_decided && reads_calls(&finding.rule.id)
            };
            if is_in_doubt {
                finding.withdraw_verdict(why);
            }
        }
        Some(failure)
    }

    fn explain_missed_calls(&self) -> Option<Failure> {
        let first = self.missed.first?;
        let have =
            if self.missed.records == 1 { "record has what may be a call" } else { "records have what may be calls" };
        let paths: Vec<String> = self.missed.paths.iter().map(|path| format!("`{path}`")).collect();
        let what = format!(
            "{} {have}, in places or forms that the shape `{}` does not have; the first is {} {first} ({})",
            self.missed.records,
            self.shape,
            if self.is_list { "message" } else { "line" },
            paths.join(", "),
        );
        let failure = match self.other_calls {
            // A call without a name cannot be read.
            _ if !self.missed.is_named => self.failure(&(what + ", without the name of a tool")),
            OtherCalls::Read => self.failure(&what),
            // Only its responses are states, so records of other kinds need another shape.
            _ if self.shape == Shape::Agentlog => {
                self.failure(&what).hint("to read them as calls: --shape jsonl --other-calls read")
            }
            _ => self.failure(&what).hint("to read them as calls: --other-calls read"),
        };
        Some(failure.hint("to leave them out: --other-calls ignore"))
    }

    /// No call anywhere is either an agent that called nothing, or a log without its calls.
    fn explain_no_calls(&self) -> Option<Failure> {
        let is_without = self.wanted_kinds.contains("tool_call") && !self.found_kinds.contains("tool_call");
        let failure = || {
            let what = "rules ask for tool calls, and no record has one";
            self.failure(what).hint("if it is right that nothing was called: --allow-no-calls")
        };
        (is_without && !self.allow_no_calls && self.shape != Shape::Journal).then(failure)
    }

    pub(super) fn explain_misfit(&self) -> Option<Failure> {
        if self.records == 0 {
            return Some(self.failure("the log has no records"));
        }
        if self.states == 0 {
            let records = crate::report::counted(self.records, "record");
            let what = format!("the log has {records}, none of which is a state of the shape `{}`", self.shape);
            return Some(self.with_best(self.failure(&what)));
        }
        let is_mapped = [&self.user_mapping.tool_call, &self.user_mapping.text, &self.user_mapping.stop_reason]
            .iter()
            .any(|paths| paths.is_some());
        // The user has named the paths, so the shape does not matter.
        if is_mapped || (self.found_kinds.is_empty() && self.wanted_kinds.is_empty() && self.shape == Shape::Jsonl) {
            return None;
        }
        let all = fit_shapes(self.beginning);
        let is_alike = all.iter().any(|fit| fit.shape == self.shape && fit.matching_records > 0);
        // The log has this shape, and no record happens to have that kind of data; the verdicts warn about it.
        if is_alike && self.shape != Shape::Jsonl {
            return None;
        }
        if self.shape != Shape::Jsonl && self.found_kinds.is_empty() {
            let what = format!(
                "the log does not have the shape `{}`: no record has data in the places of that shape",
                self.shape
            );
            return Some(self.with_best(self.failure(&what)));
        }
        // Every JSON lines file fits `jsonl`, but another shape may find data that `jsonl` does not.
        let missing: BTreeSet<&str> = self.wanted_kinds.difference(&self.found_kinds).copied().collect();
        let finds =
            |fit: &&ShapeFit| fit.shape != self.shape && fit.observations.iter().any(|kind| missing.contains(kind));
        let best = all.iter().filter(finds).max_by_key(|fit| (fit.matching_records, fit.observations.len()))?;
        let kinds: Vec<&str> = best.observations.iter().copied().filter(|kind| missing.contains(kind)).collect();
        let what = format!(
            "rules use {}, which no record has in the place of the shape `{}`, but some have in the place of `{}`",
            kinds.join(" and "),
            self.shape,
            best.shape
        );
        let hint = format!("use the shape that fits best, --shape {0}, or set the path with --map", best.shape);
        Some(self.failure(&what).hint(hint))
    }

    /// The failure for a log that cannot be read as this shape but fits another one.
    pub(super) fn explain_unreadable(&self, why: &str) -> Option<Failure> {
        let best = best_shape(&fit_shapes(self.beginning)).filter(|best| *best != self.shape)?;
        let what = format!("the log does not have the shape `{}`, but `{best}`: {why}", self.shape);
        Some(self.with_best(self.failure(&what)))
    }

    fn failure(&self, what: &str) -> Failure {
        Failure::new(Exit::Undecided, format!("{}: no verdict: {what}", self.path.display()))
    }

    fn with_best(&self, failure: Failure) -> Failure {
        match best_shape(&fit_shapes(self.beginning)).filter(|best| *best != self.shape) {
            Some(best) => failure.hint(format!("use the shape that fits best: --shape {best}")),
            None => failure.hint("set the paths of the log in the [log] table of the policy, or with --map"),
        }
    }
}

/// Whether a warning only says that no record has a call.
pub(super) fn is_about_no_call(warning: &str) -> bool {
    warning.starts_with("no record has a `tool_call`")
}

/// What speaks against the verdicts on a log that was followed.
pub(super) fn doubts_of_followed(follower: &LiveAudit, skipped: &[u64]) -> Vec<String> {
    let mut doubts = Vec::new();
    if !skipped.is_empty() {
        let lines: Vec<String> = skipped.iter().take(10).map(u64::to_string).collect();
        doubts.push(format!(
            "{} left out (lines {})",
            crate::report::counted(skipped.len() as u64, "record"),
            lines.join(", ")
        ));
    }
    if follower.log().cut_off_calls > 0 {
        doubts.push("the log ends within a call".to_owned());
    }
    if follower.log().conflicting_calls.is_some() {
        doubts.push("different calls have the same identifier".to_owned());
    }
    for doubt in &doubts {
        print_message(&format!("warning: {doubt}"));
    }
    doubts
}

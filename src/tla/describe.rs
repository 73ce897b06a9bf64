//! The outcome of a check in words: the same for a person, a reviewer and a report.

use std::fmt::Write as _;

use super::diagnostic::Stage;
use super::outcome::{Bounds, CheckOutcome, Checker, Reached, Statistics, Verdict, Violation, ViolationKind};
use super::show::trace_table;

impl Verdict {
    /// `holds`, `violated`, `invalid` or `inconclusive`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated { .. } => "violated",
            Verdict::Invalid { .. } => "invalid",
            Verdict::Inconclusive { .. } => "inconclusive",
        }
    }
}

impl Violation {
    /// `invariant Safe`, `deadlock`, …
    pub fn words(&self) -> String {
        let kind = match self.kind {
            ViolationKind::Invariant => "invariant",
            ViolationKind::Property => "temporal property",
            ViolationKind::ActionProperty => "action property",
            ViolationKind::Deadlock => "deadlock",
            ViolationKind::Assumption => "assumption",
            ViolationKind::Assertion => "assertion",
            ViolationKind::Evaluation => "evaluation",
            ViolationKind::Parse => "parse",
        };
        self.name.as_ref().map_or_else(|| kind.to_owned(), |name| format!("{kind} {name}"))
    }
}

/// The verdict as one sentence.
pub fn verdict_sentence(outcome: &CheckOutcome) -> String {
    match &outcome.verdict {
        Verdict::Holds => {
            let names: Vec<&str> = outcome.invariants.iter().chain(&outcome.properties).map(String::as_str).collect();
            if names.is_empty() {
                "holds: no invariant and no property was checked, only the absence of errors".to_owned()
            } else {
                format!("holds: {}", names.join(", "))
            }
        }
        Verdict::Violated { violated } if violated.kind == ViolationKind::Deadlock => {
            "violated: deadlock (a reachable state has no successor)".to_owned()
        }
        Verdict::Violated { violated } => format!("violated: {}", violated.words()),
        Verdict::Invalid { violated, reason, diagnostics } => {
            let of_cfg = diagnostics.first().is_some_and(|d| d.stage == Stage::Config);
            let what = match violated.kind {
                ViolationKind::Parse if of_cfg => "the configuration cannot be used",
                ViolationKind::Parse => "it does not parse",
                _ => "it cannot be evaluated",
            };
            format!("invalid: {what}: {}", reason.trim())
        }
        Verdict::Inconclusive { reason } => format!("inconclusive: {reason}"),
    }
}

/// What the checker counted, as one sentence.
pub fn statistics_sentence(statistics: &Statistics) -> String {
    let count = |n: Option<u64>| n.map_or_else(|| "an unknown number of".to_owned(), |n| n.to_string());
    let mut text = format!("{} states generated, {} distinct", count(statistics.generated), count(statistics.distinct));
    if let Some(depth) = statistics.depth {
        let _ = write!(text, ", depth {depth}");
    }
    match statistics.left_on_queue {
        Some(0) => text.push_str(", none left on the queue"),
        Some(n) => {
            let _ = write!(text, ", {n} left on the queue");
        }
        None => {}
    }
    let _ = write!(text, ", {:.1} s", statistics.seconds);
    text
}

/// The bounds within which a verdict holds, as one line.
pub fn bounds_sentence(bounds: &Bounds) -> String {
    let mut parts: Vec<String> = bounds
        .constants
        .iter()
        .map(|(name, value)| match value.strip_prefix("<-") {
            Some(operator) => format!("{name} <- {}", operator.trim()),
            None => format!("{name} = {value}"),
        })
        .collect();
    if parts.is_empty() {
        parts.push("no constants".into());
    }
    let list = |what: &str, names: &[String]| format!("{what} {}", names.join(", "));
    parts.push(if bounds.constraints.is_empty() {
        "no constraint".into()
    } else {
        list("constraint", &bounds.constraints)
    });
    if let Some(view) = &bounds.view {
        parts.push(format!("view {view}"));
    }
    parts.push(if bounds.symmetry.is_empty() { "no symmetry".into() } else { list("symmetry", &bounds.symmetry) });
    parts.push(if bounds.deadlock_checked { "deadlock checked" } else { "deadlock not checked" }.into());
    if let Some(p) = bounds.collision_probability {
        parts.push(format!("probability of a fingerprint collision {p:.1e}"));
    }
    parts.join("; ")
}

/// A whole outcome as Markdown that also reads well on a terminal of `width` columns.
pub fn outcome_text(outcome: &CheckOutcome, width: usize) -> String {
    let mut text = String::new();
    let checker = match outcome.checker {
        Checker::Tlc => "TLC",
        Checker::Embedded => "the embedded checker (SANY and TLC have not seen it)",
    };
    let _ = writeln!(text, "# Verdict of {checker}\n\n{}\n", verdict_sentence(outcome));
    let _ = writeln!(text, "Counts: {}", statistics_sentence(&outcome.statistics));
    let _ = writeln!(text, "Bounds: {}", bounds_sentence(&outcome.bounds));
    if let Verdict::Invalid { diagnostics, .. } = &outcome.verdict {
        for diagnostic in diagnostics {
            let _ = writeln!(text, "- {diagnostic}");
        }
    }
    if !outcome.witnesses.is_empty() {
        text.push_str("\n## Witnesses\n\n");
        for witness in &outcome.witnesses {
            let said = match &witness.reached {
                Reached::Yes { depth } => format!("reached after {depth} states"),
                Reached::No => "NOT reached by any behaviour".to_owned(),
                Reached::Unknown(why) => format!("not decided: {why}"),
            };
            let _ = writeln!(text, "- {}: {said}", witness.name);
        }
    }
    if let Some(coverage) = &outcome.coverage {
        text.push_str("\n## Actions, and how often each was taken\n\n");
        for action in coverage {
            let never = if action.taken == 0 { "  NEVER TAKEN" } else { "" };
            let _ = writeln!(text, "- {}: {}{never}", action.action, action.taken);
        }
    }
    if let Some(trace) = &outcome.trace {
        let _ = writeln!(text, "\n## Counterexample\n\n{}", trace_table(trace, width).trim_end());
    }
    if !outcome.warnings.is_empty() {
        text.push_str("\n## Warnings\n\n");
        for warning in &outcome.warnings {
            let _ = writeln!(text, "- {warning}");
        }
    }
    text
}

//! For the reviewer: whether a larger constant makes a violation disappear, and the results for larger bounds after a check
//! that holds.

use std::fmt::Write as _;

use crate::pipeline::RunView;
use crate::tla::{
    CheckOutcome, ConstantProbe, LargerBound, ProbeResult, UNLIMITED_WIDTH, Verdict, ViolationKind,
    larger_bounds_lines, trace_table,
};

/// The effect of larger constants on a violation.
#[derive(Default)]
pub(super) struct LargerConstants {
    /// Bounds that alone cause the violation.
    pub sole_causes: Vec<String>,
    /// Bounds whose effect is not decided.
    pub open: Vec<String>,
}

/// Compares the violation with the checks of larger constants. If a deadlock comes later with a larger constant, the bound
/// causes it, unless the documents grant the bound (`bound_granted`).
pub(super) fn compare_larger_constants(check: &CheckOutcome, bound_granted: bool) -> LargerConstants {
    let states = check.trace.as_ref().map_or(0, |trace| trace.steps.len());
    let deadlock = matches!(&check.verdict, Verdict::Violated { violated } if violated.kind == ViolationKind::Deadlock);
    let larger = check.probes.as_ref().map(|probes| probes.larger_constants.as_slice()).unwrap_or_default();
    let mut found = LargerConstants::default();
    for (name, value) in check.bounds.constants.iter().filter(|(_, value)| value.parse::<i64>().is_ok()) {
        match larger.iter().find(|l| l.constant == *name) {
            Some(l) if l.result == ProbeResult::Holds => found.sole_causes.push(l.sentence(states)),
            // A counter at its limit also stops the protocol, later if the limit is larger.
            Some(l) if deadlock && l.needs_longer_trace(states) && !bound_granted => found.sole_causes.push(format!(
                "{}, and no line of the documents that grants the bound is cited in `flaw.bound`",
                l.sentence(states)
            )),
            Some(ConstantProbe { result: ProbeResult::StillViolated { .. }, .. }) => {}
            Some(l) => found.open.push(l.sentence(states)),
            None => found.open.push(format!("with another value than {name} = {value}: not checked")),
        }
    }
    let unprobed_bounds = check.probes.iter().flat_map(|probes| &probes.unprobed_bounds);
    found.open.extend(unprobed_bounds.map(|bound| format!("{bound}: not checked with more")));
    found
}

/// Writes the results for larger bounds, and what a review can do about those with which a property is violated.
pub(super) fn write_larger_bounds(text: &mut String, view: &RunView) {
    let Some(check) = view.fresh_check().filter(|check| !check.larger_bounds.is_empty()) else { return };
    text.push_str("\n## Larger bounds\n\n");
    for line in larger_bounds_lines(&check.larger_bounds) {
        let _ = writeln!(text, "- {line}");
    }
    let open: Vec<String> = view.bounds_to_accept().filter(|bound| bound.is_open()).map(LargerBound::name).collect();
    if !open.is_empty() {
        let _ = writeln!(
            text,
            "- not decided or not tried: {}. For each, either accept it in `accepted_bounds`, with the reason why the smaller value \
             already shows every interaction of the requirements, or ask for smaller constants or a smaller model \
             (`cfg_mismatch`, `state_explosion_risk`)",
            open.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        );
    }
    for bound in &check.larger_bounds {
        let Some(words) = bound.violated_words(&check.bounds) else { continue };
        let name = bound.name();
        let _ = writeln!(
            text,
            "- {words}. Either have this value used in the configuration (`cfg_mismatch`), where the violation is then judged as \
             any other, or accept `{name}` in `accepted_bounds`, with the reason why the documents exclude it"
        );
        if let Some((_, Some(trace))) = bound.violated() {
            let _ = writeln!(text, "\n{}\n", trace_table(trace, UNLIMITED_WIDTH).trim_end());
        }
    }
}

//! The outcome of a check as text, with the same sentences for the terminal, the prompts and the report.

use std::fmt::Write as _;

use super::bounds::Bounds;
use super::branch_coverage::Branch;
use super::diagnostic::{Diagnostic, Stage};
use super::outcome::{
    CheckOutcome, Checker, Confirmation, FurtherVerdict, Reached, Statistics, Verdict, Violation, ViolationKind,
};
use super::outcome_status::status_sentence;
use super::probe::FairnessProbe;
use super::trace_text::{trace_table, trace_table_after};

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

    /// An inconclusive verdict, for a reason other than time.
    pub fn inconclusive(reason: impl Into<String>) -> Self {
        Verdict::Inconclusive { reason: reason.into(), timed_out: false }
    }

    /// Whether there is no verdict because the check reached its time limit.
    pub fn is_timed_out(&self) -> bool {
        matches!(self, Verdict::Inconclusive { timed_out: true, .. })
    }
}

impl Violation {
    /// What is violated: `invariant Safe`, `deadlock`, …
    pub fn description(&self) -> String {
        let kind = match self.kind {
            ViolationKind::Invariant => "invariant",
            ViolationKind::Property => "temporal property",
            ViolationKind::ActionProperty => "action property",
            ViolationKind::Deadlock => "deadlock",
            ViolationKind::NoBehaviour => "no behaviour",
            ViolationKind::Assumption => "assumption",
            ViolationKind::Assertion => "assertion",
            ViolationKind::Evaluation => "evaluation",
            ViolationKind::Parse => "parse",
        };
        match (&self.name, self.kind) {
            (None, _) => kind.to_owned(),
            // Assumptions and assertions have no name: `name` is the tool's position, or the message of the assertion.
            (Some(place), ViolationKind::Assumption) if place.starts_with("line ") => format!("{kind} at {place}"),
            (Some(message), ViolationKind::Assertion) => format!("{kind}: {message}"),
            (Some(name), _) => format!("{kind} {name}"),
        }
    }
}

/// Added to every verdict that comes without the reference tools.
pub const WITHOUT_JAVA: &str = "checked without SANY and TLC";

/// The tools that translated and parsed the module before this checker ran.
pub fn parsed_by(checker: Checker) -> &'static str {
    match checker {
        Checker::Tlc => "the PlusCal translator and SANY",
        Checker::Embedded => "the embedded translator and static checks, not by SANY",
    }
}

/// The tools that translated and parsed the module of an outcome.
pub fn parsers_of(outcome: &CheckOutcome) -> &'static str {
    match outcome.confirmation {
        Some(Confirmation::By(_)) => {
            "the embedded translator and static checks, and by the PlusCal translator and SANY"
        }
        _ => parsed_by(outcome.checker),
    }
}

/// Whether the reference tools came to the verdict, too, for the parentheses after it; `None` if they decided it, or if its reason
/// says so.
fn reference_note(outcome: &CheckOutcome) -> Option<String> {
    match (outcome.checker, &outcome.confirmation) {
        (Checker::Tlc, _) => None,
        (Checker::Embedded, None) => Some(WITHOUT_JAVA.to_owned()),
        (Checker::Embedded, Some(Confirmation::By(_))) => Some("confirmed by SANY and TLC".to_owned()),
        (Checker::Embedded, Some(Confirmation::Missing(_))) if outcome.verdict.name() == "inconclusive" => None,
        (Checker::Embedded, Some(Confirmation::Missing(why))) => Some(format!("not confirmed by TLC: {why}")),
    }
}

/// Adds to a text about an outcome whether the reference tools came to it, too.
pub fn with_checker(text: String, outcome: Option<&CheckOutcome>) -> String {
    match outcome.and_then(reference_note) {
        Some(note) => format!("{text} ({note})"),
        None => text,
    }
}

/// The verdict as one sentence.
pub fn verdict_sentence(outcome: &CheckOutcome) -> String {
    with_checker(sentence(outcome), Some(outcome))
}

fn sentence(outcome: &CheckOutcome) -> String {
    match &outcome.verdict {
        Verdict::Holds => {
            let listed = outcome.invariants.iter().chain(&outcome.properties);
            let names: Vec<String> = listed
                .map(|name| {
                    let suffix = match outcome.why_vacuous(name) {
                        _ if outcome.is_initial_only(name) => " (initial states only)",
                        Some(_) => " (vacuous)",
                        None => "",
                    };
                    format!("{name}{suffix}")
                })
                .collect();
            let nothing = "no invariant and no property was checked, only the absence of errors";
            match (describe_unreached(outcome), names.is_empty()) {
                (None, true) if outcome.bounds.assumptions_only => {
                    "holds: only assumptions were checked, because the configuration names neither SPECIFICATION nor INIT and NEXT".to_owned()
                }
                (None, true) => format!("holds: {nothing}"),
                (None, false) => format!("holds: {}", names.join(", ")),
                (Some(missing), is_empty) => {
                    let holds = if has_no_behaviour(outcome) { "holds trivially:" } else { "holds, but" };
                    let checked = if is_empty { nothing.to_owned() } else { format!("checked: {}", names.join(", ")) };
                    format!("{holds} {missing}; {checked}")
                }
            }
        }
        Verdict::Violated { violated } if violated.kind == ViolationKind::Deadlock => {
            "violated: deadlock (a reachable state has no successor)".to_owned()
        }
        Verdict::Violated { violated } if violated.kind == ViolationKind::NoBehaviour => {
            "violated: no behaviour (no behaviour satisfies what the specification assumes, so every property holds of it)"
                .to_owned()
        }
        Verdict::Violated { violated } => format!("violated: {}", violated.description()),
        Verdict::Invalid { violated, reason, diagnostics } => {
            let first = diagnostics.first();
            let what = match first.map(|d| d.stage) {
                _ if violated.kind != ViolationKind::Parse => "it cannot be evaluated",
                Some(Stage::Lint) => "it is refused",
                Some(Stage::Translate) => "its PlusCal algorithm does not translate",
                Some(Stage::Config) => "its configuration does not fit",
                _ => "it does not parse",
            };
            format!("invalid: {what}{}: {}", first.map_or_else(String::new, place), reason.trim())
        }
        Verdict::Inconclusive { reason, .. } => format!("inconclusive: {reason}"),
    }
}

/// Whether a complete check found no state, although the configuration gives a behaviour.
pub fn has_no_behaviour(outcome: &CheckOutcome) -> bool {
    outcome.verdict == Verdict::Holds && outcome.statistics.distinct == Some(0) && !outcome.bounds.assumptions_only
}

/// Describes what makes a positive verdict worth little: that there is no behaviour at all, and the witnesses that no
/// behaviour was shown to reach. `None` if there is nothing of this kind.
pub fn describe_unreached(outcome: &CheckOutcome) -> Option<String> {
    let list = |is_wanted: fn(&Reached) -> bool, title: &str| {
        let witnesses = outcome.witnesses.iter().filter(|w| is_wanted(&w.reached));
        let names: Vec<&str> = witnesses.map(|w| w.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{title}: {}", names.join(", ")))
    };
    let missing = list(|r| matches!(r, Reached::No), "not reached");
    let open = list(|r| matches!(r, Reached::Unknown(_)), "not decided whether reached");
    let empty = has_no_behaviour(outcome).then(|| "there is no initial state, so there is no behaviour".to_owned());
    let parts: Vec<String> = empty.into_iter().chain(missing).chain(open).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The results of further runs on the violation of an outcome, one line each; empty if nothing is violated.
pub fn probe_lines(outcome: &CheckOutcome) -> Vec<String> {
    let (Verdict::Violated { .. }, Some(probes)) = (&outcome.verdict, &outcome.probes) else { return Vec::new() };
    let states = outcome.trace.as_ref().map_or(0, |trace| trace.steps.len());
    let fair = probes.weak_fairness.iter().map(FairnessProbe::sentence);
    let larger = probes.larger_constants.iter().map(|probe| probe.sentence(states));
    let unprobed = (!probes.unprobed_bounds.is_empty())
        .then(|| format!("not checked with more: {}", probes.unprobed_bounds.join("; ")));
    fair.chain(larger).chain(unprobed).collect()
}

/// Each witness and its result, one line each.
pub fn witness_lines(outcome: &CheckOutcome) -> Vec<String> {
    let result = |reached: &Reached| match reached {
        Reached::Yes { depth: 1 } => "reached after 1 state".to_owned(),
        Reached::Yes { depth } => format!("reached after {depth} states"),
        Reached::No => "NOT reached by any behaviour".to_owned(),
        Reached::Unknown(why) => format!("not decided: {why}"),
    };
    outcome.witnesses.iter().map(|w| format!("{}: {}", w.name, result(&w.reached))).collect()
}

/// Actions that were never taken; empty if the checker stopped before it had explored all states.
pub fn never_taken_actions(outcome: &CheckOutcome) -> Vec<&str> {
    let all = outcome.coverage.as_ref().filter(|_| !stopped_early(outcome)).into_iter().flatten();
    all.filter(|a| a.taken == 0 && !a.is_translators_end()).map(|a| a.action.as_str()).collect()
}

/// Branches that were never taken, one line each.
pub fn never_taken_branches(outcome: &CheckOutcome) -> Vec<String> {
    outcome.branches.iter().flat_map(|branches| &branches.never_taken).map(Branch::description).collect()
}

/// Branches for which the check did not find out whether a step takes them, one line each.
pub fn undecided_branches(outcome: &CheckOutcome) -> Vec<String> {
    outcome.branches.iter().flat_map(|branches| &branches.undecided).map(Branch::description).collect()
}

/// ` (line 3, column 5)`; empty if the message already contains the position.
fn place(diagnostic: &Diagnostic) -> String {
    let Diagnostic { line, column, message, .. } = diagnostic;
    if *line == 0 || message.contains(&format!("line {line}, column {column}")) {
        String::new()
    } else {
        format!(" (line {line}, column {column})")
    }
}

/// The counts of the checker as one sentence.
pub fn statistics_sentence(statistics: &Statistics) -> String {
    if statistics.generated.is_none() && statistics.distinct.is_none() {
        return format!("no counts of states were given, {:.1} s", statistics.reported_seconds());
    }
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
    let _ = write!(text, ", {:.1} s", statistics.reported_seconds());
    text
}

/// The verdict with its bounds, as one line. A rejected specification has no bounds.
pub fn verdict_with_bounds(outcome: &CheckOutcome) -> String {
    let verdict = verdict_sentence(outcome);
    if is_rejected(outcome) { verdict } else { format!("{verdict}; within {}", bounds_sentence(&outcome.bounds)) }
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
    if !bounds.initial_state_properties.is_empty() {
        parts.push(list("checked in the initial states only:", &bounds.initial_state_properties));
    }
    parts.extend(bounds.initial_state_parts.iter().chain(&bounds.assumptions).cloned());
    parts.push(deadlock_sentence(bounds));
    if !bounds.vacuous_premises.is_empty() {
        parts.push(list("premises not shown to be true in any state:", &bounds.vacuous_premises));
    }
    parts.extend(bounds.vacuous_properties.iter().map(|(name, why)| format!("{name} is vacuous: {why}")));
    if !bounds.not_falsified.is_empty() {
        parts.push(list("no violating state is known for:", &bounds.not_falsified));
    }
    if !bounds.untaken_cases.is_empty() {
        let cases: Vec<String> =
            bounds.untaken_cases.iter().map(|case| format!("{} {}", case.step, case.words())).collect();
        parts.push(list("no step is known that takes the documented case:", &cases));
    }
    if bounds.assumptions_only {
        parts.push("no behaviour".into());
    }
    if let Some(p) = bounds.collision_probability {
        parts.push(format!("probability of a fingerprint collision {p:.1e}"));
    }
    parts.join("; ")
}

/// What the check says about deadlocks. A step that every state enables hides all of them, so that the check cannot fail.
pub fn deadlock_sentence(bounds: &Bounds) -> String {
    let always = [" (possible in any state)", " (always possible)"];
    let known = bounds.always_enabled.iter().find_map(|step| always.iter().find_map(|mark| step.strip_suffix(mark)));
    match known {
        _ if !bounds.deadlock_checked => "deadlock not checked".to_owned(),
        Some(step) => format!("deadlock cannot occur: step `{step}` is always enabled"),
        None if bounds.always_enabled.is_empty() => "deadlock checked".to_owned(),
        None => format!("deadlock checked, but not shown that one can occur: {}", bounds.always_enabled.join(", ")),
    }
}

/// A whole outcome as Markdown that also reads well on a terminal of `width` columns.
pub fn outcome_text(outcome: &CheckOutcome, width: usize) -> String {
    let (mut text, rest) = outcome_text_parts(outcome, width);
    if let Verdict::Invalid { diagnostics, reason, .. } = &outcome.verdict
        && (diagnostics.len() > 1 || diagnostics.iter().any(|d| d.message.trim() != reason.trim()))
    {
        for diagnostic in diagnostics {
            let _ = writeln!(text, "- {diagnostic}");
        }
    }
    text.push_str(&rest);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The parts of [`outcome_text`] before and after the list of diagnostics.
pub fn outcome_text_parts(outcome: &CheckOutcome, width: usize) -> (String, String) {
    let mut text = String::new();
    let _ = writeln!(text, "# Verdict {}\n\n{}\n", verdict_source(outcome), verdict_sentence(outcome));
    if let Some(each) = status_sentence(outcome) {
        let _ = writeln!(text, "Each property: {each}\n");
    }
    // A rejected specification has no counts, and its bounds mean nothing.
    if !is_rejected(outcome) {
        let _ = writeln!(text, "Counts: {}", statistics_sentence(&outcome.statistics));
        let _ = writeln!(text, "Bounds: {}", bounds_sentence(&outcome.bounds));
    }
    let before = std::mem::take(&mut text);
    if let Some(trace) = &outcome.trace {
        let _ = writeln!(text, "\n## Counterexample\n\n{}", trace_table(trace, width).trim_end());
    }
    for further in &outcome.further {
        if let FurtherVerdict::Violated { trace: Some(trace), .. } = &further.verdict {
            let table = match &outcome.trace {
                Some(first) => trace_table_after(first, trace, width),
                None => trace_table(trace, width),
            };
            let _ = writeln!(text, "\n## Counterexample to {}\n\n{}", further.name, table.trim_end());
        }
    }
    let probes = probe_lines(outcome);
    if !probes.is_empty() {
        text.push_str("\n## The violation, checked again\n\n");
        for line in probes {
            let _ = writeln!(text, "- {line}");
        }
    }
    if !outcome.witnesses.is_empty() && !is_rejected(outcome) {
        text.push_str("\n## Witnesses\n\n");
        for line in witness_lines(outcome) {
            let _ = writeln!(text, "- {line}");
        }
    }
    if let Some(coverage) = &outcome.coverage {
        let stopped = stopped_early(outcome);
        let until = if stopped { " before the checker stopped" } else { "" };
        let _ = writeln!(text, "\n## Actions, and how often each was taken{until}\n");
        for action in coverage {
            let never = match action.taken {
                0 if action.is_translators_end() => "  (the translator's own step for the end of the algorithm)",
                0 if !stopped => "  NEVER TAKEN",
                _ => "",
            };
            let least = if action.is_lower_bound { "at least " } else { "" };
            let _ = writeln!(text, "- {}: {least}{}{never}", action.action, action.taken);
        }
    }
    let never = never_taken_branches(outcome);
    if !never.is_empty() {
        text.push_str("\n## Branches that are never taken\n\n");
        for branch in never {
            let _ = writeln!(text, "- {branch}");
        }
    }
    let undecided = undecided_branches(outcome);
    if !undecided.is_empty() {
        text.push_str("\n## Branches for which it is not known whether a step takes them\n\n");
        for branch in undecided {
            let _ = writeln!(text, "- {branch}");
        }
    }
    if !outcome.warnings.is_empty() {
        text.push_str("\n## Warnings\n\n");
        for warning in &outcome.warnings {
            let _ = writeln!(text, "- {warning}");
        }
    }
    (before, text)
}

/// The tool that gave the verdict: the checker, or the earlier tool that rejected the specification.
fn verdict_source(outcome: &CheckOutcome) -> String {
    let first = match &outcome.verdict {
        Verdict::Invalid { diagnostics, .. } if is_rejected(outcome) => diagnostics.first(),
        _ => None,
    };
    let tool = match first.map(|diagnostic| diagnostic.stage) {
        Some(Stage::Lint | Stage::Merge) => return "before any checker ran".to_owned(),
        // If TLC itself rejected the configuration, its version is known.
        Some(Stage::Config) if outcome.version.is_empty() => return "before any checker ran".to_owned(),
        Some(Stage::Translate) => outcome.checker.translator(),
        Some(Stage::Parse) => Checker::Tlc.parser(),
        Some(Stage::Analysis) => Checker::Embedded.parser(),
        Some(Stage::Config | Stage::Check | Stage::Embedded) | None => outcome.checker.name(),
    };
    format!("of {tool}")
}

/// Whether the specification was rejected before any state was generated.
fn is_rejected(outcome: &CheckOutcome) -> bool {
    matches!(&outcome.verdict, Verdict::Invalid { violated, .. } if violated.kind == ViolationKind::Parse)
}

/// Whether the run that counted actions stopped before it had explored all states, so that an action without a count may
/// still be possible. Temporal properties are checked in a separate run after that one.
fn stopped_early(outcome: &CheckOutcome) -> bool {
    match &outcome.verdict {
        Verdict::Holds => false,
        Verdict::Violated { violated } => !matches!(
            violated.kind,
            ViolationKind::Property | ViolationKind::ActionProperty | ViolationKind::NoBehaviour
        ),
        Verdict::Invalid { .. } => true,
        Verdict::Inconclusive { .. } => !outcome.is_complete(),
    }
}

//! Parses the output of the embedded checker. Pure: it knows no process and no plan of runs.
//!
//! Standard output has what the specification prints, the states of a counterexample, a line with the result, and a
//! line of counts. Standard error has refusals and remarks. A specification cannot forge the lines that decide: they
//! are searched from the end, strings are printed with escaped line ends, and a verdict needs the matching exit status.
//! Any violation exits with 12; a refusal and a failed evaluation both exit with 2, so the message distinguishes them.
//! Source: `cli.rs`, `check.rs`, `eval.rs` and `value.rs` of tla-mc 0.2.2.

use std::collections::BTreeMap;

use tlaforge_process::Status;
use tlaforge_tla::{Diagnostic, Lasso, Stage, Statistics, Trace, Verdict, Violation, ViolationKind};

use super::core_arithmetic::{COMPARISON_PREFIX, LIMIT_PREFIX, UNDEFINED_PREFIX};
use super::core_program::{ASSUMPTION_PREFIX, EVALUATION_PREFIX};
use super::explorer::{Finding, ParsedOutput};
use super::past_violations::NOTHING_CUT_OFF;

/// Messages of a failed evaluation for which the specification is at fault. Any other message may be a limit of the
/// checker, and decides nothing.
const SPECIFICATION_FAULTS: [&str; 25] = [
    "a step of Next leaves ",
    "this step leaves ",
    "Init leaves ",
    "no CASE arm matched",
    "CHOOSE found no element satisfying its predicate",
    "Head of <<>>",
    "Tail of <<>>",
    "division by zero",
    "% by a non-positive number",
    "\\o on non-sequences ",
    "expected a boolean, got ",
    "expected an integer, got ",
    "expected a set, got ",
    "expected a sequence, got ",
    "expected a function, got ",
    "\\in applied to a non-set ",
    " is not in the domain of ",
    NO_FUNCTION,
    " has no field ",
    " of a non-record ",
    "DOMAIN of a non-function ",
    "EXCEPT on a non-function ",
    "SelectSeq of a non-sequence",
    "cannot destructure ",
    "Assert failed: ",
];

const NO_FUNCTION: &str = "applying a non-function ";
const ASSERT: &str = "Assert failed: ";
const COMPLETED: &str = "Model checking completed. No error has been found.";

/// Parses the output of a run that ended with `status`.
pub(super) fn parse(stdout: &str, stderr: &str, status: Status) -> ParsedOutput {
    let lines: Vec<&str> = stdout.lines().collect();
    let mut parsed = ParsedOutput {
        liveness: stderr.contains("liveness: checking "),
        nothing_cut_off: stderr.lines().any(|line| line == NOTHING_CUT_OFF),
        ..ParsedOutput::default()
    };
    let counted = lines.iter().rposition(|line| parse_counts(line).is_some());
    match (status, counted) {
        (Status::Exited(0 | 2 | 12), Some(at)) => {
            let (generated, distinct, depth) = parse_counts(lines[at]).unwrap_or_default();
            parsed.statistics = statistics(generated, distinct, depth);
            let result_line = lines[..at].last().copied().unwrap_or("");
            if status != Status::Exited(0) {
                // The run may have stopped among the initial states.
                parsed.statistics.initial = None;
            }
            parsed.trace = parse_trace(&lines[..at]);
            let lasso = parsed.trace.as_ref().and_then(|trace| trace.lasso);
            match result_line.strip_prefix("Error: ") {
                None if status == Status::Exited(0) && result_line == COMPLETED => {
                    parsed.no_error = true;
                    parsed.trace = None;
                    // It prints this line only after a completed search.
                    parsed.statistics.left_on_queue = Some(0);
                }
                Some(words) if status == Status::Exited(2) => parsed.finding = Some(parse_evaluation_failure(words)),
                Some(words) if status == Status::Exited(12) => parsed.finding = parse_violation(words),
                None if status == Status::Exited(12) && lasso.is_some() => {
                    parsed.finding = parse_temporal_violation(&lines[..at]);
                }
                _ => {}
            }
        }
        (Status::Exited(10), _) => parsed.finding = Some(violated(ViolationKind::Assumption, None)),
        (Status::Exited(2), None) => {
            parsed.finding = parse_violated_assumption(stderr).or_else(|| parse_refusal(stderr));
        }
        (Status::DeadlineExceeded, _) => {
            if let Some((generated, distinct, depth, _)) = stderr.lines().rev().find_map(parse_progress) {
                parsed.statistics = Statistics { initial: None, ..statistics(generated, distinct, depth) };
            }
        }
        (Status::Exited(_) | Status::Signalled(_), _) => parsed.finding = parse_crash(stderr),
        _ => {}
    }
    if !matches!(parsed.finding, Some(Finding::Undecided(_))) {
        parsed.warnings = parse_remarks(stderr);
    }
    parsed
}

/// Whether a run got so far that it counted states.
pub(super) fn has_counts(stdout: &str) -> bool {
    stdout.lines().any(|line| parse_counts(line).is_some())
}

/// What ended a run if it may be a limit of the checker that the slower engine does not have.
pub(super) fn limit_of_evaluation(stdout: &str, status: Status) -> Option<String> {
    let error = stdout.lines().rev().nth(1).and_then(|line| line.strip_prefix("Error: "))?;
    let is_limit =
        error.contains("cannot enumerate the infinite set ") || error.contains(" is read before the action assigns it");
    (status == Status::Exited(2) && is_limit && has_counts(stdout)).then(|| error.to_owned())
}

/// Parses `15 states generated, 9 distinct states found. Depth 4. Checked in 0.056s (162 distinct/s).`
fn parse_counts(line: &str) -> Option<(u64, u64, u64)> {
    let (generated, rest) = line.split_once(" states generated, ")?;
    let (distinct, rest) = rest.split_once(" distinct states found. Depth ")?;
    let (depth, _) = rest.split_once(". Checked in ")?;
    Some((generated.parse().ok()?, distinct.parse().ok()?, depth.parse().ok()?))
}

/// Parses `progress: depth 190575, 190576 generated, 190575 distinct (0 fingerprint spills), 1 on queue (0 on disk), 3.0s` as
/// the states generated and distinct, the depth, and the states on the queue.
pub(super) fn parse_progress(line: &str) -> Option<(u64, u64, u64, u64)> {
    let (depth, rest) = line.strip_prefix("progress: depth ")?.split_once(", ")?;
    let (generated, rest) = rest.split_once(" generated, ")?;
    let (distinct, rest) = rest.split_once(" distinct ")?;
    let (_, rest) = rest.split_once("), ")?;
    let (queue, _) = rest.split_once(" on queue ")?;
    Some((generated.parse().ok()?, distinct.parse().ok()?, depth.parse().ok()?, queue.parse().ok()?))
}

fn statistics(generated: u64, distinct: u64, depth: u64) -> Statistics {
    Statistics {
        generated: Some(generated),
        distinct: Some(distinct),
        depth: Some(depth),
        // The checker does not report it, but with one level at most all states are initial.
        initial: (depth <= 1).then_some(distinct),
        ..Statistics::default()
    }
}

fn violated(kind: ViolationKind, name: Option<&str>) -> Finding {
    let name = name.map(str::to_owned);
    Finding::Verdict(Verdict::Violated { violated: Violation { kind, name } })
}

fn parse_violation(words: &str) -> Option<Finding> {
    let named = |before: &str, after: &str| words.strip_prefix(before)?.strip_suffix(after);
    if words == "Deadlock reached." {
        return Some(violated(ViolationKind::Deadlock, None));
    }
    if let Some(name) = named("Invariant ", " is violated.") {
        return Some(violated(ViolationKind::Invariant, Some(name)));
    }
    let step = named("Action property ", " is violated by the last step above.");
    // TLC's message about the initial state (2108) is read as this kind, too.
    let initial = named("Property ", " is violated by the initial state above.");
    step.or(initial).map(|name| violated(ViolationKind::ActionProperty, Some(name)))
}

/// Parses `Error: Temporal property Live (for p1) is violated.`, which precedes the states.
fn parse_temporal_violation(lines: &[&str]) -> Option<Finding> {
    let name = lines.iter().rev().find_map(|line| {
        let name = line.strip_prefix("Error: Temporal property ")?.strip_suffix(" is violated.")?;
        Some(name.split_once(" (for ").map_or(name, |(name, _)| name))
    })?;
    Some(violated(ViolationKind::Property, Some(name)))
}

/// Parses `evaluating Inv: Head of <<>>`, `Assert failed: "…"`, or a message about something that the checker cannot
/// do.
fn parse_evaluation_failure(words: &str) -> Finding {
    let (name, what) = match words.strip_prefix("evaluating ").and_then(|rest| rest.split_once(": ")) {
        Some((name, what)) => (Some(name).filter(|name| !name.contains(' ')), what),
        None => (None, words),
    };
    // The arithmetic operators that we add stop by applying such a text.
    let quoted = what.strip_prefix(NO_FUNCTION).and_then(|rest| rest.strip_prefix('"'));
    let text_after = |sign: &str| match quoted {
        Some(text) => Some(text.strip_prefix(sign)?.trim_matches('"')),
        None => what.strip_prefix(sign),
    };
    if let Some(comparison) = what.strip_prefix(COMPARISON_PREFIX) {
        return Finding::Undecided(format!("the embedded checker stopped at {comparison}"));
    }
    if let Some(limit) = text_after(LIMIT_PREFIX) {
        return Finding::Undecided(format!("the embedded checker stopped at {limit}, which TLC does not have"));
    }
    if let Some(undefined) = text_after(UNDEFINED_PREFIX) {
        let words = name.map_or(String::new(), |name| format!("evaluating {name}: ")) + undefined + " is undefined";
        return invalid_evaluation(name, &words);
    }
    if let Some(argument) = what.strip_prefix(ASSERT) {
        let argument = argument.trim_matches('"').replace("\\\"", "\"");
        return violated(ViolationKind::Assertion, Some(argument.as_str()).filter(|argument| !argument.is_empty()));
    }
    // To TLC a string is also a sequence.
    let text_as_sequence =
        ["expected a sequence, got \"", "Head of \"", "Tail of \"", "SelectSeq of a non-sequence \""]
            .iter()
            .any(|sign| what.starts_with(sign))
            || what.strip_prefix("\\o on non-sequences ").is_some_and(|two| two.starts_with('"') || two.ends_with('"'));
    if text_as_sequence {
        return Finding::Undecided(format!("the embedded checker does not treat a string as a sequence: {words}"));
    }
    // "x' is read before it is assigned" is not in the list: another order of evaluation might work, so it may be a
    // limit of the checker.
    if SPECIFICATION_FAULTS
        .iter()
        .any(|fault| what.starts_with(fault) || (fault.starts_with(' ') && what.contains(fault)))
    {
        return invalid_evaluation(name, words);
    }
    Finding::Undecided(format!("the embedded checker stopped: {words}"))
}

fn invalid_evaluation(name: Option<&str>, words: &str) -> Finding {
    let diagnostic = Diagnostic { stage: Stage::Embedded, line: 0, column: 0, message: words.to_owned() };
    Finding::Verdict(Verdict::Invalid {
        violated: Violation { kind: ViolationKind::Evaluation, name: name.map(str::to_owned) },
        reason: words.to_owned(),
        diagnostics: vec![diagnostic],
    })
}

/// A violated assumption stops by applying a text with its position: `tla-mc: applying a non-function "…"`.
fn parse_violated_assumption(stderr: &str) -> Option<Finding> {
    let line = stderr.lines().rev().find_map(|line| line.strip_prefix("tla-mc: "))?;
    let place =
        line.strip_prefix(NO_FUNCTION)?.strip_prefix('"')?.strip_prefix(ASSUMPTION_PREFIX)?.strip_suffix('"')?;
    Some(violated(ViolationKind::Assumption, Some(place)))
}

/// Remarks besides the result. The text that stops at a violated assumption is ours, and is the result.
fn parse_remarks(stderr: &str) -> Vec<String> {
    let remarks = stderr.lines().filter_map(|line| line.strip_prefix("tla-mc: "));
    remarks.filter(|words| !words.contains(ASSUMPTION_PREFIX)).map(str::to_owned).collect()
}

/// Parses `tla-mc: unsupported temporal formula …`.
fn parse_refusal(stderr: &str) -> Option<Finding> {
    let words = stderr.lines().rev().find_map(|line| line.strip_prefix("tla-mc: "))?;
    if let Some(words) = words.strip_prefix(EVALUATION_PREFIX) {
        return Some(parse_evaluation_failure(words));
    }
    if let Some((name, what)) = words.strip_prefix("in ").and_then(|rest| rest.split_once(": "))
        && !name.contains(' ')
    {
        // A name that would not be the only one has a number.
        let name = name.split_once('~').map_or(name, |(name, _)| name).trim_end_matches('\'');
        return Some(Finding::Undecided(format!("the embedded checker cannot evaluate `{name}`: {}", shorten(what))));
    }
    Some(Finding::Undecided(format!("the embedded checker refuses it: {}", shorten(words))))
}

/// The message without the syntax trees that refusals quote.
fn shorten(words: &str) -> String {
    const LONGEST: usize = 300;
    const TREES: [&str; 18] = [
        "And(",
        "Or(",
        "Not(",
        "Bin(",
        "Ident(",
        "Apply(",
        "Temporal(",
        "Quant(",
        "Prefix(",
        "If(",
        "Case(",
        "Let(",
        "App(",
        "Prime(",
        "BoxAction(",
        "Tuple(",
        "Bool(",
        "Unchanged(",
    ];
    let word = |at: usize| words[..at].ends_with(|char: char| char.is_alphanumeric());
    let tree = TREES.iter().filter_map(|tree| words.find(tree)).filter(|at| !word(*at)).min();
    let words = tree.map_or(words, |at| words[..at].trim_end_matches([' ', ':', '(', '[', '`']));
    match words.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &words[..at]),
        None => words.to_owned(),
    }
}

/// The finding for a process that crashed.
fn parse_crash(stderr: &str) -> Option<Finding> {
    let line = |sign: &str| stderr.lines().find(|line| line.contains(sign)).map(|line| shorten(line.trim()));
    // The memory limit also counts the stacks of the threads.
    let signs = ["memory allocation of ", "has overflowed its stack", "failed to spawn thread: "];
    if let Some(words) = signs.iter().find_map(|sign| line(sign)) {
        return Some(Finding::Exhausted(words));
    }
    let panic = stderr.lines().skip_while(|line| !line.contains(" panicked at ")).nth(1)?;
    Some(Finding::Undecided(format!("the embedded checker crashed: {}", shorten(panic.trim()))))
}

/// The states of the last counterexample.
fn parse_trace(lines: &[&str]) -> Option<Trace> {
    let first = lines.iter().rposition(|line| *line == "State 1:" || *line == "State 1: Stuttering")?;
    let mut trace = Trace::default();
    let mut open: Option<(usize, BTreeMap<String, String>)> = None;
    for line in lines[first..].iter().chain([&""]) {
        if let Some((_, state)) = &mut open {
            if let Some((name, value)) = line.strip_prefix("/\\ ").and_then(|rest| rest.split_once(" = ")) {
                state.insert(name.to_owned(), normalise_value(value));
                continue;
            }
            if let Some((step, state)) = open.take() {
                trace.push(step, None, state);
            }
        }
        if let Some((number, rest)) = line.strip_prefix("State ").and_then(|rest| rest.split_once(':')) {
            match (number.parse::<usize>(), rest) {
                (Ok(step), "") => open = Some((step, BTreeMap::new())),
                (Ok(_), " Stuttering") => trace.lasso = Some(Lasso::Stuttering(true)),
                _ => {}
            }
        } else if let Some(step) = line.strip_prefix("Back to state ").and_then(|rest| rest.strip_suffix('.')) {
            trace.lasso = step.parse().ok().map(Lasso::BackTo);
        }
    }
    (!trace.steps.is_empty()).then_some(trace)
}

/// tla-mc prints the function with an empty domain as a record without fields.
fn normalise_value(value: &str) -> String {
    if value == "[]" { "<<>>".to_owned() } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: &str = "15 states generated, 9 distinct states found. Depth 4. Checked in 0.056s (162 distinct/s).";

    fn found(text: &str, status: i32) -> Option<Finding> {
        let stdout = format!("State 1:\n/\\ x = 0\n/\\ f = []\n\n{text}\n{COUNTS}\n");
        parse(&stdout, "", Status::Exited(status)).finding
    }

    fn kind(finding: Option<Finding>) -> (ViolationKind, Option<String>) {
        match finding {
            Some(Finding::Verdict(Verdict::Violated { violated } | Verdict::Invalid { violated, .. })) => {
                (violated.kind, violated.name)
            }
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn each_violation_is_recognised_by_its_message() {
        use ViolationKind::{ActionProperty, Assertion, Deadlock, Evaluation, Invariant};
        for (text, status, wanted, name) in [
            ("Error: Invariant Inv is violated.", 12, Invariant, Some("Inv")),
            ("Error: Deadlock reached.", 12, Deadlock, None),
            ("Error: Action property Step is violated by the last step above.", 12, ActionProperty, Some("Step")),
            ("Error: Property I is violated by the initial state above.", 12, ActionProperty, Some("I")),
            ("Error: Assert failed: \"broken\"", 2, Assertion, Some("broken")),
            ("Error: evaluating Inv: Head of <<>>", 2, Evaluation, Some("Inv")),
            ("Error: a step of Next leaves x' unassigned", 2, Evaluation, None),
            ("Error: 3 is not in the domain of <<1, 2>>", 2, Evaluation, None),
        ] {
            assert_eq!(kind(found(text, status)), (wanted, name.map(str::to_owned)), "{text}");
        }
    }

    #[test]
    fn possible_limits_of_the_checker_decide_nothing() {
        for text in [
            "Error: x' is read before the action assigns it",
            "Error: cannot enumerate the infinite set Nat",
            "Error: SUBSET of a set larger than 24 elements",
            "Error: fingerprint file: no space left on device",
        ] {
            assert!(matches!(found(text, 2), Some(Finding::Undecided(_))), "{text}");
        }
        let refused = parse("", "tla-mc: ACTION_CONSTRAINT is not supported\n", Status::Exited(2)).finding;
        assert!(matches!(refused, Some(Finding::Undecided(words)) if words.contains("ACTION_CONSTRAINT")));
    }

    #[test]
    fn a_message_without_its_exit_status_is_no_verdict() {
        assert_eq!(found("Error: Invariant Inv is violated.", 0), None);
        assert!(!parse(&format!("{COMPLETED}\n{COUNTS}\n"), "", Status::Exited(12)).no_error);
        assert!(!parse(&format!("{COMPLETED}\n"), "", Status::Exited(0)).no_error);
        assert!(!parse(&format!("{COMPLETED}\n{COUNTS}\n"), "", Status::DeadlineExceeded).no_error);
        // A specification that prints the text of a success before it fails.
        let printed = format!("{COMPLETED}\n{COUNTS}\nError: Deadlock reached.\n{COUNTS}\n");
        assert_eq!(kind(parse(&printed, "", Status::Exited(12)).finding).0, ViolationKind::Deadlock);
    }

    #[test]
    fn a_lasso_is_read_with_its_states() {
        let stdout = format!(
            "Error: Temporal properties were violated.\nError: Temporal property Live (for p1) is violated.\n\
             State 1:\n/\\ x = 0\n/\\ f = []\n\nState 2:\n/\\ x = 1\n/\\ f = []\n\nBack to state 1.\n{COUNTS}\n"
        );
        let parsed = parse(&stdout, "liveness: checking 1 property instances\n", Status::Exited(12));
        assert_eq!(kind(parsed.finding), (ViolationKind::Property, Some("Live".to_owned())));
        let trace = parsed.trace.expect("a trace");
        assert_eq!((trace.steps.len(), trace.lasso), (2, Some(Lasso::BackTo(1))));
        assert_eq!(trace.steps[1].changed, ["x"]);
        assert_eq!(trace.steps[1].state["f"], "<<>>");
        assert!(parsed.liveness);
        let stdout = stdout.replace("Back to state 1.", "State 3: Stuttering");
        let parsed = parse(&stdout, "", Status::Exited(12));
        assert_eq!(parsed.trace.and_then(|trace| trace.lasso), Some(Lasso::Stuttering(true)));
    }

    #[test]
    fn a_success_has_its_counts() {
        let parsed = parse(&format!("{COMPLETED}\n{COUNTS}\n"), "", Status::Exited(0));
        assert!(parsed.no_error && parsed.finding.is_none());
        let statistics = parsed.statistics;
        assert_eq!((statistics.generated, statistics.distinct, statistics.depth), (Some(15), Some(9), Some(4)));
        assert_eq!((statistics.left_on_queue, statistics.initial), (Some(0), None));
    }

    #[test]
    fn strings_used_as_sequences_decide_nothing() {
        for text in [
            "Error: expected a sequence, got \"abc\"",
            "Error: evaluating Inv: \\o on non-sequences \"ab\", \"c\"",
            "Error: \\o on non-sequences <<1>>, \"c\"",
        ] {
            assert!(matches!(found(text, 2), Some(Finding::Undecided(_))), "{text}");
        }
        assert_eq!(kind(found("Error: expected a sequence, got 3", 2)).0, ViolationKind::Evaluation);
    }

    #[test]
    fn generated_operators_distinguish_limits_from_undefined_values() {
        let limit =
            found("Error: evaluating Inv: applying a non-function \"tlaforge limit: a number beyond 32 bits\"", 2);
        assert!(matches!(&limit, Some(Finding::Undecided(words)) if words.contains("32 bits")), "{limit:?}");
        let undefined = found("Error: applying a non-function \"tlaforge undefined: 0^0\"", 2);
        assert!(
            matches!(&undefined, Some(Finding::Verdict(Verdict::Invalid { reason, .. })) if reason == "0^0 is undefined")
        );
    }

    #[test]
    fn a_violated_assumption_has_its_position() {
        let text =
            "tla-mc: applying a non-function \"tlaforge assumption: line 2, col 8 to line 2, col 12 of module B\"\n";
        let place = Some("line 2, col 8 to line 2, col 12 of module B".to_owned());
        let parsed = parse("", text, Status::Exited(2));
        assert_eq!(parsed.warnings, [""; 0]);
        assert_eq!(kind(parsed.finding), (ViolationKind::Assumption, place));
    }

    #[test]
    fn a_refused_definition_is_named() {
        let refused = parse("", "tla-mc: in Sum~2': unknown operator choose\n", Status::Exited(2)).finding;
        let expected = "the embedded checker cannot evaluate `Sum`: unknown operator choose";
        assert!(matches!(&refused, Some(Finding::Undecided(words)) if words == expected), "{refused:?}");
    }

    #[test]
    fn a_refusal_shows_no_syntax_tree() {
        let text = "tla-mc: unsupported temporal formula Or([Temporal(\"<>\", [Ident(\"A\")])])\n";
        let refused = parse("", text, Status::Exited(2)).finding;
        assert!(matches!(&refused, Some(Finding::Undecided(words)) if words.ends_with("unsupported temporal formula")));
    }

    #[test]
    fn a_deadline_leaves_the_counts_of_the_last_report() {
        let text =
            "progress: depth 7, 20 generated, 11 distinct (0 fingerprint spills), 1 on queue (0 on disk), 10.1s\n";
        let statistics = parse("", text, Status::DeadlineExceeded).statistics;
        assert_eq!((statistics.generated, statistics.distinct, statistics.depth), (Some(20), Some(11), Some(7)));
    }

    #[test]
    fn memory_stack_and_panics_decide_nothing() {
        for (stderr, exhausted) in [
            ("memory allocation of 4096 bytes failed\n", true),
            ("\nthread '<unnamed>' has overflowed its stack\nfatal runtime error\n", true),
            (
                "\nthread '<unnamed>' panicked at library/std/src/thread/mod.rs:1:2:\nfailed to spawn thread: Os { code: 11, \
                 kind: WouldBlock, message: \"Resource temporarily unavailable\" }\n",
                true,
            ),
            ("\nthread '<unnamed>' panicked at src/eval.rs:1:2:\nattempt to add with overflow\n", false),
        ] {
            let finding = parse("", stderr, Status::Signalled(6)).finding;
            assert_eq!(matches!(finding, Some(Finding::Exhausted(_))), exhausted, "{finding:?}");
            assert_eq!(matches!(finding, Some(Finding::Undecided(_))), !exhausted, "{finding:?}");
        }
    }
}

//! Parses TLC's output with `-tool`. Pure: it knows no process and no plan of runs.
//!
//! Messages are in frames that begin in the first column: `@!@!@STARTMSG <code>:<class> @!@!@` to `@!@!@ENDMSG <code>
//! @!@!@`. A frame inside a frame may begin anywhere (TLC 2.15 wraps a failed `Assert`, code 2132, in the general error
//! 1000). A specification cannot forge a frame: strings are printed quoted, with escaped line ends. Codes:
//! `tlc2.output.EC` of TLC 2.15 and of current sources.

use std::collections::BTreeMap;

use tlaforge_tla::{
    ActionCoverage, Diagnostic, Lasso, Place, Stage, Trace, Verdict, Violation, ViolationKind, action_part_label,
};

use super::explorer::{Finding, ParsedOutput};
use super::sany_output;
use super::sany_output::{between, numbers_after};

/// Parses a progress line, `Progress(4) at …: 4 states generated (…), 4 distinct states found (…), 0 states left on
/// queue.`: depth, generated, distinct, queue.
pub(crate) fn parse_progress(line: &str) -> Option<(u64, u64, u64, u64)> {
    let rest = line.strip_prefix("Progress(")?;
    let depth = leading_count(rest)?;
    let (_, counts) = rest.split_once(": ")?;
    let (generated, distinct, queue) = parse_counts(counts)?;
    Some((depth, generated, distinct, queue))
}

/// Parses the output of a run on module `main`.
#[cfg(test)]
pub(crate) fn parse(text: &str, main: &str) -> ParsedOutput {
    parse_past_violations(text, main, None)
}

/// Parses the output of a run on module `main` that continued after violations of the invariant `passed`.
pub(crate) fn parse_past_violations(text: &str, main: &str, passed: Option<&str>) -> ParsedOutput {
    let out = ParsedOutput::default();
    let mut reader = Reader { main, passed, out, sany: String::new(), coverage: None, in_sany: false };
    let mut frame: Option<Frame> = None;
    for line in text.lines() {
        match &mut frame {
            None => match parse_frame_start(line) {
                Some((code, class)) => frame = Some(Frame { code, class, text: String::new(), inner: Vec::new() }),
                None if reader.in_sany => {
                    reader.sany.push_str(line);
                    reader.sany.push('\n');
                }
                None => {}
            },
            Some(open) => {
                if open.take(line)
                    && let Some(done) = frame.take()
                {
                    reader.message(&done);
                }
            }
        }
    }
    reader.finish()
}

struct Frame {
    code: u32,
    class: u32,
    text: String,
    inner: Vec<u32>,
}

impl Frame {
    /// Adds a line; returns whether it closes the frame.
    fn take(&mut self, line: &str) -> bool {
        if let Some(code) = parse_frame_end(line) {
            if self.inner.last() == Some(&code) {
                self.inner.pop();
                return false;
            }
            if code == self.code {
                return true;
            }
        } else if let Some(at) = line.find("@!@!@STARTMSG ")
            && let Some((code, _)) = parse_frame_start(&line[at..])
        {
            self.inner.push(code);
            // The code stays in the text: it shows what the outer frame is about.
        }
        self.text.push_str(line);
        self.text.push('\n');
        false
    }

    /// The code of the first frame inside this one.
    fn inner_code(&self) -> Option<u32> {
        let at = self.text.find("@!@!@STARTMSG ")?;
        parse_frame_start(self.text[at..].lines().next()?).map(|(code, _)| code)
    }

    /// The message of the frame, without frame marks and without the boilerplate that TLC adds to every general error.
    fn words(&self) -> String {
        let mut words = String::new();
        for line in self.text.lines() {
            let line = line.trim();
            let line = line.strip_prefix(": ").unwrap_or(line);
            let boilerplate = line.contains("@!@!@")
                // A line of a Java stack trace.
                || (line.starts_with("at ") && line.ends_with(')'))
                || line.starts_with("TLC threw an unexpected exception")
                || line.starts_with("This was probably caused by an error in the spec")
                || line.starts_with("See the User Output")
                || line.starts_with("The exception was a ");
            if !boilerplate && !line.is_empty() {
                if !words.is_empty() {
                    words.push('\n');
                }
                words.push_str(line);
            }
        }
        words
    }
}

/// The output without frame marks, for people.
pub(super) fn readable_output(output: &str) -> String {
    let is_mark = |line: &str| {
        let line = line.trim_end();
        parse_frame_start(line).is_some() || parse_frame_end(line).is_some()
    };
    output.split_inclusive('\n').filter(|line| !is_mark(line)).collect()
}

pub(super) fn parse_frame_start(line: &str) -> Option<(u32, u32)> {
    let rest = line.strip_prefix("@!@!@STARTMSG ")?.strip_suffix(" @!@!@")?;
    let (code, class) = rest.split_once(':')?;
    Some((code.parse().ok()?, class.parse().ok()?))
}

fn parse_frame_end(line: &str) -> Option<u32> {
    line.strip_prefix("@!@!@ENDMSG ")?.strip_suffix(" @!@!@")?.parse().ok()
}

/// An action of a coverage report.
struct Action {
    name: String,
    /// Everything about its position, used as a key: `5, col 1 to line 5, col 3 of module S`, and perhaps the part of
    /// the definition, ` (6 12 6 20)`.
    location: String,
    taken: u64,
    distinct: u64,
}

impl Action {
    fn module(&self) -> &str {
        let module = self.location.split_once(" of module ").map_or("", |(_, module)| module);
        module.split(' ').next().unwrap_or("")
    }

    fn part(&self) -> Option<Place> {
        let (_, numbers) = self.location.strip_suffix(')')?.rsplit_once(" (")?;
        let mut numbers = numbers.split(' ').map(|n| n.parse().ok());
        Some(Place { line: numbers.next()??, column: numbers.next()?? })
    }
}

/// Gives each action a unique name.
fn coverage_entries(actions: &[Action], main: &str) -> Vec<ActionCoverage> {
    let name_and_place = |action: &Action| {
        let (name, part) = (&action.name, action.part());
        let is_other = |other: &&Action| other.name == *name && other.location != action.location;
        let others: Vec<&Action> = actions.iter().filter(is_other).collect();
        let alone = !others.iter().any(|o| o.part().map(|p| p.line) == part.map(|p| p.line));
        let label = part.map_or_else(|| name.clone(), |part| action_part_label(name, part, alone));
        // The module is added only if names are ambiguous, and never for the main module.
        if action.module() != main && others.iter().any(|o| o.module() != action.module()) {
            return (format!("{label} (in module {})", action.module()), None);
        }
        (label, part.filter(|_| action.module() == main))
    };
    let entry = |action: &Action| {
        let (name, place) = name_and_place(action);
        ActionCoverage {
            action: name,
            taken: action.taken,
            distinct: action.distinct,
            place,
            is_lower_bound: false,
            is_own_terminating: false,
        }
    };
    actions.iter().map(entry).collect()
}

struct Reader<'a> {
    main: &'a str,
    /// The invariant whose violations are no finding.
    passed: Option<&'a str>,
    out: ParsedOutput,
    sany: String,
    coverage: Option<Vec<Action>>,
    in_sany: bool,
}

impl Reader<'_> {
    fn message(&mut self, frame: &Frame) {
        match frame.code {
            2262 => self.out.version = frame.text.lines().next().map(plain_version),
            // SANY writes without frames between these two messages.
            2220 => self.in_sany = true,
            2219 => self.in_sany = false,
            2190 | 2191 => self.out.statistics.initial = parse_initial_states(&frame.text),
            2193 => {
                self.out.no_error = true;
                self.out.collision = parse_collision(&frame.text);
            }
            2212 => self.out.liveness = true,
            2194 => self.out.statistics.depth = frame.text.rsplit_once(" is ").and_then(|(_, n)| leading_count(n)),
            2199 => {
                if let Some((generated, distinct, queue)) = parse_counts(&frame.text) {
                    self.counts(generated, distinct, queue);
                }
            }
            2200 => {
                if let Some((depth, generated, distinct, queue)) = frame.text.lines().next().and_then(parse_progress) {
                    self.counts(generated, distinct, queue);
                    self.out.statistics.depth = Some(depth);
                }
            }
            2216 | 2217 => self.state(&frame.text),
            2218 => self.trace().lasso = Some(Lasso::Stuttering(true)),
            2122 => {
                if let Some(back) = frame.text.split(':').next().and_then(|n| n.trim().parse().ok()) {
                    self.trace().lasso = Some(Lasso::BackTo(back));
                }
            }
            2201 => self.coverage = Some(Vec::new()),
            2772 => self.action(&frame.text),
            2202 => {
                if let Some(actions) = self.coverage.take() {
                    self.out.coverage = Some(coverage_entries(&actions, self.main));
                }
            }
            2103 => {
                // 2103 follows any failure inside an expression of the specification, so the failure is one of
                // evaluation.
                if let Some(Finding::Broke(words)) = &self.out.finding {
                    self.out.finding = Some(evaluation_error(&words.clone()));
                }
                self.nested_positions(&frame.text);
            }
            // "The behavior up to this point is", "The following behavior constitutes a counter-example", and advice on
            // the garbage collector.
            2121 | 2264 | 2401 => {}
            _ if frame.class == 3 => self.out.warnings.push(join_lines(&frame.words())),
            _ if frame.class == 1 || frame.class == 2 => self.error(frame),
            _ => {}
        }
    }

    fn counts(&mut self, generated: u64, distinct: u64, queue: u64) {
        let statistics = &mut self.out.statistics;
        statistics.generated = Some(generated);
        statistics.distinct = Some(distinct);
        statistics.left_on_queue = Some(queue);
    }

    fn trace(&mut self) -> &mut Trace {
        self.out.trace.get_or_insert_with(Trace::default)
    }

    fn state(&mut self, text: &str) {
        let (head, body) = text.split_once('\n').unwrap_or((text, ""));
        let Some((number, label)) = head.split_once(':') else { return };
        let Ok(step) = number.trim().parse::<usize>() else { return };
        if label.trim() == "Stuttering" {
            self.trace().lasso = Some(Lasso::Stuttering(true));
            return;
        }
        let action = label.trim().strip_prefix('<').and_then(parse_action_name);
        let arguments = action.as_deref().and_then(|action| parse_arguments(label.trim().strip_prefix('<')?, action));
        let trace = self.trace();
        trace.push(step, action, parse_assignments(body));
        if let Some(last) = trace.steps.last_mut() {
            last.arguments = arguments;
        }
    }

    /// Parses `<Inc line 5, col 1 to line 5, col 3 of module S>: 3:6`: distinct, then generated. `0:1` is an action
    /// that was taken.
    fn action(&mut self, text: &str) {
        let Some((head, counts)) = text.trim().rsplit_once(">: ") else { return };
        let Some(head) = head.trim().strip_prefix('<') else { return };
        let (Some(name), Some((_, location))) = (parse_action_name(head), head.split_once(" line ")) else { return };
        let Some((distinct, taken)) = counts.split_once(':') else { return };
        let (Some(distinct), Some(taken)) = (leading_count(distinct), leading_count(taken)) else { return };
        let actions = self.coverage.get_or_insert_with(Vec::new);
        // TLC reports a quantified action once for each element of the set.
        match actions.iter_mut().find(|a| a.name == name && a.location == location) {
            Some(known) => {
                known.taken += taken;
                known.distinct += distinct;
            }
            None => actions.push(Action { name, location: location.to_owned(), taken, distinct }),
        }
    }

    /// Where an evaluation failed: the last, innermost position.
    fn nested_positions(&mut self, text: &str) {
        let Some(Finding::Verdict(Verdict::Invalid { diagnostics, reason, .. })) = &mut self.out.finding else {
            return;
        };
        let innermost = text.lines().rfind(|l| l.contains(". Line "));
        if let (Some(innermost), [diagnostic]) = (innermost, &mut diagnostics[..])
            && diagnostic.line == 0
        {
            (diagnostic.line, diagnostic.column) = numbers_after(innermost, "Line ", "column ");
            // The position is one of another module only if the message says so.
            if let Some((_, module)) = innermost.rsplit_once(" in ").filter(|(_, module)| module.trim() != self.main) {
                let (line, column) = (diagnostic.line, diagnostic.column);
                let place = format!(" (line {line}, column {column} of module {})", module.trim());
                diagnostic.message.push_str(&place);
                reason.clone_from(&diagnostic.message);
            }
        }
    }

    fn error(&mut self, frame: &Frame) {
        // The first error is the cause; TLC reports consequences of it after it.
        if self.out.finding.is_some() {
            return;
        }
        let words = frame.words();
        let first = words.lines().next().unwrap_or("").to_owned();
        let invariant = || between(&first, "Invariant ", " is violated");
        if matches!(frame.code, 2107 | 2110) && self.passed.is_some() && invariant().as_deref() == self.passed {
            return;
        }
        let finding = match frame.code {
            2110 => violated(ViolationKind::Invariant, invariant()),
            2107 => {
                self.add_initial_state(&frame.text);
                violated(ViolationKind::Invariant, invariant())
            }
            2108 => {
                self.add_initial_state(&frame.text);
                violated(
                    ViolationKind::ActionProperty,
                    between(&first, "Property ", " is violated").filter(is_property_name),
                )
            }
            2112 => violated(
                ViolationKind::ActionProperty,
                between(&first, "Action property ", " is violated").filter(is_property_name),
            ),
            2116 => violated(ViolationKind::Property, between(&first, "Temporal property ", " was violated")),
            2114 => violated(ViolationKind::Deadlock, None),
            // TLC gives no name; the position identifies the assumption.
            2104 => violated(ViolationKind::Assumption, between(&first, "Assumption ", " is false")),
            2132 => assertion_violation(&words),
            3002 | 2171 => invalid(ViolationKind::Parse, &words, sany_output::parse(&self.sany, self.main).errors),
            // An invariant that is false without a look at a state.
            2230 if first.ends_with(" is equal to FALSE") => {
                violated(ViolationKind::Invariant, between(&first, "The invariant of ", " is equal to FALSE"))
            }
            5001..=5006 | 2222..=2243 | 2280 | 2281 | 2115 | 2146 => configuration_error(&words),
            1001..=1005 => Finding::Exhausted(join_lines(&words)),
            1000 => classify_general_error(frame, &words),
            // Errors about files, disks and folders, not about the specification.
            1100..=1199
            | 2100
            | 2101
            | 2117
            | 2147
            | 2166
            | 2174
            | 2175
            | 2270
            | 2123..=2129
            | 2134
            | 2135
            | 2137
            | 2138
            | 2160..=2163
            | 2167 => Finding::Broke(join_lines(&words)),
            2000..=2299 if is_exhausted(frame) => Finding::Exhausted(join_lines(&words)),
            _ if is_failed_assertion(&words) => assertion_violation(&words),
            2111 => with_name(evaluation_error(&words), between(&first, "Evaluating invariant ", " failed")),
            2113 => with_name(evaluation_error(&words), between(&first, "Evaluating action property ", " failed")),
            2000..=2299 => evaluation_error(&words),
            _ => Finding::Broke(join_lines(&words)),
        };
        self.out.finding = Some(finding);
    }

    /// An error about an initial state has the state in its message; there is no frame for it.
    fn add_initial_state(&mut self, text: &str) {
        let state = parse_assignments(text.split_once('\n').map_or("", |(_, body)| body));
        if !state.is_empty() {
            self.trace().push(1, None, state);
        }
    }

    fn finish(mut self) -> ParsedOutput {
        let mut warnings: Vec<String> =
            sany_output::parse(&self.sany, self.main).warnings.into_iter().map(|d| d.to_string()).collect();
        warnings.append(&mut self.out.warnings);
        self.out.warnings = warnings;
        // After a violation TLC takes steps again to print the trace, and counts them too; only "taken at least once"
        // is reliable.
        if matches!(self.out.finding, Some(Finding::Verdict(_))) {
            for action in self.out.coverage.iter_mut().flatten().filter(|action| action.taken > 0) {
                (action.taken, action.is_lower_bound) = (1, true);
            }
        }
        self.out
    }
}

/// Whether TLC ended before it explored anything, without an explanation. It does so if SYMMETRY is not a set of
/// permutations of model values (2.15: a message of code -1, or an `IllegalArgumentException`).
pub(crate) fn stopped_at_symmetry(text: &str, read: &ParsedOutput) -> bool {
    let unsaid = match &read.finding {
        None => text.lines().any(|line| line == "@!@!@STARTMSG -1:1 @!@!@"),
        Some(Finding::Broke(words)) => words.contains("IllegalArgumentException"),
        Some(_) => false,
    };
    unsaid && read.statistics.initial.is_none() && read.statistics.generated.is_none()
}

pub(crate) fn symmetry_finding() -> Finding {
    configuration_error(
        "TLC cannot use the SYMMETRY: it must be a set of permutations (as Permutations(S) gives them) of model values, \
         which the configuration assigns to themselves (S = {s1, s2}), and of at least two of them",
    )
}

/// Whether memory or stack ran out. "Could not initialize class" is what a worker reports after they ran out inside
/// that class's initializer.
fn is_exhausted(frame: &Frame) -> bool {
    let signs = ["StackOverflowError", "OutOfMemoryError", "Could not initialize class"];
    signs.iter().any(|sign| frame.text.contains(sign))
}

/// Classifies a general error by its inner frame, else by its exception.
fn classify_general_error(frame: &Frame, words: &str) -> Finding {
    let exception = frame.text.lines().find_map(|l| l.trim().strip_prefix("The exception was a ")).unwrap_or("").trim();
    match frame.inner_code() {
        Some(2132) => return assertion_violation(words),
        Some(5001..=5006 | 2222..=2243) => return configuration_error(words),
        Some(_) => return evaluation_error(words),
        None => {}
    }
    if is_exhausted(frame) {
        Finding::Exhausted(join_lines(words))
    } else if exception.ends_with("ConfigFileException") {
        configuration_error(words)
    } else if exception.is_empty() && words.contains(" of module ") {
        // Among the initial states TLC reports the error without the exception, but with the position.
        evaluation_error(words)
    } else if exception.starts_with("tlc2.") || (exception == "java.lang.RuntimeException" && !words.is_empty()) {
        // TLC throws it for most of what it cannot evaluate.
        evaluation_error(words)
    } else {
        Finding::Broke(join_lines(&format!("{exception} {words}")))
    }
}

fn violated(kind: ViolationKind, name: Option<String>) -> Finding {
    Finding::Verdict(Verdict::Violated { violated: Violation { kind, name } })
}

/// Whether an `Assert` was FALSE, also one in an invariant, which TLC reports as an invariant that it cannot evaluate.
fn is_failed_assertion(words: &str) -> bool {
    words.lines().any(|line| line.trim_start().starts_with("The first argument of Assert evaluated to FALSE"))
}

fn assertion_violation(words: &str) -> Finding {
    // `The first argument of Assert evaluated to FALSE; the second argument was:`, and the argument on the next line.
    let argument = words.lines().skip_while(|l| !l.contains("second argument was")).nth(1).unwrap_or(words);
    violated(ViolationKind::Assertion, Some(argument.trim().trim_matches('"').to_owned()).filter(|s| !s.is_empty()))
}

fn invalid(kind: ViolationKind, words: &str, diagnostics: Vec<Diagnostic>) -> Finding {
    let reason = match diagnostics.first() {
        Some(first) if kind == ViolationKind::Parse => first.message.clone(),
        _ => join_lines(words),
    };
    Finding::Verdict(Verdict::Invalid { violated: Violation { kind, name: None }, reason, diagnostics })
}

fn configuration_error(words: &str) -> Finding {
    // A position in such a message, if any, refers to the module.
    let (line, column) = if words.contains(" of module ") { numbers_after(words, "line ", "col ") } else { (0, 0) };
    let diagnostic = Diagnostic { stage: Stage::Config, line, column, message: join_lines(words) };
    invalid(ViolationKind::Parse, words, vec![diagnostic])
}

fn evaluation_error(words: &str) -> Finding {
    let (line, column) = if words.contains(" of module ") { numbers_after(words, "line ", "col ") } else { (0, 0) };
    let diagnostic = Diagnostic { stage: Stage::Check, line, column, message: join_lines(words) };
    invalid(ViolationKind::Evaluation, words, vec![diagnostic])
}

fn with_name(mut finding: Finding, name: Option<String>) -> Finding {
    if let Finding::Verdict(Verdict::Invalid { violated, .. }) = &mut finding {
        violated.name = name;
    }
    finding
}

fn join_lines(words: &str) -> String {
    words.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ")
}

/// For a property without a name TLC gives its position.
#[expect(clippy::ptr_arg, reason = "used as a filter on an Option<String>")]
fn is_property_name(name: &String) -> bool {
    !name.starts_with("line ")
}

/// Version and revision without the date, which some builds never filled in ("of Day Month 20??").
pub(super) fn plain_version(line: &str) -> String {
    let line = line.trim();
    match (line.split_once(" of "), line.find(" (rev")) {
        (Some((version, _)), Some(revision)) => format!("{version}{}", &line[revision..]),
        (Some((version, _)), None) => version.to_owned(),
        (None, _) => line.to_owned(),
    }
}

/// `Inc line 5, col 8 to …` and `Inc(p1) line 5, …` give `Inc`; `Initial predicate>` and an unknown action give
/// nothing.
fn parse_action_name(label: &str) -> Option<String> {
    let name = label.split_once(" line ")?.0.split('(').next()?.trim();
    (!name.is_empty() && !name.contains(' ')).then(|| name.to_owned())
}

/// `p1` for `Inc(p1) line 5, …`.
fn parse_arguments(label: &str, action: &str) -> Option<String> {
    let arguments = label.split_once(" line ")?.0.strip_prefix(action)?.strip_prefix('(')?.strip_suffix(')')?;
    (!arguments.is_empty()).then(|| arguments.to_owned())
}

/// Parses `/\ x = 0` for each variable, or `x = 0` if there is only one. Joins a value that TLC broke over several
/// lines.
fn parse_assignments(text: &str) -> BTreeMap<String, String> {
    let mut state = BTreeMap::new();
    let mut last: Option<String> = None;
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        let begins = line.strip_prefix("/\\ ").or_else(|| (last.is_none()).then_some(line));
        if let Some((name, value)) = begins.and_then(|l| l.split_once(" = ").or_else(|| l.split_once(" ="))) {
            state.insert(name.trim().to_owned(), value.trim().to_owned());
            last = Some(name.trim().to_owned());
        } else if let Some(value) = last.as_ref().and_then(|name| state.get_mut(name)) {
            if !value.is_empty() {
                value.push(' ');
            }
            value.push_str(line.trim());
        }
    }
    state
}

fn leading_count(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let end = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b',').count();
    // Newer versions write separators of thousands.
    text[..end].replace(',', "").parse().ok()
}

/// Parses `4 states generated (…), 3 distinct states found (…), 0 states left on queue.`
fn parse_counts(text: &str) -> Option<(u64, u64, u64)> {
    Some((
        count_before(text, " states generated")?,
        count_before(text, " distinct states found")?,
        count_before(text, " states left on queue")?,
    ))
}

fn count_before(text: &str, words: &str) -> Option<u64> {
    let (before, _) = text.split_once(words)?;
    let number = before.rsplit(|c: char| !c.is_ascii_digit() && c != ',').next()?;
    number.replace(',', "").parse().ok()
}

/// Parses `Finished computing initial states: 1 distinct state generated at …`, `… 2 states generated, with 1 of them
/// distinct at …`.
fn parse_initial_states(text: &str) -> Option<u64> {
    text.split_once(", with ")
        .and_then(|(_, rest)| leading_count(rest))
        .or_else(|| count_before(text, " distinct state"))
}

/// Parses `calculated (optimistic):  val = 1.6E-19`, and perhaps `based on the actual fingerprints:  val = 3.0E-15`;
/// returns the larger.
fn parse_collision(text: &str) -> Option<f64> {
    text.lines()
        .filter_map(|line| line.split_once("val = "))
        .filter_map(|(_, value)| value.trim().parse::<f64>().ok())
        .reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tlaforge_tla::Statistics;

    macro_rules! recorded {
        ($name:literal) => {
            parse(include_str!(concat!("../../../tests/data/toolchain/tlc_", $name, ".txt")), "S")
        };
    }

    fn violation(out: &ParsedOutput) -> (ViolationKind, Option<&str>) {
        match &out.finding {
            Some(Finding::Verdict(Verdict::Violated { violated } | Verdict::Invalid { violated, .. })) => {
                (violated.kind, violated.name.as_deref())
            }
            other => unreachable!("{other:?}"),
        }
    }

    fn places(out: &ParsedOutput) -> Vec<(Stage, usize, usize)> {
        match &out.finding {
            Some(Finding::Verdict(Verdict::Invalid { diagnostics, .. })) => {
                diagnostics.iter().map(|d| (d.stage, d.line, d.column)).collect()
            }
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn an_invariant_violation_has_its_name_trace_counts_and_coverage() {
        let out = recorded!("invariant");
        assert_eq!(violation(&out), (ViolationKind::Invariant, Some("Small")));
        let trace = out.trace.expect("a trace");
        let actions: Vec<_> = trace.steps.iter().map(|s| s.action.as_deref()).collect();
        assert_eq!(actions, [None, Some("Inc"), Some("Inc"), Some("Inc")]);
        assert_eq!(trace.steps[3].state["x"], "3");
        assert_eq!(trace.steps[3].state["y"], "[a |-> 1, b |-> <<1, 2>>]");
        assert_eq!(trace.steps[0].changed, ["x", "y"]);
        assert_eq!(trace.steps[3].changed, ["x"]);
        assert_eq!(trace.lasso, None);
        let expected = Statistics {
            generated: Some(4),
            distinct: Some(4),
            depth: Some(4),
            left_on_queue: Some(0),
            initial: Some(1),
            seconds: 0.0,
            total_seconds: None,
        };
        assert_eq!(out.statistics, expected);
        let coverage: Vec<_> =
            out.coverage.expect("coverage").into_iter().map(|c| (c.action, c.distinct, c.taken)).collect();
        assert_eq!(coverage, [("Inc".to_owned(), 3, 1), ("Never".to_owned(), 0, 0)]);
        assert_eq!(out.version.as_deref(), Some("TLC2 Version 2.15 (rev: d5b5a7f)"));
        assert_eq!(out.warnings, Vec::<String>::new());
    }

    #[test]
    fn a_success_has_a_collision_probability_and_initial_states_under_symmetry() {
        let out = recorded!("symmetry_holds");
        assert_eq!((out.finding, out.no_error, out.trace), (None, true, None));
        assert_eq!(out.collision, Some(1.6e-19));
        assert_eq!(out.statistics.initial, Some(1));
        assert_eq!(out.coverage.expect("coverage")[0].taken, 2, "0:2 is an action that was taken");
    }

    #[test]
    fn temporal_counterexamples_have_a_lasso() {
        let stuttering = recorded!("stuttering");
        assert_eq!(violation(&stuttering), (ViolationKind::Property, None));
        assert!(stuttering.liveness);
        let trace = stuttering.trace.expect("a trace");
        assert_eq!((trace.steps.len(), trace.lasso), (2, Some(Lasso::Stuttering(true))));
        let lasso = recorded!("lasso").trace.expect("a trace");
        assert_eq!((lasso.steps.len(), lasso.lasso), (3, Some(Lasso::BackTo(1))));
    }

    #[test]
    fn step_properties_are_recognised() {
        let out = recorded!("action_property");
        assert_eq!(violation(&out), (ViolationKind::ActionProperty, Some("A1")));
        assert!(!out.liveness);
        let out = recorded!("property_initial");
        assert_eq!(violation(&out), (ViolationKind::ActionProperty, None));
        assert_eq!(out.trace.expect("a trace").steps[0].state["x"], "0");
    }

    #[test]
    fn an_initial_state_is_read_from_inside_the_message() {
        let out = recorded!("invariant_initial");
        assert_eq!(violation(&out), (ViolationKind::Invariant, Some("Inv")));
        let trace = out.trace.expect("a trace");
        assert_eq!(trace.steps.len(), 1);
        assert_eq!(trace.steps[0].state["y"], "{1}");
        assert_eq!(trace.steps[0].changed, ["x", "y"]);
    }

    #[test]
    fn deadlock_assumption_and_assertion_are_violations() {
        assert_eq!(violation(&recorded!("deadlock")), (ViolationKind::Deadlock, None));
        let assumption = recorded!("assumption");
        assert_eq!(
            violation(&assumption),
            (ViolationKind::Assumption, Some("line 4, col 15 to line 4, col 19 of module S"))
        );
        let assertion = recorded!("assertion");
        assert_eq!(
            violation(&assertion),
            (ViolationKind::Assertion, Some("Failure of assertion at line 7, column 4."))
        );
    }

    #[test]
    fn evaluation_errors_are_located() {
        let out = recorded!("evaluation");
        assert_eq!(violation(&out).0, ViolationKind::Evaluation);
        assert_eq!(places(&out), [(Stage::Check, 5, 28)]);
        let Some(Finding::Verdict(Verdict::Invalid { reason, .. })) = out.finding else { unreachable!() };
        assert_eq!(reason, "Attempted to apply Head to the empty sequence.");
        let out = recorded!("invariant_evaluation");
        assert_eq!(violation(&out), (ViolationKind::Evaluation, Some("Inv")));
        assert_eq!(places(&out), [(Stage::Check, 6, 8)]);
    }

    #[test]
    fn parse_errors_are_located() {
        assert_eq!(places(&recorded!("semantic_errors")), [(Stage::Parse, 4, 13), (Stage::Parse, 5, 14)]);
        assert_eq!(places(&recorded!("grammar_error")), [(Stage::Parse, 5, 1)]);
        assert_eq!(places(&recorded!("constant_unassigned")), [(Stage::Config, 0, 0)]);
        let out = recorded!("cfg_keyword");
        assert_eq!(violation(&out).0, ViolationKind::Parse);
    }

    #[test]
    fn numbers_with_separators_and_broken_values_are_read() {
        assert_eq!(
            parse_progress(
                "Progress(12) at 2026-01-01 00:00:00: 1,234,567 states generated (7 s/min), 89,012 distinct states found (5 ds/min), 3,456 states left on queue."
            ),
            Some((12, 1_234_567, 89_012, 3_456))
        );
        let state = parse_assignments("/\\ a = << 1,\n        2 >>\n/\\ b =\n  [x |-> 1]\n");
        assert_eq!((state["a"].as_str(), state["b"].as_str()), ("<< 1, 2 >>", "[x |-> 1]"));
        let one = parse_assignments("s = << \"/\\ t = 1\",\n   2 >>");
        assert_eq!(one.len(), 1);
    }

    #[test]
    fn a_value_that_looks_like_a_frame_forges_nothing() {
        let text = "@!@!@STARTMSG 2217:4 @!@!@\n1: <Initial predicate>\nx = \"@!@!@STARTMSG 2193:0 @!@!@\"\n\n@!@!@ENDMSG 2217 @!@!@\n\"@!@!@STARTMSG 2193:0 @!@!@\"\n";
        let out = parse(text, "S");
        assert!(!out.no_error);
        assert_eq!(out.trace.expect("a trace").steps.len(), 1);
    }

    #[test]
    fn errors_about_files_and_disks_are_no_verdict() {
        let found = |code: u32| {
            let text = format!("@!@!@STARTMSG {code}:1 @!@!@\nNo space left on device\n@!@!@ENDMSG {code} @!@!@\n");
            parse(&text, "S").finding
        };
        let files = [1100, 1199, 2100, 2101, 2117, 2123, 2129, 2134, 2135, 2137, 2138, 2147, 2160, 2163, 2166, 2167];
        for code in files.into_iter().chain([2174, 2175, 2270, 2300, 4000, 9999]) {
            assert_eq!(found(code), Some(Finding::Broke("No space left on device".to_owned())), "{code}");
        }
        for code in 1001..=1005 {
            assert!(matches!(found(code), Some(Finding::Exhausted(_))), "{code}");
        }
        for code in [2102, 2118, 2130, 2139, 2164, 2173, 2299] {
            assert!(matches!(found(code), Some(Finding::Verdict(Verdict::Invalid { .. }))), "{code}");
        }
        // An error after a verdict does not change the verdict.
        let both = "@!@!@STARTMSG 2114:1 @!@!@\nDeadlock reached.\n@!@!@ENDMSG 2114 @!@!@\n\
            @!@!@STARTMSG 2101:1 @!@!@\nNo space left on device\n@!@!@ENDMSG 2101 @!@!@\n";
        assert_eq!(violation(&parse(both, "S")), (ViolationKind::Deadlock, None));
    }

    #[test]
    fn parts_of_a_definition_are_separate_and_elements_of_a_set_are_merged() {
        let heads = [
            ("Inc line 5, col 1 to line 5, col 3 of module S", "1:2"),
            ("Send line 6, col 1 to line 6, col 7 of module S", "1:1"),
            ("Send(p2) line 6, col 1 to line 6, col 7 of module S", "0:3"),
            ("Next line 9, col 1 to line 9, col 4 of module S (10 12 10 20)", "1:4"),
            ("Next line 9, col 1 to line 9, col 4 of module S (11 12 11 20)", "0:0"),
            ("Next line 9, col 1 to line 9, col 4 of module S (11 30 11 40)", "0:6"),
            ("Inc line 3, col 1 to line 3, col 3 of module T", "0:0"),
        ];
        let frame = |code: u32, text: &str| format!("@!@!@STARTMSG {code}:0 @!@!@\n{text}\n@!@!@ENDMSG {code} @!@!@\n");
        let frames: String = heads.iter().map(|(head, counts)| frame(2772, &format!("<{head}>: {counts}"))).collect();
        let out = parse(&format!("{}{frames}{}", frame(2201, "coverage"), frame(2202, "end")), "S");
        let found: Vec<_> = out.coverage.expect("coverage").into_iter().map(|a| (a.action, a.taken)).collect();
        let expected = [
            ("Inc", 2),
            ("Send", 4),
            ("Next (line 10)", 4),
            ("Next (line 11, column 12)", 0),
            ("Next (line 11, column 30)", 6),
            ("Inc (in module T)", 0),
        ];
        assert_eq!(found, expected.map(|(name, taken)| (name.to_owned(), taken)));
    }

    #[test]
    fn a_version_is_shown_without_its_date() {
        let shown = plain_version("TLC2 Version 2.15 of Day Month 20?? (rev: d5b5a7f)\n");
        assert_eq!(shown, "TLC2 Version 2.15 (rev: d5b5a7f)");
        assert_eq!(plain_version("TLC2 Version 2.18 of today"), "TLC2 Version 2.18");
        assert_eq!(plain_version("TLC2 Version 2026.01.02 (rev: 1)"), "TLC2 Version 2026.01.02 (rev: 1)");
    }

    #[test]
    fn cut_output_never_panics() {
        let text = include_str!("../../../tests/data/toolchain/tlc_invariant.txt");
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            parse(&text[..end], "S");
        }
    }
}

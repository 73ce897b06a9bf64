//! A counterexample as text: the first state in full, then only what changes in each step, as `old -> new`, `+ element` and
//! `- element`. A value of the first state that is too long for a line is shown entry by entry. The text is ASCII without
//! colour.

use std::fmt::Write as _;

use super::changes::{Change, Difference, changes};
use super::outcome::{FalseConjunct, Lasso, Step, Trace};
use super::value_text::{ValueParts, canonical, one_line, tuple_elements};

/// A width at which no value is shortened, for prompts, files and pipes.
pub const UNLIMITED_WIDTH: usize = 1 << 20;

/// The width in columns if the terminal's is unknown.
pub const DEFAULT_WIDTH: usize = 100;

/// The trace as text of at most `width` columns (at least 40), each line ended by a newline.
pub fn trace_table(trace: &Trace, width: usize) -> String {
    let mut out = String::new();
    let mut previous = None;
    for step in &trace.steps {
        out.push_str(&step_lines(previous, step, width));
        previous = Some(step);
    }
    if let Some(line) = lasso_line(trace) {
        let _ = writeln!(out, "{line}");
    }
    out
}

/// Like [`trace_table`], but without the states that `shown`, a trace above it, begins with, too.
pub(crate) fn trace_table_after(shown: &Trace, trace: &Trace, width: usize) -> String {
    let is_same = |(one, other): &(&Step, &Step)| one.action == other.action && one.state == other.state;
    let common = shown.steps.iter().zip(&trace.steps).take_while(is_same).count();
    let shown_again: String = (0..common)
        .map(|at| step_lines(at.checked_sub(1).map(|before| &trace.steps[before]), &trace.steps[at], width))
        .collect();
    // A saving of a few lines is not worth a look at another trace.
    if shown_again.lines().count() < 5 {
        return trace_table(trace, width);
    }
    let steps = if common == 1 { "1".to_owned() } else { format!("1 to {common}") };
    let mut out = format!("  {steps}  as in the counterexample above\n");
    let mut previous = Some(&trace.steps[common - 1]);
    for step in &trace.steps[common..] {
        out.push_str(&step_lines(previous, step, width));
        previous = Some(step);
    }
    // Steps of a lasso are numbers of the whole trace.
    out + &lasso_line(trace).map(|line| line + "\n").unwrap_or_default()
}

/// How the behaviour goes on after the last state; `None` if the trace ends there.
pub fn lasso_line(trace: &Trace) -> Option<String> {
    let last = trace.steps.last().map_or(0, |step| step.step);
    match trace.lasso? {
        Lasso::BackTo(step) if step == last => Some(format!("then step {step} repeats for ever")),
        Lasso::BackTo(step) => Some(format!("then back to step {step}: steps {step} to {last} repeat for ever")),
        Lasso::Stuttering(true) => Some("then nothing ever happens again (stuttering)".to_owned()),
        Lasso::Stuttering(false) => None,
    }
}

/// The process of an algorithm that took a step: the argument of the action, or else the only one whose `pc` changed. `None`
/// without a `pc`: then an argument can be anything.
pub fn acting_process(previous: &Step, step: &Step) -> Option<String> {
    if step.process.is_some() {
        return step.process.clone();
    }
    let (Some(before), Some(after)) = (previous.state.get("pc"), step.state.get("pc")) else { return None };
    let moved = || {
        let (before, after) = (entries(before)?, entries(after)?);
        let mut moved = after.iter().filter(|(place, value)| {
            let old = before.iter().find(|(other, _)| other == place).map(|(_, old)| canonical(old));
            old.is_some_and(|old| old != canonical(value))
        });
        let (Some((place, _)), None) = (moved.next(), moved.next()) else { return None };
        Some(place.trim_matches(|c| matches!(c, '[' | ']' | '.')).to_owned())
    };
    step.arguments.clone().or_else(moved)
}

/// The first argument of an action of a module without processes, if a function of the state has it in its domain: such a
/// value often stands for a process.
pub fn first_process(step: &Step) -> Option<String> {
    let arguments = format!("<<{}>>", step.arguments.as_deref()?);
    let first = (*tuple_elements(&arguments)?.first()?).to_owned();
    let selects = [format!("[{first}]"), format!(".{first}")];
    let is_key =
        |value: &String| entries(value).is_some_and(|all| all.iter().any(|(place, _)| selects.contains(place)));
    step.state.values().any(is_key).then_some(first)
}

/// One step of a trace as text of at most `width` columns (at least 40), each line ended by a newline: the number and the
/// action, then what changed since `previous`; without it the whole state.
pub fn step_lines(previous: Option<&Step>, step: &Step, width: usize) -> String {
    let width = width.max(40);
    let mut out = String::new();
    let mut head = format!("{:>3}  {}", step.step, escape_non_ascii(&step_title(previous, step)));
    if let Some(source) = &step.source {
        let source = escape_non_ascii(&source.to_string());
        head = format!("{}  {source}", shorten(&head, width.saturating_sub(source.len() + 2)));
    }
    let _ = writeln!(out, "{}", shorten(&head, width));
    let lines = match previous {
        None => state_lines(step, width),
        Some(previous) => changes(previous, step).into_iter().map(change_line).collect(),
    };
    if lines.is_empty() && previous.is_some() {
        let _ = writeln!(out, "     (no variable changed)");
    }
    let longest = lines.iter().map(|line| escape_non_ascii(&line.path).len()).max().unwrap_or(0).min(width / 3);
    for line in lines {
        let _ = writeln!(out, "{}", line.text(longest, width));
    }
    for conjunct in &step.false_conjuncts {
        append_false_conjunct(&mut out, step, conjunct, width);
    }
    out
}

/// Why the invariant is false in this state: the conjunct, and the values that it depends on.
fn append_false_conjunct(
    out: &mut String,
    step: &Step,
    FalseConjunct { formula, elements, variables }: &FalseConjunct,
    width: usize,
) {
    let mut lines = vec![format!("     false: {formula}")];
    if !elements.is_empty() {
        lines.push(format!("            for {}", elements.join("; ")));
    }
    let value = |name: &String| Some(format!("            {name} = {}", one_line(step.state.get(name)?)));
    lines.extend(variables.iter().filter_map(value));
    for line in lines {
        let _ = writeln!(out, "{}", shorten(&escape_non_ascii(&line), width));
    }
}

/// The action with its arguments and its branch: `Loop(3): retry`; with the process if that is no argument:
/// `Serve [server]: grant`.
pub fn step_title(previous: Option<&Step>, step: &Step) -> String {
    let Some(action) = &step.action else {
        return if previous.is_some() { "(action unknown)" } else { "initial state" }.to_owned();
    };
    let process = || previous.and_then(|previous| acting_process(previous, step));
    let call = match (&step.process, step.arguments.clone().or_else(process)) {
        (Some(process), _) => format!("{action} [{process}]"),
        (None, Some(arguments)) if previous.is_some() => format!("{action}({arguments})"),
        _ => action.clone(),
    };
    match &step.branch {
        Some(branch) => {
            // The comment at the start of a branch may repeat the name of the action.
            let own = branch.strip_prefix(action.as_str()).and_then(|rest| rest.strip_prefix(": "));
            format!("{call}: {}", own.unwrap_or(branch))
        }
        None => call,
    }
}

/// The lines of a state, each the name and the sign between it and the value.
fn state_lines(step: &Step, width: usize) -> Vec<Line> {
    let lines = step.state.iter().flat_map(|(name, value)| split_if_too_long(name.clone(), value, width));
    lines.map(|(name, value)| Line { path: name, sign: " = ", value: one_line(value), old: None }).collect()
}

/// The lines of a change, or of a new value that is too long for one.
fn change_line(Change { path, difference }: Change) -> Line {
    match difference {
        Difference::Replaced { before, after } => Line { path, sign: ": ", value: after, old: Some(before) },
        Difference::Added { value } => Line { path, sign: ": + ", value, old: None },
        Difference::Removed { value } => Line { path, sign: ": - ", value, old: None },
    }
}

struct Line {
    path: String,
    sign: &'static str,
    value: String,
    old: Option<String>,
}

impl Line {
    fn text(&self, longest: usize, width: usize) -> String {
        let path = shorten(&escape_non_ascii(&self.path), longest);
        // `x   = 1` for a state, `x:   1 -> 2` for a change.
        let head = match self.sign.strip_prefix(':') {
            Some(rest) => format!("     {:<1$}{rest}", format!("{path}:"), longest + 1),
            None => format!("     {path:longest$}{}", self.sign),
        };
        let room = width.saturating_sub(head.len());
        let value = escape_non_ascii(&self.value);
        let value = match &self.old {
            None => shorten(&value, room),
            Some(old) => shorten_pair(&escape_non_ascii(old), &value, room),
        };
        head + &value
    }
}

/// `old -> new` in this room: the shorter one in full if the other can be shortened enough.
fn shorten_pair(old: &str, new: &str, room: usize) -> String {
    let room = room.saturating_sub(ARROW.len());
    let half = room / 2;
    let (old_room, new_room) = match (old.len() <= half, new.len() <= half) {
        (true, _) => (old.len(), room - old.len()),
        (_, true) => (room - new.len(), new.len()),
        _ => (room - half, half),
    };
    format!("{}{ARROW}{}", shorten(old, old_room), shorten(new, new_room))
}

const ARROW: &str = " -> ";

/// The value as one line, or as a line for each entry if it is too long and has at most 16 entries.
fn split_if_too_long(name: String, value: &str, width: usize) -> Vec<(String, &str)> {
    const MAX_ENTRIES: usize = 16;
    if escape_non_ascii(&name).len() + escape_non_ascii(&one_line(value)).len() + 8 > width
        && let Some(parts) = entries(value).filter(|parts| (2..=MAX_ENTRIES).contains(&parts.len()))
    {
        return parts.into_iter().map(|(place, part)| (format!("{name}{place}"), part)).collect();
    }
    vec![(name, value)]
}

/// The entries of a function, record or sequence, each with the suffix that selects it.
fn entries(value: &str) -> Option<Vec<(String, &str)>> {
    ValueParts::read(value)?.entries()
}

/// Escapes every character that is not printable ASCII as `\u{…}`.
fn escape_non_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == ' ' || c.is_ascii_graphic() {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}

/// Shortens an ASCII text to at most `room` characters by leaving out its middle.
fn shorten(text: &str, room: usize) -> String {
    const GAP: &str = " ... ";
    if text.len() <= room {
        return text.to_owned();
    }
    if room <= GAP.len() + 2 {
        return text[..room].to_owned();
    }
    let keep = room - GAP.len();
    let head = keep - keep / 2;
    format!("{}{GAP}{}", &text[..head], &text[text.len() - keep / 2..])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_process_that_acts_is_the_only_one_whose_pc_changed() {
        let at = |pc: &str| step(1, &[("pc", pc)]);
        for (before, after, process) in [
            (r#"(a :> "x" @@ b :> "x")"#, r#"(a :> "x" @@ b :> "y")"#, Some("b")),
            (r#"[a |-> "x", b |-> "x"]"#, r#"[a |-> "y", b |-> "x"]"#, Some("a")),
            (r#"<<"x">>"#, r#"<<"y">>"#, Some("1")),
            (r#"(a :> "x" @@ b :> "x")"#, r#"(a :> "y" @@ b :> "y")"#, None),
            (r#"(a :> "x" @@ b :> "x")"#, r#"(a :> "x" @@ b :> "x")"#, None),
            (r#""x""#, r#""y""#, None),
        ] {
            assert_eq!(acting_process(&at(before), &at(after)).as_deref(), process, "{before} {after}");
        }
    }

    fn step(number: usize, values: &[(&str, &str)]) -> Step {
        let state: BTreeMap<String, String> = values.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let changed = state.keys().cloned().collect();
        Step {
            step: number,
            action: Some("A".to_owned()),
            branch: None,
            arguments: None,
            process: None,
            source: None,
            state,
            changed,
            false_conjuncts: Vec::new(),
        }
    }

    /// The lines that are shown if `v` changes from `before` to `after`.
    fn shown(before: &str, after: &str) -> Vec<String> {
        let text = step_lines(Some(&step(1, &[("v", before)])), &step(2, &[("v", after)]), 200);
        text.lines().skip(1).map(|line| line.trim().to_owned()).collect()
    }

    #[test]
    fn a_change_shows_the_old_and_the_new_value_or_what_was_added_and_removed() {
        assert_eq!(shown("(r1 :> \"Ask\" @@ r2 :> 0)", "(r1 :> \"Fill\" @@ r2 :> 0)"), ["v[r1]: \"Ask\" -> \"Fill\""]);
        assert_eq!(shown("{1, [x |-> 2]}", "{1, 3, 4}"), ["v: - [x |-> 2]", "v: + 3", "v: + 4"]);
        // The entry of a sequence that was appended, under the first whose name is shorter.
        assert_eq!(shown("[q |-> <<1>>, n |-> 1]", "[q |-> <<1, {}>>, n |-> 2]"), ["v.q[2]: + {}", "v.n:    1 -> 2"]);
        assert_eq!(shown("1", "1"), ["(no variable changed)"]);
    }

    #[test]
    fn a_value_that_fits_is_shown_in_full_beside_one_that_does_not() {
        let long = format!("<<{}0>>", "1, ".repeat(40));
        for (before, after) in [(long.as_str(), "TRUE"), ("TRUE", long.as_str()), (long.as_str(), "{{{}}}")] {
            let text = step_lines(Some(&step(1, &[("v", before)])), &step(2, &[("v", after)]), 60);
            let line = text.lines().nth(1).expect("a change");
            assert!(line.len() == 60 && line.contains(" ... "), "{line}");
            assert!(line.contains("TRUE") || line.contains("{{{}}}"), "{line}");
        }
        let all = step_lines(Some(&step(1, &[("v", &long)])), &step(2, &[("v", "TRUE")]), UNLIMITED_WIDTH);
        assert!(all.contains(&format!("v: {long} -> TRUE")), "{all}");
    }

    #[test]
    fn the_first_state_is_shown_in_full() {
        let first = step_lines(None, &step(1, &[("f", "(a :> 1 @@ b :> 2)"), ("x", "0")]), 80);
        assert_eq!(first, "  1  A\n     f = (a :> 1 @@ b :> 2)\n     x = 0\n");
    }

    #[test]
    fn a_value_too_long_for_its_line_is_shown_entry_by_entry() {
        let long = "( reader :> \"Looking up\" @@ writer :> \"Starting\" )";
        let lines = step_lines(None, &step(1, &[("pc", long)]), 40);
        assert_eq!(lines, "  1  A\n     pc[reader] = \"Looking up\"\n     pc[writer] = \"Starting\"\n");
        assert!(step_lines(None, &step(1, &[("pc", long)]), UNLIMITED_WIDTH).contains(long));
        let endless = format!("<<{}1>>", "1, ".repeat(40));
        assert!(step_lines(None, &step(1, &[("pc", &endless)]), 40).contains(" ... "));
    }
}

//! A counterexample as text: the first state in full, then only what changes in each step. If the domain of a function,
//! record or sequence stays the same, only its changed entries are shown; a value too long for a line is shown entry by
//! entry. The text is ASCII without colour.

use std::fmt::Write as _;

use super::outcome::{Lasso, Step, Trace};

/// A width at which no value is shortened, for prompts: a model gets the whole trace.
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

/// The process that took a step, if the trace shows it: the only one whose `pc` changed.
pub fn acting_process(previous: &Step, step: &Step) -> Option<String> {
    let (before, after) = (entries(previous.state.get("pc")?)?, entries(step.state.get("pc")?)?);
    let mut moved = after.iter().filter(|(place, value)| {
        let old = before.iter().find(|(other, _)| other == place).map(|(_, old)| without_whitespace(old));
        old.is_some_and(|old| old != without_whitespace(value))
    });
    let (Some((place, _)), None) = (moved.next(), moved.next()) else { return None };
    Some(place.trim_matches(|c| matches!(c, '[' | ']' | '.')).to_owned())
}

/// One step of a trace as text of at most `width` columns (at least 40), each line ended by a newline: the number and the
/// action, then what changed since `previous`; without it the whole state.
pub fn step_lines(previous: Option<&Step>, step: &Step, width: usize) -> String {
    let width = width.max(40);
    let mut out = String::new();
    let action = match (&step.action, previous) {
        (Some(action), _) => match &step.branch {
            Some(branch) => {
                // The comment at the start of a branch may repeat the name of the action.
                let own = branch.strip_prefix(action.as_str()).and_then(|rest| rest.strip_prefix(": "));
                escape_non_ascii(&format!("{action}: {}", own.unwrap_or(branch)))
            }
            None => escape_non_ascii(action),
        },
        (None, None) => "initial state".to_owned(),
        (None, Some(_)) => "(action unknown)".to_owned(),
    };
    let head = shorten(&format!("{:>3}  {action}", step.step), width);
    let _ = writeln!(out, "{head}");
    let mut shown: Vec<(String, &str)> = Vec::new();
    for (name, value) in &step.state {
        match previous {
            None => shown.push((name.clone(), value)),
            Some(previous) if step.changed.contains(name) => match previous.state.get(name) {
                Some(before) => add_differences(name, before, value, MAX_NESTING, &mut shown),
                None => shown.push((name.clone(), value)),
            },
            Some(_) => {}
        }
    }
    if shown.is_empty() && previous.is_some() {
        let _ = writeln!(out, "     (no variable changed)");
    }
    let shown: Vec<(String, &str)> =
        shown.into_iter().flat_map(|(name, value)| split_if_too_long(name, value, width)).collect();
    let longest = shown.iter().map(|(name, _)| escape_non_ascii(name).len()).max().unwrap_or(0).min(width / 3);
    for (name, value) in shown {
        let name = shorten(&escape_non_ascii(&name), longest);
        let room = width.saturating_sub(5 + longest + 3);
        let value = shorten(&escape_non_ascii(&one_line(value)), room);
        let _ = writeln!(out, "     {name:longest$} = {value}");
    }
    out
}

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

/// How deep entries of entries are compared. A deeper value is shown whole if it changed.
const MAX_NESTING: usize = 8;

/// Adds the changed part of a value to `shown`: the entries that differ if the domain stays the same and at least one
/// entry does; otherwise the whole value.
fn add_differences<'a>(path: &str, before: &str, after: &'a str, depth: usize, shown: &mut Vec<(String, &'a str)>) {
    let differing = (depth > 0).then(|| changed_entries(before, after)).flatten();
    match differing {
        Some(entries) => {
            for (place, before, after) in entries {
                add_differences(&format!("{path}{place}"), before, after, depth - 1, shown);
            }
        }
        None => shown.push((path.to_owned(), after)),
    }
}

/// The entries that differ, each as the suffix that selects it (`[a]`, `.x`) and its values before and after. `None` if
/// the value should be shown whole.
fn changed_entries<'a, 'b>(before: &'b str, after: &'a str) -> Option<Vec<(String, &'b str, &'a str)>> {
    let (before, after) = (entries(before)?, entries(after)?);
    if before.len() != after.len() {
        return None;
    }
    let mut changed = Vec::new();
    for (place, value) in &after {
        let mut same_place = before.iter().filter(|(other, _)| other == place);
        let (Some((_, old)), None) = (same_place.next(), same_place.next()) else { return None };
        if without_whitespace(old) != without_whitespace(value) {
            changed.push((place.clone(), *old, *value));
        }
    }
    (!changed.is_empty() && changed.len() < after.len()).then_some(changed)
}

/// The entries of a function `(a :> 1 @@ b :> 2)`, a record `[x |-> 1, y |-> 2]` or a sequence `<<1, 2>>`, each with the
/// suffix that selects it: `[a]`, `.x`, `[1]`. `None` for every other value.
fn entries(value: &str) -> Option<Vec<(String, &str)>> {
    let value = value.trim();
    let inside = |open: &str, close: &str| value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(inner) = inside("<<", ">>") {
        let parts = split(inner, ",")?;
        return Some(parts.into_iter().enumerate().map(|(index, part)| (format!("[{}]", index + 1), part)).collect());
    }
    if let Some(inner) = inside("(", ")") {
        let parts = split(inner, "@@")?.into_iter().map(|part| split_pair(part, ":>"));
        return parts.map(|entry| entry.map(|(key, value)| (format!("[{}]", one_line(key)), value))).collect();
    }
    let inner = inside("[", "]")?;
    split(inner, ",")?
        .into_iter()
        .map(|part| {
            let (field, value) = split_pair(part, "|->")?;
            let is_name = !field.is_empty() && field.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            is_name.then(|| (format!(".{field}"), value))
        })
        .collect()
}

/// Key and value of `key sign value`, if the sign occurs exactly once.
fn split_pair<'a>(part: &'a str, sign: &str) -> Option<(&'a str, &'a str)> {
    match split(part, sign)?[..] {
        [key, value] => Some((key, value)),
        _ => None,
    }
}

/// Splits a text at the separators outside brackets and strings, and trims the parts. `None` if a bracket or a string is
/// not closed, or a part is empty.
fn split<'a>(text: &'a str, separator: &str) -> Option<Vec<&'a str>> {
    const BRACKETS: [(&str, &str); 4] = [("<<", ">>"), ("(", ")"), ("[", "]"), ("{", "}")];
    let mut parts = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let (mut index, mut begin) = (0, 0);
    while index < text.len() {
        let rest = &text[index..];
        index += if open.is_empty() && rest.starts_with(separator) {
            parts.push(text[begin..index].trim());
            begin = index + separator.len();
            separator.len()
        } else if rest.starts_with('"') {
            string_length(rest)?
        } else if let Some(sign) = ["|->", ":>"].into_iter().find(|sign| rest.starts_with(sign)) {
            // The `>` of these signs is not a closing bracket.
            sign.len()
        } else if let Some((opening, closing)) = BRACKETS.into_iter().find(|(opening, _)| rest.starts_with(opening)) {
            open.push(closing);
            opening.len()
        } else if let Some((_, closing)) = BRACKETS.into_iter().find(|(_, closing)| rest.starts_with(closing)) {
            if open.pop() != Some(closing) {
                return None;
            }
            closing.len()
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
    }
    parts.push(text[begin..].trim());
    (open.is_empty() && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

/// The length of the string at the start of `text`, including its quotes.
fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(index + 1),
            _ => {}
        }
    }
    None
}

/// The value without white space outside strings, because TLC breaks long values into lines.
fn without_whitespace(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(c) = rest.chars().next() {
        let length = if c == '"' { string_length(rest).unwrap_or(rest.len()) } else { c.len_utf8() };
        if !c.is_whitespace() {
            out.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    out
}

/// Replaces each run of white space by one blank.
fn one_line(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
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
        Step { step: number, action: Some("A".to_owned()), branch: None, state, changed }
    }

    /// The lines that are shown if `v` changes from `before` to `after`.
    fn shown(before: &str, after: &str) -> Vec<String> {
        let text = step_lines(Some(&step(1, &[("v", before)])), &step(2, &[("v", after)]), 200);
        text.lines().skip(1).map(|line| line.trim().to_owned()).collect()
    }

    #[test]
    fn only_changed_entries_of_a_function_are_shown() {
        assert_eq!(
            shown("(r1 :> \"Ask\" @@ r2 :> \"Ask\")", "(r1 :> \"Fill\" @@ r2 :> \"Ask\")"),
            ["v[r1] = \"Fill\""]
        );
        assert_eq!(shown("(<<1, 2>> :> 0 @@ {a, b} :> 0)", "(<<1, 2>> :> 0 @@ {a, b} :> 7)"), ["v[{a, b}] = 7"]);
        // TLC prints the domain in any order.
        assert_eq!(shown("(a :> 1 @@ b :> 2)", "(b :> 3 @@ a :> 1)"), ["v[b] = 3"]);
    }

    #[test]
    fn only_changed_fields_of_a_record_are_shown() {
        assert_eq!(
            shown("[type |-> \"none\", from |-> 0, to |-> 0]", "[type |-> \"ask\", from |-> 1, to |-> 0]"),
            ["v.type = \"ask\"", "v.from = 1"]
        );
    }

    #[test]
    fn only_changed_elements_of_a_sequence_of_the_same_length_are_shown() {
        assert_eq!(shown("<<\"a\", <<1, 2>>, 3>>", "<<\"a\", <<1, 5>>, 3>>"), ["v[2][2] = 5"]);
        assert_eq!(shown("<<1, 2>>", "<<1, 2, 3>>"), ["v = <<1, 2, 3>>"]);
    }

    #[test]
    fn entries_of_entries_are_compared() {
        assert_eq!(
            shown(
                "(a :> [x |-> 1, y |-> (p :> 1 @@ q :> 2)] @@ b :> 0)",
                "(a :> [x |-> 1, y |-> (p :> 1 @@ q :> 3)] @@ b :> 0)"
            ),
            ["v[a].y[q] = 3"]
        );
    }

    #[test]
    fn a_new_domain_or_an_all_new_value_is_shown_whole() {
        for (before, after) in [
            ("(a :> 1 @@ b :> 2)", "(a :> 1 @@ c :> 2)"),
            ("(a :> 1)", "(a :> 1 @@ b :> 2)"),
            ("[x |-> 1, y |-> 2]", "[x |-> 3, y |-> 4]"),
            ("[x |-> 1, y |-> 2]", "(x :> 1 @@ y :> 3)"),
            ("{1, 2}", "{1, 3}"),
            ("<<>>", "<<1>>"),
        ] {
            assert_eq!(shown(before, after), [format!("v = {after}")], "{before}");
        }
    }

    #[test]
    fn separators_inside_strings_and_nested_values_are_ignored() {
        assert_eq!(
            shown(
                "[a |-> \"x, b |-> \\\" (\", b |-> 1, c |-> {<<1, 2>>}]",
                "[a |-> \"x, b |-> \\\" (\", b |-> 2, c |-> {<<1, 2>>}]"
            ),
            ["v.b = 2"]
        );
        assert_eq!(
            shown("(\"a @@ b\" :> 1 @@ \"c :> d\" :> 2)", "(\"a @@ b\" :> 1 @@ \"c :> d\" :> 3)"),
            ["v[\"c :> d\"] = 3"]
        );
    }

    #[test]
    fn line_breaks_that_tlc_adds_are_no_change() {
        assert_eq!(shown("(a :> <<1, 2>> @@ b :> 2)", "( a :>\n    << 1,\n  2 >> @@\n  b :> 3 )"), ["v[b] = 3"]);
    }

    #[test]
    fn a_value_that_cannot_be_parsed_is_shown_whole() {
        for value in [
            "(a :> 1",
            "[a |-> 1, b]",
            "(a :> 1) @@ (b :> 2)",
            "[{1} -> {2}]",
            "[a: {1}, b: {2}]",
            "(a :> \"x)",
            "<<1,>>",
            "((",
            "))",
            "]",
            "[",
            "(a :> b :> 1 @@ c :> 1)",
            "[a b |-> 1, c |-> 1]",
            "(é :> 1 @@ ",
            "\"",
            "<<",
            ">>",
            "",
        ] {
            let before = "(a :> 1 @@ b :> 2)";
            assert_eq!(shown(before, value), [format!("v = {}", escape_non_ascii(value)).trim()], "{value}");
            assert_eq!(shown(value, before), [format!("v = {before}")], "{value}");
        }
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

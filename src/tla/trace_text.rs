//! A counterexample for a person: step by step, the first state in full, then only what changed. Of a function, record or
//! sequence whose domain stays, only the changed entries are shown; what is too long for a line, entry by entry. ASCII, no
//! colour.

use std::fmt::Write as _;

use super::outcome::{Lasso, Step, Trace};

/// A width at which no value is cut: a model gets the whole trace.
pub const UNLIMITED_WIDTH: usize = 1 << 20;

/// The widest a table needs to be where nobody says otherwise.
pub const DEFAULT_WIDTH: usize = 100;

/// The trace as text of at most `width` columns (at least 40), each line ended by a newline.
pub fn trace_table(trace: &Trace, width: usize) -> String {
    let mut out = String::new();
    let mut previous = None;
    for step in &trace.steps {
        out.push_str(&step_lines(previous, step, width));
        previous = Some(step);
    }
    let last = trace.steps.last().map_or(0, |step| step.step);
    match trace.lasso {
        Some(Lasso::BackTo(step)) if step == last => {
            let _ = writeln!(out, "then step {step} repeats for ever");
        }
        Some(Lasso::BackTo(step)) => {
            let _ = writeln!(out, "then back to step {step}: steps {step} to {last} repeat for ever");
        }
        Some(Lasso::Stuttering(true)) => {
            let _ = writeln!(out, "then nothing ever happens again (stuttering)");
        }
        Some(Lasso::Stuttering(false)) | None => {}
    }
    out
}

/// One step of a trace as text of at most `width` columns (at least 40), each line ended by a newline: the number and the
/// action, then what changed since `previous`; without it the whole state.
pub fn step_lines(previous: Option<&Step>, step: &Step, width: usize) -> String {
    let width = width.max(40);
    let mut out = String::new();
    let action = match (&step.action, previous) {
        (Some(action), _) => ascii(action),
        (None, None) => "initial state".to_owned(),
        (None, Some(_)) => "(action unknown)".to_owned(),
    };
    let head = elide(&format!("{:>3}  {action}", step.step), width);
    let _ = writeln!(out, "{head}");
    let mut shown: Vec<(String, &str)> = Vec::new();
    for (name, value) in &step.state {
        match previous {
            None => shown.push((name.clone(), value)),
            Some(previous) if step.changed.contains(name) => match previous.state.get(name) {
                Some(before) => differences(name, before, value, NESTING, &mut shown),
                None => shown.push((name.clone(), value)),
            },
            Some(_) => {}
        }
    }
    if shown.is_empty() && previous.is_some() {
        let _ = writeln!(out, "     (no variable changed)");
    }
    let shown: Vec<(String, &str)> = shown.into_iter().flat_map(|(name, value)| fitting(name, value, width)).collect();
    let longest = shown.iter().map(|(name, _)| ascii(name).len()).max().unwrap_or(0).min(width / 3);
    for (name, value) in shown {
        let name = elide(&ascii(&name), longest);
        let room = width.saturating_sub(5 + longest + 3);
        let value = elide(&ascii(&one_line(value)), room);
        let _ = writeln!(out, "     {name:longest$} = {value}");
    }
    out
}

/// The value on a line of its own; where it is too long for one, its entries, if there are not too many.
fn fitting(name: String, value: &str, width: usize) -> Vec<(String, &str)> {
    const MANY: usize = 16;
    if ascii(&name).len() + ascii(&one_line(value)).len() + 8 > width
        && let Some(parts) = entries(value).filter(|parts| (2..=MANY).contains(&parts.len()))
    {
        return parts.into_iter().map(|(place, part)| (format!("{name}{place}"), part)).collect();
    }
    vec![(name, value)]
}

/// How deep entries of entries are compared; deeper ones are shown whole.
const NESTING: usize = 8;

/// What is shown of a value that changed: the entries that differ, where the domain is the same and an entry is the
/// same as before; else the whole value.
fn differences<'a>(path: &str, before: &str, after: &'a str, depth: usize, shown: &mut Vec<(String, &'a str)>) {
    let differing = (depth > 0).then(|| changed_entries(before, after)).flatten();
    match differing {
        Some(entries) => {
            for (place, before, after) in entries {
                differences(&format!("{path}{place}"), before, after, depth - 1, shown);
            }
        }
        None => shown.push((path.to_owned(), after)),
    }
}

/// The entries that differ: how the entry is written behind the variable, its value before and after. `None` where the
/// value is best shown whole.
fn changed_entries<'a, 'b>(before: &'b str, after: &'a str) -> Option<Vec<(String, &'b str, &'a str)>> {
    let (before, after) = (entries(before)?, entries(after)?);
    if before.len() != after.len() {
        return None;
    }
    let mut changed = Vec::new();
    for (place, value) in &after {
        let mut same_place = before.iter().filter(|(other, _)| other == place);
        let (Some((_, old)), None) = (same_place.next(), same_place.next()) else { return None };
        if squeezed(old) != squeezed(value) {
            changed.push((place.clone(), *old, *value));
        }
    }
    (!changed.is_empty() && changed.len() < after.len()).then_some(changed)
}

/// The entries of a function `(a :> 1 @@ b :> 2)`, a record `[x |-> 1, y |-> 2]` or a sequence `<<1, 2>>`, each with how
/// it is written behind a name: `[a]`, `.x`, `[1]`. `None` for every other value.
fn entries(value: &str) -> Option<Vec<(String, &str)>> {
    let value = value.trim();
    let inside = |open: &str, close: &str| value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(inner) = inside("<<", ">>") {
        let parts = split(inner, ",")?;
        return Some(parts.into_iter().enumerate().map(|(at, part)| (format!("[{}]", at + 1), part)).collect());
    }
    if let Some(inner) = inside("(", ")") {
        let parts = split(inner, "@@")?.into_iter().map(|part| pair(part, ":>"));
        return parts.map(|entry| entry.map(|(key, value)| (format!("[{}]", one_line(key)), value))).collect();
    }
    let inner = inside("[", "]")?;
    split(inner, ",")?
        .into_iter()
        .map(|part| {
            let (field, value) = pair(part, "|->")?;
            let is_name = !field.is_empty() && field.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            is_name.then(|| (format!(".{field}"), value))
        })
        .collect()
}

/// `key sign value`, with the sign just once.
fn pair<'a>(part: &'a str, sign: &str) -> Option<(&'a str, &'a str)> {
    match split(part, sign)?[..] {
        [key, value] => Some((key, value)),
        _ => None,
    }
}

/// The parts between the separators that stand outside brackets and strings, trimmed. `None` where a bracket or a string
/// is not closed, or a part is empty.
fn split<'a>(text: &'a str, separator: &str) -> Option<Vec<&'a str>> {
    const BRACKETS: [(&str, &str); 4] = [("<<", ">>"), ("(", ")"), ("[", "]"), ("{", "}")];
    let mut parts = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let (mut at, mut begin) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        at += if open.is_empty() && rest.starts_with(separator) {
            parts.push(text[begin..at].trim());
            begin = at + separator.len();
            separator.len()
        } else if rest.starts_with('"') {
            string_length(rest)?
        } else if let Some(sign) = ["|->", ":>"].into_iter().find(|sign| rest.starts_with(sign)) {
            // Their `>` closes nothing.
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

/// The length of the string that `text` begins with, its quotes included.
fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Without white space outside strings: TLC breaks long values over lines.
fn squeezed(value: &str) -> String {
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

/// Runs of white space become one blank.
fn one_line(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Everything else as `\u{…}`.
fn ascii(text: &str) -> String {
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

/// At most `room` characters of an ASCII text: the middle is left out where it is longer.
fn elide(text: &str, room: usize) -> String {
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

    fn step(number: usize, values: &[(&str, &str)]) -> Step {
        let state: BTreeMap<String, String> = values.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let changed = state.keys().cloned().collect();
        Step { step: number, action: Some("A".to_owned()), state, changed }
    }

    /// What is shown of `v` when it goes from `before` to `after`, a line each.
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
        // The order in which TLC prints the domain says nothing.
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
    fn only_changed_places_of_a_sequence_of_the_same_length_are_shown() {
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
    fn signs_inside_strings_and_nested_values_separate_nothing() {
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
    fn line_breaks_of_tlc_are_no_change() {
        assert_eq!(shown("(a :> <<1, 2>> @@ b :> 2)", "( a :>\n    << 1,\n  2 >> @@\n  b :> 3 )"), ["v[b] = 3"]);
    }

    #[test]
    fn what_is_in_doubt_is_shown_whole() {
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
            assert_eq!(shown(before, value), [format!("v = {}", ascii(value)).trim()], "{value}");
            assert_eq!(shown(value, before), [format!("v = {before}")], "{value}");
        }
    }

    #[test]
    fn the_first_state_is_shown_in_full() {
        let first = step_lines(None, &step(1, &[("f", "(a :> 1 @@ b :> 2)"), ("x", "0")]), 80);
        assert_eq!(first, "  1  A\n     f = (a :> 1 @@ b :> 2)\n     x = 0\n");
    }

    #[test]
    fn a_value_too_long_for_its_line_is_shown_by_its_entries() {
        let long = "( reader :> \"Looking up\" @@ writer :> \"Starting\" )";
        let lines = step_lines(None, &step(1, &[("pc", long)]), 40);
        assert_eq!(lines, "  1  A\n     pc[reader] = \"Looking up\"\n     pc[writer] = \"Starting\"\n");
        assert!(step_lines(None, &step(1, &[("pc", long)]), UNLIMITED_WIDTH).contains(long));
        let endless = format!("<<{}1>>", "1, ".repeat(40));
        assert!(step_lines(None, &step(1, &[("pc", &endless)]), 40).contains(" ... "));
    }
}

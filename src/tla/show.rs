//! A counterexample for a person: step by step, the first state in full, then only what changed. ASCII, no colour.

use std::fmt::Write as _;

use super::outcome::{Lasso, Step, Trace};

/// A width at which no value is cut: a model gets the whole trace.
pub const UNCUT: usize = 1 << 20;

/// The widest a table needs to be where nobody says otherwise.
pub const DEFAULT_WIDTH: usize = 100;

/// The trace as text of at most `width` columns (at least 40), each line ended by a newline.
pub fn trace_table(trace: &Trace, width: usize) -> String {
    let width = width.max(40);
    let mut out = String::new();
    for (at, step) in trace.steps.iter().enumerate() {
        block(&mut out, step, at == 0, width);
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

fn block(out: &mut String, step: &Step, first: bool, width: usize) {
    let action = match (&step.action, first) {
        (Some(action), _) => ascii(action),
        (None, true) => "initial state".to_owned(),
        (None, false) => "(action unknown)".to_owned(),
    };
    let head = elide(&format!("{:>3}  {action}", step.step), width);
    let _ = writeln!(out, "{head}");
    let shown: Vec<(&str, &str)> = step
        .state
        .iter()
        .filter(|(name, _)| first || step.changed.iter().any(|changed| changed == *name))
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    if shown.is_empty() && !first {
        let _ = writeln!(out, "     (no variable changed)");
    }
    let longest = shown.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(width / 3);
    for (name, value) in shown {
        let name = elide(&ascii(name), longest);
        let room = width.saturating_sub(5 + longest + 3);
        let value = elide(&ascii(&one_line(value)), room);
        let _ = writeln!(out, "     {name:longest$} = {value}");
    }
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

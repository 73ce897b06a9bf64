//! A mutant as a diff of the lines that it changes.

use std::fmt::Write as _;

use super::mutant::{Edit, Mutant};
use tlaforge_tla::Lines;

/// Lines of the source, and the lines that replace them.
struct Hunk<'a> {
    /// The number of the first line, from 1.
    first: usize,
    old: &'a str,
    new: String,
}

impl Mutant {
    /// The changed lines without context, each with its line number in its own text: `- 41:   await lock = 0;`, `+ 41:   skip;`.
    pub fn diff(&self, source: &str) -> String {
        let mut out = String::new();
        // Number of lines that the earlier hunks have added.
        let mut more: isize = 0;
        for Hunk { first, old, new } in hunks(&self.edits, source) {
            let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
            // A hunk consists of complete lines; those at its ends may be unchanged.
            let same_before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let rest = old.len().min(new.len()) - same_before;
            let same_after = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
            let from = first + same_before;
            for (at, line) in old[same_before..old.len() - same_after].iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = writeln!(out, "- {}: {line}", from + at);
            }
            for (at, line) in new[same_before..new.len() - same_after].iter().enumerate() {
                let _ = writeln!(out, "+ {}: {line}", from.saturating_add_signed(more) + at);
            }
            more += new.len().cast_signed() - old.len().cast_signed();
        }
        out
    }
}

/// Groups the edits by the lines that they touch.
fn hunks<'a>(edits: &[Edit], source: &'a str) -> Vec<Hunk<'a>> {
    let lines = Lines::new(source);
    let end_of_line = |at: usize| source[at..].find('\n').map_or(source.len(), |end| at + end + 1);
    let mut spans: Vec<(std::ops::Range<usize>, Vec<&Edit>)> = Vec::new();
    for edit in edits {
        let start = lines.start_of_line(edit.range.start);
        // An edit that deletes complete lines does not touch the line after them.
        let whole = edit.range.end > edit.range.start
            && edit.text.is_empty()
            && edit.range.start == start
            && source[..edit.range.end].ends_with('\n');
        let end = if whole { edit.range.end } else { end_of_line(edit.range.end) };
        match spans.last_mut() {
            Some((span, own)) if start < span.end => {
                span.end = span.end.max(end);
                own.push(edit);
            }
            _ => spans.push((start..end, vec![edit])),
        }
    }
    let hunk = |(span, own): (std::ops::Range<usize>, Vec<&Edit>)| {
        let mut new = String::new();
        let mut at = span.start;
        for edit in own {
            new.push_str(&source[at..edit.range.start]);
            new.push_str(&edit.text);
            at = edit.range.end;
        }
        new.push_str(&source[at..span.end]);
        Hunk { first: lines.line(span.start), old: &source[span], new }
    };
    spans.into_iter().map(hunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operator;

    fn diff(source: &str, edits: &[(std::ops::Range<usize>, &str)]) -> String {
        let edits = edits.iter().map(|(range, text)| Edit { range: range.clone(), text: (*text).to_owned() }).collect();
        let operator = Operator::DropGuard;
        let (definition, what, variant) = Default::default();
        Mutant { operator, definition, line: 1, column: 1, what, edits, variant, number: 1 }.diff(source)
    }

    #[test]
    fn the_diff_shows_changed_lines_only() {
        assert_eq!(diff("a\nb x\nc\n", &[(4..5, "y")]), "- 2: b x\n+ 2: b y\n");
        assert_eq!(diff("a\nb\nc\n", &[(2..4, "")]), "- 2: b\n");
        assert_eq!(diff("a\nb\nc\n", &[(2..2, "new\n")]), "+ 2: new\n");
        assert_eq!(diff("a\nb\nc", &[(0..1, "x"), (4..5, "z")]), "- 1: a\n+ 1: x\n- 3: c\n+ 3: z\n");
        assert_eq!(diff("a\nb\nc\nd", &[(0..2, ""), (6..7, "z")]), "- 1: a\n- 4: d\n+ 3: z\n");
    }
}

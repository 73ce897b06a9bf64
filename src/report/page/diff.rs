//! The unified diff of two texts.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct DiffLine {
    /// `same`, `old`, `new` or `gap`.
    pub kind: &'static str,
    pub text: String,
}

/// The lines that differ with three lines around them; empty if the texts are equal.
pub(super) fn unified_diff(old: &str, new: &str) -> Vec<DiffLine> {
    let diff = TextDiff::from_lines(old, new);
    let mut shown = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        let first = group.first().map_or(0, |operation| operation.new_range().start);
        if first > 0 {
            shown.push(DiffLine { kind: "gap", text: format!("line {}", first + 1) });
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let kind = match change.tag() {
                ChangeTag::Equal => "same",
                ChangeTag::Delete => "old",
                ChangeTag::Insert => "new",
            };
            shown.push(DiffLine { kind, text: change.value().trim_end_matches(['\r', '\n']).to_owned() });
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(old: &str, new: &str) -> String {
        let lines: Vec<String> =
            unified_diff(old, new).iter().map(|line| format!("{} {}\n", line.kind, line.text)).collect();
        lines.concat()
    }

    #[test]
    fn a_diff_shows_changes_with_the_lines_around_them() {
        assert_eq!(text("a\nb\nc\n", "a\nb\nc\n"), "");
        assert_eq!(text("a\nb\nc\n", "a\nx\nc\n"), "same a\nold b\nnew x\nsame c\n");
        let old = (1..=20).map(|n| format!("{n}\n")).collect::<Vec<_>>().concat();
        let new = old.replace("10\n", "ten\n");
        assert_eq!(
            text(&old, &new),
            "gap line 7\nsame 7\nsame 8\nsame 9\nold 10\nnew ten\nsame 11\nsame 12\nsame 13\n"
        );
    }
}

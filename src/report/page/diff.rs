//! The unified diff of two texts.

use serde::Serialize;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Largest table of two texts, in cells, for which the smallest diff is searched; beyond it, everything is replaced.
const MAX_TABLE: usize = 9_000_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct DiffLine {
    /// `same`, `old`, `new` or `gap`.
    pub kind: &'static str,
    pub text: String,
}

/// The lines that differ with three lines around them; empty if the texts are equal.
pub(super) fn unified_diff(old: &str, new: &str) -> Vec<DiffLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let all = edits(&old, &new);
    if all.iter().all(|(kind, _)| *kind == "same") {
        return Vec::new();
    }
    let is_near = |at: usize| {
        let near = &all[at.saturating_sub(CONTEXT)..(at + CONTEXT + 1).min(all.len())];
        near.iter().any(|(kind, _)| *kind != "same")
    };
    let mut shown: Vec<DiffLine> = Vec::new();
    let mut number = 0;
    for (at, (kind, text)) in all.iter().enumerate() {
        number += usize::from(*kind != "old");
        if is_near(at) {
            if at > 0 && !is_near(at - 1) {
                shown.push(DiffLine { kind: "gap", text: format!("line {number}") });
            }
            shown.push(DiffLine { kind, text: (*text).to_owned() });
        }
    }
    shown
}

/// Every line of both texts, those of a longest common subsequence once.
fn edits<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(&'static str, &'a str)> {
    let begin = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let end = old[begin..].iter().rev().zip(new[begin..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (rows, columns) = (&old[begin..old.len() - end], &new[begin..new.len() - end]);
    let mut all: Vec<(&str, &str)> = old[..begin].iter().map(|line| ("same", *line)).collect();
    let width = columns.len() + 1;
    let mut length = Vec::new();
    if rows.len().saturating_mul(columns.len()) <= MAX_TABLE {
        length = vec![0_u32; (rows.len() + 1) * width];
        for i in (0..rows.len()).rev() {
            for j in (0..columns.len()).rev() {
                length[i * width + j] = if rows[i] == columns[j] {
                    length[(i + 1) * width + j + 1] + 1
                } else {
                    length[(i + 1) * width + j].max(length[i * width + j + 1])
                };
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    while !length.is_empty() && i < rows.len() && j < columns.len() {
        if rows[i] == columns[j] {
            all.push(("same", rows[i]));
            (i, j) = (i + 1, j + 1);
        } else if length[(i + 1) * width + j] >= length[i * width + j + 1] {
            all.push(("old", rows[i]));
            i += 1;
        } else {
            all.push(("new", columns[j]));
            j += 1;
        }
    }
    all.extend(rows[i..].iter().map(|line| ("old", *line)));
    all.extend(columns[j..].iter().map(|line| ("new", *line)));
    all.extend(old[old.len() - end..].iter().map(|line| ("same", *line)));
    all
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

    #[test]
    fn both_texts_can_be_read_back_from_the_edits() {
        for (old, new) in [("", "a\nb"), ("a\nb", ""), ("a\nb\na\nb", "b\na\nb\nc"), ("x\na\ny", "a\nz")] {
            let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
            let all = edits(&old, &new);
            let without =
                |kind: &str| all.iter().filter(|(k, _)| *k != kind).map(|(_, text)| *text).collect::<Vec<_>>();
            assert_eq!((without("new"), without("old")), (old, new));
        }
    }
}

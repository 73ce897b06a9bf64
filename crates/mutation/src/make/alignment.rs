//! Keeps bulleted lists aligned. TLA+ delimits a list by the column of its bullets, so an edit that moves the first bullet
//! must move the lines below it too.

use std::ops::Range;

use super::super::Edit;
use tlaforge_tla::{Lines, column_of};

/// Adds blanks to edits so that the bullets of every multi-line list stay in one column. `lists` are the ranges of these
/// lists in order of the text; the edits must be in order and not overlap.
pub(crate) fn realign_lists(source: &str, lists: &[Range<usize>], mut edits: Vec<Edit>) -> Vec<Edit> {
    let lines = Lines::new(source);
    for list in lists {
        // An edit that replaces the beginning of the list replaces its first bullet.
        let touched = edits.iter().any(|edit| edit.range.start < list.start && list.start < edit.range.end);
        let shift = shift(source, &lines, &edits, list.start);
        if touched || shift == 0 {
            continue;
        }
        let below = line_starts(source, list);
        let lagging: Vec<(usize, isize)> = below
            .into_iter()
            .map(|start| (start, shift - self::shift(source, &lines, &edits, indent(source, start))))
            .collect();
        if lagging.iter().all(|(_, lag)| *lag == 0) {
            continue;
        }
        let before = edits.iter().rposition(|edit| edit.range.end <= list.start);
        // The first bullet moved to the left. Fill the gap before it: the lines below may have no blanks to remove.
        if let (true, Some(before)) = (shift < 0, before) {
            edits[before].text.push_str(&" ".repeat(shift.unsigned_abs()));
            continue;
        }
        for (start, lag) in lagging {
            let inside = edits.iter().any(|edit| edit.range.start <= start && start < edit.range.end);
            if lag > 0 && !inside {
                // After the indentation: a tab in it would take up the blanks.
                let indent = indent(source, start);
                let at = edits.partition_point(|edit| edit.range.start < indent);
                edits.insert(at, Edit { range: indent..indent, text: " ".repeat(lag.unsigned_abs()) });
            }
        }
    }
    edits
}

/// The number of columns by which the edits move an offset within its line.
fn shift(source: &str, lines: &Lines, edits: &[Edit], offset: usize) -> isize {
    let before = &edits[..edits.partition_point(|edit| edit.range.end <= offset)];
    // Where the line starts; an edit can join it with the lines above.
    let mut start = lines.start_of_line(offset);
    for edit in before.iter().rev() {
        if edit.range.end < start {
            break;
        }
        start = start.min(lines.start_of_line(edit.range.start));
    }
    let mut now = String::new();
    let mut at = start;
    for edit in before.iter().filter(|edit| edit.range.start >= start) {
        now.push_str(&source[at..edit.range.start]);
        now.push_str(&edit.text);
        at = edit.range.end;
    }
    now.push_str(&source[at..offset]);
    column_of(&now, now.len()).cast_signed() - column_of(source, offset).cast_signed()
}

/// The starts of the continuation lines of a list, without blank lines.
fn line_starts(source: &str, list: &Range<usize>) -> Vec<usize> {
    let newlines = source[list.clone()].match_indices('\n').map(|(at, _)| list.start + at + 1);
    newlines.filter(|start| !source[*start..].lines().next().unwrap_or("").trim().is_empty()).collect()
}

/// The offset of the first character of a line that is no blank.
fn indent(source: &str, start: usize) -> usize {
    start + source[start..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(source: &str, edits: &[(&str, &str)]) -> String {
        let edits = edits.iter().map(|(old, new)| {
            let start = source.find(old).expect("it is there");
            Edit { range: start..start + old.len(), text: (*new).to_owned() }
        });
        let start = source.find("/\\").expect("a list");
        let list = start..source.rfind('d').expect("its end") + 1;
        let mut out = source.to_owned();
        for edit in realign_lists(source, &[list], edits.collect()).into_iter().rev() {
            out.replace_range(edit.range, &edit.text);
        }
        out
    }

    #[test]
    fn a_list_after_an_edit_stays_aligned() {
        let source = "IF a < b THEN /\\ c\n              /\\ d\n";
        assert_eq!(after(source, &[("<", "<=")]), "IF a <= b THEN /\\ c\n               /\\ d\n");
        assert_eq!(after(source, &[("a < b", "a")]), "IF a     THEN /\\ c\n              /\\ d\n");
        assert_eq!(after(source, &[("a", "b"), ("b", "c")]), "IF b < c THEN /\\ c\n              /\\ d\n");
        assert_eq!(after(source, &[("c\n", "e\n")]), "IF a < b THEN /\\ e\n              /\\ d\n");
        assert_eq!(after("a\nb /\\ c\n  /\\ d", &[("a\n", "a ")]), "a b /\\ c\n    /\\ d");
        // A tab takes up one more character, or reaches to the next stop.
        let source = "IF a < b THEN\t/\\ c\n\t\t/\\ d\n";
        assert_eq!(after(source, &[("<", "<=")]), source.replace('<', "<="));
        let longer = "IF aaaaaaaa < b THEN\t/\\ c\n\t\t        /\\ d\n";
        assert_eq!(after(source, &[("a", "aaaaaaaa")]), longer);
    }
}

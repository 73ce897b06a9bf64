//! Finds the HTML comments of a document.

use super::sentences::{LineKind, line_kinds};

const BEGIN: &str = "<!--";
const END: &str = "-->";

/// A comment with its first and last line, from 1, and its text with single spaces, its marks included.
pub(super) type Comment = (usize, usize, String);

/// The lines of a document without its comments, each with its number from 1, and the comments. A line that has nothing but
/// comments is left out. Code has no comments.
pub(super) fn without_comments(document: &str) -> (Vec<(usize, String)>, Vec<Comment>) {
    let lines: Vec<&str> = document.lines().collect();
    let (mut kinds, mut outside) = (line_kinds(&lines), lines.clone());
    let (mut kept, mut comments) = (Vec::with_capacity(lines.len()), Vec::new());
    // The number and the rest of the line that is read next: what follows the end of a comment.
    let (mut at, mut rest) = (0, lines.first().copied().unwrap_or_default());
    let mut text = String::new();
    let (mut has_comment, mut has_end) = (false, true);
    while at < lines.len() {
        let begin = (kinds[at] != LineKind::Code && has_end).then(|| find_begin(rest)).flatten();
        let found = begin.and_then(|begin| Some((begin, find_end(&lines, at, &rest[begin..])?)));
        // If one comment has no end, no later one has, and the rest is not searched again.
        has_end = has_end && (begin.is_none() || found.is_some());
        if let Some((begin, (last, after))) = found {
            text.push_str(&rest[..begin]);
            let first = &rest[begin..];
            let whole: Vec<&str> = if last == at {
                vec![&first[..first.len() - after.len()]]
            } else {
                let end = &lines[last][..lines[last].len() - after.len()];
                [&[first], &lines[at + 1..last], &[end]].concat()
            };
            let words: Vec<&str> = whole.iter().flat_map(|line| line.split_whitespace()).collect();
            comments.push((at + 1, last + 1, words.join(" ")));
            has_comment = true;
            if whole.iter().any(|line| line.contains("```") || line.contains("~~~")) {
                // A fence within the comment begins no code.
                outside[at..=last].fill("");
                kinds = line_kinds(&outside);
            }
            if last > at {
                // What follows the comment is on another line.
                keep(&mut kept, at, std::mem::take(&mut text), true);
            }
            (at, rest) = (last, after);
            continue;
        }
        text.push_str(rest);
        keep(&mut kept, at, std::mem::take(&mut text), has_comment);
        at += 1;
        rest = lines.get(at).copied().unwrap_or_default();
        has_comment = false;
    }
    (kept, comments)
}

fn keep(kept: &mut Vec<(usize, String)>, at: usize, text: String, has_comment: bool) {
    // The mark of a quotation or an item with nothing but a comment goes with it.
    let is_empty = text.chars().all(|c| c.is_whitespace() || ">-*+".contains(c));
    if !has_comment || !is_empty {
        kept.push((at + 1, text));
    }
}

/// Where a comment begins; not in code between backticks.
fn find_begin(line: &str) -> Option<usize> {
    let is_code = |at: usize| line[..at].matches('`').count() % 2 == 1;
    line.match_indices(BEGIN).map(|(at, _)| at).find(|at| !is_code(*at))
}

/// The line on which the comment ends, and the text after it.
fn find_end<'a>(lines: &[&'a str], at: usize, comment: &'a str) -> Option<(usize, &'a str)> {
    let first = std::iter::once((at, &comment[BEGIN.len()..]));
    let further = lines.iter().copied().enumerate().skip(at + 1);
    first.chain(further).find_map(|(number, line)| Some((number, &line[line.find(END)? + END.len()..])))
}

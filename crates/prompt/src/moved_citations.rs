//! Moves citations of documents (`docs/pool.md:12-14`) to the lines where the cited text is in newer documents. Cited text
//! that has changed or is gone keeps its earlier lines, below [`EARLIER`] instead of `docs/`, so that they are not
//! mistaken for lines of the new documents.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use super::cited_places::{
    LineRange, cited_ranges, leading_document, leading_ranges, may_name_another_line, name_start, quoted_words,
};
use super::documents::Document;
use super::nearest::pair_divided;
use super::pairing::pair;
use super::passages::{Passage, passages};

/// Begins a place in earlier documents. [`super::check_places`] finds no such document.
pub const EARLIER: &str = "earlier-docs/";

/// Earlier and new documents, with the new place of each earlier passage.
pub struct MovedCitations<'a> {
    old: &'a [Document],
    new: &'a [Document],
    old_passages: Vec<Passage<'a>>,
    new_passages: Vec<Passage<'a>>,
    /// By earlier passage.
    new_of: Vec<Option<usize>>,
}

/// A numbered item up to its place in brackets, and the place.
static NUMBERED_PLACE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^[\s\-*+|#>_`•\\]*(?:\d+[.)]\s*)?[*_`]*[ROA][.\s#-]?\d{1,4}[\s*_|:.)\-\u{2013}\u{2014}`]*(?:\[([^\]]*)\]|\(([^)]*)\))",
    )
    .expect("a valid pattern")
});

/// Maximum number of lines that a place in brackets is looked for on.
const MOST_LINES: usize = 5;

impl<'a> MovedCitations<'a> {
    pub fn new(old: &'a [Document], new: &'a [Document]) -> Self {
        let (old_passages, new_passages) = (passages(old), passages(new));
        let mut pairing = pair(&old_passages, &new_passages);
        pair_divided(&old_passages, &new_passages, &mut pairing);
        Self { old, new, old_passages, new_passages, new_of: pairing.new_of }
    }

    /// The text with its citations moved. Everything else stays as it is, also a citation whose lines are the same as before.
    pub fn move_in(&self, text: &str) -> String {
        self.move_all(text, Lost::Earlier)
    }

    /// Like [`Self::move_in`], but leaves out citations of text that has changed or is gone.
    pub fn move_or_leave_out(&self, text: &str) -> String {
        self.move_all(text, Lost::LeftOut)
    }

    fn move_all(&self, text: &str, lost: Lost) -> String {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut moved = String::with_capacity(text.len());
        let mut at = 0;
        while at < lines.len() {
            // A place in brackets may be wrapped.
            let is_open = |text: &str| text.rfind('[').is_some_and(|open| !text[open..].contains(']'));
            let until = lines.len().min(at + MOST_LINES);
            let end = if is_open(lines[at]) {
                (at + 1..until).find(|next| lines[*next].contains(']')).map_or(at + 1, |last| last + 1)
            } else {
                at + 1
            };
            self.move_in_lines(&lines[at..end].concat(), lost, &mut moved);
            at = end;
        }
        moved
    }

    fn move_in_lines(&self, text: &str, lost: Lost, moved: &mut String) {
        let numbered = NUMBERED_PLACE.captures(text).and_then(|found| found.get(1).or(found.get(2)));
        let place = numbered.and_then(|place| Some((place.range(), cited_ranges(place.as_str(), self.old)?)));
        let Some((place, ranges)) = place else { return self.move_by_name(text, lost, moved) };
        moved.push_str(&text[..place.start]);
        let mut rest = &text[place.end..];
        match self.moved_place(&ranges).map(|new| new.words("docs/", lost)) {
            Some(new) if new.is_empty() => rest = leave_out(moved, rest),
            Some(new) => {
                moved.push_str(&new);
                for quote in quoted_words(&text[place]) {
                    let _ = write!(moved, " \"{quote}\"");
                }
            }
            None => moved.push_str(&text[place]),
        }
        self.move_by_name(rest, lost, moved);
    }

    /// Moves citations wherever the name of a document is.
    fn move_by_name(&self, text: &str, lost: Lost, moved: &mut String) {
        let mut done = 0;
        while let Some(at) = name_start(&text[done..], self.old).map(|at| done + at) {
            let Some((document, behind)) = leading_document(&text[at..], self.old) else { break };
            let in_brackets = text[..at].rfind('[').is_some_and(|open| !text[open..at].contains(']'));
            let (lines, length) = leading_ranges(behind, in_brackets);
            let prefix = if text[done..at].ends_with("docs/") { "docs/" } else { "" };
            let before = &text[done..at - prefix.len()];
            let ranges: Vec<LineRange<'_>> =
                lines.into_iter().map(|(from, to)| LineRange { document, from, to }).collect();
            let new = if ranges.is_empty() {
                self.moved_document(document, prefix, in_brackets, lost)
            } else if may_name_another_line(&behind[length..]) {
                self.doubtful_place(&ranges).map(|new| new.words(prefix, lost))
            } else {
                self.moved_place(&ranges).map(|new| new.words(prefix, lost))
            };
            moved.push_str(before);
            let end = text.len() - behind.len() + length;
            done = end;
            match new {
                Some(new) if new.is_empty() => done = text.len() - leave_out(moved, &text[end..]).len(),
                Some(new) => moved.push_str(&new),
                None => moved.push_str(&text[at - prefix.len()..end]),
            }
        }
        moved.push_str(&text[done..]);
    }

    /// A number follows that may be a further line of this place: unless the document is the same, all of it is an earlier
    /// place, because the number cannot be moved.
    fn doubtful_place<'d>(&self, ranges: &[LineRange<'d>]) -> Option<MovedPlace<'d>> {
        if ranges.iter().all(|range| self.new.iter().any(|new| new == range.document)) {
            return None;
        }
        let mut place = MovedPlace::default();
        for range in ranges {
            place.add_lost(&range.document.path, range.from, range.to);
        }
        Some(place)
    }

    /// The new place of cited lines; `None` if they are the same lines as before.
    fn moved_place<'d>(&'d self, ranges: &[LineRange<'d>]) -> Option<MovedPlace<'d>> {
        let mut place = MovedPlace::default();
        for range in ranges {
            self.add_moved(range, &mut place);
        }
        let is_same = place.lost.is_empty()
            && place.found.len() == ranges.len()
            && place.found.iter().zip(ranges).all(|((path, from, to), range)| {
                (*path, *from, *to) == (range.document.path.as_str(), range.from, range.to)
            });
        (!is_same).then_some(place)
    }

    fn add_moved<'d>(&'d self, range: &LineRange<'d>, place: &mut MovedPlace<'d>) {
        let path = range.document.path.as_str();
        let exists = range.from > 0 && range.from <= range.to && range.to <= range.document.text.lines().count();
        let cited: Vec<usize> = if exists { overlapping(&self.old_passages, range) } else { Vec::new() };
        if self.new.iter().any(|new| new == range.document) && exists {
            return place.found.push((path, range.from, range.to));
        }
        if cited.is_empty() {
            return place.lost.push((path, range.from, range.to));
        }
        if let Some(shifted) = self.shifted(range, &cited) {
            return place.found.push(shifted);
        }
        let mut images: Vec<usize> = Vec::new();
        for at in cited {
            let passage = &self.old_passages[at];
            match self.new_of[at] {
                Some(new) => images.push(new),
                None => place.add_lost(path, passage.from.max(range.from), passage.to.min(range.to)),
            }
        }
        images.sort_unstable();
        images.dedup();
        for run in images
            .chunk_by(|a, b| *b == a + 1 && self.new_passages[*a].document.path == self.new_passages[*b].document.path)
        {
            let (first, last) = (&self.new_passages[run[0]], &self.new_passages[run[run.len() - 1]]);
            place.add_found(&first.document.path, first.from, last.to);
        }
    }

    /// The same lines, all moved by the same distance, and with no other passage among them.
    fn shifted<'d>(&'d self, range: &LineRange<'d>, cited: &[usize]) -> Option<(&'d str, usize, usize)> {
        let images: Vec<usize> = cited.iter().map(|at| self.new_of[*at]).collect::<Option<_>>()?;
        let (was, is) = (&self.old_passages[cited[0]], &self.new_passages[images[0]]);
        let document = is.document;
        let moved = |line: usize| (line + is.from).checked_sub(was.from);
        let follows = |(at, image): (&usize, &usize)| {
            let (old, new) = (&self.old_passages[*at], &self.new_passages[*image]);
            new.document.path == document.path && moved(old.from) == Some(new.from) && moved(old.to) == Some(new.to)
        };
        let (from, to) = (moved(range.from)?, moved(range.to)?);
        let shifted = LineRange { document, from, to };
        let is_there = from > 0 && to <= document.text.lines().count();
        let is_exact = || overlapping(&self.new_passages, &shifted) == images;
        (is_there && cited.iter().zip(&images).all(follows) && is_exact()).then_some((document.path.as_str(), from, to))
    }

    /// The new name of a document that is cited as a whole; `None` if it keeps its name.
    fn moved_document(&self, document: &Document, prefix: &str, in_brackets: bool, lost: Lost) -> Option<String> {
        if self.new.iter().any(|new| new.path == document.path) {
            return None;
        }
        let is_own = |passage: &&Passage<'_>| passage.document.path == document.path;
        let count = self.old_passages.iter().filter(is_own).count();
        let mut targets: HashMap<&str, usize> = HashMap::new();
        for (passage, new) in self.old_passages.iter().zip(&self.new_of) {
            if let Some(new) = new.filter(|_| is_own(&passage)) {
                *targets.entry(&self.new_passages[new].document.path).or_default() += 1;
            }
        }
        // A renamed document may be edited, too.
        let renamed = targets.into_iter().find(|(_, moved)| moved * 2 > count);
        match renamed {
            Some((path, _)) => Some(format!("{prefix}{path}")),
            None => (in_brackets || !prefix.is_empty()).then(|| match lost {
                Lost::Earlier => format!("{EARLIER}{}", document.path),
                Lost::LeftOut => String::new(),
            }),
        }
    }
}

/// What becomes of a citation whose text has changed or is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lost {
    /// It names its lines of the earlier documents.
    Earlier,
    LeftOut,
}

/// Where cited text is now, as path, first and last line.
#[derive(Default)]
struct MovedPlace<'d> {
    found: Vec<(&'d str, usize, usize)>,
    /// In the earlier documents.
    lost: Vec<(&'d str, usize, usize)>,
}

impl<'d> MovedPlace<'d> {
    /// Adds lines, to the last ones if they overlap: a line can be part of two sentences.
    fn add_found(&mut self, path: &'d str, from: usize, to: usize) {
        match self.found.last_mut() {
            Some((last, start, end)) if *last == path && (*start..=*end).contains(&from) => *end = to.max(*end),
            _ => self.found.push((path, from, to)),
        }
    }

    /// Adds lines, to the last ones if they overlap or follow them.
    fn add_lost(&mut self, path: &'d str, from: usize, to: usize) {
        match self.lost.last_mut() {
            Some((last, start, end)) if *last == path && (*start..=*end + 1).contains(&from) => *end = to.max(*end),
            _ => self.lost.push((path, from, to)),
        }
    }

    /// Empty if all of it is left out.
    fn words(&self, prefix: &str, lost: Lost) -> String {
        let mut words = String::new();
        let lost = if lost == Lost::Earlier { self.lost.as_slice() } else { &[] };
        for (prefix, ranges) in [(prefix, self.found.as_slice()), (EARLIER, lost)] {
            let mut path_before = None;
            for (path, from, to) in ranges {
                // Writing to a string cannot fail.
                let _ = match path_before == Some(path) {
                    true => write!(words, ", "),
                    false if words.is_empty() => write!(words, "{prefix}{path}:"),
                    false => write!(words, "; {prefix}{path}:"),
                };
                let _ = if from == to { write!(words, "{from}") } else { write!(words, "{from}-{to}") };
                path_before = Some(path);
            }
        }
        words
    }
}

/// Leaves out a place: `moved` ends before it, `rest` follows it. What only enclosed the place, or separated it from others,
/// goes, too. Returns the text that is left.
fn leave_out<'t>(moved: &mut String, rest: &'t str) -> &'t str {
    let (opening, closing, separators) = (['[', '('], [']', ')'], [' ', ',', ';']);
    let rest = if moved.ends_with(opening) { rest.trim_start_matches(separators) } else { rest };
    let Some(after) = rest.strip_prefix(closing) else { return rest };
    moved.truncate(moved.trim_end_matches(separators).len());
    if moved.ends_with(opening) {
        moved.pop();
        return after;
    }
    rest
}

/// The passages with lines in this range.
fn overlapping(passages: &[Passage<'_>], range: &LineRange<'_>) -> Vec<usize> {
    let overlaps = |passage: &Passage<'_>| {
        range.overlaps(&LineRange { document: passage.document, from: passage.from, to: passage.to })
    };
    passages.iter().enumerate().filter(|(_, passage)| overlaps(passage)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(all: &[(&str, &str)]) -> Vec<Document> {
        all.iter().map(|(path, text)| Document { path: (*path).to_owned(), text: (*text).to_owned() }).collect()
    }

    #[test]
    fn a_line_of_two_sentences_is_cited_once() {
        let old = documents(&[("a.md", "1.3. Delete. Delete it. It is\nthe end.\n")]);
        let new = documents(&[("a.md", "New.\n\n1.3. Delete. Delete it later. It is\nthe end.\n")]);
        let moved = MovedCitations::new(&old, &new).move_in("- `Go`: [docs/a.md:1-2]");
        assert_eq!(moved, "- `Go`: [docs/a.md:3-4; earlier-docs/a.md:1]");
    }

    #[test]
    fn citations_follow_their_text() {
        let old =
            documents(&[("a.md", "# A\n\nOne.\nTwo.\n\nThree.\n"), ("sub/b.md", "Four.\nFive.\n"), ("c.md", "Six.\n")]);
        let new = documents(&[
            ("a.md", "# A\n\nNew.\n\nThree.\n\nOne.\nAltered.\n"),
            ("d.md", "Intro.\n\nFour.\nFive.\n"),
            ("c.md", "Six.\n"),
        ]);
        let citations = MovedCitations::new(&old, &new);
        for (text, moved) in [
            // Moved, renamed, unchanged.
            ("R1 [docs/a.md:3] One.", "R1 [docs/a.md:7] One."),
            ("- **R2** (`docs/sub/b.md:1-2`): x", "- **R2** (docs/d.md:3-4): x"),
            ("R3 [docs/c.md, line 1] x", "R3 [docs/c.md, line 1] x"),
            // Changed text keeps its earlier lines, and the text beside it moves.
            ("R4 [docs/a.md:4] x", "R4 [earlier-docs/a.md:4] x"),
            ("R4 [docs/a.md:3-4, 6] x", "R4 [docs/a.md:7, 5; earlier-docs/a.md:4] x"),
            ("A1 [docs/a.md:3, 6; docs/c.md:1] (bound) x", "A1 [docs/a.md:7, 5; docs/c.md:1] (bound) x"),
            // Steps, names, text, comments of modules.
            (
                "- `Go`: enabled [docs/a.md:6, docs/sub/b.md:2]; see a.md:3",
                "- `Go`: enabled [docs/a.md:5, docs/d.md:4]; see a.md:7",
            ),
            ("\\* a.md:4, sub/b.md:1", "\\* earlier-docs/a.md:4, d.md:3"),
            ("  x := 1; \\* docs/a.md:3, 6", "  x := 1; \\* docs/a.md:7, 5"),
            ("[docs/a.md:6,\n  docs/sub/b.md:2]", "[docs/a.md:5,\n  docs/d.md:4]"),
            ("- `Go`: [docs/c.md:1; docs/a.md:3 and 6]", "- `Go`: [docs/c.md:1; docs/a.md:7, 5]"),
            ("\\* [docs/a.md:3,\n\\* 6]", "\\* [docs/a.md:7, 5]"),
            // If a number behind a place may be a further line, all of it is an earlier place.
            ("(* docs/a.md:3, 6 *)", "(* earlier-docs/a.md:3, 6 *)"),
            ("docs/a.md:3, 6: the fee", "earlier-docs/a.md:3, 6: the fee"),
            ("docs/a.md:3 or 6; docs/c.md:1, 6 tokens", "earlier-docs/a.md:3 or 6; docs/c.md:1, 6 tokens"),
            ("R1 [docs/a.md:3,\n  6] x", "R1 [docs/a.md:7, 5] x"),
            // A document as a whole, and lines that no document has.
            ("- Fees: [docs/sub/b.md]; a.md is long", "- Fees: [docs/d.md]; a.md is long"),
            ("[docs/a.md:99]", "[earlier-docs/a.md:99]"),
            ("R5 [\u{a7}3] x", "R5 [\u{a7}3] x"),
            ("earlier-docs/a.md:3", "earlier-docs/a.md:3"),
        ] {
            assert_eq!(citations.move_in(text), moved, "{text}");
        }
        // In a module, the citation of text that is gone is left out.
        for (text, moved) in [
            ("\\* docs/a.md:4", "\\* "),
            ("\\* The fee [docs/a.md:4], of docs/a.md:6.", "\\* The fee , of docs/a.md:5."),
            ("\\* The fee [docs/a.md:4; docs/c.md:1]", "\\* The fee [docs/c.md:1]"),
            ("\\* The fee (docs/c.md:1, docs/a.md:4)", "\\* The fee (docs/c.md:1)"),
            ("\\* R4 [docs/a.md:4] and R4 [docs/a.md:3-4, 6]", "\\* R4  and R4 [docs/a.md:7, 5]"),
            ("(* docs/a.md:3, 6 *) x == 1 \\* [docs/a.md:99]", "(* , 6 *) x == 1 \\* "),
        ] {
            assert_eq!(citations.move_or_leave_out(text), moved, "{text}");
        }
        let same = MovedCitations::new(&old, &old);
        let text = "R1 [ docs/a.md:3 , 6 ] One [docs/sub/b.md:1\u{2013}2].\nno end";
        assert_eq!(same.move_in(text), text);
    }
}

//! Texts with line numbers: the documents, of which only what is near a cited line is shown if they are long, and the module
//! without its translation.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use crate::prompt::{Document, LineRange, places_in};
use crate::tla::{Field, Id, Lines, Module, NodeKind};

/// A document up to this size is shown whole.
const WHOLE: usize = 40_000;
/// Number of lines that are shown around a cited one of a longer document.
const AROUND: usize = 30;
/// Number of lines that are shown without a scroll bar.
const SHORT: usize = 60;

/// Cited lines of a document, from 1, both included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Cited {
    /// The id of the listing of the document.
    pub listing: String,
    pub path: String,
    pub from: usize,
    pub to: usize,
}

/// What cites a line, with a link to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Mark {
    pub label: String,
    pub target: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Row {
    Line {
        number: usize,
        text: String,
        comment: String,
        is_cited: bool,
        /// On the first line of what is cited.
        marks: Vec<Mark>,
    },
    /// Lines that are not shown.
    Gap { words: String },
}

/// A text with an id for links to its lines: `ID-L12`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Listing {
    pub id: String,
    pub title: String,
    /// Shown without a scroll bar of its own.
    pub is_short: bool,
    pub rows: Vec<Row>,
}

/// The lines that a place such as `docs/swap.md:3-5` names.
pub(super) fn cited_lines(place: &str, documents: &[Document]) -> Vec<Cited> {
    let cited = |LineRange { document, from, to }| {
        let at = documents.iter().position(|known| known.path == document.path).unwrap_or_default();
        Cited { listing: format!("document-{at}"), path: document.path.clone(), from, to }
    };
    places_in(place, documents, false).into_iter().map(cited).collect()
}

/// The documents that are cited, in their order.
pub(super) fn document_listings(documents: &[Document], marks: &[(Cited, Mark)]) -> Vec<Listing> {
    let listing = |(at, document): (usize, &Document)| {
        let id = format!("document-{at}");
        let mut by_line: BTreeMap<usize, Vec<Mark>> = BTreeMap::new();
        for (cited, mark) in marks.iter().filter(|(cited, _)| cited.listing == id) {
            for line in cited.from..=cited.to {
                let known = by_line.entry(line).or_default();
                if line == cited.from && !known.contains(mark) {
                    known.push(mark.clone());
                }
            }
        }
        let is_near = |line: usize| by_line.range(line.saturating_sub(AROUND)..=line + AROUND).next().is_some();
        let is_shown = |line: usize| document.text.len() <= WHOLE || is_near(line);
        let rows = rows(&document.text, NOT_SHOWN, is_shown, |line, text| Row::Line {
            number: line,
            text: text.to_owned(),
            comment: String::new(),
            is_cited: by_line.contains_key(&line),
            marks: by_line.get(&line).cloned().unwrap_or_default(),
        });
        (!by_line.is_empty()).then(|| Listing::new(id, format!("docs/{}", document.path), rows))
    };
    documents.iter().enumerate().filter_map(listing).collect()
}

/// A module, with the lines that its file has, without the translation.
pub(super) fn module_listing(id: String, title: String, text: &str) -> Listing {
    let module = Module::parse(text).ok();
    let lines = Lines::new(text);
    let translation =
        module.and_then(|module| module.translation).map(|range| lines.line(range.start)..=lines.line(range.end));
    let is_shown = |line: usize| translation.as_ref().is_none_or(|hidden| !hidden.contains(&line));
    let rows = rows(text, ["is the generated translation", "are the generated translation"], is_shown, |line, text| {
        let (code, comment) =
            text.split_once("\\*").map_or((text, String::new()), |(code, rest)| (code, format!("\\*{rest}")));
        Row::Line { number: line, text: code.to_owned(), comment, is_cited: false, marks: Vec::new() }
    });
    Listing::new(id, title, rows)
}

/// The words after `line 3` and after `lines 3 to 5`.
const NOT_SHOWN: [&str; 2] = ["is not shown", "are not shown"];

impl Listing {
    fn new(id: String, title: String, rows: Vec<Row>) -> Self {
        Self { id, title, is_short: rows.len() <= SHORT, rows }
    }
}

fn rows(
    text: &str,
    [one, several]: [&str; 2],
    is_shown: impl Fn(usize) -> bool,
    row: impl Fn(usize, &str) -> Row,
) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut hidden: Option<usize> = None;
    let count = text.lines().count();
    let gap = |from: usize, to: usize| Row::Gap {
        words: if from == to { format!("line {from} {one}") } else { format!("lines {from} to {to} {several}") },
    };
    for (line, text) in text.lines().enumerate().map(|(at, text)| (at + 1, text)) {
        if !is_shown(line) {
            hidden.get_or_insert(line);
            continue;
        }
        rows.extend(hidden.take().map(|from| gap(from, line - 1)));
        rows.push(row(line, text));
    }
    rows.extend(hidden.map(|from| gap(from, count)));
    rows
}

/// The first and the last line of an action in its module: of the label up to the next one, or of the definition.
pub(super) fn action_lines(module: &Module, action: &str) -> Option<(usize, usize)> {
    let mut name = action_name(action);
    let lines = Lines::new(&module.source);
    if let Some(algorithm) = &module.algorithm
        && let Some(label) = algorithm.step_label(name, &module.source)
        && let Some(at) = algorithm.labels.iter().position(|other| other == label)
    {
        name = &label.name;
        let first = algorithm.labels[at].line;
        let bodies = algorithm.tree.of_kind(NodeKind::Body).map(|id| algorithm.tree.range(id));
        let body = bodies
            .filter(|body| body.contains(&label_start(module, name).unwrap_or(usize::MAX)))
            .min_by_key(Range::len);
        let end = lines.line(body.map_or(algorithm.range.end, |body| body.end).saturating_sub(1));
        let next = algorithm.labels.get(at + 1).map_or(end, |next| (next.line - 1).min(end));
        return Some((first, next.max(first)));
    }
    let range = &module.definition(name)?.range;
    (!module.in_translation(range.start)).then(|| (lines.line(range.start), lines.line(range.end.saturating_sub(1))))
}

/// The last line of the block that begins at a line: before the first one, up to `last`, that is indented less.
pub(super) fn block_end(text: &str, from: usize, last: usize) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line)).skip(from - 1);
    let Some((_, first)) = lines.next() else { return from };
    let own = |(at, line): &(usize, &str)| *at <= last && (line.trim().is_empty() || indent(line) >= indent(first));
    let block = lines.take_while(own).filter(|(_, line)| !line.trim().is_empty());
    block.last().map_or(from, |(at, _)| at)
}

/// Without arguments and without the position of an unnamed part.
fn action_name(action: &str) -> &str {
    action.split_once(['(', ' ']).map_or(action, |(name, _)| name)
}

fn label_start(module: &Module, name: &str) -> Option<usize> {
    let tree = &module.algorithm.as_ref()?.tree;
    let is_it = |id: &Id| tree.node(*id).field == Some(Field::Label) && tree.text(*id, &module.source) == name;
    tree.ids().find(is_it).map(|id| tree.range(id).start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_a_cited_line_of_a_long_document_is_shown() {
        let lines: Vec<String> = (1..=2_000).map(|line| format!("line {line} of a long document\n")).collect();
        let text = lines.concat();
        let documents = [Document { path: "a.md".into(), text }, Document { path: "b.md".into(), text: "x\n".into() }];
        let cited = cited_lines("docs/a.md:100-101", &documents);
        let mark = Mark { label: "R1".into(), target: "R1".into() };
        let listings = document_listings(&documents, &[(cited[0].clone(), mark.clone())]);
        assert_eq!(listings.len(), 1);
        let shown = listings[0].rows.iter().filter(|row| matches!(row, Row::Line { .. })).count();
        assert_eq!((shown, listings[0].rows.len()), (62, 64));
        let marked = listings[0]
            .rows
            .iter()
            .filter(|row| matches!(row, Row::Line { marks, .. } if marks == std::slice::from_ref(&mark)));
        assert_eq!(marked.count(), 1);
        let cited = listings[0].rows.iter().filter(|row| matches!(row, Row::Line { is_cited: true, .. }));
        assert_eq!(cited.count(), 2);
    }

    #[test]
    fn a_label_ends_at_the_next_one_or_with_its_process() {
        let text = "---- MODULE M ----\n(* --algorithm A\nprocess one \\in 1..2\nbegin\n  First:\n    skip;\n  Second:\n    \
                    skip;\nend process;\nprocess two = 3\nbegin\n  Third: skip;\nend process;\nend algorithm; *)\n====\n";
        let module = Module::parse(text).unwrap();
        assert_eq!(action_lines(&module, "First"), Some((5, 6)));
        assert_eq!(action_lines(&module, "Second(1)"), Some((7, 8)));
    }
}

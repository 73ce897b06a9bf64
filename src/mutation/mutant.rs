//! One mutant: a named edit of the source text.

use std::ops::Range;

use super::Operator;

/// A replacement of a byte range of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty where something is inserted.
    pub range: Range<usize>,
    /// What stands there instead.
    pub text: String,
}

/// A specification with one deliberate flaw, as edits of its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// The operator that made it.
    pub operator: Operator,
    /// Where it sits: the label, macro or procedure of the algorithm, or the TLA+ definition; the algorithm's name for
    /// its initial values.
    pub definition: String,
    /// The place of the flaw in the source; both count from 1, columns in characters.
    pub line: usize,
    /// See `line`.
    pub column: usize,
    /// What the flaw does, to be read after the definition's name: ``no longer checks `amount <= balance` ``.
    pub what: String,
    /// In order of their ranges, which do not overlap.
    pub edits: Vec<Edit>,
    /// What tells it from other mutants of the same operator at the same place: `< to <=`; empty where there is but one.
    pub variant: String,
}

impl Mutant {
    /// The same from run to run: `Spec.tla:41:12 drop guard`.
    pub fn name(&self, file: &str) -> String {
        let Self { line, column, operator, variant, .. } = self;
        let name = format!("{file}:{line}:{column} {}", operator.words());
        if variant.is_empty() { name } else { format!("{name} {variant}") }
    }

    /// Line and column, from 1, behind the last character that is replaced.
    pub fn end(&self, source: &str) -> (usize, usize) {
        place(source, self.edits.last().map_or(0, |edit| edit.range.end))
    }

    /// Line and column, from 1, of the first character that is replaced.
    pub fn start(&self, source: &str) -> (usize, usize) {
        place(source, self.edits.first().map_or(0, |edit| edit.range.start))
    }

    /// What stands between them instead.
    pub fn replacement(&self, source: &str) -> String {
        let (Some(first), Some(last)) = (self.edits.first(), self.edits.last()) else { return String::new() };
        let mutated = self.apply(source);
        let behind = source.len() - last.range.end;
        mutated[first.range.start..mutated.len() - behind].to_owned()
    }

    /// The mutated source.
    pub fn apply(&self, source: &str) -> String {
        let mut out = String::with_capacity(source.len());
        let mut at = 0;
        for edit in &self.edits {
            out.push_str(&source[at..edit.range.start]);
            out.push_str(&edit.text);
            at = edit.range.end;
        }
        out.push_str(&source[at..]);
        out
    }
}

fn place(source: &str, at: usize) -> (usize, usize) {
    let before = &source[..at];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

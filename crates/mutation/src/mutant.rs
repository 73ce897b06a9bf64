//! Mutants: named edits of the source text. Knows nothing of TLA+.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Operator;

/// A replacement of a byte range of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The replaced range; empty for an insertion.
    pub range: Range<usize>,
    pub text: String,
}

/// A specification with one deliberate change, as edits of its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutant {
    pub operator: Operator,
    /// The mutated part: a label, macro or procedure of the algorithm, or a TLA+ definition; the name of the algorithm for
    /// initial values.
    pub definition: String,
    /// The position of the change in the source, from 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What the change does, to be read after the name of the definition: ``no longer checks `amount <= balance` ``.
    pub what: String,
    /// In order of their ranges, which do not overlap.
    pub edits: Vec<Edit>,
    /// Distinguishes mutants of the same operator at the same position: `< to <=`. Empty if there is only one.
    pub variant: String,
    /// Its number, from 1, among the mutants of the definition with this operator and variant, in the order of the text.
    pub number: usize,
}

impl Mutant {
    /// The name: `Withdraw: drop guard`, or `Withdraw: drop guard #2` for the second one in the definition. It stays the same if
    /// the definition moves or others change. A change within the definition can change the numbers.
    pub fn name(&self) -> String {
        let Self { definition, number, .. } = self;
        let number = if *number > 1 { format!(" #{number}") } else { String::new() };
        format!("{definition}: {}{number}", self.change())
    }

    /// The place of the change: `Spec.tla:41:12`.
    pub fn place(&self, file: &str) -> String {
        format!("{file}:{}:{}", self.line, self.column)
    }

    /// Whether one of these is its name, or the name with its place that earlier journals have: `Spec.tla:41:12 drop guard`.
    pub fn is_named(&self, file: &str, names: &[impl AsRef<str>]) -> bool {
        let own = [self.name(), format!("{} {}", self.place(file), self.change())];
        names.iter().any(|name| own.iter().any(|own| own == name.as_ref()))
    }

    /// The operator, with the variant if there is one.
    pub(crate) fn change(&self) -> String {
        let words = self.operator.words();
        if self.variant.is_empty() { words.to_owned() } else { format!("{words} {}", self.variant) }
    }

    /// Line and column, from 1, after the last character that is replaced.
    pub fn end(&self, source: &str) -> (usize, usize) {
        position(source, self.edits.last().map_or(0, |edit| edit.range.end))
    }

    /// Line and column, from 1, of the first character that is replaced.
    pub fn start(&self, source: &str) -> (usize, usize) {
        position(source, self.edits.first().map_or(0, |edit| edit.range.start))
    }

    /// The text that replaces the source between [`Mutant::start`] and [`Mutant::end`].
    pub fn replacement(&self, source: &str) -> String {
        let (Some(first), Some(last)) = (self.edits.first(), self.edits.last()) else { return String::new() };
        let mutated = self.apply(source);
        let after = source.len() - last.range.end;
        mutated[first.range.start..mutated.len() - after].to_owned()
    }

    /// Whether it is a mutant of this source: its edits are in order and inside of it.
    pub(super) fn fits(&self, source: &str) -> bool {
        let mut at = 0;
        !self.edits.is_empty()
            && self.edits.iter().all(|Edit { range, .. }| {
                let is_next = at <= range.start;
                at = range.end;
                is_next && source.get(range.clone()).is_some()
            })
    }

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

fn position(source: &str, at: usize) -> (usize, usize) {
    let before = &source[..at];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

//! Where the tokens of a translation come from: their places in the algorithm.

use super::position::Position;

/// A token of a translation and its place in the algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// The column in the line of the translation, from 0.
    pub column: usize,
    pub width: usize,
    pub position: Position,
}

/// A line of a translation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub text: String,
    /// In the order of their columns.
    pub origins: Vec<Origin>,
}

/// For each token of a translation, where it comes from in the algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origins {
    /// The line of the module where the translation begins, from 1.
    pub(super) first: usize,
    /// `None` for an empty line, which ends a definition.
    pub(super) lines: Vec<Option<Vec<Origin>>>,
}

/// A place in an algorithm; both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlgorithmPlace {
    /// The line in the module that was given to be translated.
    pub line: usize,
    /// The column; a tabulator takes as many as it shows.
    pub column: usize,
    /// Whether the translation has what is there as it is; otherwise it is the nearest place before.
    pub exact: bool,
}

impl Origins {
    /// The lines of the module that the translation takes, without its markers.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.lines.len()
    }

    /// Where in the algorithm something comes from that is in this line and column of the translated module.
    pub fn find(&self, line: usize, column: usize) -> Option<AlgorithmPlace> {
        let number = line.checked_sub(self.first)?;
        let here = self.lines.get(number)?.as_ref()?;
        let column = column.saturating_sub(1);
        let place = |position: Position, exact| AlgorithmPlace { line: position.line, column: position.column, exact };
        let covers = |origin: &&Origin| (origin.column..origin.column + origin.width).contains(&column);
        if let Some(token) = here.iter().find(covers) {
            return Some(place(token.position, true));
        }
        let before = here.iter().rev().find(|origin| origin.column < column);
        // What the translator writes before an expression belongs to the statement that the expression is of.
        let above = || self.lines[..number].iter().rev().map_while(Option::as_ref).find_map(|line| line.first());
        let nearest = before.or_else(|| here.first()).or_else(above);
        nearest.map(|origin| place(origin.position, false))
    }
}

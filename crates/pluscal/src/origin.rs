//! Maps positions in a translation to positions in the algorithm, so that errors of TLC and states of a trace can be
//! reported for the algorithm. The reference has this in class `pcal.TLAtoPCalMapping`.

use super::position::Position;

/// A token of a translation and its position in the algorithm.
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

/// The positions in the algorithm of all tokens of a translation.
///
/// # Examples
/// ```
/// use tlaforge_pluscal::{AlgorithmPlace, Options, translate};
///
/// let module = r#"---- MODULE Clock ----
/// EXTENDS Naturals
/// (* --algorithm Clock
/// variable hour = 0;
/// begin
/// tick: hour := (hour + 1) % 12;
/// end algorithm; *)
/// ====
/// "#;
/// let translated = translate(module, &Options::default()).unwrap().unwrap();
/// let (number, text) = translated.text.lines().enumerate().find(|(_, text)| text.contains("hour' =")).unwrap();
/// let (line, column) = (number + 1, text.find("hour' =").unwrap() + 1);
/// assert!(translated.origins.range().contains(&line));
/// let place = translated.origins.find(line, column).unwrap();
/// assert_eq!(place, AlgorithmPlace { line: 6, column: 7, exact: true });
/// assert_eq!(translated.origins.find(1, 1), None, "outside of the translation");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origins {
    /// The line of the module at which the translation begins, from 1.
    pub(super) first: usize,
    /// `None` for an empty line, which ends a definition.
    pub(super) lines: Vec<Option<Vec<Origin>>>,
}

/// A position in an algorithm, as [`Origins::find`] returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlgorithmPlace {
    /// Line in the module before its translation, from 1.
    pub line: usize,
    /// Column in characters, from 1; a tab extends to the next multiple of 8.
    pub column: usize,
    /// Whether the token itself comes from this position; otherwise the position is the nearest one before it.
    pub exact: bool,
}

impl Origins {
    /// The line numbers of the translation in the translated module, from 1, the end excluded. The marker lines with
    /// `BEGIN TRANSLATION` and `END TRANSLATION` do not belong to it.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.lines.len()
    }

    /// The position in the algorithm for a line and column of the translated module, both from 1, the column in characters
    /// (a translation has no tabs). A column after the end of the line gives the last position in it. `None` if the
    /// line is outside of the translation or empty, or if nothing up to it in its definition comes from the algorithm.
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
        // Text that the translator writes before an expression belongs to the same statement as the expression.
        let above = || self.lines[..number].iter().rev().map_while(Option::as_ref).find_map(|line| line.first());
        let nearest = before.or_else(|| here.first()).or_else(above);
        nearest.map(|origin| place(origin.position, false))
    }
}

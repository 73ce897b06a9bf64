//! Renders a chart for a terminal: lifelines on the left, words on the right.

use std::fmt::Write as _;

use crate::tla::{DEFAULT_WIDTH, UNLIMITED_WIDTH};

use super::rows::{BESIDE, BESIDE_MEANS, Chart, Drawn, Line, Row, wrap};

/// Minimum number of columns for the words.
const MIN_WORDS: usize = 44;

/// Maximum number of lines for the words of a row.
const LINES: usize = 2;

/// Renders the chart; no line is longer than `width` if `width` is at least 80.
pub fn chart_text(chart: &Chart, width: usize) -> String {
    // Its lines fill the width.
    let width = if width == UNLIMITED_WIDTH { DEFAULT_WIDTH } else { width };
    let canvas = Canvas::new(chart, width);
    let mut text = String::new();
    // A line for each name, above the bars of its column: names are wider than columns.
    for (at, name) in chart.lifelines.iter().take(canvas.columns).enumerate() {
        let more = chart.lifelines.len() - canvas.columns;
        let more = if at + 1 == canvas.columns && more > 0 { format!(" and {more} more") } else { String::new() };
        let names = wrap(&format!("{name}{more}"), width.saturating_sub(canvas.number + 1 + at * canvas.gap), 1);
        let bars = canvas.bars()[..at * canvas.gap].iter().collect::<String>();
        let _ = writeln!(text, "{:>1$} {bars}{2}", "", canvas.number, names.concat());
    }
    for row in &chart.rows {
        match row.drawn {
            Drawn::Separator => {
                let words = wrap(&row.text(), width.saturating_sub(canvas.number + 10), 1).concat();
                let line = format!("{:>1$} \u{2500}\u{2500}\u{2500} {words} ", row.seq, canvas.number);
                let rest = width.saturating_sub(line.chars().count());
                let _ = writeln!(text, "{line}{}", "\u{2500}".repeat(rest));
            }
            Drawn::Note { at } => canvas.row(&mut text, row.seq, &canvas.note(at), &canvas.row_text(chart, row, at)),
            Drawn::Arrow { from, to, line } => {
                canvas.row(
                    &mut text,
                    row.seq,
                    &canvas.arrow(from, to, line),
                    &canvas.row_text(chart, row, from.max(to)),
                );
            }
        }
    }
    if chart.has_concurrent_events() {
        let _ = writeln!(text, "\n{BESIDE} {BESIDE_MEANS}.");
    }
    text
}

struct Canvas {
    /// Number of columns for event numbers.
    number: usize,
    columns: usize,
    /// Number of columns from one lifeline to the next.
    gap: usize,
    words: usize,
}

impl Canvas {
    fn new(chart: &Chart, width: usize) -> Self {
        let number = chart.rows.last().map_or(1, |row| row.seq.to_string().len()).max(3);
        // A line is: number, blank, columns, two blanks, words.
        let room = width.saturating_sub(number + 1 + 2 + MIN_WORDS + 1);
        let columns = chart.lifelines.len().min(room / 2 + 1);
        // At least 2, so that there is a place for the head of an arrow.
        let gap = (room / columns.saturating_sub(1).max(1)).clamp(2, 6);
        let area = gap * columns.saturating_sub(1) + 1;
        Self { number, columns, gap, words: width.saturating_sub(number + 1 + area + 2).max(MIN_WORDS) }
    }

    /// The column of a lifeline. Lifelines without a column of their own share the last one.
    fn place(&self, at: usize) -> usize {
        at.min(self.columns.saturating_sub(1)) * self.gap
    }

    /// The words of a row; with the name of the lifeline, if it has no column of its own.
    fn row_text(&self, chart: &Chart, row: &Row, at: usize) -> String {
        let text = row.text();
        if at < self.columns { text } else { format!("{}: {text}", chart.lifelines[at]) }
    }

    fn bars(&self) -> Vec<char> {
        let mut cells = vec![' '; self.gap * self.columns.saturating_sub(1) + 1];
        cells.iter_mut().step_by(self.gap).for_each(|cell| *cell = '\u{2502}');
        cells
    }

    fn note(&self, at: usize) -> Vec<char> {
        let mut cells = self.bars();
        cells[self.place(at)] = '*';
        cells
    }

    fn arrow(&self, from: usize, to: usize, line: Line) -> Vec<char> {
        let (from, to) = (self.place(from), self.place(to));
        let mut cells = self.bars();
        // They are one lifeline, or share the last column.
        if from == to {
            cells[from] = '\u{21ba}';
            return cells;
        }
        let (left, right) = (from.min(to), from.max(to));
        for cell in &mut cells[left + 1..right] {
            *cell = if line == Line::Solid { '\u{2500}' } else { '\u{00b7}' };
        }
        let (head, at) = if from < to { ('>', to - 1) } else { ('<', to + 1) };
        cells[at] = if line == Line::Broken { 'x' } else { head };
        cells
    }

    fn row(&self, text: &mut String, seq: u64, cells: &[char], words: &str) {
        let bars = self.bars();
        for (at, line) in wrap(words, self.words, LINES).iter().enumerate() {
            let (number, cells) = if at == 0 { (seq.to_string(), cells) } else { (String::new(), &bars[..]) };
            let cells: String = cells.iter().collect();
            let _ = writeln!(text, "{number:>0$} {cells}  {line}", self.number);
        }
    }
}

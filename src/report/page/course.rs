//! The course of a run: its sequence chart, and what each node spent.

use serde::Serialize;

use super::frame::{Section, render};
use super::run_context::RunContext;
use crate::pipeline::Spent;
use crate::report::chart::{Chart, ChartError, Drawn, Line};
use crate::report::text::{amounts, is_replayed, stale_words};
use crate::shell::shell_word;

/// Maximum number of rows of the chart: a browser needs seconds for much more.
const MAX_ROWS: usize = 1_500;

/// The width of the longest bar.
const BAR: f64 = 120.0;

#[derive(Serialize)]
struct SpentRow {
    node: String,
    bars: [Bar; 3],
}

#[derive(Serialize)]
struct Bar {
    label: &'static str,
    words: String,
    width: f64,
}

#[derive(Serialize)]
struct ChartRow {
    seq: u64,
    cells: Vec<Cell>,
    /// Across all lifelines.
    is_separator: bool,
    /// Who to whom.
    between: String,
    words: String,
}

#[derive(Serialize)]
struct Cell {
    class: String,
    sign: &'static str,
}

pub(super) fn course(context: &RunContext<'_>) -> Result<Option<Section>, ChartError> {
    let entries = context.source.entries;
    let chart = Chart::new(&entries[..entries.len().min(MAX_ROWS)])?;
    let rows: Vec<ChartRow> = chart
        .rows
        .iter()
        .map(|row| {
            let (cells, between) = cells(&chart, row.drawn);
            ChartRow { seq: row.seq, cells, between, is_separator: row.drawn == Drawn::Separator, words: row.text() }
        })
        .collect();
    let spent = spent_rows(context);
    let spent_total = context.view.spent_total();
    let left_out = entries.len().saturating_sub(MAX_ROWS);
    Ok((!rows.is_empty()).then(|| Section {
        id: "course",
        title: "Course of the run".to_owned(),
        note: None,
        body: render(
            "course",
            minijinja::context! {
                lifelines => chart.lifelines, rows, left_out, columns => chart.lifelines.len(),
                shown => MAX_ROWS,
                folder => shell_word(context.source.folder),
                columns_of_spent => columns_of_spent(&spent), spent,
                total => amounts(&spent_total, is_replayed(context.view)) + &stale_words(&spent_total),
            },
        ),
    }))
}

/// The cells of a row of the chart, one for each lifeline, and the same in words.
fn cells(chart: &Chart, drawn: Drawn) -> (Vec<Cell>, String) {
    let cell = |class: &str, sign| Cell { class: class.to_owned(), sign };
    let name = |at: usize| chart.lifelines[at].as_str();
    let count = chart.lifelines.len();
    match drawn {
        Drawn::Separator => (Vec::new(), String::new()),
        Drawn::Note { at } => (
            (0..count).map(|lane| if lane == at { cell("", "\u{25cf}") } else { cell("", "") }).collect(),
            name(at).to_owned(),
        ),
        Drawn::Arrow { from, to, line } => {
            let kind = match line {
                Line::Solid => "",
                Line::Dashed => " dashed",
                Line::Broken => " broken",
            };
            let (left, right) = (from.min(to), from.max(to));
            let cells = (0..count).map(|lane| {
                let head = match () {
                    () if line == Line::Broken => "\u{2715}",
                    () if from < to => "\u{25b6}",
                    () => "\u{25c0}",
                };
                match lane {
                    _ if from == to && lane == from => cell("", "\u{21ba}"),
                    _ if lane == to => cell(if to == right { "half-left" } else { "half-right" }, head),
                    _ if lane == from => cell(if from == left { "half-right" } else { "half-left" }, "\u{25cf}"),
                    _ if lane > left && lane < right => cell("across", ""),
                    _ => cell("", ""),
                }
            });
            let cells = cells.map(|cell| {
                if cell.class.is_empty() { cell } else { Cell { class: format!("{}{kind}", cell.class), ..cell } }
            });
            (cells.collect(), format!("{} to {}", name(from), name(to)))
        }
    }
}

fn spent_rows(context: &RunContext<'_>) -> Vec<SpentRow> {
    let spent = &context.view.spending.by_lifeline;
    let most = |of: fn(&Spent) -> f64| spent.values().map(of).fold(0.0, f64::max);
    let maxima = [most(|spent| spent.seconds), most(tokens_of), most(|spent| spent.cost_usd)];
    let bar = |label, words: String, value: f64, most: f64| {
        let width = if most > 0.0 { (value / most * BAR * 10.0).round() / 10.0 } else { 0.0 };
        Bar { label, words, width }
    };
    let row = |(node, spent): (&String, &Spent)| SpentRow {
        node: node.clone(),
        bars: [
            bar("Time", seconds_words(spent.seconds), spent.seconds, maxima[0]),
            bar(
                "Tokens",
                if spent.tokens + spent.estimated_tokens == 0 {
                    "unknown".to_owned()
                } else {
                    (spent.tokens + spent.estimated_tokens).to_string()
                },
                tokens_of(spent),
                maxima[1],
            ),
            bar(
                "Cost",
                if spent.unpriced >= spent.answers && spent.unpriced > 0 {
                    "unknown".to_owned()
                } else {
                    format!("{:.2} USD", spent.cost_usd)
                },
                spent.cost_usd,
                maxima[2],
            ),
        ],
    };
    spent.iter().map(row).collect()
}

/// The columns in which something is known and not nothing.
fn columns_of_spent(rows: &[SpentRow]) -> Vec<usize> {
    let says_nothing = |bar: &Bar| ["unknown", "0.0 s", "0.00 USD"].contains(&bar.words.as_str());
    (0..3).filter(|at| !rows.iter().all(|row| says_nothing(&row.bars[*at]))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "the width of a bar")]
fn tokens_of(spent: &Spent) -> f64 {
    (spent.tokens + spent.estimated_tokens) as f64
}

fn seconds_words(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}

//! Renders the results of experiments as tables and JSON.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::estimate::Estimate;
use super::interventions::InterventionRow;
use super::judge_runs::JudgeRow;

/// Calls of one kind in this process, and their total time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timed {
    /// `zero-shot`, `labeler`, `act`, `inject`, …
    pub kind: String,
    pub calls: usize,
    /// Of all calls together; wall time.
    pub seconds: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Experiments {
    /// Providers and models that answered.
    pub answered_by: Vec<String>,
    /// Seed of the generated traces and tasks.
    pub seed: u64,
    /// Results of the judge experiment, if it ran.
    pub judge: Option<Vec<JudgeRow>>,
    /// Description of the task and results of the intervention experiment, if it ran.
    pub interventions: Option<(String, Vec<InterventionRow>)>,
    /// Calls of this process; answers from a recording are not counted.
    pub times: Vec<Timed>,
}

pub fn experiments_json(results: &Experiments) -> Value {
    let interventions = results.interventions.as_ref().map(|(task, rows)| json!({ "task": task, "rows": rows }));
    json!({
        "schema": 2, "answered_by": results.answered_by, "seed": results.seed,
        "judge": results.judge.as_ref().map(|rows| json!({ "rows": rows })),
        "interventions": interventions, "times": results.times,
    })
}

/// Tables for reading. They contain no times, so that they are reproducible.
pub fn experiments_text(results: &Experiments) -> String {
    let by = if results.answered_by.is_empty() { "no provider".to_owned() } else { results.answered_by.join(", ") };
    let mut text = format!("Answers by {by}; seed {}.\n", results.seed);
    text.push_str("Means, with 95 % intervals in brackets; [-] where n is too small or all values are alike.\n");
    if let Some(rows) = &results.judge {
        text.push_str("\nJudges and monitors on generated traces\n\n");
        text.push_str(&judge_table(rows));
    }
    if let Some((task, rows)) = &results.interventions {
        let _ = write!(text, "\nInterventions in the truck task: {task}\n\n");
        text.push_str(&intervention_table(rows));
        for row in rows.iter().filter(|row| !row.broken.is_empty()) {
            let rules: Vec<String> =
                row.broken.iter().map(|(rule, in_how_many)| format!("{rule} {in_how_many}")).collect();
            let _ = writeln!(text, "{}: episodes that broke a rule: {}", row.method.name(), rules.join(", "));
        }
    }
    text
}

fn judge_table(rows: &[JudgeRow]) -> String {
    let head = [
        "varied",
        "size",
        "formulas",
        "who",
        "traces",
        "verdicts",
        "unreadable",
        "accuracy",
        "F1",
        "calls",
        "tokens",
        "USD",
    ];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    table.extend(rows.iter().map(|row| {
        vec![
            row.dimension.to_owned(),
            row.size.to_string(),
            row.formulas.to_owned(),
            row.judge.name().to_owned(),
            row.traces.to_string(),
            row.verdicts.to_string(),
            row.unreadable.to_string(),
            estimate(row.accuracy, 2),
            estimate(row.f1, 2),
            mean(row.calls_per_verdict, 2),
            mean(row.tokens_per_verdict, 0),
            mean(row.cost_per_verdict_usd, 5),
        ]
    }));
    let mut text = align(&table, 4);
    text.push_str("Calls, tokens and USD are for each verdict.\n");
    for row in rows {
        if let Some(labels) = row.labels {
            let _ = writeln!(
                text,
                "{} {} {}: of {} true labels the model missed {}, and it invented {}.",
                row.dimension, row.size, row.formulas, labels.true_labels, labels.missed, labels.invented
            );
        }
    }
    text
}

fn intervention_table(rows: &[InterventionRow]) -> String {
    let head = [
        "",
        "episodes",
        "violations",
        "rules broken",
        "in time",
        "delivered",
        "answers",
        "calls",
        "tokens",
        "USD",
        "interventions",
        "impossible",
        "unreadable",
    ];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    table.extend(rows.iter().map(|row| {
        vec![
            row.method.name().to_owned(),
            row.episodes.to_string(),
            estimate(row.violations, 2),
            estimate(row.rules_broken, 2),
            estimate(row.in_time, 2),
            estimate(row.delivered, 2),
            estimate(row.answers, 1),
            estimate(row.calls, 1),
            estimate(row.tokens, 0),
            mean(row.cost_usd, 4),
            row.interventions.to_string(),
            row.impossible.to_string(),
            row.unreadable.to_string(),
        ]
    }));
    align(&table, 1)
}

fn mean(estimate: Option<Estimate>, digits: usize) -> String {
    estimate.map_or_else(|| "-".to_owned(), |estimate| format!("{:.digits$}", estimate.mean))
}

fn estimate(of: Option<Estimate>, digits: usize) -> String {
    let Some(of) = of else { return "-".to_owned() };
    match of.low.zip(of.high) {
        Some((low, high)) => format!("{:.digits$} [{low:.digits$}, {high:.digits$}]", of.mean),
        None => format!("{:.digits$} [-]", of.mean),
    }
}

/// Aligns a table: the first `left` columns to the left, the others to the right.
fn align(table: &[Vec<String>], left: usize) -> String {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |column: usize| table.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| wide(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in table {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, wide))| {
            if column < left { format!("{cell:<wide$}") } else { format!("{cell:>wide$}") }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

//! Renders labels by a model: their source, their cost, and their accuracy against a reference.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};

use super::count::counted;
use super::lines::writeln;
use crate::monitor::{Agreement, LabelAccuracy, Labelling};
use crate::pipeline::AnswerLabels;

pub(super) fn names(propositions: &[Arc<str>]) -> Vec<&str> {
    propositions.iter().map(|name| &**name).collect()
}

fn labeler_names(labelling: Option<&Labelling>) -> String {
    let by: Vec<&str> = labelling.iter().flat_map(|l| l.models.iter().map(String::as_str)).collect();
    if by.is_empty() { "a model".to_owned() } else { by.join(", ") }
}

/// The labels of an answer in a run.
pub(super) fn labels_words(given: &AnswerLabels) -> String {
    let found = if given.labels.is_empty() { "nothing".to_owned() } else { given.labels.join(", ") };
    format!("{} finds true (untrusted): {found}", given.model)
}

/// The note that a verdict depends on labels by a model.
pub(super) fn untrusted_text(propositions: &[Arc<str>], labelling: Option<&Labelling>) -> String {
    let all: Vec<String> = propositions.iter().map(|name| format!("model:{name}")).collect();
    format!("depends on labels by {}: untrusted ({})", labeler_names(labelling), all.join(", "))
}

/// How the labels were obtained, and their accuracy.
pub(super) fn labelling_text(labelling: &Labelling) -> String {
    let Labelling { labelled, recorded, empty, asked, cached, requests, tokens, cost_usd, .. } = labelling;
    let cost = cost_usd.map_or_else(|| "price unknown".to_owned(), |usd| format!("{usd:.4} USD"));
    let mut parts = vec![format!("{} labelled", counted(*labelled, "state"))];
    if *recorded > 0 {
        parts.push(format!("{recorded} with labels in the log"));
    }
    parts.push(format!("{empty} with nothing to label"));
    let mut out = format!(
        "Labels by {}: {}.\n  {} requested ({}, {}, {cost}), {cached} from the cache.\n",
        labeler_names(Some(labelling)),
        parts.join(", "),
        counted(*asked, "different step"),
        counted(*requests, "request"),
        counted(*tokens, "token"),
    );
    if let Some(accuracy) = &labelling.accuracy {
        accuracy_text(&mut out, accuracy);
    }
    out
}

fn accuracy_text(out: &mut String, accuracy: &LabelAccuracy) {
    let all = ("all".into(), accuracy.overall());
    let rows: Vec<&(Arc<str>, Agreement)> = accuracy.propositions.iter().chain([&all]).collect();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("proposition".len());
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\nAgainst the reference ({}):", counted(accuracy.compared, "state"));
    let _ = writeln!(
        out,
        "  {:width$}  {:>9}  {:>15}  {:>15}  {:>8}  {:>5}",
        "proposition", "agreed", "false positives", "false negatives", "accuracy", "F1"
    );
    let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.3}"));
    for (name, counts) in rows {
        let agreed = format!("{} of {}", counts.agreed(), counts.total());
        let _ = writeln!(
            out,
            "  {name:width$}  {agreed:>9}  {:>15}  {:>15}  {:>8}  {:>5}",
            counts.false_positives,
            counts.false_negatives,
            rate(counts.accuracy()),
            rate(counts.f1()),
        );
    }
}

pub(super) fn labelling_json(labelling: &Labelling) -> Value {
    json!({
        "trusted": false, "models": labelling.models, "states_labelled": labelling.labelled, "states_with_logged_labels": labelling.recorded,
        "states_without_content": labelling.empty, "steps_requested": labelling.asked, "steps_cached": labelling.cached, "requests": labelling.requests,
        "tokens": labelling.tokens, "cost_usd": labelling.cost_usd,
        "accuracy": labelling.accuracy.as_ref().map(accuracy_json),
    })
}

fn accuracy_json(accuracy: &LabelAccuracy) -> Value {
    let counts = |counts: Agreement| {
        json!({
            "true_positives": counts.true_positives, "true_negatives": counts.true_negatives,
            "false_positives": counts.false_positives, "false_negatives": counts.false_negatives,
            "agreed": counts.agreed(), "total": counts.total(), "accuracy": counts.accuracy(), "f1": counts.f1(),
        })
    };
    let by: serde_json::Map<String, Value> =
        accuracy.propositions.iter().map(|(name, of)| (name.to_string(), counts(*of))).collect();
    json!({"states": accuracy.compared, "propositions": by, "overall": counts(accuracy.overall())})
}

//! What a chart says of an event.

use serde_json::Value;

use crate::journal::Event;
use crate::pipeline::Judged;
use crate::report::{candidate_event, counted, intervened_words, labelled_words, mutants_sentence};
use crate::tla::{CheckOutcome, verdict_sentence};

/// The event in words, of any length.
pub(super) fn of(event: &Event) -> String {
    let data = &event.data;
    match event.name.as_str() {
        "run_started" => format!("starts with {}", counted(listed(data, "docs").len(), "document")),
        "run_resumed" => "goes on".to_owned(),
        "branch_started" => {
            let edited: Vec<&str> = listed(data, "edited").iter().filter_map(Value::as_str).collect();
            let with = if edited.is_empty() { String::new() } else { format!(", with your {}", edited.join(", ")) };
            format!("branch from rev_{} as rev_{}{with}", data["from"], event.rev)
        }
        "request_sent" => {
            let model = data["choice"]["model"].as_str();
            format!("{}: asks {}", text(data, "purpose"), model.unwrap_or(text(data, "provider")))
        }
        "answer_received" => answer(data),
        "call_failed" => {
            let then = match data["wait_seconds"].as_f64() {
                Some(wait) => format!("again in {wait:.0} s"),
                None => "not tried again".to_owned(),
            };
            format!("call {} failed, {then}: {}", data["attempt"], text(data, "message"))
        }
        "model_switched" => format!("asks {} instead", text(data, "to")),
        "left_out" => format!("asks without {}: {}", text(data, "part"), text(data, "said")),
        "read_refused" => format!("read refused: {}", text(data, "path")),
        "unreadable" => format!("unreadable: {}", text(data, "why")),
        "part_missing" => format!("part missing, {}: {}", text(data, "of"), text(data, "why")),
        "part_taken" => format!("part of one answer for all: {}", text(data, "of")),
        "answer_normalised" => "answer mended before it was read".to_owned(),
        "restored" => "what stood before is taken up again".to_owned(),
        "tool_finished" => tool(data),
        "check_finished" => match serde_json::from_value::<CheckOutcome>(data["outcome"].clone()) {
            Ok(outcome) => {
                let distinct =
                    outcome.statistics.distinct.map_or_else(String::new, |n| format!(", {n} distinct states"));
                format!("check{distinct}: {}", verdict_sentence(&outcome))
            }
            Err(_) => "check finished".to_owned(),
        },
        "candidate_started" | "leader_told" | "quickly_checked" | "candidate_finished" | "candidate_received"
        | "candidate_given_up" | "leaders_named" | "candidate_chosen" => candidate_event(&event.name, data),
        "mutants_judged" => match serde_json::from_value::<Judged>(data.clone()) {
            Ok(Judged { unfit: Some(why), .. }) => format!("mutants not judged: {why}"),
            Ok(judged) => mutants_sentence(&judged),
            Err(_) => "mutants judged".to_owned(),
        },
        "guard_evaluated" => guard(data),
        "routed" => because(row(event), text(data, "why")),
        "predicted" => format!("predicted: {}", data["estimates"]),
        "labelled" => labelled_words(data),
        "answer_taken" => format!("takes answer {}", data["candidate"].as_u64().unwrap_or(0) + 1),
        "intervened" => match serde_json::from_value(data.clone()) {
            Ok(intervened) => intervened_words(&intervened),
            Err(_) => "intervened".to_owned(),
        },
        "rule_violated" => format!("rule {} is violated by event {}", text(data, "rule"), data["culprit"]),
        "revision_closed" => format!("rev_{} ends: {}", event.rev, text(data, "outcome")),
        "run_finished" => format!("ends: {}", because(text(data, "outcome"), text(data, "why"))),
        other => other.to_owned(),
    }
}

/// Which row of the routing table was taken.
pub(super) fn row(event: &Event) -> &str {
    event.data["row"].as_str().unwrap_or("goes on")
}

/// Which attempt of a station begins, from the second on.
pub(super) fn attempt(event: &Event) -> String {
    if event.attempt > 1 { format!(" (attempt {})", event.attempt) } else { String::new() }
}

/// Without saying the same twice.
fn because(what: &str, why: &str) -> String {
    match why {
        "" => what.to_owned(),
        why if why.starts_with(what) => why.to_owned(),
        why => format!("{what}: {why}"),
    }
}

fn text<'a>(data: &'a Value, field: &str) -> &'a str {
    data[field].as_str().unwrap_or("?")
}

fn listed<'a>(data: &'a Value, field: &str) -> &'a [Value] {
    data[field].as_array().map_or(&[], Vec::as_slice)
}

fn answer(data: &Value) -> String {
    let mut words = format!("{} answers", data["model"].as_str().unwrap_or(text(data, "provider")));
    if let Some(usage) = data["usage"].as_object() {
        let tokens = usage.values().filter_map(Value::as_u64).fold(0, u64::saturating_add);
        words = format!("{words}, {}", counted(tokens, "token"));
    }
    if let Some(seconds) = data["seconds"].as_f64() {
        words = format!("{words}, {seconds:.1} s");
    }
    let stale = if data["stale"] == true { " (stale)" } else { "" };
    format!("{words}{stale}")
}

fn tool(data: &Value) -> String {
    let first = &data["diagnostics"][0];
    let tool = text(data, "tool");
    match (data["accepted"] == true, first["message"].as_str()) {
        (true, _) => format!("{tool}: accepted"),
        (false, Some(message)) => match first["line"].as_u64() {
            Some(line) => format!("{tool}: rejected, line {line}: {message}"),
            None => format!("{tool}: rejected: {message}"),
        },
        (false, None) => format!("{tool}: rejected"),
    }
}

fn guard(data: &Value) -> String {
    let guard = text(data, "guard");
    match data["clause"].as_str() {
        Some(clause) => because(&format!("{guard} guard: {clause} fails"), data["why"].as_str().unwrap_or("")),
        None if data["holds"] == true => format!("{guard} guard: every clause holds"),
        None => format!("{guard} guard: does not hold"),
    }
}

//! What a client gets from a call: a short text, the same as data, and links to what is larger.

use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Value, json};

use super::jobs::{Job, JobEnd, Work};
use super::own_program::MAX_OUTPUT;
use super::shortened::{MAX_RESULT, shortened_text, shortened_value};
use crate::cli::failure::Failure;
use crate::process::{Ended, Status};
use crate::tla::{Bounds, bounds_sentence};

/// A result with its links. The data is in the content as well, because Claude Code shows only the content if there are links
/// in it.
pub(super) fn complete(text: impl Into<String>, data: Value, links: Vec<Resource>) -> CallToolResult {
    let mut result = CallToolResult::structured(data);
    result.content.insert(0, ContentBlock::text(text));
    result.content.extend(links.into_iter().map(ContentBlock::resource_link));
    result
}

/// A result whose data has the whole text.
pub(super) fn page(text: &str, data: Value) -> CallToolResult {
    let mut result = CallToolResult::structured(data);
    result.content = vec![ContentBlock::text(text)];
    result
}

/// A failure, with what to do.
pub(super) fn failed(failure: &Failure) -> CallToolResult {
    let mut text = failure.one_line();
    for hint in &failure.hints {
        text.push_str("\nhint: ");
        text.push_str(hint);
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// A job that has not ended.
pub(super) fn running(job: &Job) -> CallToolResult {
    let seconds = job.started.elapsed().as_secs();
    let text = format!("{} still runs, for {seconds} s: ask again with job_status, or end it with job_cancel", job.id);
    complete(text, json!({ "job": job.id, "state": "running", "seconds": seconds }), Vec::new())
}

/// The result of a job that has ended.
pub(super) fn ended(job: &Job, end: &JobEnd) -> CallToolResult {
    job.mark_delivered();
    match end {
        Ok(ended) => match result_of_command(job.work, ended) {
            Ok((text, mut data, is_shortened)) => {
                data["job"] = Value::String(job.id.clone());
                complete(text, data, is_shortened.then(|| output_link(&job.id)).into_iter().collect())
            }
            Err(failure) => failed(&failure),
        },
        Err(message) => failed(&Failure::usage(message.clone())),
    }
}

fn output_link(job: &str) -> Resource {
    Resource::new(format!("tlaforge:output?job={job}"), format!("output of {job}"))
        .with_description("The output, up to 1 MiB; the result above is shortened")
        .with_mime_type("application/json")
}

/// Text, data, and whether the data was shortened.
pub(super) fn result_of_command(work: Work, ended: &Ended) -> Result<(String, Value, bool), Failure> {
    let stdout = String::from_utf8_lossy(&ended.stdout);
    let status = match ended.status {
        Status::Exited(status) => status,
        Status::OutputFlood => {
            return Err(Failure::usage(format!(
                "the output is larger than {} MiB, so it was ended: no verdict",
                MAX_OUTPUT >> 20
            ))
            .hint("make the specification or the sample smaller"));
        }
        Status::DeadlineExceeded => {
            return Err(Failure::usage(format!("it was ended after {} s: no verdict", ended.wall.as_secs()))
                .hint("smaller constants help"));
        }
        Status::Cancelled => return Err(Failure::usage("it was cancelled: no verdict")),
        Status::Signalled(signal) => {
            return Err(Failure::usage(format!("it was killed by signal {signal}: no verdict")));
        }
    };
    let stderr = String::from_utf8_lossy(&ended.stderr);
    if work == Work::Explain && matches!(status, 0 | 1 | 3) && !stdout.trim().is_empty() {
        let text = shortened_text(&stdout, MAX_RESULT / 2);
        let is_shortened = text.len() < stdout.len();
        return Ok((text.clone(), json!({ "exit_status": status, "text": text }), is_shortened));
    }
    match serde_json::from_str::<Value>(&stdout) {
        Ok(object @ Value::Object(_)) => {
            let (mut data, is_shortened) = shortened_value(&object);
            data["exit_status"] = json!(status);
            Ok((summary(&object), data, is_shortened))
        }
        _ => Err(Failure::usage(shortened_text(stderr.trim(), MAX_RESULT / 2))),
    }
}

/// One or two lines that a person can read.
fn summary(object: &Value) -> String {
    if object["summary"].is_object() {
        return format!(
            "{}\nunchanged specification: {}",
            count_line(&object["summary"]),
            verdict_line(&object["baseline"])
        );
    }
    if object["baseline"]["verdict"].is_string() {
        return format!("no mutant was judged; unchanged specification: {}", verdict_line(&object["baseline"]));
    }
    if object["verdict"].is_string() {
        return verdict_line(object);
    }
    if let Some(rules) = object["rules"].as_array() {
        let violated: Vec<&str> =
            rules.iter().filter(|rule| rule["violations"] != 0).filter_map(|rule| rule["id"].as_str()).collect();
        let list = if violated.is_empty() { "none".to_owned() } else { violated.join(", ") };
        return format!("{} rules; violated: {list}", rules.len());
    }
    if let Some(outcome) = object["outcome"].as_str() {
        return outcome.to_owned();
    }
    shortened_text(&object.to_string(), 300)
}

fn count_line(summary: &Value) -> String {
    let count = |name: &str| summary[name].as_u64().unwrap_or_default();
    let score = summary["score"].as_f64().map_or("none".to_owned(), |score| format!("{score:.2}"));
    format!(
        "score {score}: {} killed, {} survived, {} equivalent, {} undecided",
        count("killed"),
        count("survived"),
        count("equivalent"),
        count("inconclusive") + count("timeout"),
    )
}

/// A verdict with its bounds and its checker, never without.
pub(super) fn verdict_line(check: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    // In a report, the verdict of a violated check is an object.
    let verdict = check["verdict"].as_object().and_then(|verdict| verdict.keys().next());
    let mut line = verdict.map_or_else(|| text(&check["verdict"]), Clone::clone);
    if !check["violated"].is_null() {
        let violated = &check["violated"];
        line.push_str(": ");
        line.push_str(&text(if violated["name"].is_string() { &violated["name"] } else { &violated["kind"] }));
    }
    if let Some(reason) = check["reason"].as_str() {
        line = format!("{line} ({reason})");
    }
    let bounds = serde_json::from_value::<Bounds>(check["bounds"].clone())
        .map_or_else(|_| format!("bounds: {}", check["bounds"]), |bounds| bounds_sentence(&bounds));
    let states = check["statistics"]["distinct"].as_u64().map_or(String::new(), |n| format!(", {n} distinct states"));
    format!("{line}; within {bounds}; checked by {} ({}){states}", text(&check["checker"]), text(&check["version"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_its_bounds_and_its_checker() {
        let check = json!({
            "verdict": "violated", "violated": { "kind": "invariant", "name": "Inv" }, "reason": null,
            "bounds": { "constants": { "N": "3" }, "constraints": ["Cut"], "view": null, "symmetry": [], "deadlock_checked": false },
            "statistics": { "distinct": 7 }, "checker": "tlc", "version": "2.15",
        });
        assert_eq!(
            summary(&check),
            "violated: Inv; within N = 3; constraint Cut; no symmetry; deadlock not checked; checked by tlc (2.15), 7 distinct states"
        );
    }
}

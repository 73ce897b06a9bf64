//! What a client gets from a call: a short text, the same as data, and links to what is larger.
//!
//! Claude Code (2.1) and Codex (0.171) show their model only the data of a result, if it has data, and Codex drops links. So
//! the data repeats the text and the links; what is to be read as a text has no data.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Resource};
use serde_json::{Value, json};

use super::jobs::{Job, JobEnd, Work};
use super::own_program::MAX_OUTPUT;
use super::shortened::{MAX_RESULT, shortened_text, shortened_value};
use crate::cli::failure::Failure;
use crate::process::{Ended, Status};
use crate::report::counted;
use crate::tla::{Bounds, bounds_sentence};

/// A result with its links.
pub(super) fn complete(text: impl Into<String>, mut data: Value, links: Vec<Resource>) -> CallToolResult {
    let text = text.into();
    data["message"] = json!(text);
    if !links.is_empty() {
        data["links"] = links.iter().map(|link| link.uri.clone()).collect();
    }
    let mut result = CallToolResult::structured(data);
    result.content.insert(0, ContentBlock::text(text));
    result.content.extend(links.into_iter().map(ContentBlock::resource_link));
    result
}

/// A text to be read, with links. `about` is for programs, in `_meta`: the text says the same.
pub(super) fn page(text: impl Into<String>, about: Value, links: Vec<Resource>) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.content.extend(links.into_iter().map(ContentBlock::resource_link));
    result.meta = Some(MetaObject(JsonObject::from_iter([("tlaforge".to_owned(), about)])));
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
            Ok(CommandResult { mut text, data, is_shortened }) => {
                let links: Vec<Resource> = is_shortened.then(|| output_link(&job.id)).into_iter().collect();
                if let Some(link) = links.first() {
                    let _ = write!(text, "\nshortened; the whole is the resource {}", link.uri);
                }
                match data {
                    Some(data) => complete(text, data, links),
                    None => page(text, json!({ "job": job.id }), links),
                }
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

/// What a command found.
pub(super) struct CommandResult {
    text: String,
    /// `None` if the text is all.
    data: Option<Value>,
    is_shortened: bool,
}

impl CommandResult {
    fn text(whole: &str) -> Self {
        let text = shortened_text(whole, 2 * MAX_RESULT);
        Self { is_shortened: text.len() < whole.len(), text, data: None }
    }
}

pub(super) fn result_of_command(work: Work, ended: &Ended) -> Result<CommandResult, Failure> {
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
        return Ok(CommandResult::text(&stdout));
    }
    // An object for each command; one that is wrong has its error there.
    if work == Work::Explore && matches!(status, 0 | 2) && !stdout.trim().is_empty() {
        return Ok(CommandResult::text(&stdout));
    }
    match serde_json::from_str::<Value>(&stdout) {
        Ok(object) if work == Work::Translate && object["outcome"] == "translated" => {
            let module = object["module"].as_str().map(|module| format!(":\n\n{module}")).unwrap_or_default();
            Ok(CommandResult::text(&format!("translated{module}")))
        }
        Ok(object) if work == Work::Mutate && object["mutants"].is_array() => Ok(mutation_result(&object)),
        Ok(object) if work == Work::Test && object["tests"].is_array() => {
            Ok(with_defects(test_result(&object, status), &stderr))
        }
        Ok(object @ Value::Object(_)) => {
            let (mut data, is_shortened) = shortened_value(&object);
            data["exit_status"] = json!(status);
            let mut text = summary(work, &object);
            for defect in defects(&stderr) {
                let _ = write!(text, "\n{defect}");
            }
            if work == Work::Drift && !stderr.trim().is_empty() {
                // What was not compared, and the commands for the user.
                let _ = write!(text, "\n{}", shortened_text(stderr.trim(), MAX_RESULT / 4));
            }
            Ok(CommandResult { text, data: Some(data), is_shortened })
        }
        _ => Err(Failure::usage(shortened_text(stderr.trim(), MAX_RESULT / 2))),
    }
}

/// Contradictions of two checkers, which only standard error names.
fn defects(stderr: &str) -> impl Iterator<Item = &str> {
    stderr.lines().filter(|line| line.starts_with("defect: "))
}

fn with_defects(mut result: CommandResult, stderr: &str) -> CommandResult {
    for defect in defects(stderr) {
        let _ = write!(result.text, "\n{defect}");
    }
    result
}

/// One or two lines that a person can read.
fn summary(work: Work, object: &Value) -> String {
    match work {
        Work::Translate if object["outcome"] == "no_algorithm" => {
            "there is no PlusCal algorithm in the module, so nothing was translated".to_owned()
        }
        Work::Formula => formula_line(object),
        Work::Audit => audit_lines(object),
        Work::Drift => drift_lines(object),
        Work::Conform => object["headline"].as_str().unwrap_or_default().to_owned(),
        _ if object["verdict"].is_string() => verdict_line(object),
        _ => object["outcome"].as_str().map_or_else(|| shortened_text(&object.to_string(), 300), str::to_owned),
    }
}

fn formula_line(object: &Value) -> String {
    let formula = object["formula"].as_str().unwrap_or_default();
    let trace = &object["trace"];
    let Some(holds) = trace["holds"].as_bool() else { return format!("the formula is {formula}") };
    let why = trace["explanation"].as_str().filter(|why| !why.is_empty()).map(|why| format!(": {why}"));
    format!(
        "{formula} {} on the trace{} (positions count from 0)",
        if holds { "holds" } else { "does not hold" },
        why.unwrap_or_default()
    )
}

/// The violated rules with line and reason, and the warnings.
fn audit_lines(object: &Value) -> String {
    let rules = object["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_broken = |rule: &&Value| matches!(rule["verdict"].as_str(), Some("violated" | "presumably_violated"));
    let mut text = format!("{} of {} rules violated", rules.iter().filter(is_broken).count(), rules.len());
    for rule in rules.iter().filter(is_broken) {
        let line = rule["decided_at_line"].as_u64().map_or(String::new(), |line| format!(", line {line}"));
        let why = rule["explanation"][0].as_str().unwrap_or_default();
        let (id, formula) = (rule["id"].as_str().unwrap_or_default(), rule["formula"].as_str().unwrap_or_default());
        let _ = write!(text, "\n{id} ({formula:.200}){line}: {why}");
    }
    let of_rules = rules.iter().flat_map(|rule| rule["warnings"].as_array().into_iter().flatten());
    for warning in object["warnings"].as_array().into_iter().flatten().chain(of_rules).filter_map(Value::as_str) {
        let _ = write!(text, "\nwarning: {warning}");
    }
    shortened_text(&text, MAX_RESULT / 2)
}

/// Each change of text that the specification rests on, with its place and what rests on it; what was not compared. The texts
/// are in the data.
fn drift_lines(object: &Value) -> String {
    fn text(value: &Value) -> &str {
        value.as_str().unwrap_or_default()
    }
    fn list(value: &Value) -> &[Value] {
        value.as_array().map(Vec::as_slice).unwrap_or_default()
    }
    let mut lines = text(&object["summary"]).to_owned();
    for change in list(&object["changes"]) {
        let open: Vec<&str> = list(&change["open"]).iter().map(text).collect();
        if open.is_empty() {
            continue;
        }
        let place = match (change["file"].as_str(), change["line"].as_u64()) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => format!("{} (the document is gone)", text(&change["before"]["document"])),
        };
        let is_open = |cites: &&Value| open.contains(&text(&cites["name"]));
        let properties = list(&change["cited_by"]).iter().filter(is_open).flat_map(|cites| list(&cites["properties"]));
        let properties: BTreeSet<&str> = properties.map(text).collect();
        let checked = if properties.is_empty() {
            String::new()
        } else {
            format!("; checked by {}", properties.into_iter().collect::<Vec<_>>().join(", "))
        };
        let _ = write!(lines, "\n{place} {}: {}{checked}", text(&change["change"]), open.join(", "));
    }
    let new = list(&object["new_normative"]);
    if let [first, ..] = new {
        let _ = write!(
            lines,
            "\n{} that the specification does not account for, the first at {}:{}",
            counted(new.len(), "new normative sentence"),
            text(&first["document"]),
            first["from"]
        );
    }
    let not_cited = list(&object["not_cited"]);
    if !not_cited.is_empty() {
        let _ = write!(lines, "\n{} of text that nothing cites", counted(not_cited.len(), "change"));
    }
    for one in list(&object["not_compared"]) {
        let _ = write!(lines, "\nnot compared: {}: {}", text(&one["requirement"]), text(&one["why"]));
    }
    shortened_text(&lines, MAX_RESULT / 2)
}

/// Every test with its verdict and bounds, those that did not pass first.
fn test_result(object: &Value, status: i32) -> CommandResult {
    let mut tests: Vec<&Value> = object["tests"].as_array().into_iter().flatten().collect();
    tests.sort_by_key(|test| test["result"] == "pass");
    let counts = object["summary"].as_object().into_iter().flatten();
    let counts = counts.filter(|(name, n)| name.as_str() == "passed" || n.as_u64() != Some(0));
    let counts: Vec<String> = counts.map(|(name, n)| format!("{n} {}", name.replace('_', " "))).collect();
    let mut text = counts.join(", ");
    for test in &tests {
        let [name, result, expected, reason] =
            ["name", "result", "expected", "reason"].map(|member| test[member].as_str().unwrap_or_default());
        let found = match &test["check"] {
            Value::Null => reason.to_owned(),
            check => verdict_line(check),
        };
        let _ = write!(text, "\n{result}: {name}: expected {expected}; {found}");
    }
    if tests.iter().any(|test| test["result"] == "fail") {
        text.push_str("\nexplain_trace with `spec` and `config` of a test explains its counterexample");
    }
    let short = |test: &&Value| {
        let check = &test["check"];
        let mut short = json!({
            "name": test["name"], "module": test["module"], "result": test["result"], "expected": test["expected"],
            "reason": test["reason"], "verdict": check["verdict"], "violated": check["violated"]["name"],
            "bounds": check["bounds"],
        });
        if let Some(members) = short.as_object_mut() {
            members.retain(|_, member| !member.is_null());
        }
        short
    };
    let whole = json!({ "summary": object["summary"], "exit_status": status, "tests": tests.iter().map(short).collect::<Vec<_>>() });
    let (data, is_shortened) = shortened_value(&whole);
    CommandResult { text: shortened_text(&text, MAX_RESULT / 2), data: Some(data), is_shortened }
}

/// Counts, and of the mutants only those that survived or are undecided: a person or an agent can do something about these.
fn mutation_result(object: &Value) -> CommandResult {
    let mutants = object["mutants"].as_array().map(Vec::as_slice).unwrap_or_default();
    let with = |outcomes: &[&str]| -> Vec<Value> {
        let is_wanted = |mutant: &&Value| mutant["outcome"].as_str().is_some_and(|outcome| outcomes.contains(&outcome));
        let short = |mutant: &Value| {
            let [line, definition, operator, what, diff] =
                ["line", "definition", "operator", "what", "diff"].map(|name| mutant[name].clone());
            json!({ "line": line, "definition": definition, "operator": operator, "what": what, "diff": diff })
        };
        mutants.iter().filter(is_wanted).map(short).collect()
    };
    if let Some(reason) = object["reason"].as_str() {
        let checked = if object["baseline"].is_object() {
            format!("\nunchanged specification: {}", verdict_line(&object["baseline"]))
        } else {
            String::new()
        };
        let text =
            format!("no mutant was judged: {reason}{checked}\nmutation testing needs a specification that holds");
        return CommandResult { text, data: Some(json!({ "reason": reason })), is_shortened: false };
    }
    let survivors = with(&["survived"]);
    let mut text = if object["summary"].is_object() && !mutants.is_empty() {
        count_line(&object["summary"])
    } else {
        "no mutant was judged".to_owned()
    };
    let (made, judged) = (object["run"]["mutants"].as_u64().unwrap_or_default(), mutants.len() as u64);
    if judged < made {
        let _ = write!(text, " ({judged} of {made} mutants were judged)");
    }
    let _ = write!(text, "\nunchanged specification: {}", verdict_line(&object["baseline"]));
    for mutant in &survivors {
        let _ = write!(text, "\nsurvived: line {}: {}", mutant["line"], mutant["what"].as_str().unwrap_or_default());
    }
    if !survivors.is_empty() {
        text.push_str("\nthe file survived.txt in the folder of the results has them with their lines");
    }
    let whole = json!({
        "counts": object["summary"], "survivors": survivors, "undecided": with(&["inconclusive", "timeout"]),
        "verdict_unchanged": object["baseline"]["verdict"], "bounds": object["baseline"]["bounds"],
    });
    let (data, is_shortened) = shortened_value(&whole);
    CommandResult { text: shortened_text(&text, MAX_RESULT / 2), data: Some(data), is_shortened }
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
    if line == "invalid" {
        return invalid_line(check);
    }
    if !check["violated"].is_null() {
        let violated = &check["violated"];
        line.push_str(": ");
        line.push_str(&text(if violated["name"].is_string() { &violated["name"] } else { &violated["kind"] }));
    }
    if let Some(reason) = check["reason"].as_str() {
        line = format!("{line} ({reason})");
    }
    let further = check["further"].as_array().into_iter().flatten();
    let more: Vec<&str> =
        further.filter(|other| other["verdict"] == "violated").filter_map(|other| other["name"].as_str()).collect();
    if !more.is_empty() {
        let _ = write!(line, "; also violated: {}", more.join(", "));
    }
    let has_none = |list: &str| check[list].as_array().is_some_and(Vec::is_empty);
    if line == "holds" && has_none("invariants") && has_none("properties") {
        line.push_str(", but no invariant and no property was checked");
    }
    let bounds = serde_json::from_value::<Bounds>(check["bounds"].clone())
        .map_or_else(|_| format!("bounds: {}", check["bounds"]), |bounds| bounds_sentence(&bounds));
    let states = check["statistics"]["distinct"].as_u64().map_or(String::new(), |n| format!(", {n} distinct states"));
    let version = check["version"].as_str().filter(|version| !version.is_empty());
    let version = version.map(|version| format!(" ({version})")).unwrap_or_default();
    format!("{line}; within {bounds}; checked by {}{version}{states}", text(&check["checker"]))
}

/// Nothing was checked, so there are no bounds.
fn invalid_line(check: &Value) -> String {
    let diagnostic = &check["diagnostics"][0];
    let place = match (diagnostic["line"].as_u64(), diagnostic["column"].as_u64()) {
        (Some(line), Some(column)) if line > 0 => format!(" (line {line}, column {column})"),
        _ => String::new(),
    };
    let reason = check["reason"].as_str().or_else(|| diagnostic["message"].as_str()).unwrap_or("no reason was given");
    format!("invalid: {reason}{place}; there is no verdict")
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
            summary(Work::Check, &check),
            "violated: Inv; within N = 3; constraint Cut; no symmetry; deadlock not checked; checked by tlc (2.15), 7 distinct states"
        );
    }
}

//! Detection of the shape of a log from its beginning.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::document::{document_lines, is_document};
use super::mapping::{Mapping, Shape};
use super::plan::Plan;
use super::states::States;
use super::step::OBSERVATIONS;
use super::surrogates::repair_surrogates;
use tlaforge_temporal::Formulas;

/// How many records [`detect_shape`] looks at.
const RECORDS_READ: usize = 20;

/// Detects the shape of a log from its beginning; of a document, from the whole text.
pub fn detect_shape(beginning: &[u8]) -> Shape {
    let lines = as_lines(beginning);
    let mut records = lines
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .take(RECORDS_READ)
        .filter_map(|line| serde_json::from_slice(&repair_surrogates(line)).ok())
        .map(|record| shape_of_record(&record));
    let is_list = beginning.trim_ascii_start().starts_with(b"[");
    // A list without any record of another shape is one of messages.
    let default = if is_list { Shape::Openai } else { Shape::Jsonl };
    records.find(|shape| *shape != Shape::Jsonl).unwrap_or(default)
}

/// The beginning of a log as JSON lines.
fn as_lines(beginning: &[u8]) -> Cow<'_, [u8]> {
    let text = beginning.strip_prefix("\u{feff}".as_bytes()).unwrap_or(beginning);
    let lines = if is_document(text, true) { document_lines(text).ok() } else { None };
    lines.map_or(Cow::Borrowed(text), Cow::Owned)
}

fn shape_of_record(record: &serde_json::Value) -> Shape {
    let has = |key: &str| record.get(key).is_some();
    let is_text = |key: &str| record.get(key).is_some_and(serde_json::Value::is_string);
    let kind = record["type"].as_str().unwrap_or_default();
    let is_message = ["ai", "human", "tool", "system", "function", "AIMessageChunk", "constructor"].contains(&kind);
    match () {
        () if has("v") && has("seq") && has("lifeline") && has("kind") => Shape::Journal,
        () if is_message && (has("data") || has("kwargs") || has("tool_calls") || has("response_metadata")) => {
            Shape::Langchain
        }
        () if is_text("type") && has("payload") => Shape::Codex,
        () if has("item") && kind.starts_with("item.") || kind.starts_with("thread.") => Shape::Codex,
        () if kind.starts_with("response.") || record["object"] == "response" => Shape::Openai,
        () if is_text("type") && (has("session_id") || has("sessionId") || has("message") || has("event")) => {
            Shape::Claude
        }
        () if is_text("kind") && has("payload") => Shape::Agentlog,
        () if ["resourceSpans", "resourceLogs", "scopeSpans"].into_iter().any(has) => Shape::Otel,
        () if has("attributes") && (has("name") || has("traceId") || has("trace_id") || has("body")) => Shape::Otel,
        () if has("gen_ai.tool.name") || has("gen_ai.operation.name") => Shape::Otel,
        () if has("candidates") || has("contents") || is_text("role") && has("parts") => Shape::Gemini,
        () if is_text("action") && (has("observation") || has("thought")) => Shape::Sweagent,
        () if has("trajectory") => Shape::Sweagent,
        () if has("choices") => Shape::Openai,
        () if record.get("messages").is_some_and(serde_json::Value::is_array) => Shape::Openai,
        () if is_text("role") && (has("content") || has("tool_calls") || has("function_call")) => Shape::Openai,
        () => Shape::Jsonl,
    }
}

/// How a shape fits the beginning of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeFit {
    pub shape: Shape,
    /// How many records have the keys of this shape.
    pub matching_records: u64,
    /// How many states this shape makes of the records.
    pub states: u64,
    /// Which of `tool_call`, `text` and `stop_reason` some state has.
    pub observations: BTreeSet<&'static str>,
}

/// How each shape fits the beginning of a log, in the order of [`Shape::ALL`]. A last line or message that is cut off is
/// left out.
pub fn fit_shapes(beginning: &[u8]) -> Vec<ShapeFit> {
    let lines = as_lines(beginning);
    Shape::ALL.into_iter().map(|shape| fit_shape(shape, &lines)).collect()
}

fn fit_shape(shape: Shape, beginning: &[u8]) -> ShapeFit {
    let plan = Plan::new(&Mapping::default().with_shape_defaults(shape), &Formulas::new(), &[], &[]);
    let mut fit = ShapeFit { shape, matching_records: 0, states: 0, observations: BTreeSet::new() };
    let mut take = |states: &States| {
        for step in states.each() {
            fit.states += 1;
            let observed = OBSERVATIONS.into_iter().zip(step.observations()).filter(|(_, observed)| *observed);
            fit.observations.extend(observed.map(|(kind, _)| kind));
        }
    };
    let mut matching_records = 0;
    let mut states = plan.new_states();
    for line in beginning.split(|byte| *byte == b'\n') {
        let Ok(record) = serde_json::from_slice::<serde_json::Value>(&repair_surrogates(line)) else { continue };
        if !record.is_object() {
            continue;
        }
        matching_records += u64::from(shape_of_record(&record) == shape);
        if plan.read(line, &mut states).is_ok_and(|is_state| is_state) {
            take(&states);
        }
    }
    ShapeFit { matching_records, ..fit }
}

/// The shape that fits best; `None` if no shape finds a state.
pub fn best_shape(fits: &[ShapeFit]) -> Option<Shape> {
    let has_states = |fit: &&ShapeFit| fit.states > 0;
    let rank = |fit: &&ShapeFit| (fit.matching_records, fit.observations.len(), fit.shape == Shape::Jsonl);
    fits.iter().filter(has_states).max_by_key(rank).map(|fit| fit.shape)
}

//! Detection of the shape of a log from its beginning.

use std::collections::BTreeSet;

use super::mapping::{Mapping, Shape};
use super::message_list::scan_list;
use super::plan::Plan;
use super::states::States;
use super::step::OBSERVATIONS;
use tlaforge_temporal::Formulas;

/// How many records [`detect_shape`] looks at.
const RECORDS_READ: usize = 20;

/// Detects the shape of a log from its beginning.
pub fn detect_shape(beginning: &[u8]) -> Shape {
    let text = String::from_utf8_lossy(beginning);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('[') {
        return Shape::Openai;
    }
    let records: Vec<serde_json::Value> = text
        .lines()
        .filter(|l| !l.trim().is_empty())
        .take(RECORDS_READ)
        .filter_map(|l| serde_json::from_str(l).ok())
        .collect();
    if records.is_empty() && text.starts_with('{') && text.contains("\"messages\"") {
        // An object written over many lines.
        return Shape::Openai;
    }
    records.iter().map(shape_of_record).find(|shape| *shape != Shape::Jsonl).unwrap_or(Shape::Jsonl)
}

fn shape_of_record(record: &serde_json::Value) -> Shape {
    let has = |key: &str| record.get(key).is_some();
    let is_text = |key: &str| record.get(key).is_some_and(serde_json::Value::is_string);
    match () {
        () if has("v") && has("seq") && has("lifeline") && has("kind") => Shape::Journal,
        () if is_text("type") && (has("session_id") || has("message")) => Shape::Claude,
        () if is_text("kind") && has("payload") => Shape::Agentlog,
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
    let beginning = beginning.strip_prefix("\u{feff}".as_bytes()).unwrap_or(beginning);
    Shape::ALL.into_iter().map(|shape| fit_shape(shape, beginning)).collect()
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
    let mut records = 0;
    let mut matching_records = 0;
    let mut states = plan.new_states();
    for line in beginning.split(|byte| *byte == b'\n') {
        let Ok(record) = serde_json::from_slice::<serde_json::Value>(line) else { continue };
        if !record.is_object() {
            continue;
        }
        records += 1;
        matching_records += u64::from(shape_of_record(&record) == shape);
        if plan.read(line, &mut states).is_ok_and(|is_state| is_state) {
            take(&states);
        }
    }
    // A list is either one line, which is a record of this shape, or is written over many lines.
    if shape == Shape::Openai && (records == 0 || records == matching_records) {
        let mut messages = 0;
        // An error means that the end of the list is cut off.
        let _ = scan_list(beginning, &plan, |states, _| {
            messages += 1;
            take(states);
        });
        matching_records = matching_records.max(messages);
    }
    ShapeFit { matching_records, ..fit }
}

/// The shape that fits best; `None` if no shape finds a state.
pub fn best_shape(fits: &[ShapeFit]) -> Option<Shape> {
    let has_states = |fit: &&ShapeFit| fit.states > 0;
    let rank = |fit: &&ShapeFit| (fit.matching_records, fit.observations.len(), fit.shape == Shape::Jsonl);
    fits.iter().filter(has_states).max_by_key(rank).map(|fit| fit.shape)
}

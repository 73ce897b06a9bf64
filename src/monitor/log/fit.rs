//! Which shapes fit a log: told from its beginning.

use std::collections::BTreeSet;

use super::mapping::{Mapping, Shape};
use super::plan::Plan;
use super::source::{scan_list, shape_of_record};
use super::states::States;
use super::step::TOLD;
use crate::temporal::Formulas;

/// How a shape fits the beginning of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// The shape.
    pub shape: Shape,
    /// How many records look like this shape.
    pub alike: u64,
    /// How many states it makes of the records.
    pub states: u64,
    /// What some state tells: `tool_call`, `text`, `stop_reason`.
    pub told: BTreeSet<&'static str>,
}

/// How each shape fits the beginning of a log, in the order of [`Shape::ALL`]. A last line or message that is cut off is
/// left out.
pub fn fits(beginning: &[u8]) -> Vec<Fit> {
    let beginning = beginning.strip_prefix("\u{feff}".as_bytes()).unwrap_or(beginning);
    Shape::ALL.into_iter().map(|shape| fit(shape, beginning)).collect()
}

fn fit(shape: Shape, beginning: &[u8]) -> Fit {
    let plan = Plan::new(&Mapping::default().over(shape), &Formulas::new(), &[], &[]);
    let mut fit = Fit { shape, alike: 0, states: 0, told: BTreeSet::new() };
    let mut take = |states: &States| {
        for step in states.each() {
            fit.states += 1;
            fit.told.extend(TOLD.into_iter().zip(step.told()).filter(|(_, told)| *told).map(|(kind, _)| kind));
        }
    };
    let mut records = 0;
    let mut alike = 0;
    let mut states = plan.states();
    for line in beginning.split(|byte| *byte == b'\n') {
        let Ok(record) = serde_json::from_slice::<serde_json::Value>(line) else { continue };
        if !record.is_object() {
            continue;
        }
        records += 1;
        alike += u64::from(shape_of_record(&record) == shape);
        if plan.read(line, &mut states).is_ok_and(|is_state| is_state) {
            take(&states);
        }
    }
    // A list may be one line, which is a record that looks like this shape, or be written over many.
    if shape == Shape::Openai && (records == 0 || records == alike) {
        let mut messages = 0;
        // The end of the list may be cut off.
        let _ = scan_list(beginning, &plan, |states, _| {
            messages += 1;
            take(states);
        });
        alike = alike.max(messages);
    }
    Fit { alike, ..fit }
}

/// The shape that fits best; `None` if there is no record at all.
pub fn best_fit(fits: &[Fit]) -> Option<Shape> {
    let telling = |fit: &&Fit| fit.states > 0;
    let rank = |fit: &&Fit| (fit.alike, fit.told.len(), fit.shape == Shape::Jsonl);
    fits.iter().filter(telling).max_by_key(rank).map(|fit| fit.shape)
}

//! Where a run's journal has what formulas speak of.

use serde::Deserialize as _;
use serde_json::json;

use crate::journal::{ArtifactStore, Sha};
use crate::monitor::log::{TextStore, Mapping, Shape};
use crate::pipeline::machine::lifelines;

/// Where a run's journal has what formulas speak of; what `mapping` says counts instead.
pub fn journal_mapping(mapping: Mapping) -> Mapping {
    let mapping = mapping.with_shape_defaults(Shape::Journal);
    let told = |field: &str| format!("data.answer.{field}");
    Mapping {
        tool_call: mapping.tool_call.or_else(|| Some(vec![told("tools")])),
        stored_text: Some(told("text")),
        stop_reason: mapping.stop_reason.or_else(|| Some(vec![told("stop_reason")])),
        model_labels: Some(told("labels")),
        model_label_source: Some(["answer.asked".to_owned(), "answer.by".to_owned()]),
        lifelines: mapping.lifelines.or_else(|| Some(lifelines().map(str::to_owned).collect())),
        ..mapping
    }
}

/// The texts that a run keeps: answers of models, by the names that the journal gives them.
pub fn kept_texts(store: ArtifactStore) -> TextStore {
    TextStore::new(move |name| {
        let sha = Sha::deserialize(json!(name)).map_err(|e| e.to_string())?;
        store.text(&sha).map_err(|e| e.to_string())
    })
}

//! Where a run's journal holds what formulas can read.

use std::panic::AssertUnwindSafe;

use crate::files::NotASha;
use crate::journal::{ArtifactStore, Sha};
use crate::monitor::log::{Mapping, Shape, TextStore};
use crate::pipeline::machine::lifelines;

/// The places of tools, texts, labels and lifelines in the journal of a run. Places that `mapping` names take
/// precedence.
pub fn journal_mapping(mapping: Mapping) -> Mapping {
    let mapping = mapping.with_shape_defaults(Shape::Journal);
    let answer = |field: &str| format!("data.answer.{field}");
    Mapping {
        tool_call: mapping.tool_call.or_else(|| Some(vec![answer("tools")])),
        stored_text: Some(answer("text")),
        stop_reason: mapping.stop_reason.or_else(|| Some(vec![answer("stop_reason")])),
        model_labels: Some(answer("labels")),
        model_label_source: Some(["answer.propositions".to_owned(), "answer.model".to_owned()]),
        lifelines: mapping.lifelines.or_else(|| Some(lifelines().map(str::to_owned).collect())),
        ..mapping
    }
}

/// Reads the texts of answers from the artifact store, by their hashes.
pub fn kept_texts(store: ArtifactStore) -> TextStore {
    // A panic while it reads leaves nothing half changed.
    let store = AssertUnwindSafe(store);
    TextStore::new(move |name| {
        let sha: Sha = name.parse().map_err(|e: NotASha| e.to_string())?;
        store.text(&sha).map_err(|e| e.to_string())
    })
}

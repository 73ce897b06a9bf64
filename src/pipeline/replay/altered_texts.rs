//! Texts in the artifact store that are no longer what an event named.

use std::collections::BTreeSet;

use serde::Deserialize as _;
use serde_json::Value;

use crate::journal::{ArtifactStore, Sha, StoreError};
use crate::pipeline::records::Entry;

/// The first event that names each altered text, with the error.
pub(super) fn altered(events: &[Entry], store: Option<&ArtifactStore>) -> Vec<(u64, String)> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for event in events {
        let mut open = vec![event.event.data()];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(fields) => open.extend(fields.into_iter().map(|(_, value)| value)),
                Value::Array(values) => open.extend(values),
                Value::String(text) if text.len() == DIGEST && seen.insert(text.clone()) => {
                    let sha = Sha::deserialize(Value::String(text)).ok();
                    if let Some(error @ StoreError::Altered { .. }) =
                        sha.zip(store).and_then(|(sha, store)| store.get(&sha).err())
                    {
                        all.push((event.seq, error.to_string()));
                    }
                }
                _ => {}
            }
        }
    }
    all
}

/// Digits of a SHA-256.
const DIGEST: usize = 64;

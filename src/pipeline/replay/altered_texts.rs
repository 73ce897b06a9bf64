//! Texts in the artifact store that are no longer what an event named.

use std::collections::BTreeSet;

use serde_json::Value;

use super::verification::Verification;
use crate::journal::{ArtifactStore, Sha, StoreError};
use crate::pipeline::records::Entry;

/// Objects to the first event that names an altered artifact. Any string that is a SHA-256 may name one, whatever its field
/// means, so if the store has a file of this name, its content must match. A missing file is reported by the checks that need
/// it.
pub(super) fn check_texts(events: &[Entry], store: Option<&ArtifactStore>, verification: &mut Verification) {
    let Some(store) = store else { return };
    let mut seen = BTreeSet::new();
    for event in events {
        let mut open = vec![event.event.data()];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(fields) => open.extend(fields.into_iter().map(|(_, value)| value)),
                Value::Array(values) => open.extend(values),
                Value::String(text) => {
                    let Ok(sha) = text.parse::<Sha>() else { continue };
                    if seen.insert(sha.clone()) {
                        check_text(&sha, event.seq, store, verification);
                    }
                }
                _ => {}
            }
        }
    }
}

fn check_text(sha: &Sha, event: u64, store: &ArtifactStore, verification: &mut Verification) {
    match store.get(sha) {
        Ok(_) => {}
        Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
        Err(error @ StoreError::Altered { .. }) => verification.object("artifact", event, error),
        Err(error) => verification.unverified.push(format!("a text that event {event} names: {error}")),
    }
}

//! An event type for the tests of the journal.

use serde::{Deserialize, Serialize};

use super::{Kind, Past, Record};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", content = "data", rename_all = "snake_case")]
pub(super) enum Thing {
    Thing {
        n: u32,
        #[serde(default)]
        text: String,
    },
}

pub(super) fn record(n: u32) -> Record<Thing> {
    let event = Thing::Thing { n, text: String::new() };
    Record { lifeline: "run".into(), kind: Kind::Act, rev: 0, attempt: n, past: Past::Lifeline, event }
}

//! Texts that a log does not hold itself but names, and what can be wrong with a record.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Fetches a text that is kept beside a log, by the name that the log gives it; or says why it cannot.
#[derive(Clone)]
pub struct KeptTexts(Arc<Fetch>);

type Fetch = dyn Fn(&str) -> Result<String, String> + Send + Sync + UnwindSafe + RefUnwindSafe;

impl KeptTexts {
    /// Fetched in this way.
    pub fn new(
        fetch: impl Fn(&str) -> Result<String, String> + Send + Sync + UnwindSafe + RefUnwindSafe + 'static,
    ) -> Self {
        Self(Arc::new(fetch))
    }

    pub(super) fn fetch(&self, name: &str) -> Result<String, String> {
        (self.0)(name)
    }
}

impl fmt::Debug for KeptTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeptTexts")
    }
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is no JSON record.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A text that it names is not to be had.
    #[error("{0}")]
    Text(String),
    /// A path that a rule reads as one value crosses a list.
    #[error("{0}")]
    List(String),
}

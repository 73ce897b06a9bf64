//! Access to texts that a log names but does not hold, such as the artifacts of a run.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Fetches a text by the name that the log gives it, or returns the reason why it cannot.
#[derive(Clone)]
pub struct TextStore(Arc<Fetch>);

/// Unwind safe because `scan_lines` catches panics of its threads, which share the store.
type Fetch = dyn Fn(&str) -> Result<String, String> + Send + Sync + UnwindSafe + RefUnwindSafe;

impl TextStore {
    pub fn new(
        fetch: impl Fn(&str) -> Result<String, String> + Send + Sync + UnwindSafe + RefUnwindSafe + 'static,
    ) -> Self {
        Self(Arc::new(fetch))
    }

    pub(super) fn fetch(&self, name: &str) -> Result<String, String> {
        (self.0)(name)
    }
}

impl fmt::Debug for TextStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextStore")
    }
}

//! Token counts of model calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Tokens that a call used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Input tokens that were not cached.
    pub input: u64,
    pub output: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write: u64,
}

impl Usage {
    /// Reads a server's counts. Returns `None` unless both input and output are counted: no request and no answer takes zero
    /// tokens, so zero, like anything that is not a whole number, means that the server did not count. Budgets then use an
    /// estimate.
    pub(super) fn from_counts(input: &Value, output: &Value, cache_read: &Value, cache_write: &Value) -> Option<Usage> {
        let cached = |count: &Value| if count.is_null() { Some(0) } else { count.as_u64() };
        let (cache_read, cache_write) = (cached(cache_read)?, cached(cache_write)?);
        // If the whole prompt comes from the cache, the other input may be zero.
        let from_cache = cache_read > 0 || cache_write > 0;
        let input = if from_cache { cached(input)? } else { input.as_u64().filter(|input| *input > 0)? };
        let output = output.as_u64().filter(|output| *output > 0)?;
        Some(Usage { input, output, cache_read, cache_write })
    }

    /// All tokens of the four kinds.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// The sum, kind by kind.
    #[must_use]
    pub fn plus(&self, more: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(more.input),
            output: self.output.saturating_add(more.output),
            cache_read: self.cache_read.saturating_add(more.cache_read),
            cache_write: self.cache_write.saturating_add(more.cache_write),
        }
    }
}

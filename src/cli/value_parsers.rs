//! What flags take, and what is said where they are given something else.

use crate::pipeline::MAX_CANDIDATES;

/// Formalizations side by side.
pub(super) fn parse_candidates(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|n| (1..=MAX_CANDIDATES).contains(n)).ok_or_else(|| {
        format!("it takes a number from 1 to {MAX_CANDIDATES}: each candidate is a paid answer, and 2 or 3 are usual")
    })
}

/// Rounds of strengthening.
pub(super) fn parse_rounds(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "it takes a number of rounds, or nothing; the documents go before it".to_owned())
}

/// A number from 0 to 1.
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "it must be from 0 to 1".to_owned())
}

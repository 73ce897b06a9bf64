//! Parsers for the values of flags, with their error messages.

use std::str::FromStr;

use crate::pipeline::MAX_CANDIDATES;

/// A whole number above 0, as one of the `NonZero` types. Their own messages name the type.
pub fn parse_positive<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "must be a whole number from 1".to_owned())
}

pub(super) fn parse_candidates(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|n| (1..=MAX_CANDIDATES).contains(n)).ok_or_else(|| {
        format!("must be a number from 1 to {MAX_CANDIDATES}; each candidate costs an answer, and 2 or 3 are usual")
    })
}

pub(super) fn parse_rounds(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| "must be a number of rounds, or be left out; put the documents before this flag".to_owned())
}

/// A number of mutants; `off` is 0.
pub(super) fn parse_mutants(text: &str) -> Result<u32, String> {
    if text == "off" { Ok(0) } else { text.parse().map_err(|_| "must be a number of mutants, or off".to_owned()) }
}

/// A number from 0 to 1.
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "must be from 0 to 1".to_owned())
}

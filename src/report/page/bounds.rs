//! The bounds of a check, a clause a line.

use serde::Serialize;

use crate::tla::{Bounds, bounds_sentence};

#[derive(Serialize)]
pub(super) struct Clause {
    pub words: String,
    /// A constant with its value.
    pub is_code: bool,
}

/// Each clause of the bounds, without the model values, which are equal to themselves.
pub(super) fn clauses(bounds: &Bounds) -> Vec<Clause> {
    let is_model_value = |name: &String| bounds.constants.get(name) == Some(name);
    let shown = bounds.constants.keys().filter(|name| !is_model_value(name)).cloned().collect::<Vec<_>>();
    let constants = bounds.constants.iter().filter(|(name, _)| shown.contains(name));
    let own = Bounds { constants: constants.map(|(n, v)| (n.clone(), v.clone())).collect(), ..bounds.clone() };
    let sentence = bounds_sentence(&own);
    let clause = |(at, words): (usize, &str)| Clause { words: words.to_owned(), is_code: at < shown.len() };
    sentence.split("; ").enumerate().map(clause).collect()
}

//! What a review accepts by name, each with its reason.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tla::requirement_id;

/// An item that a review accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AcceptedItem {
    Named(NamedItem),
    /// The form up to version 0.2: the name, perhaps with a remark after it. Only journals and recordings hold it.
    Text(String),
}

/// An item by its name as `facts.md` lists it, with the reason why it is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedItem {
    pub name: String,
    /// Empty only in a recorded answer of version 0.2, which gave none.
    pub reason: String,
    /// Words of the documents on which the acceptance rests. Only the acceptance of a blind reading needs some.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
}

impl AcceptedItem {
    pub fn named(name: &str, reason: &str) -> Self {
        Self::Named(NamedItem { name: name.to_owned(), reason: reason.to_owned(), quote: String::new() })
    }

    /// Its words of the documents; empty if it has none.
    pub fn quote(&self) -> &str {
        match self {
            Self::Named(item) => &item.quote,
            Self::Text(_) => "",
        }
    }

    /// The reason, perhaps empty, if the item has this name.
    pub fn reason_for(&self, name: &str) -> Option<&str> {
        match self {
            Self::Named(item) => is_same_name(&item.name, name).then_some(item.reason.as_str()),
            Self::Text(text) => remark_on(text, name).map(trim_remark),
        }
    }

    /// The name, and the reason if it has one.
    pub fn parts(&self) -> (&str, Option<&str>) {
        match self {
            Self::Named(item) => (item.name.trim(), Some(item.reason.trim()).filter(|reason| !reason.is_empty())),
            Self::Text(text) => match text.trim().split_once(": ") {
                Some((name, reason)) => (name, Some(reason)),
                None => (text.trim(), None),
            },
        }
    }
}

impl fmt::Display for AcceptedItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            (name, Some(reason)) => write!(f, "{name}: {reason}"),
            (name, None) => f.write_str(name),
        }
    }
}

/// Whether an accepted name is this one. `R04` is `R4`, and white space makes no difference.
pub fn is_same_name(accepted: &str, name: &str) -> bool {
    remark_on(accepted, name).is_some_and(|rest| rest.trim().is_empty())
}

/// Whether a text is a reason: it says anything.
pub fn is_reason(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn trim_remark(remark: &str) -> &str {
    remark.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '-' | '\u{2013}' | '\u{2014}'))
}

/// The remark after an accepted name; `None` if the entry accepts another name. `R04` is `R4`, and white space makes no
/// difference.
fn remark_on<'a>(entry: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = entry.trim_start();
    for word in name.split_whitespace() {
        rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        rest = match requirement_id(&rest[..end]) {
            Some(id) if id == word => &rest[end..],
            _ => rest.strip_prefix(word)?,
        };
    }
    let ends = rest.chars().next().is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '!'));
    ends.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::machine::Review;

    #[test]
    fn a_name_is_accepted_word_for_word_with_or_without_a_remark() {
        for (entry, name) in [
            ("Safe", "Safe"),
            ("R7: because it is about time", "R7"),
            ("R07 (time)", "R7"),
            ("covers  Safe", "covers Safe"),
            ("CHECK_DEADLOCK  FALSE: quiescent by design", "CHECK_DEADLOCK FALSE"),
            (" CONSTRAINT Small (the queue)", "CONSTRAINT Small"),
            ("Max <- Four - enough", "Max <- Four"),
        ] {
            assert!(remark_on(entry, name).is_some(), "{entry}");
        }
        for (entry, name) in [
            ("Safer", "Safe"),
            ("Safe_2", "Safe"),
            ("Safe!C", "Safe"),
            ("R70", "R7"),
            ("not Safe", "Safe"),
            ("CONSTRAINT Smaller", "CONSTRAINT Small"),
            ("CONSTRAINT", "CONSTRAINT Small"),
            ("", "Safe"),
        ] {
            assert_eq!(remark_on(entry, name), None, "{entry}");
        }
    }

    #[test]
    fn an_item_is_accepted_by_exactly_its_name() {
        for (name, other) in [("R04", "R4"), ("CHECK_DEADLOCK  FALSE", "CHECK_DEADLOCK FALSE"), (" Safe ", "Safe")] {
            assert_eq!(AcceptedItem::named(name, "why").reason_for(other), Some("why"), "{name}");
        }
        for (name, other) in
            [("Safe: not acceptable", "Safe"), ("Safe (no)", "Safe"), ("Safe, Live", "Safe"), ("R41", "R4")]
        {
            assert_eq!(AcceptedItem::named(name, "why").reason_for(other), None, "{name}");
        }
    }

    #[test]
    fn a_line_of_the_configuration_is_accepted_with_a_reason_only() {
        let review = |entry: &str| {
            let value = serde_json::json!({"verdict": "approved", "issues": [], "accepted_cfg": [entry]});
            Review::deserialize(value).unwrap()
        };
        let line = "CONSTRAINT Small";
        assert!(review("CONSTRAINT Small: the queue is bounded").accepts_cfg(line));
        for entry in ["CONSTRAINT Small", "CONSTRAINT Small: ", "CONSTRAINT Small ...", "Small: the queue"] {
            assert!(!review(entry).accepts_cfg(line), "{entry}");
        }
    }
}

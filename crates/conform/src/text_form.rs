//! Lines of text as JSON objects: what the named groups of a regular expression say.

use std::collections::BTreeMap;

use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OtherLines {
    #[default]
    Error,
    Ignore,
}

/// How the lines of text logs are read.
pub(super) struct TextForm<'m> {
    patterns: Vec<(&'m str, Regex)>,
    /// Groups whose text is JSON.
    json: &'m [String],
    other_lines: OtherLines,
}

impl<'m> TextForm<'m> {
    /// Compiles the patterns of a map.
    ///
    /// # Errors
    /// A pattern is no regular expression, a group is called `pattern`, or `json` names a group that no pattern has.
    pub(super) fn new(
        texts: &'m BTreeMap<String, String>,
        json: &'m [String],
        other_lines: OtherLines,
    ) -> Result<Self, String> {
        let mut patterns = Vec::new();
        for (name, text) in texts {
            let pattern =
                Regex::new(text).map_err(|e| format!("the pattern `{name}` is no regular expression: {e}"))?;
            if pattern.capture_names().flatten().any(|group| group == "pattern") {
                return Err(format!(
                    "the pattern `{name}` has a group called `pattern`: give it another name, because `$.pattern` is the name of the pattern"
                ));
            }
            patterns.push((name.as_str(), pattern));
        }
        if let Some(unknown) = json.iter().find(|group| !has_group(&patterns, group)) {
            return Err(format!("`json` names the group `{unknown}`, which no pattern has"));
        }
        Ok(Self { patterns, json, other_lines })
    }

    pub(super) fn is_text(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Whether lines that no pattern describes are left out.
    pub(super) fn ignores_others(&self) -> bool {
        self.other_lines == OtherLines::Ignore
    }

    /// The groups of the pattern that a line matches, and the name of the pattern; `None` if it matches none.
    pub(super) fn record(&self, line: &str) -> Result<Option<Value>, String> {
        let mut found: Option<(&str, &Regex, Captures<'_>)> = None;
        for (name, pattern) in &self.patterns {
            let Some(captures) = pattern.captures(line) else { continue };
            if let Some((other, ..)) = found {
                return Err(format!(
                    "the line matches the patterns `{other}` and `{name}`: write them so that only one fits"
                ));
            }
            found = Some((*name, pattern, captures));
        }
        let Some((name, pattern, captures)) = found else { return Ok(None) };
        let mut record = Map::from_iter([("pattern".to_owned(), Value::from(name))]);
        for group in pattern.capture_names().flatten() {
            let Some(text) = captures.name(group) else { continue };
            let value = if self.json.iter().any(|json| json == group) {
                serde_json::from_str(text.as_str())
                    .map_err(|e| format!("the group `{group}` is not valid JSON: {e}"))?
            } else {
                Value::from(text.as_str())
            };
            record.insert(group.to_owned(), value);
        }
        Ok(Some(Value::Object(record)))
    }
}

fn has_group(patterns: &[(&str, Regex)], group: &str) -> bool {
    patterns.iter().any(|(_, pattern)| pattern.capture_names().flatten().any(|name| name == group))
}

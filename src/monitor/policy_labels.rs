//! The `[[label]]` tables of a policy.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use toml::de::DeValue;

use super::policy_error::{PolicyError, line_number, type_name};
use super::propositions::{Proposition, PropositionError, Propositions};
use super::similar_names::similar_names;

/// Reads the `[[label]]` tables; returns the line where each begins too. `key` is the position of the first.
pub(super) fn read_labels(
    text: &str,
    key: Range<usize>,
    tables: &DeValue<'_>,
) -> Result<(Propositions, BTreeMap<String, usize>), PolicyError> {
    let error = |span: &Range<usize>, message: String| PolicyError::Label { line: line_number(text, span), message };
    let form = "it is written as [[label]] tables, each with `name` and `asks`";
    let tables = tables.as_array().ok_or_else(|| error(&key, form.to_owned()))?;
    let (mut all, mut lines) = (Vec::new(), BTreeMap::new());
    for table in tables {
        let keys = table.get_ref().as_table().ok_or_else(|| error(&key, form.to_owned()))?;
        if let Some((key, _)) = keys.iter().find(|(key, _)| !["name", "asks"].contains(&&**key.get_ref())) {
            return Err(error(&key.span(), format!("unknown key `{}` (known: name, asks)", key.get_ref())));
        }
        let get = |name: &str| match keys.get(name).map(|value| (value.span(), value.get_ref())) {
            Some((_, DeValue::String(text))) => Ok(text.to_string()),
            Some((span, other)) => Err(error(&span, format!("`{name}` must be a text, not {}", type_name(other)))),
            None => Err(error(&table.span(), format!("it has no `{name}`"))),
        };
        let proposition =
            Proposition::new(&get("name")?, &get("asks")?).map_err(|e| error(&table.span(), e.to_string()))?;
        let first_line = line_number(text, &table.span());
        if let Some(first) = lines.insert(proposition.name.to_string(), first_line) {
            let twice = PropositionError::Twice(proposition.name.to_string());
            return Err(error(&table.span(), format!("{twice} (the first begins in line {first})")));
        }
        all.push(proposition);
    }
    let all = Propositions::new(all).map_err(|e| error(&key, e.to_string()))?;
    Ok((all, lines))
}

/// Checks that every proposition that rules use has a table, and that every table is used: a model would otherwise be
/// paid for labels that no rule reads. `rules` are the id, the line and the propositions of each rule, and `lines` the
/// lines of the tables.
pub(super) fn check_labels_used<'a>(
    rules: impl IntoIterator<Item = (&'a str, usize, Vec<Arc<str>>)>,
    lines: &BTreeMap<String, usize>,
) -> Result<(), PolicyError> {
    let mut used = BTreeSet::new();
    for (id, line, propositions) in rules {
        for name in propositions {
            if !lines.contains_key(&*name) {
                let similar = similar_names(&name, lines.keys().map(String::as_str));
                let hint =
                    if similar.is_empty() { String::new() } else { format!(" (similar: {})", similar.join(", ")) };
                let message = format!("`model:{name}`: there is no [[label]] of this name{hint}");
                return Err(PolicyError::Rule { line, rule: format!("`{id}`"), message });
            }
            used.insert(name);
        }
    }
    match lines.iter().find(|(name, _)| !used.contains(name.as_str())) {
        Some((name, line)) => {
            let message =
                format!("no rule uses `model:{name}`, and a model would be asked for it at every step; remove it");
            Err(PolicyError::Label { line: *line, message })
        }
        None => Ok(()),
    }
}

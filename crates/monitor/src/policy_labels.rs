//! The `[[label]]` tables of a policy.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use toml::de::DeValue;

use super::policy_error::{PolicyError, PolicyPlace, type_name};
use super::propositions::{Proposition, PropositionError, Propositions};
use super::similar_names::similar_names;

/// Reads the `[[label]]` tables; returns the place where each begins too. `key` is the position of the first.
pub(super) fn read_labels(
    text: &str,
    key: Range<usize>,
    tables: &DeValue<'_>,
) -> Result<(Propositions, BTreeMap<String, PolicyPlace>), PolicyError> {
    let error = |span: &Range<usize>, message: String| PolicyError::Label {
        place: PolicyPlace::new(text, span.clone()),
        message,
    };
    let form = "it is written as [[label]] tables, each with `name` and `asks`";
    let tables = tables.as_array().ok_or_else(|| error(&key, form.to_owned()))?;
    let (mut all, mut places) = (Vec::new(), BTreeMap::<_, PolicyPlace>::new());
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
        let place = PolicyPlace::new(text, table.span());
        if let Some(first) = places.insert(proposition.name.to_string(), place) {
            let twice = PropositionError::Twice(proposition.name.to_string());
            return Err(error(&table.span(), format!("{twice} (the first begins in line {first})")));
        }
        all.push(proposition);
    }
    let all = Propositions::new(all).map_err(|e| error(&key, e.to_string()))?;
    Ok((all, places))
}

/// Checks that every proposition that rules use has a table, and that every table is used: a model would otherwise be
/// paid for labels that no rule reads. `rules` are the id, the place and the propositions of each rule, and `places` those of
/// the tables.
pub(super) fn check_labels_used<'a>(
    text: &str,
    rules: impl IntoIterator<Item = (&'a str, PolicyPlace, Vec<Arc<str>>)>,
    places: &BTreeMap<String, PolicyPlace>,
) -> Result<(), PolicyError> {
    let mut used = BTreeSet::new();
    for (id, PolicyPlace { line, span }, propositions) in rules {
        for name in propositions {
            if !places.contains_key(&*name) {
                let similar = similar_names(&name, places.keys().map(String::as_str));
                let hint =
                    if similar.is_empty() { String::new() } else { format!(" (similar: {})", similar.join(", ")) };
                let message = format!("`model:{name}`: there is no [[label]] of this name{hint}");
                let span = find_within(text, &span, &format!("model:{name}"));
                return Err(PolicyError::Rule { place: PolicyPlace { line, span }, rule: format!("`{id}`"), message });
            }
            used.insert(name);
        }
    }
    match places.iter().find(|(name, _)| !used.contains(name.as_str())) {
        Some((name, place)) => {
            let message =
                format!("no rule uses `model:{name}`, and a model would be asked for it at every step; remove it");
            Err(PolicyError::Label { place: place.clone(), message })
        }
        None => Ok(()),
    }
}

/// The first occurrence of a part within a span of the text that does not go on as a longer name; the whole span if there is
/// none.
fn find_within(text: &str, span: &Range<usize>, part: &str) -> Range<usize> {
    let within = text.get(span.clone()).unwrap_or_default();
    let is_whole = |at: &usize| !within[at + part.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let found = within.match_indices(part).map(|(at, _)| at).find(is_whole).map(|at| span.start + at);
    found.map_or_else(|| span.clone(), |start| start..start + part.len())
}

//! The `[[label]]` tables of a policy.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::de::DeValue;

use super::near::near;
use super::policy::{PolicyError, PolicyRule, line, type_name};
use super::propositions::{Proposition, PropositionError, Propositions};
use crate::temporal::Formulas;

/// The `[[label]]` tables, and the line where each begins.
pub(super) fn labels(
    text: &str,
    at: Range<usize>,
    tables: &DeValue<'_>,
) -> Result<(Propositions, BTreeMap<String, usize>), PolicyError> {
    let wrong = |span: &Range<usize>, message: String| PolicyError::Label { line: line(text, span), message };
    let form = "it is written as [[label]] tables, each with `name` and `asks`";
    let tables = tables.as_array().ok_or_else(|| wrong(&at, form.to_owned()))?;
    let (mut all, mut lines) = (Vec::new(), BTreeMap::new());
    for table in tables {
        let keys = table.get_ref().as_table().ok_or_else(|| wrong(&at, form.to_owned()))?;
        if let Some((key, _)) = keys.iter().find(|(key, _)| !["name", "asks"].contains(&&**key.get_ref())) {
            return Err(wrong(&key.span(), format!("unknown key `{}` (known: name, asks)", key.get_ref())));
        }
        let get = |key: &str| match keys.get(key).map(|value| (value.span(), value.get_ref())) {
            Some((_, DeValue::String(text))) => Ok(text.to_string()),
            Some((span, other)) => Err(wrong(&span, format!("`{key}` must be a text, not {}", type_name(other)))),
            None => Err(wrong(&table.span(), format!("it has no `{key}`"))),
        };
        let proposition =
            Proposition::new(&get("name")?, &get("asks")?).map_err(|e| wrong(&table.span(), e.to_string()))?;
        let begins = line(text, &table.span());
        if let Some(first) = lines.insert(proposition.name.to_string(), begins) {
            let twice = PropositionError::Twice(proposition.name.to_string());
            return Err(wrong(&table.span(), format!("{twice} (the first begins in line {first})")));
        }
        all.push(proposition);
    }
    let all = Propositions::new(all).map_err(|e| wrong(&at, e.to_string()))?;
    Ok((all, lines))
}

/// That what rules speak of is there, and that nothing is there that would be asked, and paid for, in vain.
pub(super) fn are_used(
    rules: &[PolicyRule],
    formulas: &Formulas,
    lines: &BTreeMap<String, usize>,
) -> Result<(), PolicyError> {
    let mut used = BTreeSet::new();
    for rule in rules {
        for name in rule.rests_on(formulas) {
            if !lines.contains_key(&*name) {
                let near = near(&name, lines.keys().map(String::as_str));
                let near = if near.is_empty() { String::new() } else { format!(" (near it: {})", near.join(", ")) };
                let message = format!("`model:{name}`: there is no [[label]] of this name{near}");
                return Err(PolicyError::Rule { line: rule.line, rule: format!("`{}`", rule.id), message });
            }
            used.insert(name);
        }
    }
    match lines.iter().find(|(name, _)| !used.contains(name.as_str())) {
        Some((name, line)) => {
            let message = format!("no rule speaks of `model:{name}`, which would be asked at every step; take it out");
            Err(PolicyError::Label { line: *line, message })
        }
        None => Ok(()),
    }
}

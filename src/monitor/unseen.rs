//! What rules ask for and a log never has: a verdict that rests on it says so.

use std::collections::BTreeSet;

use super::audit::Auditor;
use super::log::{Found, read_for_value};
use super::policy::{PolicyRule, Scope};
use crate::temporal::{Atom, Formula, Formulas};

impl Auditor {
    /// What a rule asks for and no state of the log has, in sentences.
    fn unseen(&self, rule: &PolicyRule, found: &Found) -> Vec<String> {
        let told: Vec<&str> = found.told().collect();
        let asked = Asked::of(self.formulas(), rule);
        let mut all = Vec::new();
        for (kind, paths) in
            self.mapping().told().filter(|(kind, _)| asked.kinds.contains(kind) && !told.contains(kind))
        {
            let paths = paths.join(", ");
            all.push(format!("no record has a `{kind}` (looked for at {paths}), so it is false everywhere"));
        }
        let values = read_for_value(self.formulas(), &formulas_of(rule).collect::<Vec<_>>());
        for ((name, defined), valued) in self.plan().names().iter().zip(&found.defined).zip(&found.valued) {
            if !asked.fields.contains(name.as_str()) {
            } else if !defined {
                all.push(format!("no record has a field `{name}`, so this verdict rests on no value of it"));
            } else if !valued && values.contains(name) {
                all.push(format!("the field `{name}` is an object or an empty list wherever it is, and never a value"));
            }
        }
        all
    }

    /// The same of each rule of a log that was read.
    pub(super) fn unseen_by_rule(&self, found: &Found) -> Vec<Vec<String>> {
        self.rules().iter().map(|rule| self.unseen(rule, found)).collect()
    }

    /// The kinds that rules ask for, of `tool_call`, `text` and `stop_reason`.
    pub fn asked_kinds(&self) -> BTreeSet<&'static str> {
        let asked = self.rules().iter().map(|rule| Asked::of(self.formulas(), rule));
        let kinds = asked.flat_map(|Asked { mut kinds, fields }| {
            if fields.iter().any(|field| field.starts_with("tool.")) {
                kinds.insert("tool_call");
            }
            kinds
        });
        kinds.collect()
    }
}

/// What a rule says, and when it is asked.
fn formulas_of(rule: &PolicyRule) -> impl Iterator<Item = Formula> {
    let when = match &rule.scope {
        Scope::Causal { when, .. } => *when,
        Scope::Trace(_) => None,
    };
    std::iter::once(rule.formula).chain(when)
}

/// What a rule asks for.
struct Asked<'a> {
    kinds: BTreeSet<&'static str>,
    fields: BTreeSet<&'a str>,
}

impl<'a> Asked<'a> {
    fn of(formulas: &'a Formulas, rule: &PolicyRule) -> Self {
        let mut asked = Self { kinds: BTreeSet::new(), fields: BTreeSet::new() };
        for atom in formulas_of(rule).flat_map(|formula| formulas.atoms_of(formula)) {
            let atom = formulas.atom(atom);
            match atom {
                Atom::Name(name) => _ = asked.fields.insert(name),
                Atom::Label { kind, text } => match &**kind {
                    "tool_call" => _ = asked.kinds.insert("tool_call"),
                    "text_contains" => _ = asked.kinds.insert("text"),
                    "stop_reason" => _ = asked.kinds.insert("stop_reason"),
                    "extra" => asked.fields.extend(text.split_once('=').map(|(key, _)| key)),
                    _ => {}
                },
                _ => asked.fields.extend(atom.terms().into_iter().flat_map(|term| term.fields()).map(|(_, name)| name)),
            }
        }
        asked
    }
}

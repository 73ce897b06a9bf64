//! What rules read of a log, and which of it no state of the log has: a verdict that rests on missing data gets a warning.

use std::collections::BTreeSet;

use super::log::{LogSummary, Mapping, Plan, fields_read_for_value};
use super::policy::{PolicyRule, Scope};
use tlaforge_temporal::{Atom, Formula, Formulas};

/// What a rule reads and no state of the log has.
#[derive(Default)]
pub(super) struct MissingInputs {
    pub sentences: Vec<String>,
    /// The names of the missing fields.
    pub fields: Vec<String>,
}

pub(super) fn missing_inputs(
    formulas: &Formulas,
    rule: &PolicyRule,
    mapping: &Mapping,
    plan: &Plan,
    summary: &LogSummary,
) -> MissingInputs {
    let observed: Vec<&str> = summary.observations().collect();
    let inputs = RuleInputs::new(formulas, rule);
    let mut missing = MissingInputs::default();
    for (kind, paths) in
        mapping.observation_paths().filter(|(kind, _)| inputs.kinds.contains(kind) && !observed.contains(kind))
    {
        let paths = paths.join(", ");
        missing.sentences.push(format!("no record has a `{kind}` (looked for at {paths}), so it is false everywhere"));
    }
    let values = fields_read_for_value(formulas, &formulas_of(rule).collect::<Vec<_>>());
    for ((name, defined), valued) in plan.names().iter().zip(&summary.defined).zip(&summary.valued) {
        if !inputs.fields.contains(name.as_str()) {
        } else if !defined {
            missing.fields.push(name.clone());
            missing.sentences.push(format!("no record has a field `{name}`, so this verdict rests on no value of it"));
        } else if !valued && values.contains(name) {
            missing
                .sentences
                .push(format!("the field `{name}` is always an object or an empty list, and never a value"));
        }
    }
    missing
}

/// Which of `tool_call`, `text` and `stop_reason` the rules read.
pub(super) fn kinds_read(formulas: &Formulas, rules: &[PolicyRule]) -> BTreeSet<&'static str> {
    let inputs = rules.iter().map(|rule| RuleInputs::new(formulas, rule));
    let kinds = inputs.flat_map(|RuleInputs { mut kinds, fields }| {
        if fields.iter().any(|field| field.starts_with("tool.")) {
            kinds.insert("tool_call");
        }
        kinds
    });
    kinds.collect()
}

/// The formula of a rule, and the one that selects the events at which it is evaluated.
fn formulas_of(rule: &PolicyRule) -> impl Iterator<Item = Formula> {
    let when = match &rule.scope {
        Scope::Causal { when, .. } => *when,
        Scope::Trace(_) => None,
    };
    std::iter::once(rule.formula).chain(when)
}

/// What a rule reads.
struct RuleInputs<'a> {
    kinds: BTreeSet<&'static str>,
    fields: BTreeSet<&'a str>,
}

impl<'a> RuleInputs<'a> {
    fn new(formulas: &'a Formulas, rule: &PolicyRule) -> Self {
        let mut inputs = Self { kinds: BTreeSet::new(), fields: BTreeSet::new() };
        for atom in formulas_of(rule).flat_map(|formula| formulas.atoms_of(formula)) {
            let atom = formulas.atom(atom);
            match atom {
                Atom::Name(name) => _ = inputs.fields.insert(name),
                Atom::Label { kind, text } => match &**kind {
                    "tool_call" => _ = inputs.kinds.insert("tool_call"),
                    "text_contains" => _ = inputs.kinds.insert("text"),
                    "stop_reason" => _ = inputs.kinds.insert("stop_reason"),
                    "extra" => inputs.fields.extend(text.split_once('=').map(|(key, _)| key)),
                    _ => {}
                },
                _ => {
                    inputs.fields.extend(atom.terms().into_iter().flat_map(|term| term.fields()).map(|(_, name)| name));
                }
            }
        }
        inputs
    }
}

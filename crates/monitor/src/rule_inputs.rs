//! What rules read of a log, and which of it no state of the log has: a verdict that rests on missing data gets a warning.

use std::collections::BTreeSet;

use super::log::{LogSummary, Mapping, NameCounts, Plan, Shape, fields_read_for_value};
use super::policy::{PolicyRule, Scope};
use super::similar_names::similar_names;
use tlaforge_temporal::{Atom, Comparison, Formula, Formulas, Literal, Term, ValueTest};

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
    missing.sentences.extend(names_that_never_occur(formulas, rule, mapping, summary));
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

/// Tools, texts and stop reasons that a rule names and a log with calls never has: often they are misspelt. The names in the
/// journal of a run are checked elsewhere.
fn names_that_never_occur(
    formulas: &Formulas,
    rule: &PolicyRule,
    mapping: &Mapping,
    summary: &LogSummary,
) -> Vec<String> {
    if summary.tools.is_empty() || mapping.shape == Some(Shape::Journal) {
        return Vec::new();
    }
    let mut sentences = Vec::new();
    let mut add = |sentence: Option<String>| sentences.extend(sentence);
    for atom in formulas_of(rule).flat_map(|formula| formulas.atoms_of(formula)) {
        let atom = formulas.atom(atom);
        match atom {
            Atom::Label { kind, text } => match &**kind {
                "tool_call" => add(never_occurs(text, "the tool", &summary.tools)),
                "stop_reason" if !summary.stop_reasons.is_empty() => {
                    add(never_occurs(text, "the stop reason", &summary.stop_reasons));
                }
                "text_contains" if summary.lacks_text(text) => {
                    add(Some(format!("no record has the text {text:?}")));
                }
                _ => {}
            },
            atom => {
                for tool in tools_compared(atom) {
                    add(never_occurs(tool, "the tool", &summary.tools));
                }
            }
        }
    }
    sentences.sort();
    sentences.dedup();
    sentences
}

fn text(term: &Term) -> Option<&str> {
    if let Term::Literal(Literal::Text(text)) = term { Some(text) } else { None }
}

/// The names that an atom compares with `tool.name`.
fn tools_compared(atom: &Atom) -> Vec<&str> {
    let is_name = |term: &Term| matches!(term, Term::Field(field) if &**field == "tool.name");
    let equality = |comparison: &Comparison| matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    match atom {
        Atom::Compare(comparison, a, b) if equality(comparison) && is_name(a) => text(b).into_iter().collect(),
        Atom::Compare(comparison, a, b) if equality(comparison) && is_name(b) => text(a).into_iter().collect(),
        Atom::Call(call, terms) if &**call == "one_of" => match terms.split_first() {
            Some((first, rest)) if is_name(first) => rest.iter().filter_map(text).collect(),
            _ => Vec::new(),
        },
        Atom::Quantified(_, path, test) if is_name(path) => match test {
            ValueTest::Compare(comparison, term) if equality(comparison) => text(term).into_iter().collect(),
            ValueTest::Call(call, terms) if &**call == "one_of" => terms.iter().filter_map(text).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The sentence about a name that never occurs, with the most similar one that does.
fn never_occurs(name: &str, what: &str, counts: &NameCounts) -> Option<String> {
    if counts.get(name) > 0 {
        return None;
    }
    let lower = name.to_lowercase();
    let same_letters = counts.names().find(|other| other.to_lowercase() == lower);
    let nearest = same_letters.or_else(|| similar_names(name, counts.names()).first().copied());
    let nearest = nearest.map_or_else(String::new, |nearest| {
        let times = match counts.get(nearest) {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        };
        format!("; `{nearest}` occurs {times}")
    });
    Some(format!("{what} `{name}` never occurs{nearest}"))
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

//! Explains why a causal rule is false at an event: the false conjuncts, and the values that their atoms read.

use std::collections::BTreeSet;

use tlaforge_temporal::causal::{Event, Monitor};
use tlaforge_temporal::{Atom, Binary, Causal, Comparison, Formula, Formulas, Node, Term, Unary, Value};

/// Maximum number of values in an explanation.
const MAX_VALUES: usize = 8;
/// Maximum number of characters of a text value.
const MAX_TEXT: usize = 60;

/// A conjunct of a guard, with the fields whose values explain it.
#[derive(Clone)]
pub(super) struct Clause {
    text: String,
    owner: String,
    /// Lifeline and name of the fields that it reads, in the order of the text.
    reads: Vec<(String, String)>,
}

impl Clause {
    pub(super) fn new(formulas: &Formulas, part: Formula, owner: &str) -> Self {
        let mut clause = Self { text: formulas.text(part), owner: owner.to_owned(), reads: Vec::new() };
        clause.collect(formulas, part, owner);
        clause
    }

    /// Collects the fields that `formula` reads at the latest visible event of `at`. Fields of earlier events, and what
    /// another lifeline knew of a third, have no single value to show.
    fn collect(&mut self, formulas: &Formulas, formula: Formula, at: &str) {
        match formulas.node(formula) {
            Node::Atom(atom) => {
                let atom = formulas.atom(*atom);
                if let Atom::Name(name) = atom {
                    self.read(at, name);
                }
                for (lifeline, name) in atom.terms().into_iter().flat_map(Term::fields) {
                    match lifeline {
                        None => self.read(at, name),
                        Some(lifeline) if at == self.owner || at == lifeline => self.read(lifeline, name),
                        Some(_) => {}
                    }
                }
            }
            Node::Causal(Causal::At, lifeline, inner) if at == self.owner || **lifeline == *at => {
                self.collect(formulas, *inner, lifeline);
            }
            Node::Not(inner) | Node::Unary(Unary::Once | Unary::Historically, inner) => {
                self.collect(formulas, *inner, at);
            }
            Node::And(parts) | Node::Or(parts) => parts.iter().for_each(|part| self.collect(formulas, *part, at)),
            Node::Binary(Binary::Implies | Binary::Iff | Binary::Since, [left, right]) => {
                self.collect(formulas, *left, at);
                self.collect(formulas, *right, at);
            }
            _ => {}
        }
    }

    fn read(&mut self, lifeline: &str, name: &str) {
        let read = (lifeline.to_owned(), name.to_owned());
        if !self.reads.contains(&read) {
            self.reads.push(read);
        }
    }

    /// Formulas that read the fields of other lifelines: a monitor keeps only the fields that its guards read.
    pub(super) fn remote_reads(&self, formulas: &mut Formulas) -> Vec<Formula> {
        let others = self.reads.iter().filter(|(lifeline, _)| *lifeline != self.owner);
        let reads = others.map(|(lifeline, name)| {
            let term = Term::FieldAt(lifeline.as_str().into(), name.as_str().into());
            formulas.atomic(Atom::Compare(Comparison::Equal, term.clone(), term))
        });
        reads.collect()
    }
}

/// Explains which clauses are false at the event that the monitor has just taken, and why.
pub(super) fn explain_failure<'a>(
    failed: impl Iterator<Item = &'a Clause>,
    monitor: &Monitor,
    event: &Event,
) -> String {
    let lifeline = &*event.lifeline;
    let (mut texts, mut reads) = (Vec::new(), Vec::new());
    for clause in failed {
        texts.push(format!("`{}` is false", clause.text));
        reads.extend(clause.reads.iter().filter(|read| !reads.contains(read)).collect::<Vec<_>>());
    }
    let mut explanation = format!("{} of what {lifeline} can have seen", texts.join(", "));
    let mut unseen = BTreeSet::new();
    let mut values = Vec::new();
    for (other, name) in reads {
        if other != lifeline && !monitor.has_seen(lifeline, other) {
            if unseen.insert(other) {
                values.push(format!("nothing of {other}"));
            }
            continue;
        }
        let field = if other == lifeline { name.clone() } else { format!("@{other}.{name}") };
        values.push(match event_field(event, other, name).or_else(|| monitor.field_at(lifeline, other, name)) {
            Some(value) => format!("`{field}` is {}", display_value(&value)),
            None => format!("`{field}` is undefined"),
        });
    }
    let more = values.len().saturating_sub(MAX_VALUES);
    values.truncate(MAX_VALUES);
    if more > 0 {
        values.push(format!("{more} more"));
    }
    if !values.is_empty() {
        explanation.push_str(": ");
        explanation.push_str(&values.join(", "));
    }
    explanation
}

/// The fields of the event's envelope, which the monitor does not keep.
fn event_field<'a>(event: &'a Event, lifeline: &str, name: &str) -> Option<Value<'a>> {
    match name {
        _ if lifeline != &*event.lifeline => None,
        "kind" => Some(Value::Text(event.action.kind().name().into())),
        "lifeline" => Some(Value::Text((&*event.lifeline).into())),
        "name" => event.name.as_deref().map(|name| Value::Text(name.into())),
        _ => None,
    }
}

fn display_value(value: &Value<'_>) -> String {
    let Value::Text(text) = value else { return value.to_string() };
    let short: String = text.chars().take(MAX_TEXT).collect();
    if short.len() < text.len() { format!("{:?}", short + "…") } else { format!("{short:?}") }
}

//! Why a causal rule is false at an event: the part that is, and the values that its atoms saw.

use std::collections::BTreeSet;

use crate::temporal::causal::{Event, Monitor};
use crate::temporal::{Atom, Binary, Causal, Comparison, Formula, Formulas, Node, Term, Unary, Value};

/// How many values are told, and how much of a text.
const VALUES: usize = 8;
const TEXT: usize = 60;

/// A part of a guard that is told where it is false.
#[derive(Clone)]
pub(super) struct Clause {
    text: String,
    owner: String,
    /// The fields whose values are told, in the order of the text: whose, and the name.
    reads: Vec<(String, String)>,
}

impl Clause {
    pub(super) fn new(formulas: &Formulas, part: Formula, owner: &str) -> Self {
        let mut clause = Self { text: formulas.text(part), owner: owner.to_owned(), reads: Vec::new() };
        clause.collect(formulas, part, owner);
        clause
    }

    /// Takes up what `formula` reads at the latest visible event of `at`. What it says of an earlier event, or of what
    /// another lifeline knew of a third, is not a value that can be told.
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

    /// Formulas that read what is told of other lifelines, for a monitor keeps what its guards read.
    pub(super) fn kept(&self, formulas: &mut Formulas) -> Vec<Formula> {
        let others = self.reads.iter().filter(|(lifeline, _)| *lifeline != self.owner);
        let asked = others.map(|(lifeline, name)| {
            let term = Term::FieldAt(lifeline.as_str().into(), name.as_str().into());
            formulas.atomic(Atom::Compare(Comparison::Equal, term.clone(), term))
        });
        asked.collect()
    }
}

/// What is false of the event that a monitor has just taken, and why.
pub(super) fn told<'a>(wrong: impl Iterator<Item = &'a Clause>, monitor: &Monitor, event: &Event) -> String {
    let lifeline = &*event.lifeline;
    let (mut texts, mut reads) = (Vec::new(), Vec::new());
    for clause in wrong {
        texts.push(format!("`{}` is false", clause.text));
        reads.extend(clause.reads.iter().filter(|read| !reads.contains(read)).collect::<Vec<_>>());
    }
    let mut told = format!("{} of what {lifeline} can have seen", texts.join(", "));
    let mut unseen = BTreeSet::new();
    let mut values = Vec::new();
    for (of, name) in reads {
        if of != lifeline && !monitor.has_seen(lifeline, of) {
            if unseen.insert(of) {
                values.push(format!("nothing of {of}"));
            }
            continue;
        }
        let field = if of == lifeline { name.clone() } else { format!("@{of}.{name}") };
        values.push(match own(event, of, name).or_else(|| monitor.field_at(lifeline, of, name)) {
            Some(value) => format!("`{field}` is {}", shown(&value)),
            None => format!("`{field}` is undefined"),
        });
    }
    let more = values.len().saturating_sub(VALUES);
    values.truncate(VALUES);
    if more > 0 {
        values.push(format!("{more} more"));
    }
    if !values.is_empty() {
        told.push_str(": ");
        told.push_str(&values.join(", "));
    }
    told
}

/// What the event itself tells.
fn own<'a>(event: &'a Event, of: &str, name: &str) -> Option<Value<'a>> {
    match name {
        _ if of != &*event.lifeline => None,
        "kind" => Some(Value::Text(event.action.kind().name().into())),
        "lifeline" => Some(Value::Text((&*event.lifeline).into())),
        "name" => event.name.as_deref().map(|name| Value::Text(name.into())),
        _ => None,
    }
}

fn shown(value: &Value<'_>) -> String {
    let Value::Text(text) = value else { return value.to_string() };
    let short: String = text.chars().take(TEXT).collect();
    if short.len() < text.len() { format!("{:?}", short + "…") } else { format!("{short:?}") }
}

//! Checks that a policy uses only names of a journal: its nodes, events and fields, and the values of some fields.

use std::collections::HashSet;

use super::error::AdmissionError;
use crate::monitor::log::single_value_reads;
use crate::monitor::{PolicyRule, Scope, similar_names};
use crate::pipeline::machine::{is_lifeline, lifelines};
use crate::pipeline::policy::vocabulary::{event_names, field_paths, has_field, is_field, is_list, values_of};
use crate::temporal::{Atom, Formula, Formulas, Literal, Node, Term, Unary};

/// Checks that every name in a rule is one that a journal has, and every field one of the lifeline that it is read
/// from.
pub(in crate::pipeline) fn known(formulas: &Formulas, rule: &PolicyRule) -> Result<(), AdmissionError> {
    let mut all = vec![rule.formula];
    if let Scope::Causal { owner, when } = &rule.scope {
        lifeline(rule, owner)?;
        all.extend(when);
    }
    for part in formulas.subformulas_of(&all) {
        match formulas.node(part) {
            Node::Causal(_, name, _) | Node::Seen(name) => lifeline(rule, name)?,
            Node::Atom(atom) => atom_known(rule, formulas.atom(*atom))?,
            _ => {}
        }
    }
    if let Some((field, spelling)) = single_value_reads(formulas, &all).into_iter().find(|(field, _)| is_list(field)) {
        return Err(AdmissionError::List { line: rule.line, rule: rule.id.clone(), field, spelling });
    }
    if let Scope::Causal { owner, .. } = &rule.scope {
        has_fields(formulas, rule, &all, owner)?;
    }
    Ok(())
}

/// Checks that the fields which formulas read from a lifeline are fields of its events.
fn has_fields(formulas: &Formulas, rule: &PolicyRule, all: &[Formula], owner: &str) -> Result<(), AdmissionError> {
    let has = |lifeline: &str, field: &str| {
        if has_field(lifeline, field) {
            return Ok(());
        }
        let of = lifelines().filter(|other| has_field(other, field)).collect();
        let (lifeline, field) = (lifeline.to_owned(), field.to_owned());
        Err(AdmissionError::NotItsOwn { line: rule.line, rule: rule.id.clone(), lifeline, field, of })
    };
    let mut left: Vec<(Formula, &str)> = all.iter().rev().map(|formula| (*formula, owner)).collect();
    let mut seen = HashSet::new();
    while let Some((formula, lifeline)) = left.pop() {
        if !seen.insert((formula, lifeline)) {
            continue;
        }
        match formulas.node(formula) {
            Node::Atom(atom) => {
                let atom = formulas.atom(*atom);
                if let Atom::Name(name) = atom {
                    has(lifeline, name)?;
                }
                let terms = atom.terms();
                let mut fields = terms.iter().flat_map(|term| term.fields());
                fields.try_for_each(|(at, field)| has(at.unwrap_or(lifeline), field))?;
            }
            Node::Causal(_, at, inner) => left.push((*inner, at)),
            // An earlier moment may be of any lifeline.
            Node::Unary(Unary::Past, _) => {}
            node => left.extend(node.children().iter().rev().map(|part| (*part, lifeline))),
        }
    }
    Ok(())
}

fn unknown(rule: &PolicyRule, what: &'static str, name: &str, similar_names: Vec<&str>) -> AdmissionError {
    AdmissionError::Unknown {
        line: rule.line,
        rule: rule.id.clone(),
        what,
        name: name.to_owned(),
        near: similar_names.into_iter().map(str::to_owned).collect(),
    }
}

fn lifeline(rule: &PolicyRule, name: &str) -> Result<(), AdmissionError> {
    if is_lifeline(name) {
        return Ok(());
    }
    let similar_names = match similar_names(name, lifelines()) {
        none if none.is_empty() => lifelines().collect(),
        some => some,
    };
    Err(unknown(rule, "there is no node", name, similar_names))
}

fn atom_known(rule: &PolicyRule, atom: &Atom) -> Result<(), AdmissionError> {
    let field = |name: &str| {
        if is_field(name) {
            return Ok(());
        }
        Err(unknown(rule, "no event of a run has a field", name, similar_names(name, field_paths())))
    };
    match atom {
        Atom::Name(name) => field(name)?,
        Atom::Label { kind, text } if &**kind == "tool_call" && &**text != "Read" => {
            return Err(unknown(rule, "no model of a run has a tool", text, vec!["Read"]));
        }
        Atom::Label { kind, text } if &**kind == "extra" => {
            field(text.split_once('=').map_or(&**text, |(name, _)| name))?;
        }
        _ => {}
    }
    for term in atom.terms() {
        for (at, name) in term.fields() {
            at.map_or(Ok(()), |at| lifeline(rule, at))?;
            field(name)?;
        }
    }
    // Texts that `name` and `lifeline` are compared with are names, too.
    let (of, with): (&Term, Vec<&Term>) = match atom {
        Atom::Compare(_, a @ (Term::Field(_) | Term::FieldAt(..)), b) => (a, vec![b]),
        Atom::Compare(_, b, a) => (a, vec![b]),
        Atom::Call(name, terms) if &**name == "one_of" && !terms.is_empty() => (&terms[0], terms[1..].iter().collect()),
        _ => return Ok(()),
    };
    let of = match of {
        Term::Field(name) | Term::FieldAt(_, name) => &**name,
        _ => return Ok(()),
    };
    for term in with {
        let Term::Literal(Literal::Text(text)) = term else { continue };
        match of {
            "lifeline" => lifeline(rule, text)?,
            "name" if !event_names().any(|event| event == &**text) => {
                return Err(unknown(rule, "a run has no event", text, similar_names(text, event_names())));
            }
            field => {
                let values = values_of(field);
                if !values.is_empty() && !values.contains(&**text) {
                    let similar_names = match similar_names(text, values.iter().map(String::as_str)) {
                        none if none.is_empty() => values.iter().map(String::as_str).collect(),
                        similar_names => similar_names,
                    };
                    return Err(unknown(rule, "no run has", &format!("{field} = {text:?}"), similar_names));
                }
            }
        }
    }
    Ok(())
}

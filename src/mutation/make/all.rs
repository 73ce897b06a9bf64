//! All mutants of a specification.

use std::collections::BTreeSet;

use super::super::{Edit, Mutant};
use super::action;
use super::facts::Facts;
use super::scope::Scope;
use super::statement;
use super::walk::Flaw;
use crate::tla::{Cfg, Lines, Module};

/// Every mutant of the specification that the configuration checks, in order of the text. The behaviour is mutated and
/// never what it is judged by: no definition that a listed invariant, property, witness or constraint depends on, no
/// `TypeOK`, ASSUME, THEOREM or `assert`, and no translation: the mutated source of an algorithm is translated anew.
pub fn mutants(module: &Module, cfg: &Cfg) -> Vec<Mutant> {
    let source = module.source.as_str();
    let scope = Scope::of(module, cfg);
    let used: Vec<_> = scope.initial.iter().chain(&scope.others).copied().collect();
    let facts = Facts::of(module, cfg, &scope.initial, &used);
    let mut flaws: Vec<(String, Flaw)> = Vec::new();
    for (definition, role) in scope.roles(&facts) {
        flaws.extend(action::flaws(&facts, definition, role).into_iter().map(|flaw| (definition.name.clone(), flaw)));
    }
    if let Some(algorithm) = &module.algorithm {
        flaws.extend(statement::flaws(&facts, algorithm));
    }
    flaws.sort_by_key(|(_, flaw)| (flaw.at, flaw.operator));
    let lines = Lines::of(source);
    let mut texts = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut mutants = Vec::new();
    for (definition, flaw) in flaws {
        let Flaw { operator, at, variant, what, edits } = flaw;
        let edits: Vec<Edit> = edits.into_iter().filter(|edit| source[edit.range.clone()] != edit.text).collect();
        let (line, column) = lines.position(source, at);
        let mut mutant = Mutant { operator, definition, line, column, what, edits, variant };
        if mutant.edits.is_empty() || !texts.insert(difference(source, &mutant.apply(source))) {
            continue;
        }
        let variant = mutant.variant.clone();
        for number in 2.. {
            if names.insert(mutant.name("")) {
                break;
            }
            format!("{variant} ({number})").trim_start().clone_into(&mut mutant.variant);
        }
        mutants.push(mutant);
    }
    mutants
}

/// Where a text begins to differ from the source, how much of the source is gone there, and what stands there instead:
/// the same for two edits that make the same text.
fn difference(source: &str, text: &str) -> (usize, usize, Vec<u8>) {
    let (old, new) = (source.as_bytes(), text.as_bytes());
    let before = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    (before, old.len() - after - before, new[before..new.len() - after].to_vec())
}

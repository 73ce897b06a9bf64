//! Collects all mutants of a specification: removes duplicates and assigns names.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Edit, Mutant};
use super::action;
use super::algorithm;
use super::define_block;
use super::facts::Facts;
use super::scope::Scope;
use super::tree_mutator::MutantDraft;
use tlaforge_tla::{Cfg, Lines, Module};

use crate::step_counter;

/// Every mutant of the specification that the configuration checks, in order of the text. Only the behaviour is mutated,
/// never what it is judged by: no definition that a listed invariant, property, witness or constraint uses, no `TypeOK`,
/// ASSUME, THEOREM or `assert`. Translations are not mutated, because the mutated algorithm is translated again.
pub fn mutants(module: &Module, cfg: &Cfg) -> Vec<Mutant> {
    let source = module.source.as_str();
    let scope = Scope::collect(module, cfg);
    let used: Vec<_> = scope.initial.iter().chain(&scope.others).copied().collect();
    let facts = Facts::collect(module, cfg, &scope.initial, &used);
    let mut drafts: Vec<(String, MutantDraft)> = Vec::new();
    for (definition, role) in scope.roles(&facts) {
        drafts
            .extend(action::drafts(&facts, definition, role).into_iter().map(|draft| (definition.name.clone(), draft)));
    }
    if let Some(algorithm) = &module.algorithm {
        drafts.extend(algorithm::drafts(&facts, algorithm));
        drafts.extend(define_block::drafts(&facts, algorithm));
    }
    // By operator at the same place: of two mutants with the same text, that of the first operator is kept.
    drafts.sort_by_key(|(_, draft)| (draft.at, draft.operator));
    let lines = Lines::new(source);
    let mut texts = BTreeSet::new();
    let mut at_places = BTreeSet::new();
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut mutants = Vec::new();
    for (definition, draft) in drafts {
        let MutantDraft { operator, at, variant, what, edits } = draft;
        let edits: Vec<Edit> = edits.into_iter().filter(|edit| source[edit.range.clone()] != edit.text).collect();
        let (line, column) = lines.position(source, at);
        let mut mutant = Mutant { operator, definition, line, column, what, edits, variant, number: 1 };
        if mutant.edits.is_empty() || !texts.insert(difference(source, &mutant.edits)) {
            continue;
        }
        let variant = mutant.variant.clone();
        for number in 2.. {
            if at_places.insert((line, column, mutant.change())) {
                break;
            }
            format!("{variant} ({number})").trim_start().clone_into(&mut mutant.variant);
        }
        // Results refer to mutants by name, so names are unique.
        let same = counts.entry((mutant.definition.clone(), mutant.change())).or_insert(0);
        *same += 1;
        mutant.number = *same;
        mutants.push(mutant);
    }
    mutants
}

/// The first byte at which the mutated text differs from the source, the number of bytes removed there, and the bytes
/// inserted: equal for two lists of edits that make the same text. Reads only the text around the edits.
fn difference(source: &str, edits: &[Edit]) -> (usize, usize, Vec<u8>) {
    let (Some(first), Some(last)) = (edits.first(), edits.last()) else { return (source.len(), 0, Vec::new()) };
    let (start, end) = (first.range.start, last.range.end);
    let mut new = String::new();
    let mut at = start;
    for edit in edits {
        new.push_str(&source[at..edit.range.start]);
        new.push_str(&edit.text);
        at = edit.range.end;
    }
    let (old, new, tail) = (&source.as_bytes()[start..end], new.as_bytes(), &source.as_bytes()[end..]);
    let same = |(a, b): &(&u8, &u8)| {
        step_counter::count_step();
        a == b
    };
    let before = old.iter().chain(tail).zip(new.iter().chain(tail)).take_while(same).count();
    // What is the same behind it does not overlap with what is the same before it.
    let rest = (old.len().min(new.len()) + tail.len()).saturating_sub(before);
    let within = rest.saturating_sub(tail.len());
    let more = old.iter().rev().zip(new.iter().rev()).take(within).take_while(same).count();
    let after = rest.min(tail.len() + more);
    let changed = new.iter().chain(tail).copied().take(new.len() + tail.len() - after).skip(before).collect();
    (start + before, old.len() + tail.len() - after - before, changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_grows_with_the_number_of_definitions() {
        step_counter::assert_linear(50, |size| {
            let chain: Vec<String> = (1..size).map(|at| format!("D{at} == D{} /\\ x' = {at}\n", at - 1)).collect();
            let chain = chain.concat();
            let text = format!(
                "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nD0 == x' = x + 1\n{chain}Init == x = 0\n\
                 Next == D{}\nInv == x < 2\n====\n",
                size - 1
            );
            let cfg = Cfg::parse("INIT Init NEXT Next INVARIANT Inv").unwrap();
            assert!(mutants(&Module::parse(&text).unwrap(), &cfg).len() > size);
        });
    }
}

//! The mutants of the operators that the `define` block of an algorithm defines and its steps use. What a property uses
//! is left as it is, as everywhere.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::Facts;
use super::protected::protected_definitions;
use super::tree_mutator::{Bound, MutantDraft, Role, TreeMutator};
use tlaforge_tla::{Algorithm, Field, Id, NodeKind, Tree, references};

/// The mutants, each with the name of its definition.
pub(super) fn drafts<'a>(facts: &'a Facts<'a>, algorithm: &'a Algorithm) -> Vec<(String, MutantDraft)> {
    let tree = &algorithm.tree;
    let Some(block) = tree.of_kind(NodeKind::Define).next().filter(|_| tree.errors.is_empty()) else {
        return Vec::new();
    };
    let source = facts.module.source.as_str();
    let is_definition = |id: &Id| matches!(tree.kind(*id), NodeKind::OperatorDefinition | NodeKind::FunctionDefinition);
    let named = |id: Id| Some((tree.text(tree.field(id, Field::Name)?, source), id));
    let definitions: BTreeMap<&str, Id> = tree.children(block).filter(is_definition).filter_map(named).collect();
    let closure = |names: BTreeSet<String>| closure(&definitions, tree, source, names);
    let (used, judging) = (closure(algorithm.mentions.clone()), closure(judging_names(facts, algorithm)));
    let mut drafts = Vec::new();
    for name in used.difference(&judging) {
        let Some(definition) = definitions.get(name.as_str()) else { continue };
        let Some(body) = tree.field(*definition, Field::Definition) else { continue };
        let mut walk = TreeMutator::new(facts, tree, Role::State);
        if walk.refers_to_next_state(body) {
            continue;
        }
        let parameters = walk.children(*definition).into_iter().flat_map(|child| match walk.kind(child) {
            NodeKind::Bound => walk.bound_names(child),
            NodeKind::Identifier if tree.node(child).field == Some(Field::Parameter) => {
                vec![Bound { name: walk.text(child).to_owned(), set: None }]
            }
            _ => Vec::new(),
        });
        let parameters: Vec<Bound> = parameters.collect();
        walk.with_bound(parameters, |walk| walk.visit(body));
        drafts.extend(walk.drafts.into_iter().map(|draft| (name.clone(), draft)));
    }
    drafts
}

/// These names, and those of the block that they depend on, directly or indirectly.
fn closure(
    definitions: &BTreeMap<&str, Id>,
    tree: &Tree,
    source: &str,
    mut names: BTreeSet<String>,
) -> BTreeSet<String> {
    let mut open: Vec<String> = names.iter().cloned().collect();
    while let Some(name) = open.pop() {
        let Some(definition) = definitions.get(name.as_str()) else { continue };
        for other in references(tree, source, *definition, &[]).names {
            if names.insert(other.clone()) {
                open.push(other);
            }
        }
    }
    names
}

/// The names that the properties, and whatever else judges, use. Without a translation, the module itself lacks the
/// definitions of the block, so their names are only among the references.
fn judging_names(facts: &Facts<'_>, algorithm: &Algorithm) -> BTreeSet<String> {
    let Facts { module, cfg, .. } = facts;
    let mut names = protected_definitions(module, cfg);
    let referenced: Vec<String> = names
        .iter()
        .filter_map(|name| module.definition(name))
        .flat_map(|definition| definition.referenced_names().iter().cloned())
        .collect();
    names.extend(referenced);
    names.extend(module.assumptions.iter().flat_map(|assumption| assumption.references.names.iter().cloned()));
    let tree = &algorithm.tree;
    let asserted = tree.of_kind(NodeKind::Assert);
    names.extend(asserted.flat_map(|id| references(tree, &module.source, id, &[]).names));
    names
}

#[cfg(test)]
mod tests {
    use super::super::mutants;
    use std::collections::BTreeSet;
    use tlaforge_tla::{Cfg, Module};

    const SPEC: &str = "---- MODULE Spec ----\nEXTENDS Naturals\n(* --algorithm Lock\nvariables lock = 0, n = 0;\ndefine\n  \
                        Bound == 3\n  IsFree(l) == l < 1\n  MayTake == IsFree(lock) /\\ n < Bound\n  Small == n <= Limit\n  \
                        Limit == 4\n  Unused == n > 7\nend define;\nbegin\n  Take:\n    await MayTake;\n    lock := 1 || n := \
                        n + Limit;\nend algorithm; *)\nInv == Small\n====\n";

    #[test]
    fn what_the_steps_use_is_mutated_and_what_a_property_uses_is_not() {
        let cfg = Cfg::parse("SPECIFICATION Spec\nINVARIANT Inv\n").unwrap();
        let mutants = mutants(&Module::parse(SPEC).unwrap(), &cfg);
        let block = SPEC.find("define").unwrap()..SPEC.find("end define").unwrap();
        let inside = mutants.iter().filter(|mutant| mutant.edits.iter().all(|edit| block.contains(&edit.range.start)));
        let changed: BTreeSet<&str> = inside.map(|mutant| mutant.definition.as_str()).collect();
        assert_eq!(changed, BTreeSet::from(["Bound", "IsFree", "MayTake"]));
        let texts: Vec<String> = mutants.iter().map(|mutant| mutant.apply(SPEC)).collect();
        assert!(texts.iter().any(|text| text.contains("IsFree(l) == l <= 1")), "{texts:?}");
    }
}

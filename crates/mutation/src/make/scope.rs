//! The definitions to mutate: those that the behaviour uses and no property uses.

use std::collections::BTreeSet;

use super::facts::Facts;
use super::protected::protected_definitions;
use super::tree_mutator::Role;
use tlaforge_tla::{Cfg, Definition, DefinitionKind, Module, NodeKind, References, Tree, references};

/// The definitions that may be mutated.
pub(super) struct Scope<'a> {
    /// Used by the initial predicate only.
    pub(super) initial: Vec<&'a Definition>,
    /// All others.
    pub(super) others: Vec<&'a Definition>,
}

impl<'a> Scope<'a> {
    pub(super) fn collect(module: &'a Module, cfg: &'a Cfg) -> Self {
        let protected_definitions = protected_definitions(module, cfg);
        let (initial, next) = behaviour(module, cfg);
        let of_algorithm = module.algorithm.as_ref().map(|algorithm| {
            let refers = References { names: algorithm.mentions.clone(), foreign: false };
            module.closure_of([&refers])
        });
        let of_algorithm = of_algorithm.unwrap_or_default();
        let mutable = |definition: &&Definition| {
            definition.kind != DefinitionKind::Instance
                && !definition.has_syntax_errors
                && !protected_definitions.contains(&definition.name)
                // The mutated algorithm is translated again.
                && !module.in_translation(definition.code.start)
        };
        let mut scope = Self { initial: Vec::new(), others: Vec::new() };
        for definition in module.definitions.iter().filter(mutable) {
            let name = &definition.name;
            if next.contains(name)
                || of_algorithm.contains(name)
                || (initial.contains(name) && is_temporal(&definition.tree))
            {
                scope.others.push(definition);
            } else if initial.contains(name) {
                scope.initial.push(definition);
            }
        }
        scope
    }

    /// The definitions with their roles, in order of the text.
    pub(super) fn roles(&self, facts: &Facts<'_>) -> Vec<(&'a Definition, Role)> {
        let role = |definition: &'a Definition| match () {
            () if is_temporal(&definition.tree) => Role::Temporal,
            () if facts.is_action(&definition.name) => Role::Action,
            () => Role::State,
        };
        let first = |definition: &'a Definition| {
            if facts.is_action(&definition.name) { role(definition) } else { Role::Initial }
        };
        let initial = self.initial.iter().map(|definition| (*definition, first(definition)));
        let mut all: Vec<(&Definition, Role)> = self.others.iter().map(|d| (*d, role(d))).chain(initial).collect();
        all.sort_by_key(|(definition, _)| definition.code.start);
        all
    }
}

/// The definitions that the specification uses, and the subset that its next-state relation uses.
fn behaviour(module: &Module, cfg: &Cfg) -> (BTreeSet<String>, BTreeSet<String>) {
    let with = |name: &Option<String>| {
        let mut names = name.as_deref().map(|name| module.closure(name)).unwrap_or_default();
        names.extend(name.clone());
        names
    };
    if cfg.specification.is_none() {
        return (with(&cfg.init), with(&cfg.next));
    }
    let whole = with(&cfg.specification);
    let by_name = module.definitions_by_name();
    let mut next = BTreeSet::new();
    for definition in whole.iter().filter_map(|name| by_name.get(name.as_str())) {
        let tree = &definition.tree;
        for id in tree.of_kind(NodeKind::BoxAction) {
            let step = tree.children(id).next();
            next.extend(
                step.into_iter().flat_map(|step| module.closure_of([&references(tree, &module.source, step, &[])])),
            );
        }
    }
    (whole, next)
}

/// Whether a definition contains fairness or a temporal operator.
fn is_temporal(tree: &Tree) -> bool {
    tree.ids().any(|id| tree.kind(id).is_temporal())
}

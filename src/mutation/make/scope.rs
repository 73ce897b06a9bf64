//! What may be mutated: what the behaviour rests on and no property does.

use std::collections::BTreeSet;

use super::facts::Facts;
use super::walk::Role;
use crate::tla::{Cfg, Definition, DefinitionKind, Id, Module, References, Tree, references};

/// The definitions that may be mutated, by what they are for.
pub(super) struct Scope<'a> {
    /// Of the initial states alone.
    pub(super) initial: Vec<&'a Definition>,
    /// The other ones.
    pub(super) others: Vec<&'a Definition>,
}

impl<'a> Scope<'a> {
    pub(super) fn of(module: &'a Module, cfg: &'a Cfg) -> Self {
        let protected = protected(module, cfg);
        let (initial, next) = behaviour(module, cfg);
        let of_algorithm = module.algorithm.as_ref().map(|algorithm| {
            let refers = References { names: algorithm.mentions.clone(), foreign: false };
            module.closure_of([&refers])
        });
        let of_algorithm = of_algorithm.unwrap_or_default();
        let mutable = |definition: &&Definition| {
            definition.kind != DefinitionKind::Instance
                && !definition.has_syntax_errors
                && !protected.contains(&definition.name)
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

    /// Each with its role, in order of the text.
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

/// The definitions below the specification: those of the initial states and formulas about behaviours, and those of
/// the next-state relation.
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
        for id in tree.ids().filter(|id| tree.node(*id).kind == "step_expr_or_stutter") {
            let step = tree.children(id).next();
            next.extend(
                step.into_iter().flat_map(|step| module.closure_of([&references(tree, &module.source, step, &[])])),
            );
        }
    }
    (whole, next)
}

/// What a property, or the model, rests on.
fn protected(module: &Module, cfg: &Cfg) -> BTreeSet<String> {
    let listed = cfg.listed_names().into_iter().filter(|(role, _)| !matches!(*role, "SPECIFICATION" | "INIT" | "NEXT"));
    let replaced = cfg.constants.values().filter_map(|value| value.strip_prefix("<- "));
    let mut names = BTreeSet::from(["TypeOK".to_owned()]);
    for name in listed.map(|(_, name)| name).chain(replaced) {
        names.extend(module.closure(name));
        names.insert(name.to_owned());
    }
    names.extend(module.closure_of(module.assumptions.iter().map(|assumption| &assumption.references)));
    if let Some(algorithm) = &module.algorithm {
        let tree = &algorithm.tree;
        let asserted = tree.ids().filter(|id| tree.node(*id).kind == "pcal_assert");
        names.extend(asserted.flat_map(|id| module.closure_of([&references(tree, &module.source, id, &[])])));
    }
    names
}

/// What properties say of labels: the names that they refer to, a label's action perhaps among them, and the strings in
/// them. `TypeOK` says which labels there are, and is no less true where there are fewer.
pub(super) fn labels_named(module: &Module, cfg: &Cfg) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut names, mut strings) = (BTreeSet::new(), BTreeSet::new());
    let mut note = |tree: &Tree, ids: &mut dyn Iterator<Item = Id>| {
        let quoted = ids.filter(|id| tree.node(*id).kind == "string").map(|id| tree.text(id, &module.source));
        strings.extend(quoted.map(|text| text.trim_matches('"').to_owned()));
    };
    for name in protected(module, cfg).iter().filter(|name| *name != "TypeOK") {
        let Some(definition) = module.definition(name) else { continue };
        if !module.in_translation(definition.code.start) {
            names.extend(definition.referenced_names().iter().cloned());
        }
        note(&definition.tree, &mut definition.tree.ids());
    }
    if let Some(algorithm) = &module.algorithm {
        let tree = &algorithm.tree;
        for id in tree.ids().filter(|id| matches!(tree.node(*id).kind, "pcal_definitions" | "pcal_assert")) {
            let (start, end) = (tree.node(id).start, tree.node(id).end);
            note(tree, &mut tree.ids().filter(|id| tree.node(*id).start >= start && tree.node(*id).end <= end));
        }
    }
    (names, strings)
}

/// Fairness, or a formula about behaviours.
fn is_temporal(tree: &Tree) -> bool {
    const KINDS: [&str; 6] =
        ["fairness", "step_expr_or_stutter", "step_expr_no_stutter", "always", "eventually", "leads_to"];
    tree.ids().any(|id: Id| KINDS.contains(&tree.node(id).kind))
}

//! What mutants are judged by, and so must stay as it is: the definitions that properties use, and what properties say
//! about labels. Knows nothing of operators.

use std::collections::BTreeSet;

use tlaforge_tla::{Cfg, Id, Module, NodeKind, Tree, references};

/// The definitions that a property, a constraint, a witness, an assumption, `assert` or the substitution of a constant
/// uses, and `TypeOK`.
pub(super) fn protected_definitions(module: &Module, cfg: &Cfg) -> BTreeSet<String> {
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
        let asserted = tree.of_kind(NodeKind::Assert);
        names.extend(asserted.flat_map(|id| module.closure_of([&references(tree, &module.source, id, &[])])));
    }
    names
}

/// Names and strings in protected definitions, among which may be labels: a property can refer to the action of a label,
/// or compare `pc` with its name. `TypeOK` is left out: it lists all labels, and stays true with fewer.
pub(super) fn label_mentions(module: &Module, cfg: &Cfg) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut names, mut strings) = (BTreeSet::new(), BTreeSet::new());
    let mut note = |tree: &Tree, ids: &mut dyn Iterator<Item = Id>| {
        let quoted = ids.filter(|id| tree.kind(*id) == NodeKind::Text).map(|id| tree.text(id, &module.source));
        strings.extend(quoted.map(|text| text.trim_matches('"').to_owned()));
    };
    for name in protected_definitions(module, cfg).iter().filter(|name| *name != "TypeOK") {
        let Some(definition) = module.definition(name) else { continue };
        if !module.in_translation(definition.code.start) {
            names.extend(definition.referenced_names().iter().cloned());
        }
        note(&definition.tree, &mut definition.tree.ids());
    }
    if let Some(algorithm) = &module.algorithm {
        let tree = &algorithm.tree;
        for id in tree.ids().filter(|id| matches!(tree.kind(*id), NodeKind::Define | NodeKind::Assert)) {
            let (start, end) = (tree.node(id).start, tree.node(id).end);
            note(tree, &mut tree.ids().filter(|id| tree.node(*id).start >= start && tree.node(*id).end <= end));
        }
    }
    (names, strings)
}

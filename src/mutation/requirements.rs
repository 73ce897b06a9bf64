//! Which requirements a mutant touches: those covered by a property that speaks of a variable which the mutated part of
//! the specification speaks of.

use std::collections::BTreeSet;

use crate::tla::{Cfg, Module};

/// The requirements that the definition (a label, an action) touches; `module` is the translated one.
pub fn requirements_touched(module: &Module, cfg: &Cfg, definition: &str) -> BTreeSet<String> {
    // Initial values stand under the algorithm's name.
    let definition = if module.definition(definition).is_some() { definition } else { "Init" };
    let ours = variables(module, definition);
    let covered = module.coverage_under(cfg);
    let touched = covered.iter().filter(|(property, _)| !variables(module, property).is_disjoint(&ours));
    touched.flat_map(|(_, requirements)| requirements.iter().cloned()).collect()
}

fn variables(module: &Module, name: &str) -> BTreeSet<String> {
    let mut names = module.closure(name);
    names.insert(name.to_owned());
    let refers = names.iter().filter_map(|name| module.definition(name)).flat_map(crate::tla::Definition::refers_to);
    // Every step of an algorithm speaks of these.
    let own = module.variable_names();
    refers.filter(|name| own.contains(name.as_str()) && !matches!(name.as_str(), "pc" | "stack")).cloned().collect()
}

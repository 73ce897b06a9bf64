//! Which requirements a mutant touches: those covered by a property that speaks of a variable which the mutated part of
//! the specification writes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::tla::{Cfg, Definition, Module};

/// The requirements that the definition (a label, an action) touches, nearest first: those whose property shares the
/// most variables with what the definition writes, and speaks of the fewest others. `module` is the translated one.
pub fn requirements_touched(module: &Module, cfg: &Cfg, definition: &str) -> Vec<String> {
    // Initial values stand under the algorithm's name.
    let definition = if module.definition(definition).is_some() { definition } else { "Init" };
    let written = written(module, definition);
    let ours = if written.is_empty() { variables(module, definition) } else { written };
    let mut best: BTreeMap<String, (Reverse<usize>, usize)> = BTreeMap::new();
    for (property, requirements) in module.requirements_by_property(cfg) {
        let theirs = variables(module, &property);
        let shared = theirs.intersection(&ours).count();
        if shared == 0 {
            continue;
        }
        let rank = (Reverse(shared), theirs.len());
        for requirement in requirements {
            let known = best.entry(requirement).or_insert(rank);
            *known = rank.min(*known);
        }
    }
    let mut all: Vec<_> =
        best.into_iter().map(|(requirement, rank)| (rank, by_number(&requirement), requirement)).collect();
    all.sort();
    all.into_iter().map(|(.., requirement)| requirement).collect()
}

/// What requirements are sorted by: `R2` before `R10`.
pub fn by_number(requirement: &str) -> (String, usize, String) {
    let start = requirement.find(|c: char| c.is_ascii_digit()).unwrap_or(requirement.len());
    let (word, rest) = requirement.split_at(start);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    (word.to_owned(), rest[..end].parse().unwrap_or_default(), rest[end..].to_owned())
}

fn below<'a>(module: &'a Module, name: &str) -> Vec<&'a Definition> {
    let mut names = module.closure(name);
    names.insert(name.to_owned());
    names.iter().filter_map(|name| module.definition(name)).collect()
}

/// Every step of an algorithm speaks of these.
fn is_control(name: &str) -> bool {
    matches!(name, "pc" | "stack")
}

fn variables(module: &Module, name: &str) -> BTreeSet<String> {
    let own = module.variable_names();
    let refers = below(module, name).into_iter().flat_map(Definition::referenced_names);
    refers.filter(|name| own.contains(name.as_str()) && !is_control(name)).cloned().collect()
}

/// The variables that have a prime of their own; `UNCHANGED` is none.
fn written(module: &Module, name: &str) -> BTreeSet<String> {
    let own = module.variable_names();
    let mut found = BTreeSet::new();
    for definition in below(module, name) {
        let tree = &definition.tree;
        let postfix = tree.ids().filter(|id| tree.node(*id).kind == "bound_postfix_op");
        let primed = postfix.filter(|id| tree.field(*id, "symbol").is_some_and(|s| tree.node(s).kind == "prime"));
        let names = primed.filter_map(|id| tree.field(id, "lhs")).map(|lhs| tree.text(lhs, &module.source));
        found.extend(names.filter(|name| own.contains(name) && !is_control(name)).map(str::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::by_number;

    #[test]
    fn requirements_are_sorted_by_their_numbers() {
        let mut all = ["R10", "R2", "R2b", "A3", "R"];
        all.sort_by_key(|requirement| by_number(requirement));
        assert_eq!(all, ["A3", "R", "R2", "R2b", "R10"]);
    }
}

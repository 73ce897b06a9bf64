//! The requirements that a mutant touches: those covered by a property that reads a variable which the mutated definition
//! writes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use tlaforge_tla::{Cfg, Definition, Field, Module, NodeKind};

/// The requirements that a definition (a label, an action) touches, nearest first: most variables shared between the
/// property and the writes of the definition, then fewest variables in the property. `module` must be translated.
pub fn requirements_touched(module: &Module, cfg: &Cfg, definition: &str) -> Vec<String> {
    // Mutants of initial values carry the name of the algorithm, which is no definition.
    let definition = if module.definition(definition).is_some() { definition } else { "Init" };
    let assigned = written_variables(module, definition);
    // A guard or an operator on states writes nothing.
    let ours = if assigned.is_empty() { read_variables(module, definition) } else { assigned };
    let own = requirements_that_read(module, cfg, &ours);
    if !own.is_empty() {
        return own;
    }
    // An operator may mention no variable, and still decide what those that use it do.
    let users = module.users_of([definition]);
    let ours = users.into_iter().flat_map(|user| read_variables(module, user)).collect();
    requirements_that_read(module, cfg, &ours)
}

/// The requirements of the properties that mention one of the variables, those that share most with them first.
fn requirements_that_read(module: &Module, cfg: &Cfg, ours: &BTreeSet<String>) -> Vec<String> {
    let mut best: BTreeMap<String, (Reverse<usize>, usize)> = BTreeMap::new();
    for (property, requirements) in module.requirements_by_property(cfg) {
        let theirs = read_variables(module, &property);
        let shared = theirs.intersection(ours).count();
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
        best.into_iter().map(|(requirement, rank)| (rank, requirement_sort_key(&requirement), requirement)).collect();
    all.sort();
    all.into_iter().map(|(.., requirement)| requirement).collect()
}

/// Sort key for requirement ids: `R2` before `R10`.
pub fn requirement_sort_key(requirement: &str) -> (String, usize, String) {
    let start = requirement.find(|c: char| c.is_ascii_digit()).unwrap_or(requirement.len());
    let (word, rest) = requirement.split_at(start);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    (word.to_owned(), rest[..end].parse().unwrap_or_default(), rest[end..].to_owned())
}

fn reachable_definitions<'a>(module: &'a Module, name: &str) -> Vec<&'a Definition> {
    let mut names = module.closure(name);
    names.insert(name.to_owned());
    names.iter().filter_map(|name| module.definition(name)).collect()
}

/// Variables of the translation that every step of an algorithm reads and writes.
fn is_control(name: &str) -> bool {
    matches!(name, "pc" | "stack")
}

fn read_variables(module: &Module, name: &str) -> BTreeSet<String> {
    let own = module.variable_names();
    let refers = reachable_definitions(module, name).into_iter().flat_map(Definition::referenced_names);
    refers.filter(|name| own.contains(name.as_str()) && !is_control(name)).cloned().collect()
}

/// The variables that occur primed; `UNCHANGED` does not count.
fn written_variables(module: &Module, name: &str) -> BTreeSet<String> {
    let own = module.variable_names();
    let mut found = BTreeSet::new();
    for definition in reachable_definitions(module, name) {
        let tree = &definition.tree;
        let primed = tree.of_kind(NodeKind::Postfix).filter(|id| tree.operator(*id) == "'");
        let names = primed.filter_map(|id| tree.field(id, Field::Left)).map(|lhs| tree.text(lhs, &module.source));
        found.extend(names.filter(|name| own.contains(name) && !is_control(name)).map(str::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::requirement_sort_key;

    #[test]
    fn requirements_are_sorted_by_their_numbers() {
        let mut all = ["R10", "R2", "R2b", "A3", "R"];
        all.sort_by_key(|requirement| requirement_sort_key(requirement));
        assert_eq!(all, ["A3", "R", "R2", "R2b", "R10"]);
    }
}

//! Comparisons of `pc` with a string that is no label: they have one value in every state, so that a property about a step that
//! does not exist seems to hold.

use std::collections::BTreeSet;

use super::cfg::Cfg;
use super::definition::Definition;
use super::diagnostic::{Diagnostic, Stage};
use super::module::Module;
use super::syntax::{Id, NodeKind, Tree};

/// What `pc` can be besides a label.
const ENDS: [&str; 2] = ["Done", "Error"];

/// The comparisons of `pc` with strings that are no labels, in what the configuration checks. None for a module without an
/// algorithm, whose `pc` can be anything.
pub fn unknown_labels(module: &Module, cfg: &Cfg) -> Vec<Diagnostic> {
    let Some(algorithm) = &module.algorithm else { return Vec::new() };
    if !module.variables.iter().any(|variable| variable.name == "pc") {
        return Vec::new();
    }
    let labels: BTreeSet<&str> = algorithm.labels.iter().map(|label| label.name.as_str()).chain(ENDS).collect();
    let mut names = BTreeSet::new();
    for listed in cfg.invariants.iter().chain(&cfg.properties).chain(&cfg.witnesses) {
        names.extend(module.closure(listed));
        names.insert(listed.clone());
    }
    let own = |definition: &&Definition| !module.in_translation(definition.code.start);
    let checked = names.iter().filter_map(|name| module.definition(name)).filter(own);
    checked.flat_map(|definition| unknown_in(module, definition, &labels)).collect()
}

fn unknown_in(module: &Module, definition: &Definition, labels: &BTreeSet<&str>) -> Vec<Diagnostic> {
    let tree = &definition.tree;
    let unknown = |id: Id| {
        let (left, right) = tree.operands(id)?;
        let compared = match (is_pc(module, tree, left), is_pc(module, tree, right)) {
            (true, false) => right,
            (false, true) => left,
            _ => return None,
        };
        let strings = match tree.operator(id) {
            "=" | "/=" | "#" => vec![compared],
            // A set of labels may have further strings, such as those of another algorithm.
            "\\in" | "\\notin" if tree.kind(compared) == NodeKind::SetLiteral => tree.children(compared).collect(),
            _ => return None,
        };
        let texts: Vec<&str> = strings.iter().map(|id| tree.text(*id, &module.source)).collect();
        let is_text = strings.iter().all(|id| tree.kind(*id) == NodeKind::Text);
        let known = texts.iter().any(|text| labels.contains(text.trim_matches('"')));
        (is_text && !texts.is_empty() && !known).then(|| {
            let message = format!(
                "{} compares `pc` with {}: the algorithm has no such label, so the result is the same in every state. `pc` can be: {}",
                definition.name,
                texts.join(", "),
                labels.iter().copied().collect::<Vec<_>>().join(", ")
            );
            module.diagnostic(Stage::Merge, tree.node(id).start, message)
        })
    };
    tree.of_kind(NodeKind::Infix).filter_map(unknown).collect()
}

/// Whether an expression is `pc`, `pc[p]` or one of them in the next state.
fn is_pc(module: &Module, tree: &Tree, id: Id) -> bool {
    let text = tree.text(tree.strip_parentheses(id), &module.source);
    text.strip_prefix("pc").is_some_and(|rest| matches!(rest.trim_start().chars().next(), None | Some('[' | '\'')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(property: &str) -> Vec<String> {
        let text = format!(
            "---- MODULE M ----\n(* --algorithm A\nvariables x = 0;\nprocess p \\in 1..2\nbegin\n  Enter: skip;\n  Leave: \
             skip;\nend process;\nend algorithm; *)\n\\* BEGIN TRANSLATION\nVARIABLES x, pc\n\\* END TRANSLATION\nP == {property}\n====\n"
        );
        let module = Module::parse(&text).unwrap();
        let cfg = Cfg::parse("INVARIANT P").unwrap();
        unknown_labels(&module, &cfg).into_iter().map(|one| one.message).collect()
    }

    #[test]
    fn a_string_that_is_no_label_is_found_wherever_it_is_compared_with_pc() {
        for property in [
            "~\\E a, b \\in 1..2 : a # b /\\ pc[a] = \"Critical\" /\\ pc[b] = \"Critical\"",
            "\\A a \\in 1..2 : pc[a] # \"enter\"",
            "\\A a \\in 1..2 : \"Inside\" = pc[a]",
            "\\A a \\in 1..2 : pc[a] \\notin {\"A\", \"B\"}",
            "[][\\A a \\in 1..2 : pc'[a] = \"Entr\" => x = 1]_x",
            "pc = \"Enter1\"",
        ] {
            assert!(!found(property).is_empty(), "{property}");
        }
        for property in [
            "\\A a \\in 1..2 : pc[a] = \"Enter\" => x = 0",
            "pc \\in [1..2 -> {\"Enter\", \"Leave\", \"Done\"}]",
            "\\A a \\in 1..2 : pc[a] \\in {\"Enter\", \"Elsewhere\"}",
            "x = \"Critical\"",
            "\\A a \\in 1..2 : pc[a] # \"Done\"",
        ] {
            assert_eq!(found(property), [""; 0], "{property}");
        }
    }
}

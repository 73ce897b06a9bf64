//! Operators of the standard modules that a module redefines. A reader expects the standard `Cardinality(S)`, so a
//! review has to accept another one by name.

use std::collections::BTreeSet;

use crate::module::Module;
use crate::references::canonical;

use super::analysis::resolved;
use super::graph::SymbolKind;
use super::standard::exported_names;

/// Modules whose operators a reader knows. `Reals` is left out: no checker evaluates it, and `Infinity` is a common
/// name.
const WELL_KNOWN: [&str; 5] = ["Integers", "Sequences", "FiniteSets", "TLC", "Bags"];

/// The standard operators that a module, or a LET in it, defines or declares itself.
pub fn redefined_operators(name: &str, text: &str) -> BTreeSet<String> {
    let standard: BTreeSet<String> = WELL_KNOWN.into_iter().filter_map(exported_names).flatten().collect();
    let own = resolved(name, text, &[]).map_or_else(
        |_| unresolved_names(text),
        |resolved| {
            let is_own = |file: u32| resolved.modules.get(file as usize).is_some_and(|module| !module.standard);
            let symbols =
                resolved.graph.symbols.iter().filter(|symbol| symbol.origin.is_none() && is_own(symbol.place.file));
            let defined = symbols.filter(|symbol| match symbol.kind {
                SymbolKind::Operator | SymbolKind::Constant | SymbolKind::Variable => true,
                // A bound name without operands is not an operator.
                SymbolKind::Parameter => symbol.arity > 0,
                _ => false,
            });
            defined.map(|symbol| canonical(&symbol.name).to_owned()).collect()
        },
    );
    own.intersection(&standard).cloned().collect()
}

fn unresolved_names(text: &str) -> BTreeSet<String> {
    let Ok(module) = Module::parse(text) else { return BTreeSet::new() };
    let declared = module.constants.iter().chain(&module.variables).map(|declared| declared.name.clone());
    module.definitions.iter().map(|definition| definition.name.clone()).chain(declared).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redefinitions_of_standard_operators_are_found() {
        for (body, expected) in [
            ("Cardinality(S) == 0", "Cardinality"),
            ("EXTENDS Naturals\nLen(s) == 1\ns \\o t == s", "Len \\circ"),
            ("x == LET Append(s, e) == s IN Append(1, 2)", "Append"),
            ("CONSTANT Permutations(_)", "Permutations"),
            ("a + b == a", "+"),
            ("F(Len(_)) == Len(1)", "Len"),
            ("---- MODULE FiniteSets ----\nCardinality(S) == 0\n====\nINSTANCE FiniteSets", "Cardinality"),
            ("EXTENDS Unknown\nHead(s) == s", "Head"),
            ("EXTENDS Sequences, FiniteSets\nx == Len(<<1>>)", ""),
            ("S == INSTANCE Sequences\nLOCAL INSTANCE FiniteSets\nx == \\E Seq \\in {1} : Seq = 1", ""),
        ] {
            let text = format!("---- MODULE M ----\n{body}\n====\n");
            assert_eq!(redefined_operators("M", &text).into_iter().collect::<Vec<_>>().join(" "), expected, "{body}");
        }
    }
}

//! Operators of the standard modules whose value depends on more than the state: on chance, the clock, files, or the
//! progress of the checker. It uses the resolved module, so neither spelling nor alias nor comment hides one.

use std::collections::BTreeSet;

use crate::{Cfg, Kind, lex};

use super::analysis::resolved;
use super::graph::{Graph, Node, SymbolId, SymbolKind};

/// Module, operator, and the name under which a review accepts it. `TLCEval` is left out: it only computes the same
/// value earlier.
const IMPURE: &[(&str, &str, &str)] = &[
    ("TLC", "RandomElement", "RandomElement"),
    ("Randomization", "RandomSubset", "RandomElement"),
    ("Randomization", "RandomSetOfSubsets", "RandomElement"),
    ("Randomization", "RandomSubsetSet", "RandomElement"),
    ("Randomization", "TestRandomSetOfSubsets", "RandomElement"),
    ("TLC", "TLCGet", "TLCGet"),
    ("TLCExt", "TLCGetOrDefault", "TLCGet"),
    ("TLCExt", "TLCGetAndSet", "TLCGet"),
    ("TLC", "TLCSet", "TLCSet"),
    ("TLC", "JavaTime", "JavaTime"),
    ("TLCExt", "Trace", "Trace"),
    ("TLCExt", "CounterExample", "CounterExample"),
    ("TLCExt", "PickSuccessor", "PickSuccessor"),
    ("TLCExt", "TLCCache", "TLCCache"),
    ("TLCExt", "TLCEvalDefinition", "TLCEvalDefinition"),
    ("TLCExt", "TLCFP", "TLCFP"),
    ("Toolbox", "_TETrace", "Trace"),
    ("Toolbox", "_TEPosition", "Trace"),
];

/// Modules whose Java code reads or writes files, starts programs or reads the environment; all their operators are
/// impure, under the module's name. `TLCExt` is left out: its operators stay inside the checker.
pub const MODULES_WITH_SIDE_EFFECTS: [&str; 6] = ["IOUtils", "Json", "CSV", "SVG", "SVGDoc", "GraphViz"];

/// The impure operators that a module uses, or that its configuration substitutes for others, under the names by which
/// a review accepts them. If the module cannot be resolved, any word that may be such an operator counts.
pub fn impure_operators(name: &str, text: &str, cfg: Option<&Cfg>) -> BTreeSet<&'static str> {
    let replacing = || cfg.into_iter().flat_map(|cfg| cfg.constants.values()).filter_map(|by| by.strip_prefix("<- "));
    let Ok(resolved) = resolved(name, text, &[]) else {
        let words =
            lex(text, 0..text.len()).into_iter().filter(|token| token.kind == Kind::Word).map(|token| token.text(text));
        return words.chain(replacing()).filter_map(|word| word.rsplit('!').next()).filter_map(by_word).collect();
    };
    let graph = &resolved.graph;
    let scope = &graph.module(resolved.root).scope;
    let is_own = |file: u32| resolved.modules.get(file as usize).is_some_and(|module| !module.standard);
    let used = graph.nodes.iter().filter(|(_, place)| is_own(place.file)).filter_map(|(node, _)| match node {
        Node::Apply(application) => Some(application.operator),
        Node::Operator(symbol) => Some(*symbol),
        _ => None,
    });
    let replacing = replacing().filter_map(|by| scope.symbols.get(by).copied());
    used.chain(replacing).filter_map(|symbol| accepted_as(graph, symbol)).collect()
}

fn accepted_as(graph: &Graph, symbol: SymbolId) -> Option<&'static str> {
    let symbol = graph.symbol(graph.original(symbol));
    // TLC uses the Java code of a standard module for any module of that name, whoever wrote it.
    let module: &str = &graph.module(symbol.home).name;
    let outside = MODULES_WITH_SIDE_EFFECTS.into_iter().find(|outside| *outside == module);
    let known = || IMPURE.iter().find(|(home, operator, _)| *home == module && *operator == &*symbol.name);
    // Built-in operators belong to no module.
    let built_in = matches!(symbol.kind, SymbolKind::BuiltIn(_));
    outside.or_else(|| known().map(|(_, _, line)| *line)).filter(|_| !built_in)
}

/// Whether an operator of this name may depend on more than its operands and the state.
pub fn is_impure_name(name: &str) -> bool {
    IMPURE.iter().any(|(_, operator, _)| *operator == name) || name == "IOExec" || name == "ToTrace"
}

fn by_word(word: &str) -> Option<&'static str> {
    let operator = IMPURE.iter().find(|(_, operator, _)| *operator == word).map(|(_, _, line)| *line);
    operator.or_else(|| MODULES_WITH_SIDE_EFFECTS.into_iter().find(|module| *module == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(body: &str, cfg: &str) -> String {
        let text = format!("---- MODULE M ----\n{body}\n====\n");
        let cfg = Cfg::parse(cfg).unwrap();
        impure_operators("M", &text, Some(&cfg)).into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn impure_operators_are_found_by_meaning_not_by_name() {
        for (body, cfg, expected) in [
            ("EXTENDS TLC\nx == RandomElement({1})", "", "RandomElement"),
            ("T == INSTANCE TLC\nx == T ! (* c *) RandomElement({1})", "", "RandomElement"),
            ("T(a) == INSTANCE TLC\nx == T(1)!TLCSet(1, 2)", "", "TLCSet"),
            ("LOCAL INSTANCE TLC\nx == TLCGet(1)", "", "TLCGet"),
            ("x == LET T == INSTANCE Randomization IN T!RandomSubset(1, {1})", "", "RandomElement"),
            (
                "---- MODULE I ----\nEXTENDS TLC\nVARIABLE v\n====\nVARIABLE w\nI == INSTANCE I WITH v <- w\nx == I!JavaTime",
                "",
                "JavaTime",
            ),
            (
                "---- MODULE I ----\nCONSTANT F(_)\n====\nEXTENDS_ == 1\nT == INSTANCE TLC\nI == INSTANCE I WITH F <- T!TLCGet",
                "",
                "TLCGet",
            ),
            ("---- MODULE TLC ----\nJavaTime == 1\n====\nINSTANCE TLC\nx == JavaTime", "", "JavaTime"),
            ("INSTANCE Json\nx == JsonDeserialize(\"a\")", "", "Json"),
            ("EXTENDS TLC\nCONSTANT F(_)\nx == F(1)", "CONSTANT F <- TLCGet", "TLCGet"),
            // Defined by the module itself, in a comment, in a string, or as a field.
            ("JavaTime == 1\nx == JavaTime", "", ""),
            ("EXTENDS TLC\nx == [TLCGet |-> \"TLCGet\"].TLCGet \\* TLCGet", "", ""),
            ("EXTENDS TLC\nx == TLCEval(1)", "", ""),
            // The module cannot be resolved.
            ("EXTENDS Unknown\nx == A!TLCGet(1)", "", "TLCGet"),
        ] {
            assert_eq!(used(body, cfg), expected, "{body}");
        }
    }
}

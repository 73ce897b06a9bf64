//! Renames identifiers in a definition. It works on the syntax tree, so that comments, strings and names of record fields
//! are never changed.

use std::collections::{BTreeMap, BTreeSet};

use super::definition::Definition;
use super::syntax::{Field, Id, NodeKind, Tree};

impl Definition {
    /// Every name that the definition binds: parameters, names bound by quantifiers and the like, names of a LET.
    pub fn bound_names(&self, source: &str) -> BTreeSet<String> {
        let declared = self.identifier_nodes().into_iter().filter(|id| self.tree.kind(*id) == NodeKind::Identifier);
        declared.map(|id| self.tree.text(id, source).to_owned()).filter(|name| *name != self.name).collect()
    }

    /// The text of the definition with names replaced. A name has only one meaning inside a definition, because TLA+
    /// forbids to bind a name that is already defined. `None` if the definition has syntax errors.
    pub fn renamed(&self, source: &str, names: &BTreeMap<String, String>) -> Option<String> {
        if self.has_syntax_errors {
            return None;
        }
        let mut places: Vec<(usize, usize, &str)> = Vec::new();
        for id in self.identifier_nodes() {
            let node = self.tree.node(id);
            if let Some(new) = names.get(self.tree.text(id, source)) {
                places.push((node.start, node.end, new));
            }
        }
        places.sort_unstable();
        places.dedup();
        let mut out = String::with_capacity(self.code.len() + 64);
        let mut offset = self.code.start;
        for (start, end, new) in places {
            out.push_str(&source[offset..start]);
            out.push_str(new);
            offset = end;
        }
        out.push_str(&source[offset..self.code.end]);
        Some(out)
    }

    /// Whether it contains `WF` or `SF`.
    pub fn states_fairness(&self) -> bool {
        self.tree.ids().any(|id| self.tree.kind(id) == NodeKind::Fairness)
    }

    /// The nodes of identifiers that belong to this module.
    fn identifier_nodes(&self) -> Vec<Id> {
        let mut found = Vec::new();
        let mut open: Vec<Id> = if self.tree.is_empty() { Vec::new() } else { vec![0] };
        while let Some(id) = open.pop() {
            match self.tree.kind(id) {
                NodeKind::Identifier | NodeKind::Reference => found.push(id),
                _ => open.extend(own_children(&self.tree, id)),
            }
        }
        found
    }
}

/// The children whose identifiers belong to this module.
fn own_children(tree: &Tree, id: Id) -> Vec<Id> {
    let is_field = |child: &Id| tree.kind(*child) == NodeKind::Identifier;
    match tree.kind(id) {
        NodeKind::FieldAccess => tree.children(id).take(1).collect(),
        // `M!Op(x)`: the operator belongs to the other module, its arguments to this one.
        NodeKind::ForeignCall => {
            let own = |child: Id| match (tree.node(child).field, tree.kind(child)) {
                (Some(Field::Callee), NodeKind::Call) => tree.children(child).skip(1).collect(),
                (Some(Field::Callee), _) => Vec::new(),
                _ => vec![child],
            };
            tree.children(id).flat_map(own).collect()
        }
        NodeKind::Instance | NodeKind::Substitution => tree.children(id).skip(1).collect(),
        NodeKind::RecordLiteral | NodeKind::RecordSet => tree.children(id).filter(|child| !is_field(child)).collect(),
        NodeKind::ExceptField => Vec::new(),
        _ => tree.children(id).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::Module;

    fn renamed(definition: &str, names: &[(&str, &str)]) -> String {
        let text = format!("---- MODULE M ----\nEXTENDS Integers\n{definition}\n====\n");
        let module = Module::parse(&text).unwrap();
        let names: BTreeMap<String, String> = names.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        module.definitions[0].renamed(&text, &names).unwrap()
    }

    #[test]
    fn identifiers_are_renamed_and_nothing_else() {
        for (before, after) in [
            ("A == x + A1", "A == y + A1"),
            ("A == \\A x \\in S : x > 0", "A == \\A y \\in S : y > 0"),
            ("A == \\E <<x, b>> \\in S : x = b", "A == \\E <<y, b>> \\in S : y = b"),
            ("A(x) == x * x", "A(y) == y * y"),
            ("A(x(_)) == x(1)", "A(y(_)) == y(1)"),
            ("x == /\\ 1 = 1\n     /\\ 2 = 2", "y == /\\ 1 = 1\n     /\\ 2 = 2"),
            ("x[i \\in S] == IF i = 0 THEN 0 ELSE x[i - 1]", "y[i \\in S] == IF i = 0 THEN 0 ELSE y[i - 1]"),
            ("A == LET x == 1 IN x + 2", "A == LET y == 1 IN y + 2"),
            ("A == LET x(a) == a IN x(2)", "A == LET y(a) == a IN y(2)"),
            ("A == CHOOSE x \\in S : x = 1", "A == CHOOSE y \\in S : y = 1"),
            ("A == F(LAMBDA x : x + 1, x)", "A == F(LAMBDA y : y + 1, y)"),
            ("A == {x \\in S : x > 1} \\cup {x : b \\in S}", "A == {y \\in S : y > 1} \\cup {y : b \\in S}"),
            ("A == [x \\in S |-> x]", "A == [y \\in S |-> y]"),
            ("A == [f EXCEPT ![x] = x, !.x = 2]", "A == [f EXCEPT ![y] = y, !.x = 2]"),
            ("A == x.x + r.x", "A == y.x + r.x"),
            ("A == [x |-> x, b |-> 1]", "A == [x |-> y, b |-> 1]"),
            ("A == [x : S, b : x]", "A == [x : S, b : y]"),
            ("A == \"x\" = x (* x *) \\* x", "A == \"x\" = y"),
            ("A == x' = x /\\ UNCHANGED <<x, b>>", "A == y' = y /\\ UNCHANGED <<y, b>>"),
            ("A == [][x' > x]_x", "A == [][y' > y]_y"),
            ("A == WF_x(x) /\\ []<>x", "A == WF_y(y) /\\ []<>y"),
            ("A == ENABLED x ~> x", "A == ENABLED y ~> y"),
        ] {
            assert_eq!(renamed(before, &[("x", "y")]), after);
        }
    }

    #[test]
    fn bound_names_are_found() {
        let text = "---- MODULE M ----\nA(p) == \\A x \\in S : LET q == [f |-> r.g] IN q = x /\\ z\n====\n";
        let module = Module::parse(text).unwrap();
        assert_eq!(module.definitions[0].bound_names(text).into_iter().collect::<Vec<_>>(), ["p", "q", "x"]);
    }
}

//! Finds the variables of which an action says what becomes of them. A variable that one case of the action leaves open is not
//! among them.

use std::collections::BTreeSet;

use super::module::Module;
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};

/// The variables that the definition of this name gives a value, or leaves unchanged, in each of its cases. The reading is by
/// form: `x' = 1 \/ TRUE` and `x' = x'` settle nothing, and `x' \in S` settles x, whatever S is.
pub(super) fn settled_variables(module: &Module, name: &str, variables: &BTreeSet<&str>) -> BTreeSet<String> {
    Reader { module, variables, open: Vec::new(), budget: BUDGET }.definition(name)
}

/// Helpers that use each other twice would be read without end. What is not read settles nothing.
const BUDGET: usize = 100_000;

struct Reader<'a> {
    module: &'a Module,
    variables: &'a BTreeSet<&'a str>,
    /// The definitions that are being read, so that a recursive one ends.
    open: Vec<String>,
    /// The nodes that may still be read.
    budget: usize,
}

impl Reader<'_> {
    fn definition(&mut self, name: &str) -> BTreeSet<String> {
        let Some(definition) = self.module.definition(name) else { return BTreeSet::new() };
        // The parser says what is wrong with it.
        if definition.has_syntax_errors {
            return self.all();
        }
        let Some(body) = definition.body() else { return BTreeSet::new() };
        self.open.push(name.to_owned());
        self.formula(&definition.tree, body, 0)
    }

    fn may_read(&mut self, depth: usize) -> bool {
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0 && depth <= MAX_DEPTH
    }

    fn all(&self) -> BTreeSet<String> {
        self.variables.iter().map(|name| (*name).to_owned()).collect()
    }

    fn formula(&mut self, tree: &Tree, id: Id, depth: usize) -> BTreeSet<String> {
        if !self.may_read(depth) {
            return BTreeSet::new();
        }
        let id = tree.strip_parentheses(id);
        let fields = |names: &[Field]| names.iter().filter_map(|name| tree.field(id, *name)).collect::<Vec<_>>();
        match (tree.kind(id), tree.operator(id)) {
            (NodeKind::ConjunctionList, _) => self.in_some(tree, &tree.children(id).collect::<Vec<_>>(), depth),
            (NodeKind::Infix, "/\\") => self.in_some(tree, &fields(&[Field::Left, Field::Right]), depth),
            (NodeKind::DisjunctionList, _) => self.in_all(tree, &tree.children(id).collect::<Vec<_>>(), depth),
            (NodeKind::Infix, "\\/") => self.in_all(tree, &fields(&[Field::Left, Field::Right]), depth),
            (NodeKind::IfThenElse, _) => self.in_all(tree, &fields(&[Field::Then, Field::Else]), depth),
            (NodeKind::Case, _) => {
                let values: Vec<Id> = tree.children(id).filter_map(|arm| tree.children(arm).next_back()).collect();
                self.in_all(tree, &values, depth)
            }
            (NodeKind::LetIn | NodeKind::Bounded | NodeKind::Unbounded, _) => {
                self.in_some(tree, &fields(&[Field::Body]), depth)
            }
            // Where the premise is false, nothing is said.
            (NodeKind::Infix, "=>") | (NodeKind::Prefix, "~") => BTreeSet::new(),
            (NodeKind::Boolean, _) if self.text(tree, id) == "FALSE" => self.all(),
            (NodeKind::Prefix, "UNCHANGED") => {
                fields(&[Field::Right]).into_iter().flat_map(|of| self.named(tree, of)).collect()
            }
            (NodeKind::Infix, _) => {
                let [left, right] = [Field::Left, Field::Right].map(|side| tree.field(id, side));
                let [left, right] =
                    [left, right].map(|side| side.map(|side| self.primed(tree, side, depth)).unwrap_or_default());
                left.symmetric_difference(&right).cloned().collect()
            }
            (NodeKind::Reference | NodeKind::Call, _) => {
                // `C_Set(x', 1)` says something of x as well.
                let arguments: Vec<Id> = tree.children(id).skip(1).collect();
                let mut settled = self.called(tree, id, depth, Self::formula);
                settled.extend(arguments.into_iter().flat_map(|argument| self.primed(tree, argument, depth)));
                settled
            }
            _ => self.primed(tree, id, depth),
        }
    }

    fn in_some(&mut self, tree: &Tree, parts: &[Id], depth: usize) -> BTreeSet<String> {
        parts.iter().flat_map(|part| self.formula(tree, *part, depth + 1)).collect()
    }

    fn in_all(&mut self, tree: &Tree, parts: &[Id], depth: usize) -> BTreeSet<String> {
        let settled = parts.iter().map(|part| self.formula(tree, *part, depth + 1));
        settled.reduce(|a, b| a.intersection(&b).cloned().collect()).unwrap_or_default()
    }

    /// Reads the body of the helper, or of the definition of a LET, that a node applies. The first definition of a tree is the
    /// one around it.
    fn called(
        &mut self,
        tree: &Tree,
        id: Id,
        depth: usize,
        read: impl Fn(&mut Self, &Tree, Id, usize) -> BTreeSet<String>,
    ) -> BTreeSet<String> {
        let module = self.module;
        let Some(name) = tree.called_name(id).map(|name| tree.text(name, &module.source)) else {
            return BTreeSet::new();
        };
        if self.open.iter().any(|open| open == name) {
            return BTreeSet::new();
        }
        let is_local = |id: &Id| tree.field(*id, Field::Name).is_some_and(|of| self.text(tree, of) == name);
        let local = tree.of_kind(NodeKind::OperatorDefinition).skip(1).find(is_local);
        let local = local.and_then(|local| Some((tree, tree.field(local, Field::Definition)?)));
        let own = || module.definition(name).and_then(|definition| Some((&definition.tree, definition.body()?)));
        let Some((tree, body)) = local.or_else(own) else { return BTreeSet::new() };
        self.open.push(name.to_owned());
        let found = read(self, tree, body, depth + 1);
        self.open.pop();
        found
    }

    /// The variables with a prime in the expression, or in a helper that it uses.
    fn primed(&mut self, tree: &Tree, id: Id, depth: usize) -> BTreeSet<String> {
        if !self.may_read(depth) {
            return BTreeSet::new();
        }
        match tree.kind(id) {
            NodeKind::Postfix if tree.operator(id) == "'" => self.named(tree, id),
            NodeKind::Reference => self.called(tree, id, depth, Self::primed),
            _ => tree.children(id).flat_map(|child| self.primed(tree, child, depth + 1)).collect(),
        }
    }

    /// The variables that the expression names.
    fn named(&self, tree: &Tree, id: Id) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            open.extend(tree.children(id));
            let text = self.text(tree, id);
            if tree.kind(id) == NodeKind::Reference && self.variables.contains(text) {
                found.insert(text.to_owned());
            }
        }
        found
    }

    fn text<'t>(&'t self, tree: &Tree, id: Id) -> &'t str {
        tree.text(id, &self.module.source)
    }
}

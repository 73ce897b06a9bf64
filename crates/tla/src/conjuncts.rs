//! The conjuncts of an invariant, as formulas for a module that extends the specification's: a run can decide which of them
//! is false in a state.

use std::collections::BTreeSet;

use super::branches::can_be_rewritten;
use super::cfg::Cfg;
use super::definition::Definition;
use super::module::Module;
use super::references::references;
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};
use super::value_text::one_line;

/// Limit on the conjuncts of one invariant.
const MAX_CONJUNCTS: usize = 100;

/// A conjunct of an invariant, also one in a definition that the invariant names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conjunct {
    /// As the module writes it, on one line.
    pub text: String,
    /// The formula, with the columns of the module.
    pub formula: String,
    /// For `\A x \in S : …`, the elements for which it is false.
    pub exceptions: Option<Exceptions>,
    /// The variables of the module that it depends on.
    pub variables: Vec<String>,
}

/// The elements for which a bounded quantifier is false.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exceptions {
    /// The bound names.
    pub names: Vec<String>,
    /// A set of tuples, one value for each name.
    pub formula: String,
}

/// The conjuncts of a definition without parameters; empty if there are none to tell apart.
pub fn conjuncts(module: &Module, cfg: &Cfg, invariant: &str) -> Vec<Conjunct> {
    let mut walk = Walk { module, cfg, found: Vec::new() };
    if let Some(definition) = walk.plain_definition(invariant)
        && let Some(body) = definition.body()
    {
        walk.visit(&definition.tree, body, 0);
    }
    if walk.found.len() > MAX_CONJUNCTS { Vec::new() } else { walk.found }
}

struct Walk<'a> {
    module: &'a Module,
    cfg: &'a Cfg,
    found: Vec<Conjunct>,
}

impl<'a> Walk<'a> {
    fn plain_definition(&self, name: &str) -> Option<&'a Definition> {
        self.module.definition(name).filter(|d| d.params.is_empty() && can_be_rewritten(d, self.cfg))
    }

    fn visit(&mut self, tree: &'a Tree, id: Id, depth: usize) {
        let id = tree.strip_parentheses(id);
        if depth > MAX_DEPTH || self.found.len() > MAX_CONJUNCTS {
            return;
        }
        match tree.kind(id) {
            NodeKind::ConjunctionList => {
                for child in tree.children(id) {
                    self.visit(tree, child, depth + 1);
                }
            }
            NodeKind::Infix if tree.operator(id) == "/\\" => {
                for side in [Field::Left, Field::Right].into_iter().filter_map(|side| tree.field(id, side)) {
                    self.visit(tree, side, depth + 1);
                }
            }
            NodeKind::Reference => {
                let definition = self.plain_definition(tree.text(id, &self.module.source));
                match definition.and_then(|definition| Some((definition, definition.body()?))) {
                    Some((definition, body)) => self.visit(&definition.tree, body, depth + 1),
                    None => self.leaf(tree, id),
                }
            }
            _ => self.leaf(tree, id),
        }
    }

    fn leaf(&mut self, tree: &Tree, id: Id) {
        let referenced = references(tree, &self.module.source, id, &[]);
        let mut names: BTreeSet<&str> = referenced.names.iter().map(String::as_str).collect();
        let closure = self.module.closure_of([&referenced]);
        for definition in closure.iter().filter_map(|name| self.module.definition(name)) {
            names.extend(definition.references.names.iter().map(String::as_str));
        }
        let variables = self.module.variable_names().into_iter().filter(|name| names.contains(name));
        let conjunct = Conjunct {
            text: one_line(tree.text(id, &self.module.source)),
            formula: self.formula(tree, id),
            exceptions: self.exceptions(tree, id),
            variables: variables.map(str::to_owned).collect(),
        };
        self.found.push(conjunct);
    }

    /// The text of a formula, in parentheses if it has several lines.
    fn formula(&self, tree: &Tree, id: Id) -> String {
        let text = tree.text(id, &self.module.source);
        if text.contains('\n') { format!("(\n{}\n)", self.module.text_in_column(tree, id)) } else { text.to_owned() }
    }

    fn exceptions(&self, tree: &Tree, id: Id) -> Option<Exceptions> {
        if tree.kind(id) != NodeKind::Bounded || !tree.is_for_all(id) {
            return None;
        }
        let source = &self.module.source;
        let bounds: Vec<Id> = tree.children(id).filter(|child| tree.kind(*child) == NodeKind::Bound).collect();
        let mut names = Vec::new();
        for bound in &bounds {
            let (bound_names, _) = tree.text(*bound, source).split_once("\\in")?;
            names.extend(bound_names.split(',').map(|name| name.trim().to_owned()));
        }
        let is_name = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let range = tree.node(*bounds.first()?).start..tree.node(*bounds.last()?).end;
        let text = source.get(range)?;
        if text.contains('\n') || !names.iter().all(is_name) {
            return None;
        }
        let body = self.formula(tree, tree.field(id, Field::Body)?);
        let tuple = names.join(", ");
        Some(Exceptions { names, formula: format!("(UNION {{(IF {body} THEN {{}} ELSE {{<<{tuple}>>}}) : {text}}})") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conjuncts_are_found_in_named_definitions_too() {
        let text = "---- MODULE M ----\nEXTENDS Naturals\nVARIABLES x, y\nCONSTANT P\nTop == y\n\
                    Small == x < 3 /\\ Top = 0\nInv == /\\ Small\n       /\\ \\A p, q \\in P : x[p] =\n            q\n====\n";
        let module = Module::parse(text).expect("a module");
        let found = conjuncts(&module, &Cfg::default(), "Inv");
        let texts: Vec<&str> = found.iter().map(|conjunct| conjunct.text.as_str()).collect();
        assert_eq!(texts, ["x < 3", "Top = 0", "\\A p, q \\in P : x[p] = q"]);
        assert_eq!(found[1].variables, ["y"]);
        let exceptions = found[2].exceptions.as_ref().expect("a bounded quantifier");
        assert_eq!(exceptions.names, ["p", "q"]);
        assert!(
            exceptions.formula.starts_with("(UNION {(IF (\n")
                && exceptions.formula.ends_with("<<p, q>>}) : p, q \\in P})")
        );
        assert_eq!(conjuncts(&module, &Cfg::default(), "Nothing"), []);
    }
}

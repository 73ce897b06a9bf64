//! What a type invariant says of the values of variables, and of their parts: `x[p].f \in S`. Pure.

use std::collections::BTreeMap;

use super::definition::{Definition, DefinitionKind};
use super::module::Module;
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};

/// A part of a variable with the set of its values.
#[derive(Debug, Clone)]
pub(super) struct TypedPath<'a> {
    pub(super) variable: String,
    /// The quantifiers that bind the names in `indexes`: `\E p \in (S) : `.
    pub(super) quantifiers: String,
    /// What follows the variable: `[p].f`.
    pub(super) indexes: String,
    /// What comes before the text of the set, because the set is written in terms of parameters: `LET n == (1) IN `.
    pub(super) prefix: String,
    pub(super) role: Role,
    pub(super) tree: &'a Tree,
    pub(super) set: Id,
}

/// How the part is related to the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Member,
    Subset,
    /// Its elements are members.
    Sequence,
}

impl TypedPath<'_> {
    /// The part as an expression.
    pub(super) fn target(&self) -> String {
        format!("{}{}", self.variable, self.indexes)
    }
}

/// Limit on the visited formulas.
const BUDGET: usize = 20_000;

/// The parts of variables that the conjuncts of a definition type. Conjuncts are also found below `\A`, in definitions, and in
/// operators with parameters. Other forms type nothing.
pub(super) fn typed_paths<'a>(module: &'a Module, definition: &'a Definition) -> Vec<TypedPath<'a>> {
    let mut reader = Reader { module, found: Vec::new(), budget: BUDGET };
    if let Some(body) = definition.body() {
        reader.formula(&definition.tree, body, &Scope::default(), 0);
    }
    reader.found
}

/// A part of a variable that an expression names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Path {
    variable: String,
    indexes: String,
}

/// What the names mean where a formula stands.
#[derive(Debug, Clone, Default)]
struct Scope {
    quantifiers: String,
    prefix: String,
    /// The parts of variables that parameters stand for; `None` for another value.
    parameters: BTreeMap<String, Option<Path>>,
    /// The names that number the elements of a sequence.
    positions: BTreeMap<String, Path>,
}

struct Reader<'a> {
    module: &'a Module,
    found: Vec<TypedPath<'a>>,
    budget: usize,
}

impl<'a> Reader<'a> {
    fn formula(&mut self, tree: &'a Tree, id: Id, scope: &Scope, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        if self.budget == 0 || depth > MAX_DEPTH {
            return;
        }
        let id = tree.strip_parentheses(id);
        let sides = tree.operands(id);
        match (tree.kind(id), tree.operator(id), sides) {
            (NodeKind::ConjunctionList, ..) => {
                for item in tree.children(id) {
                    self.formula(tree, item, scope, depth + 1);
                }
            }
            (NodeKind::Infix, "/\\", Some((lhs, rhs))) => {
                self.formula(tree, lhs, scope, depth + 1);
                self.formula(tree, rhs, scope, depth + 1);
            }
            (NodeKind::Infix, "\\in", Some((lhs, rhs))) => self.typed(tree, lhs, rhs, Role::Member, scope),
            (NodeKind::Infix, "\\subseteq", Some((lhs, rhs))) => self.typed(tree, lhs, rhs, Role::Subset, scope),
            (NodeKind::Bounded, ..) if tree.is_for_all(id) => self.for_all(tree, id, scope, depth),
            (NodeKind::Reference | NodeKind::Call, ..) => self.call(tree, id, scope, depth),
            _ => {}
        }
    }

    fn typed(&mut self, tree: &'a Tree, lhs: Id, set: Id, role: Role, scope: &Scope) {
        let lhs = tree.strip_parentheses(lhs);
        // `s[i]`, if i numbers the elements of s.
        let element = (tree.kind(lhs) == NodeKind::FunctionApplication).then(|| {
            let mut parts = tree.children(lhs);
            let (of, index) = (parts.next()?, parts.next()?);
            let sequence = scope.positions.get(tree.text(index, &self.module.source))?;
            (self.path(tree, of, scope).as_ref() == Some(sequence)).then(|| sequence.clone())
        });
        let (path, role) = match element.flatten() {
            Some(sequence) if role == Role::Member => (sequence, Role::Sequence),
            Some(_) => return,
            None => match self.path(tree, lhs, scope) {
                Some(path) => (path, role),
                None => return,
            },
        };
        let Path { variable, indexes } = path;
        let (quantifiers, prefix) = (scope.quantifiers.clone(), scope.prefix.clone());
        self.found.push(TypedPath { variable, quantifiers, indexes, prefix, role, tree, set });
    }

    fn for_all(&mut self, tree: &'a Tree, id: Id, scope: &Scope, depth: usize) {
        let mut inner = scope.clone();
        for bound in tree.children(id).filter(|child| tree.kind(*child) == NodeKind::Bound) {
            let Some(set) = tree.field(bound, Field::Set) else { return };
            let names: Vec<&str> = tree
                .children(bound)
                .filter(|child| tree.kind(*child) == NodeKind::Identifier)
                .map(|child| tree.text(child, &self.module.source))
                .collect();
            if names.is_empty() {
                return;
            }
            if let (Some(sequence), [name]) = (self.numbered(tree, set, scope), names.as_slice()) {
                inner.positions.insert((*name).to_owned(), sequence);
                continue;
            }
            let text = self.module.text_in_column(tree, set);
            let names = names.join(", ");
            inner.quantifiers.extend(["\\E ", &names, " \\in (", &scope.prefix, "\n", &text, ") : "]);
        }
        if let Some(body) = tree.field(id, Field::Body) {
            self.formula(tree, body, &inner, depth + 1);
        }
    }

    /// The sequence s, if the set is `1..Len(s)`.
    fn numbered(&self, tree: &Tree, set: Id, scope: &Scope) -> Option<Path> {
        let set = tree.strip_parentheses(set);
        let (from, to) = tree.operands(set).filter(|_| tree.operator(set) == "..")?;
        let name = tree.called_name(to).filter(|name| *name != to)?;
        let text = |id| tree.text(id, &self.module.source);
        if text(from) != "1" || text(name) != "Len" {
            return None;
        }
        self.path(tree, tree.children(to).nth(1)?, scope)
    }

    fn path(&self, tree: &Tree, id: Id, scope: &Scope) -> Option<Path> {
        let id = tree.strip_parentheses(id);
        let source = &self.module.source;
        match tree.kind(id) {
            NodeKind::Reference => {
                let name = tree.text(id, source);
                if let Some(path) = scope.parameters.get(name) {
                    return path.clone();
                }
                let is_variable = self.module.variable_names().contains(name);
                is_variable.then(|| Path { variable: name.to_owned(), indexes: String::new() })
            }
            NodeKind::FunctionApplication => {
                let mut parts = tree.children(id);
                let mut path = self.path(tree, parts.next()?, scope)?;
                let index = tree.text(parts.next()?, source);
                // A position of a sequence, or a parameter, has no meaning outside.
                let is_foreign = scope.positions.contains_key(index)
                    || !scope.parameters.is_empty() && {
                        let is_word = index.chars().all(|c| c.is_alphanumeric() || c == '_');
                        !is_word || scope.parameters.contains_key(index)
                    };
                if parts.next().is_some() || is_foreign || index.contains('\n') {
                    return None;
                }
                path.indexes.extend(["[", index, "]"]);
                Some(path)
            }
            NodeKind::FieldAccess => {
                let mut parts = tree.children(id);
                let mut path = self.path(tree, parts.next()?, scope)?;
                path.indexes.extend([".", tree.text(parts.next()?, source)]);
                Some(path)
            }
            _ => None,
        }
    }

    fn call(&mut self, tree: &'a Tree, id: Id, scope: &Scope, depth: usize) {
        let Some(name) = tree.called_name(id) else { return };
        let module = self.module;
        let Some(definition) = module.definition(tree.text(name, &module.source)) else { return };
        let arguments: Vec<Id> = tree.children(id).filter(|child| *child != name && id != name).collect();
        let is_plain = definition.kind == DefinitionKind::Operator
            && !definition.has_syntax_errors
            && definition.params.iter().all(|param| param.arity == 0)
            && definition.params.len() == arguments.len();
        let Some(body) = definition.body().filter(|_| is_plain) else { return };
        let mut inner = Scope { quantifiers: scope.quantifiers.clone(), ..Scope::default() };
        inner.prefix.clone_from(&scope.prefix);
        let mut lets = String::new();
        for (param, argument) in definition.params.iter().zip(arguments) {
            // A name cannot be bound twice.
            if scope.prefix.contains(&format!(" {} == ", param.name)) {
                return;
            }
            let text = tree.text(argument, &module.source);
            if text.contains('\n') {
                return;
            }
            lets.extend([" ", &param.name, " == (", text, ")"]);
            inner.parameters.insert(param.name.clone(), self.path(tree, argument, scope));
        }
        if !lets.is_empty() {
            inner.prefix.extend(["LET", &lets, " IN "]);
        }
        self.formula(&definition.tree, body, &inner, depth + 1);
    }
}

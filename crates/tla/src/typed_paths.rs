//! What a type invariant says of the values of variables, and of their parts: `x[p].f \in S`. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::module::Module;
use super::references::references;
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
    /// The text of the set over which the only quantifier ranges; empty if there is none, or several.
    pub(super) domain: String,
    /// The greatest length that the definition allows, if the part is a sequence and the length is a number.
    pub(super) longest: Option<usize>,
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
pub(super) fn typed_paths<'a>(module: &'a Module, cfg: &'a Cfg, definition: &'a Definition) -> TypedPaths<'a> {
    let mut reader = Reader {
        module,
        cfg,
        found: Vec::new(),
        lengths: Vec::new(),
        domains: Vec::new(),
        related: BTreeSet::new(),
        budget: BUDGET,
    };
    if let Some(body) = definition.body() {
        reader.formula(&definition.tree, body, &Scope::default(), 0);
    }
    for path in &mut reader.found {
        let own = reader.lengths.iter().filter(|(of, _)| of.variable == path.variable && of.indexes == path.indexes);
        path.longest = own.map(|(_, longest)| *longest).min();
        let is_whole =
            path.indexes.is_empty() || reader.domains.contains(&(path.variable.clone(), path.domain.clone()));
        if !is_whole {
            reader.related.insert(path.variable.clone());
        }
    }
    TypedPaths { paths: reader.found, related: reader.related }
}

/// What a definition says of the values of variables.
#[derive(Debug, Clone)]
pub(super) struct TypedPaths<'a> {
    pub(super) paths: Vec<TypedPath<'a>>,
    /// The variables of which it says something else, or of which it types only some parts.
    related: BTreeSet<String>,
}

impl TypedPaths<'_> {
    /// Why not every value that the definition allows can be reached by changes of single parts.
    pub(super) fn gaps_of(&self, variable: &str) -> Option<String> {
        self.related.contains(variable).then(|| format!("not all values of {variable} that TypeOK allows were tried"))
    }
}

/// A part of a variable that an expression names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Path {
    variable: String,
    indexes: String,
}

/// The meaning of the names that are bound around a formula.
#[derive(Debug, Clone, Default)]
struct Scope {
    quantifiers: String,
    /// The text of the set of the only quantifier.
    domain: String,
    prefix: String,
    /// For each parameter, the part of a variable that is its argument; `None` if the argument is another value.
    parameters: BTreeMap<String, Option<Path>>,
    /// The parameters whose argument is a number, with the number.
    numbers: BTreeMap<String, usize>,
    /// The names that number the elements of a sequence.
    positions: BTreeMap<String, Path>,
}

/// Whether the text has this name as a word.
fn has_word(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

struct Reader<'a> {
    module: &'a Module,
    cfg: &'a Cfg,
    found: Vec<TypedPath<'a>>,
    /// The greatest lengths of sequences.
    lengths: Vec<(Path, usize)>,
    /// The variables with the text of S in `DOMAIN x = S`.
    domains: Vec<(String, String)>,
    related: BTreeSet<String>,
    budget: usize,
}

impl<'a> Reader<'a> {
    fn formula(&mut self, tree: &'a Tree, id: Id, scope: &Scope, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        if self.budget == 0 || depth > MAX_DEPTH {
            // What was not read may restrict any variable.
            self.related.extend(self.module.variable_names().into_iter().map(str::to_owned));
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
            (NodeKind::Infix, "<=" | "=<" | "\\leq", Some((lhs, rhs))) => {
                let of = self.length_of(tree, lhs, scope);
                match (of, self.number(tree, rhs, scope)) {
                    (Some(path), Some(longest)) => self.lengths.push((path, longest)),
                    (Some(_), None) => {}
                    (None, _) => self.relate(tree, id, scope),
                }
            }
            (NodeKind::Bounded, ..) if tree.is_for_all(id) => self.for_all(tree, id, scope, depth),
            (NodeKind::Reference | NodeKind::Call, ..) => self.call(tree, id, scope, depth),
            (NodeKind::Infix, "=", Some((lhs, rhs))) => match tree.operand_of(tree.strip_parentheses(lhs), "DOMAIN") {
                Some(of) if scope.quantifiers.is_empty() && self.module.is_constant(tree, rhs) => {
                    let name = tree.text(tree.strip_parentheses(of), &self.module.source).to_owned();
                    self.domains.push((name, self.one_line(tree, rhs)));
                }
                _ => self.relate(tree, id, scope),
            },
            _ => self.relate(tree, id, scope),
        }
    }

    /// Notes that a formula says something else of its variables.
    fn relate(&mut self, tree: &Tree, id: Id, scope: &Scope) {
        let referenced = references(tree, &self.module.source, id, &[]);
        self.related.extend(self.module.variables_among(&referenced).into_iter().map(str::to_owned));
        self.related.extend(scope.parameters.values().flatten().map(|path| path.variable.clone()));
    }

    fn one_line(&self, tree: &Tree, id: Id) -> String {
        tree.text(tree.strip_parentheses(id), &self.module.source).split_whitespace().collect::<Vec<_>>().join(" ")
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
            Some(_) => return self.relate(tree, lhs, scope),
            None => match self.path(tree, lhs, scope) {
                Some(path) => (path, role),
                None => return self.relate(tree, lhs, scope),
            },
        };
        let Path { variable, indexes } = path;
        let Scope { quantifiers, prefix, domain, .. } = scope.clone();
        self.found.push(TypedPath { variable, quantifiers, indexes, prefix, role, domain, longest: None, tree, set });
    }

    fn for_all(&mut self, tree: &'a Tree, id: Id, scope: &Scope, depth: usize) {
        let mut inner = scope.clone();
        for bound in tree.children(id).filter(|child| tree.kind(*child) == NodeKind::Bound) {
            let Some(set) = tree.field(bound, Field::Set) else { return self.relate(tree, id, scope) };
            let names: Vec<&str> = tree
                .children(bound)
                .filter(|child| tree.kind(*child) == NodeKind::Identifier)
                .map(|child| tree.text(child, &self.module.source))
                .collect();
            if names.is_empty() {
                return self.relate(tree, id, scope);
            }
            if let (Some(sequence), [name]) = (self.numbered(tree, set, scope), names.as_slice()) {
                inner.positions.insert((*name).to_owned(), sequence);
                continue;
            }
            let text = self.module.text_in_column(tree, set);
            // With several quantifiers, or a set that changes, not every part is typed.
            let is_only = inner.quantifiers.is_empty() && names.len() == 1 && self.module.is_constant(tree, set);
            inner.domain = if is_only && scope.prefix.is_empty() { self.one_line(tree, set) } else { String::new() };
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
        (tree.text(from, &self.module.source) == "1").then(|| self.length_of(tree, to, scope))?
    }

    /// The sequence s, if the expression is `Len(s)`.
    fn length_of(&self, tree: &Tree, id: Id, scope: &Scope) -> Option<Path> {
        let id = tree.strip_parentheses(id);
        let name = tree.called_name(id).filter(|name| *name != id)?;
        let is_length = tree.text(name, &self.module.source) == "Len";
        is_length.then(|| self.path(tree, tree.children(id).nth(1)?, scope))?
    }

    /// The value of the expression, if it is a number, a constant with a number in the configuration, or a parameter with one.
    fn number(&self, tree: &Tree, id: Id, scope: &Scope) -> Option<usize> {
        let text = tree.text(tree.strip_parentheses(id), &self.module.source);
        let configured = || self.cfg.constants.get(text)?.parse().ok();
        scope.numbers.get(text).copied().or_else(|| text.parse().ok()).or_else(configured)
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
        let Some(definition) = module.definition(tree.text(name, &module.source)) else {
            return self.relate(tree, id, scope);
        };
        let arguments: Vec<Id> = tree.children(id).filter(|child| *child != name && id != name).collect();
        let is_plain = definition.kind == DefinitionKind::Operator
            && !definition.has_syntax_errors
            && definition.params.iter().all(|param| param.arity == 0)
            && definition.params.len() == arguments.len();
        let Some(body) = definition.body().filter(|_| is_plain) else { return self.relate(tree, id, scope) };
        let (quantifiers, domain) = (scope.quantifiers.clone(), scope.domain.clone());
        let mut inner = Scope { quantifiers, domain, ..Scope::default() };
        inner.prefix.clone_from(&scope.prefix);
        let mut lets = String::new();
        for (param, argument) in definition.params.iter().zip(arguments) {
            // A name cannot be bound twice.
            let text = tree.text(argument, &module.source);
            let is_bound = [scope.prefix.as_str(), scope.quantifiers.as_str(), text]
                .iter()
                .any(|text| has_word(text, &param.name));
            if is_bound || text.contains('\n') {
                return self.relate(tree, id, scope);
            }
            lets.extend([" ", &param.name, " == (", text, ")"]);
            inner.parameters.insert(param.name.clone(), self.path(tree, argument, scope));
            if let Some(number) = self.number(tree, argument, scope) {
                inner.numbers.insert(param.name.clone(), number);
            }
        }
        if !lets.is_empty() {
            inner.prefix.extend(["LET", &lets, " IN "]);
        }
        self.formula(&definition.tree, body, &inner, depth + 1);
    }
}

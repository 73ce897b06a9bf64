//! Weak fairness of every action of a next-state relation, derived from its text: what "ordinary fairness" is where a
//! specification has none of its own. Lamport, "Specifying Systems", section 8.4.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::lexer::normalise;
use super::module::Module;
use super::outcome::TERMINATING;
use super::references::references;
use super::syntax::{Id, Tree};

/// A specification with weak fairness of each of its actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeakFairness {
    /// Definitions for a module that extends the specification's.
    pub definitions: String,
    /// The one of them that is the specification with its fairness.
    pub specification: String,
    /// The actions taken to be weakly fair, as they are called: `Next`, `worker(self)`.
    pub actions: Vec<String>,
    /// Those of them that hold, or may hold, several actions which were not told apart: fairness of the whole is weaker
    /// than fairness of each.
    pub whole: Vec<String>,
}

impl WeakFairness {
    /// Weak fairness of the next-state relation, of each of its disjuncts and of theirs; `\E p \in S : A(p)` over a
    /// constant `S` is taken apart into `\A p \in S : WF(A(p))`. A disjunct that cannot be taken apart is one action.
    /// An error says why there is no such specification.
    pub fn of(module: &Module, cfg: &Cfg) -> Result<Self, String> {
        let (next, subscript, whole) = next_state(module, cfg)?;
        let mut prefix = "TlaforgeFair".to_owned();
        while module.source.contains(&prefix) {
            prefix.push('_');
        }
        let mut derivation = Derivation {
            module,
            variables: format!("{prefix}Vars"),
            prefix,
            lines: String::new(),
            actions: Vec::new(),
            whole: Vec::new(),
            known: BTreeSet::new(),
            open: Vec::new(),
        };
        derivation.lines = format!("{} == {subscript}\n", derivation.variables);
        let definition = module.definition(&next).filter(|d| d.params.is_empty() && can_be_named(d));
        let definition =
            definition.ok_or_else(|| format!("the next-state relation `{next}` is no plain definition"))?;
        derivation.define(definition);
        if let Some(local) = derivation.known.iter().find(|name| module.definition(name).is_some_and(|d| d.local)) {
            return Err(format!("`{local}` is LOCAL to the module"));
        }
        let specification = format!("{}Spec", derivation.prefix);
        let fair = derivation.name(&next);
        let definitions = format!("{}{specification} == ({whole}) /\\ {fair}\n", derivation.lines);
        let Derivation { actions, whole, .. } = derivation;
        Ok(Self { definitions, specification, actions, whole })
    }
}

/// The name of the next-state relation, the state function under its brackets, and the specification's formula.
pub(super) fn next_state(module: &Module, cfg: &Cfg) -> Result<(String, String, String), String> {
    let Some(specification) = &cfg.specification else {
        let (Some(init), Some(next)) = (&cfg.init, &cfg.next) else {
            return Err("the configuration names no specification".to_owned());
        };
        let variables: Vec<&str> = module.variables.iter().map(|variable| variable.name.as_str()).collect();
        let variables = format!("<<{}>>", variables.join(", "));
        return Ok((next.clone(), variables.clone(), format!("{init} /\\ [][{next}]_{variables}")));
    };
    let by_name = module.definitions_by_name();
    let mut names = module.closure(specification);
    names.insert(specification.clone());
    let mut found = Vec::new();
    for definition in names.iter().filter_map(|name| by_name.get(name.as_str())) {
        let tree = &definition.tree;
        for id in tree.ids().filter(|id| tree.node(*id).kind == "step_expr_or_stutter") {
            let children: Vec<Id> = tree.children(id).collect();
            if let [step, .., subscript] = children[..] {
                let text = |id: Id| tree.text(id, &module.source).trim().to_owned();
                found.push((text(step), text(subscript)));
            }
        }
    }
    match found.as_slice() {
        [(next, subscript)] => Ok((next.clone(), subscript.clone(), specification.clone())),
        _ => Err(format!("`{specification}` does not show one next-state relation")),
    }
}

fn can_be_named(definition: &Definition) -> bool {
    definition.kind == DefinitionKind::Operator
        && !definition.damaged
        && definition.params.iter().all(|param| param.arity == 0)
        && definition.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

struct Derivation<'a> {
    module: &'a Module,
    prefix: String,
    variables: String,
    lines: String,
    actions: Vec<String>,
    whole: Vec<String>,
    /// Definitions whose fairness stands in `lines`.
    known: BTreeSet<String>,
    /// Those in work: a recursive one is not taken apart again.
    open: Vec<String>,
}

impl<'a> Derivation<'a> {
    fn name(&self, of: &str) -> String {
        format!("{}_{of}", self.prefix)
    }

    /// Writes the fairness of a definition down, after that of what it is made of.
    fn define(&mut self, definition: &'a Definition) {
        self.open.push(definition.name.clone());
        let body = body(definition);
        let parts = body.and_then(|id| self.parts(&definition.tree, id));
        let labels = body.is_some_and(|id| self.is_sequence(&definition.tree, id));
        self.open.pop();
        let params: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
        let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
        let call = format!("{}{params}", definition.name);
        if parts.is_none() && !labels && !self.is_label(&definition.name) && self.is_several_in(definition) {
            self.whole.push(call.clone());
        }
        let whole = format!("WF_{}({call})", self.variables);
        let formula = parts.map_or_else(|| whole.clone(), |parts| format!("{whole} /\\ {parts}"));
        let head = format!("{}{params}", self.name(&definition.name));
        let _ = writeln!(self.lines, "{head} == {formula}");
        self.known.insert(definition.name.clone());
        self.actions.push(call);
    }

    /// The fairness of what an action is made of; `None` where it is one action.
    fn parts(&mut self, tree: &'a Tree, id: Id) -> Option<String> {
        let id = bare(tree, id);
        let node = tree.node(id);
        let symbol = tree.field(id, "symbol").map(|symbol| tree.node(symbol).kind);
        match node.kind {
            "disj_list" => {
                let items: Vec<Id> = tree.children(id).collect();
                self.all(tree, &items)
            }
            "bound_infix_op" if symbol == Some("lor") => {
                let sides = [tree.field(id, "lhs")?, tree.field(id, "rhs")?];
                self.all(tree, &sides)
            }
            "bounded_quantification" => {
                let exists = tree.field(id, "quantifier").is_some_and(|q| tree.node(q).kind == "exists");
                let bounds: Vec<Id> =
                    tree.children(id).filter(|child| tree.node(*child).kind == "quantifier_bound").collect();
                let range = tree.node(*bounds.first()?).start..tree.node(*bounds.last()?).end;
                let text = &self.module.source[range];
                let constant =
                    |bound: &Id| tree.field(*bound, "set").is_some_and(|set| is_constant(self.module, tree, set));
                let apart = exists && !text.contains('\n') && bounds.iter().all(constant);
                if !apart {
                    return None;
                }
                let of_each = self.action(tree, tree.field(id, "expression")?);
                Some(format!("(\\A {text} : ({of_each}))"))
            }
            _ => None,
        }
    }

    /// A label of the algorithm: one action, whatever choice it holds.
    fn is_label(&self, name: &str) -> bool {
        self.module.algorithm.iter().flat_map(|a| &a.labels).any(|label| label.name == name)
    }

    /// The labels of a process are one after the other: fairness of the process is that of each.
    fn is_sequence(&self, tree: &Tree, id: Id) -> bool {
        let mut open = vec![id];
        let mut any = false;
        while let Some(id) = open.pop() {
            let id = bare(tree, id);
            match tree.node(id).kind {
                "disj_list" => open.extend(tree.children(id)),
                "bound_infix_op" if is_lor(tree, id) => {
                    open.extend(tree.field(id, "lhs").into_iter().chain(tree.field(id, "rhs")));
                }
                "bullet_disj" => {}
                _ if callee(tree, id).is_some_and(|name| self.is_label(tree.text(name, &self.module.source))) => {
                    any = true;
                }
                _ => return false,
            }
        }
        any && self.open.len() > 1
    }

    /// Whether a definition holds, or may hold, more than one action.
    fn is_several_in(&self, definition: &Definition) -> bool {
        let Some(body) = body(definition).filter(|_| can_be_named(definition)) else { return true };
        self.is_several(&definition.tree, body, &mut BTreeSet::from([definition.name.clone()]))
    }

    /// Whether a formula holds, or may hold, a choice between actions: a disjunction, or a value chosen from a set, with
    /// the next state in it. What cannot be seen into may.
    fn is_several(&self, tree: &Tree, root: Id, seen: &mut BTreeSet<String>) -> bool {
        let source = &self.module.source;
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            let kind = tree.node(id).kind;
            let exists = tree.field(id, "quantifier").is_some_and(|q| tree.node(q).kind == "exists");
            let choice = kind == "disj_list" || is_lor(tree, id) || exists;
            if (choice && self.is_action(tree, id)) || matches!(kind, "prefixed_op" | "subexpression") {
                return true;
            }
            if let Some(name) = callee(tree, id).map(|name| tree.text(name, source))
                && let Some(definition) = self.module.definition(name)
                && seen.insert(definition.name.clone())
                && self.is_action_name(name)
            {
                let Some(body) = body(definition).filter(|_| can_be_named(definition)) else { return true };
                if self.is_several(&definition.tree, body, seen) {
                    return true;
                }
            }
            open.extend(tree.children(id));
        }
        !self.module.is_self_contained()
    }

    /// Whether a formula speaks of the next state.
    fn is_action(&self, tree: &Tree, id: Id) -> bool {
        let refers = references(tree, &self.module.source, id, &[]);
        let range = tree.node(id).start..tree.node(id).end;
        speaks_of_next(tree, range)
            || refers.foreign
            || self.module.closure_of([&refers]).iter().any(|n| self.speaks(n))
    }

    fn is_action_name(&self, name: &str) -> bool {
        self.speaks(name) || self.module.closure(name).iter().any(|name| self.speaks(name))
    }

    fn speaks(&self, name: &str) -> bool {
        self.module
            .definition(name)
            .is_none_or(|d| d.damaged || d.refers.foreign || speaks_of_next(&d.tree, 0..usize::MAX))
    }

    fn all(&mut self, tree: &'a Tree, items: &[Id]) -> Option<String> {
        let called = |item: &Id| callee(tree, bare(tree, *item)).map(|name| tree.text(name, &self.module.source));
        if self.open.len() > 1 && items.iter().all(|item| called(item).is_some_and(|name| self.is_label(name))) {
            return None;
        }
        let items: Vec<Id> = items.iter().copied().filter(|item| called(item) != Some(TERMINATING)).collect();
        let parts: Vec<String> = items.into_iter().map(|item| self.action(tree, item)).collect();
        (!parts.is_empty()).then(|| parts.join(" /\\ "))
    }

    /// The fairness of an action, as a formula that can stand in a conjunction.
    fn action(&mut self, tree: &'a Tree, id: Id) -> String {
        let id = bare(tree, id);
        let source = &self.module.source;
        let module = self.module;
        if let Some(name) = callee(tree, id) {
            let called = tree.text(name, source);
            let definition = module.definition(called).filter(|d| can_be_named(d));
            if let Some(definition) = definition.filter(|d| !self.open.contains(&d.name)) {
                if !self.known.contains(&definition.name) {
                    self.define(definition);
                }
                let arguments = source[tree.node(name).end..tree.node(id).end].trim();
                return format!("{}{arguments}", self.name(&definition.name));
            }
        }
        if let Some(parts) = self.parts(tree, id) {
            return parts;
        }
        let node = tree.node(id);
        let text = normalise(source, node.start..node.end, &[]);
        if self.is_several(tree, id, &mut self.open.iter().cloned().collect()) {
            self.whole.push(text.clone());
        }
        self.actions.push(text);
        // Bulleted lists live by their columns.
        let line = source[..node.start].rfind('\n').map_or(0, |at| at + 1);
        let column = source[line..node.start].chars().count();
        format!("WF_{}(\n{}{}\n)", self.variables, " ".repeat(column), &source[node.start..node.end])
    }
}

/// Whether an expression is the same in every state.
pub(super) fn is_constant(module: &Module, tree: &Tree, id: Id) -> bool {
    let refers = references(tree, &module.source, id, &[]);
    let is_state = |name: &String| module.variable_names().contains(name.as_str());
    let below = module.closure_of([&refers]);
    !refers.foreign && !refers.names.iter().any(is_state) && !below.iter().any(|name| module.mentions_variable(name))
}

pub(super) fn body(definition: &Definition) -> Option<Id> {
    let tree = &definition.tree;
    let unit = tree.ids().find(|id| tree.node(*id).kind == "operator_definition")?;
    tree.field(unit, "definition")
}

fn is_lor(tree: &Tree, id: Id) -> bool {
    let symbol = tree.field(id, "symbol").map(|symbol| tree.node(symbol).kind);
    tree.node(id).kind == "bound_infix_op" && symbol == Some("lor")
}

/// Whether a prime or UNCHANGED stands in that range.
fn speaks_of_next(tree: &Tree, range: std::ops::Range<usize>) -> bool {
    tree.ids()
        .map(|id| tree.node(id))
        .any(|node| range.contains(&node.start) && matches!(node.kind, "prime" | "unchanged"))
}

/// Without parentheses and bullets around it.
pub(super) fn bare(tree: &Tree, mut id: Id) -> Id {
    while matches!(tree.node(id).kind, "parentheses" | "conj_item" | "disj_item") {
        match tree.children(id).last() {
            Some(inner) => id = inner,
            None => break,
        }
    }
    id
}

/// The name in `A` or `A(x)`.
pub(super) fn callee(tree: &Tree, id: Id) -> Option<Id> {
    match tree.node(id).kind {
        "identifier_ref" => Some(id),
        "bound_op" => tree.children(id).next(),
        _ => None,
    }
}

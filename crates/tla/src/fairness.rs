//! Weak fairness of every action of a next-state relation, derived from its text. A probe assumes it to find out if a
//! violation disappears under ordinary fairness. Lamport, "Specifying Systems", section 8.4.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::lexer::normalise;
use super::module::Module;
use super::next_relation::NextRelation;
use super::references::references;
use super::syntax::{Field, Id, NodeKind, Tree};

/// A specification with weak fairness of each of its actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeakFairness {
    /// Definitions for a module that extends the specification's.
    pub definitions: String,
    /// The name of the one that is the specification with its fairness.
    pub specification: String,
    /// The actions that are assumed to be weakly fair, as they are called: `Next`, `worker(self)`.
    pub actions: Vec<String>,
    /// Those of `actions` that contain, or may contain, several actions which could not be separated. Fairness of their
    /// disjunction is weaker than fairness of each.
    pub unsplit_actions: Vec<String>,
}

impl WeakFairness {
    /// Derives weak fairness of the next-state relation, of each of its disjuncts, of their disjuncts, and so on.
    /// `\E p \in S : A(p)` over a constant `S` becomes `\A p \in S : WF(A(p))`. A disjunct that cannot be split is one
    /// action. An error says why there is no such specification.
    pub fn derive(module: &Module, cfg: &Cfg) -> Result<Self, String> {
        let NextRelation { next, subscript, specification: original } = NextRelation::find(module, cfg)?;
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
            unsplit_actions: Vec::new(),
            defined: BTreeSet::new(),
            open: Vec::new(),
        };
        derivation.lines = format!("{} == {subscript}\n", derivation.variables);
        let definition = module.definition(&next).filter(|d| d.params.is_empty() && can_be_named(d));
        let definition =
            definition.ok_or_else(|| format!("the next-state relation `{next}` is no plain definition"))?;
        derivation.define(definition);
        if let Some(local) = derivation.defined.iter().find(|name| module.definition(name).is_some_and(|d| d.local)) {
            return Err(format!("`{local}` is LOCAL to the module"));
        }
        let specification = format!("{}Spec", derivation.prefix);
        let fairness = derivation.fairness_name(&next);
        let definitions = format!("{}{specification} == ({original}) /\\ {fairness}\n", derivation.lines);
        let Derivation { actions, unsplit_actions, .. } = derivation;
        Ok(Self { definitions, specification, actions, unsplit_actions })
    }
}

fn can_be_named(definition: &Definition) -> bool {
    definition.kind == DefinitionKind::Operator
        && !definition.has_syntax_errors
        && definition.params.iter().all(|param| param.arity == 0)
        && definition.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

struct Derivation<'a> {
    module: &'a Module,
    prefix: String,
    /// The name of the state function below each `WF`.
    variables: String,
    lines: String,
    actions: Vec<String>,
    unsplit_actions: Vec<String>,
    /// Definitions whose fairness is already in `lines`.
    defined: BTreeSet<String>,
    /// Definitions being processed, so that a recursive one is not entered twice.
    open: Vec<String>,
}

impl<'a> Derivation<'a> {
    /// The name of the definition that states the fairness of an action.
    fn fairness_name(&self, action: &str) -> String {
        format!("{}_{action}", self.prefix)
    }

    /// Writes the fairness of a definition, after the fairness of the actions it consists of.
    fn define(&mut self, definition: &'a Definition) {
        self.open.push(definition.name.clone());
        let body = definition.body();
        let parts = body.and_then(|id| self.fairness_of_parts(&definition.tree, id));
        let is_process = body.is_some_and(|id| self.is_choice_of_labels(&definition.tree, id));
        self.open.pop();
        let params: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
        let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
        let call = format!("{}{params}", definition.name);
        if parts.is_none() && !is_process && !self.is_label(&definition.name) && self.may_combine_actions(definition) {
            self.unsplit_actions.push(call.clone());
        }
        let fairness = format!("WF_{}({call})", self.variables);
        let formula = parts.map_or_else(|| fairness.clone(), |parts| format!("{fairness} /\\ {parts}"));
        let head = format!("{}{params}", self.fairness_name(&definition.name));
        let _ = writeln!(self.lines, "{head} == {formula}");
        self.defined.insert(definition.name.clone());
        self.actions.push(call);
    }

    /// The fairness of the parts of an action; `None` if it is one action.
    fn fairness_of_parts(&mut self, tree: &'a Tree, id: Id) -> Option<String> {
        let id = tree.strip_parentheses(id);
        match tree.kind(id) {
            NodeKind::DisjunctionList => {
                let items: Vec<Id> = tree.children(id).collect();
                self.fairness_of_all(tree, &items)
            }
            _ if tree.is_infix(id, "\\/") => {
                let (left, right) = tree.operands(id)?;
                self.fairness_of_all(tree, &[left, right])
            }
            NodeKind::Bounded => {
                let bounds: Vec<Id> = tree.children(id).filter(|child| tree.kind(*child) == NodeKind::Bound).collect();
                let range = tree.node(*bounds.first()?).start..tree.node(*bounds.last()?).end;
                let text = &self.module.source[range];
                let is_constant =
                    |bound: &Id| tree.field(*bound, Field::Set).is_some_and(|set| self.module.is_constant(tree, set));
                // The bounds are copied into one line, where a bulleted list in them would lose its columns.
                let can_split = tree.is_exists(id) && !text.contains('\n') && bounds.iter().all(is_constant);
                if !can_split {
                    return None;
                }
                let fairness_of_each = self.fairness_of_action(tree, tree.field(id, Field::Body)?);
                Some(format!("(\\A {text} : ({fairness_of_each}))"))
            }
            _ => None,
        }
    }

    /// Whether the name is a label of the algorithm. A label is one action, whatever choices it contains.
    fn is_label(&self, name: &str) -> bool {
        self.module.algorithm.iter().flat_map(|a| &a.labels).any(|label| label.name == name)
    }

    /// Whether a definition below the next-state relation is a disjunction of labels, which is how the translator
    /// writes a process. A process executes its labels one after the other, so fairness of the process is fairness of
    /// each label.
    fn is_choice_of_labels(&self, tree: &Tree, id: Id) -> bool {
        let mut open = vec![id];
        let mut any = false;
        while let Some(id) = open.pop() {
            let id = tree.strip_parentheses(id);
            match tree.kind(id) {
                NodeKind::DisjunctionList => open.extend(tree.children(id)),
                _ if tree.is_infix(id, "\\/") => {
                    open.extend(tree.field(id, Field::Left).into_iter().chain(tree.field(id, Field::Right)));
                }
                _ if tree.called_name(id).is_some_and(|name| self.is_label(tree.text(name, &self.module.source))) => {
                    any = true;
                }
                _ => return false,
            }
        }
        any && self.open.len() > 1
    }

    /// Whether a definition contains, or may contain, more than one action.
    fn may_combine_actions(&self, definition: &Definition) -> bool {
        let Some(body) = definition.body().filter(|_| can_be_named(definition)) else { return true };
        self.may_choose_action(&definition.tree, body, &mut BTreeSet::from([definition.name.clone()]))
    }

    /// Whether a formula contains, or may contain, a choice between actions: a disjunction or an existential quantifier
    /// that mentions the next state. A formula that cannot be inspected counts as one.
    fn may_choose_action(&self, tree: &Tree, root: Id, seen: &mut BTreeSet<String>) -> bool {
        let source = &self.module.source;
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            let kind = tree.kind(id);
            let is_choice = kind == NodeKind::DisjunctionList || tree.is_infix(id, "\\/") || tree.is_exists(id);
            if (is_choice && self.is_action(tree, id))
                || matches!(kind, NodeKind::ForeignCall | NodeKind::Subexpression)
            {
                return true;
            }
            if let Some(name) = tree.called_name(id).map(|name| tree.text(name, source))
                && let Some(definition) = self.module.definition(name)
                && seen.insert(definition.name.clone())
                && self.is_action_name(name)
            {
                let Some(body) = definition.body().filter(|_| can_be_named(definition)) else { return true };
                if self.may_choose_action(&definition.tree, body, seen) {
                    return true;
                }
            }
            open.extend(tree.children(id));
        }
        !self.module.is_self_contained()
    }

    /// Whether a formula, or a definition it depends on, mentions the next state.
    fn is_action(&self, tree: &Tree, id: Id) -> bool {
        let referenced = references(tree, &self.module.source, id, &[]);
        let range = tree.range(id);
        mentions_next_state(tree, range)
            || referenced.foreign
            || self.module.closure_of([&referenced]).iter().any(|name| self.may_mention_next_state(name))
    }

    fn is_action_name(&self, name: &str) -> bool {
        self.may_mention_next_state(name)
            || self.module.closure(name).iter().any(|name| self.may_mention_next_state(name))
    }

    fn may_mention_next_state(&self, name: &str) -> bool {
        self.module
            .definition(name)
            .is_none_or(|d| d.has_syntax_errors || d.references.foreign || mentions_next_state(&d.tree, 0..usize::MAX))
    }

    /// The conjunction of the fairness of several actions; `None` for the labels of a process (see
    /// [`Self::is_choice_of_labels`]) and if nothing but the translator's `Terminating` remains.
    fn fairness_of_all(&mut self, tree: &'a Tree, items: &[Id]) -> Option<String> {
        let called = |item: &Id| {
            tree.called_name(tree.strip_parentheses(*item)).map(|name| tree.text(name, &self.module.source))
        };
        if self.open.len() > 1 && items.iter().all(|item| called(item).is_some_and(|name| self.is_label(name))) {
            return None;
        }
        let is_end = |item: &Id| called(item).is_some_and(|name| self.module.is_translators_end(name));
        let items: Vec<Id> = items.iter().copied().filter(|item| !is_end(item)).collect();
        let parts: Vec<String> = items.into_iter().map(|item| self.fairness_of_action(tree, item)).collect();
        (!parts.is_empty()).then(|| parts.join(" /\\ "))
    }

    /// The fairness of an action, as a formula that can be a conjunct.
    fn fairness_of_action(&mut self, tree: &'a Tree, id: Id) -> String {
        let id = tree.strip_parentheses(id);
        let source = &self.module.source;
        let module = self.module;
        if let Some(name) = tree.called_name(id) {
            let called = tree.text(name, source);
            let definition = module.definition(called).filter(|d| can_be_named(d));
            if let Some(definition) = definition.filter(|d| !self.open.contains(&d.name)) {
                if !self.defined.contains(&definition.name) {
                    self.define(definition);
                }
                let arguments = source[tree.node(name).end..tree.node(id).end].trim();
                return format!("{}{arguments}", self.fairness_name(&definition.name));
            }
        }
        if let Some(parts) = self.fairness_of_parts(tree, id) {
            return parts;
        }
        let node = tree.node(id);
        let text = normalise(source, node.start..node.end, &[]);
        if self.may_choose_action(tree, id, &mut self.open.iter().cloned().collect()) {
            self.unsplit_actions.push(text.clone());
        }
        self.actions.push(text);
        format!("WF_{}(\n{}\n)", self.variables, module.text_in_column(tree, id))
    }
}

/// Whether there is a prime or UNCHANGED in that range of the text.
fn mentions_next_state(tree: &Tree, range: Range<usize>) -> bool {
    tree.ids().map(|id| tree.node(id)).any(|node| range.contains(&node.start) && node.kind.is_next_state())
}

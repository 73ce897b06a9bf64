//! Mutates actions and initial predicates, and the definitions that contain them. Formulas that do not refer to the
//! next state are left to `guard` and `expression`.

use super::super::Operator;
use super::chain::Junction;
use super::facts::Facts;
use super::guard::GuardRemoval;
use super::tree_mutator::{Bound, MutantDraft, Role, TreeMutator};
use tlaforge_tla::{Definition, DefinitionKind, Field, Id, NodeKind};

pub(super) fn drafts<'a>(facts: &'a Facts<'a>, definition: &'a Definition, role: Role) -> Vec<MutantDraft> {
    let tree = &definition.tree;
    let mut walk = TreeMutator::new(facts, tree, role);
    let is_unit = |id: &Id| matches!(tree.kind(*id), NodeKind::OperatorDefinition | NodeKind::FunctionDefinition);
    let Some(unit) = tree.ids().find(is_unit) else { return Vec::new() };
    let Some(body) = tree.field(unit, Field::Definition) else { return Vec::new() };
    if role == Role::Temporal {
        walk.mutate_fairness();
        return walk.drafts;
    }
    let params: Vec<Bound> = match definition.kind {
        DefinitionKind::Function => {
            let bounds = walk.children(unit).into_iter().filter(|child| walk.kind(*child) == NodeKind::Bound);
            bounds.flat_map(|bound| walk.bound_names(bound)).collect()
        }
        _ => {
            let named = definition.params.iter().enumerate();
            named
                .map(|(at, param)| Bound { name: param.name.clone(), set: facts.parameter_set(&definition.name, at) })
                .collect()
        }
    };
    if walk.is_tuple_of_variables(body) {
        return Vec::new();
    }
    walk.with_bound(params, |walk| match role {
        Role::Action => walk.visit_action(body),
        Role::Initial => walk.visit_initial(body),
        _ => walk.visit(body),
    });
    walk.drafts
}

impl TreeMutator<'_> {
    /// Whether an expression is a tuple of variables like `vars`: mutating a subscript changes no behaviour.
    fn is_tuple_of_variables(&self, id: Id) -> bool {
        let variables = self.facts.module.variable_names();
        let mut elements = self.tree.children(id);
        self.kind(id) == NodeKind::TupleLiteral && elements.all(|element| variables.contains(self.text(element)))
    }

    /// Visits a formula about the next state and its subformulas.
    pub(super) fn visit_action(&mut self, id: Id) {
        self.with_depth(|walk| walk.visit_action_here(id));
    }

    fn visit_action_here(&mut self, id: Id) {
        // A formula about the current state only is a guard.
        if !self.refers_to_next_state(id) {
            return self.mutate_guard(id, GuardRemoval::True);
        }
        for junction in [Junction::And, Junction::Or] {
            if let Some(chain) = self.chain(id, junction) {
                for index in 0..chain.operands.len() {
                    let content = chain.operands[index].content;
                    if junction == Junction::Or && chain.operands.len() > 1 {
                        let what = format!("no longer has the branch {}", self.quote(self.range(content)));
                        let edit = self.removal(&chain, index, junction);
                        self.add_draft(Operator::DropBranch, self.range(content).start, "", what, vec![edit]);
                    }
                    if self.refers_to_next_state(content) {
                        self.visit_action(content);
                    } else if junction == Junction::And {
                        self.mutate_guard(content, GuardRemoval::Edit(self.removal(&chain, index, junction)));
                    } else {
                        self.visit(content);
                    }
                }
                return;
            }
        }
        match self.kind(id) {
            NodeKind::Parentheses => self.children(id).into_iter().for_each(|inner| self.visit_action(inner)),
            NodeKind::Bounded => {
                // In an action, `\E x \in S` chooses a value, like `with` in PlusCal; `\A` does not.
                if self.tree.is_exists(id) {
                    self.visit_binder(id, Self::visit_choice, Self::visit_action);
                } else {
                    self.visit_binder(id, Self::visit, Self::visit_action);
                }
            }
            NodeKind::IfThenElse => self.visit_if(id, Self::visit_action),
            NodeKind::LetIn => self.visit_let(id, Self::visit_action),
            NodeKind::Case => self.children(id).into_iter().for_each(|arm| self.visit_action(arm)),
            NodeKind::CaseArm => {
                if let [condition, value] = self.children(id)[..] {
                    self.mutate_guard(condition, GuardRemoval::True);
                    self.visit_action(value);
                }
            }
            NodeKind::OtherArm => {
                self.children(id).into_iter().last().into_iter().for_each(|value| self.visit_action(value));
            }
            NodeKind::Infix => self.mutate_update(id),
            _ => self.visit(id),
        }
    }

    /// `x' = e`, `x' \in S`.
    fn mutate_update(&mut self, id: Id) {
        let Some((left, right)) = self.operands(id) else { return };
        let primed = (self.kind(left) == NodeKind::Postfix && self.symbol(left) == "'")
            .then(|| self.tree.field(left, Field::Left))
            .flatten();
        let (Some(variable), symbol @ ("=" | "\\in")) = (primed, self.symbol(id)) else { return self.visit(id) };
        let name = self.text(variable);
        // `x' = x` already leaves the variable as it is.
        if self.text(right) != name {
            let what = format!("no longer updates `{name}`");
            let whole = self.range(id);
            let at = self.tree.field(id, Field::Symbol).map_or(whole.end, |symbol| self.range(symbol).start);
            self.add_edit(Operator::DropUpdate, whole.start, "", what, at..whole.end, format!("= {name}"));
        }
        if symbol == "\\in" { self.visit_choice(right) } else { self.visit(right) }
    }

    fn visit_initial(&mut self, id: Id) {
        self.with_depth(|walk| walk.visit_initial_here(id));
    }

    fn visit_initial_here(&mut self, id: Id) {
        if let Some(chain) = self.chain(id, Junction::And) {
            for (index, operand) in chain.operands.iter().enumerate() {
                let inner = self.strip_parentheses(operand.content);
                let defines = self.is_initial_assignment(inner) || self.chain(inner, Junction::And).is_some();
                // What may assign a variable stays: without it, TLC cannot compute the initial states.
                if !defines && !matches!(self.kind(inner), NodeKind::Reference | NodeKind::Call | NodeKind::Bounded) {
                    self.drop_conjunct(&chain, index);
                }
                self.visit_initial(operand.content);
            }
            return;
        }
        match (self.kind(id), self.operands(id)) {
            (NodeKind::Parentheses, _) => self.children(id).into_iter().for_each(|inner| self.visit_initial(inner)),
            (NodeKind::Bounded, _) => self.visit_binder(id, Self::visit_choice, Self::visit_initial),
            (_, Some((_, right))) if self.is_initial_assignment(id) => {
                if self.symbol(id) == "\\in" {
                    self.visit_choice(right);
                } else {
                    self.visit(right);
                }
            }
            _ => self.visit(id),
        }
    }

    /// Whether a formula is `x = e` or `x \in S` for a variable `x`.
    fn is_initial_assignment(&self, id: Id) -> bool {
        let variable =
            self.operands(id).is_some_and(|(left, _)| self.facts.module.variable_names().contains(self.text(left)));
        variable && matches!(self.symbol(id), "=" | "\\in")
    }
}

//! Formulas that say what the next state is, and the definitions that they stand in.

use super::super::Operator;
use super::chain::Junction;
use super::facts::Facts;
use super::guard::Without;
use super::walk::{Bound, Flaw, Role, Walk};
use crate::tla::{Definition, DefinitionKind, Id};

/// The flaws of one definition.
pub(super) fn flaws<'a>(facts: &'a Facts<'a>, definition: &'a Definition, role: Role) -> Vec<Flaw> {
    let tree = &definition.tree;
    let mut walk = Walk::new(facts, tree, role);
    let is_unit = |id: &Id| matches!(tree.node(*id).kind, "operator_definition" | "function_definition");
    let Some(unit) = tree.ids().find(is_unit) else { return Vec::new() };
    let Some(body) = tree.field(unit, "definition") else { return Vec::new() };
    if role == Role::Temporal {
        walk.fairness();
        return walk.flaws;
    }
    let params: Vec<Bound> = match definition.kind {
        DefinitionKind::Function => {
            let bounds = walk.children(unit).into_iter().filter(|child| walk.kind(*child) == "quantifier_bound");
            bounds.flat_map(|bound| walk.introduced(bound)).collect()
        }
        _ => {
            let named = definition.params.iter().enumerate();
            named
                .map(|(at, param)| Bound { name: param.name.clone(), set: facts.parameter(&definition.name, at) })
                .collect()
        }
    };
    if walk.is_tuple_of_variables(body) {
        return Vec::new();
    }
    walk.bound(params, |walk| match role {
        Role::Action => walk.action(body),
        Role::Initial => walk.initial(body),
        _ => walk.visit(body),
    });
    walk.flaws
}

impl Walk<'_> {
    /// `vars`: what a subscript is, not what anything does.
    fn is_tuple_of_variables(&self, id: Id) -> bool {
        let variables = self.facts.module.variable_names();
        let is_variable = |child: Id| variables.contains(self.text(child)) || self.kind(child).ends_with("_bracket");
        self.kind(id) == "tuple_literal" && self.children(id).into_iter().all(is_variable)
    }

    /// A formula that speaks of the next state, and what is in it.
    pub(super) fn action(&mut self, id: Id) {
        self.deeper(|walk| walk.action_here(id));
    }

    fn action_here(&mut self, id: Id) {
        if !self.speaks(id) {
            return self.guard(id, Without::True);
        }
        for junction in [Junction::And, Junction::Or] {
            if let Some(chain) = self.chain(id, junction) {
                for index in 0..chain.links.len() {
                    let content = chain.links[index].content;
                    if junction == Junction::Or && chain.links.len() > 1 {
                        let what = format!("no longer has the branch {}", self.quoted(self.range(content)));
                        let edit = self.removal(&chain, index, junction);
                        self.add(Operator::DropBranch, self.range(content).start, "", what, vec![edit]);
                    }
                    if self.speaks(content) {
                        self.action(content);
                    } else if junction == Junction::And {
                        self.guard(content, Without::Edit(self.removal(&chain, index, junction)));
                    } else {
                        self.visit(content);
                    }
                }
                return;
            }
        }
        match self.kind(id) {
            "parentheses" => self.children(id).into_iter().for_each(|inner| self.action(inner)),
            "bounded_quantification" => {
                let exists = self.tree.field(id, "quantifier").is_some_and(|q| self.kind(q) == "exists");
                if exists {
                    self.binder(id, Self::choice, Self::action);
                } else {
                    self.binder(id, Self::visit, Self::action);
                }
            }
            "if_then_else" => self.if_then_else(id, Self::action),
            "let_in" => self.let_in(id, Self::action),
            "case" => self.children(id).into_iter().for_each(|arm| self.action(arm)),
            "case_arm" => {
                if let [condition, .., value] = self.children(id)[..] {
                    self.guard(condition, Without::True);
                    self.action(value);
                }
            }
            "other_arm" => self.children(id).into_iter().last().into_iter().for_each(|value| self.action(value)),
            "bound_infix_op" => self.update(id),
            "case_box" | "case_arrow" => {}
            _ => self.visit(id),
        }
    }

    /// `x' = e`, `x' \in S`.
    fn update(&mut self, id: Id) {
        let Some((left, right)) = self.sides(id) else { return };
        let primed = (self.kind(left) == "bound_postfix_op" && self.symbol(left) == "prime")
            .then(|| self.tree.field(left, "lhs"))
            .flatten();
        let (Some(variable), symbol @ ("eq" | "in")) = (primed, self.symbol(id)) else { return self.visit(id) };
        let name = self.text(variable);
        if self.text(right) != name {
            let what = format!("no longer updates `{name}`");
            let whole = self.range(id);
            let at = self.tree.field(id, "symbol").map_or(whole.end, |symbol| self.range(symbol).start);
            self.edit(Operator::DropUpdate, whole.start, "", what, at..whole.end, format!("= {name}"));
        }
        if symbol == "in" { self.choice(right) } else { self.visit(right) }
    }

    /// A formula of the initial states.
    fn initial(&mut self, id: Id) {
        self.deeper(|walk| walk.initial_here(id));
    }

    fn initial_here(&mut self, id: Id) {
        if let Some(chain) = self.chain(id, Junction::And) {
            for (index, link) in chain.links.iter().enumerate() {
                let inner = self.bare(link.content);
                let defines = self.initialises(inner) || self.chain(inner, Junction::And).is_some();
                if !defines && !matches!(self.kind(inner), "identifier_ref" | "bound_op" | "bounded_quantification") {
                    self.drop_conjunct(&chain, index);
                }
                self.initial(link.content);
            }
            return;
        }
        match (self.kind(id), self.sides(id)) {
            ("parentheses", _) => self.children(id).into_iter().for_each(|inner| self.initial(inner)),
            ("bounded_quantification", _) => self.binder(id, Self::choice, Self::initial),
            (_, Some((_, right))) if self.initialises(id) => {
                if self.symbol(id) == "in" {
                    self.choice(right);
                } else {
                    self.visit(right);
                }
            }
            _ => self.visit(id),
        }
    }

    /// `x = e` and `x \in S` of a variable.
    fn initialises(&self, id: Id) -> bool {
        let variable =
            self.sides(id).is_some_and(|(left, _)| self.facts.module.variable_names().contains(self.text(left)));
        variable && matches!(self.symbol(id), "eq" | "in")
    }
}

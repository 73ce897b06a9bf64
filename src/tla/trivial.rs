//! Properties that are TRUE whatever the module does. Sound, not complete: `Some` only when certain.

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::lexer::normalise;
use super::module::Module;
use super::references::canonical;
use super::syntax::{Id, MAX_DEPTH, Tree};

/// Operators whose value is not a function of their arguments and the state.
const UNSTABLE: &[&str] = &[
    "RandomElement",
    "RandomSubset",
    "RandomSetOfSubsets",
    "RandomSubsetSet",
    "TLCGet",
    "TLCSet",
    "JavaTime",
    "IOExec",
    "TLCEvalDefinition",
    "Any",
    "ToTrace",
    "Trace",
    "CounterExample",
];

/// Why the property holds of every module, or `None` where that is not certain.
pub fn constantly_true(module: &Module, property: &str) -> Option<String> {
    constantly_true_under(module, &Cfg::default(), property)
}

/// As [`constantly_true`], where the configuration may replace definitions (`C <- D`): a property that depends on a
/// replaced name is never said to be trivial.
pub fn constantly_true_under(module: &Module, cfg: &Cfg, property: &str) -> Option<String> {
    let definition = module.definition(property)?;
    if definition.damaged || definition.kind != DefinitionKind::Operator || definition.arity() > 0 {
        return None;
    }
    let closure = module.closure(property);
    if closure.contains(property) {
        return None;
    }
    let all = || closure.iter().map(String::as_str).chain([property]);
    let replaced = |name: &str| cfg.constants.contains_key(name);
    let unsafe_definition = all().any(|name| {
        replaced(name)
            || module.definition(name).is_none_or(|definition| {
                definition.damaged
                    || definition
                        .refers
                        .names
                        .iter()
                        .any(|name| UNSTABLE.contains(&name.as_str()) || replaced_away(cfg, name))
            })
    });
    if unsafe_definition {
        return None;
    }
    let evaluation = Evaluation { module };
    if evaluation.definition(definition, &mut vec![property]) == Some(true) {
        return Some("reduces to TRUE whatever the state is".to_owned());
    }
    // Where something could not be read, a variable may have been missed.
    let standard = module.is_self_contained() && module.syntax_errors.is_empty();
    let foreign = all().any(|name| module.definition(name).is_none_or(|definition| definition.refers.foreign));
    let asks_behaviour = all().any(|name| {
        module.definition(name).is_some_and(|definition| {
            definition.refers.names.contains("ENABLED")
                || definition.tree.ids().any(|id| definition.tree.node(id).kind == "fairness")
        })
    });
    if standard && !foreign && !asks_behaviour && !module.mentions_variable(property) {
        return Some("mentions no variable: it says nothing about any state".to_owned());
    }
    None
}

/// `C <- D` puts another definition in the name's place.
fn replaced_away(cfg: &Cfg, name: &str) -> bool {
    cfg.constants.get(name).is_some_and(|value| value.starts_with("<- "))
}

struct Evaluation<'a> {
    module: &'a Module,
}

impl<'a> Evaluation<'a> {
    fn definition(&self, definition: &'a Definition, open: &mut Vec<&'a str>) -> Option<bool> {
        if definition.damaged || definition.kind != DefinitionKind::Operator || open.len() > 64 {
            return None;
        }
        let tree = &definition.tree;
        let unit = tree.ids().find(|id| tree.node(*id).kind == "operator_definition")?;
        let body = tree.field(unit, "definition")?;
        let bound: Vec<String> = definition.params.iter().map(|param| param.name.clone()).collect();
        Reading { evaluation: self, tree, open }.value(body, &bound, 0)
    }
}

struct Reading<'e, 'a, 'o> {
    evaluation: &'e Evaluation<'a>,
    tree: &'a Tree,
    open: &'o mut Vec<&'a str>,
}

impl Reading<'_, '_, '_> {
    fn text(&self, id: Id) -> String {
        let node = self.tree.node(id);
        let inside = |of: Id| (node.start..node.end).contains(&self.tree.node(of).start);
        let items: Vec<_> = self
            .tree
            .ids()
            .filter(|of| inside(*of) && matches!(self.tree.node(*of).kind, "conj_item" | "disj_item"))
            .map(|of| self.tree.node(of).start..self.tree.node(of).end)
            .collect();
        normalise(&self.evaluation.module.source, node.start..node.end, &items)
    }

    fn children(&self, id: Id) -> Vec<Id> {
        self.tree.children(id).collect()
    }

    /// The truth value, where it is the same in every state and under every assignment of the bound names.
    fn value(&mut self, id: Id, bound: &[String], depth: usize) -> Option<bool> {
        if depth > MAX_DEPTH / 2 {
            return None;
        }
        let children = self.children(id);
        let kind = self.tree.node(id).kind;
        match kind {
            "boolean" => Some(self.tree.text(id, &self.evaluation.module.source) == "TRUE"),
            "parentheses" | "conj_item" | "disj_item" => self.value(*children.last()?, bound, depth + 1),
            "identifier_ref" => self.named(id, bound),
            "bound_op" => self.named(*children.first()?, bound),
            "conj_list" | "disj_list" => self.list(&children, kind == "disj_list", bound, depth),
            "bound_prefix_op" => self.prefix(id, bound, depth),
            "bound_infix_op" => self.infix(id, bound, depth),
            // The grammar reads `~(x = 1)` as an operator used like a function.
            "bound_nonfix_op" if children.len() == 2 => self.prefix(id, bound, depth),
            "bounded_quantification" | "unbounded_quantification" => self.quantified(id, bound, depth),
            "if_then_else" => {
                let field = |name| self.tree.field(id, name);
                let (test, yes, no) = (field("if")?, field("then")?, field("else")?);
                match self.value(test, bound, depth + 1) {
                    Some(true) => self.value(yes, bound, depth + 1),
                    Some(false) => self.value(no, bound, depth + 1),
                    None => {
                        let yes = self.value(yes, bound, depth + 1)?;
                        (self.value(no, bound, depth + 1)? == yes).then_some(yes)
                    }
                }
            }
            "let_in" => {
                // Names of the LET hide those of the module; what they stand for is not looked up.
                let mut inner = bound.to_vec();
                for child in &children {
                    inner.extend(self.tree.field(*child, "name").map(|name| self.text(name)));
                }
                self.value(*children.last()?, &inner, depth + 1)
            }
            "step_expr_or_stutter" => self.value(*children.first()?, bound, depth + 1).filter(|value| *value),
            _ => None,
        }
    }

    fn named(&mut self, id: Id, bound: &[String]) -> Option<bool> {
        let name = self.tree.text(id, &self.evaluation.module.source);
        if bound.iter().any(|hidden| hidden == name) || self.open.contains(&name) {
            return None;
        }
        let definition = self.evaluation.module.definition(name)?;
        self.open.push(&definition.name);
        let value = self.evaluation.definition(definition, self.open);
        self.open.pop();
        value
    }

    fn list(&mut self, items: &[Id], any: bool, bound: &[String], depth: usize) -> Option<bool> {
        let values: Vec<Option<bool>> = items.iter().map(|item| self.value(*item, bound, depth + 1)).collect();
        if values.contains(&Some(any)) {
            return Some(any);
        }
        if values.iter().all(|value| *value == Some(!any)) {
            return Some(!any);
        }
        if any && items.len() <= 64 && self.excluded_middle(items) {
            return Some(true);
        }
        None
    }

    /// One of the formulas is the negation of another.
    fn excluded_middle(&self, items: &[Id]) -> bool {
        let texts: Vec<String> = items.iter().map(|item| self.text(self.bare(*item))).collect();
        items.iter().any(|item| self.negated(self.bare(*item)).is_some_and(|inner| texts.contains(&self.text(inner))))
    }

    /// Without parentheses and bullets around it.
    fn bare(&self, mut id: Id) -> Id {
        while matches!(self.tree.node(id).kind, "parentheses" | "conj_item" | "disj_item") {
            match self.tree.children(id).last() {
                Some(inner) => id = inner,
                None => break,
            }
        }
        id
    }

    /// The operator's kind and operand, where the formula applies a prefix operator.
    fn prefixed(&self, id: Id) -> Option<(&'static str, Id)> {
        let symbol = self.tree.field(id, "symbol")?;
        let operand = match self.tree.node(id).kind {
            "bound_prefix_op" => self.tree.field(id, "rhs")?,
            "bound_nonfix_op" if self.tree.children(id).count() == 2 => self.tree.children(id).last()?,
            _ => return None,
        };
        let symbol =
            if self.tree.node(symbol).kind == "prefix_op_symbol" { self.tree.children(symbol).next()? } else { symbol };
        Some((self.tree.node(symbol).kind, operand))
    }

    fn negated(&self, id: Id) -> Option<Id> {
        self.prefixed(id).filter(|(symbol, _)| *symbol == "lnot").map(|(_, operand)| self.bare(operand))
    }

    /// The disjuncts of a chain of infix `\/`.
    fn disjuncts(&self, id: Id, into: &mut Vec<Id>) {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let id = self.bare(id);
            let symbol = self.tree.field(id, "symbol").map(|symbol| self.tree.node(symbol).kind);
            if self.tree.node(id).kind == "bound_infix_op" && symbol == Some("lor") && into.len() < 64 {
                open.extend(self.tree.field(id, "lhs"));
                open.extend(self.tree.field(id, "rhs"));
            } else {
                into.push(id);
            }
        }
    }

    fn prefix(&mut self, id: Id, bound: &[String], depth: usize) -> Option<bool> {
        let (symbol, operand) = self.prefixed(id)?;
        let value = self.value(operand, bound, depth + 1)?;
        match symbol {
            "lnot" => Some(!value),
            "always" | "eventually" => Some(value),
            _ => None,
        }
    }

    fn infix(&mut self, id: Id, bound: &[String], depth: usize) -> Option<bool> {
        let field = |name| self.tree.field(id, name);
        let (lhs, rhs, symbol) = (field("lhs")?, field("rhs")?, field("symbol")?);
        let text = canonical(self.tree.text(symbol, &self.evaluation.module.source)).to_owned();
        if self.evaluation.module.definition(&text).is_some() {
            return None;
        }
        let same = |this: &Self| this.text(this.bare(lhs)) == this.text(this.bare(rhs));
        match self.tree.node(symbol).kind {
            "land" => self.list(&[lhs, rhs], false, bound, depth),
            "lor" => {
                let value = self.list(&[lhs, rhs], true, bound, depth);
                let mut items = Vec::new();
                self.disjuncts(id, &mut items);
                value.or_else(|| self.excluded_middle(&items).then_some(true))
            }
            "implies" => match (self.value(lhs, bound, depth + 1), self.value(rhs, bound, depth + 1)) {
                (Some(false), _) | (_, Some(true)) => Some(true),
                (Some(true), Some(false)) => Some(false),
                _ => same(self).then_some(true),
            },
            "leads_to" => match (self.value(lhs, bound, depth + 1), self.value(rhs, bound, depth + 1)) {
                (Some(false), _) | (_, Some(true)) => Some(true),
                _ => same(self).then_some(true),
            },
            "equiv" | "iff" => match (self.value(lhs, bound, depth + 1), self.value(rhs, bound, depth + 1)) {
                (Some(left), Some(right)) => Some(left == right),
                _ => same(self).then_some(true),
            },
            "eq" | "subseteq" => same(self).then_some(true),
            "neq" => same(self).then_some(false),
            _ => None,
        }
    }

    fn quantified(&mut self, id: Id, bound: &[String], depth: usize) -> Option<bool> {
        let mut inner = bound.to_vec();
        let mut of: Vec<Id> = self.children(id);
        while let Some(child) = of.pop() {
            match self.tree.node(child).kind {
                "identifier" => inner.push(self.text(child)),
                "quantifier_bound" | "tuple_of_identifiers" => of.extend(self.children(child)),
                _ => {}
            }
        }
        let all = self.tree.field(id, "quantifier").is_some_and(|q| self.tree.node(q).kind == "forall");
        let exists = self.tree.field(id, "quantifier").is_some_and(|q| self.tree.node(q).kind == "exists");
        let over_nothing = self.children(id).into_iter().any(|child| {
            let set = self.tree.field(child, "set").map(|set| self.bare(set));
            set.is_some_and(|set| self.tree.node(set).kind == "finite_set_literal" && self.children(set).is_empty())
        });
        match self.value(self.tree.field(id, "expression")?, &inner, depth + 1) {
            _ if all && over_nothing => Some(true),
            _ if exists && over_nothing => Some(false),
            Some(true) if all => Some(true),
            Some(false) if exists => Some(false),
            _ => None,
        }
    }
}

//! Finds properties that are TRUE whatever the module does. Sound but not complete: it answers only when certain.

use std::cell::RefCell;
use std::collections::HashMap;

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::lexer::normalise;
use super::module::Module;
use super::references::{canonical, references};
use super::semantic::{is_impure_name, true_by_definition};
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};

/// Why the property holds whatever the module does; `None` if that is not certain.
pub fn constantly_true(module: &Module, property: &str) -> Option<String> {
    constantly_true_under(module, &Cfg::default(), property)
}

/// The same as [`constantly_true`] under a configuration that may replace definitions (`C <- D`). A property that depends
/// on a replaced name is never reported as trivial.
pub fn constantly_true_under(module: &Module, cfg: &Cfg, property: &str) -> Option<String> {
    reason_in_text(module, cfg, property).or_else(|| true_by_definition(&module.source, cfg, property))
}

fn reason_in_text(module: &Module, cfg: &Cfg, property: &str) -> Option<String> {
    let definition = module.definition(property)?;
    if definition.has_syntax_errors || definition.kind != DefinitionKind::Operator || definition.arity() > 0 {
        return None;
    }
    let closure = module.closure(property);
    if closure.contains(property) {
        return None;
    }
    let all = || closure.iter().map(String::as_str).chain([property]);
    let is_replaced = |name: &str| cfg.constants.contains_key(name);
    let is_uncertain = all().any(|name| {
        is_replaced(name)
            || module.definition(name).is_none_or(|definition| {
                definition.has_syntax_errors
                    || definition.references.names.iter().any(|name| is_unstable(name) || is_substituted(cfg, name))
            })
    });
    if is_uncertain {
        return None;
    }
    let evaluation = Evaluation::new(module);
    if evaluation.definition(definition, &mut vec![property]) == Some(true) {
        return Some("reduces to TRUE whatever the state is".to_owned());
    }
    // If a part of the module could not be parsed, it may declare a variable.
    let is_known = module.is_self_contained() && module.syntax_errors.is_empty();
    let foreign = all().any(|name| module.definition(name).is_none_or(|definition| definition.references.foreign));
    let depends_on_behaviour = all().any(|name| {
        module.definition(name).is_some_and(|definition| {
            definition.references.names.contains("ENABLED")
                || definition.tree.ids().any(|id| definition.tree.kind(id) == NodeKind::Fairness)
        })
    });
    if is_known && !foreign && !depends_on_behaviour && !module.mentions_variable(property) {
        return Some("mentions no variable: it says nothing about any state".to_owned());
    }
    None
}

/// Whether a definition contains an assertion that is not certain to be TRUE. False for a definition with syntax errors,
/// because none of its assertions is known.
pub(super) fn can_fail(module: &Module, cfg: &Cfg, definition: &Definition) -> bool {
    let (tree, source) = (&definition.tree, &module.source);
    let asserted = tree.ids().filter_map(|id| {
        let mut children = tree.children(id).filter(|_| tree.kind(id) == NodeKind::Call);
        let called = children.next().is_some_and(|name| tree.text(name, source) == "Assert");
        children.next().filter(|_| called)
    });
    !definition.has_syntax_errors && asserted.into_iter().any(|id| !is_certain(module, cfg, definition, id))
}

/// Whether an expression inside a definition is certainly TRUE, or certainly independent of the state.
fn is_certain(module: &Module, cfg: &Cfg, definition: &Definition, expression: Id) -> bool {
    // Parameters and names bound around the expression stay among its references, because their values are unknown.
    let refers = references(&definition.tree, &module.source, expression, &[]);
    let below = module.closure_of([&refers]);
    let all = || refers.names.iter().chain(&below);
    let is_uncertain =
        |name: &String| is_unstable(name) || (module.definition(name).is_some() && cfg.constants.contains_key(name));
    if refers.foreign || all().any(|name| is_uncertain(name) || is_substituted(cfg, name)) {
        return false;
    }
    let bound: Vec<String> = definition.params.iter().map(|param| param.name.clone()).collect();
    let evaluation = Evaluation::new(module);
    let mut open = vec![definition.name.as_str()];
    let mut reading = Reading { evaluation: &evaluation, tree: &definition.tree, open: &mut open };
    if reading.value(expression, &bound, 0) == Some(true) {
        return true;
    }
    let is_constant = |name: &String| module.constants.iter().any(|c| c.name == *name);
    let is_word = |name: &String| name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_readable =
        |name: &String| module.definition(name).is_some_and(|d| !d.has_syntax_errors && !d.references.foreign);
    module.is_self_contained()
        && module.syntax_errors.is_empty()
        && all().all(|name| {
            is_constant(name)
                || (is_readable(name) && !module.mentions_variable(name))
                || (!is_word(name) && !is_readable(name))
        })
}

/// Whether the operator may have different values at different evaluations. `Any` of TLC is any value.
fn is_unstable(name: &str) -> bool {
    name == "Any" || is_impure_name(name)
}

/// Whether the configuration replaces the name by another definition (`C <- D`).
fn is_substituted(cfg: &Cfg, name: &str) -> bool {
    cfg.constants.get(name).is_some_and(|value| value.starts_with("<- "))
}

struct Evaluation<'a> {
    module: &'a Module,
    /// The truth values of definitions by name, so that a definition with many callers is evaluated once.
    known: RefCell<HashMap<&'a str, Option<bool>>>,
}

impl<'a> Evaluation<'a> {
    fn new(module: &'a Module) -> Self {
        Self { module, known: RefCell::default() }
    }

    fn definition(&self, definition: &'a Definition, open: &mut Vec<&'a str>) -> Option<bool> {
        super::step_counter::count_step();
        if definition.has_syntax_errors || definition.kind != DefinitionKind::Operator || open.len() > 64 {
            return None;
        }
        let tree = &definition.tree;
        let body = definition.body()?;
        let bound: Vec<String> = definition.params.iter().map(|param| param.name.clone()).collect();
        Reading { evaluation: self, tree, open }.value(body, &bound, 0)
    }
}

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;

/// A formula as a bit set of the cases in which it holds. The cases are those of one question: whether a formula is true
/// (2 cases), or how two terms compare (3 cases).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Literal {
    question: String,
    cases: u8,
    all: u8,
}

impl Literal {
    fn boolean(question: String, holds: bool) -> Self {
        Self { question, cases: if holds { 1 } else { 2 }, all: 3 }
    }

    fn comparison(lhs: String, rhs: String, cases: u8) -> Self {
        let (less, greater) = (cases & LESS != 0, cases & GREATER != 0);
        if lhs <= rhs {
            return Self { question: format!("{lhs} ? {rhs}"), cases, all: LESS | EQUAL | GREATER };
        }
        let mirrored = cases & EQUAL | if less { GREATER } else { 0 } | if greater { LESS } else { 0 };
        Self::comparison(rhs, lhs, mirrored)
    }

    fn negated(self) -> Self {
        Self { cases: self.all & !self.cases, ..self }
    }

    /// Whether the literals about one question hold in all of its cases together.
    fn cover_all(literals: &[Self]) -> bool {
        literals.iter().any(|one| {
            let same = literals.iter().filter(|other| other.question == one.question && other.all == one.all);
            same.fold(0, |cases, other| cases | other.cases) == one.all
        })
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
        let items: Vec<_> = self
            .tree
            .ids()
            .map(|inner| self.tree.node(inner))
            .filter(|inner| (node.start..node.end).contains(&inner.start))
            .filter(|inner| matches!(inner.kind, NodeKind::ConjunctionItem | NodeKind::DisjunctionItem))
            .map(|inner| inner.start..inner.end)
            .collect();
        normalise(&self.evaluation.module.source, node.start..node.end, &items)
    }

    fn children(&self, id: Id) -> Vec<Id> {
        self.tree.children(id).collect()
    }

    /// The truth value, if it is the same in every state and for all values of the bound names.
    fn value(&mut self, id: Id, bound: &[String], depth: usize) -> Option<bool> {
        if depth > MAX_DEPTH / 2 {
            return None;
        }
        let children = self.children(id);
        let kind = self.tree.kind(id);
        match kind {
            NodeKind::Boolean => Some(self.tree.text(id, &self.evaluation.module.source) == "TRUE"),
            NodeKind::Parentheses | NodeKind::ConjunctionItem | NodeKind::DisjunctionItem => {
                self.value(*children.last()?, bound, depth + 1)
            }
            NodeKind::Reference => self.named(id, bound),
            NodeKind::Call => self.named(*children.first()?, bound),
            NodeKind::ConjunctionList | NodeKind::DisjunctionList => {
                self.list(&children, kind == NodeKind::DisjunctionList, bound, depth)
            }
            NodeKind::Prefix => self.prefix(id, bound, depth),
            NodeKind::Infix => self.infix(id, bound, depth),
            NodeKind::Bounded | NodeKind::Unbounded => self.quantified(id, bound, depth),
            NodeKind::IfThenElse => {
                let field = |name| self.tree.field(id, name);
                let (test, yes, no) = (field(Field::Condition)?, field(Field::Then)?, field(Field::Else)?);
                match self.value(test, bound, depth + 1) {
                    Some(true) => self.value(yes, bound, depth + 1),
                    Some(false) => self.value(no, bound, depth + 1),
                    None => {
                        let yes = self.value(yes, bound, depth + 1)?;
                        (self.value(no, bound, depth + 1)? == yes).then_some(yes)
                    }
                }
            }
            NodeKind::LetIn => {
                // Names of the LET hide those of the module; their definitions are not evaluated.
                let mut inner = bound.to_vec();
                for child in &children {
                    inner.extend(self.tree.field(*child, Field::Name).map(|name| self.text(name)));
                }
                self.value(*children.last()?, &inner, depth + 1)
            }
            NodeKind::BoxAction => self.value(*children.first()?, bound, depth + 1).filter(|value| *value),
            _ => None,
        }
    }

    fn named(&mut self, id: Id, bound: &[String]) -> Option<bool> {
        let name = self.tree.text(id, &self.evaluation.module.source);
        if bound.iter().any(|hidden| hidden == name) || self.open.contains(&name) {
            return None;
        }
        let definition = self.evaluation.module.definition(name)?;
        if let Some(known) = self.evaluation.known.borrow().get(definition.name.as_str()) {
            return *known;
        }
        self.open.push(&definition.name);
        let value = self.evaluation.definition(definition, self.open);
        self.open.pop();
        self.evaluation.known.borrow_mut().insert(&definition.name, value);
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
        if items.len() <= 64 {
            if any && self.excluded_middle(items) {
                return Some(true);
            }
            if !any && self.contradictory(items) {
                return Some(false);
            }
        }
        None
    }

    /// Whether at least one of the formulas holds whatever their terms are: `x \in S` or `x \notin S`, `x < y` or `x >= y`.
    fn excluded_middle(&self, items: &[Id]) -> bool {
        let literals: Vec<Literal> = items.iter().map(|item| self.literal(*item)).collect();
        Literal::cover_all(&literals)
    }

    /// Whether no two of the formulas can hold at once.
    fn contradictory(&self, items: &[Id]) -> bool {
        let literals: Vec<Literal> = items.iter().map(|item| self.literal(*item).negated()).collect();
        Literal::cover_all(&literals)
    }

    fn literal(&self, id: Id) -> Literal {
        let id = self.tree.strip_parentheses(id);
        if let Some(inner) = self.negated(id) {
            return self.literal(inner).negated();
        }
        let field = |name| self.tree.field(id, name);
        if self.tree.kind(id) == NodeKind::Infix
            && let (Some(lhs), Some(rhs), Some(symbol)) =
                (field(Field::Left), field(Field::Right), field(Field::Symbol))
        {
            let symbol = canonical(self.tree.text(symbol, &self.evaluation.module.source));
            let (lhs, rhs) = (self.text(self.tree.strip_parentheses(lhs)), self.text(self.tree.strip_parentheses(rhs)));
            let module = self.evaluation.module;
            // A module that this one extends may define `<` itself.
            let is_standard = module.definition(symbol).is_none() && module.is_self_contained();
            match symbol {
                "\\in" | "\\notin" => {
                    return Literal::boolean(format!("{lhs} \\in {rhs}"), symbol == "\\in");
                }
                "=" => return Literal::comparison(lhs, rhs, EQUAL),
                "/=" => return Literal::comparison(lhs, rhs, LESS | GREATER),
                "<" if is_standard => return Literal::comparison(lhs, rhs, LESS),
                ">" if is_standard => return Literal::comparison(lhs, rhs, GREATER),
                "<=" if is_standard => return Literal::comparison(lhs, rhs, LESS | EQUAL),
                ">=" if is_standard => return Literal::comparison(lhs, rhs, GREATER | EQUAL),
                _ => {}
            }
        }
        Literal::boolean(self.text(id), true)
    }

    fn negated(&self, id: Id) -> Option<Id> {
        self.tree.operand_of(id, "~").map(|operand| self.tree.strip_parentheses(operand))
    }

    /// The disjuncts of a chain of infix `\/`.
    fn disjuncts(&self, id: Id, into: &mut Vec<Id>) {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let id = self.tree.strip_parentheses(id);
            if self.tree.is_infix(id, "\\/") && into.len() < 64 {
                open.extend(self.tree.field(id, Field::Left));
                open.extend(self.tree.field(id, Field::Right));
            } else {
                into.push(id);
            }
        }
    }

    fn prefix(&mut self, id: Id, bound: &[String], depth: usize) -> Option<bool> {
        let value = self.value(self.tree.field(id, Field::Right)?, bound, depth + 1)?;
        match self.tree.operator(id) {
            "~" => Some(!value),
            "[]" | "<>" => Some(value),
            _ => None,
        }
    }

    fn infix(&mut self, id: Id, bound: &[String], depth: usize) -> Option<bool> {
        let field = |name| self.tree.field(id, name);
        let (lhs, rhs, symbol) = (field(Field::Left)?, field(Field::Right)?, field(Field::Symbol)?);
        let text = canonical(self.tree.text(symbol, &self.evaluation.module.source)).to_owned();
        if self.evaluation.module.definition(&text).is_some() {
            return None;
        }
        let same =
            |this: &Self| this.text(this.tree.strip_parentheses(lhs)) == this.text(this.tree.strip_parentheses(rhs));
        match self.tree.operator(id) {
            "/\\" => self.list(&[lhs, rhs], false, bound, depth),
            "\\/" => {
                let value = self.list(&[lhs, rhs], true, bound, depth);
                let mut items = Vec::new();
                self.disjuncts(id, &mut items);
                value.or_else(|| self.excluded_middle(&items).then_some(true))
            }
            "=>" => match (self.value(lhs, bound, depth + 1), self.value(rhs, bound, depth + 1)) {
                (Some(false), _) | (_, Some(true)) => Some(true),
                (Some(true), Some(false)) => Some(false),
                _ => Literal::cover_all(&[self.literal(lhs).negated(), self.literal(rhs)]).then_some(true),
            },
            "~>" => match (self.value(lhs, bound, depth + 1), self.value(rhs, bound, depth + 1)) {
                (Some(false), _) | (_, Some(true)) => Some(true),
                _ => same(self).then_some(true),
            },
            "<=>" => match (self.value(lhs, bound, depth + 1), self.value(rhs, bound, depth + 1)) {
                (Some(left), Some(right)) => Some(left == right),
                _ => (self.literal(lhs) == self.literal(rhs)).then_some(true),
            },
            "=" | "\\subseteq" => same(self).then_some(true),
            "/=" => same(self).then_some(false),
            _ => None,
        }
    }

    fn quantified(&mut self, id: Id, bound: &[String], depth: usize) -> Option<bool> {
        let mut inner = bound.to_vec();
        let mut open: Vec<Id> = self.children(id);
        while let Some(child) = open.pop() {
            match self.tree.kind(child) {
                NodeKind::Identifier => inner.push(self.text(child)),
                NodeKind::Bound | NodeKind::IdentifierTuple => open.extend(self.children(child)),
                _ => {}
            }
        }
        let all = self.tree.is_for_all(id);
        let exists = self.tree.is_exists(id);
        let is_over_empty_set = self.children(id).into_iter().any(|child| {
            let set = self.tree.field(child, Field::Set).map(|set| self.tree.strip_parentheses(set));
            set.is_some_and(|set| self.tree.kind(set) == NodeKind::SetLiteral && self.children(set).is_empty())
        });
        match self.value(self.tree.field(id, Field::Body)?, &inner, depth + 1) {
            _ if all && is_over_empty_set => Some(true),
            _ if exists && is_over_empty_set => Some(false),
            Some(true) if all => Some(true),
            Some(false) if exists => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_with_two_callers_is_evaluated_once() {
        crate::step_counter::assert_linear(12, |size| {
            let define = |at: usize| format!("D{at} == D{} \\/ D{}\n", at - 1, at - 1);
            let chain: String = (1..=size).map(define).collect();
            let text = format!("---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nD0 == x < 9\n{chain}====\n");
            let module = Module::parse(&text).expect("a module");
            assert_eq!(constantly_true(&module, &format!("D{size}")), None);
        });
    }
}

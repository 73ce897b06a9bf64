//! Whether the form of a next-state relation shows a step that every state enables. Then no state lacks a successor,
//! and the absence of deadlock says nothing about the protocol.

use crate::Cfg;

use super::builtin::BuiltInForm;
use super::graph::{Node, STATE, SymbolId, SymbolKind};
use super::model::{Connective, Expansion, Model};

/// The text of a disjunct that is enabled in every state, reachable or not.
pub(super) fn total_step(model: &Model, cfg: &Cfg, next: &Expansion) -> Result<Option<String>, String> {
    Total { model, cfg }.find_total_disjunct(next, 0)
}

struct Total<'a> {
    model: &'a Model,
    cfg: &'a Cfg,
}

impl Total<'_> {
    fn find_total_disjunct(&self, expansion: &Expansion, depth: u32) -> Result<Option<String>, String> {
        self.model.step(depth)?;
        let unfolded = self.model.unfold(expansion)?;
        match self.model.parts(&unfolded) {
            Some((Connective::Or, operands)) => {
                for operand in &operands {
                    if let Some(found) = self.find_total_disjunct(operand, depth + 1)? {
                        return Ok(Some(found));
                    }
                }
                Ok(None)
            }
            Some((Connective::Some, operands)) if self.all_have_elements(&unfolded)? => {
                operands.first().map_or(Ok(None), |body| self.find_total_disjunct(body, depth + 1))
            }
            _ => Ok(self.constrained_variables(&unfolded, depth)?.map(|_| self.model.text(expansion.node))),
        }
    }

    /// The variables whose next value an action constrains, if every state has a next state that satisfies the action.
    fn constrained_variables(&self, expansion: &Expansion, depth: u32) -> Result<Option<Vec<SymbolId>>, String> {
        self.model.step(depth)?;
        let expansion = self.model.unfold(expansion)?;
        let first = |operands: &[Expansion]| -> Result<_, String> {
            for operand in operands {
                if let Some(found) = self.constrained_variables(operand, depth + 1)? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        };
        let mut variables = Vec::new();
        match self.model.parts(&expansion) {
            Some((Connective::And, operands)) => {
                for operand in &operands {
                    let Some(more) = self.constrained_variables(operand, depth + 1)? else { return Ok(None) };
                    // Two conjuncts may require different values.
                    if more.iter().any(|variable| variables.contains(variable)) {
                        return Ok(None);
                    }
                    variables.extend(more);
                }
                return Ok(Some(variables));
            }
            Some((Connective::Or, operands)) => return first(&operands),
            Some((Connective::Some, operands)) => {
                return if self.all_have_elements(&expansion)? { first(&operands) } else { Ok(None) };
            }
            // `[A]_v` is `A \/ v' = v`.
            Some((Connective::Square, operands)) => {
                let Some(state) = operands.get(1) else { return Ok(None) };
                return Ok(self.model.variables_of(state, &mut variables, depth + 1)?.then_some(variables));
            }
            _ => {}
        }
        let Some((name, operands)) = self.builtin_application(&expansion) else { return Ok(None) };
        let is_if = matches!(self.model.graph.node(expansion.node), Node::Apply(one) if one.operator == BuiltInForm::If.symbol());
        match (name.as_str(), operands.as_slice()) {
            ("TRUE", []) => Ok(Some(variables)),
            ("UNCHANGED", [state]) => {
                Ok(self.model.variables_of(state, &mut variables, depth + 1)?.then_some(variables))
            }
            ("=" | "\\in", [primed, value]) => {
                let primed = self.model.unfold(primed)?;
                let primed = self.builtin_application(&primed).filter(|(name, _)| name == "'");
                let Some(inner) = primed.and_then(|(_, operands)| operands.into_iter().next()) else {
                    return Ok(None);
                };
                if !self.model.variables_of(&inner, &mut variables, depth + 1)? {
                    return Ok(None);
                }
                let possible = if name == "\\in" {
                    variables.len() == 1 && self.has_elements(value)?
                } else if variables.len() == 1 {
                    self.model.level(value)? <= STATE
                } else {
                    // Of a tuple only `<<x, y>>' = <<x, y>>` is certain: another value need not be a tuple of this
                    // length.
                    let mut before = Vec::new();
                    self.model.variables_of(value, &mut before, depth + 1)? && before == variables
                };
                Ok(possible.then_some(variables))
            }
            (_, [test, yes, no]) if is_if && self.model.level(test)? <= STATE => {
                let (yes, no) =
                    (self.constrained_variables(yes, depth + 1)?, self.constrained_variables(no, depth + 1)?);
                let both = yes.zip(no);
                Ok(both.map(|(yes, no)| yes.into_iter().chain(no).collect()))
            }
            _ => Ok(None),
        }
    }

    fn all_have_elements(&self, expansion: &Expansion) -> Result<bool, String> {
        for range in self.model.ranges(expansion) {
            if !self.has_elements(&range)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The built-in operator that an expression applies, with its operands.
    fn builtin_application(&self, expansion: &Expansion) -> Option<(String, Vec<Expansion>)> {
        let Node::Apply(application) = self.model.graph.node(expansion.node) else { return None };
        let symbol = self.model.graph.symbol(application.operator);
        let operand = |node: &_| Expansion { node: *node, scope: expansion.scope.clone() };
        let operands = application.operands.iter().flatten().map(operand).collect();
        matches!(symbol.kind, SymbolKind::BuiltIn(_)).then(|| (symbol.name.to_string(), operands))
    }

    /// Whether a set is written out, here or in the configuration, and not empty.
    fn has_elements(&self, set: &Expansion) -> Result<bool, String> {
        let set = self.model.unfold(set)?;
        if let Some((first, last)) = self.model.interval(&set)? {
            return Ok(first <= last);
        }
        let Node::Apply(application) = self.model.graph.node(set.node) else { return Ok(false) };
        if application.operator == BuiltInForm::Set.symbol() {
            return Ok(!application.operands.is_empty());
        }
        let symbol = self.model.graph.symbol(application.operator);
        let is_root = self.model.symbol(&symbol.name) == Some(application.operator);
        let value = self.cfg.constants.get(&*symbol.name).and_then(|value| value.strip_prefix('{'));
        Ok(is_root && value.is_some_and(|value| value != "}"))
    }
}

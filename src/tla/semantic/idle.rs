//! Whether a next-state relation always has a step that changes nothing: then no state is without a successor, and the
//! absence of a deadlock says nothing about the protocol.

use crate::tla::Cfg;

use super::builtin::Row;
use super::graph::{Node, SymbolId, SymbolKind};
use super::model::{Connective, Expansion, Model};

/// The text of a disjunct that is enabled in every state and leaves every variable unchanged, as far as the definitions
/// show.
pub(super) fn idle_step(model: &Model, cfg: &Cfg, next: &Expansion) -> Result<Option<String>, String> {
    Idle { model, cfg }.disjunct(next, 0)
}

struct Idle<'a> {
    model: &'a Model,
    cfg: &'a Cfg,
}

impl Idle<'_> {
    fn disjunct(&self, at: &Expansion, depth: u32) -> Result<Option<String>, String> {
        self.model.step(depth)?;
        let unfolded = self.model.unfold(at)?;
        let Some((connective, operands)) = self.model.parts(&unfolded) else { return self.whole(at, &unfolded) };
        match connective {
            Connective::Or => {
                for operand in &operands {
                    if let Some(found) = self.disjunct(operand, depth + 1)? {
                        return Ok(Some(found));
                    }
                }
                Ok(None)
            }
            Connective::Some => {
                for range in self.model.ranges(&unfolded) {
                    if !self.has_elements(&range)? {
                        return Ok(None);
                    }
                }
                operands.first().map_or(Ok(None), |body| self.disjunct(body, depth + 1))
            }
            // `[A]_v` is `A \/ v' = v`.
            Connective::Square => {
                let mut unchanged = Vec::new();
                if let [_, state] = operands.as_slice()
                    && self.variables_of(state, &mut unchanged, depth + 1)?
                    && self.model.variables().iter().all(|variable| unchanged.contains(variable))
                {
                    return Ok(Some(self.model.text(at.node)));
                }
                operands.first().map_or(Ok(None), |action| self.disjunct(action, depth + 1))
            }
            _ => self.whole(at, &unfolded),
        }
    }

    /// The text of an action if it only says that every variable stays as it is.
    fn whole(&self, at: &Expansion, unfolded: &Expansion) -> Result<Option<String>, String> {
        let mut unchanged = Vec::new();
        let idle = self.only_unchanged(unfolded, &mut unchanged, 0)?
            && self.model.variables().iter().all(|variable| unchanged.contains(variable));
        Ok(idle.then(|| self.model.text(at.node)))
    }

    fn only_unchanged(&self, at: &Expansion, unchanged: &mut Vec<SymbolId>, depth: u32) -> Result<bool, String> {
        self.model.step(depth)?;
        let at = self.model.unfold(at)?;
        if let Some((Connective::And, operands)) = self.model.parts(&at) {
            for operand in &operands {
                if !self.only_unchanged(operand, unchanged, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        let Some((name, operands)) = self.applied(&at) else { return Ok(false) };
        match (name.as_str(), operands.as_slice()) {
            ("TRUE", []) => Ok(true),
            ("UNCHANGED", [state]) => self.variables_of(state, unchanged, depth + 1),
            ("=", [primed, state]) => {
                let primed = self.model.unfold(primed)?;
                let primed = self.applied(&primed).filter(|(name, _)| name == "'");
                let Some(inner) = primed.and_then(|(_, operands)| operands.into_iter().next()) else {
                    return Ok(false);
                };
                let (mut before, mut after) = (Vec::new(), Vec::new());
                let same = self.variables_of(&inner, &mut after, depth + 1)?
                    && self.variables_of(state, &mut before, depth + 1)?
                    && before == after;
                unchanged.extend(after);
                Ok(same)
            }
            _ => Ok(false),
        }
    }

    /// The variables of a variable or of a tuple of such, in their order; `false` for anything else.
    fn variables_of(&self, at: &Expansion, variables: &mut Vec<SymbolId>, depth: u32) -> Result<bool, String> {
        self.model.step(depth)?;
        let at = self.model.unfold(at)?;
        let Node::Apply(application) = self.model.graph.node(at.node) else { return Ok(false) };
        if self.model.graph.symbol(application.operator).kind == SymbolKind::Variable {
            variables.push(application.operator);
            return Ok(true);
        }
        if application.operator != Row::Tuple.symbol() {
            return Ok(false);
        }
        for node in application.operands.iter().flatten() {
            let element = Expansion { node: *node, scope: at.scope.clone() };
            if !self.variables_of(&element, variables, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The built-in operator that an expression applies, with its operands.
    fn applied(&self, at: &Expansion) -> Option<(String, Vec<Expansion>)> {
        let Node::Apply(application) = self.model.graph.node(at.node) else { return None };
        let symbol = self.model.graph.symbol(application.operator);
        let operand = |node: &_| Expansion { node: *node, scope: at.scope.clone() };
        let operands = application.operands.iter().flatten().map(operand).collect();
        matches!(symbol.kind, SymbolKind::BuiltIn(_)).then(|| (symbol.name.to_string(), operands))
    }

    /// Whether a set is written out, here or in the configuration, with an element.
    fn has_elements(&self, set: &Expansion) -> Result<bool, String> {
        let set = self.model.unfold(set)?;
        if let Some((first, last)) = self.model.interval(&set)? {
            return Ok(first <= last);
        }
        let Node::Apply(application) = self.model.graph.node(set.node) else { return Ok(false) };
        if application.operator == Row::Set.symbol() {
            return Ok(!application.operands.is_empty());
        }
        let symbol = self.model.graph.symbol(application.operator);
        let is_root = self.model.symbol(&symbol.name) == Some(application.operator);
        let value = self.cfg.constants.get(&*symbol.name).and_then(|value| value.strip_prefix('{'));
        Ok(is_root && value.is_some_and(|value| value != "}"))
    }
}

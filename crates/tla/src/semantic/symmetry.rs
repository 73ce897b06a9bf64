//! Whether SYMMETRY is sound: permuting the members of its sets must change no behaviour and no property. The members
//! of a set of model values are interchangeable unless an expression picks or names one. The check is syntactic: it can
//! refuse a sound use, and never accepts an unsound one. Lamport, "Specifying Systems", section 14.3.4.

use std::collections::{BTreeMap, BTreeSet};

use crate::Cfg;

use super::builtin::BuiltInForm;
use super::graph::{Application, Node, NodeId, SymbolId, SymbolKind};
use super::model::{Expansion, Model};

/// Standard modules whose operators treat all values alike.
const SYMMETRIC_MODULES: [&str; 6] = ["Naturals", "Integers", "Reals", "Sequences", "FiniteSets", "Bags"];
/// Operators of module TLC that treat all values alike.
const SYMMETRIC_OPERATORS: [&str; 7] = ["Print", "PrintT", "Assert", ":>", "@@", "Permutations", "TLCEval"];

/// The largest number of reasons that are given.
const MAX_REASONS: usize = 5;

/// Why the SYMMETRY of a configuration is not shown to be sound, with all reasons; `None` if it is sound or there is none.
pub fn find_symmetry_fault(name: &str, text: &str, local_modules: &[(String, String)], cfg: &Cfg) -> Option<String> {
    if cfg.symmetry.is_empty() {
        return None;
    }
    let model = match Model::new(name, text, local_modules, cfg) {
        Ok(model) => model,
        Err(why) => return Some(why),
    };
    let mut check = Soundness {
        model: &model,
        cfg,
        sets: BTreeSet::new(),
        members: BTreeMap::new(),
        naming: BTreeSet::new(),
        seen: BTreeSet::new(),
        reasons: Vec::new(),
    };
    if let Err(why) = check.run() {
        check.reasons.push(why);
    }
    let left_out = check.reasons.len().saturating_sub(MAX_REASONS);
    check.reasons.truncate(MAX_REASONS);
    if left_out > 0 {
        check.reasons.push(format!("and {left_out} more"));
    }
    (!check.reasons.is_empty()).then(|| check.reasons.join("; "))
}

struct Soundness<'a> {
    model: &'a Model,
    cfg: &'a Cfg,
    /// The constants whose members are permuted, or the definitions that the configuration substitutes for them.
    sets: BTreeSet<SymbolId>,
    /// The members that such a definition names, which are constants themselves, each with that definition.
    members: BTreeMap<SymbolId, SymbolId>,
    /// Other constants and definitions that list members in sets which stay the same if the members are exchanged.
    naming: BTreeSet<SymbolId>,
    seen: BTreeSet<SymbolId>,
    reasons: Vec<String>,
}

impl Soundness<'_> {
    fn run(&mut self) -> Result<(), String> {
        // States are then compared by their view, and whether it treats members alike is not examined.
        if let Some(view) = &self.cfg.view {
            return Err(format!("it is used together with VIEW {view}"));
        }
        for name in &self.cfg.symmetry {
            let sets = self.model.definition(name)?;
            self.collect_permuted(&sets, 0)?;
        }
        self.check_members();
        let listed = self.cfg.listed_names().into_iter().filter(|(role, _)| *role != "SYMMETRY").map(|(_, name)| name);
        let substituted = self.cfg.constants.values().filter_map(|value| value.strip_prefix("<- "));
        for name in listed.chain(substituted) {
            let symbol = self.model.symbol(name).ok_or_else(|| format!("`{name}` is not defined"))?;
            self.check_symbol(symbol)?;
        }
        Ok(())
    }

    /// Collects the sets of `Permutations(C)` and of unions of such.
    fn collect_permuted(&mut self, expansion: &Expansion, depth: u32) -> Result<(), String> {
        self.model.step(depth)?;
        let graph = &self.model.graph;
        if let Node::Apply(application) = graph.node(expansion.node) {
            let operands = application.operands.iter().flatten();
            let mut operands = operands.map(|node| Expansion { node: *node, scope: expansion.scope.clone() });
            match self.model.standard(application.operator) {
                Some(("TLC", "Permutations")) => {
                    let set = operands.next().ok_or("`Permutations` has no operand")?;
                    return self.collect_permuted_set(set);
                }
                _ if &*graph.symbol(application.operator).name == "\\cup" => {
                    return operands.try_for_each(|side| self.collect_permuted(&side, depth + 1));
                }
                _ => {}
            }
        }
        match self.model.unfold_once(expansion) {
            Some(next) => self.collect_permuted(&next, depth + 1),
            None => Err("it is not a union of `Permutations` of constants".to_owned()),
        }
    }

    /// A constant, or a definition without parameters that lists constants: `MCClients == {c1, c2}`.
    fn collect_permuted_set(&mut self, mut set: Expansion) -> Result<(), String> {
        let other = || "it permutes something else than a constant of the configuration".to_owned();
        let mut definition = None;
        loop {
            self.model.step(0)?;
            let Node::Apply(application) = self.model.graph.node(set.node) else { return Err(other()) };
            let symbol = application.operator;
            if self.assigned_value(symbol).is_some() && self.model.graph.symbol(symbol).kind == SymbolKind::Constant {
                self.sets.insert(symbol);
                return Ok(());
            }
            if symbol == BuiltInForm::Set.symbol() {
                let definition = definition.ok_or_else(other)?;
                if !self.sets.insert(definition) {
                    return Ok(());
                }
                for member in application.operands.iter().flatten() {
                    let Node::Apply(member) = self.model.graph.node(*member) else { return Err(other()) };
                    let is_constant = self.assigned_value(member.operator).is_some();
                    if !is_constant || self.members.insert(member.operator, definition).is_some() {
                        return Err(other());
                    }
                }
                return Ok(());
            }
            // A parameter means another set in each call.
            if self.model.graph.symbol(symbol).kind != SymbolKind::Parameter {
                definition = Some(self.model.replacement(symbol).flatten().unwrap_or(symbol));
            }
            set = self.model.unfold_once(&set).ok_or_else(other)?;
        }
    }

    /// The value that the configuration assigns to a constant.
    fn assigned_value(&self, constant: SymbolId) -> Option<&str> {
        let name = &*self.model.graph.symbol(constant).name;
        let value = self.cfg.constants.get(name).filter(|_| self.model.replacement(constant) == Some(None));
        value.map(String::as_str)
    }

    /// Checks that the members of the sets are model values, and that nothing else in the configuration names them.
    fn check_members(&mut self) {
        let (mut reasons, mut naming) = (Vec::new(), BTreeSet::new());
        for set in self.sets.iter().chain(self.members.keys()) {
            let name = &*self.model.graph.symbol(*set).name;
            let members: Vec<&str> = match self.assigned_value(*set) {
                // Its members are constants.
                None => continue,
                Some(value) if self.members.contains_key(set) => vec![value],
                Some(value) => {
                    let inner = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
                    inner.unwrap_or_default().split(',').map(str::trim).collect()
                }
            };
            let is_name = |member: &str| {
                member.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    && member.chars().any(|c| c.is_ascii_alphabetic())
                    && !matches!(member, "TRUE" | "FALSE")
            };
            if !members.iter().copied().all(is_name) {
                reasons.push(format!("{name} is not a set of model values"));
                continue;
            }
            // What is permuted together.
            let whole: Vec<&str> = match self.members.get(set) {
                Some(definition) => {
                    let all = self.members.iter().filter(|(_, of)| *of == definition);
                    all.filter_map(|(member, _)| self.assigned_value(*member)).collect()
                }
                None => members.clone(),
            };
            let others = self.cfg.constants.iter().filter(|(other, _)| *other != name);
            for (other, value) in others {
                let mut words = value.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let Some(member) = words.find(|word| members.contains(word)) else { continue };
                match self.model.configured_symbol(other) {
                    // Nothing can read it.
                    None => {}
                    Some(symbol) if stays_the_same(value, &whole) => {
                        naming.insert(symbol);
                    }
                    Some(_) => reasons
                        .push(format!("`{other} = {value}` in the configuration names {member}, a member of {name}")),
                }
            }
        }
        self.reasons.extend(reasons);
        self.naming = naming;
    }

    /// Whether an expression lists members in sets, and stays the same if they are exchanged: all majorities of `{a1, a2, a3}`.
    fn lists_members_alike(&self, node: NodeId) -> bool {
        let Some(listed) = self.listed(node).filter(|listed| listed.starts_with('{')) else { return false };
        let definitions: BTreeSet<SymbolId> = self.members.values().copied().collect();
        definitions.iter().all(|definition| {
            let all = self.members.iter().filter(|(_, of)| *of == definition);
            let names: Vec<&str> = all.map(|(member, _)| &*self.model.graph.symbol(*member).name).collect();
            stays_the_same(&listed, &names)
        })
    }

    /// A set of sets of members as a configuration would have it.
    fn listed(&self, node: NodeId) -> Option<String> {
        let Node::Apply(application) = self.model.graph.node(node) else { return None };
        if application.operator != BuiltInForm::Set.symbol() {
            let is_member = self.members.contains_key(&application.operator);
            return is_member.then(|| self.model.graph.symbol(application.operator).name.to_string());
        }
        let elements: Option<Vec<String>> =
            application.operands.iter().map(|operand| self.listed((*operand)?)).collect();
        Some(format!("{{{}}}", elements?.join(", ")))
    }

    /// Checks everything that a definition uses.
    fn check_symbol(&mut self, symbol: SymbolId) -> Result<(), String> {
        if !self.seen.insert(symbol) {
            return Ok(());
        }
        match self.model.replacement(symbol) {
            Some(Some(by)) => return self.check_symbol(by),
            Some(None) if self.members.contains_key(&symbol) => {
                self.reasons.push(format!("a definition names {}", self.model.graph.symbol(symbol).name));
                return Ok(());
            }
            Some(None) => return Ok(()),
            None if self.sets.contains(&symbol) => return Ok(()),
            None => {}
        }
        if let Some((module, name)) = self.model.standard(symbol) {
            let fair = SYMMETRIC_MODULES.contains(&module) || (module == "TLC" && SYMMETRIC_OPERATORS.contains(&name));
            if !fair {
                self.reasons.push(format!("`{name}` of module {module} may tell members apart"));
            }
            return Ok(());
        }
        match self.model.graph.symbol(symbol).body {
            Some(body) if self.lists_members_alike(body) => {
                self.naming.insert(symbol);
                Ok(())
            }
            Some(body) => self.check_expression(body),
            None => Ok(()),
        }
    }

    fn check_expression(&mut self, node: NodeId) -> Result<(), String> {
        self.model.step(0)?;
        let graph = &self.model.graph;
        if let Node::Apply(application) = graph.node(node)
            && application.operator == BuiltInForm::Choose.symbol()
            && !self.is_unique_extreme(application)
            && !application.ranges.first().is_some_and(|range| self.is_of_numbers(*range, 0))
            && self.depends(node, &mut Vec::new(), &mut BTreeSet::new())
        {
            self.reasons.push(format!("`{}` may pick a member", self.model.text(node)));
        }
        let (operators, parts) = self.model.uses(node);
        if let Node::Apply(application) = graph.node(node)
            && application.operator == BuiltInForm::Set.symbol()
            && self.has_all_members(application)
        {
            return Ok(());
        }
        operators.into_iter().try_for_each(|operator| self.check_symbol(operator))?;
        parts.into_iter().try_for_each(|part| self.check_expression(part))
    }

    /// Whether it is a set of constants with all members of a permuted set, which stays the same if they are exchanged.
    fn has_all_members(&self, set: &Application) -> bool {
        let elements: Option<BTreeSet<SymbolId>> = (set.operands.iter())
            .map(|element| match self.model.graph.node((*element)?) {
                Node::Apply(element) if self.members.contains_key(&element.operator) => Some(element.operator),
                _ => None,
            })
            .collect();
        let Some(elements) = elements else { return false };
        let is_whole = |set: &SymbolId| self.members.iter().all(|(member, of)| of != set || elements.contains(member));
        !elements.is_empty() && elements.iter().all(|element| is_whole(&self.members[element]))
    }

    /// Whether a set has only numbers, which are no members. CHOOSE among them picks the same one if members are exchanged.
    fn is_of_numbers(&self, set: NodeId, depth: u32) -> bool {
        let Node::Apply(application) = self.model.graph.node(set) else { return false };
        let operator = application.operator;
        if depth > 20 || self.model.replacement(operator).is_some() {
            return false;
        }
        let of_numbers = |node: &NodeId| self.is_of_numbers(*node, depth + 1);
        let operands = || application.operands.iter().flatten();
        match self.model.standard(operator) {
            Some((_, "Nat" | "Int" | "..")) => true,
            Some(_) => false,
            None if operator == BuiltInForm::Filter.symbol() => application.ranges.iter().all(of_numbers),
            None => match &*self.model.graph.symbol(operator).name {
                "\\cup" | "\\union" => operands().all(of_numbers),
                "\\cap" | "\\intersect" => operands().any(of_numbers),
                "\\" => operands().next().is_some_and(of_numbers),
                _ => {
                    let symbol = self.model.graph.symbol(operator);
                    symbol.arity == 0 && symbol.body.is_some_and(|body| of_numbers(&body))
                }
            },
        }
    }

    /// Whether it is `CHOOSE x \in S : \A y \in S : x >= y`, or `<=`, perhaps with more conjuncts, over numbers: at
    /// most one element satisfies it.
    fn is_unique_extreme(&self, choice: &Application) -> bool {
        let graph = &self.model.graph;
        let ([x], [from], [Some(body)]) = (&*choice.bound, &*choice.ranges, &*choice.operands) else { return false };
        let Node::Apply(all) = graph.node(*body) else { return false };
        if all.operator == BuiltInForm::Conjunction.symbol() || &*graph.symbol(all.operator).name == "/\\" {
            let mut conjuncts = all.operands.iter();
            return conjuncts
                .any(|conjunct| self.is_unique_extreme(&Application { operands: vec![*conjunct], ..choice.clone() }));
        }
        let ([y], [among], [Some(compared)]) = (&*all.bound, &*all.ranges, &*all.operands) else { return false };
        let Node::Apply(comparison) = graph.node(*compared) else { return false };
        let sides: Vec<SymbolId> = comparison
            .operands
            .iter()
            .flatten()
            .filter_map(|side| match graph.node(*side) {
                Node::Apply(side) if side.operands.is_empty() => Some(side.operator),
                _ => None,
            })
            .collect();
        all.operator == BuiltInForm::All.symbol()
            && matches!(self.model.standard(comparison.operator), Some((_, "\\leq" | "\\geq")))
            && self.model.replacement(comparison.operator).is_none()
            && (sides == [*x, *y] || sides == [*y, *x])
            && self.is_same(*from, *among)
    }

    /// Whether two expressions without bound variables of their own are the same.
    fn is_same(&self, one: NodeId, other: NodeId) -> bool {
        let graph = &self.model.graph;
        match (graph.node(one), graph.node(other)) {
            (Node::Literal, Node::Literal) => self.model.text(one) == self.model.text(other),
            (Node::Apply(one), Node::Apply(other)) => {
                let parts = |application: &Application| -> Vec<NodeId> {
                    application.operands.iter().flatten().chain(&application.ranges).copied().collect()
                };
                let (left, right) = (parts(one), parts(other));
                one.operator == other.operator
                    && one.bound.is_empty()
                    && other.bound.is_empty()
                    && left.len() == right.len()
                    && left.into_iter().zip(right).all(|(one, other)| self.is_same(one, other))
            }
            _ => false,
        }
    }

    /// Whether the value of an expression may depend on the permuted sets: it uses one of them, a variable, a
    /// parameter, or a constant of another module.
    fn depends(&self, node: NodeId, bound: &mut Vec<SymbolId>, seen: &mut BTreeSet<SymbolId>) -> bool {
        let graph = &self.model.graph;
        let known = bound.len();
        match graph.node(node) {
            Node::Apply(application) => bound.extend(&application.bound),
            // An expression of another module: not examined, so it counts as dependent.
            Node::Substituted { .. } => return true,
            _ => {}
        }
        let (operators, parts) = self.model.uses(node);
        let found = operators.into_iter().any(|operator| self.operator_depends(operator, bound, seen))
            || parts.into_iter().any(|part| self.depends(part, bound, seen));
        bound.truncate(known);
        found
    }

    fn operator_depends(&self, operator: SymbolId, bound: &mut Vec<SymbolId>, seen: &mut BTreeSet<SymbolId>) -> bool {
        if self.naming.contains(&operator) {
            return true;
        }
        let symbol = self.model.graph.symbol(operator);
        match self.model.replacement(operator) {
            Some(Some(by)) => return self.operator_depends(by, bound, seen),
            Some(None) => return self.sets.contains(&operator) || self.members.contains_key(&operator),
            None => {}
        }
        match symbol.kind {
            SymbolKind::BuiltIn(_) => false,
            SymbolKind::Parameter => !bound.contains(&operator),
            // Its definition is read with other parameters each time, and a definition is read only once.
            SymbolKind::Operator if symbol.recursive.is_some() => true,
            SymbolKind::Operator if self.model.standard(operator).is_some() || !seen.insert(operator) => false,
            SymbolKind::Operator => {
                let known = bound.len();
                bound.extend(&symbol.parameters);
                let found = symbol.body.is_none_or(|body| self.depends(body, bound, seen));
                bound.truncate(known);
                found
            }
            _ => true,
        }
    }
}

/// Whether a value of the configuration stays the same if any of these model values are exchanged. That is so if it does for each two
/// neighbours. A value that is no set, and names one of them, changes.
fn stays_the_same(value: &str, members: &[&str]) -> bool {
    let Some(unchanged) = canonical(value, &|name| name) else { return false };
    members.windows(2).all(|pair| {
        let exchanged = |name| match name {
            name if name == pair[0] => pair[1],
            name if name == pair[1] => pair[0],
            name => name,
        };
        canonical(value, &exchanged).is_some_and(|changed| changed == unchanged)
    })
}

/// A value of the configuration with other names, its sets sorted; `None` if it has another form than names, numbers and sets of them.
fn canonical<'v>(value: &'v str, renamed: &dyn Fn(&'v str) -> &'v str) -> Option<String> {
    let value = value.trim();
    let Some(inner) = value.strip_prefix('{') else {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        return (!value.is_empty() && value.chars().all(is_plain)).then(|| renamed(value).to_owned());
    };
    let inner = inner.strip_suffix('}')?;
    let (mut elements, mut depth, mut from) = (BTreeSet::new(), 0usize, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                elements.insert(canonical(&inner[from..at], renamed)?);
                from = at + 1;
            }
            _ => {}
        }
    }
    if !inner.trim().is_empty() {
        elements.insert(canonical(&inner[from..], renamed)?);
    }
    Some(format!("{{{}}}", Vec::from_iter(elements).join(", ")))
}

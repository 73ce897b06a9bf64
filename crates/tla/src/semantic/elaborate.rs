//! Elaboration: turns modules and a configuration into one closed specification, the [`Core`].
//!
//! Names are resolved, instances and the substitutions of the configuration are applied, and primes move to the
//! variables. So each expression is read in one state. What a run does not use is not elaborated.

use std::collections::HashSet;

use crate::{Cfg, Diagnostic, Stage};

use super::core_form::{
    Assumption, Constant, Core, CoreBody, CoreDefinition, CoreExpr, CoreForm, ModuleOutline, OutlineSymbol, Primitive,
};
use super::elaborate_scope::Env;
use super::elaborator::{Elaborated, Elaborator, Reading, Refusal, Use, number};
use super::graph::{ACTION, CONSTANT, NodeId, Place, SymbolId, SymbolKind, TEMPORAL};
use super::model::{Connective, Expansion, Model};
use super::token::{Kind, Token, tokens};
use super::tree::{Expr, Instance, Module, Name, Unit, Visibility};

/// Elaborates modules, given by name and text, under the configuration `cfg`; the first module is the root of the
/// specification.
///
/// # Errors
/// What has no core, with its position; the modules and the configuration may still be correct. An error of the stage
/// `Config` is one of the configuration, which TLC rejects, too.
pub fn elaborate(modules: &[(&str, &str)], cfg: &str) -> Result<Core, Diagnostic> {
    elaborate_with_operators(modules, cfg, &[])
}

/// Like [`elaborate`], and keeps these operators of the root module in [`Core::definitions`], under their names, though nothing uses
/// them. Their parameters are values.
///
/// # Errors
/// As [`elaborate`].
pub fn elaborate_with_operators(modules: &[(&str, &str)], cfg: &str, operators: &[String]) -> Result<Core, Diagnostic> {
    let refused = |message: String| Diagnostic { stage: Stage::Embedded, line: 0, column: 0, message };
    let Some(((name, text), others)) = modules.split_first() else { return Err(refused("no module".to_owned())) };
    let cfg = Cfg::parse(cfg)?;
    let others: Vec<(String, String)> =
        others.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let model = Model::with_any_substitutions(name, text, &others, &cfg).map_err(refused)?;
    let mut elaborator = Elaborator::new(&model);
    elaborator.core(&cfg, operators).map_err(|Refusal { place, message, is_invalid }| match place {
        Some(place) => located(&model, place, &message),
        None if is_invalid => Diagnostic { stage: Stage::Config, line: 0, column: 0, message },
        None => refused(message),
    })
}

fn located(model: &Model, place: Place, message: &str) -> Diagnostic {
    let Some(module) = model.modules().get(place.file as usize) else {
        return Diagnostic { stage: Stage::Embedded, line: 0, column: 0, message: message.to_owned() };
    };
    embedded_diagnostic(&module.text, &module.name, place.offset as usize, message)
}

pub(super) fn embedded_diagnostic(text: &str, module: &str, offset: usize, message: &str) -> Diagnostic {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[start..].chars().count() + 1);
    let message = format!("module {module}, line {line}, column {column}: {message}");
    Diagnostic { stage: Stage::Embedded, line, column, message }
}

/// The parts of a specification, with their scopes.
#[derive(Default)]
struct Conjuncts {
    initial: Vec<(NodeId, Env)>,
    next: Vec<(NodeId, Env)>,
    fairness: Vec<(NodeId, Env)>,
}

/// The steps that action constraints leave. A state of which they cut off every step keeps itself as a successor, because TLC
/// does not take it for a deadlock.
fn with_action_constraints(next: CoreExpr, cut: CoreExpr, variables: &[String]) -> CoreExpr {
    let place = next.place;
    let at = |form| CoreExpr::new(form, place);
    let enabled = |action: CoreExpr| at(CoreForm::Enabled(Box::new(action)));
    let kept = at(CoreForm::And(vec![next.clone(), cut]));
    let none_is_kept = at(CoreForm::Primitive(Primitive::Not, vec![enabled(kept.clone())]));
    let stays = at(CoreForm::Unchanged(variables.to_vec()));
    at(CoreForm::Or(vec![kept, at(CoreForm::And(vec![enabled(next), none_is_kept, stays]))]))
}

impl Elaborator<'_> {
    fn core(&mut self, cfg: &Cfg, operators: &[String]) -> Elaborated<Core> {
        if cfg.symmetry.len() > 1 {
            return Err(Refusal::new("more than one SYMMETRY is not supported".to_owned()));
        }
        if let Some(cyclic) = self.model.cyclic_substitution(cfg) {
            return Err(Refusal::invalid(cyclic));
        }
        self.reject_substitution_by_states(cfg)?;
        let mut core = Core { constants: constants(cfg)?, variables: self.variables(), ..Core::default() };
        core.invariants = self.named_formulas(&cfg.invariants)?;
        core.constraints = self.named_formulas(&cfg.constraints)?;
        core.behaviour = self.behaviour(cfg, &mut core.fairness)?;
        if let (Some((_, next)), Some(cut)) = (&mut core.behaviour, self.action_constraints(cfg)?) {
            *next = with_action_constraints(next.clone(), cut, &core.variables);
        }
        for name in &cfg.properties {
            core.properties.push((name.clone(), self.root_formula(name, Reading::of(Use::Temporal))?));
        }
        core.view = cfg.view.as_deref().map(|name| self.root_formula(name, Reading::VALUE)).transpose()?;
        core.symmetry = cfg.symmetry.first().map(|name| self.root_formula(name, Reading::VALUE)).transpose()?;
        core.assumptions = self.assumptions()?;
        for name in operators {
            let symbol = self.root_symbol(name)?;
            self.keep_operator(symbol)?;
        }
        core.definitions = std::mem::take(&mut self.definitions);
        self.collect_interned(cfg, &mut core.interned);
        core.files = self.model.modules().iter().map(|module| module.name.clone()).collect();
        core.outlines =
            self.model.modules().iter().filter(|module| !module.standard).map(|m| outline(&m.tree)).collect();
        Ok(core)
    }

    /// What the action constraints leave of the steps: those that satisfy them, and those to a state that violates an
    /// invariant, because TLC evaluates the invariants before it drops the state.
    fn action_constraints(&mut self, cfg: &Cfg) -> Elaborated<Option<CoreExpr>> {
        let Some(first) = cfg.action_constraints.first() else { return Ok(None) };
        let place = self.model.graph.symbol(self.root_symbol(first)?).place;
        let mut kept = Vec::new();
        for name in &cfg.action_constraints {
            kept.push(self.root_formula(name, Reading::VALUE)?);
        }
        let mut invariants = Vec::new();
        for name in &cfg.invariants {
            invariants.push(self.root_formula(name, Reading { primed: true, usage: Use::Value })?);
        }
        let kept = CoreExpr::new(CoreForm::And(kept), place);
        if invariants.is_empty() {
            return Ok(Some(kept));
        }
        let invariants = CoreExpr::new(CoreForm::And(invariants), place);
        let violates = CoreExpr::new(CoreForm::Primitive(Primitive::Not, vec![invariants]), place);
        Ok(Some(CoreExpr::new(CoreForm::Or(vec![kept, violates]), place)))
    }

    fn variables(&self) -> Vec<String> {
        let order = &self.model.root().scope.order;
        let names = order.iter().map(|id| self.model.graph.symbol(*id));
        names.filter(|symbol| symbol.kind == SymbolKind::Variable).map(|symbol| symbol.name.to_string()).collect()
    }

    /// Definitions of the root module under their own names.
    fn named_formulas(&mut self, names: &[String]) -> Elaborated<Vec<String>> {
        for name in names {
            let formula = self.root_formula(name, Reading::VALUE)?;
            if !matches!(&formula.form, CoreForm::Call(own, _) if own == name) {
                if self.names.insert(name.clone(), 1).is_some() {
                    return Err(Refusal::at(formula.place, format!("{name} has two meanings")));
                }
                let body = CoreBody::Expression(formula);
                self.definitions.push(CoreDefinition { name: name.clone(), parameters: Vec::new(), body });
            }
        }
        Ok(names.to_vec())
    }

    fn root_formula(&mut self, name: &str, reading: Reading) -> Elaborated<CoreExpr> {
        let symbol = self.root_symbol(name)?;
        let place = self.model.graph.symbol(symbol).place;
        let env = Env::default();
        if reading.usage == Use::Temporal {
            // Only what is temporal is read as such.
            let level = self.level_of_symbol(symbol)?;
            let reading = if level < TEMPORAL { Reading::VALUE } else { reading };
            return self.apply(symbol, env.clone(), &[], place, &env, reading);
        }
        self.apply(symbol, env.clone(), &[], place, &env, reading)
    }

    fn root_symbol(&self, name: &str) -> Elaborated<SymbolId> {
        self.model.symbol(name).ok_or_else(|| Refusal::new(format!("`{name}` is not defined")))
    }

    fn behaviour(&mut self, cfg: &Cfg, fairness: &mut Vec<CoreExpr>) -> Elaborated<Option<(CoreExpr, CoreExpr)>> {
        let Some(specification) = &cfg.specification else {
            let (Some(init), Some(next)) = (&cfg.init, &cfg.next) else {
                if cfg.init.is_none() && cfg.next.is_none() {
                    return Ok(None);
                }
                let message = "the configuration names neither SPECIFICATION nor both INIT and NEXT".to_owned();
                return Err(Refusal::new(message));
            };
            let initial = self.root_formula(init, Reading::of(Use::Initial))?;
            return Ok(Some((initial, self.root_formula(next, Reading::of(Use::Action))?)));
        };
        let symbol = self.root_symbol(specification)?;
        let symbol = self.model.replacement(symbol).flatten().unwrap_or(symbol);
        let definition = self.model.graph.symbol(symbol);
        let place = definition.place;
        let Some(body) = definition.body else {
            return Err(Refusal::at(place, format!("`{specification}` has no definition")));
        };
        let mut parts = Conjuncts::default();
        self.split(body, &Env::default(), &mut parts, 0)?;
        let [(action, scope)] = &*parts.next else {
            let message = format!(
                "`{specification}` has {} conjuncts of the form [][Next]_v: a specification has one",
                parts.next.len()
            );
            return Err(Refusal::at(place, message));
        };
        let next = self.expression(*action, scope, Reading::of(Use::Action))?;
        let mut initial = Vec::new();
        for (node, scope) in &parts.initial {
            initial.push(self.expression(*node, scope, Reading::of(Use::Initial))?);
        }
        if initial.is_empty() {
            return Err(Refusal::at(place, format!("`{specification}` has no initial predicate")));
        }
        // Without a temporal property no behaviour is excluded.
        for (node, scope) in parts.fairness.iter().filter(|_| !cfg.properties.is_empty()) {
            fairness.push(self.expression(*node, scope, Reading::of(Use::Temporal))?);
        }
        let initial = if initial.len() == 1 { initial.remove(0) } else { CoreExpr::new(CoreForm::And(initial), place) };
        Ok(Some((initial, next)))
    }

    /// Splits a formula into initial predicates, next-state relations, and temporal formulas.
    fn split(&mut self, node: NodeId, env: &Env, parts: &mut Conjuncts, depth: usize) -> Elaborated<()> {
        let level = self.level(node, env)?;
        if level == ACTION {
            return Err(Refusal::not_evaluated(
                self.model.graph.place(node),
                "an action as a conjunct of the specification",
            ));
        }
        if level < TEMPORAL {
            parts.initial.push((node, env.clone()));
            return Ok(());
        }
        let (found, scope) = self.unfolded(node, env);
        let expansion = Expansion { node: found, scope: super::model::Scope::default() };
        match self.model.parts(&expansion) {
            Some((Connective::And, operands)) if depth < 64 => {
                for operand in operands {
                    self.split(operand.node, &scope, parts, depth + 1)?;
                }
            }
            Some((Connective::Always, operands)) => {
                let step = operands.first().and_then(|operand| self.step_formula(operand.node, &scope));
                match step.and_then(|(two, scope)| Some((*two.first()?, scope))) {
                    Some(next) => parts.next.push(next),
                    None => parts.fairness.push((found, scope)),
                }
            }
            _ => parts.fairness.push((found, scope)),
        }
        Ok(())
    }

    /// An assumption of the root module or of one that it extends. TLC does not check an `AXIOM`.
    fn assumptions(&mut self) -> Elaborated<Vec<Assumption>> {
        let mut found: Vec<Assumption> = Vec::new();
        let mut seen = HashSet::new();
        for (node, place) in self.model.root().assumptions.clone() {
            if !seen.insert(node) || self.text_at(place).starts_with("AXIOM") {
                continue;
            }
            let formula = self.expression(node, &Env::default(), Reading::VALUE)?;
            found.push(Assumption { formula, position: self.assumption_position(place) });
        }
        Ok(found)
    }

    fn assumption_position(&self, place: Place) -> String {
        let Some(module) = self.model.modules().get(place.file as usize) else { return String::new() };
        let formula = module.tree.units.iter().find_map(|unit| match unit {
            Unit::Assumption(_, formula, offset) if *offset == place.offset as usize => Some(formula),
            _ => None,
        });
        let tokens = tokens(&module.text);
        formula.map_or(String::new(), |formula| {
            format!("{} of module {}", position(formula, &module.text, &tokens), module.name)
        })
    }

    /// The configuration may not give a constant the value of a state.
    fn reject_substitution_by_states(&mut self, cfg: &Cfg) -> Elaborated<()> {
        for (key, value) in &cfg.constants {
            let Some(name) = value.strip_prefix("<- ") else { continue };
            let Some((by, target)) = self.model.symbol(name).zip(self.model.configured_symbol(key)) else { continue };
            if self.model.graph.symbol(target).kind != SymbolKind::Constant {
                continue;
            }
            if self.model.progress_operator(by).is_some() {
                return Err(Refusal::new(format!(
                    "{name}, which depends on the progress of TLC, for the constant {key}"
                )));
            }
            if self.level_of_symbol(by)? > CONSTANT && self.model.graph.symbol(target).arity > 0 {
                // TLC accepts it for an operator with parameters.
                return Err(Refusal::new(format!("{name}, which is no constant, for the constant operator {key}")));
            }
            if self.level_of_symbol(by)? > CONSTANT {
                let message =
                    format!("the configuration substitutes {name} for the constant {key}, and {name} is no constant");
                return Err(Refusal::invalid(message));
            }
        }
        Ok(())
    }

    /// Names in the order in which TLC reads them: those of the configuration, the identifiers of a module before those
    /// of the modules that it extends, and then strings, in the reverse order of modules.
    fn collect_interned(&self, cfg: &Cfg, interned: &mut Vec<String>) {
        for value in cfg.constants.values().filter_map(|value| constant(value)) {
            value.0.collect_names(interned);
        }
        let mut strings = Vec::new();
        self.collect_module_names(&self.model.root().name, &mut HashSet::new(), interned, &mut strings);
        interned.extend(strings);
    }

    fn collect_module_names(
        &self,
        name: &str,
        seen: &mut HashSet<String>,
        identifiers: &mut Vec<String>,
        strings: &mut Vec<String>,
    ) {
        let Some(module) = self.model.modules().iter().find(|module| module.name == name && !module.standard) else {
            return;
        };
        if !seen.insert(name.to_owned()) {
            return;
        }
        let mut own_strings = Vec::new();
        for token in tokens(&module.text) {
            let text = module.text.get(token.start..token.end).unwrap_or("");
            match token.kind {
                Kind::Identifier => identifiers.push(text.to_owned()),
                Kind::Text => own_strings.push(text.trim_matches('"').to_owned()),
                _ => {}
            }
        }
        let instances = module.tree.units.iter().filter_map(instance_of).map(|instance| &instance.module.text);
        for other in module.tree.extends.iter().map(|extended| &extended.text).chain(instances) {
            self.collect_module_names(other, seen, identifiers, strings);
        }
        strings.extend(own_strings);
    }
}

fn instance_of(unit: &Unit) -> Option<&Instance> {
    match unit {
        Unit::Instance(instance, _) => Some(instance),
        Unit::NamedInstance(named) => Some(&named.instance),
        _ => None,
    }
}

impl Constant {
    fn collect_names(&self, names: &mut Vec<String>) {
        match self {
            Constant::Text(name) | Constant::ModelValue(name) => names.push(name.clone()),
            Constant::Set(elements) => elements.iter().for_each(|element| element.collect_names(names)),
            Constant::Number(_) | Constant::Boolean(_) => {}
        }
    }
}

/// The values that a configuration assigns.
fn constants(cfg: &Cfg) -> Elaborated<Vec<(String, Constant)>> {
    let mut constants = Vec::new();
    for (key, value) in &cfg.constants {
        if value.starts_with("<- ") {
            continue;
        }
        if key.contains(['!', '(']) {
            return Err(Refusal::new(format!("a value for {key} in the configuration is not supported")));
        }
        let (value, rest) = constant(value).ok_or_else(|| {
            Refusal::new(format!("{value} in the configuration is no value that TLC has: its numbers have 32 bits"))
        })?;
        debug_assert!(rest.trim().is_empty());
        constants.push((key.clone(), value));
    }
    Ok(constants)
}

/// A value in the canonical notation of [`Cfg`], and the text after it.
fn constant(text: &str) -> Option<(Constant, &str)> {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        let mut elements = Vec::new();
        loop {
            rest = rest.trim_start();
            if let Some(rest) = rest.strip_prefix('}') {
                return Some((Constant::Set(elements), rest));
            }
            let (element, after) = constant(rest.strip_prefix(',').unwrap_or(rest))?;
            elements.push(element);
            rest = after;
        }
    }
    if let Some(rest) = text.strip_prefix('"') {
        let mut is_escaped = false;
        let end = rest.find(|c: char| {
            let is_end = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        })?;
        let (value, after) = (&rest[..end], &rest[end + 1..]);
        return Some((Constant::Text(unescaped(value)), after));
    }
    let end = text.find([',', '}', ' ']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    Some(match word {
        "" => return None,
        "TRUE" | "FALSE" => (Constant::Boolean(word == "TRUE"), rest),
        _ if word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit()) => {
            (Constant::Number(number(word)?), rest)
        }
        _ => (Constant::ModelValue(word.to_owned()), rest),
    })
}

/// The characters of a string that is written with escapes: `\\"`, `\\\\`, `\\n` and the like.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    plain
}

/// A position in TLC's words: `line 4, col 8 to line 4, col 12`.
fn position(expression: &Expr, text: &str, tokens: &[Token]) -> String {
    let line = |offset: usize| text.get(..offset).unwrap_or(text).matches('\n').count() + 1;
    let start = expression.start();
    let first = tokens.iter().find(|token| token.start == start).map_or(1, |token| token.column);
    let last = tokens.iter().find(|token| token.end == expression.end).map_or(1, |token| {
        token.column + text.get(token.start..token.end).map_or(1, |own| own.encode_utf16().count()) - 1
    });
    format!("line {}, col {first} to line {}, col {last}", line(start), line(expression.end))
}

fn outline(module: &Module) -> ModuleOutline {
    let symbol = |name: &Name, visibility: Visibility, is_variable: bool| {
        let is_local = visibility == Visibility::Local;
        OutlineSymbol::Name { name: name.text.clone(), is_local, is_variable }
    };
    let instance = |name: &str, instance: &Instance, visibility: Visibility| OutlineSymbol::Instance {
        name: name.to_owned(),
        module: instance.module.text.clone(),
        is_local: visibility == Visibility::Local,
    };
    let mut symbols = Vec::new();
    for unit in &module.units {
        match unit {
            Unit::Constants(all, _) | Unit::Recursive(all) => {
                symbols.extend(all.iter().map(|one| symbol(&one.name, Visibility::Exported, false)));
            }
            Unit::Variables(names, _) => {
                symbols.extend(names.iter().map(|name| symbol(name, Visibility::Exported, true)));
            }
            Unit::Operator(own) => symbols.push(symbol(&own.name, own.visibility, false)),
            Unit::Function(own) => symbols.push(symbol(&own.name, own.visibility, false)),
            Unit::Assumption(Some(name), ..) => symbols.push(symbol(name, Visibility::Exported, false)),
            Unit::Instance(own, visibility) => symbols.push(instance("", own, *visibility)),
            Unit::NamedInstance(named) => symbols.push(instance(&named.name.text, &named.instance, named.visibility)),
            Unit::Assumption(None, ..) | Unit::Theorem(_) | Unit::Module(_) | Unit::Use(_) => {}
        }
    }
    let extends = module.extends.iter().map(|extended| extended.text.clone()).collect();
    ModuleOutline { name: module.name.text.clone(), extends, symbols }
}

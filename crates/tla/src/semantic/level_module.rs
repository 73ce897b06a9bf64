//! Levels of substitutions, instances, recursive definitions and whole modules.

use std::rc::Rc;

use super::graph::{
    ACTION, CONSTANT, Graph, Level, ModuleId, Node, NodeId, Part, RigidPart, STATE, Substitution, SubstitutionId,
    SymbolId, SymbolKind, TEMPORAL,
};
use super::level::{LevelInfo, Levels, level_name};

pub(super) fn check(graph: &mut Graph, modules: &[ModuleId]) {
    let mut levels = Levels::new(graph);
    for module in modules {
        levels.module(*module);
    }
}

fn value(substitution: &Substitution, symbol: SymbolId) -> Option<NodeId> {
    substitution.pairs.iter().find(|(target, _)| *target == symbol).map(|(_, node)| *node)
}

impl Levels<'_> {
    fn operator_of(&self, node: NodeId) -> Option<SymbolId> {
        match self.graph.node(node) {
            Node::Operator(symbol) => Some(*symbol),
            _ => None,
        }
    }

    /// The symbols that contribute in place of this one.
    fn contributing(&mut self, substitution: &Substitution, symbol: SymbolId) -> Vec<SymbolId> {
        match value(substitution, symbol) {
            Some(node) => self.body_info(node).counting.iter().copied().collect(),
            None => vec![symbol],
        }
    }

    /// The body of a definition of another module, as the instance sees it.
    pub(super) fn substituted(&mut self, body: NodeId, by: SubstitutionId) -> LevelInfo {
        let substitution = self.graph.substitutions[by as usize].clone();
        let inner = self.body_info(body);
        let mut info = LevelInfo { level: inner.level, ..LevelInfo::default() };
        for (symbol, node) in &substitution.pairs {
            let value = self.body_info(*node);
            if inner.counting.contains(symbol) {
                info.level = info.level.max(value.level);
            }
            if inner.all.contains(symbol) {
                info.all.extend(&value.all);
                info.rigid.extend(&value.rigid);
                if inner.rigid.contains(symbol) {
                    info.rigid.extend(&value.all);
                }
            }
        }
        let kept = |symbol: &&SymbolId| !substitution.pairs.iter().any(|(target, _)| target == *symbol);
        info.all.extend(inner.all.iter().filter(kept));
        info.rigid.extend(inner.rigid.iter().filter(kept));
        for symbol in &inner.counting {
            let counting = self.contributing(&substitution, *symbol);
            info.counting.extend(counting);
        }
        self.substitute_constraints(&inner, &substitution, &mut info);
        info
    }

    fn substitute_constraints(&mut self, inner: &LevelInfo, substitution: &Substitution, info: &mut LevelInfo) {
        // Only in a constant module may expressions of a higher level replace constants.
        let constant = self.is_constant(substitution.module);
        for (symbol, level) in &inner.limits {
            let level = match self.graph.symbol(*symbol).kind {
                SymbolKind::Constant if !constant => CONSTANT,
                SymbolKind::Variable if !constant => STATE,
                _ => *level,
            };
            for symbol in self.contributing(substitution, *symbol) {
                info.add_limit(symbol, level);
            }
        }
        for ((symbol, position), level) in &inner.demands {
            match value(substitution, *symbol) {
                None => info.add_demand(*symbol, *position, *level),
                Some(node) => {
                    if let Some(operator) = self.operator_of(node).filter(|id| self.graph.symbol(*id).is_open()) {
                        info.add_demand(operator, *position, *level);
                    }
                }
            }
        }
        for (operator, position, symbol) in &inner.uses {
            let target = match value(substitution, *operator) {
                None => Some(*operator),
                Some(node) => self.operator_of(node),
            };
            let Some(target) = target else { continue };
            let counting = self.contributing(substitution, *symbol);
            if self.graph.symbol(target).is_open() {
                if let Some(node) = value(substitution, *symbol) {
                    let level = self.body_info(node).level;
                    info.add_demand(target, *position, level);
                }
                info.uses.extend(counting.into_iter().map(|symbol| (target, *position, symbol)));
            } else {
                let highest = self.signature(target).highest(*position);
                for symbol in counting {
                    info.add_limit(symbol, highest);
                }
            }
        }
    }

    /// Whether a module declares no variable and defines nothing above constant level.
    pub(super) fn is_constant(&mut self, module: ModuleId) -> bool {
        if let Some(known) = self.constant_modules.get(&module) {
            return *known;
        }
        let order = self.graph.module(module).scope.order.clone();
        let theorems = self.graph.module(module).theorems.clone();
        let variable = order.iter().any(|id| self.graph.symbol(*id).kind == SymbolKind::Variable);
        let constant = !variable
            && order.iter().all(|id| match (self.graph.symbol(*id).kind, self.graph.symbol(*id).body) {
                (SymbolKind::Operator, Some(body)) => self.body_info(body).level == CONSTANT,
                _ => true,
            })
            && theorems.iter().all(|theorem| self.body_info(*theorem).level == CONSTANT);
        self.constant_modules.insert(module, constant);
        constant
    }

    /// Checks the levels of what an instance substitutes against the demands of its module.
    pub(super) fn instance(&mut self, instance: usize) {
        let instance = self.graph.instances[instance].clone();
        let substitution = self.graph.substitutions[instance.by as usize].clone();
        if substitution.pairs.is_empty() {
            return;
        }
        let place = instance.place;
        let module = self.module_info(substitution.module);
        let name = self.graph.module(substitution.module).name.to_string();
        let constant = self.is_constant(substitution.module);
        for (symbol, node) in &substitution.pairs {
            let value = self.body_info(*node);
            let target = self.name(*symbol);
            let mut highest = module.limits.get(symbol).copied();
            if !constant {
                let own = self.declared_level(*symbol);
                highest = Some(highest.map_or(own, |highest| highest.min(own)));
            }
            if let Some(highest) = highest.filter(|highest| value.level > *highest) {
                self.report_level(place, &name, &target, value.level, highest);
            }
            let Some(operator) = self.operator_of(*node).filter(|id| self.is_definition(*id)) else { continue };
            let signature = self.signature(operator);
            if !signature.is_flexible() {
                let message = format!(
                    "`{}` cannot replace `{target}` of module {name}: it is not an operator on values",
                    self.name(operator)
                );
                self.error(place, message);
            }
            for position in 0..self.graph.symbol(*symbol).arity {
                let demand = module.demands.get(&(*symbol, position)).copied();
                if demand.is_some_and(|demand| signature.highest(position) < demand) {
                    let message = format!(
                        "`{}` cannot replace `{target}` of module {name}: its operand {} allows at most {} level",
                        self.name(operator),
                        position + 1,
                        level_name(signature.highest(position))
                    );
                    self.error(place, message);
                }
            }
        }
        for (operator, position, symbol) in &module.uses {
            let (Some(operator), Some(node)) = (value(&substitution, *operator), value(&substitution, *symbol)) else {
                continue;
            };
            let Some(operator) = self.operator_of(operator).filter(|id| self.is_definition(*id)) else { continue };
            let highest = self.signature(operator).highest(*position);
            let level = self.body_info(node).level;
            if level > highest {
                let target = self.name(*symbol);
                self.report_level(place, &name, &target, level, highest);
            }
        }
    }

    fn report_level(&mut self, place: super::graph::Place, module: &str, target: &str, level: Level, highest: Level) {
        let message = format!(
            "what replaces `{target}` of module {module} is of {} level; at most {} level is allowed",
            level_name(level),
            level_name(highest)
        );
        self.error(place, message);
    }

    /// Checks everything in a module, and returns the constraints on its constants and variables.
    pub(super) fn module(&mut self, module: ModuleId) -> Rc<LevelInfo> {
        if let Some(known) = self.modules.get(&module) {
            return Rc::clone(known);
        }
        // Before its parts, so that the recursion ends if the module is reached again.
        self.modules.insert(module, Rc::new(LevelInfo::default()));
        let info = self.graph.module(module).clone();
        for part in info.parts {
            match part {
                Part::Definition(definition) => {
                    self.signature(definition);
                }
                Part::Module(inner) => {
                    self.module(inner);
                }
            }
        }
        for section in info.sections {
            if let Some(first) = section.first() {
                self.signature(*first);
            }
        }
        for (assumption, place) in &info.assumptions {
            let level = self.body_info(*assumption).level;
            if level != CONSTANT {
                let message =
                    format!("an assumption must be of constant level and this one is of {} level", level_name(level));
                self.error(*place, message);
            }
        }
        for node in info.theorems.iter().chain(&info.steps) {
            self.body_info(*node);
        }
        for RigidPart { goal, part, place, keyword } in info.rigid_parts {
            let level = self.body_info(part).level;
            if level != CONSTANT && self.body_info(goal).level == TEMPORAL {
                let message = format!(
                    "the goal is a temporal formula, so what {keyword} names must be of constant level and this is of {} level",
                    level_name(level)
                );
                self.error(place, message);
            }
        }
        for instance in info.instances {
            self.instance(instance);
        }
        self.modules.remove(&module);
        self.module_info(module)
    }

    fn module_info(&mut self, module: ModuleId) -> Rc<LevelInfo> {
        if let Some(known) = self.modules.get(&module) {
            return Rc::clone(known);
        }
        let mut info = LevelInfo::default();
        let constant = self.is_constant(module);
        let about = self.graph.module(module).clone();
        for id in about.scope.order {
            match self.graph.symbol(id).kind {
                SymbolKind::Constant if !constant => info.add_limit(id, CONSTANT),
                SymbolKind::Operator => {
                    let signature = self.signature(id);
                    info.inherit(&signature.info, &[]);
                }
                _ => {}
            }
        }
        let assumptions = about.assumptions.iter().map(|(node, _)| node);
        for node in assumptions.chain(&about.theorems) {
            let statement = self.body_info(*node);
            info.inherit(&statement, &[]);
            for symbol in &statement.counting {
                if self.graph.symbol(*symbol).kind == SymbolKind::Constant {
                    info.add_limit(*symbol, ACTION);
                }
            }
        }
        let info = Rc::new(info);
        self.modules.insert(module, Rc::clone(&info));
        info
    }

    /// Analyses the section of recursive definitions that a symbol belongs to, unless that was done already.
    pub(super) fn analyze_section_of(&mut self, symbol: SymbolId) -> bool {
        let (home, section) = (self.graph.symbol(symbol).home, self.graph.symbol(symbol).section);
        let Some(number) = section else { return false };
        if !self.sections.insert((home, number)) {
            return false;
        }
        let Some(members) = self.graph.module(home).sections.get(number.wrapping_sub(1)).cloned() else { return false };
        self.analyze_section(&members);
        true
    }

    /// Analyses a section in two rounds, because recursive definitions depend on each other's levels.
    fn analyze_section(&mut self, section: &[SymbolId]) {
        for id in section {
            if self.graph.symbol(*id).recursive.is_some() {
                self.set_provisional_signature(*id);
            }
        }
        let (mut level, mut counting, mut all) = (CONSTANT, Vec::new(), Vec::new());
        let mut first = Vec::new();
        for id in section {
            let recursive = self.graph.symbol(*id).recursive.is_some();
            let signature = self.definition_signature(*id, CONSTANT);
            if recursive {
                let primed = (0..self.graph.symbol(*id).arity).find(|position| signature.highest(*position) < ACTION);
                if let Some(position) = primed {
                    let place = self.graph.symbol(*id).place;
                    let message =
                        format!("operand {} of the recursive operator `{}` is primed", position + 1, self.name(*id));
                    self.error(place, message);
                }
                level = level.max(signature.info.level);
                counting.extend(signature.info.counting.iter().copied());
                all.extend(signature.info.all.iter().copied());
            }
            first.push(signature);
        }
        for (id, mut signature) in section.iter().zip(first) {
            self.forget(*id);
            signature.info.level = signature.info.level.max(level);
            signature.info.counting.extend(&counting);
            signature.info.all.extend(&all);
            self.set_signature(*id, signature);
        }
        let mut last = Vec::new();
        for id in section {
            let mut signature = self.definition_signature(*id, level);
            signature.info.counting.extend(&counting);
            signature.info.all.extend(&all);
            last.push(signature);
        }
        for (id, signature) in section.iter().zip(last) {
            self.set_signature(*id, signature);
        }
    }
}

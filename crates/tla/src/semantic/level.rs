//! Levels (constant, state, action, temporal), and the levels that operators demand of their operands.
//!
//! Source: "Specifying Systems", section 17.2 and the appendix on levels of operators with operators as operands. The
//! level of an expression depends on what replaces its free constants and parameters. So each expression has, besides
//! its level, the parameters that contribute to it, and constraints on whatever replaces them. SANY keeps the same data
//! in its `LevelNode` and `OpDefNode`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::builtin::{BUILT_INS, BuiltInForm};
use super::graph::{
    ACTION, Application, CONSTANT, Graph, Level, Node, NodeId, Place, Severity, SymbolId, SymbolKind, TEMPORAL,
};

/// Operator parameter, position of an operand, parameter that occurs in that operand.
pub(super) type Use = (SymbolId, usize, SymbolId);

/// The level of an expression, and how it depends on the expression's free symbols.
#[derive(Debug, Clone, Default)]
pub(super) struct LevelInfo {
    pub(super) level: Level,
    /// Symbols whose level contributes to the level (SANY: `levelParams`).
    pub(super) counting: BTreeSet<SymbolId>,
    /// Symbols that occur (SANY: `allParams`).
    pub(super) all: BTreeSet<SymbolId>,
    /// Symbols that may not be replaced by an equal value (SANY: `nonLeibnizParams`).
    pub(super) rigid: BTreeSet<SymbolId>,
    /// The maximum level of what replaces a symbol (SANY: `levelConstraints`).
    pub(super) limits: BTreeMap<SymbolId, Level>,
    /// The level that an operator parameter must allow for an operand (SANY: `argLevelConstraints`).
    pub(super) demands: BTreeMap<(SymbolId, usize), Level>,
    pub(super) uses: BTreeSet<Use>,
}

impl LevelInfo {
    pub(super) fn add_limit(&mut self, symbol: SymbolId, level: Level) {
        let known = self.limits.entry(symbol).or_insert(level);
        *known = level.min(*known);
    }

    pub(super) fn add_demand(&mut self, symbol: SymbolId, position: usize, level: Level) {
        let known = self.demands.entry((symbol, position)).or_insert(level);
        *known = level.max(*known);
    }

    /// Takes over everything except the level and the symbols that contribute to it.
    pub(super) fn inherit(&mut self, other: &Self, bound: &[SymbolId]) {
        self.all.extend(other.all.iter().filter(|symbol| !bound.contains(symbol)));
        self.rigid.extend(other.rigid.iter().filter(|symbol| !bound.contains(symbol)));
        for (symbol, level) in other.limits.iter().filter(|(symbol, _)| !bound.contains(symbol)) {
            self.add_limit(*symbol, *level);
        }
        for ((symbol, position), level) in &other.demands {
            self.add_demand(*symbol, *position, *level);
        }
        self.uses.extend(other.uses.iter().filter(|(_, _, symbol)| !bound.contains(symbol)));
    }

    pub(super) fn add_contribution(&mut self, other: &Self, bound: &[SymbolId]) {
        self.level = self.level.max(other.level);
        self.counting.extend(other.counting.iter().filter(|symbol| !bound.contains(symbol)));
    }
}

/// The levels of an operator and of its operands.
#[derive(Debug, Clone, Default)]
pub(super) struct Signature {
    /// The level of the body, without the parameters.
    pub(super) info: LevelInfo,
    /// The maximum level of each operand; with any number of operands, the one for all.
    highest: Vec<Level>,
    counts: Vec<bool>,
    rigid: Vec<bool>,
    /// For each operand that is an operator, the minimum level that it must allow for each of its own operands.
    demands: Vec<Vec<Level>>,
    /// Operator parameter, position of its operand, and the parameter that occurs in that operand.
    occurs: BTreeSet<(usize, usize, usize)>,
    parameters: Vec<SymbolId>,
}

impl Signature {
    pub(super) fn highest(&self, position: usize) -> Level {
        self.highest.get(position).or(self.highest.last()).copied().unwrap_or(TEMPORAL)
    }

    fn counts(&self, position: usize) -> bool {
        self.counts.get(position).or(self.counts.last()).copied().unwrap_or(true)
    }

    fn is_rigid(&self, position: usize) -> bool {
        self.rigid.get(position).or(self.rigid.last()).copied().unwrap_or(false)
    }

    fn argument_demand(&self, position: usize, inner_position: usize) -> Level {
        self.demands.get(position).and_then(|all| all.get(inner_position)).copied().unwrap_or(CONSTANT)
    }

    fn occurs(&self, operator: usize, position: usize, operand: usize) -> bool {
        self.occurs.contains(&(operator, position, operand))
    }

    /// Whether every operand may be replaced by an equal one.
    pub(super) fn is_flexible(&self) -> bool {
        !self.rigid.iter().any(|rigid| *rigid)
    }

    fn position(&self, parameter: SymbolId) -> Option<usize> {
        self.parameters.iter().position(|id| *id == parameter)
    }
}

pub(super) struct Levels<'a> {
    pub(super) graph: &'a mut Graph,
    signatures: HashMap<SymbolId, Rc<Signature>>,
    bodies: HashMap<NodeId, Rc<LevelInfo>>,
    pub(super) modules: HashMap<super::graph::ModuleId, Rc<LevelInfo>>,
    pub(super) constant_modules: HashMap<super::graph::ModuleId, bool>,
    /// Sections of recursive definitions that are finished or in progress, by module and number.
    pub(super) sections: HashSet<(super::graph::ModuleId, usize)>,
    depth: usize,
}

/// Maximum nesting of definitions in progress; a single expression is never that deep.
const MAX_WAITING: usize = 400;

fn with_article(word: &str) -> String {
    format!("{} {word}", if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" })
}

pub(super) fn level_name(level: Level) -> &'static str {
    match level {
        0 => "constant",
        1 => "state",
        2 => "action",
        _ => "temporal",
    }
}

impl<'a> Levels<'a> {
    pub(super) fn new(graph: &'a mut Graph) -> Self {
        Self {
            graph,
            signatures: HashMap::new(),
            bodies: HashMap::new(),
            modules: HashMap::new(),
            constant_modules: HashMap::new(),
            sections: HashSet::new(),
            depth: 0,
        }
    }

    pub(super) fn error(&mut self, place: Place, message: String) {
        self.graph.report(Severity::Error, place, message);
    }

    /// Definitions have a signature.
    pub(super) fn is_definition(&self, symbol: SymbolId) -> bool {
        matches!(self.graph.symbol(symbol).kind, SymbolKind::BuiltIn(_) | SymbolKind::Operator | SymbolKind::Theorem)
    }

    pub(super) fn name(&self, symbol: SymbolId) -> String {
        self.graph.symbol(symbol).name.to_string()
    }

    pub(super) fn signature(&mut self, symbol: SymbolId) -> Rc<Signature> {
        if let Some(known) = self.signatures.get(&symbol) {
            return Rc::clone(known);
        }
        if self.analyze_section_of(symbol)
            && let Some(known) = self.signatures.get(&symbol)
        {
            return Rc::clone(known);
        }
        let signature = match self.graph.symbol(symbol).kind {
            SymbolKind::BuiltIn(row) => {
                let built_in = &BUILT_INS[row];
                Signature {
                    info: LevelInfo { level: built_in.level, ..LevelInfo::default() },
                    highest: built_in.highest.to_vec(),
                    counts: vec![built_in.counts],
                    rigid: if built_in.counts || built_in.highest.is_empty() { Vec::new() } else { vec![true] },
                    ..Signature::default()
                }
            }
            _ => self.definition_signature(symbol, CONSTANT),
        };
        let signature = Rc::new(signature);
        self.signatures.insert(symbol, Rc::clone(&signature));
        signature
    }

    /// The signature of a recursive operator while its section is analysed: any action may be an operand.
    pub(super) fn set_provisional_signature(&mut self, symbol: SymbolId) {
        let parameters = self.graph.symbol(symbol).parameters.clone();
        let signature = Signature {
            highest: vec![ACTION; parameters.len()],
            counts: vec![true; parameters.len()],
            parameters,
            ..Signature::default()
        };
        self.signatures.insert(symbol, Rc::new(signature));
    }

    pub(super) fn set_signature(&mut self, symbol: SymbolId, signature: Signature) {
        self.signatures.insert(symbol, Rc::new(signature));
    }

    pub(super) fn forget(&mut self, symbol: SymbolId) {
        self.signatures.remove(&symbol);
        if let Some(body) = self.graph.symbol(symbol).body {
            self.bodies.remove(&body);
        }
    }

    /// The signature of a definition from its body.
    pub(super) fn definition_signature(&mut self, symbol: SymbolId, least: Level) -> Signature {
        let definition = self.graph.symbol(symbol);
        let parameters = definition.parameters.clone();
        let body = match definition.body {
            Some(body) => self.body_info(body),
            None => Rc::new(LevelInfo::default()),
        };
        let mut signature = Signature { parameters: parameters.clone(), ..Signature::default() };
        signature.info.level = body.level.max(least);
        for (index, parameter) in parameters.iter().enumerate() {
            signature.highest.push(body.limits.get(parameter).copied().unwrap_or(TEMPORAL));
            signature.counts.push(body.counting.contains(parameter));
            signature.rigid.push(body.rigid.contains(parameter));
            let arity = self.graph.symbol(*parameter).arity;
            let demand =
                |inner_position: usize| body.demands.get(&(*parameter, inner_position)).copied().unwrap_or(CONSTANT);
            signature.demands.push((0..arity).map(demand).collect());
            for (position, other) in parameters.iter().enumerate() {
                let occurs =
                    (0..arity).filter(|inner_position| body.uses.contains(&(*parameter, *inner_position, *other)));
                signature.occurs.extend(occurs.map(|inner_position| (index, inner_position, position)));
            }
        }
        let own = |id: &SymbolId| parameters.contains(id);
        let info = &mut signature.info;
        info.counting = body.counting.iter().copied().filter(|id| !own(id)).collect();
        info.all = body.all.iter().copied().filter(|id| !own(id)).collect();
        info.rigid = body.rigid.iter().copied().filter(|id| !own(id)).collect();
        info.limits = body.limits.iter().map(|(id, level)| (*id, *level)).filter(|(id, _)| !own(id)).collect();
        info.demands = body.demands.iter().map(|(key, level)| (*key, *level)).filter(|((id, _), _)| !own(id)).collect();
        info.uses = body.uses.iter().copied().filter(|(operator, _, id)| !own(operator) || !own(id)).collect();
        signature
    }

    /// The levels of a definition's body, which instances may share.
    pub(super) fn body_info(&mut self, node: NodeId) -> Rc<LevelInfo> {
        if let Some(known) = self.bodies.get(&node) {
            return Rc::clone(known);
        }
        let info = Rc::new(self.info(node));
        self.bodies.insert(node, Rc::clone(&info));
        info
    }

    pub(super) fn info(&mut self, node: NodeId) -> LevelInfo {
        if self.depth >= MAX_WAITING {
            let message = "too many definitions depend on each other here to be analysed".to_owned();
            self.graph.report(Severity::NotAnalysed, self.graph.place(node), message);
            return LevelInfo::default();
        }
        self.depth += 1;
        let info = self.compute_info(node);
        self.depth -= 1;
        info
    }

    fn compute_info(&mut self, node: NodeId) -> LevelInfo {
        match self.graph.node(node).clone() {
            Node::Literal => LevelInfo::default(),
            Node::Apply(application) => self.application(&application, self.graph.place(node)),
            Node::At(parts) => {
                let mut info = LevelInfo::default();
                for part in parts {
                    let part = self.info(part);
                    info.add_contribution(&part, &[]);
                    info.inherit(&part, &[]);
                }
                info
            }
            Node::Let { definitions, instances, body } => {
                let signatures: Vec<Rc<Signature>> = definitions.iter().map(|id| self.signature(*id)).collect();
                let mut info = self.info(body);
                for instance in instances {
                    self.instance(instance);
                }
                // The constraints of a local definition hold even if the body does not use it.
                for signature in signatures {
                    for (symbol, level) in &signature.info.limits {
                        info.add_limit(*symbol, *level);
                    }
                    for ((symbol, position), level) in &signature.info.demands {
                        info.add_demand(*symbol, *position, *level);
                    }
                    info.uses.extend(&signature.info.uses);
                }
                info
            }
            Node::Substituted { body, by } => self.substituted(body, by),
            Node::Operator(symbol) => self.symbol_info(symbol),
            Node::Sequent { parts, declared } => {
                let mut info = LevelInfo::default();
                for part in parts {
                    let part = self.info(part);
                    info.add_contribution(&part, &declared);
                    info.inherit(&part, &declared);
                }
                info
            }
        }
    }

    /// A symbol by itself, as an operator argument.
    fn symbol_info(&mut self, symbol: SymbolId) -> LevelInfo {
        if self.is_definition(symbol) {
            return self.signature(symbol).info.clone();
        }
        let mut info = LevelInfo { level: self.declared_level(symbol), ..LevelInfo::default() };
        info.all.insert(symbol);
        info.counting.insert(symbol);
        info
    }

    pub(super) fn declared_level(&self, symbol: SymbolId) -> Level {
        match self.graph.symbol(symbol).kind {
            SymbolKind::Variable => super::graph::STATE,
            SymbolKind::New(level) => level,
            _ => CONSTANT,
        }
    }

    fn application(&mut self, application: &Application, place: Place) -> LevelInfo {
        let infos: Vec<Option<LevelInfo>> =
            application.operands.iter().map(|operand| operand.map(|operand| self.info(operand))).collect();
        let ranges: Vec<LevelInfo> = application.ranges.iter().map(|range| self.info(*range)).collect();
        let info = if self.is_definition(application.operator) {
            self.definition_application(application, &infos, &ranges, place)
        } else {
            self.declared_application(application.operator, &infos)
        };
        self.check_temporal(application, &infos, &ranges, info.level, place);
        info
    }

    fn declared_application(&mut self, operator: SymbolId, infos: &[Option<LevelInfo>]) -> LevelInfo {
        let mut info = self.symbol_info(operator);
        for (position, operand) in infos.iter().enumerate() {
            let Some(operand) = operand else { continue };
            info.add_contribution(operand, &[]);
            info.inherit(operand, &[]);
            info.add_demand(operator, position, operand.level);
            info.uses.extend(operand.counting.iter().map(|symbol| (operator, position, *symbol)));
        }
        info
    }

    fn operator_at(&self, application: &Application, position: usize) -> Option<SymbolId> {
        let node = application.operands.get(position).copied().flatten()?;
        match self.graph.node(node) {
            Node::Operator(symbol) => Some(*symbol),
            _ => None,
        }
    }

    fn definition_application(
        &mut self,
        application: &Application,
        infos: &[Option<LevelInfo>],
        ranges: &[LevelInfo],
        place: Place,
    ) -> LevelInfo {
        let signature = self.signature(application.operator);
        let bound = &application.bound;
        self.check_operands(application, &signature, infos, ranges, place);

        let mut info = LevelInfo { level: signature.info.level, ..LevelInfo::default() };
        info.counting.extend(signature.info.counting.iter().filter(|symbol| !bound.contains(symbol)));
        let mut inherited = signature.info.clone();
        // They are inherited below, with arguments in place of parameters.
        inherited.uses.clear();
        info.inherit(&inherited, bound);
        for (position, operand) in infos.iter().enumerate() {
            let Some(operand) = operand else { continue };
            if signature.counts(position) {
                info.add_contribution(operand, bound);
            }
            info.inherit(operand, bound);
            if signature.is_rigid(position) {
                info.rigid.extend(operand.all.iter().filter(|symbol| !bound.contains(symbol)));
            }
            for symbol in operand.counting.iter().filter(|symbol| !bound.contains(symbol)) {
                info.add_limit(*symbol, signature.highest(position));
            }
        }
        for range in ranges {
            info.add_contribution(range, &[]);
            info.inherit(range, &[]);
        }
        self.constrain_by_operator_arguments(application, &signature, infos, &mut info);
        self.inherit_uses(application, &signature, infos, &mut info);
        info
    }

    fn check_operands(
        &mut self,
        application: &Application,
        signature: &Signature,
        infos: &[Option<LevelInfo>],
        ranges: &[LevelInfo],
        place: Place,
    ) {
        let operator = application.operator;
        for (position, operand) in infos.iter().enumerate() {
            let Some(operand) = operand else { continue };
            let highest = signature.highest(position);
            if operand.level > highest {
                let message = format!(
                    "{} is {} formula, but `{}` allows at most {} level",
                    argument_name(position, infos.len()),
                    with_article(level_name(operand.level)),
                    self.name(operator),
                    level_name(highest)
                );
                self.error(place, message);
            }
            let Some(argument) = self.operator_at(application, position).filter(|id| self.is_definition(*id)) else {
                continue;
            };
            let inner = self.signature(argument);
            let arity = self.graph.symbol(argument).arity;
            for inner_position in 0..arity {
                let demand = signature.argument_demand(position, inner_position);
                let given = infos.iter().enumerate().filter_map(|(other_position, info)| {
                    info.as_ref()
                        .filter(|_| signature.occurs(position, inner_position, other_position))
                        .map(|info| info.level)
                });
                let needed = given.fold(demand, Level::max);
                if inner.highest(inner_position) < needed {
                    let message = format!(
                        "`{}` cannot be given to `{}`: its operand {} may be at most of {} level and gets {} formula",
                        self.name(argument),
                        self.name(operator),
                        inner_position + 1,
                        level_name(inner.highest(inner_position)),
                        with_article(level_name(needed))
                    );
                    self.error(place, message);
                }
            }
        }
        if ranges.iter().any(|range| range.level > ACTION) {
            self.error(place, "the set that a variable is bound to may not be temporal".into());
        }
    }

    /// The constraints that operators given as operands put on the other operands.
    fn constrain_by_operator_arguments(
        &mut self,
        application: &Application,
        signature: &Signature,
        infos: &[Option<LevelInfo>],
        info: &mut LevelInfo,
    ) {
        for position in 0..infos.len() {
            let Some(argument) = self.operator_at(application, position) else { continue };
            let arity = self.graph.symbol(argument).arity;
            let is_definition = self.is_definition(argument);
            let inner = if is_definition { Some(self.signature(argument)) } else { None };
            for inner_position in 0..arity {
                if inner.is_none() {
                    info.add_demand(argument, inner_position, signature.argument_demand(position, inner_position));
                }
                for (other_position, other) in infos.iter().enumerate() {
                    let Some(other) =
                        other.as_ref().filter(|_| signature.occurs(position, inner_position, other_position))
                    else {
                        continue;
                    };
                    match &inner {
                        Some(inner) => {
                            for symbol in &other.counting {
                                info.add_limit(*symbol, inner.highest(inner_position));
                            }
                            if inner.is_rigid(inner_position) {
                                info.rigid.extend(&other.all);
                            }
                        }
                        None => {
                            info.add_demand(argument, inner_position, other.level);
                            info.uses.extend(other.counting.iter().map(|symbol| (argument, inner_position, *symbol)));
                        }
                    }
                }
            }
        }
    }

    /// Uses inside the definition in which only the operator, or only a symbol in its operand, is a parameter.
    fn inherit_uses(
        &mut self,
        application: &Application,
        signature: &Signature,
        infos: &[Option<LevelInfo>],
        info: &mut LevelInfo,
    ) {
        for (operator, inner_position, symbol) in signature.info.uses.iter().copied() {
            match signature.position(operator) {
                Some(position) => {
                    let Some(argument) = self.operator_at(application, position) else { continue };
                    if self.is_definition(argument) {
                        let highest = self.signature(argument).highest(inner_position);
                        info.add_limit(symbol, highest);
                    } else {
                        info.uses.insert((argument, inner_position, symbol));
                    }
                }
                None => match signature.position(symbol).and_then(|position| infos.get(position)) {
                    Some(Some(operand)) => {
                        info.uses.extend(operand.counting.iter().map(|symbol| (operator, inner_position, *symbol)));
                        info.add_demand(operator, inner_position, operand.level);
                    }
                    Some(None) => {}
                    None => {
                        info.uses.insert((operator, inner_position, symbol));
                    }
                },
            }
        }
    }

    /// Rejects formulas that are sensitive to stuttering.
    fn check_temporal(
        &mut self,
        application: &Application,
        infos: &[Option<LevelInfo>],
        ranges: &[LevelInfo],
        level: Level,
        place: Place,
    ) {
        let name = self.name(application.operator);
        if !matches!(self.graph.symbol(application.operator).kind, SymbolKind::BuiltIn(_)) {
            return;
        }
        let levels: Vec<Level> = infos.iter().flatten().map(|info| info.level).collect();
        let is = |row: BuiltInForm| application.operator == row.symbol();
        match name.as_str() {
            "[]" | "<>" if levels.first() == Some(&ACTION) => {
                let wanted = if name == "[]" { BuiltInForm::BoxAction } else { BuiltInForm::AngleAction };
                let operand = application.operands.first().copied().flatten();
                let operator = operand.and_then(|operand| match self.graph.node(operand) {
                    Node::Apply(inner) => Some(inner.operator),
                    _ => None,
                });
                if operator.is_some_and(|operator| operator != wanted.symbol()) {
                    let form = if name == "[]" { "[A]_v" } else { "<<A>>_v" };
                    self.error(place, format!("`{name}` is applied to an action that is not of the form {form}"));
                }
            }
            "~>" | "-+->" if levels.contains(&ACTION) => {
                self.error(place, format!("`{name}` joins state predicates or temporal formulas, not actions"));
            }
            _ if is(BuiltInForm::Conjunction)
                || is(BuiltInForm::Disjunction)
                || matches!(name.as_str(), "/\\" | "\\/" | "=>" | "<=>") =>
            {
                self.check_mixed(&levels, &name, place);
            }
            _ if (is(BuiltInForm::All) || is(BuiltInForm::Some))
                && level == TEMPORAL
                && ranges.iter().any(|range| range.level == ACTION) =>
            {
                let message = "a quantifier over a temporal formula binds its variable to a set of action level";
                self.error(place, message.into());
            }
            _ => {}
        }
    }

    fn check_mixed(&mut self, levels: &[Level], name: &str, place: Place) {
        if levels.contains(&ACTION) && levels.contains(&TEMPORAL) {
            let message =
                format!("{name} joins an action and a temporal formula: write the action as [A]_v or <<A>>_v");
            self.error(place, message);
        }
    }
}

fn argument_name(position: usize, count: usize) -> String {
    if count == 1 { "the operand".to_owned() } else { format!("operand {}", position + 1) }
}

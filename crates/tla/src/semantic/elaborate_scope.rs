//! What the names of an expression mean during elaboration, and the levels of expressions under these meanings.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::builtin::BUILT_INS;
use super::core_form::CoreDefinition;
use super::elaborator::{Elaborated, Elaborator, Reading, Refusal};
use super::graph::{ACTION, CONSTANT, Level, Node, NodeId, Place, STATE, SubstitutionId, SymbolId, SymbolKind};

/// The key of `@` in a scope.
pub(super) const AT: SymbolId = SymbolId::MAX;
/// Maximum nesting of definitions, for the recursions over them.
pub(super) const MAX_NESTING: usize = 400;

/// What is not evaluated of ENABLED in an instance: see [`Elaborator::with_independent_next_values`].
pub(super) const ENABLED_IN_THIS_INSTANCE: &str = "ENABLED, or fairness, in an instance that \
    replaces variables by expressions, if its module has more variables than the specification, or the action uses a step from outside,";

/// The meanings of names around an expression.
#[derive(Clone, Default)]
pub(super) struct Env {
    locals: Option<Rc<Local>>,
    /// The innermost instance whose module contains the expression.
    pub(super) frame: Option<Rc<Frame>>,
}

struct Local {
    entry: Entry,
    outer: Option<Rc<Local>>,
}

enum Entry {
    One(SymbolId, Binding),
    Group(Rc<Group>),
}

/// The values of the constants and variables of a module in an instance.
pub(super) struct Frame {
    pub(super) by: SubstitutionId,
    pub(super) outer: Env,
    /// The number of the frame, if its values contain no local name; then definitions under it can be shared.
    pub(super) number: Option<usize>,
    /// Within ENABLED: for each variable of the module, the variable of the specification that has its next value.
    next_values: Option<HashMap<SymbolId, Rc<str>>>,
}

#[derive(Clone)]
pub(super) enum Binding {
    /// A bound variable of the core. It has the same value in both states of a step.
    Name(Rc<str>),
    /// A function in its own definition.
    Own(Rc<str>),
    /// An expression to be written in place of the name.
    Expression(NodeId, Env),
    /// A variable of an instance below ENABLED: its value, and the variable of the specification that has its next value.
    InstanceVariable(NodeId, Env, Rc<str>),
    Operator(SymbolId, Env),
    /// The old value in EXCEPT; whether it belongs to the next state.
    Old(Rc<str>, bool),
}

/// Definitions of a LET, or parameters with their arguments. They are elaborated when they are first used, once for each
/// of the two states.
pub(super) struct Group {
    pub(super) members: Vec<Member>,
    outer: Env,
    pub(super) kind: GroupKind,
    pub(super) made: RefCell<HashMap<(usize, bool), Rc<str>>>,
    pub(super) written: RefCell<Vec<CoreDefinition>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupKind {
    /// Parameters with their arguments: they do not see each other.
    Arguments,
    /// Definitions of a LET.
    Let,
    /// Definitions of a LET that the core does not keep: each is expanded where it is used.
    InPlace,
}

#[derive(Clone)]
pub(super) struct Member {
    pub(super) symbol: SymbolId,
    pub(super) node: NodeId,
    pub(super) parameters: Vec<SymbolId>,
    pub(super) is_function: bool,
}

impl Group {
    pub(super) fn new(members: Vec<Member>, outer: Env, kind: GroupKind) -> Rc<Self> {
        Rc::new(Self { members, outer, kind, made: RefCell::default(), written: RefCell::default() })
    }

    /// The scope of the members' bodies.
    pub(super) fn scope(self: &Rc<Self>) -> Env {
        if self.kind == GroupKind::Arguments { self.outer.clone() } else { self.outer.with_group(self) }
    }
}

/// What a name means.
pub(super) enum Meaning {
    Bound(Binding),
    Member(Rc<Group>, usize),
    /// Nothing local: the symbol means itself.
    Global,
}

impl Env {
    pub(super) fn with(&self, symbol: SymbolId, binding: Binding) -> Self {
        self.and(Entry::One(symbol, binding))
    }

    pub(super) fn with_group(&self, group: &Rc<Group>) -> Self {
        self.and(Entry::Group(group.clone()))
    }

    fn and(&self, entry: Entry) -> Self {
        let local = Local { entry, outer: self.locals.clone() };
        Self { locals: Some(Rc::new(local)), frame: self.frame.clone() }
    }

    /// The scope of the definitions of the module around, without local names.
    pub(super) fn of_module(&self) -> Self {
        Self { locals: None, frame: self.frame.clone() }
    }

    fn has_no_locals(&self) -> bool {
        self.locals.is_none()
    }

    /// The scope of a definition of an instance: its own parameters, and the values of the instance.
    pub(super) fn within(&self, frame: Rc<Frame>) -> Self {
        Self { locals: self.locals.clone(), frame: Some(frame) }
    }

    /// Whether next values are those of the variables of the module around: see [`Elaborator::with_independent_next_values`].
    pub(super) fn has_independent_next_values(&self) -> bool {
        self.frame.as_ref().is_some_and(|frame| frame.next_values.is_some())
    }

    pub(super) fn of_frame(frame: Rc<Frame>) -> Self {
        Self { locals: None, frame: Some(frame) }
    }

    pub(super) fn local(&self, symbol: SymbolId) -> Meaning {
        let mut local = self.locals.as_ref();
        while let Some(found) = local {
            match &found.entry {
                Entry::One(known, binding) if *known == symbol => return Meaning::Bound(binding.clone()),
                Entry::Group(group) => {
                    if let Some(index) = group.members.iter().position(|member| member.symbol == symbol) {
                        return Meaning::Member(group.clone(), index);
                    }
                }
                Entry::One(..) => {}
            }
            local = found.outer.as_ref();
        }
        Meaning::Global
    }
}

impl Elaborator<'_> {
    /// What a symbol means in a scope, with instances applied.
    pub(super) fn meaning(&self, symbol: SymbolId, env: &Env) -> Meaning {
        let local = env.local(symbol);
        if !matches!(local, Meaning::Global) {
            return local;
        }
        // A module within another one also sees what the instance of the outer one gives.
        let mut around = env.frame.as_ref();
        while let Some(frame) = around {
            let pairs = &self.model.graph.substitutions[frame.by as usize].pairs;
            if let Some((_, node)) = pairs.iter().find(|(known, _)| *known == symbol) {
                let next = frame.next_values.as_ref().and_then(|all| all.get(&symbol));
                if let Some(next) = next {
                    return Meaning::Bound(Binding::InstanceVariable(*node, frame.outer.clone(), next.clone()));
                }
                return Meaning::Bound(match self.model.graph.node(*node) {
                    Node::Operator(operator) => Binding::Operator(*operator, frame.outer.clone()),
                    _ => Binding::Expression(*node, frame.outer.clone()),
                });
            }
            around = frame.outer.frame.as_ref();
        }
        Meaning::Global
    }

    /// `LAMBDA` is a reserved word, so no other symbol has this name.
    pub(super) fn is_lambda(&self, symbol: SymbolId) -> bool {
        &*self.model.graph.symbol(symbol).name == "LAMBDA"
    }

    /// The instance of an expression under a substitution.
    pub(super) fn frame(&mut self, by: SubstitutionId, env: &Env) -> Rc<Frame> {
        let outer_number = env.frame.as_ref().map(|frame| frame.number);
        let values: Vec<NodeId> =
            self.model.graph.substitutions[by as usize].pairs.iter().map(|(_, node)| *node).collect();
        let is_closed = outer_number != Some(None)
            && (env.has_no_locals() || values.iter().all(|node| !self.uses_locals(*node, env, &mut HashSet::new())));
        let number = is_closed.then(|| self.frame_number(by, outer_number.flatten(), false));
        let outer = if is_closed { env.of_module() } else { env.clone() };
        Rc::new(Frame { by, outer, number, next_values: None })
    }

    fn frame_number(&mut self, by: SubstitutionId, outer: Option<usize>, has_independent_next_values: bool) -> usize {
        let next = self.frames.len();
        *self.frames.entry((by, outer, has_independent_next_values)).or_insert(next)
    }

    /// The scope of an action below ENABLED in an instance. ENABLED ranges over the next values of the variables of the module, and
    /// each of these has the value that the instance gives it. Its next value is that of a variable of the specification, which
    /// has no other use below ENABLED. `None` if the module has no variables, or more than the specification.
    pub(super) fn with_independent_next_values(&mut self, env: &Env) -> Option<Env> {
        let frame = env.frame.as_ref()?;
        let pairs = &self.model.graph.substitutions[frame.by as usize].pairs;
        let variables = pairs.iter().map(|(symbol, _)| *symbol);
        let variables: Vec<SymbolId> =
            variables.filter(|symbol| self.model.graph.symbol(*symbol).kind == SymbolKind::Variable).collect();
        let own: Vec<Rc<str>> = self.model.variables().into_keys().map(Rc::from).collect();
        if variables.is_empty() || variables.len() > own.len() {
            return None;
        }
        let outer_number = frame.outer.frame.as_ref().map(|around| around.number);
        let number = match (frame.number, outer_number) {
            (Some(_), outer) => Some(self.frame_number(frame.by, outer.flatten(), true)),
            (None, _) => None,
        };
        let next_values = Some(variables.into_iter().zip(own).collect());
        let free = Frame { by: frame.by, outer: frame.outer.clone(), number, next_values };
        Some(env.within(Rc::new(free)))
    }

    /// Refuses an expression below ENABLED in an instance that comes from outside of the instance, if it is about a step.
    pub(super) fn check_scope(&mut self, node: NodeId, scope: &Env, place: Place, reading: Reading) -> Elaborated<()> {
        if self.is_below_enabled && !scope.has_independent_next_values() {
            let level = self.level(node, scope)?;
            if level >= ACTION || reading.primed && level > CONSTANT {
                return Err(Refusal::not_evaluated(place, ENABLED_IN_THIS_INSTANCE));
            }
        }
        Ok(())
    }

    /// The argument of a parameter, and its scope; the expression itself if it is no parameter.
    pub(super) fn given_argument(&self, node: NodeId, env: &Env) -> (NodeId, Env) {
        let (mut node, mut env) = self.unfolded_arguments(node, env);
        while let Node::Apply(application) = self.model.graph.node(node)
            && let Meaning::Member(group, index) = self.meaning(application.operator, &env)
            && group.kind == GroupKind::Arguments
        {
            (node, env) = self.unfolded_arguments(group.members[index].node, &group.scope());
        }
        (node, env)
    }

    /// Whether an instance around gives a variable of its module something else than a variable, or two of them the same.
    pub(super) fn joins_variables(&mut self, env: &Env) -> bool {
        let mut frame = env.frame.clone();
        while let Some(around) = frame.take() {
            let pairs = self.model.graph.substitutions[around.by as usize].pairs.clone();
            let mut given = HashSet::new();
            for (symbol, node) in pairs {
                if self.model.graph.symbol(symbol).kind != SymbolKind::Variable {
                    continue;
                }
                let (value, scope) = self.unfolded(node, &around.outer);
                let is_own = match self.model.graph.node(value) {
                    Node::Apply(application) => {
                        let symbol = application.operator;
                        self.model.graph.symbol(symbol).kind == SymbolKind::Variable
                            && matches!(self.meaning(symbol, &scope), Meaning::Global)
                            && given.insert(symbol)
                    }
                    _ => false,
                };
                if !is_own {
                    return true;
                }
            }
            frame.clone_from(&around.outer.frame);
        }
        false
    }

    fn uses_locals(&self, node: NodeId, env: &Env, seen: &mut HashSet<SymbolId>) -> bool {
        let (symbols, parts) = self.model.uses(node);
        symbols.iter().any(|symbol| {
            !matches!(env.local(*symbol), Meaning::Global)
                || seen.insert(*symbol)
                    && self.model.graph.symbol(*symbol).body.is_some_and(|body| self.uses_locals(body, env, seen))
        }) || parts.into_iter().any(|part| self.uses_locals(part, env, seen))
    }

    /// The innermost instance around on which the meaning of a definition depends.
    pub(super) fn frame_of(&mut self, symbol: SymbolId, env: &Env) -> Option<Rc<Frame>> {
        let mut around = env.frame.clone();
        while let Some(frame) = around.take() {
            if self.depends_on(symbol, &frame) {
                return Some(frame);
            }
            around.clone_from(&frame.outer.frame);
        }
        None
    }

    fn depends_on(&mut self, symbol: SymbolId, frame: &Frame) -> bool {
        let declared = self.declared_symbols(symbol);
        let pairs = &self.model.graph.substitutions[frame.by as usize].pairs;
        pairs.iter().any(|(target, _)| declared.contains(target))
    }

    /// The constants and variables in a definition and in all definitions that it uses.
    fn declared_symbols(&mut self, symbol: SymbolId) -> Rc<HashSet<SymbolId>> {
        if let Some(known) = self.declared.get(&symbol) {
            return known.clone();
        }
        let (mut found, mut seen, mut open) = (HashSet::new(), HashSet::from([symbol]), vec![symbol]);
        while let Some(next) = open.pop() {
            let Some(body) = self.model.graph.symbol(next).body else { continue };
            let mut nodes = vec![body];
            while let Some(node) = nodes.pop() {
                let (symbols, parts) = self.model.uses(node);
                nodes.extend(parts);
                for used in symbols {
                    if self.model.graph.symbol(used).is_declared() {
                        found.insert(used);
                    } else if seen.insert(used) {
                        open.push(used);
                    }
                }
            }
        }
        let found = Rc::new(found);
        self.declared.insert(symbol, found.clone());
        found
    }

    /// Whether a definition, or one that it uses, contains a variable.
    pub(super) fn reads_variables(&mut self, symbol: SymbolId) -> bool {
        let declared = self.declared_symbols(symbol);
        declared.iter().any(|one| self.model.graph.symbol(*one).kind == SymbolKind::Variable)
    }

    /// Whether all operators in a definition read a single state, so that a parameter may be replaced by its value. What is
    /// given for the operators among its parameters has to be examined as well.
    pub(super) fn is_plain(&mut self, symbol: SymbolId) -> bool {
        if let Some(known) = self.plain.get(&symbol) {
            return *known;
        }
        // A recursive use adds nothing.
        self.plain.insert(symbol, true);
        let definition = self.model.graph.symbol(symbol);
        let (body, parameters) = (definition.body, definition.parameters.clone());
        let is_plain = body.is_none_or(|body| self.has_plain_operators(body, &parameters));
        self.plain.insert(symbol, is_plain);
        is_plain
    }

    /// The same for an operator that is given for a parameter.
    pub(super) fn is_plain_argument(&mut self, symbol: SymbolId, env: &Env) -> bool {
        let (mut symbol, mut env) = (symbol, env.clone());
        while let Meaning::Bound(Binding::Operator(given, around)) = self.meaning(symbol, &env) {
            (symbol, env) = (given, around);
        }
        self.is_plain_operator(symbol, &[])
    }

    /// `known` are parameters and definitions of a LET that are examined elsewhere.
    fn is_plain_operator(&mut self, symbol: SymbolId, known: &[SymbolId]) -> bool {
        let symbol = self.model.replacement(symbol).flatten().unwrap_or(symbol);
        let definition = self.model.graph.symbol(symbol);
        match (definition.kind, definition.body) {
            _ if known.contains(&symbol) => true,
            (SymbolKind::BuiltIn(row), _) => BUILT_INS[row].counts,
            // It may be any operator.
            (SymbolKind::Parameter, _) if definition.arity > 0 => false,
            (SymbolKind::Constant, _) if definition.arity > 0 => {
                let pairs = self.model.graph.substitutions.iter().flat_map(|by| &by.pairs);
                let given: Vec<NodeId> = pairs.filter(|(target, _)| *target == symbol).map(|(_, node)| *node).collect();
                let known = [known, &[symbol]].concat();
                !given.is_empty() && given.into_iter().all(|node| self.has_plain_operators(node, &known))
            }
            (_, Some(body)) if self.is_lambda(symbol) => {
                let known = [known, &definition.parameters].concat();
                self.has_plain_operators(body, &known)
            }
            _ => self.is_plain(symbol),
        }
    }

    fn has_plain_operators(&mut self, node: NodeId, known: &[SymbolId]) -> bool {
        if let Node::Let { definitions, body, .. } = self.model.graph.node(node).clone() {
            let known = [known, &definitions].concat();
            return definitions.iter().all(|symbol| {
                let definition = self.model.graph.symbol(*symbol);
                let (own, body) = (definition.parameters.clone(), definition.body);
                body.is_none_or(|body| self.has_plain_operators(body, &[&known[..], &own].concat()))
            }) && self.has_plain_operators(body, &known);
        }
        let (symbols, parts) = self.model.uses(node);
        symbols.into_iter().all(|symbol| self.is_plain_operator(symbol, known))
            && parts.into_iter().all(|part| self.has_plain_operators(part, known))
    }

    pub(super) fn level_of_symbol(&mut self, symbol: SymbolId) -> Result<Level, Refusal> {
        self.level_of(symbol, &Env::default(), 0)
    }

    /// The level of a definition of a module, in the scope of its body.
    pub(super) fn level_of_definition(&mut self, symbol: SymbolId, scope: &Env) -> Result<Level, Refusal> {
        self.level_of_global(symbol, scope, 0)
    }

    /// The level of an expression: at least its real one.
    pub(super) fn level(&mut self, node: NodeId, env: &Env) -> Result<Level, Refusal> {
        self.level_below(node, env, 0)
    }

    fn level_below(&mut self, node: NodeId, env: &Env, depth: usize) -> Result<Level, Refusal> {
        if depth > MAX_NESTING {
            return Err(self.too_much(node));
        }
        let depth = depth + 1;
        match self.model.graph.node(node).clone() {
            Node::Literal => Ok(CONSTANT),
            Node::At(parts) | Node::Sequent { parts, .. } => self.highest(&parts, env, depth),
            Node::Let { definitions, body, .. } => {
                let env = env.with_group(&self.let_group(&definitions, env, GroupKind::InPlace));
                self.level_below(body, &env, depth)
            }
            Node::Substituted { body, by } => {
                let frame = self.frame(by, env);
                self.level_below(body, &env.within(frame), depth)
            }
            Node::Operator(symbol) => self.level_of(symbol, env, depth),
            Node::Apply(application) => {
                let operands: Vec<NodeId> = application.operands.iter().copied().flatten().collect();
                if let SymbolKind::BuiltIn(row) = self.model.graph.symbol(application.operator).kind {
                    let own = BUILT_INS[row].level;
                    if !BUILT_INS[row].counts {
                        return Ok(own);
                    }
                    let ranges = self.highest(&application.ranges, env, depth)?;
                    return Ok(own.max(ranges).max(self.highest(&operands, env, depth)?));
                }
                let own = self.level_of(application.operator, env, depth)?;
                Ok(own.max(self.highest(&operands, env, depth)?))
            }
        }
    }

    fn highest(&mut self, nodes: &[NodeId], env: &Env, depth: usize) -> Result<Level, Refusal> {
        let mut level = CONSTANT;
        for node in nodes {
            level = level.max(self.level_below(*node, env, depth)?);
        }
        Ok(level)
    }

    /// The level of a name by itself; parameters count as constants.
    fn level_of(&mut self, symbol: SymbolId, env: &Env, depth: usize) -> Result<Level, Refusal> {
        match self.meaning(symbol, env) {
            Meaning::Bound(Binding::Name(_) | Binding::Own(_)) => Ok(CONSTANT),
            Meaning::Bound(Binding::Old(_, primed)) => Ok(if primed { ACTION } else { STATE }),
            Meaning::Bound(Binding::Expression(node, env)) => self.level_below(node, &env, depth),
            Meaning::Bound(Binding::InstanceVariable(node, env, _)) => {
                Ok(self.level_below(node, &env, depth)?.max(STATE))
            }
            Meaning::Bound(Binding::Operator(symbol, env)) => self.level_of(symbol, &env, depth),
            Meaning::Member(group, index) => {
                let node = group.members[index].node;
                // Arguments never contain themselves, though the same expression may be met again in another scope.
                if group.kind == GroupKind::Arguments {
                    return self.level_below(node, &group.scope(), depth);
                }
                if !self.measured.insert(node) {
                    self.is_cut_short = true;
                    return Ok(CONSTANT);
                }
                let level = self.level_below(node, &group.scope(), depth);
                self.measured.remove(&node);
                level
            }
            // The body of a LAMBDA sees the names around it.
            Meaning::Global if self.is_lambda(symbol) => match self.model.graph.symbol(symbol).body {
                Some(body) => self.level_below(body, env, depth),
                None => Ok(CONSTANT),
            },
            Meaning::Global => self.level_of_global(symbol, env, depth),
        }
    }

    fn level_of_global(&mut self, symbol: SymbolId, env: &Env, depth: usize) -> Result<Level, Refusal> {
        if let Some(by) = self.model.replacement(symbol) {
            return match by {
                Some(by) if by != symbol => self.level_of_global(by, &Env::default(), depth + 1),
                _ => Ok(CONSTANT),
            };
        }
        match self.model.graph.symbol(symbol).kind {
            SymbolKind::Variable => return Ok(STATE),
            SymbolKind::New(level) => return Ok(level),
            SymbolKind::BuiltIn(row) => return Ok(BUILT_INS[row].level),
            _ => {}
        }
        // The texts of the standard modules have the right levels.
        let Some(body) = self.model.graph.symbol(symbol).body else { return Ok(CONSTANT) };
        let frame = self.frame_of(symbol, env);
        let number = frame.as_ref().and_then(|frame| frame.number);
        let is_open = frame.is_some() && number.is_none();
        let key = (symbol, number);
        if !is_open && let Some(known) = self.levels.get(&key) {
            return Ok(*known);
        }
        if !self.measured.insert(body) {
            self.is_cut_short = true;
            return Ok(CONSTANT);
        }
        let scope = frame.map_or_else(Env::default, Env::of_frame);
        let before = std::mem::replace(&mut self.is_cut_short, false);
        let level = self.level_below(body, &scope, depth);
        self.measured.remove(&body);
        let level = level?;
        // Within a recursive definition the level may be too low.
        if !is_open && (!self.is_cut_short || self.measured.is_empty()) {
            self.levels.insert(key, level);
        }
        self.is_cut_short |= before;
        Ok(level)
    }

    /// The definitions of a LET in a scope.
    pub(super) fn let_group(&self, definitions: &[SymbolId], env: &Env, kind: GroupKind) -> Rc<Group> {
        let member = |symbol: &SymbolId| {
            let definition = self.model.graph.symbol(*symbol);
            Some(Member {
                symbol: *symbol,
                node: definition.body?,
                parameters: definition.parameters.clone(),
                is_function: definition.function.is_some(),
            })
        };
        Group::new(definitions.iter().filter_map(member).collect(), env.clone(), kind)
    }
}

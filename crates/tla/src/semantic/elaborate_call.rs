//! Elaborates uses of names. A definition becomes a definition of the core, which is called, unless its body must be
//! written in place: if it reads a parameter in another state than the call does, if an argument is an action that the
//! body takes, or if a parameter is an operator.

use std::rc::Rc;

use super::builtin::BuiltInForm;
use super::core_form::{CoreBody, CoreDefinition, CoreExpr, CoreForm, PRIMITIVES};
use super::elaborate_expression::with_definitions;
use super::elaborate_scope::{Binding, ENABLED_IN_THIS_INSTANCE, Env, Group, GroupKind, MAX_NESTING, Meaning, Member};
use super::elaborator::{Elaborated, Elaborator, Reading, Refusal, Use, Version};
use super::graph::{ACTION, Application, CONSTANT, Level, Node, NodeId, Place, STATE, SymbolId, SymbolKind};
use super::standard::is_written_out;

/// A definition to be used, with the scope of its body.
struct Callee {
    member: Member,
    scope: Env,
    home: Home,
}

enum Home {
    /// A definition of a module, under the instance with this number.
    Module(Option<usize>),
    /// A definition of a LET, or a parameter with its argument.
    Group(Rc<Group>, usize),
    /// It cannot be called: a LAMBDA, a function with parameters, or a definition under an instance with local names.
    Nowhere,
}

/// How an argument reaches the body of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passing {
    /// By its value in the state in which the call is read.
    Value,
    /// By a LET around the body, with a definition for each state.
    Let,
    /// In place of the parameter.
    InPlace,
}

impl Elaborator<'_> {
    /// A name with its arguments.
    pub(super) fn named(
        &mut self,
        application: &Application,
        place: Place,
        env: &Env,
        reading: Reading,
    ) -> Elaborated<CoreExpr> {
        let arguments: Vec<NodeId> = application.operands.iter().copied().flatten().collect();
        self.apply(application.operator, env.clone(), &arguments, place, env, reading)
    }

    /// A symbol with the meaning that it has in `scope`, applied to arguments of `env`.
    pub(super) fn apply(
        &mut self,
        mut symbol: SymbolId,
        mut scope: Env,
        arguments: &[NodeId],
        place: Place,
        env: &Env,
        reading: Reading,
    ) -> Elaborated<CoreExpr> {
        loop {
            let form = match self.meaning(symbol, &scope) {
                Meaning::Bound(Binding::Name(name) | Binding::Old(name, _)) => CoreForm::Bound(name.to_string()),
                Meaning::Bound(Binding::Own(name)) => CoreForm::Call(name.to_string(), Vec::new()),
                Meaning::Bound(Binding::Expression(node, inner)) => {
                    self.check_scope(node, &inner, place, reading)?;
                    return self.expression(node, &inner, reading);
                }
                Meaning::Bound(Binding::InstanceVariable(_, _, next)) if reading.primed => {
                    CoreForm::NextVariable(next.to_string())
                }
                Meaning::Bound(Binding::InstanceVariable(node, inner, _)) => {
                    // The value belongs to the specification around.
                    let is_below = std::mem::replace(&mut self.is_below_enabled, false);
                    let value = self.expression(node, &inner, reading.value());
                    self.is_below_enabled = is_below;
                    return value;
                }
                Meaning::Bound(Binding::Operator(operator, inner)) => {
                    if let Some(body) = self.model.graph.symbol(operator).body {
                        self.check_scope(body, &inner, place, reading)?;
                    }
                    (symbol, scope) = (operator, inner);
                    continue;
                }
                Meaning::Member(group, index) => {
                    self.check_scope(group.members[index].node, &group.scope(), place, reading)?;
                    let callee = Callee {
                        member: group.members[index].clone(),
                        scope: group.scope(),
                        home: Home::Group(group, index),
                    };
                    return self.call(&callee, arguments, place, env, reading);
                }
                Meaning::Global => match self.model.replacement(symbol) {
                    Some(Some(by)) => {
                        (symbol, scope) = (by, Env::default());
                        match self.global(symbol, &scope, arguments, place, env, reading)? {
                            Some(found) => return Ok(found),
                            None => continue,
                        }
                    }
                    Some(None) => CoreForm::Constant(self.model.graph.symbol(symbol).name.to_string()),
                    None => match self.global(symbol, &scope, arguments, place, env, reading)? {
                        Some(found) => return Ok(found),
                        None => {
                            return Err(Refusal::not_evaluated(
                                place,
                                "a name that the configuration replaces by itself",
                            ));
                        }
                    },
                },
            };
            return Ok(CoreExpr::new(form, place));
        }
    }

    /// A symbol that means itself; `None` if the configuration replaces it once more.
    fn global(
        &mut self,
        symbol: SymbolId,
        scope: &Env,
        arguments: &[NodeId],
        place: Place,
        env: &Env,
        reading: Reading,
    ) -> Elaborated<Option<CoreExpr>> {
        if self.model.replacement(symbol).is_some_and(|by| by != Some(symbol)) {
            return Ok(None);
        }
        let definition = self.model.graph.symbol(symbol).clone();
        let form = match definition.kind {
            SymbolKind::Variable if reading.primed && self.is_below_enabled => {
                return Err(Refusal::not_evaluated(place, ENABLED_IN_THIS_INSTANCE));
            }
            SymbolKind::Variable if reading.primed => CoreForm::NextVariable(definition.name.to_string()),
            SymbolKind::Variable => CoreForm::Variable(definition.name.to_string()),
            SymbolKind::Constant => {
                let message = format!("the constant {} has no value in the configuration", definition.name);
                return Err(Refusal::at(place, message));
            }
            SymbolKind::BuiltIn(_) => {
                let operands = arguments.iter().copied().map(Some).collect();
                let (bound, ranges) = (Vec::new(), Vec::new());
                let application =
                    Application { operator: symbol, operands, bound, ranges, detail: super::graph::Detail::None };
                return self.application(&application, place, env, reading).map(Some);
            }
            SymbolKind::Operator | SymbolKind::Theorem => {
                if let Some(written) = self.standard(symbol, arguments, place, env, reading)? {
                    return Ok(Some(written));
                }
                let Some(callee) = self.callee(symbol, scope) else {
                    return Err(Refusal::not_evaluated(
                        place,
                        &format!("`{}`, which has no definition,", definition.name),
                    ));
                };
                if self.is_below_enabled && self.reads_variables(symbol) {
                    self.check_scope(callee.member.node, &callee.scope, place, reading)?;
                }
                return self.call(&callee, arguments, place, env, reading).map(Some);
            }
            SymbolKind::Parameter | SymbolKind::Instance | SymbolKind::New(_) | SymbolKind::Step => {
                return Err(Refusal::not_evaluated(place, &format!("`{}` as a value", definition.name)));
            }
        };
        Ok(Some(CoreExpr::new(form, place)))
    }

    fn callee(&mut self, symbol: SymbolId, scope: &Env) -> Option<Callee> {
        let definition = self.model.graph.symbol(symbol).clone();
        let member = Member {
            symbol,
            node: definition.body?,
            parameters: definition.parameters,
            is_function: definition.function.is_some(),
        };
        if self.is_lambda(symbol) {
            return Some(Callee { member, scope: scope.clone(), home: Home::Nowhere });
        }
        let frame = self.frame_of(symbol, scope);
        let home = match &frame {
            // A function is applied by its name, and a call has none.
            _ if member.is_function && !member.parameters.is_empty() => Home::Nowhere,
            None => Home::Module(None),
            Some(frame) => frame.number.map_or(Home::Nowhere, |number| Home::Module(Some(number))),
        };
        Some(Callee { member, scope: frame.map_or_else(Env::default, Env::of_frame), home })
    }

    /// An operator of a standard module.
    fn standard(
        &mut self,
        symbol: SymbolId,
        arguments: &[NodeId],
        place: Place,
        env: &Env,
        reading: Reading,
    ) -> Elaborated<Option<CoreExpr>> {
        let Some((module, name)) = self.model.standard(symbol) else { return Ok(None) };
        let primitive = PRIMITIVES.iter().find(|(home, own, _)| *home == module && *own == name);
        if let Some((_, _, primitive)) = primitive {
            let arguments = self.all(arguments, env, reading.value())?;
            return Ok(Some(CoreExpr::new(CoreForm::Primitive(*primitive, arguments), place)));
        }
        match (module, name, arguments) {
            ("TLC", "TLCEval", [value]) => self.expression(*value, env, reading).map(Some),
            ("Sequences", "SelectSeq", [sequence, test]) => {
                let sequence = Box::new(self.expression(*sequence, env, reading.value())?);
                let element = self.fresh_local("element");
                let test = Box::new(self.test(*test, &element, place, env, reading.value())?);
                let form = CoreForm::SelectSequence(sequence, element.to_string(), test);
                Ok(Some(CoreExpr::new(form, place)))
            }
            _ if is_written_out(module, name) => Ok(None),
            _ => {
                let (module, name) = (module.to_owned(), name.to_owned());
                Err(Refusal::not_evaluated(place, &format!("{name} of module {module}")))
            }
        }
    }

    /// An operator with one parameter, applied to a bound name.
    fn test(
        &mut self,
        operator: NodeId,
        element: &Rc<str>,
        place: Place,
        env: &Env,
        reading: Reading,
    ) -> Elaborated<CoreExpr> {
        let Node::Operator(symbol) = self.model.graph.node(operator) else {
            return Err(Refusal::not_evaluated(place, "SelectSeq without an operator"));
        };
        let (mut symbol, mut scope) = (*symbol, env.clone());
        let callee = loop {
            match self.meaning(symbol, &scope) {
                Meaning::Bound(Binding::Operator(operator, inner)) => (symbol, scope) = (operator, inner),
                Meaning::Member(group, index) => {
                    let member = group.members[index].clone();
                    break Callee { member, scope: group.scope(), home: Home::Nowhere };
                }
                _ => match self.model.replacement(symbol).flatten() {
                    Some(by) if by != symbol => (symbol, scope) = (by, Env::default()),
                    _ => match self.callee(symbol, &scope).filter(|_| self.model.standard(symbol).is_none()) {
                        Some(callee) => break callee,
                        None => return Err(Refusal::not_evaluated(place, "this operator as a test of SelectSeq")),
                    },
                },
            }
        };
        let [parameter] = *callee.member.parameters else {
            return Err(Refusal::not_evaluated(place, "a test of SelectSeq with several parameters"));
        };
        if self.model.graph.symbol(callee.member.symbol).recursive.is_some() {
            return Err(Refusal::not_evaluated(place, "a recursive operator as a test of SelectSeq"));
        }
        let inner = callee.scope.with(parameter, Binding::Name(element.clone()));
        self.expression(callee.member.node, &inner, reading)
    }

    fn call(
        &mut self,
        callee: &Callee,
        arguments: &[NodeId],
        place: Place,
        env: &Env,
        reading: Reading,
    ) -> Elaborated<CoreExpr> {
        let Member { symbol, node, parameters, .. } = &callee.member;
        let level = if reading.usage == Use::Value { CONSTANT } else { self.callee_level(callee)? };
        // The level from which on a formula takes part in choosing values.
        let choosing = match reading.usage {
            Use::Value => u8::MAX,
            Use::Initial => STATE,
            Use::Action => ACTION,
            Use::Temporal => CONSTANT,
        };
        let is_recursive = self.model.graph.symbol(*symbol).recursive.is_some();
        let is_plain = self.is_plain(*symbol)
            && arguments.iter().all(|argument| match self.model.graph.node(*argument) {
                Node::Operator(operator) => self.is_plain_argument(*operator, env),
                _ => true,
            });
        let mut passing = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            if matches!(self.model.graph.node(*argument), Node::Operator(_)) {
                passing.push(Passing::InPlace);
                continue;
            }
            let is_lazy = !is_recursive && !self.is_strict(*symbol, position) && self.may_fail(*argument, env);
            if is_plain && reading.usage == Use::Value {
                passing.push(if is_lazy { Passing::Let } else { Passing::Value });
                continue;
            }
            let level = self.level(*argument, env)?;
            let is_simple = self.is_simple(*argument, env);
            let takes_part = level >= choosing || (reading.usage != Use::Value && is_simple && level >= STATE);
            passing.push(match (takes_part, !is_plain && level >= STATE) {
                (true, _) => Passing::InPlace,
                (false, true) if is_simple => Passing::InPlace,
                (false, true) => Passing::Let,
                (false, false) if is_lazy => Passing::Let,
                (false, false) => Passing::Value,
            });
        }
        let is_written_out = match &callee.home {
            Home::Nowhere => true,
            // The checker writes such a definition in place as well, but not within a recursive one.
            Home::Group(group, _) => {
                group.kind == GroupKind::InPlace || level >= choosing || !(parameters.is_empty() || is_recursive)
            }
            Home::Module(_) => reading.usage == Use::Temporal,
        };
        if is_written_out || passing.iter().any(|one| *one != Passing::Value) {
            return self.write_out(callee, arguments, &passing, place, env, reading);
        }
        let name = match &callee.home {
            Home::Group(group, index) => self.group_version(group, *index, reading.primed)?,
            Home::Module(frame) => {
                let is_initial = reading.usage == Use::Initial && level >= STATE;
                let frame = *frame;
                self.module_version(callee, Version { symbol: *symbol, frame, primed: reading.primed, is_initial })?
            }
            Home::Nowhere => return Err(self.too_much(*node)),
        };
        debug_assert_eq!(parameters.len(), arguments.len());
        let arguments = self.all(arguments, env, reading.value())?;
        Ok(CoreExpr::new(CoreForm::Call(name.to_string(), arguments), place))
    }

    fn callee_level(&mut self, callee: &Callee) -> Elaborated<Level> {
        match callee.home {
            Home::Module(_) => self.level_of_definition(callee.member.symbol, &callee.scope),
            Home::Group(..) | Home::Nowhere => self.level(callee.member.node, &callee.scope),
        }
    }

    /// The body of a definition in place of its use. An argument that is used as a value is written once, in a LET.
    fn write_out(
        &mut self,
        callee: &Callee,
        arguments: &[NodeId],
        passing: &[Passing],
        place: Place,
        env: &Env,
        reading: Reading,
    ) -> Elaborated<CoreExpr> {
        let Member { symbol, node, parameters, .. } = &callee.member;
        let definition = self.model.graph.symbol(*symbol);
        if definition.recursive.is_some() {
            let name = definition.name.to_string();
            return Err(Refusal::not_evaluated(place, &format!("the recursive operator {name} with such an argument")));
        }
        if self.nesting >= MAX_NESTING {
            return Err(self.too_much(*node));
        }
        let mut scope = callee.scope.clone();
        let mut members = Vec::new();
        for ((parameter, argument), passing) in parameters.iter().zip(arguments).zip(passing) {
            let binding = match self.model.graph.node(*argument) {
                Node::Operator(operator) => Binding::Operator(*operator, env.clone()),
                _ if *passing == Passing::InPlace || self.is_simple(*argument, env) => {
                    Binding::Expression(*argument, env.clone())
                }
                _ => {
                    let (symbol, node) = (*parameter, *argument);
                    members.push(Member { symbol, node, parameters: Vec::new(), is_function: false });
                    continue;
                }
            };
            scope = scope.with(*parameter, binding);
        }
        let group = Group::new(members, env.clone(), GroupKind::Arguments);
        self.nesting += 1;
        let body = self.expression(*node, &scope.with_group(&group), reading);
        self.nesting -= 1;
        Ok(with_definitions(group.written.take(), body?))
    }

    /// The name of a definition of a LET, as it is read in one of the states.
    fn group_version(&mut self, group: &Rc<Group>, index: usize, primed: bool) -> Elaborated<Rc<str>> {
        if let Some(known) = group.made.borrow().get(&(index, primed)) {
            return Ok(known.clone());
        }
        let member = group.members[index].clone();
        let name = self.fresh_local(&self.model.graph.symbol(member.symbol).name);
        group.made.borrow_mut().insert((index, primed), name.clone());
        let reading = Reading { primed, usage: Use::Value };
        let definition = self.definition(&member, &group.scope(), &name, reading)?;
        group.written.borrow_mut().push(definition);
        Ok(name)
    }

    /// Makes a definition of an operator of the root module.
    pub(super) fn keep_operator(&mut self, symbol: SymbolId) -> Elaborated<()> {
        if let Some(callee) = self.callee(symbol, &Env::default()) {
            self.module_version(&callee, Version { symbol, frame: None, primed: false, is_initial: false })?;
        }
        Ok(())
    }

    fn module_version(&mut self, callee: &Callee, version: Version) -> Elaborated<Rc<str>> {
        if let Some(known) = self.versions.get(&version) {
            return Ok(known.clone());
        }
        let symbol = self.model.graph.symbol(version.symbol);
        let shown = if version.primed { format!("{}'", symbol.name) } else { symbol.name.to_string() };
        let is_own = version.frame.is_none() && !version.primed && !version.is_initial;
        let is_in_root = is_own && self.model.symbol(&symbol.name) == Some(version.symbol);
        let name = self.fresh_name(&shown, is_in_root);
        let usage = if version.is_initial {
            Use::Initial
        } else if self.callee_level(callee)? >= ACTION {
            Use::Action
        } else {
            Use::Value
        };
        let reading = Reading { primed: version.primed, usage };
        self.versions.insert(version, name.clone());
        let definition = self.definition(&callee.member, &callee.scope, &name, reading)?;
        self.definitions.push(definition);
        Ok(name)
    }

    fn definition(
        &mut self,
        member: &Member,
        scope: &Env,
        name: &Rc<str>,
        reading: Reading,
    ) -> Elaborated<CoreDefinition> {
        if self.nesting >= MAX_NESTING {
            return Err(self.too_much(member.node));
        }
        self.nesting += 1;
        let definition = self.definition_below(member, scope, name, reading);
        self.nesting -= 1;
        definition
    }

    fn definition_below(
        &mut self,
        member: &Member,
        scope: &Env,
        name: &Rc<str>,
        reading: Reading,
    ) -> Elaborated<CoreDefinition> {
        let mut inner = scope.clone();
        let mut parameters = Vec::new();
        for parameter in &member.parameters {
            let own = self.fresh_local(&self.model.graph.symbol(*parameter).name);
            inner = inner.with(*parameter, Binding::Name(own.clone()));
            parameters.push(own.to_string());
        }
        let body = match self.function_form(member, &inner) {
            Some((application, scope)) => self.function_body(&application, &scope, reading.primed, name)?,
            None => CoreBody::Expression(self.expression(member.node, &inner, reading)?),
        };
        Ok(CoreDefinition { name: name.to_string(), parameters, body })
    }

    /// The form `f[x \in S] == e` of a definition, with its scope.
    fn function_form(&mut self, member: &Member, scope: &Env) -> Option<(Application, Env)> {
        if !member.is_function || !member.parameters.is_empty() {
            return None;
        }
        let (mut node, mut scope) = (member.node, scope.clone());
        while let Node::Substituted { body, by } = *self.model.graph.node(node) {
            scope = scope.within(self.frame(by, &scope));
            node = body;
        }
        match self.model.graph.node(node) {
            Node::Apply(application) if application.operator == BuiltInForm::FunctionDefinition.symbol() => {
                Some((application.clone(), scope))
            }
            _ => None,
        }
    }

    /// Whether an expression is a variable, a literal or a bound name, perhaps with a prime.
    fn is_simple(&mut self, node: NodeId, env: &Env) -> bool {
        let (node, env) = self.unfolded_arguments(node, env);
        match self.model.graph.node(node) {
            Node::Literal | Node::At(_) => true,
            Node::Apply(application) if application.operands.is_empty() => {
                match self.meaning(application.operator, &env) {
                    Meaning::Bound(_) => true,
                    Meaning::Member(..) => false,
                    Meaning::Global => {
                        let kind = self.model.graph.symbol(application.operator).kind;
                        matches!(kind, SymbolKind::Variable | SymbolKind::Constant | SymbolKind::BuiltIn(_))
                    }
                }
            }
            Node::Apply(application) if super::builtin::is_prime(application.operator) => {
                application.operands.iter().flatten().all(|operand| {
                    matches!(self.model.graph.node(*operand), Node::Apply(inner)
                        if self.model.graph.symbol(inner.operator).kind == SymbolKind::Variable
                            && matches!(self.meaning(inner.operator, &env), Meaning::Global))
                })
            }
            _ => false,
        }
    }

    /// The expression that replaces a parameter, or a constant or variable of an instance.
    pub(super) fn unfolded_arguments(&self, node: NodeId, env: &Env) -> (NodeId, Env) {
        let (mut node, mut env) = (node, env.clone());
        while let Node::Apply(application) = self.model.graph.node(node)
            && application.operands.is_empty()
            && let Meaning::Bound(Binding::Expression(next, inner)) = self.meaning(application.operator, &env)
        {
            (node, env) = (next, inner);
        }
        (node, env)
    }

    /// The expression that a name means, through definitions that are not recursive.
    pub(super) fn unfolded(&mut self, node: NodeId, env: &Env) -> (NodeId, Env) {
        let (mut node, mut env) = (node, env.clone());
        for _ in 0..MAX_NESTING {
            (node, env) = match self.model.graph.node(node).clone() {
                Node::Substituted { body, by } => (body, env.within(self.frame(by, &env))),
                Node::Let { definitions, body, .. } => {
                    (body, env.with_group(&self.let_group(&definitions, &env, GroupKind::InPlace)))
                }
                Node::Apply(application) if application.operator == BuiltInForm::ProofStep.symbol() => {
                    match application.operands.first().copied().flatten() {
                        Some(operand) => (operand, env),
                        None => break,
                    }
                }
                Node::Apply(application) => match self.unfold_name(&application, &env) {
                    Some(next) => next,
                    None => break,
                },
                _ => break,
            };
        }
        (node, env)
    }

    fn unfold_name(&mut self, application: &Application, env: &Env) -> Option<(NodeId, Env)> {
        let (mut symbol, mut scope) = (application.operator, env.clone());
        let callee = loop {
            match self.meaning(symbol, &scope) {
                Meaning::Bound(Binding::Expression(node, inner)) => return Some((node, inner)),
                Meaning::Bound(Binding::Operator(operator, inner)) => (symbol, scope) = (operator, inner),
                Meaning::Bound(_) => return None,
                Meaning::Member(group, index) => {
                    let member = group.members[index].clone();
                    break Callee { member, scope: group.scope(), home: Home::Nowhere };
                }
                Meaning::Global => match self.model.replacement(symbol) {
                    Some(Some(by)) if by != symbol => (symbol, scope) = (by, Env::default()),
                    Some(_) => return None,
                    None => {
                        let kind = self.model.graph.symbol(symbol).kind;
                        let is_defined = matches!(kind, SymbolKind::Operator | SymbolKind::Theorem);
                        if !is_defined || self.model.standard(symbol).is_some() {
                            return None;
                        }
                        break self.callee(symbol, &scope)?;
                    }
                },
            }
        };
        if callee.member.is_function || self.model.graph.symbol(callee.member.symbol).recursive.is_some() {
            return None;
        }
        let arguments = application.operands.iter().copied().flatten();
        let mut scope = callee.scope.clone();
        for (parameter, argument) in callee.member.parameters.iter().zip(arguments) {
            let binding = match self.model.graph.node(argument) {
                Node::Operator(operator) => Binding::Operator(*operator, env.clone()),
                _ => Binding::Expression(argument, env.clone()),
            };
            scope = scope.with(*parameter, binding);
        }
        Some((callee.member.node, scope))
    }
}

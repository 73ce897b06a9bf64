//! Elaborates expressions: every form of TLA+ becomes one of the core.

use std::rc::Rc;

use super::builtin::{BUILT_INS, BuiltInForm};
use super::core_form::{CoreBody, CoreBound, CoreDefinition, CoreExpr, CoreForm, CoreStep, CoreUpdate, Primitive};
use super::elaborate_scope::{AT, Binding, ENABLED_IN_THIS_INSTANCE, Env, GroupKind, Meaning};
use super::elaborator::{Elaborated, Elaborator, Reading, Refusal, Use};
use super::graph::{Application, Detail, Node, NodeId, Place, SymbolKind, TEMPORAL};

impl Elaborator<'_> {
    pub(super) fn expression(&mut self, node: NodeId, env: &Env, reading: Reading) -> Elaborated<CoreExpr> {
        self.count_expression(node)?;
        let reading = match reading.usage {
            // A state or action formula within a temporal one is evaluated.
            Use::Temporal if self.level(node, env)? < TEMPORAL => reading.value(),
            _ => reading,
        };
        let place = self.model.graph.place(node);
        let form = match self.model.graph.node(node).clone() {
            Node::Literal => self.literal(place)?,
            Node::At(_) => match env.local(AT) {
                Meaning::Bound(Binding::Old(name, primed)) if primed == reading.primed => {
                    CoreForm::Bound(name.to_string())
                }
                _ => return Err(Refusal::not_evaluated(place, "a prime on `@`")),
            },
            Node::Let { definitions, body, .. } => {
                let kind = if reading.usage == Use::Temporal { GroupKind::InPlace } else { GroupKind::Let };
                let group = self.let_group(&definitions, env, kind);
                let body = self.expression(body, &env.with_group(&group), reading)?;
                return Ok(with_definitions(group.written.take(), body));
            }
            Node::Substituted { body, by } => {
                let frame = self.frame(by, env);
                return self.expression(body, &env.within(frame), reading);
            }
            Node::Operator(_) => return Err(Refusal::not_evaluated(place, "an operator as a value")),
            Node::Sequent { .. } => return Err(Refusal::not_evaluated(place, "ASSUME … PROVE as a value")),
            Node::Apply(application) => return self.application(&application, place, env, reading),
        };
        Ok(CoreExpr::new(form, place))
    }

    fn literal(&self, place: Place) -> Elaborated<CoreForm> {
        let text = self.text_at(place);
        if let Some(rest) = text.strip_prefix('"') {
            let mut value = String::new();
            let mut chars = rest.chars();
            while let Some(char) = chars.next() {
                match char {
                    '"' => return Ok(CoreForm::Text(value)),
                    '\\' => match chars.next() {
                        Some('n') => value.push('\n'),
                        Some('t') => value.push('\t'),
                        Some('r') => value.push('\r'),
                        Some('f') => value.push('\u{c}'),
                        Some(other) => value.push(other),
                        None => break,
                    },
                    _ => value.push(char),
                }
            }
        }
        let is_part = |(at, char): &(usize, char)| char.is_ascii_alphanumeric() || (*at == 0 && *char == '\\');
        let length = text.char_indices().take_while(is_part).count();
        let (spelling, after) = text.split_at(length);
        if after.starts_with('.') && after[1..].starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Refusal::not_evaluated(place, "a number with a decimal point"));
        }
        match super::elaborator::number(spelling) {
            Some(number) => Ok(CoreForm::Number(number)),
            None => Err(Refusal::not_evaluated(place, "a number of more than 32 bits, which TLC does not have,")),
        }
    }

    pub(super) fn application(
        &mut self,
        application: &Application,
        place: Place,
        env: &Env,
        reading: Reading,
    ) -> Elaborated<CoreExpr> {
        let SymbolKind::BuiltIn(row) = self.model.graph.symbol(application.operator).kind else {
            return self.named(application, place, env, reading);
        };
        let operands: Vec<NodeId> = application.operands.iter().copied().flatten().collect();
        let form = match BuiltInForm::of_row(row) {
            Some(form) => self.form(form, application, &operands, place, env, reading)?,
            None => self.operation(BUILT_INS[row].name, &operands, place, env, reading)?,
        };
        Ok(CoreExpr::new(form, place))
    }

    /// An operator of TLA+ that has a name.
    fn operation(
        &mut self,
        name: &str,
        operands: &[NodeId],
        place: Place,
        env: &Env,
        reading: Reading,
    ) -> Elaborated<CoreForm> {
        let primitive = super::core_form::PRIMITIVES.iter().find(|(module, own, _)| module.is_empty() && *own == name);
        if let Some((_, _, primitive)) = primitive {
            let usage =
                if reading.usage == Use::Temporal && is_connective(*primitive) { reading } else { reading.value() };
            let operands: Vec<CoreExpr> = match operands {
                [chosen, rest @ ..] if matches!(primitive, Primitive::Equal | Primitive::In) => {
                    let chosen = match self.chosen_variable(*chosen, env, reading) {
                        Some(form) => CoreExpr::new(form, self.model.graph.place(*chosen)),
                        None => self.expression(*chosen, env, usage)?,
                    };
                    let mut all = vec![chosen];
                    all.extend(self.all(rest, env, usage)?);
                    all
                }
                _ => self.all(operands, env, usage)?,
            };
            return Ok(CoreForm::Primitive(*primitive, operands));
        }
        Ok(match (name, operands) {
            ("TRUE", _) => CoreForm::Boolean(true),
            ("FALSE", _) => CoreForm::Boolean(false),
            ("/\\", _) => CoreForm::And(self.all(operands, env, reading)?),
            ("\\/", _) => CoreForm::Or(self.all(operands, env, reading)?),
            ("\\times", _) => CoreForm::Product(self.all(operands, env, reading.value())?),
            ("'", [operand]) => {
                if reading.primed {
                    return Err(Refusal::not_evaluated(place, "a prime within an expression that has one"));
                }
                return Ok(self.expression(*operand, env, Reading { primed: true, usage: Use::Value })?.form);
            }
            ("UNCHANGED", [operand]) => self.unchanged(*operand, place, env, reading)?,
            ("ENABLED", [action]) => {
                if reading.primed {
                    return Err(Refusal::not_evaluated(place, "a prime on ENABLED"));
                }
                // An argument may come from outside of the instance.
                let (action, env) = self.given_argument(*action, env);
                let action = if self.joins_variables(&env) {
                    self.below_enabled(&env, place, |elaborator, env| {
                        elaborator.expression(action, env, Reading::of(Use::Action))
                    })?
                } else {
                    let is_below = std::mem::replace(&mut self.is_below_enabled, false);
                    let action = self.expression(action, &env, Reading::of(Use::Action));
                    self.is_below_enabled = is_below;
                    action?
                };
                CoreForm::Enabled(Box::new(action))
            }
            ("[]", [operand]) => match self.step_formula(*operand, env) {
                Some((two, env)) => CoreForm::AlwaysStep(self.subscripted(&two, &env, Use::Value)?),
                None => CoreForm::Always(Box::new(self.expression(*operand, env, Reading::of(Use::Temporal))?)),
            },
            ("<>", [operand]) => {
                let (found, scope) = self.unfolded(*operand, env);
                if let Node::Apply(application) = self.model.graph.node(found).clone()
                    && application.operator == BuiltInForm::AngleAction.symbol()
                {
                    let two: Vec<NodeId> = application.operands.into_iter().flatten().collect();
                    let step = CoreForm::Angle(self.subscripted(&two, &scope, Use::Value)?);
                    return Ok(CoreForm::Eventually(Box::new(CoreExpr::new(step, place))));
                }
                CoreForm::Eventually(Box::new(self.expression(*operand, env, Reading::of(Use::Temporal))?))
            }
            ("~>", [one, other]) => {
                let one = self.expression(*one, env, Reading::of(Use::Temporal))?;
                CoreForm::LeadsTo(Box::new((one, self.expression(*other, env, Reading::of(Use::Temporal))?)))
            }
            _ => return Err(Refusal::not_evaluated(place, &format!("the operator {name}"))),
        })
    }

    /// The variable whose value `x = e`, `x' = e` or the like chooses, also through definitions, parameters and LET.
    fn chosen_variable(&mut self, node: NodeId, env: &Env, reading: Reading) -> Option<CoreForm> {
        let (node, scope) = match reading.usage {
            Use::Initial | Use::Action if !reading.primed => self.unfolded(node, env),
            _ => return None,
        };
        let Node::Apply(application) = self.model.graph.node(node).clone() else { return None };
        if reading.usage == Use::Initial {
            return self.variable(node, &scope).map(CoreForm::Variable);
        }
        let operand = application.operands.first().copied().flatten()?;
        if !super::builtin::is_prime(application.operator) {
            return None;
        }
        let (operand, scope) = self.unfolded(operand, &scope);
        if let Node::Apply(application) = self.model.graph.node(operand)
            && let Meaning::Bound(Binding::InstanceVariable(_, _, next)) = self.meaning(application.operator, &scope)
        {
            return Some(CoreForm::NextVariable(next.to_string()));
        }
        // A variable of the specification is refused below ENABLED in an instance.
        self.variable(operand, &scope).filter(|_| !self.is_below_enabled).map(CoreForm::NextVariable)
    }

    /// The name of a variable of the specification, if an expression is one.
    pub(super) fn variable(&self, node: NodeId, env: &Env) -> Option<String> {
        let Node::Apply(application) = self.model.graph.node(node) else { return None };
        let symbol = self.model.graph.symbol(application.operator);
        let is_global = matches!(self.meaning(application.operator, env), Meaning::Global);
        (symbol.kind == SymbolKind::Variable && is_global).then(|| symbol.name.to_string())
    }

    pub(super) fn all(&mut self, nodes: &[NodeId], env: &Env, reading: Reading) -> Elaborated<Vec<CoreExpr>> {
        nodes.iter().map(|node| self.expression(*node, env, reading)).collect()
    }

    fn form(
        &mut self,
        form: BuiltInForm,
        application: &Application,
        operands: &[NodeId],
        place: Place,
        env: &Env,
        reading: Reading,
    ) -> Elaborated<CoreForm> {
        use BuiltInForm as F;
        let value = reading.value();
        let missing = || Refusal::not_evaluated(place, "an incomplete expression");
        Ok(match (form, operands) {
            (F::Tuple, _) => CoreForm::Tuple(self.all(operands, env, value)?),
            (F::Set, _) => CoreForm::Set(self.all(operands, env, value)?),
            (F::Product, _) => CoreForm::Product(self.all(operands, env, value)?),
            (F::Conjunction, _) => CoreForm::And(self.all(operands, env, reading)?),
            (F::Disjunction, _) => CoreForm::Or(self.all(operands, env, reading)?),
            (F::If, [test, yes, no]) => {
                let test = self.expression(*test, env, value)?;
                let (yes, no) = (self.expression(*yes, env, reading)?, self.expression(*no, env, reading)?);
                CoreForm::If(Box::new((test, yes, no)))
            }
            (F::Case, _) => self.case(operands, env, reading)?,
            (F::Record, _) => CoreForm::Record(self.fields(operands, env, value)?),
            (F::RecordSet, _) => CoreForm::RecordSet(self.fields(operands, env, value)?),
            (F::Selection, [record]) => {
                let Detail::Field(name) = &application.detail else { return Err(missing()) };
                CoreForm::Field(Box::new(self.expression(*record, env, value)?), name.to_string())
            }
            (F::Except, [base, updates @ ..]) => self.except(*base, updates, env, value)?,
            (F::FunctionSet, [domain, range]) => {
                let domain = self.expression(*domain, env, value)?;
                CoreForm::FunctionSet(Box::new((domain, self.expression(*range, env, value)?)))
            }
            (F::Application, [function, arguments @ ..]) => {
                let function = self.expression(*function, env, value)?;
                let mut arguments = self.all(arguments, env, value)?;
                let argument = match arguments.len() {
                    1 => arguments.remove(0),
                    _ => CoreExpr::new(CoreForm::Tuple(arguments), place),
                };
                apply_function(function, argument, place).form
            }
            (F::Function, [body]) => {
                let (bounds, inner) = self.bounds(application, env, value)?;
                CoreForm::Function(bounds, Box::new(self.expression(*body, &inner, value)?))
            }
            (F::FunctionDefinition, _) => {
                let name = self.fresh_local("function");
                let body = self.function_body(application, env, value.primed, &name)?;
                let definition = CoreDefinition { name: name.to_string(), parameters: Vec::new(), body };
                let call = CoreExpr::new(CoreForm::Call(name.to_string(), Vec::new()), place);
                CoreForm::Let(vec![definition], Box::new(call))
            }
            (F::Filter | F::Choose, [body]) => {
                let (mut bounds, inner) = self.bounds(application, env, value)?;
                let body = Box::new(self.expression(*body, &inner, value)?);
                let bound = Box::new(bounds.pop().ok_or_else(missing)?);
                if form == F::Filter { CoreForm::Filter(bound, body) } else { CoreForm::Choose(bound, body) }
            }
            (F::Map, [body]) => {
                let (bounds, inner) = self.bounds(application, env, value)?;
                CoreForm::Map(Box::new(self.expression(*body, &inner, value)?), bounds)
            }
            (F::All, [body]) => {
                let (bounds, inner) = self.bounds(application, env, value)?;
                let usage = if reading.usage == Use::Temporal { reading } else { value };
                CoreForm::All(bounds, Box::new(self.expression(*body, &inner, usage)?))
            }
            (F::Some, [body]) => {
                let (bounds, inner) = self.bounds(application, env, value)?;
                CoreForm::Some(bounds, Box::new(self.expression(*body, &inner, reading)?))
            }
            (F::BoxAction, [action, subscript]) => {
                let action = self.expression(*action, env, reading)?;
                let stays = CoreExpr::new(self.unchanged(*subscript, place, env, reading)?, place);
                CoreForm::Or(vec![action, stays])
            }
            (F::AngleAction, [action, subscript]) => {
                let action = self.expression(*action, env, reading)?;
                let stays = CoreExpr::new(self.unchanged(*subscript, place, env, value)?, place);
                let changes = CoreExpr::new(CoreForm::Primitive(Primitive::Not, vec![stays]), place);
                CoreForm::And(vec![action, changes])
            }
            (F::WeakFairness | F::StrongFairness, [action, subscript]) if self.joins_variables(env) => {
                self.fairness_by_definition(form == F::StrongFairness, [*action, *subscript], place, env)?
            }
            (F::WeakFairness, two) => CoreForm::WeakFairness(self.subscripted(two, env, Use::Action)?),
            (F::StrongFairness, two) => CoreForm::StrongFairness(self.subscripted(two, env, Use::Action)?),
            (F::ProofStep, [operand]) => return Ok(self.expression(*operand, env, reading)?.form),
            _ => return Err(Refusal::not_evaluated(place, &format!("the form {}", BUILT_INS[form as usize].name))),
        })
    }

    /// Elaborates an action below ENABLED in an instance.
    fn below_enabled(
        &mut self,
        env: &Env,
        place: Place,
        elaborate: impl FnOnce(&mut Self, &Env) -> Elaborated<CoreExpr>,
    ) -> Elaborated<CoreExpr> {
        let free = self.with_independent_next_values(env);
        let env = free.ok_or_else(|| Refusal::not_evaluated(place, ENABLED_IN_THIS_INSTANCE))?;
        let is_below = std::mem::replace(&mut self.is_below_enabled, true);
        let action = elaborate(self, &env);
        self.is_below_enabled = is_below;
        action
    }

    /// `WF_v(A)` as `[]<>~ENABLED <<A>>_v \/ []<><<A>>_v`, and `SF_v(A)` as `<>[]~ENABLED <<A>>_v \/ []<><<A>>_v`.
    fn fairness_by_definition(
        &mut self,
        is_strong: bool,
        two: [NodeId; 2],
        place: Place,
        env: &Env,
    ) -> Elaborated<CoreForm> {
        let at = |form| CoreExpr::new(form, place);
        let always = |one| at(CoreForm::Always(Box::new(one)));
        let eventually = |one| at(CoreForm::Eventually(Box::new(one)));
        let action = self.below_enabled(env, place, |elaborator, env| {
            let action = elaborator.expression(two[0], env, Reading::of(Use::Action))?;
            let stays = at(elaborator.unchanged(two[1], place, env, Reading::VALUE)?);
            let changes = at(CoreForm::Primitive(Primitive::Not, vec![stays]));
            Ok(at(CoreForm::And(vec![action, changes])))
        })?;
        let enabled = at(CoreForm::Enabled(Box::new(action)));
        let disabled = at(CoreForm::Primitive(Primitive::Not, vec![enabled]));
        let disabled = if is_strong { eventually(always(disabled)) } else { always(eventually(disabled)) };
        let taken = at(CoreForm::Angle(self.subscripted(&two, env, Use::Value)?));
        Ok(CoreForm::Or(vec![disabled, always(eventually(taken))]))
    }

    fn subscripted(&mut self, two: &[NodeId], env: &Env, usage: Use) -> Elaborated<Box<(CoreExpr, CoreExpr)>> {
        let [action, subscript] = two else { return Err(self.too_much(two.first().copied().unwrap_or(0))) };
        let action = self.expression(*action, env, Reading::of(usage))?;
        Ok(Box::new((action, self.expression(*subscript, env, Reading::VALUE)?)))
    }

    /// The action and the subscript, if an expression is `[A]_v`, here or through definitions.
    pub(super) fn step_formula(&mut self, node: NodeId, env: &Env) -> Option<(Vec<NodeId>, Env)> {
        let (node, env) = self.unfolded(node, env);
        match self.model.graph.node(node) {
            Node::Apply(application) if application.operator == BuiltInForm::BoxAction.symbol() => {
                Some((application.operands.iter().copied().flatten().collect(), env))
            }
            _ => None,
        }
    }

    fn case(&mut self, arms: &[NodeId], env: &Env, reading: Reading) -> Elaborated<CoreForm> {
        let (mut written, mut other) = (Vec::new(), None);
        for arm in arms {
            let Node::Apply(arm) = self.model.graph.node(*arm).clone() else { continue };
            match *arm.operands.iter().copied().flatten().collect::<Vec<_>>() {
                [guard, value] => {
                    let guard = self.expression(guard, env, reading.value())?;
                    written.push((guard, self.expression(value, env, reading)?));
                }
                [value] => other = Some(Box::new(self.expression(value, env, reading)?)),
                _ => {}
            }
        }
        Ok(CoreForm::Case(written, other))
    }

    fn fields(&mut self, fields: &[NodeId], env: &Env, reading: Reading) -> Elaborated<Vec<(String, CoreExpr)>> {
        let mut written = Vec::new();
        for field in fields {
            if let Node::Apply(Application { operands, detail: Detail::Field(name), .. }) =
                self.model.graph.node(*field).clone()
                && let [Some(value)] = *operands
            {
                written.push((name.to_string(), self.expression(value, env, reading)?));
            }
        }
        Ok(written)
    }

    fn except(&mut self, base: NodeId, updates: &[NodeId], env: &Env, reading: Reading) -> Elaborated<CoreForm> {
        let base = self.expression(base, env, reading)?;
        let mut written = Vec::new();
        for update in updates {
            let Node::Apply(update) = self.model.graph.node(*update).clone() else { continue };
            let [Some(path), Some(value)] = *update.operands else { continue };
            let Node::Apply(steps) = self.model.graph.node(path).clone() else { continue };
            let mut path = Vec::new();
            for step in steps.operands.into_iter().flatten() {
                let Node::Apply(step_form) = self.model.graph.node(step).clone() else { continue };
                path.push(match &step_form.detail {
                    Detail::Field(name) => CoreStep::Field(name.to_string()),
                    _ => match *step_form.operands {
                        [Some(index)] => CoreStep::Index(self.expression(index, env, reading)?),
                        _ => CoreStep::Index(self.expression(step, env, reading)?),
                    },
                });
            }
            let at = self.fresh_local("@");
            let inner = env.with(AT, Binding::Old(at.clone(), reading.primed));
            let value = self.expression(value, &inner, reading)?;
            written.push(CoreUpdate { path, at: at.to_string(), value });
        }
        Ok(CoreForm::Except(Box::new(base), written))
    }

    /// The sets and names of a quantifier or the like, and the scope of its body. No set sees the names.
    pub(super) fn bounds(
        &mut self,
        application: &Application,
        env: &Env,
        reading: Reading,
    ) -> Elaborated<(Vec<CoreBound>, Env)> {
        let shapes = match &application.detail {
            Detail::Bounds(shapes) => shapes.clone(),
            _ => vec![(application.bound.len(), false)],
        };
        let (mut bounds, mut inner, mut next) = (Vec::new(), env.clone(), 0);
        for (index, (count, is_tuple)) in shapes.into_iter().enumerate() {
            let set = match application.ranges.get(index) {
                Some(range) => Some(self.expression(*range, env, reading)?),
                None => None,
            };
            let mut names = Vec::new();
            for symbol in application.bound.iter().skip(next).take(count) {
                let name = self.fresh_local(&self.model.graph.symbol(*symbol).name);
                inner = inner.with(*symbol, Binding::Name(name.clone()));
                names.push(name.to_string());
            }
            next += count;
            bounds.push(CoreBound { names, is_tuple, set });
        }
        Ok((bounds, inner))
    }

    /// `f[x \in S] == e`; the last bound name is the function itself, unless it was declared RECURSIVE.
    pub(super) fn function_body(
        &mut self,
        application: &Application,
        env: &Env,
        primed: bool,
        own: &Rc<str>,
    ) -> Elaborated<CoreBody> {
        let reading = Reading { primed, usage: Use::Value };
        let (bounds, mut inner) = self.bounds(application, env, reading)?;
        let named: usize = bounds.iter().map(|bound| bound.names.len()).sum();
        if let Some(itself) = application.bound.get(named) {
            inner = inner.with(*itself, Binding::Own(own.clone()));
        }
        let value = application.operands.first().copied().flatten();
        let value = value
            .ok_or_else(|| Refusal::not_evaluated(Place { file: u32::MAX, offset: 0 }, "a function without a value"))?;
        Ok(CoreBody::Function(bounds, self.expression(value, &inner, reading)?))
    }

    /// `UNCHANGED e`: the variables of tuples by name, everything else by `e' = e`.
    fn unchanged(&mut self, node: NodeId, place: Place, env: &Env, reading: Reading) -> Elaborated<CoreForm> {
        if reading.primed {
            return Err(Refusal::not_evaluated(place, "a prime on UNCHANGED"));
        }
        let (mut variables, mut others) = (Vec::new(), Vec::new());
        self.collect_unchanged(node, env, &mut variables, &mut others)?;
        if others.is_empty() {
            return Ok(CoreForm::Unchanged(variables));
        }
        if !variables.is_empty() {
            others.insert(0, CoreExpr::new(CoreForm::Unchanged(variables), place));
        }
        Ok(CoreForm::And(others))
    }

    fn collect_unchanged(
        &mut self,
        node: NodeId,
        env: &Env,
        variables: &mut Vec<String>,
        others: &mut Vec<CoreExpr>,
    ) -> Elaborated<()> {
        let (found, scope) = self.unfolded(node, env);
        if let Some(name) = self.variable(found, &scope) {
            if self.is_below_enabled {
                let place = self.model.graph.place(node);
                return Err(Refusal::not_evaluated(place, ENABLED_IN_THIS_INSTANCE));
            }
            if !variables.contains(&name) {
                variables.push(name);
            }
            return Ok(());
        }
        if let Node::Apply(application) = self.model.graph.node(found).clone()
            && application.operator == BuiltInForm::Tuple.symbol()
        {
            for element in application.operands.into_iter().flatten() {
                self.collect_unchanged(element, &scope, variables, others)?;
            }
            return Ok(());
        }
        let place = self.model.graph.place(node);
        let next = self.expression(node, env, Reading { primed: true, usage: Use::Value })?;
        let now = self.expression(node, env, Reading::VALUE)?;
        others.push(CoreExpr::new(CoreForm::Primitive(Primitive::Equal, vec![next, now]), place));
        Ok(())
    }
}

/// Definitions around the function go around the application, so that the function is applied by its name.
fn apply_function(function: CoreExpr, argument: CoreExpr, place: Place) -> CoreExpr {
    match function.form {
        CoreForm::Let(definitions, body) => with_definitions(definitions, apply_function(*body, argument, place)),
        form => {
            let function = CoreExpr::new(form, function.place);
            CoreExpr::new(CoreForm::Apply(Box::new((function, argument))), place)
        }
    }
}

fn is_connective(primitive: Primitive) -> bool {
    matches!(primitive, Primitive::Not | Primitive::Implies | Primitive::Equivalent)
}

pub(super) fn with_definitions(definitions: Vec<CoreDefinition>, body: CoreExpr) -> CoreExpr {
    if definitions.is_empty() {
        return body;
    }
    let place = body.place;
    CoreExpr::new(CoreForm::Let(definitions, Box::new(body)), place)
}

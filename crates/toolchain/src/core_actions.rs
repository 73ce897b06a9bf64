//! Evaluates actions and initial predicates of the core, for their next states. Source: "Specifying Systems", section 14.2.6.

use tla_mc::eval::{Bufs, Cx, Engine, K};
use tla_mc::value::Value;
use tlaforge_tla::semantic::{CoreBody, CoreBound, CoreExpr, CoreForm, Place, Primitive};

use super::core_arithmetic::{COMPARISON_PREFIX, LIMIT_PREFIX};
use super::core_interpreter::{Env, Evaluated, Here, Interpreter};
use super::strict_values::{NotCompared, contains, equal};

impl<'c> Interpreter<'c> {
    /// Evaluates an action or an initial predicate: calls `k` for each way to give the variables their next values.
    pub(super) fn act<'a>(
        &self,
        action: &'c CoreExpr,
        env: &Env<'c>,
        is_initial: bool,
        cx: &mut Cx<'a>,
        k: K<'_, 'a>,
    ) -> Evaluated<()> {
        let place = action.place;
        match &action.form {
            CoreForm::And(all) => self.act_all(all, env, is_initial, cx, k),
            CoreForm::Or(all) => all.iter().try_for_each(|one| self.act(one, env, is_initial, cx, k)),
            CoreForm::If(three) => {
                let test = Self::read(cx, is_initial, |here| self.truth(&three.0, env, here))?;
                self.act(if test { &three.1 } else { &three.2 }, env, is_initial, cx, k)
            }
            CoreForm::Case(arms, other) => {
                for (guard, one) in arms {
                    if Self::read(cx, is_initial, |here| self.truth(guard, env, here))? {
                        return self.act(one, env, is_initial, cx, k);
                    }
                }
                let other = other.as_ref().ok_or_else(|| self.at(place, "no CASE arm matched"))?;
                self.act(other, env, is_initial, cx, k)
            }
            CoreForm::Let(definitions, body) => {
                self.act(body, &Self::with_definitions(definitions, env), is_initial, cx, k)
            }
            CoreForm::Some(bounds, body) => {
                let choices = self.choices(bounds, env, is_initial, place, cx)?;
                choices.iter().try_for_each(|inner| self.act(body, inner, is_initial, cx, k))
            }
            CoreForm::All(bounds, body) => {
                let all = self.choices(bounds, env, is_initial, place, cx)?;
                self.act_each(body, &all, is_initial, cx, k)
            }
            CoreForm::Call(name, arguments) if self.reads_chosen(name, is_initial) => {
                let (definition, scope) =
                    self.definition(name, env).ok_or_else(|| self.at(place, &format!("{name} has no definition")))?;
                let CoreBody::Expression(body) = &definition.body else {
                    return Err(self.at(place, "a function where an action is expected"));
                };
                let values = Self::read(cx, is_initial, |here| self.all(arguments, env, here))?;
                self.act(body, &Self::with_arguments(definition, scope, values), is_initial, cx, k)
            }
            CoreForm::Unchanged(names) if !is_initial => {
                let at: Vec<usize> =
                    names.iter().filter_map(|name| self.variables.get(name.as_str()).copied()).collect();
                self.keep(&at, place, cx, k)
            }
            CoreForm::Primitive(operator @ (Primitive::Equal | Primitive::In), operands)
                if self.chosen(&operands[0], is_initial).is_some() =>
            {
                let at = self.chosen(&operands[0], is_initial).unwrap_or(0);
                let value = Self::read(cx, is_initial, |here| self.value(&operands[1], env, here))?;
                let failed = |what: String| self.failed(place, &what);
                match operator {
                    Primitive::Equal => self.assign(at, value.normalized().map_err(failed)?, place, cx, k),
                    _ if cx.next[at].is_some() => {
                        let known = cx.next[at].clone().unwrap_or(Value::Bool(false));
                        if contains(&value, &known).map_err(|why| self.not_compared(place, why))? {
                            k(cx)
                        } else {
                            Ok(())
                        }
                    }
                    _ => {
                        let elements = value.elems().map_err(failed)?;
                        elements.iter().try_for_each(|element| self.assign(at, element.clone(), place, cx, k))
                    }
                }
            }
            _ => {
                if Self::read(cx, is_initial, |here| self.truth(action, env, here))? {
                    k(cx)
                } else {
                    Ok(())
                }
            }
        }
    }

    /// Whether a definition takes part in choosing values.
    fn reads_chosen(&self, name: &str, is_initial: bool) -> bool {
        if is_initial { !self.constant_definitions.contains(name) } else { self.action_definitions.contains(name) }
    }

    fn read<T>(cx: &Cx<'_>, is_initial: bool, evaluate: impl FnOnce(Here<'_>) -> Evaluated<T>) -> Evaluated<T> {
        evaluate(Here { state: cx.state, next: cx.next, is_initial })
    }

    /// The names of a quantifier with each choice of their values.
    pub(super) fn choices(
        &self,
        bounds: &'c [CoreBound],
        env: &Env<'c>,
        is_initial: bool,
        place: Place,
        cx: &Cx<'_>,
    ) -> Evaluated<Vec<Env<'c>>> {
        let mut all = Vec::new();
        Self::read(cx, is_initial, |here| {
            self.for_each(bounds, env, here, place, &mut |inner| {
                all.push(inner.clone());
                Ok(true)
            })
        })?;
        Ok(all)
    }

    /// The variable whose value an equation chooses.
    fn chosen(&self, target: &CoreExpr, is_initial: bool) -> Option<usize> {
        match &target.form {
            CoreForm::Variable(name) if is_initial => self.variables.get(name.as_str()).copied(),
            CoreForm::NextVariable(name) if !is_initial => self.variables.get(name.as_str()).copied(),
            _ => None,
        }
    }

    pub(super) fn act_all<'a>(
        &self,
        all: &'c [CoreExpr],
        env: &Env<'c>,
        is_initial: bool,
        cx: &mut Cx<'a>,
        k: K<'_, 'a>,
    ) -> Evaluated<()> {
        match all.split_first() {
            None => k(cx),
            Some((first, rest)) => {
                self.act(first, env, is_initial, cx, &mut |cx| self.act_all(rest, env, is_initial, cx, k))
            }
        }
    }

    /// The same action with the values of each of these names, one after the other.
    fn act_each<'a>(
        &self,
        action: &'c CoreExpr,
        all: &[Env<'c>],
        is_initial: bool,
        cx: &mut Cx<'a>,
        k: K<'_, 'a>,
    ) -> Evaluated<()> {
        match all.split_first() {
            None => k(cx),
            Some((first, rest)) => {
                self.act(action, first, is_initial, cx, &mut |cx| self.act_each(action, rest, is_initial, cx, k))
            }
        }
    }

    fn assign<'a>(&self, at: usize, value: Value, place: Place, cx: &mut Cx<'a>, k: K<'_, 'a>) -> Evaluated<()> {
        if let Some(known) = &cx.next[at] {
            return if self.is_same_choice(known, &value, place)? { k(cx) } else { Ok(()) };
        }
        cx.next[at] = Some(value);
        // There are far fewer variables than numbers of 32 bits.
        cx.assigned.push(u32::try_from(at).unwrap_or(u32::MAX));
        let result = k(cx);
        cx.assigned.pop();
        cx.next[at] = None;
        result
    }

    fn is_same_choice(&self, one: &Value, other: &Value, place: Place) -> Evaluated<bool> {
        match equal(one, other) {
            Err(NotCompared::Mixed(_)) if self.mixed_choices_differ => Ok(false),
            compared => compared.map_err(|why| self.not_compared(place, why)),
        }
    }

    /// UNCHANGED: the checker wants to know which variables an action assigned otherwise.
    fn keep<'a>(&self, variables: &[usize], place: Place, cx: &mut Cx<'a>, k: K<'_, 'a>) -> Evaluated<()> {
        let Some((first, rest)) = variables.split_first() else { return k(cx) };
        let now = cx.state[*first].clone();
        if let Some(known) = &cx.next[*first] {
            return if self.is_same_choice(known, &now, place)? { self.keep(rest, place, cx, k) } else { Ok(()) };
        }
        cx.next[*first] = Some(now);
        let result = self.keep(rest, place, cx, k);
        cx.next[*first] = None;
        result
    }

    /// The message of a step from this state, or of the initial predicate, with the place of what fails; as it is if nothing
    /// fails here, or something else.
    pub(super) fn located(&self, what: String, state: Option<&[Value]>) -> String {
        let mut buffers = Bufs::default();
        let mut cx = buffers.cx(state.unwrap_or_default(), self.core.variables.len(), 0);
        let failed = match state {
            Some(_) => self.next(&mut cx, &mut |_| Ok(())),
            None => self.init(&mut cx, &mut |_| Ok(())),
        };
        if let Some(located) = failed.err().filter(|located| is_about_specification(located)) {
            return located;
        }
        match (&self.core.behaviour, what.strip_prefix("a step of Next leaves ")) {
            (Some((_, next)), Some(rest)) => match self.incomplete_step(next, &Env::default(), &mut cx) {
                Some(place) => self
                    .at(place, &format!("this step leaves {rest}: `UNCHANGED` says that a variable keeps its value")),
                None => what,
            },
            _ => what,
        }
    }

    /// The place of a disjunct that leaves a variable without a next value.
    fn incomplete_step(&self, action: &'c CoreExpr, env: &Env<'c>, cx: &mut Cx<'_>) -> Option<Place> {
        match &action.form {
            CoreForm::Or(all) => all.iter().find_map(|one| self.incomplete_step(one, env, cx)),
            CoreForm::Let(definitions, body) => {
                self.incomplete_step(body, &Self::with_definitions(definitions, env), cx)
            }
            CoreForm::Some(bounds, body) => {
                let choices = self.choices(bounds, env, false, action.place, cx).ok()?;
                choices.iter().find_map(|inner| self.incomplete_step(body, inner, cx))
            }
            CoreForm::Call(name, arguments) if self.action_definitions.contains(name.as_str()) => {
                let (definition, scope) = self.definition(name, env)?;
                let CoreBody::Expression(body) = &definition.body else { return None };
                let values = Self::read(cx, false, |here| self.all(arguments, env, here)).ok()?;
                self.incomplete_step(body, &Self::with_arguments(definition, scope, values), cx)
            }
            _ => {
                let mut is_incomplete = false;
                let ended = self.act(action, env, false, cx, &mut |cx| {
                    is_incomplete |= cx.next.iter().any(Option::is_none);
                    Ok(())
                });
                (ended.is_ok() && is_incomplete).then_some(action.place)
            }
        }
    }

    /// The same for an invariant or a constraint.
    pub(super) fn located_in(&self, what: String, name: &str, state: &[Value]) -> String {
        let failed = self.named(name, state).err();
        failed.filter(|located| is_about_specification(located)).unwrap_or(what)
    }

    pub(super) fn named(&self, name: &str, state: &[Value]) -> Evaluated<bool> {
        let Some((_, definition)) = self.definitions.get_key_value(name) else {
            return Err(format!("{name} has no definition"));
        };
        let here = Here { state, next: &[], is_initial: false };
        match &definition.body {
            CoreBody::Expression(body) => self.truth(body, &Env::default(), here),
            CoreBody::Function(_, value) => Err(self.at(value.place, &format!("{name} is a function"))),
        }
    }
}

/// Whether a message is about the specification, and not about what the interpreter leaves open.
fn is_about_specification(what: &str) -> bool {
    !what.starts_with(LIMIT_PREFIX) && !what.starts_with(COMPARISON_PREFIX)
}

impl Engine for Interpreter<'_> {
    fn init<'a>(&self, cx: &mut Cx<'a>, k: K<'_, 'a>) -> Result<(), String> {
        match &self.core.behaviour {
            Some((initial, _)) => self.act(initial, &Env::default(), true, cx, k),
            None => Ok(()),
        }
    }

    fn next<'a>(&self, cx: &mut Cx<'a>, k: K<'_, 'a>) -> Result<(), String> {
        match &self.core.behaviour {
            Some((_, next)) => self.act(next, &Env::default(), false, cx, k),
            None => Ok(()),
        }
    }

    fn invariant(&self, index: usize, cx: &mut Cx) -> Result<bool, String> {
        self.named(&self.core.invariants[index], cx.state)
    }

    fn constraint(&self, index: usize, cx: &mut Cx) -> Result<bool, String> {
        self.named(&self.core.constraints[index], cx.state)
    }

    fn view(&self, _: &mut Cx) -> Result<Value, String> {
        Err("a VIEW is not evaluated here".to_owned())
    }
}

//! Evaluates operators of the core by name, for searches of our own, and finds what prevents an action.

use tla_mc::eval::{Bufs, Cx};
use tla_mc::value::Value;
use tlaforge_tla::semantic::{CoreBody, CoreExpr, CoreForm, Place};

use super::core_interpreter::{Env, Here, Interpreter};
use super::steps::State;

/// Where a part of an action is, and the values of its sides, if it compares two values.
pub(super) type BlockingConjunct = (Place, Option<(String, String)>);

impl<'c> Interpreter<'c> {
    pub(super) fn invariant_names(&self) -> &'c [String] {
        &self.core.invariants
    }

    /// The value of a text, if the checker knows it.
    pub(super) fn text_value(&self, text: &str) -> Option<Value> {
        self.name_number(text).map(Value::Str)
    }

    /// The value of an operator in a state.
    pub(super) fn value_of(&self, name: &str, arguments: Vec<Value>, state: &[Value]) -> Result<Value, String> {
        let (body, env) = self.applied(name, arguments)?;
        self.value(body, &env, Here { state, next: &[], is_initial: false })
    }

    /// The states after a step of an action.
    pub(super) fn successors(&self, name: &str, arguments: Vec<Value>, state: &[Value]) -> Result<Vec<State>, String> {
        let (body, env) = self.applied(name, arguments)?;
        let mut found: Vec<State> = Vec::new();
        let mut buffers = Bufs::default();
        let mut cx = buffers.cx(state, self.core.variables.len(), 0);
        self.act(body, &env, false, &mut cx, &mut |cx| {
            let values: Option<State> = cx.next.iter().cloned().collect();
            let values = values.ok_or_else(|| self.at(body.place, "this step leaves a variable without a value"))?;
            if !found.contains(&values) {
                found.push(values);
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn applied(&self, name: &str, arguments: Vec<Value>) -> Result<(&'c CoreExpr, Env<'c>), String> {
        let (definition, scope) =
            self.definition(name, &Env::default()).ok_or_else(|| format!("{name} has no definition"))?;
        match &definition.body {
            CoreBody::Expression(body) => Ok((body, Self::with_arguments(definition, scope, arguments))),
            CoreBody::Function(..) => Err(format!("{name} is a function")),
        }
    }

    /// The conjunct that prevents an action in a state.
    pub(super) fn blocking_conjunct(
        &self,
        name: &str,
        arguments: Vec<Value>,
        state: &[Value],
    ) -> Option<BlockingConjunct> {
        let (body, env) = self.applied(name, arguments).ok()?;
        let mut buffers = Bufs::default();
        let mut cx = buffers.cx(state, self.core.variables.len(), 0);
        self.blocking_conjunct_of(body, &env, &mut cx)
    }

    /// The conjunct that prevents this action.
    pub(super) fn blocking_conjunct_of(
        &self,
        action: &'c CoreExpr,
        env: &Env<'c>,
        cx: &mut Cx<'_>,
    ) -> Option<BlockingConjunct> {
        let found = self.find_blocking(action, env, cx)?;
        let here = Here { state: cx.state, next: &[], is_initial: false };
        let sides = match &found.0.form {
            CoreForm::Primitive(_, operands) if operands.len() == 2 => {
                let side = |at: usize| self.value(&operands[at], &found.1, here).ok().map(|value| value.to_string());
                side(0).zip(side(1))
            }
            _ => None,
        };
        Some((found.0.place, sides))
    }

    /// The innermost conjunct that no step satisfies, although steps satisfy all conjuncts before it. It does not look inside `\E` or
    /// disjunctions.
    fn find_blocking(&self, action: &'c CoreExpr, env: &Env<'c>, cx: &mut Cx<'_>) -> Option<(&'c CoreExpr, Env<'c>)> {
        match &action.form {
            CoreForm::And(all) => {
                for (at, one) in all.iter().enumerate() {
                    let mut is_possible = false;
                    let mut inner = None;
                    // With the values that the conjuncts before it choose.
                    let ended = self.act_all(&all[..at], env, false, cx, &mut |cx| {
                        self.act(one, env, false, cx, &mut |_| {
                            is_possible = true;
                            Ok(())
                        })?;
                        if !is_possible && inner.is_none() {
                            inner = self.find_blocking(one, env, cx);
                        }
                        Ok(())
                    });
                    if ended.is_err() || !is_possible {
                        return inner.or_else(|| Some((one, env.clone())));
                    }
                }
                None
            }
            CoreForm::Let(definitions, body) => self.find_blocking(body, &Self::with_definitions(definitions, env), cx),
            CoreForm::Call(name, arguments) => {
                let here = Here { state: cx.state, next: &[], is_initial: false };
                let values = self.all(arguments, env, here).ok();
                let (definition, scope) = self.definition(name, env)?;
                match (&definition.body, values) {
                    (CoreBody::Expression(body), Some(values)) => {
                        let scope = Self::with_arguments(definition, scope, values);
                        self.find_blocking(body, &scope, cx)
                    }
                    _ => Some((action, env.clone())),
                }
            }
            CoreForm::If(three) => {
                let here = Here { state: cx.state, next: &[], is_initial: false };
                match self.truth(&three.0, env, here) {
                    Ok(test) => self.find_blocking(if test { &three.1 } else { &three.2 }, env, cx),
                    Err(_) => Some((action, env.clone())),
                }
            }
            _ => Some((action, env.clone())),
        }
    }
}

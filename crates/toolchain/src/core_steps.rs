//! Lists the steps of a state by action and arguments, and for each action without a step the conjunct that prevents it.

use std::collections::BTreeSet;

use tla_mc::eval::{Bufs, Cx};
use tla_mc::value::Value;
use tlaforge_tla::semantic::{CoreBody, CoreExpr, CoreForm};

use super::core_by_name::BlockingConjunct;
use super::core_interpreter::{Env, Evaluated, Here, Interpreter};
use super::steps::State;

/// An action with its arguments, such as `Enter(1)`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ActionName {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
}

/// A step, with the action that takes it.
pub(super) struct NamedStep {
    pub(super) action: ActionName,
    pub(super) state: State,
}

/// An action that is not enabled: the conjunct that prevents it, with the values of its sides.
pub(super) struct PreventedAction {
    pub(super) action: ActionName,
    pub(super) conjunct: Option<BlockingConjunct>,
}

#[derive(Default)]
pub(super) struct NamedSteps {
    pub(super) steps: Vec<NamedStep>,
    pub(super) prevented: Vec<PreventedAction>,
    /// Actions that could not be evaluated, and why.
    pub(super) failed: Vec<(ActionName, String)>,
}

impl<'c> Interpreter<'c> {
    /// The steps of a state, and the actions without one. An action with several steps, or with choices of its own, has an entry for each.
    pub(super) fn named_steps(&self, state: &[Value]) -> NamedSteps {
        let mut found = NamedSteps::default();
        if let Some((_, next)) = &self.core.behaviour {
            let mut buffers = Bufs::default();
            let mut cx = buffers.cx(state, self.core.variables.len(), 0);
            let context = ActionContext { action: ActionName::default(), is_chosen: true };
            if let Err(what) = self.visit(next, &Env::default(), &context, &mut cx, &mut found) {
                found.failed.push((ActionName::default(), what));
            }
        }
        let NamedSteps { steps, prevented, failed } = &mut found;
        // A choice of an action that another one makes possible.
        prevented.retain(|one| !steps.iter().any(|step| step.action == one.action));
        let mut seen = BTreeSet::new();
        prevented.retain(|one| seen.insert(one.action.clone()));
        seen.clear();
        failed.retain(|(action, _)| seen.insert(action.clone()));
        found
    }

    /// Visits the parts of the next-state relation, and collects the steps of each action that it finds there.
    fn visit(
        &self,
        action: &'c CoreExpr,
        env: &Env<'c>,
        context: &ActionContext,
        cx: &mut Cx<'_>,
        found: &mut NamedSteps,
    ) -> Evaluated<()> {
        match &action.form {
            CoreForm::Or(all) => {
                let inner = ActionContext { is_chosen: true, ..context.clone() };
                all.iter().try_for_each(|one| self.visit(one, env, &inner, cx, found))
            }
            CoreForm::Some(bounds, body) => {
                let choices = self.choices(bounds, env, false, action.place, cx)?;
                let inner = ActionContext { is_chosen: true, ..context.clone() };
                choices.iter().try_for_each(|env| self.visit(body, env, &inner, cx, found))
            }
            CoreForm::Let(definitions, body) => {
                self.visit(body, &Self::with_definitions(definitions, env), context, cx, found)
            }
            CoreForm::Call(name, arguments) if self.action_definitions.contains(name.as_str()) => {
                let here = Here { state: cx.state, next: &[], is_initial: false };
                let values = self.all(arguments, env, here)?;
                let (definition, scope) =
                    self.definition(name, env).ok_or_else(|| self.at(action.place, "an unknown action"))?;
                let CoreBody::Expression(body) = &definition.body else {
                    return Err(self.at(action.place, "a function where an action is expected"));
                };
                // A definition that only stands for another one gives the step its name.
                let inner = if context.is_chosen {
                    let arguments = values.iter().map(ToString::to_string).collect();
                    ActionContext { action: ActionName { name: name.clone(), arguments }, is_chosen: false }
                } else {
                    context.clone()
                };
                self.visit(body, &Self::with_arguments(definition, scope, values), &inner, cx, found)
            }
            _ => {
                self.collect_steps(action, env, context, cx, found);
                Ok(())
            }
        }
    }

    fn collect_steps(
        &self,
        action: &'c CoreExpr,
        env: &Env<'c>,
        context: &ActionContext,
        cx: &mut Cx<'_>,
        found: &mut NamedSteps,
    ) {
        let before = found.steps.len();
        let steps = &mut found.steps;
        let ended = self.act(action, env, false, cx, &mut |cx| {
            let values: Option<State> = cx.next.iter().cloned().collect();
            let state = values.ok_or_else(|| self.at(action.place, "this step leaves a variable without a value"))?;
            if !steps[before..].iter().any(|step| step.state == state) {
                steps.push(NamedStep { action: context.action.clone(), state });
            }
            Ok(())
        });
        if let Err(what) = ended {
            found.failed.push((context.action.clone(), what));
        } else if found.steps.len() == before {
            let conjunct = self.blocking_conjunct_of(action, env, cx);
            found.prevented.push(PreventedAction { action: context.action.clone(), conjunct });
        }
    }
}

/// The action whose definition is being visited.
#[derive(Clone)]
struct ActionContext {
    action: ActionName,
    /// Whether it is a case of a disjunction or a quantifier, so that a definition there is an action of its own.
    is_chosen: bool,
}

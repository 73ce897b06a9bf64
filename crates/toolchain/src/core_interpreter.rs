//! Evaluates the core as TLC does, where the checker would not notice that values of different kinds are compared. It is
//! slower than the checker, and knows the place of each expression. It evaluates no temporal formulas.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use tla_mc::eval::Bufs;
use tla_mc::value::{self, Lazy, Value};
use tlaforge_tla::semantic::{
    Constant, Core, CoreBody, CoreBound, CoreDefinition, CoreExpr, CoreForm, CoreStep, Place,
};

use super::core_arithmetic::{COMPARISON_PREFIX, LIMIT_PREFIX, UNDEFINED_PREFIX};
use super::core_levels::{Level, Levels};
use super::strict_values::{Mixed, NotCompared, check_elements, equal};

/// What an evaluation stopped at, or the value.
pub(super) type Evaluated<T> = Result<T, String>;

/// Ends a search for a step that is only asked for.
pub(super) const FOUND: &str = "found";

/// The specification as an engine of the checker, which numbers variables, invariants and constraints as the core does.
pub(super) struct Interpreter<'c> {
    pub(super) core: &'c Core,
    /// Says where a place is.
    position: Box<dyn Fn(Place) -> Option<String> + Send + Sync + 'c>,
    pub(super) definitions: HashMap<&'c str, &'c CoreDefinition>,
    pub(super) variables: HashMap<&'c str, usize>,
    constants: HashMap<&'c str, Value>,
    names: HashMap<&'static str, u32>,
    /// Definitions that read no state.
    pub(super) constant_definitions: HashSet<&'c str>,
    /// Definitions whose value depends on the next state.
    pub(super) action_definitions: HashSet<&'c str>,
    /// Whether two next values of different kinds for one variable make an action impossible; otherwise they are an error.
    pub(super) mixed_choices_differ: bool,
}

/// A name with its meaning, and the names around it.
pub(super) struct Frame<'c> {
    name: &'c str,
    pub(super) meaning: Meaning<'c>,
    around: Env<'c>,
}

pub(super) enum Meaning<'c> {
    Value(Value),
    /// A definition of a LET, and its value if it has no parameters and was evaluated.
    Definition(&'c CoreDefinition, RefCell<Option<Value>>),
}

/// The names that an expression sees.
#[derive(Clone, Default)]
pub(super) struct Env<'c>(Option<Rc<Frame<'c>>>);

/// The state in which an expression is read, and what is known of the next one.
#[derive(Clone, Copy)]
pub(super) struct Here<'s> {
    pub(super) state: &'s [Value],
    pub(super) next: &'s [Option<Value>],
    /// Whether the next state is the initial one.
    pub(super) is_initial: bool,
}

/// The names around, and one more.
fn with<'c>(env: &Env<'c>, name: &'c str, meaning: Meaning<'c>) -> Env<'c> {
    Env(Some(Rc::new(Frame { name, meaning, around: env.clone() })))
}

pub(super) fn find<'e, 'c>(env: &'e Env<'c>, name: &str) -> Option<&'e Rc<Frame<'c>>> {
    let mut at = env.0.as_ref();
    while let Some(frame) = at {
        if frame.name == name {
            return Some(frame);
        }
        at = frame.around.0.as_ref();
    }
    None
}

/// The names of bounds that take one value together, and whether they are the parts of a tuple.
pub(super) fn groups(bounds: &[CoreBound]) -> Vec<(&[String], bool)> {
    let mut groups = Vec::new();
    for bound in bounds {
        if bound.is_tuple {
            groups.push((bound.names.as_slice(), true));
        } else {
            groups.extend(bound.names.iter().map(|name| (std::slice::from_ref(name), false)));
        }
    }
    groups
}

impl<'c> Interpreter<'c> {
    /// Must be made after the checker has compiled the core, because it numbers the names.
    pub(super) fn new(core: &'c Core, position: Box<dyn Fn(Place) -> Option<String> + Send + Sync + 'c>) -> Self {
        let all_names = value::NAMES.get().map_or(&[][..], Vec::as_slice);
        let names = (0..).zip(all_names).map(|(id, name)| (name.as_str(), id)).collect();
        let definitions: HashMap<&str, &CoreDefinition> =
            core.definitions.iter().map(|definition| (definition.name.as_str(), definition)).collect();
        let levels = Levels::new(core);
        let (mut constant_definitions, mut action_definitions) = (HashSet::new(), HashSet::new());
        for (name, level) in levels.of_all() {
            match level {
                Level::Constant if definitions.contains_key(name) => drop(constant_definitions.insert(name)),
                Level::Action => drop(action_definitions.insert(name)),
                Level::Constant | Level::State => {}
            }
        }
        let variables = core.variables.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let mut interpreter = Self {
            core,
            position,
            definitions,
            variables,
            constants: HashMap::new(),
            names,
            constant_definitions,
            action_definitions,
            mixed_choices_differ: false,
        };
        let constants =
            core.constants.iter().filter_map(|(name, value)| Some((name.as_str(), interpreter.constant(value)?)));
        interpreter.constants = constants.collect();
        interpreter
    }

    fn constant(&self, constant: &Constant) -> Option<Value> {
        Some(match constant {
            Constant::Number(number) => Value::Int(*number),
            Constant::Text(text) => Value::Str(*self.names.get(text.as_str())?),
            Constant::Boolean(value) => Value::Bool(*value),
            Constant::ModelValue(name) => Value::Model(*self.names.get(name.as_str())?),
            Constant::Set(elements) => {
                let elements: Vec<Value> =
                    elements.iter().map(|element| self.constant(element)).collect::<Option<_>>()?;
                check_elements(&elements).ok()?;
                Value::set(elements).ok()?
            }
        })
    }

    /// The first assumption that is false: its position.
    pub(super) fn violated_assumption(&self) -> Evaluated<Option<&'c str>> {
        for assumption in &self.core.assumptions {
            let here = Here { state: &[], next: &[], is_initial: false };
            if !self.truth(&assumption.formula, &Env::default(), here)? {
                return Ok(Some(&assumption.position));
            }
        }
        Ok(None)
    }

    /// The number of a text or a name.
    pub(super) fn name_number(&self, text: &str) -> Option<u32> {
        self.names.get(text).copied()
    }

    /// Where a place is, if it is in one of the user's modules.
    pub(super) fn position_of(&self, place: Place) -> Option<String> {
        (self.position)(place)
    }

    pub(super) fn at(&self, place: Place, what: &str) -> String {
        match (self.position)(place) {
            Some(position) => format!("{what} ({position})"),
            None => what.to_owned(),
        }
    }

    pub(super) fn failed(&self, place: Place, what: &str) -> String {
        // What comes from an inner expression has its place already.
        if what.ends_with(')') && what.contains(" of module ") { what.to_owned() } else { self.at(place, what) }
    }

    pub(super) fn not_compared(&self, place: Place, why: NotCompared) -> String {
        match why {
            NotCompared::Failed(what) => self.failed(place, &what),
            NotCompared::Mixed(Mixed { one, other, is_certain: true }) => {
                self.at(place, &format!("{UNDEFINED_PREFIX}{one} is compared with {other}: this comparison"))
            }
            NotCompared::Mixed(Mixed { one, other, .. }) => {
                self.at(place, &format!("{COMPARISON_PREFIX}a comparison of {one} with {other}, at which TLC may stop"))
            }
        }
    }

    pub(super) fn truth(&self, expression: &'c CoreExpr, env: &Env<'c>, here: Here<'_>) -> Evaluated<bool> {
        let value = self.value(expression, env, here)?;
        value.as_bool().map_err(|what| self.failed(expression.place, &what))
    }

    fn elements(&self, expression: &'c CoreExpr, env: &Env<'c>, here: Here<'_>) -> Evaluated<Vec<Value>> {
        let set = self.value(expression, env, here)?;
        let elements = set.elems().map_err(|what| self.failed(expression.place, &what))?;
        Ok(elements.to_vec())
    }

    pub(super) fn all(&self, expressions: &'c [CoreExpr], env: &Env<'c>, here: Here<'_>) -> Evaluated<Vec<Value>> {
        expressions.iter().map(|expression| self.value(expression, env, here)).collect()
    }

    /// Calls `each` for every choice of the values of the bounds, until it returns false.
    pub(super) fn for_each(
        &self,
        bounds: &'c [CoreBound],
        env: &Env<'c>,
        here: Here<'_>,
        place: Place,
        each: &mut dyn FnMut(&Env<'c>) -> Evaluated<bool>,
    ) -> Evaluated<bool> {
        let mut sets = Vec::new();
        for bound in bounds {
            let set = bound.set.as_ref().ok_or_else(|| self.at(place, "a quantifier without a set"))?;
            let elements = self.elements(set, env, here)?;
            let groups = groups(std::slice::from_ref(bound)).into_iter();
            sets.extend(groups.map(|(names, is_tuple)| (names, is_tuple, elements.clone())));
        }
        self.choose_each(&sets, env, place, each)
    }

    fn choose_each(
        &self,
        sets: &[(&'c [String], bool, Vec<Value>)],
        env: &Env<'c>,
        place: Place,
        each: &mut dyn FnMut(&Env<'c>) -> Evaluated<bool>,
    ) -> Evaluated<bool> {
        let Some(((names, is_tuple, elements), rest)) = sets.split_first() else { return each(env) };
        for element in elements {
            let inner = self.bind(names, *is_tuple, element, env, place)?;
            if !self.choose_each(rest, &inner, place, each)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn bind(
        &self,
        names: &'c [String],
        is_tuple: bool,
        element: &Value,
        env: &Env<'c>,
        place: Place,
    ) -> Evaluated<Env<'c>> {
        match element {
            Value::Seq(parts) if is_tuple && parts.len() == names.len() => {
                let bound = names.iter().zip(parts.iter());
                Ok(bound.fold(env.clone(), |env, (name, part)| with(&env, name, Meaning::Value(part.clone()))))
            }
            _ if is_tuple => Err(self.at(place, &format!("cannot destructure {element}"))),
            _ => Ok(names.iter().fold(env.clone(), |env, name| with(&env, name, Meaning::Value(element.clone())))),
        }
    }

    pub(super) fn with_definitions(definitions: &'c [CoreDefinition], env: &Env<'c>) -> Env<'c> {
        definitions.iter().fold(env.clone(), |env, definition| {
            with(&env, &definition.name, Meaning::Definition(definition, RefCell::new(None)))
        })
    }

    /// A definition with the names that it sees.
    pub(super) fn definition(&self, name: &str, env: &Env<'c>) -> Option<(&'c CoreDefinition, Env<'c>)> {
        match find(env, name) {
            Some(frame) => match &frame.meaning {
                Meaning::Definition(definition, _) => Some((definition, Env(Some(frame.clone())))),
                Meaning::Value(_) => None,
            },
            None => self.definitions.get(name).map(|definition| (*definition, Env::default())),
        }
    }

    pub(super) fn with_arguments(definition: &'c CoreDefinition, scope: Env<'c>, arguments: Vec<Value>) -> Env<'c> {
        let bound = definition.parameters.iter().zip(arguments);
        bound.fold(scope, |env, (name, value)| with(&env, name, Meaning::Value(value)))
    }

    fn call(
        &self,
        name: &'c str,
        arguments: &'c [CoreExpr],
        place: Place,
        env: &Env<'c>,
        here: Here<'_>,
    ) -> Evaluated<Value> {
        let (definition, scope) =
            self.definition(name, env).ok_or_else(|| self.at(place, &format!("{name} has no definition")))?;
        let known = match scope.0.as_ref().map(|frame| &frame.meaning) {
            Some(Meaning::Definition(own, known)) if own.parameters.is_empty() => Some(known),
            _ => None,
        };
        if let Some(value) = known.and_then(|known| known.borrow().clone()) {
            return Ok(value);
        }
        let value = match &definition.body {
            CoreBody::Expression(body) => {
                let arguments = self.all(arguments, env, here)?;
                self.value(body, &Self::with_arguments(definition, scope.clone(), arguments), here)?
            }
            CoreBody::Function(bounds, body) => self.function(bounds, body, place, &scope, here)?,
        };
        // The next state, or the initial one, is still being chosen where an action or an initial predicate is evaluated.
        if let Some(known) = known.filter(|_| !here.is_initial && !self.action_definitions.contains(name)) {
            *known.borrow_mut() = Some(value.clone());
        }
        Ok(value)
    }

    fn fields(
        &self,
        fields: &'c [(String, CoreExpr)],
        env: &Env<'c>,
        here: Here<'_>,
        place: Place,
    ) -> Evaluated<Vec<(u32, Value)>> {
        let mut all = Vec::new();
        for (name, one) in fields {
            all.push((self.name(name, place)?, self.value(one, env, here)?));
        }
        all.sort_by_key(|(name, _)| *name);
        Ok(all)
    }

    fn name(&self, name: &str, place: Place) -> Evaluated<u32> {
        self.names.get(name).copied().ok_or_else(|| self.at(place, &format!("{LIMIT_PREFIX}the new text \"{name}\"")))
    }

    pub(super) fn set(&self, elements: Vec<Value>, place: Place) -> Evaluated<Value> {
        check_elements(&elements).map_err(|why| self.not_compared(place, why))?;
        Value::set(elements).map_err(|what| self.failed(place, &what))
    }

    pub(super) fn value(&self, expression: &'c CoreExpr, env: &Env<'c>, here: Here<'_>) -> Evaluated<Value> {
        let place = expression.place;
        Ok(match &expression.form {
            CoreForm::Boolean(value) => Value::Bool(*value),
            CoreForm::Number(number) => Value::Int(*number),
            CoreForm::Text(text) => Value::Str(self.name(text, place)?),
            CoreForm::Constant(name) => {
                let known = self.constants.get(name.as_str()).cloned();
                known.ok_or_else(|| self.at(place, &format!("the constant {name} has no value")))?
            }
            CoreForm::Variable(name) => {
                let at = self.variables.get(name.as_str()).copied().unwrap_or(usize::MAX);
                let known =
                    if here.is_initial { here.next.get(at).cloned().flatten() } else { here.state.get(at).cloned() };
                known.ok_or_else(|| self.at(place, &format!("{name} is read before it has a value")))?
            }
            CoreForm::NextVariable(name) => {
                let at = self.variables.get(name.as_str()).copied().unwrap_or(usize::MAX);
                let known = here.next.get(at).cloned().flatten();
                known.ok_or_else(|| self.at(place, &format!("{name}' is read before the action assigns it")))?
            }
            CoreForm::Bound(name) => match find(env, name).map(|frame| &frame.meaning) {
                Some(Meaning::Value(value)) => value.clone(),
                _ => return Err(self.at(place, &format!("{name} has no value"))),
            },
            CoreForm::Call(name, arguments) => self.call(name, arguments, place, env, here)?,
            CoreForm::Primitive(primitive, operands) => self.primitive(*primitive, operands, place, env, here)?,
            CoreForm::And(all) => {
                for one in all {
                    if !self.truth(one, env, here)? {
                        return Ok(Value::Bool(false));
                    }
                }
                Value::Bool(true)
            }
            CoreForm::Or(all) => {
                for one in all {
                    if self.truth(one, env, here)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Value::Bool(false)
            }
            CoreForm::If(three) => {
                let chosen = if self.truth(&three.0, env, here)? { &three.1 } else { &three.2 };
                self.value(chosen, env, here)?
            }
            CoreForm::Case(arms, other) => {
                for (guard, value) in arms {
                    if self.truth(guard, env, here)? {
                        return self.value(value, env, here);
                    }
                }
                let other = other.as_ref().ok_or_else(|| self.at(place, "no CASE arm matched"))?;
                self.value(other, env, here)?
            }
            CoreForm::Let(definitions, body) => self.value(body, &Self::with_definitions(definitions, env), here)?,
            CoreForm::All(..)
            | CoreForm::Some(..)
            | CoreForm::Choose(..)
            | CoreForm::Filter(..)
            | CoreForm::Map(..)
            | CoreForm::SelectSequence(..) => self.quantified(expression, env, here)?,
            CoreForm::Set(_)
            | CoreForm::Tuple(_)
            | CoreForm::Product(_)
            | CoreForm::Function(..)
            | CoreForm::FunctionSet(_)
            | CoreForm::Apply(_)
            | CoreForm::Record(_)
            | CoreForm::RecordSet(_)
            | CoreForm::Field(..)
            | CoreForm::Except(..) => self.structured(expression, env, here)?,
            CoreForm::Unchanged(names) => Value::Bool(self.is_unchanged(names, place, here)?),
            CoreForm::Enabled(action) => {
                // In an initial predicate, it is about the initial state.
                let initial: Option<Vec<Value>> =
                    if here.is_initial { here.next.iter().cloned().collect() } else { Some(here.state.to_vec()) };
                let state = initial.ok_or_else(|| self.at(place, "ENABLED before all variables have a value"))?;
                let mut buffers = Bufs::default();
                let mut cx = buffers.cx(&state, self.core.variables.len(), 0);
                match self.act(action, env, false, &mut cx, &mut |_| Err(FOUND.to_owned())) {
                    Ok(()) => Value::Bool(false),
                    Err(what) if what == FOUND => Value::Bool(true),
                    Err(what) => return Err(what),
                }
            }
            CoreForm::Always(_)
            | CoreForm::Eventually(_)
            | CoreForm::LeadsTo(_)
            | CoreForm::AlwaysStep(_)
            | CoreForm::Angle(_)
            | CoreForm::WeakFairness(_)
            | CoreForm::StrongFairness(_) => return Err(self.at(place, "a temporal formula where a value is expected")),
        })
    }

    /// A quantifier, CHOOSE, or another form that binds names.
    fn quantified(&self, expression: &'c CoreExpr, env: &Env<'c>, here: Here<'_>) -> Evaluated<Value> {
        let place = expression.place;
        let failed = |what: String| self.failed(place, &what);
        Ok(match &expression.form {
            CoreForm::All(bounds, body) => {
                Value::Bool(self.for_each(bounds, env, here, place, &mut |inner| self.truth(body, inner, here))?)
            }
            CoreForm::Some(bounds, body) => {
                let none = self.for_each(bounds, env, here, place, &mut |inner| Ok(!self.truth(body, inner, here)?))?;
                Value::Bool(!none)
            }
            CoreForm::Choose(bound, body) => {
                let set = bound.set.as_ref().ok_or_else(|| self.at(place, "a CHOOSE without a set"))?;
                for element in self.elements(set, env, here)? {
                    let inner = self.bind(&bound.names, bound.is_tuple, &element, env, place)?;
                    if self.truth(body, &inner, here)? {
                        return Ok(element);
                    }
                }
                return Err(self.at(place, "CHOOSE found no element satisfying its predicate"));
            }
            CoreForm::Filter(bound, body) => {
                let set = bound.set.as_ref().ok_or_else(|| self.at(place, "a set without a range"))?;
                let mut kept = Vec::new();
                for element in self.elements(set, env, here)? {
                    let inner = self.bind(&bound.names, bound.is_tuple, &element, env, place)?;
                    if self.truth(body, &inner, here)? {
                        kept.push(element);
                    }
                }
                Value::set(kept).map_err(failed)?
            }
            CoreForm::Map(body, bounds) => {
                let mut mapped = Vec::new();
                self.for_each(bounds, env, here, place, &mut |inner| {
                    mapped.push(self.value(body, inner, here)?);
                    Ok(true)
                })?;
                self.set(mapped, place)?
            }
            CoreForm::SelectSequence(sequence, name, test) => {
                let sequence = self.value(sequence, env, here)?;
                let Value::Seq(elements) = &sequence else {
                    return Err(self.at(place, &format!("SelectSeq of a non-sequence {sequence}")));
                };
                let mut kept = Vec::new();
                for element in elements.iter() {
                    if self.truth(test, &with(env, name, Meaning::Value(element.clone())), here)? {
                        kept.push(element.clone());
                    }
                }
                Value::Seq(kept.into())
            }
            _ => return Err(self.at(place, "a form that binds no name")),
        })
    }

    /// A set, a function, a record, or a part of one.
    fn structured(&self, expression: &'c CoreExpr, env: &Env<'c>, here: Here<'_>) -> Evaluated<Value> {
        let place = expression.place;
        let failed = |what: String| self.failed(place, &what);
        Ok(match &expression.form {
            CoreForm::Set(all) => self.set(self.all(all, env, here)?, place)?,
            CoreForm::Tuple(all) => {
                let all: Result<Vec<Value>, String> =
                    self.all(all, env, here)?.into_iter().map(Value::normalized).collect();
                Value::Seq(all.map_err(failed)?.into())
            }
            CoreForm::Product(all) => Value::Lazy(Lazy::Product(self.all(all, env, here)?.into()).into()),
            CoreForm::Function(bounds, body) => self.function(bounds, body, place, env, here)?,
            CoreForm::FunctionSet(two) => {
                let (domain, range) = (self.value(&two.0, env, here)?, self.value(&two.1, env, here)?);
                Value::Lazy(Lazy::FuncSet(domain, range).into())
            }
            CoreForm::Apply(two) => self.apply(&two.0, &two.1, place, env, here)?,
            CoreForm::Record(fields) => {
                let fields = self.fields(fields, env, here, place)?;
                Value::func(fields.into_iter().map(|(name, value)| (Value::Str(name), value)).collect())
                    .map_err(failed)?
            }
            CoreForm::RecordSet(fields) => {
                Value::Lazy(Lazy::RecSet(self.fields(fields, env, here, place)?.into()).into())
            }
            CoreForm::Field(record, name) => {
                let record = self.value(record, env, here)?;
                match self.names.get(name.as_str()) {
                    Some(id) => record.field(*id).map_err(failed)?,
                    None => return Err(self.at(place, &format!("record {record} has no field {name}"))),
                }
            }
            CoreForm::Except(base, updates) => {
                let mut value = self.value(base, env, here)?;
                for update in updates {
                    let mut path = Vec::new();
                    for step in &update.path {
                        path.push(match step {
                            CoreStep::Field(name) => (Value::Str(self.name(name, place)?), place),
                            CoreStep::Index(index) => (self.value(index, env, here)?, index.place),
                        });
                    }
                    value = self.update(value, &path, &mut |old| {
                        let inner = with(env, &update.at, Meaning::Value(old));
                        self.value(&update.value, &inner, here)?.normalized().map_err(failed)
                    })?;
                }
                value
            }
            _ => return Err(self.at(place, "a form without parts")),
        })
    }

    fn is_unchanged(&self, names: &[String], place: Place, here: Here<'_>) -> Evaluated<bool> {
        for name in names {
            let at = self.variables.get(name.as_str()).copied().unwrap_or(usize::MAX);
            let next = here.next.get(at).cloned().flatten();
            let next = next.ok_or_else(|| self.at(place, &format!("{name}' is read before the action assigns it")))?;
            let now = here.state.get(at).cloned().unwrap_or(Value::Bool(false));
            if !equal(&now, &next).map_err(|why| self.not_compared(place, why))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

//! Evaluates functions of the core: their values, their applications, EXCEPT.

use tla_mc::value::Value;
use tlaforge_tla::semantic::{CoreBody, CoreBound, CoreExpr, CoreForm, Place};

use super::core_interpreter::{Env, Evaluated, Here, Interpreter, Meaning, find, groups};
use super::strict_values::{contains, equal};

impl<'c> Interpreter<'c> {
    pub(super) fn function(
        &self,
        bounds: &'c [CoreBound],
        body: &'c CoreExpr,
        place: Place,
        env: &Env<'c>,
        here: Here<'_>,
    ) -> Evaluated<Value> {
        let names = groups(bounds);
        let mut pairs = Vec::new();
        self.for_each(bounds, env, here, place, &mut |inner| {
            let value = |name: &String| match find(inner, name).map(|frame| &frame.meaning) {
                Some(Meaning::Value(value)) => value.clone(),
                _ => Value::Bool(false),
            };
            let part = |(names, is_tuple): &(&'c [String], bool)| match (is_tuple, names) {
                (false, [name]) => value(name),
                _ => Value::Seq(names.iter().map(value).collect()),
            };
            let mut key: Vec<Value> = names.iter().map(part).collect();
            let key = if key.len() == 1 { key.remove(0) } else { Value::Seq(key.into()) };
            pairs.push((key, self.value(body, inner, here)?));
            Ok(true)
        })?;
        Value::func(pairs).map_err(|what| self.failed(place, &what))
    }

    pub(super) fn apply(
        &self,
        function: &'c CoreExpr,
        argument: &'c CoreExpr,
        place: Place,
        env: &Env<'c>,
        here: Here<'_>,
    ) -> Evaluated<Value> {
        let argument = self.value(argument, env, here)?;
        // A recursive function is evaluated for one argument only.
        if let CoreForm::Call(name, arguments) = &function.form
            && arguments.is_empty()
            && let Some((definition, scope)) = self.definition(name, env)
            && let CoreBody::Function(bounds, body) = &definition.body
        {
            let inner = self.argument_names(bounds, &argument, &scope, place, here)?;
            return self.value(body, &inner, here);
        }
        // So is one that is written at its use, which may have an infinite domain.
        if let CoreForm::Function(bounds, body) = &function.form {
            let inner = self.argument_names(bounds, &argument, env, place, here)?;
            return self.value(body, &inner, here);
        }
        let function = self.value(function, env, here)?;
        if let Value::Func(known) = &function {
            for key in known.keys.iter() {
                equal(key, &argument).map_err(|why| self.not_compared(place, why))?;
            }
        }
        function.apply(&argument).map_err(|what| self.failed(place, &what))
    }

    /// The names of a function with the parts of an argument, which must be in the domain.
    fn argument_names(
        &self,
        bounds: &'c [CoreBound],
        argument: &Value,
        scope: &Env<'c>,
        place: Place,
        here: Here<'_>,
    ) -> Evaluated<Env<'c>> {
        let count: usize = bounds.iter().map(|bound| if bound.is_tuple { 1 } else { bound.names.len() }).sum();
        let outside = || self.at(place, &format!("{argument} is not in the domain of a function"));
        let parts = match argument {
            _ if count == 1 => vec![argument.clone()],
            Value::Seq(parts) if parts.len() == count => parts.to_vec(),
            _ => return Err(outside()),
        };
        let mut parts = parts.into_iter();
        let mut inner = scope.clone();
        for bound in bounds {
            let set = bound.set.as_ref().ok_or_else(|| self.at(place, "a function without a domain"))?;
            let set = self.value(set, scope, here)?;
            for (names, is_tuple) in groups(std::slice::from_ref(bound)) {
                let Some(part) = parts.next() else { return Err(outside()) };
                if !contains(&set, &part).map_err(|why| self.not_compared(place, why))? {
                    return Err(outside());
                }
                inner = self.bind(names, is_tuple, &part, &inner, place)?;
            }
        }
        Ok(inner)
    }

    pub(super) fn update(
        &self,
        old: Value,
        path: &[(Value, Place)],
        new: &mut dyn FnMut(Value) -> Evaluated<Value>,
    ) -> Evaluated<Value> {
        let Some(((key, place), rest)) = path.split_first() else { return new(old) };
        let domain = old.domain().map_err(|_| self.at(*place, &format!("EXCEPT on a non-function {old}")))?;
        // A key outside of the domain changes nothing.
        if !contains(&domain, key).map_err(|why| self.not_compared(*place, why))? {
            return Ok(old);
        }
        let part = old.apply(key).map_err(|what| self.failed(*place, &what))?;
        let part = self.update(part, rest, new)?;
        old.except(key, part).map_err(|what| self.failed(*place, &what))
    }
}

//! The levels of the core: what an expression reads.

use std::collections::{HashMap, HashSet};

use tlaforge_tla::semantic::{Core, CoreDefinition, CoreExpr, CoreForm};

/// What an expression reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Constant,
    State,
    Action,
}

/// The levels of definitions, which may be recursive.
pub(super) struct Levels<'c> {
    definitions: HashMap<&'c str, &'c CoreDefinition>,
    known: HashMap<&'c str, Level>,
}

impl<'c> Levels<'c> {
    pub(super) fn new(core: &'c Core) -> Self {
        let mut levels = Self { definitions: HashMap::new(), known: HashMap::new() };
        levels.add(&core.definitions);
        for expression in core.expressions() {
            levels.add_inner(expression);
        }
        levels
    }

    fn add(&mut self, definitions: &'c [CoreDefinition]) {
        self.definitions.extend(definitions.iter().map(|definition| (definition.name.as_str(), definition)));
    }

    /// Makes the definitions of each LET known. Every name has one meaning in the core.
    fn add_inner(&mut self, expression: &'c CoreExpr) {
        if let CoreForm::Let(definitions, _) = &expression.form {
            self.add(definitions);
        }
        for part in expression.form.parts() {
            self.add_inner(part);
        }
    }

    pub(super) fn of(&mut self, expression: &'c CoreExpr) -> Level {
        let mut called = Vec::new();
        let own = own_level(expression, &mut called);
        called.into_iter().map(|name| self.of_definition(name)).fold(own, Level::max)
    }

    /// The level of the definition with this name: that of all that it uses.
    pub(super) fn of_definition(&mut self, name: &'c str) -> Level {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let (mut level, mut open, mut seen) = (Level::Constant, vec![name], HashSet::from([name]));
        while let Some(next) = open.pop() {
            let mut called = Vec::new();
            for part in self.definitions.get(next).map(|definition| definition.body.parts()).unwrap_or_default() {
                level = level.max(own_level(part, &mut called));
            }
            open.extend(called.into_iter().filter(|other| seen.insert(other)));
        }
        self.known.insert(name, level);
        level
    }

    /// The levels of all definitions.
    pub(super) fn of_all(mut self) -> Vec<(&'c str, Level)> {
        let names: Vec<&str> = self.definitions.keys().copied().collect();
        names.into_iter().map(|name| (name, self.of_definition(name))).collect()
    }
}

/// The level of an expression without that of the definitions that it calls, whose names are added.
fn own_level<'c>(expression: &'c CoreExpr, called: &mut Vec<&'c str>) -> Level {
    let own = match &expression.form {
        CoreForm::Variable(_) => Level::State,
        CoreForm::NextVariable(_) | CoreForm::Unchanged(_) => Level::Action,
        // Primes in it are about any step.
        CoreForm::Enabled(_) => return Level::State,
        CoreForm::Call(name, _) => {
            called.push(name);
            Level::Constant
        }
        _ => Level::Constant,
    };
    expression.form.parts().into_iter().map(|part| own_level(part, called)).fold(own, Level::max)
}

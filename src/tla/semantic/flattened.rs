//! `tla-mc` flattens a specification: definitions of all modules end up in one table by name, and it enforces the
//! assumptions of every module. This module finds what that would change.

use std::collections::BTreeMap;

use super::tree::{Expr, Form, Instance, Module, Unit, for_each_part};

/// The root module and the modules that it extends, directly or not, in the order in which TLC looks at their
/// assumptions: an extended module before the one that extends it. Standard modules are not among them.
pub(super) fn extended<'a>(root: &str, modules: &[&'a Module]) -> Vec<&'a Module> {
    let mut found = Vec::new();
    extend(root, modules, &mut Vec::new(), &mut found);
    found
}

fn extend<'a>(name: &str, modules: &[&'a Module], seen: &mut Vec<String>, found: &mut Vec<&'a Module>) {
    let Some(module) = modules.iter().find(|module| module.name.text == name) else { return };
    if seen.iter().any(|known| known == name) {
        return;
    }
    seen.push(name.to_owned());
    for extended in &module.extends {
        extend(&extended.text, modules, seen, found);
    }
    found.push(module);
}

/// A name that has two meanings once the modules are flattened. TLA+ keeps such names apart if one of them is local to a
/// module or to a `LET`.
pub(super) fn ambiguous_name(root: &str, modules: &[&Module]) -> Option<String> {
    let mut names = Names { modules, meanings: BTreeMap::new(), ambiguous: None };
    names.collect(root, &Way { prefix: String::new(), substituted: String::new(), declares: true, depth: 0 });
    names.ambiguous
}

/// Instances inside instances are followed this far; the static checks let no cycle of them pass.
const DEEPEST: usize = 16;

/// How a module is reached from the root.
struct Way {
    /// What the names of its definitions begin with: `I!`.
    prefix: String,
    /// The instances on the way that substitute something: they change what a definition means.
    substituted: String,
    /// Whether its constants are declared in the flattened module: an instance leaves that to the module around it.
    declares: bool,
    depth: usize,
}

struct Names<'a> {
    modules: &'a [&'a Module],
    /// For each name of the flattened module, which definition it is.
    meanings: BTreeMap<String, String>,
    ambiguous: Option<String>,
}

impl Names<'_> {
    fn collect(&mut self, root: &str, way: &Way) {
        for module in extended(root, self.modules) {
            let own = &module.name.text;
            let mut assumptions = 0_usize;
            for unit in &module.units {
                match unit {
                    Unit::Operator(definition) => self.define(&definition.name.text, own, way),
                    Unit::Function(definition) => self.define(&definition.name.text, own, way),
                    Unit::Assumption(name, ..) => {
                        assumptions += 1;
                        let number = format!("assumption {assumptions} of {own}");
                        self.define(name.as_ref().map_or(&number, |name| &name.text), own, way);
                    }
                    Unit::Constants(declared, _) if way.declares => {
                        declared.iter().for_each(|constant| self.define(&constant.name.text, own, way));
                    }
                    _ => {}
                }
            }
            if way.depth == DEEPEST {
                return;
            }
            for (name, instance) in instances(&module.units) {
                let mut next = Way {
                    prefix: way.prefix.clone(),
                    substituted: way.substituted.clone(),
                    declares: false,
                    depth: way.depth + 1,
                };
                if let Some(name) = name {
                    next.prefix = format!("{}{name}!", way.prefix);
                }
                if !instance.substitutions.is_empty() {
                    next.substituted = format!("{} {own} {}", way.substituted, instance.at);
                }
                self.collect(&instance.module.text, &next);
            }
        }
    }

    fn define(&mut self, name: &str, module: &str, way: &Way) {
        let meaning = format!("{name} of {module}{}", way.substituted);
        let name = format!("{}{name}", way.prefix);
        let known = self.meanings.entry(name.clone()).or_insert_with(|| meaning.clone());
        if *known != meaning && self.ambiguous.is_none() {
            self.ambiguous = Some(name);
        }
    }
}

/// The instances among these units and inside their expressions, with their names.
fn instances(units: &[Unit]) -> Vec<(Option<&str>, &Instance)> {
    let mut found = Vec::new();
    for unit in units {
        match unit {
            Unit::Instance(instance, _) => found.push((None, instance)),
            Unit::NamedInstance(named) => found.push((Some(named.name.text.as_str()), &named.instance)),
            Unit::Operator(definition) => found.extend(within(&definition.body)),
            Unit::Function(definition) => found.extend(within(&definition.body)),
            Unit::Assumption(_, formula, _) => found.extend(within(formula)),
            _ => {}
        }
    }
    found
}

fn within(expression: &Expr) -> Vec<(Option<&str>, &Instance)> {
    let mut found = match &expression.form {
        Form::Let(units, _) => instances(units),
        _ => Vec::new(),
    };
    for_each_part(expression, &mut |part| found.extend(within(part)));
    found
}

//! `tla-mc` flattens a specification: it puts the definitions of all modules into one table by name, enforces the
//! assumptions of every module, and keeps one initial predicate and one next-state relation. This module finds
//! specifications whose meaning that would change.

use std::collections::BTreeMap;

use super::tree::{Definition, Expr, Form, Instance, Module, Quantifier, Subscripted, Unit, for_each_part};

/// The root module and all modules that it extends, directly or not, in the order in which TLC checks their
/// assumptions: an extended module before the one that extends it. Standard modules are left out.
pub(super) fn extension_closure<'a>(root: &str, modules: &[&'a Module]) -> Vec<&'a Module> {
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

/// A name with two meanings after flattening. TLA+ distinguishes such names if one of them is local to a module or to a
/// `LET`.
pub(super) fn ambiguous_name(root: &str, modules: &[&Module]) -> Option<String> {
    let mut names = Names { modules, meanings: BTreeMap::new(), ambiguous: None };
    names.collect(root, &ModulePath { prefix: String::new(), substituted: String::new(), declares: true, depth: 0 });
    names.ambiguous
}

/// Maximum nesting of instances; the static checks reject cycles of instances.
const MAX_NESTING: usize = 16;

/// How a module is reached from the root.
struct ModulePath {
    /// Prefix of the names of its definitions: `I!`.
    prefix: String,
    /// The instances on the path that substitute something, and so change the meaning of a definition.
    substituted: String,
    /// Whether the flattened module declares its constants: an instance leaves that to the module around it.
    declares: bool,
    depth: usize,
}

struct Names<'a> {
    modules: &'a [&'a Module],
    /// For each name of the flattened module, the definition that it means.
    meanings: BTreeMap<String, String>,
    ambiguous: Option<String>,
}

impl Names<'_> {
    fn collect(&mut self, root: &str, path: &ModulePath) {
        for module in extension_closure(root, self.modules) {
            let own = &module.name.text;
            let mut assumptions = 0_usize;
            for unit in &module.units {
                match unit {
                    Unit::Operator(definition) => self.define(&definition.name.text, own, path),
                    Unit::Function(definition) => self.define(&definition.name.text, own, path),
                    Unit::Assumption(name, ..) => {
                        assumptions += 1;
                        // Assumptions without a name are distinguished by their number.
                        let number = format!("assumption {assumptions} of {own}");
                        self.define(name.as_ref().map_or(&number, |name| &name.text), own, path);
                    }
                    Unit::Constants(declared, _) if path.declares => {
                        for constant in declared {
                            self.define(&constant.name.text, own, path);
                        }
                    }
                    _ => {}
                }
            }
            if path.depth == MAX_NESTING {
                return;
            }
            for (name, instance) in instances(&module.units) {
                let mut next = ModulePath {
                    prefix: path.prefix.clone(),
                    substituted: path.substituted.clone(),
                    declares: false,
                    depth: path.depth + 1,
                };
                if let Some(name) = name {
                    next.prefix = format!("{}{name}!", path.prefix);
                }
                if !instance.substitutions.is_empty() {
                    next.substituted = format!("{} {own} {}", path.substituted, instance.offset);
                }
                self.collect(&instance.module.text, &next);
            }
        }
    }

    fn define(&mut self, name: &str, module: &str, path: &ModulePath) {
        let meaning = format!("{name} of {module}{}", path.substituted);
        let name = format!("{}{name}", path.prefix);
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
            Unit::Operator(definition) => found.extend(instances_within(&definition.body)),
            Unit::Function(definition) => found.extend(instances_within(&definition.body)),
            Unit::Assumption(_, formula, _) => found.extend(instances_within(formula)),
            _ => {}
        }
    }
    found
}

fn instances_within(expression: &Expr) -> Vec<(Option<&str>, &Instance)> {
    let mut found = match &expression.form {
        Form::Let(units, _) => instances(units),
        _ => Vec::new(),
    };
    for_each_part(expression, &mut |part| found.extend(instances_within(part)));
    found
}

/// The reason if the checker would ignore a part of this specification. It takes the last non-temporal conjunct for the
/// whole initial predicate, and the last `[][A]_v` for the whole next-state relation.
pub(super) fn ignored_conjuncts(specification: &str, modules: &[&Module]) -> Option<String> {
    for definition in definitions(specification, modules) {
        let mut parts = Vec::new();
        conjuncts(&definition.body, modules, MAX_NESTING, &mut parts);
        for (part, what) in [(Part::Initial, "initial predicate"), (Part::Next, "next-state relation")] {
            let count = parts.iter().filter(|found| **found == part).count();
            if count > 1 {
                let single = "define their conjunction, and use its name";
                return Some(format!(
                    "{specification} has {count} conjuncts for its {what}, of which it takes one: {single}"
                ));
            }
        }
    }
    None
}

/// The kind of a conjunct of a specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Initial,
    Next,
    Temporal,
}

/// Definitions of that name without parameters, in any module.
fn definitions<'a>(name: &str, modules: &[&'a Module]) -> Vec<&'a Definition> {
    let defined = |unit: &'a Unit| match unit {
        Unit::Operator(definition) if definition.name.text == name => Some(definition),
        _ => None,
    };
    modules.iter().flat_map(|module| module.units.iter().filter_map(defined)).collect()
}

fn conjuncts(expression: &Expr, modules: &[&Module], depth: usize, found: &mut Vec<Part>) {
    match &expression.form {
        Form::Parenthesis(inner) | Form::Label(_, _, inner) => conjuncts(inner, modules, depth, found),
        Form::List(parts, operator) | Form::Apply(operator, parts) if operator.name == "/\\" => {
            for part in parts {
                conjuncts(part, modules, depth, found);
            }
        }
        Form::Apply(operator, operands)
            if operator.name == "[]"
                && matches!(operands.as_slice(), [Expr { form: Form::Action(Subscripted::Square, _), .. }]) =>
        {
            found.push(Part::Next);
        }
        Form::Path(segments) if depth > 0 => {
            let name = segments.last().map_or("", |segment| segment.name.text.as_str());
            let mut inner = Vec::new();
            if let Some(definition) = definitions(name, modules).first() {
                conjuncts(&definition.body, modules, depth - 1, &mut inner);
            }
            // A definition is one conjunct, unless it hides the next-state relation, which the checker finds in it.
            if inner.contains(&Part::Next) {
                found.extend(inner);
            } else {
                found.push(state_or_temporal(expression, modules));
            }
        }
        _ => found.push(state_or_temporal(expression, modules)),
    }
}

fn state_or_temporal(expression: &Expr, modules: &[&Module]) -> Part {
    if is_temporal(expression, modules, &mut Vec::new()) { Part::Temporal } else { Part::Initial }
}

fn is_temporal<'a>(expression: &'a Expr, modules: &[&'a Module], seen: &mut Vec<&'a str>) -> bool {
    match &expression.form {
        Form::Action(..) | Form::Bounded(Quantifier::TemporalAll | Quantifier::TemporalSome, ..) => return true,
        Form::Unbounded(Quantifier::TemporalAll | Quantifier::TemporalSome, ..) => return true,
        Form::Apply(operator, _) if matches!(operator.name, "[]" | "<>" | "~>" | "-+->") => return true,
        Form::Path(segments) => {
            let name = segments.last().map_or("", |segment| segment.name.text.as_str());
            if !seen.contains(&name) {
                seen.push(name);
                if definitions(name, modules).iter().any(|definition| is_temporal(&definition.body, modules, seen)) {
                    return true;
                }
            }
        }
        Form::Let(units, _) => {
            let bodies = units.iter().filter_map(|unit| match unit {
                Unit::Operator(definition) => Some(&definition.body),
                _ => None,
            });
            if bodies.into_iter().any(|body| is_temporal(body, modules, seen)) {
                return true;
            }
        }
        _ => {}
    }
    let mut temporal = false;
    for_each_part(expression, &mut |part| temporal = temporal || is_temporal(part, modules, seen));
    temporal
}

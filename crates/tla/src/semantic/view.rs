//! Whether a VIEW is sound: what it leaves out of a state may influence nothing that a check looks at.
//! Source: Lamport, "Specifying Systems", section 14.3.3.

use std::collections::{HashMap, HashSet};

use crate::Cfg;

use super::core_form::{Core, CoreBody, CoreDefinition, CoreExpr, CoreForm, Primitive};
use super::elaborate::elaborate;

/// Why the VIEW of a configuration may merge states that a check must tell apart; `None` if it is sound, or if there is
/// none. The modules are given by name and text, the root first.
pub fn find_view_fault(modules: &[(&str, &str)], cfg: &Cfg) -> Option<String> {
    cfg.view.as_ref()?;
    let mut cfg = Cfg { properties: Vec::new(), symmetry: Vec::new(), ..cfg.clone() };
    cfg.invariants.append(&mut cfg.witnesses);
    let core = match elaborate(modules, &cfg.render()) {
        Ok(core) => core,
        Err(why) => return Some(format!("what it leaves out is not known: {}", why.message)),
    };
    let mut definitions: HashMap<&str, &CoreDefinition> = HashMap::new();
    add_definitions(&core.definitions, &mut definitions);
    for expression in core.expressions() {
        add_inner_definitions(expression, &mut definitions);
    }
    let mut kept = HashSet::new();
    collect_kept(core.view.as_ref()?, &definitions, &mut kept, 0);
    let omitted: HashSet<&str> =
        core.variables.iter().map(String::as_str).filter(|name| !kept.contains(name)).collect();
    Reads { definitions, omitted, seen: HashSet::new() }.find(&core)
}

/// Adds definitions by name: every name has one meaning in the core.
fn add_definitions<'c>(all: &'c [CoreDefinition], definitions: &mut HashMap<&'c str, &'c CoreDefinition>) {
    definitions.extend(all.iter().map(|definition| (definition.name.as_str(), definition)));
}

/// Adds the definitions of each LET in an expression.
fn add_inner_definitions<'c>(expression: &'c CoreExpr, definitions: &mut HashMap<&'c str, &'c CoreDefinition>) {
    if let CoreForm::Let(all, _) = &expression.form {
        add_definitions(all, definitions);
    }
    for part in expression.form.parts() {
        add_inner_definitions(part, definitions);
    }
}

/// The variables whose values the view contains as they are.
fn collect_kept<'c>(
    view: &'c CoreExpr,
    definitions: &HashMap<&str, &'c CoreDefinition>,
    kept: &mut HashSet<&'c str>,
    depth: usize,
) {
    match &view.form {
        CoreForm::Variable(name) => {
            kept.insert(name);
        }
        CoreForm::Tuple(all) => {
            for one in all {
                collect_kept(one, definitions, kept, depth);
            }
        }
        CoreForm::Record(fields) => {
            for (_, one) in fields {
                collect_kept(one, definitions, kept, depth);
            }
        }
        CoreForm::Call(name, arguments) if arguments.is_empty() && depth < 64 => {
            if let Some(CoreDefinition { body: CoreBody::Expression(body), .. }) = definitions.get(name.as_str()) {
                collect_kept(body, definitions, kept, depth + 1);
            }
        }
        _ => {}
    }
}

struct Reads<'c> {
    definitions: HashMap<&'c str, &'c CoreDefinition>,
    omitted: HashSet<&'c str>,
    /// Definitions that read no variable that the view omits.
    seen: HashSet<&'c str>,
}

impl<'c> Reads<'c> {
    fn find(&mut self, core: &'c Core) -> Option<String> {
        let leaves_out = |name: &str, reader: &str| format!("it leaves out {name}, which {reader}");
        for (role, names) in [("the invariant", &core.invariants), ("the constraint", &core.constraints)] {
            for own in names {
                let definition = *self.definitions.get(own.as_str())?;
                if let Some(name) = definition.body.parts().into_iter().find_map(|part| self.read(part)) {
                    return Some(leaves_out(name, &format!("{role} {own} reads")));
                }
            }
        }
        let (_, next) = core.behaviour.as_ref()?;
        let reader = "the next-state relation reads for more than the next value of what is left out";
        self.read(next).map(|name| leaves_out(name, reader))
    }

    /// A variable that is omitted and read, other than for the next value of such a variable.
    fn read(&mut self, expression: &'c CoreExpr) -> Option<&'c str> {
        match &expression.form {
            // A second value for the same variable is a guard.
            CoreForm::And(all) => {
                let mut assigned = HashSet::new();
                for one in all {
                    let mut own = HashSet::new();
                    self.collect_assigned(one, &mut own, &mut HashSet::new());
                    if let Some(twice) = own.iter().copied().find(|name| assigned.contains(name)) {
                        return Some(twice);
                    }
                    assigned.extend(own);
                }
            }
            CoreForm::All(_, body) => {
                let mut own = HashSet::new();
                self.collect_assigned(body, &mut own, &mut HashSet::new());
                if let Some(name) = own.into_iter().next() {
                    return Some(name);
                }
            }
            CoreForm::Variable(name) | CoreForm::NextVariable(name) => {
                return self.omitted.get(name.as_str()).copied();
            }
            CoreForm::Primitive(Primitive::Equal, operands) => {
                if let Some(CoreForm::NextVariable(name)) = operands.first().map(|operand| &operand.form)
                    && self.omitted.contains(name.as_str())
                {
                    return None;
                }
            }
            // There is a next value only if the set has an element.
            CoreForm::Primitive(Primitive::In, operands) => {
                if let Some(CoreForm::NextVariable(_)) = operands.first().map(|operand| &operand.form) {
                    return operands.get(1).and_then(|set| self.read(set));
                }
            }
            CoreForm::Call(name, _) => {
                if let Some(definition) = self.definitions.get(name.as_str()).copied()
                    && self.seen.insert(name)
                    && let Some(found) = definition.body.parts().into_iter().find_map(|part| self.read(part))
                {
                    self.seen.remove(name.as_str());
                    return Some(found);
                }
            }
            _ => {}
        }
        expression.form.parts().into_iter().find_map(|part| self.read(part))
    }

    /// The omitted variables whose next values an expression has to do with.
    fn collect_assigned(&self, expression: &'c CoreExpr, found: &mut HashSet<&'c str>, seen: &mut HashSet<&'c str>) {
        match &expression.form {
            CoreForm::NextVariable(name) => found.extend(self.omitted.get(name.as_str())),
            CoreForm::Unchanged(names) => found.extend(names.iter().filter_map(|name| self.omitted.get(name.as_str()))),
            CoreForm::Call(name, _) if seen.insert(name) => {
                for part in self.definitions.get(name.as_str()).map(|known| known.body.parts()).unwrap_or_default() {
                    self.collect_assigned(part, found, seen);
                }
            }
            _ => {}
        }
        for part in expression.form.parts() {
            self.collect_assigned(part, found, seen);
        }
    }
}

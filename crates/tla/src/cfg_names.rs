//! Checks that the names of a configuration fit the module, so that the error comes before TLC starts and is clearer than
//! TLC's.

use std::collections::BTreeSet;

use super::cfg::Cfg;
use super::cfg_keyword::keyword_hint;
use super::definition::DefinitionKind;
use super::diagnostic::{Diagnostic, Stage};
use super::merge::TRANSLATED;
use super::module::Module;
use super::semantic::exported_names;
use super::step_counter;

/// Reports where a configuration does not fit a module. Every listed name must be defined and take no arguments, every
/// constant must be assigned, and every assigned constant declared. If the module contains an algorithm, the definitions
/// of its translation count as defined.
pub fn check_cfg_names(module: &Module, cfg: &Cfg) -> Vec<Diagnostic> {
    check_names(module, cfg, true, true)
}

/// The same for a check, which may also check only assumptions: then the configuration need not give a behaviour. A value
/// for a constant that the module does not declare has no effect there.
pub fn check_cfg_names_for_check(module: &Module, cfg: &Cfg) -> Vec<Diagnostic> {
    let needs_behaviour = !(cfg.gives_no_behaviour() && module.variable_names().is_empty());
    check_names(module, cfg, needs_behaviour, false)
}

fn check_names(module: &Module, cfg: &Cfg, needs_behaviour: bool, is_exact: bool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut report = |message: String| found.push(Diagnostic { stage: Stage::Config, line: 0, column: 0, message });
    let has_algorithm = module.algorithm.is_some();
    // Names may come from other modules, which are not read here; SANY reports those that do not exist.
    let has_other_sources = !module.is_self_contained();
    let defined = |name: &str| {
        has_other_sources || module.definition(name).is_some() || (has_algorithm && TRANSLATED.contains(&name))
    };
    for (role, name) in cfg.listed_names() {
        if !defined(name) {
            let hint = keyword_hint(name).map_or_else(String::new, |hint| format!("; {hint}"));
            report(format!("{role} {name}: the module does not define {name}{hint}"));
        } else if let Some(definition) = module.definition(name) {
            if definition.arity() > 0 {
                report(format!(
                    "{role} {name}: {name} takes {} argument(s), none may be needed here",
                    definition.arity()
                ));
            } else if definition.kind != DefinitionKind::Operator {
                report(format!("{role} {name}: {name} is no formula"));
            }
        }
    }
    if cfg.specification.is_some() && (cfg.init.is_some() || cfg.next.is_some()) {
        report("both SPECIFICATION and INIT or NEXT are given".to_owned());
    }
    if needs_behaviour && cfg.specification.is_none() && (cfg.init.is_none() || cfg.next.is_none()) {
        report("neither SPECIFICATION nor both of INIT and NEXT are given".to_owned());
    }
    let assigned = |key: &str| {
        step_counter::count_step();
        key.split('(').next().unwrap_or(key).to_owned()
    };
    let all_assigned: BTreeSet<String> = cfg.constants.keys().map(|key| assigned(key)).collect();
    let constants: BTreeSet<&str> = module.constants.iter().map(|constant| constant.name.as_str()).collect();
    for constant in &module.constants {
        if !all_assigned.contains(&constant.name) {
            report(if constant.name == DEFAULT_INIT_VALUE {
                format!(
                    "CONSTANT {0}: no value is assigned; the translation declares it for variables and parameters \
                     without an initial value: add `{0} = {0}` under CONSTANTS",
                    constant.name
                )
            } else {
                format!("CONSTANT {}: no value is assigned", constant.name)
            });
        }
    }
    for (key, value) in &cfg.constants {
        let name = assigned(key);
        let substitution = value.strip_prefix("<- ");
        let is_elsewhere = has_other_sources || key.contains('!');
        let is_added_by_translation = has_algorithm && module.translation.is_none() && name == DEFAULT_INIT_VALUE;
        let is_declared = is_added_by_translation || constants.contains(name.as_str());
        let is_replaceable =
            substitution.is_some() && (module.definition(&name).is_some() || is_standard(module, &name));
        if is_exact && !(is_declared || is_replaceable || is_elsewhere || module.definition(&name).is_some()) {
            report(format!("CONSTANT {name}: the module declares no such constant"));
        }
        if let Some(target) = substitution
            && !defined(target)
            && !is_standard(module, target)
            && !constants.contains(target)
        {
            report(format!("CONSTANT {name} <- {target}: the module does not define {target}"));
        }
    }
    found
}

/// The constant that a translation declares if a variable or parameter has no initial value (PlusCal manual, 3.1).
const DEFAULT_INIT_VALUE: &str = "defaultInitValue";

/// Whether a name is one of TLA+ or of a standard module that this module extends, so that configurations may replace it, or
/// replace something by it.
fn is_standard(module: &Module, name: &str) -> bool {
    matches!(name, "Nat" | "Int" | "Real" | "Seq" | "BOOLEAN" | "STRING")
        || module.extends.iter().filter_map(|extended| exported_names(extended)).any(|names| names.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_linear_in_the_number_of_constants() {
        step_counter::assert_linear(200, |size| {
            let names: Vec<String> = (0..size).map(|at| format!("C{at}")).collect();
            let text = format!("---- MODULE M ----\nCONSTANTS {}\n====\n", names.join(", "));
            let values: Vec<String> = names.iter().map(|name| format!("{name} = 1\n")).collect();
            let cfg = Cfg::parse(&format!("CONSTANTS\n{}", values.concat())).unwrap();
            assert_eq!(check_cfg_names_for_check(&Module::parse(&text).unwrap(), &cfg), []);
        });
    }
}

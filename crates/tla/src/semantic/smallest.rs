//! Small values for the constants of a module without a configuration, by their types.

use std::collections::BTreeMap;

use super::parser::parse;
use super::tree::{Module, Unit};
use super::types::{Term, Type, Types};
use super::typing::Typing;

/// Values of the constants for a first, small check: numbers are 2, sets have two elements, and a constant of unknown
/// type is a model value. Maps each constant to a value as a configuration writes it.
///
/// # Errors
/// The module cannot be parsed, or a constant has no value that a configuration can write (a function, a set
/// of sets, an operator).
pub fn smallest_constants(name: &str, text: &str) -> Result<BTreeMap<String, String>, String> {
    let tree = parse(text).map_err(|fault| fault.message)?;
    let modules: [(&str, &str, &Module); 1] = [(name, text, &tree)];
    let none = BTreeMap::new();
    let mut typing = Typing::new(&modules, &none);
    let mut values = BTreeMap::new();
    for unit in &tree.units {
        let Unit::Constants(declared, _) = unit else { continue };
        for constant in declared {
            let constant = constant.name.text.as_str();
            let own = typing.names.get(constant).copied();
            let value = own.and_then(|own| value(constant, own, &mut typing.types));
            let value = value.ok_or_else(|| format!("no small value is known for the constant {constant}"))?;
            values.insert(constant.to_owned(), value);
        }
    }
    Ok(values)
}

fn value(name: &str, ty: Type, types: &mut Types) -> Option<String> {
    Some(match types.term(ty) {
        Term::Free => name.to_owned(),
        Term::Int => "2".to_owned(),
        Term::Bool => "TRUE".to_owned(),
        Term::Str => format!("\"{name}\""),
        Term::Set(element) => match types.term(element) {
            Term::Free => format!("{{{name}_1, {name}_2}}"),
            Term::Int => "{1, 2}".to_owned(),
            Term::Bool => "{FALSE, TRUE}".to_owned(),
            Term::Str => "{\"a\", \"b\"}".to_owned(),
            _ => return None,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_get_values_by_their_inferred_types() {
        let module = |body: &str| {
            format!(
                "---- MODULE M ----\nEXTENDS Naturals, Sequences\nCONSTANTS Procs, Max, None, Names\nVARIABLES x, y\n{body}\n===="
            )
        };
        let text = module(
            "Init == x = [p \\in Procs |-> 0] /\\ y = None\nNext == \\E p \\in Procs : x[p] < Max /\\ x' = [x EXCEPT ![p] = @ + 1] \
             /\\ y' = p\nT == \"a\" \\in Names",
        );
        let values = smallest_constants("M", &text).unwrap();
        let shown: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        assert_eq!(shown, ["Max = 2", "Names = {\"a\", \"b\"}", "None = None", "Procs = {Procs_1, Procs_2}"]);
        let error = smallest_constants("M", &module("Init == x = Max[1] /\\ y = 0")).unwrap_err();
        assert!(error.contains("Max"), "{error}");
        assert!(smallest_constants("M", "---- MODULE M ----\nCONSTANT F(_)\nX == F(1)\n====").is_err());
        assert!(smallest_constants("M", "no module").is_err());
    }
}

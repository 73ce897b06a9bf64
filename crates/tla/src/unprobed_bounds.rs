//! Bounds of a model that no further run enlarges, so that a report can list them next to the ones that were enlarged
//! (see [`Probes`](super::probe::Probes)).

use std::collections::BTreeSet;

use super::cfg::Cfg;
use super::module::Module;

/// Constants that are sets or are replaced by a definition, and definitions of the module whose text is a number or a
/// set of numbers. Numeric constants are not among them: the toolchain tries each with a larger value.
pub fn unprobed_bounds(module: Option<&Module>, cfg: &Cfg) -> Vec<String> {
    // Model values, truth values and strings bound nothing.
    let is_bound = |value: &str| value.starts_with(['{', '<']) || value.contains("..");
    let constants = cfg.constants.iter().filter(|(_, value)| is_bound(value));
    let constants = constants.map(|(name, value)| match value.strip_prefix("<- ") {
        Some(definition) => format!("{name} <- {definition}"),
        None => format!("{name} = {value}"),
    });
    let roots =
        cfg.specification.iter().chain(&cfg.init).chain(&cfg.next).chain(&cfg.invariants).chain(&cfg.properties);
    let roots = roots.chain(&cfg.constraints).chain(&cfg.action_constraints);
    let used: BTreeSet<String> = module.iter().flat_map(|m| roots.clone().flat_map(|root| m.closure(root))).collect();
    let is_numeric_literal = |text: &str| {
        let is_allowed = |c: char| c.is_ascii_digit() || c.is_whitespace() || "{},.-()".contains(c);
        text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(is_allowed)
    };
    let candidates =
        module.into_iter().flat_map(|m| &m.definitions).filter(|d| used.contains(&d.name) && d.params.is_empty());
    let defined = candidates.filter_map(|d| {
        let source = module.map(|m| m.source.as_str())?;
        let text = d.normalised(source);
        let (_, body) = text.split_once("==")?;
        let is_listed = !cfg.constants.contains_key(&d.name) && is_numeric_literal(body);
        is_listed.then(|| format!("{} == {}", d.name, body.trim()))
    });
    constants.chain(defined).collect()
}

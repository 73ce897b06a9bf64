//! Remarks about properties that show nothing, whatever the verdict is.

use super::cfg::Cfg;
use super::contracts::START;
use super::module::Module;
use super::semantic::enforced_properties;
use super::trivial::constantly_true_under;
use super::unknown_labels::unknown_labels;

/// The listed properties that no step can violate: those that do not depend on the state, and those that the specification
/// itself enforces. Also comparisons of `pc` with what is no label. A sentence for each.
pub fn property_remarks(module: &Module, cfg: &Cfg) -> Vec<String> {
    let enforced = enforced_properties(&module.source, cfg);
    let remark = |name: &String| {
        // The initial predicate is meant to imply it.
        if name == START {
            return None;
        }
        if let Some(why) = constantly_true_under(module, cfg, name) {
            return Some(format!("{name} cannot be violated: {why}"));
        }
        let how = enforced.get(name)?;
        Some(format!("{name}: the specification forbids what the property forbids: {how}"))
    };
    let labels = unknown_labels(module, cfg).into_iter().map(|one| one.message);
    cfg.invariants.iter().chain(&cfg.properties).filter_map(remark).chain(labels).collect()
}

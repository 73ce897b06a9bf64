//! Remarks about properties that show nothing, whatever the verdict is.

use super::cfg::Cfg;
use super::module::Module;
use super::semantic::enforced_properties;
use super::trivial::constantly_true_under;

/// The listed properties that no step can violate: those that do not depend on the state, and those that the specification
/// itself enforces. A sentence for each.
pub fn property_remarks(module: &Module, cfg: &Cfg) -> Vec<String> {
    let enforced = enforced_properties(&module.source, cfg);
    let remark = |name: &String| {
        if let Some(why) = constantly_true_under(module, cfg, name) {
            return Some(format!("{name} cannot be violated: {why}"));
        }
        let how = enforced.get(name)?;
        Some(format!("{name}: the specification forbids what the property forbids: {how}"))
    };
    cfg.invariants.iter().chain(&cfg.properties).filter_map(remark).collect()
}

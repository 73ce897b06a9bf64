//! The bounds of a check: those that its configuration sets, and those that its module implies.

use tlaforge_tla::semantic::find_verdict_limits;
use tlaforge_tla::{Bounds, Cfg};

use super::CheckRequest;

pub(super) fn configured_bounds(cfg: &Cfg) -> Bounds {
    Bounds {
        constants: cfg.constants.clone(),
        constraints: cfg.constraints.iter().chain(&cfg.action_constraints).cloned().collect(),
        view: cfg.view.clone(),
        symmetry: cfg.symmetry.clone(),
        deadlock_checked: cfg.check_deadlock != Some(false) && !cfg.gives_no_behaviour(),
        assumptions_only: cfg.gives_no_behaviour(),
        ..Bounds::default()
    }
}

/// The bounds of a check, including what its module says of the properties and the specification.
pub(super) fn check_bounds(request: &CheckRequest) -> Bounds {
    let (spec, cfg) = (&request.spec, &request.cfg);
    let mut bounds = configured_bounds(cfg);
    match find_verdict_limits(&spec.name, &spec.text, &spec.local_modules, cfg) {
        Ok(limits) => {
            let line = |(property, part)| format!("PROPERTY {property} (initial states only: {part})");
            bounds.initial_state_properties = limits.initial_only;
            bounds.initial_state_parts = limits.initial_parts.into_iter().map(line).collect();
            let specification = cfg.specification.as_deref().unwrap_or_default();
            let line = |assumption: String| format!("{specification} assumes {assumption}");
            bounds.assumptions = limits.assumptions.into_iter().map(line).collect();
            if bounds.deadlock_checked {
                let line = |step: String| format!("{step} (possible in any state)");
                bounds.always_enabled = limits.total_step.into_iter().map(line).collect();
            }
        }
        // Nothing is known about the properties, so each must be accepted by name or covers nothing.
        Err(why) => {
            let line = |property: &String| format!("PROPERTY {property} (perhaps initial states only: {why})");
            bounds.initial_state_parts = cfg.properties.iter().map(line).collect();
            let line = |name: &String| format!("{name} assumes what could not be read: {why}");
            bounds.assumptions = cfg.specification.iter().map(line).collect();
        }
    }
    bounds
}

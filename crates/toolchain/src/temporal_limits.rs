//! What limits a run for temporal properties: what it leaves out, and what its success does not show.

use tlaforge_tla::semantic::has_only_start_and_step_properties;
use tlaforge_tla::{Cfg, Verdict};

use super::CheckRequest;
use super::explorer::Run;

/// Whether the properties can be checked with the SYMMETRY of the configuration. The caller has shown that they treat the
/// members alike. Then a step property needs only the steps of one state of each orbit, and a predicate on the initial state
/// only one initial state of each. A property about the future cannot: a cycle of orbits need not be a cycle of states.
pub(super) fn keeps_symmetry(request: &CheckRequest) -> bool {
    let CheckRequest { spec, cfg, .. } = request;
    !cfg.symmetry.is_empty()
        && cfg.view.is_none()
        && has_only_start_and_step_properties(&spec.name, &spec.text, &spec.local_modules, cfg)
}

/// Warnings about what a run for temporal properties leaves out.
pub(super) fn left_out_for_temporal(cfg: &Cfg) -> impl Iterator<Item = String> {
    [("SYMMETRY", !cfg.symmetry.is_empty()), ("VIEW", cfg.view.is_some())]
        .into_iter()
        .filter(|(_, is_given)| *is_given)
        .map(|(what, _)| format!("temporal properties were checked without {what}, which gives false counterexamples"))
}

/// With a constraint, TLC reports "no error" also for temporal properties that are violated (measured; only 2.15 warns
/// about it). Properties about single steps are not affected, and neither is any if the constraint cuts off no state. An
/// `ACTION_CONSTRAINT` is not examined.
pub(super) fn limit_liveness_to_constraint(cfg: &Cfg, run: &mut Run) {
    if run.verdict == Verdict::Holds
        && run.parsed.liveness
        && !(cfg.action_constraints.is_empty() && (cfg.constraints.is_empty() || run.parsed.nothing_cut_off))
    {
        let names: Vec<&str> = cfg.constraints.iter().chain(&cfg.action_constraints).map(String::as_str).collect();
        run.verdict = Verdict::inconclusive(format!(
            "no violation of a temporal property was found, but a constraint ({}) can hide violations of temporal \
             properties",
            names.join(", ")
        ));
    }
}

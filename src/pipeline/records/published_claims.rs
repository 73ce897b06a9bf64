//! The claims that a node publishes, computed from what it made and from the run.

use super::artifacts::file;
use super::check::CheckRecord;
use super::claims::{
    CheckClaims, Claims, ContractClaims, FlawClaims, FormalizeClaims, InformalClaims, MergeClaims, ReviewClaims,
    SecondReadingClaims, ValidateClaims,
};
use super::event::{Record, RunEvent, record};
use super::event_data::ClaimsRestored;
use super::product::{Facts, Product};
use super::view::RunView;
use crate::journal::Kind;
use crate::pipeline::machine::{Acceptance, Activity, ApprovalFacts, Event as Step, FlawFacts, NodeName};
use crate::tla::{Reached, Verdict};

/// The nodes whose claims a branch takes over and a dropped trial restores.
const RESTORED: [NodeName; 6] = [
    NodeName::InformalSpec,
    NodeName::Formalize,
    NodeName::Validate,
    NodeName::GenerateInvariants,
    NodeName::StepContracts,
    NodeName::ModelCheck,
];

/// The claims after an attempt with this product; `after` is the run with it. `None` if the answer was unreadable: then
/// the earlier claims remain.
pub(in crate::pipeline) fn claims_of(activity: Activity, product: &Product, after: &RunView) -> Option<Claims> {
    match (activity, &product.facts) {
        (_, Facts::Reviewed { approval, flaw, .. }) => Some(reviewed(after, approval, flaw.as_deref())),
        (_, Facts::ReviewUnreadable { approval, .. }) => Some(reviewed(after, approval, None)),
        (_, Facts::SecondRead { agrees, open_point, .. }) => {
            let ambiguous = *agrees && open_point.is_some();
            Some(Claims::SecondReading(SecondReadingClaims { agrees: *agrees, ambiguous }))
        }
        (Activity::Node(node), _) => match product.event {
            Step::Unreadable => None,
            Step::Validated(said) | Step::Merged(said) => node_claims(node, after, said == Acceptance::Accepted),
            _ => node_claims(node, after, true),
        },
        (Activity::SecondReading | Activity::Mutants, _) => None,
    }
}

/// The claims that hold again when a run continues from an earlier state: on a branch, or at the end of a trial.
pub(in crate::pipeline) fn restorations(view: &RunView) -> impl Iterator<Item = Record> {
    RESTORED.into_iter().filter_map(|node| {
        let holds = match node {
            NodeName::InformalSpec => view.state.informal,
            NodeName::Validate => view.state.module_accepted,
            NodeName::GenerateInvariants => view.state.merged_accepted,
            NodeName::StepContracts if view.artifact(file::MERGED).is_none() => return None,
            NodeName::StepContracts => view.state.merged_accepted,
            NodeName::Formalize | NodeName::ModelCheck | NodeName::Review => true,
        };
        let event = RunEvent::ClaimsRestored(ClaimsRestored { claims: node_claims(node, view, holds)? });
        Some(record(node.name(), Kind::Recv, view.rev, 0, event).with_journal_past())
    })
}

/// The claims of a node about the current artifacts; `holds` is its own verdict on them.
fn node_claims(node: NodeName, view: &RunView, holds: bool) -> Option<Claims> {
    let artifact = |name| view.artifact(name).cloned();
    Some(match node {
        NodeName::InformalSpec => {
            Claims::InformalSpec(InformalClaims { readable: holds, answer: view.specification.origin.informal })
        }
        NodeName::Formalize => Claims::Formalize(FormalizeClaims {
            made_from: view.specification.origin.module_made_from,
            source: artifact(file::SOURCE),
        }),
        NodeName::Validate => Claims::Validate(ValidateClaims { accepted: holds, source: artifact(file::SOURCE) }),
        NodeName::GenerateInvariants => Claims::GenerateInvariants(MergeClaims {
            accepted: holds,
            module: artifact(file::MERGED).or_else(|| artifact(file::MODULE)),
            cfg: artifact(file::MERGED_CFG).or_else(|| artifact(file::CFG)),
        }),
        NodeName::StepContracts => Claims::StepContracts(ContractClaims {
            accepted: holds,
            module: artifact(file::MODULE),
            cfg: artifact(file::CFG),
            made_from: artifact(file::MERGED),
            made_from_cfg: artifact(file::MERGED_CFG),
        }),
        NodeName::ModelCheck => Claims::ModelCheck(view.check().map(check_claims).unwrap_or_default()),
        NodeName::Review => return None,
    })
}

fn check_claims(check: &CheckRecord) -> CheckClaims {
    let outcome = &check.outcome;
    let violated = match &outcome.verdict {
        Verdict::Violated { violated } => violated.property().map(str::to_owned),
        _ => None,
    };
    let noted = |reached: &Reached| match reached {
        // A state predicate that holds in an initial state shows nothing.
        Reached::Yes { depth } => *depth > 1,
        _ => true,
    };
    let unreached = outcome.witnesses.iter().filter(|w| !matches!(w.reached, Reached::Yes { .. }));
    CheckClaims {
        module: Some(check.module.clone()),
        cfg: Some(check.cfg.clone()),
        verdict: Some(outcome.verdict.name().to_owned()),
        complete: Some(outcome.is_complete()),
        moved: Some(outcome.has_steps()),
        type_ok: Some(outcome.checked_names().any(|name| name == "TypeOK")),
        witnesses: Some(outcome.witnesses.iter().filter(|w| noted(&w.reached)).count()),
        unreached: Some(unreached.count()),
        trace: Some(outcome.trace.is_some()),
        violated,
    }
}

/// The claims of a review with these facts.
pub(in crate::pipeline) fn reviewed(view: &RunView, facts: &ApprovalFacts, claimed: Option<&FlawFacts>) -> Claims {
    let flaw = |flaw: &FlawFacts| FlawClaims {
        described: flaw.described,
        property: flaw.property.clone(),
        further: flaw.further,
        covers_requirement: flaw.covers_requirement,
        property_unchanged: flaw.property_unchanged,
        only_bounds: flaw.only_bounds.len(),
        unfair: flaw.unfair_lasso,
        unmapped_steps: flaw.unmapped_steps.len(),
    };
    let artifact = |name| view.artifact(name).cloned();
    Claims::Review(ReviewClaims {
        source: artifact(file::SOURCE),
        module: artifact(file::MODULE),
        cfg: artifact(file::CFG),
        changed_steps: facts.changed_steps.len(),
        covering: facts.covering.len(),
        constantly_true: facts.constantly_true.len(),
        dead_actions: facts.dead_actions.as_ref().map(Vec::len),
        unaccepted_cfg: facts.weakening_lines.iter().filter(|line| !line.accepted).count(),
        uncovered: facts.uncovered.len(),
        unaccepted_open_points: facts.unaccepted_open_points.len(),
        unaccepted_assumptions: facts.unaccepted_assumptions.len(),
        unaccounted_sentences: facts.unaccounted_sentences.len(),
        unaccepted_readings: view.unaccepted_readings(facts),
        steps_without_contract: facts.steps_without_contract.len(),
        unaccepted_survivors: facts.unaccepted_survivors.len(),
        unaccepted_bounds: facts.unaccepted_bounds.len(),
        unnamed_changes: facts.unnamed_changes.len(),
        unread: facts.unread.len(),
        flaw: claimed.map(flaw),
    })
}

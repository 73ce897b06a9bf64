//! What a lifeline claims when it has worked, so that others can know it: the field `says` of `attempt_finished` and
//! `restored`. The guards read it as `@model_check.says.module`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::driver::Job;
use super::events::{Record, Restored, RunEvent};
use super::guard::{ApprovalFacts, FlawFacts};
use super::machine::{Acceptance, Event as Step};
use super::node_name::NodeName;
use super::records::{CheckRecord, Facts, Product, file};
use super::run::record;
use super::view::RunView;
use crate::journal::{Kind, Sha};
use crate::tla::{Reached, Verdict};

/// The claims of a node. The variants have different fields, by which they are told apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Claims {
    /// Of `informal_spec`.
    InformalSpec(InformalClaims),
    /// Of `formalize`.
    Formalize(FormalizeClaims),
    /// Of `validate`.
    Validate(ValidateClaims),
    /// Of `generate_invariants`.
    GenerateInvariants(MergeClaims),
    /// Of `model_check`.
    ModelCheck(CheckClaims),
    /// Of `review`.
    Review(ReviewClaims),
    /// Of the second reader.
    SecondReading(SecondReadingClaims),
}

/// Claims of `informal_spec`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InformalClaims {
    /// The informal specification could be read.
    pub readable: bool,
    /// Its number among those of the run.
    pub answer: u32,
}

/// Claims of `formalize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormalizeClaims {
    /// The number of the informal specification that the module was made from.
    pub made_from: u32,
    /// The module without properties and translation.
    pub source: Option<Sha>,
}

/// Claims of `validate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidateClaims {
    /// Translator and parser accept the module.
    pub accepted: bool,
    /// The module without properties and translation.
    pub source: Option<Sha>,
}

/// Claims of `generate_invariants`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeClaims {
    /// Module, properties and configuration parse together.
    pub accepted: bool,
    /// The module with its properties.
    pub module: Option<Sha>,
    /// The configuration.
    pub cfg: Option<Sha>,
}

/// Claims of `model_check`; all `None` if there is no check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckClaims {
    /// The module that was checked.
    pub module: Option<Sha>,
    /// The configuration that was checked.
    pub cfg: Option<Sha>,
    /// `holds`, `violated`, `invalid` or `inconclusive`.
    pub verdict: Option<String>,
    /// All states were explored.
    pub complete: Option<bool>,
    /// More than the initial states was explored.
    pub moved: Option<bool>,
    /// `TypeOK` was checked.
    pub type_ok: Option<bool>,
    /// The number of witnesses, without those that hold in the initial states.
    pub witnesses: Option<usize>,
    /// The number of witnesses that were not reached.
    pub unreached: Option<usize>,
    /// There is a counterexample.
    pub trace: Option<bool>,
    /// The property that is violated.
    pub violated: Option<String>,
}

/// Claims of `review`: the module and configuration that it was given, and how much it leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewClaims {
    /// The module without properties and translation.
    pub source: Option<Sha>,
    /// The module with its properties.
    pub module: Option<Sha>,
    /// The configuration.
    pub cfg: Option<Sha>,
    /// Steps that the informal specification changes without a flaw to repair.
    pub changed_steps: usize,
    /// Checked properties that cover a requirement.
    pub covering: usize,
    /// Checked properties that are true by definition.
    pub constantly_true: usize,
    /// Actions never taken that the review does not accept; `None` without coverage.
    pub dead_actions: Option<usize>,
    /// Lines of the configuration that the review does not accept.
    pub unaccepted_cfg: usize,
    /// Requirements that nothing covers and that the review does not accept.
    pub uncovered: usize,
    /// Changes since the baseline that the review does not accept.
    pub unnamed_changes: usize,
    /// Files that the reviewer had to read and did not.
    pub unread: usize,
    /// The claim of a flaw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaw: Option<FlawClaims>,
}

/// What a review claims of a flaw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlawClaims {
    /// Requirement, property and steps are named.
    pub described: bool,
    /// The property.
    pub property: String,
    /// It covers the requirement.
    pub covers_requirement: bool,
    /// It has not changed since it was first found violated.
    pub property_unchanged: bool,
    /// Bounds of the model that may cause the trace.
    pub only_bounds: usize,
    /// Fairness may exclude the trace.
    pub unfair: bool,
    /// Steps without a line of the documents.
    pub unmapped_steps: usize,
}

/// Claims of the second reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecondReadingClaims {
    /// It agrees that the flaw is one.
    pub agrees: bool,
}

/// Claims of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateClaims {
    /// Its points.
    pub points: u64,
    /// The module without properties and translation.
    pub source: Option<Sha>,
    /// The module as the tools accepted it.
    pub module: Option<Sha>,
    /// The configuration.
    pub cfg: Option<Sha>,
    /// The tools accepted it.
    pub accepted: bool,
    /// The verdict of its check.
    pub verdict: Option<String>,
}

/// The nodes whose work a branch takes over and a trial may undo.
const RESTORED: [NodeName; 5] = [
    NodeName::InformalSpec,
    NodeName::Formalize,
    NodeName::Validate,
    NodeName::GenerateInvariants,
    NodeName::ModelCheck,
];

/// The claims of a lifeline that has made this; `after` is the run with it. `None` if its answer could not be read: its
/// earlier claims stand.
pub(super) fn claims_of(job: Job, product: &Product, after: &RunView) -> Option<Claims> {
    match (job, &product.facts) {
        (_, Facts::Reviewed { approval, flaw, .. }) => Some(reviewed(after, approval, flaw.as_deref())),
        (_, Facts::ReviewUnreadable { approval, .. }) => Some(reviewed(after, approval, None)),
        (_, Facts::SecondRead { agrees, .. }) => Some(Claims::SecondReading(SecondReadingClaims { agrees: *agrees })),
        (Job::At(node), _) => match product.event {
            Step::Unreadable => None,
            Step::Validated(said) | Step::Merged(said) => node_claims(node, after, said == Acceptance::Accepted),
            _ => node_claims(node, after, true),
        },
        (Job::SecondReading | Job::Mutants, _) => None,
    }
}

/// The claims that hold again if a run goes on from an earlier state: on a branch, or at the end of a trial.
pub(super) fn restorations(view: &RunView) -> impl Iterator<Item = Record> {
    RESTORED.into_iter().filter_map(|node| {
        let holds = match node {
            NodeName::InformalSpec => view.state.informal,
            NodeName::Validate => view.state.module_accepted,
            NodeName::GenerateInvariants => view.state.merged_accepted,
            NodeName::Formalize | NodeName::ModelCheck | NodeName::Review => true,
        };
        let event = RunEvent::Restored(Restored { says: node_claims(node, view, holds)? });
        Some(record(node.name(), Kind::Recv, view.rev, 0, event).after_all())
    })
}

/// What a node claims of the artifacts that the run holds; `holds` is its own verdict on them.
fn node_claims(node: NodeName, view: &RunView, holds: bool) -> Option<Claims> {
    let artifact = |name| view.artifact(name).cloned();
    Some(match node {
        NodeName::InformalSpec => Claims::InformalSpec(InformalClaims { readable: holds, answer: view.made.informal }),
        NodeName::Formalize => {
            Claims::Formalize(FormalizeClaims { made_from: view.made.module_from, source: artifact(file::SOURCE) })
        }
        NodeName::Validate => Claims::Validate(ValidateClaims { accepted: holds, source: artifact(file::SOURCE) }),
        NodeName::GenerateInvariants => Claims::GenerateInvariants(MergeClaims {
            accepted: holds,
            module: artifact(file::MODULE),
            cfg: artifact(file::CFG),
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
        // A state predicate that holds from the start shows nothing.
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
pub(super) fn reviewed(view: &RunView, facts: &ApprovalFacts, claimed: Option<&FlawFacts>) -> Claims {
    let flaw = |flaw: &FlawFacts| FlawClaims {
        described: flaw.described,
        property: flaw.property.clone(),
        covers_requirement: flaw.covers_the_requirement,
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
        unnamed_changes: facts.unnamed_changes.len(),
        unread: facts.unread.len(),
        flaw: claimed.map(flaw),
    })
}

//! Checks that a specification violates the property that the documented protocol is known to violate.

use std::collections::BTreeSet;

use super::case::Case;
use super::outcome::{Criterion, Status, Tier1, Tier3};
use super::specs::Specs;
use super::tiers::{SpecificationResult, is_expected_flaw};
use crate::tla::{Cfg, Verdict};
use crate::toolchain::{CheckRequest, SpecText, ToolContext, ToolError, Toolchain};

/// The property that the case expects to be violated. `None` if the case names none, or if the first tier did not accept the
/// violation of a property.
pub(super) fn expected_violation<'a>(specs: &Specs, case: &'a Case, tier1: &Tier1) -> Option<&'a str> {
    let expected = case.checklist.expected_outcome.as_ref()?.violates.as_deref()?;
    (is_expected_flaw(specs, case) && tier1.invariants.status == Status::Passed).then_some(expected)
}

/// Decides whether `expected` is violated. The generated property of this name is checked; if there is none, the properties
/// that notice a known bug which should violate `expected` are checked in its place.
pub(super) async fn check_expected_violation(
    expected: &str,
    specs: &Specs,
    case: &Case,
    checked: &SpecificationResult,
    tier3: &Tier3,
    tools: &dyn Toolchain,
    cx: &ToolContext<'_>,
) -> Result<Criterion, ToolError> {
    let Some((module, cfg)) = &checked.parsed else { return Ok(checked.tier1.invariants.clone()) };
    let listed = |name: &String| cfg.invariants.contains(name) || cfg.properties.contains(name);
    let of_bugs = tier3.known_bugs.iter().filter(|bug| bug.should_violate == expected);
    let wanted: BTreeSet<String> = if listed(&expected.to_owned()) {
        BTreeSet::from([expected.to_owned()])
    } else {
        let is_stated = |name: &&String| listed(name) && !case.checklist.is_type_invariant(name);
        of_bugs.clone().flat_map(|bug| &bug.killed_by).filter(is_stated).cloned().collect()
    };
    let violated = checked.violated.join(", ");
    if wanted.is_empty() {
        let (status, why) = if of_bugs.clone().next().is_some() {
            (Status::Failed, "and no property notices a known bug that should violate it")
        } else {
            (Status::Undecided, "and no known bug shows which property is meant")
        };
        let why = format!("{violated} is violated; the case expects {expected}, no property has this name, {why}");
        return Ok(Criterion::because(status, why));
    }
    // A property can notice a known bug for another reason than the expected one, so all of them have to be violated.
    for name in wanted.iter().filter(|name| !checked.violated.contains(name)) {
        let keep = |all: &[String]| all.iter().filter(|listed| *listed == name).cloned().collect();
        // Without deadlock, which would end this check early.
        let cfg = Cfg {
            invariants: keep(&cfg.invariants),
            properties: keep(&cfg.properties),
            witnesses: Vec::new(),
            check_deadlock: Some(false),
            ..cfg.clone()
        };
        let local_modules = specs.spec.local_modules.clone();
        let spec = SpecText { name: module.name.clone(), text: module.source.clone(), local_modules };
        let alone = tools.check_without_details(&CheckRequest { spec, cfg_text: cfg.render(), cfg }, cx).await?.outcome;
        match &alone.verdict {
            Verdict::Violated { .. } if alone.violated_names().any(|violated| violated == name.as_str()) => {}
            Verdict::Holds | Verdict::Violated { .. } => {
                return Ok(Criterion::because(
                    Status::Failed,
                    format!(
                        "{violated} is violated, but {name} holds, and the case expects that {expected} is violated"
                    ),
                ));
            }
            Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => {
                let why = format!("whether {name} is violated was not decided: {reason}");
                return Ok(Criterion::because(Status::Undecided, why));
            }
        }
    }
    let names = wanted.iter().cloned().collect::<Vec<_>>().join(", ");
    let are = if wanted.len() == 1 { "is" } else { "are" };
    Ok(Criterion::because(Status::Passed, format!("{names} {are} violated, as the case expects of {expected}")))
}

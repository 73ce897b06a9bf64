//! What a lifeline says when it has worked, so that others can know it: the field `says` of `attempt_finished` and
//! `restored`. The guards read it as `@model_check.says.module`.

use serde_json::{Map, Value, json};

use super::driver::Job;
use super::guard::{ApprovalFacts, FlawFacts};
use super::machine::{Acceptance, Event as Step};
use super::records::{CheckRecord, Facts, Product, file};
use super::station::Station;
use super::view::RunView;
use crate::tla::{Reached, Verdict};

/// The stations whose work a branch takes over and a trial may undo.
const RESTORED: [Station; 5] =
    [Station::InformalSpec, Station::Formalize, Station::Validate, Station::GenerateInvariants, Station::ModelCheck];

/// What a lifeline says after it made this, with the run as it stands with it. Nothing where its answer could not be
/// read: what it said before still stands.
pub(super) fn said(job: Job, product: &Product, after: &RunView) -> Option<Value> {
    match (job, &product.facts) {
        (_, Facts::Reviewed { approval, flaw, .. }) => Some(reviewed(after, approval, flaw.as_deref())),
        (_, Facts::ReviewUnreadable { approval, .. }) => Some(reviewed(after, approval, None)),
        (_, Facts::SecondRead { agrees, .. }) => Some(json!({"agrees": agrees})),
        (Job::At(station), _) => match product.event {
            Step::Unreadable => None,
            Step::Validated(said) | Step::Merged(said) => Some(of(station, after, said == Acceptance::Accepted)),
            _ => Some(of(station, after, true)),
        },
        (Job::SecondReading | Job::Mutants, _) => None,
    }
}

/// What the stations say anew where a run goes on from what stood before: a branch, or the end of a trial.
pub(super) fn restored(view: &RunView) -> impl Iterator<Item = (&'static str, Value)> {
    RESTORED.into_iter().map(|station| {
        let stands = match station {
            Station::InformalSpec => view.state.informal,
            Station::Validate => view.state.module_accepted,
            Station::GenerateInvariants => view.state.merged_accepted,
            Station::Formalize | Station::ModelCheck | Station::Review => true,
        };
        (station.name(), of(station, view, stands))
    })
}

/// What a station says of what the run holds; `stands` is its own verdict on it.
fn of(station: Station, view: &RunView, stands: bool) -> Value {
    match station {
        Station::InformalSpec => json!({"readable": stands, "answer": view.made.informal}),
        Station::Formalize => json!({"made_from": view.made.module_from, "source": view.artifact(file::SOURCE)}),
        Station::Validate => json!({"accepted": stands, "source": view.artifact(file::SOURCE)}),
        Station::GenerateInvariants => {
            json!({"accepted": stands, "module": view.artifact(file::MODULE), "cfg": view.artifact(file::CFG)})
        }
        Station::ModelCheck => view.check().map_or_else(unchecked, checked),
        Station::Review => json!({}),
    }
}

/// That there is no check: what was said of one before does not stand any more.
fn unchecked() -> Value {
    let fields = CHECKED.into_iter().map(|name| (name.to_owned(), Value::Null));
    Value::Object(fields.collect())
}

/// What a check says.
const CHECKED: [&str; 10] =
    ["module", "cfg", "verdict", "complete", "moved", "type_ok", "witnesses", "unreached", "trace", "violated"];

fn checked(check: &CheckRecord) -> Value {
    let outcome = &check.outcome;
    let violated = match &outcome.verdict {
        Verdict::Violated { violated } => violated.property(),
        _ => None,
    };
    let noted = |reached: &Reached| match reached {
        // A state predicate that holds from the start shows nothing.
        Reached::Yes { depth } => *depth > 1,
        _ => true,
    };
    let unreached = outcome.witnesses.iter().filter(|w| !matches!(w.reached, Reached::Yes { .. }));
    json!({
        "module": check.module,
        "cfg": check.cfg,
        "verdict": outcome.verdict.name(),
        "complete": outcome.complete(),
        "moved": outcome.moved(),
        "type_ok": outcome.checked_names().any(|name| name == "TypeOK"),
        "witnesses": outcome.witnesses.iter().filter(|w| noted(&w.reached)).count(),
        "unreached": unreached.count(),
        "trace": outcome.trace.is_some(),
        "violated": violated,
    })
}

/// What a review can tell: which module and configuration it was given, and how much it leaves open.
pub(super) fn reviewed(view: &RunView, facts: &ApprovalFacts, claimed: Option<&FlawFacts>) -> Value {
    let mut says = Map::new();
    for (name, file) in [("source", file::SOURCE), ("module", file::MODULE), ("cfg", file::CFG)] {
        says.insert(name.to_owned(), json!(view.artifact(file)));
    }
    let unaccepted = facts.weakening_lines.iter().filter(|line| !line.accepted).count();
    for (name, count) in [
        ("changed_steps", Some(facts.changed_steps.len())),
        ("covering", Some(facts.covering.len())),
        ("constantly_true", Some(facts.constantly_true.len())),
        ("dead_actions", facts.dead_actions.as_ref().map(Vec::len)),
        ("unaccepted_cfg", Some(unaccepted)),
        ("uncovered", Some(facts.uncovered.len())),
        ("unnamed_changes", Some(facts.unnamed_changes.len())),
        ("unread", Some(facts.unread.len())),
    ] {
        says.insert(name.to_owned(), json!(count));
    }
    if let Some(flaw) = claimed {
        says.insert(
            "flaw".to_owned(),
            json!({
                "described": flaw.described,
                "property": flaw.property,
                "covers_requirement": flaw.covers_the_requirement,
                "property_unchanged": flaw.property_unchanged,
                "only_bounds": flaw.only_bounds.len(),
                "unfair": flaw.unfair_lasso,
                "unmapped_steps": flaw.unmapped_steps.len(),
            }),
        );
    }
    Value::Object(says)
}

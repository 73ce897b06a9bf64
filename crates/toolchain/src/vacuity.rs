//! Checks that a passing check is not vacuous: see [`tlaforge_tla::Question`]. An undecided question counts against the
//! check, with the reason.

use tlaforge_tla::{Bounds, Module, Reached, Subject, deadlock_questions, premise_questions};

use super::session::{Session, reached_verdict};
use super::{CheckRequest, ToolError, plan};

/// Adds the answers to the bounds of the check. All runs together get the time of one run.
pub(super) async fn check_vacuity(session: &mut Session<'_>, bounds: &mut Bounds) -> Result<(), ToolError> {
    let Ok(module) = Module::parse(&session.request.spec.text) else { return Ok(()) };
    // Steps first: they are few, and the time may not suffice for all premises.
    let steps = deadlock_questions(&module, &session.request.cfg).unwrap_or_else(|why| {
        bounds.always_enabled.push(format!("the steps of the specification are unknown: {why}"));
        Vec::new()
    });
    let mut left = session.cx.limits.check;
    let (premises, left_out) = premise_questions(&module, &session.request.cfg);
    let mut number = 0;
    for question in steps.into_iter().chain(premises) {
        let mut reached = Reached::No;
        // Answered by any alternative of which every predicate is reached.
        for alternative in &question.alternatives {
            reached = Reached::No;
            for predicate in alternative {
                let CheckRequest { spec, cfg, .. } = session.request;
                let plan = plan::question(spec, cfg, number, &question.definitions, predicate);
                let run = session.run_in_time_left(&plan, &mut left).await?;
                reached = run.map_or_else(Reached::Unknown, reached_verdict);
                number += 1;
                if !matches!(reached, Reached::Yes { .. }) {
                    break;
                }
            }
            if matches!(reached, Reached::Yes { .. }) {
                break;
            }
        }
        let (meaning, list) = match question.subject {
            Subject::Step => ("always possible", &mut bounds.always_enabled),
            Subject::Premise => ("satisfied by no reachable state", &mut bounds.vacuous_premises),
            Subject::Eventuality => ("", &mut bounds.initial_state_parts),
        };
        match reached {
            Reached::Yes { .. } => {}
            Reached::No if meaning.is_empty() => list.push(question.label),
            Reached::No => list.push(format!("{} ({meaning})", question.label)),
            Reached::Unknown(why) => list.push(format!("{} (not decided: {why})", question.label)),
        }
    }
    if left_out > 0 {
        bounds.vacuous_premises.push(format!("{left_out} more (not decided: too many premises)"));
    }
    Ok(())
}

//! The driver: lets the node at the current position work, journals its result together with the routing that follows,
//! and only then acts on it.

use std::time::Duration;

use tracing::field::Empty;
use tracing::{Instrument as _, info, info_span, trace};

use super::attempt::Attempt;
use super::background::{RunningTasks, background_tasks};
use super::candidate_selection::abandon_unfinished;
use super::finishing::Finishing;
use super::nodes::{Halt, NodeError, Nodes};
use super::open_run::{Run, RunError};
use super::visible_files;
use crate::journal::Kind;
use crate::pipeline::machine::{Activity, NodeName, Outcome};
use crate::pipeline::policy::Judgement;
use crate::pipeline::records::{Changed, Facts, Finished, Product, Record, RunEvent, RunView, record};

/// How long unfinished background tasks may still take before a revision closes. Their calls are paid for.
const LAST_PATIENCE: Duration = Duration::from_secs(60);

/// Drives a run to its end, or until it stops.
pub async fn drive(run: &Run, nodes: &dyn Nodes) -> Result<Finished, RunError> {
    let span = info_span!(target: "telemetry", "run", run_id = run.id(), outcome = Empty, error = Empty);
    let ended = drive_to_end(run, nodes).instrument(span.clone()).await;
    match &ended {
        Ok(finished) => span.record("outcome", finished.outcome.name()),
        Err(_) => span.record("error", "_OTHER"),
    };
    ended
}

async fn drive_to_end(run: &Run, nodes: &dyn Nodes) -> Result<Finished, RunError> {
    visible_files::reconcile(run)?;
    let (tasks, mut running) = background_tasks();
    loop {
        let view = run.view();
        let Some(activity) = view.state.position.activity() else {
            return Ok(view.finished.clone().unwrap_or(Finished {
                outcome: Outcome::Stopped,
                reason: None,
                why: "stopped".into(),
                best: None,
                rules: Vec::new(),
            }));
        };
        let attempt = Attempt::begin(run, activity.lifeline())?;
        let span = info_span!("attempt", node = activity.lifeline(), rev = view.rev, attempt = attempt.attempt);
        let work = nodes.perform(activity, &view, &attempt, &tasks).instrument(span);
        let result = running.run_beside(Box::pin(work)).await?;
        if result.is_err() || matches!(activity, Activity::Node(NodeName::Review) | Activity::SecondReading) {
            settle(run, &mut running).await?;
        }
        let finished = match result {
            Ok(product) => finish_attempt(run, nodes, activity, &attempt, product).await,
            Err(error) => Err(error),
        };
        match finished {
            Ok(()) => {}
            Err(NodeError::Halt(halt)) => stop(run, &halt)?,
            Err(NodeError::Run(e)) => return Err(e),
        }
        visible_files::reconcile(run)?;
    }
}

/// Before a revision closes or the run stops: waits for the background tasks, and journals which candidates are
/// abandoned.
async fn settle(run: &Run, running: &mut RunningTasks<'_>) -> Result<(), RunError> {
    if !running.settle(LAST_PATIENCE).await? {
        running.cancel();
    }
    let view = run.view();
    visible_files::remove_candidate_workspaces(run, &view)?;
    let answer = |lifeline: &str| {
        run.find_last(lifeline, |entry| match &entry.event {
            RunEvent::AnswerReceived(answer) => Some((entry.rev == view.rev).then(|| answer.artifact.clone())),
            _ => None,
        })?
    };
    let abandoned = abandon_unfinished(&view, answer);
    if !abandoned.is_empty() {
        run.append(abandoned)?;
    }
    Ok(())
}

/// Journals that a run stops, and why. It can be resumed.
pub fn stop(run: &Run, halt: &Halt) -> Result<(), RunError> {
    let (outcome, reason, why) = (Outcome::Stopped, Some(halt.reason), halt.message.clone());
    let finished = Finished { outcome, reason, why, best: None, rules: Vec::new() };
    let rev = run.view().rev;
    info!(reason = ?halt.reason, "run stopped");
    run.append(vec![record("run", Kind::Act, rev, 0, RunEvent::RunFinished(finished)).with_journal_past()]).map(|_| ())
}

/// Journals what a node made and what follows from it.
async fn finish_attempt(
    run: &Run,
    nodes: &dyn Nodes,
    activity: Activity,
    attempt: &Attempt<'_>,
    product: Product,
) -> Result<(), NodeError> {
    let mut group = closing_group(run, activity, attempt, product.clone(), true)?;
    // Now, because nothing follows the end of a run, and the closed revision holds the sample.
    if group.iter().any(|record| approves(&record.event)) {
        nodes.sample_mutants(&run.view(), attempt).await?;
        group = closing_group(run, activity, attempt, product, false)?;
    }
    for record in &group {
        log(&record.event);
    }
    run.append(group)?;
    Ok(())
}

/// The events that end an attempt.
fn closing_group(
    run: &Run,
    activity: Activity,
    attempt: &Attempt<'_>,
    product: Product,
    awaits_sample: bool,
) -> Result<Vec<Record>, RunError> {
    let before = run.view();
    let judgement = judgement(run, &before, &product)?;
    let finishing =
        Finishing { before: &before, judgement: judgement.as_ref(), activity, attempt: attempt.attempt, awaits_sample };
    finishing.group(product, |records| run.rules_at_end(records))
}

fn approves(event: &RunEvent) -> bool {
    let outcome = event.try_as_run_finished_ref().map(|finished| finished.outcome);
    matches!(outcome, Some(Outcome::Approved | Outcome::ApprovedRepaired))
}

/// The verdicts of the guards; `None` if nothing was reviewed.
fn judgement(run: &Run, view: &RunView, product: &Product) -> Result<Option<Judgement>, RunError> {
    match &product.facts {
        Facts::Reviewed { approval, flaw, .. } => run.judge(view, approval, flaw.as_deref()).map(Some),
        Facts::ReviewUnreadable { approval, .. } => run.judge(view, approval, None).map(Some),
        _ => Ok(None),
    }
}

/// The reason in words can quote an answer, so diagnostics show it only at the level that shows answers (`trace`).
fn log(event: &RunEvent) {
    match event {
        RunEvent::Routed(routed) => {
            info!(from = routed.from, to = routed.to, row = ?routed.row, "routed");
            trace!(why = routed.why, "routed");
        }
        RunEvent::RevisionClosed(revision) => info!(revision = revision.revision, "revision closed"),
        RunEvent::RunFinished(finished) => info!(outcome = finished.outcome.name(), "run finished"),
        _ => {}
    }
}

/// Journals that a stopped or killed run continues, with the changed settings.
pub fn resume(run: &Run, changed: &Changed) -> Result<(), RunError> {
    let view = run.view();
    let resumed = RunEvent::RunResumed(Box::new(changed.clone()));
    run.append(vec![record("run", Kind::Act, view.rev, 0, resumed).with_journal_past()]).map(|_| ())
}

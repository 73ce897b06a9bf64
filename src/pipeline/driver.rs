//! The driver: lets the node work that the machine names, journals what it made together with the routing that
//! follows from it, and only then acts on it.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tracing::{Instrument as _, info, info_span, trace};

use super::claims::{claims_of, restorations};
use super::errands::{Errands, UnderWay, errands};
use super::events::{AttemptFinished, Evaluation, GuardEvaluated, Record, Routed, RunEvent};
use super::folder;
use super::guard::{ApprovalClause, ApprovalFacts, FlawClause, FlawFacts};
use super::knowledge::Judgement;
use super::machine::{Effect, Outcome, Position, StopReason};
use super::node_name::NodeName;
use super::objective::ends_with_its_best;
use super::records::{Changed, Facts, Finished, Product, Revision, Spent};
use super::routes::{Row, Transition, transition};
use super::run::{Attempt, Run, RunError, record};
use super::strengthen::MUTANTS;
use super::view::RunView;
use super::watch::RuleEnd;
use crate::journal::Kind;
use crate::tla::with_checker;

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// A node works.
    At(NodeName),
    /// The second reader reads.
    SecondReading,
    /// The mutants are judged.
    Mutants,
}

impl Job {
    /// What is to be done where a run stands; `None` where it has ended or is stopped.
    pub fn at(position: Position) -> Option<Self> {
        match position {
            Position::At(node) => Some(Job::At(node)),
            Position::SecondReading => Some(Job::SecondReading),
            Position::Mutants => Some(Job::Mutants),
            Position::Done(_) | Position::Stopped(_) => None,
        }
    }

    /// The lifeline that does it.
    pub fn lifeline(self) -> &'static str {
        match self {
            Job::At(node) => node.name(),
            Job::SecondReading => "second_reading",
            Job::Mutants => MUTANTS,
        }
    }
}

/// Why a node made nothing: the absence of a result.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Halt {
    /// What kind of trouble.
    pub reason: StopReason,
    /// In words, with what to do.
    pub message: String,
}

impl Halt {
    /// Ended by a person or a signal.
    pub fn interrupted() -> Self {
        Self { reason: StopReason::Interrupted, message: "interrupted".into() }
    }
}

/// A node's work.
pub type Working<'a> = Pin<Box<dyn Future<Output = Result<Product, NodeError>> + Send + 'a>>;

/// Why a node made nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// Trouble outside: the run is stopped, and can be resumed.
    #[error(transparent)]
    Halt(#[from] Halt),
    /// Trouble with the run's own files.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// What works at the nodes.
pub trait Nodes: Send + Sync {
    /// Does a job. What is durable of this attempt is recalled from `attempt`; `view` is the run when it began. What is
    /// to go on beside the nodes is given to `errands`.
    fn perform<'a, 'run: 'a>(
        &'run self,
        job: Job,
        view: &'a RunView,
        attempt: &'a Attempt<'run>,
        errands: &'a Errands<'run>,
    ) -> Working<'a>;
}

/// How long a call that nobody waits for may still take when its revision closes: it was paid for.
const LAST_PATIENCE: Duration = Duration::from_secs(60);

/// Drives a run to its end, or to where it is stopped.
pub async fn drive(run: &Run, nodes: &dyn Nodes) -> Result<Finished, RunError> {
    folder::reconcile(run)?;
    let (errands, mut under_way) = errands();
    loop {
        let view = run.view();
        let Some(job) = Job::at(view.state.position) else {
            return Ok(view.finished.unwrap_or(Finished {
                outcome: Outcome::Stopped,
                reason: None,
                why: "stopped".into(),
                best: None,
                rules: Vec::new(),
            }));
        };
        let attempt = Attempt::begin(run, job.lifeline())?;
        let span = info_span!("attempt", node = job.lifeline(), rev = view.rev, attempt = attempt.attempt);
        let work = nodes.perform(job, &view, &attempt, &errands).instrument(span);
        let result = under_way.beside(Box::pin(work)).await?;
        if result.is_err() || matches!(job, Job::At(NodeName::Review) | Job::SecondReading) {
            settle(run, &mut under_way).await?;
        }
        match result {
            Ok(product) => finish_attempt(run, job, &attempt, product)?,
            Err(NodeError::Halt(halt)) => stop(run, &halt)?,
            Err(NodeError::Run(e)) => return Err(e),
        }
        folder::reconcile(run)?;
    }
}

/// Before a revision closes, and before a run stops: what was paid for comes into it, or is given up by name.
async fn settle(run: &Run, under_way: &mut UnderWay<'_>) -> Result<(), RunError> {
    if !under_way.settle(LAST_PATIENCE).await? {
        under_way.give_up();
    }
    let view = run.view();
    folder::put_away(run, &view)?;
    let answer = |lifeline: &str| {
        run.find_last(lifeline, |entry| match &entry.event {
            RunEvent::AnswerReceived(answer) => Some((entry.rev == view.rev).then(|| answer.artifact.clone())),
            _ => None,
        })?
    };
    let given_up = view.given_up(answer);
    if !given_up.is_empty() {
        run.append(given_up)?;
    }
    Ok(())
}

fn stop(run: &Run, halt: &Halt) -> Result<(), RunError> {
    let (outcome, reason, why) = (Outcome::Stopped, Some(halt.reason), halt.message.clone());
    let finished = Finished { outcome, reason, why, best: None, rules: Vec::new() };
    let rev = run.view().rev;
    info!(reason = ?halt.reason, "run stopped");
    run.append(vec![record("run", Kind::Act, rev, 0, RunEvent::RunFinished(finished)).after_all()]).map(|_| ())
}

/// Journals what was made and what follows from it.
fn finish_attempt(run: &Run, job: Job, attempt: &Attempt<'_>, product: Product) -> Result<(), RunError> {
    let before = run.view();
    let judgement = judgement(run, &before, &product)?;
    let finishing = Finishing { before: &before, judgement: judgement.as_ref(), job, attempt: attempt.attempt };
    let group = finishing.group(product, |records| run.rules_at_end(records))?;
    for record in &group {
        log(&record.event);
    }
    run.append(group).map(|_| ())
}

/// The reason in words can quote an answer, so diagnostics show it only at the level that shows answers.
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

/// The end of an attempt. What follows from what was made is decided here, while a run goes on and when its journal is
/// computed again.
pub(super) struct Finishing<'a> {
    /// The run before it.
    pub(super) before: &'a RunView,
    /// What the guards came to; `None` where nothing was reviewed.
    pub(super) judgement: Option<&'a Judgement>,
    /// What was done.
    pub(super) job: Job,
    /// The number of the attempt.
    pub(super) attempt: u32,
}

impl Finishing<'_> {
    /// What is journaled. An approval that would leave a rule of the user's policy broken is none: whether it would is
    /// asked of the journal as the approval would leave it. `ends` says how the rules would stand behind these records.
    pub(super) fn group<E>(
        &self,
        product: Product,
        ends: impl Fn(&[Record]) -> Result<Vec<RuleEnd>, E>,
    ) -> Result<Vec<Record>, E> {
        let (row, mut group) = self.followed(product.clone(), None);
        // Rules are evaluated only if the run ends.
        if !group.iter().any(|record| record.event.is_run_finished()) {
            return Ok(group);
        }
        let mut rules = ends(&group)?;
        let forbidding: Vec<String> = rules.iter().filter(|rule| rule.forbids()).map(RuleEnd::words).collect();
        if row == Row::Approved && !forbidding.is_empty() {
            let product = Product { event: product.event.broken(), ..product };
            group = self.followed(product, Some(&forbidding.join("; "))).1;
            let forbade = |rule: &RuleEnd| rules.iter().any(|before| before.rule == rule.rule && before.forbids());
            rules = ends(&group)?.into_iter().map(|rule| RuleEnd { forbade: forbade(&rule), ..rule }).collect();
        }
        for record in &mut group {
            if let RunEvent::RunFinished(finished) = &mut record.event {
                finished.rules = std::mem::take(&mut rules);
            }
        }
        Ok(group)
    }

    /// One group: what was made, which guards were evaluated, where the run goes, which revision that closes, and whether
    /// it ends. `forbidden` says which rules of the user's policy forbid an approval.
    fn followed(&self, product: Product, forbidden: Option<&str>) -> (Row, Vec<Record>) {
        let Self { before, judgement, job, attempt } = *self;
        let after = before.with(product.clone());
        let (product, lost) = after.steered(product, || closed(before, &after));
        let product = &product;
        let t = transition(&before.settings.rules, &before.state, &product.event);
        let lifeline = job.lifeline();
        let here = |kind, event| record(lifeline, kind, before.rev, attempt, event);

        let finished = AttemptFinished { product: product.clone(), says: claims_of(job, product, &after) };
        let mut group = vec![here(Kind::Send, RunEvent::AttemptFinished(Box::new(finished)))];
        let evaluated = judgement.iter().flat_map(|judgement| guards(judgement, product));
        group.extend(evaluated.map(|guard| here(Kind::Choice, RunEvent::GuardEvaluated(Box::new(guard)))));
        let to = destination(&t);
        let why = match (forbidden, lost.filter(|_| t.row == Row::ObjectiveLost)) {
            (Some(rules), _) => {
                format!("approved, and every clause of the guard holds, but the policy forbids it: {rules}")
            }
            (None, Some(lost)) => lost,
            (None, None) => why(&t, product, &after, judgement),
        };
        let why = with_checker(why, after.fresh_check());
        let (row, on, event) = (t.row, t.facts, product.event);
        let routed = Routed { from: lifeline.to_owned(), to, row, event, on, why: why.clone() };
        group.push(here(Kind::Choice, RunEvent::Routed(Box::new(routed))));
        if t.effects.contains(&Effect::Restore) {
            let mut moved = after.clone();
            moved.end_trial(&t, None);
            moved.move_on(&t);
            group.extend(restorations(&moved));
        }
        if t.effects.contains(&Effect::CloseRevision) {
            let mut meta = close(before, &after, &t, &why);
            let finish = t.effects.iter().find_map(|e| match e {
                Effect::Finish(outcome) => Some(*outcome),
                _ => None,
            });
            let mut with_this = after.clone();
            with_this.take_closed(meta.clone());
            meta.objective = with_this.objective_step(meta.revision);
            group.push(here(Kind::Act, RunEvent::RevisionClosed(Box::new(meta))));
            if let Some(outcome) = finish {
                let best = match outcome {
                    outcome if ends_with_its_best(outcome) => with_this.best(None).map(|(rev, _)| rev),
                    _ => Some(before.rev),
                };
                let finished = Finished { outcome, reason: None, why, best, rules: Vec::new() };
                group.push(record("run", Kind::Act, before.rev, 0, RunEvent::RunFinished(finished)).after_all());
            }
        }
        (t.row, group)
    }
}

fn destination(t: &Transition) -> String {
    match t.state.position {
        Position::At(node) => node.name().to_owned(),
        Position::SecondReading => "second_reading".to_owned(),
        Position::Mutants => MUTANTS.to_owned(),
        Position::Done(outcome) => outcome.name().to_owned(),
        Position::Stopped(_) => Outcome::Stopped.name().to_owned(),
    }
}

/// What the guards come to at a review; `None` where nothing was reviewed.
fn judgement(run: &Run, view: &RunView, product: &Product) -> Result<Option<Judgement>, RunError> {
    match &product.facts {
        Facts::Reviewed { approval, flaw, .. } => run.judge(view, approval, flaw.as_deref()).map(Some),
        Facts::ReviewUnreadable { approval, .. } => run.judge(view, approval, None).map(Some),
        _ => Ok(None),
    }
}

/// The guards that a review's product was judged by, with the first clause that fails and the values it saw.
fn guards(judgement: &Judgement, product: &Product) -> Vec<GuardEvaluated> {
    let (facts, claimed) = match &product.facts {
        Facts::Reviewed { approval, flaw, .. } => (approval, flaw.as_deref()),
        Facts::ReviewUnreadable { approval, .. } => (approval, None),
        _ => return Vec::new(),
    };
    let clause = product.event.refused_by();
    let mut all = vec![GuardEvaluated::Approval(Evaluation {
        holds: clause.is_none(),
        clause,
        formula: clause.map(|clause| clause.formula().to_owned()),
        values: clause.map(|clause| judgement.approval_values(clause)),
        why: clause.map(|clause| judgement.refusal(clause, facts).in_words()),
        facts: (**facts).clone(),
    })];
    if let Some(facts) = claimed {
        let clause = product.event.flaw_refused_by();
        all.push(GuardEvaluated::Flaw(Evaluation {
            holds: clause.is_none(),
            clause,
            formula: clause.map(|clause| clause.formula().to_owned()),
            values: clause.map(|clause| judgement.flaw_values(clause)),
            why: clause.map(|clause| judgement.flaw_refusal(clause, facts).in_words()),
            facts: facts.clone(),
        }));
    }
    all
}

/// The reason of a routing decision, in words.
fn why(t: &Transition, product: &Product, after: &RunView, judgement: Option<&Judgement>) -> String {
    let refusal = |clause: ApprovalClause, facts: &ApprovalFacts| match judgement {
        Some(judgement) => judgement.refusal(clause, facts).named(),
        None => clause.words(facts),
    };
    let flaw_refusal = |clause: FlawClause, facts: &FlawFacts| match judgement {
        Some(judgement) => judgement.flaw_refusal(clause, facts).named(),
        None => clause.words(facts),
    };
    let approval_words = |facts: &ApprovalFacts| product.event.refused_by().map(|clause| refusal(clause, facts));
    let flaw_words = |facts: &FlawFacts| product.event.flaw_refused_by().map(|c| flaw_refusal(c, facts));
    if let Some(why) = after.of_mutants(t, product) {
        return why;
    }
    match (&t.row, &product.facts) {
        (Row::Approved, _) => "approved, and every clause of the guard holds".into(),
        (Row::NothingNamed, Facts::ReviewUnreadable { approval, .. }) => unreadable_words(approval_words(approval)),
        (Row::ApprovalRefused | Row::NothingNamed, Facts::Reviewed { approval, .. }) => {
            approval_words(approval).unwrap_or_else(|| "the review asks for a revision and names no issue".into())
        }
        (Row::FlawClaimed, _) => "a flaw is claimed and its guard holds: a second reader is asked".into(),
        (Row::FlawFound | Row::FlawRepaired, Facts::SecondRead { why, .. }) => {
            format!("the second reader agrees: {why}")
        }
        (Row::FlawRefused, Facts::SecondRead { why, .. }) => format!("the second reader disagrees: {why}"),
        (Row::FlawRefused, Facts::Reviewed { flaw: Some(facts), .. }) => {
            flaw_words(facts).unwrap_or_else(|| "the claim of a flaw is refused".into())
        }
        (Row::RevisionLimit, facts) => {
            let last = match facts {
                Facts::Reviewed { flaw: Some(facts), .. } if product.event.flaw_refused_by().is_some() => {
                    flaw_words(facts)
                }
                Facts::Reviewed { review, approval, .. } => review
                    .issues
                    .iter()
                    .find(|i| i.routes())
                    .map(|i| i.description.clone())
                    .or_else(|| approval_words(approval)),
                Facts::ReviewUnreadable { approval, .. } => Some(unreadable_words(approval_words(approval))),
                Facts::SecondRead { why, .. } => Some(why.clone()),
                _ => None,
            };
            format!(
                "the limit of {} revision{} is reached; still open: {}",
                after.settings.rules.max_revisions,
                if after.settings.rules.max_revisions == 1 { "" } else { "s" },
                last.unwrap_or_else(|| "the review asks for a revision".into())
            )
        }
        (Row::Issues, Facts::Reviewed { review, .. }) => {
            review.issues.iter().filter(|i| i.routes()).map(|i| i.description.as_str()).collect::<Vec<_>>().join("; ")
        }
        (_, Facts::Rejected { diagnostics }) => {
            diagnostics.first().map_or_else(|| "rejected".into(), ToString::to_string)
        }
        _ => product.feedback.first().map_or_else(String::new, |f| f.text.clone()),
    }
}

fn unreadable_words(clause: Option<String>) -> String {
    let clause = clause.map_or_else(String::new, |clause| format!("; {clause}"));
    format!("two answers in a row were no review that could be read, so nothing was reviewed{clause}")
}

/// What a revision leaves behind, with where the run goes.
fn close(before: &RunView, after: &RunView, t: &Transition, why: &str) -> Revision {
    let closed = Revision { why: why.to_owned(), ..closed(before, after) };
    match t.state.position {
        Position::Done(outcome) => Revision { outcome: outcome.name().to_owned(), ..closed },
        Position::At(node) => Revision { routed_to: Some(node), ..closed },
        _ => closed,
    }
}

/// What it leaves behind if it is to be revised.
pub(super) fn closed(before: &RunView, after: &RunView) -> Revision {
    let attempts = before
        .attempts
        .iter()
        .filter(|((rev, _), _)| *rev == before.rev)
        .map(|((_, lifeline), n)| (lifeline.clone(), *n))
        .collect();
    Revision {
        revision: before.rev,
        parent: before.parent,
        place: before.state.place,
        outcome: "revised".to_owned(),
        routed_to: None,
        why: String::new(),
        requirements: after.covered_requirements(),
        check: after.fresh_check().cloned(),
        standing: after.standing,
        attempts,
        models: before.models.clone(),
        spent: Spent::total(&before.spent_here),
        spent_by_node: before.spent_here.clone(),
        open: after.feedback.clone(),
        edited: before.edited.clone(),
        hashes: after.current.clone(),
        repaired: before.state.repaired,
        strengthened: after.strengthened(),
        objective: None,
    }
}

/// Takes up a run that was stopped or killed: journals who goes on, with which settings where they changed.
pub fn resume(run: &Run, changed: &Changed) -> Result<(), RunError> {
    let view = run.view();
    let resumed = RunEvent::RunResumed(Box::new(changed.clone()));
    run.append(vec![record("run", Kind::Act, view.rev, 0, resumed).after_all()]).map(|_| ())
}

impl RunView {
    /// The run with what a node made, before it moves on.
    fn with(&self, product: Product) -> Self {
        let mut after = self.clone();
        after.absorb(product);
        after
    }
}

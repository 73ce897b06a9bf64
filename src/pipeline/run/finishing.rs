//! The end of an attempt: what is journaled after a node has worked. The driver and the verification of a journal both
//! decide it here.

use super::routing_reason::reason;
use crate::journal::Kind;
use crate::pipeline::machine::{Activity, Effect, Outcome, Position, Row, Transition, transition};
use crate::pipeline::policy::Judgement;
use crate::pipeline::records::{
    AttemptFinished, Evaluation, Facts, Finished, GuardEvaluated, Product, Record, Routed, RuleEnd, RunEvent, RunView,
    claims_of, close, closed, ends_with_its_best, record, restorations,
};
use crate::tla::with_checker;

/// The end of an attempt.
pub(in crate::pipeline) struct Finishing<'a> {
    /// The run before the end of the attempt.
    pub(in crate::pipeline) before: &'a RunView,
    /// The verdicts of the guards; `None` if nothing was reviewed.
    pub(in crate::pipeline) judgement: Option<&'a Judgement>,
    pub(in crate::pipeline) activity: Activity,
    /// The number of the attempt.
    pub(in crate::pipeline) attempt: u32,
    /// Whether mutants will be sampled if this is an approval.
    pub(in crate::pipeline) awaits_sample: bool,
}

impl Finishing<'_> {
    /// The events to journal. An approval that would violate a rule of severity `error` is replaced by `not_approved`;
    /// this is decided on the journal with the approval. `ends` gives the verdicts on the rules after these records.
    pub(in crate::pipeline) fn group<E>(
        &self,
        product: Product,
        ends: impl Fn(&[Record]) -> Result<Vec<RuleEnd>, E>,
    ) -> Result<Vec<Record>, E> {
        let (row, mut group) = self.events(product.clone(), None);
        // Rules are evaluated only if the run ends.
        if !group.iter().any(|record| record.event.is_run_finished()) {
            return Ok(group);
        }
        let mut rules = ends(&group)?;
        let broken: Vec<String> = rules.iter().filter(|rule| rule.prevents_approval()).map(RuleEnd::words).collect();
        let by_rules = (!broken.is_empty()).then(|| format!("the policy prevents it: {}", broken.join("; ")));
        let by_score = self.before.low_score_reason().filter(|_| !self.awaits_sample);
        let preventing: Vec<String> = by_rules.into_iter().chain(by_score).collect();
        if row == Row::Approved && !preventing.is_empty() {
            let product = Product { event: product.event.violating_policy(), ..product };
            group = self.events(product, Some(&preventing.join(", and "))).1;
            let prevented =
                |rule: &RuleEnd| rules.iter().any(|before| before.rule == rule.rule && before.prevents_approval());
            rules = ends(&group)?
                .into_iter()
                .map(|rule| RuleEnd { prevented_approval: prevented(&rule), ..rule })
                .collect();
        }
        for record in &mut group {
            if let RunEvent::RunFinished(finished) = &mut record.event {
                finished.rules = std::mem::take(&mut rules);
            }
        }
        Ok(group)
    }

    /// One group: the result of the attempt, the guards, the routing, the revision that it closes, and the end of the
    /// run. `preventing` says what prevents an approval.
    fn events(&self, product: Product, preventing: Option<&str>) -> (Row, Vec<Record>) {
        let Self { before, judgement, activity, attempt, .. } = *self;
        let after = before.with_product(&product);
        let (product, lost) = after.steered(product, || closed(before, &after));
        let product = &product;
        let t = transition(&before.settings.routing, &before.state, &product.event);
        let lifeline = activity.lifeline();
        let here = |kind, event| record(lifeline, kind, before.rev, attempt, event);

        let finished = AttemptFinished { product: product.clone(), claims: claims_of(activity, product, &after) };
        let mut group = vec![here(Kind::Send, RunEvent::AttemptFinished(Box::new(finished)))];
        let evaluated = judgement.iter().flat_map(|judgement| guards(judgement, product));
        group.extend(evaluated.map(|guard| here(Kind::Choice, RunEvent::GuardEvaluated(Box::new(guard)))));
        let to = destination(&t);
        let why = match (preventing, lost.filter(|_| t.row == Row::ObjectiveLost)) {
            (Some(rules), _) => {
                format!("the reviewer agreed and all automatic conditions are met, but {rules}")
            }
            (None, Some(lost)) => lost,
            (None, None) => reason(&t, product, &after, judgement),
        };
        // The reference tools are the rule, so the reason names only their absence.
        let why = with_checker(why, after.fresh_check().filter(|check| check.is_without_reference()));
        let (row, routing, event) = (t.row, t.facts, product.event);
        let routed = Routed { from: lifeline.to_owned(), to, row, event, routing, why: why.clone() };
        group.push(here(Kind::Choice, RunEvent::Routed(Box::new(routed))));
        if t.effects.contains(&Effect::Restore) {
            let mut moved = after.clone();
            moved.end_trial(&t, None);
            moved.take_transition(&t);
            group.extend(restorations(&moved));
        }
        if t.effects.contains(&Effect::CloseRevision) {
            let mut meta = close(before, &after, &t, &why);
            let finish = t.effects.iter().find_map(|e| match e {
                Effect::Finish(outcome) => Some(*outcome),
                _ => None,
            });
            let mut with_this = after;
            with_this.close_revision(meta.clone());
            meta.objective = with_this.objective_step(meta.revision);
            group.push(here(Kind::Act, RunEvent::RevisionClosed(Box::new(meta))));
            if let Some(outcome) = finish {
                let best = match outcome {
                    outcome if ends_with_its_best(outcome) => with_this.best(None).map(|(rev, _)| rev),
                    _ => Some(before.rev),
                };
                let finished = Finished { outcome, reason: None, why, best, rules: Vec::new() };
                group
                    .push(record("run", Kind::Act, before.rev, 0, RunEvent::RunFinished(finished)).with_journal_past());
            }
        }
        (t.row, group)
    }
}

/// The lifeline that goes on, or the outcome of the run.
fn destination(t: &Transition) -> String {
    let name = match t.state.position {
        Position::Done(outcome) => outcome.name(),
        position => position.activity().map_or(Outcome::Stopped.name(), Activity::lifeline),
    };
    name.to_owned()
}

/// The evaluations of the guards for a review, with the first failing clause and the values that it saw.
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

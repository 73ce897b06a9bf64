//! Verifies a journal group by group: what follows from the events before each, by the functions that decided the run.

use serde_json::json;

use super::altered_texts::check_texts;
use super::rules::{self, Rules};
use super::verification::{Verification, shorten};
use super::{candidates, contracts, interventions, made_from, objective};
use crate::journal::{ArtifactStore, is_parallel_lifeline};
use crate::pipeline::machine::{Acceptance, Activity, Event as Step, ReviewFacts, Row, transition};
use crate::pipeline::policy::{CausalView, Judgement};
use crate::pipeline::records::{
    AttemptFinished, Branch, CheckRecord, Entry, Evaluation, Facts, Finished, GuardEvaluated, ObjectiveStep, Product,
    Record, Revision, Routed, RunEvent, RunView, ends_with_its_best, file, restorations, reviewed,
};
use crate::pipeline::run::Finishing;

/// Verifies a journal. Without `store`, which holds the texts that it names, whatever depends on texts stays
/// unverified.
pub fn verify(events: &[Entry], store: Option<&ArtifactStore>) -> Verification {
    let mut replay = Replay {
        events,
        view: RunView::default(),
        causal_view: CausalView::new(),
        rules: Rules::new(store.cloned()),
        verification: Verification::default(),
        store,
        one_objective: !events.iter().any(sets_another),
    };
    check_texts(events, store, &mut replay.verification);
    let mut at = 0;
    while let Some(first) = events.get(at) {
        let end = at.saturating_add(first.more as usize + 1).min(events.len());
        if !replay.group(at, end) {
            let why = "the state after it is unknown";
            replay.verification.unverified.push(format!("the events after event {}: {why}", first.seq));
            return replay.verification;
        }
        at = end;
    }
    let Replay { view, mut verification, one_objective, .. } = replay;
    if one_objective {
        verification.objections.extend(objective::objections(&view, events));
    }
    verification
}

/// Whether an event changes the objective.
fn sets_another(entry: &Entry) -> bool {
    match &entry.event {
        RunEvent::RunResumed(changed) => changed.objective.is_some(),
        RunEvent::BranchStarted(branch) => branch.changed.objective.is_some(),
        _ => false,
    }
}

struct Replay<'a> {
    events: &'a [Entry],
    view: RunView,
    causal_view: CausalView,
    rules: Rules,
    verification: Verification,
    store: Option<&'a ArtifactStore>,
    /// Whether the objective never changes. Then its steps are recomputed at the end, from the metrics in the journal;
    /// otherwise each step is compared with the objective in force.
    one_objective: bool,
}

impl Replay<'_> {
    /// Verifies one group of events. Returns whether the events after it can be verified.
    fn group(&mut self, at: usize, end: usize) -> bool {
        let (before, group) = (&self.events[..at], &self.events[at..end]);
        let first = &group[0];
        self.begins(group);
        self.rules.begin(before, group, &mut self.verification);
        interventions::check_accepted(&mut self.verification, before, group);
        interventions::check_choice(&mut self.verification, group);
        match &first.event {
            RunEvent::AttemptFinished(finished) => {
                if !self.finished(before, group, finished) {
                    return false;
                }
            }
            RunEvent::RunStarted(settings) => {
                made_from::check(&mut self.verification, first, settings, at == 0, self.store);
            }
            RunEvent::BranchStarted(branch) => self.branched(group, branch),
            RunEvent::CheckFinished(check) => {
                if !is_parallel_lifeline(&first.lifeline) {
                    self.checked(first, check);
                }
            }
            _ => candidates::check_event(&mut self.verification, &self.view, first),
        }
        for entry in group {
            if let RunEvent::RunFinished(finished) = &entry.event
                && !self.may_end(entry, finished)
            {
                return false;
            }
            self.rules.add_event(entry, &mut self.verification);
            self.view.apply(entry);
            if let Err(why) = self.causal_view.add_event(entry) {
                self.verification.object("clock", entry.seq, format!("its vector clock does not follow: {why}"));
                return false;
            }
        }
        self.rules.end(&group[group.len() - 1], &mut self.verification);
        true
    }

    /// Checks that a group begins with its cause.
    fn begins(&mut self, group: &[Entry]) {
        for (at, event) in group.iter().enumerate() {
            let name = event.event.name();
            let is_first = matches!(
                event.event,
                RunEvent::AttemptFinished(_) | RunEvent::BranchStarted(_) | RunEvent::RunResumed(_)
            );
            let is_later =
                matches!(event.event, RunEvent::GuardEvaluated(_) | RunEvent::Routed(_) | RunEvent::RevisionClosed(_));
            if at > 0 && is_first {
                self.verification.object(
                    "journal",
                    event.seq,
                    format!("{name} is within a group, but has to begin one"),
                );
            } else if at == 0 && is_later {
                self.verification.object(
                    "journal",
                    event.seq,
                    format!("{name} begins a group, but has to follow another event in it"),
                );
            }
        }
    }

    /// Checks that a run which is ended from outside was under way.
    fn may_end(&mut self, event: &Entry, finished: &Finished) -> bool {
        let Some(reason) = finished.reason else { return true };
        let goes = transition(&self.view.settings.routing, &self.view.state, &Step::Stop(reason)).row != Row::Ignored;
        if !goes {
            self.verification.object("routing", event.seq, "the run is stopped although no node was running");
        }
        goes
    }

    /// Recomputes what follows from the product of an attempt.
    fn finished(&mut self, before: &[Entry], group: &[Entry], finished: &AttemptFinished) -> bool {
        let Replay { view, causal_view, verification, one_objective, .. } = self;
        let first = &group[0];
        let Some(activity) = view.state.position.activity().filter(|activity| activity.lifeline() == first.lifeline)
        else {
            let here = view.state.position.activity().map_or("nothing", Activity::lifeline);
            verification.object(
                "routing",
                first.seq,
                format!("{} ends an attempt while {here} was running", first.lifeline),
            );
            return false;
        };
        let journaled = &finished.product;
        let claims = match &journaled.facts {
            Facts::Reviewed { review, approval, flaw, .. } => {
                Some(reviewed(view, &view.with_acceptance(approval, Some(review)), flaw.as_deref()))
            }
            Facts::ReviewUnreadable { approval, .. } => {
                Some(reviewed(view, &view.with_acceptance(approval, None), None))
            }
            _ => None,
        };
        let judgement = claims.and_then(|claims| causal_view.judge(&claims).ok());
        let (product, mut wrong) = recompute_product(view, journaled.clone(), judgement.as_ref());
        match contracts::find_objection(view, journaled, self.store) {
            Ok(objection) => wrong.extend(objection),
            Err(why) => verification.unverified.push(format!("the contracts of event {}: {why}", first.seq)),
        }
        let rules = &mut self.rules;
        let product = if rules.unknown() && is_broken(journaled.event) {
            Product { event: product.event.violating_policy(), ..product }
        } else {
            product
        };
        let finishing = Finishing {
            before: view,
            judgement: judgement.as_ref(),
            activity,
            attempt: first.attempt,
            awaits_sample: false,
        };
        let records = match finishing.group(product, |records| rules.ends(before, records)) {
            Ok(records) => records,
            Err(why) => {
                verification.unverified.push(format!("what follows from event {}: {why}", first.seq));
                return true;
            }
        };
        for text in wrong.drain(..) {
            verification.object("attempt", first.seq, text);
        }
        compare_group(verification, group, &records, rules.unknown(), *one_objective && view.objective().is_some());
        let goes = transition(&view.settings.routing, &view.state, &journaled.event).row != Row::Ignored;
        if !goes {
            verification.object("routing", first.seq, format!("{} cannot have this event here", first.lifeline));
        }
        goes
    }

    /// Checks that a check is of the current module and configuration.
    fn checked(&mut self, entry: &Entry, check: &CheckRecord) {
        for (what, is, name) in [("module", &check.module, file::MODULE), ("cfg", &check.cfg, file::CFG)] {
            let recomputed = self.view.artifact(name);
            if recomputed != Some(is) {
                let (is, recomputed) = (shorten(&json!(is)), shorten(&json!(recomputed)));
                let text = format!("`{what}` of {} is {is}; recomputed: {recomputed}", entry.event.name());
                self.verification.object("check", entry.seq, text);
            }
        }
    }

    fn branched(&mut self, group: &[Entry], branch: &Branch) {
        let next = self.view.next_revision();
        if group[0].rev != next {
            let text = format!("the branch is revision {}; recomputed: {next}", group[0].rev);
            self.verification.object("revision", group[0].seq, text);
        }
        // Otherwise an approval would hide that a requirement breaks under one reading.
        let parent = self.view.revisions.iter().find(|revision| revision.revision == branch.from);
        let question = parent.filter(|parent| parent.has_open_question()).and(self.view.question(branch.from));
        let is_settled =
            question.is_none_or(|q| branch.decisions.iter().any(|decision| decision.is_about(&q.open_point)));
        if !branch.state.other_reading && !is_settled {
            let text = format!("the question of rev_{} is neither open nor answered in this branch", branch.from);
            self.verification.object("routing", group[0].seq, text);
        }
        let mut view = self.view.clone();
        view.begin_branch(branch.clone(), group[0].rev);
        let records: Vec<Record> = restorations(&view).collect();
        compare_group(&mut self.verification, &group[1..], &records, true, true);
    }
}

/// The product of an attempt with the machine event that follows from the rest of it, and what else does not follow.
fn recompute_product(before: &RunView, journaled: Product, judgement: Option<&Judgement>) -> (Product, Vec<String>) {
    let mut wrong = Vec::new();
    let inspected = || {
        let events = before.in_flight.iter().flat_map(|attempt| &attempt.events);
        events.filter_map(|entry| Some((entry.seq, entry.event.try_as_tool_finished_ref()?))).next_back()
    };
    let mut accepted = |name: &str| {
        let Some((seq, tool)) = inspected() else { return Acceptance::Accepted };
        if let (Some(made), Some(module)) = (journaled.artifacts.get(name), &tool.module)
            && made != module
        {
            let (made, module) = (shorten(&json!(made)), shorten(&json!(module)));
            wrong.push(format!("`artifacts` has {made} as {name}; event {seq} accepted {module}"));
        }
        if tool.accepted { Acceptance::Accepted } else { Acceptance::Rejected }
    };
    // With an objective, `Finishing` decides this.
    let inconclusive =
        |here| before.objective().is_none() && before.best(Some(here)).is_some_and(|(_, best)| best.inconclusive);
    let event = match (journaled.event, &journaled.facts) {
        (Step::Reviewed(_), Facts::Reviewed { review, flaw, rank, .. }) => Step::Reviewed(ReviewFacts {
            verdict: review.verdict,
            earliest: review.earliest(),
            approval_refused_by: judgement.and_then(Judgement::approval),
            flaw_refused_by: flaw.as_ref().and(judgement).and_then(Judgement::flaw),
            best_inconclusive: inconclusive(*rank),
            objective_lost: false,
            violates_policy: false,
        }),
        (Step::ReviewUnreadable { .. }, Facts::ReviewUnreadable { rank, .. }) => Step::ReviewUnreadable {
            approval_refused_by: judgement.and_then(Judgement::approval),
            best_inconclusive: inconclusive(*rank),
            objective_lost: false,
        },
        (Step::SecondRead { .. }, Facts::SecondRead { agrees, replaced, open_point, further, .. }) => {
            let (agrees, ambiguous) = match replaced {
                Some(replaced) => {
                    let confirmed = before.confirmed_further_claim(further);
                    let is_it = confirmed.is_some_and(|(flaw, _)| flaw.property == replaced.by);
                    (*agrees && open_point.is_none() && is_it, false)
                }
                None => (*agrees, open_point.is_some() || before.claimed_open_point().is_some()),
            };
            Step::SecondRead {
                agrees,
                ambiguous: agrees && ambiguous,
                best_inconclusive: inconclusive(before.reviews.rank),
                objective_lost: false,
            }
        }
        // An accepted module may still lack names of the interface, which makes it rejected.
        (Step::Validated(_), Facts::Rejected { .. }) => Step::Validated(Acceptance::Rejected),
        (Step::Validated(_), _) => Step::Validated(accepted(file::VALIDATED)),
        (Step::Merged(_), Facts::Rejected { .. }) => Step::Merged(Acceptance::Rejected),
        (Step::Merged(_), _) => Step::Merged(accepted(file::MODULE)),
        (Step::Judged { .. }, _) => before.mutants_event().unwrap_or(journaled.event),
        (other, _) => other,
    };
    (Product { event, ..journaled }, wrong)
}

/// Compares the events of a group with the recomputed records. `no_rules`: verdicts on rules are unknown. `by_itself`: the
/// steps of the objective are recomputed at the end.
fn compare_group(
    verification: &mut Verification,
    group: &[Entry],
    records: &[Record],
    no_rules: bool,
    by_itself: bool,
) {
    let journaled: Vec<&Entry> = group.iter().filter(|entry| !entry.event.is_rule_violated()).collect();
    let names = |all: &mut dyn Iterator<Item = (&str, &str)>| {
        all.map(|(name, lifeline)| format!("{name} of {lifeline}")).collect::<Vec<_>>().join(", ")
    };
    let is = names(&mut journaled.iter().map(|e| (e.event.name(), e.lifeline.as_str())));
    let recomputed = names(&mut records.iter().map(|r| (r.event.name(), r.lifeline.as_str())));
    if is != recomputed {
        let seq = group.first().map_or(0, |event| event.seq);
        verification.object(
            "routing",
            seq,
            format!("the events from here on are {is}; it follows that they are {recomputed}"),
        );
    }
    for record in records {
        // A lifeline has one event of each name in a group, except for the guards.
        let guard = |event: &RunEvent| event.try_as_guard_evaluated_ref().map(|guard| guard.guard());
        let name = record.event.name();
        let same = |entry: &&&Entry| {
            entry.event.name() == name
                && entry.lifeline == record.lifeline
                && guard(&entry.event) == guard(&record.event)
        };
        let Some(entry) = journaled.iter().find(same) else {
            let seq = group.first().map_or(0, |event| event.seq);
            let of = guard(&record.event).map_or_else(String::new, |guard| format!(" of the guard `{guard}`"));
            verification.object("routing", seq, format!("the group lacks the {name}{of}"));
            continue;
        };
        let envelope = json!({"kind": entry.kind, "rev": entry.rev, "attempt": entry.attempt});
        let recomputed = json!({"kind": record.kind, "rev": record.rev, "attempt": record.attempt});
        if envelope != recomputed {
            let text = format!("{name} is {envelope}; recomputed: {recomputed}");
            verification.object("journal", entry.seq, text);
        }
        compare_event(verification, entry, &record.event, no_rules, by_itself);
    }
}

/// Compares an event of a group with the recomputed one. Reasons in words are not compared, because they can differ between
/// releases that decide the same.
fn compare_event(
    verification: &mut Verification,
    entry: &Entry,
    recomputed: &RunEvent,
    no_rules: bool,
    by_itself: bool,
) {
    match (&entry.event, recomputed) {
        (RunEvent::AttemptFinished(_) | RunEvent::ClaimsRestored(_), _) => {
            verification.compare("attempt", entry, recomputed);
        }
        (RunEvent::GuardEvaluated(journaled), RunEvent::GuardEvaluated(recomputed)) => {
            let recomputed = match (&**journaled, &**recomputed) {
                (GuardEvaluated::Approval(journaled), GuardEvaluated::Approval(recomputed)) => {
                    GuardEvaluated::Approval(Evaluation { why: journaled.why.clone(), ..recomputed.clone() })
                }
                (GuardEvaluated::Flaw(journaled), GuardEvaluated::Flaw(recomputed)) => {
                    GuardEvaluated::Flaw(Evaluation { why: journaled.why.clone(), ..recomputed.clone() })
                }
                // The two are found by their guard.
                (_, other) => other.clone(),
            };
            verification.compare("guard", entry, &RunEvent::GuardEvaluated(Box::new(recomputed)));
        }
        (RunEvent::Routed(journaled), RunEvent::Routed(recomputed)) => {
            let routing = recomputed.routing.without_facts_unknown_to(&journaled.routing);
            let recomputed = Routed { why: journaled.why.clone(), routing, ..(**recomputed).clone() };
            verification.compare("routing", entry, &RunEvent::Routed(Box::new(recomputed)));
        }
        (RunEvent::RevisionClosed(journaled), RunEvent::RevisionClosed(recomputed)) => {
            // The objective has its own subject.
            let objective = journaled.objective.clone();
            let revision = Revision { why: journaled.why.clone(), objective, ..(**recomputed).clone() };
            verification.compare("revision", entry, &RunEvent::RevisionClosed(Box::new(revision)));
            let objective = match (&journaled.objective, &recomputed.objective) {
                (Some(journaled), Some(recomputed)) if by_itself => {
                    Some(ObjectiveStep { metrics: recomputed.metrics.clone(), ..journaled.clone() })
                }
                (_, recomputed) => recomputed.clone(),
            };
            let revision = Revision { objective, ..(**journaled).clone() };
            verification.compare("objective", entry, &RunEvent::RevisionClosed(Box::new(revision)));
        }
        (RunEvent::RunFinished(journaled), RunEvent::RunFinished(recomputed)) => {
            let finished = Finished {
                outcome: recomputed.outcome,
                reason: recomputed.reason,
                why: journaled.why.clone(),
                best: if by_itself && ends_with_its_best(recomputed.outcome) {
                    journaled.best
                } else {
                    recomputed.best
                },
                // Compared by rule.
                rules: journaled.rules.clone(),
            };
            verification.compare("routing", entry, &RunEvent::RunFinished(finished));
            if !no_rules {
                rules::compare_ends(verification, entry.seq, &journaled.rules, &recomputed.rules);
            }
        }
        // Another name than the recomputed event's is an objection already; no other event follows from an attempt.
        (
            RunEvent::GuardEvaluated(_)
            | RunEvent::Routed(_)
            | RunEvent::RevisionClosed(_)
            | RunEvent::RunFinished(_)
            | RunEvent::RunStarted(_)
            | RunEvent::RunResumed(_)
            | RunEvent::BranchStarted(_)
            | RunEvent::AttemptStarted(_)
            | RunEvent::RequestSent(_)
            | RunEvent::AnswerReceived(_)
            | RunEvent::AnswerAccepted(_)
            | RunEvent::AnswerOffered(_)
            | RunEvent::Labelled(_)
            | RunEvent::Intervened(_)
            | RunEvent::Predicted(_)
            | RunEvent::AnswerNormalised(_)
            | RunEvent::PartTaken(_)
            | RunEvent::PartMissing(_)
            | RunEvent::CallFailed(_)
            | RunEvent::ModelSwitched(_)
            | RunEvent::RequestPartOmitted(_)
            | RunEvent::ReadRefused(_)
            | RunEvent::AnswerUnreadable(_)
            | RunEvent::ToolFinished(_)
            | RunEvent::CheckFinished(_)
            | RunEvent::CandidateStarted(_)
            | RunEvent::QuickCheckFinished(_)
            | RunEvent::CandidateFinished(_)
            | RunEvent::CandidateReceived(_)
            | RunEvent::CandidateAbandoned(_)
            | RunEvent::LeadersSelected(_)
            | RunEvent::LeaderNotified(_)
            | RunEvent::CandidateChosen(_)
            | RunEvent::MutantsJudged(_)
            | RunEvent::MutantsSampled(_)
            | RunEvent::PropertiesRead(_)
            | RunEvent::RuleViolated(_),
            _,
        ) => {}
    }
}

fn is_broken(event: Step) -> bool {
    matches!(event, Step::Reviewed(ReviewFacts { violates_policy: true, .. }))
}

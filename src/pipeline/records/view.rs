//! The state of a run as a fold over its journal. A run has no other memory.

use std::collections::{BTreeMap, BTreeSet};

use super::artifacts::file;
use super::candidates::{Candidate, Candidates};
use super::check::CheckRecord;
use super::check_history::CheckHistory;
use super::event::{Entry, RunEvent};
use super::event_data::{AnswerReceived, CallFailed, MutantsJudged};
use super::metric_definitions::measure;
use super::mutants::{MutantSample, Strengthened};
use super::objective_progress::ObjectiveProgress;
use super::policy_events::PolicyLog;
use super::product::{Facts, Feedback, Product};
use super::review_history::ReviewHistory;
use super::revision::{Finished, Revision, lineage_of};
use super::settings::{Branch, Changed, Settings};
use super::specification::Specification;
use super::spending::{Spending, Spent};
use super::trial::Strengthening;
use crate::journal::{Sha, is_parallel_lifeline};
use crate::monitor::RunObjective;
use crate::pipeline::machine::{Effect, Event as Step, NodeName, Position, State, Transition, transition};
use crate::tla::CheckOutcome;

#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    pub settings: Settings,
    /// The state of the machine.
    pub state: State,
    /// The revision in work.
    pub rev: u32,
    /// The revision that the one in work was made from.
    pub parent: Option<u32>,
    pub specification: Specification,
    pub checks: CheckHistory,
    pub reviews: ReviewHistory,
    /// Closed revisions.
    pub revisions: Vec<Revision>,
    pub objective_progress: ObjectiveProgress,
    /// Attempts begun, by revision and lifeline.
    pub attempts: BTreeMap<(u32, String), u32>,
    pub spending: Spending,
    /// The mutants of the revision in work; `None` before they are judged.
    pub strengthening: Option<Strengthening>,
    /// The mutants of closed revisions.
    closed_mutants: BTreeMap<u32, Strengthening>,
    /// The sample of mutants of the revision in work, if it is about to be approved.
    pub mutant_sample: Option<MutantSample>,
    pub in_flight: Option<InFlight>,
    pub policy_log: PolicyLog,
    /// The candidates by revision.
    pub candidates: BTreeMap<u32, Candidates>,
    pub finished: Option<Finished>,
    /// The number of events folded.
    pub events: u64,
}

/// An attempt that has begun and not ended, with its events so far.
#[derive(Debug, Clone, PartialEq)]
pub struct InFlight {
    pub lifeline: String,
    pub attempt: u32,
    pub events: Vec<Entry>,
}

impl Default for RunView {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            state: State::start(),
            rev: 0,
            parent: None,
            specification: Specification::default(),
            checks: CheckHistory::default(),
            reviews: ReviewHistory::default(),
            revisions: Vec::new(),
            objective_progress: ObjectiveProgress::default(),
            attempts: BTreeMap::new(),
            spending: Spending::default(),
            strengthening: None,
            closed_mutants: BTreeMap::new(),
            mutant_sample: None,
            in_flight: None,
            policy_log: PolicyLog::default(),
            candidates: BTreeMap::new(),
            finished: None,
            events: 0,
        }
    }
}

impl RunView {
    pub fn from_entries(entries: &[Entry]) -> Self {
        let mut view = Self::default();
        for entry in entries {
            view.apply(entry);
        }
        view
    }

    /// The last check of the revision in work.
    pub fn check(&self) -> Option<&CheckRecord> {
        self.checks.last(self.rev)
    }

    /// Sets the last check of the revision in work, without comparing it with the baseline.
    pub fn set_check(&mut self, check: CheckRecord) {
        self.checks.set(self.rev, check);
    }

    /// The outcome of the last check, if it was of exactly the current module and configuration.
    pub fn fresh_check(&self) -> Option<&CheckOutcome> {
        self.checks.fresh(self.rev, &self.specification)
    }

    pub fn artifact(&self, name: &str) -> Option<&Sha> {
        self.specification.artifact(name)
    }

    /// The feedback for a node.
    pub fn feedback_for(&self, node: NodeName) -> impl Iterator<Item = &Feedback> {
        self.specification.feedback.iter().filter(move |f| f.node == node)
    }

    pub fn objective(&self) -> Option<&RunObjective> {
        self.settings.objective.as_ref()
    }

    /// Tokens and money of the whole run.
    pub fn spent_total(&self) -> Spent {
        Spent::total(&self.spending.by_lifeline)
    }

    /// The number of the next revision: no number is ever used twice.
    pub fn next_revision(&self) -> u32 {
        self.revisions.iter().map(|r| r.revision + 1).max().unwrap_or(0).max(self.rev + 1)
    }

    /// The closed revisions that led to this one, the oldest first and itself last.
    pub fn lineage(&self, revision: u32) -> Vec<&Revision> {
        lineage_of(&self.revisions, revision)
    }

    /// The candidate that was chosen in the revision in work.
    pub fn chosen_candidate(&self) -> Option<&Candidate> {
        let candidates = self.candidates.get(&self.rev)?;
        let chosen = candidates.chosen.as_ref()?.chosen;
        candidates.all.iter().find(|one| one.candidate == chosen)
    }

    /// The event for the machine that follows from the mutants that were judged last.
    pub(in crate::pipeline) fn mutants_event(&self) -> Option<Step> {
        self.strengthening.as_ref()?.machine_event(self.state.on_trial)
    }

    /// The names of the mutants that authors and reviewers of this run have seen.
    pub fn seen_mutants(&self) -> impl Iterator<Item = &str> {
        let all = self.closed_mutants.values().chain(&self.strengthening);
        all.flat_map(|mutants| mutants.first.names()).collect::<BTreeSet<_>>().into_iter()
    }

    /// The mutants and the rounds of the revision in work.
    pub fn strengthened(&self) -> Option<Strengthened> {
        let summary = self.strengthening.as_ref()?.summary();
        // Journals without this setting do not have these numbers.
        let is_older = !self.settings.routing.judges_mutants;
        let without = Strengthened { killed_only_by_deadlock_before: 0, killed_only_by_deadlock: 0, ..summary.clone() };
        Some(if is_older { without } else { summary })
    }

    /// Folds one event.
    pub fn apply(&mut self, entry: &Entry) {
        self.events += 1;
        if belongs_to_attempt(&entry.event)
            && let Some(attempt) = &mut self.in_flight
        {
            attempt.events.push(entry.clone());
        }
        let lifeline = &entry.lifeline;
        match &entry.event {
            RunEvent::RunStarted(settings) => {
                self.settings = (**settings).clone();
                // A later event must not replace what was checked and reviewed.
                if let Some(made_from) = self.settings.made_from.as_ref().filter(|_| self.events == 1) {
                    self.specification.take_over(made_from);
                }
            }
            RunEvent::BranchStarted(branch) => self.begin_branch((**branch).clone(), entry.rev),
            RunEvent::RunResumed(changed) => {
                self.change_settings((**changed).clone());
                self.finished = None;
                self.advance(Step::Resume);
            }
            RunEvent::AttemptStarted(_) => {
                self.attempts.insert((entry.rev, lifeline.clone()), entry.attempt);
                let (lifeline, attempt) = (lifeline.clone(), entry.attempt);
                self.in_flight = Some(InFlight { lifeline, attempt, events: Vec::new() });
            }
            RunEvent::AttemptFinished(finished) => self.finish_attempt(&finished.product),
            RunEvent::RuleViolated(violation) => self.policy_log.violations.push(violation.clone()),
            RunEvent::RevisionClosed(revision) => self.close_revision((**revision).clone()),
            RunEvent::RunFinished(finished) => {
                if let Some(reason) = finished.reason {
                    self.advance(Step::Stop(reason));
                }
                self.finished = Some(finished.clone());
            }
            RunEvent::AnswerReceived(answer) => self.add_answer(lifeline, answer),
            RunEvent::CallFailed(CallFailed { failure, .. }) => {
                let spent = Spent::of_call(failure.usage, failure.cost_usd, failure.estimated, true);
                self.spending.add(lifeline, &spent);
            }
            RunEvent::ReadRefused(_) => self.spending.add(lifeline, &Spent { refused_reads: 1, ..Spent::default() }),
            RunEvent::CheckFinished(check) => {
                // A candidate's check is not one of the revision.
                if !is_parallel_lifeline(lifeline) {
                    self.checks.add(entry.rev, check, &self.specification);
                }
            }
            RunEvent::Intervened(intervened) => {
                self.policy_log.interventions.push((lifeline.clone(), intervened.clone()));
            }
            RunEvent::Predicted(predicted) => {
                self.policy_log.predictions.push((lifeline.clone(), predicted.clone()));
            }
            RunEvent::MutantsJudged(MutantsJudged { judged, .. }) => match &mut self.strengthening {
                Some(strengthening) => strengthening.add(judged.clone()),
                None => self.strengthening = Some(Strengthening::new(judged.clone())),
            },
            RunEvent::PropertiesRead(reading) => self.reviews.add_blind_reading(reading),
            RunEvent::MutantsSampled(sample) => self.mutant_sample = Some((**sample).clone()),
            RunEvent::CandidateStarted(started) | RunEvent::LeaderNotified(started) => {
                self.candidates_of(entry.rev).begin(started.candidate, started.total);
            }
            RunEvent::CandidateFinished(finished) => {
                self.candidates_of(entry.rev).finish(finished.candidate.clone());
            }
            RunEvent::CandidateAbandoned(abandoned) => self.candidates_of(entry.rev).abandon(abandoned.clone()),
            RunEvent::CandidateChosen(chosen) => self.candidates_of(entry.rev).chosen = Some(chosen.clone()),
            // Only the attempt in flight recalls these.
            RunEvent::RequestSent(_)
            | RunEvent::AnswerAccepted(_)
            | RunEvent::AnswerOffered(_)
            | RunEvent::Labelled(_)
            | RunEvent::AnswerNormalised(_)
            | RunEvent::PartTaken(_)
            | RunEvent::PartMissing(_)
            | RunEvent::ModelSwitched(_)
            | RunEvent::RequestPartOmitted(_)
            | RunEvent::AnswerUnreadable(_)
            | RunEvent::ToolFinished(_)
            | RunEvent::QuickCheckFinished(_)
            | RunEvent::CandidateReceived(_)
            | RunEvent::LeadersSelected(_)
            | RunEvent::GuardEvaluated(_)
            | RunEvent::Routed(_)
            | RunEvent::ClaimsRestored(_) => {}
        }
    }

    fn add_answer(&mut self, lifeline: &str, answer: &AnswerReceived) {
        self.spending.add(lifeline, &answer.spent());
        if lifeline == NodeName::InformalSpec.name() {
            self.specification.add_reads(answer.reads.iter().map(|read| read.path.as_str()));
        }
        if let Some(model) = &answer.model {
            self.spending.add_model(model);
        }
    }

    fn candidates_of(&mut self, rev: u32) -> &mut Candidates {
        self.candidates.entry(rev).or_default()
    }

    fn change_settings(&mut self, changed: Changed) {
        self.settings.routing = changed.routing.unwrap_or(self.settings.routing);
        self.settings.draft = changed.draft.unwrap_or(self.settings.draft);
        self.settings.candidates = changed.candidates.unwrap_or(self.settings.candidates);
        self.settings.blind_reading = changed.blind_reading.unwrap_or(self.settings.blind_reading);
        if changed.objective.is_some() {
            self.settings.objective = changed.objective;
            self.recompute_steps();
        }
        if let Some(command_line) = changed.command_line {
            self.settings.command_line = command_line;
        }
        self.settings.prompts.extend(changed.prompts);
        self.settings.policy = changed.policy.or(self.settings.policy.take());
    }

    pub(in crate::pipeline) fn begin_branch(&mut self, branch: Branch, rev: u32) {
        self.change_settings(branch.changed.clone());
        self.rev = rev;
        self.parent = Some(branch.from);
        self.state = branch.state;
        self.in_flight = None;
        self.finished = None;
        self.checks.begin_branch(branch.from, rev);
        let from = branch.from;
        self.specification.begin_branch(branch);
        self.begin_revision();
        if self.state.position == Position::Node(NodeName::Review) {
            self.strengthening = self.closed_mutants.get(&from).cloned();
        }
    }

    fn begin_revision(&mut self) {
        self.reviews.begin_revision();
        self.spending.begin_revision();
        // A revision that begins with its review has the module and the check of the one before, and so its mutants.
        if self.state.position != Position::Node(NodeName::Review) {
            self.strengthening = None;
        }
        self.mutant_sample = None;
    }

    /// Adds a closed revision.
    pub(in crate::pipeline) fn close_revision(&mut self, revision: Revision) {
        let number = revision.revision;
        self.specification.close_revision(number);
        self.checks.close_revision(number);
        if let Some(mutants) = &self.strengthening {
            self.closed_mutants.insert(number, mutants.clone());
        }
        let metrics = match &revision.objective {
            Some(step) => step.metrics.clone(),
            // A run without an objective does not journal metrics.
            None => measure(&revision, self.reviews.last_of(number), &self.spent_total()),
        };
        let line = revision.parent.map(|parent| lineage_of(&self.revisions, parent)).unwrap_or_default();
        self.objective_progress.close_revision(self.settings.objective.as_ref(), &line, number, metrics);
        self.revisions.push(revision);
    }

    /// Takes the steps of all closed revisions under another objective.
    fn recompute_steps(&mut self) {
        self.objective_progress.forget_steps();
        for revision in &self.revisions {
            let Some(metrics) = self.objective_progress.metrics_of(revision.revision).cloned() else { continue };
            let line = revision.parent.map(|parent| lineage_of(&self.revisions, parent)).unwrap_or_default();
            let objective = self.settings.objective.as_ref();
            self.objective_progress.close_revision(objective, &line, revision.revision, metrics);
        }
    }

    fn finish_attempt(&mut self, product: &Product) {
        self.in_flight = None;
        let t = transition(&self.settings.routing, &self.state, &product.event);
        let why = self.strengthening_reason(&t, product);
        self.absorb(product);
        self.end_trial(&t, why);
        self.take_transition(&t);
    }

    /// The name of the module: as the user chooses it, as the documents fix it, or `Spec`.
    pub fn module_name(&self) -> &str {
        let fixed = self.specification.names.module.as_deref();
        self.settings.module.as_deref().or(fixed).unwrap_or(file::DEFAULT_MODULE)
    }

    /// The reason of a routing decision about mutants, in words; `None` for other rows.
    pub(in crate::pipeline) fn strengthening_reason(&self, t: &Transition, product: &Product) -> Option<String> {
        self.strengthening.as_ref()?.routing_reason(t, product, self.fresh_check())
    }

    pub(in crate::pipeline) fn end_trial(&mut self, t: &Transition, why: Option<String>) {
        if let Some(strengthening) = &mut self.strengthening {
            let keeps_survivors = self.settings.routing.judges_mutants;
            strengthening.end_trial(t, why, self.rev, keeps_survivors, (&mut self.specification, &mut self.checks));
        }
    }

    /// Adds what a node made. The machine moves afterwards.
    fn absorb(&mut self, product: &Product) {
        self.specification.absorb(self.state.position, self.state.unreadable, product);
        self.checks.absorb(&product.facts, &self.specification);
        if let Facts::Reviewed { review, .. } = &product.facts {
            self.checks.accept(self.rev, review, &self.specification);
        }
        self.reviews.absorb(self.rev, &product.facts);
    }

    fn advance(&mut self, event: Step) {
        let t = transition(&self.settings.routing, &self.state, &event);
        self.take_transition(&t);
    }

    pub(in crate::pipeline) fn take_transition(&mut self, t: &Transition) {
        self.state = t.state;
        if t.effects.contains(&Effect::OpenRevision) {
            let next = self.next_revision();
            self.checks.carry_over(self.rev, next);
            self.parent = Some(self.rev);
            self.rev = next;
            self.specification.edited.clear();
            self.begin_revision();
        }
    }

    /// The run with what a node made, before the machine moves.
    pub(in crate::pipeline) fn with_product(&self, product: &Product) -> Self {
        let mut after = self.clone();
        after.absorb(product);
        after
    }

    /// The run with what a node made, after the machine has moved. A candidate continues from it while the run goes on.
    #[must_use]
    pub fn advanced_by(&self, product: &Product) -> Self {
        let t = transition(&self.settings.routing, &self.state, &product.event);
        let mut after = self.with_product(product);
        after.take_transition(&t);
        after
    }
}

/// Whether an attempt that is taken up after a crash recalls the event.
fn belongs_to_attempt(event: &RunEvent) -> bool {
    !matches!(
        event,
        RunEvent::RunStarted(_)
            | RunEvent::BranchStarted(_)
            | RunEvent::RunResumed(_)
            | RunEvent::AttemptStarted(_)
            | RunEvent::AttemptFinished(_)
            | RunEvent::RuleViolated(_)
            | RunEvent::RevisionClosed(_)
            | RunEvent::RunFinished(_)
    )
}

//! The state of a run as a fold over its journal. Nothing else remembers: what is not in an event did not happen.

use std::collections::BTreeMap;

use super::candidates::Candidates;
use super::events::{AnswerReceived, CallFailed, Entry, MutantsJudged, RunEvent};
use super::machine::{Effect, Event as Step, Position, State};
use super::metrics::Metrics;
use super::node_name::{NodeName, Review};
use super::records::file;
use super::records::{
    Branch, Changed, CheckRecord, ConfirmedFlaw, Facts, Feedback, Finished, FirstViolated, InFlight, Product, Quotes,
    Revision, Settings, Spent, Standing,
};
use super::routes::{Transition, transition};
use super::strengthen::Strengthening;
use super::watch::{Intervened, Predicted, Violation};
use crate::journal::{Sha, is_apart};
use crate::monitor::GoalStep;
use crate::prompt::Requirement;
use crate::tla::{Baseline, CheckOutcome, Diagnostic, Verdict};

/// A run as its journal tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    /// What it was started with.
    pub settings: Settings,
    /// The machine.
    pub state: State,
    /// The revision in work.
    pub rev: u32,
    /// Its parent.
    pub parent: Option<u32>,
    /// Current artifacts by file name.
    pub current: BTreeMap<String, Sha>,
    /// Requirements of the current informal specification.
    pub requirements: Vec<Requirement>,
    /// Concerns that it leaves out.
    pub other_concerns: Vec<String>,
    /// Requirements by property, of the last accepted merge.
    pub covers: BTreeMap<String, Vec<String>>,
    /// Diagnostics of the last rejected parse, while it is the last word on the module.
    pub rejected: Vec<Diagnostic>,
    /// The last check of each revision.
    pub checks: BTreeMap<u32, CheckRecord>,
    /// What was first checked under each name.
    pub baseline: Baseline,
    /// Each property as it stood when a check first found it violated.
    pub first_violated: BTreeMap<String, FirstViolated>,
    /// Baseline and first violations as each closed revision left them: a branch goes on from its parent's.
    pub left: BTreeMap<u32, (Baseline, BTreeMap<String, FirstViolated>)>,
    /// Which informal specification there is, and which one the module was made from.
    pub made: Made,
    /// The same as each closed revision left it.
    pub made_by: BTreeMap<u32, Made>,
    /// The flaws with which the second reader agreed, by revision.
    pub confirmed: BTreeMap<u32, ConfirmedFlaw>,
    /// What is to be mended.
    pub feedback: Vec<Feedback>,
    /// The last readable review of the revision in work.
    pub review: Option<Review>,
    /// Every readable review by revision, each with the lines that it cites.
    pub reviews: BTreeMap<u32, Vec<(Review, Quotes)>>,
    /// The last readable second reading.
    pub second_reading: Option<(bool, String)>,
    /// The standing that the last review of this revision gave.
    pub standing: Standing,
    /// Closed revisions.
    pub revisions: Vec<Revision>,
    /// What was measured of them.
    pub metrics: BTreeMap<u32, Metrics>,
    /// What each closed revision came to under the objective, on its own line.
    pub(super) steps: BTreeMap<u32, GoalStep>,
    /// Attempts begun, by revision and lifeline.
    pub attempts: BTreeMap<(u32, String), u32>,
    /// Models that answered in this revision.
    pub models: Vec<String>,
    /// Tokens and money by lifeline, over the run.
    pub spent: BTreeMap<String, Spent>,
    /// Tokens and money of the revision in work.
    pub spent_here: BTreeMap<String, Spent>,
    /// Files that a person edited before this branch began.
    pub edited: Vec<String>,
    /// The mutants of the revision in work, and what was done about those that survive.
    pub strengthening: Option<Strengthening>,
    /// The attempt in work.
    pub in_flight: Option<InFlight>,
    /// Rules of the user's policy that were violated.
    pub violations: Vec<Violation>,
    /// Answers that would have violated one, by the lifeline that asked.
    pub interventions: Vec<(String, Intervened)>,
    /// What was foreseen of answers, by the lifeline that asked.
    pub predictions: Vec<(String, Predicted)>,
    /// The formalizations that were drafted side by side, by revision.
    pub candidates: BTreeMap<u32, Candidates>,
    /// How it ended.
    pub finished: Option<Finished>,
    /// Events folded.
    pub events: u64,
}

impl Default for RunView {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            state: State::start(),
            rev: 0,
            parent: None,
            current: BTreeMap::new(),
            requirements: Vec::new(),
            other_concerns: Vec::new(),
            covers: BTreeMap::new(),
            rejected: Vec::new(),
            checks: BTreeMap::new(),
            baseline: Baseline::default(),
            first_violated: BTreeMap::new(),
            left: BTreeMap::new(),
            made: Made::default(),
            made_by: BTreeMap::new(),
            confirmed: BTreeMap::new(),
            feedback: Vec::new(),
            review: None,
            reviews: BTreeMap::new(),
            second_reading: None,
            standing: Standing::default(),
            revisions: Vec::new(),
            metrics: BTreeMap::new(),
            steps: BTreeMap::new(),
            attempts: BTreeMap::new(),
            models: Vec::new(),
            spent: BTreeMap::new(),
            spent_here: BTreeMap::new(),
            edited: Vec::new(),
            strengthening: None,
            in_flight: None,
            violations: Vec::new(),
            interventions: Vec::new(),
            predictions: Vec::new(),
            candidates: BTreeMap::new(),
            finished: None,
            events: 0,
        }
    }
}

/// Readable informal specifications by number, a person's own included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Made {
    /// The number of the one that stands; 0 where there is none.
    pub informal: u32,
    /// The number of the one that the module was made from.
    pub module_from: u32,
    /// The highest number given.
    pub latest: u32,
}

impl Made {
    /// There is another informal specification.
    fn next(&mut self) {
        self.latest += 1;
        self.informal = self.latest;
    }
}

impl RunView {
    /// Folds a whole journal.
    pub fn of(entries: &[Entry]) -> Self {
        let mut view = Self::default();
        for entry in entries {
            view.apply(entry);
        }
        view
    }

    /// The last check of the revision in work.
    pub fn check(&self) -> Option<&CheckRecord> {
        self.checks.get(&self.rev)
    }

    /// The last check, where it was of exactly the module and configuration that stand now.
    pub fn fresh_check(&self) -> Option<&CheckOutcome> {
        let check = self.check()?;
        let same = self.artifact(file::MODULE) == Some(&check.module) && self.artifact(file::CFG) == Some(&check.cfg);
        same.then_some(&check.outcome)
    }

    /// The current artifact of that name.
    pub fn artifact(&self, name: &str) -> Option<&Sha> {
        self.current.get(name)
    }

    /// What a node has to mend.
    pub fn open_for(&self, node: NodeName) -> impl Iterator<Item = &Feedback> {
        self.feedback.iter().filter(move |f| f.node == node)
    }

    /// Tokens and money of the whole run.
    pub fn spent_total(&self) -> Spent {
        Spent::total(&self.spent)
    }

    /// The number of the next revision: no number is ever used twice.
    pub fn next_revision(&self) -> u32 {
        self.revisions.iter().map(|r| r.revision + 1).max().unwrap_or(0).max(self.rev + 1)
    }

    /// The closed revisions that led to this one, the oldest first and itself last.
    pub fn line_of(&self, revision: u32) -> Vec<&Revision> {
        let mut line = Vec::new();
        let mut next = Some(revision);
        while let Some(number) = next {
            let Some(found) = self.revisions.iter().find(|r| r.revision == number) else { break };
            line.push(found);
            // A parent is older: whatever a journal says, this ends.
            next = found.parent.filter(|parent| *parent < number);
        }
        line.reverse();
        line
    }

    /// Folds one event.
    pub fn apply(&mut self, entry: &Entry) {
        self.events += 1;
        let lifeline = &entry.lifeline;
        let mut of_attempt = true;
        match &entry.event {
            RunEvent::RunStarted(settings) => {
                self.settings = (**settings).clone();
                of_attempt = false;
            }
            RunEvent::BranchStarted(branch) => {
                self.branch((**branch).clone(), entry.rev);
                of_attempt = false;
            }
            RunEvent::RunResumed(changed) => {
                self.set((**changed).clone());
                self.finished = None;
                self.step(Step::Resume);
                of_attempt = false;
            }
            RunEvent::AttemptStarted(_) => {
                self.attempts.insert((entry.rev, lifeline.clone()), entry.attempt);
                self.in_flight =
                    Some(InFlight { lifeline: lifeline.clone(), attempt: entry.attempt, events: Vec::new() });
                of_attempt = false;
            }
            RunEvent::AttemptFinished(finished) => {
                self.in_flight = None;
                let product = finished.product.clone();
                let t = self.to_come(product.event);
                let why = self.of_mutants(&t, &product);
                self.absorb(product);
                self.end_trial(&t, why);
                self.move_on(&t);
                of_attempt = false;
            }
            RunEvent::RuleViolated(violation) => {
                self.violations.push(violation.clone());
                of_attempt = false;
            }
            RunEvent::RevisionClosed(revision) => {
                self.take_closed((**revision).clone());
                of_attempt = false;
            }
            RunEvent::RunFinished(finished) => {
                if let Some(reason) = finished.reason {
                    self.step(Step::Stop(reason));
                }
                self.finished = Some(finished.clone());
                of_attempt = false;
            }
            RunEvent::AnswerReceived(answer) => self.receive(lifeline, answer),
            RunEvent::CallFailed(CallFailed { failure, .. }) => {
                let spent = Spent::of_call(failure.usage, failure.cost_usd, failure.estimated, true);
                self.add_spent(lifeline, &spent);
            }
            RunEvent::ReadRefused(_) => self.add_spent(lifeline, &Spent { refused_reads: 1, ..Spent::default() }),
            RunEvent::CheckFinished(check) => {
                if !is_apart(lifeline) {
                    self.take_check(entry.rev, check);
                }
            }
            RunEvent::Intervened(intervened) => self.interventions.push((lifeline.clone(), intervened.clone())),
            RunEvent::Predicted(predicted) => self.predictions.push((lifeline.clone(), predicted.clone())),
            RunEvent::MutantsJudged(MutantsJudged { judged, .. }) => self.take_judged(judged.clone()),
            RunEvent::CandidateStarted(started) | RunEvent::LeaderTold(started) => {
                self.candidates_of(entry.rev).begin(*started);
            }
            RunEvent::CandidateFinished(finished) => {
                self.candidates_of(entry.rev).finish(finished.candidate.clone());
            }
            RunEvent::CandidateGivenUp(given_up) => self.candidates_of(entry.rev).give_up(given_up.clone()),
            RunEvent::CandidateChosen(chosen) => self.candidates_of(entry.rev).chosen = Some(chosen.clone()),
            // Only the attempt in flight recalls these.
            RunEvent::RequestSent(_)
            | RunEvent::AnswerTaken(_)
            | RunEvent::AnswerOffered(_)
            | RunEvent::Labelled(_)
            | RunEvent::AnswerNormalised(_)
            | RunEvent::PartTaken(_)
            | RunEvent::PartMissing(_)
            | RunEvent::ModelSwitched(_)
            | RunEvent::LeftOut(_)
            | RunEvent::Unreadable(_)
            | RunEvent::ToolFinished(_)
            | RunEvent::QuicklyChecked(_)
            | RunEvent::CandidateReceived(_)
            | RunEvent::LeadersNamed(_)
            | RunEvent::GuardEvaluated(_)
            | RunEvent::Routed(_)
            | RunEvent::Restored(_) => {}
        }
        if let Some(attempt) = self.in_flight.as_mut().filter(|_| of_attempt) {
            attempt.events.push(entry.clone());
        }
    }

    fn receive(&mut self, lifeline: &str, answer: &AnswerReceived) {
        let spent = Spent::of_call(answer.usage, answer.cost_usd, answer.estimated, false);
        self.add_spent(lifeline, &Spent { stale: u32::from(answer.stale), seconds: answer.seconds, ..spent });
        if let Some(model) = &answer.model
            && !self.models.contains(model)
        {
            self.models.push(model.clone());
        }
    }

    fn take_check(&mut self, rev: u32, check: &CheckRecord) {
        self.baseline.absorb(&self.with_requirements(&check.checked));
        let violated = match &check.outcome.verdict {
            Verdict::Violated { violated } => violated.property().map(str::to_owned),
            _ => None,
        };
        self.checks.insert(rev, check.clone());
        if let Some(name) = violated
            && let Some(now) = self.as_violated(&name)
        {
            self.first_violated.entry(name).or_insert(now);
        }
    }

    fn candidates_of(&mut self, rev: u32) -> &mut Candidates {
        self.candidates.entry(rev).or_default()
    }

    fn add_spent(&mut self, lifeline: &str, more: &Spent) {
        for spent in [&mut self.spent, &mut self.spent_here] {
            let node = spent.entry(lifeline.to_owned()).or_default();
            *node = node.plus(more);
        }
    }

    fn set(&mut self, changed: Changed) {
        self.settings.rules = changed.rules.unwrap_or(self.settings.rules);
        self.settings.draft = changed.draft.unwrap_or(self.settings.draft);
        self.settings.candidates = changed.candidates.unwrap_or(self.settings.candidates);
        if changed.objective.is_some() {
            self.settings.objective = changed.objective;
            self.take_steps_again();
        }
        if let Some(surroundings) = changed.surroundings {
            self.settings.surroundings = surroundings;
        }
        self.settings.prompts.extend(changed.prompts);
        self.settings.policy = changed.policy.or(self.settings.policy.take());
    }

    pub(super) fn branch(&mut self, branch: Branch, rev: u32) {
        self.set(branch.changed);
        let parent_check = self.checks.get(&branch.from).cloned();
        self.rev = rev;
        self.parent = Some(branch.from);
        self.state = branch.state;
        self.current = branch.artifacts;
        self.requirements = branch.requirements;
        self.covers = branch.covers;
        self.feedback = branch.feedback;
        let Made { latest, .. } = self.made;
        self.made = Made { latest, ..self.made_by.get(&branch.from).copied().unwrap_or(self.made) };
        if branch.edited.iter().any(|name| name == file::INFORMAL) {
            self.made.next();
            // Whoever goes on behind `formalize` goes on with both as they are.
            if !matches!(self.state.position, Position::At(NodeName::InformalSpec | NodeName::Formalize)) {
                self.made.module_from = self.made.informal;
            }
        }
        self.edited = branch.edited;
        self.in_flight = None;
        self.finished = None;
        self.rejected.clear();
        if let Some((baseline, first_violated)) = self.left.get(&branch.from).cloned() {
            (self.baseline, self.first_violated) = (baseline, first_violated);
        }
        self.begin_revision();
        // A check belongs to what it saw; the guard compares the hashes, so an edited module makes it stale.
        if let Some(check) = parent_check {
            self.checks.insert(rev, check);
        }
    }

    fn begin_revision(&mut self) {
        self.review = None;
        self.second_reading = None;
        self.standing = Standing::default();
        self.models.clear();
        self.spent_here.clear();
        self.strengthening = None;
    }

    /// Takes in what a node made; the machine moves afterwards.
    pub(super) fn absorb(&mut self, product: Product) {
        let here = self.state.position;
        match (here, product.event) {
            (Position::At(NodeName::InformalSpec), Step::Answered) => self.made.next(),
            (Position::At(NodeName::Formalize), Step::Answered) => {
                self.made.module_from = self.made.informal;
                self.current.remove(file::VALIDATED);
            }
            _ => {}
        }
        self.current.extend(product.artifacts);
        if let Position::At(node) = here
            && !matches!(product.event, Step::Unreadable | Step::ReviewUnreadable { .. })
        {
            // A node that answered has seen all that was open for it; a review replaces everything.
            self.feedback.retain(|f| node != NodeName::Review && f.node != node);
        }
        // No review follows in this revision: what could not be read is nothing that the next one has to mend.
        if matches!(product.event, Step::ReviewUnreadable { .. }) && self.state.unreadable {
            self.feedback.retain(|f| f.node != NodeName::Review);
        }
        self.feedback.extend(product.feedback);
        match product.facts {
            // The module is still the one that was rejected.
            Facts::Nothing if product.event == Step::Unreadable => {}
            Facts::Nothing => self.rejected.clear(),
            Facts::Informal { requirements, other_concerns } => {
                self.requirements = requirements;
                self.other_concerns = other_concerns;
            }
            Facts::Rejected { diagnostics } => self.rejected = diagnostics,
            Facts::Merged { covers } => {
                self.rejected.clear();
                self.covers = covers;
            }
            Facts::Reviewed { review, standing, quotes, .. } => {
                if let Some(check) = self.checks.get(&self.rev) {
                    let now = self.with_requirements(&check.checked);
                    let changed = self.baseline.changes(&now).into_iter().map(|change| change.name);
                    let accepted: Vec<String> = changed.filter(|name| review.accepts_change(name)).collect();
                    self.baseline.accept(accepted, &now);
                }
                self.accept_violated(&review);
                self.reviews.entry(self.rev).or_default().push(((*review).clone(), quotes));
                self.review = Some(*review);
                self.standing = standing;
            }
            Facts::ReviewUnreadable { standing, .. } => self.standing = standing,
            Facts::SecondRead { agrees, why } => {
                if let Some(flaw) = self.review.as_ref().and_then(|r| r.flaw.as_ref()).filter(|_| agrees) {
                    let (requirement, property) = (flaw.requirement.clone(), flaw.property.clone());
                    self.confirmed.insert(self.rev, ConfirmedFlaw { revision: self.rev, requirement, property });
                }
                self.second_reading = Some((agrees, why));
            }
        }
    }

    fn step(&mut self, event: Step) {
        let t = self.to_come(event);
        self.move_on(&t);
    }

    fn to_come(&self, event: Step) -> Transition {
        transition(&self.settings.rules, &self.state, &event)
    }

    pub(super) fn move_on(&mut self, t: &Transition) {
        self.state = t.state;
        if t.effects.contains(&Effect::OpenRevision) {
            let next = self.next_revision();
            // The check of the parent stays the last one of the new revision until a new one is made.
            if let Some(check) = self.checks.get(&self.rev).cloned() {
                self.checks.insert(next, check);
            }
            self.parent = Some(self.rev);
            self.rev = next;
            self.edited.clear();
            self.begin_revision();
        }
    }
}

//! The state of a run as a fold over its journal. Nothing else remembers: what is not in an event did not happen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::guard::{ApprovalFacts, FlawFacts};
use super::machine::{Effect, Event as Step, Outcome, Position, Row, Rules, State, StopReason, transition};
use super::station::{Review, Station};
use crate::journal::{Event, Sha};
use crate::prompt::{Requirement, Sections, Skipped};
use crate::tla::{Baseline, CheckOutcome, Diagnostic};

/// File names of the artifacts that a person sees.
pub mod file {
    /// The informal specification.
    pub const INFORMAL: &str = "informal_spec.md";
    /// The module, merged with its properties and with its translation in place.
    pub const MODULE: &str = "Spec.tla";
    /// The configuration.
    pub const CFG: &str = "Spec.cfg";
    /// The last review.
    pub const REVIEW: &str = "review.md";
    /// The checker's raw output.
    pub const OUTPUT: &str = "tlc_output.txt";
    /// All of them, in the order of the pipeline.
    pub const VISIBLE: [&str; 5] = [INFORMAL, MODULE, CFG, REVIEW, OUTPUT];
    /// The module as it was formalized, without properties and translation. Kept in the artifact store only.
    pub const SOURCE: &str = "source.tla";
    /// The validated module with its translation. Kept in the artifact store only.
    pub const VALIDATED: &str = "validated.tla";
}

/// A file kept in the artifact store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Its path in the workspace.
    pub path: String,
    /// Its content.
    pub sha: Sha,
    /// Its size in bytes.
    pub bytes: u64,
}

/// What a run was started with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Limits and options of routing.
    pub rules: Rules,
    /// The single concern, where the user fixes it.
    pub concern: Option<String>,
    /// Variables and constants that the specification must expose.
    pub interface: Option<String>,
    /// The documents.
    pub docs: Vec<Stored>,
    /// Files that were not taken as documents.
    pub skipped: Vec<Skipped>,
    /// The exemplars.
    pub exemplars: Vec<Stored>,
    /// What the command line needs to go on: provider, model, limits.
    pub surroundings: serde_json::Value,
}

/// Something that a station has to mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// The station.
    pub station: Station,
    /// Where it comes from: `diagnostics`, `review`, `guard`, `unreadable`, `second reading`.
    pub from: String,
    /// In words.
    pub text: String,
}

/// What a check saw and said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckRecord {
    /// The outcome.
    pub outcome: CheckOutcome,
    /// The merged module that was checked.
    pub module: Sha,
    /// The configuration that was checked.
    pub cfg: Sha,
    /// All that the verdict rests on, by name.
    pub checked: BTreeMap<String, String>,
}

/// How a revision compares with others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Module and configuration were accepted.
    pub parses: bool,
    /// Properties were checked that can fail, over more than the initial states, with every witness reached.
    pub not_vacuous: bool,
    /// The check holds.
    pub holds: bool,
    /// The check is inconclusive.
    pub inconclusive: bool,
    /// Requirements that checked properties cover.
    pub covered: usize,
    /// Issues of the review.
    pub blockers: usize,
    /// Issues of the review.
    pub majors: usize,
}

impl Standing {
    /// The order of the design, section 3; larger is better. Size has no part in it.
    pub fn rank(&self) -> impl Ord + use<> {
        let fewer = |n: usize| usize::MAX - n;
        (self.parses, self.not_vacuous, self.holds, self.covered, fewer(self.blockers), fewer(self.majors))
    }
}

/// What a station found out, for those who come after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Facts {
    /// Nothing that is not in the artifacts.
    Nothing,
    /// Of an informal specification.
    Informal {
        /// Its requirements.
        requirements: Vec<Requirement>,
        /// The concerns that were left out.
        other_concerns: Vec<String>,
    },
    /// Of a parse that failed.
    Rejected {
        /// What the tools said.
        diagnostics: Vec<Diagnostic>,
    },
    /// Of properties merged and parsed.
    Merged {
        /// Requirements by property.
        covers: BTreeMap<String, Vec<String>>,
        /// The answer's sections.
        sections: Sections,
    },
    /// Of a review.
    Reviewed {
        /// The review.
        review: Box<Review>,
        /// What the approval guard saw.
        approval: Box<ApprovalFacts>,
        /// What the flaw guard saw, where a flaw was claimed.
        flaw: Option<Box<FlawFacts>>,
        /// How this revision compares.
        standing: Standing,
    },
    /// Of a review that could not be read.
    ReviewUnreadable {
        /// What the approval guard saw.
        approval: Box<ApprovalFacts>,
        /// How this revision compares.
        standing: Standing,
    },
    /// Of the second reading.
    SecondRead {
        /// Whether it agrees.
        agrees: bool,
        /// Its reason.
        why: String,
    },
}

/// What a station made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Product {
    /// What happened, for the machine.
    pub event: Step,
    /// Artifacts that are now the current ones, by file name.
    pub artifacts: BTreeMap<String, Sha>,
    /// What is to be mended, by whom.
    pub feedback: Vec<Feedback>,
    /// What was found out.
    pub facts: Facts,
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Answers received.
    pub answers: u32,
    /// Answers that were recorded for another wording of the prompt.
    pub stale: u32,
    /// Tokens, all kinds together, of those answers whose provider counts them.
    pub tokens: u64,
    /// US dollars, of those answers whose price is known.
    pub cost_usd: f64,
    /// Answers whose price is not known.
    pub unpriced: u32,
}

/// A closed revision, as in its `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    /// Its number, unique in the run.
    pub revision: u32,
    /// The revision it was made from.
    pub parent: Option<u32>,
    /// Its place on its branch, from 0.
    pub place: u32,
    /// `approved`, `flaw_found`, …, or `revised`.
    pub outcome: String,
    /// The station that the review sent the run to.
    pub routed_to: Option<Station>,
    /// Why, in words.
    pub why: String,
    /// Requirements, with the properties that cover them.
    pub requirements: Vec<CoveredRequirement>,
    /// The last check, `None` where none was made.
    pub check: Option<CheckOutcome>,
    /// How it compares.
    pub standing: Standing,
    /// Attempts by station.
    pub attempts: BTreeMap<String, u32>,
    /// Models that answered.
    pub models: Vec<String>,
    /// Tokens and money of this revision.
    pub spent: Spent,
    /// What the review left open.
    pub open: Vec<Feedback>,
    /// Files that a person edited before the branch began.
    pub edited: Vec<String>,
    /// The files in `history/rev_N/`, and the internal ones, by name.
    pub hashes: BTreeMap<String, Sha>,
    /// The protocol was changed after a flaw.
    pub repaired: bool,
}

/// A requirement and what covers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredRequirement {
    /// The requirement.
    #[serde(flatten)]
    pub requirement: Requirement,
    /// Properties in the configuration that cover it.
    pub covered_by: Vec<String>,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// How.
    pub outcome: Outcome,
    /// Why it was stopped.
    #[serde(default)]
    pub reason: Option<StopReason>,
    /// In words.
    pub why: String,
    /// The revision whose files stand at the top.
    #[serde(default)]
    pub best: Option<u32>,
}

/// An attempt that has begun and not ended, with the events that belong to it.
#[derive(Debug, Clone, PartialEq)]
pub struct InFlight {
    /// The lifeline.
    pub lifeline: String,
    /// The attempt.
    pub attempt: u32,
    /// Its events, in order.
    pub events: Vec<Event>,
}

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
    /// The sections of the last readable answer of `generate_invariants`.
    pub sections: Option<Sections>,
    /// Diagnostics of the last rejected parse, while it is the last word on the module.
    pub rejected: Vec<Diagnostic>,
    /// The last check of each revision.
    pub checks: BTreeMap<u32, CheckRecord>,
    /// What was first checked under each name.
    pub baseline: Baseline,
    /// What is to be mended.
    pub feedback: Vec<Feedback>,
    /// The last readable review of the revision in work.
    pub review: Option<Review>,
    /// The last readable second reading.
    pub second_reading: Option<(bool, String)>,
    /// The standing that the last review of this revision gave.
    pub standing: Standing,
    /// Closed revisions.
    pub revisions: Vec<Revision>,
    /// Attempts begun, by revision and lifeline.
    pub attempts: BTreeMap<(u32, String), u32>,
    /// Models that answered in this revision.
    pub models: Vec<String>,
    /// Tokens and money by lifeline, over the run.
    pub spent: BTreeMap<String, Spent>,
    /// Tokens and money of the revision in work.
    pub spent_here: Spent,
    /// Files that a person edited before this branch began.
    pub edited: Vec<String>,
    /// The attempt in work.
    pub in_flight: Option<InFlight>,
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
            sections: None,
            rejected: Vec::new(),
            checks: BTreeMap::new(),
            baseline: Baseline::default(),
            feedback: Vec::new(),
            review: None,
            second_reading: None,
            standing: Standing::default(),
            revisions: Vec::new(),
            attempts: BTreeMap::new(),
            models: Vec::new(),
            spent: BTreeMap::new(),
            spent_here: Spent::default(),
            edited: Vec::new(),
            in_flight: None,
            finished: None,
            events: 0,
        }
    }
}

/// What a branch begins with (`branch_started`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// The revision it is made from.
    pub from: u32,
    /// The machine's state at its start.
    pub state: State,
    /// Artifacts taken over, edited ones included.
    pub artifacts: BTreeMap<String, Sha>,
    /// The names of the edited ones.
    pub edited: Vec<String>,
    /// Requirements of the informal specification.
    pub requirements: Vec<Requirement>,
    /// Requirements by property.
    pub covers: BTreeMap<String, Vec<String>>,
    /// What that revision's review left open.
    pub feedback: Vec<Feedback>,
}

/// An event whose data is not what its name promises.
#[derive(Debug, thiserror::Error)]
#[error("event {seq} ({name}) cannot be understood: {source}; a newer tlaforge may have written it")]
pub struct FoldError {
    /// Its number.
    pub seq: u64,
    /// Its name.
    pub name: String,
    /// Why not.
    pub source: serde_json::Error,
}

impl RunView {
    /// Folds a whole journal.
    pub fn of(events: &[Event]) -> Result<Self, FoldError> {
        let mut view = Self::default();
        for event in events {
            view.apply(event)?;
        }
        Ok(view)
    }

    /// The last check of the revision in work.
    pub fn check(&self) -> Option<&CheckRecord> {
        self.checks.get(&self.rev)
    }

    /// The current artifact of that name.
    pub fn artifact(&self, name: &str) -> Option<&Sha> {
        self.current.get(name)
    }

    /// What a station has to mend.
    pub fn open_for(&self, station: Station) -> impl Iterator<Item = &Feedback> {
        self.feedback.iter().filter(move |f| f.station == station)
    }

    /// Tokens and money of the whole run.
    pub fn spent_total(&self) -> Spent {
        self.spent.values().fold(Spent::default(), |a, b| Spent {
            answers: a.answers + b.answers,
            stale: a.stale + b.stale,
            tokens: a.tokens + b.tokens,
            cost_usd: a.cost_usd + b.cost_usd,
            unpriced: a.unpriced + b.unpriced,
        })
    }

    /// The number of the next revision: no number is ever used twice.
    pub fn next_revision(&self) -> u32 {
        self.revisions.iter().map(|r| r.revision + 1).max().unwrap_or(0).max(self.rev + 1)
    }

    /// Requirements with the properties of the last check, or of the last merge, that cover them.
    pub fn covered_requirements(&self) -> Vec<CoveredRequirement> {
        let checked: Option<Vec<&String>> =
            self.check().map(|c| c.outcome.invariants.iter().chain(&c.outcome.properties).collect());
        self.requirements
            .iter()
            .map(|requirement| CoveredRequirement {
                requirement: requirement.clone(),
                covered_by: self
                    .covers
                    .iter()
                    .filter(|(name, ids)| {
                        ids.contains(&requirement.id) && checked.as_ref().is_none_or(|c| c.contains(name))
                    })
                    .map(|(name, _)| name.clone())
                    .collect(),
            })
            .collect()
    }

    /// The best closed revision, the later one of equals; `here` stands for the revision in work.
    pub fn best(&self, here: Option<Standing>) -> Option<(u32, Standing)> {
        self.revisions
            .iter()
            .map(|r| (r.revision, r.standing))
            .chain(here.map(|s| (self.rev, s)))
            .max_by(|(a, x), (b, y)| x.rank().cmp(&y.rank()).then(a.cmp(b)))
    }

    /// Folds one event.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        self.events += 1;
        self.fold(event).map_err(|source| FoldError { seq: event.seq, name: event.name.clone(), source })
    }

    fn fold(&mut self, event: &Event) -> Result<(), serde_json::Error> {
        match event.name.as_str() {
            "run_started" => self.settings = Settings::deserialize(&event.data)?,
            "branch_started" => self.branch(Branch::deserialize(&event.data)?, event.rev),
            "run_resumed" => {
                if let Some(surroundings) = event.data.get("surroundings") {
                    self.settings.surroundings = surroundings.clone();
                }
                self.finished = None;
                self.step(&Step::Resume);
            }
            "attempt_started" => {
                self.attempts.insert((event.rev, event.lifeline.clone()), event.attempt);
                let lifeline = event.lifeline.clone();
                self.in_flight = Some(InFlight { lifeline, attempt: event.attempt, events: Vec::new() });
            }
            "attempt_finished" => {
                self.in_flight = None;
                let product = Product::deserialize(&event.data)?;
                let step = product.event;
                self.absorb(product);
                self.step(&step);
            }
            "revision_closed" => self.revisions.push(Revision::deserialize(&event.data)?),
            "run_finished" => {
                let finished = Finished::deserialize(&event.data)?;
                if let Some(reason) = finished.reason {
                    self.step(&Step::Stop(reason));
                }
                self.finished = Some(finished);
            }
            name => {
                if name == "answer_received" {
                    self.spend(event);
                }
                if name == "check_finished" {
                    let record = CheckRecord::deserialize(&event.data)?;
                    self.baseline.absorb(&record.checked);
                    self.checks.insert(event.rev, record);
                }
                if let Some(attempt) = &mut self.in_flight {
                    attempt.events.push(event.clone());
                }
            }
        }
        Ok(())
    }

    fn spend(&mut self, event: &Event) {
        let number = |name: &str| event.data["usage"][name].as_u64().unwrap_or(0);
        let tokens = number("input") + number("output") + number("cache_read") + number("cache_write");
        let cost = event.data["cost_usd"].as_f64();
        let stale = event.data["stale"].as_bool() == Some(true);
        for spent in [self.spent.entry(event.lifeline.clone()).or_default(), &mut self.spent_here] {
            spent.answers += 1;
            spent.stale += u32::from(stale);
            spent.tokens += tokens;
            spent.cost_usd += cost.unwrap_or(0.0);
            spent.unpriced += u32::from(cost.is_none());
        }
        if let Some(model) = event.data["model"].as_str()
            && !self.models.iter().any(|m| m == model)
        {
            self.models.push(model.to_owned());
        }
    }

    fn branch(&mut self, branch: Branch, rev: u32) {
        let parent_check = self.checks.get(&branch.from).cloned();
        self.rev = rev;
        self.parent = Some(branch.from);
        self.state = branch.state;
        self.current = branch.artifacts;
        self.requirements = branch.requirements;
        self.covers = branch.covers;
        self.feedback = branch.feedback;
        self.edited = branch.edited;
        self.sections = None;
        self.in_flight = None;
        self.finished = None;
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
        self.spent_here = Spent::default();
    }

    /// Takes in what a station made; the machine moves afterwards.
    pub(super) fn absorb(&mut self, product: Product) {
        let here = self.state.position;
        self.current.extend(product.artifacts);
        if let Position::At(station) = here
            && !matches!(product.event, Step::Unreadable | Step::ReviewUnreadable { .. })
        {
            // A station that answered has seen all that was open for it; a review replaces everything.
            self.feedback.retain(|f| station != Station::Review && f.station != station);
        }
        self.feedback.extend(product.feedback);
        match product.facts {
            Facts::Nothing => self.rejected.clear(),
            Facts::Informal { requirements, other_concerns } => {
                self.requirements = requirements;
                self.other_concerns = other_concerns;
            }
            Facts::Rejected { diagnostics } => self.rejected = diagnostics,
            Facts::Merged { covers, sections } => {
                self.rejected.clear();
                self.covers = covers;
                self.sections = Some(sections);
            }
            Facts::Reviewed { review, standing, .. } => {
                if let Some(check) = self.checks.get(&self.rev) {
                    self.baseline.accept(&review.accepted_changes, &check.checked);
                }
                self.review = Some(*review);
                self.standing = standing;
            }
            Facts::ReviewUnreadable { standing, .. } => self.standing = standing,
            Facts::SecondRead { agrees, why } => self.second_reading = Some((agrees, why)),
        }
    }

    fn step(&mut self, event: &Step) {
        let t = transition(&self.settings.rules, &self.state, event);
        debug_assert!(t.row != Row::Ignored || matches!(event, Step::Resume), "{event:?} in {:?}", self.state);
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

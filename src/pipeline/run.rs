//! A run on disk: the folder, its lock, its journal and its artifacts, and the view that follows the journal.

use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use super::admission::Admitted;
use super::candidates::{MAX_CANDIDATES, Stage, lifeline_of};
use super::claims::{restorations, reviewed};
use super::events::{AttemptStarted, Entry, Record, RunEvent};
use super::guard::{ApprovalFacts, FlawFacts};
use super::knowledge::{Judgement, Knowledge};
use super::node_name::NodeName;
use super::records::{Branch, Settings, Spent, Stored};
use super::view::RunView;
use super::watch::{Forecast, Foreseen, RuleEnd, Watch, WatchError};
use crate::journal::{
    self, ArtifactStore, Clock, Crash, Journal, JournalError, Kind, LockError, Past, Recovery, RunLock, Sha, StoreError,
};
use crate::monitor::{InterventionSettings, Propositions};
use crate::temporal::Standing;
use crate::temporal::causal::CausalError;

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The artifact store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The policy that the run is under.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// What an event says it could know of.
    #[error("event {seq}: {source}; the journal was changed after it was written")]
    Clock {
        /// Its number.
        seq: u64,
        /// Why not.
        source: CausalError,
    },
    /// The operating system refused.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// There is no run in the folder.
    #[error("{folder} holds no run (there is no journal.jsonl in it)")]
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
}

struct Ledger {
    journal: Journal<RunEvent>,
    view: RunView,
    knowledge: Knowledge,
    watch: Option<Watch>,
}

impl Ledger {
    fn follow(view: &mut RunView, knowledge: &mut Knowledge, entry: &Entry) -> Result<(), RunError> {
        view.apply(entry);
        knowledge.follow(entry).map_err(|source| RunError::Clock { seq: entry.seq, source })
    }
}

/// An open run. Cheap to share; appending is serialised.
pub struct Run {
    root: PathBuf,
    store: ArtifactStore,
    ledger: Mutex<Ledger>,
    recovery: Recovery,
    /// Visible files as they were when they were last looked at.
    seen: Mutex<HashMap<PathBuf, (FileState, Sha)>>,
    lock: RunLock,
}

/// What the system says of a file. Whoever writes it changes this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileState {
    bytes: u64,
    modified: SystemTime,
}

impl FileState {
    pub(super) fn of(metadata: &Metadata) -> Option<Self> {
        Some(Self { bytes: metadata.len(), modified: metadata.modified().ok()? })
    }
}

/// What the command line adds to a run: the clock, who watches, and where a crash test ends the process.
pub struct Surroundings {
    /// The time.
    pub clock: Clock,
    /// Who watches.
    pub observer: Option<journal::Observer<RunEvent>>,
    /// For crash tests.
    pub crash: Option<Crash>,
}

impl Run {
    /// Whether the folder holds a run.
    pub fn exists(root: &Path) -> bool {
        root.join("journal.jsonl").metadata().is_ok_and(|m| m.len() > 0 || !m.is_file())
    }

    /// Opens the folder, making it where needed, takes its lock and recovers its journal.
    pub fn open(root: &Path, surroundings: Surroundings) -> Result<Self, RunError> {
        std::fs::create_dir_all(root).map_err(|source| RunError::Io {
            what: "create the folder",
            path: root.to_owned(),
            source,
        })?;
        let root =
            std::path::absolute(root).map_err(|source| RunError::Io { what: "find", path: root.to_owned(), source })?;
        let lock = RunLock::take(&root, &(surroundings.clock)())?;
        let (mut journal, recovery) = Journal::open(&root.join("journal.jsonl"), surroundings.clock)?;
        let (mut view, mut knowledge) = (RunView::default(), Knowledge::new());
        for entry in journal.entries() {
            Ledger::follow(&mut view, &mut knowledge, entry)?;
        }
        if let Some(observer) = surroundings.observer {
            journal.observe(observer);
        }
        journal.crash_at(surroundings.crash);
        let store = ArtifactStore::open(&root.join("artifacts"))?;
        let mut watch = view.settings.policy.as_ref().map(|policy| Watch::of(policy, &store)).transpose()?;
        if let Some(watch) = &mut watch {
            watch.catch_up(journal.entries())?;
        }
        Ok(Self {
            root,
            store,
            ledger: Mutex::new(Ledger { journal, view, knowledge, watch }),
            recovery,
            seen: Mutex::default(),
            lock,
        })
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A panic while appending leaves the journal's own state consistent: it is written before the view moves.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The only folder that a model may read.
    pub fn workspace(&self) -> PathBuf {
        self.root.join("workspace")
    }

    /// Where candidates have folders of their own to read.
    pub(super) fn candidates(&self) -> PathBuf {
        self.root.join("candidates")
    }

    /// The artifacts.
    pub fn store(&self) -> &ArtifactStore {
        &self.store
    }

    /// What opening had to mend.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// The run as its journal tells it now.
    pub fn view(&self) -> RunView {
        self.ledger().view.clone()
    }

    /// The name of what a file held when it was last looked at, where nobody has written it since.
    pub(super) fn recall(&self, path: &Path) -> Option<Sha> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (state, sha) = seen.get(path)?;
        (FileState::of(&path.metadata().ok()?)? == *state).then(|| sha.clone())
    }

    /// Remembers what a file held in a state.
    pub(super) fn remember(&self, path: &Path, state: Option<FileState>, sha: &Sha) {
        if let Some(state) = state {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), (state, sha.clone()));
        }
    }

    /// The number that the next event gets.
    pub fn next_seq(&self) -> u64 {
        self.ledger().journal.next_seq()
    }

    /// All events so far.
    pub fn entries(&self) -> Vec<Entry> {
        self.ledger().journal.entries().to_vec()
    }

    /// Tokens and money so far.
    pub fn spent(&self) -> Spent {
        self.ledger().view.spent_total()
    }

    /// What `find` gives for the last event of a lifeline for which it gives something.
    pub fn find_last<T>(&self, lifeline: &str, find: impl Fn(&Entry) -> Option<T>) -> Option<T> {
        let ledger = self.ledger();
        ledger.journal.entries().iter().rev().filter(|entry| entry.lifeline == lifeline).find_map(find)
    }

    /// What the guards come to if `review` says now what these facts tell, on the causal past that the journal shows.
    pub fn judge(
        &self,
        view: &RunView,
        facts: &ApprovalFacts,
        claimed: Option<&FlawFacts>,
    ) -> Result<Judgement, RunError> {
        let ledger = self.ledger();
        let seq = ledger.journal.next_seq();
        let claims = reviewed(view, facts, claimed);
        ledger.knowledge.judge(&claims).map_err(|source| RunError::Clock { seq, source })
    }

    /// Puts the run under a policy whose text is kept: what its journal holds already counts, and is told with the next
    /// event.
    pub fn put_under(&self, policy: &Stored, rules: Admitted) -> Result<(), RunError> {
        let mut ledger = self.ledger();
        let mut watch = Watch::new(rules, policy.sha.clone(), &self.store);
        watch.catch_up(ledger.journal.entries())?;
        ledger.watch = Some(watch);
        Ok(())
    }

    /// How answers that would violate a rule are met; `None` where no rule asks for that.
    pub fn intervening(&self) -> Option<InterventionSettings> {
        self.ledger().watch.as_ref().and_then(Watch::intervening)
    }

    /// What a model has to judge of each answer before the rules see it; nothing where no rule speaks of that.
    pub fn labels(&self) -> Propositions {
        self.ledger().watch.as_ref().map(|watch| watch.labels().clone()).unwrap_or_default()
    }

    /// The rules about the whole journal, each with what it asks for in words.
    pub fn rules_in_words(&self) -> Vec<(String, String)> {
        self.ledger().watch.as_ref().map(Watch::in_words).unwrap_or_default()
    }

    /// What the run's policy would come to with these events next.
    pub fn forecast(&self, records: Vec<Record>) -> Result<Forecast, RunError> {
        let ledger = self.ledger();
        let Some(watch) = &ledger.watch else { return Ok(Forecast::default()) };
        Ok(watch.forecast(ledger.journal.draft(), records).map_err(WatchError::from)?)
    }

    /// The rules that ask for an intervention and are not decided yet.
    pub fn undecided(&self) -> Vec<Foreseen> {
        self.ledger().watch.as_ref().map(Watch::undecided).unwrap_or_default()
    }

    /// The verdicts on each rule that asks for an intervention, were these events to come next, after each of them; of
    /// rules that the first one leaves undecided.
    ///
    /// The first `before` of them only lead there.
    pub fn foresee(&self, records: Vec<Record>, before: usize) -> Result<BTreeMap<String, Vec<Standing>>, RunError> {
        let ledger = self.ledger();
        let Some(watch) = &ledger.watch else { return Ok(BTreeMap::new()) };
        Ok(watch.foresee(ledger.journal.draft(), records, before).map_err(WatchError::from)?)
    }

    /// How the rules of the run's policy would stand if its journal ended behind these records.
    pub(super) fn rules_at_end(&self, records: &[Record]) -> Result<Vec<RuleEnd>, RunError> {
        let ledger = self.ledger();
        let Some(watch) = &ledger.watch else { return Ok(Vec::new()) };
        Ok(watch.ends(ledger.journal.draft(), records).map_err(WatchError::from)?)
    }

    /// Appends a group of events, durably, and follows them. Where one breaks a rule of the run's policy, that follows
    /// in the same group.
    pub fn append(&self, records: Vec<Record>) -> Result<Vec<Entry>, RunError> {
        let mut ledger = self.ledger();
        self.lock.check()?;
        let mut draft = ledger.journal.draft();
        draft.extend(records);
        if let Some(watch) = &mut ledger.watch {
            watch.extend(&mut draft).map_err(WatchError::from)?;
        }
        let entries = ledger.journal.commit(draft)?.to_vec();
        for entry in &entries {
            let Ledger { view, knowledge, .. } = &mut *ledger;
            Ledger::follow(view, knowledge, entry)?;
        }
        Ok(entries)
    }

    /// Writes `run_started`.
    pub fn start(&self, settings: &Settings) -> Result<(), RunError> {
        let started = RunEvent::RunStarted(Box::new(settings.clone()));
        self.append(vec![record("run", Kind::Act, 0, 0, started).after_all()]).map(|_| ())
    }

    /// Keeps a text and describes it.
    pub fn keep(&self, path: &str, text: &str) -> Result<Stored, RunError> {
        let sha = self.store.put(text)?;
        Ok(Stored { path: path.to_owned(), sha, bytes: text.len() as u64 })
    }

    /// The text of a current artifact, if there is one.
    pub fn current_text(&self, view: &RunView, name: &str) -> Result<Option<String>, RunError> {
        Ok(view.artifact(name).map(|sha| self.store.text(sha)).transpose()?)
    }
}

/// Journals the start of a branch as the next free revision.
pub fn begin_branch(run: &Run, branch: &Branch, kind: Kind) -> Result<(), RunError> {
    let mut view = run.view();
    let rev = view.next_revision();
    let started = record("run", kind, rev, 0, RunEvent::BranchStarted(Box::new(branch.clone()))).after_all();
    view.branch(branch.clone(), rev);
    let group = std::iter::once(started).chain(restorations(&view));
    run.append(group.collect()).map(|_| ())
}

/// A record that follows from the events of its own lifeline; see [`journal::Record::after_all`].
pub(crate) fn record(lifeline: &str, kind: Kind, rev: u32, attempt: u32, event: RunEvent) -> Record {
    Record { lifeline: lifeline.to_owned(), kind, rev, attempt, past: Past::Lifeline, event }
}

/// Our own types always serialise: string keys, no failing implementations.
pub(crate) fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("plain data with string keys")
}

/// One attempt at a node. Steps that are durable are recalled, not done again.
pub struct Attempt<'a> {
    /// The run.
    pub run: &'a Run,
    /// The lifeline: the node's name.
    pub lifeline: &'static str,
    /// The revision.
    pub rev: u32,
    /// Its place on the branch.
    pub place: u32,
    /// The attempt's number, from 1.
    pub attempt: u32,
    /// The number of the candidate that it is about, from 1; 0 where there are none beside it.
    pub candidate: u32,
    /// The lifeline at which an answer is taken: of a candidate, the node's for which it drafts.
    pub taker: &'static str,
    /// What is taken before an answer of this attempt, if that is: a candidate's draft, before its properties.
    pub taken_before: Vec<Record>,
    /// Of a candidate: told when what it is asked for has been decided, and closed when the run stops.
    pub over: Option<watch::Receiver<bool>>,
    recalled: Vec<Entry>,
}

impl<'a> Attempt<'a> {
    /// Begins an attempt, or takes up the one in flight.
    pub(crate) fn begin(run: &'a Run, lifeline: &'static str) -> Result<Self, RunError> {
        let view = run.view();
        let (rev, place) = (view.rev, view.state.place);
        if let Some(in_flight) = view.in_flight.filter(|f| f.lifeline == lifeline) {
            let recalled = in_flight.events;
            return Ok(Self::own(run, lifeline, (rev, place, in_flight.attempt), recalled));
        }
        let attempt = view.attempts.get(&(rev, lifeline.to_owned())).copied().unwrap_or(0) + 1;
        let started = RunEvent::AttemptStarted(AttemptStarted {});
        run.append(vec![record(lifeline, Kind::Act, rev, attempt, started).after_all()])?;
        Ok(Self::own(run, lifeline, (rev, place, attempt), Vec::new()))
    }

    fn own(run: &'a Run, lifeline: &'static str, at: (u32, u32, u32), recalled: Vec<Entry>) -> Self {
        let ((rev, place, attempt), taker) = (at, lifeline);
        Self { run, lifeline, rev, place, attempt, candidate: 0, taker, taken_before: Vec::new(), over: None, recalled }
    }

    /// The part of a candidate in this attempt; what it recalls is of one stage, or of all.
    #[must_use]
    pub fn apart(&self, candidate: u32, stage: Option<Stage>) -> Self {
        let Self { run, rev, place, attempt, .. } = *self;
        let lifeline = lifeline_of(candidate);
        let own = || self.recalled.iter().filter(|entry| entry.lifeline == lifeline);
        let drafted = own().position(|entry| entry.event.is_candidate_finished()).map_or(usize::MAX, |at| at + 1);
        let recalled = match stage {
            None => own().cloned().collect(),
            Some(Stage::Formalization) => own().take(drafted).cloned().collect(),
            Some(Stage::Properties) => own().skip(drafted).cloned().collect(),
        };
        let taker = match stage {
            Some(Stage::Properties) => NodeName::GenerateInvariants.name(),
            _ => NodeName::Formalize.name(),
        };
        Self { candidate, taker, ..Self::own(run, lifeline, (rev, place, attempt), recalled) }
    }

    /// How many requests for one purpose there can be side by side: the numbers of further samples keep that distance.
    pub fn of(&self) -> u32 {
        if self.candidate == 0 { 1 } else { MAX_CANDIDATES }
    }

    /// The only folder that a model may read: candidates do not share theirs.
    pub fn workspace(&self) -> PathBuf {
        match self.candidate {
            0 => self.run.workspace(),
            number => self.run.candidates().join(number.to_string()),
        }
    }

    /// The last event of this attempt from before a crash for which `find` gives something.
    pub fn recall<'s, T>(&'s self, find: impl Fn(&'s RunEvent) -> Option<T>) -> Option<T> {
        self.recall_entry(|entry| find(&entry.event))
    }

    /// The same, where the envelope counts as well.
    pub fn recall_entry<'s, T>(&'s self, find: impl Fn(&'s Entry) -> Option<T>) -> Option<T> {
        self.recalled.iter().rev().filter(|entry| entry.lifeline == self.lifeline).find_map(find)
    }

    /// Whether there is such an event of this attempt from before a crash.
    pub fn has(&self, is_it: impl Fn(&RunEvent) -> bool) -> bool {
        self.recall(|event| is_it(event).then_some(())).is_some()
    }

    /// A record of this attempt.
    pub fn event(&self, kind: Kind, event: RunEvent) -> Record {
        record(self.lifeline, kind, self.rev, self.attempt, event)
    }

    /// Appends an event of this attempt.
    pub fn record(&self, kind: Kind, event: RunEvent) -> Result<Entry, RunError> {
        let entries = self.run.append(vec![self.event(kind, event)])?;
        Ok(entries.into_iter().next().expect("a record gives an event"))
    }

    /// Keeps a text in the artifact store.
    pub fn keep(&self, text: &str) -> Result<Sha, RunError> {
        Ok(self.run.store().put(text)?)
    }
}

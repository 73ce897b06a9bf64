//! A run on disk: the folder, its lock, its journal and its artifacts, and the view that follows the journal.

use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::journal::{
    self, ArtifactStore, Clock, Crash, Journal, JournalError, Kind, LockError, Recovery, RunLock, Sha, StoreError,
};
use crate::monitor::{InterventionSettings, Propositions};
use crate::pipeline::machine::{ApprovalFacts, FlawFacts};
use crate::pipeline::policy::{Admitted, CausalView, Forecast, Foreseen, Judgement, Watch, WatchError};
use crate::pipeline::records::{
    Branch, Entry, Record, RuleEnd, RunEvent, RunView, Settings, Spent, Stored, record, restorations, reviewed,
};
use crate::temporal::PrefixVerdict;
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
    /// Shared with the readers of the run. `Arc::make_mut` copies it only if a reader still holds an earlier state.
    view: Arc<RunView>,
    causal_view: CausalView,
    watch: Option<Watch>,
}

impl Ledger {
    fn follow(view: &mut RunView, causal_view: &mut CausalView, entry: &Entry) -> Result<(), RunError> {
        view.apply(entry);
        causal_view.follow(entry).map_err(|source| RunError::Clock { seq: entry.seq, source })
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
pub(in crate::pipeline) struct FileState {
    bytes: u64,
    modified: SystemTime,
}

impl FileState {
    pub(in crate::pipeline) fn of(metadata: &Metadata) -> Option<Self> {
        Some(Self { bytes: metadata.len(), modified: metadata.modified().ok()? })
    }
}

/// What the command line adds to a run: the clock, who watches, and where a crash test ends the process.
pub struct RunEnvironment {
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
    pub fn open(root: &Path, environment: RunEnvironment) -> Result<Self, RunError> {
        std::fs::create_dir_all(root).map_err(|source| RunError::Io {
            what: "create the folder",
            path: root.to_owned(),
            source,
        })?;
        let root =
            std::path::absolute(root).map_err(|source| RunError::Io { what: "find", path: root.to_owned(), source })?;
        let lock = RunLock::take(&root, &(environment.clock)())?;
        let (mut journal, recovery) = Journal::open(&root.join("journal.jsonl"), environment.clock)?;
        let (mut view, mut causal_view) = (RunView::default(), CausalView::new());
        for entry in journal.entries() {
            Ledger::follow(&mut view, &mut causal_view, entry)?;
        }
        if let Some(observer) = environment.observer {
            journal.observe(observer);
        }
        journal.crash_at(environment.crash);
        let store = ArtifactStore::open(&root.join("artifacts"))?;
        let mut watch = view.settings.policy.as_ref().map(|policy| Watch::of(policy, &store)).transpose()?;
        if let Some(watch) = &mut watch {
            watch.catch_up(journal.entries())?;
        }
        Ok(Self {
            root,
            store,
            ledger: Mutex::new(Ledger { journal, view: Arc::new(view), causal_view, watch }),
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
    pub(in crate::pipeline) fn candidates(&self) -> PathBuf {
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

    /// The state of the run now. It does not change while the run goes on: ask again for a newer one.
    pub fn view(&self) -> Arc<RunView> {
        Arc::clone(&self.ledger().view)
    }

    /// The name of what a file held when it was last looked at, where nobody has written it since.
    pub(in crate::pipeline) fn recall(&self, path: &Path) -> Option<Sha> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (state, sha) = seen.get(path)?;
        (FileState::of(&path.metadata().ok()?)? == *state).then(|| sha.clone())
    }

    /// Remembers what a file held in a state.
    pub(in crate::pipeline) fn remember(&self, path: &Path, state: Option<FileState>, sha: &Sha) {
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
        ledger.causal_view.judge(&claims).map_err(|source| RunError::Clock { seq, source })
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
    pub fn foresee(
        &self,
        records: Vec<Record>,
        before: usize,
    ) -> Result<BTreeMap<String, Vec<PrefixVerdict>>, RunError> {
        let ledger = self.ledger();
        let Some(watch) = &ledger.watch else { return Ok(BTreeMap::new()) };
        Ok(watch.foresee(ledger.journal.draft(), records, before).map_err(WatchError::from)?)
    }

    /// How the rules of the run's policy would stand if its journal ended behind these records.
    pub(in crate::pipeline) fn rules_at_end(&self, records: &[Record]) -> Result<Vec<RuleEnd>, RunError> {
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
            let Ledger { view, causal_view, .. } = &mut *ledger;
            Ledger::follow(Arc::make_mut(view), causal_view, entry)?;
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
    let mut view = (*run.view()).clone();
    let rev = view.next_revision();
    let started = record("run", kind, rev, 0, RunEvent::BranchStarted(Box::new(branch.clone()))).after_all();
    view.begin_branch(branch.clone(), rev);
    let group = std::iter::once(started).chain(restorations(&view));
    run.append(group.collect()).map(|_| ())
}

//! A run on disk: the folder, its lock, its journal and its artifacts, and the view that follows the journal.

use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::journal::{
    self, ArtifactStore, Clock, Crash, Journal, JournalError, Kind, LockError, Recovery, Replica, RunLock, Sha,
    StoreError, address_of_working_copy,
};
use crate::monitor::{InterventionSettings, Propositions};
use crate::pipeline::machine::{ApprovalFacts, FlawFacts};
use crate::pipeline::policy::{
    Admitted, CausalView, Judgement, PredictedVerdicts, PredictedViolation, RuleMonitor, RuleMonitorError,
};
use crate::pipeline::records::{
    Branch, Entry, Record, Revision, RuleEnd, RunEvent, RunView, Settings, Spent, StoredFile, record, restorations,
    reviewed,
};
use crate::temporal::PrefixVerdict;
use crate::temporal::causal::CausalError;
use crate::tla::is_module_name;

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The user's policy cannot be evaluated.
    #[error(transparent)]
    RuleMonitor(#[from] RuleMonitorError),
    /// The vector clock of an event contradicts the journal.
    #[error("event {seq}: {source}; the journal was changed after it was written")]
    Clock { seq: u64, source: CausalError },
    #[error("{what} {path}: {source}")]
    Io {
        /// The failed operation, such as `write`.
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{folder} holds no run (there is no journal.jsonl in it)")]
    NoRun { folder: PathBuf },
    /// A file with this name could be outside of the run folder.
    #[error("the journal names a file {name:?}, which could be outside of the run folder")]
    UnsafeName { name: String },
    /// What is written to the folder alone would never reach the shared store.
    #[error("{folder} is only the working copy of {address}")]
    WorkingCopy { folder: PathBuf, address: String },
}

struct Ledger {
    journal: Journal<RunEvent>,
    /// Shared with the readers of the run. `Arc::make_mut` copies it only if a reader still holds an earlier state.
    view: Arc<RunView>,
    causal_view: CausalView,
    rules: Option<RuleMonitor>,
}

impl Ledger {
    fn apply(view: &mut RunView, causal_view: &mut CausalView, entry: &Entry) -> Result<(), RunError> {
        view.apply(entry);
        causal_view.add_event(entry).map_err(|source| RunError::Clock { seq: entry.seq, source })
    }
}

/// An open run. Threads can share it; appending is serialised.
pub struct Run {
    root: PathBuf,
    store: ArtifactStore,
    ledger: Mutex<Ledger>,
    recovery: Recovery,
    /// The visible files when they were last read.
    seen: Mutex<HashMap<PathBuf, (FileState, Sha)>>,
    lock: RunLock,
}

/// Size and time of a file. A write changes at least one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pipeline) struct FileState {
    bytes: u64,
    modified: SystemTime,
}

impl FileState {
    pub(in crate::pipeline) fn read(metadata: &Metadata) -> Option<Self> {
        Some(Self { bytes: metadata.len(), modified: metadata.modified().ok()? })
    }
}

/// What a run gets from the program around it.
pub struct RunEnvironment {
    pub clock: Clock,
    /// Sees each event after it is durable.
    pub observer: Option<journal::Observer<RunEvent>>,
    /// For crash tests.
    pub crash: Option<Crash>,
    /// The shared store of the run, if `root` is its working copy.
    pub replica: Option<Arc<dyn Replica>>,
}

impl Run {
    /// Whether the folder holds a run.
    pub fn exists(root: &Path) -> bool {
        root.join("journal.jsonl").metadata().is_ok_and(|m| m.len() > 0 || !m.is_file())
    }

    /// Opens the folder, takes its lock and recovers its journal. Creates the folder if it does not exist.
    pub fn open(root: &Path, environment: RunEnvironment) -> Result<Self, RunError> {
        std::fs::create_dir_all(root).map_err(|source| RunError::Io {
            what: "create the folder",
            path: root.to_owned(),
            source,
        })?;
        let root =
            std::path::absolute(root).map_err(|source| RunError::Io { what: "find", path: root.to_owned(), source })?;
        if let (Some(address), None) = (address_of_working_copy(&root), &environment.replica) {
            return Err(RunError::WorkingCopy { folder: root, address });
        }
        let lock = RunLock::take(&root, &(environment.clock)())?;
        let (mut journal, recovery) = Journal::open(&root.join("journal.jsonl"), environment.clock)?;
        let (mut view, mut causal_view) = (RunView::default(), CausalView::new());
        for entry in journal.entries() {
            Ledger::apply(&mut view, &mut causal_view, entry)?;
        }
        // They become names of files, and the journal may come from another person.
        let modules = view.revisions.iter().map(Revision::module_name).chain([view.module_name()]);
        if let Some(name) = modules.into_iter().find(|name| !is_module_name(name)) {
            return Err(RunError::UnsafeName { name: format!("{name}.tla") });
        }
        if let Some(observer) = environment.observer {
            journal.observe(observer);
        }
        journal.crash_at(environment.crash);
        journal.replicate(environment.replica.clone());
        let store = ArtifactStore::open(&root.join("artifacts"))?.replicated(environment.replica);
        let mut rules = view.settings.policy.as_ref().map(|policy| RuleMonitor::load(policy, &store)).transpose()?;
        if let Some(rules) = &mut rules {
            rules.catch_up(journal.entries())?;
        }
        Ok(Self {
            root,
            store,
            ledger: Mutex::new(Ledger { journal, view: Arc::new(view), causal_view, rules }),
            recovery,
            seen: Mutex::default(),
            lock,
        })
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A panic while appending leaves the journal's own state consistent: it is written before the view moves.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The name of the run in telemetry: its address in a shared store, which is the same on all machines, or its folder.
    pub fn id(&self) -> String {
        Self::id_in(&self.root)
    }

    /// The name of the run in a folder that exists, however the folder is written.
    pub fn id_in(root: &Path) -> String {
        let folder = || root.canonicalize().unwrap_or_else(|_| root.to_owned());
        address_of_working_copy(root).unwrap_or_else(|| folder().display().to_string())
    }

    /// The only folder that a model may read.
    pub fn workspace(&self) -> PathBuf {
        self.root.join("workspace")
    }

    /// The folder with the workspaces of candidates.
    pub(in crate::pipeline) fn candidates(&self) -> PathBuf {
        self.root.join("candidates")
    }

    pub fn store(&self) -> &ArtifactStore {
        &self.store
    }

    /// What was repaired when the run was opened.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// The state of the run now. It does not change while the run goes on: ask again for a newer one.
    pub fn view(&self) -> Arc<RunView> {
        Arc::clone(&self.ledger().view)
    }

    /// The hash of a file, if nothing has written it since it was last read.
    pub(in crate::pipeline) fn recall(&self, path: &Path) -> Option<Sha> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (state, sha) = seen.get(path)?;
        (FileState::read(&path.metadata().ok()?)? == *state).then(|| sha.clone())
    }

    /// Remembers the hash of a file in this state.
    pub(in crate::pipeline) fn remember(&self, path: &Path, state: Option<FileState>, sha: &Sha) {
        if let Some(state) = state {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), (state, sha.clone()));
        }
    }

    /// The number of the next event.
    pub fn next_seq(&self) -> u64 {
        self.ledger().journal.next_seq()
    }

    pub fn entries(&self) -> Vec<Entry> {
        self.ledger().journal.entries().to_vec()
    }

    pub fn spent(&self) -> Spent {
        self.ledger().view.spent_total()
    }

    /// The first result of `find` over the events of a lifeline, the latest event first.
    pub fn find_last<T>(&self, lifeline: &str, find: impl Fn(&Entry) -> Option<T>) -> Option<T> {
        let ledger = self.ledger();
        ledger.journal.entries().iter().rev().filter(|entry| entry.lifeline == lifeline).find_map(find)
    }

    /// The verdicts of the guards if `review` published these facts now, by the causal past in the journal.
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

    /// Evaluates a policy from now on. It also sees all earlier events; violations by them are journaled with the next
    /// event.
    pub fn set_policy(&self, policy: &StoredFile, rules: Admitted) -> Result<(), RunError> {
        let mut ledger = self.ledger();
        let mut monitor = RuleMonitor::new(rules, policy.sha.clone(), &self.store);
        monitor.catch_up(ledger.journal.entries())?;
        ledger.rules = Some(monitor);
        Ok(())
    }

    /// The settings of interventions; `None` if no rule needs answers to be pending.
    pub fn intervention_settings(&self) -> Option<InterventionSettings> {
        self.ledger().rules.as_ref().and_then(RuleMonitor::intervening)
    }

    /// The propositions that a model has to judge for each answer; empty if no rule uses labels.
    pub fn label_propositions(&self) -> Propositions {
        self.ledger().rules.as_ref().map(|rules| rules.labels().clone()).unwrap_or_default()
    }

    /// The rules about the whole journal, each with its meaning.
    pub fn rules_in_words(&self) -> Vec<(String, String)> {
        self.ledger().rules.as_ref().map(RuleMonitor::in_words).unwrap_or_default()
    }

    /// What the rules would come to if these events came next.
    pub fn predict(&self, records: Vec<Record>) -> Result<PredictedVerdicts, RunError> {
        let ledger = self.ledger();
        let Some(rules) = &ledger.rules else { return Ok(PredictedVerdicts::default()) };
        Ok(rules.predict(ledger.journal.draft(), records).map_err(RuleMonitorError::from)?)
    }

    /// The undecided rules that have an intervention.
    pub fn undecided_rules(&self) -> Vec<PredictedViolation> {
        self.ledger().rules.as_ref().map(RuleMonitor::undecided).unwrap_or_default()
    }

    /// The verdicts on each rule with an intervention after each of these events, if they came next. Rules that the
    /// first of them decides are left out.
    /// The first `before` events only lead there and have no verdict of their own.
    pub fn predict_verdicts(
        &self,
        records: Vec<Record>,
        before: usize,
    ) -> Result<BTreeMap<String, Vec<PrefixVerdict>>, RunError> {
        let ledger = self.ledger();
        let Some(rules) = &ledger.rules else { return Ok(BTreeMap::new()) };
        Ok(rules.predict_verdicts(ledger.journal.draft(), records, before).map_err(RuleMonitorError::from)?)
    }

    /// The verdicts on the rules if the journal ended after these records.
    pub(in crate::pipeline) fn rules_at_end(&self, records: &[Record]) -> Result<Vec<RuleEnd>, RunError> {
        let ledger = self.ledger();
        let Some(rules) = &ledger.rules else { return Ok(Vec::new()) };
        Ok(rules.ends(ledger.journal.draft(), records).map_err(RuleMonitorError::from)?)
    }

    /// Appends a group of events durably and applies them. `rule_violated` events for the rules that they violate are
    /// in the same group.
    pub fn append(&self, records: Vec<Record>) -> Result<Vec<Entry>, RunError> {
        let mut ledger = self.ledger();
        self.lock.check()?;
        let mut draft = ledger.journal.draft();
        draft.extend(records);
        if let Some(rules) = &mut ledger.rules {
            rules.extend(&mut draft).map_err(RuleMonitorError::from)?;
        }
        let entries = ledger.journal.commit(draft)?.to_vec();
        for entry in &entries {
            let Ledger { view, causal_view, .. } = &mut *ledger;
            Ledger::apply(Arc::make_mut(view), causal_view, entry)?;
        }
        Ok(entries)
    }

    /// Journals `run_started`.
    pub fn start(&self, settings: &Settings) -> Result<(), RunError> {
        let started = RunEvent::RunStarted(Box::new(settings.clone()));
        self.append(vec![record("run", Kind::Act, 0, 0, started).with_journal_past()]).map(|_| ())
    }

    /// Stores a text.
    pub fn keep(&self, path: &str, text: &str) -> Result<StoredFile, RunError> {
        let sha = self.store.put(text)?;
        Ok(StoredFile { path: path.to_owned(), sha, bytes: text.len() as u64 })
    }

    /// The text of a current artifact, if there is one.
    pub fn current_text(&self, view: &RunView, name: &str) -> Result<Option<String>, RunError> {
        Ok(view.artifact(name).map(|sha| self.store.text(sha)).transpose()?)
    }
}

/// Journals the start of a branch with the next free revision number.
pub fn begin_branch(run: &Run, branch: &Branch, kind: Kind) -> Result<(), RunError> {
    let mut view = (*run.view()).clone();
    let rev = view.next_revision();
    let started = record("run", kind, rev, 0, RunEvent::BranchStarted(Box::new(branch.clone()))).with_journal_past();
    view.begin_branch(branch.clone(), rev);
    let group = std::iter::once(started).chain(restorations(&view));
    run.append(group.collect()).map(|_| ())
}

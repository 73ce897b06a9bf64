//! A run in a shared store, with every fault that its network can have.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::path::Path as FilePath;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use object_store::ObjectStoreExt as _;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tlaforge_journal::{
    ArtifactStore, Journal, JournalError, Kind, Past, Record, Replica as _, ReplicaError, Sha, read,
};

use super::faulty_store::{Fault, FaultyStore};
use super::objects::{Objects, Patience};
use super::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", content = "data", rename_all = "snake_case")]
enum Thing {
    Thing { n: u32 },
}

fn record(n: u32) -> Record<Thing> {
    let event = Thing::Thing { n };
    Record { lifeline: "run".into(), kind: Kind::Act, rev: 0, attempt: n, past: Past::Lifeline, event }
}

/// A store, and a folder for working copies.
struct Bench {
    store: Arc<FaultyStore>,
    dir: TempDir,
    notes: Arc<Mutex<Vec<String>>>,
    patience: Patience,
}

/// A process that works on the run.
struct Process {
    shared: Arc<SharedRun>,
    journal: Journal<Thing>,
    artifacts: ArtifactStore,
}

const SHORT: Patience = Patience {
    first_pause: Duration::from_millis(1),
    longest_pause: Duration::from_millis(1),
    total: Duration::from_millis(10),
    uncounted: Duration::from_secs(60),
    request: Duration::from_secs(60),
};

impl Bench {
    fn new() -> Self {
        Self { store: Arc::default(), dir: tempfile::tempdir().unwrap(), notes: Arc::default(), patience: SHORT }
    }

    fn folder(&self, machine: &str) -> std::path::PathBuf {
        self.dir.path().join(machine)
    }

    fn connect(&self, machine: &str) -> SharedRun {
        let objects = Objects { store: self.store.clone(), patience: self.patience, waits_to_read: false };
        let (notes, address) = (self.notes.clone(), Address::parse("s3://bucket/run").unwrap());
        let client = StoreClient::with_objects(objects, &address).unwrap();
        let notify: Notify = Arc::new(move |text| notes.lock().unwrap().push(text.to_owned()));
        SharedRun::new(address, self.folder(machine), &format!("process 1 on {machine}"), client, notify)
    }

    fn open(&self, machine: &str) -> Process {
        let shared = Arc::new(self.connect(machine));
        let _lock = shared.lock_working_copy().unwrap();
        shared.update().unwrap();
        shared.mark().unwrap();
        let folder = self.folder(machine);
        // All processes write at the same time.
        let clock = Arc::new(|| "2026-01-01T00:00:00Z".to_owned());
        let (mut journal, _) = Journal::open(&folder.join("journal.jsonl"), clock).unwrap();
        journal.replicate(Some(shared.clone()));
        let artifacts = ArtifactStore::open(&folder.join("artifacts")).unwrap().replicated(Some(shared.clone()));
        Process { shared, journal, artifacts }
    }

    fn numbers(&self, machine: &str) -> Vec<u32> {
        let entries = read::<Thing>(&self.folder(machine).join("journal.jsonl")).unwrap();
        entries.iter().map(|entry| entry.attempt).collect()
    }

    /// Runs a request in the store itself.
    fn direct<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
        &self,
        request: impl FnOnce(Arc<FaultyStore>) -> F,
    ) -> T {
        executor::Executor::start().unwrap().run(request(self.store.clone()))
    }

    fn put(&self, object: &str, body: impl Into<Bytes>) {
        let (path, body) = (format!("run/{object}").into(), body.into());
        self.direct(|store| async move { store.objects.put(&path, body.into()).await.unwrap() });
    }

    fn get(&self, object: &str) -> Bytes {
        let path = format!("run/{object}").into();
        self.direct(|store| async move { store.objects.get(&path).await.unwrap().bytes().await.unwrap() })
    }

    fn delete(&self, object: &str) {
        let path = format!("run/{object}").into();
        self.direct(|store| async move { store.objects.delete(&path).await.unwrap() });
    }
}

fn group(first: u64) -> String {
    format!("journal/{first:020}.jsonl")
}

fn taken_over(error: &JournalError) -> bool {
    matches!(error, JournalError::Replica(ReplicaError::TakenOver { .. }))
}

#[test]
fn another_machine_has_every_event_and_artifact_and_continues() {
    let bench = Bench::new();
    let mut a = bench.open("a");
    a.shared.check_conditional_writes().unwrap();
    a.shared.check_conditional_writes().unwrap();
    let sha = a.artifacts.put("text").unwrap();
    a.journal.append(vec![record(1)]).unwrap();
    a.journal.append(Vec::new()).unwrap();
    a.journal.append(vec![record(2), record(3)]).unwrap();
    let mut b = bench.open("b");
    assert_eq!(bench.numbers("b"), [1, 2, 3]);
    assert_eq!(b.artifacts.text(&sha).unwrap(), "text");
    b.journal.append(vec![record(4)]).unwrap();
    drop((a, b));
    assert_eq!(bench.connect("a").update().unwrap(), Update { events: 1, set_aside: None });
    assert_eq!(bench.connect("a").update_to_read().unwrap(), Update::default());
    let journal = |machine: &str| std::fs::read(bench.folder(machine).join("journal.jsonl")).unwrap();
    assert_eq!(journal("a"), journal("b"));
}

#[test]
fn of_two_writers_the_second_is_refused_even_if_it_writes_the_same_bytes() {
    let bench = Bench::new();
    let (mut a, mut b) = (bench.open("a"), bench.open("b"));
    a.journal.append(Vec::new()).unwrap();
    a.journal.append(vec![record(1)]).unwrap();
    let error = b.journal.append(vec![record(1)]).unwrap_err();
    assert!(taken_over(&error) && error.to_string().contains("process 1 on a"), "{error}");
    assert!(std::fs::read_to_string(bench.folder("b").join("taken-over.txt")).unwrap().contains("process 1 on a"));
    assert_eq!(bench.numbers("b"), [0; 0]);
    // It stays refused, whatever it writes.
    assert!(b.journal.append(vec![record(2)]).unwrap_err().to_string().contains("resume"));
    let mut b = bench.open("b");
    assert!(!bench.folder("b").join("taken-over.txt").exists());
    b.journal.append(vec![record(2)]).unwrap();
    assert!(taken_over(&a.journal.append(vec![record(9)]).unwrap_err()));
    assert_eq!(bench.numbers("b"), [1, 2]);
}

#[test]
fn an_answer_that_is_lost_stores_nothing_twice_and_loses_nothing() {
    for fault in [Fault::Lost, Fault::AnswerLost, Fault::TriedTwice] {
        let bench = Bench::new();
        let mut a = bench.open("a");
        bench.store.fail(&[fault, fault]);
        let sha = a.artifacts.put("text").unwrap();
        bench.store.fail(&[fault]);
        a.journal.append(vec![record(1), record(2)]).unwrap();
        bench.store.fail(&[Fault::Lost, fault]);
        a.journal.append(vec![record(3)]).unwrap();
        let b = bench.open("b");
        assert_eq!((bench.numbers("a"), bench.numbers("b")), (vec![1, 2, 3], vec![1, 2, 3]), "{fault:?}");
        assert_eq!(b.artifacts.text(&sha).unwrap(), "text");
    }
}

#[test]
fn an_answer_that_never_comes_is_given_up_and_the_object_is_read_back() {
    let bench = Bench { patience: Patience { request: Duration::from_secs(1), ..SHORT }, ..Bench::new() };
    let mut a = bench.open("a");
    bench.store.fail(&[Fault::AnswerHangs]);
    a.journal.append(vec![record(1)]).unwrap();
    a.journal.append(vec![record(2)]).unwrap();
    bench.open("b");
    assert_eq!(bench.numbers("b"), [1, 2]);
}

/// A try takes ten times as long as all pauses together may.
#[test]
fn the_time_in_which_a_store_accepts_requests_and_stays_silent_is_counted() {
    let patience = Patience { uncounted: Duration::ZERO, request: Duration::from_millis(100), ..SHORT };
    let bench = Bench { patience, ..Bench::new() };
    bench.open("a").journal.append(vec![record(1)]).unwrap();
    let before = bench.store.reads.load(Ordering::SeqCst);
    bench.store.reads_hang.store(true, Ordering::SeqCst);
    let error = bench.connect("b").on_worker().update().unwrap_err();
    assert!(error.to_string().contains("no answer within"), "{error}");
    assert_eq!(bench.store.reads.load(Ordering::SeqCst) - before, 1);
}

#[test]
fn a_store_that_cannot_be_reached_ends_the_process_in_the_end_and_resume_goes_on() {
    for (fault, stored) in [(Fault::Lost, 1), (Fault::AnswerLost, 2), (Fault::Denied, 1)] {
        let bench = Bench::new();
        let mut a = bench.open("a");
        a.journal.append(vec![record(1)]).unwrap();
        // With `AnswerLost`, reading back finds the group, so nothing is lost at all.
        bench.store.fail_always(Some(fault));
        let written = a.journal.append(vec![record(2)]);
        assert_eq!(written.is_ok(), stored == 2, "{fault:?}");
        let artifact = a.artifacts.put("text");
        assert!(artifact.is_err());
        bench.store.fail_always(None);
        if let Err(error) = written {
            assert!(matches!(error, JournalError::Replica(ReplicaError::Unavailable { .. })), "{error}");
            assert!(a.journal.append(vec![record(3)]).unwrap_err().to_string().contains("resume"));
        }
        // A key that is refused is no reason to wait.
        assert_eq!(bench.notes.lock().unwrap().is_empty(), matches!(fault, Fault::Denied), "{fault:?}");
        drop(a);
        let mut a = bench.open("a");
        a.journal.append(vec![record(7)]).unwrap();
        assert_eq!(bench.numbers("a"), (1..=stored).chain([7]).collect::<Vec<_>>());
    }
}

#[test]
fn a_worker_waits_for_the_store_before_it_reads_a_run_and_a_person_does_not() {
    let bench = Bench::new();
    let mut a = bench.open("a");
    a.artifacts.put("text").unwrap();
    a.journal.append(vec![record(1)]).unwrap();
    let lose = |reads: usize| bench.store.lost_reads.store(reads, Ordering::SeqCst);
    lose(1);
    let error = bench.connect("b").update().unwrap_err();
    assert!(matches!(error, SharedStoreError::Unavailable { .. }), "{error}");
    assert!(bench.notes.lock().unwrap().is_empty());
    let on_worker = bench.connect("b").on_worker();
    lose(5);
    assert_eq!(on_worker.update().unwrap().events, 1);
    assert_eq!(bench.notes.lock().unwrap().len(), 1);
    bench.store.fail(&[Fault::Lost, Fault::AnswerLost]);
    on_worker.check_conditional_writes().unwrap();
    // The patience ends.
    lose(usize::MAX);
    assert!(matches!(on_worker.update().unwrap_err(), SharedStoreError::Unavailable { .. }));
    lose(0);
    // That something is missing is an answer.
    let before = bench.notes.lock().unwrap().len();
    assert!(matches!(on_worker.read_text(&Sha::digest("none")).unwrap_err(), SharedStoreError::Damaged { .. }));
    assert_eq!(bench.notes.lock().unwrap().len(), before);
}

#[test]
fn a_worker_removes_the_copies_that_it_made_and_a_person_keeps_them() {
    let bench = Bench::new();
    let mut writer = bench.open("writer");
    writer.journal.append(vec![record(1)]).unwrap();
    let cache = bench.dir.path().join("cache");
    let names = || {
        let entries = std::fs::read_dir(&cache).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let (folder, run) = (cache.join("a"), "cache/a");
    let take = || WorkerCopy::take(&folder).unwrap();
    let update_on_worker = || bench.connect(run).on_worker().update_to_read().unwrap();

    let copy = take().unwrap();
    update_on_worker();
    assert!(take().is_none(), "one job at a time");
    remove_worker_copies(&cache).unwrap();
    assert_eq!(bench.numbers(run), [1]);
    drop(copy);
    assert_eq!(names(), [""; 0]);

    // The worker was killed: its lock on the mark ended, and nothing else.
    let killed = || {
        std::fs::create_dir_all(&cache).unwrap();
        std::fs::write(cache.join(".a.worker-copy"), "").unwrap();
        update_on_worker();
        std::fs::write(folder.join("document"), "text").unwrap();
    };
    killed();
    let next = take().unwrap();
    assert!(!folder.exists());
    drop(next);
    assert_eq!(names(), [""; 0]);
    killed();
    let lock = tlaforge_journal::RunLock::take(&folder, "now").unwrap();
    remove_worker_copies(&cache).unwrap();
    assert!(folder.join("document").exists(), "its process still lives");
    drop(lock);
    remove_worker_copies(&cache).unwrap();
    assert_eq!(names(), [""; 0]);

    // A person reads the run while the job goes on, or before it.
    let copy = take().unwrap();
    bench.connect(run).update_to_read().unwrap();
    drop(copy);
    drop(take().unwrap());
    remove_worker_copies(&cache).unwrap();
    assert_eq!(names(), [".a.working-copy.lock", "a"]);
    assert_eq!(bench.numbers(run), [1]);
}

#[test]
fn a_store_without_conditional_writes_is_refused() {
    let bench = Bench::new();
    bench.store.fail_always(Some(Fault::Replaces));
    let error = bench.connect("a").check_conditional_writes().unwrap_err();
    assert!(matches!(error, SharedStoreError::NotConditional { .. }), "{error}");
}

#[test]
fn wherever_its_writer_was_killed_a_working_copy_is_continued() {
    let bench = Bench::new();
    let mut a = bench.open("a");
    a.journal.append(vec![record(1)]).unwrap();
    a.journal.append(vec![record(2), record(3)]).unwrap();
    a.journal.append(vec![record(4)]).unwrap();
    let sha = a.artifacts.put("text").unwrap();
    drop(a);
    let path = bench.folder("a").join("journal.jsonl");
    let whole = std::fs::read(&path).unwrap();
    for length in 0..=whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let update = bench.connect("a").update().unwrap();
        assert_eq!(update.set_aside, None, "cut to {length} bytes");
        assert!(std::fs::read(&path).unwrap() == whole, "cut to {length} bytes");
    }
    // An artifact that was changed, or is missing, is fetched again.
    let artifact = bench.folder("a").join("artifacts").join(sha.as_str());
    std::fs::write(&artifact, "tuxt").unwrap();
    bench.connect("a").update().unwrap();
    assert_eq!(std::fs::read(&artifact).unwrap(), b"text");
}

#[test]
fn a_working_copy_that_differs_is_set_aside_and_never_merged() {
    let bench = Bench::new();
    let mut a = bench.open("a");
    a.journal.append(vec![record(1)]).unwrap();
    a.journal.append(vec![record(2)]).unwrap();
    drop(a);
    let path = bench.folder("a").join("journal.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let longer = {
        let clock = Arc::new(|| "2026-01-01T00:00:00Z".to_owned());
        let other = bench.dir.path().join("other.jsonl");
        std::fs::write(&other, &whole).unwrap();
        Journal::open(&other, clock).unwrap().0.append(vec![record(3)]).unwrap();
        std::fs::read_to_string(other).unwrap()
    };
    let different =
        [whole.replace("\"n\":1", "\"n\":5"), whole.replace("\"n\":2", "\"n\":5"), longer, "{}\n".to_owned()];
    for (number, text) in (1..).zip(&different) {
        std::fs::write(&path, text).unwrap();
        let aside = bench.connect("a").update().unwrap().set_aside.unwrap();
        assert_eq!(aside, bench.folder("a").with_file_name(format!(".a.set-aside-{number}")));
        assert_eq!(std::fs::read_to_string(aside.join("journal.jsonl")).unwrap(), *text);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    }
}

#[test]
fn a_damaged_store_is_an_error_that_names_the_object_and_changes_nothing() {
    let bench = Bench::new();
    let mut a = bench.open("a");
    let sha = a.artifacts.put("text").unwrap();
    for n in 1..=3 {
        a.journal.append(vec![record(n)]).unwrap();
    }
    drop(a);
    let second = bench.get(&group(2));
    let refused = |machine: &str, object: &str| {
        let before = std::fs::read(bench.folder(machine).join("journal.jsonl")).ok();
        let error = bench.connect(machine).update().unwrap_err();
        assert!(matches!(&error, SharedStoreError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains(object), "{error}");
        assert_eq!(std::fs::read(bench.folder(machine).join("journal.jsonl")).ok(), before);
        assert!(!bench.folder(machine).with_file_name(format!(".{machine}.set-aside-1")).exists());
    };
    bench.delete(&group(2));
    refused("b", &group(3));
    let text = String::from_utf8(second.to_vec()).unwrap();
    for wrong in [
        text.replace("\"n\":2", "\"n\":7"),
        text.lines().nth(1).unwrap().to_owned() + "\n",
        text[..text.len() - 1].to_owned(),
        text.clone() + "{}\n",
        text.lines().next().unwrap().to_owned() + "\n",
        String::new(),
    ] {
        bench.put(&group(2), wrong);
        refused("b", &group(2));
    }
    bench.put(&group(2), second);
    bench.put("journal/notes.txt", "mine");
    refused("b", "journal/notes.txt");
    bench.delete("journal/notes.txt");
    // The last group, which the working copy of `a` has.
    let third = bench.get(&group(3));
    bench.put(&group(3), String::from_utf8(third.to_vec()).unwrap().replace("\"n\":3", "\"n\":7"));
    refused("a", &group(3));
    bench.put(&group(3), third);
    let artifact = format!("artifacts/{}", sha.as_str());
    bench.put(&artifact, "another text");
    refused("b", &artifact);
    bench.put(&artifact, "text");
    bench.put("artifacts/readme.txt", "mine");
    bench.connect("b").update().unwrap();
    assert_eq!(bench.numbers("b"), [1, 2, 3]);
}

#[test]
fn a_folder_is_a_store_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let connect = |machine: &str| {
        let address = Address::parse(&format!("file://{}/a store/run", dir.path().display())).unwrap();
        let folder = dir.path().join(machine).join(address.key());
        let client = StoreClient::new(&address, std::iter::empty()).unwrap();
        SharedRun::new(address, folder, machine, client, Arc::new(|_| {}))
    };
    let (a, b) = (connect("a"), connect("b"));
    assert_eq!(a.update_to_read().unwrap(), Update::default());
    a.check_conditional_writes().unwrap();
    b.check_conditional_writes().unwrap();
    let sha = Sha::digest("text");
    a.put_artifact(&sha, b"text").unwrap();
    a.put_artifact(&sha, b"text").unwrap();
    a.put_group(1, b"{\"seq\":1}\n").unwrap();
    assert!(matches!(b.put_group(1, b"{\"seq\":1}\n"), Err(ReplicaError::TakenOver { .. })));
    assert_eq!(b.update_to_read().unwrap().events, 1);
    let read = |path: &FilePath| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(&b.folder().join("journal.jsonl")), "{\"seq\":1}\n");
    assert_eq!(read(&b.folder().join("artifacts").join(sha.as_str())), "text");
    assert!(dir.path().join("a store/run/journal/00000000000000000001.jsonl").exists());
}

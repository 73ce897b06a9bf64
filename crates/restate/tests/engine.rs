//! A real Restate server on loopback, with workers in this process. `scripts/setup` installs the server.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

#[path = "engine/limits.rs"]
mod limits;
#[path = "engine/registration.rs"]
mod registration;
#[path = "../../../tests/support/restate.rs"]
mod restate;
#[path = "../../../tests/support/waiting.rs"]
mod waiting;

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use restate::RestateServer;
use tlaforge_process::Cancel;
use tlaforge_restate::{
    CallError, Client, EngineAddress, Job, JobFuture, JobReader, JobState, NoAnswer, ObjectJob, Worker,
};
use waiting::{end_of, wait_until, wait_until_async};

/// How many attempts of a job without an object may be lost.
const MAX_LOST_ATTEMPTS: usize = 3;
/// A short step for the clock of limits.
const TICK: Duration = Duration::from_millis(50);

fn connect(server: &RestateServer, version: &str, patience: u64) -> Client {
    let patience = Duration::from_secs(patience);
    Client::new(address(server), "test", version, "job", patience, |_| {}).unwrap()
}

fn address(server: &RestateServer) -> EngineAddress {
    server.url().parse().unwrap()
}

/// A worker with a thread and a runtime of its own, which can be ended as if its process were killed.
struct RunningWorker {
    killed: Cancel,
    thread: Option<JoinHandle<()>>,
    cancel: Cancel,
    ended: Arc<AtomicBool>,
    notes: Arc<Mutex<String>>,
}

/// A worker with an address of its own.
fn worker(engine: EngineAddress, listen: &str, version: &str, jobs: Vec<Job>) -> Worker {
    Worker {
        engine,
        listen: listen.parse().unwrap(),
        advertise: None,
        capacity: 2,
        identity_keys: Vec::new(),
        program: "test",
        version: version.to_owned(),
        jobs,
        keeps_limits: true,
        tick: TICK,
    }
}

impl RunningWorker {
    /// Returns when it is registered.
    fn start(
        server: &RestateServer,
        listen: &str,
        work: impl Fn(Vec<u8>) -> JobFuture + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(
            server,
            listen,
            None,
            Job { name: "job", has_object: false, max_lost_attempts: Some(MAX_LOST_ATTEMPTS), work: Arc::new(work) },
        )
    }

    fn start_with(server: &RestateServer, listen: &str, advertise: Option<EngineAddress>, job: Job) -> Self {
        Self::start_worker(Worker { advertise, ..worker(address(server), listen, "1", vec![job]) })
    }

    /// Returns when it is registered.
    fn start_worker(worker: Worker) -> Self {
        let running = Self::spawn(worker);
        wait_until("the worker is registered", || running.notes.lock().unwrap().contains("registered at"));
        running
    }

    fn spawn(worker: Worker) -> Self {
        let (killed, cancel, ended) = (Cancel::new(), Cancel::new(), Arc::new(AtomicBool::new(false)));
        let notes = Arc::new(Mutex::new(String::new()));
        let (own_killed, own_cancel, own_ended, own_notes) =
            (killed.clone(), cancel.clone(), ended.clone(), notes.clone());
        let thread = std::thread::spawn(move || {
            // Its end drops the connections.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let note = |line: &str| own_notes.lock().unwrap().push_str(line);
                tokio::select! {
                    ending = worker.serve(&own_cancel, &note) => {
                        ending.unwrap();
                        own_ended.store(true, Ordering::SeqCst);
                    }
                    () = own_killed.cancelled() => {}
                }
            });
        });
        Self { killed, thread: Some(thread), cancel, ended, notes }
    }
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        self.killed.cancel();
        let _ = self.thread.take().unwrap().join();
    }
}

fn free_address() -> String {
    let address: SocketAddr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    address.to_string()
}

fn block_on<T>(what: &str, future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(end_of(what, future))
}

fn job_of_object(work: Arc<dyn Fn(Vec<u8>) -> JobFuture + Send + Sync>) -> Job {
    Job { name: "job", has_object: true, max_lost_attempts: None, work }
}

/// A job that never ends; `begun` counts, and `dropped` counts those that were ended.
fn endless(
    begun: &Arc<AtomicUsize>,
    dropped: &Arc<AtomicUsize>,
) -> impl Fn(Vec<u8>) -> JobFuture + Send + Sync + 'static {
    struct Guard(Arc<AtomicUsize>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (begun, dropped) = (begun.clone(), dropped.clone());
    move |_| {
        begun.fetch_add(1, Ordering::SeqCst);
        let guard = Guard(dropped.clone());
        Box::pin(async move {
            let _guard = guard;
            std::future::pending().await
        })
    }
}

#[test]
fn a_job_survives_the_end_of_its_worker_and_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = RestateServer::start(folder.path());
    let address = free_address();
    let (begun, dropped) = (Arc::default(), Arc::default());
    let first = RunningWorker::start(&server, &address, endless(&begun, &dropped));
    let client = connect(&server, "1", 100);
    block_on("the job has an answer", async {
        let call = async { client.call(None, "key", b"7").await.unwrap().get().to_owned() };
        let failures = async {
            wait_until_async("the job runs", || begun.load(Ordering::SeqCst) == 1).await;
            drop(first);
            server.restart();
            let _second = RunningWorker::start(&server, &address, |input| {
                Box::pin(async move { Ok(format!("{{\"input\": {}}}", String::from_utf8(input).unwrap())) })
            });
            std::future::pending::<()>().await;
        };
        tokio::select! {
            answer = call => assert_eq!(answer, "{\"input\": 7}"),
            () = failures => {}
        }
    });
}

#[test]
fn a_job_that_loses_each_of_its_workers_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = RestateServer::start(folder.path());
    let address = free_address();
    let (begun, dropped) = (Arc::default(), Arc::default());
    let client = connect(&server, "1", 100);
    let mut worker = RunningWorker::start(&server, &address, endless(&begun, &dropped));
    block_on("the job is given up", async {
        let kill_all = async {
            for lost in 1..=MAX_LOST_ATTEMPTS {
                wait_until_async("the job runs", || begun.load(Ordering::SeqCst) == lost).await;
                drop(worker);
                // The server forgets how many attempts it has made, and each new worker is found only after some.
                server.restart();
                worker = RunningWorker::start(&server, &address, endless(&begun, &dropped));
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            ended = client.call(None, "key", b"") => {
                let error = ended.unwrap_err().to_string();
                assert!(error.contains("3 attempts were lost"), "{error}");
            }
            () = kill_all => {}
        }
    });
    assert_eq!(begun.load(Ordering::SeqCst), MAX_LOST_ATTEMPTS, "it is not submitted again");
}

/// Two jobs of objects run, the third waits for a place, and a fourth has ended.
#[test]
fn jobs_at_workers_are_read_before_those_that_wait_and_those_that_have_ended() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let begun = Arc::new(AtomicUsize::new(0));
    let own_begun = begun.clone();
    let work = move |input: Vec<u8>| -> JobFuture {
        own_begun.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { if input == b"short" { Ok("1".to_owned()) } else { std::future::pending().await } })
    };
    let _worker = RunningWorker::start_with(&server, "127.0.0.1:0", None, job_of_object(Arc::new(work)));
    let reader = JobReader::new("test", address(&server)).unwrap();
    let client = connect(&server, "1", 100);
    block_on("the jobs are read", async {
        client.call(Some("ended"), "key", b"short").await.unwrap();
        let call = async |object: &str, begun_before: usize| {
            wait_until_async("its turn", || begun.load(Ordering::SeqCst) == begun_before).await;
            client.call(Some(object), object, b"").await.map(drop)
        };
        let calls = async { tokio::join!(call("first", 1), call("second", 2), call("waits", 3)) };
        let read = async {
            let names = async |max_jobs| {
                let jobs = reader.last_of_objects("job", max_jobs).await.unwrap();
                let name = |job: ObjectJob| (job.state == JobState::Waiting, job.object);
                jobs.into_iter().map(name).collect::<Vec<_>>()
            };
            let job = |name: &str, waits| (waits, name.to_owned());
            let [first, second, waits] = [job("first", false), job("second", false), job("waits", true)];
            // An attempt that finds no place is under way for a moment.
            while names(100).await != [job("ended", false), first.clone(), second.clone(), waits.clone()] {}
            while names(3).await != [first.clone(), second.clone(), waits.clone()] {}
            while names(2).await != [first.clone(), second.clone()] {}
        };
        tokio::select! {
            ended = calls => panic!("{ended:?}"),
            () = read => {}
        }
    });
}

#[test]
fn what_cannot_be_done_is_an_error_and_is_not_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let _worker = RunningWorker::start(&server, "127.0.0.1:0", move |_| {
        let answer =
            if counted.fetch_add(1, Ordering::SeqCst) < 3 { Err("no disk".to_owned()) } else { Ok("1".to_owned()) };
        Box::pin(async move { answer.map_err(NoAnswer::Failed) })
    });
    block_on("the calls end", async {
        let client = connect(&server, "1", 100);
        let error = client.call(None, "key", b"").await.unwrap_err();
        assert_eq!(error.to_string(), "a worker could not do it: no disk");
        assert_eq!(client.call(None, "key", b"").await.unwrap().get(), "1");
        assert_eq!(client.call(None, "key", b"").await.unwrap().get(), "1");
        assert_eq!(count.load(Ordering::SeqCst), 4, "the third answer is the one that the engine keeps");

        let error = connect(&server, "2", 0).call(None, "key", b"").await.unwrap_err();
        assert!(matches!(error, CallError::Unavailable { .. }), "{error}");
        let words = "no worker of test 2 is registered for the job `job`; workers of other versions are: 1";
        assert!(error.to_string().contains(words), "{error}");

        let error = client.call(None, "key", &vec![b' '; 9 << 20]).await.unwrap_err();
        assert!(matches!(error, CallError::TooLarge { .. }), "{error}");
    });
}

#[test]
fn a_worker_finishes_what_runs_and_a_cancelled_job_ends() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let (begun, dropped) = (Arc::default(), Arc::default());
    let worker = RunningWorker::start(&server, "127.0.0.1:0", endless(&begun, &dropped));
    block_on("the job was ended", async {
        let client = connect(&server, "1", 100);
        tokio::select! {
            answer = client.call(None, "endless", b"") => panic!("{answer:?}"),
            () = wait_until_async("the job runs", || begun.load(Ordering::SeqCst) == 1) => {}
        }
        client.cancel_submitted().await;
        wait_until_async("the worker has dropped it", || dropped.load(Ordering::SeqCst) == 1).await;
    });
    drop(worker);

    let (runs, gate) = (Arc::new(AtomicBool::new(false)), Cancel::new());
    let (own_runs, own_gate) = (runs.clone(), gate.clone());
    let worker = RunningWorker::start(&server, "127.0.0.1:0", move |_| {
        own_runs.store(true, Ordering::SeqCst);
        let gate = own_gate.clone();
        Box::pin(async move {
            gate.cancelled().await;
            Ok("2".to_owned())
        })
    });
    block_on("the worker has ended", async {
        let client = connect(&server, "1", 100);
        let drain = async {
            wait_until_async("the job runs", || runs.load(Ordering::SeqCst)).await;
            worker.cancel.cancel();
            gate.cancel();
        };
        let (answer, ()) = tokio::join!(client.call(None, "slow", b""), drain);
        assert_eq!(answer.unwrap().get(), "2");
        wait_until_async("the worker has ended", || worker.ended.load(Ordering::SeqCst)).await;
    });
}

/// Of two jobs of one object, the first is given back by the worker that has it. Both end on the other worker, which has turns for
/// both and gets the second only after the first has ended.
#[test]
fn jobs_of_an_object_run_one_after_the_other_and_one_that_is_given_back_goes_to_another_worker() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let address = free_address();
    let (begun, gate) = (Arc::new(AtomicUsize::new(0)), Cancel::new());
    let (own_begun, own_gate) = (begun.clone(), gate.clone());
    let first = RunningWorker::start_with(
        &server,
        &address,
        None,
        job_of_object(Arc::new(move |_| {
            own_begun.fetch_add(1, Ordering::SeqCst);
            let gate = own_gate.clone();
            Box::pin(async move {
                gate.cancelled().await;
                Err(NoAnswer::GivenBack)
            })
        })),
    );
    let client = connect(&server, "1", 100);
    let running = Arc::new(AtomicUsize::new(0));
    block_on("both jobs have an answer", async {
        let handover = async {
            wait_until_async("a job runs", || begun.load(Ordering::SeqCst) == 1).await;
            gate.cancel();
            drop(first);
            let running = running.clone();
            RunningWorker::start_with(
                &server,
                &address,
                None,
                job_of_object(Arc::new(move |input| {
                    let running = running.clone();
                    Box::pin(async move {
                        let before = running.fetch_add(1, Ordering::SeqCst);
                        tokio::task::yield_now().await;
                        running.fetch_sub(1, Ordering::SeqCst);
                        Ok(format!("[{}, {before}]", String::from_utf8(input).unwrap()))
                    })
                })),
            )
        };
        let calls = async { tokio::join!(client.call(Some("o"), "a", b"1"), client.call(Some("o"), "b", b"2")) };
        let (_second, (one, two)) = tokio::join!(handover, calls);
        assert_eq!((one.unwrap().get(), two.unwrap().get()), ("[1, 0]", "[2, 0]"));
    });
    assert_eq!(begun.load(Ordering::SeqCst), 1, "the first worker never had both");
}

/// A load balancer gives connections to workers, and the engine sends a job that was refused again over one that it has. So a full
/// worker takes no other job over the connection of one that runs, and ends the others.
#[test]
fn jobs_that_a_full_worker_refuses_come_over_new_connections() {
    const JOBS: usize = 4;
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let listen = free_address();
    let (balancer, connections) = limits::balance([listen.clone(), listen.clone()]);
    let (begun, gate) = (Arc::new(AtomicUsize::new(0)), Cancel::new());
    let (own_begun, own_gate) = (begun.clone(), gate.clone());
    let work = Arc::new(move |_| -> JobFuture {
        own_begun.fetch_add(1, Ordering::SeqCst);
        let gate = own_gate.clone();
        Box::pin(async move {
            gate.cancelled().await;
            Ok("1".to_owned())
        })
    });
    let worker = worker(address(&server), &listen, "1", vec![job_of_object(work)]);
    let _worker = RunningWorker::start_worker(Worker { advertise: Some(balancer), capacity: 1, ..worker });
    let client = connect(&server, "1", 100);
    block_on("all jobs have an answer", async {
        let names = ["a", "b", "c", "d"];
        let calls = async {
            let [a, b, c, d] = names.map(|name| client.call(Some(name), name, b""));
            tokio::join!(a, b, c, d)
        };
        let refuse = async {
            wait_until_async("a job runs", || begun.load(Ordering::SeqCst) == 1).await;
            let before = connections.load(Ordering::SeqCst);
            wait_until_async("others are refused", || connections.load(Ordering::SeqCst) > before + 5).await;
            assert_eq!(begun.load(Ordering::SeqCst), 1, "the one that runs goes on over its connection");
            gate.cancel();
        };
        let ((a, b, c, d), ()) = tokio::join!(calls, refuse);
        assert_eq!([a, b, c, d].map(|answer| answer.unwrap().get().to_owned()), ["1"; JOBS]);
    });
    assert_eq!(begun.load(Ordering::SeqCst), JOBS);
}

/// The connection of a long job ends with it.
#[test]
fn a_large_answer_of_a_long_job_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let (count, large) = (Arc::new(AtomicUsize::new(0)), format!("\"{}\"", "x".repeat(7 << 20)));
    let (own_count, answer) = (count.clone(), large.clone());
    let _worker = RunningWorker::start(&server, "127.0.0.1:0", move |_| {
        own_count.fetch_add(1, Ordering::SeqCst);
        let answer = answer.clone();
        Box::pin(async move {
            let start = Instant::now();
            wait_until_async("the job is long", || start.elapsed() > Duration::from_millis(500)).await;
            Ok(answer)
        })
    });
    let client = connect(&server, "1", 100);
    block_on("all answers arrive", async {
        for name in ["a", "b", "c"] {
            assert_eq!(client.call(None, name, b"").await.unwrap().get(), large);
        }
    });
    assert_eq!(count.load(Ordering::SeqCst), 3);
}

#[test]
fn a_job_at_a_worker_that_ends_goes_on_while_another_worker_gets_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let addresses = [free_address(), free_address()];
    let (balancer, _) = limits::balance(addresses.clone());
    let (begun, gate) = (Arc::new(AtomicUsize::new(0)), Cancel::new());
    let (own_begun, own_gate) = (begun.clone(), gate.clone());
    let slow = job_of_object(Arc::new(move |_| {
        own_begun.fetch_add(1, Ordering::SeqCst);
        let gate = own_gate.clone();
        Box::pin(async move {
            gate.cancelled().await;
            Ok("1".to_owned())
        })
    }));
    let quick = job_of_object(Arc::new(|_| Box::pin(async { Ok("2".to_owned()) })));
    let first = RunningWorker::start_with(&server, &addresses[0], Some(balancer.clone()), slow);
    let client = connect(&server, "1", 100);
    block_on("all jobs have an answer", async {
        let later = async {
            wait_until_async("the first worker has a job", || begun.load(Ordering::SeqCst) == 1).await;
            let _second = RunningWorker::start_with(&server, &addresses[1], Some(balancer.clone()), quick);
            first.cancel.cancel();
            for name in ["b", "c", "d"] {
                assert_eq!(client.call(Some(name), name, b"").await.unwrap().get(), "2");
            }
            gate.cancel();
        };
        let (answer, ()) = tokio::join!(client.call(Some("a"), "a", b""), later);
        assert_eq!(answer.unwrap().get(), "1");
    });
    assert_eq!(begun.load(Ordering::SeqCst), 1);
}

#[test]
fn an_address_that_is_not_an_engine_is_refused() {
    for text in ["", "restate", "ftp://h", "file:///etc/passwd", "http://h/?a=b", "http://h#a", "http://"] {
        let error = text.parse::<EngineAddress>().unwrap_err().to_string();
        assert!(error.contains("is not an address of an engine"), "{error}");
    }
    for text in ["user:hidden@h:9070", "http://user:hid den@h", "http://h/?a=user:hidden@h"] {
        let error = text.parse::<EngineAddress>().unwrap_err().to_string();
        assert!(!error.contains("hid"), "{error}");
    }
    let error = "http://user:word@h".parse::<EngineAddress>().unwrap_err().to_string();
    assert!(error.contains("must not contain a user or a password") && !error.contains("word@"), "{error}");
}

//! A real Restate server on loopback, with workers in this process. `scripts/setup` installs the server.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

#[path = "engine/limits.rs"]
mod limits;
#[path = "../../../tests/support/waiting.rs"]
mod waiting;

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use tlaforge_process::Cancel;
use tlaforge_restate::{CallError, Client, EngineAddress, JobFuture, Worker};
use waiting::{end_of, wait_until, wait_until_async};

/// A short step for the clock of limits.
const TICK: Duration = Duration::from_millis(50);

/// The server; it is killed when it is dropped, and also when this process dies, for the input of its shell ends then.
struct Server {
    child: Child,
    folder: PathBuf,
    admin: u16,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let free = || TcpListener::bind("127.0.0.1:0").unwrap();
        let ports = [free(), free(), free()].map(|listener| listener.local_addr().unwrap().port());
        let [node, admin, ingress] = ports;
        let data = folder.join("data");
        let settings = format!(
            "bind-ip = '127.0.0.1'\nbind-port = {node}\nbase-dir = '{}'\ndisable-telemetry = true\n\
             default-num-partitions = 1\nrocksdb-total-memory-size = '64MB'\n\
             [admin]\nbind-port = {admin}\n[ingress]\nbind-port = {ingress}\n",
            data.display()
        );
        std::fs::write(folder.join("restate.toml"), settings).unwrap();
        Self { child: Self::spawn(folder), folder: folder.to_owned(), admin }
    }

    fn spawn(folder: &Path) -> Child {
        let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/restate/node_modules/@restatedev");
        let package = std::fs::read_dir(packages).into_iter().flatten().next();
        let package = package.expect("the Restate server: scripts/setup installs it").unwrap();
        let log = std::fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
        Command::new("sh")
            .args(["-c", "\"$@\" </dev/null & read -r end; kill -9 $!; wait", "sh"])
            .arg(package.path().join("bin/restate-server"))
            .args(["--no-logo", "--node-name", "n", "--listen-mode", "tcp", "--config-file"])
            .arg(folder.join("restate.toml"))
            .env("DO_NOT_TRACK", "1")
            // It leaves folders there when it is killed.
            .env("TMPDIR", folder)
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    /// By SIGKILL.
    fn kill(&mut self) {
        let _ = self.child.stdin.take().unwrap().write_all(b"\n");
        self.child.wait().unwrap();
    }

    fn restart(&mut self) {
        self.kill();
        self.child = Self::spawn(&self.folder);
    }

    fn address(&self) -> EngineAddress {
        format!("http://127.0.0.1:{}", self.admin).parse().unwrap()
    }

    fn client(&self, version: &str, patience: u64) -> Client {
        let patience = Duration::from_secs(patience);
        Client::new(self.address(), "test", version, "job", patience, |line| println!("{line}")).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.stdin.is_some() {
            self.kill();
        }
    }
}

/// A worker with a thread and a runtime of its own, which can be ended as if its process were killed.
struct RunningWorker {
    killed: Cancel,
    thread: Option<JoinHandle<()>>,
    cancel: Cancel,
    ended: Arc<AtomicBool>,
}

impl RunningWorker {
    /// Returns when it is registered.
    fn start(server: &Server, listen: &str, work: impl Fn(Vec<u8>) -> JobFuture + Send + Sync + 'static) -> Self {
        Self::start_behind(server, listen, None, work)
    }

    fn start_behind(
        server: &Server,
        listen: &str,
        advertise: Option<EngineAddress>,
        work: impl Fn(Vec<u8>) -> JobFuture + Send + Sync + 'static,
    ) -> Self {
        let worker = Worker {
            engine: server.address(),
            listen: listen.parse().unwrap(),
            advertise,
            capacity: 2,
            identity_keys: Vec::new(),
            program: "test",
            version: "1".to_owned(),
            job: "job",
            work: Arc::new(work),
            tick: TICK,
        };
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
                    served = worker.serve(&own_cancel, &note) => {
                        served.unwrap();
                        own_ended.store(true, Ordering::SeqCst);
                    }
                    () = own_killed.cancelled() => {}
                }
            });
        });
        wait_until("the worker is registered", || notes.lock().unwrap().contains("registered at"));
        Self { killed, thread: Some(thread), cancel, ended }
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
    let mut server = Server::start(folder.path());
    let address = free_address();
    let (begun, dropped) = (Arc::default(), Arc::default());
    let first = RunningWorker::start(&server, &address, endless(&begun, &dropped));
    let client = server.client("1", 100);
    block_on("the job has an answer", async {
        let call = async { client.call("key", b"7").await.unwrap().get().to_owned() };
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
fn what_cannot_be_done_is_an_error_and_is_not_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let _worker = RunningWorker::start(&server, "127.0.0.1:0", move |_| {
        let answer =
            if counted.fetch_add(1, Ordering::SeqCst) < 3 { Err("no disk".to_owned()) } else { Ok("1".to_owned()) };
        Box::pin(async move { answer })
    });
    block_on("the calls end", async {
        let client = server.client("1", 100);
        let error = client.call("key", b"").await.unwrap_err();
        assert_eq!(error.to_string(), "a worker could not do it: no disk");
        assert_eq!(client.call("key", b"").await.unwrap().get(), "1");
        assert_eq!(client.call("key", b"").await.unwrap().get(), "1");
        assert_eq!(count.load(Ordering::SeqCst), 4, "the third answer is the one that the engine keeps");

        let error = server.client("2", 0).call("key", b"").await.unwrap_err();
        assert!(matches!(error, CallError::Unavailable { .. }), "{error}");
        let words = "no worker of test 2 is registered; workers of other versions are: 1";
        assert!(error.to_string().contains(words), "{error}");

        let error = client.call("key", &vec![b' '; 9 << 20]).await.unwrap_err();
        assert!(matches!(error, CallError::TooLarge { .. }), "{error}");
    });
}

#[test]
fn a_worker_finishes_what_runs_and_a_cancelled_job_ends() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let (begun, dropped) = (Arc::default(), Arc::default());
    let worker = RunningWorker::start(&server, "127.0.0.1:0", endless(&begun, &dropped));
    block_on("the job was ended", async {
        let client = server.client("1", 100);
        tokio::select! {
            answer = client.call("endless", b"") => panic!("{answer:?}"),
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
        let client = server.client("1", 100);
        let drain = async {
            wait_until_async("the job runs", || runs.load(Ordering::SeqCst)).await;
            worker.cancel.cancel();
            gate.cancel();
        };
        let (answer, ()) = tokio::join!(client.call("slow", b""), drain);
        assert_eq!(answer.unwrap().get(), "2");
        wait_until_async("the worker has ended", || worker.ended.load(Ordering::SeqCst)).await;
    });
}

#[test]
fn an_address_that_is_not_an_engine_is_refused() {
    for text in ["", "restate", "ftp://h", "file:///etc/passwd", "http://h/?a=b", "http://h#a", "http://"] {
        let error = text.parse::<EngineAddress>().unwrap_err().to_string();
        assert!(error.contains("is not an address of an engine"), "{error}");
    }
    let error = "http://user:word@h".parse::<EngineAddress>().unwrap_err().to_string();
    assert!(error.contains("must not contain a user or a password") && !error.contains("word@"), "{error}");
}

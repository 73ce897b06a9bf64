//! `--engine` and `tlaforge worker`, with a real Restate server: two workers behind one address.

mod failures;
mod recorded;
mod runs;
mod s3;
mod search;
mod status;
#[cfg(feature = "otel")]
mod telemetry;

use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::case::{CFG, CounterCase, PROPERTIES, STEP, counter, specs};
use crate::support::restate::{LoadBalancer, RestateServer, Route};
use crate::support::waiting::wait_until;
use crate::support::{Bench, Done, project};

/// A key of a model provider, which must not reach the server.
const KEY: &str = "sk-ant-marker-0123456789abcdefghij";

/// An Ed25519 key of a server, only for this test, and its public half as Restate prints it when it starts.
const SERVER_KEY: &str = "MC4CAQAwBQYDK2VwBCIEIGXaeI7jrewbJxRfjXRG7r3AyGr6OlAVJAOOGqmrwtwi";
const PUBLIC_KEY: &str = "publickeyv1_ESZ46LPMGXouAvRGYLFB4mWKcuzBoB8rf8D63X4v6sg1";

/// A server, and a load balancer for workers.
struct Fleet {
    bench: Bench,
    server: RestateServer,
    balancer: LoadBalancer,
}

/// A worker process, killed when it is dropped.
struct WorkerProcess {
    child: Child,
    route: Arc<Route>,
}

impl Fleet {
    /// With the module of a reference, `Spec.tla`, and its configuration in the folder.
    fn start() -> Self {
        Self::start_with("")
    }

    /// With more settings of the server's `worker.invoker`.
    fn start_with(invoker: &str) -> Self {
        Self::start_in(Bench::without_tools(), invoker)
    }

    fn start_in(bench: Bench, invoker: &str) -> Self {
        for kind in ["tla", "cfg"] {
            let text = std::fs::read_to_string(project().join("exemplars/TicketLock").with_extension(kind)).unwrap();
            bench.write(&format!("TicketLock.{kind}"), text);
        }
        let server = RestateServer::start_with(bench.dir.path(), invoker);
        Self { bench, server, balancer: LoadBalancer::start() }
    }

    fn worker(&self, number: u32) -> WorkerProcess {
        self.worker_with(number, &[])
    }

    fn spawn_worker(&self, number: u32, more: &[&str], variables: &[(&str, &str)]) -> Child {
        let log = File::create(self.bench.path(&format!("worker-{number}.log"))).unwrap();
        self.worker_command(more).envs(variables.iter().copied()).stderr(log).spawn().unwrap()
    }

    fn worker_command(&self, more: &[&str]) -> Command {
        let (engine, advertise) = (self.server.url(), self.balancer.url());
        let args = ["worker", "--engine", &engine, "--listen", "127.0.0.1:0", "--advertise", &advertise];
        let capacity: &[&str] = if more.contains(&"--capacity") { &[] } else { &["--capacity", "1"] };
        self.bench.command(&[&args[..], capacity, more].concat())
    }

    fn worker_with(&self, number: u32, more: &[&str]) -> WorkerProcess {
        self.worker_in(number, more, &[])
    }

    /// A worker with more variables in its environment. Returns when it is registered.
    fn worker_in(&self, number: u32, more: &[&str], variables: &[(&str, &str)]) -> WorkerProcess {
        self.wait_until_registered(number, self.spawn_worker(number, more, variables))
    }

    fn wait_until_registered(&self, number: u32, child: Child) -> WorkerProcess {
        let log = format!("worker-{number}.log");
        let mut address: Option<SocketAddr> = None;
        wait_until("the worker listens", || {
            let text = self.bench.read(&log);
            let words = text.split_once("listening on ").and_then(|(_, rest)| rest.split_once(','));
            address = words.map(|(address, _)| address.parse().unwrap());
            address.is_some()
        });
        let route = self.balancer.add(address.unwrap());
        wait_until("the worker is registered", || self.bench.read(&log).contains("registered at"));
        WorkerProcess { child, route }
    }

    fn mutate(&self, out: &str, more: &[&str]) -> Command {
        self.mutate_module("TicketLock.tla", out, more)
    }

    fn mutate_module(&self, module: &str, out: &str, more: &[&str]) -> Command {
        // A time limit that no mutant reaches, however busy the machine is.
        let args = ["mutate", module, "--timeout", "100", "--out", out];
        self.bench.command(&[&args[..], more].concat())
    }

    fn mutate_with_engine(&self, out: &str) -> Command {
        self.mutate(out, &["--engine", &self.server.url()])
    }

    /// Waits until `mutate` has written this number of results.
    fn wait_for_results(&self, out: &str, count: usize) {
        let log = self.bench.path(out).join("outcomes.jsonl");
        wait_until("mutants are judged", || std::fs::read_to_string(&log).unwrap_or_default().lines().count() >= count);
    }

    /// Asserts that both folders have the same files, but for times and the order in which mutants were judged.
    fn assert_same_results(&self, one: &str, other: &str) {
        let names = |out: &str| {
            let entries = std::fs::read_dir(self.bench.path(out)).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        let text = |out: &str, name: &str| {
            let text = self.bench.read(&format!("{out}/{name}"));
            match Path::new(name).extension().and_then(|extension| extension.to_str()) {
                Some("json") => without_times(&text),
                Some("jsonl") => {
                    let mut lines: Vec<String> = text.lines().map(without_times).collect();
                    lines.sort();
                    lines.join("\n")
                }
                _ => text,
            }
        };
        assert_eq!(names(one), names(other));
        for name in names(one) {
            assert_eq!(text(one, &name), text(other, &name), "{name}");
        }
    }
}

impl WorkerProcess {
    fn received(&self) -> usize {
        self.route.sent()
    }

    fn terminate(mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// JSON, or lines of a report, with 0 for each time.
fn without_times(text: &str) -> String {
    fn remove(value: &mut Value) {
        match value {
            Value::Object(all) => all.iter_mut().for_each(|(key, value)| match key.as_str() {
                "seconds" | "total_seconds" | "time" => *value = 0.into(),
                _ => remove(value),
            }),
            Value::Array(all) => all.iter_mut().for_each(remove),
            _ => {}
        }
    }
    match serde_json::from_str::<Value>(text) {
        Ok(mut value) => {
            remove(&mut value);
            format!("{value:#}")
        }
        Err(_) => text.lines().filter(|line| !line.starts_with("Time: ")).collect::<Vec<_>>().join("\n"),
    }
}

fn done(mut command: Command) -> Done {
    Done::of(&command.output().unwrap())
}

/// Whether a file below this folder contains these bytes.
fn contains(folder: &Path, bytes: &[u8]) -> bool {
    walkdir::WalkDir::new(folder).into_iter().any(|entry| {
        let entry = entry.unwrap();
        let content = if entry.file_type().is_file() { std::fs::read(entry.path()).unwrap() } else { Vec::new() };
        memchr::memmem::find(&content, bytes).is_some()
    })
}

#[test]
fn workers_find_what_one_process_finds_and_the_server_never_sees_a_key() {
    let mut fleet = Fleet::start();
    fleet.bench.set("ANTHROPIC_API_KEY", KEY);
    let (first, second) = (fleet.worker(1), fleet.worker(2));
    let local = done(fleet.mutate("local", &[])).expect(0);
    let before = [first.received(), second.received()];
    let remote = done(fleet.mutate_with_engine("remote")).expect(0);
    assert_eq!(without_times(&remote.stdout), without_times(&local.stdout));
    fleet.assert_same_results("local", "remote");
    // Each job has the module.
    let module = fleet.bench.read("TicketLock.tla").len();
    let [of_first, of_second] = [first.received() - before[0], second.received() - before[1]];
    assert!(of_first > module && of_second > module, "{of_first} {of_second}");

    // Mutants that have a verdict are not judged again.
    let again = done(fleet.mutate_with_engine("remote")).expect(0).says(&["have results already"]);
    assert_eq!(without_times(&again.stdout), without_times(&local.stdout));
    let received = first.received() + second.received() - before[0] - before[1] - of_first - of_second;
    assert!(received < of_first + of_second, "{received}");
    drop((first, second));

    let data = fleet.server.data();
    fleet.server.kill();
    // The search finds jobs and their answers.
    assert!(contains(&data, b"MODULE TicketLock") && contains(&data, b"has_all_killers"));
    assert!(!contains(&data, KEY.as_bytes()));
}

/// A counter with an action for each of its steps, and 8 mutants of each.
fn steps(count: usize) -> String {
    let action = |step: usize| format!("Step{step} == x = {step} /\\ x' = {}", step + 1);
    let actions = (0..count).map(action).collect::<Vec<_>>().join("\n");
    let next = (0..count).map(|step| format!("Step{step}")).collect::<Vec<_>>().join(" \\/ ");
    format!(
        "---- MODULE Steps ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\n{actions}\nNext ==\n  {next}\n\
         Spec == Init /\\ [][Next]_x\nTypeOK == x \\in 0..{count}\n====\n"
    )
}

/// In a campaign, 2,000 mutants or more on four workers.
#[test]
fn many_mutants_give_the_same_table() {
    let (count, workers) = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { (2_000, 4) } else { (40, 2) };
    let fleet = Fleet::start();
    fleet.bench.write("Steps.tla", steps(count / 8));
    fleet.bench.write("Steps.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\nCHECK_DEADLOCK FALSE\n");
    let timed = |command: Command| {
        let began = std::time::Instant::now();
        (done(command).expect(0), began.elapsed())
    };
    let (local, alone) = timed(fleet.mutate_module("Steps.tla", "local", &[]));
    let lines = fleet.bench.read("local/outcomes.jsonl").lines().count();
    assert!(lines >= count, "{lines} mutants");
    let _working: Vec<WorkerProcess> = (1..=workers).map(|number| fleet.worker(number)).collect();
    let (remote, time) = timed(fleet.mutate_module("Steps.tla", "remote", &["--engine", &fleet.server.url()]));
    println!("{lines} mutants: {alone:?} in one process, {time:?} on {workers} workers");
    assert_eq!(without_times(&remote.stdout), without_times(&local.stdout));
    fleet.assert_same_results("local", "remote");
}

#[test]
fn a_worker_raises_its_limit_of_open_files() {
    let fleet = Fleet::start();
    done(fleet.mutate("local", &[])).expect(0);
    let worker = fleet.worker_command(&[]);
    // Each job that waits holds a connection, and there are more jobs than the soft limit has files.
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -Sn 30 && exec \"$0\" \"$@\""]).arg(worker.get_program()).args(worker.get_args());
    let variables = worker.get_envs().filter_map(|(name, value)| Some((name, value?)));
    limited.env_clear().envs(variables).current_dir(fleet.bench.dir.path()).stdin(Stdio::null());
    let log = File::create(fleet.bench.path("worker-1.log")).unwrap();
    let worker = fleet.wait_until_registered(1, limited.stderr(log).spawn().unwrap());
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", worker.child.id())).unwrap();
    let open_files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let [soft, hard] =
        [0, 1].map(|at| open_files.split_whitespace().nth(at).unwrap().parse::<u64>().unwrap_or(u64::MAX));
    assert_eq!(soft, hard.min(65_536), "{open_files}");
    done(fleet.mutate("remote", &["--engine", &fleet.server.url(), "--jobs", "60"])).expect(0);
    fleet.assert_same_results("local", "remote");
}

#[test]
fn nothing_is_lost_if_workers_and_the_server_end() {
    let mut fleet = Fleet::start();
    done(fleet.mutate("local", &[])).expect(0);
    let (first, second) = (fleet.worker(1), fleet.worker(2));
    let mut remote = fleet.mutate_with_engine("remote").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    fleet.wait_for_results("remote", 1);
    second.kill();
    fleet.wait_for_results("remote", 4);
    fleet.server.restart();
    fleet.wait_for_results("remote", 7);
    // Its jobs end, and those that wait go to the other.
    let third = fleet.worker(3);
    assert_eq!(first.terminate(), Some(0));
    assert_eq!(remote.wait().unwrap().code(), Some(0));
    fleet.assert_same_results("local", "remote");
    assert_eq!(third.terminate(), Some(0));
}

#[test]
fn an_interrupted_mutate_ends_its_jobs_and_continues() {
    let fleet = Fleet::start();
    let worker = fleet.worker(1);
    let mut remote = fleet.mutate_with_engine("remote").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    fleet.wait_for_results("remote", 1);
    kill_process(Pid::from_child(&remote), Signal::INT).unwrap();
    assert_eq!(remote.wait().unwrap().code(), Some(130));
    // A worker with jobs would finish those that run, and say so.
    drop(worker);
    let _worker = fleet.worker(2);
    done(fleet.mutate("local", &[])).expect(0);
    done(fleet.mutate_with_engine("remote")).expect(0).says(&["have results already"]);
    fleet.assert_same_results("local", "remote");
}

#[test]
fn suites_and_tests_have_the_same_results_on_workers() {
    let fleet = Fleet::start();
    let _workers = (fleet.worker(1), fleet.worker(2));
    let bench = &fleet.bench;
    specs(bench, "runs/a", &counter("Spec", STEP, PROPERTIES), CFG);
    // A bug that ends the check of a property, and one whose module is rejected.
    let case = CounterCase::with_a_bug().bug("harmless", STEP, "Bounded").bug("no", "n' = n +", "Bounded");
    case.bug("bad", "n' = n + \"a\"", "Bounded").write(bench, "evals/a");
    specs(bench, "models", &counter("Spec", STEP, PROPERTIES), CFG);
    bench.write("models/Spec.no.cfg", CFG.replace("N = 3", "N = -1"));
    bench.write("models/Spec.error.cfg", CFG.replace("TypeOK", "Missing"));
    let url = fleet.server.url();
    let engine: &[&str] = &["--engine", &url];
    for command in [&["eval", "--suite", "evals", "--runs", "runs"][..], &["test", "models"]] {
        let command = [command, &["--format", "json"]].concat();
        let run = |more: &[&str]| bench.run(&[&command[..], more].concat());
        let (local, remote) = (run(&[]), run(engine));
        assert_eq!(remote.status, local.status, "{}\n{}", remote.stderr, local.stderr);
        assert_eq!(without_times(&remote.stdout), without_times(&local.stdout));
    }
}

#[test]
fn without_an_engine_or_a_worker_the_reason_is_printed() {
    let fleet = Fleet::start();
    let wait = ["--engine-wait", "1"];
    let engine = fleet.server.url();
    done(fleet.mutate("out", &[&["--engine", &engine], &wait[..]].concat())).expect(3).says(&[
        &format!("no worker of tlaforge {} is registered", env!("CARGO_PKG_VERSION")),
        "run the same command again to continue",
    ]);
    // A port that nothing listens on.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = format!("http://{free}");
    done(fleet.mutate("out", &[&["--engine", &nowhere], &wait[..]].concat()))
        .expect(3)
        .says(&["the engine does not answer", &nowhere]);
    done(fleet.mutate("out", &["--engine", "restate"])).expect(2).says(&["\"restate\" is not an address of an engine"]);
    let refused = fleet.bench.run(&["worker", "--engine", &engine, "--listen", "0.0.0.0:0"]);
    refused.expect(2).says(&["--advertise"]);
    done(fleet.mutate("out", &["--engine", &engine, "--checker", "both"])).expect(2).says(&["--checker both"]);
}

#[test]
fn a_worker_with_an_identity_key_accepts_only_jobs_of_its_server() {
    let kind = "PRIVATE KEY";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key.pem");
    std::fs::write(&file, format!("-----BEGIN {kind}-----\n{SERVER_KEY}\n-----END {kind}-----\n")).unwrap();
    let signing = Fleet::start_with(&format!("request-identity-private-key-pem-file = '{}'", file.display()));
    let _worker = signing.worker_with(1, &["--identity-key", PUBLIC_KEY]);
    let sample = ["--sample", "2", "--engine", &signing.server.url()];
    done(signing.mutate("out", &sample)).expect(0);

    let other = Fleet::start();
    let mut worker = other.spawn_worker(1, &["--identity-key", PUBLIC_KEY], &[]);
    wait_until("it is refused", || other.bench.read("worker-1.log").contains("cannot register"));
    worker.kill().unwrap();
    worker.wait().unwrap();
    let wrong = ["worker", "--engine", &other.server.url(), "--identity-key", "publickeyv1_0"];
    other.bench.run(&wrong).expect(2).says(&["publickeyv1_0"]);
}

/// The features of a build add crates; a build without them has neither these nor what they need.
#[test]
fn a_build_without_features_has_no_crate_of_the_engine() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--package", "tlaforge", "--edges", "normal", "--locked", "--offline", "--prefix", "none"])
        .current_dir(project())
        .output()
        .unwrap();
    let tree = Done::of(&tree).expect(0).stdout;
    assert!(tree.contains("reqwest v"), "{tree}");
    for name in
        ["restate-sdk", "tlaforge-restate", "object_store", "tlaforge-store", "opentelemetry", "tlaforge-telemetry"]
    {
        assert!(!tree.contains(&format!("{name} v")), "{name}");
    }
}

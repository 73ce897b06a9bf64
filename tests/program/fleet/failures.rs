//! `forge-all --engine` while something else fails than a process: the account, the key, the store, a clock, the network, the
//! tools of a worker.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tlaforge::journal::Sha;

use super::runs::{Client, Forges, SETS};
use super::{Fleet, KEY, done};
use crate::support::counter::answers;
use crate::support::model_server::{Reply, Seen, Tokens};
use crate::support::waiting::wait_until;
use crate::support::{Done, jar, java_home};

const NEW_KEY: &str = "sk-ant-marker-9876543210zyxwvutsrq";

/// Runs that were forged in one process, and are then forged on a fleet.
struct Case {
    forges: Forges,
    /// Number of requests of the runs in one process.
    requests: usize,
}

impl Case {
    /// `special` can change the reply to a request of the fleet, which are numbered from 0.
    fn start(special: impl Fn(usize, &Seen, Reply) -> Reply + Send + 'static) -> Self {
        Self::on(Fleet::start(), &SETS, special)
    }

    fn on(fleet: Fleet, sets: &[&str], special: impl Fn(usize, &Seen, Reply) -> Reply + Send + 'static) -> Self {
        let first = Arc::new(AtomicUsize::new(usize::MAX));
        let first_in_script = first.clone();
        let script = move |seen: &Seen| {
            let reply = answers(seen);
            match seen.number.checked_sub(first_in_script.load(Ordering::SeqCst)) {
                Some(number) => special(number, seen, reply),
                None => reply,
            }
        };
        let forges = Forges::on(fleet, script, sets.iter().map(|set| (*set).to_owned()).collect());
        done(forges.command("local", &[])).expect(0);
        let requests = forges.model.posts().len();
        first.store(requests, Ordering::SeqCst);
        Self { forges, requests }
    }

    /// One run, whose requests after the first are answered when the switch is on.
    fn waiting() -> (Self, Arc<AtomicBool>) {
        let (go, may_answer) = switch();
        let script = move |number, _: &Seen, reply: Reply| match number {
            0 => reply,
            _ => reply.once(may_answer.clone()),
        };
        (Self::on(Fleet::start(), &["a"], script), go)
    }

    /// Number of requests of the fleet so far.
    fn sent(&self) -> usize {
        self.forges.model.posts().len() - self.requests
    }

    fn begin(&self) -> Client {
        let log = std::fs::File::create(self.forges.fleet.bench.path("client.log")).unwrap();
        Client(self.forges.remote(&[]).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap())
    }

    /// `tlaforge fleet …` for this engine.
    fn fleet(&self, args: &[&str]) -> Done {
        self.forges.fleet.bench.run(&[&["fleet"], args, &["--engine", &self.forges.fleet.server.url()]].concat())
    }

    fn limits(&self, args: &[&str]) -> Done {
        self.fleet(&[&["limits", "--key", &key_name(KEY)], args].concat()).expect(0)
    }

    /// What the engine knows of the key; null if nothing.
    fn status(&self) -> Value {
        let status: Value =
            serde_json::from_str(&self.fleet(&["status", "--format", "json"]).expect(0).stdout).unwrap();
        let mut keys = status["keys"].as_array().unwrap().iter();
        keys.find(|status| status["key"] == key_name(KEY)).cloned().unwrap_or_default()
    }

    fn assert_ends(&self, mut client: Client) {
        let status = client.0.wait().unwrap().code();
        assert_eq!(status, Some(0), "{}", self.forges.fleet.bench.read("client.log"));
        self.forges.assert_same_as_local();
        assert_eq!(self.forges.results("remote"), self.forges.results("local"));
    }

    /// Asserts that each run has ended once, with the same files as in one process, whatever it was stopped by before.
    fn assert_same_files(&self) {
        for set in SETS {
            let read = |out: &str, file: &str| self.forges.fleet.bench.read(&format!("{out}/{set}/{file}"));
            for file in ["Spec.tla", "Spec.cfg", "informal_spec.md"] {
                assert_eq!(read("remote", file), read("local", file), "{set} {file}");
            }
            let count = |out: &str, word: &str| read(out, "journal.jsonl").matches(word).count();
            assert_eq!(count("remote", "\"answer_received\""), count("local", "\"answer_received\""), "{set}");
            let stopped = count("remote", "\"outcome\":\"stopped\"");
            assert_eq!(count("remote", "\"run_finished\""), 1 + stopped, "{set}");
        }
    }
}

/// The name under which the engine knows a key.
fn key_name(key: &str) -> String {
    format!("anthropic-{}", &Sha::digest(key).as_str()[..12])
}

/// A switch that a reply can wait for.
fn switch() -> (Arc<AtomicBool>, impl Fn() -> bool + Send + Sync + Clone + 'static) {
    let switch = Arc::new(AtomicBool::new(false));
    let read = switch.clone();
    (switch, move || read.load(Ordering::SeqCst))
}

/// The environment of a process whose clock differs by this much, such as `+2d`.
fn clock(offset: &str) -> Vec<(String, String)> {
    let printed =
        Command::new("faketime").args(["-f", offset, "env"]).output().expect("faketime: scripts/setup installs it");
    let printed = String::from_utf8(printed.stdout).unwrap();
    let library = printed.lines().find_map(|line| line.strip_prefix("LD_PRELOAD=")).unwrap();
    // Timers go on as always.
    let variables = [("LD_PRELOAD", library), ("FAKETIME", offset), ("FAKETIME_DONT_FAKE_MONOTONIC", "1")];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

#[test]
fn runs_wait_while_the_account_has_no_credit() {
    let case = Case::start(|number, _, reply| match number {
        3 => Reply::error(400, "invalid_request_error", "Your credit balance is too low to access the API"),
        _ => reply,
    });
    let _workers = (case.forges.worker(1), case.forges.worker(2));
    let client = case.begin();
    wait_until("both runs wait", || {
        let status = case.status();
        !status["stopped"].is_null() && status["waiting"] == 2 && status["under_way"] == 0
    });
    let sent = case.sent();
    case.fleet(&["status"]).expect(0).prints(&["stopped until the command below: ", "credit balance", "--resume"]);
    assert_eq!(case.sent(), sent);
    let resumed = case.limits(&["--resume"]);
    assert!(!resumed.stderr.contains("is new to the engine"), "{}", resumed.stderr);
    case.assert_ends(client);
    // The refused request was sent again.
    assert_eq!(case.sent(), case.requests + 1);
}

#[test]
fn a_limit_of_money_stops_the_runs_and_no_answer_is_paid_twice() {
    // $0.18 for each answer.
    let case = Case::start(|_, _, reply| {
        reply.tokens(Tokens { input: 10_000, output: 10_000, cache_read: 0, cache_write: 0 })
    });
    let _workers = (case.forges.worker(1), case.forges.worker(2));
    case.limits(&["--max-cost", "1.5"]).says(&["is new to the engine"]);
    let stopped = done(case.forges.remote(&[])).expect(3);
    stopped.prints(&["their limit is $1.5", "`tlaforge fleet limits --max-cost`", "stopped"]);
    let spent = |answers: usize| format!("{}.{:02}", 18 * answers / 100, 18 * answers % 100);
    let paid = case.sent();
    assert!(paid > 0 && paid < case.requests, "{paid}");
    let status = case.status();
    assert_eq!(format!("{:.2}", status["spent"]["cost_usd"].as_f64().unwrap()), spent(paid));
    assert!(status["spent"]["cost_usd"].as_f64().unwrap() <= 1.5 + 0.18, "{status}");

    case.limits(&["--max-cost", "100"]);
    done(case.forges.remote(&[])).expect(0).prints(&["4 approved"]);
    case.assert_same_files();
    // A call that had read files when its next request was refused began again.
    let journals = SETS.map(|set| case.forges.fleet.bench.read(&format!("remote/{set}/journal.jsonl")));
    let cut: usize = journals.iter().map(|journal| journal.matches("\"failure\":\"budget\"").count()).sum();
    assert_eq!(case.sent(), case.requests + cut);
    assert_eq!(format!("{:.2}", case.status()["spent"]["cost_usd"].as_f64().unwrap()), spent(case.sent()));
}

#[test]
fn a_revoked_key_stops_the_runs_and_workers_with_another_key_continue_them() {
    let mut case = Case::start(|number, seen, reply| match number {
        3.. if seen.header("x-api-key") == Some(KEY) => Reply::error(401, "authentication_error", "invalid x-api-key"),
        _ => reply,
    });
    let workers = [case.forges.worker(1), case.forges.worker(2)];
    let stopped = done(case.forges.remote(&[])).expect(5);
    let stopped = stopped.prints(&["4 stopped", "invalid x-api-key", "set the key"]);
    // Each run was refused once.
    assert_eq!(case.sent(), 3 + SETS.len());
    for worker in workers {
        assert_eq!(worker.terminate(), Some(0));
    }

    case.forges.fleet.bench.set("ANTHROPIC_API_KEY", NEW_KEY);
    let _workers = (case.forges.worker(3), case.forges.worker(4));
    done(case.forges.remote(&[])).expect(0).prints(&["4 approved"]);
    assert_eq!(case.sent(), case.requests + SETS.len());
    case.assert_same_files();
    let logs = (1..=4).map(|number| case.forges.fleet.bench.read(&format!("worker-{number}.log")));
    assert!(logs.chain([stopped.stdout, stopped.stderr]).all(|text| !text.contains("sk-ant")));
}

#[test]
fn runs_wait_for_a_store_that_cannot_be_reached() {
    let (go, may_answer) = switch();
    let case = Case::start(move |number, _, reply| if number >= 2 { reply.once(may_answer.clone()) } else { reply });
    let _workers = (case.forges.worker(1), case.forges.worker(2));
    let client = case.begin();
    wait_until("both runs wait for an answer", || case.sent() == 4);
    let bench = &case.forges.fleet.bench;
    let (store, away) = (bench.path("store"), bench.path("away"));
    std::fs::rename(&store, &away).unwrap();
    // Otherwise the run would begin another store there.
    std::fs::write(&store, "").unwrap();
    go.store(true, Ordering::SeqCst);
    for number in [1, 2] {
        let log = format!("worker-{number}.log");
        let said = "cannot be used now";
        wait_until("the worker says that the run waits", || bench.read(&log).contains(said));
        assert!(bench.read(&log).contains(&case.forges.runs), "the log names the run");
    }
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() {
        // In this time, the store is tried several times.
        let (began, sent) = (Instant::now(), case.sent());
        wait_until("a minute is over", || began.elapsed() > Duration::from_secs(60));
        assert_eq!(case.sent(), sent, "no request is sent whose answer could not be stored");
    }
    std::fs::remove_file(&store).unwrap();
    std::fs::rename(&away, &store).unwrap();
    case.assert_ends(client);
    assert_eq!(case.sent(), case.requests);
}

#[test]
fn a_worker_takes_a_run_over_while_the_store_cannot_be_reached() {
    let (case, go) = Case::waiting();
    let first = case.forges.worker(1);
    let client = case.begin();
    wait_until("the worker asks", || case.sent() == 2);
    let second = case.forges.worker(2);
    let bench = &case.forges.fleet.bench;
    let (store, away) = (bench.path("store"), bench.path("away"));
    std::fs::rename(&store, &away).unwrap();
    std::fs::write(&store, "").unwrap();
    go.store(true, Ordering::SeqCst);
    first.kill();
    wait_until("the second worker waits", || bench.read("worker-2.log").contains("cannot be used now"));
    std::fs::remove_file(&store).unwrap();
    std::fs::rename(&away, &store).unwrap();
    case.assert_ends(client);
    // The request of the first worker was sent again.
    assert_eq!(case.sent(), case.requests + 1);
    assert_eq!(second.terminate(), Some(0));
}

#[test]
fn the_last_worker_stops_its_run_although_nothing_answers_for_the_limits() {
    let (case, go) = Case::waiting();
    let only = case.forges.worker(1);
    let client = case.begin();
    wait_until("the worker asks", || case.sent() == 2);
    assert_eq!(only.terminate(), Some(0));
    // The process of the run was not killed: it said how the run is.
    let log = case.forges.fleet.bench.read("worker-1.log");
    assert!(log.contains(": stopped"), "{log}");
    go.store(true, Ordering::SeqCst);
    let _second = case.forges.worker(2);
    case.assert_ends(client);
    assert_eq!(case.sent(), case.requests + 1);
}

#[test]
fn a_run_that_one_worker_cannot_begin_goes_to_another_one() {
    let case = Case::on(Fleet::start(), &["a"], |_, _, reply| reply);
    let without_key = case.forges.worker_in(1, &[], &[("ANTHROPIC_BASE_URL", ""), ("ANTHROPIC_API_KEY", "")]);
    let client = case.begin();
    let bench = &case.forges.fleet.bench;
    wait_until("the run is submitted again", || bench.read("client.log").contains(": trying again, because a worker"));
    assert!(bench.read("client.log").contains("ANTHROPIC_API_KEY"), "the command says why");
    without_key.kill();
    let _second = case.forges.worker(2);
    case.assert_ends(client);
    assert_eq!(case.sent(), case.requests);
}

#[test]
fn wrong_clocks_of_workers_change_nothing() {
    let case = Case::start(|_, _, reply| reply);
    let worker = |number, offset| {
        let clock = clock(offset);
        let variables: Vec<(&str, &str)> = clock.iter().map(|(name, value)| (&**name, &**value)).collect();
        case.forges.worker_in(number, &[], &variables)
    };
    let (ahead, _behind) = (worker(1, "+2d"), worker(2, "-1d"));
    case.limits(&["--requests-per-minute", "6"]);
    let began = Instant::now();
    // Six at once, and one more every ten seconds of real time.
    let assert_limited = || {
        let sent = case.sent();
        let most = 7 + began.elapsed().as_secs() / 10;
        assert!((6..=most).contains(&(sent as u64)), "{sent} sent, at most {most}");
    };
    let client = case.begin();
    wait_until("both runs wait", || case.status()["waiting"] == 2);
    assert_limited();
    // Another worker continues its run three days before the events that the run has.
    ahead.kill();
    let _ahead = worker(3, "+2d");
    assert_limited();
    case.limits(&["--requests-per-minute", "none"]);
    case.assert_ends(client);
    assert_eq!(case.sent(), case.requests);
    let status = case.status();
    assert_eq!((&status["under_way"], &status["unreported"]), (&0.into(), &0.into()));
    // $0.00045 for each answer.
    let spent = format!("{:.5}", status["spent"]["cost_usd"].as_f64().unwrap());
    assert_eq!(spent, format!("0.{:05}", 45 * case.requests), "{status}");
    let bench = &case.forges.fleet.bench;
    for set in SETS {
        bench.run(&["report", &format!("remote/{set}")]).expect(0);
        bench.run(&["audit", &format!("remote/{set}"), "--policy", "default"]).expect(0);
    }
}

/// Only the connection between the server and the worker is held: the worker still reaches the model, the limits and the
/// store.
#[test]
fn the_late_results_of_a_partitioned_worker_change_nothing() {
    let (go, may_answer) = switch();
    // A connection without an answer ends after six seconds.
    let fleet = Fleet::start_with("http2-keep-alive-interval = '1s'\nhttp2-keep-alive-timeout = '5s'");
    let case = Case::on(fleet, &["a"], move |number, _, reply| match number {
        1 => reply.once(may_answer.clone()),
        _ => reply,
    });
    let first = case.forges.worker(1);
    let client = case.begin();
    wait_until("the first worker asks", || case.sent() == 2);
    let second = case.forges.worker(2);
    first.route.hold();
    // It asks only after it has journaled that it continues the run.
    wait_until("the second worker asks", || case.sent() >= 3);
    go.store(true, Ordering::SeqCst);
    let bench = &case.forges.fleet.bench;
    wait_until("the store refuses the first worker", || bench.read("worker-1.log").contains("was continued by"));
    case.assert_ends(client);
    assert_eq!(case.sent(), case.requests + 1);
    let journal = bench.read("remote/a/journal.jsonl");

    second.kill();
    first.route.release();
    // The worker that comes back takes jobs. This one has nothing to do.
    std::fs::remove_dir_all(bench.path("remote")).unwrap();
    done(case.forges.remote(&[])).expect(0).prints(&["1 of them earlier"]);
    assert_eq!(bench.read("remote/a/journal.jsonl"), journal);
    bench.write("sets/b/counter.md", bench.read("sets/a/counter.md"));
    done(case.forges.remote(&[])).expect(0).prints(&["2 approved", "1 of them earlier"]);
    assert_eq!(bench.read("remote/a/journal.jsonl"), journal);
    assert_eq!(first.terminate(), Some(0));
}

#[test]
fn a_worker_with_other_tools_does_not_continue_a_run() {
    let (go, may_answer) = switch();
    let case = Case::on(Fleet::start(), &["a"], move |_, seen, reply| {
        if seen.system().contains("You review") { reply.once(may_answer.clone()) } else { reply }
    });
    let java = [("JAVA_HOME", java_home().to_str().unwrap())];
    let with_tlc =
        |number| case.forges.worker_in(number, &["--checker", "tlc", "--tla-tools", jar().to_str().unwrap()], &java);
    let first = with_tlc(1);
    let mut client = case.begin();
    let asks_for_review = || case.forges.model.posts().last().is_some_and(|seen| seen.system().contains("You review"));
    wait_until("the worker asks for the review", || case.sent() > 0 && asks_for_review());
    let sent = case.sent();
    first.kill();
    go.store(true, Ordering::SeqCst);
    let embedded = case.forges.worker_in(2, &["--checker", "embedded"], &[]);
    assert_eq!(client.0.wait().unwrap().code(), Some(4));
    let log = case.forges.fleet.bench.read("client.log");
    assert!(log.contains("1 stopped") && log.contains("its last check was made by TLC2"), "{log}");
    assert_eq!(case.sent(), sent);
    embedded.kill();

    let _third = with_tlc(3);
    done(case.forges.remote(&[])).expect(0).prints(&["1 approved"]);
    assert_eq!(case.sent(), case.requests + 1);
    case.forges.fleet.bench.run(&["audit", "remote/a", "--policy", "default"]).expect(0);
}

/// Only processes that end without a word count for the limit of the next test.
#[test]
fn a_run_goes_on_however_often_its_worker_ends_or_loses_the_server() {
    let (mut case, go) = Case::waiting();
    let mut client = case.begin();
    let mut worker = case.forges.worker(1);
    for number in 2..=8 {
        wait_until("the worker asks", || case.sent() == number);
        // Six times without a new event of the run.
        if number == 5 {
            assert_eq!(worker.terminate(), Some(0));
            worker = case.forges.worker(2);
        } else {
            case.forges.fleet.server.restart();
        }
    }
    wait_until("the worker asks", || case.sent() == 9);
    go.store(true, Ordering::SeqCst);
    assert_eq!(client.0.wait().unwrap().code(), Some(0), "{}", case.forges.fleet.bench.read("client.log"));
    assert_eq!(case.sent(), case.requests + 7);
    drop(worker);
}

#[test]
fn a_run_whose_processes_end_again_and_again_stops() {
    let (go, may_answer) = switch();
    let case = Case::on(Fleet::start(), &["a"], move |number, _, reply| match number {
        0 => reply,
        _ => reply.once(may_answer.clone()),
    });
    let mut client = case.begin();
    // It begins the run, and continues it five times.
    for number in 1..=6 {
        let worker = case.forges.worker(number);
        wait_until("the worker asks", || case.sent() == 1 + number as usize);
        worker.kill();
    }
    let _worker = case.forges.worker(7);
    assert_eq!(client.0.wait().unwrap().code(), Some(4));
    let log = case.forges.fleet.bench.read("client.log");
    assert!(log.contains("1 stopped") && log.contains("5 times in a row"), "{log}");
    assert_eq!(case.sent(), 7);
    go.store(true, Ordering::SeqCst);
    done(case.forges.remote(&[])).expect(0).prints(&["1 approved"]);
    // All but the last were killed with a request under way.
    assert_eq!(case.sent(), case.requests + 6);
    case.forges.fleet.bench.run(&["audit", "remote/a", "--policy", "default"]).expect(0);
}

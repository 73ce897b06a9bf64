//! Limits that many callers share, with a real server. Their minute has 61 ticks of 50 ms.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tlaforge_restate::{
    Admission, CallError, Change, EngineAddress, Job, JobFuture, JobReader, Limits, LimitsChange, LimitsClient,
    LimitsStatus, NoAnswer, QuotaError, RequestUse,
};

use super::restate::RestateServer;
use super::waiting::wait_until_async;
use super::{RunningWorker, address, block_on, free_address};

type Work = Arc<dyn Fn(Vec<u8>) -> JobFuture + Send + Sync>;

const KEY: &str = "provider-0123456789ab";

fn client(engine: EngineAddress) -> LimitsClient {
    LimitsClient::new(engine, "test", KEY, Duration::from_secs(100), |_| {}).unwrap()
}

fn worker(server: &RestateServer, listen: &str, advertise: Option<EngineAddress>) -> RunningWorker {
    let work: Work = Arc::new(|_| Box::pin(async { Err(NoAnswer::Failed("no jobs here".to_owned())) }));
    RunningWorker::start_with(
        server,
        listen,
        advertise,
        Job { name: "job", has_object: false, max_lost_attempts: None, work },
    )
}

async fn status(server: &RestateServer) -> Option<LimitsStatus> {
    // The engine may be starting.
    let (all, _) = LimitsStatus::read_all("test", &address(server)).await.ok()?;
    all.into_iter().find(|status| status.key == KEY)
}

fn usd(cost_usd: f64) -> RequestUse {
    RequestUse { cost_usd, tokens: 100 }
}

/// Asks until there is another answer than to wait.
async fn admit(client: &LimitsClient, id: &str, run: &str, expected: RequestUse) -> Admission {
    loop {
        let admission = client.admit(id, run, expected).await.unwrap();
        if !matches!(admission, Admission::Wait { .. }) {
            return admission;
        }
        admission.ask_again().await;
    }
}

/// An address whose connections go to one of two others in turn, or to the one that lives; and the number of connections.
pub(super) fn balance(backends: [String; 2]) -> (EngineAddress, Arc<AtomicUsize>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    std::thread::spawn(move || {
        for (count, inward) in listener.incoming().enumerate() {
            counted.fetch_add(1, Ordering::SeqCst);
            let turn = [&backends[count % 2], &backends[(count + 1) % 2]];
            let Some(outward) = turn.into_iter().find_map(|backend| TcpStream::connect(backend).ok()) else { continue };
            let inward = inward.unwrap();
            inward.set_nodelay(true).unwrap();
            outward.set_nodelay(true).unwrap();
            for (mut from, mut to) in [(inward.try_clone().unwrap(), outward.try_clone().unwrap()), (outward, inward)] {
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
    (address, connections)
}

#[test]
fn a_hundred_callers_keep_to_a_rate_while_a_worker_and_the_server_are_killed() {
    const RATE: u32 = 60;
    let folder = tempfile::tempdir().unwrap();
    let mut server = RestateServer::start(folder.path());
    let addresses = [free_address(), free_address()];
    let (balancer, _) = balance(addresses.clone());
    let first = worker(&server, &addresses[0], Some(balancer.clone()));
    let _second = worker(&server, &addresses[1], Some(balancer));
    let granted = Arc::new(Mutex::new(BTreeMap::<String, u32>::new()));
    let engine = address(&server);
    block_on("all requests have ended", async {
        let limits =
            Limits { requests_per_minute: Some(RATE), max_cost_usd: Some(25.0), tokens_per_minute: Some(100_000) };
        let clients: Vec<LimitsClient> = (0..4).map(|_| client(engine.clone())).collect();
        assert_eq!(clients[0].init_limits(limits).await.unwrap(), limits);
        let mut callers = tokio::task::JoinSet::new();
        for caller in 0..100 {
            let (client, granted) = (clients[caller % 4].clone(), granted.clone());
            callers.spawn(async move {
                let id = format!("request-{caller}");
                let admission = admit(&client, &id, &format!("run-{}", caller % 10), usd(0.25)).await;
                assert!(matches!(admission, Admission::Granted { .. }), "{admission:?}");
                *granted.lock().unwrap().entry(id.clone()).or_default() += 1;
                client.settle(&id, usd(0.125), None);
                client.settle(&id, usd(0.125), None);
            });
        }
        let granted_count = || granted.lock().unwrap().len();
        wait_until_async("some are admitted", || granted_count() > 10).await;
        drop(first);
        wait_until_async("more are admitted", || granted_count() > RATE as usize).await;
        server.restart();
        let most = AtomicUsize::new(0);
        let watch = async {
            let mut looks = tokio::time::interval(Duration::from_millis(5));
            loop {
                looks.tick().await;
                if let Some(status) = status(&server).await {
                    let requests = usize::try_from(status.requests_last_minute).unwrap();
                    most.fetch_max(requests, Ordering::SeqCst);
                }
            }
        };
        let end = async {
            while let Some(ended) = callers.join_next().await {
                ended.unwrap();
            }
            for client in &clients {
                client.flush().await;
            }
        };
        tokio::select! {
            () = end => {}
            () = watch => {}
        }
        let most = most.load(Ordering::SeqCst);
        assert!(most > 0 && most <= RATE as usize, "{most} in a minute");
        assert!(granted.lock().unwrap().values().all(|count| *count == 1));
        let end = status(&server).await.unwrap();
        assert_eq!((end.spent.cost_usd, end.spent.tokens), (12.5, 10_000));
        assert_eq!((end.under_way, end.waiting, end.unreported), (0, 0, 0));
        assert_eq!(JobReader::new("test", engine.clone()).unwrap().count().await.unwrap(), []);
    });
}

/// Prints the admissions per second for one key, with 1, 16 and 128 callers. Each takes two messages.
#[test]
#[ignore = "measures; nothing else should run on the machine"]
fn admissions_of_one_key() {
    const REQUESTS: u32 = 1280;
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let _worker = worker(&server, "127.0.0.1:0", None);
    for count in [1, 16, 128] {
        let began = std::time::Instant::now();
        block_on("all requests have ended", async {
            let client = client(address(&server));
            client.init_limits(Limits { max_cost_usd: Some(1e6), ..Limits::default() }).await.unwrap();
            let mut callers = tokio::task::JoinSet::new();
            for caller in 0..count {
                let client = client.clone();
                callers.spawn(async move {
                    for request in 0..REQUESTS / count {
                        let id = format!("{count}-{caller}-{request}");
                        let admission = admit(&client, &id, &format!("run-{caller}"), usd(0.25)).await;
                        assert!(matches!(admission, Admission::Granted { .. }), "{admission:?}");
                        client.settle(&id, usd(0.125), None);
                    }
                });
            }
            while let Some(ended) = callers.join_next().await {
                ended.unwrap();
            }
            client.flush().await;
        });
        println!("{count} callers: {:.0} admissions per second", f64::from(REQUESTS) / began.elapsed().as_secs_f64());
    }
}

/// Not a test of its own: the process of a caller that the next test kills.
#[test]
fn hold_a_reservation() {
    let Ok(engine) = std::env::var("TLAFORGE_TEST_ENGINE") else { return };
    block_on("the end by a signal", async {
        let client = client(engine.parse().unwrap());
        let admission = admit(&client, "lost", "run", usd(0.75)).await;
        println!("\nheld: {admission:?}");
        std::future::pending::<()>().await;
    });
}

#[test]
fn the_request_of_a_killed_caller_is_renewed_until_then_and_counts_as_spent_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let _worker = worker(&server, "127.0.0.1:0", None);
    let engine = address(&server);
    block_on("the test ends", async {
        let client = client(engine.clone());
        client.init_limits(Limits { max_cost_usd: Some(1.0), ..Limits::default() }).await.unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "limits::hold_a_reservation", "--nocapture"])
            .env("TLAFORGE_TEST_ENGINE", engine.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let held = lines.into_iter().find(|line| line.starts_with("held:")).unwrap();
        assert!(held.contains("Granted"), "{held}");
        // More ticks than a lease has.
        for _ in 0..70 {
            let admission = client.admit("next", "other", usd(0.5)).await.unwrap();
            let Admission::Wait { why, .. } = &admission else { panic!("{admission:?}") };
            assert!(why.contains("the limit of $1"), "{why}");
            admission.ask_again().await;
        }
        assert_eq!(status(&server).await.unwrap().under_way, 1);
        child.kill().unwrap();
        child.wait().unwrap();
        let Admission::Refused { why, .. } = admit(&client, "next", "other", usd(0.5)).await else {
            panic!("admitted")
        };
        assert!(why.contains("have cost $0.7500, the next one costs about $0.5000"), "{why}");
        let lost = status(&server).await.unwrap();
        assert_eq!((lost.under_way, lost.unreported, lost.unreported_use), (0, 1, usd(0.75)));
        // A person raises the budget.
        let raise = LimitsChange { max_cost_usd: Change::Set(2.0), ..LimitsChange::default() };
        assert_eq!(client.set_limits(raise).await.unwrap().max_cost_usd, Some(2.0));
        assert!(matches!(admit(&client, "next", "other", usd(0.5)).await, Admission::Granted { .. }));
        client.settle("next", usd(0.5), None);
        // The late word of the lost one.
        client.settle("lost", usd(0.25), None);
        client.flush().await;
        let end = status(&server).await.unwrap();
        assert_eq!((end.spent.cost_usd, end.unreported, end.under_way), (0.75, 0, 0));
    });
}

#[test]
fn a_quota_error_of_one_caller_stops_all_until_the_time_that_it_names_or_a_person() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let _worker = worker(&server, "127.0.0.1:0", None);
    let engine = address(&server);
    block_on("the test ends", async {
        let [one, other] = [client(engine.clone()), client(engine.clone())];
        for (id, reset_after_ms) in [("timed", Some(300)), ("endless", None)] {
            assert!(matches!(admit(&one, id, "run", usd(0.0)).await, Admission::Granted { .. }));
            one.settle(id, usd(0.0), Some(QuotaError { why: "no credit".to_owned(), reset_after_ms }));
            one.flush().await;
            let next = format!("{id}-next");
            let Admission::Wait { why, .. } = other.admit(&next, "run2", usd(0.0)).await.unwrap() else {
                panic!("admitted")
            };
            assert!(why.contains("no credit"), "{why}");
            let stopped = status(&server).await.unwrap();
            assert_eq!(stopped.stopped.as_deref(), Some("no credit"));
            if reset_after_ms.is_none() {
                assert_eq!(stopped.stopped_seconds, None);
                one.set_limits(LimitsChange::default()).await.unwrap();
            }
            assert!(matches!(admit(&other, &next, "run2", usd(0.0)).await, Admission::Granted { .. }));
        }
    });
}

#[test]
fn a_key_whose_state_cannot_be_read_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let _worker = worker(&server, "127.0.0.1:0", None);
    let engine = address(&server);
    block_on("both keys are there", async {
        let limits = Limits { max_cost_usd: Some(1.0), ..Limits::default() };
        client(engine.clone()).init_limits(limits).await.unwrap();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        for (key, state) in [("older-1", b"{\"a\"".as_slice()), ("other-1", &[0xff])] {
            let body = serde_json::json!({"object_key": key, "new_state": {"state": state}});
            let state = http.post(format!("{engine}/services/test.limits-1/state")).json(&body);
            assert!(state.send().await.unwrap().status().is_success());
        }
        let mut names = [Vec::new(), Vec::new()];
        while names[1].len() < 2 {
            let (readable, unreadable) = LimitsStatus::read_all("test", &engine).await.unwrap();
            assert!(
                unreadable.iter().all(|key| key.why.contains("does not have the format of this version of test")),
                "{unreadable:?}"
            );
            names = [
                readable.into_iter().map(|status| status.key).collect(),
                unreadable.into_iter().map(|unreadable| unreadable.key).collect(),
            ];
        }
        assert_eq!(names, [vec![KEY], vec!["older-1", "other-1"]]);
    });
}

#[test]
fn an_engine_without_workers_and_a_bad_name_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    block_on("the test ends", async {
        let hasty = LimitsClient::new(address(&server), "test", KEY, Duration::ZERO, |_| {}).unwrap();
        let error = hasty.admit("id", "run", usd(0.0)).await.unwrap_err();
        assert!(matches!(error, CallError::Unavailable { .. }), "{error}");
        assert!(
            error.to_string().contains("no worker is registered that keeps limits") || server_starts(&error),
            "{error}"
        );
    });
    for name in ["", "a/b", "a b", "ä", "a?b"] {
        let error = LimitsClient::new(address(&server), "test", name, Duration::ZERO, |_| {}).unwrap_err();
        assert!(error.to_string().contains("is not the name of a key"), "{error}");
    }
}

/// With no patience, a server that is still starting is the first thing that it sees.
fn server_starts(error: &CallError) -> bool {
    error.to_string().contains("the engine does not answer")
}

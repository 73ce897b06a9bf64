//! The client with an engine whose answers the test chooses, for moments at which a real server cannot be stopped.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{Client, Progress};
use crate::job::BUSY;
use crate::scripted_engine::start_engine;
use waiting::{end_of, wait_until_async};

#[path = "../../../tests/support/waiting.rs"]
mod waiting;

fn client(engine: &str) -> Client {
    Client::new(engine.parse().unwrap(), "test", "1", "job", Duration::ZERO, |_| {}).unwrap()
}

/// The caller stops waiting while the engine takes the job, before the client has its id.
#[tokio::test]
async fn a_job_whose_caller_left_while_it_was_submitted_is_cancelled() {
    let (received, taken, killed) =
        (Arc::<AtomicUsize>::default(), Arc::<Notify>::default(), Arc::<Mutex<Vec<String>>>::default());
    let (own_received, own_taken, own_killed) = (received.clone(), taken.clone(), killed.clone());
    let address = Arc::<Mutex<String>>::default();
    let own_address = address.clone();
    let engine = start_engine(move |line, _| {
        let (received, taken) = (own_received.clone(), own_taken.clone());
        let (killed, address) = (own_killed.clone(), own_address.clone());
        async move {
            if line.contains("/version") {
                let address = address.lock().unwrap().clone();
                return json!({"ingress_endpoint": address});
            }
            if line.contains("/job/send ") {
                received.fetch_add(1, Ordering::SeqCst);
                taken.notified().await;
                return json!({"invocationId": "inv_1"});
            }
            killed.lock().unwrap().push(line);
            Value::Null
        }
    })
    .await;
    address.lock().unwrap().clone_from(&engine);
    let client = client(&engine);
    tokio::select! {
        answer = client.call(None, "key", b"") => panic!("{answer:?}"),
        () = wait_until_async("the engine has the request", || received.load(Ordering::SeqCst) == 1) => {}
    }
    let take = async { taken.notify_one() };
    end_of("all jobs are cancelled", async { tokio::join!(client.cancel_submitted(), take) }).await;
    assert_eq!(*killed.lock().unwrap(), ["patch /invocations/inv_1/kill http/1.1"]);

    let error = end_of("the call ends", client.call(None, "other", b"")).await.unwrap_err().to_string();
    assert!(error.contains("it was cancelled"), "{error}");
    assert_eq!(received.load(Ordering::SeqCst), 1, "nothing is submitted after that");
}

/// While others of its kind run, a job that waits gets its turn. If none runs, no worker takes it.
#[tokio::test]
async fn a_job_waits_for_its_turn_only_while_others_of_its_kind_run() {
    let attempt = |status: &str, failure: Option<&str>| {
        let started = Value::Null;
        json!({"status": status, "last_failure": failure, "started": started, "now": 100_000})
    };
    let refused = "h2 pool connection error: Connection refused (os error 111)";
    for (job, running, expected) in [
        (Some(attempt("completed", None)), 0, "ended"),
        (Some(attempt("running", None)), 1, "running"),
        (Some(attempt("pending", None)), 1, "waiting"),
        (Some(attempt("pending", None)), 0, "the job waits for its turn, and no worker has a job of its kind"),
        (Some(attempt("backing-off", Some(BUSY))), 1, "waiting"),
        (Some(attempt("backing-off", Some(BUSY))), 0, "no worker takes the job"),
        (Some(attempt("backing-off", Some(refused))), 1, "no worker takes the job: h2 pool connection error"),
        (Some(attempt("paused", None)), 1, "no worker takes the job: it is paused"),
        (None, 1, "the engine does not know the job any more"),
    ] {
        let shown = format!("{job:?}, {running} running");
        let engine = start_engine(move |line, sql| {
            assert!(line.starts_with("post /query "), "{line}");
            let rows = if sql.contains("COUNT(*)") {
                assert!(sql.contains("'test-job-1'"), "of this version only: {sql}");
                vec![json!({"jobs": running})]
            } else {
                job.clone().into_iter().collect()
            };
            async move { json!({"rows": rows}) }
        })
        .await;
        let found = match end_of("the engine answers", client(&engine).find_progress("inv_1")).await {
            Progress::Running => "running".to_owned(),
            Progress::Ended => "ended".to_owned(),
            Progress::Waiting => "waiting".to_owned(),
            Progress::Obstacle(why) => why,
        };
        assert!(found.starts_with(expected), "{shown}: {found}");
    }
}

//! Work that takes long: jobs, tasks, their number, and their end.

use super::client::{Client, text};
use crate::support::Bench;
use crate::support::checking::faking_all;
use crate::support::waiting::{HANG, wait_until};
use serde_json::{Value, json};

/// With a `java` that notes its process id and hangs.
fn hanging() -> Bench {
    faking_all(&format!("echo $$ >> \"$(dirname \"$0\")/pids\"\n{HANG}"))
}

/// The processes of `java` that have started.
fn started(bench: &Bench) -> Vec<String> {
    let pids = std::fs::read_to_string(bench.path("jre/bin/pids")).unwrap_or_default();
    pids.lines().map(str::to_owned).collect()
}

fn is_gone(pid: &str) -> bool {
    !std::path::Path::new("/proc").join(pid).exists()
}

fn check() -> Value {
    json!({ "spec": "M.tla", "checker": "tlc" })
}

#[test]
fn a_long_check_becomes_a_job_that_can_be_asked_for_and_cancelled() {
    let bench = hanging();
    let mut client = Client::with(&bench, &["--allow", ".", "--answer-within", "0"], &json!({}));
    let running = client.call("check", &check());
    let job = json!({ "job": running["job"] });
    assert_eq!(running["state"], "running", "{running}");
    assert_eq!(client.call("job_status", &job)["state"], "running");
    wait_until("the checker runs", || !started(&bench).is_empty());
    let cancelled = client.call("job_cancel", &job);
    assert_eq!(cancelled["message"], "check-1 is cancelled: it has no verdict");
    assert!(client.call("job_cancel", &job)["message"].as_str().unwrap().contains("had ended already"));
    wait_until("its process is gone", || started(&bench).iter().all(|pid| is_gone(pid)));
    assert!(client.refused("job_status", &job).contains("cancelled"));
    assert!(client.refused("job_status", &json!({ "job": "check-99" })).contains("no job \"check-99\""));
}

#[test]
fn only_eight_jobs_run_at_a_time_and_all_end_with_the_server() {
    let bench = hanging();
    let mut client = Client::with(&bench, &["--allow", ".", "--answer-within", "0"], &json!({}));
    let jobs: Vec<Value> = (0..8).map(|_| client.call("check", &check())["job"].clone()).collect();
    for _ in 0..100 {
        let why = client.refused("check", &check());
        assert!(why.contains("8 jobs run already") && why.contains("job_cancel"), "{why}");
    }
    client.call("job_cancel", &json!({ "job": jobs[0] }));
    client.call("check", &check());
    wait_until("the checkers run", || !started(&bench).is_empty());
    assert_eq!(client.end(), Some(0));
    wait_until("all processes are gone", || started(&bench).iter().all(|pid| is_gone(pid)));
}

#[test]
fn a_cancelled_call_ends_its_process_and_the_server_goes_on() {
    let bench = hanging();
    let mut client = Client::start(&bench);
    let call = client.begin("tools/call", &json!({ "name": "check", "arguments": check() }));
    wait_until("the checker runs", || !started(&bench).is_empty());
    let params = json!({ "requestId": call, "reason": "no need" });
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    wait_until("its process is gone", || started(&bench).iter().all(|pid| is_gone(pid)));
    assert_eq!(client.call("formula", &json!({ "formula": "G a" }))["formula"], "G a");
    // A killed server leaves nothing either.
    client.begin("tools/call", &json!({ "name": "check", "arguments": check() }));
    wait_until("the next checker runs", || started(&bench).iter().any(|pid| !is_gone(pid)));
    client.kill();
    wait_until("all processes are gone", || started(&bench).iter().all(|pid| is_gone(pid)));
}

#[test]
fn a_client_that_knows_tasks_gets_one_and_can_cancel_it() {
    let bench = hanging();
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let mut client = Client::with(&bench, &["--allow", "."], &tasks);
    let created = client.call_raw("check", &check());
    let task = json!({ "taskId": created["result"]["taskId"] });
    assert_eq!((&created["result"]["resultType"], &created["result"]["status"]), (&json!("task"), &json!("working")));
    assert_eq!(client.request("tasks/get", &task)["result"]["status"], "working");
    client.request("tasks/cancel", &task);
    wait_until("the task is cancelled", || client.request("tasks/get", &task)["result"]["status"] == "cancelled");
    wait_until("its process is gone", || started(&bench).iter().all(|pid| is_gone(pid)));
    let unknown = client.request("tasks/get", &json!({ "taskId": "none" }));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("forge_status"), "{unknown}");
    // What is quick is answered at once.
    let quick = client.call_raw("formula", &json!({ "formula": "F a" }));
    assert!(text(&quick).contains("F a"), "{quick}");
}

//! What a worker takes over, with an engine whose answers the test chooses: a real one needs minutes to notice a silent host.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::Registration;
use crate::address::EngineAddress;
use crate::scripted_engine::start_engine;

#[tokio::test]
async fn what_runs_at_another_address_is_taken_over_after_two_checks_that_did_not_reach_it() {
    let (dry_run, patched) = (Arc::<Mutex<Value>>::default(), Arc::<Mutex<Vec<String>>>::default());
    let (own_dry_run, own_patched) = (dry_run.clone(), patched.clone());
    let engine = start_engine(move |line, body| {
        let answer = if line.starts_with("patch ") {
            own_patched.lock().unwrap().push(line);
            Value::Null
        } else if line.starts_with("get /deployments ") {
            let deployment = |name: &str| {
                json!({"id": format!("dp_{name}"), "uri": format!("http://{name}:1"), "services": [{"name": "job"}]})
            };
            json!({"deployments": [deployment("own"), deployment("other")]})
        } else if line.starts_with("post /deployments ") {
            assert!(body.contains("http://other:1") && body.contains("\"dry_run\":true"), "{body}");
            own_dry_run.lock().unwrap().clone()
        } else if body.contains("sys_service") {
            json!({"rows": [{"name": "job", "deployment": "dp_own"}]})
        } else {
            let job = |id: &str, status: &str, pinned: &str| json!({"id": id, "service": "job", "status": status, "pinned": pinned});
            let running = [("inv_own", "dp_own"), ("inv_other", "dp_other"), ("inv_removed", "dp_removed")];
            let mut rows: Vec<Value> = running.map(|(id, pinned)| job(id, "running", pinned)).into();
            if !body.contains("DISTINCT") {
                rows.push(job("inv_failed", "backing-off", "dp_removed"));
            }
            json!({"rows": rows})
        };
        async move { answer }
    })
    .await;
    let engine: EngineAddress = engine.parse().unwrap();
    let registration = Registration {
        http: engine.http_client().unwrap(),
        engine,
        address: "http://own:1".to_owned(),
        services: vec!["job".to_owned()],
        is_shared: false,
        interval: Duration::ZERO,
    };
    let mut unreachable = BTreeSet::new();
    let reached = json!({"services": [{"name": "job"}]});
    let not_reached = json!({"restate_code": "META0003", "message": "connection refused"});
    let unknown = json!({"restate_code": "META0013", "message": "out of memory"});
    for (answer, is_paused) in [
        (&not_reached, false),
        (&reached, false),
        (&not_reached, false),
        (&not_reached, true),
        (&not_reached, true),
        (&unknown, false),
        (&not_reached, false),
    ] {
        dry_run.lock().unwrap().clone_from(answer);
        assert_eq!(registration.check_registration(&mut unreachable, &|_| {}).await, Ok(None));
        // What has failed is taken over in any case.
        let patched = std::mem::take(&mut *patched.lock().unwrap()).join("\n");
        assert!(patched.contains("/inv_failed/pause ") && patched.contains("/inv_failed/resume?"), "{patched}");
        assert_eq!(patched.contains("/inv_other/pause "), is_paused, "{answer}: {patched}");
        let is_elsewhere = |line: &str| line.contains("inv_failed") || line.contains("/inv_other/pause ");
        assert!(patched.lines().all(is_elsewhere), "{patched}");
    }
}

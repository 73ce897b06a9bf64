//! What a worker takes over, with an engine whose answers the test chooses: a real one needs minutes to notice a silent host.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::Registration;
use crate::address::EngineAddress;
use crate::scripted_engine::start_engine;

#[tokio::test]
async fn what_runs_at_another_address_is_taken_over_after_two_checks_that_did_not_reach_it() {
    let (is_reached, patched) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<String>>>::default());
    let (own_is_reached, own_patched) = (is_reached.clone(), patched.clone());
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
            let services = if own_is_reached.load(Ordering::SeqCst) { json!([{"name": "job"}]) } else { json!([]) };
            json!({"services": services})
        } else if body.contains("sys_service") {
            json!({"rows": [{"name": "job", "deployment": "dp_own"}]})
        } else {
            let job = |id: &str, pinned: &str| json!({"id": id, "service": "job", "status": "running", "pinned": pinned});
            json!({"rows": [job("inv_own", "dp_own"), job("inv_other", "dp_other"), job("inv_removed", "dp_removed")]})
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
    let pause = "patch /invocations/inv_other/pause http/1.1";
    for (reached, expected) in [
        (false, vec![]),
        (true, vec![]),
        (false, vec![]),
        (false, vec![pause]),
        (false, vec![pause]),
        (true, vec![]),
        (false, vec![]),
    ] {
        is_reached.store(reached, Ordering::SeqCst);
        assert_eq!(registration.check_registration(&mut unreachable, &|_| {}).await, Ok(None));
        assert_eq!(std::mem::take(&mut *patched.lock().unwrap()), expected);
    }
}

//! Which workers get messages while workers of other versions and at other addresses come and go, with a real server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tlaforge_process::Cancel;
use tlaforge_restate::{
    Admission, EngineAddress, Job, LimitsClient, RegistrationError, RequestUse, Worker, WorkerError,
};

use super::restate::{LoadBalancer, RestateServer};
use super::waiting::wait_until_async;
use super::{RunningWorker, address, block_on, connect, endless, free_address, worker};

/// A job that answers with this JSON.
fn job(name: &'static str, answer: &'static str) -> Job {
    Job {
        name,
        has_object: false,
        max_lost_attempts: Some(5),
        work: Arc::new(|_| Box::pin(async { Ok(answer.to_owned()) })),
    }
}

/// Asks the admin API of a server; null if it does not answer yet.
async fn ask(server: &RestateServer, path: &str, body: Value) -> Value {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = http.post(format!("{}{path}", server.url())).header("accept", "application/json").json(&body);
    match request.send().await {
        Ok(reply) => reply.json().await.unwrap_or_default(),
        Err(_) => Value::Null,
    }
}

/// An engine that only names an address to which messages are sent, where nothing answers.
fn silent_engine() -> (EngineAddress, TcpListener) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let ingress = json!({"ingress_endpoint": format!("http://{}", silent.local_addr().unwrap())}).to_string();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let engine = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let head = BufReader::new(stream.try_clone().unwrap()).lines();
            head.map_while(Result::ok).find(String::is_empty);
            let length = ingress.len();
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{ingress}");
        }
    });
    (engine, silent)
}

/// The later version is the one that gets messages to the limits. It ends in the middle of one.
#[test]
fn workers_of_an_old_version_keep_limits_after_the_end_of_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let _old = RunningWorker::start_worker(worker(address(&server), "127.0.0.1:0", "1", vec![job("job", "1")]));
    let listen = free_address();
    let (engine, _silent) = silent_engine();
    let new = RunningWorker::spawn(worker(engine, &listen, "2", vec![job("job", "2")]));
    block_on("the request is admitted", async {
        let mut looks = tokio::time::interval(Duration::from_millis(50));
        while ask(&server, "/deployments", json!({"uri": format!("http://{listen}/test-2")})).await["id"].is_null() {
            looks.tick().await;
        }
        let client = LimitsClient::new(address(&server), "test", "key", Duration::from_secs(100), |_| {}).unwrap();
        let admit = client.admit("id", "run", RequestUse::default());
        let end = async {
            let sql = "SELECT id FROM sys_invocation WHERE target_service_name = 'test.limits-1' \
                       AND status = 'running' AND pinned_deployment_id IS NOT NULL";
            while ask(&server, "/query", json!({"query": sql})).await["rows"][0].is_null() {
                looks.tick().await;
            }
            drop(new);
        };
        let (admission, ()) = tokio::join!(admit, end);
        assert!(matches!(admission, Ok(Admission::Granted { .. })), "{admission:?}");
    });
}

#[test]
fn a_worker_registers_again_at_an_engine_with_a_new_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = RestateServer::start(folder.path());
    let begun = Arc::new(AtomicUsize::new(0));
    let counted = begun.clone();
    let first_never_ends = move |_| -> tlaforge_restate::JobFuture {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { if number == 0 { std::future::pending().await } else { Ok("1".to_owned()) } })
    };
    let job = Job { work: Arc::new(first_never_ends), ..job("job", "") };
    let _worker = RunningWorker::start_worker(worker(address(&server), "127.0.0.1:0", "1", vec![job]));
    let client = connect(&server, "1", 100);
    block_on("the job has an answer", async {
        let replace = async {
            wait_until_async("the job runs", || begun.load(Ordering::SeqCst) == 1).await;
            server.kill();
            std::fs::remove_dir_all(server.data()).unwrap();
            server.start_again();
        };
        let (answer, ()) = tokio::join!(client.call(None, "key", b""), replace);
        assert_eq!(answer.unwrap().get(), "1");
    });
}

#[test]
fn a_job_ends_where_it_began_while_later_workers_get_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let start = |version, jobs| RunningWorker::start_worker(worker(address(&server), "127.0.0.1:0", version, jobs));
    let (begun, gate) = (Arc::new(AtomicUsize::new(0)), Cancel::new());
    let (own_begun, own_gate) = (begun.clone(), gate.clone());
    let slow = move |_| -> tlaforge_restate::JobFuture {
        own_begun.fetch_add(1, Ordering::SeqCst);
        let gate = own_gate.clone();
        Box::pin(async move {
            gate.cancelled().await;
            Ok("\"first\"".to_owned())
        })
    };
    let _first =
        start("1", vec![Job { name: "job", has_object: false, max_lost_attempts: Some(5), work: Arc::new(slow) }]);
    let (client, later) = (connect(&server, "1", 100), connect(&server, "2", 100));
    block_on("all jobs have an answer", async {
        let others = async {
            wait_until_async("the job runs", || begun.load(Ordering::SeqCst) == 1).await;
            let _workers = (start("2", vec![job("job", "\"later\"")]), start("1", vec![job("job", "\"second\"")]));
            assert_eq!(later.call(None, "a", b"").await.unwrap().get(), "\"later\"");
            assert_eq!(client.call(None, "b", b"").await.unwrap().get(), "\"second\"");
            gate.cancel();
        };
        let (answer, ()) = tokio::join!(client.call(None, "c", b""), others);
        assert_eq!(answer.unwrap().get(), "\"first\"");
    });
    assert_eq!(begun.load(Ordering::SeqCst), 1);
}

#[test]
fn a_job_of_workers_that_have_ended_goes_to_those_at_another_address() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let start = |job| RunningWorker::start_worker(worker(address(&server), "127.0.0.1:0", "1", vec![job]));
    let _left = start(job("job", "1"));
    let (begun, dropped) = (Arc::default(), Arc::default());
    let later = start(Job { work: Arc::new(endless(&begun, &dropped)), ..job("job", "") });
    block_on("the job has an answer", async {
        let client = connect(&server, "1", 100);
        let end = async {
            wait_until_async("the job runs", || begun.load(Ordering::SeqCst) == 1).await;
            drop(later);
        };
        let (answer, ()) = tokio::join!(client.call(None, "key", b""), end);
        assert_eq!(answer.unwrap().get(), "1");
    });
}

#[test]
fn a_worker_without_a_job_of_its_address_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestateServer::start(folder.path());
    let balancer = LoadBalancer::start();
    let shared = |listen: &str, jobs| {
        balancer.add(listen.parse::<SocketAddr>().unwrap());
        Worker { advertise: Some(balancer.url().parse().unwrap()), ..worker(address(&server), listen, "1", jobs) }
    };
    let _both = RunningWorker::start_worker(shared(&free_address(), vec![job("job", "1"), job("other", "2")]));
    let one = shared(&free_address(), vec![job("job", "1")]);
    let (cancel, note) = (Cancel::new(), |_: &str| {});
    let refused = block_on("it is refused", one.serve(&cancel, &note)).unwrap_err();
    let words = format!("workers at {}/test-1 also have test-other-1, which this one does not have", balancer.url());
    assert!(matches!(refused, WorkerError::Registration(RegistrationError::OtherServices { .. })), "{refused}");
    assert!(refused.to_string().contains(&words), "{refused}");

    // An address of its own is not shared, so nothing can be taken from others.
    let own = free_address();
    drop(RunningWorker::start_worker(worker(address(&server), &own, "1", vec![job("job", "1"), job("other", "2")])));
    RunningWorker::start_worker(worker(address(&server), &own, "1", vec![job("job", "1")]));
}

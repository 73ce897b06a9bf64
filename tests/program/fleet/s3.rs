//! A fleet with its runs on a server with the API of S3: [moto](https://docs.getmoto.org), which only a campaign installs.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use super::runs::{Forges, SETS};
use super::{contains, done};
use crate::support::counter::answers;
use crate::support::project;
use crate::support::waiting::wait_until;

const SECRET: &str = "planted-secret-0123456789";

/// The server with an empty bucket, killed when it is dropped.
struct S3 {
    child: Child,
    endpoint: String,
}

impl S3 {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new(project().join("target/moto/bin/moto_server"))
            .args(["-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("moto: scripts/campaign installs it");
        wait_until("moto answers", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        let mut create = TcpStream::connect(("127.0.0.1", port)).unwrap();
        create
            .write_all(b"PUT /bucket HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        create.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        Self { child, endpoint: format!("http://127.0.0.1:{port}") }
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn runs_on_s3_are_taken_over() {
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_none() {
        return;
    }
    let s3 = S3::start();
    let mut forges = Forges::start(answers);
    forges.runs = "s3://bucket/team/runs".to_owned();
    for (name, value) in [
        ("AWS_ENDPOINT", s3.endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "planted-id-0123456789"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
    ] {
        forges.fleet.bench.set(name, value);
    }
    done(forges.command("local", &[])).expect(0);
    let requests = forges.model.posts().len();
    let first = forges.worker(1);
    let mut remote = forges.begin_remote();
    wait_until("the worker asks", || forges.model.posts().len() > requests);
    first.kill();
    let second = forges.worker(2);
    assert_eq!(remote.0.wait().unwrap().code(), Some(0));
    forges.assert_same_as_local();
    assert_eq!(forges.results("remote"), forges.results("local"));
    assert_eq!(second.terminate(), Some(0));

    for set in SETS {
        let address = format!("{}/{set}", forges.runs);
        done(forges.fleet.bench.command(&["report", &address])).expect(0).prints(&["Outcome: approved"]);
        done(forges.fleet.bench.command(&["resume", &address])).expect(0);
    }
    forges.fleet.server.kill();
    assert!(contains(&forges.fleet.server.data(), b"counter.md"), "the search finds what the server stores");
    // With the data of the server, logs and results.
    assert!(!contains(forges.fleet.bench.dir.path(), SECRET.as_bytes()));
}

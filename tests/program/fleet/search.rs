//! `check --distributed HOST --engine`: TLC's distributed mode with the workers of an engine.

use serde_json::{Value, json};

use super::Fleet;
use crate::support::Bench;
use crate::support::checking::put;

const MODULE: &str = "---- MODULE M ----
EXTENDS Naturals
CONSTANT N
VARIABLES a, b, c
Init == a = 0 /\\ b = 0 /\\ c = 0
Next == \\/ a' = (a + 1) % N /\\ UNCHANGED <<b, c>>
        \\/ b' = (b + 1) % N /\\ UNCHANGED <<a, c>>
        \\/ c' = (c + 1) % N /\\ UNCHANGED <<a, b>>
Spec == Init /\\ [][Next]_<<a, b, c>>
TypeOK == a < N /\\ b < N /\\ c < N
====
";

/// A port of this machine that nothing listens on.
fn free_address() -> String {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn workers_of_the_engine_take_part_in_a_search() {
    let fleet = Fleet::start_in(Bench::real(), "");
    put(&fleet.bench, MODULE, "SPECIFICATION Spec\nCONSTANT N = 10\nINVARIANT TypeOK\n");
    let (engine, server) = (fleet.server.url(), free_address());
    let check = ["check", "M.tla", "--distributed", &server, "--engine", &engine];
    let without_host = fleet.worker(1);
    fleet.bench.run(&check).expect(4).says(&["takes no part in TLC's distributed mode; start it with --tlc-host HOST"]);
    drop(without_host);

    let _workers = [2, 3].map(|number| fleet.worker_with(number, &["--tlc-host", "127.0.0.1"]));
    let done = fleet.bench.run(&[&check[..], &["--format", "json"]].concat()).expect(0);
    let outcome: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&outcome["verdict"], &outcome["statistics"]["distinct"]), (&json!("holds"), &json!(1000)));

    // What does not work is refused at once.
    let refused = |args: &[&str], words: &[&str]| {
        fleet.bench.run(&[&["check", "M.tla"], args].concat()).expect(2).says(words);
    };
    refused(&["--engine", &engine], &["--distributed"]);
    refused(&["--distributed", "2", "--engine", &engine], &["--engine needs --distributed HOST"]);
    let worker = ["worker", "--engine", &engine, "--tlc-host"];
    for (host, words) in [("203.0.113.5", "an address of this machine"), ("127.0.0.1:80", "without a port")] {
        fleet.bench.run(&[&worker[..], &[host]].concat()).expect(2).says(&[words]);
    }
}

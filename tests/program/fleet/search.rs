//! `check --distributed HOST --engine`: TLC's distributed mode with the workers of an engine.

use std::net::TcpListener;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{Fleet, done};
use crate::support::Bench;
use crate::support::checking::put;
use crate::support::restate::LoadBalancer;
use crate::support::waiting::wait_until;

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

/// A port of this machine that nothing listens on, and that no connection of another test gets.
fn free_address() -> String {
    let mut ports = (0..).map(|_| format!("127.0.0.1:{}", fastrand::u16(20_000..30_000)));
    ports.find(|address| TcpListener::bind(address).is_ok()).unwrap()
}

/// The processes of TLC's workers that this process has started.
fn tlc_workers(parent: &Child) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let parent = format!("PPid:\t{}\n", parent.id());
    let is_worker = |pid: &String| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        line.contains("tlc2.tool.distributed.TLCWorker\0") && status.contains(&parent)
    };
    processes.filter(is_worker).count()
}

#[test]
fn workers_of_the_engine_take_part_in_a_search() {
    let mut fleet = Fleet::start_in(Bench::real(), "");
    put(&fleet.bench, MODULE, "SPECIFICATION Spec\nCONSTANT N = 10\nINVARIANT TypeOK\n");
    let (engine, server) = (fleet.server.url(), free_address());
    let check = ["check", "M.tla", "--distributed", &server, "--engine", &engine];
    let without_host = fleet.worker(1);
    let without = fleet.bench.run(&[&check[..], &["--engine-wait", "1"]].concat());
    without.expect(3).says(&["is registered for the job `tlc_worker`"]);
    drop(without_host);
    // They cannot have the same address.
    let (with_host, url) = (["--tlc-host", "127.0.0.1", "--capacity", "2"], fleet.balancer.url());
    let refused = done(fleet.worker_command(&with_host)).expect(2);
    refused.says(&[
        &format!("workers at {url}/"),
        "also have ",
        "tlaforge.limits-1, ",
        "another address with --advertise",
    ]);

    fleet.balancer = LoadBalancer::start();
    let worker = fleet.worker_with(2, &with_host);
    // It keeps no limits, and takes no other jobs.
    let url = fleet.balancer.url();
    fleet
        .bench
        .run(&["fleet", "status", "--engine", &engine])
        .expect(0)
        .prints(&[&format!("at {url}: tlc_worker; 0 jobs")]);
    let done = fleet.bench.run(&[&check[..], &["--format", "json"]].concat()).expect(0);
    let outcome: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&outcome["verdict"], &outcome["statistics"]["distinct"]), (&json!("holds"), &json!(1000)));

    // Nothing is left of a search that is interrupted.
    fleet.bench.write("M.cfg", "SPECIFICATION Spec\nCONSTANT N = 100000\nINVARIANT TypeOK\n");
    let mut check = fleet.bench.command(&check).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("both workers of TLC search", || tlc_workers(&worker.child) == 2);
    kill_process(Pid::from_child(&check), Signal::INT).unwrap();
    assert_eq!(check.wait().unwrap().code(), Some(130));
    wait_until("none of them searches", || tlc_workers(&worker.child) == 0);
}

#[test]
fn what_cannot_work_is_refused_at_once() {
    let bench = Bench::real();
    put(&bench, MODULE, "SPECIFICATION Spec\nCONSTANT N = 10\nINVARIANT TypeOK\n");
    let engine = ["--engine", "http://127.0.0.1:9070"];
    let refused = |command: &str, args: &[&str], words: &[&str]| {
        bench.run(&[&[command], &engine[..], args].concat()).expect(2).says(words);
    };
    refused("check", &["M.tla"], &["--distributed"]);
    refused("check", &["M.tla", "--distributed", "2"], &["--engine needs --distributed HOST"]);
    refused("check", &["M.tla", "--distributed", "0.0.0.0"], &["workers cannot connect to it"]);
    let long = ["M.tla", "--distributed", "127.0.0.1", "--tlc-timeout", "72001"];
    refused("check", &long, &["too long for --engine: at most 72000 s"]);
    refused("worker", &["--tlc-host", "203.0.113.5"], &["an address of this machine"]);
    refused("worker", &["--tlc-host", "0.0.0.0"], &["an address of this machine"]);
    refused("worker", &["--tlc-host", "127.0.0.1:80"], &["without a port"]);
    // Its jobs can run code, and workers that forge have model keys.
    refused("worker", &["--tlc-host", "127.0.0.1", "--runs", "file:///runs"], &["--runs"]);
}

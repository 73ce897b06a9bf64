//! `tlaforge check --distributed`: TLC's distributed mode, with the real jar and workers on this machine.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::Bench;
use crate::support::checking::put;
use crate::support::waiting::wait_until;

/// 1,000 states. `Small` is violated after five steps, and so many steps lead there that two workers do not always find the
/// same state.
const CUBE: &str = "---- MODULE M ----
EXTENDS Naturals
CONSTANT N
VARIABLES a, b, c
Init == a = 0 /\\ b = 0 /\\ c = 0
A == a' = (a + 1) % N /\\ UNCHANGED <<b, c>>
B == b' = (b + 1) % N /\\ UNCHANGED <<a, c>>
C == c' = (c + 1) % N /\\ UNCHANGED <<a, b>>
Next == A \\/ B \\/ C
Spec == Init /\\ [][Next]_<<a, b, c>>
TypeOK == a < N /\\ b < N /\\ c < N
Small == a + b + c < 5
NeverBack == [][a' >= a]_a
OneByOne == a + b + c < 3 \\/ c' = c
====
";

/// With a `java` that really starts: a server has to be there for its workers.
fn bench_with(module: &str, cfg: &str) -> Bench {
    let bench = Bench::real();
    put(&bench, module, cfg);
    bench
}

fn cfg(lines: &str) -> String {
    format!("SPECIFICATION Spec\nCONSTANT N = 10\n{lines}")
}

/// The outcome as JSON.
#[track_caller]
fn outcome(bench: &Bench, more: &[&str], status: i32) -> Value {
    let done = bench.run(&[&["check", "M.tla", "--format", "json"], more].concat());
    serde_json::from_str(&done.expect(status).stdout).unwrap()
}

#[test]
fn it_finds_the_states_of_tlc_alone() {
    let bench = bench_with(CUBE, &cfg("INVARIANT TypeOK\n"));
    let distributed = outcome(&bench, &["--distributed", "2"], 0);
    let alone = outcome(&bench, &["--checker", "tlc"], 0);
    assert_eq!(distributed["verdict"], "holds");
    for key in ["verdict", "violated", "reason", "invariants"] {
        assert_eq!(distributed[key], alone[key], "{key}");
    }
    assert_eq!(distributed["statistics"]["distinct"], json!(1000));
    assert_eq!(distributed["statistics"]["distinct"], alone["statistics"]["distinct"]);
    assert_eq!(distributed["statistics"]["left_on_queue"], json!(0));
}

#[test]
fn it_names_the_violated_invariant_and_shows_the_last_step() {
    let bench = bench_with(CUBE, &cfg("INVARIANTS TypeOK Small\n"));
    let distributed = outcome(&bench, &["--distributed", "1"], 1);
    let small = json!({"kind": "invariant", "name": "Small"});
    assert_eq!((&distributed["verdict"], &distributed["violated"]), (&json!("violated"), &small));
    assert_eq!(outcome(&bench, &["--checker", "tlc"], 1)["violated"], distributed["violated"]);
    // No behaviour is claimed that was not seen.
    assert_eq!(distributed["trace"], json!([]));
    let warnings = distributed["warnings"].to_string();
    assert!(warnings.contains("only its end: [a = ") && warnings.contains("] -> [a = "), "{warnings}");
}

#[test]
fn what_the_mode_ignores_is_found_by_tlc_alone() {
    // Distributed TLC reports "No error has been found" for it.
    let bench = bench_with(&CUBE.replace("Init ==", "ASSUME N = 11\nInit =="), &cfg("INVARIANT TypeOK\n"));
    bench.run(&["check", "M.tla", "--distributed", "1"]).expect(1).prints(&["violated: assumption at line 5"]);
    // It does not say what this error is.
    let bench = bench_with(&CUBE.replace("(c + 1) % N", "(c + 1) % (2 - 2 * c)"), &cfg("INVARIANT TypeOK\n"));
    bench.run(&["check", "M.tla", "--distributed", "1"]).expect(1).prints(&["invalid: ", "%"]);
    let deadlock = CUBE.replace("Next == A", "Next == a + b + c < 4 /\\ (A").replace("\\/ C", "\\/ C)");
    let bench = bench_with(&deadlock, &cfg("INVARIANT TypeOK\n"));
    bench.run(&["check", "M.tla", "--distributed", "1"]).expect(1).prints(&["deadlock"]);
}

#[test]
fn what_the_mode_gets_wrong_is_refused() {
    let bench = bench_with(CUBE, &cfg("PROPERTY NeverBack\n"));
    let refused = |more: &[&str], words: &[&str]| {
        bench.run(&[&["check", "M.tla", "--distributed"], more].concat()).expect(2).says(words);
    };
    refused(&["2"], &["M.tla cannot be checked with --distributed", "PROPERTY NeverBack", "list invariants only"]);
    bench.write("M.cfg", cfg("ACTION_CONSTRAINT OneByOne\n"));
    refused(&["2"], &["ACTION_CONSTRAINT OneByOne", "leaves out reachable states"]);
    refused(&["2", "--checker", "embedded"], &["--distributed is a mode of TLC"]);
    refused(&["0"], &["the number of workers must be at least 1"]);
    refused(&["host:0"], &["HOST or HOST:PORT"]);
    bench.write("M.cfg", cfg("INVARIANT TypeOK\n"));
    // An address for documentation (RFC 5737), which no machine has.
    refused(&["203.0.113.5"], &["cannot listen on 203.0.113.5", "an address of this machine"]);
    bench.write("M.cfg", cfg("INVARIANT Shallow\n"));
    let level = "Shallow == TLCGet(\"level\") < 9\n====\n";
    bench.write("M.tla", CUBE.replace("EXTENDS Naturals", "EXTENDS Naturals, TLC").replace("====\n", level));
    refused(&["2"], &["`TLCGet` would be another one in each worker"]);
}

#[test]
fn a_search_without_workers_ends_undecided() {
    let bench = bench_with(CUBE, &cfg("INVARIANT TypeOK\n").replace("10", "100000"));
    let mut check = bench.command(&["check", "M.tla", "--distributed", "1", "--format", "json"]);
    let check = check.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut workers = Vec::new();
    wait_until("a worker runs", || {
        workers = workers_of(check.id());
        !workers.is_empty()
    });
    let killed = Command::new("kill").arg("-KILL").args(&workers).status().unwrap();
    assert!(killed.success());
    let done = check.wait_with_output().unwrap();
    let outcome: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((done.status.code(), &outcome["verdict"]), (Some(3), &json!("inconclusive")));
    assert!(outcome["reason"].as_str().unwrap().contains("every worker ended before the search did: signal 9"));
}

/// What TLC's server prints if a worker registers while it ends (2.15; cut).
const COUNT_FAILURE: &str = "@!@!@STARTMSG 7000:0 @!@!@
TLC server at vm is ready (2026-11-27 20:02:40)
@!@!@ENDMSG 7000 @!@!@
@!@!@STARTMSG 7001:0 @!@!@
Registration for worker at rmi://localhost:0/0 completed (2026-11-27 20:02:41)
@!@!@ENDMSG 7001 @!@!@
@!@!@STARTMSG 1000:1 @!@!@
TLC threw an unexpected exception.
This was probably caused by an error in the spec or model.
See the User Output or TLC Console for clues to what happened.
The exception was a java.lang.NullPointerException
: Cannot read the array length because \"this.states\" is null
@!@!@ENDMSG 1000 @!@!@
@!@!@STARTMSG 2211:0 @!@!@
vm, work completed. Thank you!
@!@!@ENDMSG 2211 @!@!@
";

/// Makes the first starts of TLC's server, this many, print [`COUNT_FAILURE`] and end.
fn fail_to_count(bench: &mut Bench, servers: usize) {
    let java = bench.path("failing/bin/java");
    let output = bench.write("failing/output", COUNT_FAILURE);
    let script = format!(
        "#!/bin/sh\nset -u\nfor arg in \"$@\"; do\n  [ \"$arg\" = tlc2.tool.distributed.TLCServer ] || continue\n  \
         echo >>{starts}\n  [ \"$(wc -l <{starts})\" -gt {servers} ] || exec cat {output}\ndone\nexec {real}/bin/java \"$@\"\n",
        starts = bench.path("starts").display(),
        output = output.display(),
        real = bench.variable("JAVA_HOME"),
    );
    bench.write("failing/bin/java", script);
    std::fs::set_permissions(&java, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let home = bench.path("failing");
    bench.set("JAVA_HOME", home.to_str().unwrap());
}

#[test]
fn a_search_whose_server_fails_to_count_states_is_started_again() {
    let mut bench = bench_with(CUBE, &cfg("INVARIANT TypeOK\n"));
    fail_to_count(&mut bench, 1);
    let done = outcome(&bench, &["--distributed", "2"], 0);
    assert_eq!((&done["verdict"], &done["statistics"]["distinct"]), (&json!("holds"), &json!(1000)));
    assert!(done["warnings"].to_string().contains("the search was started again"), "{}", done["warnings"]);
    let mut bench = bench_with(CUBE, &cfg("INVARIANT TypeOK\n"));
    fail_to_count(&mut bench, 9);
    let done = bench.run(&["check", "M.tla", "--distributed", "2"]).expect(4);
    done.says(&["TLC's server failed at its count of states", "three times in a row"]);
    assert_eq!(bench.read("starts").lines().count(), 3);
}

/// The workers of TLC that this process has started.
fn workers_of(parent: u32) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_worker = |pid: &String| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        line.contains("tlc2.tool.distributed.TLCWorker\0") && status.contains(&format!("PPid:\t{parent}\n"))
    };
    processes.filter(is_worker).collect()
}

//! Measures `tlaforge eval` on a specification of about 20,000 states with 31 properties, against 16 known bugs, without
//! Java. Of the bugs, some violate many properties, some one, some none.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark fails where its preparation does, and prints"
)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The specification with its properties. The known bugs and the reference are its part before the line.
const LOCKS: &str = include_str!("eval/Locks.tla");
const END: &str = "\n-----------------------------------------------------------------------------\n";
const CFG: &str = "SPECIFICATION Spec\nCONSTANTS\n  Clients = {c1, c2}\n  MaxEpoch = 2\n  MaxCrashes = 3\n  None = None\n\
                   CHECK_DEADLOCK FALSE\n";
const STEP_PROPERTIES: [&str; 5] = ["EpochGrows", "StoreGrows", "GrantsNeedEpochs", "TokensStay", "CrashesOnce"];
const LIVENESS: &str = "Quiet";
const CONSTANTS: [&str; 4] = ["Clients", "MaxEpoch", "MaxCrashes", "None"];
const VARIABLES: [&str; 9] = ["phase", "queue", "holder", "epoch", "token", "net", "store", "up", "crashes"];

/// Name, the property that it should violate, and the text that it replaces by another.
const BUGS: [(&str, &str, &str, &str); 16] = [
    (
        "request_without_waiting",
        "QueuedWait",
        "/\\ phase' = [phase EXCEPT ![c] = \"waiting\"]",
        "/\\ phase' = [phase EXCEPT ![c] = IF crashes = MaxCrashes /\\ epoch = 0 THEN \"idle\" ELSE \"waiting\"]",
    ),
    (
        "retry_while_queued",
        "NoDuplicates",
        "    /\\ ~InQueue(c)\n",
        "    /\\ ~InQueue(c) \\/ (crashes = MaxCrashes /\\ epoch = 0)\n",
    ),
    ("retry_while_granted", "GrantsAreAwaited", "/\\ ~(m.kind = \"grant\" /\\ m.to = c)", ""),
    (
        "grant_without_epoch",
        "GrantsNeedEpochs",
        "/\\ epoch' = epoch + 1",
        "/\\ epoch' = IF epoch = 0 /\\ crashes = 1 THEN 2 ELSE epoch + 1",
    ),
    ("grant_while_held", "NewestHolds", "Grant ==\n    /\\ up\n    /\\ holder = None\n", "Grant ==\n    /\\ up\n"),
    ("grant_keeps_queue", "HolderIsNotQueued", "/\\ queue' = Tail(queue)", "/\\ UNCHANGED queue"),
    (
        "grant_while_down",
        "OneGrant",
        "Grant ==\n    /\\ up\n    /\\ holder = None",
        "Grant ==\n    /\\ ~(~up /\\ epoch = 0)\n    /\\ holder = None",
    ),
    ("token_not_stored", "HoldersHaveTokens", "/\\ token' = [token EXCEPT ![m.to] = m.epoch]", "/\\ UNCHANGED token"),
    ("token_is_epoch", "TokensDiffer", "![m.to] = m.epoch]", "![m.to] = epoch]"),
    ("old_writes_accepted", "StoreGrows", "IF m.epoch >= store.epoch THEN", "IF m.epoch # store.epoch THEN"),
    (
        "write_has_no_writer",
        "StoreHasWriter",
        "[epoch |-> m.epoch, by |-> m.from] ELSE",
        "[epoch |-> m.epoch, by |-> None] ELSE",
    ),
    (
        "release_keeps_token",
        "OthersHaveNone",
        "    /\\ token' = [token EXCEPT ![c] = 0]\n    /\\ net' = net \\cup {[kind |-> \"release\"",
        "    /\\ UNCHANGED token\n    /\\ net' = net \\cup {[kind |-> \"release\"",
    ),
    ("old_release_frees", "GrantedHolds", "IF holder = m.from /\\ epoch = m.epoch THEN", "IF m.epoch > 0 THEN"),
    (
        "expire_resets_epoch",
        "EpochGrows",
        "    /\\ holder' = None\n    /\\ UNCHANGED <<phase, queue, epoch, token, net, store, up, crashes>>",
        "    /\\ holder' = None\n    /\\ epoch' = IF epoch = MaxEpoch /\\ crashes = MaxCrashes THEN 1 ELSE epoch\n    /\\ UNCHANGED <<phase, queue, token, net, store, up, crashes>>",
    ),
    (
        "crash_keeps_queue",
        "DownHasNoQueue",
        "    /\\ queue' = <<>>\n    /\\ UNCHANGED <<phase, holder, epoch, token, net, store>>",
        "    /\\ UNCHANGED <<phase, queue, holder, epoch, token, net, store>>",
    ),
    ("messages_are_lost", "Quiet", "WF_vars(Receive)", "WF_vars(Grant)"),
];

/// Wanted time on two cores.
const TARGET: Duration = Duration::from_secs(120);
/// Most runs of the checker: one for most modules, and more only where a liveness property is violated too.
const MAX_CHECKS: usize = 30;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    write_case(dir.path());
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    for jobs in if jobs > 1 { vec![1, jobs] } else { vec![1] } {
        measure(dir.path(), jobs);
    }
}

fn measure(dir: &Path, jobs: usize) {
    let began = Instant::now();
    let done = Command::new(env!("CARGO_BIN_EXE_tlaforge"))
        .args(["eval", "specs", "case", "--checker", "embedded", "--format", "json", "--jobs", &jobs.to_string()])
        .current_dir(dir)
        .env("TLAFORGE_LOG", "info")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let took = began.elapsed();
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    let log = String::from_utf8_lossy(&done.stderr);
    let checks = log.lines().filter(|line| line.contains("process started")).count();
    let tier3 = &report["tier3"];
    println!(
        "{} states, {} properties, {} known bugs, {jobs} at a time: {:.1} s in {checks} runs of the checker (wanted: {} s, \
         {MAX_CHECKS} runs); {} bugs found",
        report["tier2"]["distinct_states"],
        properties().len(),
        tier3["total"],
        took.as_secs_f64(),
        TARGET.as_secs(),
        tier3["detected"],
    );
    assert_eq!((&report["tier2"]["distinct_states"], &tier3["detected"]), (&21_166.into(), &13.into()));
    assert!(checks <= MAX_CHECKS, "{checks} runs of the checker");
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() {
        assert!(jobs == 1 || took <= TARGET, "slower than wanted");
    }
}

fn write_case(dir: &Path) {
    let write = |path: &str, text: &str| {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let temporal = [&STEP_PROPERTIES[..], &[LIVENESS]].concat();
    let invariants: Vec<String> = properties().into_iter().filter(|name| !temporal.contains(&name.as_str())).collect();
    let listed = format!("INVARIANTS {}\nPROPERTIES {}\n", invariants.join(" "), temporal.join(" "));
    write("specs/Spec.tla", &LOCKS.replace("MODULE Locks", "MODULE Spec"));
    write("specs/Spec.cfg", &(CFG.to_owned() + &listed));
    let (protocol, _) = LOCKS.split_once(END).unwrap();
    let module = |name: &str| format!("{}\n====\n", protocol.replace("MODULE Locks", &format!("MODULE {name}")));
    write("case/docs/locks.md", "# Locks\n");
    write("case/expected/Locks.tla", &module("Locks"));
    write("case/expected/Locks.cfg", CFG);
    write("case/known_bugs/Spec.cfg", CFG);
    for (name, _, from, to) in BUGS {
        let text = module(name);
        assert!(text.contains(from), "{name}");
        write(&format!("case/known_bugs/{name}.tla"), &text.replacen(from, to, 1));
    }
    let category = |name: &str| match name {
        "TypeOK" => "type_safety",
        LIVENESS => "liveness",
        _ => "safety",
    };
    let named =
        |names: &[&str]| names.iter().map(|name| json!({"name": name, "description": name})).collect::<Vec<_>>();
    let required = properties().into_iter().map(|name| {
        let category = category(&name);
        json!({"name": name, "description": name, "category": category})
    });
    let known_bugs = BUGS.map(|(name, violates, ..)| {
        json!({"file": format!("known_bugs/{name}.tla"), "description": name, "should_violate": violates})
    });
    let checklist = json!({
        "name": "Locks",
        "interface": {"constants": named(&CONSTANTS), "variables": named(&VARIABLES)},
        "required_invariants": required.collect::<Vec<_>>(),
        "known_bugs": known_bugs,
        "tlc_constraints": {"max_states": 1_000_000, "max_time_seconds": 600},
    });
    write("case/checklist.json", &checklist.to_string());
}

/// The names that are defined after the line.
fn properties() -> Vec<String> {
    let (_, properties) = LOCKS.split_once(END).unwrap();
    let names = properties.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| line.split_once(" =="));
    names.map(|(name, _)| name.to_owned()).collect()
}

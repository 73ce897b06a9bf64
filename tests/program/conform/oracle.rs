//! Random logs of a small system against a naive search over all their orders, which shares no code with the program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use fastrand::Rng;
use serde_json::{Value, json};
use tlaforge::conform::{ComparedSpec, ConformLog, ConformMap, Verdict, conformance};
use tlaforge::process::Cancel;
use tlaforge::tla::{Cfg, Module};
use tlaforge::toolchain::{CheckRequest, EmbeddedToolchain, Explanation, Limits, SpecText, ToolContext, ToolPaths};

const MODULE: &str = "---- MODULE Registers ----
EXTENDS Naturals
VARIABLES reg, seen, lock
Procs == 1..3
Init == reg = 0 /\\ seen = [p \\in Procs |-> 0] /\\ lock = 0
Write(p, v) == reg' = v /\\ UNCHANGED <<seen, lock>>
Read(p) == seen' = [seen EXCEPT ![p] = reg] /\\ UNCHANGED <<reg, lock>>
Cas(p, a, b) == reg = a /\\ reg' = b /\\ UNCHANGED <<seen, lock>>
Lock(p) == lock = 0 /\\ lock' = p /\\ UNCHANGED <<reg, seen>>
Unlock(p) == lock = p /\\ lock' = 0 /\\ UNCHANGED <<reg, seen>>
Tick == reg' = (reg + 1) % 4 /\\ UNCHANGED <<seen, lock>>
Next == Tick \\/ \\E p \\in Procs : \\/ Read(p) \\/ Lock(p) \\/ Unlock(p)
                                 \\/ \\E a, b \\in 0..3 : Write(p, a) \\/ Cas(p, a, b)
Small == reg < 3 \\/ lock = 0
====
";

const MAP: &str = r#"
[fields]
p = "$.p"
op = "$.op"
a = "$.a"
b = "$.b"
reg = "$.reg"
saw = "$.saw"

[[event]]
name = "write"
when = { op = "write" }
steps = ["Write(e.p, e.a)"]
before = { "reg" = "reg" }

[[event]]
name = "read"
when = { op = "read" }
steps = ["Read(e.p)"]
after = { "seen[e.p]" = "saw", "reg" = "reg" }

[[event]]
name = "cas"
when = { op = "cas" }
steps = ["Cas(e.p, e.a, e.b)"]

[[event]]
name = "lock"
when = { op = ["lock", "grab"] }
steps = ["Lock(e.p)", "Unlock(e.p)"]
after = { "lock" = "a" }

[[event]]
name = "unlock"
when = { op = "unlock" }
steps = ["Unlock(e.p)"]

[[ignore]]
when = { op = "noise" }
"#;

/// The register, what each process read last, and who holds the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    reg: i64,
    seen: [i64; 3],
    lock: i64,
}

const START: State = State { reg: 0, seen: [0; 3], lock: 0 };

#[derive(Debug, Clone)]
struct Event {
    process: usize,
    /// How many lines of each process it knows of, itself included.
    clock: [u64; 3],
    line: Value,
}

fn number(event: &Event, field: &str) -> Option<i64> {
    event.line.get(field).and_then(Value::as_i64)
}

/// The states after an event, by the meaning of the map.
fn after(state: State, event: &Event) -> Vec<State> {
    let process = i64::try_from(event.process).unwrap() + 1;
    let (a, b) = (number(event, "a"), number(event, "b"));
    let is = |value: i64, field: &str| number(event, field).is_none_or(|logged| logged == value);
    match event.line["op"].as_str().unwrap() {
        "write" if is(state.reg, "reg") => vec![State { reg: a.unwrap(), ..state }],
        "read" => {
            let mut seen = state.seen;
            seen[event.process] = state.reg;
            let next = State { seen, ..state };
            if is(state.reg, "saw") && is(state.reg, "reg") { vec![next] } else { Vec::new() }
        }
        "cas" if state.reg == a.unwrap() => vec![State { reg: b.unwrap(), ..state }],
        "lock" | "grab" => {
            let locked = (state.lock == 0).then_some(State { lock: process, ..state });
            let unlocked = (state.lock == process).then_some(State { lock: 0, ..state });
            locked.into_iter().chain(unlocked).filter(|next| is(next.lock, "a")).collect()
        }
        "unlock" if state.lock == process => vec![State { lock: 0, ..state }],
        _ => Vec::new(),
    }
}

/// The largest number of events that a behaviour explains, over all their orders, with at most `max_hidden` hidden steps in a row.
fn naive(events: &[Event], done: &mut Vec<usize>, state: State, hidden: u32, max_hidden: u32, keeps: bool) -> usize {
    if keeps && !(state.reg < 3 || state.lock == 0) {
        return 0;
    }
    let mut best = done.len();
    for (at, event) in events.iter().enumerate().filter(|(at, _)| !done.contains(at)).collect::<Vec<_>>() {
        // Each event before it has happened.
        let is_next = events.iter().enumerate().all(|(other, before)| {
            let precedes = before.clock[before.process] <= event.clock[before.process];
            other == at || !precedes || done.contains(&other)
        });
        if !is_next {
            continue;
        }
        for next in after(state, event) {
            done.push(at);
            best = best.max(naive(events, done, next, 0, max_hidden, keeps));
            done.pop();
        }
    }
    if hidden < max_hidden && best < events.len() {
        let next = State { reg: (state.reg + 1) % 4, ..state };
        best = best.max(naive(events, done, next, hidden + 1, max_hidden, keeps));
    }
    best
}

/// A log of a random run, perhaps with one field changed.
fn random_log(rng: &mut Rng, max_hidden: u32) -> Vec<Event> {
    let (mut state, mut events): (State, Vec<Event>) = (START, Vec::new());
    let mut clocks = [[0_u64; 3]; 3];
    while events.len() < 6 {
        if max_hidden > 0 && rng.u8(..4) == 0 && events.last().is_none_or(|last| last.line["op"] != "noise") {
            state.reg = (state.reg + 1) % 4;
        }
        let process = rng.usize(..3);
        let p = process + 1;
        let (a, b) = (rng.i64(0..4), rng.i64(0..4));
        let mut line = match rng.u8(..7) {
            0 => json!({"op": "write", "a": a, "reg": state.reg}),
            1 | 2 => json!({"op": "read", "saw": state.reg, "reg": state.reg}),
            3 => json!({"op": "cas", "a": state.reg, "b": b}),
            4 => json!({"op": "unlock"}),
            5 => json!({"op": "lock"}),
            _ => json!({"op": "grab", "a": if state.lock == 0 { i64::try_from(p).unwrap() } else { 0 }}),
        };
        line["p"] = json!(p);
        for field in ["reg", "saw"] {
            if rng.bool() {
                line.as_object_mut().unwrap().remove(field);
            }
        }
        let event = Event { process, clock: [0; 3], line };
        let next = after(state, &event);
        if next.is_empty() {
            continue;
        }
        state = next[rng.usize(..next.len())];
        let other = rng.usize(..3);
        if rng.bool() {
            let known = clocks[other];
            for (own, known) in clocks[process].iter_mut().zip(known) {
                *own = (*own).max(known);
            }
        }
        clocks[process][process] += 1;
        events.push(Event { clock: clocks[process], ..event });
    }
    if rng.bool() {
        let at = rng.usize(..events.len());
        let fields = ["a", "b", "reg", "saw"].map(str::to_owned);
        let changed = fields.into_iter().find(|field| events[at].line.get(field).is_some());
        if let Some(field) = changed {
            events[at].line[&field] = json!(rng.i64(0..4));
        }
    }
    events
}

/// Each process in a file of its own, with lines between that are no steps.
fn write_log(folder: &std::path::Path, events: &[Event], rng: &mut Rng) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for process in 0..3 {
        let mut text = String::new();
        // A line that is no step counts for the clock of its process, so it comes last.
        let own: Vec<&Event> = events.iter().filter(|event| event.process == process).collect();
        for event in &own {
            let mut line = event.line.clone();
            line["clock"] = json!({"1": event.clock[0], "2": event.clock[1], "3": event.clock[2]});
            writeln!(text, "{line}").unwrap();
        }
        if rng.bool() {
            let mut clock = json!({});
            clock[(process + 1).to_string()] = json!(own.len() + 1);
            writeln!(text, "{}", json!({"op": "noise", "p": process + 1, "clock": clock})).unwrap();
        }
        let file = folder.join(format!("process-{process}.ndjson"));
        std::fs::write(&file, text).unwrap();
        files.push(file);
    }
    files
}

#[tokio::test]
async fn random_logs_get_the_verdict_of_a_naive_search_over_all_orders() {
    let cases = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 10_000 } else { 60 };
    let scratch = tempfile::tempdir().unwrap();
    let env = |name: &str| std::env::var_os(name);
    let tools = EmbeddedToolchain::new(
        PathBuf::from(env!("CARGO_BIN_EXE_tlaforge")),
        &ToolPaths { jar: None, java: None, env: &env },
    );
    let (limits, cancel) = (Limits::default(), Cancel::new());
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|_| {} };
    let cfg_text = "INIT Init\nNEXT Next\nINVARIANT Small\n".to_owned();
    let spec = SpecText { name: "Registers".into(), text: MODULE.to_owned(), local_modules: Vec::new() };
    let request = CheckRequest { spec, cfg: Cfg::parse(&cfg_text).unwrap(), cfg_text };
    let module = Module::parse(MODULE).unwrap();
    let mut verdicts = BTreeMap::<String, usize>::new();
    for seed in 0..cases {
        let mut rng = Rng::with_seed(seed);
        let max_hidden = rng.u32(..2);
        let events = random_log(&mut rng, max_hidden);
        let hidden = format!("[hidden]\nsteps = [\"Tick\"]\nmax = {max_hidden}\n");
        let map =
            ConformMap::parse(&format!("[log]\nprocess = \"$.p\"\nclock = \"$.clock\"\n{MAP}\n{hidden}")).unwrap();
        let read = ConformLog::read(&write_log(scratch.path(), &events, &mut rng), &map).unwrap();
        let found = tools.explain_log(&request, &read.log, 1_000_000, &cx).await.unwrap().unwrap();
        let result = conformance(&found, &read, &ComparedSpec { module: &module, documented: BTreeMap::new() });
        let [kept, any] = [true, false].map(|keeps| naive(&events, &mut Vec::new(), START, 0, max_hidden, keeps));
        let wanted = match (kept == events.len(), any == events.len()) {
            (true, _) => Verdict::Conforms,
            (false, true) => Verdict::BreaksRequirement,
            (false, false) => Verdict::Deviates,
        };
        assert_eq!(result.verdict, wanted, "seed {seed}: {events:#?}\n{}", result.text());
        if let Explanation::NotFound(unexplained) = &found {
            assert_eq!(unexplained.explained as usize, any, "seed {seed}: {events:#?}\n{}", result.text());
        }
        *verdicts.entry(format!("{:?}", result.verdict)).or_default() += 1;
    }
    // Each verdict occurs, or the comparison says little.
    assert!(verdicts.len() == 3 && verdicts.values().all(|count| *count > 2), "{verdicts:?}");
}

//! What the orchestrator itself costs: start-up, a replayed run against the bare cost of its own fsyncs in the same
//! run, and resuming a journal of 10,000 events. Tools are answered from memory, so that their time is left out.
//! Needs Java and `tla2tools.jar` once, to learn what the tools say.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark fails where its preparation does, and prints"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use tlaforge::journal::{ArtifactStore, Clock, Journal, Past, write_atomically};
use tlaforge::llm::{Budget, Caller, Models, Pace, Prices, Recording, Replay, RetryPolicy};
use tlaforge::monitor::{Format, RunObjective};
use tlaforge::nodes::{Crew, Desk, Inspection, Shelf};
use tlaforge::pipeline::{CheckRecord, Metrics, Outcome, Record, Run, RunEnvironment, RunView, Settings, admit, drive};
use tlaforge::process::Cancel;
use tlaforge::prompt::{PromptLibrary, read_documents};
use tlaforge::tla::{CheckOutcome, Checker};
use tlaforge::toolchain::{
    BoxFuture, CheckRequest, Checked, Limits, ParseOutcome, Probed, SpecText, ToolContext, ToolError, Toolchain,
    ToolchainInfo, Translation,
};

fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn clock() -> Clock {
    Arc::new(|| "2026-01-01T00:00:00.000Z".to_owned())
}

fn learned_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("learned")
}

/// A genuine run of the swap case with the real tools, made once.
fn learn() -> Vec<Value> {
    let dir = learned_dir();
    let _ = std::fs::remove_dir_all(&dir);
    let status = Command::new(env!("CARGO_BIN_EXE_tlaforge"))
        .args(["demo", "--out", dir.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0), "the demo must work: it needs Java and tla2tools.jar (`tlaforge doctor`)");
    let text = std::fs::read_to_string(dir.join("journal.jsonl")).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// Says at once what the real tools said, in the same order.
struct Remembered {
    inspections: Mutex<std::vec::IntoIter<Inspection>>,
    checks: Mutex<std::vec::IntoIter<CheckRecord>>,
    pending: Mutex<Option<Inspection>>,
}

impl Remembered {
    fn of(journal: &[Value]) -> Self {
        let of = |name: &'static str| journal.iter().filter(move |e| e["name"] == name);
        let inspections: Vec<Inspection> = of("tool_finished")
            .map(|e| {
                let text =
                    |sha: &Value| std::fs::read_to_string(learned_dir().join("artifacts").join(sha.as_str()?)).ok();
                let diagnostics = serde_json::from_value(e["data"]["diagnostics"].clone()).unwrap();
                Inspection { module: text(&e["data"]["module"]), diagnostics }
            })
            .collect();
        let checks: Vec<CheckRecord> =
            of("check_finished").map(|e| serde_json::from_value(e["data"].clone()).unwrap()).collect();
        Self {
            inspections: Mutex::new(inspections.into_iter()),
            checks: Mutex::new(checks.into_iter()),
            pending: Mutex::new(None),
        }
    }
}

impl Toolchain for Remembered {
    fn checker(&self) -> Checker {
        Checker::Tlc
    }

    fn translate<'a>(
        &'a self,
        _: &'a SpecText,
        _: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Translation, ToolError>> {
        let said = self.inspections.lock().unwrap().next().unwrap();
        let translation = match &said.module {
            Some(module) => Translation::Translated(module.clone()),
            None => Translation::Rejected(said.diagnostics.clone()),
        };
        *self.pending.lock().unwrap() = Some(said);
        Box::pin(async move { Ok(translation) })
    }

    fn parse<'a>(&'a self, _: &'a SpecText, _: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        Box::pin(async move { Ok(ParseOutcome::Accepted { warnings: Vec::new() }) })
    }

    fn check<'a>(&'a self, _: &'a CheckRequest, _: &'a ToolContext<'a>) -> BoxFuture<'a, Result<Checked, ToolError>> {
        let record = self.checks.lock().unwrap().next().unwrap();
        Box::pin(async move { Ok(Checked { outcome: record.outcome, output: "remembered".to_owned(), second: None }) })
    }

    fn probe<'a>(
        &'a self,
        _: &'a CheckRequest,
        _: &'a CheckOutcome,
        _: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<Probed>, ToolError>> {
        Box::pin(async { Ok(None) })
    }

    fn info<'a>(&'a self, _: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>> {
        Box::pin(async { unreachable!("no one asks") })
    }
}

/// A replayed run waits for nothing.
struct NoTime;

impl Pace for NoTime {
    fn pause(&self, _: std::time::Duration) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn jitter(&self) -> f64 {
        0.0
    }

    fn left(&self) -> Option<std::time::Duration> {
        None
    }
}

/// The swap case replayed in `dir` with tools that answer at once; where it is watched, under a policy of six rules and an
/// objective. How many events it journaled.
fn replay(dir: &Path, learned: &[Value], watched: bool) -> u64 {
    let recording = Recording::load(&project().join("evals/uniswap_swap/recording/run.jsonl")).unwrap();
    let crew = Crew {
        desk: Desk {
            caller: Caller::new(
                Box::new(Replay::new(recording, false)),
                Models::default(),
                RetryPolicy::default(),
                Budget::default(),
                Prices::load(None).unwrap(),
                1,
                Arc::new(NoTime),
            ),
            toolchain: Box::new(Remembered::of(learned)),
            quick: None,
            prompts: PromptLibrary::load(None).unwrap(),
            limits: Limits::default(),
            cancel: Cancel::new(),
            progress: Box::new(|_| {}),
            record: None,
            shelf: Shelf::default(),
        },
    };
    let run = Run::open(dir, RunEnvironment { clock: clock(), observer: None, crash: None }).unwrap();
    let documents = read_documents(&project().join("evals/uniswap_swap/docs")).unwrap();
    let docs = documents.files.iter().map(|d| run.keep(&d.path, &d.text).unwrap()).collect();
    let mut settings = Settings { docs, command_line: json!({}), ..Settings::default() };
    if watched {
        let stored = run.keep("policy.toml", LIVE).unwrap();
        run.set_policy(&stored, admit(LIVE).unwrap()).unwrap();
        let known = tlaforge::pipeline::known_metrics();
        settings.objective = Some(RunObjective::from_text(OBJECTIVE, Format::Toml, &known).unwrap());
        settings.policy = Some(stored);
    }
    run.start(&settings).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let finished = runtime.block_on(drive(&run, &crew)).unwrap();
    assert_ne!(finished.outcome, Outcome::Stopped, "{}", finished.why);
    run.view().events
}

/// The same appends and artifact writes as the run made, and nothing else.
fn bare(dir: &Path, groups: &[Vec<u8>], artifacts: &[(String, Vec<u8>)]) {
    std::fs::create_dir_all(dir.join("artifacts")).unwrap();
    for (name, bytes) in artifacts {
        write_atomically(&dir.join("artifacts").join(name), bytes).unwrap();
    }
    let mut journal = std::fs::File::create(dir.join("journal.jsonl")).unwrap();
    for group in groups {
        journal.write_all(group).unwrap();
        journal.sync_data().unwrap();
    }
}

fn orchestration(c: &mut Criterion) {
    let learned = learn();
    let sample = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    replay(sample.path(), &learned, false);
    let text = std::fs::read_to_string(sample.path().join("journal.jsonl")).unwrap();
    let mut groups = vec![Vec::new()];
    for line in text.lines() {
        let group: &mut Vec<u8> = groups.last_mut().unwrap();
        group.extend_from_slice(line.as_bytes());
        group.push(b'\n');
        let event: Value = serde_json::from_str(line).unwrap();
        if event["more"].as_u64().unwrap_or(0) == 0 {
            groups.push(Vec::new());
        }
    }
    groups.retain(|g| !g.is_empty());
    let artifacts: Vec<(String, Vec<u8>)> = std::fs::read_dir(sample.path().join("artifacts"))
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).unwrap()))
        .collect();
    println!("{} groups of events, {} artifacts", groups.len(), artifacts.len());

    let fresh = || tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut group = c.benchmark_group("a replayed run without tool time");
    group.sample_size(20);
    group.bench_function("orchestrator", |b| {
        b.iter_batched(fresh, |dir| replay(dir.path(), &learned, false), BatchSize::PerIteration);
    });
    group.bench_function("its bare fsyncs", |b| {
        b.iter_batched(fresh, |dir| bare(dir.path(), &groups, &artifacts), BatchSize::PerIteration);
    });
    group.finish();

    // Pair by pair in one run, so that the ratio holds when the machine's speed drifts.
    let mut ratios: Vec<f64> = (0..15)
        .map(|_| {
            let (a, b) = (fresh(), fresh());
            let started = std::time::Instant::now();
            replay(a.path(), &learned, false);
            let run = started.elapsed();
            let started = std::time::Instant::now();
            bare(b.path(), &groups, &artifacts);
            run.as_secs_f64() / started.elapsed().as_secs_f64()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "orchestrator / bare fsyncs, 15 pairs: min {:.2}, median {:.2}, max {:.2}",
        ratios[0], ratios[7], ratios[14]
    );

    // A live run asks its guards at each review, and its policy and objective at each event and revision.
    let mut more: Vec<f64> = (0..15)
        .map(|_| {
            let (a, b) = (fresh(), fresh());
            let started = std::time::Instant::now();
            replay(a.path(), &learned, false);
            let plain = started.elapsed().as_secs_f64();
            let started = std::time::Instant::now();
            let events = replay(b.path(), &learned, true);
            (started.elapsed().as_secs_f64() - plain) * 1e6 / f64::from(u32::try_from(events).unwrap())
        })
        .collect();
    more.sort_by(f64::total_cmp);
    println!(
        "a policy of six rules and an objective in a live run, 15 pairs: min {:.0}, median {:.0}, max {:.0} us an event",
        more[0], more[7], more[14]
    );
    assert!(more[7] < 1_000.0, "less than 1 ms an event is wanted");
}

fn start_up(c: &mut Criterion) {
    let run = |program: &str, args: &[&str]| {
        let status = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.success());
    };
    let mut group = c.benchmark_group("start-up");
    group.bench_function("tlaforge --help", |b| b.iter(|| run(env!("CARGO_BIN_EXE_tlaforge"), &["--help"])));
    group.bench_function("true", |b| b.iter(|| run("true", &[])));
    group.finish();
}

/// Rules of each reading that are never broken, so that all of them are followed to the end.
const POLICY: &str = r#"
[[rule]]
id = "answered"
formula = 'G (name = "request_sent" -> F one_of(name, "answer_received", "call_failed"))'
[[rule]]
id = "asked-first"
formula = '!(name = "answer_received") W name = "request_sent"'
[[rule]]
id = "once"
formula = 'G (name = "run_started" -> N G !(name = "run_started"))'
[[rule]]
id = "no-rm"
kind = "no_call"
params = { tool = "rm" }
[[rule]]
id = "no-todo"
kind = "forbidden_text"
params = { text = "no such words" }
[[rule]]
id = "numbered"
owner = "run"
formula = 'seq > 0'
[[rule]]
id = "checked"
owner = "review"
formula = 'P(@model_check.kind = "send") | !(kind = "choice")'
[[rule]]
id = "formalized"
owner = "model_check"
formula = '@formalize.seq < seq | H(!(kind = "recv"))'
"#;

/// Rules that a run of the swap case keeps.
const LIVE: &str = r#"
[[rule]]
id = "answered"
formula = 'G (name = "request_sent" -> F one_of(name, "answer_received", "call_failed"))'
[[rule]]
id = "asked-first"
formula = '!(name = "answer_received") W name = "request_sent"'
[[rule]]
id = "once"
formula = 'G (name = "run_started" -> N G !(name = "run_started"))'
[[rule]]
id = "no-such-words"
kind = "forbidden_text"
params = { text = "no such words" }
[[rule]]
id = "nor-these"
kind = "forbidden_text"
params = { text = "nor these" }
[[rule]]
id = "checked"
owner = "review"
when = 'row = "approved"'
formula = '@model_check.outcome.statistics.distinct > 0'
"#;

const OBJECTIVE: &str = r#"
goal = "F settled & G !too_large & F (covered > 0) & (holds R !vacuous)"
[predicates]
settled = "holds & uncovered < 1 & blockers < 1 & majors < 1"
too_large = "states > 100000"
"#;

/// 10,000 events of a run in a folder.
fn journal_of(learned: &[Value], policy: Option<&str>) -> tempfile::TempDir {
    let routing = ["attempt_finished", "revision_closed", "run_finished"];
    let plain: Vec<&Value> = learned[1..].iter().filter(|e| !routing.contains(&e["name"].as_str().unwrap())).collect();
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = ArtifactStore::open(&dir.path().join("artifacts")).unwrap();
    let answer = store.put("A module of some length. ".repeat(400)).unwrap();
    let mut first = learned[0].clone();
    if let Some(policy) = policy {
        let sha = store.put(policy).unwrap();
        first["data"]["policy"] = json!({"path": "policy.toml", "sha": sha, "bytes": policy.len()});
    }
    let record = |event: &Value| {
        let mut event = event.clone();
        if event["data"]["answer"]["text"].is_string() {
            event["data"]["answer"]["text"] = json!(answer);
        }
        let of = |field: &str| event[field].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap();
        Record {
            lifeline: event["lifeline"].as_str().unwrap().to_owned(),
            kind: serde_json::from_value(event["kind"].clone()).unwrap(),
            rev: of("rev"),
            attempt: of("attempt"),
            // As if each lifeline had heard of everything before.
            past: Past::Journal,
            event: serde_json::from_value(json!({"name": event["name"], "data": event["data"]})).unwrap(),
        }
    };
    let events = std::iter::once(&first).chain(plain.into_iter().cycle()).take(10_000);
    let (mut journal, _) = Journal::open(&dir.path().join("journal.jsonl"), clock()).unwrap();
    journal.append(events.map(record).collect()).unwrap();
    dir
}

/// What guards, a policy and an objective cost an event, opening and folding a journal of 10,000.
fn long_journal(c: &mut Criterion) {
    let learned = learn();
    let open = |dir: &Path| {
        let run = Run::open(dir, RunEnvironment { clock: clock(), observer: None, crash: None }).unwrap();
        assert_eq!(run.view().events, 10_000);
        assert!(run.view().policy_log.violations.is_empty());
    };
    let (plain, ruled) = (journal_of(&learned, None), journal_of(&learned, Some(POLICY)));
    let mut group = c.benchmark_group("a journal of 10,000 events");
    group.sample_size(20);
    group.bench_function("recover and fold, guards included", |b| b.iter(|| open(plain.path())));
    group.bench_function("the same under a policy of eight rules", |b| b.iter(|| open(ruled.path())));
    let events = tlaforge::journal::read(&plain.path().join("journal.jsonl")).unwrap();
    group.bench_function("fold alone", |b| b.iter(|| RunView::from_entries(&events)));
    group.finish();
    let known = tlaforge::pipeline::known_metrics();
    let objective = RunObjective::from_text(OBJECTIVE, Format::Toml, &known).unwrap();
    let line = vec![Metrics::default(); 5];
    c.bench_function("an objective over five revisions", |b| b.iter(|| objective.steps(&known, &line)));
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(std::time::Duration::from_secs(5));
    targets = start_up, orchestration, long_journal
}
criterion_main!(benches);

//! The cost of the orchestrator itself: start-up, a replayed run compared with the bare cost of its fsyncs, and resuming a
//! journal of 10,000 events. Tool results come from memory, so that the time of tools is excluded. Needs Java and
//! `tla2tools.jar` once, to record the tool results.
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

use async_trait::async_trait;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use tlaforge::config::Draft;
use tlaforge::journal::{ArtifactStore, Clock, Journal, Past, write_atomically};
use tlaforge::llm::{Budget, CallTimer, Caller, Models, Prices, Recording, Replay, RetryPolicy};
use tlaforge::monitor::{Format, RunObjective};
use tlaforge::nodes::{Inspection, ModuleCache, NodeContext, NodeDispatcher};
use tlaforge::pipeline::{CheckRecord, Metrics, Outcome, Record, Run, RunEnvironment, RunView, Settings, admit, drive};
use tlaforge::process::Cancel;
use tlaforge::prompt::{PromptLibrary, read_documents};
use tlaforge::tla::{CheckOutcome, Checker};
use tlaforge::toolchain::{
    BoxFuture, CheckReport, CheckRequest, Limits, ParseOutcome, ProbeReport, SpecText, ToolContext, ToolError,
    Toolchain, ToolchainInfo, Translation,
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

/// The journal of a run of the swap case with the real tools; recorded once.
fn record_tool_results() -> Vec<Value> {
    let dir = learned_dir();
    let _ = std::fs::remove_dir_all(&dir);
    let status = Command::new(env!("CARGO_BIN_EXE_tlaforge"))
        .args(["demo", "--mutants", "off", "--out", dir.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0), "the demo must work: it needs Java and tla2tools.jar (`tlaforge doctor`)");
    let text = std::fs::read_to_string(dir.join("journal.jsonl")).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// Returns the recorded results of the real tools immediately, in the same order.
struct Remembered {
    inspections: Mutex<std::vec::IntoIter<Inspection>>,
    checks: Mutex<std::vec::IntoIter<CheckRecord>>,
    pending: Mutex<Option<Inspection>>,
    /// Of the last of the checks, in which everything holds.
    holds: CheckOutcome,
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
        let holds = checks.last().unwrap().outcome.clone();
        Self {
            holds,
            inspections: Mutex::new(inspections.into_iter()),
            checks: Mutex::new(checks.into_iter()),
            pending: Mutex::new(None),
        }
    }
}

#[async_trait]
impl Toolchain for Remembered {
    fn checker(&self) -> Checker {
        Checker::Tlc
    }

    async fn translate(&self, _: &SpecText, _: &ToolContext<'_>) -> Result<Translation, ToolError> {
        let said = self.inspections.lock().unwrap().next().unwrap();
        let translation = match &said.module {
            Some(module) => Translation::Translated(module.clone()),
            None => Translation::Rejected(said.diagnostics.clone()),
        };
        *self.pending.lock().unwrap() = Some(said);
        Ok(translation)
    }

    async fn parse(&self, _: &SpecText, _: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        Ok(ParseOutcome::Accepted { warnings: Vec::new() })
    }

    async fn check(&self, _: &CheckRequest, _: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        let CheckRecord { outcome, .. } = self.checks.lock().unwrap().next().unwrap();
        Ok(CheckReport { outcome, output: "remembered".to_owned(), second_outcome: None })
    }

    /// A check of the initial states, or with a larger bound.
    async fn check_without_details(&self, _: &CheckRequest, _: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        let outcome = self.holds.clone();
        Ok(CheckReport { outcome, output: "remembered".to_owned(), second_outcome: None })
    }

    async fn probe(
        &self,
        _: &CheckRequest,
        _: &CheckOutcome,
        _: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError> {
        Ok(None)
    }

    async fn info(&self, _: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError> {
        unreachable!("no one asks")
    }
}

/// A pace without any waiting.
struct NoTime;

impl CallTimer for NoTime {
    fn pause(&self, _: std::time::Duration) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn jitter(&self) -> f64 {
        0.0
    }

    fn time_left(&self) -> Option<std::time::Duration> {
        None
    }
}

/// Replays the swap case in `dir` with recorded tool results; if `watched`, with a policy of six rules and an objective.
/// Returns the number of journal events.
fn replay(dir: &Path, learned: &[Value], watched: bool) -> u64 {
    let recording = Recording::load(&project().join("evals/uniswap_swap/recording/run.jsonl")).unwrap();
    let nodes = NodeDispatcher {
        context: NodeContext {
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
            side_toolchain: None,
            mutant_sample: None,
            bounds_budget: std::time::Duration::ZERO,
            prompts: PromptLibrary::load(None).unwrap(),
            limits: Limits::default(),
            cancel: Cancel::new(),
            progress: Box::new(|_| {}),
            recording_path: None,
            modules: ModuleCache::default(),
        },
    };
    let run = Run::open(dir, RunEnvironment { clock: clock(), observer: None, crash: None, replica: None }).unwrap();
    let documents = read_documents(&project().join("evals/uniswap_swap/docs")).unwrap();
    let docs = documents.files.iter().map(|d| run.keep(&d.path, &d.text).unwrap()).collect();
    let draft = Draft::SingleCall;
    let mut settings = Settings { docs, draft, command_line: json!({}), ..Settings::default() };
    if watched {
        let stored = run.keep("policy.toml", LIVE).unwrap();
        run.set_policy(&stored, admit(LIVE).unwrap()).unwrap();
        let known = tlaforge::pipeline::known_metrics();
        settings.objective = Some(RunObjective::from_text(OBJECTIVE, Format::Toml, &known).unwrap());
        settings.policy = Some(stored);
    }
    run.start(&settings).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let finished = runtime.block_on(drive(&run, &nodes)).unwrap();
    assert_ne!(finished.outcome, Outcome::Stopped, "{}", finished.why);
    run.view().events
}

/// Repeats only the appends and artifact writes of the run.
fn write_bare(dir: &Path, groups: &[Vec<u8>], artifacts: &[(String, Vec<u8>)]) {
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
    let learned = record_tool_results();
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
        b.iter_batched(fresh, |dir| write_bare(dir.path(), &groups, &artifacts), BatchSize::PerIteration);
    });
    group.finish();

    // Alternate both variants, so that a drift of the machine's speed does not change the ratio.
    let mut ratios: Vec<f64> = (0..15)
        .map(|_| {
            let (a, b) = (fresh(), fresh());
            let started = std::time::Instant::now();
            replay(a.path(), &learned, false);
            let run = started.elapsed();
            let started = std::time::Instant::now();
            write_bare(b.path(), &groups, &artifacts);
            run.as_secs_f64() / started.elapsed().as_secs_f64()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "orchestrator / bare fsyncs, 15 pairs: min {:.2}, median {:.2}, max {:.2}",
        ratios[0], ratios[7], ratios[14]
    );

    // A live run evaluates its guards at each review, its policy at each event, its objective at each revision.
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

/// Rules of each reading that are never violated, so that all of them are evaluated to the end.
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

/// Rules that a run of the swap case satisfies.
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

/// A folder with a journal of 10,000 events.
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
            // Each lifeline knows every earlier event.
            past: Past::Journal,
            event: serde_json::from_value(json!({"name": event["name"], "data": event["data"]})).unwrap(),
        }
    };
    let events = std::iter::once(&first).chain(plain.into_iter().cycle()).take(10_000);
    let (mut journal, _) = Journal::open(&dir.path().join("journal.jsonl"), clock()).unwrap();
    journal.append(events.map(record).collect()).unwrap();
    dir
}

/// The cost per event of guards, policy and objective when a journal of 10,000 events is opened and folded.
fn long_journal(c: &mut Criterion) {
    let learned = record_tool_results();
    let open = |dir: &Path| {
        let run =
            Run::open(dir, RunEnvironment { clock: clock(), observer: None, crash: None, replica: None }).unwrap();
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

//! Measures the cost of the HTTP providers besides the server's time: the overhead of a call compared with a plain HTTP
//! request, memory per call with 32 at once, and the bytes that a run of each recorded case sends, drafted node by node and
//! with a single call, including how many of them are in a prefix that the server has seen (`-- bytes` measures only this).
//! For the first two the server is another process, so that its own work is not counted. The second needs Linux, the last
//! Java and `tla2tools.jar`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a benchmark fails where its preparation does, and prints"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::model_server::{ModelServer, Reply, Seen};
use support::recorded_model::RecordedModel;
use support::{Bench, name, outcome, project};
use tlaforge::llm::{Anthropic, HttpSettings, ModelChoice, OpenAi, OpenAiSettings, Provider, Request, RequestKey};
use tlaforge::process::Cancel;

const AT_ONCE: usize = 32;
const PAIRS: usize = 200;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", delay] => return serve(Duration::from_millis(delay.parse().unwrap())),
        ["bytes", ..] => return all_bytes(),
        ["memory", api] => return runtime.block_on(memory(api)),
        _ => {}
    }
    for api in ["anthropic", "openai"] {
        runtime.block_on(overhead(api));
    }
    // Each in a new process: memory that was freed before would serve the calls and not be counted.
    for api in ["anthropic", "openai"] {
        assert!(Command::new(std::env::current_exe().unwrap()).args(["memory", api]).status().unwrap().success());
    }
    all_bytes();
}

/// A server in its own process that gives every request the same answer after a delay.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(delay: Duration) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["serve", &delay.as_millis().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn serve(delay: Duration) {
    let server = ModelServer::start(|_| Reply::text("word ".repeat(2_000)));
    // The script handles one request at a time, so the connection has to wait, not the script.
    let url = if delay.is_zero() { server.url() } else { slow(server.url(), delay) };
    println!("{url}");
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read(&mut [0]);
}

/// Forwards each connection after a delay, so that all calls are under way at the same time.
fn slow(to: String, delay: Duration) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let address = to.trim_start_matches("http://").to_owned();
            std::thread::spawn(move || {
                std::thread::sleep(delay);
                let server = std::net::TcpStream::connect(address).unwrap();
                let (mut from, mut to) = (stream.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                let _ = std::io::copy(&mut &server, &mut &stream);
            });
        }
    });
    url
}

fn provider(api: &str, url: &str) -> Box<dyn Provider> {
    let settings = HttpSettings::new(url, None);
    match api {
        "anthropic" => Box::new(Anthropic::new(settings).unwrap()),
        _ => Box::new(OpenAi::new(settings, OpenAiSettings::default()).unwrap()),
    }
}

fn request(workspace: &std::path::Path) -> Request {
    Request {
        key: RequestKey { node: "review".into(), branch_index: 0, attempt: 1, purpose: "draft".into(), sample: 0 },
        seq: 1,
        role: "You review. ".repeat(200),
        prompt: "Read what you need. ".repeat(100),
        workspace: workspace.to_owned(),
        offered: Vec::new(),
        choice: ModelChoice { model: Some("m".into()), ..ModelChoice::default() },
        schema: None,
    }
}

/// Sends the same bytes with the plain HTTP client and reads the answer to its end.
async fn bare(client: &reqwest::Client, url: &str, seen: &Seen) {
    let mut request = client.post(format!("{url}{}", seen.path)).body(seen.raw.clone());
    for (name, value) in seen.headers.iter().filter(|(n, _)| n == "content-type" || n == "anthropic-version") {
        request = request.header(name, value);
    }
    assert!(request.send().await.unwrap().bytes().await.unwrap().len() > 10_000);
}

async fn overhead(api: &str) {
    let dir = tempfile::tempdir().unwrap();
    let (request, cancel) = (request(dir.path()), Cancel::new());
    let here = ModelServer::start(|_| Reply::text("once"));
    provider(api, &here.url()).ask(&request, &cancel).await.unwrap();
    let seen = here.requests().into_iter().find(|s| s.method == "POST").unwrap();
    let server = Served::start(Duration::ZERO);
    let (ours, client) = (provider(api, &server.url), reqwest::Client::new());
    let (mut calls, mut bares) = (Vec::new(), Vec::new());
    // Alternating, so that a drift of the machine's speed does not change the ratio.
    for pair in 0..PAIRS + 10 {
        let began = Instant::now();
        ours.ask(&request, &cancel).await.unwrap();
        let call = began.elapsed();
        let began = Instant::now();
        bare(&client, &server.url, &seen).await;
        // The first calls open the connections, so they are not counted.
        if pair >= 10 {
            calls.push(call.as_secs_f64());
            bares.push(began.elapsed().as_secs_f64());
        }
    }
    let mut ratios: Vec<f64> = calls.iter().zip(&bares).map(|(a, b)| a / b).collect();
    println!(
        "{api}: a call {:.0} us, a bare one {:.0} us, ratio {:.2} (medians of {PAIRS} pairs; quartiles of the ratio {:.2} to {:.2})",
        at(&mut calls, 2) * 1e6,
        at(&mut bares, 2) * 1e6,
        at(&mut ratios, 2),
        at(&mut ratios, 1),
        at(&mut ratios, 3),
    );
}

/// A quartile.
fn at(all: &mut [f64], quarter: usize) -> f64 {
    all.sort_by(f64::total_cmp);
    all[(all.len() - 1) * quarter / 4]
}

/// Resident memory of this process, in KiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

async fn memory(api: &str) {
    let dir = tempfile::tempdir().unwrap();
    let (request, cancel) = (request(dir.path()), Cancel::new());
    let server = Served::start(Duration::from_millis(800));
    let ours = provider(api, &server.url);
    // One call beforehand, because one-time allocations belong to no call.
    ours.ask(&request, &cancel).await.unwrap();
    let before = resident();
    let calls = futures_util::future::join_all((0..AT_ONCE).map(|_| ours.ask(&request, &cancel)));
    let mut peak = before;
    let mut calls = std::pin::pin!(calls);
    loop {
        tokio::select! {
            all = &mut calls => {
                assert!(all.iter().all(Result::is_ok));
                break;
            }
            () = tokio::time::sleep(Duration::from_millis(2)) => peak = peak.max(resident()),
        }
    }
    peak = peak.max(resident());
    println!(
        "{api}: {:.0} KiB for each of {AT_ONCE} calls at a time ({before:.0} before, {peak:.0} at most)",
        (peak - before) / AT_ONCE as f64
    );
}

/// Every recorded case, with each provider and both kinds of drafts.
fn all_bytes() {
    let evals = project().join("evals");
    let mut cases: Vec<String> = std::fs::read_dir(&evals)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|case| evals.join(case).join("recording/run.jsonl").exists())
        .collect();
    cases.sort();
    for api in ["anthropic", "openai"] {
        for case in &cases {
            for draft in ["nodes", "single_call"] {
                bytes(api, case, draft);
            }
        }
    }
}

/// The recording of a case. If it was drafted node by node, its first three answers are joined for a single-call draft; `None` if
/// they are not the first drafts of the three nodes, or if the draft would have to be divided.
fn recording(case: &str, draft: &str, bench: &Bench) -> Option<std::path::PathBuf> {
    let path = project().join("evals").join(case).join("recording/run.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    match (draft, lines[0]["purpose"].as_str()) {
        ("nodes", Some("whole")) => return None,
        ("nodes", _) | (_, Some("whole")) => return Some(path),
        _ => {}
    }
    let first: Vec<Value> = lines.drain(..3).collect();
    if first.iter().map(|l| &l["node"]).ne(["informal_spec", "formalize", "generate_invariants"]) {
        return None;
    }
    let answer = |i: usize| first[i]["answer"].as_str().unwrap();
    let mut whole = first[0].clone();
    whole["answer"] =
        json!(format!("````markdown informal_spec\n{}\n````\n\n{}\n{}\n", answer(0).trim_end(), answer(1), answer(2)));
    let reads = first.iter().flat_map(|l| l["reads"].as_array().unwrap().clone());
    let is_there = |r: &Value| ["docs/", "exemplars/"].iter().any(|p| r["path"].as_str().unwrap().starts_with(p));
    whole["reads"] = reads.filter(is_there).collect();
    lines.insert(0, whole);
    Some(bench.write("whole.jsonl", lines.iter().fold(String::new(), |all, l| all + &l.to_string() + "\n")))
}

fn bytes(api: &str, case: &str, draft: &str) {
    let bench = Bench::remembering();
    let Some(recording) = recording(case, draft, &bench) else { return };
    let model = RecordedModel::load(&recording);
    let server = ModelServer::start(model.script());
    let (shown, case) = (case, project().join("evals").join(case));
    let url = server.url();
    let done = bench.run(&[
        "run",
        "--case",
        case.to_str().unwrap(),
        "--provider",
        api,
        "--base-url",
        &url,
        "--model",
        "m",
        "--draft",
        draft,
        "--out",
        "specs",
    ]);
    let journal = bench.journal("specs");
    assert_ne!(outcome(&journal), "stopped", "{shown}, {draft}: {}\n{}", done.stdout, done.stderr);
    let answers = journal.iter().filter(|e| name(e) == "answer_received").count();
    let requests: Vec<Seen> = server.requests().into_iter().filter(|s| s.method == "POST").collect();
    let sent: usize = requests.iter().map(|s| s.raw.len()).sum();
    let known: usize = if api == "anthropic" { marked(&requests) } else { common(&requests) };
    println!(
        "| {api}, {shown}, {draft} | {answers} | {} | {} kB | {} kB | {} |",
        requests.len(),
        sent / 1000,
        known / 1000,
        // The same estimate as for budgets.
        sent / 4
    );
}

/// Bytes up to the last block at which an earlier request had a cache breakpoint after an identical prefix.
fn marked(requests: &[Seen]) -> usize {
    let mut kept: HashSet<String> = HashSet::new();
    let mut known = 0;
    for seen in requests {
        let system = seen.body["system"].as_array().into_iter().flatten();
        let turns = seen.body["messages"].as_array().into_iter().flatten();
        let blocks = system.chain(turns.flat_map(|m| m["content"].as_array().into_iter().flatten()));
        let mut prefix = seen.body["tools"].to_string();
        let (mut found, mut marks) = (0, Vec::new());
        for block in blocks {
            let mut block = block.clone();
            let mark = block.as_object_mut().unwrap().remove("cache_control");
            prefix.push_str(&block.to_string());
            if kept.contains(&prefix) {
                found = prefix.len();
            }
            marks.extend(mark.map(|_| prefix.clone()));
        }
        known += found;
        kept.extend(marks);
    }
    known
}

/// Length of the common prefix of a conversation and an earlier one, in bytes: such servers cache prefixes automatically.
fn common(requests: &[Seen]) -> usize {
    let text = |seen: &Seen| format!("{}{}", seen.body["tools"], seen.body["messages"]);
    let texts: Vec<String> = requests.iter().map(text).collect();
    let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    (0..texts.len()).map(|i| texts[..i].iter().map(|t| shared(t, &texts[i])).max().unwrap_or(0)).sum()
}

//! The command line with a model behind a server: its settings, recordings, costs and secrets.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use serde_json::Value;

use crate::support::counter::{bench, good, review};
use crate::support::model_server::{ModelServer, Reply, Seen};
use crate::support::recorded_model::{RecordedModel, in_todays_form};
use crate::support::{Bench, Done, Script, name, outcome, reasons};

/// Both providers over HTTP, with what each needs besides the address.
const BOTH: [[&str; 4]; 2] = [
    ["--provider", "anthropic", "--model", "claude-sonnet-4-5"],
    ["--provider", "openai", "--model", "claude-sonnet-4-5"],
];

/// A model that gives the answers of a script, having read what the prompts name.
fn model(bench: &Bench, script: &Script) -> impl FnMut(&Seen) -> Reply + Send + use<> {
    let path = bench.write("answers.jsonl", script.text());
    RecordedModel::load(&path).script()
}

/// A server that plays the counter to its approval.
fn counter(bench: &Bench) -> ModelServer {
    ModelServer::start(model(bench, &good()))
}

/// `run` with the Messages API at that address.
fn run_args<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "docs", "--provider", "anthropic", "--base-url", url][..], more].concat()
}

fn forge(bench: &Bench, server: &ModelServer, more: &[&str]) -> Done {
    bench.run(&run_args(&server.url(), more))
}

fn events(bench: &Bench, wanted: &str) -> Vec<Value> {
    bench.journal("specs").into_iter().filter(|e| name(e) == wanted).collect()
}

/// Answers that were asked for: conversations that began. What a model reads is asked in the same conversation.
fn conversations(server: &ModelServer) -> usize {
    server.posts().iter().filter(|p| p.tool_results().is_empty()).count()
}

#[test]
fn a_run_with_a_server_equals_its_replay_and_accounts_for_every_call() {
    let replay = bench();
    replay.forge(&good(), &[]).expect(0);
    for who in BOTH {
        let bench = bench();
        let server = counter(&bench);
        let url = server.url();
        let args = [&["run", "docs", "--base-url", &url][..], &who[..]].concat();
        bench.run(&args).expect(0).prints(&["Outcome: approved"]);
        for file in ["informal_spec.md", "Spec.tla", "Spec.cfg"] {
            assert_eq!(bench.read(&format!("specs/{file}")), replay.read(&format!("specs/{file}")), "{file}");
        }
        let received = events(&bench, "answer_received");
        assert_eq!(received.len(), 4);
        for event in &received {
            let ids = event["data"]["request_ids"].as_array().unwrap();
            assert!(!ids.is_empty() && ids.iter().all(|id| id == "req_scripted"), "{event}");
            assert!(event["data"]["seconds"].as_f64() > Some(0.0), "{event}");
            assert_eq!(event["data"]["model"], "claude-sonnet-4-5");
        }
        // Each request of the server's takes 100 tokens in and 10 out, at 3 and 15 dollars a million.
        let posts = server.posts().len() as u64;
        let meta: Value = serde_json::from_str(&bench.read("specs/history/rev_0/meta.json")).unwrap();
        let spent = &meta["spent"];
        assert_eq!((&spent["tokens"], &spent["answers"]), (&(posts * 110).into(), &4.into()), "{spent}");
        let dollars = f64::from(u32::try_from(posts).unwrap()) * 0.00045;
        assert!((spent["cost_usd"].as_f64().unwrap() - dollars).abs() < 1e-9, "{spent}");
        assert!(spent["seconds"].as_f64() > Some(0.0), "{spent}");
        assert_eq!(meta["models"], serde_json::json!(["claude-sonnet-4-5"]), "{meta}");
        let total = format!("Cost: 4 answers, {} tokens, {dollars:.2} USD", posts * 110);
        let report = bench.run(&["report", "specs"]).expect(0).prints(&[&total]);
        for node in ["informal_spec", "formalize", "generate_invariants", "review"] {
            let line = report.stdout.lines().find(|l| l.starts_with(&format!("  {node}: 1 answer, "))).unwrap();
            assert!(line.contains(" tokens, 0.00 USD, ") && line.ends_with(" s"), "{line}");
        }
    }
}

#[test]
fn a_model_without_a_price_has_unknown_cost_and_not_zero() {
    let bench = bench();
    let server = counter(&bench);
    forge(&bench, &server, &["--model", "of-tomorrow"]).expect(0).prints(&["4 answers, ", "price unknown"]);
    let meta: Value = serde_json::from_str(&bench.read("specs/history/rev_0/meta.json")).unwrap();
    assert_eq!(meta["spent"]["unpriced"], 4, "{meta}");
}

#[test]
fn an_approval_of_a_reviewer_that_opened_nothing_is_refused() {
    for who in BOTH {
        let bench = bench();
        let path = bench.write("answers.jsonl", good().text());
        let answers: Vec<Value> =
            std::fs::read_to_string(path).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let mut next = 0;
        // Answers at once whatever it is asked; every further review approves as well.
        let server = ModelServer::start(move |_| {
            next += 1;
            Reply::text(
                answers
                    .get(next - 1)
                    .map_or_else(|| review("approved"), |a| in_todays_form(a["answer"].as_str().unwrap())),
            )
        });
        let url = server.url();
        bench.run(&[&["run", "docs", "--max-revisions", "0", "--base-url", &url][..], &who[..]].concat()).expect(1);
        let journal = bench.journal("specs");
        assert_eq!(outcome(&journal), "not_approved");
        let guards = events(&bench, "guard_evaluated");
        let guard = &guards.last().unwrap()["data"];
        assert_eq!((&guard["holds"], &guard["clause"]), (&false.into(), &"reviewer_read".into()), "{guard}");
        let why = guard["why"].as_str().unwrap();
        assert!(why.contains("Spec.tla") && why.contains("check.md"), "{why} {:?}", reasons(&journal));
    }
}

#[test]
fn an_approval_of_a_reviewer_that_read_one_line_is_refused() {
    let script = good().answer("review", 0, 2, "repair", &review("approved"));
    for who in BOTH {
        for part in ["Spec.tla", "Spec.cfg", "check.md"] {
            let bench = bench();
            let path = bench.write("answers.jsonl", script.text());
            let server = ModelServer::start(RecordedModel::load(&path).only(part, 1).script());
            let url = server.url();
            bench.run(&[&["run", "docs", "--max-revisions", "0", "--base-url", &url][..], &who[..]].concat()).expect(1);
            assert_eq!(outcome(&bench.journal("specs")), "not_approved");
            let guard = events(&bench, "guard_evaluated").pop().unwrap();
            assert_eq!((&guard["data"]["holds"], &guard["data"]["clause"]), (&false.into(), &"reviewer_read".into()));
            let why = guard["data"]["why"].as_str().unwrap();
            assert!(why.ends_with(&format!("as they stand now: {part} (only in part)")), "{why}");
        }
    }
}

mod budgets;
mod foreign;
mod input;
mod keys;

#[test]
fn an_unknown_model_is_a_wrong_setting() {
    for choice in BOTH {
        let bench = bench();
        let server = ModelServer::start(|_| Reply::error(404, "not_found_error", "model: claude-none not found"));
        let url = server.url();
        let args = [&["run", "docs", "--base-url", &url][..], &choice[..2], &["--model", "claude-none"]].concat();
        bench.run(&args).expect(2).says(&["claude-none", "--model"]);
        // Nothing is lost: with a model that it has, the run goes on.
        let stopped = events(&bench, "run_finished").pop().unwrap();
        assert_eq!((&stopped["data"]["outcome"], &stopped["data"]["reason"]), (&"stopped".into(), &"settings".into()));
    }
}

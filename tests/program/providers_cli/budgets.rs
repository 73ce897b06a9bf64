//! Limits of money, tokens and time, retries, the fallback model, and Ctrl-C: paid answers are neither lost nor requested
//! again.

use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tlaforge::llm::{
    Answer, AnswerFuture, Budget, CallTimer, Caller, ModelChoice, Models, Prices, Provider, Request, RequestKey,
    RetryPolicy, Usage, Used,
};
use tlaforge::process::Cancel;

use crate::support::checking::faking_all;
use crate::support::handoff::shell;
use crate::support::java;
use crate::support::model_server::Tokens;
use crate::support::waiting::{HANG, wait_until};

use super::*;

/// No purpose of an attempt was answered twice, and the run ended approved.
#[track_caller]
fn nothing_twice(bench: &Bench) {
    assert_eq!(outcome(&bench.journal("specs")), "approved");
    let nodes: Vec<String> =
        events(bench, "answer_received").iter().map(|e| e["lifeline"].as_str().unwrap().to_owned()).collect();
    assert_eq!(nodes, ["informal_spec", "formalize", "generate_invariants", "review"]);
}

#[test]
fn a_budget_stops_before_the_next_call_and_a_larger_one_continues() {
    for (flag, small, large) in [("--max-tokens", "100000", "4000000"), ("--max-cost", "0.32", "15")] {
        for who in BOTH {
            let bench = bench();
            let mut plays = model(&bench, &good());
            let tokens = Tokens { input: 16_000, output: 100, cache_read: 0, cache_write: 0 };
            let server = ModelServer::start(move |seen| plays(seen).tokens(tokens));
            let url = server.url();
            let args = [&["run", "docs", "--base-url", &url, flag, small][..], &who[..]].concat();
            let done = bench.run(&args).expect(3);
            let done = done.says(&["the limit is", flag, "continue with: tlaforge resume"]);
            assert!(done.stdout.contains("stopped, can be resumed"), "{}", done.stdout);
            let asked = conversations(&server);
            assert!((1..4).contains(&asked), "{asked}");
            // A call that was begun is finished as long as the limit allows its next request, and told otherwise.
            let answered = events(&bench, "answer_received").len();
            let ended = events(&bench, "call_failed");
            assert!(answered > 0 && answered + ended.len() == asked, "{answered} of {asked}");
            assert!(
                ended
                    .iter()
                    .all(|e| e["data"]["failure"] == "budget" && e["data"]["usage"]["input"].as_u64() > Some(0))
            );
            assert!(server.posts().len() * 16_100 < 100_000 + 20_000, "it went beyond by more than one request");
            let posts = server.posts().len();
            // The same limit stops at once.
            bench.run(&["resume", "specs"]).expect(3).says(&[flag]);
            assert_eq!(server.posts().len(), posts, "nothing was asked");
            bench.run(&["resume", "specs", flag, large]).expect(0);
            assert_eq!(conversations(&server), 4 + ended.len());
            nothing_twice(&bench);
        }
    }
}

#[test]
fn uncounted_answers_are_estimated_against_the_budget() {
    for who in BOTH {
        let bench = bench();
        let mut plays = model(&bench, &good());
        let server = ModelServer::start(move |seen| plays(seen).uncounted());
        let url = server.url();
        let args = [&["run", "docs", "--base-url", &url, "--max-tokens", "12000"][..], &who[..]].concat();
        bench.run(&args).expect(3).says(&["the limit is", "--max-tokens"]);
        let answers = events(&bench, "answer_received");
        assert!((1..4).contains(&answers.len()), "{}", answers.len());
        assert!(
            answers[0]["data"]["usage"].is_null()
                && answers[0]["data"]["estimated"]["usage"]["input"].as_u64() > Some(0)
        );
        bench.run(&["report", "specs"]).expect(0).prints(&[", about ", " tokens estimated"]);
    }
}

#[test]
fn the_time_limit_ends_a_slow_call() {
    for who in BOTH {
        let bench = bench();
        let mut plays = model(&bench, &good());
        let mut slow = true;
        let server = ModelServer::start(move |seen| {
            if std::mem::take(&mut slow) {
                return Reply::text("word ".repeat(50)).drip(Duration::from_secs(600));
            }
            plays(seen)
        });
        let url = server.url();
        // The shortest limit that the command line takes.
        let args = [&["run", "docs", "--base-url", &url, "--max-time", "1"][..], &who[..]].concat();
        bench.run(&args).expect(3).says(&["--max-time", "continue with: tlaforge resume"]);
        bench.run(&["resume", "specs", "--max-time", "10m"]).expect(0);
        nothing_twice(&bench);
    }
}

/// Waits until the process has ended. One that was killed is there until its parent has looked at how it ended.
fn wait_until_ended(pid: &str) {
    let over = || match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X'])),
        Err(_) => true,
    };
    wait_until("the process ends", over);
}

#[test]
fn the_time_limit_ends_a_running_checker() {
    let slow = format!(
        "dir=$(dirname \"$0\")\ncase \"$*\" in\n  *' -h') ;;\n  *tlc2.TLC*) if [ ! -e $dir/fast ]; then echo $$ >$dir/pid; \
         {HANG}; fi ;;\nesac\nexec {} \"$@\"",
        java().to_str().unwrap()
    );
    let mut bench = faking_all(&slow);
    let jar = crate::support::jar();
    bench.set("TLA_TOOLS_JAR", jar.to_str().unwrap());
    bench.write("docs/counter.md", crate::support::counter::DOC);
    let server = counter(&bench);
    let url = server.url();
    let mut child = bench.command(&run_args(&url, &[])).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the checker begins", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended before the checker began");
        bench.path("jre/bin/pid").exists()
    });
    shell(&format!("kill -INT {}", child.id()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    std::fs::remove_file(bench.path("jre/bin/pid")).unwrap();
    // From here on the checker is what takes the time. A busy machine may need longer than a short limit to begin it.
    for limit in ["2", "10", "60"] {
        let done = bench.run(&["resume", "specs", "--max-time", limit]).expect(3);
        done.says(&["--max-time", "continue with: tlaforge resume"]);
        if bench.path("jre/bin/pid").exists() {
            break;
        }
    }
    let pid = bench.read("jre/bin/pid");
    wait_until_ended(pid.trim());
    assert!(events(&bench, "check_finished").is_empty(), "nothing was decided");
    bench.write("jre/bin/fast", "");
    bench.run(&["resume", "specs", "--max-time", "10m"]).expect(0);
    assert_eq!(conversations(&server), 4);
    nothing_twice(&bench);
}

#[test]
fn a_requested_wait_is_kept_and_reported() {
    for who in BOTH {
        let bench = bench();
        let mut plays = model(&bench, &good());
        let mut first = true;
        let server = ModelServer::start(move |seen| {
            if std::mem::take(&mut first) {
                return Reply::error(429, "rate_limit_error", "slow down").header("retry-after", "1");
            }
            plays(seen)
        });
        let url = server.url();
        // The shortest wait that a server can ask for in whole seconds.
        let begin = Instant::now();
        let done = bench.run(&[&["run", "docs", "--base-url", &url][..], &who[..]].concat()).expect(0);
        assert!(begin.elapsed() >= Duration::from_secs(1));
        let done = done.says(&["informal_spec       call 1 failed: ", "slow down", "; retry in "]);
        assert!(done.stdout.contains("4 answers, 1 failed call, "), "{}", done.stdout);
        let failed = events(&bench, "call_failed");
        assert_eq!(failed.len(), 1);
        let data = &failed[0]["data"];
        assert_eq!((&data["failure"], &data["status"]), (&"rate_limit".into(), &429.into()), "{data}");
        assert_eq!(data["request_id"], "req_scripted");
        assert!((1.0..2.1).contains(&data["wait_seconds"].as_f64().unwrap()), "{data}");
        assert_eq!(data["model"], "claude-sonnet-4-5");
        nothing_twice(&bench);
    }
}

#[test]
fn after_three_overloads_the_fallback_is_asked_and_journaled() {
    let bench = bench();
    let mut plays = model(&bench, &good());
    let server = ModelServer::start(move |seen| match seen.body["model"].as_str() {
        Some("claude-sonnet-4-5") => Reply::error(529, "overloaded_error", "Overloaded"),
        _ => plays(seen),
    });
    let url = server.url();
    let args = run_args(&url, &["--fallback-model", "claude-haiku-4-5"]);
    let done = bench.run_with(&args, &[("CLAUDE_RETRY_DELAY", "0")]).expect(0);
    done.says(&["call 3 failed: ", "asking claude-haiku-4-5 instead"]);
    let switched = events(&bench, "model_switched");
    assert_eq!(switched[0]["data"]["from"], "claude-sonnet-4-5");
    assert_eq!(switched[0]["data"]["to"], "claude-haiku-4-5");
    assert_eq!(switched[0]["kind"], "choice");
    let received = events(&bench, "answer_received");
    assert!(received.iter().all(|e| e["data"]["model"] == "claude-haiku-4-5"));
    let meta: Value = serde_json::from_str(&bench.read("specs/history/rev_0/meta.json")).unwrap();
    assert_eq!(meta["models"], serde_json::json!(["claude-haiku-4-5"]), "{meta}");
    nothing_twice(&bench);
}

#[test]
fn an_interrupt_during_a_call_ends_the_run_and_loses_nothing() {
    for who in BOTH {
        let bench = bench();
        let mut plays = model(&bench, &good());
        let mut formalize = 0;
        let server = ModelServer::start(move |seen| {
            // The second node hangs, once.
            if seen.tool_results().is_empty() {
                formalize += 1;
                if formalize == 2 {
                    return Reply::nothing();
                }
            }
            plays(seen)
        });
        let url = server.url();
        let args = [&["run", "docs", "--base-url", &url][..], &who[..]].concat();
        let mut child = bench.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("the second call is made", || conversations(&server) >= 2);
        shell(&format!("kill -INT {}", child.id()));
        wait_until("the run ends", || child.try_wait().unwrap().is_some());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let journal = bench.journal("specs");
        assert_eq!(journal.last().unwrap()["data"]["reason"], "interrupted");
        bench.run(&["resume", "specs"]).expect(0);
        // The call that was broken off is the only one that was made again.
        assert_eq!(conversations(&server), 5);
        assert_eq!(events(&bench, "request_sent").len(), 4);
        nothing_twice(&bench);
    }
}

/// A server that calls the model by another name than it was asked for.
struct Renames;

impl Provider for Renames {
    fn name(&self) -> &'static str {
        "renames"
    }

    fn ask<'a>(&'a self, _: &'a Request, _: &'a Cancel) -> AnswerFuture<'a> {
        let usage = Some(Usage { input: 1_000_000, ..Usage::default() });
        let model = Some("of-another-name".to_owned());
        let (text, reads, refused_reads, request_ids) = Default::default();
        Box::pin(async move {
            Ok(Answer {
                text,
                reads,
                refused_reads,
                usage,
                estimated: None,
                cost_usd: None,
                model,
                stale: false,
                changed_documents: Vec::new(),
                request_ids,
                stop_reason: None,
            })
        })
    }
}

/// Time that does not pass.
struct Still;

impl CallTimer for Still {
    fn pause(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }

    fn jitter(&self) -> f64 {
        0.0
    }

    fn time_left(&self) -> Option<Duration> {
        None
    }
}

#[test]
fn a_server_that_renames_the_model_is_priced_by_the_requested_name() {
    let choice = ModelChoice { model: Some("claude-sonnet-4-5".into()), ..ModelChoice::default() };
    let caller = Caller::new(
        Box::new(Renames),
        Models::default(),
        RetryPolicy::default(),
        Budget::default(),
        Prices::load(None).unwrap(),
        1,
        Arc::new(Still),
    );
    let request = Request {
        key: RequestKey { node: "review".into(), branch_index: 0, attempt: 1, purpose: "draft".into(), sample: 0 },
        seq: 1,
        role: String::new(),
        prompt: String::new(),
        workspace: "/".into(),
        offered: Vec::new(),
        choice,
        schema: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(caller.call(&request, &Used::default, &Cancel::new(), &mut |_| {})).unwrap();
    assert_eq!(answer.cost_usd, Some(3.0), "a limit of money would not see it otherwise");
}

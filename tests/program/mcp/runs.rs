//! Runs that a client starts, follows, answers, stops and finds again.

use super::client::{Client, text};
use crate::support::counter::{self, INFORMAL, MODULE, fenced, good, good_sections, review};
use crate::support::handoff::shell;
use crate::support::waiting::wait_until;
use crate::support::{Bench, name, outcome};
use serde_json::{Value, json};

/// Starts a run in `run` that the client answers, in nodes and without mutants.
fn start_by_client(client: &mut Client) -> Value {
    client.call("forge_start", &json!({ "docs": "docs", "out": "run", "provider": "mcp", "mutants": 0 }))
}

/// A settings file for runs that need only few answers.
fn few_answers(bench: &Bench) {
    bench.write("tlaforge.toml", "draft = \"nodes\"\nblind_reading = false\ncontracts = false\nbounds_budget = 0\n");
}

fn next(client: &mut Client) -> Value {
    loop {
        let data = client.call("next_request", &json!({ "job": "run", "wait_seconds": 45 }));
        if data["state"] != "running" {
            return data;
        }
    }
}

/// The lines of a page of a file without their numbers.
fn content(page: &Value) -> String {
    let (heading, lines) = page["text"].as_str().unwrap().split_once("\n\n").unwrap();
    assert!(heading.starts_with(page["path"].as_str().unwrap()), "{heading}");
    let first = page["from_line"].as_u64().unwrap();
    let numbered = lines.lines().zip(first..);
    let line = |(line, number): (&str, u64)| {
        let (at, text) = line.trim_start().split_once(" | ").unwrap();
        assert_eq!(at, number.to_string());
        text.to_owned() + "\n"
    };
    numbered.map(line).collect()
}

fn submit(client: &mut Client, request: &Value, answer: &str) -> Value {
    client.call("submit_answer", &json!({ "job": "run", "request": request["request"], "text": answer }))
}

#[test]
fn a_run_from_a_recording_ends_approved_and_its_results_are_resources() {
    let bench = counter::bench();
    bench.forge(&good(), &[]).expect(0);
    let mut client = Client::start(&bench);
    let arguments = json!({ "docs": "docs", "out": "new/run", "recording": "script.jsonl", "mutants": 0 });
    let started = client.call("forge_start", &arguments);
    assert_eq!(started["job"], "new/run", "{started}");
    wait_until("the run ends", || client.call("forge_status", &json!({ "job": "new/run" }))["finished"] == true);
    let answer = client.call_raw("forge_result", &json!({ "job": "new/run" }));
    let data = &answer["result"]["structuredContent"];
    assert_eq!((&data["outcome"], &data["state"]), (&json!("approved"), &json!("approved")), "{answer}");
    assert_eq!(data["requirements"][0]["status"], "holds", "{data}");
    assert!(text(&answer).contains("check of rev_0: holds; within Max = "), "{}", text(&answer));
    assert!(data["spec"].as_str().unwrap().ends_with("new/run/Spec.tla"), "{data}");
    let links: Vec<&str> =
        answer["result"]["content"].as_array().unwrap().iter().filter_map(|c| c["uri"].as_str()).collect();
    assert_eq!(links.len(), 5, "{answer}");
    let expected = ["Outcome: approved", "MODULE Spec", "SPECIFICATION Spec", "R1 [docs/counter.md:4]", "run_finished"];
    for (link, words) in links.iter().zip(expected) {
        assert!(client.read(link).contains(words), "{link}");
    }
    let listed = client.request("resources/list", &json!({}));
    let listed = listed["result"]["resources"].to_string();
    assert!(links.iter().all(|link| listed.contains(link)), "{listed}");
    assert!(client.call("explain_trace", &json!({ "job": "new/run" }))["text"].as_str().unwrap().contains("approved"));
    let other = json!({ "job": "new/run", "checker": "tlc" });
    assert!(client.refused("explain_trace", &other).contains("are for spec"));
    // A folder with a run is not used again.
    assert!(client.refused("forge_start", &arguments).contains("finished run"));
    assert!(client.refused("forge_cancel", &json!({ "job": "new/run" })).contains("there is nothing to stop"));
    assert!(client.refused("answer_question", &json!({ "job": "new/run" })).contains("no open question"));
}

#[test]
fn the_reason_of_a_run_that_is_not_approved_is_a_plain_sentence() {
    let bench = counter::bench();
    let point =
        "## Open points\nO1 [docs/counter.md:3] May the worker stop early? Taken: no. Otherwise: yes. Affects: R1.\n";
    let script = good().answer("informal_spec", 0, 1, "draft", &format!("{INFORMAL}{point}")).having_read_all();
    bench.forge(&script, &["--max-revisions", "0"]).expect(1).prints(&["open_points_accepted"]);
    let mut client = Client::start(&bench);
    let found = client.call("forge_result", &json!({ "job": "specs" }));
    let said = found["message"].as_str().unwrap();
    let sentence = "specs: not approved: the limit of 0 revisions is reached; still open: open points whose reading the review \
                    does not accept: O1\n";
    assert!(said.starts_with(sentence), "{said}");
}

#[test]
fn a_run_that_the_client_answers_survives_its_server_and_ends_approved() {
    let bench = counter::bench();
    few_answers(&bench);
    let mut client = Client::start(&bench);
    start_by_client(&mut client);
    let request = next(&mut client);
    let prompt = request["text"].as_str().unwrap();
    assert!(
        prompt.contains("## Your role") && prompt.contains("submit_answer") && !prompt.contains("answer.md"),
        "{prompt}"
    );
    let job = json!({ "job": "run", "request": request["request"], "path": "docs/counter.md" });
    let file = client.call("read_request_file", &job);
    assert_eq!(content(&file), counter::DOC);
    assert_eq!(file["lines"], 4);
    let other = json!({ "job": "run", "request": request["request"], "path": "../run.lock" });
    assert!(client.refused("read_request_file", &other).contains("does not list"));
    client.kill();

    let mut client = Client::start(&bench);
    let status = client.call("forge_status", &json!({ "job": "run" }));
    assert_eq!((&status["state"], &status["running"]), (&json!("waiting_for_answer"), &json!(true)), "{status}");
    let since = format!("at work on informal_spec of rev_0 since {}", status["work"]["since"].as_str().unwrap());
    assert!(status["message"].as_str().unwrap().contains(&since), "{status}");
    assert_eq!(status["pending_request"]["request"], request["request"]);
    // What the checker of the run has reported, unless that was before this attempt.
    let report = |at: &str| {
        let counts = json!({ "at": at, "run": "safety", "generated": 9, "distinct": 7, "queue": 2 });
        bench.write("run/checker.json", counts.to_string());
    };
    let mut check = || client.call("forge_status", &json!({ "job": "run" }))["check"].clone();
    report("2020-01-01T00:00:00Z");
    assert_eq!(check(), Value::Null);
    report(status["work"]["since"].as_str().unwrap());
    assert_eq!(check()["distinct"], 7);
    let said = client.call("forge_status", &json!({ "job": "run" }))["message"].to_string();
    assert!(said.contains("the checker (safety) has found 7 distinct states of 9, with 2 on the queue"), "{said}");
    submit(&mut client, &request, INFORMAL);
    let again = json!({ "job": "run", "request": request["request"], "text": "another" });
    assert!(client.refused("submit_answer", &again).contains("an answer is final"));
    assert!(
        client
            .refused("submit_answer", &json!({ "job": "run", "request": 999, "text": "x" }))
            .contains("no request 999")
    );
    for answer in [fenced(MODULE), good_sections()] {
        let request = next(&mut client);
        submit(&mut client, &request, &answer);
    }
    let request = next(&mut client);
    let read = json!({ "job": "run", "request": request["request"], "text": review("approved"), "files_read": ["docs/counter.md"] });
    let mut wrong = read.clone();
    wrong["files_read"] = json!(["nope.md"]);
    assert!(client.refused("submit_answer", &wrong).contains("does not list \"nope.md\""));
    client.call("submit_answer", &read);
    assert_eq!(next(&mut client)["state"], "approved");
    wait_until("the process ends", || !bench.path("run/run.lock").exists());
    assert!(!bench.path("run/checker.json").exists());
    let journal = bench.journal("run");
    assert_eq!(outcome(&journal), "approved");
    let answers: Vec<&Value> = journal.iter().filter(|e| name(e) == "answer_received").collect();
    let reads = |answer: &Value| answer["data"]["reads"].to_string();
    assert!(reads(answers[0]).contains("docs/counter.md") && reads(answers[3]).contains("docs/counter.md"));
    assert!(!reads(answers[1]).contains("docs/counter.md"));
    bench.run(&["audit", "run", "--policy", "default"]).expect(0);
}

#[test]
fn a_run_is_stopped_and_resumed_and_outlives_its_server() {
    let bench = counter::bench();
    few_answers(&bench);
    let mut client = Client::start(&bench);
    start_by_client(&mut client);
    let request = next(&mut client);
    let stopped = client.call("forge_cancel", &json!({ "job": "run" }));
    assert_eq!((&stopped["state"], &stopped["running"]), (&json!("stopped"), &json!(false)), "{stopped}");
    // An answer to a stopped run is kept for its continuation.
    submit(&mut client, &request, INFORMAL);
    let resumed = client.call("forge_resume", &json!({ "job": "run" }));
    assert_eq!(resumed["running"], true, "{resumed}");
    assert!(client.refused("forge_resume", &json!({ "job": "run" })).contains("is already running"));
    assert_eq!(next(&mut client)["node"], "formalize");
    // SIGTERM to the server and the end of its input do not reach the run.
    shell(&format!("kill -TERM {}", client.pid()));
    assert_eq!(client.wait(), Some(130));
    let mut client = Client::start(&bench);
    assert_eq!(client.call("forge_status", &json!({ "job": "run" }))["state"], "waiting_for_answer");
    client.call("forge_cancel", &json!({ "job": "run" }));
}

#[test]
fn the_number_of_runs_is_limited_across_servers() {
    let bench = counter::bench();
    few_answers(&bench);
    let mut client = Client::start(&bench);
    let run = |n: usize| json!({ "docs": "docs", "out": format!("runs/{n}"), "provider": "mcp" });
    for n in 0..8 {
        client.call("forge_start", &run(n));
    }
    client.kill();
    let mut client = Client::start(&bench);
    let why = client.refused("forge_start", &run(8));
    assert!(why.contains("8 runs are running already: runs/0") && why.contains("forge_cancel"), "{why}");
    assert!(!bench.path("runs/8").exists());
    for n in 0..8 {
        client.call("forge_cancel", &json!({ "job": format!("runs/{n}") }));
    }
}

#[test]
fn a_question_is_answered_by_the_user_or_by_an_argument() {
    use crate::run::ambiguity::{accepting, claim, found, opinion, overshooting, then_not};
    let script = then_not(overshooting(&claim(Some("O1")), &opinion(&json!("O1"))), &accepting());
    let (bench, _) = found(&script, &[]);
    let job = json!({ "job": "specs" });
    let mut client = Client::start(&bench);
    let status = client.call("forge_status", &job);
    assert_eq!(status["question"]["readings"][1]["choice"], "b", "{status}");
    // A client that cannot ask its user gets the question.
    let said = client.call("answer_question", &job)["text"].as_str().unwrap().to_owned();
    for words in ["May the worker add at the limit?", "b: no", "Only the user can decide", "Under this reading: R1 "] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let found = client.call("forge_result", &job)["message"].as_str().unwrap().to_owned();
    assert!(found.contains(", with reading a: ") && found.contains(", with reading b: "), "{found}");

    let mut client = Client::with(&bench, &["--allow", "."], &json!({ "elicitation": {} }));
    client.elicited = json!({ "action": "decline" });
    assert!(client.call("answer_question", &job)["text"].as_str().unwrap().contains("the run stays as it is"));
    let before = bench.events("specs").len();
    client.elicited = json!({ "action": "accept", "content": { "answer": "b" } });
    let answer = client.call_raw("answer_question", &job);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert!(text(&answer).starts_with("decided: b: no.\nspecs: "), "{answer}");
    let asked = client.received.iter().rfind(|m| m["method"] == "elicitation/create").unwrap();
    assert!(asked["params"]["message"].as_str().unwrap().contains("a: yes"), "{asked}");
    let branch = bench.events("specs")[before..].iter().find(|e| name(e) == "branch_started").cloned();
    assert!(branch.as_ref().is_some_and(|b| b.to_string().contains("\"reading\":\"no.\"")), "{branch:?}");
}

#[test]
fn a_document_in_one_long_line_is_read_page_by_page() {
    let bench = counter::bench();
    few_answers(&bench);
    let line = format!("{}\u{e9}{}", "a".repeat(39_999), "b".repeat(50_000));
    bench.write("docs/line.md", format!("{line}\nThe end.\n"));
    let mut client = Client::start(&bench);
    start_by_client(&mut client);
    let request = next(&mut client);
    let number = &request["request"];
    let mut file = json!({ "job": "run", "request": number, "path": "docs/line.md" });
    let mut whole = String::new();
    loop {
        let page = client.call("read_request_file", &file);
        let text = content(&page);
        assert!(text.len() <= 24_100, "{} bytes", text.len());
        whole += if page["next_byte"].is_null() { &text } else { text.strip_suffix('\n').unwrap() };
        if page["next_line"].is_null() {
            break;
        }
        file["from_line"] = page["next_line"].clone();
        file["from_byte"] = page["next_byte"].clone();
    }
    assert_eq!(whole, format!("{line}\nThe end.\n"));
    // The status names the request that waits.
    let status = client.call("forge_status", &json!({ "job": "run", "wait_seconds": 45 }));
    assert_eq!(status["open_requests"], json!([number]));
    assert!(client.refused("next_request", &json!({ "job": "run", "offset": 900_000 })).contains("is past the end"));
    // The request by its number, as a sub-agent that reads its next page asks for it.
    let again = client.call("next_request", &json!({ "job": "run", "request": number, "offset": 100 }));
    assert_eq!(&again["request"], number);
    assert!(client.refused("next_request", &json!({ "job": "run", "request": 999 })).contains("no request 999"));
    client.call("forge_cancel", &json!({ "job": "run" }));
}

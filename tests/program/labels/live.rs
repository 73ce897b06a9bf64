//! Runs with a policy over labels: each answer is labelled before it is accepted, and rules see the same labels during the
//! run as in an audit of its journal.

use crate::support::counter::{INFORMAL, MODULE, bench, fenced, good, good_sections, issue, review};
use crate::support::forged::genuine;
use crate::support::model_server::{ModelServer, Reply, Seen, Tokens};
use crate::support::recorded_model::RecordedModel;
use crate::support::{Bench, Done, Script, name};
use serde_json::{Value, json};

const POLICY: &str = "policy.toml";
const NODES: [&str; 4] = ["informal_spec", "formalize", "generate_invariants", "review"];

fn policy(more: &str) -> String {
    format!(
        "[[label]]\nname = \"unsure\"\nasks = \"the answer says that it guesses\"\n\n[[rule]]\nid = \"sure\"\nformula = 'G !model:unsure'\n{more}"
    )
}

fn unsure(is: bool) -> String {
    format!("```json\n{}\n```\n", json!({"unsure": is}))
}

/// A successful run in which every answer is labelled as sure.
fn labelled() -> Script {
    NODES.into_iter().fold(good(), |script, node| script.answer(node, 0, 1, "label draft", &unsure(false)))
}

fn under(bench: &Bench, policy: &str, script: &Script) -> Done {
    bench.write(POLICY, policy);
    bench.forge(script, &["--policy", POLICY])
}

fn of<'a>(journal: &'a [Value], event: &str) -> Vec<&'a Value> {
    journal.iter().filter(|e| name(e) == event).collect()
}

fn purposes(journal: &[Value]) -> Vec<String> {
    let of = |e: &&Value| format!("{}: {}", e["lifeline"].as_str().unwrap(), e["data"]["purpose"].as_str().unwrap());
    of_all(journal).iter().map(of).collect()
}

fn of_all(journal: &[Value]) -> Vec<&Value> {
    of(journal, "answer_received")
}

#[test]
fn answers_are_labelled_before_acceptance_and_an_audit_asks_no_model() {
    let bench = bench();
    under(&bench, &policy(""), &labelled()).expect(0).prints(&[
        "Outcome: approved",
        "depend on labels by ",
        "untrusted: sure",
        "1 of 1 rule kept",
    ]);
    let journal = bench.journal("specs");
    assert_eq!(purposes(&journal)[..2], ["informal_spec: draft", "informal_spec: label draft"]);
    assert_eq!(of_all(&journal).len(), 8);
    assert!(
        of_all(&journal).iter().all(|e| e["data"]["answer"].is_null()),
        "held until it is labelled; labels for ever"
    );
    let (labels, taken) = (of(&journal, "labelled"), of(&journal, "answer_accepted"));
    assert_eq!((labels.len(), taken.len()), (4, 4));
    assert!(taken.iter().zip(&labels).all(|(t, l)| t["data"]["answer"]["propositions"] == l["data"]["propositions"]));
    assert!(
        taken.iter().all(|t| t["data"]["answer"]["labels"] == json!([]) && t["data"]["answer"]["model"].is_string())
    );
    let prompt = of(&journal, "request_sent").into_iter().find(|e| e["data"]["purpose"] == "label draft").unwrap();
    let prompt = bench.read(&format!("specs/artifacts/{}", prompt["data"]["prompt"].as_str().unwrap()));
    for words in ["- `unsure`: the answer says that it guesses", INFORMAL, "You label the steps"] {
        assert!(prompt.contains(words.trim_end()), "{words} is missing in {prompt}");
    }
    let ended = &of(&journal, "run_finished")[0]["data"]["rules"][0];
    assert_eq!(ended["untrusted"]["propositions"], json!(["unsure"]));
    // Apart from labels, the run is the same as without them.
    assert_eq!(bench.read("specs/informal_spec.md").trim(), INFORMAL.trim());

    bench.run(&["audit", "specs", "--policy", POLICY]).expect(0).prints(&[
        "sure: satisfied so far",
        "untrusted (model:unsure)",
        "0 states labelled, 4 with labels in the log",
        "0 different steps requested",
    ]);
    bench.run(&["report", "specs"]).expect(0).prints(&["untrusted: sure"]);
    bench.run(&["report", "specs", "--chart", "text"]).expect(0).prints(&["finds true (untrusted): nothing"]);
    // Labels for another wording are unknown.
    bench.write("other.toml", policy("").replace("guesses", "is sure"));
    bench.run(&["audit", "specs", "--policy", "other.toml"]).expect(2).says(&["no provider is chosen"]);
}

#[test]
fn a_violation_by_labels_is_untrusted_and_prevents_approval() {
    let bench = bench();
    let script = labelled().answer("formalize", 0, 1, "label draft", &unsure(true));
    under(&bench, &policy(""), &script).expect(1).prints(&[
        "Outcome: not approved",
        "sure [error]: violated by event",
        "depends on labels by ",
        "untrusted (model:unsure)",
    ]);
    let journal = bench.journal("specs");
    let violated = of(&journal, "rule_violated");
    assert_eq!(violated.len(), 1);
    let decided_at = usize::try_from(violated[0]["data"]["decided_at"].as_u64().unwrap()).unwrap();
    assert_eq!(name(&journal[decided_at - 1]), "answer_accepted");
    assert_eq!(violated[0]["data"]["untrusted"]["propositions"], json!(["unsure"]));
    bench.run(&["audit", "specs", "--policy", POLICY]).expect(1).prints(&["sure: VIOLATED"]);
}

#[test]
fn an_intervention_sees_the_labels_of_each_answer() {
    let bench = bench();
    let script = labelled()
        .answer("informal_spec", 0, 1, "label draft", &unsure(true))
        .sample("informal_spec", 0, 1, ("draft", 1), &INFORMAL.replace("The limit.", "The limit. Surely."))
        .sample("informal_spec", 0, 1, ("label draft", 1), &unsure(false));
    under(&bench, &policy("intervention = \"inject\"\n"), &script)
        .expect(0)
        .prints(&["prevented a violation of sure; answer 2 was taken"]);
    let journal = bench.journal("specs");
    let again = of(&journal, "request_sent").into_iter().find(|e| e["data"]["sample"] == 1).unwrap();
    let again = bench.read(&format!("specs/artifacts/{}", again["data"]["prompt"].as_str().unwrap()));
    assert!(again.contains("(`model:unsure`: the answer says that it guesses)"), "it is told what that is: {again}");
    genuine(&bench);
    bench.run(&["audit", "specs", "--policy", POLICY]).expect(0);

    let sampled = policy("intervention = \"resample\"\n\n[prediction]\n");
    bench.write(POLICY, &sampled);
    bench
        .run(&["demo", "--policy", POLICY])
        .expect(2)
        .says(&["rule `sure` uses `model:unsure`, but predicted answers have no labels", "policy.toml:7:21\n"]);
}

#[test]
fn a_killed_run_resumes_with_the_same_labels_and_no_repeated_request() {
    let whole = bench();
    under(&whole, &policy(""), &labelled()).expect(0);
    let journal = whole.journal("specs");
    let end = journal.iter().position(|e| name(e) == "answer_accepted").unwrap() + 2;
    for n in 2..=end {
        for place in ["before", "after"] {
            let bench = bench();
            bench.write(POLICY, whole.read(POLICY));
            bench.write("script.jsonl", whole.read("script.jsonl"));
            let args = ["run", "docs", "--recording", "script.jsonl", "--policy", POLICY];
            bench.run_with(&args, &[("TLAFORGE_CRASH", &format!("{place}:{n}"))]);
            bench.run(&["resume", "specs"]).expect(0);
            let journal = bench.journal("specs");
            assert_eq!(purposes(&journal), purposes(&whole.journal("specs")), "{place}:{n}");
            assert_eq!(of(&journal, "labelled").len(), 4, "{place}:{n}");
        }
    }
    // The recording contains the labels.
    let bench = bench();
    bench.write(POLICY, whole.read(POLICY));
    bench.write("script.jsonl", whole.read("script.jsonl"));
    let run = |recording: &str, more: &[&str]| {
        bench.run(&[&["run", "docs", "--recording", recording, "--policy", POLICY][..], more].concat()).expect(0)
    };
    run("script.jsonl", &["--record", "made.jsonl"]);
    run("made.jsonl", &["--out", "again", "--strict-replay"]);
    assert_eq!(of(&bench.journal("again"), "labelled").len(), 4);
}

#[test]
fn unreadable_labels_stop_the_run_and_equal_texts_are_labelled_once() {
    let bench = bench();
    let garbled = labelled().answer("formalize", 0, 1, "label draft", "I am sorry.").answer(
        "formalize",
        0,
        1,
        "relabel draft",
        "{\"unsure\": \"perhaps\"}",
    );
    let done = under(&bench, &policy(""), &garbled).expect(5);
    assert!(
        done.stdout.contains("the labels of draft of formalize, pass 0, attempt 1 cannot be read"),
        "{}",
        done.stdout
    );
    let journal = bench.journal("specs");
    assert_eq!((of(&journal, "labelled").len(), of(&journal, "answer_accepted").len()), (1, 1), "nothing is made up");
    // It continues with another model, and repeats no request.
    let mended = labelled().answer("formalize", 0, 1, "relabel 2 draft", &unsure(false)).answer(
        "review",
        0,
        1,
        "draft",
        &issue("major", "missing_behavior", "something"),
    );
    let mended = mended
        .answer("informal_spec", 1, 1, "repair", INFORMAL)
        .answer("formalize", 1, 1, "draft", "never")
        .answer("review", 1, 1, "draft", &review("approved"));
    bench.write("script.jsonl", mended.text());
    bench.run(&["resume", "specs"]).expect(5);
    let journal = bench.journal("specs");
    let of_formalize: Vec<String> = purposes(&journal).into_iter().filter(|p| p.starts_with("formalize")).collect();
    assert_eq!(
        of_formalize[..4],
        ["formalize: draft", "formalize: label draft", "formalize: relabel draft", "formalize: relabel 2 draft"]
    );
    // The repaired informal specification has the same text as the first one, so its labels are known.
    assert!(purposes(&journal).contains(&"informal_spec: repair".to_owned()), "{:?}", purposes(&journal));
    assert!(!purposes(&journal).iter().any(|p| p.contains("label repair")), "{:?}", purposes(&journal));
    let taken = of(&journal, "answer_accepted");
    let repaired = taken.iter().find(|e| e["data"]["purpose"] == "repair").unwrap();
    assert_eq!(repaired["data"]["answer"]["labels"], json!([]));
}

#[test]
fn refuses_labels_for_a_run_with_unlabelled_answers() {
    let bench = bench();
    let script = Script::default().answer("informal_spec", 0, 1, "draft", INFORMAL);
    bench.forge(&script, &[]).expect(5);
    bench.write(POLICY, policy(""));
    let before = bench.read("specs/journal.jsonl");
    bench.run(&["resume", "specs", "--policy", POLICY]).expect(2).says(&[
        "has an answer without the labels that the policy needs",
        "start a new run with this one, or audit the run with it",
    ]);
    assert_eq!(bench.read("specs/journal.jsonl"), before);
}

#[test]
fn labels_count_against_the_budget_and_can_have_their_own_model() {
    let bench = bench();
    bench.write(POLICY, policy(""));
    bench.write("tlaforge.toml", "[nodes.label]\nmodel = \"small-1\"\n");
    bench.write("script.jsonl", good().text());
    let mut plays = RecordedModel::load(&bench.path("script.jsonl")).script();
    let labels = |seen: &Seen| seen.system().contains("You label the steps");
    let server = ModelServer::start(move |seen| {
        let tokens = Tokens { input: 40_000, output: 10, cache_read: 0, cache_write: 0 };
        if labels(seen) { Reply::text(unsure(false)).tokens(tokens) } else { plays(seen) }
    });
    let url = server.url();
    let args = ["run", "docs", "--policy", POLICY, "--provider", "openai", "--base-url", &url, "--model", "large-1"];
    bench.run(&[&args[..], &["--max-tokens", "100000"]].concat()).expect(3).says(&["the limit is 100000"]);
    let asked = || server.posts().iter().filter(|seen| labels(seen)).count();
    assert_eq!(asked(), 3, "the third is begun within the limit, and nothing after it");
    bench.run(&["resume", "specs", "--max-tokens", "1000000"]).expect(0).prints(&["untrusted: sure"]);
    assert_eq!(asked(), 4, "nothing is asked twice");
    for seen in server.posts() {
        assert_eq!(seen.body["model"], if labels(&seen) { "small-1" } else { "large-1" });
        assert!(
            !labels(&seen) || seen.body["response_format"].to_string().contains("unsure"),
            "it is held to a schema"
        );
    }
    let journal = bench.journal("specs");
    let labelled = of(&journal, "labelled");
    assert_eq!((&labelled[0]["data"]["tokens"], &labelled[0]["data"]["calls"]), (&json!(40_010), &json!(1)));
    let folder = bench.path("specs/workspace/label");
    assert!(!folder.exists() || std::fs::read_dir(folder).unwrap().next().is_none(), "there is nothing to read");
    bench.write("tlaforge.toml", "[nodes.labels]\nmodel = \"small-1\"\n");
    bench
        .run(&[&args[..], &["--out", "other"]].concat())
        .expect(2)
        .says(&["no node with that name", "`label` for labels"]);
}

#[test]
fn each_candidate_is_labelled_separately() {
    let bench = bench();
    let broken = MODULE.replace("end while;", "");
    let script = Script::default()
        .answer("informal_spec", 0, 1, "draft", INFORMAL)
        .answer("informal_spec", 0, 1, "label draft", &unsure(false))
        .sample("formalize", 0, 1, ("draft", 1), &fenced(&broken))
        .sample("formalize", 0, 1, ("label draft", 1), &unsure(true))
        .sample("formalize", 0, 1, ("draft", 2), &fenced(MODULE))
        .sample("formalize", 0, 1, ("label draft", 2), &unsure(false))
        .answer("generate_invariants", 0, 1, "draft", &good_sections())
        .answer("generate_invariants", 0, 1, "label draft", &unsure(false))
        .answer("review", 0, 1, "label draft", &unsure(false))
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all();
    bench.write(POLICY, policy("severity = \"warning\"\n"));
    bench.forge(&script, &["--candidates", "2", "--policy", POLICY]).expect(0).prints(&["Outcome: approved"]);
    let journal = bench.journal("specs");
    let labels = |event: &str, lifeline: &str, under: &str| {
        let found = of(&journal, event).into_iter().find(|e| e["lifeline"] == lifeline).unwrap();
        found["data"][under]["labels"].clone()
    };
    let offered = |lifeline: &str| labels("answer_offered", lifeline, "pending_answer");
    assert_eq!((offered("formalize_1"), offered("formalize_2")), (json!(["unsure"]), json!([])));
    assert_eq!(labels("answer_accepted", "formalize", "answer"), json!([]), "the rules see the one that was chosen");
    bench.run(&["audit", "specs", "--policy", POLICY]).expect(0).prints(&["Every rule holds."]);
    assert!(!bench.path("specs/candidates").exists());
}

#[test]
fn labels_for_another_wording_are_not_reused() {
    let bench = bench();
    let script = Script::default().answer("informal_spec", 0, 1, "draft", INFORMAL).answer(
        "informal_spec",
        0,
        1,
        "label draft",
        &unsure(false),
    );
    bench.write("script.jsonl", script.text());
    bench.write(POLICY, policy(""));
    bench.write("other.toml", policy("").replace("asks = \"", "asks = \"it is not so that "));
    assert_ne!(bench.read(POLICY), bench.read("other.toml"));
    let args = ["run", "docs", "--recording", "script.jsonl", "--out", "specs", "--policy", POLICY];
    let whole = crate::support::counter::bench();
    whole.write("script.jsonl", script.text());
    whole.write(POLICY, policy(""));
    whole.run(&args);
    let answered = whole
        .events("specs")
        .into_iter()
        .find(|e| name(e) == "answer_received" && e["data"]["purpose"] == "label draft");
    let point = format!("after:{}", answered.unwrap()["seq"]);
    assert_eq!(bench.run_with(&args, &[("TLAFORGE_CRASH", &point)]).status, None);
    bench.run(&["resume", "specs", "--policy", "other.toml"]);
    let journal = bench.events("specs");
    let labelled = of(&journal, "labelled");
    let asked: Vec<&Value> =
        of(&journal, "request_sent").into_iter().filter(|e| e["data"]["purpose"] == "label draft").collect();
    assert_eq!((asked.len(), labelled.len()), (2, 1), "the first labels are of other words");
    assert!(asked[1]["seq"].as_u64() < labelled[0]["seq"].as_u64());
}

#[test]
fn a_journal_without_its_artifacts_has_no_verdict() {
    let bench = bench();
    bench.forge(&crate::support::counter::good(), &[]).expect(0);
    bench.write("alone/journal.jsonl", bench.read("specs/journal.jsonl"));
    bench.write(POLICY, policy(""));
    let server = ModelServer::start(|_| Reply::text("never"));
    let url = server.url();
    let args = ["audit", "alone", "--policy", POLICY, "--provider", "openai", "--model", "m", "--base-url", &url];
    bench.run(&args).expect(2).says(&["texts", "artifacts/"]);
    assert_eq!(server.requests().len(), 0);
}

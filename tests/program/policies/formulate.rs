//! Rules in plain words: a model makes a formula of each, a person confirms it, and no run takes one that nobody has.

use crate::support::handoff::answer_at;
use crate::support::{Bench, Script, with_checksums};
use serde_json::{Value, json};

const POLICY: &str = "# what we want\n[[rule]]\nid = \"answered\"\nwords = \"every request is answered\" # always\nseverity = \"warning\"\n\n[[rule]]\nid = \"checked\"\nowner = \"review\"\nwhen = 'name = \"routed\"'\nwords = \"\"\"a review decides\nonly after a check\"\"\"\n";
const ANSWERED: &str = r#"G (name = "request_sent" -> F name = "answer_received")"#;
const CHECKED: &str = r#"@model_check(O name = "check_finished")"#;

/// A journal with one event.
const EVENT: &str = "{\"v\":3,\"seq\":1,\"at\":\"2026-01-01T00:00:00Z\",\"lifeline\":\"run\",\"kind\":\"act\",\"name\":\"run_started\",\"rev\":0,\"attempt\":0,\"vc\":{\"run\":1},\"data\":{},\"sum\":\"\"}\n";

fn said(formula: &str) -> String {
    format!("Here it is.\n```json\n{}\n```\n", json!({"formula": formula, "remarks": "the words leave nothing open"}))
}

fn written(script: &Script) -> Bench {
    let bench = Bench::without_tools();
    bench.write("p.toml", POLICY);
    bench.write("answers.jsonl", script.text());
    bench
}

fn both() -> Script {
    Script::default().answer("policy", 0, 1, "formulate", &said(ANSWERED)).answer(
        "policy",
        0,
        2,
        "formulate",
        &said(CHECKED),
    )
}

#[test]
fn a_formula_is_shown_with_its_meaning_and_used_only_if_confirmed() {
    let bench = written(&both());
    bench.write("docs/a.md", "# A\n");
    let formulate = ["policy", "formulate", "p.toml", "--recording", "answers.jsonl"];
    bench.run(&formulate).expect(1).prints(&[
        "words:    every request is answered",
        ANSWERED,
        "meaning:  whenever `name = \"request_sent\"` holds, `name = \"answer_received\"` must hold",
        "evaluated at: each event of review with name = \"routed\"",
    ]);
    let text = bench.read("p.toml");
    assert!(text.starts_with("# what we want\n[[rule]]\nid = \"answered\"\n"), "{text}");
    assert!(
        text.contains(&format!("formula = '{ANSWERED}'\nconfirmed = false # always\nseverity = \"warning\"")),
        "{text}"
    );
    for args in [
        &["run", "docs", "--recording", "answers.jsonl", "--policy", "p.toml"][..],
        &["audit", "-", "--policy", "p.toml"],
    ] {
        bench.run(args).expect(2).says(&["rule `answered`", "is not confirmed", "policy formulate"]);
    }
    // Nobody is asked again for what is there: the recording is not even read.
    bench.run(&["policy", "formulate", "p.toml", "--recording", "missing.jsonl", "--yes"]).expect(0);
    let confirmed = bench.read("p.toml");
    assert_eq!(confirmed, text.replace("confirmed = false", "confirmed = true"));
    bench.write("log.jsonl", String::from_utf8(with_checksums(EVENT.as_bytes())).unwrap());
    bench.run(&["audit", "log.jsonl", "--policy", "p.toml", "--shape", "journal"]).expect(0).prints(&[ANSWERED]);
    bench.run(&["policy", "formulate", "p.toml"]).expect(0).prints(&["2 rules in words, all confirmed"]);
}

#[test]
fn a_formula_that_a_run_refuses_goes_back_once_with_the_reason() {
    let mended = both()
        .answer("policy", 0, 1, "formulate", &said("G (name = \"request_sent\" -> F name = \"answer\")"))
        .answer("policy", 0, 1, "repair", &said(ANSWERED));
    let bench = written(&mended);
    let args = ["policy", "formulate", "p.toml", "--recording", "answers.jsonl", "--yes", "--record", "made.jsonl"];
    bench.run(&args).expect(0).says(&["refused: line 1: rule `answered`: a run has no event `answer`"]);
    let recorded: Vec<Value> = bench.read("made.jsonl").lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let keys: Vec<String> =
        recorded.iter().map(|r| format!("{}{}", r["purpose"].as_str().unwrap(), r["attempt"])).collect();
    assert_eq!(keys, ["formulate1", "repair1", "formulate2"]);
    bench.write("p.toml", POLICY);
    bench.run(&["policy", "formulate", "p.toml", "--recording", "made.jsonl", "--yes"]).expect(0);

    // Twice refused, unreadable, or said to be impossible: the words stay as they are.
    for (first, second) in [("G (", "G ("), ("F tool_call:Bash", "G !tool_call:Read"), ("", "")] {
        let script =
            both().answer("policy", 0, 1, "formulate", &said(first)).answer("policy", 0, 1, "repair", &said(second));
        let bench = written(&script);
        let milder = POLICY.replace("severity = \"warning\"\n", "");
        bench.write("p.toml", &milder);
        bench
            .run(&["policy", "formulate", "p.toml", "--recording", "answers.jsonl", "--yes"])
            .expect(1)
            .says(&["1 rule not confirmed"]);
        assert_eq!(bench.read("p.toml").matches("formula = ").count(), 1);
    }
    let garbage = both().answer("policy", 0, 1, "formulate", "I am sorry.").answer("policy", 0, 1, "repair", "No.");
    written(&garbage).run(&["policy", "formulate", "p.toml", "--recording", "answers.jsonl", "--yes"]).expect(1);
}

#[test]
fn a_person_can_answer_through_files_with_a_complete_prompt() {
    let bench = written(&Script::default());
    let mut child = bench
        .command(&["policy", "formulate", "p.toml", "--provider", "handoff", "--yes"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let folder = |seq: u32| bench.path(&format!("formulate/handoff/{seq:04}-policy"));
    let first = answer_at(&folder(1), &said(ANSWERED));
    for words in [
        "every request is answered",
        "`F f` (here or later)",
        "- `check_finished` (model_check, candidates): outcome.verdict",
        "informal_spec, formalize",
    ] {
        assert!(first.contains(words), "{words} is missing in {first}");
    }
    let second = answer_at(&folder(3), &said(CHECKED));
    for words in
        ["only after a check", "asked at the events of the node `review` where `name = \"routed\"` holds", "`O f`"]
    {
        assert!(second.contains(words), "{words} is missing in {second}");
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(bench.read("p.toml").matches("confirmed = true").count(), 2);
}

#[test]
fn a_rule_that_cannot_be_formulated_is_reported() {
    let bench = Bench::without_tools();
    bench.run(&["policy", "formulate", "missing.toml"]).expect(2).says(&["missing.toml", "hint: name a policy file"]);
    bench.write("p.toml", "[[rule]\n");
    bench.run(&["policy", "formulate", "p.toml"]).expect(2).says(&["p.toml:1:8\n"]);
    bench.write("p.toml", "[[rule]]\nid = \"a\"\nwords = \"w\"\nformula = 'F nam'\n");
    bench
        .run(&["policy", "formulate", "p.toml", "--yes"])
        .expect(2)
        .says(&["no event of a run has a field `nam`", "similar: name"]);
    bench.write("p.toml", "[[rule]]\nid = \"a\"\nwords = \"w\"\n");
    bench.run(&["policy", "formulate", "p.toml", "--provider", "nobody"]).expect(2).says(&["unknown provider"]);
}

#[test]
fn a_rule_in_words_can_use_labels() {
    let script = Script::default().answer("policy", 0, 1, "formulate", &said("G (model:unsure -> F model:sure)"));
    let bench = written(&script);
    let label = |name: &str| format!("[[label]]\nname = \"{name}\"\nasks = \"it says that it is {name}\"\n\n");
    let rule = "[[rule]]\nid = \"r\"\nwords = \"who is unsure gets sure\"\n";
    bench.write("p.toml", format!("{}{}{rule}", label("unsure"), label("sure")));
    let formulate =
        ["policy", "formulate", "p.toml", "--recording", "answers.jsonl", "--yes", "--record", "made.jsonl"];
    bench.run(&formulate).expect(0).prints(&["G (model:unsure -> F model:sure)"]);
    // There is no text in it that a model could judge.
    bench.write("log.jsonl", "{\"n\": 1}\n");
    bench
        .run(&["audit", "log.jsonl", "--policy", "p.toml"])
        .expect(0)
        .prints(&["untrusted (model:sure, model:unsure)"]);
    // One that is not there goes back with the reason, like any other mistake.
    bench.write("p.toml", format!("{}{rule}", label("sure")));
    bench.run(&formulate).says(&["`model:unsure`: there is no [[label]] of this name"]);
}

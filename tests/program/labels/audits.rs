//! Audits by rules over labels of a model: one request per step, cached answers, no guessed and no trusted labels.

use std::path::Path;

use crate::support::model_server::{ModelServer, Reply, Seen, Tokens};
use crate::support::{Bench, Done};
use serde_json::{Value, json};

const POLICY: &str = r#"[[label]]
name = "polite"
asks = "the answer greets the customer"

[[label]]
name = "refuses"
asks = "the answer refuses what was asked for"

[[rule]]
id = "greets-first"
formula = '!model:refuses W model:polite'

[[rule]]
id = "no-removal"
kind = "no_call"
params = { tool = "rm" }
"#;

const LOG: &str = r#"{"role":"assistant","content":"Hello, what can I do?","truth":["polite"]}
{"role":"assistant","content":"Hello, what can I do?","truth":["polite"]}
{"role":"assistant","content":"That I cannot do.","truth":{"refuses":true,"polite":true}}
{"role":"assistant","tool_calls":[{"function":{"name":"ls","arguments":"{\"path\":\"/etc\"}"}}],"truth":[]}
{"role":"assistant","content":""}
"#;

/// The step that a request is about.
fn step(seen: &Seen) -> String {
    let prompt = seen.prompt();
    let mark = prompt.lines().find(|line| line.starts_with("===== step ")).unwrap().to_owned();
    prompt.split(&format!("{mark}\n")).nth(1).unwrap().to_owned()
}

fn judged(step: &str) -> String {
    format!("```json\n{}\n```\n", json!({"polite": step.contains("Hello"), "refuses": step.contains("cannot")}))
}

fn labeler() -> ModelServer {
    ModelServer::start(|seen| Reply::text(judged(&step(seen))))
}

fn bench() -> Bench {
    let bench = Bench::without_tools();
    bench.write("p.toml", POLICY);
    bench.write("log.jsonl", LOG);
    bench
}

fn asked(bench: &Bench, server: &ModelServer, more: &[&str]) -> Done {
    let url = server.url();
    let args =
        ["audit", "log.jsonl", "--policy", "p.toml", "--provider", "openai", "--base-url", &url, "--model", "m-1"];
    bench.run(&[&args[..], more].concat())
}

fn object(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn rules_over_labels_are_decided_and_marked_untrusted() {
    let (bench, server) = (bench(), labeler());
    asked(&bench, &server, &["--junit", "j.xml", "--lenient"]).expect(0).prints(&[
        "greets-first: satisfied\n    !model:refuses W model:polite\n    depends on labels by ",
        "untrusted (model:polite, model:refuses)",
        "4 states labelled, 1 with nothing to label",
        "3 different steps requested (3 requests, 330 tokens, price unknown), 0 from the cache",
    ]);
    let xml = bench.read("j.xml");
    assert_eq!(xml.matches("name=\"untrusted\"").count(), 1, "{xml}");
    assert!(xml.contains("tests=\"2\" failures=\"0\""), "{xml}");
    // One request per step for all propositions, with their names and questions, the arguments of tools, and a schema.
    let posts = server.posts();
    assert_eq!(posts.len(), 3);
    for words in ["- `polite`: the answer greets the customer", "- `refuses`: the answer refuses"] {
        assert!(posts.iter().all(|seen| seen.prompt().contains(words)), "{words}");
    }
    assert_eq!(step(&posts[2]), "Tools called: [\"ls {\\\"path\\\":\\\"/etc\\\"}\"]\nText:\n\n");
    assert!(posts[0].raw.windows(20).any(|w| w == b"additionalProperties"), "it is held to a schema");

    let told = object(&asked(&bench, &server, &["--format", "json"]).expect(0));
    assert_eq!(told["rules"][0]["untrusted"], json!(["polite", "refuses"]));
    assert_eq!(told["rules"][1]["untrusted"], json!([]));
    assert_eq!((&told["labels"]["trusted"], &told["labels"]["steps_cached"]), (&json!(false), &json!(3)));
    assert_eq!((&told["labels"]["requests"], &told["labels"]["tokens"]), (&json!(0), &json!(0)));
    // `rm` is never called, which is no verdict for a job of CI unless it says that this is expected.
    let strict = asked(&bench, &server, &["--junit", "strict.xml"]).expect(3);
    strict.says(&["no verdict: rule no-removal: the tool `rm` never occurs", "--lenient"]);
    assert_eq!(server.posts().len(), 3, "nobody is asked twice");

    // A violation, without and with --reset.
    bench.write("log.jsonl", LOG.replace("Hello", "Well"));
    asked(&bench, &server, &[]).expect(1).prints(&[
        "greets-first: VIOLATED",
        "at 2 `model:refuses` holds",
        "1 of 2 rules violated.",
    ]);
    asked(&bench, &server, &["--reset", "--junit", "j.xml"]).expect(1).prints(&["it was violated once"]);
    let xml = bench.read("j.xml");
    assert!(xml.contains("failures=\"1\"") && xml.contains("<failure message=\"violated: "), "{xml}");
    assert_eq!(server.posts().len(), 4);
}

#[test]
fn labels_depend_on_wording_model_and_text() {
    let (bench, server) = (bench(), labeler());
    asked(&bench, &server, &[]).expect(0);
    bench.write("p.toml", POLICY.replace("greets the customer", "thanks the customer"));
    asked(&bench, &server, &[]).expect(0);
    assert_eq!(server.posts().len(), 6, "the words have changed");
    bench.write("p.toml", POLICY);
    let url = server.url();
    let args = ["audit", "log.jsonl", "--policy", "p.toml", "--provider", "openai", "--base-url", &url, "--model"];
    bench.run(&[&args[..], &["m-2"]].concat()).expect(0);
    assert_eq!(server.posts().len(), 9, "the model has changed");
    bench.write("log.jsonl", format!("{LOG}{{\"role\":\"assistant\",\"content\":\"Hello again\"}}\n"));
    asked(&bench, &server, &[]).expect(0);
    assert_eq!(server.posts().len(), 10, "one step is new");
    // The order of propositions, the rules and the cache folder do not matter.
    let (first, rest) = POLICY.split_at(POLICY.find("[[label]]\nname = \"refuses\"").unwrap());
    let (second, rest) = rest.split_at(rest.find("[[rule]]").unwrap());
    bench.write("p.toml", format!("{second}{first}{rest}"));
    asked(&bench, &server, &["--formula", "F model:refuses"]).expect(0);
    std::fs::rename(bench.path("log.jsonl.labels"), bench.path("kept")).unwrap();
    asked(&bench, &server, &["--label-cache", "kept"]).expect(0);
    assert_eq!(server.posts().len(), 10);
    bench.write("one.jsonl", "");
    assert!(!bench.path("log.jsonl.labels").exists());
}

#[test]
fn an_invalid_answer_is_asked_once_more_and_then_is_an_error() {
    let (bench, server) = (
        bench(),
        ModelServer::start(|seen| match (step(seen).contains("cannot"), seen.prompt().contains("could not be used")) {
            (true, false) => Reply::text("{\"polite\": true}"),
            (_, _) => Reply::text(judged(&step(seen))),
        }),
    );
    asked(&bench, &server, &[]).expect(0).prints(&["3 different steps requested (4 requests"]);
    assert!(server.posts()[2].prompt().contains("it does not label `refuses`"), "it is told why");

    for garbage in [
        "I am sorry.",
        "{\"polite\": true, \"refuses\": \"no\"}",
        "{\"polite\": true, \"refuses\": false, \"x\": true}",
    ] {
        let bench = self::bench();
        let never = ModelServer::start(move |seen| {
            Reply::text(if step(seen).contains("cannot") { garbage.to_owned() } else { judged(&step(seen)) })
        });
        let done = asked(&bench, &never, &[]).expect(5);
        let done = done.says(&["state 2 has no labels: two answers were unusable", "to request new answers, remove "]);
        assert_eq!(done.stdout, "", "no verdict is made up");
        assert_eq!(never.posts().len(), 3);
        // The answers are paid for, so they are used until the user removes them.
        asked(&bench, &never, &[]).expect(5);
        assert_eq!(never.posts().len(), 3);
        let remove =
            done.stderr.lines().find_map(|line| line.strip_prefix("hint: to request new answers, remove ")).unwrap();
        remove.split(" and ").for_each(|path| std::fs::remove_file(path).unwrap());
        asked(&bench, &labeler(), &[]).expect(0).prints(&["2 different steps requested", "1 from the cache"]);
    }
}

#[test]
fn a_budget_stops_labelling_and_keeps_earlier_labels() {
    let bench = bench();
    let tokens = Tokens { input: 3_000, output: 10, cache_read: 0, cache_write: 0 };
    let server = ModelServer::start(move |seen| Reply::text(judged(&step(seen))).tokens(tokens));
    let done = asked(&bench, &server, &["--max-tokens", "9000"]).expect(3);
    done.says(&[
        "the limit is 9000",
        "2 of 3 steps are labelled and cached in",
        "run the same command again to continue",
    ]);
    assert_eq!(server.posts().len(), 2);
    asked(&bench, &server, &["--max-tokens", "9000"])
        .expect(0)
        .prints(&["1 different step requested", "2 from the cache"]);
    assert_eq!(server.posts().len(), 3);

    let prices = "[m-1]\ninput = 1000.0\noutput = 1.0\n";
    bench.write("prices.toml", prices);
    asked(&bench, &server, &["--max-cost", "1", "--label-cache", "new"])
        .expect(2)
        .says(&["--max-cost cannot be enforced"]);
    for wrong in ["0", "-1"] {
        asked(&bench, &server, &["--max-cost", wrong, "--label-cache", "new"]).expect(2).says(&["--max-cost is"]);
    }
    assert_eq!(server.posts().len(), 3);
}

#[test]
fn an_unknown_model_is_a_usage_error() {
    let server = ModelServer::start(|_| Reply::error(404, "not_found_error", "model: m-1 not found"));
    asked(&bench(), &server, &[]).expect(2).says(&["m-1"]);
}

#[test]
fn answers_are_durable_and_not_asked_again_after_a_crash() {
    let bench = bench();
    // The server fails at the third step; the first two are cached.
    let broken = ModelServer::start(|seen| match seen.number {
        0 | 1 => Reply::text(judged(&step(seen))),
        _ => Reply::error(401, "authentication_error", "no"),
    });
    asked(&bench, &broken, &[]).expect(5).says(&["2 of 3 steps are labelled"]);
    let server = labeler();
    asked(&bench, &server, &[]).expect(0).prints(&["1 different step requested", "2 from the cache"]);
    // A file that was damaged is named, and decides nothing.
    let kept = std::fs::read_dir(bench.path("log.jsonl.labels")).unwrap().map(|e| e.unwrap().path());
    let kept = kept.into_iter().find(|path| path.extension().is_some_and(|e| e == "json")).unwrap();
    std::fs::write(&kept, "{\"v\":1").unwrap();
    asked(&bench, &server, &[]).expect(2).says(&[kept.file_name().unwrap().to_str().unwrap(), "remove the file"]);
    assert_eq!(server.posts().len(), 1);
}

#[test]
fn compares_labels_with_a_reference_field_or_file() {
    let (bench, server) = (bench(), labeler());
    asked(&bench, &server, &["--reference", "truth"]).expect(0).prints(&[
        "Against the reference (4 states):",
        "polite          3 of 4                0                1     0.750  0.800",
        "refuses         4 of 4                0                0     1.000  1.000",
        "all             7 of 8                0                1     0.875  0.857",
    ]);
    bench.write("ref.jsonl", "null\n[]\n{\"refuses\": false}\nnull\n\nnull\n");
    let told = object(&asked(&bench, &server, &["--reference", "ref.jsonl", "--format", "json"]).expect(0));
    let accuracy = &told["labels"]["accuracy"];
    assert_eq!(accuracy["states"], 2);
    assert_eq!(accuracy["propositions"]["polite"]["false_positives"], 1);
    assert_eq!(accuracy["propositions"]["polite"]["f1"], 0.0);
    assert_eq!(accuracy["overall"]["total"], 3, "an object speaks of the names that it has");
    // A proposition that is never true has an accuracy and no F1.
    bench.write("log.jsonl", "{\"content\":\"well\",\"truth\":{\"polite\":false,\"refuses\":false}}\n");
    let silent = ["--allow-no-calls", "--reference", "truth"];
    let told = object(&asked(&bench, &server, &[&silent[..], &["--format", "json"]].concat()).expect(0));
    let accuracy = &told["labels"]["accuracy"]["overall"];
    assert_eq!((&accuracy["accuracy"], &accuracy["f1"]), (&json!(1.0), &Value::Null));
    asked(&bench, &server, &silent).expect(0).prints(&["     1.000      -"]);

    let posts = server.posts().len();
    bench.write("log.jsonl", LOG.replace("Hello", "Hi"));
    for (reference, words) in [
        ("nothing", "no record has this field, and there is no file with this name"),
        ("content", "labels must be an object of truth values or a list of names"),
        ("short.jsonl", "has 1 line, and the log 5 states"),
        ("null.jsonl", "line 1: `polite`: a label must be true or false, found null"),
        ("text.jsonl", "line 1: not JSON"),
    ] {
        bench.write("short.jsonl", "[]\n");
        bench.write("null.jsonl", "{\"polite\":null}\n".repeat(5));
        bench.write("text.jsonl", "polite\n".repeat(5));
        asked(&bench, &server, &["--reference", reference]).expect(2).says(&[words, "hint: "]);
    }
    assert_eq!(server.posts().len(), posts, "all that is told before anybody is asked");
    bench.write("ref.jsonl", "[\"kind\"]\n".repeat(5));
    asked(&bench, &server, &["--reference", "ref.jsonl"]).expect(1).says(&["no reference label names `polite`"]);
}

#[test]
fn labels_lists_stdin_causal_rules_and_filtered_states() {
    let (bench, server) = (bench(), labeler());
    bench.write(
        "log.jsonl",
        json!({"messages": LOG.lines().map(|l| serde_json::from_str(l).unwrap()).collect::<Vec<Value>>()}).to_string(),
    );
    asked(&bench, &server, &["--reference", "truth"]).expect(0).prints(&["greets-first: satisfied", "7 of 8"]);
    let spread = json!([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "I cannot"}]);
    bench.write("log.jsonl", serde_json::to_string_pretty(&spread).unwrap());
    let only = format!("{POLICY}\n[log]\nonly = \"role\"\nvalues = [\"assistant\"]\n");
    bench.write("p.toml", &only);
    let posts = server.posts().len();
    asked(&bench, &server, &[]).expect(1).prints(&["decided at state 0 (message 2)"]);
    assert_eq!(server.posts().len(), posts + 1, "what is no state is not asked");

    bench.write("p.toml", "[[label]]\nname = \"polite\"\nasks = \"it greets\"\n\n[[rule]]\nid = \"r\"\nowner = \"b\"\nwhen = 'text_contains:done'\nformula = '@a(O model:polite)'\n[log]\nlifeline = \"who\"\nevent = \"what\"\nmessage = \"m\"\n");
    let server = ModelServer::start(|seen| Reply::text(json!({"polite": step(seen).contains("Hello")}).to_string()));
    let events = |greeting: &str| {
        let all = [
            json!({"who": "a", "what": "act", "text": greeting}),
            json!({"who": "a", "what": "send", "m": 1, "text": "here"}),
            json!({"who": "b", "what": "recv", "m": 1}),
            json!({"who": "b", "what": "act", "text": "done"}),
        ];
        all.map(|e| format!("{e}\n")).concat()
    };
    bench.write("log.jsonl", events("Hello"));
    asked(&bench, &server, &[]).expect(0).prints(&["r: satisfied so far", "untrusted (model:polite)"]);
    bench.write("log.jsonl", events("Hi"));
    asked(&bench, &server, &[]).expect(1).prints(&["r: VIOLATED"]);
}

#[test]
fn labels_can_be_recorded_replayed_and_given_by_handoff() {
    let (bench, server) = (bench(), labeler());
    asked(&bench, &server, &["--record", "made.jsonl"]).expect(0);
    std::fs::remove_dir_all(bench.path("log.jsonl.labels")).unwrap();
    let replay = ["audit", "log.jsonl", "--policy", "p.toml", "--recording", "made.jsonl"];
    bench.run(&replay).expect(0).prints(&["greets-first: satisfied", "3 different steps requested"]);
    assert!(!bench.path("log.jsonl.labels").join("0").exists());
    // Another step, another wording, and a step that is not recorded.
    bench.write("log.jsonl", LOG.replace("That I cannot", "Neither can I"));
    let another = "label of label, pass 0, attempt 3 is for another step or other propositions";
    bench.run(&replay).expect(5).says(&[another, "record again"]);
    bench.write("log.jsonl", LOG);
    bench.write("p.toml", POLICY.replace("greets", "thanks"));
    bench.run(&replay).expect(5).says(&["attempt 1 is for another step or other propositions"]);
    bench.write("p.toml", POLICY);
    bench.write("log.jsonl", format!("{LOG}{{\"content\":\"more\"}}\n"));
    let missed = bench.run(&replay).expect(5);
    assert!(missed.stderr.contains("has no answer to this request: label of label") && missed.stdout.is_empty());

    bench.write("log.jsonl", "{\"content\":\"Hello\"}\n");
    let by_hand = |folder: &str, text: &str| {
        let mut child = bench
            .command(&[
                "audit",
                "log.jsonl",
                "--policy",
                "p.toml",
                "--provider",
                "handoff",
                "--out",
                "by-hand",
                "--allow-no-calls",
            ])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let asked = crate::support::handoff::answer_at(&bench.path(&format!("by-hand/handoff/{folder}")), text);
        assert!(child.wait().unwrap().success());
        asked
    };
    let first = by_hand("0001-label", &judged("Hello"));
    assert!(first.contains("the answer greets the customer") && first.contains("\nHello\n"), "{first}");
    // The file has the answer to another step.
    bench.write("log.jsonl", "{\"content\":\"Hello again\"}\n");
    let second = by_hand("0002-label", &judged("Hello"));
    assert!(second.contains("\nHello again\n"), "{second}");
}

#[test]
fn reports_invalid_settings_before_the_first_request() {
    let (bench, server) = (bench(), labeler());
    let plain = ["audit", "log.jsonl", "--policy", "p.toml"];
    bench.run(&plain).expect(2).says(&["model:polite, model:refuses", "no provider is chosen", "--provider handoff"]);
    bench.run(&[&plain[..], &["--follow", "--provider", "handoff"]].concat()).expect(2).says(&["remove --follow"]);
    bench.run(&["audit", "-", "--policy", "p.toml", "--provider", "handoff", "--shape", "jsonl"]).expect(3);
    bench.write("elsewhere.jsonl", "{\"said\":\"Hello\"}\n");
    bench
        .run(&["audit", "elsewhere.jsonl", "--policy", "p.toml", "--allow-no-calls"])
        .expect(0)
        .says(&["no state has a text or a tool call, so every proposition is false", "--map"]);
    for (was, is, line, words) in [
        (
            "!model:refuses W",
            "!model:refuse W",
            11,
            "rule `greets-first`: `model:refuse`: there is no [[label]] of this name (similar: refuses)",
        ),
        (" W model:polite", "", 1, "[[label]]: no rule uses `model:polite`"),
        ("name = \"polite\"", "name = \"is polite\"", 1, "[[label]]: `is polite` is not a name"),
        (
            "name = \"refuses\"",
            "name = \"polite\"",
            5,
            "[[label]]: there is a second `polite` (the first begins in line 1)",
        ),
        ("name = \"refuses\"", "", 5, "[[label]]: it has no `name`"),
        ("asks = \"the answer greets the customer\"", "asks = \" \"", 1, "[[label]]: `asks` is empty"),
        ("asks = \"the answer greets the customer\"", "asks = true", 3, "[[label]]: `asks` must be a text"),
        ("asks = \"the answer greets the customer\"", "question = \"x\"", 3, "[[label]]: unknown key `question`"),
        ("[[label]]\nname = \"polite\"", "[label]\nname = \"polite\"", 5, "duplicate key"),
    ] {
        bench.write("p.toml", POLICY.replace(was, is));
        asked(&bench, &server, &[]).expect(2).says(&[words, &format!(" --> p.toml:{line}:")]);
    }
    bench.write("p.toml", POLICY);
    asked(&bench, &server, &["--formula", "G model:kind"]).expect(2).says(&["`model:kind` is not defined"]);
    bench.run(&["audit", "log.jsonl", "--formula", "G model:kind"]).expect(2).says(&["`model:kind`"]);
    bench
        .run(&["audit", "log.jsonl", "--formula", "G !tool_call:rm", "--reference", "truth"])
        .expect(2)
        .says(&["--reference has no effect: no rule uses labels by a model"]);
    let secret = "sk-ant-api03-0123456789abcdefghij";
    bench.write("log.jsonl", format!("{{\"content\":\"my key is {secret}\"}}\n"));
    let mut command =
        bench.command(&[&plain[..], &["--provider", "openai", "--base-url", &server.url(), "--model", "m"]].concat());
    let done = Done::of(&command.env("OPENAI_API_KEY", secret).output().unwrap());
    done.expect(2).says(&["state 0", "OPENAI_API_KEY"]);
    assert!(server.posts().is_empty());
    assert!(!Path::new(&bench.path("log.jsonl.labels")).exists());
}

#[test]
fn the_text_of_an_agent_is_never_taken_for_a_call() {
    let (bench, server) = (bench(), labeler());
    bench.write(
        "log.jsonl",
        "{\"tool_call\":\"verify\",\"content\":\"Hello\"}\n{\"content\":\"Tools called: [\\\"verify\\\"]\\nText:\\nHello\"}\n",
    );
    asked(&bench, &server, &[]);
    let steps: Vec<String> = server.posts().iter().map(step).collect();
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert!(steps[0].starts_with("Tools called: [\"verify\"]\n") && steps[1].starts_with("Tools called: []\n"));
}

#[test]
fn a_recording_is_continued() {
    let (bench, server) = (bench(), labeler());
    asked(&bench, &server, &["--record", "made.jsonl"]);
    let before = bench.read("made.jsonl").lines().count();
    bench.write("log.jsonl", format!("{LOG}{{\"content\":\"something new\"}}\n"));
    asked(&bench, &server, &["--record", "made.jsonl"]);
    assert_eq!(bench.read("made.jsonl").lines().count(), before + 1);
}

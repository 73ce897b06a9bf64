//! The tools that run one command, and the folders that they may use.

use super::client::{Client, text};
use crate::support::Bench;
use crate::support::counter::{self, CFG, INVARIANTS, MODULE};
use serde_json::{Value, json};

/// The counter with its properties, in `model/`.
pub(super) fn put_model(bench: &Bench, change: (&str, &str)) {
    let module =
        MODULE.replace(change.0, change.1).replace("====", &format!("{INVARIANTS}WitnessFull == n # Max\n===="));
    // The properties need `pc`, so they come after the translation.
    let (before, after) = module.split_once("end algorithm; *)\n").unwrap();
    let marks = "\\* BEGIN TRANSLATION\n\\* END TRANSLATION\n";
    bench.write("model/Spec.tla", format!("{before}end algorithm; *)\n{marks}{after}"));
    bench.write("model/Spec.cfg", CFG.replace("\\* WITNESS WitnessFull\n", ""));
}

#[test]
fn every_tool_describes_itself_and_its_arguments() {
    let bench = counter::bench();
    let mut client = Client::start(&bench);
    let list = client.request("tools/list", &json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    let expected = [
        "answer_question",
        "audit",
        "check",
        "conform",
        "drift",
        "explain_trace",
        "explore",
        "forge_cancel",
        "forge_result",
        "forge_resume",
        "forge_start",
        "forge_status",
        "formula",
        "job_cancel",
        "job_status",
        "mutate",
        "next_request",
        "read_request_file",
        "submit_answer",
        "test",
        "translate",
    ];
    assert_eq!(names, expected);
    // A client sends all of it to its model, again and again.
    assert!(list["result"].to_string().len() < 18_000, "{} bytes", list["result"].to_string().len());
    for tool in tools {
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        let schema = &tool["inputSchema"];
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{tool}");
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name} of {tool}");
            assert!(!property.to_string().contains("null"), "{name}: {property}");
        }
        // No tool takes a program, a jar or an editor.
        for word in ["claude_path", "tla_tools", "java", "editor", "allow_module"] {
            assert!(schema["properties"][word].is_null(), "{tool}");
        }
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn each_command_answers_with_data_a_short_text_and_its_bounds() {
    let bench = counter::bench();
    put_model(&bench, ("", ""));
    let mut client = Client::start(&bench);
    let model = json!({ "spec": "model/Spec.tla" });
    let answer = client.call_raw("check", &model);
    let (said, data) = (text(&answer), &answer["result"]["structuredContent"]);
    assert!(
        said.starts_with("holds; within Max = 2; no constraint; no symmetry; deadlock checked; checked by embedded"),
        "{answer}"
    );
    assert_eq!((&data["verdict"], &data["bounds"]["constants"]["Max"]), (&json!("holds"), &json!("2")), "{data}");
    let cli = bench.run(&["check", "model/Spec.tla", "--format", "json"]).expect(0).stdout;
    let cli: Value = serde_json::from_str(&cli).unwrap();
    assert_eq!(data["statistics"]["distinct"], cli["statistics"]["distinct"], "the same as the command line");

    let translated = client.call("translate", &model);
    assert!(translated["text"].as_str().unwrap().contains("Init =="), "{translated}");
    let before = bench.read("model/Spec.tla");
    assert!(!before.contains("Init =="));
    client.call("translate", &json!({ "spec": "model/Spec.tla", "write": true }));
    assert!(bench.read("model/Spec.tla").contains("Init =="));

    let mutants = client.call("mutate", &json!({ "spec": "model/Spec.tla", "sample": 2 }));
    assert_eq!(mutants["verdict_unchanged"], "holds", "{mutants}");
    assert_eq!(mutants["bounds"]["constants"]["Max"], "2", "{mutants}");
    let said = mutants["message"].as_str().unwrap();
    assert!(said.contains("(2 of ") && said.contains("mutants were judged)"), "{said}");
    assert!(bench.path("model/mutants.out").is_dir(), "the results are beside the module");

    let formula = client.call("formula", &json!({ "formula": "G (a -> F b)", "trace": "a; b" }));
    assert_eq!(formula["trace"]["holds"], true, "{formula}");
    assert_eq!(formula["message"], "G (a -> F b) holds on the trace (positions count from 0)");

    bench.write("log.jsonl", "{\"a\": 1}\n{\"a\": 2}\n");
    let audit = client.call("audit", &json!({ "log": "log.jsonl", "formulas": ["G (a = 1)"] }));
    assert_eq!(audit["rules"][0]["violations"], 1, "{audit}");
    let said = audit["message"].as_str().unwrap();
    assert!(said.starts_with("1 of 1 rules violated\nformula (G a = 1), line 2: "), "{said}");
    assert!(client.refused("audit", &json!({ "log": "log.jsonl" })).contains("give policy, formulas, or both"));

    bench.write(
        "conform.toml",
        "[fields]\nn = \"$.n\"\n[[event]]\nname = \"any\"\nsteps = [\"Next\"]\nafter = { n = \"n\" }\n",
    );
    bench.write("real.log", "{\"n\": 1}\n{\"n\": 7}\n");
    let compared = json!({ "spec": "model/Spec.tla", "logs": ["real.log"], "map": "conform.toml" });
    let compared = client.call("conform", &compared);
    assert_eq!((&compared["verdict"], &compared["exit_status"]), (&json!("deviates"), &json!(1)), "{compared}");
    assert!(compared["message"].as_str().unwrap().contains("real.log:2 (any)"), "{compared}");
    let explored =
        client.call("explore", &json!({ "spec": "model/Spec.tla", "commands": ["1", "eval n + 1", "frob"] }));
    let lines = explored["text"].as_str().unwrap();
    assert!(lines.contains("\"value\":\"2\"") && lines.contains("`frob` is no command"), "{explored}");
    assert!(
        client.refused("explore", &json!({ "spec": "model/Spec.tla", "commands": ["save x.json"] })).contains("`save`")
    );

    put_model(&bench, ("n < Max", "n <= Max"));
    let violated = client.call("check", &model);
    assert_eq!((&violated["verdict"], &violated["violated"]["name"]), (&json!("violated"), &json!("NeverAbove")));
    assert_eq!(violated["trace"].as_array().unwrap().len(), 4, "{violated}");
    let unjudged = client.call("mutate", &model);
    let said = unjudged["message"].as_str().unwrap();
    assert!(said.starts_with("no mutant was judged: ") && said.contains("NeverAbove; within Max = 2"), "{said}");
    let explained = client.call("explain_trace", &model);
    let story = explained["text"].as_str().unwrap();
    assert!(story.contains("NeverAbove") && story.contains("Bounds: Max = 2"), "{explained}");
    bench.write("model/Bare.tla", "---- MODULE Bare ----\nVARIABLE x\nInit == x = 0\nNext == x' = y\n====\n");
    bench.write("model/Bare.cfg", "INIT Init\nNEXT Next\n");
    let bare = json!({ "spec": "model/Bare.tla" });
    let invalid = client.call("check", &bare)["message"].as_str().unwrap().to_owned();
    assert!(
        invalid.starts_with("invalid: ") && invalid.ends_with("(line 4, column 14); there is no verdict"),
        "{invalid}"
    );
    assert!(client.call("mutate", &bare)["message"].as_str().unwrap().starts_with("no mutant was judged: "));
    bench.write("model/Bare.tla", "---- MODULE Bare ----\nVARIABLE x\nInit == x = 0\nNext == x' = x\n====\n");
    let held = client.call("check", &bare)["message"].as_str().unwrap().to_owned();
    assert!(held.starts_with("holds, but no invariant and no property was checked; within "), "{held}");
    let wrong = client.refused("check", &json!({ "spec": "docs/counter.md" }));
    assert!(wrong.contains("docs/counter.md"), "{wrong}");
}

#[test]
fn a_large_result_is_shortened_and_whole_behind_its_link() {
    let bench = counter::bench();
    put_model(&bench, ("", ""));
    let long = format!("(* {} *)\n====", "words ".repeat(3000));
    let module = bench.read("model/Spec.tla").replace("====", &long);
    bench.write("model/Spec.tla", module);
    let mut client = Client::start(&bench);
    let answer = client.call_raw("translate", &json!({ "spec": "model/Spec.tla" }));
    assert!(answer.to_string().len() < 24_000, "{} bytes", answer.to_string().len());
    assert!(answer["result"]["structuredContent"].is_null(), "it would hide the text from the model");
    let link = answer["result"]["content"][1]["uri"].as_str().unwrap();
    assert!(
        text(&answer).ends_with(&format!("shortened; the whole is the resource {link}")),
        "a client may drop the link"
    );
    let whole: Value = serde_json::from_str(&client.read(link)).unwrap();
    assert!(whole["module"].as_str().unwrap().contains(&"words ".repeat(3000)));
}

#[test]
fn only_the_roots_of_the_client_and_the_allowed_folders_are_used() {
    let bench = counter::bench();
    put_model(&bench, ("", ""));
    let model = json!({ "spec": "Spec.tla" });
    // Not the working folder by itself.
    let mut client = Client::with(&bench, &[], &json!({}));
    let why = client.refused("check", &json!({ "spec": "model/Spec.tla" }));
    assert!(why.contains("no folder is allowed") && why.contains("--allow DIR"), "{why}");
    assert_eq!(client.request("resources/list", &json!({}))["result"]["resources"][0]["uri"], "tlaforge:guide");
    assert!(client.read("tlaforge:guide").contains("Bounded domains only"));

    let mut client = Client::with(&bench, &[], &json!({ "roots": { "listChanged": true } }));
    client.roots = vec![format!("file://{}", bench.path("model").display())];
    assert_eq!(client.call("check", &model)["verdict"], "holds");
    let why = client.refused("audit", &json!({ "log": "../docs/counter.md", "policy": "default" }));
    assert!(why.contains("outside of the allowed folders"), "{why}");
    // The server requests the roots again only after the client says that they have changed.
    let asked = |client: &Client| client.received.iter().filter(|m| m["method"] == "roots/list").count();
    assert_eq!(asked(&client), 1);
    client.roots = vec![format!("file://{}", bench.path("docs").display())];
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }));
    assert!(client.refused("check", &model).contains("does not exist"));
    assert_eq!(asked(&client), 2);
    bench.run(&["mcp", "--allow", "nowhere"]).expect(2).says(&["--allow nowhere", "no such folder"]);
}

#[test]
fn a_client_of_the_protocol_of_2026_is_asked_for_its_roots_in_the_result() {
    let bench = counter::bench();
    put_model(&bench, ("", ""));
    let mut client = Client::raw(&bench, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "roots": {} },
    });
    let mut params = json!({ "name": "check", "arguments": { "spec": "Spec.tla" }, "_meta": meta });
    let asked = client.request("tools/call", &params);
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    assert_eq!(asked["result"]["inputRequests"]["roots"]["method"], "roots/list", "{asked}");
    let root = format!("file://{}", bench.path("model").display());
    params["inputResponses"] = json!({ "roots": { "roots": [{ "uri": root }] } });
    let answer = client.request("tools/call", &params);
    assert_eq!(answer["result"]["structuredContent"]["verdict"], "holds", "{answer}");
}

#[test]
fn modules_of_a_library_are_read_and_no_jar_is() {
    let bench = counter::bench();
    bench.write("lib/Steps.tla", "---- MODULE Steps ----\nEXTENDS Naturals\nStep(x) == (x + 1) % 3\n====\n");
    bench.write("M.tla", "---- MODULE M ----\nEXTENDS Steps\nVARIABLE x\nInit == x = 0\nNext == x' = Step(x)\n====\n");
    bench.write("M.cfg", "INIT Init\nNEXT Next\n");
    bench.write("lib.jar", "a jar, whose code TLC would run");
    let mut client = Client::start(&bench);
    let check = |libraries: &[&str]| json!({ "spec": "M.tla", "checker": "embedded", "libraries": libraries });
    let found = client.call("check", &check(&["lib"]));
    assert_eq!(found["verdict"], "holds", "{found}");
    assert!(client.call("check", &check(&[])).to_string().contains("Steps is not found"));
    assert!(client.refused("check", &check(&["lib.jar"])).contains("lib.jar is no folder"));
}

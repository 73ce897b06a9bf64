//! The tools `test` and `drift`: a folder of models, and the documents of a run.

use super::client::Client;
use crate::support::checking::COUNTER;
use crate::support::{Bench, project};
use serde_json::{Value, json};

#[test]
fn a_folder_of_models_is_tested_and_every_verdict_has_its_bounds() {
    let bench = Bench::without_tools();
    for (name, text) in [
        ("M.tla", COUNTER),
        ("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n"),
        ("M.few.cfg", "SPECIFICATION Spec\nINVARIANTS TypeOK Few\n"),
        ("sub/M.tla", COUNTER),
        ("sub/M.cfg", "\\* EXPECT violated Few\nSPECIFICATION Spec\nINVARIANTS TypeOK Few\n"),
        ("sub/M.bad.cfg", "\\* EXPECT error\nSPECIFICATION Spec\nINVARIANT Missing\n"),
    ] {
        bench.write(&format!("models/{name}"), text);
    }
    let mut client = Client::start(&bench);
    let all = client.call("test", &json!({ "folder": "models", "checker": "embedded" }));
    let said = all["message"].as_str().unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "3 passed, 1 failed", "{said}");
    assert!(lines[1].starts_with("fail: M.few.cfg: expected holds; violated: Few; within no constants; "), "{said}");
    assert!(said.contains("\npass: M.cfg: expected holds; holds; within no constants; no constraint"), "{said}");
    assert!(said.contains("explain_trace"), "{said}");
    let tests = all["tests"].as_array().unwrap();
    assert_eq!((tests.len(), &all["exit_status"], &all["summary"]["failed"]), (4, &json!(1), &json!(1)), "{all}");
    assert_eq!((&tests[0]["name"], &tests[0]["violated"]), (&json!("M.few.cfg"), &json!("Few")), "{all}");
    let decided = tests.iter().filter(|test| ["holds", "violated"].map(Value::from).contains(&test["verdict"]));
    assert!(decided.clone().count() == 3 && decided.clone().all(|test| test["bounds"].is_object()), "{all}");

    let one = client.call("test", &json!({ "folder": "models", "names": ["sub/M.cfg"], "checker": "embedded" }));
    assert_eq!((&one["summary"]["passed"], &one["summary"]["skipped"]), (&json!(1), &json!(3)), "{one}");
    let none = client.refused("test", &json!({ "folder": "models", "names": ["other"] }));
    assert!(none.contains("no configuration has such a name"), "{none}");
    assert!(client.refused("test", &json!({ "folder": "models", "names": ["--java=x"] })).contains("like a flag"));
    assert!(client.refused("test", &json!({ "folder": "models", "names": vec!["a"; 101] })).contains("at most 100"));
    assert!(client.refused("test", &json!({ "folder": "/etc" })).contains("outside of the allowed folders"));
    // A module in a subfolder is read with its neighbours.
    std::os::unix::fs::symlink("/etc/passwd", bench.path("models/sub/Other.tla")).unwrap();
    let linked = client.refused("test", &json!({ "folder": "models" }));
    assert!(linked.contains("sub/Other.tla: this link leads outside"), "{linked}");
}

#[test]
fn drift_names_what_rests_on_changed_text_and_accepts_nothing() {
    let bench = Bench::without_tools();
    bench.finished_demo().expect(0);
    for name in ["guarantees.md", "pool.md"] {
        let path = project().join("evals/uniswap_swap/docs").join(name);
        let text = std::fs::read_to_string(path).unwrap().replace("never decreases", "rarely decreases");
        bench.write(&format!("docs/{name}"), text);
    }
    let mut client = Client::start(&bench);
    let arguments = json!({ "job": "demo-specs", "docs": "docs" });
    let found = client.call("drift", &arguments);
    let said = found["message"].as_str().unwrap();
    assert!(said.starts_with("drift: 1 change of the documents concerns rev_0 (approved): R2, R3\n"), "{said}");
    assert!(
        said.contains("docs/guarantees.md:9 changed: R2, R3; checked by ProductAtLeastOpening, ProductNeverFalls\n"),
        "{said}"
    );
    assert!(said.contains(" --accept R2 --accept R3 --because "), "the user's command: {said}");
    assert_eq!((&found["drift"], &found["exit_status"]), (&json!(true), &json!(1)), "{found}");
    assert!(found["changes"][0]["now"]["text"].as_str().unwrap().contains("rarely decreases"), "{found}");
    assert!(
        client.refused("drift", &json!({ "job": "demo-specs", "docs": "docs", "accept": ["R2"] })).contains("accept")
    );
    assert!(!bench.path("demo-specs/accepted_drift.jsonl").exists());
    assert!(client.refused("drift", &json!({ "job": "docs", "docs": "docs" })).contains("holds no run"));
    assert!(client.refused("drift", &json!({ "job": "demo-specs", "docs": "../" })).contains("outside"));
    let unchanged = bench.read("docs/guarantees.md").replace("rarely decreases", "never decreases");
    bench.write("docs/guarantees.md", unchanged);
    let found = client.call("drift", &arguments);
    assert_eq!(
        found["message"], "no drift: the text that 10 requirements of rev_0 (approved) cite is unchanged",
        "{found}"
    );
}

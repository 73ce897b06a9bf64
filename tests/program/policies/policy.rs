//! The default policy: printed, evaluated on journals, and reported with the values that it read.

use crate::support::counter::{INFORMAL, MODULE, bench, bench_with_java, good, issue, review};
use crate::support::{Bench, name, outcome};
use serde_json::{Value, json};

/// Rewrites the journal's events of a name and lifeline.
fn changed(bench: &Bench, of: &str, lifeline: &str, change: impl Fn(&mut Value)) {
    let lines = bench.journal("specs").into_iter().map(|mut event| {
        if name(&event) == of && event["lifeline"] == lifeline {
            change(&mut event);
        }
        event.to_string() + "\n"
    });
    let text: String = lines.collect();
    bench.write("changed/journal.jsonl", text);
}

#[test]
fn the_default_policy_is_shown_as_text_as_json_and_as_a_policy() {
    let bench = Bench::without_tools();
    bench.run(&["policy", "show"]).expect(0).prints(&[
        "check_is_fresh (review)",
        "@model_check.claims.module = claims.module",
        "the last check was of exactly this module",
        "validate_retry (validate)",
        "routing.retries < routing.retry_limit",
    ]);
    let shown = bench.run(&["policy", "show", "--format", "json"]).expect(0);
    let rules: Value = serde_json::from_str(&shown.stdout).unwrap();
    let rules = rules["rules"].as_array().unwrap();
    let of = |guard: &str| rules.iter().filter(|rule| rule["guard"] == guard).count();
    assert_eq!((of("approval"), of("flaw"), of("routing")), (27, 10, 36));
    bench.run(&["policy", "show", "--format", "yaml"]).expect(2);
    bench.run(&["policy"]).expect(2);
}

#[test]
fn an_audit_takes_the_default_policy_by_name_or_as_the_printed_file() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0).prints(&["none of them violated"]);
    let printed = bench.run(&["policy", "show", "--format", "toml"]).expect(0).stdout;
    bench.write("default.toml", &printed);
    bench.run(&["audit", "specs", "--policy", "default.toml"]).expect(0).prints(&["No rule is broken"]);

    // A journal in which the approval rests on another verdict, another module, or a row that was not to be taken.
    changed(&bench, "attempt_finished", "model_check", |event| event["data"]["claims"]["verdict"] = json!("violated"));
    bench.run(&["audit", "changed", "--policy", "default"]).expect(1).prints(&[
        "approval/nothing_violated: VIOLATED",
        "@model_check.claims.verdict",
        "\"violated\"",
        "1 of them violated",
    ]);
    changed(&bench, "attempt_finished", "review", |event| event["data"]["claims"]["module"] = json!("0".repeat(64)));
    bench.run(&["audit", "changed", "--policy", "default"]).expect(1).prints(&[
        "approval/merged_accepted: VIOLATED",
        "approval/check_is_fresh: VIOLATED",
        "2 of them violated",
    ]);
    changed(&bench, "routed", "validate", |event| event["data"]["routing"]["accepted"] = json!(false));
    bench.run(&["audit", "changed", "--policy", "default"]).expect(1).prints(&["routing/validated: VIOLATED"]);

    changed(&bench, "run_finished", "run", |event| event["data"]["outcome"] = json!("flaw_found"));
    bench.run(&["audit", "changed", "--policy", "default"]).expect(1).prints(&["journal/flaw_found: VIOLATED"]);
    changed(&bench, "routed", "review", |event| event["data"]["row"] = json!("nothing_named"));
    bench
        .run(&["audit", "changed", "--policy", "default"])
        .expect(1)
        .prints(&["routing/nothing_named: VIOLATED", "journal/approved: VIOLATED"]);
    changed(&bench, "guard_evaluated", "review", |event| event["data"]["holds"] = json!(false));
    bench
        .run(&["audit", "changed", "--policy", "default"])
        .expect(1)
        .prints(&["approval/refused: VIOLATED", "journal/guards: VIOLATED"]);
    changed(&bench, "attempt_finished", "informal_spec", |event| {
        event["data"]["claims"]["readable"] = json!(false);
    });
    bench
        .run(&["audit", "changed", "--policy", "default"])
        .expect(1)
        .prints(&["approval/informal_spec_exists: VIOLATED"]);
    bench.run(&["audit", "specs", "--policy", "default", "--follow"]).expect(2).says(&["remove --follow"]);

    let without = bench.journal("specs").into_iter().map(|mut event| {
        if event["name"] == "routed" {
            event["data"].as_object_mut().unwrap().remove("routing");
        }
        event.to_string() + "\n"
    });
    bench.write("old/journal.jsonl", without.collect::<String>());
    bench
        .run(&["audit", "old", "--policy", "default"])
        .expect(2)
        .says(&["routed cannot be understood: missing field `routing`"]);
    bench.write("log.jsonl", "{\"tool\":\"ls\"}\n");
    bench.run(&["audit", "log.jsonl", "--policy", "default"]).expect(2).says(&["only applies to the journal of a run"]);
}

#[test]
fn an_approval_after_an_edit_is_refused_with_the_values_of_the_clause() {
    let bench = bench_with_java();
    bench.forge(&good().answer("review", 0, 1, "draft", &review("approved")).having_read_all(), &[]).expect(0);
    let checked = bench.read("specs/history/rev_0/Spec.tla");
    bench.write("specs/history/rev_0/Spec.tla", checked.replace("variables n = 0;", "variables n = 1;"));
    // The recorded review reads and approves it; a check follows, and the recording ends.
    let done = bench.run(&["resume", "specs", "--from", "rev_0", "--at", "review"]).expect(5);
    let journal = bench.journal("specs");
    let guard = journal.iter().rfind(|e| name(e) == "guard_evaluated").unwrap();
    assert_eq!(guard["data"]["clause"], "check_is_fresh", "{guard:#}");
    assert_eq!(
        guard["data"]["formula"],
        "@model_check.claims.module = claims.module & @model_check.claims.cfg = claims.cfg"
    );
    let values = &guard["data"]["values"];
    assert_ne!(values["@model_check.claims.module"], values["claims.module"]);
    assert_eq!(values["@model_check.claims.cfg"], values["claims.cfg"]);
    let routed = journal.iter().rfind(|e| name(e) == "routed" && e["lifeline"] == "review").unwrap();
    assert_eq!((&routed["data"]["to"], &routed["data"]["row"]), (&json!("model_check"), &json!("approval_refused")));
    let short = |name: &str| &values[name].as_str().unwrap()[..8];
    let why = format!(
        "the module or its configuration is not the one that was checked last (check_is_fresh: @model_check.claims.module \
         is {}, claims.module is {})",
        short("@model_check.claims.module"),
        short("claims.module")
    );
    assert_eq!(routed["data"]["why"], why);
    assert_eq!(outcome(&journal), "stopped");
    done.says(&[
        &format!("review              -> model_check: {why}\n"),
        "model_check         holds: TypeOK, NeverAbove",
    ])
    .prints(&["Outcome: stopped, can be resumed\n", "no answer to this request"]);
    bench.run(&["report", "specs"]).expect(0).prints(&[
        "Outcome: stopped, can be resumed\n",
        &format!("rev_1, from rev_0: revised -> model_check\n      why: {why}\n"),
        "edited by hand: Spec.tla",
    ]);
    let after = journal.iter().filter(|e| e["seq"].as_u64() > guard["seq"].as_u64());
    let ends: Vec<&str> =
        after.filter(|e| name(e) == "run_finished").map(|e| e["data"]["outcome"].as_str().unwrap()).collect();
    assert!(!ends.contains(&"approved"), "{ends:?}");
    assert!(MODULE.contains("variables n = 0;"));
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
}

#[test]
fn a_module_from_an_older_informal_specification_is_not_approved() {
    let sorry = "I am sorry.";
    // Another specification, and no module made from it.
    let informal = INFORMAL.replace("The limit.", "The limit of the counter.");
    assert_ne!(informal, INFORMAL);
    let script = good()
        .answer("review", 0, 1, "draft", &issue("major", "missing_behavior", "something is missing"))
        .answer("informal_spec", 1, 1, "repair", &informal)
        .answer("formalize", 1, 1, "repair", sorry)
        .answer("formalize", 1, 2, "repair", sorry)
        .answer("review", 1, 1, "draft", &review("approved"))
        .having_read_all();
    let refused = |bench: &Bench| {
        let journal = bench.journal("specs");
        let guard = journal.iter().rfind(|e| name(e) == "guard_evaluated").unwrap();
        assert_eq!(guard["data"]["clause"], "module_accepted", "{guard:#}");
        assert_ne!(
            guard["data"]["values"]["@formalize.claims.made_from"],
            guard["data"]["values"]["@informal_spec.claims.answer"]
        );
    };
    let same = bench();
    same.forge(&script, &["--max-revisions", "1"]).expect(1);
    refused(&same);
    same.run(&["audit", "specs", "--policy", "default"]).expect(0);

    // A person's own, from which a module was to be made.
    let own = bench();
    own.forge(&good(), &[]).expect(0);
    let edited =
        own.read("specs/history/rev_0/informal_spec.md").replace("never above the limit", "never far above it");
    own.write("specs/history/rev_0/informal_spec.md", edited);
    let recorded = good()
        .answer("formalize", 0, 1, "repair", sorry)
        .answer("formalize", 0, 1, "draft", sorry)
        .answer("formalize", 0, 2, "repair", sorry)
        .text();
    own.write("script.jsonl", recorded);
    own.run(&["resume", "specs", "--from", "rev_0", "--at", "formalize"]);
    refused(&own);
}

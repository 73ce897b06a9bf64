//! A run under the user's policy: a violation is journaled when it happens, one of severity `error` prevents the approval,
//! an audit of the journal agrees, and a faulty policy is reported before the first request.

use crate::support::counter::{INFORMAL, bench, good, issue, review};
use crate::support::{Bench, Done, Script, name, outcome};
use serde_json::{Value, json};

const POLICY: &str = "policy.toml";

fn rule(id: &str, more: &str) -> String {
    format!("[[rule]]\nid = \"{id}\"\n{more}\n\n")
}

/// Forges under this policy.
fn under(bench: &Bench, policy: &str, script: &Script) -> Done {
    bench.write(POLICY, policy);
    bench.forge(script, &["--policy", POLICY])
}

fn violations(bench: &Bench) -> Vec<Value> {
    bench.journal("specs").into_iter().filter(|e| name(e) == "rule_violated").collect()
}

/// The verdict of each rule: as the run says it at its end, and as an audit of its journal does.
fn verdicts(bench: &Bench, policy: &str) -> (Value, Value) {
    let journal = bench.journal("specs");
    let end = journal.iter().rfind(|e| name(e) == "run_finished").unwrap();
    let live: Vec<Value> =
        end["data"]["rules"].as_array().unwrap().iter().map(|r| json!([r["rule"], r["verdict"]])).collect();
    let audit = bench.run(&["audit", "specs", "--policy", policy, "--format", "json"]);
    let audit: Value = serde_json::from_str(&audit.stdout).unwrap();
    let asked = audit["rules"].as_array().unwrap().iter().map(|r| json!([r["id"], r["verdict"]])).collect();
    (Value::Array(live), Value::Array(asked))
}

#[test]
fn a_violation_is_journaled_at_once_reported_and_prevents_the_approval() {
    let bench = bench();
    let policy =
        rule("no-worker", "kind = \"forbidden_text\"\nparams = { text = \"a worker adds\" }\nseverity = \"info\"")
            + &rule(
                "never-above",
                "formula = 'G !text_contains:\"never above\"'\ndescription = \"nothing is said of the limit\"",
            )
            + &rule("checked", "formula = 'F name = \"check_finished\"'");
    let done = under(&bench, &policy, &good()).expect(1);
    let done = done
        .prints(&[
            "Outcome: not approved",
            "the policy prevents it: rule `never-above` is violated: nothing is said of the limit",
            "never-above [error]: violated by event",
            "2 of 3 rules kept",
        ])
        .says(&["rule never-above is violated by event", "[error]: nothing is said of the limit"]);
    assert!(!done.stdout.contains("no-worker"), "nobody wrote that: {}", done.stdout);
}

#[test]
fn a_violation_names_the_deciding_event_in_the_same_group() {
    let bench = bench();
    let policy = rule("never-above", "formula = 'G !text_contains:\"never above\"'\nseverity = \"warning\"");
    // A warning is reported, and the run is approved nevertheless.
    under(&bench, &policy, &good())
        .expect(0)
        .prints(&["Outcome: approved", "never-above [warning]: violated by event"]);
    let journal = bench.journal("specs");
    let found = violations(&bench);
    assert_eq!(found.len(), 1);
    let (event, data) = (&found[0], &found[0]["data"]);
    let decided_at = &journal[usize::try_from(data["decided_at"].as_u64().unwrap()).unwrap() - 1];
    assert_eq!((name(decided_at), &decided_at["lifeline"]), ("answer_received", &json!("informal_spec")));
    assert_eq!((event["seq"].as_u64(), &decided_at["more"]), (decided_at["seq"].as_u64().map(|n| n + 1), &json!(1)));
    assert_eq!((&data["severity"], &data["formula"]), (&json!("warning"), &json!("G !text_contains:\"never above\"")));
    assert!(data["why"].as_str().unwrap().contains("`text_contains:\"never above\"` was true"), "{data:#}");
    assert!(data["meaning"].as_str().unwrap().contains("text_contains"), "{data:#}");
    let (live, asked) = verdicts(&bench, POLICY);
    assert_eq!(live, asked);
    assert_eq!(live, json!([["never-above", "violated"]]));
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
    bench.run(&["report", "specs"]).expect(0).prints(&["never-above [warning]: violated by event"]);
    bench.run(&["report", "specs", "--chart", "text"]).expect(0).prints(&["never-above is violated"]);
}

#[test]
fn with_format_json_a_violation_is_a_line() {
    let bench = bench();
    bench.write(POLICY, rule("quiet", "formula = 'G !text_contains:\"limit\"'\nseverity = \"info\""));
    let done = bench.forge(&good(), &["--policy", POLICY, "--format", "json"]).expect(0);
    let lines: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().filter(|e| name(e) == "rule_violated" && e["data"]["rule"] == "quiet").count(), 1);
}

#[test]
fn every_kind_of_rule_is_evaluated_and_an_audit_agrees() {
    let bench = bench();
    let policy = [
        rule("a", "kind = \"no_call\"\nparams = { tool = \"Read\" }\nseverity = \"warning\""),
        rule("b", "kind = \"must_call_before\"\nparams = { first = \"Read\", then = \"Read\" }"),
        rule("c", "kind = \"must_call_once\"\nparams = { tool = \"Read\" }"),
        rule("d", "kind = \"required_stop_reason\"\nparams = { allowed = \"end_turn\" }\nseverity = \"info\""),
        rule("e", "kind = \"forbidden_text\"\nparams = { text = \"TODO\" }"),
        rule("f", "kind = \"must_include_text\"\nparams = { text = \"MODULE Spec\" }"),
        rule("g", "kind = \"ltl_formula\"\nparams = { formula = 'G (name = \"request_sent\" -> F name = \"answer_received\")' }"),
        rule("h", "owner = \"review\"\nwhen = 'name = \"routed\"'\nformula = 'Seen@model_check & @model_check(O name = \"check_finished\")'"),
        rule("i", "owner = \"review\"\nwhen = 'name = \"request_sent\"'\nformula = '!Seen@model_check'\nseverity = \"info\""),
    ]
    .concat();
    under(&bench, &policy, &good()).expect(0);
    let (live, asked) = verdicts(&bench, POLICY);
    assert_eq!(live, asked);
    let said: Vec<String> = live.as_array().unwrap().iter().map(|r| format!("{} {}", r[0], r[1])).collect();
    let wanted = [
        ("a", "violated"),
        ("b", "satisfied"),
        ("c", "presumably_satisfied"),
        ("d", "presumably_violated"),
        ("e", "presumably_satisfied"),
        ("f", "satisfied"),
        ("g", "presumably_satisfied"),
        ("h", "presumably_satisfied"),
        ("i", "violated"),
    ];
    assert_eq!(said, wanted.map(|(id, verdict)| format!("\"{id}\" \"{verdict}\"")));
    let told: Vec<Value> = violations(&bench).into_iter().map(|e| e["data"]["rule"].clone()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    // The texts of the answers are kept beside the journal: where they are missing, nothing is said of the rules.
    std::fs::remove_dir_all(bench.path("specs/artifacts")).unwrap();
    let done = bench.run(&["audit", "specs", "--policy", POLICY]).expect(2);
    assert_eq!(done.says(&["rules use texts", "artifacts/"]).stdout, "");
}

#[test]
fn a_rule_that_the_approval_itself_would_violate_prevents_it() {
    let text = "formula = 'F text_contains:\"no such words\"'";
    for (more, told) in [
        (text, "residual"),
        (
            "owner = \"review\"\nwhen = 'row = \"approved\"'\nformula = '@model_check.outcome.statistics.distinct > 1000'",
            "prevented the approval",
        ),
        (
            "owner = \"run\"\nwhen = 'name = \"run_finished\"'\nformula = 'outcome != \"approved\" | @review.rev > 0'",
            "prevented the approval",
        ),
        ("formula = 'G (name = \"run_finished\" -> rev > 0)'", "rev > 0"),
    ] {
        let bench = bench();
        under(&bench, &rule("forbids", more), &good()).expect(1).prints(&[
            "Outcome: not approved",
            "`forbids` is violated",
            told,
        ]);
        let journal = bench.journal("specs");
        let routed = journal.iter().rfind(|e| name(e) == "routed").unwrap();
        assert_eq!(
            (&routed["data"]["row"], &routed["data"]["to"]),
            (&json!("policy_violated"), &json!("not_approved"))
        );
        assert_eq!(routed["data"]["routing"]["approval"], true, "the guard held");
        bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
        let (live, asked) = verdicts(&bench, POLICY);
        assert_eq!(live, asked, "{more}");
        // With severity `warning` it is reported, and the run is approved.
        let milder = self::bench();
        under(&milder, &rule("forbids", &format!("{more}\nseverity = \"warning\"")), &good()).expect(0);
    }
}

#[test]
fn a_satisfied_policy_changes_nothing_else_and_no_prompt() {
    let (with, without) = (bench(), bench());
    under(&with, &rule("fine", "formula = 'G !text_contains:\"no such words\"'"), &good()).expect(0);
    without.forge(&good(), &[]).expect(0);
    let happened = |bench: &Bench| -> Vec<Value> {
        bench.journal("specs").into_iter().map(|e| json!([e["lifeline"], e["name"], e["vc"]])).collect()
    };
    let asked = |bench: &Bench| -> Vec<Value> {
        let events = bench.journal("specs").into_iter().filter(|e| name(e) == "request_sent");
        events.map(|e| json!([e["data"]["prompt"], e["data"]["wording"]])).collect()
    };
    assert_eq!(asked(&with), asked(&without));
    assert_eq!(happened(&with), happened(&without));
    let of_rules = |e: &Value| e["data"].get("policy").is_some() || e["data"]["rules"].is_array();
    assert!(!without.journal("specs").iter().any(of_rules));
}

#[test]
fn killed_at_any_event_and_resumed_it_journals_each_violation_once() {
    let whole = bench();
    let policy = rule("never-above", "formula = 'G !text_contains:\"never above\"'")
        + &rule("after", "formula = 'G name != \"rule_violated\"'\nseverity = \"info\"");
    under(&whole, &policy, &good()).expect(1);
    // The number of the deciding event depends on whether the run was stopped before it; what it is does not.
    let told = |bench: &Bench| -> Vec<Value> {
        let journal = bench.journal("specs");
        let decided_at = |e: &Value| &journal[usize::try_from(e["data"]["decided_at"].as_u64().unwrap()).unwrap() - 1];
        let found = journal.iter().filter(|e| name(e) == "rule_violated");
        found
            .map(|e| json!([e["data"]["rule"], e["data"]["meaning"], decided_at(e)["name"], decided_at(e)["lifeline"]]))
            .collect()
    };
    let said = told(&whole);
    assert_eq!(said.len(), 2, "one rule speaks of the violation of the other");
    let events = whole.journal("specs").len();
    for n in (2..=events).step_by(5) {
        for place in ["before", "torn", "after"] {
            let bench = bench();
            bench.write(POLICY, &policy);
            bench.write("script.jsonl", whole.read("script.jsonl"));
            let args = ["run", "docs", "--recording", "script.jsonl", "--policy", POLICY];
            bench.run_with(&args, &[("TLAFORGE_CRASH", &format!("{place}:{n}"))]);
            std::fs::remove_file(bench.path(POLICY)).unwrap();
            let done = bench.run(&["resume", "specs"]);
            assert_eq!(done.status, Some(1), "{place}:{n} {}", done.stderr);
            assert_eq!(told(&bench), said, "{place}:{n}");
            assert_eq!(outcome(&bench.journal("specs")), "not_approved");
        }
    }
}

#[test]
fn a_resume_keeps_the_policy_or_evaluates_another_on_all_events() {
    let bench = bench();
    let stops = Script::default().answer("informal_spec", 0, 1, "draft", INFORMAL);
    bench.write(POLICY, rule("kept", "formula = 'G !text_contains:\"no such words\"'"));
    bench.write("script.jsonl", stops.text());
    bench.run(&["run", "docs", "--recording", "script.jsonl", "--policy", POLICY]).expect(5);
    assert!(violations(&bench).is_empty());
    bench.write("other.toml", rule("other", "formula = 'G !text_contains:\"never above\"'"));
    bench.write("whole.jsonl", good().text());
    bench.run(&["resume", "specs", "--policy", "other.toml", "--recording", "whole.jsonl", "--max-revisions", "0"]);
    let journal = bench.journal("specs");
    let resumed = journal.iter().position(|e| name(e) == "run_resumed").unwrap();
    assert_eq!(journal[resumed]["data"]["policy"]["path"], "other.toml");
    assert_eq!(name(&journal[resumed + 1]), "rule_violated", "what came before is held against it");
    assert!(journal[resumed + 1]["data"]["decided_at"].as_u64().unwrap() < journal[resumed]["seq"].as_u64().unwrap());
    let (live, asked) = verdicts(&bench, "other.toml");
    assert_eq!(live, asked);
    assert_eq!(live, json!([["other", "violated"]]));
}

#[test]
fn a_wrong_policy_is_refused_before_the_run() {
    let bench = bench();
    bench.write("script.jsonl", good().text());
    let of = |policy: &str, said: &[&str]| {
        bench.write(POLICY, policy);
        for args in
            [&["run", "docs", "--recording", "script.jsonl", "--policy", POLICY][..], &["demo", "--policy", POLICY]]
        {
            let done = bench.run(args).expect(2).says(said).says(&["policy.toml", "hint:"]);
            assert!(done.stdout.is_empty(), "{}", done.stdout);
        }
        assert!(!bench.path("specs").exists() && !bench.path("demo-specs").exists(), "nothing was made");
    };
    let formula = |formula: &str| format!("\n\n[[rule]]\nid = \"r\"\nformula = '{formula}'\n");
    of(
        &formula("G name = \"anser_received\""),
        &["policy.toml:5:22\n", "a run has no event `anser_received`", "similar: answer_received"],
    );
    of(
        "[[rule]]\nid = \"r\"\nowner = \"review\"\nformula = '@reviewer.claims.verdict = 1'\n",
        &["there is no node `reviewer`", "review"],
    );
    of(
        "[[rule]]\nid = \"r\"\nowner = \"reviewer\"\nformula = 'true'\n",
        &["there is no node `reviewer`", "similar: review"],
    );
    of(
        "[[rule]]\nid = \"r\"\nowner = \"review\"\nformula = '@model_chek(true)'\n",
        &["no node `model_chek`", "model_check"],
    );
    of(&formula("G (lifeline = \"modelcheck\" -> rev = 0)"), &["there is no node `modelcheck`", "model_check"]);
    of(
        &formula("G outcome.statistics.distnct < 9"),
        &["no event of a run has a field `outcome.statistics.distnct`", "outcome.statistics.distinct"],
    );
    of(
        &formula("G answer.tools != \"Read\""),
        &["`answer.tools` holds a list: write `any(answer.tools, != \"Read\")`"],
    );
    of(&formula("G !tool_call:Bash"), &["no model of a run has a tool `Bash`", "Read"]);
    of(&formula("F (name = \"routed\" & name = \"claims_restored\")"), &["no run can satisfy it"]);
    of(&formula("O name = \"routed\""), &["`O` has no meaning in progression", "needs an `owner`"]);
    of(&formula("G !tool_call:Read"), &["contradicts the default policy", "approval/reviewer_read"]);
    of(
        "[[rule]]\nid = \"r\"\nowner = \"review\"\nwhen = 'row = \"approved\"'\nformula = '@model_check.claims.verdict = \"violated\"'\n",
        &["contradicts the default policy", "approval/nothing_violated"],
    );
    of(
        "[[rule]]\nid = \"r\"\nowner = \"review\"\nwhen = 'name = \"a\" & name = \"b\"'\nformula = 'true'\n",
        &["a run has no event `a`"],
    );
    of(
        "[[rule]]\nid = \"r\"\nowner = \"review\"\nwhen = 'rev > 1 & rev < 1'\nformula = 'true'\n",
        &["its `when` holds at no event"],
    );
    let approved = |formula: &str| {
        format!("[[rule]]\nid = \"r\"\nowner = \"review\"\nwhen = 'row = \"approved\"'\nformula = '{formula}'\n")
    };
    of(
        &approved("@review.outcome.statistics.distinct > 10"),
        &["no event of `review` has a field `outcome.statistics.distinct` (events of model_check, candidates have it)"],
    );
    of(
        "[[rule]]\nid = \"r\"\nowner = \"review\"\nwhen = 'name = \"check_finished\"'\nformula = 'true'\n",
        &["its `when` holds at no event of `review`"],
    );
    of(
        "[[rule]]\nid = \"r\"\nwords = \"every request is answered\"\n",
        &["policy.toml:3:9\n", "has only `words`", "tlaforge policy formulate"],
    );
    of(
        "[[rule]]\nid = \"r\"\nwords = \"w\"\nformula = 'F name = \"routed\"'\nconfirmed = false\n",
        &["is not confirmed", "policy formulate"],
    );
    of("[[rule]]\nid = \"r\"\nformula = 'G ('\n", &["policy.toml:3:15\n", "is not a formula"]);
    of("[[rule]]\nid = \"r\nformula = 'true'\n", &["policy.toml:2:"]);
    of("", &["the policy has no rule"]);
    of(&(formula("true") + "[log]\ntool_call = [\"x\"]\n"), &["a policy for a run cannot have a [log] table"]);
    bench
        .run(&["run", "docs", "--recording", "script.jsonl", "--policy", "missing.toml"])
        .expect(2)
        .says(&["missing.toml", "hint:"]);
}

#[test]
fn rules_know_every_event_and_field_of_a_journal() {
    let bench = bench();
    let script = good()
        .answer("review", 0, 1, "draft", &issue("major", "missing_behavior", "something is missing"))
        .answer("informal_spec", 1, 1, "repair", "I am sorry.")
        .answer("informal_spec", 1, 2, "repair", INFORMAL)
        .answer("review", 1, 1, "draft", &review("approved"));
    under(&bench, &rule("quiet", "formula = 'G !text_contains:\"limit\"'"), &script);
    // Each is looked at as it is read.
    assert!(bench.journal("specs").len() > 40, "{}", bench.journal("specs").len());
}

#[test]
fn the_printed_schema_allows_every_line_of_a_journal_and_refuses_changed_ones() {
    let bench = bench();
    bench.forge(&good(), &["--strengthen", "1"]);
    let schema: Value = serde_json::from_str(&bench.run(&["schema", "journal"]).expect(0).stdout).unwrap();
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("journal.schema.json", schema).unwrap();
    let schema = compiler.compile("journal.schema.json", &mut schemas).unwrap();
    let allows = |line: &Value| schemas.validate(line, schema).map_err(|e| format!("{line}: {e:#}"));
    for mut line in bench.events("specs") {
        line.as_object_mut().unwrap().remove("sum");
        allows(&line).unwrap();
        let mut unknown = line.clone();
        unknown["name"] = json!("guessed");
        assert!(allows(&unknown).is_err());
        if line["name"] == "routed" {
            line["data"].as_object_mut().unwrap().remove("row");
            assert!(allows(&line).is_err());
        }
    }
}

#[test]
fn the_documents_list_every_event_with_its_fields() {
    let file = crate::support::project().join("docs/src/events.md");
    let documents = std::fs::read_to_string(&file).unwrap();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let vocabulary = tlaforge::pipeline::vocabulary_text();
    if std::env::var_os("TLAFORGE_BLESS").is_some() {
        let begin = documents.find("\n- `run_started` (run):").unwrap() + 1;
        std::fs::write(&file, format!("{}{}\n", &documents[..begin], vocabulary.trim_end())).unwrap();
        return;
    }
    assert!(words(&documents).ends_with(&words(&vocabulary)), "docs/src/events.md should end with\n{vocabulary}");
}

#[test]
fn a_branch_can_be_approved_after_a_prevented_approval() {
    let bench = bench();
    under(&bench, &rule("quiet", "formula = 'G !text_contains:\"limit\"'"), &good()).expect(1);
    bench.write("calm.toml", rule("calm", "formula = 'G !text_contains:\"no such words\"'"));
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "model_check", "--policy", "calm.toml"]).expect(0);
    let rows: Vec<_> = bench.journal("specs").into_iter().map(|event| event["data"]["row"].clone()).collect();
    assert!(rows.contains(&"policy_violated".into()) && rows.contains(&"approved".into()));
}

#[test]
fn a_rule_that_was_never_evaluated_does_not_count_as_kept() {
    let bench = bench();
    let never = "owner = \"review\"\nwhen = 'name = \"read_refused\"'\nformula = 'seq > 0'";
    under(&bench, &rule("never", never), &good()).expect(0).prints(&["never evaluated", "0 of 1 rule kept"]);
    let typo = "owner = \"review\"\nwhen = 'row = \"aproved\"'\nformula = 'seq > 0'";
    bench.write("typo.toml", rule("typo", typo));
    bench
        .run(&["run", "docs", "--out", "other", "--policy", "typo.toml"])
        .expect(2)
        .says(&["`row = \"aproved\"`", "approved"]);
}

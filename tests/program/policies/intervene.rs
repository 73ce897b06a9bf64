//! An answer that would violate a rule of the run's policy is met before it is taken: by further samples, by the request
//! with what is still owed, by another model. Nothing else changes.

use crate::support::counter::{INFORMAL, bench, good};
use crate::support::forged::{forged, genuine};
use crate::support::{Bench, Done, Script, name};
use serde_json::{Value, json};

const POLICY: &str = "policy.toml";

fn policy(intervention: &str, more: &str) -> String {
    format!(
        "[[rule]]\nid = \"no-todo\"\nkind = \"forbidden_text\"\nparams = {{ text = \"TODO\" }}\nintervention = \"{intervention}\"\n\n{more}"
    )
}

/// A first draft that breaks the rule, and further answers to the same request.
fn drafts(further: &[&str]) -> Script {
    let first = good().answer("informal_spec", 0, 1, "draft", &format!("{INFORMAL}\n## Notes\nTODO: the rest\n"));
    (1..)
        .zip(further)
        .fold(first, |script, (sample, answer)| script.sample("informal_spec", 0, 1, ("draft", sample), answer))
}

fn under(bench: &Bench, policy: &str, script: &Script) -> Done {
    bench.write(POLICY, policy);
    bench.forge(script, &["--policy", POLICY])
}

fn of<'a>(journal: &'a [Value], event: &str) -> Vec<&'a Value> {
    journal.iter().filter(|e| name(e) == event && e["lifeline"] == "informal_spec").collect()
}

/// What was asked for each sample: prompt, model, temperature.
fn asked(bench: &Bench) -> Vec<(String, Value, Value)> {
    let journal = bench.journal("specs");
    let prompt = |e: &Value| bench.read(&format!("specs/artifacts/{}", e["data"]["prompt"].as_str().unwrap()));
    let sent = of(&journal, "request_sent").into_iter();
    sent.map(|e| (prompt(e), e["data"]["choice"]["model"].clone(), e["data"]["choice"]["temperature"].clone()))
        .collect()
}

/// The one intervention of a run, and which answer it took.
fn intervened(bench: &Bench) -> Value {
    let journal = bench.journal("specs");
    let all = of(&journal, "intervened");
    assert_eq!(all.len(), 1);
    let taken = of(&journal, "answer_accepted");
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0]["data"]["sample"], all[0]["data"]["sample"]);
    all[0]["data"].clone()
}

fn kept_by_audit(bench: &Bench) {
    bench.run(&["audit", "specs", "--policy", POLICY]).expect(0).prints(&["Every rule holds."]);
    genuine(bench);
}

#[test]
fn resample_accepts_the_first_sample_without_violation_and_the_rules_see_only_that_one() {
    let bench = bench();
    let script = drafts(&["TODO: everything", INFORMAL, "never asked for"]);
    under(&bench, &policy("resample", ""), &script)
        .expect(0)
        .prints(&["Outcome: approved", "informal_spec: draft: resample for no-todo prevented a violation of no-todo; answer 3 was taken; 2 further answers"])
        .says(&["resample for no-todo prevented"]);
    let event = intervened(&bench);
    assert_eq!((&event["intervention"], &event["sample"], &event["calls"]), (&json!("resample"), &json!(2), &json!(2)));
    assert_eq!((&event["prevented_violations"], &event["violated"]), (&json!(["no-todo"]), &json!([])));
    let asked = asked(&bench);
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|(prompt, model, _)| *prompt == asked[0].0 && *model == asked[0].1), "the same request");
    let temperatures: Vec<&Value> = asked.iter().map(|(_, _, t)| t).collect();
    assert_eq!(temperatures, [&Value::Null, &json!(0.8), &json!(0.8)]);
    let journal = bench.journal("specs");
    let held = of(&journal, "answer_received");
    assert_eq!(held.len(), 3);
    assert!(held.iter().all(|e| e["data"]["answer"].is_null() && e["data"]["pending_answer"]["text"].is_string()));
    assert_eq!(bench.read("specs/informal_spec.md").trim(), INFORMAL.trim());
    assert!(!journal.iter().any(|e| name(e) == "rule_violated"));
    kept_by_audit(&bench);
    bench.run(&["report", "specs", "--chart", "text"]).expect(0).prints(&["accepts answer 3"]);
}

#[test]
fn if_every_sample_violates_the_rule_the_best_one_is_accepted_and_the_violation_remains() {
    let bench = bench();
    let limit = "[[rule]]\nid = \"limit\"\nkind = \"forbidden_text\"\nparams = { text = \"FIXME\" }\nintervention = \"resample\"\n\n[intervening]\nsamples = 3\ntemperature = 0.5\n";
    let worse = format!("{INFORMAL}## Notes\nTODO FIXME\n");
    under(&bench, &policy("resample", limit), &drafts(&[&worse, &worse])).expect(1).prints(&[
        "Outcome: not approved",
        "no-todo [error]: violated by event",
        "could not prevent a violation of no-todo; the first answer was accepted; 2 further answers",
    ]);
    assert_eq!(intervened(&bench)["sample"], 0);
    assert_eq!(asked(&bench)[2].2, 0.5);
    let journal = bench.journal("specs");
    let violated = journal.iter().find(|e| name(e) == "rule_violated").unwrap();
    let decided_at = violated["data"]["decided_at"].as_u64().unwrap();
    assert_eq!(name(&journal[usize::try_from(decided_at).unwrap() - 1]), "answer_accepted");
    // What is violated already is not met again.
    assert!(journal.iter().filter(|e| name(e) == "intervened").count() == 1);
}

#[test]
fn an_audit_recomputes_which_sample_owed_least() {
    let bench = bench();
    let script = drafts(&["TODO: everything", INFORMAL, "never asked for"]);
    under(&bench, &policy("resample", ""), &script).expect(0);
    genuine(&bench);
    let samples = intervened(&bench)["samples"].as_array().unwrap().clone();
    let intervened: Vec<Value> =
        samples.iter().map(|s| json!([s["sample"], s["violated"], s["residual"]["with_intervention"]])).collect();
    assert_eq!(intervened, [json!([0, ["no-todo"], 1]), json!([1, ["no-todo"], 1]), json!([2, [], 0])]);

    let met = ("intervened", "informal_spec");
    forged(&bench, met, "/sample", &json!(0)).expect(1).prints(&[
        "intervention: VIOLATED",
        "the answer that is accepted with it is another",
        "`sample` of intervened is 0; recomputed: 2",
    ]);
    forged(&bench, met, "/prevented_violations", &json!([]))
        .expect(1)
        .prints(&["`prevented_violations` of intervened is []"]);
    forged(&bench, met, "/calls", &json!(4)).expect(1).prints(&["`calls` of intervened is 4; recomputed: 2"]);
    let first = bench.journal("specs").into_iter().find(|e| name(e) == "answer_received").unwrap();
    forged(&bench, ("answer_accepted", "informal_spec"), "/artifact", &first["data"]["artifact"])
        .expect(1)
        .prints(&["an answer is accepted that was not received"]);
    forged(&bench, ("answer_accepted", "informal_spec"), "/answer/tools", &json!(["Read"]))
        .expect(1)
        .prints(&["`answer.tools` of answer_accepted is [\"Read\"]; recomputed: []"]);
}

#[test]
fn inject_sends_the_request_once_more_with_the_demands_in_words() {
    let bench = bench();
    let described =
        policy("inject", "").replace("intervention", "description = \"nothing is left to do\"\nintervention");
    under(&bench, &described, &drafts(&[INFORMAL])).expect(0);
    let event = intervened(&bench);
    assert_eq!((&event["intervention"], &event["sample"], &event["calls"]), (&json!("inject"), &json!(1), &json!(1)));
    let owed = event["residual"].as_str().unwrap();
    assert!(owed.contains("`text_contains:TODO` must never hold from now on"), "{owed}");
    let asked = asked(&bench);
    assert_eq!((asked.len(), &asked[1].1, &asked[1].2), (2, &asked[0].1, &asked[0].2));
    let more = asked[1].0.strip_prefix(asked[0].0.trim_end()).expect("the first prompt stands before it");
    for words in ["An answer to this request was not taken", "- nothing is left to do", "Still owed", owed] {
        assert!(more.contains(words), "{words} is missing in {more}");
    }
    kept_by_audit(&bench);
}

#[test]
fn switch_changes_only_the_model_or_shows_the_rules_to_the_same_one() {
    let bench = bench();
    under(&bench, &policy("switch", "[intervening]\nfallback_model = \"careful-1\"\n"), &drafts(&[INFORMAL])).expect(0);
    let asked_of_both = asked(&bench);
    assert_eq!(asked_of_both.len(), 2);
    assert_eq!((&asked_of_both[1].1, &asked_of_both[1].2), (&json!("careful-1"), &asked_of_both[0].2));
    assert_eq!(asked_of_both[0].0, asked_of_both[1].0);
    assert_eq!(intervened(&bench)["sample"], 1);
    kept_by_audit(&bench);

    let same = self::bench();
    under(&same, &policy("switch", ""), &drafts(&[INFORMAL])).expect(0);
    let asked = asked(&same);
    assert_eq!(asked[0].1, asked[1].1, "nobody else is named");
    let more = asked[1].0.strip_prefix(asked[0].0.trim_end()).unwrap();
    assert!(more.contains("This run is held to the following") && more.contains("TODO"), "{more}");
    assert!(!more.contains("Still owed"), "{more}");
}

#[test]
fn an_answer_without_violation_causes_no_further_request() {
    let (with, without) = (bench(), bench());
    under(&with, &policy("resample", ""), &good()).expect(0);
    without.forge(&good(), &[]).expect(0);
    let prompts = |bench: &Bench| -> Vec<Value> {
        let sent = bench.journal("specs").into_iter().filter(|e| name(e) == "request_sent");
        sent.map(|e| json!([e["data"]["prompt"], e["data"]["choice"], e["data"]["sample"]])).collect()
    };
    assert_eq!(prompts(&with), prompts(&without));
    let journal = with.journal("specs");
    let count = |event: &str| journal.iter().filter(|e| name(e) == event).count();
    assert_eq!((count("answer_received"), count("answer_accepted"), count("intervened")), (4, 4, 0));
    assert!(!without.journal("specs").iter().any(|e| name(e) == "answer_accepted"));
    kept_by_audit(&with);
}

#[test]
fn killed_at_any_event_it_accepts_the_same_answer_and_requests_none_twice() {
    let whole = bench();
    under(&whole, &policy("resample", ""), &drafts(&["TODO: everything", INFORMAL])).expect(0);
    let journal = whole.journal("specs");
    let end = journal.iter().position(|e| name(e) == "intervened").unwrap() + 2;
    for n in 2..=end {
        for place in ["before", "after"] {
            let bench = bench();
            bench.write(POLICY, whole.read(POLICY));
            bench.write("script.jsonl", whole.read("script.jsonl"));
            let args = ["run", "docs", "--recording", "script.jsonl", "--policy", POLICY, "--record", "made.jsonl"];
            bench.run_with(&args, &[("TLAFORGE_CRASH", &format!("{place}:{n}"))]);
            bench.run(&["resume", "specs"]).expect(0);
            assert_eq!(intervened(&bench)["sample"], 2, "{place}:{n}");
            let journal = bench.journal("specs");
            assert_eq!(of(&journal, "answer_received").len(), 3, "{place}:{n}");
            kept_by_audit(&bench);
        }
    }
    // A recording of such a run holds all of its answers.
    let bench = bench();
    bench.write(POLICY, whole.read(POLICY));
    bench.write("script.jsonl", whole.read("script.jsonl"));
    let run = |recording: &str, more: &[&str]| {
        bench.run(&[&["run", "docs", "--recording", recording, "--policy", POLICY][..], more].concat()).expect(0)
    };
    run("script.jsonl", &["--record", "made.jsonl"]);
    run("made.jsonl", &["--out", "again", "--strict-replay"]);
    assert!(bench.journal("again").iter().any(|e| name(e) == "intervened" && e["data"]["sample"] == 2));
}

#[test]
fn a_wrong_intervention_is_refused_before_the_run() {
    let bench = bench();
    for (text, said) in [
        (
            policy("pray", ""),
            "rule `no-todo`: unknown intervention `pray` (known: resample, inject, switch)\n --> policy.toml:5:16\n",
        ),
        (
            policy("resample", "[intervening]\nsamples = 1\n"),
            "[intervening]: `samples` is 1; it must be from 2 to 100, including the first answer\n --> policy.toml:7:2\n",
        ),
        (policy("resample", "[intervening]\nsamples = 1000\n"), "must be from 2 to 100"),
        (policy("resample", "[intervening]\ntemperature = 3.0\n"), "`temperature` is 3; it must be from 0 to 2"),
        (policy("switch", "[intervening]\nfallback_model = \"\"\n"), "`fallback_model` is empty"),
        (policy("switch", "[intervening]\nfallback = \"m\"\n"), "unknown field `fallback`"),
        (
            "[[rule]]\nid = \"c\"\nowner = \"review\"\nformula = 'true'\nintervention = \"inject\"\n".to_owned(),
            "a causal rule judges past events",
        ),
    ] {
        bench.write(POLICY, &text);
        bench.run(&["demo", "--policy", POLICY]).expect(2).says(&[said, "policy.toml"]);
    }
    assert!(!bench.path("demo-specs").exists());
}

/// How the run would go on, in the words of the model.
fn ahead(answers: &[&str]) -> String {
    format!("```json\n{}\n```\n", json!({"answers": answers}))
}

#[test]
fn a_violation_predicted_from_samples_causes_an_intervention() {
    let bench = bench();
    let table =
        "[prediction]\nsamples = 2\nsteps = 2\nthreshold = 0.5\ntemperature = 0.7\n\n[intervening]\nsamples = 2\n";
    // One way in two leads to a violation; the other answer leads to none.
    let mut script =
        good().sample("informal_spec", 0, 1, ("draft", 1), &format!("{INFORMAL}\n## Notes\nNothing else.\n"));
    let first = ahead(&["fine", "TODO later", "beyond the horizon"]);
    for (candidate, text) in
        [(0, first), (1, ahead(&["fine"])), (2, ahead(&["fine", "fine", "TODO"])), (3, "I am sorry.".into())]
    {
        script = script.sample("informal_spec", 0, 1, ("foresee draft", candidate), &text);
    }
    // Nobody foresees anything for the others.
    for node in ["formalize", "generate_invariants", "review"] {
        for candidate in 0..2 {
            script = script.sample(node, 0, 1, ("foresee draft", candidate), &ahead(&[]));
        }
    }
    let done = under(&bench, &policy("resample", table), &script);
    assert_eq!(done.status, Some(0), "{}{}", done.stdout, done.stderr);
    let event = intervened(&bench);
    assert_eq!(
        (&event["sample"], &event["prevented_violations"], &event["violated"]),
        (&json!(1), &json!(["no-todo"]), &json!([]))
    );
    let journal = bench.journal("specs");
    let predicted: Vec<&Value> = of(&journal, "predicted").into_iter().map(|e| &e["data"]).collect();
    assert_eq!(predicted.len(), 2);
    assert_eq!(
        (&predicted[0]["estimates"]["no-todo"], &predicted[1]["estimates"]["no-todo"]),
        (&json!(0.5), &json!(0.0))
    );
    assert_eq!(
        (&predicted[0]["steps"], &predicted[0]["how"], &predicted[0]["calls"]),
        (&json!(2), &json!("sampling"), &json!(2))
    );
    let sent = of(&journal, "request_sent");
    let foresee: Vec<&&Value> = sent.iter().filter(|e| e["data"]["purpose"] == "foresee draft").collect();
    assert_eq!(foresee.len(), 4);
    assert!(foresee.iter().all(|e| e["data"]["choice"]["temperature"] == 0.7));
    let offered = foresee[0]["data"]["offered"].to_string();
    assert!(offered.contains("answer.md") && offered.contains("request.md"), "{offered}");
    let draft: Vec<&&Value> = sent.iter().filter(|e| e["data"]["purpose"] == "draft").collect();
    assert!(draft.iter().all(|e| !e["data"]["offered"].to_string().contains("answer.md")));
    assert!(!bench.path("specs/workspace/answer.md").exists());
    kept_by_audit(&bench);
    genuine(&bench);
}

#[test]
fn a_probability_from_the_threshold_on_causes_an_intervention() {
    for (said, met) in [
        (json!({"no-todo": 0.31}), true),
        (json!({"no-todo": 0.29}), false),
        (json!({"no-todo": 7}), false),
        (json!({}), false),
    ] {
        let bench = bench();
        let table = "[prediction]\nhow = \"ask\"\nthreshold = 0.3\n";
        let answer = |said: &Value| format!("```json\n{}\n```\n", json!({"violated": said}));
        let mut script = good().sample("informal_spec", 0, 1, ("draft", 1), INFORMAL);
        script = script.sample("informal_spec", 0, 1, ("predict draft", 0), &answer(&said));
        script = script.sample("informal_spec", 0, 1, ("predict draft", 5), &answer(&json!({"no-todo": 0})));
        for node in ["formalize", "generate_invariants", "review"] {
            script = script.sample(node, 0, 1, ("predict draft", 0), &answer(&json!({"no-todo": 0.1})));
        }
        let done = under(&bench, &policy("inject", table), &script);
        assert_eq!(done.status, Some(0), "{}{}", done.stdout, done.stderr);
        let journal = bench.journal("specs");
        assert_eq!(of(&journal, "intervened").len(), usize::from(met), "{said}");
        let asked = of(&journal, "request_sent").into_iter().find(|e| e["data"]["purpose"] == "predict draft").unwrap();
        let prompt = bench.read(&format!("specs/artifacts/{}", asked["data"]["prompt"].as_str().unwrap()));
        assert!(prompt.contains("- `no-todo`: ") && prompt.contains("within the next 3 answers"), "{prompt}");
        kept_by_audit(&bench);
    }
}

#[test]
fn a_prediction_without_an_intervention_is_refused() {
    let bench = bench();
    for (text, said) in [
        (
            policy("resample", "[prediction]\nsteps = 0\n"),
            "[prediction]: `steps` is 0; it must be from 1 to 20\n --> policy.toml:7:2\n",
        ),
        (policy("resample", "[prediction]\npattern = 'F broken'\n"), "unknown atom `broken`"),
        (
            policy("resample", "[prediction]\n").replace("intervention = \"resample\"\n", ""),
            "no rule has an `intervention`",
        ),
    ] {
        bench.write(POLICY, &text);
        bench.run(&["demo", "--policy", POLICY]).expect(2).says(&[said, "policy.toml"]);
    }
}

#[test]
fn a_pending_answer_is_accepted_after_its_policy_was_replaced() {
    let bench = bench();
    under(&bench, &policy("resample", ""), &drafts(&[])).expect(5);
    bench.write("plain.toml", policy("resample", "").replace("intervention = \"resample\"\n", ""));
    bench.run(&["resume", "specs", "--policy", "plain.toml"]).says(&["rule no-todo is violated"]);
    assert_eq!(of(&bench.journal("specs"), "answer_accepted").len(), 1);
    bench.run(&["audit", "specs", "--policy", "plain.toml"]).expect(1);
}

#[test]
fn the_sample_with_the_fewest_violations_is_accepted_whenever_it_came() {
    let bench = bench();
    let (both, one) = (format!("{INFORMAL}\n## Notes\nTODO FIXME\n"), format!("{INFORMAL}\n## Notes\nFIXME\n"));
    let script = good()
        .answer("informal_spec", 0, 1, "draft", &both)
        .sample("informal_spec", 0, 1, ("draft", 1), &one)
        .sample("informal_spec", 0, 1, ("draft", 2), &both);
    let rule = |id: &str, text: &str| {
        format!(
            "[[rule]]\nid = \"{id}\"\nkind = \"forbidden_text\"\nparams = {{ text = \"{text}\" }}\nseverity = \"warning\"\n\
             intervention = \"resample\"\n\n"
        )
    };
    let rules = rule("todo", "TODO") + &rule("fixme", "FIXME") + "[intervening]\nsamples = 3\n";
    under(&bench, &rules, &script).expect(0);
    let event = intervened(&bench);
    assert_eq!((&event["sample"], &event["calls"]), (&json!(1), &json!(2)));
    assert_eq!((&event["prevented_violations"], &event["violated"]), (&json!(["todo"]), &json!(["fixme"])));
}

#[test]
fn an_intervention_does_not_change_requests_of_other_nodes() {
    let plain = crate::support::counter::bench();
    plain.forge(&good(), &[]).expect(0);
    let requests = |bench: &Bench| -> Vec<Value> {
        let sent = bench
            .journal("specs")
            .into_iter()
            .filter(|e| name(e) == "request_sent" && e["lifeline"] != "informal_spec");
        sent.map(|e| {
            let mut offered = e["data"]["offered"].as_array().unwrap().clone();
            // It tells how long the check took.
            offered.retain(|file| file["path"] != "check.md");
            json!([e["lifeline"], e["data"]["prompt"], e["data"]["choice"], offered])
        })
        .collect()
    };
    for (intervention, more) in
        [("resample", ""), ("inject", ""), ("switch", "[intervening]\nfallback_model = \"careful-1\"\n")]
    {
        let bench = bench();
        under(&bench, &policy(intervention, more), &drafts(&[INFORMAL])).expect(0);
        assert_eq!(requests(&bench), requests(&plain), "{intervention}");
    }
}

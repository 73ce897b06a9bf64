//! Formalizations side by side: the good one wins, nothing of the others is lost, a decision rests on what had been
//! received, and a run that is killed in the middle comes to the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::counter::{self, CFG, INFORMAL, MODULE, WITNESSES, bench, fenced, good_sections, review, sections};
use crate::support::forged::{forged, genuine};
use crate::support::in_process::{
    CheckLimits, EventClock, InProcess, ObservedTools, count_received, record_limits, recorded_in, served_by,
};
use crate::support::model_server::{ModelServer, Reply, Seen};
use crate::support::waiting::wait_until_async;
use crate::support::{Bench, Script, name, outcome};
use serde_json::{Value, json};
use tlaforge::pipeline::is_field;

/// A module that the translator takes and that cannot be evaluated.
fn not_evaluated() -> String {
    MODULE.replace("n := n + 1;", "n := Head(<<>>);").replace("EXTENDS Naturals", "EXTENDS Naturals, Sequences")
}

/// One that it does not take.
fn rejected() -> String {
    MODULE.replace("end while;", "")
}

fn drafts(modules: &[&str]) -> Script {
    let first = Script::default().answer("informal_spec", 0, 1, "draft", INFORMAL);
    (1..).zip(modules).fold(first, |script, (number, module)| {
        let answer = if module.is_empty() { "I could not do it.".to_owned() } else { fenced(module) };
        script.sample("formalize", 0, 1, ("draft", number), &answer)
    })
}

fn approved(script: Script) -> Script {
    script
        .answer("generate_invariants", 0, 1, "draft", &good_sections())
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all()
}

fn of<'a>(journal: &'a [Value], event: &str) -> Vec<&'a Value> {
    journal.iter().filter(|e| name(e) == event).collect()
}

fn chosen(journal: &[Value]) -> &Value {
    let all = of(journal, "candidate_chosen");
    assert_eq!(all.len(), 1);
    &all[0]["data"]
}

#[test]
fn the_good_one_of_three_candidates_is_chosen_and_the_others_are_kept() {
    let bench = bench();
    let script = approved(drafts(&[&rejected(), "", MODULE]));
    bench.forge(&script, &["--candidates", "3"]).expect(0).prints(&["Outcome: approved", "candidate 3"]);
    let journal = bench.journal("specs");
    let told = chosen(&journal);
    assert_eq!((&told["chosen"], &told["criterion"]), (&json!(3), &json!("points")));
    assert_eq!(told["received"], json!({"1": 1, "2": 0, "3": 5}));
    assert_eq!(of(&journal, "leaders_selected").len(), 0, "one leads alone: nothing more is paid for");
    let kept = bench.read("specs/history/rev_0/candidates/1.tla");
    assert!(kept.contains("while n < Max"), "{kept}");
    assert!(bench.read("specs/history/rev_0/candidates/2.md").contains("I could not do it."));
    assert!(bench.read("specs/history/rev_0/candidates/3.tla").contains("BEGIN TRANSLATION"));
    let meta: Value = serde_json::from_str(&bench.read("specs/history/rev_0/meta.json")).unwrap();
    assert_eq!(meta["candidates"]["chosen"]["chosen"], 3);
    bench.run(&["report", "specs"]).expect(0).prints(&["candidate 1", "candidate 2", "candidate 3", "chosen"]);
    bench.run(&["report", "specs", "--chart", "text"]).expect(0).prints(&["formalize_2", "chooses candidate 3"]);
    assert!(!bench.path("specs/candidates").exists(), "what the candidates could read is put away");
}

/// Properties that cover nothing.
fn weak_sections() -> String {
    let cfg = CFG.replace("TypeOK NeverAbove", "TypeOK");
    sections("TypeOK == n \\in 0..10 /\\ pc \\in {\"Add\", \"Done\"}\n", "", WITNESSES, &cfg)
}

/// Three candidates that differ in a comment alone.
fn three_good() -> Script {
    let marked = |mark: &str| MODULE.replace("variables", &format!("\\* {mark}\nvariables"));
    let all = ["one", "two", "three"].map(marked);
    drafts(&[&all[0], &all[1], &all[2]])
}

/// The first two lead; the second has the better properties.
fn two_leaders() -> Script {
    three_good()
        .sample("generate_invariants", 0, 1, ("draft", 1), &weak_sections())
        .sample("generate_invariants", 0, 1, ("draft", 2), &good_sections())
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all()
}

#[test]
fn leaders_get_properties_and_those_of_the_best_are_used() {
    let bench = bench();
    bench.forge(&two_leaders(), &["--candidates", "3"]).expect(0).prints(&[
        "Outcome: approved",
        "candidate 2",
        "chosen",
    ]);
    let journal = bench.journal("specs");
    assert_eq!(of(&journal, "leaders_selected")[0]["data"]["leaders"], json!([1, 2]));
    assert_eq!(chosen(&journal)["chosen"], 2);
    assert!(bench.read("specs/Spec.tla").contains("\\* two"));
    let asked = of(&journal, "request_sent");
    let nodes: Vec<&str> = asked.iter().map(|e| e["data"]["key"]["node"].as_str().unwrap()).collect();
    assert_eq!(nodes.iter().filter(|node| **node == "generate_invariants").count(), 2, "nothing is asked for twice");
    assert_eq!(of(&journal, "part_taken").len(), 1);
    for file in ["1.cfg", "2.cfg", "3.tla"] {
        assert!(bench.path(&format!("specs/history/rev_0/candidates/{file}")).is_file(), "{file}");
    }
    for event in &journal {
        known("", &event["data"]);
    }
    // The check that counts is one of its own, and not the quick one of a candidate.
    let checks = of(&journal, "check_finished");
    let by: Vec<&str> = checks.iter().map(|e| e["lifeline"].as_str().unwrap()).collect();
    assert_eq!(by.iter().filter(|lifeline| **lifeline == "model_check").count(), 1, "{by:?}");
}

/// That rules can speak of every field.
fn known(path: &str, value: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, below) in fields {
                known(&if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, below);
            }
        }
        // A record that this event lacks: rules name the fields below it.
        Value::Null => {}
        _ => assert!(is_field(path), "{path}"),
    }
}

#[test]
fn an_objective_ranks_the_leaders_before_their_points() {
    let bench = bench();
    bench.write("deep.toml", "goal = \"F deep\"\n\n[predicates]\ndeep = \"states >= 6\"\n");
    let deeper = weak_sections().replace("Max = 2", "Max = 5");
    let script = three_good()
        .sample("generate_invariants", 0, 1, ("draft", 1), &deeper)
        .sample("generate_invariants", 0, 1, ("draft", 2), &good_sections())
        .answer("review", 0, 1, "draft", &review("revise"))
        .having_read_all();
    bench.forge(&script, &["--candidates", "3", "--max-revisions", "0", "--objective", "deep.toml"]).expect(1);
    let journal = bench.journal("specs");
    assert_eq!((&chosen(&journal)["chosen"], &chosen(&journal)["criterion"]), (&json!(1), &json!("objective")));
    let leader = of(&journal, "candidate_finished").into_iter().rfind(|e| e["lifeline"] == "formalize_1").unwrap();
    assert_eq!(leader["data"]["step"]["met"], true);

    // The choice is made again from what the journal tells of each, and so are the steps that it rests on.
    genuine(&bench);
    let choice = ("candidate_chosen", "formalize");
    forged(&bench, choice, "/chosen", &json!(2))
        .expect(1)
        .prints(&["candidates: VIOLATED", "`chosen` of candidate_chosen is 2; recomputed: 1"]);
    forged(&bench, choice, "/criterion", &json!("points")).expect(1).prints(&["recomputed: \"objective\""]);
    forged(&bench, choice, "/received/1", &json!(3)).expect(1).prints(&["`received.1` of candidate_chosen is 3"]);
    forged(&bench, ("leaders_selected", "formalize"), "/leaders", &json!([2, 3]))
        .expect(1)
        .prints(&["`leaders[0]` of leaders_selected is 2; recomputed: 1"]);
    let first = ("candidate_finished", "formalize_1");
    forged(&bench, first, "/step/met", &json!(false))
        .expect(1)
        .prints(&["objective: VIOLATED", "`step.met` of candidate_finished is false; recomputed: true"]);
    forged(&bench, first, "/step/metrics/states", &json!(2)).expect(1).prints(&["`step.metrics.states`"]);
    forged(&bench, first, "/claims/points", &json!(1))
        .expect(1)
        .prints(&["`claims.points` of candidate_finished is 1"]);
    forged(&bench, ("candidate_received", "formalize"), "/points", &json!(1))
        .expect(1)
        .prints(&["`points` of candidate_received is 1"]);
}

#[test]
fn a_bad_candidate_is_chosen_if_there_is_no_better_one() {
    let bench = bench();
    let script = drafts(&["", &not_evaluated(), &rejected()])
        .answer("generate_invariants", 0, 1, "draft", &good_sections())
        .answer("review", 0, 1, "draft", &review("revise"));
    bench.forge(&script, &["--candidates", "3", "--max-revisions", "0"]).expect(1);
    let journal = bench.journal("specs");
    assert_eq!(chosen(&journal)["received"], json!({"1": 0, "2": 2, "3": 1}));
    assert_eq!(chosen(&journal)["chosen"], 2);

    let none = crate::support::counter::bench();
    let script = drafts(&["", ""]).answer("formalize", 0, 2, "repair", &fenced(MODULE));
    none.forge(&approved(script), &["--candidates", "2"]).expect(0);
    let journal = none.journal("specs");
    let again = journal.iter().find(|e| name(e) == "routed" && e["lifeline"] == "formalize").unwrap();
    assert_eq!(again["data"]["row"], "unreadable_once", "one repair follows, told why");
    assert_eq!(of(&journal, "candidate_chosen").len(), 1, "a repair is not drafted side by side");
}

#[test]
fn candidates_are_requested_concurrently() {
    let bench = bench();
    // No formalization is answered before all three are requested.
    let requests = Arc::new(AtomicUsize::new(0));
    let server = ModelServer::start(move |seen| {
        let reply = counter::answers(seen);
        if !is_formalize(seen) {
            return reply;
        }
        let requests = requests.clone();
        requests.fetch_add(1, Ordering::SeqCst);
        reply.once(move || requests.load(Ordering::SeqCst) >= 3)
    });
    let done = under(&bench, &server, &["--candidates", "3"]).expect(0);
    done.prints(&["Outcome: approved"]);
    let journal = bench.journal("specs");
    let drafts = |event: &str| -> Vec<u64> {
        let apart =
            of(&journal, event).into_iter().filter(|e| e["lifeline"].as_str().unwrap().starts_with("formalize_"));
        apart.filter(|e| e["data"]["purpose"] == "draft").map(|e| e["seq"].as_u64().unwrap()).take(3).collect()
    };
    let (sent, received) = (drafts("request_sent"), drafts("answer_received"));
    assert_eq!((sent.len(), received.len()), (3, 3));
    assert!(sent.iter().max() < received.iter().min(), "{sent:?} {received:?}");
}

fn is_formalize(seen: &Seen) -> bool {
    seen.system().starts_with("You write PlusCal")
}

fn under(bench: &Bench, server: &ModelServer, more: &[&str]) -> crate::support::Done {
    let args = ["run", "docs", "--out", "specs", "--provider", "openai", "--model", "m"];
    let url = server.url();
    bench.run_with(&[&args[..], more].concat(), &[("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "k")])
}

/// That the reviewer approved, and that it could not know of the draft, which stands before its decision in the journal.
const UNKNOWN: &str = r#"
[[rule]]
id = "not-known"
owner = "review"
when = 'row = "approved"'
formula = '!(@formalize_LATE.claims.points >= 0) & @model_check.claims.verdict = "holds"'

[[rule]]
id = "and-yet-before"
formula = '!(row = "approved") U (lifeline = "formalize_LATE" & name = "candidate_finished")'
"#;

fn seq(journal: &[Value], event: &str, lifeline: &str) -> u64 {
    let found = journal.iter().find(|e| name(e) == event && e["lifeline"] == lifeline);
    found.unwrap_or_else(|| panic!("{event} of {lifeline}"))["seq"].as_u64().unwrap()
}

fn approved_without_knowing(bench: &Bench, late: &str) -> Vec<Value> {
    bench.write("unknown.toml", UNKNOWN.replace("LATE", late));
    bench.run(&["audit", "specs", "--policy", "unknown.toml"]).expect(0).prints(&["Every rule holds."]);
    let journal = bench.journal("specs");
    assert_eq!(outcome(&journal), "approved");
    let told = chosen(&journal);
    let missing = told["missing"].as_array().unwrap();
    assert!(missing.contains(&json!(late.parse::<u32>().unwrap())), "{told:#}");
    let draft = seq(&journal, "candidate_finished", &format!("formalize_{late}"));
    let decision = seq(&journal, "guard_evaluated", "review");
    assert!(told["chosen"] != json!(late) && draft < decision);
    bench.run(&["report", "specs"]).expect(0).prints(&["too late"]);
    journal
}

#[test]
fn a_late_draft_is_kept_and_has_no_influence() {
    let bench = bench();
    // The second draft comes when the module of another one has been checked.
    let file = bench.path("specs/journal.jsonl");
    let server = ModelServer::start(move |seen| {
        let reply = counter::answers(seen);
        let is_second = is_formalize(seen) && seen.number == 2;
        if is_second { reply.after(file.clone(), r#""from":"model_check""#) } else { reply }
    });
    // The second draft is waited for until the two others are received.
    let clock = EventClock::new(&bench, &[2]);
    let live = InProcess::new(served_by(&server), clock.clone(), 3);
    InProcess { record: Some("record.jsonl"), ..live }.run(&bench);
    assert_eq!(clock.waits(), 1);
    let live = bench.events("specs");
    let is_after = |late: &&Value| {
        let draft = seq(&live, "candidate_finished", &format!("formalize_{late}"));
        seq(&live, "check_finished", "model_check") < draft
    };
    let missing = chosen(&live)["missing"].as_array().unwrap();
    assert_eq!(missing.len(), 1);
    let late = missing.iter().find(is_after).expect("a draft that came after the check").to_string();
    let journal = approved_without_knowing(&bench, &late);
    let draft = seq(&journal, "candidate_finished", &format!("formalize_{late}"));
    assert!(seq(&journal, "check_finished", "model_check") < draft, "the check's result was there first");
    assert!(bench.read(&format!("specs/history/rev_0/candidates/{late}.tla")).contains("while n < Max"));

    // From its recording alone it decides the same, although the draft is there long before the check.
    let again = crate::support::counter::bench();
    again.write("record.jsonl", bench.read("record.jsonl"));
    let args = ["run", "docs", "--out", "specs", "--recording", "record.jsonl", "--candidates", "3"];
    again.run(&[&args[..], &["--checker", "embedded"]].concat()).expect(0);
    let replayed = approved_without_knowing(&again, &late);
    assert_eq!(chosen(&replayed), chosen(&live));
    assert_eq!(again.read("specs/Spec.tla"), bench.read("specs/Spec.tla"));
}

#[test]
fn a_replay_chooses_the_same_candidate_on_a_machine_that_is_much_slower() {
    let bench = bench();
    bench.forge(&two_leaders(), &["--candidates", "3"]).expect(0);
    let quick = bench.journal("specs");
    std::fs::remove_dir_all(bench.path("specs")).unwrap();
    let (journal, limits) = (bench.path("specs/journal.jsonl"), CheckLimits::default());
    let tools = ObservedTools {
        // The second candidate is later than any other, and no clock may run out on it.
        before_translation: Box::new(move |spec, _| {
            let is_slow = spec.text.contains("\\* two") && count_received(&journal) < 2;
            let journal = journal.clone();
            Box::pin(async move {
                if is_slow {
                    wait_until_async("the others are received", || count_received(&journal) >= 2).await;
                }
            })
        }),
        before_check: record_limits(&limits),
        ..ObservedTools::new()
    };
    // A replay that waited by this clock would panic.
    let never = EventClock::new(&bench, &[]);
    let replay = InProcess::new(recorded_in(&bench, "script.jsonl"), never, 3);
    InProcess { toolchain: Box::new(tools), ..replay }.run(&bench);
    let slow = bench.journal("specs");
    assert_eq!(chosen(&slow), chosen(&quick));
    let order: Vec<&Value> = of(&slow, "candidate_received").iter().map(|e| &e["data"]["candidate"]).collect();
    assert_eq!(order[2], 2, "the second was the last");
    // Live, a quick check has ten seconds. The last one is the full check.
    let limits = limits.lock().unwrap();
    let (_, quick) = limits.split_last().unwrap();
    assert!(quick.len() >= 3 && quick.iter().all(|limit| *limit >= Duration::from_secs(600)), "{limits:?}");
}

#[test]
fn a_quick_check_has_ten_seconds() {
    let bench = bench();
    let server = ModelServer::start(counter::answers);
    let limits = CheckLimits::default();
    let tools = ObservedTools { before_check: record_limits(&limits), ..ObservedTools::new() };
    let live = InProcess::new(served_by(&server), EventClock::new(&bench, &[2]), 2);
    InProcess { toolchain: Box::new(tools), ..live }.run(&bench);
    assert_eq!(outcome(&bench.journal("specs")), "approved");
    // Last comes the full check of the run.
    let limits = limits.lock().unwrap();
    let (full, quick) = limits.split_last().unwrap();
    assert!(quick.len() >= 2 && quick.iter().all(|limit| *limit == Duration::from_secs(10)), "{limits:?}");
    assert_eq!(*full, Duration::from_secs(300));
}

#[test]
fn a_replay_does_not_repeat_a_quick_check_that_did_not_end_in_time() {
    let bench = bench();
    let lines = bench_lines(&approved(drafts(&[MODULE, &MODULE.replace("variables", "\\* two\nvariables")])));
    let slow = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["candidate"] == 2 {
            line["check_timed_out"] = json!(true);
        }
        format!("{line}\n")
    };
    bench.write("slow.jsonl", lines.lines().map(slow).collect::<String>());
    let args =
        ["run", "docs", "--out", "specs", "--recording", "slow.jsonl", "--candidates", "2", "--record", "again.jsonl"];
    bench.run(&args);
    let journal = bench.journal("specs");
    let checks = of(&journal, "quick_check_finished");
    let second = checks.iter().find(|e| e["lifeline"] == "formalize_2").unwrap();
    assert_eq!(second["data"]["verdict"], "inconclusive");
    assert_eq!(chosen(&journal)["received"], json!({"1": 5, "2": 4}));
    // The new recording says so as well.
    let again = bench.read("again.jsonl");
    let again: Vec<Value> = again.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let flagged: Vec<&Value> =
        again.iter().filter(|line| line["check_timed_out"] == true).map(|l| &l["candidate"]).collect();
    assert_eq!(flagged, [&json!(2)]);
}

fn bench_lines(script: &Script) -> String {
    let bench = bench();
    bench.forge(script, &["--candidates", "2"]);
    bench.read("script.jsonl")
}

#[test]
fn killed_at_any_boundary_the_same_candidate_wins_and_no_answer_is_asked_for_again() {
    let whole = bench();
    let script = two_leaders();
    whole.forge(&script, &["--candidates", "3"]).expect(0);
    let events = whole.journal("specs").len() as u64;
    let every = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1 } else { 3 };
    let text = whole.read("script.jsonl");
    let mut kills = 0;
    for at in (7..=events).step_by(every) {
        let bench = bench();
        bench.write("script.jsonl", &text);
        let args = ["run", "docs", "--out", "specs", "--recording", "script.jsonl", "--candidates", "3"];
        let point = format!("{}:{at}", ["before", "torn", "after"][kills % 3]);
        assert_eq!(bench.run_with(&args, &[("TLAFORGE_CRASH", &point)]).status, None, "{point}");
        bench.run(&["resume", "specs"]).expect(0);
        let journal = bench.journal("specs");
        assert_eq!(chosen(&journal)["chosen"], 2, "{point}");
        for event in ["answer_received", "candidate_finished", "candidate_received", "check_finished"] {
            let mut keys: Vec<String> = of(&journal, event)
                .iter()
                .map(|e| {
                    let key = ["purpose", "artifact", "candidate", "sample", "stage"]
                        .map(|field| e["data"][field].to_string());
                    format!("{} {}", e["lifeline"], key.join(" "))
                })
                .collect();
            let all = keys.len();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), all, "twice after {point}: {event}");
        }
        for file in ["Spec.tla", "Spec.cfg", "history/rev_0/candidates/1.tla", "history/rev_0/candidates/3.tla"] {
            assert_eq!(bench.read(&format!("specs/{file}")), whole.read(&format!("specs/{file}")), "{point}: {file}");
        }
        kills += 1;
    }
    println!("killed at {kills} of {events} events");
}

#[test]
fn a_draft_in_one_answer_is_the_first_candidate_and_keeps_its_properties() {
    let whole = format!("````markdown informal_spec\n{INFORMAL}````\n{}{}", fenced(&rejected()), weak_sections());
    let script = Script::default().answer("informal_spec", 0, 1, "whole", &whole).sample(
        "formalize",
        0,
        1,
        ("draft", 2),
        &fenced(MODULE),
    );
    let bench = bench();
    bench.forge(&approved(script), &["--candidates", "2", "--draft", "single_call"]).expect(0);
    let journal = bench.journal("specs");
    assert_eq!(chosen(&journal)["received"], json!({"1": 1, "2": 5}));
    assert!(bench.read("specs/Spec.tla").contains("NeverAbove"), "properties for the module that won");
}

#[test]
fn an_assumption_that_small_values_do_not_meet_is_no_defect_of_a_candidate() {
    let assuming =
        MODULE.replace("CONSTANT Max", "CONSTANT Max\nASSUME Max > 7").replace("variables", "\\* three\nvariables");
    let stuck = MODULE.replace("n := n + 1;", "await n > 5;");
    let sections = good_sections().replace("Max = 2", "Max = 8");
    let script = drafts(&[&stuck, &assuming])
        .answer("generate_invariants", 0, 1, "draft", &sections)
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all();
    let bench = bench();
    bench.forge(&script, &["--candidates", "2"]).expect(0);
    assert_eq!(chosen(&bench.journal("specs"))["received"], json!({"1": 3, "2": 4}));
}

#[test]
fn rules_see_only_the_answers_of_the_chosen_candidate() {
    let todo = rejected().replace("variables", "\\* TODO\nvariables");
    let bench = bench();
    bench.write("policy.toml", "[[rule]]\nid = \"no-todo\"\nkind = \"forbidden_text\"\nparams = { text = \"TODO\" }\n");
    let more = ["--candidates", "2", "--policy", "policy.toml"];
    bench.forge(&approved(drafts(&[&todo, MODULE])), &more).expect(0);
    bench.run(&["audit", "specs", "--policy", "policy.toml"]).expect(0).prints(&["Every rule holds."]);
    let journal = bench.journal("specs");
    let taken: Vec<&Value> = of(&journal, "answer_accepted");
    assert_eq!(taken.len(), 1, "the others are taken as they come");
    assert_eq!((&taken[0]["lifeline"], &taken[0]["data"]["sample"]), (&json!("formalize"), &json!(2)));

    let chosen_todo = crate::support::counter::bench();
    chosen_todo.write("policy.toml", bench.read("policy.toml"));
    let script = approved(drafts(&[&rejected(), &MODULE.replace("variables", "\\* TODO\nvariables")]));
    chosen_todo.forge(&script, &more).expect(1).prints(&["no-todo", "the policy prevents it"]);
    let journal = chosen_todo.journal("specs");
    let (taken, broken) = (seq(&journal, "answer_accepted", "formalize"), seq(&journal, "rule_violated", "run"));
    assert!(taken < broken);
}

#[test]
fn an_intervention_happens_before_the_answer_of_a_candidate_is_offered() {
    let bench = bench();
    let rule = "[[rule]]\nid = \"no-todo\"\nkind = \"forbidden_text\"\nparams = { text = \"TODO\" }\nintervention = \"resample\"\n";
    bench.write("policy.toml", rule);
    let todo = MODULE.replace("variables", "\\* TODO\nvariables");
    let script = drafts(&[&todo, &rejected()]).sample("formalize", 0, 1, ("draft", 9), &fenced(MODULE));
    bench.forge(&approved(script), &["--candidates", "2", "--policy", "policy.toml"]).expect(0).prints(&["resample"]);
    let journal = bench.journal("specs");
    let offered = of(&journal, "answer_offered").into_iter().find(|e| e["lifeline"] == "formalize_1").unwrap();
    assert_eq!(offered["data"]["sample"], 9);
    let taken = of(&journal, "answer_accepted").into_iter().find(|e| e["lifeline"] == "formalize").unwrap();
    assert_eq!(taken["data"]["sample"], 9);
    assert!(!bench.read("specs/Spec.tla").contains("TODO"));
    bench.run(&["audit", "specs", "--policy", "policy.toml"]).expect(0).prints(&["Every rule holds."]);
}

#[test]
fn a_resumed_run_keeps_its_number_of_candidates() {
    let whole = bench();
    whole.forge(&two_leaders(), &["--candidates", "3"]).expect(0);
    let received = seq(&whole.journal("specs"), "candidate_received", "formalize");
    let bench = bench();
    bench.write("script.jsonl", whole.read("script.jsonl"));
    let args = ["run", "docs", "--out", "specs", "--recording", "script.jsonl", "--candidates", "3"];
    assert_eq!(bench.run_with(&args, &[("TLAFORGE_CRASH", &format!("after:{received}"))]).status, None);
    bench.run(&["resume", "specs", "--candidates", "1"]).expect(0);
    assert_eq!(chosen(&bench.journal("specs"))["chosen"], 2);

    // One answer had come before anybody spoke of candidates.
    let one = crate::support::counter::bench();
    one.write("script.jsonl", crate::support::counter::good().text());
    let args = ["run", "docs", "--out", "specs", "--recording", "script.jsonl", "--max-revisions", "0"];
    let whole = crate::support::counter::bench();
    whole.write("script.jsonl", crate::support::counter::good().text());
    whole.run(&args);
    let answered = seq(&whole.events("specs"), "answer_received", "formalize");
    assert_eq!(one.run_with(&args, &[("TLAFORGE_CRASH", &format!("after:{answered}"))]).status, None);
    one.run(&["resume", "specs", "--candidates", "3"]).expect(1);
    assert_eq!(of(&one.events("specs"), "candidate_started").len(), 0);
    one.run(&["resume", "specs", "--from", "rev_0", "--at", "informal_spec", "--candidates", "3"])
        .says(&["the run has a module already"]);
}

#[test]
fn wrong_numbers_of_candidates_are_refused_before_any_request() {
    let bench = bench();
    let server = ModelServer::start(|_| Reply::text("never"));
    for number in ["0", "9", "1000", "-1", "two", ""] {
        let flag = format!("--candidates={number}");
        under(&bench, &server, &[&flag]).expect(2).says(&["from 1 to 8"]);
        bench.write("tlaforge.toml", format!("candidates = {number}\n"));
        if matches!(number, "0" | "9" | "1000") {
            under(&bench, &server, &[]).expect(2).says(&["candidates", "from 1 to 8", "--candidates"]);
        } else {
            under(&bench, &server, &[]).expect(2).says(&["tlaforge.toml"]);
        }
        std::fs::remove_file(bench.path("tlaforge.toml")).unwrap();
    }
    assert_eq!(server.requests().len(), 0);
    assert!(!bench.path("specs").exists());
}

#[test]
fn a_candidate_with_a_failed_call_is_left_out_and_a_run_without_any_can_be_resumed() {
    let bench = bench();
    let mut failed = 0;
    let server = ModelServer::start(move |seen| {
        if failed == 0 && is_formalize(seen) {
            failed += 1;
            return Reply::error(400, "invalid_request_error", "not today");
        }
        counter::answers(seen)
    });
    under(&bench, &server, &["--candidates", "2"]).expect(0).prints(&["abandoned", "not today"]);
    assert_eq!(chosen(&bench.journal("specs"))["received"].as_object().unwrap().len(), 1);

    let all = crate::support::counter::bench();
    let server = ModelServer::start(|seen| {
        if is_formalize(seen) {
            return Reply::error(400, "invalid_request_error", "not today");
        }
        counter::answers(seen)
    });
    under(&all, &server, &["--candidates", "2"]).expect(5).says(&["not today"]);
    let server = ModelServer::start(counter::answers);
    let url = server.url();
    all.run_with(&["resume", "specs", "--base-url", &url], &[("OPENAI_API_KEY", "k")]).expect(0);
    assert_eq!(chosen(&all.journal("specs"))["received"].as_object().unwrap().len(), 2);
}

#[test]
fn a_small_budget_makes_candidates_wait_for_each_other() {
    let bench = bench();
    // The delay makes a second request at the same time visible; without it, the first could be answered before.
    let server = ModelServer::start(|seen| {
        let delay = if is_formalize(seen) { Duration::from_millis(100) } else { Duration::ZERO };
        counter::answers(seen).delay(delay)
    });
    // Each call is expected to take some 12,000 tokens, and takes 110.
    under(&bench, &server, &["--candidates", "3", "--max-tokens", "16000"]).expect(0);
    let journal = bench.journal("specs");
    assert_eq!(chosen(&journal)["received"].as_object().unwrap().len(), 3);
    // None is sent before the one before it was answered.
    let apart = |e: &&Value| e["lifeline"].as_str().unwrap().starts_with("formalize_");
    let calls = journal.iter().filter(apart).map(name).filter(|n| ["request_sent", "answer_received"].contains(n));
    let calls: Vec<&str> = calls.take(6).collect();
    assert_eq!(calls, ["request_sent", "answer_received"].repeat(3));

    // Where there is no room even for one, nothing of others is blamed.
    let poor = crate::support::counter::bench();
    under(&poor, &server, &["--candidates", "3", "--max-tokens", "9000"]).expect(3).says(&["--max-tokens"]);
    assert!(!poor.read("specs/journal.jsonl").contains("other calls under way"));
}

#[test]
fn an_intervention_evaluates_an_answer_at_the_node_that_will_accept_it_after_its_draft() {
    let bench = bench();
    let rules = [
        r#"G !(lifeline = "formalize" & name = "answer_accepted" & text_contains:"AAA")"#,
        r#"G (text_contains:"BBB" -> N G !text_contains:"CCC")"#,
    ];
    let rules = rules
        .iter()
        .enumerate()
        .map(|(n, formula)| format!("[[rule]]\nid = \"r{n}\"\nformula = '{formula}'\nintervention = \"resample\"\n\n"));
    bench.write("policy.toml", rules.collect::<String>());
    let marked = |mark: &str| fenced(&MODULE.replace("variables", &format!("\\* {mark}\nvariables")));
    let properties = good_sections().replace("TypeOK ==", "\\* CCC\nTypeOK ==");
    let script = Script::default()
        .answer("informal_spec", 0, 1, "draft", INFORMAL)
        .sample("formalize", 0, 1, ("draft", 1), &marked("AAA"))
        .sample("formalize", 0, 1, ("draft", 9), &marked("BBB"))
        .sample("formalize", 0, 1, ("draft", 2), &marked("BBB two"))
        .sample("generate_invariants", 0, 1, ("draft", 1), &properties)
        .sample("generate_invariants", 0, 1, ("draft", 9), &good_sections())
        .sample("generate_invariants", 0, 1, ("draft", 2), &good_sections())
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all();
    bench.forge(&script, &["--candidates", "2", "--policy", "policy.toml"]).expect(0);
    let journal = bench.journal("specs");
    let by: Vec<&Value> = of(&journal, "intervened").iter().map(|e| &e["data"]["rule"]).collect();
    assert_eq!(by, [&json!("r0"), &json!("r1")]);
    genuine(&bench);
    bench.run(&["audit", "specs", "--policy", "policy.toml"]).expect(0).prints(&["Every rule holds."]);
}

#[test]
fn after_the_leaders_are_selected_nothing_new_is_drafted_also_after_a_resume() {
    let bench = bench();
    let mut number = 0;
    let file = bench.path("specs/journal.jsonl");
    let server = ModelServer::start(move |seen| {
        if !is_formalize(seen) {
            return counter::answers(seen);
        }
        number += 1;
        let module = MODULE.replace("variables", &format!("\\* number {number}\nvariables"));
        let reply = Reply::text(fenced(&module));
        // The third is under way when the leaders are selected, and the others still wait for their turn.
        if number < 3 { reply } else { reply.after(file.clone(), r#""name":"leaders_selected""#) }
    });
    let live = InProcess::new(served_by(&server), EventClock::new(&bench, &[2, 4]), 7);
    InProcess { concurrent_calls: 1, ..live }.run(&bench);
    let journal = bench.journal("specs");
    let named = seq(&journal, "leaders_selected", "formalize");
    let drafts = |e: &&&Value| e["data"]["key"]["node"] == "formalize" && e["seq"].as_u64() > Some(named);
    assert_eq!(of(&journal, "request_sent").iter().filter(drafts).count(), 0);
    assert!(
        of(&journal, "candidate_abandoned")
            .iter()
            .any(|e| e["data"]["why"].as_str().unwrap().contains("before its turn"))
    );

    let whole = crate::support::counter::bench();
    whole.forge(&two_leaders(), &["--candidates", "3"]).expect(0);
    let started = seq(&whole.journal("specs"), "candidate_started", "formalize_1");
    let args = ["run", "docs", "--out", "specs", "--recording", "script.jsonl", "--candidates", "3"];
    for more in ["1", "5"] {
        let again = crate::support::counter::bench();
        again.write("script.jsonl", whole.read("script.jsonl"));
        assert_eq!(again.run_with(&args, &[("TLAFORGE_CRASH", &format!("after:{started}"))]).status, None);
        again.run(&["resume", "specs", "--candidates", more]).expect(0);
        assert_eq!(of(&again.journal("specs"), "candidate_started").len(), 3, "{more}");
    }
}

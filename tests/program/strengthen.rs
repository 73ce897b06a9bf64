//! `run --strengthen`: surviving mutants are shown to the model, and its answer is kept only if it kills more
//! of them and the specification satisfies it.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use crate::support::counter::{CFG, DOC, INVARIANTS, WITNESSES, bench, good, good_sections, issue, review, sections};
use crate::support::{Bench, Done, Script, name, project, reasons, routes, with_checksums};
use serde_json::Value;

/// What notices a wrong start and a wrong step.
const PROPERTIES: &str = "\\* covers R1\nFromZero == n = 0\n\\* covers R1\nOneByOne == [][n' = n + 1]_n\n";

pub(crate) fn stronger() -> String {
    let invariants = format!("{INVARIANTS}\\* covers R1\nFullAtTheEnd == pc = \"Done\" => n = Max\n");
    let cfg = CFG.replace("\\*", "PROPERTIES FromZero OneByOne\n\\*").replace("NeverAbove", "NeverAbove FullAtTheEnd");
    sections(&invariants, PROPERTIES, WITNESSES, &cfg)
}

/// More properties that notice nothing.
fn no_stronger() -> String {
    let invariants = format!("{INVARIANTS}\\* covers R1\nNotFar == n <= Max + 1\n");
    sections(&invariants, "", WITNESSES, &CFG.replace("NeverAbove", "NeverAbove NotFar"))
}

/// A property that the counter does not satisfy.
fn wrong() -> String {
    let invariants = format!("{INVARIANTS}\\* covers R1\nNeverFull == n < Max\n");
    sections(&invariants, "", WITNESSES, &CFG.replace("NeverAbove", "NeverAbove NeverFull"))
}

fn strengthened(attempt: u32, answer: &str) -> Script {
    good().answer("generate_invariants", 0, attempt, "strengthen", answer)
}

fn forged(script: &Script, more: &[&str]) -> (Bench, Done) {
    let bench = bench();
    let done = bench.forge(script, &[&["--strengthen"], more].concat());
    (bench, done)
}

/// The journal of a run that kept stronger properties.
pub(crate) fn kept_round() -> Vec<Value> {
    let (bench, done) = forged(&strengthened(2, &stronger()), &[]);
    done.expect(0).prints(&["round 1: kept"]);
    bench.journal("specs")
}

/// What the program carries judges alone: hundreds of small runs.
fn without_java() -> Bench {
    let bench = Bench::without_tools();
    bench.write("docs/counter.md", DOC);
    bench
}

fn meta(bench: &Bench, revision: u32) -> Value {
    serde_json::from_str(&bench.read(&format!("specs/history/rev_{revision}/meta.json"))).unwrap()
}

/// The lists of mutants, in the order in which they were judged.
fn judged(journal: &[Value]) -> Vec<&Value> {
    journal.iter().filter(|e| name(e) == "mutants_judged").map(|e| &e["data"]).collect()
}

fn killed(judged: &Value) -> u64 {
    judged["tally"]["killed"].as_u64().unwrap()
}

const THE_LOOP: [&str; 4] = [
    "model_check->mutants",
    "mutants->generate_invariants",
    "generate_invariants->model_check",
    "model_check->mutants",
];

#[track_caller]
fn asserts_the_loop(journal: &[Value]) {
    let routes = routes(journal);
    assert!(routes.windows(4).any(|four| four == THE_LOOP), "{routes:?}");
}

#[test]
fn properties_that_notice_more_are_kept() {
    let (bench, done) = forged(&strengthened(2, &stronger()), &[]);
    done.expect(0).prints(&[
        "Outcome: approved",
        " noticed, before stronger properties ",
        "round 1: kept:",
        " sampled",
    ]);
    let journal = bench.journal("specs");
    asserts_the_loop(&journal);
    let judged = judged(&journal);
    assert_eq!(judged.len(), 2);
    assert!(killed(judged[1]) > killed(judged[0]), "{} {}", judged[0]["tally"], judged[1]["tally"]);
    let names = |of: &Value| -> Vec<String> {
        of["mutants"].as_array().unwrap().iter().map(|m| m["name"].to_string()).collect()
    };
    assert_eq!(names(judged[0]), names(judged[1]), "the same mutants");
    assert!(bench.read("specs/Spec.tla").contains("OneByOne"));
    let meta = meta(&bench, 0);
    let told = &meta["strengthened"];
    assert_eq!((&told["before"], &told["after"]), (&judged[0]["tally"], &judged[1]["tally"]));
    assert_eq!(told["rounds"][0]["kept"], true);
    assert_eq!(meta["attempts"]["mutants"], 2);
    bench.run(&["report", "specs"]).expect(0).prints(&["mutants: ", "before stronger properties", "round 1: kept"]);
    // The audit recomputes the counts; journals of earlier versions do not have them.
    let audited = |change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
        let mut told = journal.clone();
        let closed = told.iter_mut().find(|e| name(e) == "revision_closed").unwrap();
        change(closed["data"]["strengthened"].as_object_mut().unwrap());
        let told: Vec<String> = told.iter().map(|event| format!("{event}\n")).collect();
        let told = told.concat();
        bench.write("told.jsonl", with_checksums(told.as_bytes()));
        bench.run(&["audit", "told.jsonl", "--policy", "default"]).stdout
    };
    let wrong = audited(&|counts| counts["judged"] = 999.into());
    assert!(wrong.contains("strengthened.judged"), "{wrong}");
    let without = audited(&|counts| counts.retain(|key, _| key != "judged"));
    assert!(without.contains("`strengthened.judged` of revision_closed is undefined; recomputed: "), "{without}");
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
    // The model saw the evidence, the reviewer what came of it.
    let sent = journal.iter().find(|e| name(e) == "request_sent" && e["data"]["purpose"] == "strengthen").unwrap();
    let offered = sent["data"]["offered"].as_array().unwrap();
    let of = |path: &str| offered.iter().find(|o| o["path"] == path).unwrap()["sha"].as_str().unwrap().to_owned();
    let survivors = bench.read(&format!("specs/artifacts/{}", of("survivors.md")));
    assert!(survivors.contains("no property notices when `Counter` ") && survivors.contains("variables n = 1;"));
    let facts = bench.read("specs/workspace/facts.md");
    assert!(facts.contains("## Mutants") && facts.contains("round 1: kept"), "{facts}");
}

#[test]
fn a_new_property_that_the_specification_violates_is_dropped_and_reported() {
    let (bench, done) = forged(&strengthened(2, &wrong()), &[]);
    done.expect(0).prints(&["Outcome: approved", "dropped", "NeverFull", "said to cover R1", "nothing notices if "]);
    let plain = crate::support::counter::bench();
    plain.forge(&good(), &[]).expect(0);
    for file in ["Spec.tla", "Spec.cfg"] {
        assert_eq!(bench.read(&format!("specs/{file}")), plain.read(&format!("specs/{file}")), "{file}");
    }
    let journal = bench.journal("specs");
    asserts_the_loop(&journal);
    assert_eq!(judged(&journal)[1]["mutants"], serde_json::json!([]));
    let meta = meta(&bench, 0);
    assert_eq!(meta["check"]["verdict"], "holds");
    let round = &meta["strengthened"]["rounds"][0];
    assert_eq!((&round["kept"], &round["violated"]["property"]), (&false.into(), &"NeverFull".into()));
    assert_eq!(round["violated"]["check"]["verdict"], "violated");
    // Nothing vanished and nothing changed: what was dropped never stood.
    let guard = journal.iter().find(|e| name(e) == "guard_evaluated").unwrap();
    assert_eq!(guard["data"]["facts"]["unnamed_changes"], serde_json::json!([]));
    let facts = bench.read("specs/workspace/facts.md");
    assert!(facts.contains("`NeverFull` covers R1") && facts.contains("n < Max"), "{facts}");
}

#[test]
fn properties_that_kill_no_more_mutants_are_dropped() {
    let (bench, done) = forged(&strengthened(2, &no_stronger()), &[]);
    done.expect(0).prints(&["Outcome: approved", "dropped", "they notice no more"]);
    let journal = bench.journal("specs");
    asserts_the_loop(&journal);
    assert!(!bench.read("specs/Spec.tla").contains("NotFar"));
    let judged = judged(&journal);
    assert_eq!(killed(judged[0]), killed(judged[1]));
}

#[test]
fn useless_answers_are_dropped_within_their_limits() {
    // Unreadable twice.
    let script = strengthened(2, "I cannot.").answer("generate_invariants", 0, 3, "strengthen", "Sorry.");
    let (bench, done) = forged(&script, &[]);
    done.expect(0).prints(&["Outcome: approved", "two answers in a row could not be read"]);
    assert!(routes(&bench.journal("specs")).contains(&"generate_invariants->review".to_owned()));
    // Rejected as often as any other answer may be.
    let broken = stronger().replace("FromZero == n = 0", "FromZero == m = 0");
    let script = (2..=4).fold(good(), |s, n| s.answer("generate_invariants", 0, n, "strengthen", &broken));
    let (bench, done) = forged(&script, &[]);
    done.expect(0).prints(&["Outcome: approved", "they were rejected"]);
    assert!(!bench.read("specs/Spec.tla").contains("FromZero"));
    let approved = bench.journal("specs");
    let guard = approved.iter().find(|e| name(e) == "guard_evaluated").unwrap();
    assert_eq!((&guard["data"]["holds"], &guard["data"]["clause"]), (&true.into(), &Value::Null));
}

#[test]
fn a_second_round_sees_the_result_of_the_first() {
    let script = strengthened(2, &wrong()).answer("generate_invariants", 0, 3, "strengthen", &stronger());
    let (bench, done) = forged(&script, &["--strengthen", "2"]);
    done.expect(2).says(&["--strengthen"]);
    drop(bench);
    let bench = crate::support::counter::bench();
    bench.forge(&script, &["--strengthen", "2"]).expect(0).prints(&["round 1: dropped", "round 2: kept"]);
    let journal = bench.journal("specs");
    let sent: Vec<&Value> = journal
        .iter()
        .filter(|e| name(e) == "request_sent" && e["data"]["purpose"] == "strengthen")
        .map(|e| &e["data"]["offered"])
        .collect();
    assert_eq!(sent.len(), 2);
    let survivors = |offered: &Value| {
        let file = offered.as_array().unwrap().iter().find(|o| o["path"] == "survivors.md").unwrap();
        bench.read(&format!("specs/artifacts/{}", file["sha"].as_str().unwrap()))
    };
    assert!(!survivors(sent[0]).contains("former rounds"));
    assert!(survivors(sent[1]).contains("former rounds") && survivors(sent[1]).contains("NeverFull"));
}

#[test]
fn without_surviving_mutants_or_a_check_that_holds_no_model_is_asked() {
    let bench = crate::support::counter::bench();
    let violated = good().answer("generate_invariants", 0, 1, "draft", &wrong());
    bench.forge(&violated, &["--strengthen", "--max-revisions", "0"]).expect(1).prints(&["Mutants: not judged"]);
    let strong = good().answer("generate_invariants", 0, 1, "draft", &stronger());
    let bench = crate::support::counter::bench();
    bench.forge(&strong, &["--strengthen"]).expect(0).prints(&["Mutants: ", " noticed; "]);
    let reasons = reasons(&bench.journal("specs"));
    assert!(reasons.iter().any(|reason| reason.starts_with("review: no mutant survived")), "{reasons:?}");
}

#[test]
fn each_revision_has_its_own_rounds_and_a_dropped_property_leaves_no_trace() {
    let script = strengthened(2, &no_stronger())
        .answer("review", 0, 1, "draft", &issue("major", "wrong_invariant", "say more"))
        .having_read_all()
        .answer("generate_invariants", 1, 1, "repair", &good_sections())
        .answer("generate_invariants", 1, 2, "strengthen", &stronger())
        .answer("review", 1, 1, "draft", &review("approved"))
        .having_read_all();
    let (bench, done) = forged(&script, &[]);
    done.expect(0).prints(&["Outcome: approved"]);
    assert_eq!(meta(&bench, 0)["strengthened"]["rounds"][0]["kept"], false);
    assert_eq!(meta(&bench, 1)["strengthened"]["rounds"][0]["kept"], true);
}

#[test]
fn killed_while_properties_are_kept_it_resumes_to_the_same_files() {
    killed_at_boundaries(&stronger(), "kept");
}

#[test]
fn killed_while_properties_are_dropped_it_resumes_to_the_same_files() {
    killed_at_boundaries(&wrong(), "dropped");
}

/// At every boundary in a campaign, else at every third one.
fn killed_at_boundaries(answer: &str, what: &str) {
    let every = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1 } else { 3 };
    let reference = without_java();
    reference.forge(&strengthened(2, answer), &["--strengthen"]).expect(0);
    let events = reference.journal("specs");
    let told = meta(&reference, 0)["strengthened"].clone();
    let args = ["run", "docs", "--recording", "script.jsonl", "--out", "specs", "--strengthen"];
    // Before the loop a run is killed elsewhere; up to the answer both go the same way.
    let first = |wanted: &str| events.iter().position(|e| name(e) == wanted).unwrap();
    let second = |wanted: &str| events.iter().rposition(|e| name(e) == wanted).unwrap();
    let begin = if what == "kept" { first("mutants_judged") } else { second("check_finished") };
    let nodes = ["generate_invariants", "model_check", "mutants"];
    let here = |event: &Value| nodes.contains(&event["lifeline"].as_str().unwrap());
    for (at, event) in events.iter().enumerate().skip(begin).filter(|(_, e)| here(e)).step_by(every) {
        let seq = at + 1;
        let points: &[&str] = if name(event) == "mutants_judged" { &["before", "torn", "after"] } else { &["after"] };
        for point in points {
            let point = format!("{point}:{seq}");
            let bench = without_java();
            bench.write("script.jsonl", reference.read("script.jsonl"));
            let crash = bench.run_with(&args, &[("TLAFORGE_CRASH", &point)]);
            assert_eq!(crash.status, None, "{what} {point}: {}", crash.stderr);
            bench.run(&["resume", "specs"]).expect(0);
            for file in ["Spec.tla", "Spec.cfg", "review.md"] {
                let (is, was) = (bench.read(&format!("specs/{file}")), reference.read(&format!("specs/{file}")));
                assert!(is == was, "{file} differs after {what} {point}");
            }
            assert_eq!(meta(&bench, 0)["strengthened"]["after"], told["after"], "{what} {point}");
            let journal = bench.journal("specs");
            assert_eq!(judged(&journal).len(), 2, "{what} {point}");
            assert_eq!(journal.iter().filter(|e| name(e) == "answer_received").count(), 5, "{what} {point}");
        }
    }
}

#[test]
fn the_number_of_rounds_is_journaled_and_can_be_changed() {
    // Nothing answers the round: the run stops in the middle of a trial.
    let (bench, done) = forged(&good(), &[]);
    done.expect(5);
    let started = bench.journal("specs")[0]["data"].clone();
    assert_eq!(started["routing"]["strengthen"], 1);
    // Whoever goes on without it still ends the round that was begun.
    bench.write("script.jsonl", strengthened(2, &stronger()).text());
    let done = bench.run(&["resume", "specs", "--strengthen", "0", "--max-revisions", "0"]);
    assert!(done.stdout.contains("round 1: kept"), "{}\n{}", done.stdout, done.stderr);
    let plain = crate::support::counter::bench();
    plain.forge(&good(), &[]).expect(0);
    let text = plain.read("specs/journal.jsonl");
    assert!(!text.contains("\"strengthen\":") && !text.contains("mutants_judged"), "nothing of it without the flag");
    // The file of settings knows it as well.
    plain.write("tlaforge.toml", "strengthen = 1\n");
    plain.write("script.jsonl", strengthened(2, &stronger()).text());
    let done = plain.run(&["run", "docs", "--recording", "script.jsonl", "--out", "more", "--max-revisions", "0"]);
    assert!(done.stdout.contains("round 1: kept"), "{}\n{}", done.stdout, done.stderr);
}

/// The answers are those of a person who had the request alone.
#[test]
fn a_recorded_round_makes_the_alternating_bit_kill_more_mutants() {
    // TLC needs three minutes for the mutants.
    let is_campaign = std::env::var_os("TLAFORGE_CAMPAIGN").is_some();
    let bench = if is_campaign { Bench::remembering() } else { Bench::without_tools() };
    let case = project().join("evals/alternating_bit");
    let recording = case.join("recording/strengthen.jsonl");
    let args = ["run", "--case", case.to_str().unwrap(), "--recording", recording.to_str().unwrap()];
    // Its review is older than the question whether a property can be false.
    let done = bench.run(&[&args[..], &["--strengthen", "1", "--max-revisions", "0", "--bounds-budget", "0"]].concat());
    done.expect(1).prints(&["NOT FALSIFIED ChannelsWithinCapacity", "round 1: kept"]);
    let journal = bench.journal("specs");
    asserts_the_loop(&journal);
    let judged = judged(&journal);
    assert!(killed(judged[1]) > killed(judged[0]));
    println!("{} -> {}", judged[0]["tally"], judged[1]["tally"]);
}

#[test]
fn rounds_that_are_no_number_are_refused() {
    for wrong in ["x", "1.5", "docs"] {
        let done = bench().run(&["run", "docs", "--strengthen", wrong]).expect(2);
        done.says(&["--strengthen", "number of rounds"]);
    }
    bench().run(&["run", "docs", "--strengthen=-1"]).expect(2);
}

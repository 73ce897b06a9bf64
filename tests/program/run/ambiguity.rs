//! A requirement breaks under one reading of the documents: the run tries the other one and asks which is meant.

use crate::support::counter::{INFORMAL, MODULE, bench, fenced, good, good_sections};
use crate::support::{Bench, Done, Script, name, outcome, reasons};
use serde_json::{Value, json};

/// The document does not say what "below" compares.
fn informal(taken: &str, otherwise: &str) -> String {
    let point = "O1 [docs/counter.md:3] May the worker add at the limit?";
    format!("{INFORMAL}## Open points\n{point} Taken: {taken}. Otherwise: {otherwise}. Affects: R1, Add.\n")
}

pub(crate) fn accepting() -> String {
    json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_open_points": ["O1"]}).to_string()
}

/// A claim of a flaw in R1. The last step is granted only by the open point with this number.
pub(crate) fn claim(open_point: Option<&str>) -> String {
    let line = |n: usize| json!({"step": n, "file": "docs/counter.md", "line": 3, "why": "it adds one"});
    let last = match open_point {
        Some(id) => json!({"step": 4, "open_point": id, "why": "only this reading lets it add here"}),
        None => line(4),
    };
    let steps = [line(1), line(2), line(3), last];
    let flaw = json!({"requirement": "R1", "property": "NeverAbove", "steps": steps});
    json!({"verdict": "flaw", "summary": "s", "issues": [], "flaw": flaw}).to_string()
}

pub(crate) fn opinion(open_point: &Value) -> String {
    json!({"agrees": true, "open_point": open_point, "why": "nothing says what below means"}).to_string()
}

/// A first revision in which the worker adds at the limit.
pub(crate) fn overshooting(review: &str, opinion: &str) -> Script {
    Script::default()
        .answer("informal_spec", 0, 1, "draft", &informal("yes", "no"))
        .answer("formalize", 0, 1, "draft", &fenced(&MODULE.replace("n < Max", "n <= Max")))
        .answer("generate_invariants", 0, 1, "draft", &good_sections())
        .answer("review", 0, 1, "draft", review)
        .having_read_all()
        .answer("review", 0, 1, "second_reading", opinion)
}

/// Then one in which it does not, and which this review judges.
pub(crate) fn then_not(script: Script, review: &str) -> Script {
    script
        .answer("informal_spec", 1, 1, "repair", &informal("no", "yes"))
        .answer("formalize", 1, 1, "repair", &fenced(MODULE))
        .answer("generate_invariants", 1, 1, "draft", &good_sections())
        .answer("review", 1, 1, "draft", review)
        .having_read_all()
}

#[track_caller]
pub(crate) fn found(script: &Script, more: &[&str]) -> (Bench, Done) {
    let bench = bench();
    let done = bench.forge(script, more).expect(1);
    let journal = bench.journal("specs");
    assert_eq!(outcome(&journal), "ambiguity_found", "{:#?}", reasons(&journal));
    bench.run(&["audit", "--policy", "default", "specs"]).expect(0);
    (bench, done)
}

fn question(bench: &Bench) -> Value {
    let report = bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout;
    serde_json::from_str::<Value>(&report).unwrap()["question"].clone()
}

fn last<'a>(journal: &'a [Value], wanted: &str) -> &'a Value {
    &journal.iter().rfind(|e| name(e) == wanted).unwrap()["data"]
}

#[test]
fn both_readings_are_judged_and_the_report_asks_which_is_meant() {
    let (bench, done) = found(&then_not(overshooting(&claim(Some("O1")), &opinion(&json!("O1"))), &accepting()), &[]);
    done.prints(&[
        "Outcome: ambiguity found: a requirement breaks under one reading of the documents",
        "Question O1 [docs/counter.md:3]: May the worker add at the limit?\n",
        "  a. yes.\n      R1 BROKEN by NeverAbove, in 4 states (rev_0)\n",
        "  b. no.\n      R1 holds, checked by NeverAbove (rev_1)\n",
        "Under reading a of O1: R1 is violated",
        "documents: they leave this open: O1 takes the reading that grants it",
    ]);
    assert!(bench.read("specs/workspace/facts.md").contains("takes the other reading of O1 on purpose"));
    let readings = &question(&bench)["readings"];
    assert_eq!((&readings[0]["status"], &readings[0]["states"]), (&json!("broken"), &json!(4)));
    assert_eq!((&readings[1]["status"], &readings[1]["revision"]), (&json!("holds"), &json!(1)));
    let journal = bench.journal("specs");
    assert!(journal.iter().any(|e| name(e) == "routed" && e["data"]["row"] == "other_reading"));
    assert_eq!(last(&journal, "routed")["row"], "other_reading_approved");
}

#[test]
fn the_second_reader_alone_can_name_the_open_point_and_knows_which_ones_exist() {
    let script = overshooting(&claim(None), &opinion(&json!("O1")));
    let (bench, _) = found(&script, &["--max-revisions", "0"]);
    assert!(bench.read("specs/workspace/claim.md").contains("O1 [docs/counter.md:3] May the worker add at the limit?"));
    assert_eq!(question(&bench)["readings"][1]["revision"], Value::Null);
    // An answer that names an unknown open point is sent back once.
    let script = overshooting(&claim(None), &opinion(&json!("O7")));
    let script = script.answer("review", 0, 2, "second_reading", &opinion(&Value::Null));
    let bench = crate::support::counter::bench();
    bench.forge(&script, &["--max-revisions", "0"]).expect(1);
    assert_eq!(outcome(&bench.journal("specs")), "flaw_found");
    // What the review rests on counts although the reader does not name it.
    found(&overshooting(&claim(Some("O1")), &opinion(&Value::Null)), &["--max-revisions", "0"]);
}

#[test]
fn a_flaw_is_annotated_at_its_property_and_at_the_cited_line() {
    let script = overshooting(&claim(None), &opinion(&json!("O7")));
    let script = script.answer("review", 0, 2, "second_reading", &opinion(&Value::Null));
    let bench = crate::support::counter::bench();
    bench.forge(&script, &["--max-revisions", "0"]).expect(1);
    let done = bench.run(&["resume", "specs", "--format", "github"]).expect(1);
    let lines: Vec<&str> =
        done.stdout.lines().filter(|line| line.contains("title=tlaforge%3A flaw::NeverAbove")).collect();
    let [property, document] = lines.as_slice() else { panic!("{}", done.stdout) };
    let place = property.split_once("file=").unwrap().1.split_once(",title").unwrap().0;
    let (file, line) = place.split_once(",line=").unwrap();
    let module = bench.read(file);
    let definition = module.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
    assert!(definition.trim_start().starts_with("NeverAbove =="), "{definition}");
    assert!(document.contains("file=docs/counter.md,line=") && document.contains("breaks R1"), "{document}");
}

#[test]
fn a_step_cannot_rest_on_an_open_point_that_does_not_exist() {
    let bench = bench();
    let claim = claim(Some("O2"));
    let script =
        overshooting(&claim, &opinion(&Value::Null)).answer("review", 0, 2, "repair", &claim).having_read_all();
    bench.forge(&script, &["--max-revisions", "0"]).expect(1);
    let journal = bench.journal("specs");
    let guard = journal.iter().rfind(|e| name(e) == "guard_evaluated" && e["data"]["guard"] == "flaw").unwrap();
    assert_eq!((&guard["data"]["clause"], outcome(&journal)), (&json!("steps_mapped"), "not_approved"));
}

#[test]
fn the_question_stays_the_result_if_the_other_reading_is_not_approved() {
    let revise = json!({"verdict": "revise", "summary": "s", "issues": []}).to_string();
    let script = then_not(overshooting(&claim(Some("O1")), &opinion(&json!("O1"))), &revise);
    let (bench, _) = found(&script, &["--max-revisions", "1"]);
    assert_eq!(question(&bench)["readings"][1]["status"], "holds");
}

/// The point of the second revision, in other words: `next` replaces question and readings.
fn reworded(next: &str, review: &str) -> Script {
    let question = "O1 [docs/counter.md:3] May the worker add at the limit? Taken: no. Otherwise: yes.";
    let informal = informal("no", "yes");
    assert!(informal.contains(question));
    then_not(overshooting(&claim(Some("O1")), &opinion(&json!("O1"))), review)
        .answer("informal_spec", 1, 1, "repair", &informal.replace(question, next))
        // If the question has no word in common with its lines, the run asks once.
        .answer("informal_spec", 1, 2, "repair", &informal.replace(question, next))
}

#[test]
fn a_reworded_point_is_the_same_point() {
    for next in [
        "O1 [docs/counter.md:3] Does \"below\" include the limit itself? Taken: no, it does not. Otherwise: yes, it does.",
        "O1 [docs/counter.md:2-3] What does \"below\" compare? Taken: no. Otherwise: yes.",
        "O2 [docs/counter.md:3] May the worker add at the limit? Taken: no. Otherwise: yes.",
    ] {
        let id = &next[..2];
        let review = accepting().replace("O1", id);
        let (bench, done) = found(&reworded(next, &review), &[]);
        done.prints(&["  b. no.\n      R1 holds, checked by NeverAbove (rev_1)\n"]);
        assert!(bench.read("specs/workspace/facts.md").contains("takes the other reading of O1 on purpose"), "{next}");
        // The answer goes on with the revision that takes it.
        let approval = Script::default().answer("review", 0, 1, "draft", &review).having_read_all();
        bench.branch(&approval, &["--answer", "O1=b"]).expect(0).prints(&["Outcome: approved"]);
        let journal = bench.journal("specs");
        let branch = last(&journal, "branch_started");
        assert_eq!((&branch["from"], branch["feedback"].as_array().map_or(0, Vec::len)), (&json!(1), 0), "{branch}");
    }
    // Another question with the same number at another place.
    let other = "O1 [docs/counter.md:2] Where does it start? Taken: no. Otherwise: yes.";
    let (bench, _) = found(&reworded(other, &accepting()), &[]);
    assert_eq!(question(&bench)["readings"][1]["revision"], Value::Null);
}

#[test]
fn a_remark_about_a_point_that_is_exchanged_or_decided_is_held_back() {
    let issue = |what: &str| json!({"severity": "minor", "category": "abstraction", "description": what, "suggestion": "mend it"});
    let mut review: Value = serde_json::from_str(&claim(Some("O1"))).unwrap();
    review["issues"] =
        json!([issue("word O1 so that it names the limit"), issue("R1 and O1 differ"), issue("a title")]);
    let script = then_not(overshooting(&review.to_string(), &opinion(&json!("O1"))), &accepting());
    let (bench, _) = found(&script, &[]);
    let journal = bench.journal("specs");
    let asked = journal.iter().find(|e| name(e) == "request_sent" && e["rev"] == 1).unwrap();
    let offered = asked["data"]["offered"].as_array().unwrap();
    let sha = &offered.iter().find(|file| file["path"] == "feedback.md").unwrap()["sha"];
    let feedback = bench.read(&format!("specs/artifacts/{}", sha.as_str().unwrap()));
    assert!(feedback.contains("with the two readings exchanged") && feedback.contains("a title"), "{feedback}");
    assert!(feedback.contains("R1 and O1 differ") && !feedback.contains("word O1 so that"), "{feedback}");
}

#[test]
fn an_answer_settles_the_question() {
    let script = then_not(overshooting(&claim(Some("O1")), &opinion(&json!("O1"))), &accepting());
    // The first reading: what was claimed is a flaw.
    let (bench, _) = found(&script, &[]);
    let flaw = Script::default().answer("review", 0, 1, "draft", &claim(Some("O1"))).having_read_all().answer(
        "review",
        0,
        1,
        "second_reading",
        &opinion(&Value::Null),
    );
    let done = bench.branch(&flaw, &["--answer", "O1=a"]).expect(1);
    let done = done.prints(&["Decided by the owner of the protocol:", "yes.", "\nFlaw: R1 is violated"]);
    assert!(!done.stdout.contains("Question O1") && question(&bench).is_null(), "{}", done.stdout);
    assert_eq!(outcome(&bench.journal("specs")), "flaw_found", "{:#?}", reasons(&bench.journal("specs")));
    assert!(bench.read("specs/workspace/claim.md").contains("May the worker add at the limit? Decided: yes."));
    bench.run(&["audit", "--policy", "default", "specs"]).expect(0);
    // The other reading: what was made for it is reviewed.
    let (bench, _) = found(&script, &[]);
    let approval = Script::default().answer("review", 0, 1, "draft", &accepting()).having_read_all();
    let done = bench.branch(&approval, &["--answer", "o1=B"]).expect(0);
    let done = done.prints(&["Outcome: approved", "Decided by the owner"]);
    assert!(!done.stdout.contains("Question O1") && !done.stdout.contains("is violated"), "{}", done.stdout);
    assert!(bench.read("specs/workspace/facts.md").contains("May the worker add at the limit? Decided: no."));
    bench.run(&["audit", "--policy", "default", "specs"]).expect(0);
}

#[test]
fn a_reading_that_was_not_tried_goes_to_the_informal_specification() {
    let (bench, _) = found(&overshooting(&claim(Some("O1")), &opinion(&json!("O1"))), &["--max-revisions", "0"]);
    let script = Script::default().answer("informal_spec", 0, 1, "repair", INFORMAL);
    bench.branch(&script, &["--answer", "O1=only on Sundays"]).expect(5);
    let journal = bench.journal("specs");
    let feedback = &last(&journal, "branch_started")["feedback"];
    // The task to try the other reading is replaced by the answer.
    assert_eq!(feedback.as_array().unwrap().len(), 1, "{feedback}");
    assert!(feedback[0]["text"].as_str().unwrap().contains("decided: only on Sundays Take this reading"), "{feedback}");
}

#[test]
fn an_answer_that_decides_nothing_is_refused_and_nothing_begins() {
    let approved = good().answer("informal_spec", 0, 1, "draft", &informal("no", "yes"));
    let approved = approved.answer("review", 0, 1, "draft", &accepting()).having_read_all();
    let bench = bench();
    bench.forge(&approved, &[]).expect(0);
    let before = bench.read("specs/journal.jsonl");
    for (args, words) in [
        (&["--answer", "O9=a"][..], "rev_0 has no open point O9"),
        (&["--answer", "O1"], "\"O1\" is no answer to an open point"),
        (&["--answer", "O1="], "\"O1=\" is no answer to an open point"),
        (&["--answer", "O1=c"], "\"O1=c\" is no answer to an open point"),
        (&["--answer", "O1=a"], "rev_0 takes this reading already"),
        (&["--answer", "O1=b", "--at", "review", "--from", "rev_0"], "cannot be used with"),
        (&["--answer", "O1=b", "--answer", "O1=a"], "O1 is answered twice"),
        (&["--answer", "O1=b", "--from", "rev_3"], "there is no revision \"rev_3\""),
    ] {
        bench.run(&[&["resume", "specs"], args].concat()).expect(2).says(&[words]);
        assert_eq!(bench.read("specs/journal.jsonl"), before, "{args:?}");
    }
    // An approval can be questioned, too.
    bench.write("script.jsonl", Script::default().answer("formalize", 9, 1, "draft", "").text());
    bench.run(&["resume", "specs", "--answer", "O1=b"]).expect(5);
    let journal = bench.journal("specs");
    let started = last(&journal, "branch_started");
    assert_eq!(started["feedback"][0]["node"], "informal_spec");
    assert!(started["feedback"][0]["text"].as_str().unwrap().contains("decided: yes."), "{started}");
}

#[test]
fn an_answer_to_another_open_point_leaves_the_question_open() {
    let more = "O2 [docs/counter.md:2] Is zero a start? Taken: yes. Otherwise: no. Affects: Init.\n";
    let accepting_both = accepting().replace("[\"O1\"]", "[\"O1\", \"O2\"]");
    let script = then_not(overshooting(&claim(Some("O1")), &opinion(&json!("O1"))), &accepting_both)
        .answer("informal_spec", 0, 1, "draft", &format!("{}{more}", informal("yes", "no")))
        .answer("informal_spec", 1, 1, "repair", &format!("{}{more}", informal("no", "yes")));
    let (bench, _) = found(&script, &[]);
    let approval = Script::default().answer("review", 0, 1, "draft", &accepting_both).having_read_all();
    bench.branch(&approval, &["--from", "rev_1", "--answer", "O2=a"]).expect(1);
    assert_eq!(outcome(&bench.journal("specs")), "ambiguity_found", "{:#?}", reasons(&bench.journal("specs")));
    assert_eq!(question(&bench)["open_point"]["id"], "O1");
}

#[test]
fn a_flaw_under_the_other_reading_is_reported_with_its_own_steps() {
    // Here the worker adds two, which no reading grants, but the review and its second reader say so.
    let line = |n: usize| json!({"step": n, "file": "docs/counter.md", "line": 3, "why": "it adds two"});
    let flaw = json!({"requirement": "R1", "property": "NeverAbove", "steps": [line(1), line(2), line(3)]});
    let review = json!({"verdict": "flaw", "summary": "s", "issues": [], "flaw": flaw}).to_string();
    let script = then_not(overshooting(&claim(Some("O1")), &opinion(&json!("O1"))), &review)
        .answer("formalize", 1, 1, "repair", &fenced(&MODULE.replace("n + 1", "n + 2").replace("< Max", "<= Max")))
        .answer("review", 1, 1, "second_reading", &opinion(&Value::Null));
    let bench = bench();
    let done = bench.forge(&script, &[]).expect(1);
    assert_eq!(outcome(&bench.journal("specs")), "flaw_found", "{:#?}", reasons(&bench.journal("specs")));
    let done = done.prints(&["\nFlaw: R1 is violated", "it adds two"]);
    assert!(!done.stdout.contains("Under reading"), "{}", done.stdout);
}

/// A forged approval must not skip the question.
#[test]
fn a_forged_approval_with_an_open_question_is_refused() {
    let script = then_not(overshooting(&claim(Some("O1")), &opinion(&json!("O1"))), &accepting());
    let (bench, _) = found(&script, &[]);
    let journal = bench.read("specs/journal.jsonl");
    let forgeries: [&[(&str, &str)]; 2] = [
        &[("ambiguity_found", "approved"), ("other_reading_approved", "approved")],
        &[
            ("ambiguity_found", "approved"),
            ("other_reading_approved", "approved"),
            ("\"other_reading\":true", "\"other_reading\":false"),
        ],
    ];
    for forgery in forgeries {
        let forged = forgery.iter().fold(journal.clone(), |text, (from, to)| text.replace(from, to));
        assert_ne!(forged, journal);
        bench.write("specs/journal.jsonl", &forged);
        let done = bench.run(&["audit", "--policy", "default", "specs"]);
        assert_ne!(done.status, Some(0), "{forgery:?}: {}", done.stdout);
    }
}

/// Otherwise any answer would lift a confirmed flaw.
#[test]
fn a_confirmed_flaw_is_lifted_only_by_an_answer_that_it_rests_on() {
    let script = overshooting(&claim(None), &opinion(&Value::Null));
    let bench = bench();
    bench.forge(&script, &[]).expect(1);
    assert_eq!(outcome(&bench.journal("specs")), "flaw_found");
    let before = bench.read("specs/journal.jsonl");
    bench.run(&["resume", "specs", "--answer", "O1=b"]).expect(2).says(&["ended in a confirmed flaw"]);
    assert_eq!(bench.read("specs/journal.jsonl"), before);
}

/// The answer to another point begins at the revision that the report shows, and facts do not call the first reading the
/// other one.
#[test]
fn an_answer_to_another_point_does_not_pretend_to_try_the_other_reading() {
    let more = "O2 [docs/counter.md:2] Is zero a start? Taken: yes. Otherwise: no. Affects: Init.\n";
    let script = overshooting(&claim(Some("O1")), &opinion(&json!("O1")));
    let informal = format!("{}{more}", informal("yes", "no"));
    let (bench, _) = found(&script.answer("informal_spec", 0, 1, "draft", &informal), &["--max-revisions", "0"]);
    // The script has no review.
    bench.write("script.jsonl", Script::default().answer("formalize", 9, 1, "draft", "").text());
    bench.run(&["resume", "specs", "--answer", "O2=a"]).expect(5);
    let facts = bench.read("specs/workspace/facts.md");
    assert!(!facts.contains("on purpose") && facts.contains("Is zero a start? Decided: yes."), "{facts}");
}

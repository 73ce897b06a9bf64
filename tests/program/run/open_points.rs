//! Questions that the documents leave open: an approval needs the reading of each accepted by its number.

use crate::support::counter::{
    CFG, DOC, INFORMAL, INVARIANTS, MODULE, WITNESSES, bench, fenced, good, good_sections, issue, review, sections,
};
use crate::support::forged::{forged, genuine};
use crate::support::{Bench, Script, name, outcome, reasons};
use serde_json::{Value, json};

const POINT: &str = "O1 [docs/counter.md:3] May the worker stop early? Taken: no. Otherwise: yes. Affects: R1, Add.\n";

fn with_points(points: &str) -> String {
    format!("{INFORMAL}## Open points\n{points}")
}

/// An approving review that accepts the reading of these.
fn accepting(points: &[&str]) -> String {
    json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_open_points": points}).to_string()
}

fn reviewed(points: &str, accepted: &[&str]) -> Script {
    good()
        .answer("informal_spec", 0, 1, "draft", &with_points(points))
        .answer("review", 0, 1, "draft", &accepting(accepted))
        .having_read_all()
}

fn last_guard(bench: &Bench) -> Value {
    let journal = bench.journal("specs");
    journal.iter().rfind(|e| name(e) == "guard_evaluated").unwrap()["data"].clone()
}

#[test]
fn an_open_point_is_accepted_by_its_number_only() {
    for accepted in [&[][..], &["O10"], &["O2"], &["R1"]] {
        let bench = bench();
        bench.forge(&reviewed(POINT, accepted), &["--max-revisions", "0"]).expect(1);
        assert_eq!(last_guard(&bench)["clause"], "open_points_accepted", "{accepted:?}");
        assert_eq!(outcome(&bench.journal("specs")), "not_approved");
        assert!(bench.read("specs/workspace/facts.md").contains("O1 [docs/counter.md:3] May the worker stop early?"));
    }
    let bench = bench();
    let done = bench.forge(&reviewed(POINT, &["O1: the documents say `adds one`"]), &[]).expect(0);
    done.prints(&[
        "O1 [docs/counter.md:3] May the worker stop early?\n",
        "taken: no.\n",
        "otherwise: yes.\n",
        "affects: R1, Add\n",
        "the reading of open point O1",
    ]);
    let report: Value =
        serde_json::from_str(&bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout).unwrap();
    assert_eq!(report["revisions"][0]["open_points"][0]["taken"], "no.");
}

#[test]
fn an_open_point_that_cannot_be_counted_or_lacks_a_reading_goes_back_to_its_author() {
    for (points, words) in [
        ("O1 [docs/counter.md:3] May it stop?\n", "O1 lacks `Taken:` and `Otherwise:`"),
        ("O1 [docs/counter.md:99] May it stop? Taken: no. Otherwise: yes.\n", "O1 [docs/counter.md:99]"),
        (&format!("{POINT}O1 [docs/counter.md:2] Is it zero? Taken: yes. Otherwise: no.\n"), "the number O1 is taken"),
        (&format!("- none\n## Notes\n{POINT}"), "below the heading `## Open points`"),
    ] {
        let script =
            reviewed(points, &["O1"]).answer("informal_spec", 0, 2, "repair", &with_points(POINT)).having_read_all();
        let bench = bench();
        bench.forge(&script, &[]).expect(0);
        let journal = bench.journal("specs");
        let sent: Vec<String> = journal
            .iter()
            .filter(|e| name(e) == "attempt_finished")
            .flat_map(|e| e["data"]["feedback"].as_array().cloned().unwrap_or_default())
            .map(|feedback| feedback["text"].to_string())
            .collect();
        assert!(sent.iter().any(|text| text.contains(words)), "{words}: {sent:#?} {:#?}", reasons(&journal));
    }
}

#[test]
fn a_reading_that_is_not_given_cannot_be_accepted() {
    let point = "O1 [docs/counter.md:3] May it stop?\n";
    // The second answer is taken as it is.
    let script =
        reviewed(point, &["O1"]).answer("informal_spec", 0, 2, "repair", &with_points(point)).having_read_all();
    let bench = bench();
    bench.forge(&script, &["--max-revisions", "0"]).expect(1);
    assert_eq!(last_guard(&bench)["clause"], "open_points_accepted");
}

#[test]
fn a_liveness_property_beside_a_violated_invariant_has_a_verdict() {
    let informal = format!("{INFORMAL}R2 [docs/counter.md:3] The counter reaches the limit. (liveness)\n");
    let module = MODULE.replace("n < Max", "n <= Max").replace("--algorithm", "--fair algorithm");
    let properties = "\\* covers R2\nFills == <>(n = Max)\n";
    let cfg = format!("{CFG}PROPERTY Fills\n");
    let script = good()
        .answer("informal_spec", 0, 1, "draft", &informal)
        .answer("formalize", 0, 1, "draft", &fenced(&module))
        .answer("generate_invariants", 0, 1, "draft", &sections(INVARIANTS, properties, WITNESSES, &cfg))
        .having_read_all();
    let bench = bench();
    let done = bench.forge(&script, &["--max-revisions", "0"]).expect(1);
    done.prints(&["BROKEN by NeverAbove", "holds, checked by Fills"]);
}

/// What the model takes for granted, accepted by its number only.
#[test]
fn an_assumption_is_accepted_by_its_number_only() {
    let informal =
        format!("{INFORMAL}## Assumptions\nA1 (bound) One worker.\nA2 [docs/counter.md:3] (fairness) It adds.\n");
    let accepting = |ids: &[&str]| {
        json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_assumptions": ids}).to_string()
    };
    let script = |ids: &[&str]| {
        let script = good().answer("informal_spec", 0, 1, "draft", &informal);
        script.answer("review", 0, 1, "draft", &accepting(ids)).having_read_all()
    };
    for accepted in [&[][..], &["A1"], &["A1", "A20"]] {
        let bench = bench();
        bench.forge(&script(accepted), &["--max-revisions", "0"]).expect(1);
        let guard = last_guard(&bench);
        assert_eq!(guard["clause"], "assumptions_accepted", "{accepted:?}");
        let facts = bench.read("specs/workspace/facts.md");
        assert!(facts.contains("- A1 [no line of the documents] (bound) One worker.\n"), "{facts}");
    }
    let bench = bench();
    bench.forge(&script(&["A1", "A2: line 3"]), &[]).expect(0).prints(&[
        "Assumptions of the model:\n  A1 [no line of the documents] (bound) One worker.\n",
        "  A2 [docs/counter.md:3] (fairness) It adds.\n",
        "rev_0: assumption A2: line 3",
    ]);
}

/// A journal whose facts leave out what the review does not accept is not one of an approval.
#[test]
fn a_forged_approval_with_an_open_point_an_assumption_or_a_sentence_that_is_not_accepted_is_refused() {
    let promise = "Time passes. A reader must never\nsee the limit change.\n";
    let informal = format!("{INFORMAL}## Open points\n{POINT}## Assumptions\nA1 (bound) One worker.\n");
    let review = json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_open_points": ["O1"],
                        "accepted_assumptions": ["A1"], "accepted_sentences": ["N2: nothing changes it"]});
    let script = good()
        .answer("informal_spec", 0, 1, "draft", &informal)
        .answer("informal_spec", 0, 2, "repair", &informal)
        .answer("review", 0, 1, "draft", &review.to_string())
        .having_read_all();
    let bench = bench();
    bench.write("docs/counter.md", format!("{DOC}{promise}"));
    bench.forge(&script, &[]).expect(0);
    genuine(&bench);
    for (field, clause) in [
        ("accepted_open_points", "open_points_accepted"),
        ("accepted_assumptions", "assumptions_accepted"),
        ("accepted_sentences", "sentences_accounted"),
    ] {
        // The review accepted nothing, and the facts still say that nothing is missing.
        let done =
            forged(&bench, ("attempt_finished", "review"), &format!("/facts/review/{field}"), &json!([])).expect(1);
        assert!(done.stdout.contains(clause), "{field}: {}", done.stdout);
    }
}

/// A document whose second sentence on line 5 demands something that the informal specification does not mention.
fn bench_with_a_promise() -> Bench {
    let bench = bench();
    bench.write("docs/counter.md", format!("{DOC}Time passes. A reader must never\nsee the limit change.\n"));
    bench
}

fn normative_sentences(bench: &Bench) -> Vec<Value> {
    let report: Value =
        serde_json::from_str(&bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout).unwrap();
    let revisions = report["revisions"].as_array().unwrap();
    revisions.last().unwrap()["normative_sentences"].as_array().cloned().unwrap_or_default()
}

#[test]
fn a_sentence_that_demands_something_is_asked_for_once_more_and_then_needs_a_reason() {
    let accepting = |ids: &[&str]| {
        json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_sentences": ids}).to_string()
    };
    let script = |ids: &[&str]| {
        let script = good().answer("informal_spec", 0, 2, "repair", INFORMAL);
        script.answer("review", 0, 1, "draft", &accepting(ids)).having_read_all()
    };
    for accepted in [&[][..], &["N2"], &["N1: the limit"], &["N2: "]] {
        let bench = bench_with_a_promise();
        let done = bench.forge(&script(accepted), &["--max-revisions", "0"]).expect(1);
        assert_eq!(last_guard(&bench)["clause"], "sentences_accounted", "{accepted:?}");
        done.prints(&["N2 [docs/counter.md:5-6]"]);
        let facts = bench.read("specs/workspace/facts.md");
        assert!(
            facts.contains("- N2 [docs/counter.md:5-6] \"A reader must never see the limit change.\"\n"),
            "{facts}"
        );
        let journal = bench.journal("specs");
        let finished: Vec<String> =
            journal.iter().filter(|e| name(e) == "attempt_finished").map(Value::to_string).collect();
        let asks = finished.iter().filter(|event| event.contains("these sentences of the documents demand something"));
        assert_eq!(asks.count(), 1, "asked for once more");
    }
    let bench = bench_with_a_promise();
    bench.forge(&script(&["N2: nothing changes the limit"]), &[]).expect(0).prints(&[
        "Normative sentences of the documents: 1 in requirements, 1 not accounted for\n",
        "  not accounted for: N2 [docs/counter.md:5-6] \"A reader must never see the limit change.\"\n",
        "rev_0: normative sentence N2: nothing changes the limit",
    ]);
}

#[test]
fn a_sentence_that_is_cited_or_declared_out_of_scope_is_accounted_for() {
    let place = "docs/counter.md:6";
    for (section, account) in [
        (format!("R2 [{place}] No reader sees the limit change.\n"), "requirements"),
        (format!("## Steps\n- Read [{place}]: a reader reads.\n"), "behaviour"),
        (
            format!("## Open points\nO1 [{place}] Who reads? Taken: no one. Otherwise: anyone. Affects: none.\n"),
            "open_points",
        ),
        (format!("## Assumptions\nA1 [{place}] (left out) Readers.\n"), "assumptions"),
        (format!("## Out of scope\n- [{place}] Readers are another protocol.\n"), "out_of_scope"),
    ] {
        let bench = bench_with_a_promise();
        let script = good().answer("informal_spec", 0, 1, "draft", &format!("{INFORMAL}{section}"));
        let review = json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_uncovered": ["R2: r"],
                            "accepted_open_points": ["O1"], "accepted_assumptions": ["A1"]});
        let script = script.answer("review", 0, 1, "draft", &review.to_string()).having_read_all();
        bench.forge(&script, &[]).expect(0);
        assert_eq!(normative_sentences(&bench)[1]["account"]["as"], account, "{section}");
        let facts = bench.read("specs/workspace/facts.md");
        assert_eq!(facts.contains("only a step cites"), account == "behaviour", "{facts}");
        assert_eq!(
            facts.contains("- [docs/counter.md:6] Readers are another protocol.\n  - N2 "),
            account == "out_of_scope"
        );
    }
}

#[test]
fn the_words_of_normative_sentences_are_a_setting() {
    for (flags, expected) in [
        (&["--normative-words", ""][..], 0),
        (&["--normative-words", "starts at,adds"], 2),
        (&["--normative-words", "NEVER"], 1),
    ] {
        let informal = format!("{INFORMAL}## Out of scope\n- [docs/counter.md] No need.\n");
        let bench = bench();
        let script = good().answer("informal_spec", 0, 1, "draft", &informal);
        bench.forge(&script, flags).expect(0);
        assert_eq!(normative_sentences(&bench).len(), expected, "{flags:?}");
    }
}

#[test]
fn an_assumption_without_a_kind_or_outside_of_its_section_goes_back_to_its_author() {
    for (assumptions, words) in [
        ("## Assumptions\nA1 [docs/counter.md:3] It adds.\n", "each assumption needs its kind"),
        ("## Assumptions\nA1 [docs/counter.md:30] (fairness) It adds.\n", "A1 [docs/counter.md:30]"),
        ("## Notes\nA1 (bound) One worker.\n", "below the heading `## Assumptions`"),
    ] {
        let script = good().answer("informal_spec", 0, 1, "draft", &format!("{INFORMAL}{assumptions}")).answer(
            "informal_spec",
            0,
            2,
            "repair",
            INFORMAL,
        );
        let bench = bench();
        bench.forge(&script, &[]).expect(0);
        let journal = bench.journal("specs");
        let finished = journal.iter().filter(|e| name(e) == "attempt_finished");
        let sent: Vec<String> = finished.map(|e| e["data"]["feedback"].to_string()).collect();
        assert!(sent.iter().any(|text| text.contains(words)), "{words}: {sent:#?}");
    }
}

/// `facts.md` points out fairness that no assumption names.
#[test]
fn fairness_that_no_assumption_names_is_pointed_out() {
    let script = good()
        .answer("formalize", 0, 1, "draft", &fenced(&MODULE.replace("--algorithm", "--fair algorithm")))
        .having_read_all();
    let bench = bench();
    bench.forge(&script, &[]).expect(0);
    let facts = bench.read("specs/workspace/facts.md");
    assert!(facts.contains("the specification assumes fairness (WF_ or SF_)"), "{facts}");
}

#[test]
fn a_requirement_that_says_too_much_goes_back_to_the_informal_specification() {
    for category in ["counterexample_issue", "wrong_invariant"] {
        let issue = json!({"severity": "major", "category": category, "blame": "requirement",
                           "description": "R1 says more", "suggestion": "less"});
        let review = json!({"verdict": "revise", "summary": "s", "issues": [issue]}).to_string();
        let bench = bench();
        bench.forge(&good().answer("review", 0, 1, "draft", &review).having_read_all(), &[]).expect(5);
        let journal = bench.journal("specs");
        let routed = journal.iter().rfind(|e| name(e) == "routed").unwrap();
        assert_eq!(routed["data"]["to"], "informal_spec", "{category}");
    }
}

#[test]
fn what_a_review_has_read_as_out_of_scope_is_not_sent_to_the_next_one() {
    let informal = |reason: &str| format!("{INFORMAL}## Out of scope\n- [docs/counter.md:1] {reason}\n");
    let script = |second: &str| {
        good()
            .answer("informal_spec", 0, 1, "draft", &informal("a title demands nothing of the counter"))
            .answer("review", 0, 1, "draft", &issue("major", "abstraction", "say more"))
            .having_read_all()
            .answer("informal_spec", 1, 1, "repair", &informal(second))
            .answer("formalize", 1, 1, "repair", &fenced(MODULE))
            .answer("generate_invariants", 1, 1, "draft", &good_sections())
            .answer("review", 1, 1, "draft", &review("approved"))
            .having_read_all()
    };
    let facts = |second: &str| -> Vec<String> {
        let bench = bench();
        bench.forge(&script(second), &[]).expect(0);
        let journal = bench.journal("specs");
        let asked = journal.iter().filter(|e| name(e) == "request_sent" && e["lifeline"] == "review");
        let facts = |e: &Value| {
            let offered = e["data"]["offered"].as_array().unwrap();
            let file = offered.iter().find(|file| file["path"] == "facts.md").unwrap();
            bench.read(&format!("specs/artifacts/{}", file["sha"].as_str().unwrap()))
        };
        asked.map(facts).collect()
    };
    let (listed, as_before) =
        ("a title demands nothing of the counter", "- the same line as an earlier review has read");
    let same = facts(listed);
    assert!(same[0].contains(listed) && !same[0].contains(as_before), "{}", same[0]);
    assert!(same[1].contains(as_before) && !same[1].contains(listed), "{}", same[1]);
    // A line about another concern accounts for sentences, too.
    let concern =
        "a title demands nothing of the counter\n## Other concerns\n- Titles: docs/counter.md:1; they have words";
    assert!(facts(concern)[1].contains(listed));
    // Another reason is read.
    let other = facts("a title of the counter is no demand");
    assert!(
        other[1].contains("a title of the counter is no demand") && !other[1].contains("an earlier review has read"),
        "{}",
        other[1]
    );
}

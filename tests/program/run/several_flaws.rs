//! Several properties are violated in one revision: the review judges each, and each claim has a second reader of its own.

use crate::support::counter::{CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, bench, fenced, good, sections};
use crate::support::{Bench, Done, Script, name, outcome, reasons};
use serde_json::{Value, json};

const AGREES: &str = "{\"agrees\": true, \"why\": \"line 3 grants the last step\"}";
const DISAGREES: &str = "{\"agrees\": false, \"why\": \"line 4 is no requirement\"}";

/// A claim that the property shows a flaw, with a line for each of its four states; `last` is that of the last one.
fn claim(requirement: &str, property: &str, last: usize) -> Value {
    let step = |n: usize, line: usize| json!({"step": n, "file": "docs/counter.md", "line": line, "why": "it says so"});
    json!({"requirement": requirement, "property": property, "steps": [step(1, 2), step(2, 3), step(3, 3), step(4, last)]})
}

/// A counter that passes its limit, with three properties that are violated, and this review of it.
fn overshooting(review: &Value) -> Script {
    let informal = format!(
        "{INFORMAL}R2 [docs/counter.md:4] It is never three or above.\nR3 [docs/counter.md:4] It is even or not above one.\n"
    );
    let invariants =
        format!("{INVARIANTS}\\* covers R2\nNotThree == n # 3\n\\* covers R3\nEvenOrSmall == n < 3 \\/ n % 2 = 0\n");
    let cfg = CFG.replace("NeverAbove", "NeverAbove NotThree EvenOrSmall");
    good()
        .answer("informal_spec", 0, 1, "draft", &informal)
        .answer("formalize", 0, 1, "draft", &fenced(&MODULE.replace("n < Max", "n <= Max")))
        .answer("generate_invariants", 0, 1, "draft", &sections(&invariants, "", WITNESSES, &cfg))
        .answer("review", 0, 1, "draft", &review.to_string())
        .having_read_all()
}

/// Claims of two flaws, the second one with this line for its last step, and an issue about the third property.
fn claims(last: usize) -> Value {
    json!({"verdict": "flaw", "summary": "s", "flaw": claim("R1", "NeverAbove", 3),
           "further_flaws": [claim("R2", "NotThree", last)],
           "issues": [{"severity": "minor", "category": "counterexample_issue", "blame": "invariant",
                       "description": "`EvenOrSmall` says more than R3", "suggestion": ""}]})
}

fn run(script: &Script, args: &[&str]) -> (Bench, Done) {
    let bench = bench();
    let done = bench.forge(script, args).expect(1);
    (bench, done)
}

fn violations(bench: &Bench) -> Vec<(String, String)> {
    let report = bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = report["revisions"][0]["violations"].as_array().unwrap();
    all.iter().map(|violation| (text(&violation["property"]), text(&violation["judgement"]))).collect()
}

fn pairs(expected: [(&str, &str); 3]) -> Vec<(String, String)> {
    expected.map(|(property, judgement)| (property.to_owned(), judgement.to_owned())).to_vec()
}

#[test]
fn each_claim_has_a_second_reader_of_its_own_and_the_report_shows_what_became_of_each_violation() {
    let script = overshooting(&claims(3)).answer("review", 0, 1, "second_reading", AGREES);
    for (second, judgement, words) in [
        (AGREES, "flaw", "NotThree: a flaw of the protocol, as a second reader confirms: line 3 grants the last step"),
        (
            DISAGREES,
            "claim_refused",
            "NotThree: claimed as a flaw, and refused: the second reader disagrees: line 4 is no requirement",
        ),
        (
            "I agree.",
            "claim_undecided",
            "NotThree: claimed as a flaw, and not decided: the answer of the second reader could not be read",
        ),
    ] {
        let script = script.clone().answer("review", 0, 1, "second_reading_2", second);
        let (bench, done) = run(&script, &[]);
        let journal = bench.journal("specs");
        assert_eq!(outcome(&journal), "flaw_found", "{:#?}", reasons(&journal));
        done.prints(&[
            "BROKEN by NeverAbove\n        NeverAbove: a flaw of the protocol, as a second reader confirms\n",
            words,
            "EvenOrSmall: the review blames the property: `EvenOrSmall` says more than R3",
        ]);
        let expected = pairs([("NeverAbove", "flaw"), ("NotThree", judgement), ("EvenOrSmall", "property_wrong")]);
        assert_eq!(violations(&bench), expected);
        // Each reader sees one claim only.
        let claims: Vec<String> = journal
            .iter()
            .filter(|e| name(e) == "request_sent" && e["data"]["purpose"].as_str().unwrap().starts_with("second"))
            .map(|e| {
                let offered = e["data"]["offered"].as_array().unwrap();
                let claim = offered.iter().find(|file| file["path"] == "claim.md").unwrap();
                bench.read(&format!("specs/artifacts/{}", claim["sha"].as_str().unwrap()))
            })
            .collect();
        assert_eq!(claims.len(), 2);
        assert!(claims[0].contains("R1 [") && !claims[0].contains("R2 ["), "{}", claims[0]);
        assert!(claims[1].contains("R2 [") && !claims[1].contains("R1 ["), "{}", claims[1]);
        bench.run(&["audit", "--policy", "default", "specs"]).expect(0);
    }
}

#[test]
fn a_further_claim_that_the_guard_refuses_has_no_second_reading() {
    let script = overshooting(&claims(99)).answer("review", 0, 1, "second_reading", AGREES);
    let (bench, done) = run(&script, &[]);
    assert_eq!(outcome(&bench.journal("specs")), "flaw_found");
    done.prints(&[
        "NotThree: claimed as a flaw, and refused: steps of the trace that are mapped to no line of the documents: 4",
    ]);
    assert_eq!(violations(&bench)[1], ("NotThree".to_owned(), "claim_refused".to_owned()));
}

#[test]
fn a_confirmed_further_claim_takes_the_place_of_a_refused_main_one() {
    let script = overshooting(&claims(3)).answer("review", 0, 1, "second_reading", DISAGREES).answer(
        "review",
        0,
        1,
        "second_reading_2",
        AGREES,
    );
    let (bench, done) = run(&script, &[]);
    let journal = bench.journal("specs");
    assert_eq!(outcome(&journal), "flaw_found", "{:#?}", reasons(&journal));
    done.prints(&[
        "NeverAbove: claimed as a flaw, and refused: the second reader disagrees: line 4 is no requirement",
        "NotThree: a flaw of the protocol, as a second reader confirms\n",
        "Flaw: R2 is violated (It is never three or above.), shown by NotThree",
    ]);
    let expected = pairs([("NeverAbove", "claim_refused"), ("NotThree", "flaw"), ("EvenOrSmall", "property_wrong")]);
    assert_eq!(violations(&bench), expected);
    bench.run(&["audit", "--policy", "default", "specs"]).expect(0);
}

/// A recording in which no second reading confirms a further claim cannot end as a flaw.
#[test]
fn a_journal_that_names_a_confirmed_further_claim_without_a_reading_of_it_is_refused() {
    let script = overshooting(&claims(3)).answer("review", 0, 1, "second_reading", DISAGREES).answer(
        "review",
        0,
        1,
        "second_reading_2",
        AGREES,
    );
    let (bench, _) = run(&script, &[]);
    let forged = bench
        .read("specs/journal.jsonl")
        .replace(r#""property":"NotThree","agrees":true"#, r#""property":"NotThree","agrees":false"#);
    assert_ne!(forged, bench.read("specs/journal.jsonl"));
    bench.write("specs/journal.jsonl", &forged);
    let done = bench.run(&["audit", "--policy", "default", "specs"]);
    assert_eq!(done.status, Some(1), "{}{}", done.stdout, done.stderr);
}

#[test]
fn a_violation_that_the_review_does_not_mention_is_not_judged() {
    let review = json!({"verdict": "flaw", "summary": "s", "issues": [], "flaw": claim("R1", "NeverAbove", 3)});
    let (bench, _) = run(&overshooting(&review).answer("review", 0, 1, "second_reading", AGREES), &[]);
    let expected = pairs([("NeverAbove", "flaw"), ("NotThree", "not_judged"), ("EvenOrSmall", "not_judged")]);
    assert_eq!(violations(&bench), expected);
}

/// A run that is killed between two second readings does not ask the first reader again.
#[test]
fn a_crash_between_two_second_readings_repeats_none() {
    let script = overshooting(&claims(3)).answer("review", 0, 1, "second_reading", AGREES);
    let bench = bench();
    bench.forge(&script, &[]).expect(5);
    // The recording of the first part knows what was read.
    let second = Script::default().answer("review", 0, 1, "second_reading_2", AGREES);
    bench.write("script.jsonl", bench.read("script.jsonl") + &second.text());
    bench.run(&["resume", "specs"]).expect(1);
    let journal = bench.journal("specs");
    let received = |purpose: &str| {
        journal.iter().filter(|e| name(e) == "answer_received" && e["data"]["purpose"] == purpose).count()
    };
    assert_eq!((received("second_reading"), received("second_reading_2")), (1, 1));
    assert_eq!(violations(&bench)[1].1, "flaw");
}

//! The report of a run: the basis of its verdict, with places, and nothing that no tool has shown.

use crate::support::counter::{
    CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, bench, fenced, good, issue, review, sections,
};
use crate::support::ran::NO_ANSWER;
use crate::support::{Bench, Script, name, outcome, reasons, routes};
use serde_json::{Value, json};

/// Two more requirements, whose places are wrong.
fn misplaced() -> String {
    format!(
        "{INFORMAL}R2 [docs/counter.md:300-310] It starts at zero.\nR3 [docs/nosuch.md:1-2] It ends.\n\
         R4 [\u{a7}3] It is small.\n"
    )
}

/// The properties, with these requirements covered.
fn covering(ids: &str) -> String {
    sections(&INVARIANTS.replace("R1", ids), "", WITNESSES, CFG)
}

#[test]
fn a_place_that_is_not_in_the_documents_is_sent_back_once_and_then_marked() {
    let script = good()
        .answer("informal_spec", 0, 1, "draft", &misplaced())
        .answer("informal_spec", 0, 2, "repair", &misplaced())
        .answer("generate_invariants", 0, 1, "draft", &covering("R1, R2, R3, R4"))
        .answer(
            "review",
            0,
            1,
            "draft",
            "{\"verdict\":\"approved\",\"issues\":[],\"accepted_changes\":[\"R2\",\"R3\",\"R4\"]}",
        )
        .having_read_all();
    let bench = bench();
    let marks = [
        "R1 [docs/counter.md:4] The counter",
        "R2 [docs/counter.md:300-310: no such lines] It starts",
        "R3 [docs/nosuch.md:1-2: no such document] It ends",
        "R4 [\u{a7}3: names no line of a document] It is",
    ];
    bench.forge(&script, &[]).expect(0).prints(&marks);
    let journal = bench.journal("specs");
    let first = journal.iter().find(|e| name(e) == "attempt_finished").unwrap();
    let told = first["data"]["feedback"][0]["text"].as_str().unwrap();
    assert!(told.contains("docs/counter.md:300-310") && told.contains("docs/counter.md has 4 lines"), "{told}");
    assert!(told.contains("there is no document docs/nosuch.md") && !told.contains("R4"), "{told}");
    let facts = bench.read("specs/workspace/facts.md");
    for mark in marks {
        assert!(facts.contains(mark), "{mark:?} in\n{facts}");
    }
    bench.run(&["report", "specs"]).expect(0).prints(&marks);
    // A branch tells it as well.
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "model_check"]).expect(0).prints(&marks);
}

#[test]
fn a_corrected_place_is_accepted() {
    let script =
        good().answer("informal_spec", 0, 1, "draft", &misplaced()).answer("informal_spec", 0, 2, "repair", INFORMAL);
    let done = {
        let bench = bench();
        bench.forge(&script, &[])
    }
    .expect(0);
    assert!(!done.stdout.contains("no such"), "{}", done.stdout);
}

const DEAD: &str = "  Add:\n    while n < Max do\n      n := n + 1;\n    end while;\n    if n > Max then\n      Alarm:\n        n := 0;\n    end if;\n";

#[test]
fn the_report_of_an_approval_lists_everything_that_was_accepted() {
    let module = MODULE.replace("  Add:\n    while n < Max do\n      n := n + 1;\n    end while;\n", DEAD);
    let first = |max: &str| {
        sections(
            &format!("{}Small == n < 5\n", INVARIANTS.replace("{\"Add\", \"Done\"}", "{\"Add\", \"Alarm\", \"Done\"}")),
            "",
            WITNESSES,
            &format!("{}CONSTRAINT Small\n", CFG.replace("Max = 2", max)),
        )
    };
    let cfg = "CONSTRAINT Small: no worker adds more";
    let accepts = json!({"verdict": "revise", "summary": "s", "accepted_changes": ["Max: smaller is enough"],
        "issues": [{"severity": "major", "category": "cfg_mismatch", "description": "d", "suggestion": "s"}]});
    let approves = json!({"verdict": "approved", "summary": "s", "issues": [], "intended_dead": ["Alarm: never rings"],
        "accepted_uncovered": ["R2: of time"], "accepted_cfg": [cfg]});
    let script = good()
        .answer("informal_spec", 0, 1, "draft", &format!("{INFORMAL}R2 [docs/counter.md:3] It adds in time.\n"))
        .answer("formalize", 0, 1, "draft", &fenced(&module))
        .answer("generate_invariants", 0, 1, "draft", &first("Max = 2"))
        .answer("review", 0, 1, "draft", &issue("major", "cfg_mismatch", "smaller"))
        .having_read_all()
        .answer("generate_invariants", 1, 1, "repair", &first("Max = 1"))
        .answer("review", 1, 1, "draft", &accepts.to_string())
        .having_read_all()
        .answer("generate_invariants", 2, 1, "repair", &first("Max = 1"))
        .answer("review", 2, 1, "draft", &approves.to_string())
        .having_read_all();
    let bench = bench();
    let words = [
        "The reviewer agreed by name, and no tool confirms:",
        "  rev_1: the change of Max: smaller is enough",
        "  rev_2: that no property covers R2: of time",
        "  rev_2: that the check is bounded by CONSTRAINT Small: no worker adds more",
        "  rev_2: that an action is never taken: Alarm: never rings",
        "  witness WitnessFull: reached after 2 states",
        "  never taken: Alarm",
        "  edited by hand: nothing",
        "      not covered, as the review accepts: of time",
    ];
    bench.forge(&script, &[]).expect(0).prints(&words);
    bench.run(&["report", "specs"]).expect(0).prints(&words);
    // A person's hand is told as well, to the reviewer and in the end.
    let spec = "specs/history/rev_2/Spec.tla";
    bench.write(spec, bench.read(spec).replace("variables n = 0;", "variables n = 0; \\* the counter"));
    let top = bench.read("specs/Spec.tla").replace("variables n = 0;", "variables n = 0; \\* not used");
    bench.write("specs/Spec.tla", top);
    let done = bench.run(&["resume", "specs", "--from", "rev_2", "--at", "model_check"]);
    let is_note = |line: &str| {
        line.starts_with("your edit of ")
            && line.contains("specs/Spec.tla is not part of this branch, which takes ")
            && line.ends_with("specs/history/rev_2/Spec.tla")
    };
    let lines = || done.stderr.lines();
    let noted = lines().position(is_note).expect("a note");
    assert!(noted < lines().position(|line| line.contains("branch from rev_2")).unwrap(), "{}", done.stderr);
    assert!(done.stderr.contains("branch from rev_2 as rev_3, with your Spec.tla"), "{}", done.stderr);
    let journal = bench.journal("specs");
    let facts = journal.iter().rfind(|e| name(e) == "request_sent" && e["rev"] == 3).unwrap()["data"]["offered"]
        .as_array()
        .unwrap()
        .iter()
        .find(|o| o["path"] == "facts.md")
        .map(|o| bench.read(&format!("specs/artifacts/{}", o["sha"].as_str().unwrap())))
        .unwrap();
    assert!(facts.contains("edited by hand since the last review: Spec.tla"), "{facts}");
    bench.run(&["report", "specs"]).expect(0).prints(&["  edited by hand: Spec.tla (before rev_3)"]);
}

#[test]
fn a_refused_approval_is_not_reported_as_approval() {
    let bench = crate::support::counter::bench_with_java();
    let cfg = CFG.replace("INVARIANTS TypeOK NeverAbove", "INVARIANT NeverAbove");
    let script = good().answer("generate_invariants", 0, 1, "draft", &sections(INVARIANTS, "", WITNESSES, &cfg));
    bench.forge(&script, &["--max-revisions", "0"]).expect(1);
    let text = bench.read("specs/review.md");
    assert!(
        text.starts_with("# Review: approved by the reviewer, refused by the guard: TypeOK was not among"),
        "{text}"
    );
    let good_bench = crate::support::counter::bench_with_java();
    good_bench.forge(&good(), &[]).expect(0);
    assert!(good_bench.read("specs/review.md").starts_with("# Review: approved\n"));
}

/// A run whose second pass is no better, and a branch from its first that is.
fn twice() -> (Script, Script) {
    let weak = sections(&INVARIANTS.replace("n <= Max", "n <= Max + 1"), "", WITNESSES, CFG);
    let repaired = INFORMAL.replace("The limit.", "The limit, and nothing else.");
    let first = good()
        .answer("review", 0, 1, "draft", &issue("major", "missing_behavior", "a step is missing"))
        .having_read_all()
        .answer("informal_spec", 1, 1, "repair", INFORMAL)
        .answer("formalize", 1, 1, "repair", &fenced(MODULE))
        .answer("generate_invariants", 1, 1, "draft", &weak)
        .answer("review", 1, 1, "draft", &review("revise"));
    let branch = good()
        .answer("informal_spec", 0, 1, "repair", &repaired)
        .answer("formalize", 0, 1, "repair", &fenced(MODULE))
        .answer("generate_invariants", 0, 1, "draft", &crate::support::counter::good_sections())
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all();
    (first, branch)
}

#[test]
fn a_recording_of_a_branched_run_has_only_the_revisions_that_led_to_its_end() {
    let (first, branch) = twice();
    let bench = bench();
    bench.forge(&first, &["--max-revisions", "1"]).expect(1);
    bench.write("branch.jsonl", branch.text());
    // What the reviewer of a module read is the same in a run that was made of it before.
    let learn = crate::support::counter::bench();
    learn.forge(&good(), &[]).expect(0);
    let sent = learn.journal("specs").into_iter().rfind(|e| name(e) == "request_sent").unwrap();
    let reads: Vec<Value> = sent["data"]["offered"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| json!({"path": o["path"], "sha": o["sha"]}))
        .collect();
    let filled: String = branch.text().lines().fold(String::new(), |text, line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["node"] == "review" {
            line["reads"] = json!(reads);
        }
        text + &line.to_string() + "\n"
    });
    bench.write("branch.jsonl", filled);
    bench
        .run(&["resume", "specs", "--from", "rev_0", "--recording", "branch.jsonl", "--record", "made.jsonl"])
        .expect(0);
    let journal = bench.journal("specs");
    assert_eq!(outcome(&journal), "approved", "{:#?}", reasons(&journal));
    let keys: Vec<String> = bench
        .read("made.jsonl")
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap())
        .map(|a| format!("{} {} {}", a["place"], a["node"].as_str().unwrap(), a["purpose"].as_str().unwrap()))
        .collect();
    let expected = [
        "0 informal_spec draft",
        "0 formalize draft",
        "0 generate_invariants draft",
        "0 review draft",
        "1 informal_spec repair",
        "1 formalize repair",
        "1 generate_invariants draft",
        "1 review draft",
    ];
    assert_eq!(keys, expected);
    bench.run(&["run", "docs", "--recording", "made.jsonl", "--out", "again"]).expect(0);
    let again = bench.journal("again");
    assert_eq!(routes(&again).last().unwrap(), "review->approved");
    assert_eq!(bench.read("again/informal_spec.md"), bench.read("specs/informal_spec.md"));
    assert_eq!(bench.read("again/Spec.tla"), bench.read("specs/Spec.tla"));
}

#[test]
fn a_branch_that_no_recording_can_reproduce_is_reported() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    bench
        .run(&["resume", "specs", "--from", "rev_0", "--at", "formalize", "--record", "made.jsonl"])
        .expect(NO_ANSWER)
        .says(&["made.jsonl", "replaying it gives another result"]);
    let again = ["resume", "specs", "--from", "rev_0", "--at", "formalize", "--record", "made.jsonl"];
    let done = bench.run(&again).expect(NO_ANSWER);
    // What stands at the top of the folder after a stop is said.
    assert!(done.stdout.contains("The files at the top of the folder are those of rev_2"), "{}", done.stdout);
}

const RAISE: &str = "    while n < Max do\n      n := n + 1;\n    end while;\n";

fn flawed() -> Script {
    flawed_by(&json!({"step": 1, "file": "docs/counter.md", "line": 2, "why": "so it begins"}))
}

fn flawed_by(step: &Value) -> Script {
    let flaw = json!({"requirement": "R1", "property": "GetsFull",
        "steps": [step],
        "unfair": {"file": "docs/counter.md", "line": 3, "why": "nobody must add"}});
    let claim = json!({"verdict": "flaw", "summary": "s", "issues": [], "flaw": flaw});
    assert!(MODULE.contains(RAISE));
    let properties = "\\* covers R1\nGetsFull == <>(n = Max)\n";
    good()
        .answer(
            "generate_invariants",
            0,
            1,
            "draft",
            &sections(
                "TypeOK == n \\in 0..10\n",
                properties,
                WITNESSES,
                "SPECIFICATION Spec\nCONSTANT Max = 1\nINVARIANT TypeOK\nPROPERTY GetsFull\n\\* WITNESS WitnessFull\n",
            ),
        )
        .answer("review", 0, 1, "draft", &claim.to_string())
        .having_read_all()
        // A claim that is sent back comes again as it was.
        .answer("review", 0, 2, "repair", &claim.to_string())
        .having_read_all()
        .answer("review", 0, 1, "second_reading", "{\"agrees\": true, \"why\": \"so it is\"}")
}

#[test]
fn a_flaw_is_reported_in_the_documents_words() {
    let bench = crate::support::counter::bench_with_java();
    let words = [
        "docs/counter.md, line 2: \"It starts at zero.\"\n",
        "so it begins",
        "under weak fairness of every action",
        "HOLDS",
        "the documents allow this behaviour to continue: docs/counter.md, line 3: \"While it is below the limit, a worker adds one.\"",
        "nobody must add",
    ];
    bench.forge(&flawed(), &["--max-revisions", "0"]).expect(1).prints(&words);
    bench.run(&["report", "specs"]).expect(0).prints(&words);
    let text = bench.read("specs/review.md");
    assert!(
        text.starts_with("# Review: flaw in the protocol claimed; it counts only if a second reader agrees\n"),
        "{text}"
    );
    for quoted in ["line 2: \"It starts at zero.\"", "line 3: \"While it is below the limit, a worker adds one.\""] {
        assert!(text.contains(quoted), "{quoted:?} in\n{text}");
    }
    // What is to be repaired begins where a repair begins.
    bench.run(&["resume", "specs", "--from", "rev_0", "--repair"]).expect(NO_ANSWER);
    let journal = bench.journal("specs");
    let begun = journal.iter().rfind(|e| name(e) == "attempt_started").unwrap();
    assert_eq!((&begun["lifeline"], &begun["rev"]), (&"informal_spec".into(), &1.into()));
}

#[test]
fn a_sentence_is_quoted_in_full_out_of_a_long_line() {
    let bench: Bench = bench();
    let long = "\u{e4}".repeat(300);
    bench.write(
        "docs/counter.md",
        format!("# The counter\nSome words. And so it begins at zero, {long}. More words.\nA worker adds one.\nNever above.\n"),
    );
    let sentence = format!("docs/counter.md, line 2: \"[\u{2026}] And so it begins at zero, {long}. [\u{2026}]\"");
    bench.forge(&flawed(), &["--max-revisions", "0"]).expect(1).prints(&[&sentence]);
}

#[test]
fn a_step_can_cite_several_places() {
    let step = |also: &str| {
        flawed_by(&json!({"step": 1, "file": "docs/counter.md", "line": 2, "also": [also], "why": "so it begins"}))
    };
    let words = [
        "docs/counter.md:3, 4: \"While it is below the limit, a worker adds one. [\u{2026}] It is never above the limit.\"",
        "      documents: \"It is never above the limit.\"\n      BROKEN by GetsFull",
    ];
    let bench = bench();
    bench.forge(&step("docs/counter.md:3, 4"), &["--max-revisions", "0"]).expect(1).prints(&words);
    let review = bench.read("specs/review.md");
    assert!(review.contains(words[0]), "{review}");
    // A place that does not exist maps the step to nothing.
    let bench = crate::support::counter::bench();
    let done = bench.forge(&step("docs/counter.md:9"), &["--max-revisions", "0"]).expect(1);
    assert!(done.stdout.contains("Outcome: not approved"), "{}", done.stdout);
    assert!(bench.read("specs/review.md").contains("mapped to no line of the documents: 1"), "{}", done.stdout);
}

#[test]
fn a_claim_can_be_read_without_the_module() {
    let bench = bench();
    bench.forge(&flawed(), &["--max-revisions", "0"]).expect(1);
    let claim = bench.read("specs/workspace/claim.md");
    for part in [
        "R1 [docs/counter.md:4] The counter is never above the limit.\n\nThe documents: \"It is never above the limit.\"\n",
        "\n# Constants\n\n- Max = 1\n",
        "\n# Variables\n\n- n \\in 0..10\n- pc: the next step of each process\n",
    ] {
        assert!(claim.contains(part), "{part:?} in\n{claim}");
    }
}

#[test]
fn facts_omit_clauses_that_only_follow_from_a_missing_check() {
    let broken = fenced(&MODULE.replace("end while;", "end whle;"));
    let script = good()
        .answer("formalize", 0, 1, "draft", &broken)
        .answer("formalize", 0, 2, "repair", &broken)
        .answer("formalize", 0, 3, "repair", &broken);
    let bench = bench();
    bench.forge(&script, &["--max-revisions", "0"]).expect(1);
    let facts = bench.read("specs/workspace/facts.md");
    let (_, clauses) = facts.split_once("## Clauses that would refuse").unwrap();
    assert!(clauses.contains("not accepted by the PlusCal translator"), "{clauses}");
    for consequence in ["no verdict", "TypeOK", "witness", "coverage", "left on the queue", "beyond the initial"] {
        assert!(!clauses.contains(consequence), "{consequence:?} in\n{clauses}");
    }
}

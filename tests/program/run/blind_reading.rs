//! The blind reading: what a property forbids, by a reader who sees no name and no document, beside its requirement.

use crate::support::counter::{
    self, CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, fenced, good, good_sections, issue, sections,
};
use crate::support::forged::{forged, genuine};
use crate::support::handoff::Waiting;
use crate::support::{Bench, Script, name, outcome};
use serde_json::{Value, json};

const SENTENCE: &str = "a state in which v1 is above c1";

fn said(sentence: &str) -> String {
    format!("```json\n{}\n```\n", json!({ "P1": sentence }))
}

/// An approving review that accepts the blind reading of these.
fn accepting(readings: &[&str]) -> String {
    json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_readings": readings}).to_string()
}

/// The answers of a first revision whose property is read blindly.
fn read(sentence: &str, accepted: &[&str]) -> Script {
    let script = good().answer("review", 0, 1, "blind_reading", &said(sentence));
    script.answer("review", 0, 1, "draft", &accepting(accepted)).having_read_all()
}

fn last_guard(bench: &Bench) -> Value {
    let journal = bench.journal("specs");
    journal.iter().rfind(|e| name(e) == "guard_evaluated").unwrap()["data"].clone()
}

/// How many answers of these purposes were received.
fn readings(bench: &Bench) -> usize {
    let is_reading =
        |e: &&Value| e["data"]["purpose"].as_str().is_some_and(|purpose| purpose.starts_with("blind_reading"));
    bench.journal("specs").iter().filter(|e| name(e) == "answer_received").filter(is_reading).count()
}

#[test]
fn a_property_is_accepted_by_its_name_beside_what_a_blind_reader_says() {
    for accepted in [&[][..], &["TypeOK"], &["NeverAboveAll"], &["R1"]] {
        let bench = counter::bench();
        bench.forge(&read(SENTENCE, accepted), &["--max-revisions", "0"]).expect(1);
        let guard = last_guard(&bench);
        assert_eq!(guard["clause"], "readings_accepted", "{accepted:?}");
        assert_eq!(guard["facts"]["unaccepted_readings"], json!(["NeverAbove"]));
        assert_eq!(outcome(&bench.journal("specs")), "not_approved");
        let facts = bench.read("specs/workspace/facts.md");
        let pair = "holds, checked by NeverAbove\n  documents: \"It is never above the limit.\"\n  \
                    blind reading of NeverAbove: a state in which n is above Max\n";
        assert!(facts.contains(pair), "{facts}");
    }
    let bench = counter::bench();
    let done = bench.forge(&read(SENTENCE, &["NeverAbove: it says the same"]), &[]).expect(0);
    assert!(!done.stdout.contains("a state in which"), "{}", done.stdout);
    done.prints(&["rev_0: the blind reading of NeverAbove: it says the same"]);
    assert!(!done_text(&bench).contains("no blind reading"));
    assert!(done_text(&bench).contains("only the formulas:\n  NeverAbove: a state in which n is above Max\n"));
    assert!(bench.read("specs/review.md").contains("## Blind readings accepted\n\n- NeverAbove: it says the same"));
    let report = json_report(&bench);
    assert_eq!(report["revisions"][0]["blind_reading"], json!({"NeverAbove": "a state in which n is above Max"}));
    genuine(&bench);
}

fn done_text(bench: &Bench) -> String {
    bench.run(&["report", "specs"]).expect(0).stdout
}

fn json_report(bench: &Bench) -> Value {
    serde_json::from_str(&bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout).unwrap()
}

#[test]
fn the_blind_reader_sees_module_and_properties_without_a_name_of_theirs() {
    let bench = counter::bench();
    bench.forge(&read(SENTENCE, &["NeverAbove"]), &[]).expect(0);
    let journal = bench.journal("specs");
    let is_asked = |e: &&Value| name(e) == "request_sent" && e["data"]["purpose"] == "blind_reading";
    let sent = &journal.iter().find(is_asked).unwrap()["data"];
    let text = |sha: &Value| bench.read(&format!("specs/artifacts/{}", sha.as_str().unwrap()));
    let offered = sent["offered"].as_array().unwrap();
    assert_eq!(offered.iter().map(|file| &file["path"]).collect::<Vec<_>>(), ["M.tla"]);
    let (module, prompt) = (text(&offered[0]["sha"]), text(&sent["prompt"]));
    assert_eq!(
        module,
        "---- MODULE M ----\nEXTENDS Naturals\nCONSTANT c1\n\n(* --algorithm a1\nvariables v1 = 0;\nbegin\n  a2:\n    \
         while v1 < c1 do\n      v1 := v1 + 1;\n    end while;\nend algorithm; *)\n\n\
         TypeOK == v1 \\in 0..10 /\\ pc \\in {\"a2\", \"Done\"}\n\nP1 == v1 <= c1\n\na3 == v1 = c1\n\n====\n"
    );
    for word in ["ounter", "NeverAbove", "Max", "R1", "limit", "docs/", "review"] {
        assert!(!module.contains(word) && !prompt.contains(word), "{word} in\n{prompt}\n{module}");
    }
}

#[test]
fn a_tab_means_the_same_for_the_blind_reader_the_tools_and_a_person() {
    // With a tab, the last bullet is in column 9 and belongs to the second disjunct; with a blank it would be in column 2.
    let property = |indent: &str| format!("NeverAbove ==\n    \\/ n \\in 0..10\n    \\/ n > 3\n{indent}/\\ n <= Max\n");
    let sections = |indent: &str| {
        let definition = counter::INVARIANTS.lines().find(|line| line.starts_with("NeverAbove")).unwrap();
        let invariants = counter::INVARIANTS.replace(&format!("{definition}\n"), &property(indent));
        counter::sections(&invariants, "", counter::WITNESSES, counter::CFG)
    };
    let bench = counter::bench();
    bench.forge(&read(SENTENCE, &["NeverAbove"]).answer("generate_invariants", 0, 1, "draft", &sections("\t")), &[]);
    let module = bench.read("specs/history/rev_0/Spec.tla");
    assert!(module.contains(&property("        ")) && !module.contains('\t'), "{module}");
    let journal = bench.journal("specs");
    let is_asked = |e: &&Value| name(e) == "request_sent" && e["data"]["purpose"] == "blind_reading";
    let asked = journal.iter().find(is_asked).unwrap();
    let shown = bench.read(&format!("specs/artifacts/{}", asked["data"]["offered"][0]["sha"].as_str().unwrap()));
    assert!(shown.contains("    \\/ v1 > 3\n        /\\ v1 <= c1\n"), "{shown}");
    // A file that a person saves with tabs is the same specification.
    bench.write(
        "specs/history/rev_0/Spec.tla",
        module.replace(&property("        "), &property("\t")).replace('\n', "\r\n"),
    );
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "model_check", "--max-revisions", "0"]);
    let journal = bench.journal("specs");
    let branch = journal.iter().rfind(|e| name(e) == "branch_started").unwrap();
    assert_eq!(branch["data"]["edited"], json!([]), "{branch}");
}

#[test]
fn a_property_without_a_sentence_is_asked_for_once_more_and_then_prevents_the_approval() {
    let unread = read("", &["NeverAbove: the reader said nothing"]);
    let bench = counter::bench();
    let mended = unread.clone().answer("review", 0, 1, "blind_reading_repair", &said(SENTENCE));
    bench.forge(&mended, &[]).expect(0);
    assert_eq!(readings(&bench), 2);

    let bench = counter::bench();
    let silent = unread.answer("review", 0, 1, "blind_reading_repair", "P1 is fine.");
    bench.forge(&silent, &["--max-revisions", "0"]).expect(1);
    assert_eq!(last_guard(&bench)["clause"], "readings_accepted");
    let journal = bench.journal("specs");
    let event = journal.iter().find(|e| name(e) == "properties_read").unwrap();
    assert_eq!(event["data"]["unread"], json!(["NeverAbove"]));
    assert!(bench.read("specs/workspace/facts.md").contains("not read: it cannot be accepted"));
}

#[test]
fn what_has_not_changed_is_not_read_again() {
    let script = read(SENTENCE, &[]).answer("review", 1, 1, "repair", &accepting(&["NeverAbove"])).having_read_all();
    let bench = counter::bench();
    bench.forge(&script, &[]).expect(0);
    assert_eq!(readings(&bench), 1);
    assert_eq!(json_report(&bench)["revisions"][1]["blind_reading"]["NeverAbove"], "a state in which n is above Max");

    let changed = "TypeOK == n \\in 0..10 /\\ pc \\in {\"Add\", \"Done\"}\n\\* covers R1\nNeverAbove == n < Max + 1\n";
    let script = good()
        .answer("review", 0, 1, "blind_reading", &said(SENTENCE))
        .answer("review", 0, 1, "draft", &issue("major", "wrong_invariant", "it is too strong"))
        .having_read_all()
        .answer("generate_invariants", 1, 1, "repair", &sections(changed, "", WITNESSES, CFG))
        .answer("review", 1, 1, "blind_reading", &said("v1 at c1 + 1"))
        .answer("review", 1, 1, "draft", &{
            let accepting = accepting(&["NeverAbove"]);
            let mut review: Value = serde_json::from_str(&accepting).unwrap();
            review["accepted_changes"] = json!(["NeverAbove"]);
            review.to_string()
        })
        .having_read_all();
    let bench = counter::bench();
    bench.forge(&script, &[]).expect(0);
    assert_eq!(readings(&bench), 2);
    assert_eq!(json_report(&bench)["revisions"][1]["blind_reading"]["NeverAbove"], "n at Max + 1");
}

/// The module changes, and neither the property nor what it uses.
#[test]
fn a_property_of_another_module_with_the_same_formula_is_not_read_again() {
    let changed = MODULE.replace("  Add:", "  Begin:\n    skip;\n  Add:");
    let types = INVARIANTS.replace("{\"Add\"", "{\"Begin\", \"Add\"");
    let script = |sections: &str| {
        good()
            .answer("review", 0, 1, "blind_reading", &said(SENTENCE))
            .answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "it begins at once"))
            .having_read_all()
            .answer("formalize", 1, 1, "repair", &fenced(&changed))
            .answer("generate_invariants", 1, 1, "draft", sections)
            .answer("review", 1, 1, "blind_reading", &said("v1 at c1 + 1"))
            .answer("review", 1, 1, "draft", &{
                let mut review: Value = serde_json::from_str(&accepting(&["NeverAbove"])).unwrap();
                review["accepted_changes"] = json!(["NeverAbove", "TypeOK", "Limit"]);
                review.to_string()
            })
            .having_read_all()
    };
    for (invariants, expected) in [
        (types.clone(), (1, "a state in which n is above Max")),
        // What the property uses has changed.
        (
            types.replace("\\* covers R1\n", "Limit == Max\n\\* covers R1\n").replace("n <= Max", "n <= Limit"),
            (2, "n at Max + 1"),
        ),
    ] {
        let bench = counter::bench();
        bench.forge(&script(&sections(&invariants, "", WITNESSES, CFG)), &[]).expect(0);
        let read = json_report(&bench)["revisions"][1]["blind_reading"]["NeverAbove"].as_str().unwrap().to_owned();
        assert_eq!((readings(&bench), read.as_str()), expected);
        genuine(&bench);
    }
}

#[test]
fn nothing_is_read_if_no_approval_is_possible_or_if_it_is_off() {
    let violated =
        read(SENTENCE, &[]).answer("formalize", 0, 1, "draft", &fenced(&MODULE.replace("n < Max", "n <= Max")));
    let bench = counter::bench();
    bench.forge(&violated, &["--max-revisions", "0"]).expect(1);
    assert_eq!(readings(&bench), 0);

    let bench = counter::bench();
    let done = bench.forge(&read(SENTENCE, &[]), &["--blind-reading", "off"]).expect(0);
    done.prints(&["  no blind reading of the properties\n"]);
    assert_eq!(readings(&bench), 0);
    assert_eq!(json_report(&bench)["revisions"][0]["blind_reading"], Value::Null);
    assert!(bench.events("specs")[0]["data"]["blind_reading"].is_null());

    // A recording without such an answer is of a run without a blind reading.
    let bench = counter::bench();
    bench.forge(&good(), &["--blind-reading", "on"]).expect(0).prints(&["  no blind reading of the properties\n"]);
}

#[test]
fn a_setting_turns_it_off_and_a_live_run_asks() {
    let bench = counter::bench();
    bench.write("tlaforge.toml", "blind_reading = false\n");
    bench.forge(&read(SENTENCE, &[]), &[]).expect(0).prints(&["no blind reading"]);

    let bench = counter::bench();
    let args = ["run", "docs", "--provider", "handoff", "--out", "specs", "--blind-reading", "on"];
    let mut waiting = Waiting::start(&bench, &args);
    for answer in [INFORMAL.to_owned(), fenced(MODULE), good_sections()] {
        waiting.answer(&answer);
        waiting.next();
    }
    let request = std::fs::read_to_string(waiting.folder.join("request.md")).unwrap();
    assert!(request.contains("P1 == v1 <= c1") && !request.contains("NeverAbove"), "{request}");
    waiting.kill();
}

/// Killed at each event of the review, the run asks nobody twice.
#[test]
fn a_reading_that_was_received_is_not_asked_for_again_after_a_crash() {
    let reference = counter::bench();
    let script = read(SENTENCE, &["NeverAbove"]);
    reference.forge(&script, &[]).expect(0);
    let journal = reference.journal("specs");
    let first = journal.iter().find(|e| e["lifeline"] == "review").unwrap()["seq"].as_u64().unwrap();
    assert!(journal.iter().any(|e| name(e) == "properties_read"));
    for seq in first..journal.len() as u64 {
        let bench = counter::bench();
        bench.write("script.jsonl", reference.read("script.jsonl"));
        let args = ["run", "docs", "--recording", "script.jsonl", "--out", "specs"];
        let killed = bench.run_with(&args, &[("TLAFORGE_CRASH", &format!("after:{seq}"))]);
        if killed.status.is_none() {
            bench.run(&["resume", "specs"]).expect(0);
        }
        assert_eq!(readings(&bench), 1, "after event {seq}");
        let events = bench.journal("specs");
        assert_eq!(events.iter().filter(|e| name(e) == "properties_read").count(), 1, "after event {seq}");
        assert_eq!(outcome(&events), "approved");
    }
}

#[test]
fn a_forged_approval_without_the_reading_is_refused() {
    let bench = counter::bench();
    bench.forge(&read(SENTENCE, &["NeverAbove"]), &[]).expect(0);
    for (place, value) in [("/module", json!("0".repeat(64))), ("/forbids", json!({}))] {
        let done = forged(&bench, ("properties_read", "review"), place, &value).expect(1);
        assert!(done.stdout.contains("readings_accepted"), "{}", done.stdout);
    }
    // One that the review does not accept, too.
    let facts = "/facts/approval/unaccepted_readings";
    let done = forged(&bench, ("attempt_finished", "review"), facts, &json!(["NeverAbove"])).expect(1);
    assert!(done.stdout.contains("readings_accepted"), "{}", done.stdout);
}

#[test]
fn assertions_that_cover_a_requirement_are_read_as_one_property() {
    let module = MODULE
        .replace("EXTENDS Naturals", "EXTENDS Naturals, TLC")
        .replace("      n := n + 1;\n", "      n := n + 1;\n      assert n <= Max;\n");
    let invariants = "TypeOK == n \\in 0..10 /\\ pc \\in {\"Add\", \"Done\"}\n";
    let cfg = CFG.replace(" NeverAbove", "") + "\\* Assertion covers R1\n";
    let script = good()
        .answer("formalize", 0, 1, "draft", &fenced(&module))
        .answer("generate_invariants", 0, 1, "draft", &sections(invariants, "", WITNESSES, &cfg))
        .answer("review", 0, 1, "blind_reading", &said("the assert after the step fails if v1 is above c1"));
    let script = script.of_this_version();
    let accepted = |quote: &str| {
        let item = json!({"name": "Assertion", "reason": "all three say the same", "quote": quote});
        let readings = if quote.is_empty() { json!([]) } else { json!([item]) };
        let review = json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_readings": readings});
        script.clone().answer("review", 0, 1, "draft", &review.to_string()).having_read_all()
    };
    let bench = counter::bench();
    bench.forge(&accepted(""), &["--max-revisions", "0"]).expect(1);
    assert_eq!(last_guard(&bench)["facts"]["unaccepted_readings"], json!(["Assertion"]));
    let journal = bench.journal("specs");
    let is_asked = |e: &&Value| name(e) == "request_sent" && e["data"]["purpose"] == "blind_reading";
    let sent = &journal.iter().find(is_asked).unwrap()["data"];
    let prompt = bench.read(&format!("specs/artifacts/{}", sent["prompt"].as_str().unwrap()));
    assert!(prompt.contains("`P1` stands for the assertions of the algorithm together"), "{prompt}");
    let facts = bench.read("specs/workspace/facts.md");
    assert!(facts.contains("blind reading of Assertion: the assert after the step fails if n is above Max"), "{facts}");
    let bench = counter::bench();
    bench.forge(&accepted("never above the limit"), &[]).expect(0);
    genuine(&bench);
    // Words that the document does not say: once more, and then the reading is not accepted.
    let wrong = accepted("it is always below the limit");
    let bench = counter::bench();
    let again =
        json!({"verdict": "approved", "summary": "s", "issues": [], "unchanged": ["accepted_readings"]}).to_string();
    bench.forge(&wrong.answer("review", 0, 2, "repair", &again).having_read_all(), &["--max-revisions", "0"]).expect(1);
    assert_eq!(last_guard(&bench)["facts"]["unaccepted_readings"], json!(["Assertion"]));
    assert!(bench.read("specs/workspace/feedback.md").contains("a few words of each cited sentence"));
    // A recording of an earlier version has no reading of assertions.
    let old = script.clone().answer("review", 0, 1, "draft", &accepting(&[])).having_read_all();
    let old = old.of_earlier_version();
    let bench = counter::bench();
    bench.forge(&old, &["--max-revisions", "0"]).expect(1);
    assert_eq!(last_guard(&bench)["clause"], "property_covers", "assertions alone covered nothing");
    assert!(!done_text(&bench).contains("accepts no blind reading"), "{}", done_text(&bench));
}

#[test]
fn what_holds_beside_a_violation_is_read_and_says_whether_the_review_accepts_it() {
    let invariants = INVARIANTS.to_owned() + "\\* covers R2\nStartsAtZero == n >= 0\n";
    let informal = format!("{INFORMAL}R2 [docs/counter.md:2] It starts at zero. (safety)\n");
    let cfg = CFG.replace(" NeverAbove", " NeverAbove StartsAtZero");
    let flaw = |readings: &[&str]| {
        let steps: Vec<Value> =
            (1..=4).map(|n| json!({"step": n, "file": "docs/counter.md", "line": 3, "why": "it adds one"})).collect();
        json!({"verdict": "flaw", "summary": "s", "issues": [], "accepted_readings": readings,
               "flaw": {"requirement": "R1", "property": "NeverAbove", "steps": steps}})
    };
    let script = |readings: &[&str]| {
        good()
            .answer("informal_spec", 0, 1, "draft", &informal)
            .answer("formalize", 0, 1, "draft", &fenced(&MODULE.replace("n < Max", "n <= Max")))
            .answer("generate_invariants", 0, 1, "draft", &sections(&invariants, "", WITNESSES, &cfg))
            .answer("review", 0, 1, "draft", &flaw(readings).to_string())
            .having_read_all()
            .answer("review", 0, 1, "second_reading", "{\"agrees\": true, \"why\": \"line 3\"}")
    };
    let read = |script: Script| script.answer("review", 0, 1, "blind_reading", &said("v1 below zero"));
    let unaccepted = "holds, checked by StartsAtZero; the review accepts no blind reading of StartsAtZero";
    for (script, is_accepted, is_read) in [
        (read(script(&["StartsAtZero"])), true, true),
        (read(script(&[])), false, true),
        // A recording of an earlier version, in which another revision had one.
        (script(&[]).answer("review", 1, 1, "blind_reading", &said("v1 below zero")), false, false),
    ] {
        let bench = counter::bench();
        bench.forge(&script, &[]).expect(1);
        assert_eq!(outcome(&bench.journal("specs")), "flaw_found");
        assert_eq!(readings(&bench), usize::from(is_read));
        assert_eq!(done_text(&bench).contains(unaccepted), !is_accepted, "{}", done_text(&bench));
        let journal = bench.journal("specs");
        let is_review =
            |e: &&Value| name(e) == "request_sent" && e["data"]["purpose"] == "draft" && e["lifeline"] == "review";
        let offered = &journal.iter().find(is_review).unwrap()["data"]["offered"];
        let facts = offered.as_array().unwrap().iter().find(|file| file["path"] == "facts.md").unwrap();
        let facts = bench.read(&format!("specs/artifacts/{}", facts["sha"].as_str().unwrap()));
        assert_eq!(facts.contains("blind reading of StartsAtZero: n below zero"), is_read, "{facts}");
        // What is violated speaks for itself.
        assert!(!facts.contains("blind reading of NeverAbove"), "{facts}");
        genuine(&bench);
    }
}

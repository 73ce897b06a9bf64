//! Defects of the original pipeline that this one must not have. Errors of models are in `misbehaving_models.rs`.

use crate::support::counter::{
    CFG, INVARIANTS, MODULE, WITNESSES, bench, fenced, good, good_sections, issue, review, sections,
};
use crate::support::{Bench, Script, name, routes};

/// The recording ends at the request that the test looks at: its files are laid out in the workspace.
const NO_ANSWER: i32 = 5;

fn asked(script: &Script) -> Bench {
    let bench = bench();
    bench.forge(script, &[]).expect(NO_ANSWER);
    bench
}

/// The last request: its node, and the files that it offers.
fn last_request(bench: &Bench) -> (String, Vec<String>) {
    let journal = bench.journal("specs");
    let sent = journal.iter().rfind(|e| name(e) == "request_sent").unwrap();
    let offered = sent["data"]["offered"].as_array().unwrap();
    let files = offered.iter().map(|o| o["path"].as_str().unwrap().to_owned()).collect();
    (sent["data"]["key"]["node"].as_str().unwrap().to_owned(), files)
}

#[test]
fn each_of_the_ten_categories_routes_to_its_node() {
    for (category, node) in [
        ("missing_behavior", "informal_spec"),
        ("missing_invariant", "informal_spec"),
        ("liveness_gap", "informal_spec"),
        ("abstraction", "informal_spec"),
        ("extra_behavior", "formalize"),
        ("state_explosion_risk", "formalize"),
        ("counterexample_issue", "formalize"),
        ("wrong_invariant", "generate_invariants"),
        ("missing_type_invariant", "generate_invariants"),
        ("cfg_mismatch", "generate_invariants"),
    ] {
        let script = good().answer("review", 0, 1, "draft", &issue("major", category, "see there"));
        let bench = asked(&script);
        assert_eq!(routes(&bench.journal("specs")).last().unwrap(), &format!("review->{node}"), "{category}");
    }
    let invariant = issue("major", "counterexample_issue", "x").replace("\"blame\":null", "\"blame\":\"invariant\"");
    let bench = asked(&good().answer("review", 0, 1, "draft", &invariant));
    assert_eq!(routes(&bench.journal("specs")).last().unwrap(), "review->generate_invariants");
}

#[test]
fn a_repair_request_has_the_failed_text_with_line_numbers_and_the_diagnostics() {
    let broken = MODULE.replace("n := n + 1;", "n := n + ;");
    let bench = asked(&good().answer("formalize", 0, 1, "draft", &fenced(&broken)));
    assert_eq!(last_request(&bench).0, "formalize");
    let previous = bench.read("specs/workspace/previous.md");
    let line = broken.lines().position(|l| l.contains("n + ;")).unwrap() + 1;
    assert!(
        previous.lines().any(|l| l.trim_start().starts_with(&format!("{line} |")) && l.contains("n + ;")),
        "{previous}"
    );
    let feedback = bench.read("specs/workspace/feedback.md");
    assert!(feedback.contains("rejected") && feedback.contains("line"), "{feedback}");
}

#[test]
fn a_counterexample_is_passed_on_completely() {
    // Five states, and a review that blames the specification.
    let overshoots = MODULE.replace("while n < Max", "while n <= Max");
    let script = good()
        .answer("formalize", 0, 1, "draft", &fenced(&overshoots))
        .answer("generate_invariants", 0, 1, "draft", &good_sections().replace("Max = 2", "Max = 3"))
        .answer("review", 0, 1, "draft", &issue("blocker", "counterexample_issue", "it goes too far"));
    let bench = asked(&script);
    assert_eq!(last_request(&bench).0, "formalize");
    let check = bench.read("specs/workspace/check.md");
    let (_, counterexample) = check.split_once("## Counterexample").unwrap();
    let lines = std::iter::once("n=0".to_owned()).chain((1..=4).map(|n| format!("n:{}->{n}", n - 1)));
    for line in lines {
        assert!(counterexample.lines().any(|l| l.replace(' ', "") == line), "{check}");
    }
    let journal = bench.journal("specs");
    let checked = journal.iter().find(|e| name(e) == "check_finished").unwrap();
    let steps = checked["data"]["outcome"]["trace"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 5);
    assert_eq!(steps[4]["state"]["n"], "4");
}

#[test]
fn a_violated_temporal_property_is_passed_on_with_its_lasso() {
    let answer = sections(
        INVARIANTS,
        "\\* covers R1\nEndsAbove == <>(n > Max)\n",
        WITNESSES,
        &format!("{CFG}PROPERTY EndsAbove\n"),
    );
    let script = good().answer("generate_invariants", 0, 1, "draft", &answer).answer(
        "review",
        0,
        1,
        "draft",
        &issue("major", "wrong_invariant", "it says too much"),
    );
    let bench = asked(&script);
    let journal = bench.journal("specs");
    let outcome = &journal.iter().find(|e| name(e) == "check_finished").unwrap()["data"]["outcome"];
    assert_eq!(outcome["violated"]["name"], "EndsAbove", "{outcome}");
    assert!(
        !outcome["trace"]["lasso"].is_null() && !outcome["trace"]["steps"].as_array().unwrap().is_empty(),
        "{outcome}"
    );
}

#[test]
fn resolved_feedback_is_not_repeated() {
    let script = good()
        .answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "the first complaint"))
        .answer("formalize", 1, 1, "repair", &fenced(&MODULE.replace("n + 1", "1 + n")))
        .answer("generate_invariants", 1, 1, "draft", &good_sections())
        .answer("review", 1, 1, "draft", &issue("major", "extra_behavior", "the second complaint"));
    let bench = asked(&script);
    let feedback = bench.read("specs/workspace/feedback.md");
    assert!(feedback.contains("the second complaint") && !feedback.contains("the first complaint"), "{feedback}");
}

#[test]
fn rejected_drafts_are_kept() {
    let broken = MODULE.replace("end while;", "end whle;");
    let script = good().answer("formalize", 0, 1, "draft", &fenced(&broken)).answer(
        "formalize",
        0,
        2,
        "repair",
        &fenced(MODULE),
    );
    let bench = bench();
    bench.forge(&script, &[]).expect(0);
    let journal = bench.journal("specs");
    let kept: Vec<String> = journal
        .iter()
        .filter(|e| name(e) == "answer_received" && e["lifeline"] == "formalize")
        .map(|e| bench.read(&format!("specs/artifacts/{}", e["data"]["artifact"].as_str().unwrap())))
        .collect();
    assert_eq!(kept, [fenced(&broken), fenced(MODULE)]);
    let prompts = journal.iter().filter(|e| name(e) == "request_sent");
    for sent in prompts {
        let prompt = bench.read(&format!("specs/artifacts/{}", sent["data"]["prompt"].as_str().unwrap()));
        assert!(prompt.len() > 100);
    }
}

#[test]
fn helpers_and_operators_with_parameters_are_not_invariants() {
    let invariants = format!("Limit == Max\nUpTo(k) == 0..k\n{}", INVARIANTS.replace("n <= Max", "n \\in UpTo(Limit)"));
    let bench = bench();
    let script = good().answer("generate_invariants", 0, 1, "draft", &sections(&invariants, "", WITNESSES, CFG));
    bench.forge(&script, &[]).expect(0);
    let journal = bench.journal("specs");
    let outcome = &journal.iter().find(|e| name(e) == "check_finished").unwrap()["data"]["outcome"];
    assert_eq!(outcome["invariants"], serde_json::json!(["TypeOK", "NeverAbove"]));
}

#[test]
fn a_module_that_only_mentions_an_algorithm_is_not_translated() {
    let plain = "---- MODULE Spec ----\nEXTENDS Naturals\n\\* This algorithm has no PlusCal.\nCONSTANT Max\nVARIABLE n\n\
                 Init == n = 0\nAdd == n < Max /\\ n' = n + 1\nStay == n = Max /\\ UNCHANGED n\nNext == Add \\/ Stay\n\
                 Spec == Init /\\ [][Next]_n\n====\n";
    let script = good().answer("formalize", 0, 1, "draft", &fenced(plain)).answer(
        "generate_invariants",
        0,
        1,
        "draft",
        &sections("TypeOK == n \\in 0..10\n\\* covers R1\nNeverAbove == n <= Max\n", "", WITNESSES, CFG),
    );
    let bench = bench();
    bench.forge(&script, &[]).expect(0);
    assert!(!bench.read("specs/Spec.tla").contains("BEGIN TRANSLATION"));
}

#[test]
fn a_check_that_ran_out_of_time_keeps_its_output_and_invents_no_counts() {
    let endless = MODULE.replace("while n < Max do", "while n >= 0 do");
    let loose = INVARIANTS.replace("0..10", "Nat").replace("n <= Max", "n >= 0");
    let script = good().answer("formalize", 0, 1, "draft", &fenced(&endless)).answer(
        "generate_invariants",
        0,
        1,
        "draft",
        &sections(&loose, "", WITNESSES, CFG),
    );
    // TLC must have started before its deadline; a busy machine may need the longer one for that.
    let run = |seconds: &str| {
        let bench = crate::support::counter::bench_with_java();
        bench.forge(&script, &["--max-revisions", "0", "--checker", "tlc", "--tlc-timeout", seconds]).expect(3);
        let journal = bench.journal("specs");
        let outcome = &journal.iter().find(|e| name(e) == "check_finished").unwrap()["data"]["outcome"];
        assert!(outcome["verdict"].to_string().contains("inconclusive"), "{outcome}");
        assert_eq!(outcome["reason"], format!("TLC did not end within {seconds} s"));
        (bench.read("specs/tlc_output.txt").contains("TLC"), outcome.clone())
    };
    let found = ["4", "60"].into_iter().map(run).find(|(has_output, _)| *has_output);
    let (_, outcome) = found.expect("an output of TLC");
    // TLC says how far it came once a minute only: a count that it did not give is null, and never a zero.
    for count in ["generated", "distinct", "left_on_queue"] {
        assert_ne!(outcome["statistics"][count], 0, "{outcome}");
    }
}

#[test]
fn the_reviewer_gets_requirements_documents_and_tool_results() {
    let bench = bench();
    bench.write("docs/more/rest.mdx", "# The rest\nNothing of importance.\n");
    let script = Script::default()
        .answer("informal_spec", 0, 1, "draft", crate::support::counter::INFORMAL)
        .answer("formalize", 0, 1, "draft", &fenced(MODULE))
        .answer("generate_invariants", 0, 1, "draft", &good_sections());
    bench.forge(&script, &[]).expect(NO_ANSWER);
    let (node, files) = last_request(&bench);
    assert_eq!(node, "review");
    for file in [
        "facts.md",
        "informal_spec.md",
        "Spec.tla",
        "Spec.cfg",
        "check.md",
        "docs/INDEX.md",
        "docs/counter.md",
        "docs/more/rest.mdx",
    ] {
        assert!(files.iter().any(|f| f == file), "{file} not in {files:?}");
    }
    // Only a pointer to the raw output, which repeats what `check.md` says.
    assert!(!files.iter().any(|f| f == "tlc_output.txt"), "{files:?}");
    let check = bench.read("specs/workspace/check.md");
    assert!(check.ends_with("is in the run folder, as `tlc_output.txt`.\n"), "{check}");
    let facts = bench.read("specs/workspace/facts.md");
    assert!(
        facts.contains("R1 [docs/counter.md:4]")
            && facts.contains("holds, checked by NeverAbove\n  documents: \"It is never above the limit.\""),
        "{facts}"
    );
    let index = bench.read("specs/workspace/docs/INDEX.md");
    assert!(index.contains("docs/more/rest.mdx") && index.contains("1-4: The counter"), "{index}");
}

#[test]
fn files_of_an_earlier_request_cannot_be_read_in_a_later_one() {
    let bench = asked(&good().answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "x")));
    bench.write("specs/workspace/secret.md", "left over");
    bench.write("specs/workspace/docs/secret.md", "left over");
    std::os::unix::fs::symlink("/etc/passwd", bench.path("specs/workspace/link.md")).unwrap();
    bench.run(&["resume", "specs"]).expect(NO_ANSWER);
    for file in ["secret.md", "docs/secret.md", "link.md", "facts.md"] {
        assert!(std::fs::symlink_metadata(bench.path("specs/workspace").join(file)).is_err(), "{file} is still there");
    }
}

#[test]
fn parallel_runs_do_not_interfere() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let mut children: Vec<_> = (0..3)
        .map(|i| {
            let args = ["run", "docs", "--recording", "script.jsonl", "--out", &format!("side-{i}")];
            bench
                .command(&args)
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in &mut children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    for i in 0..3 {
        assert_eq!(bench.read(&format!("side-{i}/Spec.tla")), bench.read("specs/Spec.tla"));
    }
}

#[test]
fn no_temporary_file_is_left_behind() {
    let mut bench = bench();
    std::fs::create_dir(bench.path("tmp")).unwrap();
    let tmp = bench.path("tmp");
    bench.set("TMPDIR", tmp.to_str().unwrap());
    bench.forge(&good(), &[]).expect(0);
    assert_eq!(std::fs::read_dir(&tmp).unwrap().count(), 0);
    let strays: Vec<String> = walkdir::WalkDir::new(bench.path("specs"))
        .into_iter()
        .map(|e| e.unwrap().path().display().to_string())
        .filter(|p| p.contains("/.new-"))
        .collect();
    assert!(strays.is_empty(), "{strays:?}");
}

#[test]
fn utf_8_documents_are_read_in_any_locale() {
    let mut bench = bench();
    bench.set("LC_ALL", "C");
    let informal = crate::support::counter::INFORMAL.replace("never above", "never above (nie über)");
    bench.write("docs/counter.md", format!("{}Ω ≤ ∞\n", crate::support::counter::DOC));
    let module = MODULE.replace("CONSTANT Max", "CONSTANT Max \\* größte Zahl");
    let script =
        good().answer("informal_spec", 0, 1, "draft", &informal).answer("formalize", 0, 1, "draft", &fenced(&module));
    bench.forge(&script, &[]).expect(0);
    assert!(bench.read("specs/Spec.tla").contains("größte Zahl"));
    assert!(bench.read("specs/workspace/docs/counter.md").contains("Ω ≤ ∞"));
}

#[test]
fn flags_of_a_resume_apply_and_are_journaled() {
    let bench = asked(&good().answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "x")));
    let more = good()
        .answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "x"))
        .answer("formalize", 1, 1, "repair", &fenced(&MODULE.replace("n + 1", "1 + n")))
        .answer("generate_invariants", 1, 1, "draft", &good_sections())
        .answer("review", 1, 1, "draft", &review("revise"));
    bench.write("more.jsonl", more.text());
    bench.run(&["resume", "specs", "--recording", "more.jsonl", "--max-revisions", "1"]).expect(1);
    let journal = bench.journal("specs");
    let resumed = journal.iter().find(|e| name(e) == "run_resumed").unwrap();
    assert_eq!(resumed["data"]["routing"]["max_revisions"], 1, "{resumed}");
    // A branch takes flags too.
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "review", "--max-revisions", "0"]).expect(1);
    let journal = bench.journal("specs");
    let branch = journal.iter().find(|e| name(e) == "branch_started").unwrap();
    assert_eq!(branch["data"]["routing"]["max_revisions"], 0);
}

//! `tlaforge eval` on one case: what counts as a kill, what does not, and which specifications are vacuous.

use crate::support::case::{CFG, CounterCase, PLAIN, PROPERTIES, STEP, counter, specs};
use crate::support::{Bench, Done, project};
use serde_json::Value;
use tlaforge::tla::Module;

/// Evaluates without Java.
fn eval(bench: &Bench, dir: &str, case: &str, status: i32) -> Value {
    let done = bench.run(&["eval", dir, case, "--checker", "embedded", "--format", "json"]).expect(status);
    let printed: Value = serde_json::from_str(&done.stdout).unwrap();
    let written: Value = serde_json::from_str(&bench.read(&format!("{dir}/eval_report.json"))).unwrap();
    assert_eq!(printed, written, "what is printed stands in the run folder");
    assert_eq!(printed["schema"], 3);
    printed
}

/// A bench with the counter's specification and a case.
fn with(case: &CounterCase) -> Bench {
    let bench = Bench::without_tools();
    specs(&bench, "specs", &counter("Spec", STEP, PROPERTIES), CFG);
    case.write(&bench, "case");
    bench
}

fn mutant<'a>(report: &'a Value, name: &str) -> &'a Value {
    let mutants = report["tier3"]["known_bugs"].as_array().unwrap();
    let file = format!("known_bugs/{name}.tla");
    mutants.iter().find(|m| m["file"] == file.as_str()).unwrap_or_else(|| panic!("{name}: {report}"))
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

/// The module and the configuration of the recorded run of the swap case.
fn recorded_swap(bench: &Bench) -> (String, String) {
    let case = project().join("evals/uniswap_swap");
    let recording = case.join("recording/run.jsonl");
    let args = ["run", "--case", case.to_str().unwrap(), "--recording", recording.to_str().unwrap()];
    bench.finished(&[&args[..], &["--checker", "embedded", "--out", "swap"]].concat()).expect(0);
    (bench.read("swap/Spec.tla"), bench.read("swap/Spec.cfg"))
}

#[test]
fn the_recorded_run_of_the_swap_case_is_scored_by_its_own_properties_alone() {
    let bench = Bench::without_tools();
    let (module, cfg) = recorded_swap(&bench);
    let case = project().join("evals/uniswap_swap");
    let case = case.to_str().unwrap();
    let report = eval(&bench, "swap", case, 0);
    assert_eq!(report["score"], 1.0, "{report}");
    assert_eq!((&report["tier3"]["detected"], &report["tier3"]["total"]), (&3.into(), &3.into()));
    assert_eq!(report["outcome"], "approved");
    assert_eq!(names(&mutant(&report, "free_tokens")["killed_by"]), ["Conserved", "RoundingStaysInPool"]);
    for mutant in report["tier3"]["known_bugs"].as_array().unwrap() {
        assert_eq!(
            (&mutant["outcome"], &mutant["killed_by_types_only"]),
            (&"killed".into(), &false.into()),
            "{mutant}"
        );
    }
    // Properties about variables that the mutants lack are reported with the reason.
    let lacks = report["tier3"]["not_applicable"].as_array().unwrap();
    let exact = lacks.iter().find(|lacks| lacks["property"] == "RefusalsHarmless").unwrap();
    assert_eq!(names(&exact["missing"]), ["variable answer"]);
    assert_eq!(exact["files"].as_array().unwrap().len(), 4, "three mutants and the reference");

    // Without the properties that kill a bug, the score drops.
    let without = cfg.replace("    Conserved\n", "").replace("    RoundingStaysInPool\n", "");
    specs(&bench, "less", &module, &without);
    let less = eval(&bench, "less", case, 0);
    assert_eq!((&less["tier3"]["detected"], &mutant(&less, "free_tokens")["outcome"]), (&2.into(), &"survived".into()));
    assert!(less["score"].as_f64().unwrap() < 1.0);

    // With every property TRUE, nothing is killed and the specification is vacuous.
    specs(&bench, "true", &all_true(&module, &cfg), &cfg);
    let nothing = eval(&bench, "true", case, 1);
    assert_eq!((&nothing["tier3"]["rate"], &nothing["score"]), (&0.0.into(), &0.0.into()));
    assert_eq!(nothing["tier1"]["vacuous"].as_array().unwrap().len(), 14, "{}", nothing["tier1"]);
}

/// The module with every listed property replaced by TRUE.
fn all_true(text: &str, cfg: &str) -> String {
    let module = Module::parse(text).unwrap();
    let listed = tlaforge::tla::Cfg::parse(cfg).unwrap();
    let mut found: Vec<_> = module
        .definitions
        .iter()
        .filter(|d| listed.invariants.contains(&d.name) || listed.properties.contains(&d.name))
        .collect();
    found.sort_by_key(|d| std::cmp::Reverse(d.code.start));
    let mut out = text.to_owned();
    for definition in found {
        out.replace_range(definition.code.clone(), &format!("{} == TRUE", definition.name));
    }
    out
}

#[test]
fn with_java_the_tools_decide_the_first_tier() {
    let mut bench = Bench::real();
    bench.set("TLC_TIMEOUT", "120");
    specs(&bench, "specs", &counter("Spec", STEP, PROPERTIES), CFG);
    CounterCase::with_a_bug().write(&bench, "case");
    // With `auto`, the embedded checker decides about the specification, which TLC confirms, and judges the known bugs.
    for (checker, first, second, judge) in
        [("auto", "embedded", "tlc", "embedded"), ("tlc", "tlc", "", "tlc"), ("both", "tlc", "embedded", "tlc")]
    {
        let done = bench.run(&["eval", "specs", "case", "--checker", checker, "--junit", "junit.xml"]).expect(0);
        let report: Value = serde_json::from_str(&bench.read("specs/eval_report.json")).unwrap();
        assert_eq!((&report["checker"], &report["score"]), (&first.into(), &1.0.into()), "{checker}: {report}");
        assert_eq!(names(&mutant(&report, "too_far")["killed_by"]), ["Bounded"]);
        assert_eq!(report["tools"]["second_checker"].as_str().unwrap_or_default(), second, "{report}");
        assert_eq!(report["tier3"]["judged_by"][judge], 1, "{checker}: {report}");
        assert!(!done.stdout.contains("checked without"), "{}", done.stdout);
        let beside = match second {
            "embedded" => "; in addition the embedded translator, ",
            "tlc" => "; in addition the PlusCal translator, SANY, TLC",
            _ => "",
        };
        contains(&done.stdout, &[beside]);
        if first == "tlc" {
            assert_eq!((&report["tools"]["parser"], &report["tools"]["checker"]), (&"SANY".into(), &"TLC".into()));
            let shown = ["Tools: the PlusCal translator, SANY, TLC (TLC2 Version", "SANY accepts ", "TLC completes "];
            contains(&done.stdout, &shown);
            contains(&bench.read("junit.xml"), &["tier 1: SANY accepts", "tier 1: TLC completes"]);
        }
    }
    // What the embedded checker leaves undecided, TLC decides, and the report says so.
    let module = counter("Spec", STEP, PROPERTIES).replace("TypeOK ==", "TypeOK == TLCGet(\"level\") >= 0 /\\");
    specs(&bench, "specs", &module.replacen("EXTENDS ", "EXTENDS TLC, ", 1), CFG);
    let done = bench.run(&["eval", "specs", "case"]).expect(0);
    let report: Value = serde_json::from_str(&bench.read("specs/eval_report.json")).unwrap();
    assert_eq!((&report["checker"], &report["tools"]["checker"]), (&"tlc".into(), &"TLC".into()), "{report}");
    assert!(!done.stdout.contains("checked without"), "{}", done.stdout);
}

#[test]
fn the_text_report_shows_the_tiers_with_reasons() {
    let bench = with(&CounterCase::with_a_bug());
    let done = bench.run(&["eval", "specs", "case", "--checker", "embedded", "--junit", "junit.xml"]).expect(0);
    done.prints(&[
        "Case case: score 1.00",
        "checked without SANY and TLC",
        "PlusCal translates         not applicable  there is no algorithm",
        "known_bugs/too_far.tla  killed          by Bounded",
    ]);
    let xml = bench.read("junit.xml");
    assert!(xml.contains("<testsuite name=\"case\" tests=\"7\" failures=\"0\" errors=\"0\" skipped=\"1\">"), "{xml}");
    assert!(xml.contains("name=\"tier 3: known_bugs/too_far.tla\"/>"), "{xml}");
}

#[test]
fn without_java_no_output_claims_that_a_java_tool_ran() {
    let bench = Bench::without_tools();
    CounterCase::with_a_bug().write(&bench, "evals/case");
    specs(&bench, "runs/case", &counter("Spec", STEP, PROPERTIES), CFG);
    let run = |args: &[&str]| bench.run(&[args, &["--checker", "embedded"]].concat()).expect(0).stdout;
    let one = run(&["eval", "runs/case", "evals/case", "--junit", "one.xml"]);
    let suite = run(&["eval", "--suite", "evals", "--runs", "runs", "--junit", "suite.xml"]);
    let json = run(&["eval", "--suite", "evals", "--runs", "runs", "--format", "json"]);
    let (one_xml, suite_xml) = (bench.read("one.xml"), bench.read("suite.xml"));
    for text in [&one, &suite, &json, &one_xml, &suite_xml] {
        let text = text.replace("checked without SANY and TLC", "");
        assert!(!text.contains("SANY") && !text.contains("TLC") && !text.contains("\"sany\""), "{text}");
    }
    contains(&one, &["embedded parser accepts ", "embedded checker completes ", "Judged by: the embedded checker (1)"]);
    contains(&suite, &["case  -    embedded", "checked without SANY and TLC"]);
    contains(&json, &["\"parser\":\"the embedded parser\"", "\"judged_by\":{\"embedded\":1}"]);
    for xml in [&one_xml, &suite_xml] {
        contains(xml, &["tier 1: embedded parser accepts", "tier 1: embedded checker completes", "SANY and TLC"]);
    }
}

fn contains(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn every_control_fails_for_its_own_reason() {
    let good = counter("Spec", STEP, PROPERTIES);
    let spec = |step: &str, properties: &str| counter("Spec", step, properties);
    let still = "UNCHANGED n";
    let unreached = CFG.replace("WITNESS WitnessTop", "WITNESS WitnessFar");
    // Name, module, configuration, criterion, its reason, whether the specification is vacuous.
    let controls: [(&str, String, String, &str, &str, bool); 13] = [
        ("does not parse", good.replace("n' = 0", "n' = )"), CFG.into(), "parse", "", false),
        ("unknown name", good.replace("n' = 0", "m' = 0"), CFG.into(), "parse", "m", false),
        ("no module", "nothing\n".into(), CFG.into(), "pluscal", "no module", false),
        (
            "no translation",
            good.replace("VARIABLE n\n", "VARIABLE n\n(* --algorithm A { { x := } } *)\n"),
            CFG.into(),
            "pluscal",
            "",
            false,
        ),
        (
            "false invariant",
            spec(STEP, &PROPERTIES.replace("n <= N", "n < N")),
            CFG.into(),
            "invariants",
            "invariant Bounded",
            false,
        ),
        (
            "false types",
            spec(STEP, &PROPERTIES.replace("0..N + 9", "0..N - 1")),
            CFG.into(),
            "type_ok",
            "invariant TypeOK",
            false,
        ),
        ("deadlock", spec("n < N /\\ n' = n + 1", PROPERTIES), CFG.into(), "check", "deadlock", false),
        ("no TypeOK", good.clone(), CFG.replace("TypeOK ", ""), "type_ok", "TypeOK is not among", false),
        (
            "empty",
            spec(still, "TypeOK == n = 0\nBounded == n <= N"),
            CFG.replace("PROPERTY BySteps\n\\* WITNESS WitnessTop\n", ""),
            "vacuous",
            "only the initial states",
            true,
        ),
        (
            "always true",
            spec(STEP, &PROPERTIES.replace("Bounded == n <= N", "Bounded == TRUE")),
            CFG.into(),
            "vacuous",
            "Bounded is always TRUE",
            true,
        ),
        ("no property", good.clone(), PLAIN.into(), "vacuous", "no property is checked", true),
        (
            "no step",
            spec("FALSE /\\ n' = n + 1", PROPERTIES),
            CFG.replace("\\* WITNESS WitnessTop\n", "CHECK_DEADLOCK FALSE\n"),
            "vacuous",
            "only the initial states",
            true,
        ),
        (
            "unreached",
            good.replace("WitnessTop ==", "WitnessFar == n = N + 5\nWitnessTop =="),
            unreached,
            "vacuous",
            "WitnessFar is not reached",
            true,
        ),
    ];
    let bench = with(&CounterCase::with_a_bug());
    for (name, module, cfg, criterion, why, is_vacuous) in controls {
        specs(&bench, "specs", &module, &cfg);
        let report = eval(&bench, "specs", "case", 1);
        let tier1 = &report["tier1"];
        if is_vacuous {
            let reasons = names(&tier1["vacuous"]);
            assert!(reasons.iter().any(|reason| reason.contains(why)), "{name}: {tier1}");
            assert_eq!(report["score"], 0.0, "{name}");
        } else {
            assert_eq!(tier1["vacuous"], Value::Array(Vec::new()), "{name}");
            let found = &tier1[criterion];
            assert_eq!(found["status"], "failed", "{name}: {tier1}");
            assert!(found["reason"].as_str().unwrap().contains(why), "{name}: {tier1}");
            assert_eq!(report["tier2"]["efficiency"], 0.0, "{name}");
            // The type invariant is one of the invariants.
            let beside = if criterion == "type_ok" { "invariants" } else { "" };
            let others = ["parse", "pluscal", "check", "type_ok", "invariants"].into_iter();
            for other in others.filter(|o| ![criterion, beside].contains(o)) {
                assert_ne!(tier1[other]["status"], "failed", "{name}: {other}: {tier1}");
            }
        }
    }
}

#[test]
fn an_incomplete_check_is_undecided() {
    let endless = counter("Spec", "n' = n + 1", "TypeOK == n \\in Int\nBounded == n >= 0");
    let cfg = "SPECIFICATION Spec\nCONSTANT N = 3\nINVARIANTS TypeOK Bounded\n";
    let mut case = CounterCase::with_a_bug();
    case.checklist["tlc_constraints"] = serde_json::json!({"max_time_seconds": 2});
    let bench = with(&case);
    specs(&bench, "specs", &endless, cfg);
    let report = eval(&bench, "specs", "case", 3);
    assert_eq!(report["tier1"]["check"]["status"], "undecided");
    assert!(report["tier1"]["check"]["reason"].as_str().unwrap().contains("did not end within 2 s"), "{report}");
    // A check with more states than the case allows is incomplete too.
    case.checklist["tlc_constraints"] = serde_json::json!({"max_states": 3});
    let bench = with(&case);
    let report = eval(&bench, "specs", "case", 3);
    assert_eq!(report["tier1"]["check"]["reason"], "4 distinct states exceed the case's limit of 3");
    assert_eq!(mutant(&report, "too_far")["outcome"], "killed", "a violation needs no complete check");
}

#[test]
fn the_empty_specification_scores_nothing_whatever_the_case() {
    let bench = Bench::without_tools();
    let empty = "---- MODULE Spec ----\nVARIABLE x\nInit == x = 0\nNext == UNCHANGED x\nInv == x = 0\n====\n";
    specs(&bench, "specs", empty, "INIT Init\nNEXT Next\nINVARIANT Inv\n");
    for entry in std::fs::read_dir(project().join("evals")).unwrap() {
        let case = entry.unwrap().path();
        if case.is_dir() {
            assert_eq!(eval(&bench, "specs", case.to_str().unwrap(), 1)["score"], 0.0, "{}", case.display());
        }
    }
}

#[test]
fn only_bugs_that_violate_a_carried_property_are_killed() {
    let module = |name: &str, body: &str| format!("---- MODULE {name} ----\nEXTENDS Integers, TLC\n{body}\n====\n");
    let strange = module("other_names", "CONSTANT N\nVARIABLE k\nStart == k = 0\nGo == k' = 0");
    let case = CounterCase::with_a_bug()
        .bug("harmless", STEP, "Bounded")
        .bug("deadlocks", "n < N /\\ n' = n + 1", "Bounded")
        .bug("deadlocks_as_named", "n < N /\\ n' = n + 1", "Deadlock")
        .bug("breaks", "n' = IF n = 2 THEN n + TRUE ELSE n + 1", "Bounded")
        .bug("asserts", "Assert(n < 2, \"no\") /\\ n' = n + 1", "Bounded")
        .bug("own_invariant", STEP, "Bounded")
        .bug_of("other_names", &strange, "INIT Start\nNEXT Go\nCONSTANT N = 3\n", "Bounded")
        .file(
            "known_bugs/asserts.tla",
            &counter("asserts", "Assert(n < 2, \"no\") /\\ n' = n + 1", "").replace("Integers", "Integers, TLC"),
        )
        .file("known_bugs/own_invariant.tla", &counter("own_invariant", STEP, "Bounded == FALSE\nMine == n < 2"))
        .file("known_bugs/own_invariant.cfg", &(PLAIN.to_owned() + "INVARIANTS Bounded Mine\n"));
    let bench = with(&case);
    let report = eval(&bench, "specs", "case", 0);
    for (name, outcome, by) in [
        ("too_far", "killed", &["Bounded"][..]),
        ("harmless", "survived", &[]),
        ("deadlocks", "survived", &[]),
        ("deadlocks_as_named", "killed", &["Deadlock"]),
        ("breaks", "inconclusive", &[]),
        ("asserts", "inconclusive", &[]),
        ("own_invariant", "survived", &[]),
        ("other_names", "not_applicable", &[]),
    ] {
        let found = mutant(&report, name);
        assert_eq!((&found["outcome"], names(&found["killed_by"])), (&outcome.into(), by.to_vec()), "{found}");
    }
    assert_eq!(report["tier3"]["detected"], 2);
    assert_eq!(mutant(&report, "too_far")["killed_by_expected"], true);
    assert!(mutant(&report, "deadlocks")["remark"].as_str().unwrap().contains("deadlock"));
    let reason = mutant(&report, "breaks")["inconclusive"][0]["reason"].as_str().unwrap();
    assert!(!reason.is_empty());
    // A specification with CHECK_DEADLOCK FALSE detects no deadlock.
    specs(&bench, "specs", &counter("Spec", STEP, PROPERTIES), &(CFG.to_owned() + "CHECK_DEADLOCK FALSE\n"));
    assert_eq!(mutant(&eval(&bench, "specs", "case", 0), "deadlocks_as_named")["outcome"], "survived");
}

#[test]
fn kills_by_type_invariants_only_are_counted_separately() {
    let bench = with(&CounterCase::new().bug("far_out", "IF n < N THEN n' = n + 1 ELSE n' = 99", "Bounded"));
    let report = eval(&bench, "specs", "case", 0);
    assert_eq!(names(&mutant(&report, "far_out")["killed_by"]), ["TypeOK", "Bounded", "BySteps"]);
    assert_eq!(report["tier3"]["detected_by_types_only"], 0);
    specs(
        &bench,
        "specs",
        &counter("Spec", STEP, PROPERTIES),
        &CFG.replace(" Bounded", "").replace("PROPERTY BySteps\n", ""),
    );
    let report = eval(&bench, "specs", "case", 0);
    let found = mutant(&report, "far_out");
    assert_eq!((&found["killed_by_types_only"], &found["killed_by_expected"]), (&true.into(), &Value::Null));
    assert_eq!((&report["tier3"]["detected_by_types_only"], &report["tier3"]["detected"]), (&1.into(), &1.into()));
}

#[test]
fn a_property_that_the_reference_violates_is_wrong_and_its_kills_do_not_count() {
    // It holds in the generated specification, which never reaches N.
    let bench = with(&CounterCase::with_a_bug());
    let step = "IF n < N - 1 THEN n' = n + 1 ELSE n' = 0";
    let properties = PROPERTIES.replace("n <= N", "n < N").replace("n = N", "n = N - 1");
    specs(&bench, "specs", &counter("Spec", step, &properties), CFG);
    let report = eval(&bench, "specs", "case", 0);
    let wrong = &report["tier3"]["wrong_properties"];
    assert_eq!((&wrong[0]["property"], &wrong[0]["reference"]), (&"Bounded".into(), &"expected/Counter.tla".into()));
    assert_eq!((&report["tier3"]["detected"], &mutant(&report, "too_far")["outcome"]), (&0.into(), &"survived".into()));
}

#[test]
fn a_lack_of_fairness_is_a_bug_only_if_the_case_says_so() {
    let fair = |name: &str, fairness: &str| {
        counter(name, STEP, "").replace("[][Next]_n\n", &format!("[][Next]_n{fairness}\n"))
    };
    let case = CounterCase::new()
        .file("expected/Counter.tla", &fair("Counter", " /\\ WF_n(Next)"))
        .bug_of("unfair", &fair("unfair", ""), PLAIN, "ComesBack")
        .bug_of("other", &fair("other", ""), PLAIN, "Bounded");
    let bench = with(&case);
    let module = fair("Spec", " /\\ WF_n(Next)")
        .replace("====", &format!("{PROPERTIES}\nReturns == [](n = N => <>(n = 0))\n===="));
    specs(&bench, "specs", &module, &CFG.replace("PROPERTY BySteps", "PROPERTY BySteps Returns"));
    let report = eval(&bench, "specs", "case", 0);
    assert_eq!(names(&mutant(&report, "unfair")["killed_by"]), ["Returns"]);
    let other = mutant(&report, "other");
    assert_eq!(other["outcome"], "inconclusive", "{other}");
    assert!(other["inconclusive"][0]["reason"].as_str().unwrap().contains("states no fairness"), "{other}");
}

#[test]
fn only_a_case_with_a_flawed_protocol_expects_a_violation() {
    let mut case = CounterCase::with_a_bug().without("expected/Counter.tla");
    case.checklist["expected_outcome"] = serde_json::json!({"outcome": "flaw_found", "violates": "Bounded"});
    let bench = with(&case);
    let report = eval(&bench, "specs", "case", 1);
    assert!(report["tier1"]["invariants"]["reason"].as_str().unwrap().contains("every property holds"), "{report}");
    let flawed = counter("Spec", "IF n <= N THEN n' = n + 1 ELSE n' = 0", PROPERTIES);
    specs(&bench, "specs", &flawed, CFG);
    let report = eval(&bench, "specs", "case", 0);
    assert_eq!((&report["score"], &report["tier1"]["type_ok"]["status"]), (&1.0.into(), &"passed".into()));
    // The type invariant of a flawed protocol must still hold.
    specs(&bench, "specs", &flawed.replace("0..N + 9", "0..N"), CFG);
    eval(&bench, "specs", "case", 1);
}

#[test]
fn another_violation_than_the_expected_one_is_no_success() {
    let mut case = CounterCase::with_a_bug().without("expected/Counter.tla");
    case.checklist["expected_outcome"] = serde_json::json!({"outcome": "flaw_found", "violates": "Bounded"});
    let bench = with(&case);
    let reason = |module: &str, cfg: &str, status: i32| {
        specs(&bench, "specs", module, cfg);
        let report = eval(&bench, "specs", "case", status);
        (report["score"].as_f64(), report["tier1"]["invariants"]["reason"].as_str().unwrap_or_default().to_owned())
    };
    let flawed = "IF n <= N THEN n' = n + 1 ELSE n' = 0";
    let odd = |step: &str| counter("Spec", step, &format!("{PROPERTIES}\nOdd == n < 1"));
    let both = CFG.replace("TypeOK Bounded", "TypeOK Odd Bounded");
    // Another property is violated, and the expected one holds.
    let (score, why) = reason(&odd(STEP), &both, 1);
    assert!(why.contains("Odd is violated, but Bounded holds") && score < Some(1.0), "{score:?} {why}");
    // Both are violated, and the check ended at the other one.
    let (score, why) = reason(&odd(flawed), &both, 0);
    assert!(why.contains("Bounded is violated, as the case expects") && score == Some(1.0), "{score:?} {why}");
    // Without its name, it is the property that notices the known bug.
    let renamed = |step: &str| odd(step).replace("Bounded", "Limit");
    let (score, why) = reason(&renamed(flawed), &both.replace("Bounded", "Limit"), 0);
    assert!(
        why.contains("Limit, Odd are violated, as the case expects of Bounded") && score == Some(1.0),
        "{score:?} {why}"
    );
    let (_, why) = reason(&renamed(STEP), &both.replace("Bounded", "Limit"), 1);
    assert!(why.contains("Limit holds"), "{why}");
    // Nothing shows which property is meant.
    case.checklist["known_bugs"] = serde_json::json!([]);
    case.without("known_bugs/too_far.tla").without("known_bugs/too_far.cfg").write(&bench, "case");
    std::fs::remove_dir_all(bench.path("case/known_bugs")).unwrap();
    let (score, why) = reason(&renamed(flawed), &both.replace("Bounded", "Limit"), 3);
    assert!(why.contains("no known bug shows which property is meant") && score.is_none(), "{score:?} {why}");
}

#[test]
fn an_undecided_bug_makes_the_score_a_range() {
    // Its state space is infinite, and no property is violated.
    let log = "n' = (IF n < N THEN n + 1 ELSE 0) /\\ log' = log + 1";
    let endless = counter("endless", log, "")
        .replace("VARIABLE n\n", "VARIABLES n, log\n")
        .replace("Init == n = 0", "Init == n = 0 /\\ log = 0")
        .replace("[Next]_n", "[Next]_<<n, log>>");
    let bench = with(&CounterCase::with_a_bug().bug_of("endless", &endless, PLAIN, "Bounded"));
    let args = ["eval", "specs", "case", "--checker", "embedded", "--tlc-timeout", "2"];
    bench.run(&args).expect(0).prints(&["score 0.80 to 1.00", "0.50 to 1.00, 1 of 2 known bugs detected, 1 undecided"]);
    bench.run(&[&args[..], &["--fail-under", "0.7"]].concat()).expect(0);
    bench.run(&[&args[..], &["--fail-under", "0.9"]].concat()).expect(3);
    let report: Value = serde_json::from_str(&bench.read("specs/eval_report.json")).unwrap();
    assert!(report["score"].as_f64() < report["score_at_most"].as_f64(), "{report}");
    assert_eq!(report["tier3"]["undecided"], 1);
}

#[test]
fn without_known_bugs_there_are_tiers_but_no_score() {
    let bench = with(&CounterCase::new());
    let report = eval(&bench, "specs", "case", 0);
    assert_eq!((&report["score"], &report["tier3"]["rate"]), (&Value::Null, &Value::Null));
    assert_eq!(report["tier1"]["check"]["status"], "passed");
    let remark = report["remarks"][0].as_str().unwrap();
    assert!(remark.contains("case/checklist.json") && remark.contains("add modules"), "{remark}");
    let args = ["eval", "specs", "case", "--checker", "embedded", "--fail-under", "0.5"];
    bench.run(&args).expect(1).prints(&["no overall score", "note: case/checklist.json: no known bugs are listed"]);
}

#[test]
fn a_specification_of_another_protocol_has_no_score() {
    let other = "---- MODULE Spec ----\nEXTENDS Integers\nVARIABLE lamp\nInit == lamp = 0\nNext == lamp' = 1 - lamp\n\
                 Spec == Init /\\ [][Next]_lamp\nTypeOK == lamp \\in {0, 1}\nDim == lamp < 2\n====\n";
    let mut case = CounterCase::with_a_bug();
    case.checklist["interface"] = serde_json::json!({"variables": [{"name": "n", "description": "the counter"}]});
    let bench = Bench::without_tools();
    specs(&bench, "specs", other, "SPECIFICATION Spec\nINVARIANTS TypeOK Dim\n");
    case.write(&bench, "case");
    let report = eval(&bench, "specs", "case", 3);
    assert_eq!((&report["score"], &report["tier3"]["rate"]), (&Value::Null, &Value::Null), "{report}");
    assert_eq!(mutant(&report, "too_far")["outcome"], "not_applicable");
    let args = ["eval", "specs", "case", "--checker", "embedded"];
    bench.run(&args).expect(3).prints(&[
        "Case case: no overall score (no known bug was applicable)",
        "note: no property could be carried over to any known bug",
        "the case's interface: n",
    ]);
    bench.run(&[&args[..], &["--fail-under", "0"]].concat()).expect(1);
    // A suite reports it although other cases have a score.
    case.write(&bench, "evals/other");
    CounterCase::with_a_bug().write(&bench, "evals/right");
    specs(&bench, "runs/other", other, "SPECIFICATION Spec\nINVARIANTS TypeOK Dim\n");
    specs(&bench, "runs/right", &counter("Spec", STEP, PROPERTIES), CFG);
    let suite = ["eval", "--suite", "evals", "--runs", "runs", "--checker", "embedded"];
    let done = bench.run(&suite).expect(3);
    done.prints(&["note: other: no property could be carried over", "Score of the suite: 1.00"]);
    bench.run(&[&suite[..], &["--fail-under", "0.5"]].concat()).expect(3);
    // A vacuous specification scores 0 in every case.
    specs(&bench, "specs", &other.replace("lamp < 2", "TRUE"), "SPECIFICATION Spec\nINVARIANTS TypeOK Dim\n");
    assert_eq!(eval(&bench, "specs", "case", 1)["score"], 0.0);
}

#[test]
fn the_threshold_decides_the_exit_status() {
    let bench = with(&CounterCase::with_a_bug().bug("harmless", STEP, "Bounded"));
    let run = |least: &str| bench.run(&["eval", "specs", "case", "--checker", "embedded", "--fail-under", least]);
    run("0.8").expect(0);
    run("0.81").expect(1);
    run("80").expect(2).says(&["must be from 0 to 1"]);
}

/// Expects an error that names the file and what to do.
fn refused(bench: &Bench, words: &[&str]) {
    let done: Done = bench.run(&["eval", "specs", "case", "--checker", "embedded"]);
    done.expect(2).says(words).says(&["hint: "]);
    assert!(!bench.path("specs/eval_report.json").exists());
}

#[test]
fn an_invalid_case_is_reported_with_its_file_and_a_remedy() {
    let bad = || CounterCase::with_a_bug();
    refused(&with(&bad().without("docs/counter.md")), &["case/docs: contains no document", "add the documents"]);
    let missing = bad().without("known_bugs/too_far.tla");
    refused(
        &with(&missing),
        &[
            "case/known_bugs/too_far.tla: does not exist, but is listed as a known bug",
            "correct \"file\" in case/checklist.json",
        ],
    );
    let unknown = bad().file("known_bugs/too_far.cfg", &(PLAIN.to_owned() + "CONSTANT Max = 3\n"));
    refused(&with(&unknown), &["case/known_bugs/too_far.cfg", "Max", "it configures module too_far"]);
    let unreadable = bad().file("known_bugs/too_far.cfg", "SPECIFIKATION Spec\n");
    refused(&with(&unreadable), &["case/known_bugs/too_far.cfg", "SPECIFIKATION"]);
    let prose = bad().file("known_bugs/too_far.tla", "no module\n");
    refused(&with(&prose), &["case/known_bugs/too_far.tla: no module", "write a TLA+ module"]);
    let mut odd = bad();
    odd.checklist["known_bugs"][0]["should_violate"] = "Unheard".into();
    refused(&with(&odd), &["case/checklist.json", "Unheard, which is not among the invariants", "list Unheard there"]);
    let mut outside = bad();
    outside.checklist["known_bugs"][0]["file"] = "known_bugs/../../specs/Spec.tla".into();
    refused(&with(&outside), &["case/checklist.json", "Spec.tla is not in the case's folder"]);
    let mut twice = bad();
    let again = twice.checklist["known_bugs"][0].clone();
    twice.checklist["known_bugs"].as_array_mut().unwrap().push(again);
    refused(&with(&twice), &["case/checklist.json", "known_bugs/too_far.tla is listed twice"]);
    let mut expects = bad();
    expects.checklist["expected_outcome"] = serde_json::json!({"outcome": "flaw_found", "violates": "Unheard"});
    refused(&with(&expects), &["case/checklist.json", "a good run should violate Unheard"]);
    let bench = with(&bad());
    bench.write("case/checklist.json", "{\"name\": ");
    refused(&bench, &["case/checklist.json: EOF", "evals/README.md"]);
    std::fs::remove_file(bench.path("case/checklist.json")).unwrap();
    refused(&bench, &["case/checklist.json: cannot be read", "name a folder with docs/ and checklist.json"]);
    let bench = with(&bad());
    std::fs::remove_file(bench.path("specs/Spec.cfg")).unwrap();
    refused(&bench, &["specs/Spec.cfg: cannot be read", "name a run folder"]);
    bench.run(&["eval", "specs", "nowhere"]).expect(2).says(&["nowhere: the folder does not exist"]);
    bench.run(&["eval", "specs"]).expect(2);
}

#[test]
fn a_violated_property_is_not_reported_as_constantly_true() {
    let bench = with(&CounterCase::with_a_bug());
    let module = counter("Spec", STEP, &format!("{PROPERTIES}\nBad == FALSE"));
    specs(&bench, "specs", &module, &CFG.replace("TypeOK Bounded", "Bad TypeOK Bounded"));
    let report = eval(&bench, "specs", "case", 1);
    assert_eq!(report["tier1"]["vacuous"], Value::Array(Vec::new()), "{report}");
    assert!(report["tier1"]["invariants"]["reason"].as_str().unwrap().contains("invariant Bad"), "{report}");
}

#[test]
fn a_rejected_target_is_reported_once_with_its_line() {
    let broken = counter("too_far", STEP, "").replace("n = 0", "n = )");
    let case = CounterCase::with_a_bug().file("known_bugs/too_far.tla", &broken);
    let bench = with(&case.file("expected/Counter.tla", &counter("Counter", STEP, "").replace("n = 0", "n = )")));
    let done = bench.run(&["eval", "specs", "case", "--checker", "embedded"]).expect(0);
    let once = |words: &str| {
        let lines: Vec<&str> = done.stdout.lines().filter(|line| line.contains(words)).collect();
        assert_eq!(lines.len(), 1, "{words}: {}", done.stdout);
        lines[0].to_owned()
    };
    for file in ["known_bugs/too_far.tla: ", "expected/Counter.tla: "] {
        assert!(once(file).contains("line 6, column"), "{}", done.stdout);
    }
    assert!(once("not decided on any reference: ").contains("TypeOK, Bounded, BySteps"), "{}", done.stdout);
}

//! What the page says of each outcome.

use serde_json::json;

use super::{check_page, inside, page, traces};
use crate::run::ambiguity;
use crate::support::counter::{INFORMAL, bench, fenced, good, issue, sections};
use crate::support::{Bench, Script, project};

fn heading(page: &str) -> &str {
    inside(page, "<h1>", "</h1>")
}

#[test]
fn the_page_of_an_approval_says_what_holds_and_what_it_rests_on() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let page = page(&bench);
    assert!(heading(&page).starts_with("Approved"), "{}", heading(&page));
    assert!(page.contains("1 of 1 requirement holds within the bounds below."));
    for words in [
        "id=\"requirements\"",
        "NeverAbove",
        "R1",
        "Max = 2",
        "WitnessFull",
        "tlaforge mutate",
        "<h2 id=\"model-title\">",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("id=\"findings\""));
}

#[test]
fn the_page_of_a_flaw_shows_the_sentence_the_steps_and_the_lines_that_allow_them() {
    let case = project().join("evals/cache_aside");
    let bench = Bench::without_tools();
    let recording = case.join("recording/run.jsonl");
    let arguments =
        ["run", "--case", case.to_str().unwrap(), "--recording", recording.to_str().unwrap(), "--provider", "replay"];
    bench.run(&[&arguments[..], &["--checker", "embedded", "--html", "page.html"]].concat()).expect(1);
    let page = bench.read("page.html");
    check_page(&page);
    assert!(heading(&page).starts_with("Flaw found"), "{}", heading(&page));
    assert!(page.contains("Once an update of an item has been acknowledged"));
    assert!(page.contains("--repair"));
    let traces = traces(&page);
    let steps = traces["findings-0"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 8);
    assert_eq!(steps[1]["actor"], "r1");
    // The last step acknowledges: its label is a line of the module, and its documents say so.
    let last = &steps[7];
    assert_eq!(last["title"], "Acknowledge(w1)");
    assert!(page.contains("the embedded checker (") && !heading(&page).contains("SANY"));
    let (from, to) = (last["lines"][0].as_u64().unwrap(), last["lines"][1].as_u64().unwrap());
    assert!(from <= to);
    let line = inside(&page, &format!("id=\"module-0-L{from}\">"), "</div>");
    assert!(line.contains("Acknowledge:"), "{line}");
    let cited = &last["citations"][0]["lines"][0];
    let line = inside(&page, &format!("id=\"{}-L{}\">", cited["listing"].as_str().unwrap(), cited["from"]), "</div>");
    assert!(line.contains("Acknowledge"), "{line}");
}

#[test]
fn each_witness_of_a_run_has_the_path_that_its_journal_counts() {
    let case = project().join("evals/bounded_queue");
    let bench = Bench::without_tools();
    let recording = case.join("recording/run.jsonl");
    let arguments =
        ["run", "--case", case.to_str().unwrap(), "--recording", recording.to_str().unwrap(), "--provider", "replay"];
    bench
        .run(
            &[
                &arguments[..],
                &["--checker", "embedded", "--bounds-budget", "0", "--out", "specs", "--html", "run.html"],
            ]
            .concat(),
        )
        .expect(0);
    let page = page(&bench);
    assert_eq!(traces(&page), traces(&bench.read("run.html")));
    let report: serde_json::Value =
        serde_json::from_str(&bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout).unwrap();
    let revision = report["revisions"].as_array().unwrap().last().unwrap();
    let witnesses = revision["check"]["witnesses"].as_array().unwrap();
    assert!(witnesses.len() > 5);
    let section = inside(&page, "<section id=\"witnesses\"", "</section>");
    let stories: Vec<&str> = section.split("<details class=\"card story\"").skip(1).collect();
    assert_eq!(stories.len(), witnesses.len());
    for (witness, story) in witnesses.iter().zip(stories) {
        let steps = &traces(&page)[inside(story, "data-trace=\"", "\"")]["steps"];
        assert_eq!(steps.as_array().unwrap().len() as u64, witness["reached"]["yes"]["depth"].as_u64().unwrap());
        assert!(steps.as_array().unwrap().iter().skip(1).all(|step| !step["lines"].is_null()), "{witness}");
    }
    assert_eq!(section.matches("class=\"card story\" open").count(), 1);
}

#[test]
fn the_page_of_an_ambiguity_has_both_answers_side_by_side() {
    let script = ambiguity::then_not(
        ambiguity::overshooting(&ambiguity::claim(Some("O1")), &ambiguity::opinion(&json!("O1"))),
        &ambiguity::accepting(),
    );
    let (bench, _) = ambiguity::found(&script, &[]);
    let page = page(&bench);
    assert!(heading(&page).starts_with("Ambiguity found"), "{}", heading(&page));
    let question = inside(&page, "<section id=\"question\"", "</section>");
    for words in [
        "Reading a: yes.",
        "R1 BROKEN by NeverAbove, in 4 states (rev_0)",
        "Reading b: no.",
        "R1 holds",
        "--answer O1=a",
        "--answer O1=b",
    ] {
        assert!(question.contains(words), "{words} in {question}");
    }
    assert_eq!(traces(&page)["findings-0"]["steps"].as_array().unwrap().len(), 4);
}

/// A worker whose steps repeat forever, with a property that wants it to stop.
pub(super) fn going_round() -> Script {
    let module = "---- MODULE Spec ----\nEXTENDS Naturals\nCONSTANT Max\n\n(* --fair algorithm Counter\nvariables n = 0;\nbegin\n  Turn:\n    while TRUE do\n      n := (n + 1) % Max;\n    end while;\nend algorithm; *)\n====\n";
    let cfg = "SPECIFICATION Spec\nCONSTANT Max = 3\nINVARIANTS TypeOK\nPROPERTY Stays\n\\* WITNESS WitnessTwo\n";
    let answer =
        sections("TypeOK == n \\in 0..10\n", "\\* covers R1\nStays == <>[](n = 2)\n", "WitnessTwo == n = 2\n", cfg);
    Script::default()
        .answer("informal_spec", 0, 1, "draft", INFORMAL)
        .answer("formalize", 0, 1, "draft", &fenced(module))
        .answer("generate_invariants", 0, 1, "draft", &answer)
        .answer("review", 0, 1, "draft", &issue("blocker", "counterexample_issue", "Stays is wrong"))
        .having_read_all()
}

#[test]
fn the_page_of_a_liveness_counterexample_goes_round() {
    let bench = bench();
    bench.forge(&going_round(), &["--max-revisions", "1"]);
    let page = page(&bench);
    let trace = &traces(&page)["findings-0"];
    assert!(trace["back_to"].is_number(), "{trace}");
    assert!(page.contains("class=\"message back\""));
    assert!(page.contains("repeat forever"));
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let first = page(&bench);
    assert_eq!(first, page(&bench));
}

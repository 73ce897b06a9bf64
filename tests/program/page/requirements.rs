//! What the page says of requirements and of the counterexamples that break them.

use super::{inside, page};
use crate::strengthen::stronger;
use crate::support::counter::{bench, good};
use crate::support::{Bench, name, project};

#[test]
fn each_property_has_the_wrong_models_that_it_was_the_first_to_notice() {
    let bench = bench();
    let script = good().answer("generate_invariants", 0, 2, "strengthen", &stronger());
    bench.forge(&script, &["--strengthen", "--checker", "embedded"]).expect(0);
    let page = page(&bench);
    let journal = bench.journal("specs");
    let judged = journal.iter().rfind(|event| name(event) == "mutants_judged").unwrap();
    let mut properties = 0;
    for property in ["NeverAbove", "FullAtTheEnd", "FromZero", "OneByOne"] {
        let is_first = |mutant: &&serde_json::Value| mutant["killed_by"][0] == property;
        let noticed: Vec<_> = judged["data"]["mutants"].as_array().unwrap().iter().filter(is_first).collect();
        let row = inside(&page, &format!("<summary><code>{property}</code></summary>"), "</details>");
        assert_eq!(row.contains("The first to notice "), !noticed.is_empty(), "{property}: {row}");
        if let Some(first) = noticed.first() {
            properties += 1;
            assert!(row.contains(&format!("The first to notice {} of", noticed.len())), "{row}");
            assert!(row.contains(&format!("<code>{}</code>", first["definition"].as_str().unwrap())), "{row}");
        }
    }
    assert!(properties > 1);
}

#[test]
fn a_counterexample_in_sentences_ends_with_the_sentence_of_the_documents() {
    let case = project().join("evals/cache_aside");
    let bench = Bench::without_tools();
    let recording = case.join("recording/run.jsonl");
    let arguments =
        ["run", "--case", case.to_str().unwrap(), "--recording", recording.to_str().unwrap(), "--provider", "replay"];
    bench.run(&[&arguments[..], &["--checker", "embedded", "--out", "specs"]].concat()).expect(1);
    let text = bench.run(&["report", "specs", "--explain"]).expect(0).stdout;
    assert!(text.contains("r1 does "), "{text}");
    let last = text.trim_end().lines().last().unwrap();
    assert!(last.starts_with("That breaks R") && last.ends_with('"'), "{last}");
    let sentence = last.split_once(": \"").unwrap().1.trim_end_matches('"');
    let documents = std::fs::read_dir(case.join("docs")).unwrap();
    let words = |text: &str| text.replace(['*', '\n', '`'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let documents: Vec<String> =
        documents.map(|file| words(&std::fs::read_to_string(file.unwrap().path()).unwrap())).collect();
    assert!(documents.iter().any(|document| document.contains(&words(sentence))), "{sentence}");
    // The page shows the same.
    let page = page(&bench);
    let shown = inside(&page, "The same in sentences</summary>", "</details>");
    assert!(shown.contains("1. At the start ") && shown.contains("That breaks R"), "{shown}");
}

#[test]
fn a_run_without_a_counterexample_has_nothing_to_explain() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    bench.run(&["report", "specs", "--explain"]).expect(0).prints(&["approved", "There is no counterexample."]);
}

//! The page of an audit.

use std::fmt::Write as _;

use super::{check_page, inside};
use crate::support::Bench;

/// A log of 40 states: 10 has too small a distance, a request at 30 is never answered.
pub(super) fn bench() -> Bench {
    let bench = Bench::without_tools();
    let mut log = String::new();
    for state in 0..40 {
        let distance = if state == 10 { "0.25" } else { "2.5" };
        let event = match state {
            5 | 30 => "request",
            8 => "reply",
            _ => "move",
        };
        let note = "<img src=x onerror=alert(1)>";
        let _ = writeln!(log, "{{\"distance\": {distance}, \"event\": \"{event}\", \"note\": \"{note}\"}}");
    }
    bench.write("log.jsonl", log);
    bench.write(
        "rules.toml",
        "[[rule]]\nid = \"distance\"\ndescription = \"Keeps <b>away</b>.\"\nformula = 'G distance > 1'\n\
         [[rule]]\nid = \"answered\"\nformula = 'G (event = \"request\" -> F event = \"reply\")'\n\
         [[rule]]\nid = \"once\"\nformula = 'F event = \"reply\"'\n",
    );
    bench
}

pub(super) fn page(bench: &Bench) -> String {
    bench.run(&["audit", "log.jsonl", "--policy", "rules.toml", "--html", "page.html"]).expect(1);
    let page = bench.read("page.html");
    check_page(&page);
    page
}

#[test]
fn each_rule_is_shown_over_the_states_with_its_robustness_and_the_record_that_broke_it() {
    let bench = bench();
    let page = page(&bench);
    assert_eq!(inside(&page, "<h1>", "</h1>"), "2 rules are broken, of 3");
    for words in [
        "holds so far from 0 to 9, violated from 10 to 39",
        "holds so far from 0 to 4, pending: something is still owed from 5 to 7, holds so far from 8 to 29, pending: \
         something is still owed from 30 to 39",
        "pending: something is still owed from 0 to 7, satisfied for good from 8 to 39",
        "Robustness of distance &gt; 1: at least -0.75, at state 10 (line 11); at most 1.5; 1.5 at the end.",
        "Line 11 of the log, state 10",
        "Line 31 of the log, state 30",
        "Keeps &lt;b&gt;away&lt;",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.contains("&quot;distance&quot;: 0.25"));
    assert!(!page.contains("<img"));
    // Red begins at the violation and lasts to the end: a unit is a state.
    assert!(page.contains("<rect class=\"violated\" x=\"10\" y=\"0\" width=\"30\" height=\"14\">"));
}

#[test]
fn a_record_that_is_cut_names_the_line_that_has_all_of_it() {
    let bench = bench();
    let long = format!("0.25, \"text\": \"{}\", ", "word ".repeat(600));
    bench.write("log.jsonl", bench.read("log.jsonl").replacen("0.25, ", &long, 1));
    let page = page(&bench);
    assert!(page.contains(" more characters: line 11 of the log has the whole record)"), "{page}");
}

#[test]
fn the_heading_counts_the_rules_that_never_applied() {
    let bench = Bench::without_tools();
    bench.finished_demo().expect(0);
    // An approved run has no second reading.
    let rule = |owner: &str| format!("[[rule]]\nid = \"{owner}\"\nowner = \"{owner}\"\nformula = 'true'\n");
    bench.write("rules.toml", rule("review") + &rule("validate") + &rule("second_reading"));
    bench.run(&["audit", "demo-specs", "--policy", "rules.toml", "--html", "page.html"]).expect(0);
    let page = bench.read("page.html");
    check_page(&page);
    assert_eq!(inside(&page, "<h1>", "</h1>"), "No rule is broken: 2 of 3 rules were evaluated, 1 never");
    // Not green, because the log does not test each rule.
    assert!(page.contains("<header class=\"top plain\""), "{}", inside(&page, "<body", "<h1>"));
}

#[test]
fn a_page_needs_the_whole_log() {
    let bench = bench();
    let done = bench.run(&["audit", "log.jsonl", "--policy", "rules.toml", "--follow", "--html", "page.html"]);
    done.expect(2).says(&["--follow cannot write a page"]);
}

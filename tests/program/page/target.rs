//! Where a page is written, and what is refused.

use super::check_page;
use crate::support::counter::{bench, good};

#[test]
fn a_folder_is_refused_before_a_run_begins() {
    let bench = bench();
    bench.write("there/file", "");
    for (target, why) in [("there", "it is a folder"), ("nowhere/page.html", "cannot write the page nowhere/page.html")]
    {
        bench.forge(&good(), &["--html", target]).expect(2).says(&[why]);
        assert!(!bench.path("specs").exists(), "{target}");
    }
}

#[test]
fn a_page_can_be_in_the_new_run_folder_and_a_later_one_replaces_it() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let run = ["run", "docs", "--recording", "script.jsonl", "--out", "new", "--html", "new/report.html"];
    bench.run(&run).expect(0).says(&["the page is new/report.html"]);
    check_page(&bench.read("new/report.html"));
    // A page of an earlier version is replaced, and nothing else: it could be a file of the run.
    bench.write("new/report.html", bench.read("new/report.html").replace("<main", "<p>old</p><main"));
    bench.run(&["resume", "new", "--html", "new/report.html"]).expect(0);
    assert!(!bench.read("new/report.html").contains("<p>old</p>"));
    let journal = bench.read("new/journal.jsonl");
    for target in ["new/journal.jsonl", "new/Spec.tla"] {
        bench.run(&["report", "new", "--html", target]).expect(2).says(&[target, "no page that tlaforge wrote"]);
    }
    assert_eq!(bench.read("new/journal.jsonl"), journal);
}

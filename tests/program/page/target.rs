//! Where a page is written, and what is refused.

use super::{check_page, inside};
use crate::support::counter::{bench, good};
use crate::support::{Bench, PROGRAM};

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

#[test]
fn a_shell_reads_the_folder_of_each_printed_command_as_it_is() {
    let bench = Bench::without_tools();
    let folder = "it's \"mine\" & $HOME";
    let done = bench.run(&["demo", "--checker", "embedded", "--out", folder]).expect(0);
    let shell = |script: &str| {
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", script]).current_dir(bench.path(".")).output().unwrap()
    };
    for (printed, before) in
        [(&done.stdout, "Full report: tlaforge "), (&done.stderr, "see it in a browser: tlaforge ")]
    {
        let (_, words) = printed.lines().find_map(|line| line.split_once(before)).unwrap();
        let done = shell(&format!("{PROGRAM} {words}"));
        assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let page = bench.read(&format!("{folder}/report.html"));
    let mut command = inside(&page, "tlaforge mutate ", "<").to_owned();
    for (escaped, character) in [("&#x27;", "'"), ("&#x2f;", "/"), ("&quot;", "\""), ("&amp;", "&")] {
        command = command.replace(escaped, character);
    }
    assert!(shell(&format!("set -- {command}; test -f \"$1\"")).status.success(), "{command}");
}

//! Every page in a real browser, as a person meets it: `tests/browser/check.mjs` has the rules.

use std::path::Path;

use serde_json::json;

use super::outcomes::going_round;
use super::{audit, check, eval, mutation};
use crate::run::ambiguity;
use crate::support::counter::bench;
use crate::support::{Bench, project};

/// What the browser finds wrong with a page of the bench: nothing.
#[track_caller]
fn look_at(bench: &Bench, page: &str) {
    let check = project().join("tests/browser/check.mjs");
    let done = std::process::Command::new("node").arg(check).arg(bench.path(page)).output().expect("node is installed");
    let (findings, errors) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && findings.is_empty(), "{findings}{errors}");
}

/// The scripts of a page are one program, as in the page: what one declares outside of a function, the others see.
#[test]
fn the_types_of_the_scripts_fit() {
    let folder = project().join("src/report/page");
    let names = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let scripts = names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "js"));
    let live = ["live_text.js", "live.js", "fleet.js"];
    let pages: Vec<String> = scripts.filter(|name| !live.contains(&name.as_str())).collect();
    assert!(!pages.is_empty());
    let of_live = |own: &str| vec![live[0].to_owned(), own.to_owned()];
    for together in [of_live(live[1]), of_live(live[2]), pages] {
        let done = std::process::Command::new("node")
            .arg(project().join("target/browser/node_modules/typescript/bin/tsc"))
            .args(["--noEmit", "--allowJs", "--checkJs", "--strict", "--noUncheckedIndexedAccess"])
            .args(["--noImplicitReturns", "--noUnusedLocals", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"])
            .args(&together)
            .current_dir(&folder)
            .output()
            .expect("node is installed");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    }
}

/// Each of these sections has a heading.
#[track_caller]
fn has_sections(page: &str, ids: &[&str]) {
    for id in ids {
        assert!(page.contains(&format!("<section id=\"{id}\"")), "no section {id}");
        assert!(page.contains(&format!("<h2 id=\"{id}-title\">")), "no heading of {id}");
    }
}

#[test]
fn a_page_of_the_demo() {
    let bench = Bench::without_tools();
    bench.finished_demo().expect(0);
    bench.run(&["report", "demo-specs", "--html", "page.html"]).expect(0);
    has_sections(&bench.read("page.html"), &["requirements", "grounds", "documents", "model", "revisions", "course"]);
    look_at(&bench, "page.html");
}

#[test]
fn a_page_of_a_flaw() {
    let case = project().join("evals/cache_aside");
    let recording = case.join("recording/run.jsonl");
    let bench = Bench::without_tools();
    let arguments =
        ["run", "--case", case.to_str().unwrap(), "--recording", recording.to_str().unwrap(), "--provider", "replay"];
    bench.run(&[&arguments[..], &["--checker", "embedded", "--html", "page.html"]].concat()).expect(1);
    has_sections(&bench.read("page.html"), &["findings", "requirements", "documents", "model", "revisions", "course"]);
    look_at(&bench, "page.html");
}

#[test]
fn a_page_of_an_ambiguity() {
    let script = ambiguity::then_not(
        ambiguity::overshooting(&ambiguity::claim(Some("O1")), &ambiguity::opinion(&json!("O1"))),
        &ambiguity::accepting(),
    );
    let (bench, _) = ambiguity::found(&script, &[]);
    bench.run(&["report", "specs", "--html", "page.html"]).expect(0);
    has_sections(&bench.read("page.html"), &["question", "findings", "requirements"]);
    look_at(&bench, "page.html");
}

#[test]
fn a_page_of_a_liveness_counterexample() {
    let bench = bench();
    bench.forge(&going_round(), &["--max-revisions", "1"]);
    bench.run(&["report", "specs", "--html", "page.html"]).expect(0);
    has_sections(&bench.read("page.html"), &["findings", "requirements"]);
    look_at(&bench, "page.html");
}

#[test]
fn a_page_of_a_mutation_run() {
    let bench = mutation::bench();
    mutation::page(&bench, "mutants.out");
    look_at(&bench, "page.html");
}

#[test]
fn a_page_of_an_audit() {
    let bench = audit::bench();
    audit::page(&bench);
    look_at(&bench, "page.html");
}

#[test]
fn a_page_of_a_check() {
    let bench = check::bench();
    check::page(&bench);
    look_at(&bench, "page.html");
}

#[test]
fn a_page_of_an_evaluation() {
    let bench = Bench::without_tools();
    eval::page(&bench);
    look_at(&bench, "page.html");
}

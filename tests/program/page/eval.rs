//! The page of an evaluation.

use super::{check_page, inside};
use crate::support::{Bench, project};

pub(super) fn page(bench: &Bench) -> String {
    let suite = project().join("evals");
    let arguments = ["eval", "--suite", suite.to_str().unwrap(), "--show-one", "rw_lock"];
    bench.run(&[&arguments[..], &["--checker", "embedded", "--html", "page.html"]].concat()).expect(0);
    let page = bench.read("page.html");
    check_page(&page);
    page
}

#[test]
fn each_known_bug_has_its_killer() {
    let page = page(&Bench::without_tools());
    let bugs = std::fs::read_dir(project().join("evals/rw_lock/known_bugs")).unwrap();
    let bugs =
        bugs.filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "tla")).count();
    assert!(inside(&page, "<h1>", "</h1>").contains(&format!("{bugs} of {bugs} known bugs found")));
    let case = inside(&page, "<section id=\"details\"", "</section>");
    assert_eq!(case.matches(">killed</span>").count(), bugs);
    for id in ["cases", "killers", "details"] {
        assert!(page.contains(&format!("<section id=\"{id}\"")));
    }
}

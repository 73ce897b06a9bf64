//! Names that the documents fix for a specification, and `--module`: the module has them, and its files are named after it.

use crate::support::counter::{INFORMAL, MODULE, bench, bench_with_java, fenced, good, good_sections, issue, review};
use crate::support::ran::NO_ANSWER;
use crate::support::{Script, name};
use serde_json::{Value, json};

/// The informal specification with this section of names, and the module under this name.
fn naming(names: &str, module: &str) -> Script {
    good()
        .answer("informal_spec", 0, 1, "draft", &format!("{INFORMAL}## Names\n{names}\n"))
        .answer("formalize", 0, 1, "draft", &fenced(&MODULE.replace("MODULE Spec", &format!("MODULE {module}"))))
        .having_read_all()
}

const FIXED: &str =
    "- module `Counter` [docs/counter.md:1]\n- variables n [docs/counter.md:2]\n- constants Max\n- labels Add";

#[test]
fn the_module_and_its_files_have_the_name_that_the_documents_fix() {
    let bench = bench_with_java();
    bench.forge(&naming(FIXED, "Counter"), &[]).expect(0);
    for folder in ["specs", "specs/history/rev_0"] {
        assert!(bench.read(&format!("{folder}/Counter.tla")).contains("MODULE Counter"));
        assert!(bench.path(&format!("{folder}/Counter.cfg")).exists());
        assert!(!bench.path(&format!("{folder}/Spec.tla")).exists());
    }
    bench.run(&["check", "specs/Counter.tla"]).expect(0).prints(&["holds"]);
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
    // An edit of the file by that name begins a branch.
    let edited = bench.read("specs/history/rev_0/Counter.cfg").replace("Max = 2", "Max = 3");
    bench.write("specs/history/rev_0/Counter.cfg", edited);
    let review = json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_changes": ["Max"]});
    let script = good().answer("review", 1, 1, "draft", &review.to_string()).having_read_all();
    bench.branch(&script, &["--from", "0", "--at", "model_check"]);
    assert!(bench.read("specs/history/rev_1/meta.json").contains("\"Counter\""));
    assert!(bench.read("specs/Counter.cfg").contains("Max = 3"), "{:#?}", bench.read("specs/Counter.cfg"));
}

#[test]
fn the_name_on_the_command_line_wins() {
    let bench = bench();
    bench.forge(&naming(FIXED, "Limit"), &["--module", "Limit"]).expect(0);
    assert!(bench.read("specs/Limit.tla").contains("MODULE Limit"));
    for name in ["", "Naturals", "a/b", "../x", "12", "Ünder", "two words"] {
        let done =
            bench.run(&["run", "docs", "--recording", "script.jsonl", "--out", "other", "--module", name]).expect(2);
        done.says(&["no module can be called", "letters, digits and _"]);
        assert!(!bench.path("other/journal.jsonl").exists());
    }
}

#[test]
fn a_module_without_a_fixed_name_goes_back_to_its_author() {
    for (names, words) in [
        ("- variables m", "the interface asks for VARIABLE m; it is not declared"),
        ("- constants n", "the interface asks for CONSTANT n; it is declared as a variable"),
        ("- labels Sub", "the interface asks for a label or action Sub; it is not declared"),
    ] {
        let bench = bench();
        bench.forge(&naming(names, "Spec"), &[]).expect(NO_ANSWER);
        let rejected = bench.journal("specs");
        let rejected = rejected.iter().rfind(|e| name(e) == "attempt_finished").unwrap().to_string();
        assert!(rejected.contains(words), "{rejected}");
    }
    let bench = bench();
    bench.forge(&naming("- module Counter", "Spec"), &[]).expect(NO_ANSWER);
    let asked = bench.journal("specs").iter().map(Value::to_string).collect::<String>();
    assert!(asked.contains("named Spec; it must be named Counter"), "{asked}");
    let bench = bench_with_java();
    bench.forge(&naming("- module Naturals", "Spec"), &[]).expect(NO_ANSWER);
    let asked = bench.journal("specs").iter().map(Value::to_string).collect::<String>();
    assert!(asked.contains("which no module can be called"), "{asked}");
}

#[test]
fn the_files_of_a_renamed_module_do_not_stay_at_the_top() {
    let informal = format!("{INFORMAL}## Names\n- module Counter\n");
    let script = good()
        .answer("review", 0, 1, "draft", &issue("major", "abstraction", "the documents fix the name"))
        .having_read_all()
        .answer("informal_spec", 1, 1, "repair", &informal)
        .answer("formalize", 1, 1, "repair", &fenced(&MODULE.replace("MODULE Spec", "MODULE Counter")))
        .answer("generate_invariants", 1, 1, "draft", &good_sections())
        .answer("review", 1, 1, "draft", &review("approved"))
        .having_read_all();
    let bench = bench();
    bench.forge(&script, &[]).expect(0);
    assert!(bench.path("specs/Counter.tla").exists() && bench.path("specs/history/rev_0/Spec.tla").exists());
    assert!(!bench.path("specs/Spec.tla").exists() && !bench.path("specs/Spec.cfg").exists());
}

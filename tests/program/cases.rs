//! Every evaluation case is complete: the files of its checklist exist, its reference is correct, its known bugs run.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::{Bench, project};
use serde_json::Value;

/// The cases, by folder.
fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = std::fs::read_dir(project().join("evals"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

fn checklist(case: &Path) -> Value {
    let path = case.join("checklist.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name}: {value}"))
}

/// Every file below a folder, sorted; empty if the folder does not exist.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn modules(dir: &Path) -> Vec<PathBuf> {
    files(dir).into_iter().filter(|path| path.extension().is_some_and(|e| e == "tla")).collect()
}

/// The outcome of a module under a configuration, whatever it is.
fn outcome(bench: &Bench, checker: &str, module: &Path, cfg: &Path) -> Value {
    let (spec, config) = (module.to_str().unwrap(), cfg.to_str().unwrap());
    let done = bench.run(&["check", spec, "--config", config, "--checker", checker, "--format", "json"]);
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{}: {e}\n{}", module.display(), done.stderr))
}

#[test]
fn every_checklist_is_complete_and_its_files_exist() {
    for case in cases() {
        let checklist = checklist(&case);
        let at = case.display();
        assert!(!text(&checklist, "name").is_empty(), "{at}");
        let mut names = BTreeSet::new();
        for property in list(&checklist, "required_invariants").iter().chain(list(&checklist, "optional_invariants")) {
            assert!(!text(property, "description").is_empty() && !text(property, "category").is_empty(), "{at}");
            assert!(names.insert(text(property, "name")), "{at}: {property} is there twice");
        }
        assert!(names.contains("TypeOK") && names.len() > 1, "{at}: {names:?}");
        let mut bugs = Vec::new();
        for bug in list(&checklist, "known_bugs") {
            let breaks = text(bug, "should_violate");
            assert!(breaks == "Deadlock" || names.contains(breaks), "{at}: {breaks}");
            assert!(!text(bug, "description").is_empty(), "{at}");
            bugs.push(case.join(text(bug, "file")));
        }
        bugs.sort();
        assert_eq!(
            bugs,
            modules(&case.join("known_bugs")),
            "{at}: every mutant is listed, and every listed one exists"
        );
        let limits = &checklist["tlc_constraints"];
        for limit in ["max_states", "max_time_seconds"] {
            assert!(limits[limit].as_u64().is_some_and(|n| n > 0), "{at}: {limit}");
        }
        for part in ["constants", "variables"].iter().flat_map(|part| list(&checklist["interface"], part)) {
            assert!(!text(part, "name").is_empty() && !text(part, "description").is_empty(), "{at}");
        }
        if let Some(violates) = checklist["expected_outcome"]["violates"].as_str() {
            assert!(names.contains(violates), "{at}: {violates}");
        }
    }
}

#[test]
fn every_reference_holds_within_the_limits_of_its_case_and_says_what_is_required() {
    let bench = Bench::remembering();
    // That both checkers agree on them is tested in `embedded::suites`.
    let chosen = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { "tlc" } else { "embedded" };
    let mut references = 0;
    for case in cases() {
        let checklist = checklist(&case);
        for module in modules(&case.join("expected")) {
            references += 1;
            let value = outcome(&bench, chosen, &module, &module.with_extension("cfg"));
            let at = module.display();
            assert_eq!(value["verdict"], "holds", "{at}: {}", value["reason"]);
            let distinct = value["statistics"]["distinct"].as_u64().unwrap();
            assert!(distinct <= checklist["tlc_constraints"]["max_states"].as_u64().unwrap(), "{at}: {distinct}");
            let checked =
                |name: &str| ["invariants", "properties"].iter().any(|l| list(&value, l).contains(&name.into()));
            let required =
                list(&checklist, "required_invariants").iter().chain(list(&checklist, "optional_invariants"));
            for property in required {
                assert!(checked(text(property, "name")), "{at}: {} is not checked", text(property, "name"));
            }
            for witness in list(&value, "witnesses") {
                assert!(witness["reached"]["yes"].is_object(), "{at}: {witness}");
            }
            for action in list(&value, "coverage") {
                assert!(action["taken"].as_u64().is_some_and(|n| n > 0), "{at}: {action}");
            }
        }
    }
    assert!(references > 0);
}

#[test]
fn every_known_bug_can_be_checked_alone() {
    let bench = Bench::remembering();
    let mut mutants = 0;
    for case in cases() {
        let checklist = checklist(&case);
        for module in modules(&case.join("known_bugs")) {
            mutants += 1;
            let own = module.with_extension("cfg");
            let shared = case.join("known_bugs/Spec.cfg");
            let cfg = if own.exists() { own } else { shared };
            let value = outcome(&bench, "embedded", &module, &cfg);
            let at = module.display();
            assert!(value["statistics"]["distinct"].as_u64().is_some_and(|n| n > 1), "{at}: {value}");
            // A known bug without properties of its own can only violate properties that are carried over.
            let text = std::fs::read_to_string(&cfg).unwrap();
            let has_property = ["INVARIANT", "PROPERT"].iter().any(|keyword| text.contains(keyword));
            let deadlocks = list(&checklist, "known_bugs")
                .iter()
                .any(|bug| bug["should_violate"] == "Deadlock" && case.join(text_of(bug)) == module);
            if !has_property && !deadlocks {
                assert_eq!(value["verdict"], "holds", "{at}: {value}");
                assert_eq!(value["statistics"]["left_on_queue"], 0, "{at}");
            } else {
                assert!(["holds", "violated"].contains(&value["verdict"].as_str().unwrap()), "{at}: {value}");
            }
            for name in list(&checklist["interface"], "variables").iter().map(|v| v["name"].as_str().unwrap()) {
                let module = std::fs::read_to_string(&module).unwrap();
                assert!(module.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == name), "{at}: {name}");
            }
        }
    }
    assert!(mutants > 0);
}

fn text_of(bug: &Value) -> &str {
    text(bug, "file")
}

#[test]
fn every_case_has_readable_documents() {
    for case in cases() {
        let docs = files(&case.join("docs"));
        assert!(!docs.is_empty(), "{}", case.display());
        for doc in docs {
            let text = std::fs::read_to_string(&doc).unwrap_or_else(|e| panic!("{}: {e}", doc.display()));
            assert!(text.trim().len() > 100, "{}", doc.display());
            let ending = doc.extension().and_then(|e| e.to_str()).unwrap_or_default();
            let known = ["md", "mdx", "txt", "rst", "html", "adoc"];
            assert!(known.contains(&ending), "{}: the program would skip it", doc.display());
        }
    }
}

#[test]
fn every_case_has_a_recording_or_says_why_it_has_none() {
    for case in cases() {
        let recordings = files(&case.join("recording"));
        if recordings.is_empty() {
            let why = checklist(&case)["no_recording"].as_str().unwrap_or_default().to_owned();
            assert!(!why.is_empty(), "{}: record a run, or say why in `no_recording`", case.display());
        }
        for recording in recordings {
            let text = std::fs::read_to_string(&recording).unwrap();
            assert!(!text.is_empty(), "{}", recording.display());
            for line in text.lines() {
                let answer: Value = serde_json::from_str(line).unwrap();
                assert_eq!(answer["v"], 1, "{}", recording.display());
                assert!(answer["node"].is_string() && answer["answer"].is_string(), "{}", recording.display());
                assert_ne!(answer["provider"], "script", "{} is not genuine", recording.display());
            }
        }
    }
}

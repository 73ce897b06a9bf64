//! Every exemplar meets the rules that models are given: it holds, is small, reaches its witnesses and covers its
//! requirements; and the README lists it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use crate::support::{Bench, jar, java, project};
use serde_json::Value;

fn folder() -> PathBuf {
    project().join("exemplars")
}

/// The names of the exemplars, by their modules.
fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "tla"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

fn module(name: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{name}.tla"))).unwrap()
}

/// The outcome of `tlaforge check`; it holds.
fn checked(bench: &Bench, name: &str) -> Value {
    let spec = folder().join(format!("{name}.tla"));
    let done = bench.run(&["check", spec.to_str().unwrap(), "--format", "json"]).expect(0);
    serde_json::from_str(&done.stdout).unwrap()
}

/// The table of the README: distinct states by name.
fn listed() -> BTreeMap<String, u64> {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    readme
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            let name = cells.first()?.strip_prefix('`')?.strip_suffix('`')?;
            Some((name.to_owned(), cells.last()?.replace(',', "").parse().ok()?))
        })
        .collect()
}

#[test]
fn every_exemplar_holds_with_every_action_taken_and_every_witness_reached() {
    let bench = Bench::remembering();
    let listed = listed();
    for name in names() {
        let value = checked(&bench, &name);
        assert_eq!(value["verdict"], "holds", "{name}");
        assert_eq!(value["statistics"]["left_on_queue"], 0, "{name}");
        assert_eq!(value["statistics"]["distinct"].as_u64(), listed.get(&name).copied(), "{name}: exemplars/README.md");
        let coverage = value["coverage"].as_array().unwrap();
        assert!(!coverage.is_empty(), "{name}");
        for action in coverage {
            assert!(action["taken"].as_u64().is_some_and(|n| n > 0), "{name}: {action}");
        }
        let witnesses = value["witnesses"].as_array().unwrap();
        assert!(!witnesses.is_empty(), "{name}");
        for witness in witnesses {
            assert!(witness["reached"]["yes"]["depth"].is_u64(), "{name}: {witness}");
        }
        let all = |list: &str| -> Vec<String> {
            value[list].as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
        };
        let checked: Vec<String> = all("invariants").into_iter().chain(all("properties")).collect();
        assert!(checked.iter().any(|p| p == "TypeOK"), "{name}: {checked:?}");
        assert!(checked.iter().filter(|p| *p != "TypeOK").count() >= 2, "{name}: {checked:?}");
        let bounds = &value["bounds"];
        assert_eq!((&bounds["deadlock_checked"], &bounds["view"]), (&Value::Bool(true), &Value::Null), "{name}");
        assert!(bounds["constraints"].as_array().unwrap().is_empty(), "{name}: {bounds}");
        let symmetric = !bounds["symmetry"].as_array().unwrap().is_empty();
        assert!(!symmetric || all("properties").is_empty(), "{name}: symmetry or temporal properties, never both");
    }
}

/// The words of the translation, without line comments: what stands between its marks. Words of `(* … *)` are among
/// them: they are the translator's own and stay the same.
fn translation(text: &str) -> Vec<String> {
    let inside: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.contains("\\* BEGIN TRANSLATION"))
        .skip(1)
        .take_while(|line| !line.contains("\\* END TRANSLATION"))
        .map(|line| line.split("\\*").next().unwrap())
        .collect();
    inside.join("\n").split_whitespace().map(str::to_owned).collect()
}

#[test]
fn translating_an_exemplar_again_does_not_change_its_meaning() {
    let bench = Bench::real();
    let done = bench.run(&["doctor", "--format", "json"]).expect(0);
    let found: Value = serde_json::from_str(&done.stdout).unwrap();
    // The blocks are those of pcal 1.9, which comes with it; another may order variables differently.
    let same_tools = found["java_tools"]["version"].as_str().is_some_and(|v| v.starts_with("TLC2 Version 2.15 "));
    for name in names() {
        let text = module(&name);
        let before = translation(&text);
        assert!(before.contains(&"Next".to_owned()), "{name} holds its translation");
        let file = bench.write(&format!("again/{name}.tla"), &text);
        let output = Command::new(java())
            .arg("-cp")
            .arg(jar())
            .args(["pcal.trans", "-nocfg", &format!("{name}.tla")])
            .current_dir(file.parent().unwrap())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("Translation completed"), "{name}: {said}");
        let after = translation(&bench.read(&format!("again/{name}.tla")));
        if same_tools {
            assert_eq!(after, before, "{name}");
        } else {
            assert!(after.contains(&"Next".to_owned()), "{name}");
        }
    }
}

#[test]
fn every_exemplar_has_module_and_configuration_and_an_introduction() {
    for name in names() {
        let text = module(&name);
        assert!(text.trim_start_matches('-').trim_start().starts_with(&format!("MODULE {name} ")), "{name}");
        for part in ["R1", "R2", "\\* covers R1", "algorithm"] {
            assert!(text.contains(part), "{name}: {part}");
        }
        let requirements: BTreeSet<&str> =
            text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| is_requirement(word)).collect();
        let covered: BTreeSet<&str> = text
            .lines()
            .filter_map(|line| line.split_once("\\* covers "))
            .flat_map(|(_, list)| list.split([',', ' ']))
            .filter(|word| is_requirement(word))
            .collect();
        assert_eq!(requirements, covered, "{name}: every requirement is covered");
        let cfg = std::fs::read_to_string(folder().join(format!("{name}.cfg"))).unwrap();
        assert!(cfg.starts_with("SPECIFICATION Spec\n") && cfg.contains("\\* WITNESS Witness"), "{name}");
        assert!(!cfg.contains("CHECK_DEADLOCK"), "{name}");
    }
}

fn is_requirement(word: &str) -> bool {
    word.strip_prefix('R').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

#[test]
fn the_readme_lists_exactly_the_exemplars() {
    assert_eq!(listed().into_keys().collect::<Vec<_>>(), names());
}

#[test]
fn the_exemplars_are_small_enough_for_every_prompt() {
    let bytes: usize = names().iter().map(|name| module(name).len()).sum();
    assert!(bytes < 30_000, "{bytes} bytes of modules");
}

#[test]
fn the_program_embeds_exactly_the_files_of_the_folder() {
    let source = std::fs::read_to_string(project().join("src/cli/new_run.rs")).unwrap();
    let carried: Vec<String> = source
        .lines()
        .filter_map(|line| {
            let (name, path) = line.trim().strip_prefix("(\"")?.split_once("\", include_str!(\"../../exemplars/")?;
            assert_eq!(path.split('"').next(), Some(name));
            Some(name.to_owned())
        })
        .collect();
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    files.sort();
    let mut sorted = carried.clone();
    sorted.sort();
    assert_eq!(sorted, files);
    // A prompt shows the modules in the order of their names, whether they are read or carried.
    let modules = |list: &[String]| -> Vec<String> {
        list.iter().filter(|n| n.split('.').nth(1) == Some("tla")).cloned().collect()
    };
    assert_eq!(modules(&carried), modules(&files));
}

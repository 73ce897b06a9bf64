//! The floors of the crate: a module imports only from floors below its own, `main.rs` is thin, files have their room,
//! `mod.rs` only re-exports, and nothing outside `cli` prints, reads the environment or ends the process.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::path::{Path, PathBuf};

/// Each module's floor, as in `docs/architecture.md`.
const FLOORS: [(&str, u8); 14] = [
    ("tla", 0),
    ("exit", 0),
    ("process", 1),
    ("config", 1),
    ("journal", 1),
    ("prompt", 1),
    ("toolchain", 2),
    ("llm", 2),
    ("pipeline", 4),
    ("nodes", 5),
    ("report", 7),
    ("cli", 8),
    ("lib", 9),
    ("main", 9),
];

/// Lines before the tests of a file.
const ROOM: usize = 600;

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files: Vec<(PathBuf, String)> = walkdir::WalkDir::new(&root)
        .into_iter()
        .map(Result::unwrap)
        .filter(|e| e.path().extension().is_some_and(|x| x == "rs"))
        .map(|e| (e.path().strip_prefix(&root).unwrap().to_owned(), std::fs::read_to_string(e.path()).unwrap()))
        .collect();
    assert!(files.len() > 30, "the sources were not found");
    files
}

fn module_of(path: &Path) -> String {
    let first = path.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

fn floor(module: &str) -> u8 {
    FLOORS.iter().find(|(name, _)| *name == module).unwrap_or_else(|| panic!("{module} has no floor")).1
}

/// The part of a file before its unit tests, without comments.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]").unwrap_or(text.len());
    text[..end].lines().map(|l| l.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// Modules named by `crate::…`, also inside `use crate::{a, b}`.
fn imports(code: &str) -> Vec<String> {
    let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => found.push(word(rest)),
            Some(group) => {
                let mut depth = 0;
                let mut start = 0;
                for (i, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => {
                            found.push(word(group[start..i].trim()));
                            break;
                        }
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            found.push(word(group[start..i].trim()));
                            start = i + 1;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found.retain(|m| !m.is_empty());
    found
}

#[test]
fn every_arrow_between_modules_points_down() {
    let mut arrows = 0;
    for (path, text) in sources() {
        let from = module_of(&path);
        for to in imports(&code(&text)) {
            if to == from {
                continue;
            }
            arrows += 1;
            assert!(
                floor(&to) < floor(&from),
                "{}: {from} (floor {}) uses {to} (floor {})",
                path.display(),
                floor(&from),
                floor(&to)
            );
        }
    }
    assert!(arrows > 50, "only {arrows} arrows were seen: the test has gone blind");
}

#[test]
fn the_test_of_the_floors_sees_grouped_imports() {
    assert_eq!(imports("use crate::{tla::{Cfg, Module}, exit};\ncrate::cli::main()"), ["tla", "exit", "cli"]);
}

#[test]
fn nodes_never_import_each_other() {
    let names = ["informal_spec", "formalize", "validate", "generate_invariants", "model_check", "review"];
    for (path, text) in sources().iter().filter(|(p, _)| p.starts_with("nodes")) {
        let own = path.file_stem().unwrap().to_str().unwrap();
        if names.contains(&own) {
            for other in names.iter().filter(|n| **n != own) {
                assert!(!code(text).contains(&format!("super::{other}")), "{own} imports {other}");
            }
        }
    }
}

#[test]
fn no_file_has_grown_past_its_room() {
    for (path, text) in sources() {
        let end = text.find("#[cfg(test)]").unwrap_or(text.len());
        let lines = text[..end].lines().count();
        assert!(lines <= ROOM, "{} has {lines} lines", path.display());
        if path == Path::new("main.rs") {
            assert!(lines < 20);
        }
        assert!(text.starts_with("//!"), "{} does not say what it is for", path.display());
        if path.file_name().is_some_and(|n| n == "mod.rs") {
            for line in code(&text).lines() {
                assert!(
                    !line.trim_start().starts_with("fn ") && !line.contains("struct "),
                    "{}: {line}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn only_the_command_line_prints_reads_the_environment_and_exits() {
    for (path, text) in sources() {
        if module_of(&path) == "cli" {
            continue;
        }
        for word in ["println!", "std::env::var", "process::exit", "SystemTime::now", "Timestamp::now"] {
            let allowed = word == "SystemTime::now" && path.ends_with("llm/handoff.rs");
            assert!(allowed || !code(&text).contains(word), "{} uses {word}", path.display());
        }
    }
}

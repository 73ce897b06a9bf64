//! The floors of the crate: a module imports only from floors below its own, `main.rs` is thin, files have their room,
//! `mod.rs` only re-exports, and nothing outside `cli` prints, reads the environment or ends the process.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod circles;
mod rust_source;

use std::path::Path;

use rust_source::{before_tests, blanked, code, module_of, paths, sources, tokens, without_comments};

/// Each module's floor, as in `docs/src/architecture.md`.
const FLOORS: [(&str, u8); 26] = [
    ("temporal", 0),
    ("tla", 0),
    ("exit", 0),
    ("shell", 0),
    ("files", 0),
    ("process", 1),
    ("config", 3),
    ("journal", 1),
    ("pluscal", 1),
    ("prompt", 1),
    ("toolchain", 2),
    ("store", 2),
    ("telemetry", 2),
    ("llm", 2),
    ("restate", 2),
    ("monitor", 3),
    ("mutation", 3),
    ("conform", 3),
    ("pipeline", 4),
    ("nodes", 5),
    ("eval", 6),
    ("report", 7),
    ("cli", 8),
    ("lib", 9),
    ("main", 9),
    ("experiments", 10),
];

/// Lines before the tests of a file.
const ROOM: usize = 600;

fn floor(module: &str) -> u8 {
    FLOORS.iter().find(|(name, _)| *name == module).unwrap_or_else(|| panic!("{module} has no floor")).1
}

/// Modules of the crate that a file names.
fn imports(file: &Path, code: &str) -> Vec<String> {
    let second = |path: String| path.strip_prefix("crate::").map(|rest| rest.split("::").next().unwrap().to_owned());
    paths(file, code).into_iter().filter_map(second).collect()
}

#[test]
fn every_arrow_between_modules_points_down() {
    let mut arrows = 0;
    for (path, text) in sources() {
        let from = module_of(&path);
        for to in imports(&path, &code(&text)) {
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
fn the_test_of_the_floors_sees_every_way_to_name_a_module() {
    let of = |file: &str, code: &str| imports(Path::new(file), code);
    let grouped = "use crate::{tla::{Cfg, Module}, exit};\ncrate::cli::main()";
    assert_eq!(of("llm/replay.rs", grouped), ["tla", "tla", "exit", "cli"]);
    // Two floors up by `super`, alone, in a group, and in an expression.
    assert_eq!(of("llm/replay.rs", "use super::super::cli::Args;"), ["cli"]);
    assert_eq!(of("llm/replay.rs", "use super::{contract::Answer, super::cli};"), ["llm", "cli"]);
    assert_eq!(of("llm/mod.rs", "use super::cli::Args;"), ["cli"]);
    assert_eq!(of("llm/deep/er.rs", "fn f() { super::super::super::nodes::x() }"), ["nodes"]);
    assert_eq!(of("llm/replay.rs", "use super::contract::{Answer as A, *};"), ["llm", "llm"]);
    assert_eq!(
        of("llm/replay.rs", "pub use crate::tla::{\n    Cfg as Configuration,\n    Module,\n};"),
        ["tla", "tla"]
    );
    assert_eq!(of("llm/replay.rs", "pub(crate) fn f(x: &crate::exit::Exit) -> Vec<crate::tla::Cfg>"), ["exit", "tla"]);
    assert_eq!(of("llm/replay.rs", "my_crate::x(); use a::crate_::b;"), [""; 0]);
}

#[test]
fn what_stands_in_comments_and_strings_is_no_code_and_what_stands_behind_them_is() {
    let text = "let u = \"https://x\"; use crate::cli; // use crate::nodes;\n/* crate::a /* crate::b */ crate::c */ crate::tla\n\
                let s = \"\\\" crate::d\"; let r = r#\"\" crate::e\"#; let c = '\"'; crate::exit; fn f<'a>(x: &'a str) {}";
    assert_eq!(imports(Path::new("x.rs"), &code(text)), ["cli", "tla", "exit"]);
    assert_eq!(code("a\n#[cfg(test)]\nmod tests {}").trim_end(), "a");
    assert_eq!(imports(Path::new("x.rs"), &code("#[cfg(test)]\nfn f() {}\nuse crate::cli;")), ["cli"]);
}

#[test]
fn nodes_never_import_each_other() {
    let names = ["informal_spec", "formalize", "validate", "generate_invariants", "model_check", "review"];
    for (path, text) in sources().iter().filter(|(p, _)| p.starts_with("nodes")) {
        let own = path.file_stem().unwrap().to_str().unwrap();
        if names.contains(&own) {
            for named in paths(path, &code(text)) {
                let node = named.strip_prefix("crate::nodes::").and_then(|rest| rest.split("::").next());
                assert!(node.is_none_or(|n| n == own || !names.contains(&n)), "{own} imports {named}");
            }
        }
    }
}

#[test]
fn no_file_has_grown_past_its_room() {
    for (path, text) in sources() {
        let lines = before_tests(&text).lines().count();
        assert!(lines <= ROOM, "{} has {lines} lines", path.display());
        if path.ends_with("main.rs") {
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

/// What only the command line may do: names from their root, and macros.
fn reserved(file: &Path, code: &str) -> Vec<String> {
    // What these two do with a text asks nobody.
    const PURE: [&str; 2] = ["std::env::split_paths", "std::env::join_paths"];
    const NAMES: [&str; 2] = ["std::env", "std::process::exit"];
    // However they were imported, and under whichever name of their parent.
    const ENDS: [&str; 4] = ["SystemTime::now", "Timestamp::now", "process::exit", "env::var"];
    const MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];
    let is = |path: &str, name: &str| path == name || path.starts_with(&format!("{name}::"));
    let ends = |path: &str, name: &str| path == name || path.ends_with(&format!("::{name}"));
    let tokens = tokens(code);
    let mut found: Vec<String> = paths(file, code)
        .into_iter()
        .filter(|path| !PURE.contains(&path.as_str()))
        .filter(|path| NAMES.iter().any(|name| is(path, name)) || ENDS.iter().any(|name| ends(path, name)))
        .collect();
    found.extend(tokens.windows(2).filter(|w| w[1] == "!" && MACROS.contains(&w[0])).map(|w| format!("{}!", w[0])));
    // A clock under another name would be read in silence.
    let renamed = tokens.windows(2).filter(|w| w[1] == "as" && ["SystemTime", "Timestamp"].contains(&w[0]));
    found.extend(renamed.map(|w| format!("{} as", w[0])));
    found
}

/// Functions that sleep, as a file of the tests names them.
fn sleeps(code: &str) -> Vec<String> {
    const ENDS: [&str; 3] = ["::sleep", "::sleep_until", "::sleep_ms"];
    let all = paths(Path::new("test.rs"), code);
    all.into_iter().filter(|path| ENDS.iter().any(|end| path.ends_with(end))).collect()
}

/// Lines of tests whose shell text sleeps: file, part of the line, reason.
const SHELL_SLEEPS: [(&str, &str, &str); 5] = [
    ("support/waiting.rs", "pub const HANG", "a process that only a signal ends; no test waits for its end"),
    ("program/check/times.rs", "nsleep {START}\\ncase", "reported times are measured, so each start takes some"),
    ("program/check/times.rs", "nsleep {START}\\nexec", "reported times are measured, so each start takes some"),
    ("program/rerun.rs", "echo line >> log", "another program's log, a line at a time; no test waits for its end"),
    ("experiments/action_parser.rs", "Action: sleep", "the name of an action, and no command"),
];

/// Lines of a Rust file whose strings sleep in a shell.
fn shell_sleeps(text: &str) -> Vec<String> {
    if !text.contains("sleep") {
        return Vec::new();
    }
    let count = |line: &str| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| is_sleep(w)).count();
    let (with_strings, code) = (without_comments(text), blanked(text));
    let lines = with_strings.lines().zip(code.lines());
    lines.filter(|(line, code)| count(line) > count(code)).map(|(line, _)| line.trim().to_owned()).collect()
}

/// Whether a word is the command, also after an escaped line end (`\nsleep`).
fn is_sleep(word: &str) -> bool {
    ["sleep", "nsleep", "tsleep", "usleep"].contains(&word)
}

#[test]
fn shell_text_in_tests_sleeps_only_with_a_reason() {
    for (text, expected) in [
        ("let a = \"exec sleep 600\";", 1),
        ("let a = \"#!/bin/sh\\nsleep 1\\nexit\"; // sleep", 1),
        ("let a = r#\"\nif x; then sleep 11; fi\"#;", 1),
        ("fn sleep() {} // sleep\n/* sleep */ let sleeper = \"asleep\";", 0),
    ] {
        assert_eq!(shell_sleeps(text).len(), expected, "{text}");
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(&tests).into_iter().map(Result::unwrap).filter(|e| e.file_type().is_file()) {
        let name = entry.path().strip_prefix(&tests).unwrap().to_str().unwrap().to_owned();
        let extension = entry.path().extension().and_then(|x| x.to_str()).unwrap_or_default();
        let lines = match extension {
            // The examples of these rules.
            "rs" if name == "floors/main.rs" => continue,
            "rs" => shell_sleeps(&std::fs::read_to_string(entry.path()).unwrap()),
            "sh" => {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                let code = text.lines().filter(|line| !line.trim_start().starts_with('#'));
                code.filter(|line| tokens(line).contains(&"sleep")).map(str::to_owned).collect()
            }
            _ => continue,
        };
        found.extend(lines.into_iter().map(|line| (name.clone(), line)));
    }
    // Unit tests and the product's own shell text.
    found.extend(sources().iter().flat_map(|(path, text)| {
        let tests = text[before_tests(text).len()..].to_owned();
        shell_sleeps(&tests).into_iter().map(|line| (path.display().to_string(), line))
    }));
    for (file, line) in &found {
        let is_known = SHELL_SLEEPS.iter().any(|(known, part, _)| known == file && line.contains(part));
        let advice = "wait for an event, inject the clock, or use HANG for what only a signal ends";
        assert!(is_known, "{file}: {line}: {advice}");
    }
    for (file, part, _) in SHELL_SLEEPS {
        let is_there = found.iter().any(|(found, line)| found == file && line.contains(part));
        assert!(is_there, "{file}: {part} does not sleep any more");
    }
}

#[test]
fn tests_wait_for_a_condition_and_only_the_helper_for_that_sleeps() {
    for (code, expected) in [
        ("std::thread::sleep(x)", &["std::thread::sleep"][..]),
        ("use std::thread;\nfn f() { thread::sleep(x) }", &["thread::sleep"]),
        ("use std::thread::{self, sleep as wait};", &["std::thread::sleep"]),
        ("tokio::time::sleep_until(x).await", &["tokio::time::sleep_until"]),
        ("let script = \"exec sleep 600\"; // thread::sleep", &[]),
    ] {
        assert_eq!(sleeps(&blanked(code)), expected, "{code}");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let members = std::fs::read_dir(root.join("crates")).unwrap().map(|member| member.unwrap().path().join("tests"));
    let folders = members.filter(|folder| folder.exists()).chain([root.join("tests")]);
    let mut helpers = 0;
    for entry in folders.flat_map(walkdir::WalkDir::new).map(Result::unwrap) {
        if entry.path().extension().is_none_or(|x| x != "rs") {
            continue;
        }
        let found = sleeps(&blanked(&std::fs::read_to_string(entry.path()).unwrap()));
        if entry.path().ends_with("support/waiting.rs") {
            assert!(!found.is_empty(), "the test has gone blind");
            helpers += 1;
        } else {
            let advice = "wait with tests/support/waiting.rs for what can be seen, or inject the clock";
            assert!(found.is_empty(), "{}: {found:?}: {advice}", entry.path().display());
        }
    }
    assert_eq!(helpers, 1);
}

#[test]
fn what_is_reserved_is_seen_however_it_is_imported() {
    for (code, expected) in [
        ("use std::env;\nfn f() { env::var(x) }", &["std::env", "env::var"][..]),
        ("use std::{env, fs};", &["std::env"]),
        ("use std::env::{self, var_os};", &["std::env::self", "std::env::var_os"]),
        ("use std::env as e;", &["std::env"]),
        ("std::env::temp_dir()", &["std::env::temp_dir"]),
        ("std::env::split_paths(&x); env!(y); std::fs::read(z)", &[]),
        ("use std::process; process::exit(1)", &["process::exit"]),
        ("use std::process::exit;", &["std::process::exit"]),
        ("std::time::SystemTime::now()", &["std::time::SystemTime::now"]),
        ("use std::time::SystemTime as Now;", &["SystemTime as"]),
        ("jiff::Timestamp::now()", &["jiff::Timestamp::now"]),
        ("eprint!(x); let print = 1; std::println!()", &["eprint!", "println!"]),
        ("use tokio::process::Command; std::process::id()", &[]),
    ] {
        assert_eq!(reserved(Path::new("llm/x.rs"), code), expected, "{code}");
    }
}

#[test]
fn only_the_command_line_prints_reads_the_environment_and_exits() {
    for (path, text) in sources() {
        if module_of(&path) == "cli" {
            continue;
        }
        let found = reserved(&path, &code(&text));
        assert!(found.is_empty(), "{} uses {found:?}", path.display());
    }
}

/// Functions that open a file although a link could lead to another one.
fn direct_reads(file: &Path, code: &str) -> Vec<String> {
    const ENDS: [&str; 8] = [
        "fs::read",
        "fs::read_to_string",
        "fs::copy",
        "File::open",
        "files::open",
        "files::read",
        "files::read_text",
        "files::reading",
    ];
    let ends = |path: &str, name: &str| path == name || path.ends_with(&format!("::{name}"));
    paths(file, code).into_iter().filter(|path| ENDS.iter().any(|name| ends(path, name))).collect()
}

/// The files that may use them, with the reason. A run folder, or anything else that may have come from elsewhere, is read with
/// `files::open_below`, `files::read_below` and `files::read_text_below`.
const DIRECT_READS: [(&str, &[&str]); 6] = [
    (
        "files that the user names on the command line or in the settings",
        &[
            "llm/prices.rs",
            "llm/recording.rs",
            "monitor/objective_config.rs",
            "conform/records.rs",
            "conform/map.rs",
            "cli/audit_labels.rs",
            "cli/eval_suite.rs",
            "cli/forged_run.rs",
            "cli/growing_log.rs",
            "cli/merge.rs",
            "cli/objective.rs",
            "cli/page.rs",
            "cli/policy_file.rs",
            "cli/rerun.rs",
            "cli/sets.rs",
            "cli/spec_files.rs",
            "cli/trace_out.rs",
            "cli/trust.rs",
            "config/layer.rs",
            "eval/case.rs",
            "eval/shard.rs",
            "cli/audit_page.rs",
            "journal/checksum.rs",
        ],
    ),
    ("documents, whose links out of their folder it skips", &["prompt/documents.rs"]),
    ("modules beside the one that the user names", &["toolchain/libraries.rs", "toolchain/local_modules.rs"]),
    (
        "our own files, in a folder that no one else writes",
        &[
            "cli/fetch_tools.rs",
            "cli/init.rs",
            "toolchain/fetch.rs",
            "toolchain/installation.rs",
            "toolchain/run.rs",
            "store/worker_copy.rs",
        ],
    ),
    ("files of the system", &["cli/live/server.rs", "journal/lock.rs", "toolchain/embedded_process.rs"]),
    (
        "folders, to make a change in them durable",
        &["files/atomic.rs", "journal/log.rs", "pipeline/run/accepted_drift.rs"],
    ),
];

#[test]
fn a_folder_from_elsewhere_is_read_without_following_links() {
    for (code, expected) in [
        ("use crate::files;\nfn f() { files::read_text(x) }", 1),
        ("std::fs::read_to_string(x)", 1),
        ("use std::fs::File; File::open(x)", 1),
        ("files::read_text_below(a, b, c); files::open_below(a, b); std::fs::read_dir(x); File::open_with(x)", 0),
    ] {
        assert_eq!(direct_reads(Path::new("cli/x.rs"), &blanked(code)).len(), expected, "{code}");
    }
    let all: Vec<&str> = DIRECT_READS.iter().flat_map(|(_, files)| files.iter().copied()).collect();
    let mut seen = std::collections::BTreeSet::new();
    for (path, text) in sources() {
        let name = path.to_str().unwrap();
        if name.starts_with("experiments") || name.contains("tests") || name.contains("scripted") {
            continue;
        }
        let found = direct_reads(&path, &code(&text));
        if !found.is_empty() {
            seen.insert(name.to_owned());
            let advice = "read with `files::read_below`, or say in DIRECT_READS whose file it is";
            assert!(all.contains(&name), "{name} uses {found:?}: {advice}");
        }
    }
    for name in all {
        assert!(seen.contains(name), "{name} opens no file directly any more");
    }
}

#[test]
fn members_whose_examples_are_not_tested_have_none() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let members = std::fs::read_dir(root.join("crates")).unwrap().map(|member| member.unwrap().path());
    let untested: Vec<_> = members
        .chain([root.to_owned()])
        .filter(|member| std::fs::read_to_string(member.join("Cargo.toml")).unwrap().contains("doctest = false"))
        .collect();
    assert!(untested.len() > 5, "{untested:?}");
    for entry in untested.iter().flat_map(|member| walkdir::WalkDir::new(member.join("src"))).map(Result::unwrap) {
        if entry.path().extension().is_some_and(|x| x == "rs") {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            let example = text.lines().find(|line| {
                let line = line.trim_start();
                ["///", "//!"].iter().any(|doc| line.strip_prefix(doc).is_some_and(|rest| rest.trim() == "```"))
            });
            assert_eq!(example, None, "{}: remove `doctest = false` of its package", entry.path().display());
        }
    }
}

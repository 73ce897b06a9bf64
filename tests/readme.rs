//! What the README says is what the program does.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod support;

use std::collections::BTreeSet;

use support::{Bench, project};
use tlaforge::exit::Exit;

fn readme() -> String {
    std::fs::read_to_string(project().join("README.md")).unwrap()
}

/// The help of the program and of each of its commands.
fn help() -> String {
    let bench = Bench::without_tools();
    let mut all = bench.run(&["--help"]).expect(0).stdout;
    for command in ["run", "demo", "resume", "check", "report", "doctor"] {
        all += &bench.run(&[command, "--help"]).expect(0).stdout;
    }
    all
}

#[test]
fn every_flag_that_the_documents_name_exists() {
    let help = help();
    let mut flags = BTreeSet::new();
    for file in ["README.md", "evals/README.md", "exemplars/README.md", "docs/architecture.md", "CHANGELOG.md"] {
        let text = std::fs::read_to_string(project().join(file)).unwrap();
        for line in text.lines().filter(|l| !l.contains("cargo ") && !l.contains("docker ") && !l.contains("apt")) {
            for (at, _) in line.match_indices("--") {
                let before = line[..at].chars().next_back();
                let name: String =
                    line[at + 2..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
                if name.len() > 1 && !name.starts_with('-') && before.is_none_or(|c| c == ' ' || c == '`' || c == '(') {
                    flags.insert(name);
                }
            }
        }
    }
    assert!(flags.len() > 8, "{flags:?}");
    for flag in flags.iter().filter(|f| *f != "algorithm") {
        assert!(help.contains(&format!("--{flag}")), "--{flag} is in no help");
    }
}

#[test]
fn the_two_set_up_commands_and_every_exit_status_are_as_the_readme_says() {
    let readme = readme();
    for command in ["```sh\ncargo run --release -- demo\n```", "```sh\nscripts/test\n```"] {
        assert_eq!(readme.matches(command).count(), 1, "{command}");
    }
    let help = help();
    for (exit, what) in Exit::ALL {
        assert!(help.contains(&format!("{:<4} {what}", exit.code())), "{what}");
    }
    let table = readme.lines().skip_while(|l| *l != "| status | meaning |").skip(2).take_while(|l| l.starts_with('|'));
    let listed: Vec<u8> = table.map(|line| line.split('|').nth(1).unwrap().trim().parse().unwrap()).collect();
    assert_eq!(listed, Exit::ALL.map(|(exit, _)| exit.code()));
}

#[test]
fn every_environment_variable_of_the_readme_is_read_somewhere() {
    let sources: String = walkdir::WalkDir::new(project().join("src"))
        .into_iter()
        .map(Result::unwrap)
        .filter(|e| e.path().extension().is_some_and(|x| x == "rs"))
        .map(|e| std::fs::read_to_string(e.path()).unwrap())
        .collect();
    let readme = readme();
    let table = readme.lines().skip_while(|l| *l != "| variable | default | meaning |").skip(2);
    let mut count = 0;
    for line in table.take_while(|l| l.starts_with('|')) {
        for name in line.split('|').nth(1).unwrap().split(',').map(|n| n.trim().trim_matches('`')) {
            count += 1;
            assert!(sources.contains(&format!("\"{name}\"")), "{name}");
        }
    }
    assert!(count >= 6);
}

#[test]
fn every_command_of_the_readme_is_one_of_the_program() {
    let help = help();
    for line in readme().lines().filter(|l| l.starts_with("tlaforge ")) {
        let command = line.split_whitespace().nth(1).unwrap();
        assert!(help.contains(&format!("  {command} ")), "{line}");
    }
}

#[test]
fn no_line_of_prose_in_the_readme_is_longer_than_120_characters() {
    let readme = readme();
    let long: Vec<&str> = readme.lines().filter(|l| !l.starts_with('|') && l.chars().count() > 120).collect();
    assert!(long.is_empty(), "{long:#?}");
}

//! The README agrees with the program.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod support;

use std::collections::BTreeSet;

use support::{Bench, project};
use tlaforge::exit::Exit;
use tlaforge::llm::{ClaudeVersion, DEFAULT_MODEL, RetryPolicy};

fn readme() -> String {
    std::fs::read_to_string(project().join("README.md")).unwrap()
}

/// The help of the program and of each of its commands.
fn help() -> String {
    let bench = Bench::without_tools();
    let mut all = bench.run(&["--help"]).expect(0).stdout;
    for command in [
        "run",
        "demo",
        "resume",
        "check",
        "translate",
        "mutate",
        "eval",
        "audit",
        "formula",
        "report",
        "doctor",
        "experiments",
    ] {
        all += &bench.run(&[command, "--help"]).expect(0).stdout;
    }
    all += &bench.run(&["policy", "formulate", "--help"]).expect(0).stdout;
    all
}

#[test]
fn every_flag_that_the_documents_name_exists() {
    let help = help();
    let mut flags = BTreeSet::new();
    for file in [
        "README.md",
        "evals/README.md",
        "exemplars/README.md",
        "docs/architecture.md",
        "docs/mutation.md",
        "docs/formulas.md",
        "docs/policies.md",
        "docs/experiments.md",
        "CHANGELOG.md",
    ] {
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

/// The fenced blocks of a language.
fn blocks(language: &str) -> Vec<String> {
    let readme = readme();
    let open = format!("```{language}\n");
    readme.split(&open).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// A folder with documents, and no tools.
fn folder() -> Bench {
    let bench = Bench::without_tools();
    bench.write("docs/a.md", "# A protocol\n");
    bench
}

#[test]
fn the_settings_and_prices_of_the_readme_are_accepted() {
    let [prices, settings] = &blocks("toml")[..] else { panic!("two blocks") };
    let bench = folder();
    bench.write("tlaforge.toml", settings);
    bench.write("my-prices.toml", prices.replace("my-model*", "claude-opus-4-5"));
    // Settings are validated before the tools are searched, so status 4 means that the settings are valid.
    let run = |args: &[&str]| {
        bench.run_with(&[&["run", "docs", "--checker", "tlc"], args].concat(), &[("ANTHROPIC_API_KEY", "sk-planted")])
    };
    run(&[]).expect(4).says(&["tla2tools.jar was not found"]);
    bench.write("my-prices.toml", prices);
    run(&["--model", "my-model-2"]).expect(4);
    run(&["--model", "your-model"]).expect(2).says(&["the price of your-model is not known"]);
}

#[test]
fn providers_and_defaults_are_as_the_readme_says() {
    let readme = readme();
    let bench = folder();
    let table = readme.lines().skip_while(|l| *l != "| provider | what answers |").skip(2);
    let names: Vec<&str> = table
        .take_while(|l| l.starts_with('|'))
        .map(|l| l.split('|').nth(1).unwrap().trim().trim_matches('`'))
        .collect();
    assert_eq!(names, ["claude", "anthropic", "openai", "handoff", "replay"]);
    for name in names {
        let done = bench.run(&["run", "docs", "--checker", "tlc", "--provider", name]);
        assert!(!done.stderr.contains("unknown provider"), "{}", done.stderr);
    }
    let retry = RetryPolicy::default();
    for (name, default) in [
        ("CLAUDE_MODEL", DEFAULT_MODEL.to_owned()),
        ("CLAUDE_MAX_RETRIES", retry.retries.to_string()),
        ("CLAUDE_RETRY_DELAY", retry.delay.as_secs().to_string()),
    ] {
        assert!(readme.contains(&format!("| `{name}` | {default} |")), "{name}");
    }
    assert_eq!(retry.cap.as_secs(), 600, "at most ten minutes");
    assert!(readme.contains(&format!("({} or later)", ClaudeVersion::OLDEST)));
}

#[test]
fn the_container_runs_a_valid_command_with_variables_that_the_program_reads() {
    let compose = std::fs::read_to_string(project().join("compose.yml")).unwrap();
    let command = compose.lines().find_map(|l| l.trim().strip_prefix("command: [")).unwrap();
    let args: Vec<&str> = command.trim_end_matches(']').split(", ").skip(1).collect();
    assert_eq!(args[..4], ["run", "docs", "--provider", "claude"]);
    let bench = folder();
    for dir in ["prompts", "exemplars"] {
        std::fs::create_dir(bench.path(dir)).unwrap();
    }
    bench.run(&args).expect(2).says(&["the Claude Code program was not found"]);
    let readme = readme();
    let passed =
        compose.lines().filter_map(|l| l.strip_prefix("      - ")).filter(|n| n.starts_with(char::is_uppercase));
    let mut count = 0;
    for name in passed {
        count += 1;
        assert!(readme.contains(&format!("`{name}`")), "{name} is not in the table");
    }
    assert!(count >= 9, "{count}");
}

#[test]
fn no_line_of_prose_in_the_readme_is_longer_than_120_characters() {
    let readme = readme();
    let long: Vec<&str> = readme.lines().filter(|l| !l.starts_with('|') && l.chars().count() > 120).collect();
    assert!(long.is_empty(), "{long:#?}");
}

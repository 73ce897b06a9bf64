//! Claims of the README and the book about settings, providers, defaults and the container.

use crate::book::{fenced, read};
use crate::support::{Bench, project};
use tlaforge::exit::Exit;
use tlaforge::llm::{ClaudeVersion, DEFAULT_MODEL, RetryPolicy};

#[test]
fn the_two_set_up_commands_are_as_the_readme_says() {
    let readme = read("README.md");
    for command in ["```sh\ncargo run --release -- demo\n```", "```sh\nscripts/test\n```"] {
        assert_eq!(readme.matches(command).count(), 1, "{command}");
    }
    let lines = readme.lines().count();
    assert!((100..=150).contains(&lines), "{lines} lines");
}

#[test]
fn the_help_lists_every_exit_status() {
    let help = Bench::without_tools().run(&["--help"]).expect(0).stdout;
    for (exit, what) in Exit::ALL {
        assert!(help.contains(&format!("{:<4} {what}", exit.code())), "{what}");
    }
}

#[test]
fn every_environment_variable_of_the_settings_page_is_read_somewhere() {
    let folders = ["src", "crates"].map(|folder| walkdir::WalkDir::new(project().join(folder)));
    let sources: String = folders
        .into_iter()
        .flatten()
        .map(Result::unwrap)
        .filter(|e| e.path().extension().is_some_and(|x| x == "rs"))
        .map(|e| std::fs::read_to_string(e.path()).unwrap())
        .collect();
    let page = read("docs/src/settings.md");
    let table = page.lines().skip_while(|l| *l != "| variable | default | meaning |").skip(2);
    let mut count = 0;
    for line in table.take_while(|l| l.starts_with('|')) {
        for name in line.split('|').nth(1).unwrap().split(',').map(|n| n.trim().trim_matches('`')) {
            count += 1;
            assert!(sources.contains(&format!("\"{name}\"")), "{name}");
        }
    }
    assert!(count >= 6);
}

/// The only block of TOML on a page.
fn toml(page: &str) -> String {
    let text = read(page);
    let blocks: Vec<_> = fenced(&text).into_iter().filter(|(language, _)| language == "toml").collect();
    let [(_, lines)] = &blocks[..] else { panic!("{page} has {} blocks", blocks.len()) };
    lines.join("\n")
}

/// A folder with documents, and no tools.
fn folder() -> Bench {
    let bench = Bench::without_tools();
    bench.write("docs/a.md", "# A protocol\n");
    bench
}

#[test]
fn the_settings_and_prices_of_the_book_are_accepted() {
    let (prices, settings) = (toml("docs/src/budgets.md"), toml("docs/src/settings.md"));
    let bench = folder();
    bench.write("tlaforge.toml", settings);
    bench.write("my-prices.toml", prices.replace("my-model*", "claude-opus-4-5"));
    // Settings are validated before the tools are searched, so status 4 means that the settings are valid.
    let run = |args: &[&str]| {
        bench.run_with(&[&["run", "docs", "--checker", "tlc"], args].concat(), &[("ANTHROPIC_API_KEY", "sk-planted")])
    };
    run(&[]).expect(4).says(&["tla2tools.jar was not found"]);
    bench.write("my-prices.toml", &prices);
    run(&["--model", "my-model-2"]).expect(4);
    run(&["--model", "your-model"]).expect(2).says(&["the price of your-model is not known"]);
}

#[test]
fn providers_and_defaults_are_as_the_book_says() {
    let (models, settings) = (read("docs/src/models.md"), read("docs/src/settings.md"));
    let bench = folder();
    let table = models.lines().skip_while(|l| *l != "| provider | what answers |").skip(2);
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
        assert!(settings.contains(&format!("| `{name}` | {default} |")), "{name}");
    }
    assert_eq!(retry.cap.as_secs(), 600, "at most ten minutes");
    assert!(models.contains(&format!("({} or later)", ClaudeVersion::OLDEST)));
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
    let settings = read("docs/src/settings.md");
    let passed =
        compose.lines().filter_map(|l| l.strip_prefix("      - ")).filter(|n| n.starts_with(char::is_uppercase));
    let mut count = 0;
    for name in passed {
        count += 1;
        assert!(settings.contains(&format!("`{name}`")), "{name} is not in the table");
    }
    assert!(count >= 9, "{count}");
}

#[test]
fn no_line_of_the_readme_is_longer_than_120_characters() {
    let readme = read("README.md");
    let long: Vec<&str> = readme.lines().filter(|l| l.chars().count() > 120).collect();
    assert!(long.is_empty(), "{long:#?}");
}

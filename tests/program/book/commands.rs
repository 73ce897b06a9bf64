//! The commands in the README and the book exist, with their flags.

use std::collections::BTreeSet;

use crate::book::generated::helps;
use crate::book::{fenced, pages, read};
use crate::support::project;

/// Splits a command line as a shell does, up to a pipe, a redirection or a comment.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut started) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => word.push(c),
            None if c == '\'' || c == '"' => (quote, started) = (Some(c), true),
            None if c.is_whitespace() => {
                if started || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                started = false;
            }
            None if matches!(c, '|' | '>' | '#' | '&') && word.is_empty() => return words,
            None => word.push(c),
        }
    }
    assert!(quote.is_none(), "a quote is not closed: {line}");
    if started || !word.is_empty() {
        words.push(word);
    }
    words
}

/// The arguments of `tlaforge` on a line of a page, if it runs the program or a script that does.
fn arguments(words: &[String]) -> Option<Vec<String>> {
    let after = |name: &str| words.iter().position(|w| w == name).map(|at| words[at + 1..].to_vec());
    match words.first()?.as_str() {
        "tlaforge" | "target/release/tlaforge" => Some(words[1..].to_vec()),
        "cargo" if words.get(1)? == "run" => after("--"),
        "docker" => after("tlaforge"),
        _ => None,
    }
}

#[test]
fn every_command_in_a_block_exists_with_its_flags() {
    let helps = helps();
    let mut files = pages();
    files.extend(["README.md", "evals/README.md", "exemplars/README.md"].map(str::to_owned));
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in files {
        for (language, lines) in fenced(&read(&file)) {
            let commands: Vec<&str> = match language.as_str() {
                "sh" => lines,
                "console" => lines.iter().filter_map(|l| l.strip_prefix("$ ")).collect(),
                _ => continue,
            };
            for line in commands {
                let words = words(line.trim());
                if let Some(script) = words.first().filter(|w| w.starts_with("scripts/"))
                    && !project().join(script).is_file()
                {
                    wrong.push(format!("{file}: {line}: no such script"));
                }
                let Some(args) = arguments(&words) else { continue };
                count += 1;
                let depth = helps.iter().filter(|(c, _)| args.starts_with(c)).map(|(c, _)| c.len()).max().unwrap_or(0);
                if depth == 0 {
                    wrong.push(format!("{file}: {line}: no such command"));
                    continue;
                }
                let help = &helps.iter().find(|(c, _)| c[..] == args[..depth]).unwrap().1;
                let flags: BTreeSet<&str> =
                    help.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | '<' | '>' | '|' | '`')).collect();
                for flag in args.iter().filter(|a| a.starts_with("--")) {
                    if !flags.contains(flag.split('=').next().unwrap()) {
                        wrong.push(format!("{file}: {line}: {flag} is no flag of it"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 40, "only {count} commands were seen: the test has gone blind");
}

#[test]
fn every_flag_that_the_prose_names_exists() {
    let help: String = helps().into_iter().map(|(_, help)| help).collect();
    let mut files = pages();
    // The flags of another program, which its own tests compare.
    files.retain(|page| !page.ends_with("experiments.md") && !page.ends_with("scale.md"));
    files.extend(["README.md", "evals/README.md", "exemplars/README.md", "CHANGELOG.md"].map(str::to_owned));
    let mut flags = BTreeSet::new();
    for file in files {
        let text = read(&file);
        // Commands of other programs have other flags.
        for line in text.lines().filter(|l| !["cargo ", "docker ", "apt", "scripts/"].iter().any(|w| l.contains(w))) {
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
    assert!(flags.len() > 40, "{flags:?}");
    // A word of PlusCal, and flags of `scripts/both`.
    let others = ["algorithm", "modules", "every"];
    for flag in flags.iter().filter(|f| !others.contains(&f.as_str())) {
        assert!(help.contains(&format!("--{flag}")), "--{flag} is in no help");
    }
}

//! The output in the README is that of the program, and every omission is marked.

use crate::book::{fenced, read};
use crate::support::{Bench, project};

/// The lines below a command in a `console` block of the README.
fn shown(command: &str) -> Vec<String> {
    let readme = read("README.md");
    let blocks = fenced(&readme);
    let block = blocks.iter().find(|(language, lines)| {
        language == "console" && lines.first().is_some_and(|l| l.starts_with(&format!("$ tlaforge {command}")))
    });
    block.unwrap_or_else(|| panic!("no block runs {command}")).1[1..].iter().map(|l| (*l).to_owned()).collect()
}

/// Asserts that the output has the shown lines, in this order. `…` stands for omitted lines, or for the rest of a line;
/// other lines follow each other.
#[track_caller]
fn is_shortened(shown: &[String], output: &str) {
    let output: Vec<&str> = output.lines().map(str::trim_end).collect();
    let (mut at, mut gap) = (0, false);
    for line in shown {
        if line == "…" {
            gap = true;
            continue;
        }
        let matches = |candidate: &str| match line.strip_suffix('…') {
            Some(start) => candidate.starts_with(start),
            None => candidate == line,
        };
        let found = output[at..].iter().position(|candidate| matches(candidate));
        let skipped = found.unwrap_or_else(|| panic!("{line:?} is not in the rest of\n{}", output.join("\n")));
        assert!(skipped == 0 || gap, "lines are missing before {line:?}, without …:\n{}", output.join("\n"));
        (at, gap) = (at + skipped + 1, false);
    }
}

#[test]
fn the_flaw_in_the_readme_is_the_output_of_its_command() {
    let bench = Bench::without_tools();
    let case = project().join("evals/cache_aside");
    let recording = case.join("recording/run.jsonl");
    let done = bench.run(&[
        "run",
        "--case",
        case.to_str().unwrap(),
        "--recording",
        recording.to_str().unwrap(),
        "--checker",
        "embedded",
    ]);
    is_shortened(&shown("run --case evals/cache_aside"), &done.expect(1).stdout);
}

#[test]
fn the_three_jobs_in_the_readme_print_these_lines() {
    let bench = Bench::without_tools();
    let demo = bench.finished_demo().expect(0);
    is_shortened(&shown("run path/to/docs"), &demo.stderr);
    let resumed = bench.run(&["resume", "demo-specs", "--from", "rev_0", "--at", "model_check"]).expect(0);
    is_shortened(&shown("resume demo-specs"), &resumed.stderr);
    let spec = project().join("exemplars/TicketLock.tla");
    // A time limit that no machine reaches: the score must not depend on speed.
    let mutated = bench.run(&["mutate", spec.to_str().unwrap(), "--checker", "embedded", "--timeout", "3600"]);
    is_shortened(&shown("mutate exemplars/TicketLock.tla"), &mutated.expect(0).stdout);
}

//! A folder of models as a test suite: one line for each test, a summary, JSON and `JUnit` XML.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::check::check_json;
use super::count::counted;
use super::findings::{FileLine, Finding, Findings, Level};
use super::junit::escaped;
use super::lines::in_one_line;
use crate::exit::Exit;
use crate::tla::{CheckOutcome, ExpectedVerdict};

/// One configuration with what is expected of it and what its check found.
#[derive(Debug)]
pub struct ModelTest {
    /// The path of the configuration in the folder.
    pub name: String,
    pub module: PathBuf,
    pub config: PathBuf,
    pub expected: ExpectedVerdict,
    /// The line of the expectation in the configuration; 1 if it has none.
    pub line: usize,
    pub result: TestResult,
    /// Why it did not pass.
    pub reason: Option<String>,
    pub time: Duration,
    /// `None` if there was no check.
    pub outcome: Option<CheckOutcome>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestResult {
    Passed,
    Failed,
    /// The check ended without a verdict.
    Undecided,
    TimedOut,
    /// There was no check: a file is missing or wrong, or a tool does not work.
    Error(Exit),
}

impl TestResult {
    /// As in the lines of the tests; the lower case is its name in JSON.
    fn word(self) -> &'static str {
        match self {
            Self::Passed => "PASS",
            Self::Failed => "FAIL",
            Self::Undecided => "UNDECIDED",
            Self::TimedOut => "TIMEOUT",
            Self::Error(_) => "ERROR",
        }
    }
}

/// `        PASS [   0.021s] Sub/M.cfg`.
pub fn test_line(test: &ModelTest) -> String {
    let mut line = format!("{:>12} [{:>8.3}s] {}", test.result.word(), test.time.as_secs_f64(), test.name);
    if let Some(reason) = &test.reason {
        let _ = write!(line, ": expected {}; {reason}", test.expected.words());
    }
    // The name of a file may have a line break.
    in_one_line(&line)
}

/// The line that closes a test suite.
pub fn test_summary(tests: &[ModelTest], skipped: usize, time: Duration) -> String {
    let counts = counts(tests).into_iter().filter(|(word, count)| *word == "passed" || *count > 0);
    let mut counts: Vec<String> = counts.map(|(word, count)| format!("{count} {word}")).collect();
    if skipped > 0 {
        counts.push(format!("{skipped} skipped"));
    }
    let run = counted(tests.len(), "test");
    format!("{:>12} [{:>8.3}s] {run} run: {}\n", "Summary", time.as_secs_f64(), counts.join(", "))
}

fn counts(tests: &[ModelTest]) -> [(&'static str, usize); 5] {
    let count = |word: &str| tests.iter().filter(|test| test.result.word() == word).count();
    [
        ("passed", count("PASS")),
        ("failed", count("FAIL")),
        ("undecided", count("UNDECIDED")),
        ("timed out", count("TIMEOUT")),
        ("errors", count("ERROR")),
    ]
}

pub fn test_json(tests: &[ModelTest], skipped: usize, time: Duration) -> Value {
    let object = |test: &ModelTest| {
        json!({
            "name": test.name,
            "module": test.module,
            "config": test.config,
            "expected": test.expected.words(),
            "result": test.result.word().to_lowercase(),
            "reason": test.reason,
            "seconds": test.time.as_secs_f64(),
            "check": test.outcome.as_ref().map(check_json),
        })
    };
    let mut summary: Value = counts(tests).into_iter().map(|(word, n)| (word.replace(' ', "_"), json!(n))).collect();
    summary["skipped"] = json!(skipped);
    let tests: Vec<Value> = tests.iter().map(object).collect();
    json!({"schema": 1, "tests": tests, "summary": summary, "seconds": time.as_secs_f64()})
}

/// A test that did not come to a verdict is an error in `JUnit`'s words: it could not run to its end.
pub fn test_junit(folder: &str, tests: &[ModelTest]) -> String {
    let [_, (_, failures), ..] = counts(tests);
    let passed = tests.iter().filter(|test| test.result == TestResult::Passed).count();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tlaforge test\">\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{}\" skipped=\"0\">",
        escaped(folder),
        tests.len(),
        tests.len() - passed - failures,
    );
    for test in tests {
        let (name, class, time) = (escaped(&test.name), escaped(folder), test.time.as_secs_f64());
        let _ = write!(out, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time:.3}\"");
        if test.result == TestResult::Passed {
            out.push_str("/>\n");
            continue;
        }
        let tag = if test.result == TestResult::Failed { "failure" } else { "error" };
        let reason = test.reason.as_deref().unwrap_or_default();
        let why = escaped(&format!("{}: expected {}; {reason}", test.result.word(), test.expected.words()));
        let _ = writeln!(out, "><{tag} message=\"{why}\"/></testcase>");
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// Each test that did not pass, at its expectation.
pub fn test_findings(tests: &[ModelTest], skipped: usize, time: Duration) -> Findings {
    let finding = |test: &ModelTest| {
        let (rule, level) = match test.result {
            TestResult::Passed => return None,
            TestResult::Failed => ("test-failed", Level::Error),
            TestResult::Error(_) => ("test-error", Level::Error),
            TestResult::Undecided | TestResult::TimedOut => ("undecided", Level::Error),
        };
        let reason = test.reason.as_deref().unwrap_or_default();
        let message = format!("{}: expected {}; {reason}", test.name, test.expected.words());
        Some(Finding::new(rule, level, message).at(FileLine::new(test.config.display().to_string(), test.line)))
    };
    let summary = test_summary(tests, skipped, time);
    let summary = summary.trim().trim_start_matches("Summary").trim().to_owned();
    Findings { command: "tlaforge test".to_owned(), summary, list: tests.iter().filter_map(finding).collect() }
}

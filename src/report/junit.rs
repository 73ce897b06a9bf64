//! Renders evaluations as `JUnit` XML: a test suite for each case, a test for each criterion and each known bug.

use std::fmt::Write as _;

use super::count::counted;
use super::eval::{Entry, Outcome, judges, tools};
use super::findings::{Finding, Findings, Level};
use crate::eval::{BugOutcome, Evaluation, Status};
use crate::prompt::show_invisible;

enum TestResult {
    Passed,
    Failed(String),
    Skipped(String),
    Error(String),
}

pub fn junit(entries: &[Entry]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tlaforge eval\">\n");
    for entry in entries {
        let tests = match &entry.outcome {
            Outcome::Evaluated(evaluation) => tests(evaluation),
            Outcome::Skipped(why) => vec![("evaluation".to_owned(), TestResult::Skipped(why.clone()))],
            Outcome::Failed { what, remedies } => {
                vec![("evaluation".to_owned(), TestResult::Error(format!("{what}\n{}", remedies.join("\n"))))]
            }
        };
        let count = |wanted: fn(&TestResult) -> bool| tests.iter().filter(|(_, result)| wanted(result)).count();
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            escaped(&entry.case),
            tests.len(),
            count(|result| matches!(result, TestResult::Failed(_))),
            count(|result| matches!(result, TestResult::Error(_))),
            count(|result| matches!(result, TestResult::Skipped(_))),
        );
        if let Outcome::Evaluated(evaluation) = &entry.outcome {
            let judges = judges(&evaluation.tier3);
            out.push_str("    <properties>\n");
            for (name, value) in [("tools", tools(evaluation)), ("known bugs judged by", judges)] {
                let _ = writeln!(out, "      <property name=\"{name}\" value=\"{}\"/>", escaped(&value));
            }
            out.push_str("    </properties>\n");
        }
        for (name, result) in &tests {
            let (name, case) = (escaped(name), escaped(&entry.case));
            let (tag, why) = match result {
                TestResult::Passed => {
                    let _ = writeln!(out, "    <testcase classname=\"{case}\" name=\"{name}\"/>");
                    continue;
                }
                TestResult::Failed(why) => ("failure", why),
                TestResult::Skipped(why) => ("skipped", why),
                TestResult::Error(why) => ("error", why),
            };
            let _ = writeln!(
                out,
                "    <testcase classname=\"{case}\" name=\"{name}\"><{tag} message=\"{}\"/></testcase>",
                escaped(why.trim())
            );
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

/// Each failed criterion and each known bug that survives.
pub fn eval_findings(entries: &[Entry]) -> Findings {
    let mut list = Vec::new();
    for entry in entries {
        let tests = match &entry.outcome {
            Outcome::Evaluated(evaluation) => tests(evaluation),
            Outcome::Skipped(_) => continue,
            Outcome::Failed { what, .. } => vec![("evaluation".to_owned(), TestResult::Error(what.clone()))],
        };
        list.extend(tests.into_iter().filter_map(|(name, result)| {
            let (rule, level, why) = match result {
                TestResult::Failed(why) => ("eval-failed", Level::Error, why),
                TestResult::Error(why) => ("undecided", Level::Warning, why),
                TestResult::Passed | TestResult::Skipped(_) => return None,
            };
            Some(Finding::new(rule, level, format!("{}: {name}: {why}", entry.case)))
        }));
    }
    let summary = format!("{}, {}", counted(entries.len(), "case"), counted(list.len(), "finding"));
    Findings { command: "tlaforge eval".to_owned(), summary, list }
}

fn tests(evaluation: &Evaluation) -> Vec<(String, TestResult)> {
    let mut tests = Vec::new();
    for (name, criterion) in evaluation.criteria() {
        let why = criterion.reason.clone().unwrap_or_default();
        let result = match criterion.status {
            Status::Passed => TestResult::Passed,
            Status::Failed => TestResult::Failed(why),
            Status::NotApplicable => TestResult::Skipped(why),
            // JUnit distinguishes a test that could not run from one that failed; undecided is the former.
            Status::Undecided => TestResult::Error(why),
        };
        tests.push((format!("tier 1: {name}"), result));
    }
    let vacuous = &evaluation.tier1.vacuous;
    let result = if vacuous.is_empty() { TestResult::Passed } else { TestResult::Failed(vacuous.join("; ")) };
    tests.push(("not vacuous".to_owned(), result));
    for mutant in &evaluation.tier3.known_bugs {
        let unknown = mutant.inconclusive.iter().map(|u| format!("{}: {}", u.property, u.reason)).collect::<Vec<_>>();
        let result = match mutant.outcome {
            BugOutcome::Killed => TestResult::Passed,
            BugOutcome::Survived => TestResult::Failed(format!("survived: {}", mutant.description)),
            BugOutcome::NotApplicable => {
                TestResult::Failed(format!("no property could be carried over: {}", mutant.description))
            }
            BugOutcome::Inconclusive => TestResult::Error(unknown.join("; ")),
        };
        tests.push((format!("tier 3: {}", mutant.file), result));
    }
    for wrong in &evaluation.tier3.wrong_properties {
        let why = format!("{} violates it", wrong.reference);
        tests.push((format!("holds in the reference: {}", wrong.property), TestResult::Failed(why)));
    }
    tests
}

pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in show_invisible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // In an attribute, an XML parser replaces a literal line end by a blank (XML 1.0, 3.3.3).
            '\n' => out.push_str("&#10;"),
            // XML 1.0 cannot represent control characters.
            c if c.is_control() && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_written_out() {
        assert_eq!(escaped("a\u{202e}b\u{200b}<"), "a&lt;U+202E&gt;b&lt;U+200B&gt;&lt;");
    }

    #[test]
    fn special_characters_in_names_keep_the_xml_valid() {
        let failed = Outcome::Failed { what: "a<b> & \"c\"\u{1}".to_owned(), remedies: vec!["do".to_owned()] };
        let text = junit(&[Entry { case: "x".to_owned(), outcome: failed }]);
        assert!(text.contains("errors=\"1\""), "{text}");
        assert!(text.contains("message=\"a&lt;b&gt; &amp; &quot;c&quot;\u{fffd}&#10;do\""), "{text}");
    }
}

//! A comparison of logs with a specification as findings, as `JUnit` XML, and as a behaviour that a page can show.

use std::fmt::Write as _;

use super::findings::{FileLine, Finding, Findings, Level};
use super::junit::escaped;
use crate::conform::{Conformance, Verdict};

fn level(verdict: Verdict) -> Option<(&'static str, Level)> {
    match verdict {
        Verdict::Conforms => None,
        Verdict::Deviates => Some(("deviates", Level::Error)),
        Verdict::BreaksRequirement => Some(("breaks-requirement", Level::Error)),
        Verdict::Undecided => Some(("undecided", Level::Warning)),
    }
}

/// What was found, at the line of the log that it is about.
pub fn conform_findings(result: &Conformance) -> Findings {
    let mut findings =
        Findings { command: "tlaforge conform".to_owned(), summary: result.headline.clone(), list: Vec::new() };
    if let Some((rule, level)) = level(result.verdict) {
        let message = std::iter::once(&result.headline).chain(&result.details).cloned().collect::<Vec<_>>().join("\n");
        let mut finding = Finding::new(rule, level, message);
        if let Some(place) = &result.place {
            finding = finding.at(FileLine::new(place.file.display().to_string(), place.line));
        }
        findings.list.push(finding);
    }
    findings
}

/// One test: whether the logs conform. An undecided comparison is an error, and no failure of the system.
pub fn conform_junit(spec: &str, logs: &str, result: &Conformance) -> String {
    let (failures, errors) = match result.verdict {
        Verdict::Conforms => (0, 0),
        Verdict::Deviates | Verdict::BreaksRequirement => (1, 0),
        Verdict::Undecided => (0, 1),
    };
    let (spec, logs) = (escaped(spec), escaped(logs));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tlaforge conform\">\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "  <testsuite name=\"{spec}\" tests=\"1\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\">"
    );
    let _ = write!(out, "    <testcase classname=\"{spec}\" name=\"{logs}\">");
    let text = escaped(&result.text());
    let message = escaped(&result.headline);
    match result.verdict {
        Verdict::Conforms => {
            let _ = write!(out, "<system-out>{text}</system-out>");
        }
        Verdict::Deviates | Verdict::BreaksRequirement => {
            let _ = write!(out, "<failure message=\"{message}\">{text}</failure>");
        }
        Verdict::Undecided => {
            let _ = write!(out, "<error message=\"{message}\">{text}</error>");
        }
    }
    out.push_str("</testcase>\n  </testsuite>\n</testsuites>\n");
    out
}

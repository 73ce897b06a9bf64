//! Evaluations as `JUnit` XML, for whatever shows test results: a suite for each case, a test for each criterion and each
//! known bug.

use std::fmt::Write as _;

use super::eval::{Entry, Outcome, judges, tools};
use crate::eval::{Evaluation, Fate, Status};
use crate::prompt::show_invisible;

enum Said {
    Passed,
    Failed(String),
    Skipped(String),
    Broke(String),
}

/// The XML.
pub fn junit(entries: &[Entry]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tlaforge eval\">\n");
    for entry in entries {
        let tests = match &entry.outcome {
            Outcome::Evaluated(evaluation) => tests(evaluation),
            Outcome::Skipped(why) => vec![("evaluation".to_owned(), Said::Skipped(why.clone()))],
            Outcome::Failed { what, remedies } => {
                vec![("evaluation".to_owned(), Said::Broke(format!("{what}\n{}", remedies.join("\n"))))]
            }
        };
        let count = |wanted: fn(&Said) -> bool| tests.iter().filter(|(_, said)| wanted(said)).count();
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            escaped(&entry.case),
            tests.len(),
            count(|said| matches!(said, Said::Failed(_))),
            count(|said| matches!(said, Said::Broke(_))),
            count(|said| matches!(said, Said::Skipped(_))),
        );
        if let Outcome::Evaluated(evaluation) = &entry.outcome {
            let judges = judges(&evaluation.tier3);
            out.push_str("    <properties>\n");
            for (name, value) in [("tools", tools(evaluation)), ("known bugs judged by", judges)] {
                let _ = writeln!(out, "      <property name=\"{name}\" value=\"{}\"/>", escaped(&value));
            }
            out.push_str("    </properties>\n");
        }
        for (name, said) in &tests {
            let (name, case) = (escaped(name), escaped(&entry.case));
            let (tag, why) = match said {
                Said::Passed => {
                    let _ = writeln!(out, "    <testcase classname=\"{case}\" name=\"{name}\"/>");
                    continue;
                }
                Said::Failed(why) => ("failure", why),
                Said::Skipped(why) => ("skipped", why),
                Said::Broke(why) => ("error", why),
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

fn tests(evaluation: &Evaluation) -> Vec<(String, Said)> {
    let mut tests = Vec::new();
    for (name, criterion) in evaluation.criteria() {
        let why = criterion.reason.clone().unwrap_or_default();
        let said = match criterion.status {
            Status::Passed => Said::Passed,
            Status::Failed => Said::Failed(why),
            Status::NotApplicable => Said::Skipped(why),
            Status::Undecided => Said::Broke(why),
        };
        tests.push((format!("tier 1: {name}"), said));
    }
    let vacuous = &evaluation.tier1.vacuous;
    let said = if vacuous.is_empty() { Said::Passed } else { Said::Failed(vacuous.join("; ")) };
    tests.push(("not vacuous".to_owned(), said));
    for mutant in &evaluation.tier3.mutants {
        let unknown = mutant.inconclusive.iter().map(|u| format!("{}: {}", u.property, u.reason)).collect::<Vec<_>>();
        let said = match mutant.outcome {
            Fate::Killed => Said::Passed,
            Fate::Survived => Said::Failed(format!("survived: {}", mutant.description)),
            Fate::NotApplicable => Said::Failed(format!("no property could be carried over: {}", mutant.description)),
            Fate::Inconclusive => Said::Broke(unknown.join("; ")),
        };
        tests.push((format!("tier 3: {}", mutant.file), said));
    }
    for wrong in &evaluation.tier3.wrong {
        let why = format!("{} violates it", wrong.reference);
        tests.push((format!("holds of the reference: {}", wrong.property), Said::Failed(why)));
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
            '\n' => out.push_str("&#10;"),
            // XML has no way to write them.
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
    fn whatever_stands_in_a_name_the_xml_stays_whole() {
        let failed = Outcome::Failed { what: "a<b> & \"c\"\u{1}".to_owned(), remedies: vec!["do".to_owned()] };
        let text = junit(&[Entry { case: "x".to_owned(), outcome: failed }]);
        assert!(text.contains("errors=\"1\""), "{text}");
        assert!(text.contains("message=\"a&lt;b&gt; &amp; &quot;c&quot;\u{fffd}&#10;do\""), "{text}");
    }
}

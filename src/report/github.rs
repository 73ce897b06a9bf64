//! Findings as annotations of GitHub Actions, one command a line.
//!
//! GitHub unescapes `%25`, `%0D` and `%0A` in messages, and also `%3A` and `%2C` in properties.

use std::fmt::Write as _;

use super::findings::{Finding, Findings, Level};

pub fn github_annotations(findings: &Findings) -> String {
    let mut out = String::new();
    for finding in &findings.list {
        let [first, cited @ ..] = finding.places.as_slice() else {
            annotation(&mut out, finding, "");
            continue;
        };
        for place in std::iter::once(first).chain(cited) {
            let mut at = format!("file={},", escaped_property(&place.file));
            if let Some(line) = place.line {
                // Writing to a string cannot fail.
                let _ = write!(at, "line={line},");
            }
            annotation(&mut out, finding, &at);
        }
    }
    // A line that begins with `::` would be another command, and so would `##[` anywhere in a line.
    let summary = findings.summary.replace(['\r', '\n'], " ").replace("##[", "## [");
    let _ = writeln!(out, "{}: {summary}", findings.command);
    out
}

fn annotation(out: &mut String, finding: &Finding, at: &str) {
    let command = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let (title, message) = (escaped_property(&format!("tlaforge: {}", finding.rule)), escaped(&finding.message));
    let _ = writeln!(out, "::{command} {at}title={title}::{message}");
}

fn escaped(text: &str) -> String {
    // `##[` would be a command for a reader that does not know this line as one.
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
        .replace("##[", "## [")
        .replace("##vso[", "## vso[")
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::findings::FileLine;
    use super::*;

    #[test]
    fn no_text_ends_an_annotation_or_begins_another() {
        let finding =
            Finding::new("violated", Level::Error, "50% of a, b:\n::error::x\r").at(FileLine::new("a,b:c.tla", 3));
        let finding = finding.at(FileLine::new("docs/a.md", 12));
        let findings = Findings {
            command: "tlaforge check".to_owned(),
            summary: "violated\n::warning::y".to_owned(),
            list: vec![finding, Finding::new("note", Level::Note, "no place")],
        };
        let text = "50%25 of a, b:%0A::error::x%0D";
        assert_eq!(
            github_annotations(&findings),
            format!(
                "::error file=a%2Cb%3Ac.tla,line=3,title=tlaforge%3A violated::{text}\n\
                 ::error file=docs/a.md,line=12,title=tlaforge%3A violated::{text}\n\
                 ::notice title=tlaforge%3A note::no place\n\
                 tlaforge check: violated ::warning::y\n"
            )
        );
    }
}

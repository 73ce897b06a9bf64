//! Findings as SARIF 2.1.0, the format of GitHub code scanning and of editors.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::findings::{FileLine, Findings, Level};

pub fn sarif(findings: &Findings) -> Value {
    let rules: BTreeSet<&str> = findings.list.iter().map(|finding| finding.rule.as_str()).collect();
    let rules: Vec<Value> = rules.into_iter().map(|id| json!({"id": id})).collect();
    let results: Vec<Value> = findings
        .list
        .iter()
        .map(|finding| {
            let (first, cited) = finding.places.split_at(finding.places.len().min(1));
            let mut result = json!({
                "ruleId": finding.rule,
                "level": finding.level,
                "message": {"text": finding.message},
                "locations": first.iter().map(location).collect::<Vec<_>>(),
            });
            if !cited.is_empty() {
                result["relatedLocations"] = cited.iter().map(location).collect();
            }
            result
        })
        .collect();
    let level = findings.list.iter().map(|finding| finding.level).min().unwrap_or(Level::Note);
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "tlaforge",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": [{
                    "level": level,
                    "message": {"text": format!("{}: {}", findings.command, findings.summary)},
                }],
            }],
            "results": results,
        }],
    })
}

fn location(place: &FileLine) -> Value {
    let mut physical = json!({"artifactLocation": {"uri": uri(&place.file)}});
    if let Some(line) = place.line {
        physical["region"] = json!({"startLine": line});
    }
    json!({"physicalLocation": physical})
}

/// A relative reference, or a `file:` URI for an absolute path (RFC 3986, RFC 8089).
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.trim_start_matches("./").bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("./a b/M.tla"), "a%20b/M.tla");
        assert_eq!(uri("/w/\u{e4}:1.md"), "file:///w/%C3%A4%3A1.md");
    }
}

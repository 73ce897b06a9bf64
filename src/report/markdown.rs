//! Findings as Markdown, for the summary of a CI job or the comment of a pull request.

use std::fmt::Write as _;

use super::findings::{FileLine, Findings, Level};

pub fn markdown_summary(findings: &Findings) -> String {
    let mut out = format!("### {}\n\n{}\n", escaped(&findings.command), escaped(&findings.summary));
    if findings.list.is_empty() {
        return out;
    }
    out.push_str("\n| | finding | where |\n|---|---|---|\n");
    for finding in &findings.list {
        let level = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        };
        let places: Vec<String> = finding.places.iter().map(place).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {level} | {} | {} |", escaped(&finding.message), places.join("<br>"));
    }
    out
}

fn place(place: &FileLine) -> String {
    let line = place.line.map_or_else(String::new, |line| format!(":{line}"));
    escaped(&place.file) + &line
}

/// The text as Markdown shows it unchanged, in one row of a table.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim().chars() {
        match c {
            '\n' => out.push_str("<br>"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            // A mention would notify someone.
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '$' => out.extend(['\\', c]),
            // A terminal would obey it.
            c if c.is_control() => {
                let _ = write!(out, "&lt;U+{:04X}>", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn text_is_shown_unchanged() {
        assert_eq!(escaped("x \\in S | <b> a_b\n@me\u{1b}"), "x \\\\in S \\| &lt;b> a\\_b<br>&#64;me&lt;U+001B>");
    }
}

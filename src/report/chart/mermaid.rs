//! Renders a chart as a Mermaid sequence diagram.

use std::fmt::Write as _;

use super::rows::{BESIDE, BESIDE_MEANS, Chart, Drawn, Line, wrap};

/// Maximum characters of a line, and lines of a text.
const WIDTH: usize = 44;
const LINES: usize = 3;

/// The chart as a sequence diagram of Mermaid.
pub fn chart_mermaid(chart: &Chart) -> String {
    let mut text = String::from("sequenceDiagram\n");
    // Participants have generated ids, because a name may contain what Mermaid reads as syntax.
    for (at, name) in chart.lifelines.iter().enumerate() {
        let _ = writeln!(text, "    participant L{at} as {}", mermaid_text(name));
    }
    let whole = match chart.lifelines.len() {
        0 => return text,
        1 => "L0".to_owned(),
        n => format!("L0,L{}", n - 1),
    };
    for row in &chart.rows {
        let words = mermaid_text(&format!("{} {}", row.seq, row.text()));
        let _ = match row.drawn {
            Drawn::Separator => writeln!(text, "    Note over {whole}: {words}"),
            Drawn::Note { at } => writeln!(text, "    Note over L{at}: {words}"),
            Drawn::Arrow { from, to, line } => {
                let arrow = match line {
                    Line::Solid => "->>",
                    Line::Dashed => "-->>",
                    Line::Broken => "--x",
                };
                writeln!(text, "    L{from}{arrow}L{to}: {words}")
            }
        };
    }
    if chart.has_concurrent_events() {
        let _ = writeln!(text, "    Note over {whole}: {}", mermaid_text(&format!("{BESIDE} {BESIDE_MEANS}")));
    }
    text
}

/// Wraps a text and escapes what has a meaning in Mermaid or HTML.
fn mermaid_text(text: &str) -> String {
    let lines: Vec<String> = wrap(text, WIDTH, LINES).iter().map(|line| escaped(line)).collect();
    lines.join("<br/>")
}

fn escaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for c in line.chars() {
        // U+FB02 is excluded, because Mermaid uses it to mark its own entities.
        if c == ' ' || "_.,-+=*/()!?'".contains(c) || (c.is_alphanumeric() && c != '\u{fb02}') {
            text.push(c);
        } else if c.is_control() {
            text.push('\u{fffd}');
        } else {
            // Mermaid writes entities as `#N;`, without the `&` of HTML.
            let _ = write!(text, "#{};", u32::from(c));
        }
    }
    text
}

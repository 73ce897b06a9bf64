//! Colours and links for the text of an outcome. The text itself has neither, so that a pipe gets exactly the words.

use std::fmt::Write as _;
use std::path::Path;

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const RESET: &str = "\x1b[0m";

/// Colours headings, the heads of steps, and what was added and removed.
pub(super) fn paint(text: &str) -> String {
    text.lines().map(|line| paint_line(line) + "\n").collect()
}

fn paint_line(line: &str) -> String {
    let is_step_head = |line: &str| {
        let rest = line.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && line.len() - rest.len() < 3 && rest[digits..].starts_with("  ")
    };
    if line.starts_with("# ") || line.starts_with("## ") || is_step_head(line) {
        return format!("{BOLD}{line}{RESET}");
    }
    let Some((path, change)) = line.strip_prefix("     ").and_then(|rest| rest.split_once(": ")) else {
        return line.to_owned();
    };
    let value = change.trim_start();
    let gap = &change[..change.len() - value.len()];
    if value.starts_with("+ ") {
        return format!("     {path}: {gap}{GREEN}{value}{RESET}");
    }
    if value.starts_with("- ") {
        return format!("     {path}: {gap}{RED}{value}{RESET}");
    }
    match value.split_once(" -> ") {
        Some((before, after)) => format!("     {path}: {gap}{DIM}{before} -> {RESET}{after}"),
        None => line.to_owned(),
    }
}

/// Makes each `Spec.tla:41` a link to the file (OSC 8), for terminals.
pub(super) fn link_source(text: &str, spec: &Path) -> String {
    let (Some(name), Ok(path)) = (spec.file_name().and_then(|name| name.to_str()), std::path::absolute(spec)) else {
        return text.to_owned();
    };
    let encoded = |byte: u8| match byte {
        b'/' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    let address: String = path.to_string_lossy().bytes().map(encoded).collect();
    let mark = format!("  {name}:");
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&mark) {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (line, after) = after.split_at(digits);
        out.push_str(before);
        if digits == 0 {
            out.push_str(&mark);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "  \x1b]8;;file://{address}#{line}\x1b\\{name}:{line}\x1b]8;;\x1b\\");
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_escapes(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('\x1b') {
            out.push_str(before);
            rest = match after.strip_prefix(']') {
                Some(link) => link.split_once("\x1b\\").expect("the end of a link").1,
                None => after.split_once('m').expect("the end of a colour").1,
            };
        }
        out + rest
    }

    #[test]
    fn colours_and_links_change_no_character() {
        let text = "# Verdict of TLC\n\n  1  initial state\n     x = 0\n  2  Inc(r1): once  M.tla:41\n     x:    0 -> 1\n     \
                    s: + {1}\n     s: - 2\n     (no variable changed)\nCounts: 3 states\n";
        let painted = link_source(&paint(text), Path::new("folder/M.tla"));
        assert_eq!(without_escapes(&painted), text);
        for part in [
            "\x1b[1m# Verdict",
            "s: \x1b[32m+ {1}\x1b[0m",
            "s: \x1b[31m- 2\x1b[0m",
            "\x1b[2m0 -> \x1b[0m1",
            "folder/M.tla#41\x1b\\M.tla:41\x1b]8;;\x1b\\",
        ] {
            assert!(painted.contains(part), "{painted:?}");
        }
        assert!(painted.contains("\nCounts: 3 states\n"));
    }
}

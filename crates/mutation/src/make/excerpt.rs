//! Source text as a short line, for descriptions of mutants and for comparing expressions.

/// The text in one line, with comments removed and blanks normalized; cut after `most` characters.
pub(super) fn excerpt(text: &str, most: usize) -> String {
    let words =
        text.lines().map(|line| line.find("\\*").map_or(line, |at| &line[..at])).flat_map(str::split_whitespace);
    let line = words.collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let short: String = line.chars().take(most).collect();
    format!("{}...", short.trim_end())
}

//! Numbered items of an informal specification (`R1`, `O1`, `A2`), in the notations of models.

use regex::Regex;

/// The start of a line that defines an item with a letter and a number: `O1`, `- **O1**:`, `1. [O1]`.
pub(super) struct NumberedStart(Regex);

impl NumberedStart {
    /// `between` are the characters that can be between letter and number.
    pub(super) fn new(letter: char, between: &str) -> Self {
        let pattern =
            format!(r"^[\s\-*+|#>_`•]*(?:\d+[.)]\s*)?[*_`(\[]*{letter}[{between}]?(\d{{1,4}})\b[\]*_`).:]*\s*(.*)$");
        Self(Regex::new(&pattern).expect("a valid pattern"))
    }

    /// The number, and the rest of the line. `R1, R2` and `R1's` refer to an item and define none.
    pub(super) fn split<'a>(&self, line: &'a str) -> Option<(u32, &'a str)> {
        let start = self.0.captures(line)?;
        let rest = start.get(2)?;
        let defines = !rest.as_str().starts_with([',', ';', '/', '&', '+', '\'', '\u{2019}', '=', '<', '>']);
        Some((start[1].parse().ok()?, rest.as_str())).filter(|_| defines)
    }
}

/// Whether a heading begins with these words in lower case, also with a number before them, in bold, or with words after
/// them.
pub(super) fn begins_with_words(title: &str, words: &str) -> bool {
    let title = title.trim_start_matches(|c: char| c.is_ascii_digit() || " .)*_".contains(c));
    title.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words))
}

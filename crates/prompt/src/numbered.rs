//! Numbered items of an informal specification (`O1`, `A2`), in the notations of models, each with its continuation lines.

use regex::Regex;

/// The start of a line that defines an item with this letter: `O1`, `- **O1**:`, `1. [O1]`. The groups are the number and the
/// rest of the line. `between` are the characters that can be between letter and number.
pub(super) fn numbered_start(letter: char, between: &str) -> Regex {
    let pattern =
        format!(r"^[\s\-*+|#>_`•]*(?:\d+[.)]\s*)?[*_`(\[]*{letter}[{between}]?(\d{{1,4}})\b[\]*_`).:]*\s*(.*)$");
    Regex::new(&pattern).expect("a valid pattern")
}

/// Whether a heading begins with these words in lower case, also with a number before them, in bold, or with words after
/// them.
pub(super) fn begins_with_words(title: &str, words: &str) -> bool {
    let title = title.trim_start_matches(|c: char| c.is_ascii_digit() || " .)*_".contains(c));
    title.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words))
}

/// Joins each line with its continuation lines: those that begin no list item and no item of their own, and list items that
/// begin with a `label`.
pub(super) fn passages(lines: Vec<&str>, start: &Regex, label: &Regex) -> Vec<String> {
    let mut passages: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in lines {
        let item = line.trim_start().trim_start_matches(['-', '*', '+', ' ']);
        let is_part = label.find(item).is_some_and(|label| label.start() == 0);
        let is_item = ["- ", "* ", "+ ", "#", "|"].iter().any(|mark| line.trim_start().starts_with(mark));
        let begins = !is_part && (is_item || start.is_match(line));
        match passages.last_mut() {
            Some(passage) if is_part || (is_open && !begins && !line.trim().is_empty()) => {
                passage.push(' ');
                passage.push_str(if is_part { item.trim_end() } else { line.trim() });
            }
            _ => passages.push(line.to_owned()),
        }
        is_open = !line.trim().is_empty();
    }
    passages
}

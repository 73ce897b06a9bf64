//! The comment `\* covers R1, R3`, by which a definition names the requirements it covers, and its variant in a
//! configuration, `\* Deadlock covers R4`. Works on single lines and knows neither modules nor configurations.

use std::collections::BTreeMap;

use super::outcome::{ASSERTION, DEADLOCK};

/// Adds the requirements of a line such as `covers R1, R3` that are not in `found` yet.
pub(super) fn add_covered(line: &str, found: &mut Vec<String>) {
    let Some(head) = line.get(..6).filter(|head| head.eq_ignore_ascii_case("covers")) else { return };
    let rest = &line[head.len()..];
    if !rest.starts_with([' ', '\t', ':']) {
        return;
    }
    for word in rest.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '.' | '(' | ')')) {
        if let Some(id) = requirement_id(word) {
            if !found.contains(&id) {
                found.push(id);
            }
        } else if !(word.is_empty() || word.eq_ignore_ascii_case("and") || word == "&") {
            // The rest is a remark that may name requirements it does not cover: "covers R1 because of R2".
            break;
        }
    }
}

/// Adds the requirements that a comment of a configuration assigns to `Deadlock` or `Assertion`, the two properties
/// that have no definition: `\* Deadlock covers R4`.
pub(super) fn add_covered_by_builtin(comment: &str, covers: &mut BTreeMap<String, Vec<String>>) {
    let line = comment.trim_start_matches("\\*").trim();
    for name in [DEADLOCK, ASSERTION] {
        if let Some(rest) = line.strip_prefix(name).filter(|rest| rest.starts_with([' ', '\t'])) {
            let mut ids = covers.remove(name).unwrap_or_default();
            add_covered(rest.trim_start(), &mut ids);
            if !ids.is_empty() {
                covers.insert(name.to_owned(), ids);
            }
        }
    }
}

/// A requirement's number in its usual spelling: `R4` for `R04`. `None` for any other word.
pub fn requirement_id(word: &str) -> Option<String> {
    let digits = word.strip_prefix('R').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse::<u32>().ok().map(|number| format!("R{number}"))
}

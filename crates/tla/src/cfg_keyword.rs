//! The keywords of a configuration, and hints for misspelt ones. TLC reads a misspelt keyword after a list as one more
//! name of that list, so its own error is of little help.

use super::step_counter;

/// All keywords that TLC knows, sorted for binary search.
pub(super) const KEYWORDS: &[&str] = &[
    "ACTION_CONSTRAINT",
    "ACTION_CONSTRAINTS",
    "ALIAS",
    "CHECK_DEADLOCK",
    "CONSTANT",
    "CONSTANTS",
    "CONSTRAINT",
    "CONSTRAINTS",
    "INIT",
    "INVARIANT",
    "INVARIANTS",
    "NEXT",
    "POSTCONDITION",
    "PROPERTIES",
    "PROPERTY",
    "SPECIFICATION",
    "SYMMETRY",
    "TYPE",
    "TYPE_CONSTRAINT",
    "VIEW",
];

/// Keywords of newer versions of TLC, sorted, which name conditions beside the behaviours and so cannot excuse a violation.
/// Source: `ModelConfig.java` of tlaplus/tlaplus, 2026.
const NEWER_CONDITIONS: &[&str] = &["POSTCONDITIONS", "_PERIODIC", "_POSSIBLE", "_RL_REWARD"];

/// Whether a word is a keyword of newer versions of TLC for conditions that are not checked here.
pub(super) fn is_newer_condition(word: &str) -> bool {
    NEWER_CONDITIONS.binary_search(&word).is_ok()
}

/// Whether a word is a keyword of TLC.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok() || is_newer_condition(word)
}

/// A hint for a word that is not valid where it occurs: the keyword that it resembles, if there is one.
pub fn keyword_hint(word: &str) -> Option<String> {
    if ["WITNESS", "WITNESSES"].contains(&word) {
        return Some("witnesses are listed in a comment: `\\* WITNESS Name`".to_owned());
    }
    let capitals = word.to_uppercase();
    // One typing error in a short word, two in a longer one.
    let max_distance = |keyword: &str| if keyword.len() < 8 { 1 } else { 2 };
    let is_similar = |keyword: &&&str| edit_distance(&capitals, keyword) <= max_distance(keyword);
    KEYWORDS
        .iter()
        // Compare lengths first: a word can have millions of letters. A letter has up to 4 bytes.
        .filter(|keyword| capitals.len().abs_diff(keyword.len()) <= 4 * max_distance(keyword))
        .filter(is_similar)
        .min_by_key(|keyword| edit_distance(&capitals, keyword))
        .map(|keyword| format!("is the keyword {keyword} meant?"))
}

/// The number of letters to insert, delete or replace, or of neighbours to swap, that turn one word into the other
/// (optimal string alignment distance).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            step_counter::count_step();
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let swapped = if is_swap { rows[i - 2][j - 2] + 1 } else { usize::MAX };
                replaced.min(swapped).min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1)
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_keyword_is_distinguished_from_a_name() {
        for (word, keyword) in [
            ("INVARAINT", "INVARIANT"),
            ("INVARIENTS", "INVARIANTS"),
            ("Invariant", "INVARIANT"),
            ("PROPERTYS", "PROPERTY"),
            ("CONTRAINT", "CONSTRAINT"),
            ("SPECIFICATON", "SPECIFICATION"),
            ("CHECK_DEADLOK", "CHECK_DEADLOCK"),
            ("NXET", "NEXT"),
        ] {
            assert!(keyword_hint(word).is_some_and(|hint| hint.contains(&format!(" {keyword} "))), "{word}");
        }
        for word in ["TypeOK", "Safe", "Mutex", "Progress", "Text", "Types", "InvTypes", "Spec", "NoLoss"] {
            let hint = keyword_hint(word);
            assert!(hint.is_none() || ["Text", "Types"].contains(&word), "{word}: {hint:?}");
        }
        assert!(keyword_hint("INVARIANT\u{e9}").is_some(), "a letter has up to four bytes");
        assert_eq!(step_counter::steps_of(|| assert_eq!(keyword_hint(&"x".repeat(10_000)), None)), 0);
        assert!(keyword_hint("WITNESS").is_some_and(|hint| hint.contains("\\* WITNESS")));
    }
}

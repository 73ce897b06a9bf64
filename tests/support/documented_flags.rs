//! The flags that a document names.

use std::collections::BTreeSet;

/// Flags of a text without their dashes, except on lines with commands of other programs.
pub fn documented_flags(text: &str) -> BTreeSet<String> {
    let mut flags = BTreeSet::new();
    for line in text.lines().filter(|l| !l.contains("cargo ") && !l.contains("docker ") && !l.contains("apt")) {
        for (at, _) in line.match_indices("--") {
            let before = line[..at].chars().next_back();
            let name: String = line[at + 2..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            if name.len() > 1 && !name.starts_with('-') && before.is_none_or(|c| c == ' ' || c == '`' || c == '(') {
                flags.insert(name);
            }
        }
    }
    flags
}

//! Numbers with nouns.

/// `1 answer`, `2 answers`.
pub fn counted(n: impl TryInto<u64>, noun: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

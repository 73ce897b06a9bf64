//! Names that a misspelt one may have meant.

/// The known names that are written much like this one, the nearest first; at most three. A dotted name is near those
/// that end in the same part.
pub fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let far = name.chars().count() / 3 + 1;
    let mut all: Vec<(usize, &str)> = known
        .filter_map(|other| {
            let distance = if last(other) == last(name) { 1 } else { strsim::levenshtein(name, other) };
            (distance <= far).then_some((distance, other))
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().take(3).map(|(_, name)| name).collect()
}

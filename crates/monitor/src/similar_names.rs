//! Known names that a misspelt name may have meant.

/// Maximum number of names that are suggested.
const MAX_SUGGESTIONS: usize = 3;

/// The known names that are similar to this one, the most similar first. A dotted name is also similar to names with the
/// same last part.
pub fn similar_names<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let last_part = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let max_distance = name.chars().count() / 3 + 1;
    let mut similar: Vec<(usize, &str)> = known
        .filter_map(|other| {
            let same_end = last_part(other) == last_part(name);
            let distance = if same_end { 1 } else { strsim::levenshtein(name, other) };
            (distance <= max_distance).then_some((distance, other))
        })
        .collect();
    similar.sort_unstable();
    similar.dedup();
    similar.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name).collect()
}

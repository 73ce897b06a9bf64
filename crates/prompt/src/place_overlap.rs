//! Whether two cited places share a line. It needs no documents, so it also compares places of earlier documents.

use std::sync::LazyLock;

use regex::Regex;

static RANGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:([^\s,:\[\]`]+):)?\s*L?(\d+)(?:\s*[-\u{2013}\u{2014}]\s*L?(\d+))?").expect("a valid pattern")
});

/// Whether two places such as `docs/swap.md:12-14, 20` have a line in common.
pub fn places_overlap(one: &str, other: &str) -> bool {
    let ranges = |place: &str| -> Vec<(String, usize, usize)> {
        let mut document = String::new();
        let found = RANGE.captures_iter(place).filter_map(|found| {
            if let Some(name) = found.get(1) {
                name.as_str().trim_start_matches("./").clone_into(&mut document);
            }
            let from = found[2].parse().ok()?;
            let to = found.get(3).map_or(Some(from), |to| to.as_str().parse().ok())?;
            Some((document.clone(), from, to))
        });
        found.collect()
    };
    let other = ranges(other);
    ranges(one).iter().any(|(document, from, to)| {
        other.iter().any(|(name, begin, end)| name == document && from <= end && begin <= to)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_overlap_if_they_share_a_line_of_a_document() {
        for (one, other, expected) in [
            ("docs/a.md:3", "docs/a.md:3-5", true),
            ("docs/a.md:3-5", "docs/a.md:1-3, 9", true),
            ("docs/a.md:9", "docs/a.md:1-3, 8-10", true),
            ("docs/a.md:4", "docs/a.md:1-3, 8-10", false),
            ("docs/a.md:3", "docs/b.md:3", false),
            ("docs/a.md:1; docs/b.md:3", "docs/b.md:2\u{2013}4", true),
            ("docs/a.md", "docs/a.md:2", false),
        ] {
            assert_eq!(places_overlap(one, other), expected, "{one} {other}");
            assert_eq!(places_overlap(other, one), expected, "{other} {one}");
        }
    }
}

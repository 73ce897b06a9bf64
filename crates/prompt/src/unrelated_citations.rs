//! Finds citations of lines that exist and have nothing to do with what they are cited for.

use std::collections::BTreeSet;

use super::cited_places::{LineRange, cited_text};
use super::citing_items::{CitingItem, CitingKind, citing_items};
use super::content_words::content_words;
use super::documents::Document;

/// A citation whose lines have no content word in common with the part that cites them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrelatedCitation {
    /// `R1`, `A2`, `O1`, or the name of a step.
    pub id: String,
    /// `docs/swap.md:12-14`.
    pub place: String,
    /// What the lines say.
    pub cited: String,
}

impl UnrelatedCitation {
    /// For models, in one line.
    pub fn words(&self) -> String {
        format!("{} cites [{}], which says \"{}\"", self.id, self.place, self.cited)
    }
}

/// Maximum number of characters of the lines that are quoted.
const MOST_QUOTED: usize = 200;

/// The unrelated citations of requirements, assumptions, open points and steps. All lines that one of them cites are compared
/// together. If at least three of them cite and none has a word in common with its lines, the documents are in another
/// language, and the result is empty.
pub fn unrelated_citations(informal: &str, documents: &[Document]) -> Vec<UnrelatedCitation> {
    let mut parts: Vec<(CitingItem<'_>, BTreeSet<String>)> = Vec::new();
    for item in citing_items(informal, documents) {
        if matches!(item.kind, CitingKind::Description | CitingKind::OutOfScope) || item.ranges.is_empty() {
            continue;
        }
        let words = content_words(&item.text);
        // Further lines of a step.
        match parts.iter_mut().find(|(known, _)| (known.kind, &known.id) == (item.kind, &item.id)) {
            Some((known, all)) => {
                known.ranges.extend(item.ranges);
                all.extend(words);
            }
            None => parts.push((item, words)),
        }
    }
    let citing = parts.len();
    let unrelated: Vec<UnrelatedCitation> = parts
        .into_iter()
        .filter_map(|(item, words)| {
            let cited = item.ranges.iter().map(cited_text).collect::<Vec<_>>().join(" ");
            let own = content_words(&cited);
            let is_unrelated = !words.is_empty() && !own.is_empty() && own.is_disjoint(&words);
            let place = item.ranges.iter().map(place_words).collect::<Vec<_>>().join(", ");
            is_unrelated.then(|| UnrelatedCitation { id: item.id, place, cited: shortened(&cited) })
        })
        .collect();
    if citing >= 3 && citing == unrelated.len() { Vec::new() } else { unrelated }
}

fn place_words(range: &LineRange<'_>) -> String {
    let LineRange { document, from, to } = range;
    if from == to { format!("docs/{}:{from}", document.path) } else { format!("docs/{}:{from}-{to}", document.path) }
}

fn shortened(text: &str) -> String {
    let short: String = text.chars().take(MOST_QUOTED).collect();
    if short.len() < text.len() { format!("{short}\u{2026}") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unrelated(informal: &str) -> Vec<String> {
        let text = "The lock has one holder.\nFees are paid in advance.\nEin Kunde wartet auf das Schloss.\n客户端必须等待锁。\nA retry takes `MAX_WAIT` or 30 s.\n---\n";
        let documents = [Document { path: "a.md".to_owned(), text: text.to_owned() }];
        unrelated_citations(informal, &documents).into_iter().map(|one| format!("{} {}", one.id, one.place)).collect()
    }

    #[test]
    fn a_citation_without_a_word_in_common_is_found() {
        let informal = "## Requirements\nR1 [docs/a.md:1] At most one client holds the lock. (safety)\n\
            R2 [docs/a.md:2] At most one client holds the lock. (safety)\n\
            R3 [docs/a.md:4] 每个客户端都要等待。 (safety)\nR4 [docs/a.md:5] maxWait bounds it. (safety)\n\
            R5 [docs/a.md:1, docs/a.md:2] The lock is held. (safety)\nR6 [docs/a.md:5] After 30 steps. (safety)\n\
            ## Steps\n- `Take(c)`: enabled if the lock is free [docs/a.md:2]\n  or something [docs/a.md:1]\n- Free: it is locked [docs/a.md:2]\n\
            ## Assumptions\nA1 [docs/a.md:2] (bound) Two clients.\nA2 [docs/a.md:2] (left out) Fees.\n\
            ## Open points\nO1 [docs/a.md:2] Who waits? Taken: every client. Otherwise: none of them.\n\
            ## Out of scope\n- [docs/a.md:2] another team\n";
        assert_eq!(unrelated(informal), ["R2 docs/a.md:2", "A1 docs/a.md:2", "O1 docs/a.md:2", "Free docs/a.md:2"]);
        // One requirement alone is compared, and documents in another language are not.
        assert_eq!(unrelated("## Requirements\nR1 [docs/a.md:2] It is locked.\n"), ["R1 docs/a.md:2"]);
        let all = "## Requirements\nR1 [docs/a.md:3] Clients wait.\nR2 [docs/a.md:3] Locks.\nR3 [docs/a.md:3] Time.\n";
        assert_eq!(unrelated(all), [""; 0]);
    }
}

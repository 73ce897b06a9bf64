//! Finds citations of lines that exist and have nothing to do with what they are cited for.

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

/// The unrelated citations of requirements, assumptions, open points and steps. If at least three parts cite and none has a
/// word in common with its lines, the documents are in another language, and the result is empty.
pub fn unrelated_citations(informal: &str, documents: &[Document]) -> Vec<UnrelatedCitation> {
    let items = citing_items(informal, documents);
    let is_compared = |item: &&CitingItem<'_>| {
        !matches!(item.kind, CitingKind::Description | CitingKind::OutOfScope) && !content_words(&item.text).is_empty()
    };
    let mut found: Vec<UnrelatedCitation> = Vec::new();
    let (mut citations, mut unrelated) = (0, 0);
    for item in items.iter().filter(is_compared) {
        let words = content_words(&item.text);
        for range in &item.ranges {
            let cited = cited_text(range);
            let own = content_words(&cited);
            citations += 1;
            if own.is_empty() || !own.is_disjoint(&words) {
                continue;
            }
            unrelated += 1;
            let one = UnrelatedCitation { id: item.id.clone(), place: place_words(range), cited: shortened(&cited) };
            if !found.contains(&one) {
                found.push(one);
            }
        }
    }
    if citations >= 3 && citations == unrelated { Vec::new() } else { found }
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
            ## Steps\n- `Take(c)`: enabled if the lock is free [docs/a.md:2]\n  or something [docs/a.md:1]\n\
            ## Assumptions\nA1 [docs/a.md:2] (bound) Two clients.\nA2 [docs/a.md:2] (left out) Fees.\n\
            ## Open points\nO1 [docs/a.md:2] Who waits? Taken: every client. Otherwise: none of them.\n\
            ## Out of scope\n- [docs/a.md:2] another team\n";
        assert_eq!(
            unrelated(informal),
            ["R2 docs/a.md:2", "R5 docs/a.md:2", "A1 docs/a.md:2", "O1 docs/a.md:2", "Take docs/a.md:2"]
        );
        // One requirement alone is compared, and documents in another language are not.
        assert_eq!(unrelated("## Requirements\nR1 [docs/a.md:2] It is locked.\n"), ["R1 docs/a.md:2"]);
        let all = "## Requirements\nR1 [docs/a.md:3] Clients wait.\nR2 [docs/a.md:3] Locks.\nR3 [docs/a.md:3] Time.\n";
        assert_eq!(unrelated(all), [""; 0]);
    }
}

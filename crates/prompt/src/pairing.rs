//! Finds the passages of earlier documents in new ones, wherever they are now.

use std::collections::HashMap;
use std::hash::Hash;

use super::passages::Passage;

/// Which passage is which. Both lists have `None` for a passage that is only on one side.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pairing {
    /// By the index of the earlier passage.
    pub new_of: Vec<Option<usize>>,
    /// By the index of the new passage.
    pub old_of: Vec<Option<usize>>,
}

/// Pairs passages of the same text. If a text occurs several times, those in the same surroundings belong together. If then
/// fewer are left than there were, it is not known which ones are missing, so none of them is paired.
pub(super) fn pair(old: &[Passage<'_>], new: &[Passage<'_>]) -> Pairing {
    let mut pairing = Pairing { new_of: vec![None; old.len()], old_of: vec![None; new.len()] };
    let mut paragraphs = HashMap::new();
    let old = &Side { all: old, paragraphs: number_paragraphs(old, &mut paragraphs) };
    let new = &Side { all: new, paragraphs: number_paragraphs(new, &mut paragraphs) };
    // The closest surroundings first. All but the path are the same wherever a paragraph moves to.
    pairing.pair_by(old, new, |side, at| (side.path(at), side.heading(at), side.place_in_paragraph(at)));
    pairing.pair_by(old, new, |side, at| (side.heading(at), side.place_in_paragraph(at)));
    pairing.pair_by(old, new, |side, at| (side.path(at), side.place_in_paragraph(at)));
    pairing.pair_by(old, new, Side::place_in_paragraph);
    pairing.pair_by(old, new, |side, at| (side.path(at), side.before(at), side.text(at), side.after(at)));
    pairing.pair_by(old, new, |side, at| (side.path(at), side.before(at), side.text(at)));
    pairing.pair_by(old, new, |side, at| (side.path(at), side.text(at), side.after(at)));
    pairing.pair_by(old, new, |side, at| (side.path(at), side.heading(at), side.text(at)));
    pairing.pair_by(old, new, |side, at| (side.path(at), side.text(at)));
    pairing.pair_by(old, new, Side::text);
    pairing
}

/// All passages before or after the change.
struct Side<'t> {
    all: &'t [Passage<'t>],
    /// The number of the paragraph of each. Paragraphs with the same text have the same number.
    paragraphs: Vec<usize>,
}

fn number_paragraphs<'t>(all: &'t [Passage<'t>], numbers: &mut HashMap<Vec<PassageKey<'t>>, usize>) -> Vec<usize> {
    let mut found = Vec::with_capacity(all.len());
    for paragraph in all.chunk_by(|a, b| a.paragraph == b.paragraph) {
        let texts = paragraph.iter().map(text_of).collect();
        let next = numbers.len();
        let number = *numbers.entry(texts).or_insert(next);
        found.extend(paragraph.iter().map(|_| number));
    }
    found
}

/// The text of a passage and whether it is code. Code never matches prose, because it is an example, not a promise.
type PassageKey<'t> = (&'t str, bool);

fn text_of<'t>(passage: &'t Passage<'_>) -> PassageKey<'t> {
    (&passage.text, passage.is_code)
}

impl<'t> Side<'t> {
    fn path(&self, at: usize) -> &'t str {
        &self.all[at].document.path
    }

    fn text(&self, at: usize) -> PassageKey<'t> {
        text_of(&self.all[at])
    }

    fn heading(&self, at: usize) -> Option<PassageKey<'t>> {
        self.all[at].heading.map(|heading| self.text(heading))
    }

    /// Its paragraph, and its index in that.
    fn place_in_paragraph(&self, at: usize) -> (usize, usize) {
        (self.paragraphs[at], at - self.all[at].paragraph.start)
    }

    /// The passage before it in its paragraph.
    fn before(&self, at: usize) -> Option<PassageKey<'t>> {
        (at > self.all[at].paragraph.start).then(|| self.text(at - 1))
    }

    fn after(&self, at: usize) -> Option<PassageKey<'t>> {
        (at + 1 < self.all[at].paragraph.end).then(|| self.text(at + 1))
    }
}

impl Pairing {
    fn pair_by<'t, K: Eq + Hash>(&mut self, old: &Side<'t>, new: &Side<'t>, key: impl Fn(&Side<'t>, usize) -> K) {
        let unpaired = |of: &[Option<usize>]| -> Vec<usize> { (0..of.len()).filter(|at| of[*at].is_none()).collect() };
        let mut groups: HashMap<K, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for at in unpaired(&self.new_of) {
            groups.entry(key(old, at)).or_default().0.push(at);
        }
        for at in unpaired(&self.old_of) {
            if let Some((_, there)) = groups.get_mut(&key(new, at)) {
                there.push(at);
            }
        }
        for (earlier, now) in groups.into_values().filter(|(earlier, now)| earlier.len() <= now.len()) {
            for (old_at, new_at) in earlier.into_iter().zip(now) {
                self.new_of[old_at] = Some(new_at);
                self.old_of[new_at] = Some(old_at);
            }
        }
    }

    /// Whether each earlier passage is in the same document, in the same order as others that are.
    pub(super) fn in_place(&self, old: &[Passage<'_>], new: &[Passage<'_>]) -> Vec<bool> {
        let mut in_place = vec![false; old.len()];
        let mut start = 0;
        for chunk in old.chunk_by(|a, b| a.document.path == b.document.path) {
            let pairs: Vec<(usize, usize)> = (start..start + chunk.len())
                .filter_map(|at| Some((at, self.new_of[at]?)))
                .filter(|(at, now)| old[*at].document.path == new[*now].document.path)
                .collect();
            let positions: Vec<usize> = pairs.iter().map(|(_, now)| *now).collect();
            for kept in longest_increasing(&positions) {
                in_place[pairs[kept].0] = true;
            }
            start += chunk.len();
        }
        in_place
    }
}

/// The indices of a longest increasing subsequence.
fn longest_increasing(values: &[usize]) -> Vec<usize> {
    // For each length, the index of the smallest value that ends a subsequence of this length.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(values.len());
    for (at, value) in values.iter().enumerate() {
        let length = ends.partition_point(|end| values[*end] < *value);
        previous.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut found: Vec<usize> = std::iter::successors(ends.last().copied(), |at| previous[*at]).collect();
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::Document;
    use crate::passages::passages;

    fn new_lines(old: &str, new: &str) -> Vec<Option<usize>> {
        let document = |text: &str| [Document { path: "a.md".to_owned(), text: text.to_owned() }];
        let (old, new) = (document(old), document(new));
        let (old, new) = (passages(&old), passages(&new));
        let pairing = pair(&old, &new);
        pairing.new_of.iter().map(|now| now.map(|now| new[now].from)).collect()
    }

    #[test]
    fn of_repeated_texts_the_one_in_other_surroundings_is_missing() {
        assert_eq!(
            new_lines("# A\nNone.\n# B\nNone.\n", "# A\nSome.\n# B\nNone.\n"),
            [Some(1), None, Some(3), Some(4)]
        );
        // Code is an example, and no promise.
        assert_eq!(new_lines("One lock.\n", "```\nOne lock.\n```\n"), [None]);
        assert_eq!(new_lines("One lock.\n", "Ab.\n\n    One lock.\n"), [None]);
        assert_eq!(new_lines("- Ab.\n\n  One lock.\n", "- Ab.\n\n    One lock.\n"), [Some(1), Some(3)]);
        // Which one is missing cannot be known.
        assert_eq!(new_lines("None.\n\nNone.\n", "None.\n"), [None, None]);
        assert_eq!(new_lines("None.\n", "None.\n\nNone.\n"), [Some(1)]);
        // The first one became equal to the second one.
        assert_eq!(new_lines("Ab.\n\nAa.\n", "Aa.\n\nAa.\n"), [None, Some(1)]);
    }

    #[test]
    fn longest_increasing_subsequences() {
        assert_eq!(longest_increasing(&[]), [0; 0]);
        assert_eq!(longest_increasing(&[3, 1, 2, 5, 4]), [1, 2, 4]);
        assert_eq!(longest_increasing(&[5, 6, 7, 1, 2]), [0, 1, 2]);
    }
}

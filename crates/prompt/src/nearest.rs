//! For a passage that is not in the new documents, the new passage that most likely replaced it.

use std::collections::HashMap;

use super::pairing::Pairing;
use super::passages::Passage;

/// The least share of common words at the same place, between passages that are there in both versions.
const LEAST_IN_PLACE: f64 = 0.3;
/// The least share of common words anywhere else.
const LEAST_ELSEWHERE: f64 = 0.6;

/// The part of a new document between two passages that have stayed in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Gap {
    /// The first passage in it, and the first after it.
    pub from: usize,
    pub to: usize,
    /// Whether nothing but one passage was replaced here, by one new passage.
    is_single: bool,
}

/// The gap of each earlier passage; `None` if its document is gone.
pub(super) fn gaps(old: &[Passage<'_>], new: &[Passage<'_>], pairing: &Pairing) -> Vec<Option<Gap>> {
    let in_place = pairing.in_place(old, new);
    let mut documents: HashMap<&str, (usize, usize)> = HashMap::new();
    for (at, passage) in new.iter().enumerate() {
        documents.entry(&passage.document.path).or_insert((at, at)).1 = at + 1;
    }
    let mut gaps = Vec::with_capacity(old.len());
    for chunk in old.chunk_by(|a, b| a.document.path == b.document.path) {
        let start = gaps.len();
        let Some((mut from, end)) = documents.get(chunk[0].document.path.as_str()).copied() else {
            gaps.extend(chunk.iter().map(|_| None));
            continue;
        };
        let mut next = start;
        while next < start + chunk.len() {
            let stays = (next..start + chunk.len()).find(|at| in_place[*at]);
            let to = stays.and_then(|at| pairing.new_of[at]).unwrap_or(end);
            let until = stays.unwrap_or(start + chunk.len());
            let missing = (next..until).filter(|at| pairing.new_of[*at].is_none()).count();
            let added = (from..to).filter(|at| pairing.old_of[*at].is_none()).count();
            let gap = Gap { from, to, is_single: missing == 1 && added == 1 };
            gaps.extend((next..until).map(|_| Some(gap)));
            if stays.is_some() {
                gaps.push(Some(Gap { from: to, to: to + 1, is_single: false }));
                from = to + 1;
            }
            next = gaps.len();
        }
    }
    gaps
}

/// Pairs text that is only divided otherwise: a line that a number now begins looks like an item of a list.
pub(super) fn pair_divided(old: &[Passage<'_>], new: &[Passage<'_>], pairing: &mut Pairing) {
    let gaps = gaps(old, new, pairing);
    let mut start = 0;
    for gap in gaps.chunk_by(|a, b| a == b) {
        let range = start..start + gap.len();
        start = range.end;
        let Some(gap) = gap[0] else { continue };
        let before: Vec<usize> = range.filter(|at| pairing.new_of[*at].is_none()).collect();
        let now: Vec<usize> = (gap.from..gap.to).filter(|at| pairing.old_of[*at].is_none()).collect();
        let joined = |all: &[Passage<'_>], which: &[usize]| {
            which.iter().map(|at| all[*at].text.as_str()).collect::<Vec<_>>().join(" ")
        };
        if before.is_empty() || now.is_empty() || joined(old, &before) != joined(new, &now) {
            continue;
        }
        for (n, at) in before.iter().enumerate() {
            pairing.new_of[*at] = Some(now[n.min(now.len() - 1)]);
        }
        for (n, at) in now.iter().enumerate() {
            pairing.old_of[*at] = Some(before[n.min(before.len() - 1)]);
        }
    }
}

/// The new passages that are in no earlier document, by their words.
pub(super) struct NewPassages {
    /// The passages with a word, each as often as it has it.
    by_word: HashMap<String, Vec<usize>>,
    lengths: HashMap<usize, usize>,
}

impl NewPassages {
    pub(super) fn new(new: &[Passage<'_>], pairing: &Pairing) -> Self {
        let mut all = Self { by_word: HashMap::new(), lengths: HashMap::new() };
        for (at, passage) in new.iter().enumerate().filter(|(at, _)| pairing.old_of[*at].is_none()) {
            let words = words(&passage.text);
            all.lengths.insert(at, words.len());
            for word in words {
                all.by_word.entry(word).or_default().push(at);
            }
        }
        all
    }

    /// What replaced an earlier passage, most likely.
    pub(super) fn nearest(&self, passage: &Passage<'_>, gap: Option<Gap>) -> Option<usize> {
        let words = words(&passage.text);
        let mut wanted: HashMap<&str, usize> = HashMap::new();
        for word in &words {
            *wanted.entry(word).or_default() += 1;
        }
        let mut common: HashMap<usize, usize> = HashMap::new();
        for (word, count) in wanted {
            for same in self.by_word.get(word).into_iter().flat_map(|found| found.chunk_by(|a, b| a == b)) {
                *common.entry(same[0]).or_default() += count.min(same.len());
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "the number of words of a passage")]
        let share = |(at, common): (&usize, &usize)| 2.0 * *common as f64 / (words.len() + self.lengths[at]) as f64;
        let is_in_gap = |at: usize| gap.is_some_and(|gap| (gap.from..gap.to).contains(&at));
        let best = |is_meant: &dyn Fn(usize) -> bool, least: f64| {
            let candidates = common.iter().filter(|(at, _)| is_meant(**at)).map(|found| (share(found), *found.0));
            let enough = candidates.filter(|(share, _)| *share >= least);
            // Of equal ones the first, whatever the order of the map.
            enough.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, at)| at)
        };
        let single = gap.filter(|gap| gap.is_single);
        best(&is_in_gap, LEAST_IN_PLACE)
            .or_else(|| single.and_then(|gap| (gap.from..gap.to).find(|at| self.lengths.contains_key(at))))
            .or_else(|| best(&|_| true, LEAST_ELSEWHERE))
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

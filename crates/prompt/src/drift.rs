//! Compares the documents that a specification was made from with newer ones: which sentences that it cites have changed,
//! and what is new. Text that moved, also to another document, or is wrapped otherwise has not changed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::cited_places::{LineRange, places_in};
use super::citing_items::{CitingItem, CitingKind, citing_items};
use super::documents::Document;
use super::nearest::{Gap, NewPassages, gaps, pair_divided};
use super::normative::is_normative;
use super::pairing::{Pairing, pair};
use super::passages::{Passage, passages};

/// The difference between the documents of a specification and newer ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drift {
    /// Changes of text that a part of the model cites.
    pub cited: Vec<TextChange>,
    /// Earlier text that changed or is gone, and that nothing cites, or only to leave it out of scope.
    pub uncited: Vec<TextChange>,
    /// New normative sentences that are no part of a change above: no specification accounts for them.
    pub new_normative: Vec<Quoted>,
    /// The number of other new passages.
    pub other_new: usize,
    /// The number of earlier passages that are where they were, and that are elsewhere.
    pub unchanged: usize,
    pub moved: usize,
    /// The requirements whose cited text was compared.
    pub compared: Vec<String>,
    /// Requirements that cite no text, each with its place in words.
    pub not_compared: Vec<(String, String)>,
}

/// A sentence, heading, table row or line of code of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quoted {
    /// The path of the document below its folder.
    pub document: String,
    /// From 1.
    pub from: usize,
    pub to: usize,
    /// With single spaces.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Changed,
    Removed,
    /// New text beside the cited text.
    Added,
    /// Lines of code in another order.
    Reordered,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    pub kind: ChangeKind,
    /// `None` for added text.
    pub before: Option<Quoted>,
    /// `None` for removed text.
    pub now: Option<Quoted>,
    /// The line of a new document to look at; `None` if the document is gone.
    pub at: Option<(String, usize)>,
    /// Whether it has normative words, now or before.
    pub is_normative: bool,
    /// What cites it, by kind and name.
    pub cited_by: BTreeSet<(CitingKind, String)>,
}

/// Compares the documents that `informal` cites with newer ones.
pub fn compare_documents(informal: &str, old: &[Document], new: &[Document], normative_words: &[String]) -> Drift {
    let mut items = citing_items(informal, old);
    for item in &mut items {
        // A place that is wrong in one part still cites the others.
        if let (true, Some(place)) = (item.ranges.is_empty(), &item.place) {
            item.ranges = places_in(place, old, false);
        }
    }
    Comparison::new(&items, passages(old), passages(new), normative_words).drift()
}

/// A cited range: the index of its item, and its index there.
type CitedRange = (usize, usize);

struct Comparison<'a> {
    items: &'a [CitingItem<'a>],
    normative_words: &'a [String],
    old: Vec<Passage<'a>>,
    new: Vec<Passage<'a>>,
    pairing: Pairing,
    gaps: Vec<Option<Gap>>,
    /// By earlier passage: the new passage that it is, or that replaced it.
    image: Vec<Option<usize>>,
    /// By new passage: the earlier ones that it is the image of.
    sources: Vec<Vec<usize>>,
    /// By earlier passage: the ranges that cite it.
    citations: Vec<BTreeSet<CitedRange>>,
}

impl<'a> Comparison<'a> {
    fn new(
        items: &'a [CitingItem<'a>],
        old: Vec<Passage<'a>>,
        new: Vec<Passage<'a>>,
        normative_words: &'a [String],
    ) -> Self {
        let mut pairing = pair(&old, &new);
        pair_divided(&old, &new, &mut pairing);
        let gaps = gaps(&old, &new, &pairing);
        let candidates = NewPassages::new(&new, &pairing);
        let image: Vec<Option<usize>> = old
            .iter()
            .enumerate()
            .map(|(at, passage)| pairing.new_of[at].or_else(|| candidates.nearest(passage, gaps[at])))
            .collect();
        let mut sources = vec![Vec::new(); new.len()];
        for (at, image) in image.iter().enumerate() {
            if let Some(image) = image {
                sources[*image].push(at);
            }
        }
        for (at, source) in pairing.old_of.iter().enumerate() {
            if let Some(source) = source.filter(|source| !sources[at].contains(source)) {
                sources[at].push(source);
            }
        }
        let mut citations = vec![BTreeSet::new(); old.len()];
        for (number, item) in items.iter().enumerate() {
            for (index, range) in item.ranges.iter().enumerate() {
                for (at, passage) in old.iter().enumerate() {
                    if range.overlaps(&LineRange { document: passage.document, from: passage.from, to: passage.to }) {
                        citations[at].insert((number, index));
                    }
                }
            }
        }
        Self { items, normative_words, old, new, pairing, gaps, image, sources, citations }
    }

    fn drift(&self) -> Drift {
        let mut drift = Drift::default();
        let in_place = self.pairing.in_place(&self.old, &self.new);
        for (at, stays) in in_place.into_iter().enumerate() {
            match (self.pairing.new_of[at], stays) {
                (Some(_), true) => drift.unchanged += 1,
                (Some(_), false) => drift.moved += 1,
                (None, _) => {
                    let change = self.change(at);
                    let is_cited = change.cited_by.iter().any(|(kind, _)| *kind != CitingKind::OutOfScope);
                    if is_cited { drift.cited.push(change) } else { drift.uncited.push(change) }
                }
            }
            drift.cited.extend(self.reordered(at));
        }
        let known: Vec<usize> = (0..self.new.len()).filter(|at| !self.sources[*at].is_empty()).collect();
        for at in (0..self.new.len()).filter(|at| self.sources[*at].is_empty()) {
            let text = quoted(&self.new[at]);
            let next = known.partition_point(|known| *known < at);
            let beside = [next.checked_sub(1).map(|before| known[before]), known.get(next).copied()];
            let cited_by = self.cited_beside(at, beside);
            let is_normative = is_normative(&text.text, self.normative_words);
            if !cited_by.is_empty() {
                let place = Some((text.document.clone(), text.from));
                let (kind, now) = (ChangeKind::Added, Some(text));
                drift.cited.push(TextChange { kind, before: None, now, at: place, is_normative, cited_by });
            } else if is_normative {
                drift.new_normative.push(text);
            } else {
                drift.other_new += 1;
            }
        }
        drift.cited.sort_by(|a, b| (a.at.is_none(), &a.at).cmp(&(b.at.is_none(), &b.at)));
        self.add_requirements(&mut drift);
        drift
    }

    /// Which requirements were compared.
    fn add_requirements(&self, drift: &mut Drift) {
        let cited: BTreeSet<usize> = self.citations.iter().flatten().map(|(item, _)| *item).collect();
        for (number, item) in self.items.iter().enumerate().filter(|(_, item)| item.kind == CitingKind::Requirement) {
            if cited.contains(&number) {
                drift.compared.push(item.id.clone());
            } else {
                let why = match &item.place {
                    None => "no place given".to_owned(),
                    Some(place) => format!("{place}: no text of the documents"),
                };
                drift.not_compared.push((item.id.clone(), why));
            }
        }
    }

    /// The change of an earlier passage that is in no new document.
    fn change(&self, at: usize) -> TextChange {
        let before = quoted(&self.old[at]);
        let now = self.image[at].map(|image| quoted(&self.new[image]));
        let place = match &now {
            Some(now) => Some((now.document.clone(), now.from)),
            None => self.gaps[at].map(|gap| (before.document.clone(), self.line_of_gap(gap, &before.document))),
        };
        let texts = [Some(&before), now.as_ref()];
        let is_normative = texts.into_iter().flatten().any(|text| is_normative(&text.text, self.normative_words));
        TextChange {
            kind: if now.is_some() { ChangeKind::Changed } else { ChangeKind::Removed },
            cited_by: self.names(self.citations[at].iter()),
            before: Some(before),
            now,
            at: place,
            is_normative,
        }
    }

    /// The last line before the gap, or the first line of the document.
    fn line_of_gap(&self, gap: Gap, document: &str) -> usize {
        let before = gap.from.checked_sub(1).map(|at| &self.new[at]);
        before.filter(|passage| passage.document.path == document).map_or(1, |passage| passage.to)
    }

    /// The change of order, if this cited line of code does not follow the one before it any more.
    fn reordered(&self, at: usize) -> Option<TextChange> {
        let before = at.checked_sub(1)?;
        let (passage, image, image_before) = (&self.old[at], self.pairing.new_of[at]?, self.pairing.new_of[before]?);
        let is_block = passage.is_code && self.old[before].paragraph == passage.paragraph;
        // New lines between them are a change of their own.
        let follows =
            image_before < image && (image_before + 1..image).all(|between| self.pairing.old_of[between].is_none());
        let cited_by = self.names(self.citations[at].intersection(&self.citations[before]));
        let is_cited = cited_by.iter().any(|(kind, _)| *kind != CitingKind::OutOfScope);
        (is_block && !follows && is_cited).then(|| {
            let (before, now) = (quoted(passage), quoted(&self.new[image]));
            let place = Some((now.document.clone(), now.from));
            let (kind, before, now) = (ChangeKind::Reordered, Some(before), Some(now));
            TextChange { kind, before, now, at: place, is_normative: false, cited_by }
        })
    }

    /// What cites the text that this new passage was added to, by the closest passages before and after it that are not new:
    /// a sentence beside it in its paragraph, or a place that spans both.
    fn cited_beside(&self, at: usize, beside: [Option<usize>; 2]) -> BTreeSet<(CitingKind, String)> {
        let mut cited = BTreeSet::new();
        for neighbour in beside.into_iter().flatten() {
            if self.new[neighbour].paragraph == self.new[at].paragraph {
                cited.extend(self.sources[neighbour].iter().flat_map(|source| &self.citations[*source]));
            }
        }
        if let [Some(left), Some(right)] = beside {
            for source in self.sources[left].iter().filter(|source| self.sources[right].contains(&(**source + 1))) {
                cited.extend(self.citations[*source].intersection(&self.citations[source + 1]));
            }
        }
        let mut names = self.names(cited.into_iter());
        names.retain(|(kind, _)| *kind != CitingKind::OutOfScope);
        names
    }

    fn names<'b>(&self, ranges: impl Iterator<Item = &'b CitedRange>) -> BTreeSet<(CitingKind, String)> {
        ranges.map(|(item, _)| (self.items[*item].kind, self.items[*item].id.clone())).collect()
    }
}

fn quoted(passage: &Passage<'_>) -> Quoted {
    let Passage { document, from, to, text, .. } = passage;
    Quoted { document: document.path.clone(), from: *from, to: *to, text: text.clone() }
}

/// The names of this kind, such as the steps.
pub fn names_of_kind(cited_by: &BTreeSet<(CitingKind, String)>, wanted: CitingKind) -> Vec<&str> {
    let names = cited_by.iter().filter(|(kind, _)| *kind == wanted).map(|(_, name)| name.as_str());
    let mut names: Vec<&str> = names.collect();
    // `R2` before `R10`.
    names.sort_by_key(|name| name.get(1..).and_then(|number| number.parse::<u32>().ok()));
    names
}

//! Compares the documents that a specification was made from with newer ones: which sentences that it cites have changed,
//! and what is new. Text that moved, also to another document, or is wrapped otherwise has not changed.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::cited_places::{LineRange, places_in};
use super::citing_items::{CitingItem, CitingKind, citing_items};
use super::documents::Document;
use super::nearest::{Gap, NewPassages, gaps, pair_divided};
use super::normative_sentences::is_normative;
use super::pairing::{Pairing, pair};
use super::passages::{Passage, differing_heading, passages};

/// The difference between the documents of a specification and newer ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drift {
    /// Changes of text that a part of the model cites.
    pub cited: Vec<TextChange>,
    /// Earlier text that changed or is gone, and that nothing cites, or only to leave it out of scope.
    pub uncited: Vec<TextChange>,
    /// New normative sentences that are no part of a change above: no specification accounts for them.
    pub new_normative: Vec<Quoted>,
    /// The other new passages.
    pub other_new: Vec<Quoted>,
    /// The number of earlier passages that are where they were, and that are elsewhere.
    pub unchanged: usize,
    pub moved: usize,
    /// The moved passages that something cites, with their earlier and their new place.
    pub moved_cited: Vec<(Quoted, Quoted)>,
    /// The requirements whose cited text was compared.
    pub compared: Vec<String>,
    /// Requirements that cite no text, each with its place in words.
    pub not_compared: Vec<(String, String)>,
}

/// A sentence, heading, table row, line of code or comment of a document.
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
    /// The same text below another heading, or below a heading with another text.
    Heading,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    pub kind: ChangeKind,
    /// `None` for added text. The heading, if that is what differs; `None` if the text was above the first one.
    pub before: Option<Quoted>,
    /// `None` for removed text. The heading, if that is what differs; `None` if the text is above the first one.
    pub now: Option<Quoted>,
    /// The cited text as it was: beside which text was added, or which is below another heading.
    pub beside: Option<Quoted>,
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
        let in_order = replaced_in_order(&pairing, &gaps);
        // Equal texts in one gap have the same nearest passage.
        let mut nearest: HashMap<(&str, Option<Gap>), Option<usize>> = HashMap::new();
        let image: Vec<Option<usize>> = old
            .iter()
            .enumerate()
            .map(|(at, passage)| {
                pairing.new_of[at].or(in_order[at]).or_else(|| {
                    let known = nearest.entry((passage.text.as_str(), gaps[at]));
                    *known.or_insert_with(|| candidates.nearest(passage, gaps[at]))
                })
            })
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
        drift.cited.extend(self.other_headings());
        for (at, stays) in in_place.into_iter().enumerate() {
            let is_at_its_line = self.pairing.new_of[at].is_some_and(|now| self.is_at_its_line(at, now));
            match (self.pairing.new_of[at], stays) {
                (Some(_), true) => drift.unchanged += 1,
                (Some(now), false) => {
                    drift.moved += 1;
                    if self.is_cited(at) && !is_at_its_line {
                        drift.moved_cited.push((quoted(&self.old[at]), quoted(&self.new[now])));
                    }
                }
                (None, _) => {
                    let change = self.change(at);
                    let is_cited = change.cited_by.iter().any(|(kind, _)| *kind != CitingKind::OutOfScope);
                    if is_cited { drift.cited.push(change) } else { drift.uncited.push(change) }
                }
            }
            drift.cited.extend(self.reordered(at));
        }
        let known: Vec<usize> = (0..self.new.len()).filter(|at| !self.sources[*at].is_empty()).collect();
        let lost: Vec<usize> =
            (0..self.old.len()).filter(|at| self.pairing.new_of[*at].is_none() && self.is_cited(*at)).collect();
        for at in (0..self.new.len()).filter(|at| !self.sources[*at].iter().any(|source| self.is_cited(*source))) {
            let text = quoted(&self.new[at]);
            let place = known.binary_search(&at);
            let (before, after) = match place {
                Ok(here) => (here.checked_sub(1), here + 1),
                Err(next) => (next.checked_sub(1), next),
            };
            let beside = [before.map(|before| known[before]), known.get(after).copied()];
            let (cited_by, source) = self.cited_beside(at, beside, &lost);
            let is_normative = is_normative(&text.text, self.normative_words);
            let is_new = self.sources[at].is_empty();
            if !cited_by.is_empty() {
                let place = Some((text.document.clone(), text.from));
                let (kind, now, beside) = (ChangeKind::Added, Some(text), source.map(|at| quoted(&self.old[at])));
                drift.cited.push(TextChange { kind, before: None, now, beside, at: place, is_normative, cited_by });
            } else if is_new && is_normative {
                drift.new_normative.push(text);
            } else if is_new {
                drift.other_new.push(text);
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
            beside: None,
            at: place,
            is_normative,
        }
    }

    /// Whether a part of the model cites it, and not only to leave it out of scope.
    fn is_cited(&self, at: usize) -> bool {
        self.citations[at].iter().any(|(item, _)| self.items[*item].kind != CitingKind::OutOfScope)
    }

    fn is_at_its_line(&self, at: usize, now: usize) -> bool {
        let (old, new) = (&self.old[at], &self.new[now]);
        (&old.document.path, old.from) == (&new.document.path, new.from)
    }

    /// The changes of the headings above cited text that is the same: one for passages that follow each other.
    fn other_headings(&self) -> Vec<TextChange> {
        let mut changes: Vec<TextChange> = Vec::new();
        let mut last = None;
        for at in 0..self.old.len() {
            let own = self.pairing.new_of[at].filter(|_| self.is_cited(at));
            let differing = own.and_then(|now| Some((differing_heading((&self.old, at), (&self.new, now))?, now)));
            let Some(((before, heading), now)) = differing else {
                last = None;
                continue;
            };
            let (text, cited_by) = (quoted(&self.old[at]), self.names(self.citations[at].iter()));
            let is_normative = is_normative(&text.text, self.normative_words);
            match changes.last_mut() {
                Some(change) if last == Some((before, heading)) => {
                    change.cited_by.extend(cited_by);
                    change.is_normative |= is_normative;
                    if let Some(beside) = &mut change.beside {
                        (beside.to, beside.text) = (text.to, format!("{} {}", beside.text, text.text));
                    }
                }
                _ => changes.push(TextChange {
                    kind: ChangeKind::Heading,
                    before: before.map(|at| quoted(&self.old[at])),
                    now: heading.map(|at| quoted(&self.new[at])),
                    beside: Some(text),
                    at: Some((self.new[now].document.path.clone(), self.new[now].from)),
                    is_normative,
                    cited_by,
                }),
            }
            last = Some((before, heading));
        }
        changes
    }

    /// What cites both, in one place or in several.
    fn cited_both(&self, a: usize, b: usize) -> BTreeSet<CitedRange> {
        let items: BTreeSet<usize> = self.citations[b].iter().map(|(item, _)| *item).collect();
        self.citations[a].iter().filter(|(item, _)| items.contains(item)).copied().collect()
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
        let cited_by = self.names(self.cited_both(at, before).iter());
        let is_cited = cited_by.iter().any(|(kind, _)| *kind != CitingKind::OutOfScope);
        (is_block && !follows && is_cited).then(|| {
            let place = Some((self.new[image].document.path.clone(), self.new[image].from));
            // The whole block: an acceptance counts for one order.
            let (before, now) = (quoted_block(&self.old, at), quoted_block(&self.new, image));
            let (kind, before, now) = (ChangeKind::Reordered, Some(before), Some(now));
            TextChange { kind, before, now, beside: None, at: place, is_normative: false, cited_by }
        })
    }

    /// What cites the text that this passage was added to, and the first such text: a sentence beside it in its paragraph, a
    /// place that spans the closest passages before and after it, or cited text that was here and is gone (`lost`). For a
    /// passage that was elsewhere, only the first counts, unless it was in that paragraph before; for a new comment, none.
    fn cited_beside(
        &self,
        at: usize,
        beside: [Option<usize>; 2],
        lost: &[usize],
    ) -> (BTreeSet<(CitingKind, String)>, Option<usize>) {
        let mut found: Vec<(usize, CitedRange)> = Vec::new();
        let mut add =
            |source: usize, cited: &BTreeSet<CitedRange>| found.extend(cited.iter().map(|one| (source, *one)));
        // A new comment says nothing about the text around it that a reader of the page would see.
        if self.new[at].is_comment && self.sources[at].is_empty() {
            return (BTreeSet::new(), None);
        }
        let is_moved = self.pairing.old_of[at].is_some();
        let was_beside =
            |source: usize| self.sources[at].iter().any(|own| self.old[*own].paragraph == self.old[source].paragraph);
        for neighbour in beside.into_iter().flatten() {
            if self.new[neighbour].paragraph == self.new[at].paragraph {
                for source in self.sources[neighbour].iter().filter(|source| !is_moved || !was_beside(**source)) {
                    add(*source, &self.citations[*source]);
                }
            }
        }
        if !is_moved {
            if let [Some(left), Some(right)] = beside {
                for source in self.sources[left].iter().filter(|source| self.sources[right].contains(&(**source + 1))) {
                    add(*source, &self.cited_both(*source, source + 1));
                }
            }
            let is_here = |gap: Gap| (gap.from..gap.to).contains(&at);
            for source in lost.iter().filter(|source| self.gaps[**source].is_some_and(is_here)) {
                add(*source, &self.citations[*source]);
            }
        }
        let is_part = |(_, (item, _)): &&(usize, CitedRange)| self.items[*item].kind != CitingKind::OutOfScope;
        let source = found.iter().filter(is_part).map(|(source, _)| *source).min();
        let mut names = self.names(found.iter().map(|(_, cited)| cited));
        names.retain(|(kind, _)| *kind != CitingKind::OutOfScope);
        (names, source)
    }

    fn names<'b>(&self, ranges: impl Iterator<Item = &'b CitedRange>) -> BTreeSet<(CitingKind, String)> {
        ranges.map(|(item, _)| (self.items[*item].kind, self.items[*item].id.clone())).collect()
    }
}

/// By earlier passage: the new one at its place, where as many are new as are gone.
fn replaced_in_order(pairing: &Pairing, gaps: &[Option<Gap>]) -> Vec<Option<usize>> {
    let mut replaced = vec![None; gaps.len()];
    let mut start = 0;
    for same in gaps.chunk_by(|a, b| a == b) {
        let range = start..start + same.len();
        start = range.end;
        let Some(gap) = same[0] else { continue };
        let gone: Vec<usize> = range.filter(|at| pairing.new_of[*at].is_none()).collect();
        let new: Vec<usize> = (gap.from..gap.to).filter(|at| pairing.old_of[*at].is_none()).collect();
        if gone.len() == new.len() {
            gone.into_iter().zip(new).for_each(|(at, now)| replaced[at] = Some(now));
        }
    }
    replaced
}

/// The whole block of code of a line.
fn quoted_block(all: &[Passage<'_>], at: usize) -> Quoted {
    let block = &all[all[at].paragraph.clone()];
    let text = block.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
    let to = block.last().map_or(all[at].to, |last| last.to);
    Quoted { document: all[at].document.path.clone(), from: block[0].from, to, text }
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

//! What differs between two states of a trace: sets by element, functions by key, records by field, sequences by index.
//! What both states hold is in no change.

use std::collections::BTreeSet;

use serde::Serialize;

use super::outcome::Step;
use super::value_text::{ValueParts, canonical, one_line, set_elements};

/// One difference between two states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The variable, with the key, field or index of the entry if only a part changed: `pc[r1]`, `msgs`, `queue[1].from`.
    /// The index of an entry of a sequence is its new one; that of a removed entry is its old one.
    pub path: String,
    /// How it changed.
    pub difference: Difference,
}

/// How a value or a part of it changed. Values are TLA+ text on one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Difference {
    /// The path has another value.
    Replaced {
        /// The old value.
        before: String,
        /// The new value.
        after: String,
    },
    /// The set at the path has one element more, or the path did not exist before.
    Added {
        /// The element, or the value of the new entry.
        value: String,
    },
    /// The set at the path has one element less, or the path does not exist any more.
    Removed {
        /// The element, or the value that the entry had.
        value: String,
    },
}

/// How deep entries of entries are compared. A deeper value is replaced whole if it changed.
const MAX_NESTING: usize = 8;

/// Largest product of two lengths for which the common entries of two sequences are searched.
const MAX_TABLE: usize = 1_000_000;

/// Longest interval `a..b` that counts as a set of its elements.
const MAX_INTERVAL: i64 = 1_000;

/// What changed from `previous` to `step`, in the order of the variables; empty if the states are equal.
pub fn changes(previous: &Step, step: &Step) -> Vec<Change> {
    let mut found = Found(Vec::new());
    for (name, after) in &step.state {
        match previous.state.get(name) {
            Some(before) => found.compare(name, before, after, MAX_NESTING),
            None => found.added(name, after),
        }
    }
    for (name, before) in previous.state.iter().filter(|(name, _)| !step.state.contains_key(*name)) {
        found.removed(name, before);
    }
    found.0
}

struct Found(Vec<Change>);

impl Found {
    fn added(&mut self, path: &str, value: &str) {
        self.push(path, Difference::Added { value: one_line(value) });
    }

    fn removed(&mut self, path: &str, value: &str) {
        self.push(path, Difference::Removed { value: one_line(value) });
    }

    fn push(&mut self, path: &str, difference: Difference) {
        self.0.push(Change { path: path.to_owned(), difference });
    }

    fn compare(&mut self, path: &str, before: &str, after: &str, nesting: usize) {
        if before == after || canonical(before) == canonical(after) {
            return;
        }
        if nesting > 0 && self.compare_parts(path, before, after, nesting - 1).is_some() {
            return;
        }
        self.push(path, Difference::Replaced { before: one_line(before), after: one_line(after) });
    }

    /// `None` if the values have no parts that could be compared.
    fn compare_parts(&mut self, path: &str, before: &str, after: &str, nesting: usize) -> Option<()> {
        if let (Some(before), Some(after)) = (elements(before), elements(after)) {
            self.compare_sets(path, &before, &after);
            return Some(());
        }
        let (before, after) = (ValueParts::read(before)?, ValueParts::read(after)?);
        if let (ValueParts::Sequence(before), ValueParts::Sequence(after)) = (&before, &after) {
            self.compare_sequences(path, before, after, nesting);
            return Some(());
        }
        // A function prints as a sequence while its domain is `1..n`, and any function without entries as `<<>>`.
        let is_record = |parts: &ValueParts<'_>| matches!(parts, ValueParts::Record(_));
        let is_empty = |parts: &ValueParts<'_>| *parts == ValueParts::Sequence(Vec::new());
        if is_record(&before) != is_record(&after) && !is_empty(&before) && !is_empty(&after) {
            return None;
        }
        self.compare_entries(path, &before.entries()?, &after.entries()?, nesting)
    }

    fn compare_sets(&mut self, path: &str, before: &[String], after: &[String]) {
        let names = |elements: &[String]| elements.iter().map(|element| canonical(element)).collect::<BTreeSet<_>>();
        let (old, new) = (names(before), names(after));
        for element in without_repetitions(before).filter(|element| !new.contains(&canonical(element))) {
            self.removed(path, element);
        }
        for element in without_repetitions(after).filter(|element| !old.contains(&canonical(element))) {
            self.added(path, element);
        }
    }

    fn compare_entries(
        &mut self,
        path: &str,
        before: &[(String, &str)],
        after: &[(String, &str)],
        nesting: usize,
    ) -> Option<()> {
        let key = |suffix: &str| match suffix.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(key) => canonical(key),
            None => suffix.to_owned(),
        };
        let names = |entries: &[(String, &str)]| entries.iter().map(|(suffix, _)| key(suffix)).collect::<Vec<_>>();
        let (old, new) = (names(before), names(after));
        let is_unique = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
        if !is_unique(&old) || !is_unique(&new) {
            return None;
        }
        for ((suffix, value), name) in before.iter().zip(&old) {
            match new.iter().position(|other| other == name) {
                Some(at) => self.compare(&format!("{path}{suffix}"), value, after[at].1, nesting),
                None => self.removed(&format!("{path}{suffix}"), value),
            }
        }
        for ((suffix, value), _) in after.iter().zip(&new).filter(|(_, name)| !old.contains(name)) {
            self.added(&format!("{path}{suffix}"), value);
        }
        Some(())
    }

    /// Entry by entry if that takes the fewest changes; otherwise as entries that were removed and inserted. So the
    /// removal of the first entry is one change, although every other entry moves.
    fn compare_sequences(&mut self, path: &str, before: &[&str], after: &[&str], nesting: usize) {
        let names = |parts: &[&str]| parts.iter().map(|part| canonical(part)).collect::<Vec<_>>();
        let (old, new) = (names(before), names(after));
        let kept = common_entries(&old, &new);
        let by_index = old.iter().zip(&new).filter(|(old, new)| old != new).count();
        if old.len() == new.len() && by_index <= old.len() + new.len() - 2 * kept.len() {
            for (at, (before, after)) in before.iter().zip(after).enumerate() {
                self.compare(&format!("{path}[{}]", at + 1), before, after, nesting);
            }
            return;
        }
        let (mut i, mut j) = (0, 0);
        for (next_i, next_j) in kept.into_iter().chain([(old.len(), new.len())]) {
            // Entries that changed in their place, between two that did not. A set is replaced as a whole, because an element
            // that it lost would read as an entry that the sequence lost.
            while i == j && next_i - i == next_j - j && i < next_i {
                let nesting = if elements(before[i]).is_some() { 0 } else { nesting };
                self.compare(&format!("{path}[{}]", i + 1), before[i], after[j], nesting);
                (i, j) = (i + 1, j + 1);
            }
            for (at, value) in before.iter().enumerate().take(next_i).skip(i) {
                self.removed(&format!("{path}[{}]", at + 1), value);
            }
            for (at, value) in after.iter().enumerate().take(next_j).skip(j) {
                self.added(&format!("{path}[{}]", at + 1), value);
            }
            (i, j) = (next_i + 1, next_j + 1);
        }
    }
}

/// The elements of an explicit set, or of a short interval of numbers.
fn elements(value: &str) -> Option<Vec<String>> {
    if let Some((first, last)) = value.split_once("..") {
        let (first, last): (i64, i64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        let is_short = last.checked_sub(first).is_some_and(|length| length < MAX_INTERVAL);
        return is_short.then(|| (first..=last).map(|number| number.to_string()).collect());
    }
    Some(set_elements(value)?.into_iter().map(str::to_owned).collect())
}

fn without_repetitions(elements: &[String]) -> impl Iterator<Item = &String> {
    let mut seen = BTreeSet::new();
    elements.iter().filter(move |element| seen.insert(canonical(element)))
}

/// The indices of a longest common subsequence in both sequences; of very long ones only what they begin and end with.
fn common_entries(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    let begin = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let end = old[begin..].iter().rev().zip(new[begin..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (rows, columns) = (&old[begin..old.len() - end], &new[begin..new.len() - end]);
    let mut kept: Vec<(usize, usize)> = (0..begin).map(|at| (at, at)).collect();
    if rows.len().saturating_mul(columns.len()) <= MAX_TABLE {
        let width = columns.len() + 1;
        let mut length = vec![0_u32; (rows.len() + 1) * width];
        for i in (0..rows.len()).rev() {
            for j in (0..columns.len()).rev() {
                length[i * width + j] = if rows[i] == columns[j] {
                    length[(i + 1) * width + j + 1] + 1
                } else {
                    length[(i + 1) * width + j].max(length[i * width + j + 1])
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < rows.len() && j < columns.len() {
            if rows[i] == columns[j] {
                kept.push((begin + i, begin + j));
                (i, j) = (i + 1, j + 1);
            } else if length[(i + 1) * width + j] >= length[i * width + j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
    kept.extend((0..end).rev().map(|at| (old.len() - at - 1, new.len() - at - 1)));
    kept
}

//! Truth values by position, one bit each, and the prepared labels of a trace.

use super::super::atom::Record;
use super::super::formula::{AtomId, Formula, Formulas};
use super::bits::{BitLayout, bit};

/// The truth values of one formula at the positions `0..=n` of a trace of `n` records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub(super) words: Vec<u64>,
    pub(super) length: usize,
}

impl Column {
    /// The number of records, `n`; there is one position more.
    pub fn trace_length(&self) -> usize {
        self.length
    }

    /// The value at a position; false beyond `n`.
    pub fn holds_at(&self, position: usize) -> bool {
        position <= self.length && bit(&self.words, position)
    }

    /// The value at position 0: whether the trace satisfies the formula.
    pub fn verdict(&self) -> bool {
        self.holds_at(0)
    }

    /// The positions of records from which on the formula does not hold, ascending; `n` is not among them.
    pub fn failing_positions(&self) -> impl Iterator<Item = usize> + '_ {
        let shape = BitLayout::new(self.length);
        self.words.iter().enumerate().flat_map(move |(w, word)| {
            let mut zeros = !word & shape.records(w);
            std::iter::from_fn(move || {
                let first = zeros.leading_zeros();
                (first < 64).then(|| {
                    zeros &= !(1 << (63 - first));
                    w * 64 + first as usize
                })
            })
        })
    }

    /// How many positions of records fail.
    pub fn failing_count(&self) -> usize {
        let shape = BitLayout::new(self.length);
        self.words.iter().enumerate().map(|(w, word)| (!word & shape.records(w)).count_ones() as usize).sum()
    }
}

/// Which atoms hold at which record: one bit for each, so a trace of five million records and 20 atoms takes 12 MB.
///
/// A record is read once, when it is pushed, and is not kept: a log of any size goes through it record by record.
#[derive(Debug, Clone)]
pub struct Labels {
    /// By atom number; `None` for an atom that was not asked for.
    columns: Vec<Option<Vec<u64>>>,
    atoms: Vec<AtomId>,
    length: usize,
}

impl Labels {
    /// The labels of an empty trace, for the atoms of these formulas.
    pub fn new(formulas: &Formulas, read: &[Formula]) -> Self {
        let mut atoms: Vec<AtomId> = read.iter().flat_map(|f| formulas.atoms_of(*f)).collect();
        atoms.sort_unstable();
        atoms.dedup();
        let mut columns = vec![None; atoms.last().map_or(0, |a| a.index() + 1)];
        for atom in &atoms {
            columns[atom.index()] = Some(vec![0]);
        }
        Self { columns, atoms, length: 0 }
    }

    /// The labels of a whole trace, for the atoms of these formulas.
    pub fn from_records(formulas: &Formulas, read: &[Formula], records: impl IntoIterator<Item = impl Record>) -> Self {
        let mut labels = Self::new(formulas, read);
        for record in records {
            labels.push(formulas, &record);
        }
        labels
    }

    /// Appends a record: every atom is evaluated on it once.
    pub fn push(&mut self, formulas: &Formulas, record: &(impl Record + ?Sized)) {
        self.push_values(|atom| formulas.atom(atom).holds(record));
    }

    /// Appends a record of which it is known what holds; every atom is asked for once.
    pub fn push_values(&mut self, mut holds: impl FnMut(AtomId) -> bool) {
        let (word, at) = (self.length / 64, 63 - self.length % 64);
        for atom in &self.atoms {
            let column = self.columns[atom.index()].as_mut().expect("every atom asked for has a column");
            column[word] |= u64::from(holds(*atom)) << at;
            // There is always room for the position after the last record.
            if at == 0 {
                column.push(0);
            }
        }
        self.length += 1;
    }

    /// Appends the records of other labels, which are of the same atoms.
    pub fn append(&mut self, other: &Self) {
        debug_assert_eq!(self.atoms, other.atoms, "labels of the same atoms");
        let shift = self.length % 64;
        let words = (self.length + other.length) / 64 + 1;
        for atom in &self.atoms {
            let more = other.column(*atom).expect("labels of the same atoms");
            let column = self.columns[atom.index()].as_mut().expect("every atom asked for has a column");
            for word in more {
                let last = column.last_mut().expect("there is room for the position after the last record");
                *last |= word >> shift;
                column.push(if shift == 0 { 0 } else { word << (64 - shift) });
            }
            // Behind the last record of the other labels there are only zeros.
            column.truncate(words);
        }
        self.length += other.length;
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The atoms that are read, ascending.
    pub fn atoms(&self) -> &[AtomId] {
        &self.atoms
    }

    /// Whether an atom holds at a position, `n` included, where none does; `None` for an atom that is not read.
    pub fn holds_at(&self, atom: AtomId, position: usize) -> Option<bool> {
        let column = self.column(atom)?;
        Some(position < self.length && bit(column, position))
    }

    pub(super) fn column(&self, atom: AtomId) -> Option<&[u64]> {
        self.columns.get(atom.index())?.as_deref()
    }
}

//! Truth values by position, one bit each: the column of a formula, and the labels (atoms) of a trace.

use super::super::atom::Record;
use super::super::formula::{AtomId, Formula, Formulas};
use super::bits::{BitLayout, bit};

/// The truth values of a formula at the positions `0..=n` of a trace of `n` records.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Formulas, Labels, eval_all_positions};
///
/// let mut formulas = Formulas::new();
/// let rule = formulas.parse("X a")?;
/// let mut labels = Labels::new(&formulas, &[rule]);
/// for a in [false, true] {
///     labels.push_values(|_| a);
/// }
/// let column = eval_all_positions(&formulas, rule, &labels)?;
/// assert_eq!(column.trace_length(), 2);
/// assert!(column.verdict() && column.holds_at(0) && !column.holds_at(1));
/// assert_eq!(column.failing_positions().collect::<Vec<_>>(), [1], "there is no position after the last record");
/// assert_eq!(column.failing_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub(super) words: Vec<u64>,
    pub(super) length: usize,
}

impl Column {
    /// The number of records, `n`; there are `n + 1` positions.
    pub fn trace_length(&self) -> usize {
        self.length
    }

    /// The value at a position; false after `n`.
    pub fn holds_at(&self, position: usize) -> bool {
        position <= self.length && bit(&self.words, position)
    }

    /// The value at position 0: whether the trace satisfies the formula.
    pub fn verdict(&self) -> bool {
        self.holds_at(0)
    }

    /// The positions `0..n` at which the formula is false, in ascending order.
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

    /// The number of [`Column::failing_positions`], counted 64 at a time.
    pub fn failing_count(&self) -> usize {
        let shape = BitLayout::new(self.length);
        self.words.iter().enumerate().map(|(w, word)| (!word & shape.records(w)).count_ones() as usize).sum()
    }
}

/// The labelling of a trace: which atoms are true at which record, one bit each. Five million records with 20 atoms take
/// 12 MB. A table of truth values, not to be confused with [`Atom::Label`](super::super::Atom::Label), one kind of atom.
///
/// Each record is read once, when it is pushed, and not stored, so a log of any size can be labelled record by record.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Formulas, Labels, Quantities};
///
/// let mut formulas = Formulas::new();
/// let rule = formulas.parse("G x < 3")?;
/// let records = [1.0, 4.0].map(|x| Quantities::from_iter([("x", x)]));
/// let mut labels = Labels::from_records(&formulas, &[rule], &records);
/// labels.push(&formulas, &records[0]);
/// let atom = labels.atoms()[0];
/// let values: Vec<_> = (0..labels.len()).map(|i| labels.holds_at(atom, i)).collect();
/// assert_eq!(values, [Some(true), Some(false), Some(true)]);
///
/// // Parts of a log can be labelled separately.
/// let mut both = Labels::new(&formulas, &[rule]);
/// assert!(both.is_empty());
/// both.append(&labels);
/// both.append(&labels);
/// assert_eq!((both.len(), both.holds_at(atom, 4)), (6, Some(false)));
/// # Ok::<(), tlaforge_temporal::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Labels {
    /// By atom number; `None` for an atom that is not labelled.
    columns: Vec<Option<Vec<u64>>>,
    atoms: Vec<AtomId>,
    length: usize,
}

impl Labels {
    /// The labels of an empty trace, for the atoms of the formulas `read`.
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

    /// The labels of a complete trace, for the atoms of the formulas `read`.
    pub fn from_records(formulas: &Formulas, read: &[Formula], records: impl IntoIterator<Item = impl Record>) -> Self {
        let mut labels = Self::new(formulas, read);
        for record in records {
            labels.push(formulas, &record);
        }
        labels
    }

    /// Appends a record; evaluates every atom on it once. `formulas` is the arena that the labels were made for.
    pub fn push(&mut self, formulas: &Formulas, record: &(impl Record + ?Sized)) {
        self.push_values(|atom| formulas.atom(atom).holds(record));
    }

    /// Appends a record by its truth values; calls `holds` once for each atom.
    pub fn push_values(&mut self, mut holds: impl FnMut(AtomId) -> bool) {
        let (word, at) = (self.length / 64, 63 - self.length % 64);
        for atom in &self.atoms {
            let column = self.columns[atom.index()].as_mut().expect("every labelled atom has a column");
            column[word] |= u64::from(holds(*atom)) << at;
            // A column always has a bit for position `n`.
            if at == 0 {
                column.push(0);
            }
        }
        self.length += 1;
    }

    /// Appends the records of other labels.
    ///
    /// # Panics
    /// If the other labels are not of the same atoms.
    pub fn append(&mut self, other: &Self) {
        assert_eq!(self.atoms, other.atoms, "labels of the same atoms");
        let shift = self.length % 64;
        let words = (self.length + other.length) / 64 + 1;
        for atom in &self.atoms {
            let more = other.column(*atom).expect("labels of the same atoms");
            let column = self.columns[atom.index()].as_mut().expect("every labelled atom has a column");
            for word in more {
                // The bits after the last record are zero on both sides, so `|` joins the words.
                let last = column.last_mut().expect("a column has a bit for position n");
                *last |= word >> shift;
                column.push(if shift == 0 { 0 } else { word << (64 - shift) });
            }
            // Bits after the last record are zero, so words beyond the new length can be dropped.
            column.truncate(words);
        }
        self.length += other.length;
    }

    /// The number of records that were pushed or appended.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The labelled atoms, in ascending order.
    pub fn atoms(&self) -> &[AtomId] {
        &self.atoms
    }

    /// Whether an atom holds at a position `0..=n`; false at `n`. `None` for an atom that is not labelled.
    pub fn holds_at(&self, atom: AtomId, position: usize) -> Option<bool> {
        let column = self.column(atom)?;
        Some(position < self.length && bit(column, position))
    }

    pub(super) fn column(&self, atom: AtomId) -> Option<&[u64]> {
        self.columns.get(atom.index())?.as_deref()
    }
}

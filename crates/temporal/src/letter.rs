//! A letter of a trace: the set of atoms that are true at one step. Knows nothing of what follows it.

use super::atom::Record;
use super::formula::{AtomId, Formulas};

/// The set of atoms that are true at one step, as a bit set; all others are false.
///
/// A letter holds numbers of atoms and does not know their arena. For a [`Progression`](super::Progression) make it with
/// the atoms of [`Progression::formulas`](super::Progression::formulas), not with those of the arena in which the rule was
/// parsed: their numbers differ, and the result would be wrong without an error.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Formulas, Letter, Quantities};
///
/// let mut formulas = Formulas::new();
/// let near = formulas.parse("distance < 5")?;
/// let near = formulas.atoms_of(near)[0];
/// let mut letter = Letter::from_record(&formulas, &Quantities::from_iter([("distance", 3.0)]));
/// assert!(letter.holds(near));
/// assert_eq!(letter, Letter::from_iter([near]));
///
/// letter.assign_from_record(&formulas, &Quantities::from_iter([("distance", 7.0)]));
/// assert_eq!(letter, Letter::new());
/// letter.set(near, true);
/// assert!(letter.holds(near));
/// # Ok::<(), tlaforge_temporal::ParseError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Letter {
    words: Vec<u64>,
}

impl Letter {
    /// The empty set: no atom is true.
    pub fn new() -> Self {
        Self::default()
    }

    /// The atoms of `formulas` that are true at a record.
    pub fn from_record(formulas: &Formulas, record: &(impl Record + ?Sized)) -> Self {
        let mut letter = Self::new();
        letter.assign_from_record(formulas, record);
        letter
    }

    /// [`Letter::from_record`] in place, without a new allocation.
    pub fn assign_from_record(&mut self, formulas: &Formulas, record: &(impl Record + ?Sized)) {
        self.words.clear();
        for (id, atom) in formulas.atoms() {
            if atom.holds(record) {
                self.set(id, true);
            }
        }
    }

    /// Sets an atom to true or false.
    pub fn set(&mut self, atom: AtomId, value: bool) {
        let (word, bit) = (atom.index() / 64, 1u64 << (atom.index() % 64));
        if value {
            // Grows on demand, because a progression adds atoms while it is used.
            if self.words.len() <= word {
                self.words.resize(word + 1, 0);
            }
            self.words[word] |= bit;
        } else if let Some(word) = self.words.get_mut(word) {
            *word &= !bit;
        }
    }

    /// Whether an atom is true; false for an atom that was never set.
    pub fn holds(&self, atom: AtomId) -> bool {
        self.word(atom.index() / 64) & (1 << (atom.index() % 64)) != 0
    }

    /// The truth values of atoms `64 * index` to `64 * index + 63`, lowest bit first.
    pub(super) fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }
}

// Not derived: letters of different length are equal if the longer one ends in zeros, as after `set(…, false)`.
impl PartialEq for Letter {
    fn eq(&self, other: &Self) -> bool {
        (0..self.words.len().max(other.words.len())).all(|i| self.word(i) == other.word(i))
    }
}

impl Eq for Letter {}

impl FromIterator<AtomId> for Letter {
    fn from_iter<T: IntoIterator<Item = AtomId>>(atoms: T) -> Self {
        let mut letter = Self::new();
        for atom in atoms {
            letter.set(atom, true);
        }
        letter
    }
}

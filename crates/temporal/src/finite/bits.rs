//! The temporal operators on bit vectors, 64 positions at a time.
//!
//! An earlier position is a higher bit of its word, so information from the future moves upwards like the carry of an
//! addition: `U` takes one addition per word. Bits after position `n` are zero in every column.

/// The layout of the positions of a trace in words.
#[derive(Debug, Clone, Copy)]
pub(super) struct BitLayout {
    /// The index of the last word, which contains position `n`.
    last: usize,
    /// The bits of positions `0..n` in the last word.
    record_bits: u64,
    /// The bits of positions `0..=n` in the last word.
    position_bits: u64,
}

impl BitLayout {
    pub(super) fn new(length: usize) -> Self {
        let at = length % 64;
        // Shifted twice for `position_bits`, because one shift by 64 would overflow.
        Self { last: length / 64, record_bits: !(u64::MAX >> at), position_bits: !((u64::MAX >> at) >> 1) }
    }

    pub(super) fn words(self) -> usize {
        self.last + 1
    }

    /// The bits of a word that belong to records.
    pub(super) fn records(self, word: usize) -> u64 {
        if word == self.last { self.record_bits } else { u64::MAX }
    }

    /// Clears the bits after position `n`.
    pub(super) fn trim(self, out: &mut [u64]) {
        out[self.last] &= self.position_bits;
    }

    /// A word in which all bits from position `n` on are `end`.
    fn word_with_end(self, words: &[u64], word: usize, end: bool) -> u64 {
        match (word == self.last, end) {
            (false, _) => words[word],
            (true, false) => words[word] & self.record_bits,
            (true, true) => words[word] | !self.record_bits,
        }
    }

    /// `X` (`end` false) and `N` (`end` true).
    pub(super) fn next(self, out: &mut [u64], a: &[u64], end: bool) {
        let mut carry = u64::from(end);
        for w in (0..self.words()).rev() {
            let word = self.word_with_end(a, w, end);
            out[w] = word << 1 | carry;
            carry = word >> 63;
        }
        self.trim(out);
    }

    /// `F`; `end` is its value at `n`.
    pub(super) fn finally(self, out: &mut [u64], a: &[u64], end: bool) {
        let mut carry = end;
        for w in (0..self.words()).rev() {
            let word = self.word_with_end(a, w, end);
            // The lowest bit and all above it.
            out[w] = if carry { u64::MAX } else { word | word.wrapping_neg() };
            carry |= word != 0;
        }
        self.trim(out);
    }

    /// `G`; `end` is its value at `n`.
    pub(super) fn globally(self, out: &mut [u64], a: &[u64], end: bool) {
        let mut carry = end;
        for w in (0..self.words()).rev() {
            let gaps = !self.word_with_end(a, w, end);
            out[w] = if carry { !(gaps | gaps.wrapping_neg()) } else { 0 };
            carry &= gaps == 0;
        }
        self.trim(out);
    }

    /// `l U r` (`end` false) and `l W r` (`end` true): true where `r`, or `l` and true at the next position.
    pub(super) fn until(self, out: &mut [u64], l: &[u64], r: &[u64], end: bool) {
        let mut carry = end;
        for w in (0..self.words()).rev() {
            let (l, r) = (self.word_with_end(l, w, end), self.word_with_end(r, w, end));
            (out[w], carry) = propagate(l | r, r, carry);
        }
        self.trim(out);
    }

    /// `l M r` (`end` false) and `l R r` (`end` true): true where `r`, and `l` or true at the next position.
    pub(super) fn release(self, out: &mut [u64], l: &[u64], r: &[u64], end: bool) {
        let mut carry = end;
        for w in (0..self.words()).rev() {
            let (l, r) = (self.word_with_end(l, w, end), self.word_with_end(r, w, end));
            (out[w], carry) = propagate(r, l & r, carry);
        }
        self.trim(out);
    }

    /// `Y`; false at position 0, which has none before it.
    pub(super) fn yesterday(self, out: &mut [u64], a: &[u64]) {
        let mut carry = 0;
        for w in 0..self.words() {
            out[w] = a[w] >> 1 | carry;
            carry = a[w] << 63;
        }
        self.trim(out);
    }

    /// `O`; at `n` its value of `n - 1`.
    pub(super) fn once(self, out: &mut [u64], a: &[u64]) {
        let mut carry = false;
        for (w, slot) in out.iter_mut().enumerate() {
            let word = self.word_with_end(a, w, false);
            // The highest bit and all below it.
            let below = if word == 0 { 0 } else { u64::MAX >> word.leading_zeros() };
            *slot = if carry { u64::MAX } else { below };
            carry |= word != 0;
        }
        self.trim(out);
    }

    /// `H`; at `n` its value of `n - 1`.
    pub(super) fn historically(self, out: &mut [u64], a: &[u64]) {
        let mut carry = true;
        for (w, slot) in out.iter_mut().enumerate() {
            let gaps = !self.word_with_end(a, w, true);
            let below = if gaps == 0 { 0 } else { u64::MAX >> gaps.leading_zeros() };
            *slot = if carry { !below } else { 0 };
            carry &= gaps == 0;
        }
        self.trim(out);
    }

    /// `l S r`: true where `r`, or `l` and true at the position before.
    pub(super) fn since(self, out: &mut [u64], l: &[u64], r: &[u64]) {
        let mut carry = false;
        for (w, slot) in out.iter_mut().enumerate() {
            // `l` counts as true at `n`, which gives `n` the value of `n - 1`; the same for `H` above.
            let (l, r) = (self.word_with_end(l, w, true), self.word_with_end(r, w, false));
            // Information from the past moves downwards; in reversed words it moves upwards, like a carry.
            let (word, over) = propagate((l | r).reverse_bits(), r.reverse_bits(), carry);
            (*slot, carry) = (word.reverse_bits(), over);
        }
        self.trim(out);
    }
}

/// Propagates a carry through a word by one addition: a bit of `start` (a subset of `pass`) generates a carry, a bit of
/// `pass` passes it on. Returns the carry at each bit, and out of the word.
fn propagate(pass: u64, start: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = pass.overflowing_add(start);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    // A carry turns each passing bit of the sum from 1 to 0, so the zeros show how far it came.
    (start | (pass & !sum), first | second)
}

pub(super) fn bit(words: &[u64], position: usize) -> bool {
    words[position / 64] >> (63 - position % 64) & 1 == 1
}

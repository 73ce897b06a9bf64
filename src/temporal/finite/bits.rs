//! The temporal operators on 64 positions at a time.
//!
//! An earlier position is a higher bit of its word, so that what the future says travels upwards, as the carry of an
//! addition does: `U` is one addition a word. Positions after `n` are zero in every column.

/// How a trace lies in its words.
#[derive(Debug, Clone, Copy)]
pub(super) struct BitLayout {
    /// The index of the last word; it holds position `n`.
    last: usize,
    /// The positions of records in the last word.
    body: u64,
    /// The positions up to `n` in the last word.
    kept: u64,
}

impl BitLayout {
    pub(super) fn new(length: usize) -> Self {
        let at = length % 64;
        Self { last: length / 64, body: !(u64::MAX >> at), kept: !((u64::MAX >> at) >> 1) }
    }

    pub(super) fn words(self) -> usize {
        self.last + 1
    }

    /// The positions of a word that have a record.
    pub(super) fn records(self, word: usize) -> u64 {
        if word == self.last { self.body } else { u64::MAX }
    }

    /// Clears what lies after position `n`.
    pub(super) fn trim(self, out: &mut [u64]) {
        out[self.last] &= self.kept;
    }

    /// A word, with `end` in place of what is there from position `n` on.
    fn ended(self, words: &[u64], word: usize, end: bool) -> u64 {
        match (word == self.last, end) {
            (false, _) => words[word],
            (true, false) => words[word] & self.body,
            (true, true) => words[word] | !self.body,
        }
    }

    /// `X` (`end` false) and `N` (`end` true).
    pub(super) fn next(self, out: &mut [u64], a: &[u64], end: bool) {
        let mut carry = u64::from(end);
        for w in (0..self.words()).rev() {
            let word = self.ended(a, w, end);
            out[w] = word << 1 | carry;
            carry = word >> 63;
        }
        self.trim(out);
    }

    /// `F`; `end` is its value at `n`.
    pub(super) fn finally(self, out: &mut [u64], a: &[u64], end: bool) {
        let mut carry = end;
        for w in (0..self.words()).rev() {
            let word = self.ended(a, w, end);
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
            let gaps = !self.ended(a, w, end);
            out[w] = if carry { !(gaps | gaps.wrapping_neg()) } else { 0 };
            carry &= gaps == 0;
        }
        self.trim(out);
    }

    /// `l U r` (`end` false) and `l W r` (`end` true): true where `r`, or `l` and true at the next position.
    pub(super) fn until(self, out: &mut [u64], l: &[u64], r: &[u64], end: bool) {
        let mut carry = end;
        for w in (0..self.words()).rev() {
            let (l, r) = (self.ended(l, w, end), self.ended(r, w, end));
            (out[w], carry) = carries(l | r, r, carry);
        }
        self.trim(out);
    }

    /// `l M r` (`end` false) and `l R r` (`end` true): true where `r`, and `l` or true at the next position.
    pub(super) fn release(self, out: &mut [u64], l: &[u64], r: &[u64], end: bool) {
        let mut carry = end;
        for w in (0..self.words()).rev() {
            let (l, r) = (self.ended(l, w, end), self.ended(r, w, end));
            (out[w], carry) = carries(r, l & r, carry);
        }
        self.trim(out);
    }

    /// `Y`
    pub(super) fn yesterday(self, out: &mut [u64], a: &[u64]) {
        let mut carry = 0;
        for w in 0..self.words() {
            out[w] = a[w] >> 1 | carry;
            carry = a[w] << 63;
        }
        self.trim(out);
    }

    /// `O`
    pub(super) fn once(self, out: &mut [u64], a: &[u64]) {
        let mut carry = false;
        for (w, slot) in out.iter_mut().enumerate() {
            let word = self.ended(a, w, false);
            // The highest bit and all below it.
            let below = if word == 0 { 0 } else { u64::MAX >> word.leading_zeros() };
            *slot = if carry { u64::MAX } else { below };
            carry |= word != 0;
        }
        self.trim(out);
    }

    /// `H`
    pub(super) fn historically(self, out: &mut [u64], a: &[u64]) {
        let mut carry = true;
        for (w, slot) in out.iter_mut().enumerate() {
            let gaps = !self.ended(a, w, true);
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
            let (l, r) = (self.ended(l, w, true), self.ended(r, w, false));
            let (word, over) = carries((l | r).reverse_bits(), r.reverse_bits(), carry);
            (*slot, carry) = (word.reverse_bits(), over);
        }
        self.trim(out);
    }
}

/// The carries out of every bit of an addition that a bit passes on (`pass`) or starts by itself (`start`, one of those).
fn carries(pass: u64, start: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = pass.overflowing_add(start);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (start | (pass & !sum), first | second)
}

pub(super) fn bit(words: &[u64], position: usize) -> bool {
    words[position / 64] >> (63 - position % 64) & 1 == 1
}

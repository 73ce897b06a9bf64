//! Vector clocks (Fidge, Mattern).

use std::cmp::Ordering;

/// By lifeline number, how many events of the lifeline are visible, including the current event.
///
/// The order of clocks is the causal order of their events: a smaller clock is earlier, and incomparable clocks belong to
/// concurrent events. Missing entries of a shorter clock count as 0.
///
/// # Examples
/// ```
/// use std::cmp::Ordering;
/// use tlaforge_temporal::causal::VectorClock;
///
/// let (mut a, mut b) = (VectorClock::default(), VectorClock::default());
/// a.tick(0);
/// b.tick(1);
/// assert_eq!(a.partial_cmp(&b), None, "concurrent");
/// b.merge(&a);
/// b.tick(1);
/// assert_eq!(a.partial_cmp(&b), Some(Ordering::Less), "`b` has received from `a`");
/// assert_eq!((b.get(0), b.get(1), b.get(9)), (1, 2, 0));
/// ```
#[derive(Debug, Clone, Default)]
pub struct VectorClock(pub Vec<u64>);

impl VectorClock {
    /// The number of visible events of a lifeline.
    pub fn get(&self, lifeline: usize) -> u64 {
        self.0.get(lifeline).copied().unwrap_or(0)
    }

    /// Counts one more event of a lifeline.
    pub fn tick(&mut self, lifeline: usize) {
        if self.0.len() <= lifeline {
            self.0.resize(lifeline + 1, 0);
        }
        self.0[lifeline] += 1;
    }

    /// Takes the maximum of each entry: what either of the two has seen.
    pub fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own = (*own).max(*other);
        }
    }
}

impl PartialEq for VectorClock {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for VectorClock {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let mut order = Ordering::Equal;
        for i in 0..self.0.len().max(other.0.len()) {
            match (order, self.get(i).cmp(&other.get(i))) {
                (_, Ordering::Equal) => {}
                (Ordering::Equal, unequal) => order = unequal,
                (so_far, here) if so_far == here => {}
                // Smaller in one entry and larger in another.
                _ => return None,
            }
        }
        Some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_order_is_the_causal_order_of_events() {
        let clock = |counts: &[u64]| VectorClock(counts.to_vec());
        assert_eq!(clock(&[1, 2]).partial_cmp(&clock(&[1, 3])), Some(Ordering::Less));
        assert_eq!(clock(&[2, 2]).partial_cmp(&clock(&[1, 2])), Some(Ordering::Greater));
        assert_eq!(clock(&[2, 1]).partial_cmp(&clock(&[1, 2])), None, "concurrent");
        assert_eq!(clock(&[2]), clock(&[2, 0]));
        let mut merged = clock(&[2, 1]);
        merged.merge(&clock(&[1, 2, 5]));
        merged.tick(3);
        assert_eq!(merged.0, [2, 2, 5, 1]);
    }
}

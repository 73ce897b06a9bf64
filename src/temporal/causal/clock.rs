//! Vector clocks.

use std::cmp::Ordering;

/// How many events of each lifeline are visible, the current event included; in the order of the lifelines.
///
/// Two clocks are compared as causality compares their events: less is earlier, and clocks without an order belong to
/// events of which neither is visible to the other. What a shorter clock does not name is 0.
#[derive(Debug, Clone, Default)]
pub struct VectorClock(pub Vec<u64>);

impl VectorClock {
    /// How many events of the lifeline of this number are visible.
    pub fn get(&self, lifeline: usize) -> u64 {
        self.0.get(lifeline).copied().unwrap_or(0)
    }

    /// One more event on a lifeline.
    pub fn tick(&mut self, lifeline: usize) {
        if self.0.len() <= lifeline {
            self.0.resize(lifeline + 1, 0);
        }
        self.0[lifeline] += 1;
    }

    /// What either of the two has seen.
    pub fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
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
    fn clocks_are_ordered_as_their_events_are() {
        let clock = |counts: &[u64]| VectorClock(counts.to_vec());
        assert_eq!(clock(&[1, 2]).partial_cmp(&clock(&[1, 3])), Some(Ordering::Less));
        assert_eq!(clock(&[2, 2]).partial_cmp(&clock(&[1, 2])), Some(Ordering::Greater));
        assert_eq!(clock(&[2, 1]).partial_cmp(&clock(&[1, 2])), None, "neither has seen the other");
        assert_eq!(clock(&[2]), clock(&[2, 0]));
        let mut merged = clock(&[2, 1]);
        merged.merge(&clock(&[1, 2, 5]));
        merged.tick(3);
        assert_eq!(merged.0, [2, 2, 5, 1]);
    }
}

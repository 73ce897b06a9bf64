//! Reduced ordered binary decision diagrams over numbered levels. Knows nothing of atoms and formulas; the translation
//! puts the atoms of a position on the upper levels and the obligations for the next position below them.

use super::limits::{AutomatonError, Limits, check_limit};

pub(super) fn hash3(a: u32, b: u32, c: u32) -> u64 {
    // The multipliers of SplitMix64. The quality of the hash only decides how many slots are probed.
    let mut h = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    h ^= h >> 29;
    h = (h ^ u64::from(c)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    h ^ (h >> 32)
}

/// The unique table: an open-addressing hash table that stores each node once. Children have smaller numbers than parents.
#[derive(Debug, Clone)]
pub(super) struct NodeTable {
    pub(super) nodes: Vec<[u32; 3]>,
    slots: Vec<u32>,
    limit: usize,
}

const EMPTY: u32 = u32::MAX;

impl NodeTable {
    pub(super) fn new(limit: usize) -> Self {
        Self { nodes: Vec::new(), slots: vec![EMPTY; 1 << 8], limit }
    }

    /// The number of the node `[level, low, high]`.
    pub(super) fn number(&mut self, node: [u32; 3]) -> Result<u32, AutomatonError> {
        let mask = self.slots.len() - 1;
        let mut index = usize::try_from(hash3(node[0], node[1], node[2])).unwrap_or(0) & mask;
        while self.slots[index] != EMPTY {
            if self.nodes[self.slots[index] as usize] == node {
                return Ok(self.slots[index]);
            }
            index = (index + 1) & mask;
        }
        let number = u32::try_from(self.nodes.len()).unwrap_or(EMPTY);
        // Below 2^30 in any case: minimization stores numbers of nodes next to the bit that marks a state.
        check_limit("nodes of decision diagrams", self.nodes.len() + 1, self.limit.min(1 << 30))?;
        self.nodes.push(node);
        self.slots[index] = number;
        // At most half full, so that probing stays short.
        if self.nodes.len() * 2 > self.slots.len() {
            self.grow();
        }
        Ok(number)
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots = vec![EMPTY; mask + 1];
        for (number, node) in (0..).zip(&self.nodes) {
            let mut index = usize::try_from(hash3(node[0], node[1], node[2])).unwrap_or(0) & mask;
            while self.slots[index] != EMPTY {
                index = (index + 1) & mask;
            }
            self.slots[index] = number;
        }
    }
}

/// The diagram that is false everywhere.
pub(super) const FALSE: u32 = 0;
/// The diagram that is true everywhere.
pub(super) const TRUE: u32 = 1;

/// Boolean functions of numbered levels, as diagrams that share their nodes.
#[derive(Debug, Clone)]
pub(super) struct DecisionDiagrams {
    unique: NodeTable,
    cache: Vec<[u32; 4]>,
    steps: usize,
    max_steps: usize,
}

impl DecisionDiagrams {
    pub(super) fn new(limits: Limits) -> Self {
        let mut unique = NodeTable::new(limits.nodes.max(2));
        // The constants are below every level.
        unique.nodes = vec![[u32::MAX, 0, 0], [u32::MAX, 1, 1]];
        Self { unique, cache: vec![[EMPTY; 4]; 1 << 10], steps: 0, max_steps: limits.nodes.saturating_mul(64) }
    }

    /// Level, low child and high child of a node; the level of a constant is `u32::MAX`.
    pub(super) fn node(&self, f: u32) -> [u32; 3] {
        self.unique.nodes[f as usize]
    }

    pub(super) fn variable(&mut self, level: u32) -> Result<u32, AutomatonError> {
        self.unique.number([level, FALSE, TRUE])
    }

    pub(super) fn choice(&mut self, level: u32, low: u32, high: u32) -> Result<u32, AutomatonError> {
        if low == high { Ok(low) } else { self.unique.number([level, low, high]) }
    }

    pub(super) fn not(&mut self, f: u32) -> Result<u32, AutomatonError> {
        self.ite(f, FALSE, TRUE)
    }

    pub(super) fn and(&mut self, f: u32, g: u32) -> Result<u32, AutomatonError> {
        // Ordered operands, so that `f & g` and `g & f` share a cache entry.
        self.ite(f.min(g), f.max(g), FALSE)
    }

    pub(super) fn or(&mut self, f: u32, g: u32) -> Result<u32, AutomatonError> {
        self.ite(f.min(g), TRUE, f.max(g))
    }

    /// If `f` then `g` else `h`, the operation that all others reduce to. The cache is lossy: a collision overwrites.
    pub(super) fn ite(&mut self, f: u32, g: u32, h: u32) -> Result<u32, AutomatonError> {
        // Normalized, so that more questions have the same cache entry.
        let g = if g == f { TRUE } else { g };
        let h = if h == f { FALSE } else { h };
        match (f, g, h) {
            (TRUE, _, _) => return Ok(g),
            (FALSE, _, _) => return Ok(h),
            (_, TRUE, FALSE) => return Ok(f),
            _ if g == h => return Ok(g),
            _ => {}
        }
        let index = self.cache_index(f, g, h);
        let [kf, kg, kh, cached] = self.cache[index];
        if [kf, kg, kh] == [f, g, h] {
            return Ok(cached);
        }
        self.steps += 1;
        check_limit("steps on decision diagrams", self.steps, self.max_steps)?;
        // Constants have the largest level, so the smallest one belongs to a node.
        let level = self.node(f)[0].min(self.node(g)[0]).min(self.node(h)[0]);
        let [f0, f1] = self.cofactors(f, level);
        let [g0, g1] = self.cofactors(g, level);
        let [h0, h1] = self.cofactors(h, level);
        let low = self.ite(f0, g0, h0)?;
        let high = self.ite(f1, g1, h1)?;
        let result = self.choice(level, low, high)?;
        // Grows with the table, up to 2^21 entries of 16 bytes. What it held is lost, which costs time only.
        if self.unique.nodes.len() > self.cache.len() && self.cache.len() < 1 << 21 {
            self.cache = vec![[EMPTY; 4]; self.cache.len() * 4];
        }
        let index = self.cache_index(f, g, h);
        self.cache[index] = [f, g, h, result];
        Ok(result)
    }

    fn cache_index(&self, f: u32, g: u32, h: u32) -> usize {
        usize::try_from(hash3(f, g, h)).unwrap_or(0) & (self.cache.len() - 1)
    }

    pub(super) fn cofactors(&self, f: u32, level: u32) -> [u32; 2] {
        let [own, low, high] = self.node(f);
        if own == level { [low, high] } else { [f, f] }
    }
}

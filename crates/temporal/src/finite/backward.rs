//! The exact decision point of a verdict, by a deterministic automaton that reads a finite trace backwards. Its state holds
//! one bit per temporal operator: the value at the following position. First the states that some continuation reaches are
//! enumerated; there are few. Then the trace is read forwards once, keeping for each of these states the verdict that it
//! leads to. The verdict is decided as soon as all states lead to the same one.
//!
//! The vectors of verdicts are the states of the minimal forward automaton (Brzozowski's double reversal), so there are
//! never more of them than necessary.

use std::collections::{HashMap, HashSet};

use super::super::formula::{Binary, Formula, Node, Unary};
use super::column::Labels;
use super::decision_point::DecisionPoint;
use super::sweep::{Columns, Subformulas, eval_all_positions};

/// Maximum number of pairs of a state and a letter to enumerate: some ten milliseconds.
const MAX_PAIRS: usize = 1 << 18;
/// Maximum number of words for verdict vectors and their transitions: 16 MB.
const MAX_REMEMBERED_WORDS: usize = 1 << 21;
/// Maximum number of temporal operators: the state is one word.
const MAX_MEMORIES: usize = 64;

/// A formula as a circuit: inputs are the values at a position and the state of the following position.
pub(super) struct BackwardAutomaton<'a> {
    subformulas: &'a Subformulas<'a>,
    root: Formula,
    gates: Vec<Gate>,
    /// The inputs of a position: atoms, and formulas with a past operator outermost.
    leaves: Vec<Formula>,
    /// The bits of the state: the gate that computes each, and its value on the empty suffix.
    memories: Vec<(usize, bool)>,
}

enum Gate {
    Constant(bool),
    Leaf(usize),
    Not(usize),
    And(Vec<usize>),
    Or(Vec<usize>),
    Implies(usize, usize),
    Iff(usize, usize),
    /// `X`, `N`
    Memory(usize),
    /// `F a`: `true U a`; `G a`: `a W false`.
    Finally(usize, usize),
    Globally(usize, usize),
    /// The state bit is last.
    Until(usize, usize, usize),
    Release(usize, usize, usize),
}

impl<'a> BackwardAutomaton<'a> {
    /// `None` if a future operator occurs below a past one, or the formula has more than 64 temporal operators.
    pub(super) fn new(subformulas: &'a Subformulas<'a>, root: Formula) -> Option<Self> {
        let formulas = subformulas.formulas;
        let parts = formulas.subformulas(root);
        let (mut places, mut contains_future) = (HashMap::new(), HashMap::new());
        for part in &parts {
            let node = formulas.node(*part);
            let future = is_future(node) || node.children().iter().any(|child| contains_future[child]);
            // The values of past formulas are inputs, read from the trace. That is sound only if no continuation
            // changes them.
            if future && is_past(node) {
                return None;
            }
            contains_future.insert(*part, future);
        }
        // No gates below a past operator: the whole formula is one input.
        let mut needed = HashSet::from([root]);
        for part in parts.iter().rev().filter(|part| !is_past(formulas.node(**part))) {
            if needed.contains(part) {
                needed.extend(formulas.node(*part).children());
            }
        }
        let mut future = Self { subformulas, root, gates: Vec::new(), leaves: Vec::new(), memories: Vec::new() };
        for part in parts.into_iter().filter(|part| needed.contains(part)) {
            let gate = future.gate(part, &places);
            places.insert(part, future.gates.len());
            future.gates.push(gate);
        }
        (future.memories.len() <= MAX_MEMORIES).then_some(future)
    }

    fn gate(&mut self, part: Formula, places: &HashMap<Formula, usize>) -> Gate {
        let at = |formula: &Formula| places[formula];
        let all = |formulas: &[Formula]| formulas.iter().map(at).collect();
        let own = self.gates.len();
        // The bit of `X` and `N` is the value of their operand at the next position; that of all others is their own
        // value there.
        let mut memory = |filled_by: usize, at_end: bool| {
            self.memories.push((filled_by, at_end));
            self.memories.len() - 1
        };
        match self.subformulas.formulas.node(part) {
            Node::True => Gate::Constant(true),
            Node::False => Gate::Constant(false),
            Node::Not(a) => Gate::Not(at(a)),
            Node::And(parts) => Gate::And(all(parts)),
            Node::Or(parts) => Gate::Or(all(parts)),
            Node::Binary(Binary::Implies, [l, r]) => Gate::Implies(at(l), at(r)),
            Node::Binary(Binary::Iff, [l, r]) => Gate::Iff(at(l), at(r)),
            Node::Unary(Unary::Next, a) => Gate::Memory(memory(at(a), false)),
            Node::Unary(Unary::WeakNext, a) => Gate::Memory(memory(at(a), true)),
            Node::Unary(Unary::Finally, a) => Gate::Finally(at(a), memory(own, false)),
            Node::Unary(Unary::Globally, a) => Gate::Globally(at(a), memory(own, true)),
            Node::Binary(Binary::Until, [l, r]) => Gate::Until(at(l), at(r), memory(own, false)),
            Node::Binary(Binary::WeakUntil, [l, r]) => Gate::Until(at(l), at(r), memory(own, true)),
            Node::Binary(Binary::Release, [l, r]) => Gate::Release(at(l), at(r), memory(own, true)),
            Node::Binary(Binary::StrongRelease, [l, r]) => Gate::Release(at(l), at(r), memory(own, false)),
            _ => {
                self.leaves.push(part);
                Gate::Leaf(self.leaves.len() - 1)
            }
        }
    }

    /// The values of all gates, for 64 cases at once.
    fn values(&self, leaves: &[u64], memory: &[u64], values: &mut Vec<u64>) {
        values.clear();
        for gate in &self.gates {
            let value = match gate {
                Gate::Constant(value) => broadcast(*value),
                Gate::Leaf(leaf) => leaves[*leaf],
                Gate::Not(a) => !values[*a],
                Gate::And(all) => all.iter().fold(u64::MAX, |value, a| value & values[*a]),
                Gate::Or(all) => all.iter().fold(0, |value, a| value | values[*a]),
                Gate::Implies(l, r) => !values[*l] | values[*r],
                Gate::Iff(l, r) => !(values[*l] ^ values[*r]),
                Gate::Memory(m) => memory[*m],
                Gate::Finally(a, m) => values[*a] | memory[*m],
                Gate::Globally(a, m) => values[*a] & memory[*m],
                Gate::Until(l, r, m) => values[*r] | (values[*l] & memory[*m]),
                Gate::Release(l, r, m) => values[*r] & (values[*l] | memory[*m]),
            };
            values.push(value);
        }
    }

    fn next_state(&self, values: &[u64], case: usize) -> u64 {
        self.memories.iter().enumerate().fold(0, |state, (m, (gate, _))| state | (values[*gate] >> case & 1) << m)
    }

    fn root_value(values: &[u64]) -> u64 {
        *values.last().expect("the root is the last gate")
    }

    /// The decision point of a verdict, and whether it is exact; `None` if the search exceeds a limit.
    ///
    /// Past formulas count as independent of the letters, so with past operators the result is an upper bound.
    pub(super) fn find_decision_point(
        &self,
        table: &Columns<'_>,
        length: usize,
        verdict: bool,
    ) -> Option<(DecisionPoint, bool)> {
        // A past formula as an input counts as independent of the letters, which it is not.
        let exact = self.leaves.iter().all(|leaf| matches!(self.subformulas.formulas.node(*leaf), Node::Atom(_)));
        let (states, other_verdict_exists) = self.states(verdict)?;
        if !other_verdict_exists {
            return Some((DecisionPoint::FromTheStart, exact));
        }
        let mut reader = Reader::new(self, states);
        let leaves: Vec<&[u64]> = self.leaves.iter().map(|leaf| table.words(*leaf)).collect();
        let mut remembered = 0;
        for position in 0..length {
            let (word, shift) = (position / 64, 63 - position % 64);
            let letter = leaves
                .iter()
                .enumerate()
                .fold(0, |letter, (i, words)| letter | ((words[word] >> shift & 1) as usize) << i);
            remembered = reader.read(remembered, letter)?;
            if reader.settled[remembered] == Some(verdict) {
                return Some((DecisionPoint::ByRecord(position), exact));
            }
        }
        Some((DecisionPoint::ByTheEnd, exact))
    }

    /// The states of the backward automaton that some continuation reaches, and whether some trace has the other verdict.
    fn states(&self, verdict: bool) -> Option<(Vec<u64>, bool)> {
        let letters = 1_usize.checked_shl(u32::try_from(self.leaves.len()).ok()?)?;
        if letters > MAX_PAIRS {
            return None;
        }
        let at_end = self.memories.iter().enumerate().fold(0, |state, (m, (_, end))| state | u64::from(*end) << m);
        let (mut states, mut known) = (vec![at_end], HashSet::from([at_end]));
        let mut other_verdict_exists = self.empty_trace_verdict() != verdict;
        let (mut values, mut leaves) = (Vec::new(), vec![0; self.leaves.len()]);
        let mut next = 0;
        while next < states.len() {
            // Checked while states are found: their number is not known in advance.
            if states.len() * letters > MAX_PAIRS {
                return None;
            }
            let memory: Vec<u64> = (0..self.memories.len()).map(|m| broadcast(states[next] >> m & 1 == 1)).collect();
            for block in 0..letters.div_ceil(64) {
                for (i, leaf) in leaves.iter_mut().enumerate() {
                    // The first six inputs vary within a word, all others from block to block.
                    *leaf = PATTERNS.get(i).copied().unwrap_or_else(|| broadcast(block >> (i - 6) & 1 == 1));
                }
                self.values(&leaves, &memory, &mut values);
                // With fewer than six inputs the patterns repeat within the word.
                for case in 0..letters.min(64) {
                    other_verdict_exists |= (Self::root_value(&values) >> case & 1 == 1) != verdict;
                    let state = self.next_state(&values, case);
                    if known.insert(state) {
                        states.push(state);
                    }
                }
            }
            next += 1;
        }
        Some((states, other_verdict_exists))
    }

    /// The verdict of the empty trace.
    fn empty_trace_verdict(&self) -> bool {
        let formulas = self.subformulas.formulas;
        eval_all_positions(formulas, self.root, &Labels::new(formulas, &[self.root])).is_ok_and(|c| c.verdict())
    }
}

/// Reads the trace forwards and keeps, for each backward state, the verdict that it leads to.
struct Reader<'a> {
    future: &'a BackwardAutomaton<'a>,
    states: Vec<u64>,
    numbers: HashMap<u64, usize>,
    letters: usize,
    /// By verdict vector and letter, the next vector; `u32::MAX` if not computed yet.
    next: Vec<u32>,
    /// The verdict vectors; the first stands for the empty prefix and is empty.
    verdicts: Vec<Box<[u64]>>,
    remembered: HashMap<Box<[u64]>, usize>,
    /// The common verdict of each vector, if all its entries are equal.
    settled: Vec<Option<bool>>,
    effects: HashMap<usize, LetterEffect>,
}

/// The effect of a letter: the successor of each backward state, and the verdict of the trace that consists of the letter
/// and a continuation with that state.
struct LetterEffect {
    to: Vec<usize>,
    verdict: Box<[u64]>,
}

impl<'a> Reader<'a> {
    fn new(future: &'a BackwardAutomaton<'a>, states: Vec<u64>) -> Self {
        let numbers = states.iter().enumerate().map(|(number, state)| (*state, number)).collect();
        let letters = 1 << future.leaves.len();
        let (next, verdicts) = (vec![u32::MAX; letters], vec![Box::default()]);
        let (remembered, effects) = (HashMap::new(), HashMap::new());
        Self { future, states, numbers, letters, next, verdicts, remembered, settled: vec![None], effects }
    }

    fn read(&mut self, from: usize, letter: usize) -> Option<usize> {
        let known = self.next[from * self.letters + letter];
        if known != u32::MAX {
            return Some(known as usize);
        }
        if !self.effects.contains_key(&letter) {
            let effect = self.effect(letter);
            self.effects.insert(letter, effect);
        }
        let effect = &self.effects[&letter];
        // At the first letter the root itself is evaluated. Later letters only move the state: the verdict of the
        // prefix before with the continuation from there is known.
        let verdicts = if from == 0 {
            effect.verdict.clone()
        } else {
            let mut verdicts = vec![0; self.states.len().div_ceil(64)];
            for (state, to) in effect.to.iter().enumerate() {
                verdicts[state / 64] |= (self.verdicts[from][to / 64] >> (to % 64) & 1) << (state % 64);
            }
            verdicts.into()
        };
        let to = match self.remembered.get(&verdicts) {
            Some(known) => *known,
            None => self.add(verdicts)?,
        };
        self.next[from * self.letters + letter] = u32::try_from(to).ok()?;
        Some(to)
    }

    fn add(&mut self, verdicts: Box<[u64]>) -> Option<usize> {
        // `next` has half words; each vector is stored twice, in `verdicts` and as a key of `remembered`.
        if self.next.len() / 2 + 2 * verdicts.len() * self.verdicts.len() > MAX_REMEMBERED_WORDS {
            return None;
        }
        let true_in: usize = verdicts.iter().map(|word| word.count_ones() as usize).sum();
        self.settled.push(match true_in {
            0 => Some(false),
            all if all == self.states.len() => Some(true),
            _ => None,
        });
        self.next.extend(std::iter::repeat_n(u32::MAX, self.letters));
        self.verdicts.push(verdicts.clone());
        self.remembered.insert(verdicts, self.verdicts.len() - 1);
        Some(self.verdicts.len() - 1)
    }

    fn effect(&self, letter: usize) -> LetterEffect {
        let leaves: Vec<u64> = (0..self.future.leaves.len()).map(|i| broadcast(letter >> i & 1 == 1)).collect();
        let (mut to, mut verdict, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for states in self.states.chunks(64) {
            let memory: Vec<u64> = (0..self.future.memories.len())
                .map(|m| states.iter().enumerate().fold(0, |word, (case, state)| word | (state >> m & 1) << case))
                .collect();
            self.future.values(&leaves, &memory, &mut values);
            let cases = u64::MAX >> (64 - states.len());
            verdict.push(BackwardAutomaton::root_value(&values) & cases);
            to.extend((0..states.len()).map(|case| self.numbers[&self.future.next_state(&values, case)]));
        }
        LetterEffect { to, verdict: verdict.into() }
    }
}

/// All 64 combinations of six inputs, one per bit position.
const PATTERNS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

fn broadcast(value: bool) -> u64 {
    if value { u64::MAX } else { 0 }
}

fn is_past(node: &Node) -> bool {
    matches!(
        node,
        Node::Unary(Unary::Yesterday | Unary::Once | Unary::Historically, _) | Node::Binary(Binary::Since, _)
    )
}

fn is_future(node: &Node) -> bool {
    use Binary::{Release, StrongRelease, Until, WeakUntil};
    matches!(
        node,
        Node::Unary(Unary::Next | Unary::WeakNext | Unary::Globally | Unary::Finally, _)
            | Node::Binary(Until | WeakUntil | Release | StrongRelease, _)
    )
}

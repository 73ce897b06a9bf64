//! When a verdict was decided, exactly: a finite trace is read backwards by a deterministic automaton, whose state is what
//! the temporal operators hand from one position to the one before. The states that some continuation reaches are few and
//! are found first; then the trace is read forwards once, remembering for each of them the verdict it would lead to. The
//! verdict is decided as soon as all of them lead to the same.
//!
//! What is remembered is a state of the minimal automaton (Brzozowski's double reversal), so there are no more of them.

use std::collections::{HashMap, HashSet};

use super::super::formula::{Binary, Formula, Node, Unary};
use super::column::Labels;
use super::decision_point::DecisionPoint;
use super::sweep::{Columns, Subformulas, eval_all_positions};

/// Pairs of a state and a letter that are looked at: some ten milliseconds.
const PAIRS: usize = 1 << 18;
/// Words for what is remembered, and where each letter leads from there: 16 MB.
const REMEMBERED: usize = 1 << 21;
/// The state is one word.
const MEMORIES: usize = 64;

/// A formula as steps of a circuit from what a position says and what the next one handed on.
pub(super) struct BackwardAutomaton<'a> {
    subformulas: &'a Subformulas<'a>,
    root: Formula,
    steps: Vec<Step>,
    /// What is read off a position: atoms, and what the past says.
    leaves: Vec<Formula>,
    /// For each memory the step that fills it, and what it is at the end.
    memories: Vec<(usize, bool)>,
}

enum Step {
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
    /// The memory comes last.
    Until(usize, usize, usize),
    Release(usize, usize, usize),
}

impl<'a> BackwardAutomaton<'a> {
    /// `None` where a past operator speaks of a future one, or the formula has more than 64 temporal operators.
    pub(super) fn new(subformulas: &'a Subformulas<'a>, root: Formula) -> Option<Self> {
        let formulas = subformulas.formulas;
        let parts = formulas.subformulas(root);
        let (mut places, mut speaks_of_future) = (HashMap::new(), HashMap::new());
        for part in &parts {
            let node = formulas.node(*part);
            let future = is_future(node) || node.children().iter().any(|child| speaks_of_future[child]);
            if future && is_past(node) {
                return None;
            }
            speaks_of_future.insert(*part, future);
        }
        let mut needed = HashSet::from([root]);
        for part in parts.iter().rev().filter(|part| !is_past(formulas.node(**part))) {
            if needed.contains(part) {
                needed.extend(formulas.node(*part).children());
            }
        }
        let mut future = Self { subformulas, root, steps: Vec::new(), leaves: Vec::new(), memories: Vec::new() };
        for part in parts.into_iter().filter(|part| needed.contains(part)) {
            let step = future.step(part, &places);
            places.insert(part, future.steps.len());
            future.steps.push(step);
        }
        (future.memories.len() <= MEMORIES).then_some(future)
    }

    fn step(&mut self, part: Formula, places: &HashMap<Formula, usize>) -> Step {
        let at = |formula: &Formula| places[formula];
        let all = |formulas: &[Formula]| formulas.iter().map(at).collect();
        let own = self.steps.len();
        let mut memory = |filled_by: usize, at_end: bool| {
            self.memories.push((filled_by, at_end));
            self.memories.len() - 1
        };
        match self.subformulas.formulas.node(part) {
            Node::True => Step::Constant(true),
            Node::False => Step::Constant(false),
            Node::Not(a) => Step::Not(at(a)),
            Node::And(parts) => Step::And(all(parts)),
            Node::Or(parts) => Step::Or(all(parts)),
            Node::Binary(Binary::Implies, [l, r]) => Step::Implies(at(l), at(r)),
            Node::Binary(Binary::Iff, [l, r]) => Step::Iff(at(l), at(r)),
            Node::Unary(Unary::Next, a) => Step::Memory(memory(at(a), false)),
            Node::Unary(Unary::WeakNext, a) => Step::Memory(memory(at(a), true)),
            Node::Unary(Unary::Finally, a) => Step::Finally(at(a), memory(own, false)),
            Node::Unary(Unary::Globally, a) => Step::Globally(at(a), memory(own, true)),
            Node::Binary(Binary::Until, [l, r]) => Step::Until(at(l), at(r), memory(own, false)),
            Node::Binary(Binary::WeakUntil, [l, r]) => Step::Until(at(l), at(r), memory(own, true)),
            Node::Binary(Binary::Release, [l, r]) => Step::Release(at(l), at(r), memory(own, true)),
            Node::Binary(Binary::StrongRelease, [l, r]) => Step::Release(at(l), at(r), memory(own, false)),
            _ => {
                self.leaves.push(part);
                Step::Leaf(self.leaves.len() - 1)
            }
        }
    }

    /// The values of all steps, in 64 cases at once.
    fn values(&self, leaves: &[u64], memory: &[u64], values: &mut Vec<u64>) {
        values.clear();
        for step in &self.steps {
            let value = match step {
                Step::Constant(value) => spread(*value),
                Step::Leaf(leaf) => leaves[*leaf],
                Step::Not(a) => !values[*a],
                Step::And(all) => all.iter().fold(u64::MAX, |value, a| value & values[*a]),
                Step::Or(all) => all.iter().fold(0, |value, a| value | values[*a]),
                Step::Implies(l, r) => !values[*l] | values[*r],
                Step::Iff(l, r) => !(values[*l] ^ values[*r]),
                Step::Memory(m) => memory[*m],
                Step::Finally(a, m) => values[*a] | memory[*m],
                Step::Globally(a, m) => values[*a] & memory[*m],
                Step::Until(l, r, m) => values[*r] | (values[*l] & memory[*m]),
                Step::Release(l, r, m) => values[*r] & (values[*l] | memory[*m]),
            };
            values.push(value);
        }
    }

    fn handed_on(&self, values: &[u64], case: usize) -> u64 {
        self.memories.iter().enumerate().fold(0, |state, (m, (step, _))| state | (values[*step] >> case & 1) << m)
    }

    fn root_value(values: &[u64]) -> u64 {
        *values.last().expect("the root is the last step")
    }

    /// What decided this verdict, and whether that is exact; `None` where finding out would take too much.
    ///
    /// What the past says is taken to be independent of the letters, so with past operators it is a bound.
    pub(super) fn find_decision_point(
        &self,
        table: &Columns<'_>,
        length: usize,
        verdict: bool,
    ) -> Option<(DecisionPoint, bool)> {
        let exact = self.leaves.iter().all(|leaf| matches!(self.subformulas.formulas.node(*leaf), Node::Atom(_)));
        let (states, ever_otherwise) = self.states(verdict)?;
        if !ever_otherwise {
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

    /// The states of the backward automaton that some continuation reaches, and whether some trace has another verdict.
    fn states(&self, verdict: bool) -> Option<(Vec<u64>, bool)> {
        let letters = 1_usize.checked_shl(u32::try_from(self.leaves.len()).ok()?)?;
        if letters > PAIRS {
            return None;
        }
        let at_end = self.memories.iter().enumerate().fold(0, |state, (m, (_, end))| state | u64::from(*end) << m);
        let (mut states, mut known) = (vec![at_end], HashSet::from([at_end]));
        let mut otherwise = self.of_nothing() != verdict;
        let (mut values, mut leaves) = (Vec::new(), vec![0; self.leaves.len()]);
        let mut next = 0;
        while next < states.len() {
            if states.len() * letters > PAIRS {
                return None;
            }
            let memory: Vec<u64> = (0..self.memories.len()).map(|m| spread(states[next] >> m & 1 == 1)).collect();
            for block in 0..letters.div_ceil(64) {
                for (i, leaf) in leaves.iter_mut().enumerate() {
                    *leaf = PATTERNS.get(i).copied().unwrap_or_else(|| spread(block >> (i - 6) & 1 == 1));
                }
                self.values(&leaves, &memory, &mut values);
                for case in 0..letters.min(64) {
                    otherwise |= (Self::root_value(&values) >> case & 1 == 1) != verdict;
                    let state = self.handed_on(&values, case);
                    if known.insert(state) {
                        states.push(state);
                    }
                }
            }
            next += 1;
        }
        Some((states, otherwise))
    }

    /// The verdict of the empty trace.
    fn of_nothing(&self) -> bool {
        let formulas = self.subformulas.formulas;
        eval_all_positions(formulas, self.root, &Labels::new(formulas, &[self.root])).is_ok_and(|c| c.verdict())
    }
}

/// Reads the trace forwards: for each backward state, the verdict that it leads to.
struct Reader<'a> {
    future: &'a BackwardAutomaton<'a>,
    states: Vec<u64>,
    numbers: HashMap<u64, usize>,
    letters: usize,
    /// By remembered state and letter; `u32::MAX` where it is not known yet.
    next: Vec<u32>,
    /// The remembered states; the first is the start, which remembers nothing.
    verdicts: Vec<Box<[u64]>>,
    remembered: HashMap<Box<[u64]>, usize>,
    /// The verdict where all are the same.
    settled: Vec<Option<bool>>,
    effects: HashMap<usize, Effect>,
}

/// What a letter does to each backward state, and the verdict of the letter followed by what leads to that state.
struct Effect {
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
        if self.next.len() / 2 + 2 * verdicts.len() * self.verdicts.len() > REMEMBERED {
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

    fn effect(&self, letter: usize) -> Effect {
        let leaves: Vec<u64> = (0..self.future.leaves.len()).map(|i| spread(letter >> i & 1 == 1)).collect();
        let (mut to, mut verdict, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for states in self.states.chunks(64) {
            let memory: Vec<u64> = (0..self.future.memories.len())
                .map(|m| states.iter().enumerate().fold(0, |word, (case, state)| word | (state >> m & 1) << case))
                .collect();
            self.future.values(&leaves, &memory, &mut values);
            let cases = u64::MAX >> (64 - states.len());
            verdict.push(BackwardAutomaton::root_value(&values) & cases);
            to.extend((0..states.len()).map(|case| self.numbers[&self.future.handed_on(&values, case)]));
        }
        Effect { to, verdict: verdict.into() }
    }
}

/// Every combination of six letters, one a bit.
const PATTERNS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

fn spread(value: bool) -> u64 {
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

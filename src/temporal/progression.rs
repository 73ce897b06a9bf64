//! Progression: what a run still owes after each step.
//!
//! Definition 9 of the TRAC paper (after Bacchus and Kabanza), for runs that may end: `prg(X f) = f` where something
//! follows, `prg(N f) = f` where something follows. So what is owed is a formula for the case that the run goes on, in
//! normal form, and one truth value for the case that it ends now.
//!
//! Steps are remembered for each formula and what the step makes of the atoms that it reads now: a deterministic
//! automaton that is built only where the run goes.

use std::collections::HashMap;

use super::formula::{AtomId, Binary, Formula, Formulas, Node, Unary};
use super::letter::Letter;
use super::normal::{Chain, Normal};
use super::readings::{Reading, Refused};

/// How many steps are remembered before all are forgotten.
const REMEMBERED: usize = 1 << 17;

/// How many formulas and operands make an arena [`Progression::is_crowded`].
const CROWDED: usize = 1 << 19;

/// What is still owed: a formula for the rest of the run if it goes on, a truth value if it ends now.
///
/// In one [`Progression`], what is found equal to be owed is equal here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owed {
    rest: Formula,
    end: bool,
}

/// A verdict while the run goes on, over every way to go on: to end now, to end later, and never to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Every way satisfies the formula.
    Satisfied,
    /// No way does.
    Violated,
    /// Neither, or it was not found out.
    Undecided,
}

/// A verdict at the end of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// It was decided before.
    Satisfied,
    /// It was decided before.
    Violated,
    /// The run satisfies the formula; had it gone on, it might not have.
    PresumablySatisfied,
    /// The run does not satisfy the formula; had it gone on, it might have.
    PresumablyViolated,
}

impl Ending {
    /// Whether the run as it is satisfies the formula.
    pub fn holds(self) -> bool {
        matches!(self, Self::Satisfied | Self::PresumablySatisfied)
    }
}

/// How much is owed; less is better, and what is violated owes most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Debt {
    /// At least so many further steps until the run may end well; [`u32::MAX`] where it cannot any more.
    pub steps: u32,
    /// So many things that must still happen, on the way that asks for fewest.
    pub obligations: u32,
}

/// Steps from one formula.
#[derive(Debug, Clone)]
struct Table {
    /// The atoms that it reads now, as words of a letter and the bits in them.
    now: Box<[(usize, u64)]>,
    after: HashMap<Box<[u64]>, Owed>,
    last: Option<(Box<[u64]>, Owed)>,
}

/// Progression of any number of formulas, in an arena of its own.
#[derive(Debug, Clone, Default)]
pub struct Progression {
    normal: Normal,
    tables: HashMap<Formula, Table>,
    remembered: usize,
    debts: Vec<Debt>,
    key: Vec<u64>,
}

impl Progression {
    /// Nothing is owed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a formula of another arena owes before the first step. Refused: operators of the past and of lifelines.
    pub fn begin(&mut self, source: &Formulas, formula: Formula) -> Result<Owed, Refused> {
        source.readable(formula, Reading::Progression)?;
        let rest = self.normal.import(source, formula);
        // Normal forms are equal on traces of one position and more only, so the empty one is asked of the source.
        Ok(Owed { rest, end: on_empty(source, formula) })
    }

    /// The arena of what is owed. Its atoms are those that letters are made of.
    pub fn formulas(&self) -> &Formulas {
        &self.normal.formulas
    }

    /// What is owed after a step that makes the atoms of `letter` true.
    pub fn step(&mut self, owed: Owed, letter: &Letter) -> Owed {
        if let Some(known) = self.remembered(owed.rest, letter) {
            return known;
        }
        if self.remembered > REMEMBERED {
            self.tables.clear();
            self.remembered = 0;
        }
        let mut open = vec![owed.rest];
        while let Some(top) = open.last().copied() {
            if self.remembered(top, letter).is_some() {
                open.pop();
                continue;
            }
            let before = open.len();
            let node = self.normal.formulas.node(top).clone();
            for child in node.children() {
                if !under_next(&node) && self.remembered(*child, letter).is_none() {
                    open.push(*child);
                }
            }
            if open.len() == before {
                open.pop();
                let after = self.one_step(top, &node, letter);
                self.remember(top, letter, after);
            }
        }
        self.remembered(owed.rest, letter).expect("it was put there last")
    }

    fn one_step(&mut self, formula: Formula, node: &Node, letter: &Letter) -> Owed {
        let child = |progression: &mut Self, f: &Formula| {
            progression.remembered(*f, letter).expect("operands are progressed before what they are operands of")
        };
        let again = |end| Owed { rest: formula, end };
        match node {
            Node::True => self.decided(true),
            Node::False => self.decided(false),
            Node::Atom(atom) => self.decided(letter.holds(*atom)),
            Node::Not(a) => {
                let Owed { end, .. } = child(self, a);
                self.decided(!end)
            }
            Node::And(all) => {
                let parts: Vec<Owed> = all.iter().map(|a| child(self, a)).collect();
                self.join(Chain::And, &parts)
            }
            Node::Or(all) => {
                let parts: Vec<Owed> = all.iter().map(|a| child(self, a)).collect();
                self.join(Chain::Or, &parts)
            }
            Node::Unary(Unary::Next, a) => Owed { rest: *a, end: false },
            Node::Unary(Unary::WeakNext, a) => Owed { rest: *a, end: true },
            Node::Unary(Unary::Globally, a) => {
                let a = child(self, a);
                self.join(Chain::And, &[a, again(true)])
            }
            Node::Unary(_, a) => {
                let a = child(self, a);
                self.join(Chain::Or, &[a, again(false)])
            }
            Node::Binary(operator, [a, b]) => {
                let (a, b) = (child(self, a), child(self, b));
                let weak = matches!(operator, Binary::WeakUntil | Binary::Release);
                if matches!(operator, Binary::Until | Binary::WeakUntil) {
                    let going_on = self.join(Chain::And, &[a, again(weak)]);
                    self.join(Chain::Or, &[b, going_on])
                } else {
                    let going_on = self.join(Chain::Or, &[a, again(weak)]);
                    self.join(Chain::And, &[b, going_on])
                }
            }
            Node::Causal(..) | Node::Seen(_) => unreachable!("progression refuses causal operators"),
        }
    }

    fn decided(&mut self, value: bool) -> Owed {
        Owed { rest: self.normal.formulas.constant(value), end: value }
    }

    fn join(&mut self, chain: Chain, parts: &[Owed]) -> Owed {
        let rest = self.normal.chain(chain, parts.iter().map(|part| part.rest).collect());
        let end = match chain {
            Chain::And => parts.iter().all(|part| part.end),
            Chain::Or => parts.iter().any(|part| part.end),
        };
        Owed { rest, end }
    }

    fn remembered(&mut self, formula: Formula, letter: &Letter) -> Option<Owed> {
        let table = self.tables.get_mut(&formula)?;
        self.key.clear();
        self.key.extend(table.now.iter().map(|(word, bits)| letter.word(*word) & bits));
        if let Some((key, owed)) = &table.last
            && **key == *self.key
        {
            return Some(*owed);
        }
        let (key, owed) = table.after.get_key_value(self.key.as_slice())?;
        match &mut table.last {
            Some((last, _)) if last.len() == key.len() => last.copy_from_slice(key),
            last => *last = Some((key.clone(), *owed)),
        }
        if let Some((_, last)) = &mut table.last {
            *last = *owed;
        }
        Some(*owed)
    }

    fn remember(&mut self, formula: Formula, letter: &Letter, after: Owed) {
        if !self.tables.contains_key(&formula) {
            let now = self.reads_now(formula);
            self.tables.insert(formula, Table { now, after: HashMap::new(), last: None });
        }
        let table = self.tables.get_mut(&formula).expect("it was made if it was missing");
        let key = table.now.iter().map(|(word, bits)| letter.word(*word) & bits).collect();
        table.after.insert(key, after);
        self.remembered += 1;
    }

    /// The atoms that decide one step: those not below `X` or `N`.
    fn reads_now(&self, formula: Formula) -> Box<[(usize, u64)]> {
        let mut words: Vec<(usize, u64)> = Vec::new();
        let mut seen = std::collections::HashSet::from([formula]);
        let mut open = vec![formula];
        while let Some(top) = open.pop() {
            let node = self.normal.formulas.node(top);
            if let Node::Atom(atom) = node {
                let (word, bit) = (atom.index() / 64, 1 << (atom.index() % 64));
                match words.iter_mut().find(|(at, _)| *at == word) {
                    Some((_, bits)) => *bits |= bit,
                    None => words.push((word, bit)),
                }
            } else if !under_next(node) {
                open.extend(node.children().iter().filter(|child| seen.insert(**child)));
            }
        }
        words.into()
    }

    /// The verdict while the run goes on. It is never wrong; that a formula is decided is not always found out.
    pub fn standing(&self, owed: Owed) -> Standing {
        match (self.normal.formulas.node(owed.rest), owed.end) {
            (Node::True, true) => Standing::Satisfied,
            (Node::False, false) => Standing::Violated,
            _ => Standing::Undecided,
        }
    }

    /// The verdict if the run ends now.
    pub fn ending(&self, owed: Owed) -> Ending {
        match (self.standing(owed), owed.end) {
            (Standing::Satisfied, _) => Ending::Satisfied,
            (Standing::Violated, _) => Ending::Violated,
            (Standing::Undecided, true) => Ending::PresumablySatisfied,
            (Standing::Undecided, false) => Ending::PresumablyViolated,
        }
    }

    /// What is owed as one formula: its value on what is left of the run, nothing included, is the value of the whole.
    pub fn residual(&mut self, owed: Owed) -> Formula {
        if self.normal.at_end(owed.rest) == owed.end {
            return owed.rest;
        }
        let formulas = &mut self.normal.formulas;
        if owed.end {
            // Empty, or …
            let falsity = formulas.falsity();
            let empty = formulas.unary(Unary::Globally, falsity);
            match formulas.node(owed.rest) {
                Node::False => empty,
                _ => formulas.or([empty, owed.rest]),
            }
        } else {
            // NonEmpty, and …
            let truth = formulas.truth();
            let more = formulas.unary(Unary::Finally, truth);
            match formulas.node(owed.rest) {
                Node::True => more,
                _ => formulas.and([more, owed.rest]),
            }
        }
    }

    /// The distinct subformulas of what is owed.
    pub fn size(&self, owed: Owed) -> usize {
        self.normal.formulas.subformulas(owed.rest).len()
    }

    /// The atoms that what is owed still reads.
    pub fn atoms_of(&self, owed: Owed) -> Vec<AtomId> {
        self.normal.formulas.atoms_of(owed.rest)
    }

    /// How much is owed.
    pub fn debt(&mut self, owed: Owed) -> Debt {
        match self.standing(owed) {
            _ if owed.end => Debt { steps: 0, obligations: 0 },
            Standing::Violated => Debt { steps: u32::MAX, obligations: u32::MAX },
            _ => {
                let debt = self.debt_of(owed.rest);
                Debt { steps: debt.steps.max(1), obligations: debt.obligations.max(1) }
            }
        }
    }

    /// How far a formula is from a trace of which it is true, of one position at least: no shorter one exists.
    fn debt_of(&mut self, formula: Formula) -> Debt {
        for index in self.debts.len()..=formula.index() {
            let of = |f: &Formula| self.debts[f.index()];
            let step = |debt: Debt, more: u32| Debt { steps: debt.steps.saturating_add(more), ..debt };
            let all = |parts: &[Formula]| {
                parts.iter().map(of).fold(Debt { steps: 1, obligations: 0 }, |a, b| Debt {
                    steps: a.steps.max(b.steps),
                    obligations: a.obligations.saturating_add(b.obligations),
                })
            };
            let debt = match self.normal.formulas.node_at(index) {
                Node::False => Debt { steps: u32::MAX, obligations: u32::MAX },
                Node::Atom(_) => Debt { steps: 1, obligations: 1 },
                Node::And(parts) => all(parts),
                Node::Or(parts) => {
                    let few = parts.iter().map(of).min();
                    few.expect("a disjunction has operands")
                }
                Node::Unary(Unary::Next, a) => step(of(a), 1),
                Node::Unary(Unary::Finally, a) => of(a),
                // Nothing needs to happen for these where the trace is short.
                Node::Unary(Unary::Globally, a) => Debt { obligations: 0, ..of(a) },
                Node::Binary(Binary::Until, [_, b]) => of(b),
                Node::Binary(Binary::StrongRelease, both) => all(both),
                Node::Binary(Binary::WeakUntil, [a, b]) => Debt { steps: of(a).steps.min(of(b).steps), obligations: 0 },
                Node::Binary(Binary::Release, [_, b]) => Debt { obligations: 0, ..of(b) },
                _ => Debt { steps: 1, obligations: 0 },
            };
            self.debts.push(debt);
        }
        self.debts[formula.index()]
    }

    /// Whether it is time for [`Progression::keep`]: a run that owes something new at every step fills the arena.
    pub fn is_crowded(&self) -> bool {
        self.normal.formulas.len() + self.normal.operands > CROWDED
    }

    /// Forgets all but what is given; every other [`Owed`] and formula of this arena has no meaning any more. Atoms keep
    /// their numbers.
    pub fn keep<'a>(&mut self, live: impl IntoIterator<Item = &'a mut Owed>) {
        let old = std::mem::take(&mut self.normal);
        for (_, atom) in old.formulas.atoms() {
            self.normal.formulas.atom_id(atom.clone());
        }
        for owed in live {
            owed.rest = self.normal.import(&old.formulas, owed.rest);
        }
        self.tables.clear();
        self.remembered = 0;
        self.debts.clear();
    }
}

fn under_next(node: &Node) -> bool {
    matches!(node, Node::Unary(Unary::Next | Unary::WeakNext, _))
}

/// The value of a formula on the empty trace.
fn on_empty(formulas: &Formulas, formula: Formula) -> bool {
    let mut values: HashMap<Formula, bool> = HashMap::new();
    for part in formulas.subformulas(formula) {
        let of = |f: &Formula| values[f];
        let value = match formulas.node(part) {
            Node::True => true,
            Node::Not(a) => !of(a),
            Node::And(all) => all.iter().all(of),
            Node::Or(all) => all.iter().any(of),
            Node::Unary(operator, _) => matches!(operator, Unary::Globally | Unary::WeakNext),
            Node::Binary(Binary::Implies, [a, b]) => !of(a) || of(b),
            Node::Binary(Binary::Iff, [a, b]) => of(a) == of(b),
            Node::Binary(operator, _) => matches!(operator, Binary::WeakUntil | Binary::Release),
            _ => false,
        };
        values.insert(part, value);
    }
    values[&formula]
}

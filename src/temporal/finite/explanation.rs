//! Why a formula is violated, as a person reads it: which part has which value at which position.

use std::fmt;

use super::super::formula::{Binary, Formula, Formulas, Node, Unary};
use super::bits::bit;
use super::sweep::{Columns, Subformulas};

/// How many reasons are given; what comes after them is counted.
const REASONS: usize = 16;

/// What is so of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// It holds at this position.
    Holds(usize),
    /// It does not hold at this position.
    Fails(usize),
    /// It holds from this position to the end.
    AlwaysFrom(usize),
    /// It holds nowhere from this position to the end.
    NeverFrom(usize),
    /// It holds nowhere from the first to the second of these positions, both included.
    NeverWithin(usize, usize),
    /// It holds everywhere from the first to the second of these positions, both included.
    AlwaysWithin(usize, usize),
    /// It holds everywhere from the beginning to this position.
    AlwaysTo(usize),
    /// It holds nowhere from the beginning to this position.
    NeverTo(usize),
    /// It speaks of the position after this one, which is the last.
    NoNext(usize),
    /// It speaks of the position before the first.
    NoPrevious,
    /// The trace is empty.
    NoRecord,
}

/// One fact about the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// The formula it is about.
    pub formula: Formula,
    /// What is so of it.
    pub claim: Fact,
}

/// The facts that together make a formula false at position 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// In the order of the formula's text.
    pub reasons: Vec<Reason>,
    /// Whether there are more facts than are given.
    pub shortened: bool,
}

impl Explanation {
    pub(super) fn of_violation(
        subformulas: &Subformulas<'_>,
        table: &Columns<'_>,
        formula: Formula,
        length: usize,
    ) -> Self {
        let mut finder = Finder { subformulas, table, length, reasons: Vec::new(), open: Vec::new() };
        finder.open.push((formula, 0, false));
        while let Some((formula, position, value)) = finder.open.pop() {
            if finder.reasons.len() >= REASONS {
                return Self { reasons: finder.reasons, shortened: true };
            }
            finder.explain(formula, position, value);
        }
        Self { reasons: finder.reasons, shortened: false }
    }

    /// The facts as one sentence without a full stop: "at 17 `a` holds, and from there on `b` never holds".
    pub fn text(&self, formulas: &Formulas) -> String {
        let mut parts = Vec::new();
        let mut at = None;
        for reason in &self.reasons {
            parts.push(ReasonText { reason, formulas, at }.to_string());
            at = reason.claim.position();
        }
        if self.shortened {
            parts.push("more".to_owned());
        }
        parts.join(", and ")
    }
}

impl Reason {
    /// The fact in words.
    pub fn text(&self, formulas: &Formulas) -> String {
        ReasonText { reason: self, formulas, at: None }.to_string()
    }
}

impl Fact {
    /// The position it speaks of first.
    pub fn position(self) -> Option<usize> {
        match self {
            Self::Holds(at) | Self::Fails(at) | Self::AlwaysFrom(at) | Self::NeverFrom(at) => Some(at),
            Self::NeverWithin(from, _) | Self::AlwaysWithin(from, _) => Some(from),
            Self::AlwaysTo(at) | Self::NeverTo(at) | Self::NoNext(at) => Some(at),
            Self::NoPrevious => Some(0),
            Self::NoRecord => None,
        }
    }
}

/// A reason, told after one that spoke of the position `at`.
struct ReasonText<'a> {
    reason: &'a Reason,
    formulas: &'a Formulas,
    at: Option<usize>,
}

impl fmt::Display for ReasonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.formulas.text(self.reason.formula);
        let place = |at: usize| if self.at == Some(at) { "there".to_owned() } else { format!("at {at}") };
        let since = |at: usize| if self.at == Some(at) { "there".to_owned() } else { at.to_string() };
        match self.reason.claim {
            Fact::Holds(at) => write!(f, "{} `{text}` holds", place(at)),
            Fact::Fails(at) => write!(f, "{} `{text}` does not hold", place(at)),
            Fact::AlwaysFrom(at) => write!(f, "from {} on `{text}` always holds", since(at)),
            Fact::NeverFrom(at) => write!(f, "from {} on `{text}` never holds", since(at)),
            Fact::NeverWithin(from, to) => write!(f, "from {} to {to} `{text}` does not hold", since(from)),
            Fact::AlwaysWithin(from, to) => write!(f, "from {} to {to} `{text}` holds", since(from)),
            Fact::AlwaysTo(at) => write!(f, "up to {at} `{text}` always holds"),
            Fact::NeverTo(at) => write!(f, "up to {at} `{text}` never holds"),
            Fact::NoNext(at) => write!(f, "{at} is the last position, where `{text}` speaks of the next"),
            Fact::NoPrevious => write!(f, "0 is the first position, where `{text}` speaks of the one before"),
            Fact::NoRecord => write!(f, "the trace is empty, where `{text}` does not hold"),
        }
    }
}

struct Finder<'a> {
    subformulas: &'a Subformulas<'a>,
    table: &'a Columns<'a>,
    length: usize,
    reasons: Vec<Reason>,
    /// What is still to be explained: why a formula has a value at a position. The last comes first.
    open: Vec<(Formula, usize, bool)>,
}

impl Finder<'_> {
    fn value(&self, formula: Formula, position: usize) -> bool {
        bit(self.table.words(formula), position)
    }

    /// The first position from `from` on, and before the end, where a formula has a value.
    fn first(&self, formula: Formula, value: bool, from: usize) -> Option<usize> {
        let words = self.table.words(formula);
        let mut at = from;
        while at < self.length {
            let word = if value { words[at / 64] } else { !words[at / 64] };
            let ahead = (word << (at % 64)).leading_zeros() as usize;
            if ahead < 64 {
                return Some(at + ahead).filter(|at| *at < self.length);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// The last position up to `to` where a formula has a value.
    fn last(&self, formula: Formula, value: bool, to: usize) -> Option<usize> {
        (0..=to).rev().find(|at| self.value(formula, *at) == value)
    }

    fn give(&mut self, formula: Formula, claim: Fact) {
        self.reasons.push(Reason { formula, claim });
    }

    /// Says that a formula has nowhere held from one position to before another, where there is one between.
    fn not_yet(&mut self, formula: Formula, from: usize, before: usize) {
        match before - from {
            0 => {}
            1 => self.open.push((formula, from, false)),
            _ => self.give(formula, Fact::NeverWithin(from, before - 1)),
        }
    }

    /// Says that a formula has held from one position to before another, where there is one between.
    fn held(&mut self, formula: Formula, from: usize, before: usize) {
        match before - from {
            0 => {}
            1 => self.open.push((formula, from, true)),
            _ => self.give(formula, Fact::AlwaysWithin(from, before - 1)),
        }
    }

    fn explain(&mut self, formula: Formula, at: usize, value: bool) {
        if at >= self.length {
            return self.give(formula, Fact::NoRecord);
        }
        let formulas = self.subformulas.formulas;
        match formulas.node(formula) {
            Node::Not(a) => self.open.push((*a, at, !value)),
            Node::And(all) => self.chain(all, at, value, true),
            Node::Or(all) => self.chain(all, at, value, false),
            Node::Unary(operator, a) => self.unary(formula, *operator, *a, at, value),
            Node::Binary(Binary::Implies, [l, r]) => match (value, self.value(*l, at)) {
                (false, _) => self.open.extend([(*r, at, false), (*l, at, true)]),
                (true, false) => self.open.push((*l, at, false)),
                (true, true) => self.open.push((*r, at, true)),
            },
            Node::Binary(Binary::Iff, [l, r]) => {
                let goals = [(*r, at, self.value(*r, at)), (*l, at, self.value(*l, at))];
                self.open.extend(goals);
            }
            Node::Binary(operator, [l, r]) if value => self.binary_true(*operator, *l, *r, at),
            Node::Binary(operator, [l, r]) => self.binary_false(*operator, *l, *r, at),
            _ => self.give(formula, if value { Fact::Holds(at) } else { Fact::Fails(at) }),
        }
    }

    /// `&` (`all` true) and `|` (`all` false): each part where all are needed, else the first that decides.
    fn chain(&mut self, parts: &[Formula], at: usize, value: bool, all: bool) {
        if value == all {
            self.open.extend(parts.iter().rev().map(|part| (*part, at, value)));
        } else {
            let part = parts.iter().find(|part| self.value(**part, at) == value);
            self.open.extend(part.map(|part| (*part, at, value)));
        }
    }

    fn unary(&mut self, formula: Formula, operator: Unary, a: Formula, at: usize, value: bool) {
        match operator {
            Unary::Next | Unary::WeakNext if at + 1 == self.length => self.give(formula, Fact::NoNext(at)),
            Unary::Next | Unary::WeakNext => self.open.push((a, at + 1, value)),
            Unary::Yesterday if at == 0 => self.give(formula, Fact::NoPrevious),
            Unary::Yesterday => self.open.push((a, at - 1, value)),
            Unary::Globally if value => self.give(a, Fact::AlwaysFrom(at)),
            Unary::Finally if !value => {
                self.give(a, Fact::NeverFrom(at));
                // What a temporal formula says at the last position is the shortest hint why it never holds.
                if !self.is_state(a) {
                    self.open.push((a, self.length - 1, false));
                }
            }
            Unary::Globally | Unary::Finally => {
                let found = self.first(a, value, at).expect("some position makes it so");
                self.open.push((a, found, value));
            }
            Unary::Historically if value => self.give(a, Fact::AlwaysTo(at)),
            Unary::Once if !value => self.give(a, Fact::NeverTo(at)),
            _ => {
                let found = self.last(a, value, at).expect("some position makes it so");
                self.open.push((a, found, value));
            }
        }
    }

    fn is_state(&self, formula: Formula) -> bool {
        let is_temporal = |node: &Node| match node {
            Node::Unary(..) => true,
            Node::Binary(operator, _) => !matches!(operator, Binary::Implies | Binary::Iff),
            _ => false,
        };
        let formulas = self.subformulas.formulas;
        !formulas.subformulas(formula).into_iter().any(|part| is_temporal(formulas.node(part)))
    }

    fn binary_true(&mut self, operator: Binary, l: Formula, r: Formula, at: usize) {
        match operator {
            Binary::WeakUntil => match (self.first(r, true, at), self.first(l, false, at)) {
                (Some(found), gap) if gap.is_none_or(|gap| found <= gap) => {
                    self.held(l, at, found);
                    self.open.push((r, found, true));
                }
                _ => self.give(l, Fact::AlwaysFrom(at)),
            },
            Binary::Release => match (self.first(l, true, at), self.first(r, false, at)) {
                (Some(found), gap) if gap.is_none_or(|gap| found < gap) => {
                    self.held(r, at, found + 1);
                    self.open.push((l, found, true));
                }
                _ => self.give(r, Fact::AlwaysFrom(at)),
            },
            Binary::Since => {
                let found = self.last(r, true, at).expect("it was true");
                self.held(l, found + 1, at + 1);
                self.open.push((r, found, true));
            }
            Binary::StrongRelease => {
                let found = self.first(l, true, at).expect("it comes");
                self.held(r, at, found + 1);
                self.open.push((l, found, true));
            }
            _ => {
                let found = self.first(r, true, at).expect("it comes");
                self.held(l, at, found);
                self.open.push((r, found, true));
            }
        }
    }

    fn binary_false(&mut self, operator: Binary, l: Formula, r: Formula, at: usize) {
        match operator {
            Binary::Release | Binary::StrongRelease => match (self.first(r, false, at), self.first(l, true, at)) {
                (Some(gap), comes) if comes.is_none_or(|comes| comes >= gap) => {
                    self.not_yet(l, at, gap);
                    self.open.push((r, gap, false));
                }
                _ => self.give(l, Fact::NeverFrom(at)),
            },
            Binary::Since => match self.last(r, true, at) {
                None => self.give(r, Fact::NeverTo(at)),
                Some(was) => {
                    let gap = self.last(l, false, at).filter(|gap| *gap > was).expect("the left has not held since");
                    self.open.extend([(l, gap, false), (r, was, true)]);
                }
            },
            // Without a gap on the left it is the right that never comes.
            _ => match self.first(l, false, at) {
                Some(gap) => {
                    self.not_yet(r, at, gap + 1);
                    self.open.push((l, gap, false));
                }
                None => self.give(r, Fact::NeverFrom(at)),
            },
        }
    }
}

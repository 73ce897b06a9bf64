//! Explains a violation: facts about subformulas at positions that together make the formula false.

use std::fmt;

use super::super::formula::{Binary, Formula, Formulas, Node, Unary};
use super::bits::bit;
use super::sweep::{Columns, Subformulas};

/// Maximum number of reasons; longer explanations are not readable.
const MAX_REASONS: usize = 16;

/// A fact about the values of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// The formula holds at this position.
    Holds(usize),
    /// The formula does not hold at this position.
    Fails(usize),
    /// The formula holds at all positions from this one to the end.
    AlwaysFrom(usize),
    /// The formula holds at no position from this one to the end.
    NeverFrom(usize),
    /// The formula holds at no position from the first to the second of these, both included.
    NeverWithin(usize, usize),
    /// The formula holds at all positions from the first to the second of these, both included.
    AlwaysWithin(usize, usize),
    /// The formula holds at all positions from the start to this one.
    AlwaysTo(usize),
    /// The formula holds at no position from the start to this one.
    NeverTo(usize),
    /// The formula refers to the position after this one, which is the last.
    NoNext(usize),
    /// The formula refers to the position before the first.
    NoPrevious,
    /// The trace is empty, so no position makes the formula true.
    NoRecord,
}

/// A fact about the trace that contributes to a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// The formula that the fact is about, a part of the explained one.
    pub formula: Formula,
    /// What is true of the formula, and at which positions.
    pub fact: Fact,
}

/// The facts that together make a formula false at position 0, at most 16. Positions are those of records, from 0.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Fact, Formulas, Labels, check_trace};
///
/// let mut formulas = Formulas::new();
/// let rule = formulas.parse("G !error")?;
/// let mut labels = Labels::new(&formulas, &[rule]);
/// for error in [false, true] {
///     labels.push_values(|_| error);
/// }
/// let why = check_trace(&formulas, rule, &labels)?.explanation.expect("a violation");
/// assert_eq!(why.text(&formulas), "at 1 `error` holds");
/// assert_eq!(why.reasons[0].fact, Fact::Holds(1));
/// assert_eq!(why.reasons[0].fact.position(), Some(1));
/// assert_eq!(why.reasons[0].text(&formulas), "at 1 `error` holds");
/// assert!(!why.shortened);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The reasons, in the order of the text of the formula.
    pub reasons: Vec<Reason>,
    /// Whether further reasons were left out.
    pub shortened: bool,
}

impl Explanation {
    pub(super) fn of_violation(
        subformulas: &Subformulas<'_>,
        table: &Columns<'_>,
        formula: Formula,
        length: usize,
    ) -> Self {
        let mut finder = ReasonFinder { subformulas, table, length, reasons: Vec::new(), open: Vec::new() };
        finder.open.push((formula, 0, false));
        while let Some((formula, position, value)) = finder.open.pop() {
            if finder.reasons.len() >= MAX_REASONS {
                return Self { reasons: finder.reasons, shortened: true };
            }
            finder.explain(formula, position, value);
        }
        Self { reasons: finder.reasons, shortened: false }
    }

    /// The reasons as one sentence without a full stop: "at 17 `a` holds, and from there on `b` never holds".
    pub fn text(&self, formulas: &Formulas) -> String {
        let mut parts = Vec::new();
        let mut at = None;
        for reason in &self.reasons {
            parts.push(ReasonText { reason, formulas, at }.to_string());
            at = reason.fact.position();
        }
        if self.shortened {
            parts.push("more".to_owned());
        }
        parts.join(", and ")
    }
}

impl Reason {
    /// The reason in English, as a clause without a full stop.
    pub fn text(&self, formulas: &Formulas) -> String {
        ReasonText { reason: self, formulas, at: None }.to_string()
    }
}

impl Fact {
    /// The first position that the fact refers to; `None` for the empty trace.
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

/// A reason to print. A preceding reason about position `at` allows "there" instead of its number.
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
        match self.reason.fact {
            Fact::Holds(at) => write!(f, "{} `{text}` holds", place(at)),
            Fact::Fails(at) => write!(f, "{} `{text}` does not hold", place(at)),
            Fact::AlwaysFrom(at) => write!(f, "from {} on `{text}` always holds", since(at)),
            Fact::NeverFrom(at) => write!(f, "from {} on `{text}` never holds", since(at)),
            Fact::NeverWithin(from, to) => write!(f, "from {} to {to} `{text}` does not hold", since(from)),
            Fact::AlwaysWithin(from, to) => write!(f, "from {} to {to} `{text}` holds", since(from)),
            Fact::AlwaysTo(at) => write!(f, "up to {at} `{text}` always holds"),
            Fact::NeverTo(at) => write!(f, "up to {at} `{text}` never holds"),
            Fact::NoNext(at) => write!(f, "{at} is the last position, and `{text}` refers to the next"),
            Fact::NoPrevious => write!(f, "0 is the first position, and `{text}` refers to the one before"),
            Fact::NoRecord => write!(f, "the trace is empty, so `{text}` does not hold"),
        }
    }
}

struct ReasonFinder<'a> {
    subformulas: &'a Subformulas<'a>,
    table: &'a Columns<'a>,
    length: usize,
    reasons: Vec<Reason>,
    /// A stack of open questions: why the formula has the value at the position.
    open: Vec<(Formula, usize, bool)>,
}

impl ReasonFinder<'_> {
    fn value(&self, formula: Formula, position: usize) -> bool {
        bit(self.table.words(formula), position)
    }

    /// The first position in `from..n` at which the formula has the value.
    fn first_position(&self, formula: Formula, value: bool, from: usize) -> Option<usize> {
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

    /// The last position in `0..=to` at which the formula has the value.
    fn last_position(&self, formula: Formula, value: bool, to: usize) -> Option<usize> {
        (0..=to).rev().find(|at| self.value(formula, *at) == value)
    }

    fn add_reason(&mut self, formula: Formula, fact: Fact) {
        self.reasons.push(Reason { formula, fact });
    }

    /// Adds the reason that the formula is false at all positions `from..before`, if there are any.
    fn add_never_within(&mut self, formula: Formula, from: usize, before: usize) {
        match before - from {
            0 => {}
            1 => self.open.push((formula, from, false)),
            _ => self.add_reason(formula, Fact::NeverWithin(from, before - 1)),
        }
    }

    /// Adds the reason that the formula is true at all positions `from..before`, if there are any.
    fn add_always_within(&mut self, formula: Formula, from: usize, before: usize) {
        match before - from {
            0 => {}
            1 => self.open.push((formula, from, true)),
            _ => self.add_reason(formula, Fact::AlwaysWithin(from, before - 1)),
        }
    }

    fn explain(&mut self, formula: Formula, at: usize, value: bool) {
        if at >= self.length {
            // Only on an empty trace: questions about the position after the last record become `NoNext`.
            return self.add_reason(formula, Fact::NoRecord);
        }
        let formulas = self.subformulas.formulas;
        match formulas.node(formula) {
            Node::Not(a) => self.open.push((*a, at, !value)),
            Node::And(all) => self.chain(all, at, value, true),
            Node::Or(all) => self.chain(all, at, value, false),
            Node::Unary(operator, a) => self.unary(formula, *operator, *a, at, value),
            Node::Binary(Binary::Implies, [l, r]) => match (value, self.value(*l, at)) {
                // The stack returns the last entry first, so that reasons come in the order of the text.
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
            _ => self.add_reason(formula, if value { Fact::Holds(at) } else { Fact::Fails(at) }),
        }
    }

    /// Explains `&` (`all` true) and `|` (`all` false): by each operand if all are needed, else by the first that decides.
    fn chain(&mut self, parts: &[Formula], at: usize, value: bool, all: bool) {
        if value == all {
            self.open.extend(parts.iter().rev().map(|part| (*part, at, value)));
        } else {
            // One operand is enough; the first one keeps the explanation in the order of the text.
            let part = parts.iter().find(|part| self.value(**part, at) == value);
            self.open.extend(part.map(|part| (*part, at, value)));
        }
    }

    fn unary(&mut self, formula: Formula, operator: Unary, a: Formula, at: usize, value: bool) {
        match operator {
            Unary::Next | Unary::WeakNext if at + 1 == self.length => self.add_reason(formula, Fact::NoNext(at)),
            Unary::Next | Unary::WeakNext => self.open.push((a, at + 1, value)),
            Unary::Yesterday if at == 0 => self.add_reason(formula, Fact::NoPrevious),
            Unary::Yesterday => self.open.push((a, at - 1, value)),
            Unary::Globally if value => self.add_reason(a, Fact::AlwaysFrom(at)),
            Unary::Finally if !value => {
                self.add_reason(a, Fact::NeverFrom(at));
                // For a temporal operand, its value at the last position is usually the shortest explanation.
                if !self.is_state_formula(a) {
                    self.open.push((a, self.length - 1, false));
                }
            }
            Unary::Globally | Unary::Finally => {
                let found = self.first_position(a, value, at).expect("the value implies such a position");
                self.open.push((a, found, value));
            }
            Unary::Historically if value => self.add_reason(a, Fact::AlwaysTo(at)),
            Unary::Once if !value => self.add_reason(a, Fact::NeverTo(at)),
            _ => {
                let found = self.last_position(a, value, at).expect("the value implies such a position");
                self.open.push((a, found, value));
            }
        }
    }

    fn is_state_formula(&self, formula: Formula) -> bool {
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
            Binary::WeakUntil => match (self.first_position(r, true, at), self.first_position(l, false, at)) {
                // Fulfilled by `r`, before or when `l` fails first; else `l` holds to the end.
                (Some(found), failure) if failure.is_none_or(|failure| found <= failure) => {
                    self.add_always_within(l, at, found);
                    self.open.push((r, found, true));
                }
                _ => self.add_reason(l, Fact::AlwaysFrom(at)),
            },
            Binary::Release => match (self.first_position(l, true, at), self.first_position(r, false, at)) {
                (Some(found), failure) if failure.is_none_or(|failure| found < failure) => {
                    self.add_always_within(r, at, found + 1);
                    self.open.push((l, found, true));
                }
                _ => self.add_reason(r, Fact::AlwaysFrom(at)),
            },
            Binary::Since => {
                let found = self.last_position(r, true, at).expect("`S` holds");
                self.add_always_within(l, found + 1, at + 1);
                self.open.push((r, found, true));
            }
            Binary::StrongRelease => {
                let found = self.first_position(l, true, at).expect("the operator holds");
                self.add_always_within(r, at, found + 1);
                self.open.push((l, found, true));
            }
            _ => {
                let found = self.first_position(r, true, at).expect("the operator holds");
                self.add_always_within(l, at, found);
                self.open.push((r, found, true));
            }
        }
    }

    fn binary_false(&mut self, operator: Binary, l: Formula, r: Formula, at: usize) {
        match operator {
            Binary::Release | Binary::StrongRelease => {
                match (self.first_position(r, false, at), self.first_position(l, true, at)) {
                    (Some(failure), comes) if comes.is_none_or(|comes| comes >= failure) => {
                        self.add_never_within(l, at, failure);
                        self.open.push((r, failure, false));
                    }
                    _ => self.add_reason(l, Fact::NeverFrom(at)),
                }
            }
            Binary::Since => match self.last_position(r, true, at) {
                None => self.add_reason(r, Fact::NeverTo(at)),
                Some(was) => {
                    let failure = self
                        .last_position(l, false, at)
                        .filter(|failure| *failure > was)
                        .expect("`S` fails after the right side held");
                    self.open.extend([(l, failure, false), (r, was, true)]);
                }
            },
            // If the left side never fails, the right side never holds.
            _ => match self.first_position(l, false, at) {
                Some(failure) => {
                    self.add_never_within(r, at, failure + 1);
                    self.open.push((l, failure, false));
                }
                None => self.add_reason(r, Fact::NeverFrom(at)),
            },
        }
    }
}

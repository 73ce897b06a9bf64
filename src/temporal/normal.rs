//! Formulas in normal form: negation at atoms only, `&` and `|` flattened, sorted, without what the rest makes redundant.
//!
//! Every law here keeps the value on every trace of at least one position, finite or infinite. The empty trace is not
//! among them, and need not be: `X N G F U W R M` read their operands at positions only, so what a formula is worth on
//! the empty trace is one truth value, which [`super::progression`] carries beside it. (On it `q & F q` and `q` differ
//! where `q` is `!a`.)

use std::collections::HashMap;

use super::formula::{Binary, Formula, Formulas, Node, Unary};

/// Above this many operands of one `&` or `|`, they are no longer compared in pairs.
const COMPARED: usize = 48;

/// How often the operands of one `&` or `|` are gone through again after one of them became simpler.
const ROUNDS: usize = 8;

/// How deep a formula is simplified by what is known beside it.
const GIVEN: usize = 16;

/// How many answers to that are kept.
const KEPT: usize = 1 << 16;

/// `&` or `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Chain {
    And,
    Or,
}

impl Chain {
    /// The constant that decides the whole: `false` for `&`.
    fn deciding(self) -> bool {
        self == Self::Or
    }
}

/// An arena all of whose formulas are in normal form.
#[derive(Debug, Clone, Default)]
pub(super) struct Normal {
    pub(super) formulas: Formulas,
    negations: HashMap<Formula, Formula>,
    pub(super) implications: HashMap<(Formula, Formula), bool>,
    chains: HashMap<(Chain, Box<[Formula]>), Formula>,
    givens: HashMap<(Formula, Formula), Formula>,
    /// What each formula is worth on the empty trace, as far as it was asked.
    ends: Vec<bool>,
    /// How many operands the chains have together.
    pub(super) operands: usize,
}

impl Normal {
    /// The normal form of a formula of `source`, which uses future operators only.
    pub(super) fn import(&mut self, source: &Formulas, formula: Formula) -> Formula {
        let mut made: HashMap<Formula, Formula> = HashMap::new();
        for part in source.subformulas(formula) {
            let of = |f: &Formula| made[f];
            let normal = match source.node(part) {
                Node::True => self.formulas.truth(),
                Node::False => self.formulas.falsity(),
                Node::Atom(atom) => self.formulas.atomic(source.atom(*atom).clone()),
                Node::Not(a) => self.negation(of(a)),
                Node::And(all) => self.chain(Chain::And, all.iter().map(of).collect()),
                Node::Or(all) => self.chain(Chain::Or, all.iter().map(of).collect()),
                Node::Unary(operator, a) => self.unary(*operator, of(a)),
                Node::Binary(Binary::Implies, [a, b]) => {
                    let not_a = self.negation(of(a));
                    self.chain(Chain::Or, vec![not_a, of(b)])
                }
                Node::Binary(Binary::Iff, [a, b]) => {
                    let (a, b) = (of(a), of(b));
                    let (not_a, not_b) = (self.negation(a), self.negation(b));
                    let both = self.chain(Chain::And, vec![a, b]);
                    let neither = self.chain(Chain::And, vec![not_a, not_b]);
                    self.chain(Chain::Or, vec![both, neither])
                }
                Node::Binary(operator, [a, b]) => self.binary(*operator, of(a), of(b)),
                Node::Causal(..) | Node::Seen(_) => unreachable!("progression refuses causal operators"),
            };
            made.insert(part, normal);
        }
        made[&formula]
    }

    /// The value on the empty trace.
    pub(super) fn at_end(&mut self, formula: Formula) -> bool {
        for index in self.ends.len()..=formula.index() {
            let end = match self.formulas.node_at(index) {
                Node::True => true,
                Node::Not(a) => !self.ends[a.index()],
                Node::And(all) => all.iter().all(|a| self.ends[a.index()]),
                Node::Or(all) => all.iter().any(|a| self.ends[a.index()]),
                Node::Unary(operator, _) => matches!(operator, Unary::Globally | Unary::WeakNext),
                Node::Binary(operator, _) => matches!(operator, Binary::WeakUntil | Binary::Release),
                _ => false,
            };
            self.ends.push(end);
        }
        self.ends[formula.index()]
    }

    pub(super) fn is(&self, formula: Formula, value: bool) -> bool {
        matches!((self.formulas.node(formula), value), (Node::True, true) | (Node::False, false))
    }

    /// `!`, pushed down to the atoms.
    pub(super) fn negation(&mut self, formula: Formula) -> Formula {
        if let Some(known) = self.negations.get(&formula) {
            return *known;
        }
        let mut open = vec![formula];
        while let Some(top) = open.last().copied() {
            if self.negations.contains_key(&top) {
                open.pop();
                continue;
            }
            let node = self.formulas.node(top).clone();
            let missing = match node {
                Node::Not(_) => 0,
                _ => {
                    let before = open.len();
                    open.extend(node.children().iter().filter(|a| !self.negations.contains_key(a)));
                    open.len() - before
                }
            };
            if missing > 0 {
                continue;
            }
            open.pop();
            let of = |f: &Formula| self.negations[f];
            let negated = match &node {
                Node::True => self.formulas.falsity(),
                Node::False => self.formulas.truth(),
                Node::Not(a) => *a,
                Node::And(all) => {
                    let parts = all.iter().map(of).collect();
                    self.chain(Chain::Or, parts)
                }
                Node::Or(all) => {
                    let parts = all.iter().map(of).collect();
                    self.chain(Chain::And, parts)
                }
                Node::Unary(operator, a) => {
                    let dual = match operator {
                        Unary::Next => Unary::WeakNext,
                        Unary::WeakNext => Unary::Next,
                        Unary::Globally => Unary::Finally,
                        Unary::Finally => Unary::Globally,
                        _ => unreachable!("progression refuses operators of the past"),
                    };
                    let a = of(a);
                    self.unary(dual, a)
                }
                Node::Binary(operator, [a, b]) => {
                    let dual = match operator {
                        Binary::Until => Binary::Release,
                        Binary::Release => Binary::Until,
                        Binary::WeakUntil => Binary::StrongRelease,
                        Binary::StrongRelease => Binary::WeakUntil,
                        _ => unreachable!("the normal form has no arrows and no operators of the past"),
                    };
                    let (a, b) = (of(a), of(b));
                    self.binary(dual, a, b)
                }
                _ => self.formulas.not(top),
            };
            self.negations.insert(top, negated);
            self.negations.entry(negated).or_insert(top);
        }
        self.negations[&formula]
    }

    fn unary(&mut self, operator: Unary, a: Formula) -> Formula {
        match operator {
            Unary::Finally => self.finally(a),
            Unary::Globally => self.globally(a),
            // Either constant but the one that says something about the end of the trace.
            Unary::Next if self.is(a, false) => a,
            Unary::WeakNext if self.is(a, true) => a,
            _ => self.formulas.unary(operator, a),
        }
    }

    fn finally(&mut self, a: Formula) -> Formula {
        match self.formulas.node(a).clone() {
            Node::True | Node::False | Node::Unary(Unary::Finally, _) => a,
            Node::Or(all) => {
                let parts = all.iter().map(|a| self.finally(*a)).collect();
                self.chain(Chain::Or, parts)
            }
            Node::Unary(Unary::Next, b) => {
                let later = self.finally(b);
                self.unary(Unary::Next, later)
            }
            Node::Binary(Binary::Until, [_, b]) => self.finally(b),
            Node::Binary(Binary::StrongRelease, [b, c]) => {
                let both = self.chain(Chain::And, vec![b, c]);
                self.finally(both)
            }
            // F G F b = G F b
            Node::Unary(Unary::Globally, b) if matches!(self.formulas.node(b), Node::Unary(Unary::Finally, _)) => a,
            _ => self.formulas.unary(Unary::Finally, a),
        }
    }

    fn globally(&mut self, a: Formula) -> Formula {
        match self.formulas.node(a).clone() {
            Node::True | Node::False | Node::Unary(Unary::Globally, _) => a,
            Node::And(all) => {
                let parts = all.iter().map(|a| self.globally(*a)).collect();
                self.chain(Chain::And, parts)
            }
            Node::Unary(Unary::WeakNext, b) => {
                let later = self.globally(b);
                self.unary(Unary::WeakNext, later)
            }
            Node::Binary(Binary::Release, [_, b]) => self.globally(b),
            Node::Binary(Binary::WeakUntil, [b, c]) => {
                let either = self.chain(Chain::Or, vec![b, c]);
                self.globally(either)
            }
            // G F G b = F G b
            Node::Unary(Unary::Finally, b) if matches!(self.formulas.node(b), Node::Unary(Unary::Globally, _)) => a,
            _ => self.formulas.unary(Unary::Globally, a),
        }
    }

    fn binary(&mut self, operator: Binary, a: Formula, b: Formula) -> Formula {
        let weak = matches!(operator, Binary::WeakUntil | Binary::Release);
        if matches!(self.formulas.node(b), Node::Binary(o, [c, _]) if *o == operator && *c == a) {
            return b;
        }
        let constant = |of: Formula| match self.formulas.node(of) {
            Node::True => Some(true),
            Node::False => Some(false),
            _ => None,
        };
        let (left, right) = (constant(a), constant(b));
        if matches!(operator, Binary::Until | Binary::WeakUntil) {
            match (left, right) {
                (_, Some(true)) | (Some(false), _) => return b,
                (_, Some(false)) => return if weak { self.globally(a) } else { b },
                (Some(true), _) => return if weak { a } else { self.finally(b) },
                _ => {}
            }
            if self.implies(a, b) || self.kept_by(operator, a, b) {
                return b;
            }
            let not_a = self.negation(a);
            if self.implies(not_a, b) {
                return if weak { self.formulas.truth() } else { self.finally(b) };
            }
        } else {
            match (left, right) {
                (_, Some(false)) | (Some(true), _) => return b,
                (_, Some(true)) => return if weak { b } else { self.finally(a) },
                (Some(false), _) => return if weak { self.globally(b) } else { a },
                _ => {}
            }
            if self.implies(b, a) || self.kept_by(operator, a, b) {
                return b;
            }
            let not_b = self.negation(b);
            if self.implies(a, not_b) {
                return if weak { self.globally(b) } else { self.formulas.falsity() };
            }
        }
        self.formulas.binary(operator, a, b)
    }

    /// Right operands that the operator adds nothing to: `a U F c`, `a W G a`, `a R G c`, `a M F a`.
    fn kept_by(&self, operator: Binary, a: Formula, b: Formula) -> bool {
        matches!(
            (operator, self.formulas.node(b)),
            (Binary::Until, Node::Unary(Unary::Finally, _)) | (Binary::Release, Node::Unary(Unary::Globally, _))
        ) || matches!(
            (operator, self.formulas.node(b)),
            (Binary::WeakUntil, Node::Unary(Unary::Globally, c)) | (Binary::StrongRelease, Node::Unary(Unary::Finally, c))
                if *c == a
        )
    }

    /// `&` or `|` of any number.
    pub(super) fn chain(&mut self, chain: Chain, mut parts: Vec<Formula>) -> Formula {
        if let Some(decided) = self.flatten(chain, &mut parts) {
            return decided;
        }
        match parts.as_slice() {
            [] => return self.formulas.constant(!chain.deciding()),
            [one] => return *one,
            _ => {}
        }
        let key = (chain, parts.clone().into_boxed_slice());
        if let Some(known) = self.chains.get(&key) {
            return *known;
        }
        self.operands += parts.len();
        let made = self.simplify(chain, parts);
        self.chains.insert(key, made);
        made
    }

    /// Takes nested chains apart, sorts, drops repetitions and neutral constants; the constant where one decides.
    fn flatten(&self, chain: Chain, parts: &mut Vec<Formula>) -> Option<Formula> {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts.drain(..) {
            match (self.formulas.node(part), chain) {
                (Node::And(inner), Chain::And) | (Node::Or(inner), Chain::Or) => flat.extend_from_slice(inner),
                (Node::True, Chain::And) | (Node::False, Chain::Or) => {}
                (Node::False, Chain::And) | (Node::True, Chain::Or) => return Some(part),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        *parts = flat;
        None
    }

    fn simplify(&mut self, chain: Chain, mut parts: Vec<Formula>) -> Formula {
        for _ in 0..ROUNDS {
            if let Some(decided) = self.flatten(chain, &mut parts) {
                return decided;
            }
            if parts.len() > COMPARED {
                if self.complementary(&parts) {
                    return self.formulas.constant(chain.deciding());
                }
                break;
            }
            match self.absorb(chain, &mut parts) {
                Some(decided) => return decided,
                None if self.merge(chain, &mut parts) || self.in_context(chain, &mut parts) => {}
                None => break,
            }
        }
        if let Some(decided) = self.flatten(chain, &mut parts) {
            return decided;
        }
        match chain {
            Chain::And => self.formulas.and(parts),
            Chain::Or => self.formulas.or(parts),
        }
    }

    fn complementary(&mut self, parts: &[Formula]) -> bool {
        parts.iter().any(|part| {
            let negated = self.negation(*part);
            parts.binary_search(&negated).is_ok()
        })
    }

    /// Drops what another operand makes redundant; the constant where two of them decide.
    fn absorb(&mut self, chain: Chain, parts: &mut Vec<Formula>) -> Option<Formula> {
        let mut i = 0;
        'parts: while i < parts.len() {
            let part = parts[i];
            let negated = self.negation(part);
            let mut j = 0;
            while j < parts.len() {
                let other = parts[j];
                if i != j {
                    let (decides, redundant) = match chain {
                        Chain::And => (self.implies(other, negated), self.implies(other, part)),
                        Chain::Or => (self.implies(negated, other), self.implies(part, other)),
                    };
                    if decides {
                        return Some(self.formulas.constant(chain.deciding()));
                    }
                    if redundant {
                        parts.remove(i);
                        continue 'parts;
                    }
                }
                j += 1;
            }
            i += 1;
        }
        self.absorb_together(chain, parts);
        None
    }

    /// Drops what several others together make redundant: `F (a & X (F b | F c)) | F b | F c`, and its dual.
    fn absorb_together(&mut self, chain: Chain, parts: &mut Vec<Formula>) {
        let (lasting, next) = match chain {
            Chain::Or => (Unary::Finally, Unary::Next),
            Chain::And => (Unary::Globally, Unary::WeakNext),
        };
        let is = |normal: &Self, f: Formula, operator| matches!(normal.formulas.node(f), Node::Unary(o, _) if *o == operator);
        let mut i = 0;
        while i < parts.len() {
            let part = parts[i];
            let mut others = parts.clone();
            others.retain(|other| *other != part && is(self, *other, lasting));
            if others.len() > 1 && (is(self, part, lasting) || is(self, part, next)) {
                let redundant = match chain {
                    Chain::Or => {
                        let others = self.formulas.or(others);
                        self.implies(part, others)
                    }
                    Chain::And => {
                        let others = self.formulas.and(others);
                        self.implies(others, part)
                    }
                };
                if redundant {
                    parts.remove(i);
                    continue;
                }
            }
            i += 1;
        }
    }

    /// Two operands that are one: `a U b | G a = a W b`, `a W b & F b = a U b`, `a M b | G b = a R b`,
    /// `a R b & F a = a M b`, `a | X F a = F a`, `a & N G a = G a`.
    fn merge(&mut self, chain: Chain, parts: &mut Vec<Formula>) -> bool {
        for i in 0..parts.len() {
            let (merged, partner) = match (self.formulas.node(parts[i]), chain) {
                (Node::Binary(Binary::Until, [a, b]), Chain::Or) => {
                    (Some((Binary::WeakUntil, *a, *b)), self.position(parts, Unary::Globally, *a))
                }
                (Node::Binary(Binary::WeakUntil, [a, b]), Chain::And) => {
                    (Some((Binary::Until, *a, *b)), self.position(parts, Unary::Finally, *b))
                }
                (Node::Binary(Binary::StrongRelease, [a, b]), Chain::Or) => {
                    (Some((Binary::Release, *a, *b)), self.position(parts, Unary::Globally, *b))
                }
                (Node::Binary(Binary::Release, [a, b]), Chain::And) => {
                    (Some((Binary::StrongRelease, *a, *b)), self.position(parts, Unary::Finally, *a))
                }
                (Node::Unary(Unary::Next, later), Chain::Or) => (None, self.now(parts, Unary::Finally, *later)),
                (Node::Unary(Unary::WeakNext, later), Chain::And) => (None, self.now(parts, Unary::Globally, *later)),
                _ => continue,
            };
            let Some(partner) = partner else { continue };
            parts[i] = match (merged, self.formulas.node(parts[i])) {
                (Some((operator, a, b)), _) => self.binary(operator, a, b),
                (None, Node::Unary(_, later)) => *later,
                (None, _) => unreachable!("only the two nexts are merged into what follows them"),
            };
            parts.remove(partner);
            return true;
        }
        false
    }

    /// Where `operator a` is among the operands.
    fn position(&self, parts: &[Formula], operator: Unary, a: Formula) -> Option<usize> {
        parts
            .iter()
            .position(|part| matches!(self.formulas.node(*part), Node::Unary(o, b) if *o == operator && *b == a))
    }

    /// Where `a` is among the operands, `later` being `operator a`.
    fn now(&self, parts: &[Formula], operator: Unary, later: Formula) -> Option<usize> {
        match self.formulas.node(later) {
            Node::Unary(o, a) if *o == operator => parts.iter().position(|part| part == a),
            _ => None,
        }
    }

    /// Simplifies each operand that is a chain itself by what the others already say: `b | (a & (b | c)) = b | (a & c)`.
    fn in_context(&mut self, chain: Chain, parts: &mut [Formula]) -> bool {
        let mut changed = false;
        for i in 0..parts.len() {
            for j in 0..parts.len() {
                if i == j || !matches!(self.formulas.node(parts[i]), Node::And(_) | Node::Or(_)) {
                    continue;
                }
                let known = match chain {
                    Chain::And => parts[j],
                    Chain::Or => self.negation(parts[j]),
                };
                let simpler = self.given(parts[i], known, GIVEN);
                changed |= simpler != parts[i];
                parts[i] = simpler;
            }
        }
        changed
    }

    /// What is left of a formula where `known` is true.
    fn given(&mut self, formula: Formula, known: Formula, depth: usize) -> Formula {
        if self.implies(known, formula) {
            return self.formulas.truth();
        }
        let negated = self.negation(formula);
        if self.implies(known, negated) {
            return self.formulas.falsity();
        }
        let (chain, parts) = match self.formulas.node(formula) {
            Node::And(parts) if depth > 0 => (Chain::And, parts.clone()),
            Node::Or(parts) if depth > 0 => (Chain::Or, parts.clone()),
            _ => return formula,
        };
        if let Some(simpler) = self.givens.get(&(formula, known)) {
            return *simpler;
        }
        let simpler: Vec<Formula> = parts.iter().map(|part| self.given(*part, known, depth - 1)).collect();
        let simpler = if simpler == *parts { formula } else { self.chain(chain, simpler) };
        if self.givens.len() >= KEPT {
            self.givens.clear();
        }
        self.givens.insert((formula, known), simpler);
        simpler
    }
}

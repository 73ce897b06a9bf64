//! Formulas in normal form: negation at atoms only, `&` and `|` flattened, sorted, without what the rest makes redundant.
//!
//! Every law here preserves the value on every trace of at least one position, finite or infinite. The empty trace is
//! excluded (for `q` = `!a`, `q & F q` and `q` differ on it), and need not be covered: `X N G F U W R M` evaluate their
//! operands at positions only, so the value on the empty trace is one truth value, which [`super::progression`] keeps
//! next to the formula.

use std::collections::HashMap;

use super::formula::{Binary, Connective, Formula, Formulas, Node, Unary};

/// Maximum number of operands of one `&` or `|` that are compared in pairs, which takes quadratic time.
const MAX_COMPARED: usize = 48;

/// Maximum number of passes over the operands of one `&` or `|`; each simplification of an operand allows another pass.
const MAX_ROUNDS: usize = 8;

/// Maximum depth to which an operand is simplified in the context of its siblings.
const MAX_CONTEXT_DEPTH: usize = 16;

/// Maximum number of cached simplifications in context; the cache is cleared when it is full.
const MAX_CACHED: usize = 1 << 16;

/// An arena that contains only formulas in normal form, with caches of the operations on them.
#[derive(Debug, Clone, Default)]
pub(super) struct NormalForms {
    pub(super) formulas: Formulas,
    negations: HashMap<Formula, Formula>,
    pub(super) implications: HashMap<(Formula, Formula), bool>,
    connections: HashMap<(Connective, Box<[Formula]>), Formula>,
    contexts: HashMap<(Formula, Formula), Formula>,
    /// By formula, computed on demand up to the highest number requested.
    empty_trace_values: Vec<bool>,
    /// The total number of operands in `connections`, a measure of memory.
    pub(super) operands: usize,
}

impl NormalForms {
    /// The normal form of a formula of another arena, which must have future operators only.
    pub(super) fn normalize(&mut self, source: &Formulas, formula: Formula) -> Formula {
        let mut made: HashMap<Formula, Formula> = HashMap::new();
        for part in source.subformulas(formula) {
            let of = |f: &Formula| made[f];
            let normal = match source.node(part) {
                Node::True => self.formulas.truth(),
                Node::False => self.formulas.falsity(),
                Node::Atom(atom) => self.formulas.atomic(source.atom(*atom).clone()),
                Node::Not(a) => self.negate(of(a)),
                Node::And(all) => self.connect(Connective::And, all.iter().map(of).collect()),
                Node::Or(all) => self.connect(Connective::Or, all.iter().map(of).collect()),
                Node::Unary(operator, a) => self.unary(*operator, of(a)),
                Node::Binary(Binary::Implies, [a, b]) => {
                    let not_a = self.negate(of(a));
                    self.connect(Connective::Or, vec![not_a, of(b)])
                }
                Node::Binary(Binary::Iff, [a, b]) => {
                    let (a, b) = (of(a), of(b));
                    let (not_a, not_b) = (self.negate(a), self.negate(b));
                    let both = self.connect(Connective::And, vec![a, b]);
                    let neither = self.connect(Connective::And, vec![not_a, not_b]);
                    self.connect(Connective::Or, vec![both, neither])
                }
                Node::Binary(operator, [a, b]) => self.binary(*operator, of(a), of(b)),
                Node::Causal(..) | Node::Seen(_) => unreachable!("progression refuses causal operators"),
            };
            made.insert(part, normal);
        }
        made[&formula]
    }

    /// The value of a formula on the empty trace.
    pub(super) fn empty_trace_value(&mut self, formula: Formula) -> bool {
        // Ascending numbers are bottom-up, so the values of the operands are there.
        for index in self.empty_trace_values.len()..=formula.index() {
            let value = self.formulas.node_at(index).value_on_empty_trace(|f| self.empty_trace_values[f.index()]);
            self.empty_trace_values.push(value);
        }
        self.empty_trace_values[formula.index()]
    }

    pub(super) fn is_constant(&self, formula: Formula, value: bool) -> bool {
        matches!((self.formulas.node(formula), value), (Node::True, true) | (Node::False, false))
    }

    /// `!` pushed down to the atoms. Iterative, so that the depth of a formula costs no stack.
    pub(super) fn negate(&mut self, formula: Formula) -> Formula {
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
                    self.connect(Connective::Or, parts)
                }
                Node::Or(all) => {
                    let parts = all.iter().map(of).collect();
                    self.connect(Connective::And, parts)
                }
                Node::Unary(operator, a) => {
                    let dual = match operator {
                        Unary::Next => Unary::WeakNext,
                        Unary::WeakNext => Unary::Next,
                        Unary::Globally => Unary::Finally,
                        Unary::Finally => Unary::Globally,
                        _ => unreachable!("progression refuses past operators"),
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
                        _ => unreachable!("the normal form has no arrows and no past operators"),
                    };
                    let (a, b) = (of(a), of(b));
                    self.binary(dual, a, b)
                }
                _ => self.formulas.not(top),
            };
            self.negations.insert(top, negated);
            // Also the way back. Simplification can give several formulas the same negation; the first one is kept.
            self.negations.entry(negated).or_insert(top);
        }
        self.negations[&formula]
    }

    fn unary(&mut self, operator: Unary, a: Formula) -> Formula {
        match operator {
            Unary::Finally => self.finally(a),
            Unary::Globally => self.globally(a),
            // `X true` and `N false` do not simplify: they say whether the trace ends here.
            Unary::Next if self.is_constant(a, false) => a,
            Unary::WeakNext if self.is_constant(a, true) => a,
            _ => self.formulas.unary(operator, a),
        }
    }

    fn finally(&mut self, a: Formula) -> Formula {
        match self.formulas.node(a).clone() {
            Node::True | Node::False | Node::Unary(Unary::Finally, _) => a,
            // `F` distributes over `|` and moves below `X`, so that equal formulas meet in one form.
            Node::Or(all) => {
                let parts = all.iter().map(|a| self.finally(*a)).collect();
                self.connect(Connective::Or, parts)
            }
            Node::Unary(Unary::Next, b) => {
                let later = self.finally(b);
                self.unary(Unary::Next, later)
            }
            // F (b U c) = F c, because `c` alone satisfies `b U c`.
            Node::Binary(Binary::Until, [_, b]) => self.finally(b),
            Node::Binary(Binary::StrongRelease, [b, c]) => {
                let both = self.connect(Connective::And, vec![b, c]);
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
                self.connect(Connective::And, parts)
            }
            Node::Unary(Unary::WeakNext, b) => {
                let later = self.globally(b);
                self.unary(Unary::WeakNext, later)
            }
            // G (b R c) = G c, the dual of the law of `U`.
            Node::Binary(Binary::Release, [_, b]) => self.globally(b),
            Node::Binary(Binary::WeakUntil, [b, c]) => {
                let either = self.connect(Connective::Or, vec![b, c]);
                self.globally(either)
            }
            // G F G b = F G b
            Node::Unary(Unary::Finally, b) if matches!(self.formulas.node(b), Node::Unary(Unary::Globally, _)) => a,
            _ => self.formulas.unary(Unary::Globally, a),
        }
    }

    fn binary(&mut self, operator: Binary, a: Formula, b: Formula) -> Formula {
        let weak = matches!(operator, Binary::WeakUntil | Binary::Release);
        // a U (a U b) = a U b, and the same for `W`, `R`, `M`.
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
            if self.implies(a, b) || self.is_absorbed(operator, a, b) {
                return b;
            }
            // If `!a` implies `b`, `a` holds up to the first `b` in any case, so only whether `b` comes is left.
            let not_a = self.negate(a);
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
            if self.implies(b, a) || self.is_absorbed(operator, a, b) {
                return b;
            }
            // If `a` implies `!b`, both never hold together, so `b` is never released.
            let not_b = self.negate(b);
            if self.implies(a, not_b) {
                return if weak { self.globally(b) } else { self.formulas.falsity() };
            }
        }
        self.formulas.binary(operator, a, b)
    }

    /// Whether `a operator b` equals `b` by the shape of `b`: `a U F c`, `a W G a`, `a R G c`, `a M F a`.
    fn is_absorbed(&self, operator: Binary, a: Formula, b: Formula) -> bool {
        matches!(
            (operator, self.formulas.node(b)),
            (Binary::Until, Node::Unary(Unary::Finally, _)) | (Binary::Release, Node::Unary(Unary::Globally, _))
        ) || matches!(
            (operator, self.formulas.node(b)),
            (Binary::WeakUntil, Node::Unary(Unary::Globally, c)) | (Binary::StrongRelease, Node::Unary(Unary::Finally, c))
                if *c == a
        )
    }

    /// `&` or `|` of any number of operands, in normal form.
    pub(super) fn connect(&mut self, connective: Connective, mut parts: Vec<Formula>) -> Formula {
        if let Some(decided) = self.flatten(connective, &mut parts) {
            return decided;
        }
        match parts.as_slice() {
            [] => return self.formulas.constant(!connective.deciding_value()),
            [one] => return *one,
            _ => {}
        }
        // Flattened and sorted by now, so the order in which the operands were written does not matter.
        let key = (connective, parts.clone().into_boxed_slice());
        if let Some(known) = self.connections.get(&key) {
            return *known;
        }
        self.operands += parts.len();
        let made = self.simplify(connective, parts);
        self.connections.insert(key, made);
        made
    }

    /// Flattens nested operands of the same connective, sorts, and drops duplicates and neutral constants. Returns the
    /// constant if an operand decides the result.
    fn flatten(&self, connective: Connective, parts: &mut Vec<Formula>) -> Option<Formula> {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts.drain(..) {
            match (self.formulas.node(part), connective) {
                (Node::And(inner), Connective::And) | (Node::Or(inner), Connective::Or) => {
                    flat.extend_from_slice(inner);
                }
                (Node::True, Connective::And) | (Node::False, Connective::Or) => {}
                (Node::False, Connective::And) | (Node::True, Connective::Or) => return Some(part),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        *parts = flat;
        None
    }

    fn simplify(&mut self, connective: Connective, mut parts: Vec<Formula>) -> Formula {
        for _ in 0..MAX_ROUNDS {
            if let Some(decided) = self.flatten(connective, &mut parts) {
                return decided;
            }
            if parts.len() > MAX_COMPARED {
                // Too many operands to compare in pairs; contradictions are still found, by binary search.
                if self.has_complementary_pair(&parts) {
                    return self.formulas.constant(connective.deciding_value());
                }
                break;
            }
            match self.absorb(connective, &mut parts) {
                Some(decided) => return decided,
                // Each of the two returns whether it changed an operand; then another round can find more.
                None if self.merge(connective, &mut parts) || self.simplify_in_context(connective, &mut parts) => {}
                None => break,
            }
        }
        if let Some(decided) = self.flatten(connective, &mut parts) {
            return decided;
        }
        match connective {
            Connective::And => self.formulas.and(parts),
            Connective::Or => self.formulas.or(parts),
        }
    }

    fn has_complementary_pair(&mut self, parts: &[Formula]) -> bool {
        parts.iter().any(|part| {
            let negated = self.negate(*part);
            parts.binary_search(&negated).is_ok()
        })
    }

    /// Drops operands that another operand makes redundant. Returns the constant if two operands decide the result.
    fn absorb(&mut self, connective: Connective, parts: &mut Vec<Formula>) -> Option<Formula> {
        let mut i = 0;
        'parts: while i < parts.len() {
            let part = parts[i];
            let negated = self.negate(part);
            let mut j = 0;
            while j < parts.len() {
                let other = parts[j];
                if i != j {
                    // Two operands decide if one implies the negation of the other; one is redundant if the other says
                    // more (`&`) or less (`|`).
                    let (decides, redundant) = match connective {
                        Connective::And => (self.implies(other, negated), self.implies(other, part)),
                        Connective::Or => (self.implies(negated, other), self.implies(part, other)),
                    };
                    if decides {
                        return Some(self.formulas.constant(connective.deciding_value()));
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
        self.absorb_together(connective, parts);
        None
    }

    /// Drops operands that several others together make redundant, as in `F (a & X (F b | F c)) | F b | F c` and its dual.
    fn absorb_together(&mut self, connective: Connective, parts: &mut Vec<Formula>) {
        // `absorb` compares with one operand at a time; only a disjunction of `F …` (a conjunction of `G …`) can imply
        // more together than one by one in `implies`.
        let (lasting, next) = match connective {
            Connective::Or => (Unary::Finally, Unary::Next),
            Connective::And => (Unary::Globally, Unary::WeakNext),
        };
        let has_operator = |normal: &Self, f: Formula, operator| matches!(normal.formulas.node(f), Node::Unary(o, _) if *o == operator);
        let mut i = 0;
        while i < parts.len() {
            let part = parts[i];
            let mut others = parts.clone();
            others.retain(|other| *other != part && has_operator(self, *other, lasting));
            if others.len() > 1 && (has_operator(self, part, lasting) || has_operator(self, part, next)) {
                let redundant = match connective {
                    Connective::Or => {
                        let others = self.formulas.or(others);
                        self.implies(part, others)
                    }
                    Connective::And => {
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

    /// Merges two operands into one: `a U b | G a = a W b`, `a W b & F b = a U b`, `a M b | G b = a R b`,
    /// `a R b & F a = a M b`, `a | X F a = F a`, `a & N G a = G a`.
    fn merge(&mut self, connective: Connective, parts: &mut Vec<Formula>) -> bool {
        for i in 0..parts.len() {
            let (merged, partner) = match (self.formulas.node(parts[i]), connective) {
                (Node::Binary(Binary::Until, [a, b]), Connective::Or) => {
                    (Some((Binary::WeakUntil, *a, *b)), self.position_of_unary(parts, Unary::Globally, *a))
                }
                (Node::Binary(Binary::WeakUntil, [a, b]), Connective::And) => {
                    (Some((Binary::Until, *a, *b)), self.position_of_unary(parts, Unary::Finally, *b))
                }
                (Node::Binary(Binary::StrongRelease, [a, b]), Connective::Or) => {
                    (Some((Binary::Release, *a, *b)), self.position_of_unary(parts, Unary::Globally, *b))
                }
                (Node::Binary(Binary::Release, [a, b]), Connective::And) => {
                    (Some((Binary::StrongRelease, *a, *b)), self.position_of_unary(parts, Unary::Finally, *a))
                }
                (Node::Unary(Unary::Next, later), Connective::Or) => {
                    (None, self.position_of_operand(parts, Unary::Finally, *later))
                }
                (Node::Unary(Unary::WeakNext, later), Connective::And) => {
                    (None, self.position_of_operand(parts, Unary::Globally, *later))
                }
                _ => continue,
            };
            let Some(partner) = partner else { continue };
            parts[i] = match (merged, self.formulas.node(parts[i])) {
                (Some((operator, a, b)), _) => self.binary(operator, a, b),
                (None, Node::Unary(_, later)) => *later,
                (None, _) => unreachable!("only `X` and `N` are merged into their operand"),
            };
            // One merge at a time: the indices have changed, and the result can absorb others.
            parts.remove(partner);
            return true;
        }
        false
    }

    /// The index of `operator a` among the operands.
    fn position_of_unary(&self, parts: &[Formula], operator: Unary, a: Formula) -> Option<usize> {
        parts
            .iter()
            .position(|part| matches!(self.formulas.node(*part), Node::Unary(o, b) if *o == operator && *b == a))
    }

    /// If `later` is `operator a`: the index of `a` among the operands.
    fn position_of_operand(&self, parts: &[Formula], operator: Unary, later: Formula) -> Option<usize> {
        match self.formulas.node(later) {
            Node::Unary(o, a) if *o == operator => parts.iter().position(|part| part == a),
            _ => None,
        }
    }

    /// Simplifies each operand that is `&` or `|` itself, given its siblings: `b | (a & (b | c)) = b | (a & c)`.
    fn simplify_in_context(&mut self, connective: Connective, parts: &mut [Formula]) -> bool {
        let mut changed = false;
        for i in 0..parts.len() {
            for j in 0..parts.len() {
                if i == j || !matches!(self.formulas.node(parts[i]), Node::And(_) | Node::Or(_)) {
                    continue;
                }
                let known = match connective {
                    Connective::And => parts[j],
                    // In a disjunction an operand matters only if its siblings are false.
                    Connective::Or => self.negate(parts[j]),
                };
                let simpler = self.simplify_given(parts[i], known, MAX_CONTEXT_DEPTH);
                changed |= simpler != parts[i];
                parts[i] = simpler;
            }
        }
        changed
    }

    /// The formula simplified under the assumption that `known` is true.
    fn simplify_given(&mut self, formula: Formula, known: Formula, depth: usize) -> Formula {
        if self.implies(known, formula) {
            return self.formulas.truth();
        }
        let negated = self.negate(formula);
        if self.implies(known, negated) {
            return self.formulas.falsity();
        }
        let (connective, parts) = match self.formulas.node(formula) {
            Node::And(parts) if depth > 0 => (Connective::And, parts.clone()),
            Node::Or(parts) if depth > 0 => (Connective::Or, parts.clone()),
            _ => return formula,
        };
        if let Some(simpler) = self.contexts.get(&(formula, known)) {
            return *simpler;
        }
        let simpler: Vec<Formula> = parts.iter().map(|part| self.simplify_given(*part, known, depth - 1)).collect();
        let simpler = if simpler == *parts { formula } else { self.connect(connective, simpler) };
        if self.contexts.len() >= MAX_CACHED {
            self.contexts.clear();
        }
        self.contexts.insert((formula, known), simpler);
        simpler
    }
}

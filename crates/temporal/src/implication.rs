//! Syntactic implication between formulas: sound and fast, but far from complete. Used by the normal form to drop
//! redundant operands.

use super::formula::{Binary, Formula, Node, Unary};
use super::normal_form::NormalForms;

/// Maximum depth of the comparison; deeper operands count as not implied.
const MAX_DEPTH: u32 = 48;

/// Maximum number of cached answers; the cache is cleared when it is full.
const MAX_CACHED: usize = 1 << 18;

impl NormalForms {
    /// Whether the shapes of `f` and `g` show that every trace of at least one position, finite or infinite, that
    /// satisfies `f` satisfies `g`.
    pub(super) fn implies(&mut self, f: Formula, g: Formula) -> bool {
        self.implies_within(f, g, MAX_DEPTH)
    }

    fn implies_within(&mut self, f: Formula, g: Formula, depth: u32) -> bool {
        if f == g || self.is_constant(f, false) || self.is_constant(g, true) {
            return true;
        }
        if depth == 0 || self.is_constant(f, true) || self.is_constant(g, false) {
            return false;
        }
        // Distinct literals are independent: neither implies the other.
        if self.is_literal(f) && self.is_literal(g) {
            return false;
        }
        // The depth is not part of the key. An answer from near the limit can be a `false` that a deeper comparison
        // would have made `true`; that is sound, because `false` only says that nothing was shown.
        if let Some(known) = self.implications.get(&(f, g)) {
            return *known;
        }
        let implied = self.implies_by_shape(f, g, depth - 1);
        if self.implications.len() >= MAX_CACHED {
            self.implications.clear();
        }
        self.implications.insert((f, g), implied);
        implied
    }

    fn is_literal(&self, f: Formula) -> bool {
        matches!(self.formulas.node(f), Node::Atom(_) | Node::Not(_))
    }

    fn implies_by_shape(&mut self, f: Formula, g: Formula, depth: u32) -> bool {
        let (left, right) = (self.formulas.node(f).clone(), self.formulas.node(g).clone());
        // These two splits lose nothing, so they decide the question; all later rules are sufficient only.
        match (&left, &right) {
            (Node::Or(all), _) => return all.iter().all(|a| self.implies_within(*a, g, depth)),
            (_, Node::And(all)) => return all.iter().all(|b| self.implies_within(f, *b, depth)),
            _ => {}
        }
        if let Node::And(all) = &left
            && all.iter().any(|a| self.implies_within(*a, g, depth))
        {
            return true;
        }
        if let Node::Or(all) = &right
            && all.iter().any(|b| self.implies_within(f, *b, depth))
        {
            return true;
        }
        self.implied_by_operand(&left, g, depth)
            || self.implied_by_temporal_operator(f, &left, g, &right, depth)
            || match (&left, &right) {
                // `F a -> g` if `a -> g` and `X g -> g`; `f -> G b` if `f -> b` and `f -> N f`.
                (Node::Unary(Unary::Finally | Unary::Next, a), Node::Or(_)) if self.is_eventuality(g) => {
                    self.implies_within(*a, g, depth)
                }
                (Node::And(_), Node::Unary(Unary::Globally | Unary::WeakNext, b)) if self.is_persistent(f) => {
                    self.implies_within(f, *b, depth)
                }
                _ => false,
            }
    }

    /// Whether `X g` implies `g` because `g` is `F …` or a disjunction of such formulas.
    fn is_eventuality(&self, g: Formula) -> bool {
        match self.formulas.node(g) {
            Node::Unary(Unary::Finally, _) => true,
            Node::Or(all) => all.iter().all(|a| matches!(self.formulas.node(*a), Node::Unary(Unary::Finally, _))),
            _ => false,
        }
    }

    /// Whether `f` implies `N f` because `f` is `G …` or a conjunction of such formulas.
    fn is_persistent(&self, f: Formula) -> bool {
        match self.formulas.node(f) {
            Node::Unary(Unary::Globally, _) => true,
            Node::And(all) => all.iter().all(|a| matches!(self.formulas.node(*a), Node::Unary(Unary::Globally, _))),
            _ => false,
        }
    }

    /// Whether an operand that the left formula requires at this position implies `g`.
    fn implied_by_operand(&mut self, left: &Node, g: Formula, depth: u32) -> bool {
        match left {
            // `G a` and `a R b` need `a` (or `b`) at this position; `a U b` needs one of the two, so both must imply
            // `g`.
            Node::Unary(Unary::Globally, a) => self.implies_within(*a, g, depth),
            Node::Binary(Binary::Release | Binary::StrongRelease, [_, b]) => self.implies_within(*b, g, depth),
            Node::Binary(Binary::Until | Binary::WeakUntil, [a, b]) => {
                self.implies_within(*a, g, depth) && self.implies_within(*b, g, depth)
            }
            _ => false,
        }
    }

    /// Whether `f` implies `g` by the expansion laws of the temporal operator of `g`.
    fn implied_by_temporal_operator(&mut self, f: Formula, left: &Node, g: Formula, right: &Node, depth: u32) -> bool {
        match right {
            Node::Unary(Unary::Finally, b) => {
                self.implies_within(f, *b, depth)
                    || match left {
                        // `F g` is idempotent and follows from `X F g`, so it is enough if the operand implies `g`
                        // itself.
                        Node::Unary(Unary::Finally | Unary::Next, a) => self.implies_within(*a, g, depth),
                        Node::Binary(Binary::Until, [_, b]) => self.implies_within(*b, g, depth),
                        Node::Binary(Binary::StrongRelease, [a, _]) => self.implies_within(*a, g, depth),
                        _ => false,
                    }
            }
            Node::Unary(Unary::Globally, b) => match left {
                // `G a` also holds at every later position, so what it implies here, it implies there.
                Node::Unary(Unary::Globally, _) => self.implies_within(f, *b, depth),
                _ => false,
            },
            Node::Unary(Unary::Next, b) => match left {
                Node::Unary(Unary::Next, a) => self.implies_within(*a, *b, depth),
                _ => false,
            },
            Node::Unary(Unary::WeakNext, b) => match left {
                Node::Unary(Unary::Next | Unary::WeakNext, a) => self.implies_within(*a, *b, depth),
                Node::Unary(Unary::Globally, _) => self.implies_within(f, *b, depth),
                _ => false,
            },
            Node::Binary(operator @ (Binary::Until | Binary::WeakUntil), [hold, come]) => {
                // `l U r` holds at once where `r` does. `G a` and `a W b` may go on without end, so they imply the
                // weak form only.
                let weak = *operator == Binary::WeakUntil;
                self.implies_within(f, *come, depth)
                    || match left {
                        // `b` need not imply `come` itself: it may start another stretch that ends in `come`.
                        Node::Binary(Binary::Until, [a, b]) => {
                            self.implies_within(*a, *hold, depth) && self.implies_within(*b, g, depth)
                        }
                        Node::Binary(Binary::WeakUntil, [a, b]) => {
                            weak && self.implies_within(*a, *hold, depth) && self.implies_within(*b, g, depth)
                        }
                        Node::Unary(Unary::Globally, _) => weak && self.implies_within(f, *hold, depth),
                        _ => false,
                    }
            }
            Node::Binary(operator @ (Binary::Release | Binary::StrongRelease), [hold, come]) => {
                // `l R r` holds at once where both sides do; for the rest as above.
                let weak = *operator == Binary::Release;
                (self.implies_within(f, *hold, depth) && self.implies_within(f, *come, depth))
                    || match left {
                        Node::Binary(Binary::StrongRelease, [a, b]) => {
                            self.implies_within(*a, *hold, depth) && self.implies_within(*b, *come, depth)
                        }
                        Node::Binary(Binary::Release, [a, b]) => {
                            weak && self.implies_within(*a, *hold, depth) && self.implies_within(*b, *come, depth)
                        }
                        Node::Unary(Unary::Globally, _) => weak && self.implies_within(f, *come, depth),
                        _ => false,
                    }
            }
            _ => false,
        }
    }
}

//! Implications between formulas that their shapes show: sound, far from complete, quick.

use super::formula::{Binary, Formula, Node, Unary};
use super::normal::Normal;

/// How deep two formulas are compared; what lies deeper is taken not to follow.
const DEPTH: u32 = 48;

/// How many answers are kept.
const KEPT: usize = 1 << 18;

impl Normal {
    /// Whether every trace of at least one position, finite or infinite, of which `f` is true makes `g` true, as far as
    /// their shapes show.
    pub(super) fn implies(&mut self, f: Formula, g: Formula) -> bool {
        self.follows(f, g, DEPTH)
    }

    fn follows(&mut self, f: Formula, g: Formula, depth: u32) -> bool {
        if f == g || self.is(f, false) || self.is(g, true) {
            return true;
        }
        if depth == 0 || self.is(f, true) || self.is(g, false) {
            return false;
        }
        // Between literals nothing follows but equality.
        if self.literal(f) && self.literal(g) {
            return false;
        }
        if let Some(known) = self.implications.get(&(f, g)) {
            return *known;
        }
        let shown = self.split(f, g, depth - 1);
        if self.implications.len() >= KEPT {
            self.implications.clear();
        }
        self.implications.insert((f, g), shown);
        shown
    }

    fn literal(&self, f: Formula) -> bool {
        matches!(self.formulas.node(f), Node::Atom(_) | Node::Not(_))
    }

    fn split(&mut self, f: Formula, g: Formula, depth: u32) -> bool {
        let (left, right) = (self.formulas.node(f).clone(), self.formulas.node(g).clone());
        // The two that are exact go first.
        match (&left, &right) {
            (Node::Or(all), _) => return all.iter().all(|a| self.follows(*a, g, depth)),
            (_, Node::And(all)) => return all.iter().all(|b| self.follows(f, *b, depth)),
            _ => {}
        }
        if let Node::And(all) = &left
            && all.iter().any(|a| self.follows(*a, g, depth))
        {
            return true;
        }
        if let Node::Or(all) = &right
            && all.iter().any(|b| self.follows(f, *b, depth))
        {
            return true;
        }
        self.of_now(&left, g, depth)
            || self.by_later(f, &left, g, &right, depth)
            || match (&left, &right) {
                // From what comes later back to now, and from now on to later.
                (Node::Unary(Unary::Finally | Unary::Next, a), Node::Or(_)) if self.comes(g) => {
                    self.follows(*a, g, depth)
                }
                (Node::And(_), Node::Unary(Unary::Globally | Unary::WeakNext, b)) if self.stays(f) => {
                    self.follows(f, *b, depth)
                }
                _ => false,
            }
    }

    /// Whether `X g` implies `g`, by shape.
    fn comes(&self, g: Formula) -> bool {
        match self.formulas.node(g) {
            Node::Unary(Unary::Finally, _) => true,
            Node::Or(all) => all.iter().all(|a| matches!(self.formulas.node(*a), Node::Unary(Unary::Finally, _))),
            _ => false,
        }
    }

    /// Whether `f` implies `N f`, by shape.
    fn stays(&self, f: Formula) -> bool {
        match self.formulas.node(f) {
            Node::Unary(Unary::Globally, _) => true,
            Node::And(all) => all.iter().all(|a| matches!(self.formulas.node(*a), Node::Unary(Unary::Globally, _))),
            _ => false,
        }
    }

    /// From what the left says of this position.
    fn of_now(&mut self, left: &Node, g: Formula, depth: u32) -> bool {
        match left {
            Node::Unary(Unary::Globally, a) => self.follows(*a, g, depth),
            Node::Binary(Binary::Release | Binary::StrongRelease, [_, b]) => self.follows(*b, g, depth),
            Node::Binary(Binary::Until | Binary::WeakUntil, [a, b]) => {
                self.follows(*a, g, depth) && self.follows(*b, g, depth)
            }
            _ => false,
        }
    }

    /// By what the right asks of later positions.
    fn by_later(&mut self, f: Formula, left: &Node, g: Formula, right: &Node, depth: u32) -> bool {
        match right {
            Node::Unary(Unary::Finally, b) => {
                self.follows(f, *b, depth)
                    || match left {
                        Node::Unary(Unary::Finally | Unary::Next, a) => self.follows(*a, g, depth),
                        Node::Binary(Binary::Until, [_, b]) => self.follows(*b, g, depth),
                        Node::Binary(Binary::StrongRelease, [a, _]) => self.follows(*a, g, depth),
                        _ => false,
                    }
            }
            Node::Unary(Unary::Globally, b) => match left {
                Node::Unary(Unary::Globally, _) => self.follows(f, *b, depth),
                _ => false,
            },
            Node::Unary(Unary::Next, b) => match left {
                Node::Unary(Unary::Next, a) => self.follows(*a, *b, depth),
                _ => false,
            },
            Node::Unary(Unary::WeakNext, b) => match left {
                Node::Unary(Unary::Next | Unary::WeakNext, a) => self.follows(*a, *b, depth),
                Node::Unary(Unary::Globally, _) => self.follows(f, *b, depth),
                _ => false,
            },
            Node::Binary(operator @ (Binary::Until | Binary::WeakUntil), [hold, come]) => {
                let weak = *operator == Binary::WeakUntil;
                self.follows(f, *come, depth)
                    || match left {
                        Node::Binary(Binary::Until, [a, b]) => {
                            self.follows(*a, *hold, depth) && self.follows(*b, g, depth)
                        }
                        Node::Binary(Binary::WeakUntil, [a, b]) => {
                            weak && self.follows(*a, *hold, depth) && self.follows(*b, g, depth)
                        }
                        Node::Unary(Unary::Globally, _) => weak && self.follows(f, *hold, depth),
                        _ => false,
                    }
            }
            Node::Binary(operator @ (Binary::Release | Binary::StrongRelease), [hold, come]) => {
                let weak = *operator == Binary::Release;
                (self.follows(f, *hold, depth) && self.follows(f, *come, depth))
                    || match left {
                        Node::Binary(Binary::StrongRelease, [a, b]) => {
                            self.follows(*a, *hold, depth) && self.follows(*b, *come, depth)
                        }
                        Node::Binary(Binary::Release, [a, b]) => {
                            weak && self.follows(*a, *hold, depth) && self.follows(*b, *come, depth)
                        }
                        Node::Unary(Unary::Globally, _) => weak && self.follows(f, *come, depth),
                        _ => false,
                    }
            }
            _ => false,
        }
    }
}

//! Temporal constraints on synthetic traces: their forms, their formulas, and a direct evaluation on a trace.

use super::trace::{Event, Proposition, Trace};
use tlaforge_temporal::{Formula, Formulas, ParseError};

/// Maximum depth of a tree.
const MAX_DEPTH: u32 = 8;

/// The form of a constraint, over its propositions in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `F (A & X F B)`
    Sequence,
    /// `F (a & X F (… | …))`: a binary tree of alternatives of this depth (at most 8), in which all paths end with the same
    /// proposition.
    Tree(u32),
    /// `G P`
    Universality,
    /// `G !P`
    Absence,
    /// `G (P -> F S)`
    Response,
    /// `G ((Q & !R & F R) -> (!P U R))`
    AbsenceBetween,
    /// `G (P -> (!Q U R))`
    ConstrainedResponse,
}

impl Shape {
    pub(super) fn bounded(self) -> Self {
        match self {
            Self::Tree(depth) => Self::Tree(depth.min(MAX_DEPTH)),
            other => other,
        }
    }

    pub(super) fn proposition_count(self) -> usize {
        match self.bounded() {
            Self::Universality | Self::Absence => 1,
            Self::Sequence | Self::Response => 2,
            Self::AbsenceBetween | Self::ConstrainedResponse => 3,
            Self::Tree(depth) => 1 << (depth + 1),
        }
    }
}

/// The seven patterns of table 2.
pub fn pattern_constraints() -> [Shape; 7] {
    [
        Shape::Universality,
        Shape::Absence,
        Shape::Response,
        Shape::AbsenceBetween,
        Shape::ConstrainedResponse,
        Shape::Tree(1),
        Shape::Tree(4),
    ]
}

/// A constraint on traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    pub(super) shape: Shape,
    pub(super) propositions: Vec<Proposition>,
    pub(super) entities: usize,
}

impl Constraint {
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The formula over the fields of steps: `animal`, `shape`, `color`, `number`, with the prefix `entity1.` and so on if
    /// there are several entities.
    pub fn formula(&self) -> String {
        let p: Vec<String> = self.propositions.iter().map(|p| p.atom_text(self.entities)).collect();
        self.formula_over(&p)
    }

    /// The formula over other texts for its propositions.
    pub fn formula_over(&self, p: &[String]) -> String {
        match self.shape {
            Shape::Sequence => format!("F ({} & X F {})", p[0], p[1]),
            Shape::Tree(depth) => format!("F {}", tree_formula(p, 0, depth)),
            Shape::Universality => format!("G {}", p[0]),
            Shape::Absence => format!("G !({})", p[0]),
            Shape::Response => format!("G ({} -> F {})", p[0], p[1]),
            Shape::AbsenceBetween => format!("G (({q} & !({r}) & F {r}) -> (!({}) U {r}))", p[2], q = p[0], r = p[1]),
            Shape::ConstrainedResponse => format!("G ({} -> (!({}) U {}))", p[0], p[1], p[2]),
        }
    }

    /// The truth values of its propositions at a step.
    pub fn truths_at(&self, step: &[Event]) -> Vec<bool> {
        self.propositions.iter().map(|p| p.holds(step)).collect()
    }

    pub fn parse(&self, formulas: &mut Formulas) -> Result<Formula, ParseError> {
        formulas.parse(&self.formula())
    }

    /// Whether a trace satisfies it, computed directly on the trace and not through the formula, as an independent check.
    pub fn holds(&self, trace: &Trace) -> bool {
        let p = &self.propositions;
        let at = |i: usize, p: &Proposition| p.holds(&trace.steps[i]);
        let n = trace.steps.len();
        let first = |p: &Proposition, from: usize| (from..n).find(|i| at(*i, p));
        match self.shape {
            Shape::Sequence => first(&p[0], 0).is_some_and(|i| first(&p[1], i + 1).is_some()),
            Shape::Tree(depth) => {
                // Tree node, its level, and the first step at which its event can occur.
                let mut open = vec![(0, 0, 0)];
                while let Some((node, level, from)) = open.pop() {
                    let Some(i) = first(&p[node], from) else { continue };
                    if level < depth {
                        open.extend([(2 * node + 1, level + 1, i + 1), (2 * node + 2, level + 1, i + 1)]);
                    } else if first(&p[p.len() - 1], i + 1).is_some() {
                        return true;
                    }
                }
                false
            }
            Shape::Universality => (0..n).all(|i| at(i, &p[0])),
            Shape::Absence => !(0..n).any(|i| at(i, &p[0])),
            Shape::Response => (0..n).all(|i| !at(i, &p[0]) || first(&p[1], i).is_some()),
            Shape::AbsenceBetween => (0..n).all(|i| {
                let opens = at(i, &p[0]) && !at(i, &p[1]);
                !opens || first(&p[1], i).is_none_or(|end| !(i..end).any(|j| at(j, &p[2])))
            }),
            Shape::ConstrainedResponse => {
                (0..n).all(|i| !at(i, &p[0]) || first(&p[2], i).is_some_and(|end| !(i..end).any(|j| at(j, &p[1]))))
            }
        }
    }
}

/// The formula of the subtree at a node. Nodes are numbered as in a binary heap.
fn tree_formula(p: &[String], node: usize, depth: u32) -> String {
    let rest = if depth == 0 {
        p[p.len() - 1].clone()
    } else {
        format!("({} | {})", tree_formula(p, 2 * node + 1, depth - 1), tree_formula(p, 2 * node + 2, depth - 1))
    };
    format!("({} & X F {rest})", p[node])
}

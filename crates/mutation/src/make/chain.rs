//! Conjunctions and disjunctions, as bulleted lists and as chains of infix operators, and the removal of one operand.

use std::ops::Range;

use super::super::Edit;
use super::tree_mutator::TreeMutator;
use tlaforge_tla::{Id, Kind, NodeKind, lex};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Junction {
    And,
    Or,
}

#[derive(Debug, Clone)]
pub(super) struct Operand {
    pub(super) content: Id,
    /// The range including the bullet.
    pub(super) range: Range<usize>,
}

/// A flattened conjunction or disjunction: all operands in order.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) operands: Vec<Operand>,
    bulleted: bool,
}

impl TreeMutator<'_> {
    /// The operands of a formula with this junction outermost; `None` for other formulas. Nested lists stay one operand.
    pub(super) fn chain(&self, id: Id, junction: Junction) -> Option<Chain> {
        let (list, symbol) = match junction {
            Junction::And => (NodeKind::ConjunctionList, "/\\"),
            Junction::Or => (NodeKind::DisjunctionList, "\\/"),
        };
        if self.kind(id) == list {
            let operand =
                |item: Id| Some(Operand { content: self.tree.children(item).last()?, range: self.range(item) });
            let operands = self.children(id).into_iter().filter_map(operand).collect();
            return Some(Chain { operands, bulleted: true });
        }
        let is_link = |id: Id| self.kind(id) == NodeKind::Infix && self.symbol(id) == symbol;
        if !is_link(id) {
            return None;
        }
        // A loop and not a recursion: a chain of infix operators is as deep as it is long.
        let mut operands = Vec::new();
        let mut at = id;
        while let (true, Some((left, right))) = (is_link(at), self.operands(at)) {
            operands.push(right);
            at = left;
        }
        operands.push(at);
        operands.reverse();
        let operands = operands.into_iter().map(|content| Operand { content, range: self.range(content) }).collect();
        Some(Chain { operands, bulleted: false })
    }

    /// The edit that removes one operand. A single operand becomes TRUE (FALSE).
    pub(super) fn removal(&self, chain: &Chain, index: usize, junction: Junction) -> Edit {
        let own = &chain.operands[index].range;
        if chain.operands.len() == 1 {
            let text = if junction == Junction::And { "TRUE" } else { "FALSE" };
            return Edit { range: self.range(chain.operands[index].content), text: text.to_owned() };
        }
        // A complete line if possible, so that no blank line remains.
        let lines = chain.bulleted.then(|| self.own_lines(own)).flatten();
        let range = match (lines, index) {
            (Some(lines), _) => lines,
            (None, 0) => own.start..chain.operands[1].range.start,
            (None, _) => chain.operands[index - 1].range.end..own.end,
        };
        Edit { range, text: String::new() }
    }

    /// The complete lines of a range that shares them with comments only.
    pub(super) fn own_lines(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let start = self.source[..range.start].rfind('\n')? + 1;
        let end = range.end + self.source[range.end..].find('\n')? + 1;
        let remark = lex(self.source, range.end..end).iter().all(|token| token.kind == Kind::LineComment);
        (self.source[start..range.start].trim().is_empty() && remark).then_some(start..end)
    }
}

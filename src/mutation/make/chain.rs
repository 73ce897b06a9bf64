//! Conjunctions and disjunctions, as bulleted lists and as chains of `/\`, and what goes where one part goes.

use std::ops::Range;

use super::super::Edit;
use super::walk::Walk;
use crate::tla::{Id, Kind, lex};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Junction {
    And,
    Or,
}

/// One part.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// The formula.
    pub(super) content: Id,
    /// With its bullet.
    pub(super) range: Range<usize>,
}

/// All parts, in order.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) links: Vec<Link>,
    bulleted: bool,
}

impl Walk<'_> {
    /// The parts of this junction; `None` where the formula is none. Parts that are junctions themselves stay whole.
    pub(super) fn chain(&self, id: Id, junction: Junction) -> Option<Chain> {
        let (list, symbol) = match junction {
            Junction::And => ("conj_list", "land"),
            Junction::Or => ("disj_list", "lor"),
        };
        if self.kind(id) == list {
            let link = |item: Id| Some(Link { content: self.tree.children(item).last()?, range: self.range(item) });
            let links = self.children(id).into_iter().filter_map(link).collect();
            return Some(Chain { links, bulleted: true });
        }
        let is_link = |id: Id| self.kind(id) == "bound_infix_op" && self.symbol(id) == symbol;
        if !is_link(id) {
            return None;
        }
        let mut links = Vec::new();
        let mut at = id;
        while let (true, Some((left, right))) = (is_link(at), self.sides(at)) {
            links.push(right);
            at = left;
        }
        links.push(at);
        links.reverse();
        let links = links.into_iter().map(|content| Link { content, range: self.range(content) }).collect();
        Some(Chain { links, bulleted: false })
    }

    /// Takes one part away; the last one becomes TRUE (FALSE).
    pub(super) fn removal(&self, chain: &Chain, index: usize, junction: Junction) -> Edit {
        let own = &chain.links[index].range;
        if chain.links.len() == 1 {
            let text = if junction == Junction::And { "TRUE" } else { "FALSE" };
            return Edit { range: self.range(chain.links[index].content), text: text.to_owned() };
        }
        let lines = chain.bulleted.then(|| self.own_lines(own)).flatten();
        let range = match (lines, index) {
            (Some(lines), _) => lines,
            (None, 0) => own.start..chain.links[1].range.start,
            (None, _) => chain.links[index - 1].range.end..own.end,
        };
        Edit { range, text: String::new() }
    }

    /// The whole lines of a part of the text that shares them with nothing but remarks.
    pub(super) fn own_lines(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let start = self.source[..range.start].rfind('\n')? + 1;
        let end = range.end + self.source[range.end..].find('\n')? + 1;
        let remark = lex(self.source, range.end..end).iter().all(|token| token.kind == Kind::LineComment);
        (self.source[start..range.start].trim().is_empty() && remark).then_some(start..end)
    }
}

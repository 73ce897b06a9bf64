//! Finds the branch of a PlusCal statement that a branch of the translation comes from, by the positions in the
//! algorithm that the tokens of the translation come from, and names it.

use std::ops::Range;

use super::branch_coverage::BranchKind;
use super::lexer::lex;
use super::module::Module;
use super::syntax::{Id, NodeKind, Tree};

/// Longest name in characters.
const MAX_NAME: usize = 40;

/// A branch of an `either`, `if` or `while` of an algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementBranch {
    pub kind: BranchKind,
    /// The byte at which its first statement begins.
    pub start: usize,
    pub name: String,
    /// It is a missing `else`, an `else` with only `skip`, or the end of a loop.
    pub is_fallthrough: bool,
}

impl Module {
    /// The branch with this number of the `either` whose branches contain these positions. The positions are bytes of
    /// the module, a list for each branch; positions outside of the `either` come from macros.
    pub fn find_either_branch(&self, positions: &[Vec<usize>], number: usize) -> Option<StatementBranch> {
        let tree = &self.algorithm.as_ref()?.tree;
        let known_branches = |either: Id| {
            let branches: Vec<Range<usize>> = branches(tree, either).map(|branch| tree.range(branch)).collect();
            let is_in = |at: &usize, wanted: usize| {
                branches.iter().enumerate().all(|(k, range)| !range.contains(at) || k == wanted)
            };
            let agrees = branches.len() == positions.len()
                && positions.iter().enumerate().all(|(k, own)| own.iter().all(|at| is_in(at, k)));
            let known = positions.iter().zip(&branches).filter(|(own, range)| own.iter().any(|at| range.contains(at)));
            if agrees { known.count() } else { 0 }
        };
        let eithers = tree.of_kind(NodeKind::Either).map(|id| (known_branches(id), id)).filter(|(known, _)| *known > 0);
        // The last one of several is the innermost.
        let (_, either) = eithers.max()?;
        let branch = branches(tree, either).nth(number)?;
        Some(self.statement_branch(tree, either, branch, BranchKind::Either))
    }

    /// The branch with this number of the first `either` after a position that has so many branches, none of which can be
    /// found by its positions: they only skip, jump, or call macros and procedures.
    pub fn find_either_after(&self, position: usize, count: usize, number: usize) -> Option<StatementBranch> {
        let tree = &self.algorithm.as_ref()?.tree;
        let has_no_position = |statement: &Id| {
            let kind = tree.kind(*statement);
            let calls = matches!(kind, NodeKind::MacroCall | NodeKind::ProcedureCall);
            calls || matches!(kind, NodeKind::Skip | NodeKind::Goto | NodeKind::Return)
        };
        let mut eithers = tree.of_kind(NodeKind::Either).filter(|id| tree.node(*id).start > position);
        let either = eithers.find(|either| {
            let mut all = branches(tree, *either).flat_map(|branch| statements(tree, branch));
            branches(tree, *either).count() == count && all.all(|statement| has_no_position(&statement))
        })?;
        let branch = branches(tree, either).nth(number)?;
        Some(self.statement_branch(tree, either, branch, BranchKind::Either))
    }

    /// The branch of the `if` or `while` with the condition that contains these positions.
    pub fn find_conditional_branch(&self, condition: &[usize], is_then: bool) -> Option<StatementBranch> {
        let tree = &self.algorithm.as_ref()?.tree;
        let is_condition = |id: Id| {
            let range = tree.range(id);
            !condition.is_empty() && condition.iter().all(|at| range.contains(at))
        };
        let conditionals = tree.ids().filter(|id| matches!(tree.kind(*id), NodeKind::If | NodeKind::While));
        let (statement, children, index) = conditionals
            .filter_map(|id| {
                let children: Vec<Id> = tree.children(id).collect();
                let is_test = |child: &Id| tree.kind(*child) != NodeKind::Branch && is_condition(*child);
                let index = children.iter().position(is_test)?;
                Some((id, children, index))
            })
            .next_back()?;
        let is_loop = tree.kind(statement) == NodeKind::While;
        let fallthrough = || StatementBranch {
            kind: BranchKind::Else,
            start: tree.node(statement).start,
            name: String::new(),
            is_fallthrough: true,
        };
        let (other, kind) = match (is_then, is_loop) {
            (true, true) => (*children.get(index + 1)?, BranchKind::Loop),
            (true, false) => (*children.get(index + 1)?, BranchKind::Then),
            (false, true) => return Some(fallthrough()),
            (false, false) => match children.get(index + 2) {
                Some(other) => (*other, BranchKind::Else),
                None => return Some(fallthrough()),
            },
        };
        Some(self.statement_branch(tree, statement, other, kind))
    }

    fn statement_branch(&self, tree: &Tree, parent: Id, branch: Id, kind: BranchKind) -> StatementBranch {
        let source = &self.source;
        let statements = statements(tree, branch);
        // The condition of an `elsif` has no statements.
        let first = statements.first().copied().unwrap_or(branch);
        let start = tree.node(first).start;
        let before = tree.children(parent).map(|child| tree.node(child).end).filter(|end| *end <= start).max();
        let lead = lex(source, before.unwrap_or(tree.node(parent).start)..start);
        let comment = lead.last().filter(|token| token.is_comment()).map(|token| {
            token.text(source).trim_start_matches("\\*").trim_start_matches("(*").trim_end_matches("*)").trim()
        });
        let text = match tree.kind(first) {
            NodeKind::MacroCall | NodeKind::ProcedureCall => {
                tree.children(first).next().map_or("", |name| tree.text(name, source))
            }
            _ => tree.text(first, source),
        };
        let is_fallthrough = kind == BranchKind::Else
            && !statements.is_empty()
            && statements.iter().all(|id| tree.kind(*id) == NodeKind::Skip);
        let name = branch_name(comment.filter(|comment| !comment.is_empty()).unwrap_or(text));
        StatementBranch { kind, start, name, is_fallthrough }
    }
}

fn branches(tree: &Tree, statement: Id) -> impl Iterator<Item = Id> + '_ {
    tree.children(statement).filter(|child| tree.kind(*child) == NodeKind::Branch)
}

/// The statements of a branch, also those in braces.
fn statements(tree: &Tree, branch: Id) -> Vec<Id> {
    if tree.kind(branch) != NodeKind::Branch && tree.kind(branch) != NodeKind::Body {
        return Vec::new();
    }
    let inside = tree.children(branch).flat_map(|child| match tree.kind(child) {
        NodeKind::Body => statements(tree, child),
        kind if kind.is_statement() => vec![child],
        _ => Vec::new(),
    });
    inside.collect()
}

/// The first words of a text, on one line.
pub fn branch_name(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or("").trim_end();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_NAME {
        return line;
    }
    let short: String = line.chars().take(MAX_NAME).collect();
    let short = short.rsplit_once(' ').map_or(short.as_str(), |(words, _)| words);
    format!("{short} ...")
}

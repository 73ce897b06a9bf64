//! The traversal of one syntax tree that collects mutants. Other files of this folder extend it by operators.

use std::collections::BTreeSet;
use std::ops::Range;

use super::super::Edit;
use super::super::Operator;
use super::alignment::realign_lists;
use super::excerpt::excerpt;
use super::facts::{Facts, parents};
use tlaforge_tla::{Id, MAX_DEPTH, NodeKind, Tree};

/// The role of a definition in the behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It contains fairness or a temporal operator.
    Temporal,
    /// Only the initial predicate uses it.
    Initial,
    /// It refers to the next state.
    Action,
    /// An operator on states that actions use.
    State,
}

/// A mutant without a name and definition.
#[derive(Debug)]
pub(super) struct MutantDraft {
    pub(super) operator: Operator,
    /// The byte offset in the source.
    pub(super) at: usize,
    pub(super) variant: String,
    pub(super) what: String,
    pub(super) edits: Vec<Edit>,
}

/// A bound name in scope, and the set from which it is bound, if any.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) name: String,
    pub(super) set: Option<String>,
}

/// Traverses one syntax tree and collects mutants.
pub(super) struct TreeMutator<'a> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) source: &'a str,
    pub(super) tree: &'a Tree,
    pub(super) parents: Vec<Option<Id>>,
    /// The ranges of multi-line bulleted lists.
    lists: Vec<Range<usize>>,
    pub(super) role: Role,
    pub(super) scope: Vec<Bound>,
    /// The variables in scope with their shapes.
    pub(super) visible: Vec<(String, String)>,
    /// Conjuncts of guards that already have a negated mutant.
    pub(super) negated: BTreeSet<Id>,
    pub(super) drafts: Vec<MutantDraft>,
    depth: usize,
}

impl<'a> TreeMutator<'a> {
    pub(super) fn new(facts: &'a Facts<'a>, tree: &'a Tree, role: Role) -> Self {
        let source = facts.module.source.as_str();
        let is_list = |id: &Id| matches!(tree.kind(*id), NodeKind::ConjunctionList | NodeKind::DisjunctionList);
        let lists = tree.ids().filter(is_list).map(|id| tree.range(id));
        Self {
            facts,
            source,
            tree,
            parents: parents(tree),
            lists: lists.filter(|list| source[list.clone()].contains('\n')).collect(),
            role,
            scope: Vec::new(),
            visible: facts.globals.clone(),
            negated: BTreeSet::new(),
            drafts: Vec::new(),
            depth: 0,
        }
    }

    pub(super) fn kind(&self, id: Id) -> NodeKind {
        self.tree.kind(id)
    }

    pub(super) fn range(&self, id: Id) -> Range<usize> {
        self.tree.range(id)
    }

    pub(super) fn text(&self, id: Id) -> &'a str {
        self.tree.text(id, self.source)
    }

    pub(super) fn children(&self, id: Id) -> Vec<Id> {
        self.tree.children(id).collect()
    }

    pub(super) fn symbol(&self, id: Id) -> &'static str {
        self.tree.operator(id)
    }

    pub(super) fn operands(&self, id: Id) -> Option<(Id, Id)> {
        self.tree.operands(id)
    }

    /// The expression inside parentheses.
    pub(super) fn strip_parentheses(&self, mut id: Id) -> Id {
        while self.kind(id) == NodeKind::Parentheses {
            match self.tree.children(id).last() {
                Some(inner) => id = inner,
                None => break,
            }
        }
        id
    }

    /// Descends one level, unless the depth limit is reached.
    pub(super) fn with_depth(&mut self, go: impl FnOnce(&mut Self)) {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            go(self);
            self.depth -= 1;
        }
    }

    /// Calls `go` with additional names in scope.
    pub(super) fn with_bound(&mut self, names: Vec<Bound>, go: impl FnOnce(&mut Self)) {
        let mark = self.scope.len();
        self.scope.extend(names);
        go(self);
        self.scope.truncate(mark);
    }

    /// Whether a node refers to the next state.
    pub(super) fn refers_to_next_state(&self, id: Id) -> bool {
        self.facts.refers_to_next_state(self.tree, id)
    }

    pub(super) fn add_draft(&mut self, operator: Operator, at: usize, variant: &str, what: String, edits: Vec<Edit>) {
        let variant = excerpt(variant, 40);
        // Here, so that no operator has to think of the alignment of lists.
        let edits = realign_lists(self.source, &self.lists, edits);
        self.drafts.push(MutantDraft { operator, at, variant, what, edits });
    }

    /// [`TreeMutator::add_draft`] with one edit.
    pub(super) fn add_edit(
        &mut self,
        operator: Operator,
        at: usize,
        variant: &str,
        what: String,
        range: Range<usize>,
        text: impl Into<String>,
    ) {
        self.add_draft(operator, at, variant, what, vec![Edit { range, text: text.into() }]);
    }

    /// A range of the source as one short line in backticks.
    pub(super) fn quote(&self, range: Range<usize>) -> String {
        format!("`{}`", excerpt(self.source.get(range).unwrap_or(""), 70))
    }
}

//! One piece of the specification with its tree, and the flaws found in it.

use std::collections::BTreeSet;
use std::ops::Range;

use super::alignment::aligned;
use super::facts::Facts;
use super::mutant::Edit;
use super::operator::Operator;
use crate::tla::{Id, MAX_DEPTH, Tree};

/// What a definition is to the behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It holds fairness, or a formula with `[]`.
    Temporal,
    /// It is of the initial states alone.
    Initial,
    /// It speaks of the next state.
    Action,
    /// An operator that actions use.
    State,
}

/// A mutant before it has a name.
#[derive(Debug)]
pub(super) struct Flaw {
    pub(super) operator: Operator,
    /// Where it sits.
    pub(super) at: usize,
    pub(super) variant: String,
    pub(super) what: String,
    pub(super) edits: Vec<Edit>,
}

/// A name that is bound where the walk is, and the set it is from, where it is from one.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) name: String,
    pub(super) set: Option<String>,
}

/// A walk over one tree.
pub(super) struct Walk<'a> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) source: &'a str,
    pub(super) tree: &'a Tree,
    pub(super) parents: Vec<Option<Id>>,
    /// Bulleted lists of several lines.
    lists: Vec<Range<usize>>,
    pub(super) role: Role,
    pub(super) scope: Vec<Bound>,
    /// The variables that are seen from here, with their shapes.
    pub(super) visible: Vec<(String, String)>,
    /// Conjuncts of guards whose opposite is made.
    pub(super) negated: BTreeSet<Id>,
    pub(super) flaws: Vec<Flaw>,
    depth: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(facts: &'a Facts<'a>, tree: &'a Tree, role: Role) -> Self {
        let source = facts.module.source.as_str();
        let is_list = |id: &Id| matches!(tree.node(*id).kind, "conj_list" | "disj_list");
        let lists = tree.ids().filter(is_list).map(|id| tree.node(id).start..tree.node(id).end);
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
            flaws: Vec::new(),
            depth: 0,
        }
    }

    pub(super) fn kind(&self, id: Id) -> &'static str {
        self.tree.node(id).kind
    }

    pub(super) fn range(&self, id: Id) -> Range<usize> {
        self.tree.node(id).start..self.tree.node(id).end
    }

    pub(super) fn text(&self, id: Id) -> &'a str {
        self.tree.text(id, self.source)
    }

    pub(super) fn children(&self, id: Id) -> Vec<Id> {
        self.tree.children(id).collect()
    }

    pub(super) fn symbol(&self, id: Id) -> &'static str {
        self.tree.field(id, "symbol").map_or("", |symbol| self.kind(symbol))
    }

    pub(super) fn sides(&self, id: Id) -> Option<(Id, Id)> {
        Some((self.tree.field(id, "lhs")?, self.tree.field(id, "rhs")?))
    }

    /// Without parentheses around it.
    pub(super) fn bare(&self, mut id: Id) -> Id {
        while self.kind(id) == "parentheses" {
            match self.tree.children(id).last() {
                Some(inner) => id = inner,
                None => break,
            }
        }
        id
    }

    /// Goes on one level further down, unless no person wrote what is so deep.
    pub(super) fn deeper(&mut self, go: impl FnOnce(&mut Self)) {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            go(self);
            self.depth -= 1;
        }
    }

    /// Names that are bound for as long as `go` takes.
    pub(super) fn bound(&mut self, names: Vec<Bound>, go: impl FnOnce(&mut Self)) {
        let mark = self.scope.len();
        self.scope.extend(names);
        go(self);
        self.scope.truncate(mark);
    }

    /// Whether a part of the text speaks of the next state.
    pub(super) fn speaks(&self, id: Id) -> bool {
        self.facts.speaks(self.tree, id)
    }

    pub(super) fn add(&mut self, operator: Operator, at: usize, variant: &str, what: String, edits: Vec<Edit>) {
        let variant = shown(variant, 40);
        let edits = aligned(self.source, &self.lists, edits);
        self.flaws.push(Flaw { operator, at, variant, what, edits });
    }

    /// `add` with one edit.
    pub(super) fn edit(
        &mut self,
        operator: Operator,
        at: usize,
        variant: &str,
        what: String,
        range: Range<usize>,
        text: impl Into<String>,
    ) {
        self.add(operator, at, variant, what, vec![Edit { range, text: text.into() }]);
    }

    /// A part of the source as one short line, in quotation marks of code.
    pub(super) fn quoted(&self, range: Range<usize>) -> String {
        format!("`{}`", shown(self.source.get(range).unwrap_or(""), 70))
    }
}

/// A text in one line, cut where it is long.
pub(super) fn shown(text: &str, most: usize) -> String {
    let words =
        text.lines().map(|line| line.find("\\*").map_or(line, |at| &line[..at])).flat_map(str::split_whitespace);
    let line = words.collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let short: String = line.chars().take(most).collect();
    format!("{}...", short.trim_end())
}

pub(super) fn parents(tree: &Tree) -> Vec<Option<Id>> {
    let mut parents = vec![None; tree.ids().len()];
    for id in tree.ids() {
        for child in &tree.node(id).children {
            parents[*child] = Some(id);
        }
    }
    parents
}

//! Steps made longer and shorter: a label goes, or comes.

use std::collections::BTreeSet;

use super::super::Operator;
use super::outline::Statement;
use super::statement::Steps;

/// Whether a label may come between two statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Around {
    Open,
    /// In a macro, in a `with`, or in a branch that something without a label follows.
    Closed,
}

impl Around {
    /// The same for what is inside a statement.
    pub(super) fn within(self, statement: &Statement, next: Option<&Statement>) -> Self {
        let followed = next.is_some_and(|next| next.label.is_none());
        match statement.kind {
            "pcal_with" => Self::Closed,
            "pcal_while" => self,
            _ if followed => Self::Closed,
            _ => self,
        }
    }
}

impl Steps<'_, '_> {
    /// What can be done about labels at one statement of a sequence; `first`: the sequence is a body.
    pub(super) fn labels(&mut self, statements: &[Statement], at: usize, around: Around, first: bool) {
        let statement = &statements[at];
        if let Some(label) = &statement.label {
            if label.strong.is_some() {
                let what = "is only weakly fair".to_owned();
                let strong = label.strong.clone().unwrap_or_default();
                self.walk.edit(Operator::WeakenFairness, label.range.start, "", what, strong, "");
            }
            if !(first && at == 0) {
                self.merge(statements, at);
            }
        } else if around == Around::Open && at > 0 {
            self.split(statements, at);
        }
    }

    /// The label goes: what it begins is done together with what stands before it.
    fn merge(&mut self, statements: &[Statement], at: usize) {
        let statement = &statements[at];
        let Some(label) = &statement.label else { return };
        let is_target = self.walk.tree.ids().any(|id| {
            self.walk.kind(id) == "pcal_goto"
                && self.walk.tree.field(id, "statement").is_some_and(|to| self.walk.text(to) == label.name)
        });
        let needed =
            statement.kind == "pcal_while" || at.checked_sub(1).is_some_and(|before| statements[before].ends_step());
        let rest = statements[at + 1..].iter().take_while(|later| later.label.is_none());
        let after: Vec<_> = std::iter::once(statement).chain(rest).flat_map(|later| self.assigned(later)).collect();
        let twice = self.assigned_before(statements, at).iter().any(|name| after.contains(name));
        let facts = self.walk.facts;
        // Without the label, what a property says of it would hold of nothing.
        let asked = facts.judged_names.contains(&label.name) || facts.judged_strings.contains(&label.name);
        if is_target || needed || twice || asked {
            return;
        }
        let what = "is no step of its own: it is done together with what stands before it".to_owned();
        let range = match self.walk.own_lines(&label.range) {
            Some(lines) => lines,
            None => label.range.start..statement.range.start,
        };
        self.walk.edit(Operator::MergeLabels, label.range.start, "", what, range, "");
    }

    /// What is assigned to in the step before a statement, its own label left out of account.
    pub(super) fn assigned_before(&self, statements: &[Statement], at: usize) -> BTreeSet<String> {
        let own = before(statements, at);
        let mut names: BTreeSet<String> = own.iter().flat_map(|statement| self.assigned(statement)).collect();
        if own.len() == at && own.first().is_none_or(|first| first.label.is_none()) {
            names.extend(self.inherited.iter().cloned());
        }
        names
    }

    /// A label comes: others can step in between. That shows only where both halves touch what others see.
    fn split(&mut self, statements: &[Statement], at: usize) {
        let statement = &statements[at];
        if statements[at - 1].ends_step() || matches!(statement.kind, "pcal_goto" | "pcal_return" | "pcal_skip") {
            return;
        }
        let shared = |statement: &Statement| !self.touched(statement).is_disjoint(&self.globals);
        let later = statements[at + 1..].iter().take_while(|later| later.label.is_none());
        let after = std::iter::once(statement).chain(later).any(shared);
        if !after || !before(statements, at).iter().any(shared) {
            return;
        }
        let label = self.walk.facts.fresh("Split");
        let start = statement.range.start;
        let line = self.walk.source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let indent = &self.walk.source[line..start];
        let what = format!(
            "is split before {}: another process can step in between",
            self.walk.quoted(statement.range.clone())
        );
        if indent.trim().is_empty() {
            let newline = if self.walk.source.contains("\r\n") { "\r\n" } else { "\n" };
            self.walk.edit(Operator::SplitLabel, start, "", what, line..line, format!("{indent}{label}:{newline}"));
        } else {
            self.walk.edit(Operator::SplitLabel, start, "", what, start..start, format!("{label}: "));
        }
    }
}

/// The statements of the same sequence that are in the step before one.
pub(super) fn before(statements: &[Statement], at: usize) -> &[Statement] {
    let start = statements[..at].iter().rposition(|statement| statement.label.is_some()).unwrap_or(0);
    &statements[start..at]
}

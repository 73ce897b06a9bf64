//! Removes and adds labels, which merges and splits steps.

use std::collections::BTreeSet;

use super::super::Operator;
use super::algorithm::AlgorithmMutator;
use super::outline::{LabelPlacement, Statement};
use tlaforge_tla::{Field, NodeKind};

impl AlgorithmMutator<'_, '_> {
    /// Mutates the label at one statement of a sequence; `first` if the sequence is the start of a body.
    pub(super) fn mutate_labels(
        &mut self,
        statements: &[Statement],
        at: usize,
        placement: LabelPlacement,
        first: bool,
    ) {
        let statement = &statements[at];
        if let Some(label) = &statement.label {
            if label.plus_sign.is_some() {
                let what = "is only weakly fair".to_owned();
                let strong = label.plus_sign.clone().unwrap_or_default();
                self.walk.add_edit(Operator::WeakenFairness, label.range.start, "", what, strong, "");
            }
            // PlusCal requires a label on the first statement of a body.
            if !(first && at == 0) {
                self.merge_label(statements, at);
            }
        } else if placement == LabelPlacement::Open && at > 0 {
            self.split_step(statements, at);
        }
    }

    /// Removes the label, so that its step is merged with the one before.
    fn merge_label(&mut self, statements: &[Statement], at: usize) {
        let statement = &statements[at];
        let Some(label) = &statement.label else { return };
        // A `goto` needs its label.
        let is_target = self.walk.tree.ids().any(|id| {
            self.walk.kind(id) == NodeKind::Goto
                && self.walk.tree.field(id, Field::Destination).is_some_and(|to| self.walk.text(to) == label.name)
        });
        let needed = statement.kind == NodeKind::While
            || at.checked_sub(1).is_some_and(|before| statements[before].requires_label_after());
        let rest = statements[at + 1..].iter().take_while(|later| later.label.is_none());
        let after: Vec<_> =
            std::iter::once(statement).chain(rest).flat_map(|later| self.assigned_variables(later)).collect();
        // PlusCal forbids two assignments to a variable in one step.
        let twice = self.assigned_before_in_step(statements, at).iter().any(|name| after.contains(name));
        let facts = self.walk.facts;
        // A property about the removed label would hold vacuously.
        let asked = facts.judged_names.contains(&label.name) || facts.judged_strings.contains(&label.name);
        if is_target || needed || twice || asked {
            return;
        }
        let what = "is no step of its own: it is done together with what stands before it".to_owned();
        let range = match self.walk.own_lines(&label.range) {
            Some(lines) => lines,
            None => label.range.start..statement.range.start,
        };
        self.walk.add_edit(Operator::MergeLabels, label.range.start, "", what, range, "");
    }

    /// The variables assigned in the same step before a statement, ignoring its own label.
    pub(super) fn assigned_before_in_step(&self, statements: &[Statement], at: usize) -> BTreeSet<String> {
        let own = before(statements, at);
        let mut names: BTreeSet<String> = own.iter().flat_map(|statement| self.assigned_variables(statement)).collect();
        if own.len() == at && own.first().is_none_or(|first| first.label.is_none()) {
            names.extend(self.inherited.iter().cloned());
        }
        names
    }

    /// Adds a label, so that other processes can interleave. Only useful if both halves touch global variables.
    fn split_step(&mut self, statements: &[Statement], at: usize) {
        let statement = &statements[at];
        if statements[at - 1].requires_label_after()
            || matches!(statement.kind, NodeKind::Goto | NodeKind::Return | NodeKind::Skip)
        {
            return;
        }
        let shared = |statement: &Statement| !self.touched_variables(statement).is_disjoint(&self.globals);
        let later = statements[at + 1..].iter().take_while(|later| later.label.is_none());
        let after = std::iter::once(statement).chain(later).any(shared);
        if !after || !before(statements, at).iter().any(shared) {
            return;
        }
        let label = self.walk.facts.fresh_name("Split");
        let start = statement.range.start;
        let line = self.walk.source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let indent = &self.walk.source[line..start];
        let what = format!(
            "is split before {}: another process can step in between",
            self.walk.quote(statement.range.clone())
        );
        // On a line of its own if the statement begins its line.
        if indent.trim().is_empty() {
            let newline = if self.walk.source.contains("\r\n") { "\r\n" } else { "\n" };
            self.walk.add_edit(Operator::SplitLabel, start, "", what, line..line, format!("{indent}{label}:{newline}"));
        } else {
            self.walk.add_edit(Operator::SplitLabel, start, "", what, start..start, format!("{label}: "));
        }
    }
}

/// The statements of the same sequence that belong to the step before a statement.
pub(super) fn before(statements: &[Statement], at: usize) -> &[Statement] {
    let start = statements[..at].iter().rposition(|statement| statement.label.is_some()).unwrap_or(0);
    &statements[start..at]
}

//! Weakens and drops fairness conditions of a specification.

use super::super::Edit;
use super::super::Operator;
use super::chain::Junction;
use super::tree_mutator::TreeMutator;
use tlaforge_tla::{Id, NodeKind};

impl TreeMutator<'_> {
    /// Mutates every WF and SF of a temporal definition.
    pub(super) fn mutate_fairness(&mut self) {
        let tree = self.tree;
        for id in tree.of_kind(NodeKind::Fairness) {
            let range = self.range(id);
            let shown = self.quote(range.clone());
            if self.text(id).starts_with("SF_") {
                let what = format!("is only weakly fair where {shown} stood");
                self.add_edit(Operator::WeakenFairness, range.start, "", what, range.start..range.start + 2, "WF");
            }
            let edit = self.fairness_removal(id);
            self.add_draft(
                Operator::DropFairness,
                range.start,
                "",
                format!("is no longer fair: {shown} is gone"),
                vec![edit],
            );
        }
    }

    /// The edit that drops a fairness condition: removes the conjunct if it contains nothing else, else writes TRUE.
    fn fairness_removal(&self, id: Id) -> Edit {
        let mut at = id;
        while let Some(parent) = self.parents[at] {
            match self.kind(parent) {
                NodeKind::Parentheses | NodeKind::Bounded => at = parent,
                NodeKind::ConjunctionItem | NodeKind::Infix => {
                    if let Some(edit) = self.conjunct_removal(at, parent) {
                        return edit;
                    }
                    break;
                }
                _ => break,
            }
        }
        // It is part of another formula.
        Edit { range: self.range(id), text: "TRUE".to_owned() }
    }

    fn conjunct_removal(&self, content: Id, parent: Id) -> Option<Edit> {
        let mut list = if self.kind(parent) == NodeKind::ConjunctionItem { self.parents[parent]? } else { parent };
        // The parent may be part of a longer chain of `/\`; go up to its top.
        while let Some(above) =
            self.parents[list].filter(|above| self.kind(list) == NodeKind::Infix && self.symbol(*above) == "/\\")
        {
            list = above;
        }
        let chain = self.chain(list, Junction::And).filter(|chain| chain.operands.len() > 1)?;
        let index = chain.operands.iter().position(|operand| operand.content == content)?;
        Some(self.removal(&chain, index, Junction::And))
    }
}

//! Fairness of a specification, weakened or gone.

use super::chain::Junction;
use super::mutant::Edit;
use super::operator::Operator;
use super::walk::Walk;
use crate::tla::Id;

impl Walk<'_> {
    /// Every WF and SF of a temporal definition.
    pub(super) fn fairness(&mut self) {
        let tree = self.tree;
        for id in tree.ids().filter(|id| tree.node(*id).kind == "fairness") {
            let range = self.range(id);
            let shown = self.quoted(range.clone());
            if self.text(id).starts_with("SF_") {
                let what = format!("is only weakly fair where {shown} stood");
                self.edit(Operator::WeakenFairness, range.start, "", what, range.start..range.start + 2, "WF");
            }
            let edit = self.without_fairness(id);
            self.add(
                Operator::DropFairness,
                range.start,
                "",
                format!("is no longer fair: {shown} is gone"),
                vec![edit],
            );
        }
    }

    /// The conjunct that holds nothing else goes; otherwise TRUE stands there.
    fn without_fairness(&self, id: Id) -> Edit {
        let mut at = id;
        while let Some(parent) = self.parents[at] {
            match self.kind(parent) {
                "parentheses" | "bounded_quantification" => at = parent,
                "conj_item" | "bound_infix_op" => {
                    if let Some(edit) = self.without_conjunct(at, parent) {
                        return edit;
                    }
                    break;
                }
                _ => break,
            }
        }
        Edit { range: self.range(id), text: "TRUE".to_owned() }
    }

    fn without_conjunct(&self, content: Id, parent: Id) -> Option<Edit> {
        let mut list = if self.kind(parent) == "conj_item" { self.parents[parent]? } else { parent };
        // The whole chain of `/\`, of which the parent may be a part.
        while let Some(above) =
            self.parents[list].filter(|above| self.kind(list) == "bound_infix_op" && self.symbol(*above) == "land")
        {
            list = above;
        }
        let chain = self.chain(list, Junction::And).filter(|chain| chain.links.len() > 1)?;
        let index = chain.links.iter().position(|link| link.content == content)?;
        Some(self.removal(&chain, index, Junction::And))
    }
}

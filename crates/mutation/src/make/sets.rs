//! Narrows and widens the sets from which values are chosen.

use super::super::Edit;
use super::super::Operator;
use super::excerpt::excerpt;
use super::tree_mutator::TreeMutator;
use tlaforge_tla::{Field, Id, NodeKind};

impl TreeMutator<'_> {
    /// Mutates a set from which a value is chosen, and visits the expressions in it.
    pub(super) fn visit_choice(&mut self, set: Id) {
        let inner = self.strip_parentheses(set);
        match (self.kind(inner), self.symbol(inner)) {
            (NodeKind::Infix, "..") => self.mutate_interval(inner, Operator::NarrowSet, Operator::WidenSet),
            (NodeKind::SetLiteral, _) => self.remove_element(inner),
            (NodeKind::Infix, "\\cup") => self.keep_one_side(inner, Operator::NarrowSet, &[Field::Left, Field::Right]),
            (NodeKind::Infix, "\\cap") => self.keep_one_side(inner, Operator::WidenSet, &[Field::Left, Field::Right]),
            (NodeKind::Infix, "\\") => {
                self.keep_one_side(inner, Operator::WidenSet, &[Field::Left]);
                self.remove_any_element(inner);
            }
            (NodeKind::SetFilter, _) => {
                self.remove_filter(inner);
                self.remove_any_element(inner);
            }
            _ => self.remove_any_element(inner),
        }
        self.visit(set);
    }

    /// `a..b`: each bound one less and one more.
    pub(super) fn mutate_interval(&mut self, id: Id, narrower: Operator, wider: Operator) {
        let Some((low, high)) = self.operands(id) else { return };
        let integers = self.facts.module.extends.iter().any(|name| name == "Integers");
        for (bound, sign, operator) in
            [(low, '+', narrower), (high, '-', narrower), (low, '-', wider), (high, '+', wider)]
        {
            let old = self.text(bound);
            let number = old.parse::<u64>().ok();
            let new = match (number, sign) {
                (Some(0), '-') if integers => "-1".to_owned(),
                // `Naturals` defines no unary minus.
                (Some(0), '-') => continue,
                (Some(number), '-') => (number - 1).to_string(),
                (Some(number), _) => number.saturating_add(1).to_string(),
                // The sides of an interval bind closer than `..`, but not always closer than `+`.
                _ if self.kind(bound) == NodeKind::Infix => format!("({old}) {sign} 1"),
                _ => format!("{old} {sign} 1"),
            };
            let what = format!(
                "goes {} {}",
                if bound == low { "from" } else { "up to" },
                format_args!("`{new}` in {}", self.quote(self.range(id)))
            );
            let variant = format!("{} {sign} 1", shown_bound(bound == low));
            self.add_edit(operator, self.range(id).start, &variant, what, self.range(bound), new);
        }
    }

    fn describe_choice(&self, from: &str, set: Id) -> String {
        format!("chooses from {from} where {} stood", self.quote(self.range(set)))
    }

    /// `{a, b}`: drops each element.
    fn remove_element(&mut self, set: Id) {
        let elements = self.children(set);
        for (index, element) in elements.iter().enumerate().filter(|_| elements.len() > 1) {
            let range = match elements.get(index + 1) {
                Some(next) => self.range(*element).start..self.range(*next).start,
                None => self.range(elements[index - 1]).end..self.range(*element).end,
            };
            let gone = self.text(*element);
            let what = format!("no longer chooses `{}`", excerpt(gone, 40));
            self.add_edit(Operator::NarrowSet, self.range(set).start, &format!("without {gone}"), what, range, "");
        }
    }

    /// `A \cup B`: keeps one side.
    fn keep_one_side(&mut self, set: Id, operator: Operator, sides: &[Field]) {
        for side in sides.iter().filter_map(|side| self.tree.field(set, *side)) {
            let text = self.text(side);
            let what = self.describe_choice(&self.quote(self.range(side)), set);
            let range = self.range(set);
            self.add_edit(operator, range.start, &format!("only {text}"), what, range, text);
        }
    }

    /// `{x \in S : P}` to `S`.
    fn remove_filter(&mut self, set: Id) {
        let generator = self.tree.field(set, Field::Generator);
        if let Some(of) = generator.and_then(|generator| self.tree.field(generator, Field::Set)) {
            let what = self.describe_choice(&self.quote(self.range(of)), set);
            let range = self.range(set);
            self.add_edit(Operator::WidenSet, range.start, "without filter", what, range, self.text(of));
        }
    }

    /// Any set: drops one element by CHOOSE; the set may become empty.
    fn remove_any_element(&mut self, set: Id) {
        // CHOOSE picks one of several symmetric values, which makes symmetry reduction unsound. A set over several lines is
        // left alone, because it is written twice and its lists would lose their alignment.
        if !self.facts.cfg.symmetry.is_empty() || self.text(set).contains('\n') {
            return;
        }
        let (one, other) = (self.facts.fresh_name("el"), self.facts.fresh_name("any"));
        let text = self.text(set);
        let before = format!("{{{one} \\in {text} : {one} # (CHOOSE {other} \\in {text} : TRUE)}}");
        let what = format!("never chooses one element of {}", self.quote(self.range(set)));
        let edits = vec![Edit { range: self.range(set), text: before }];
        self.add_draft(Operator::NarrowSet, self.range(set).start, "by one", what, edits);
    }
}

fn shown_bound(low: bool) -> &'static str {
    if low { "from" } else { "to" }
}
